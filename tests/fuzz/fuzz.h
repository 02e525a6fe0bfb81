/* tests/fuzz/fuzz.h - what the fuzz targets share */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verb/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold for every input. */
#define FUZZ_CHECK(cond)                                                                           \
        do {                                                                                       \
                if (!(cond)) {                                                                     \
                        (void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,    \
                                      #cond);                                                      \
                        abort();                                                                   \
                }                                                                                  \
        } while (0)

static inline void fuzz_add(Strv *v, const char *text) {
        FUZZ_CHECK(strv_add(v, text) == 0);
}

/* One table of the docker-compose stack with everything found, made once. */
static inline const VerbTable *fuzz_table(void) {
        static VerbTable *table;
        VerbSetup s = {
                .stack = "docker-compose",
                .checkout = "/home/u/shop",
                .project = "shop",
                .path = "/usr/bin:/bin",
                .home = "/home/u",
                .runtime_dir = "/run/user/1000",
                .network = "agents",
                .container = "sandbox",
        };

        if (table)
                return table;
        fuzz_add(&s.services, "web");
        fuzz_add(&s.services, "db");
        fuzz_add(&s.buildable, "web");
        fuzz_add(&s.files, "/home/u/shop/compose.yaml");
        fuzz_add(&s.bins, "docker=/usr/bin/docker");
        FUZZ_CHECK(table_new(&s, NULL, &table) == 0);
        setup_done(&s);
        return table;
}
