/* guard/jail.h - the walls around the one process that parses what the enemy writes (attacks.md,
 * section 4)
 *
 * Order: jail_limits, jail_landlock, what must still be opened by name, jail_seccomp. None can be
 * undone. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

enum { JAIL_E_NO_LANDLOCK = 1, JAIL_E_NO_SECCOMP };
enum {
        JAIL_AS_DEFAULT = 512 * 1024 * 1024,
        JAIL_HEAP = 48 * 1024 * 1024,
        JAIL_CPU_SEC = 5,
        JAIL_FILES = 64
};

/* The kernel's Landlock ABI; 0: none, or switched off. */
int jail_landlock_abi(void);
/* RLIMIT_AS address_space, DATA 48 MiB, CPU 5 s, FSIZE NPROC CORE 0, NOFILE 64 + files. DATA counts
 * private writable memory: a bomb ends there, while a big pack index may be mapped whole. */
MUST_CHECK int jail_limits(uint64_t address_space, size_t files);
/* Hides the file system: no new descriptor can be made until jail_files(true). What libgit2_init
 * would load (a CA bundle: 5 ms) stays out. */
MUST_CHECK int jail_files(bool allowed, size_t files);
/* no_new_privs; then files and directories beneath dirs may be read, nothing else of the file
 * system touched; no TCP, no signal or abstract socket to the outside where the kernel has that.
 * JAIL_E_NO_LANDLOCK. */
MUST_CHECK int jail_landlock(const int *dirs, size_t len);
/* no_new_privs and an allow list: reading, memory, write to verdict_fd alone, exit. Anything else
 * is EPERM; exec, fork, sockets, ptrace and foreign system call tables end the process.
 * JAIL_E_NO_SECCOMP. */
MUST_CHECK int jail_seccomp(int verdict_fd);
