#include "wire/alloc.h"

#include <jansson.h>
#include <stdlib.h>

static bool alloc_installed, alloc_missed; /* jansson's functions take no userdata */

static void *alloc_get(size_t size) {
        void *p = malloc(size);

        alloc_missed = alloc_missed || !p;
        return p;
}

void alloc_watch(void) {
        if (!alloc_installed)
                json_set_alloc_funcs(alloc_get, free);
        alloc_installed = true;
        alloc_missed = false;
}

bool alloc_failed(void) {
        return alloc_missed;
}
