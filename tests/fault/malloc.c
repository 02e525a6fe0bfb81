/* fault/malloc.c - LD_PRELOAD: the Nth allocation of the process fails, N in $FAULT_MALLOC; with $FAULT_MALLOC_ON all after it too
 *
 * Counted from the first one on; a forked child counts on from where its parent was. $FAULT_TALLY: the program writes its
 * count there when it ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static unsigned long malloc_count, malloc_at;
static bool malloc_known, malloc_on;

static bool malloc_fails(void) {
        if (!malloc_known) { /* getenv allocates nothing */
                const char *at = getenv("FAULT_MALLOC");
                malloc_known = true;
                malloc_on = getenv("FAULT_MALLOC_ON") != NULL;
                for (; at && *at >= '0' && *at <= '9'; at++)
                        malloc_at = malloc_at * 10 + (unsigned long)(*at - '0');
        }
        malloc_count++;
        if (!malloc_at || (malloc_on ? malloc_count < malloc_at : malloc_count != malloc_at))
                return false;
        errno = ENOMEM;
        return true;
}

__attribute__((visibility("default"))) void *malloc(size_t size) {
        return malloc_fails() ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size) {
        return malloc_fails() ? NULL : __libc_calloc(n, size);
}

__attribute__((visibility("default"))) void *realloc(void *p, size_t size) {
        return malloc_fails() ? NULL : __libc_realloc(p, size);
}

__attribute__((destructor)) static void malloc_tally(void) { /* a keeper leaves by _exit */
        const char *path = getenv("FAULT_TALLY");
        char text[32];
        int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

        if (fd < 0)
                return;
        snprintf(text, sizeof(text), "%lu", malloc_count);
        (void)!write(fd, text, strlen(text));
        close(fd);
}
