/* tests/unit/fs/opens.h - open by fs/pin, and look at all that it gives */
#pragma once
#include "fs/pin.h"
#include "tests/unit/fs/scratch.h"

static inline PinRule rule_ours(void) {
        return (PinRule){.owner = geteuid(), .forbid = 0022};
}

static const PinRule rule_any = {.owner = (uid_t)-1};

static inline void opens_dir(int at, const char *name, const PinRule *rule, PinFlags flags,
                             int want) {
        CLEANUP(fd_closep) int fd = -EBADF;
        int r = pin_dir_at(at, name, rule, flags, &fd);

        ck_assert_msg(r == want, "%s: %d (%s), not %d", name, r, pin_reason(r), want);
        ck_assert((r == 0) == (fd >= 0)); /* touched on 0 only */
        if (r == 0) {
                ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
                ck_assert_int_eq(fcntl(fd, F_GETFL) & (O_ACCMODE | O_PATH | O_DIRECTORY),
                                 O_RDONLY | O_DIRECTORY);
        }
}

static inline void opens_file(int at, const char *name, const PinRule *rule, PinFlags flags,
                              int want) {
        CLEANUP(fd_closep) int fd = -EBADF;
        struct stat st = {.st_size = -7}, now;
        int r = pin_file_at(at, name, rule, flags, &fd, &st);

        ck_assert_msg(r == want, "%s: %d (%s), not %d", name, r, pin_reason(r), want);
        ck_assert((r == 0) == (fd >= 0));
        ck_assert((r == 0) == (st.st_size != -7));
        if (r == 0) {
                ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
                ck_assert_int_eq(fcntl(fd, F_GETFL) & (O_ACCMODE | O_PATH), O_RDONLY);
                ck_assert_int_eq(fstat(fd, &now), 0);
                ck_assert(now.st_ino == st.st_ino && now.st_dev == st.st_dev &&
                          S_ISREG(now.st_mode));
        }
}
