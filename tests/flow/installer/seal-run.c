/* seal-run STATE CHECKOUT STACK COMPOSE[,COMPOSE...] [GUARDED...]: makes STATE/seal/run as
 * `spoolgate seal` does, without a bridge; prints what is trusted, and why it was refused (exit 1)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/hash.h"
#include "fs/pin.h"
#include "installer/sealed.h"

static int seal_run_list(char *text, Strv *ret) {
        int r = 0;

        for (char *at = text, *part; r == 0 && (part = strsep(&at, ","));)
                r = strv_add(ret, part);
        return r;
}

static int seal_run_bridge(char **argv, Bridge *b) {
        int r;

        r = str_dup(argv[2], &b->checkout.path);
        if (r == 0)
                r = str_dup(getenv("HOME"), &b->home);
        if (r == 0)
                r = str_dup(argv[3], &b->stack);
        if (r == 0)
                r = seal_run_list(argv[4], &b->compose);
        for (size_t i = 0; r == 0 && i < b->compose.len; i++)
                r = strv_add(&b->guarded, b->compose.items[i]);
        for (size_t i = 5; r == 0 && argv[i]; i++)
                r = strv_add(str_ends(argv[i], ".env") ? &b->env_files : &b->guarded, argv[i]);
        return r;
}

static int seal_run(char **argv, Str *why) {
        CLEANUP(bridge_freep) Bridge *b = calloc(1, sizeof(*b));
        CLEANUP(taken_list_done) TakenList taken = TAKEN_LIST_NULL;
        CLEANUP(sealed_done) Sealed sealed = SEALED_NULL;
        CLEANUP(fd_closep) int state_fd = -EBADF;
        CLEANUP(fd_closep) int checkout_fd = -EBADF;
        PinRule any = {(uid_t)-1, 0};
        int r;

        if (!b)
                return err_new(ENOMEM);
        r = seal_run_bridge(argv, b);
        if (r == 0)
                r = pin_host_dir(argv[1], &any, &state_fd);
        if (r == 0)
                r = pin_root(argv[2], &any, &checkout_fd);
        if (r == 0)
                r = take_files(checkout_fd, &b->guarded, &b->env_files, &taken);
        if (r == 0)
                r = sealed_prepare(checkout_fd, argv[1], b, &taken, &sealed, why);
        if (r != 0)
                return r;
        for (size_t i = 0; i < sealed.trusts.len; i++)
                (void)printf("trusts %s\n", sealed.trusts.items[i]);
        return sealed_write(state_fd, &sealed);
}

int main(int argc, char **argv) {
        CLEANUP(str_done) Str why = STR_NULL;
        int r;

        if (argc < 5 || hash_init() < 0)
                return 64;
        r = seal_run(argv, &why);
        if (r != 0)
                (void)fprintf(stderr, "%s\n", why.len ? why.data : err_last());
        return r == 0 ? 0 : r > 0 ? 1 : 2;
}
