/* run/kin.h - the living processes of a run, as its keeper sees them
 *
 * They are the keeper's descendants (it is a subreaper, so a new session changes nothing) which
 * stand in its own cgroup or below it; in a scope, everything else in that cgroup too. What moved
 * to a cgroup of its own is spared: podman's conmon and containers. Zombies don't count. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/err.h"

typedef struct Kin {
        pid_t pid;
        unsigned long long born; /* start time, clock ticks: with the pid a process's true name */
} Kin;
typedef struct KinList {
        Kin *items;
        size_t len;
} KinList;
#define KIN_LIST_NULL ((KinList){0})
void kin_done(KinList *l);

/* One look at /proc, never the caller itself. Forks and reparentings race with it: "none" is
 * believed when seen twice. */
MUST_CHECK int kin_list(bool whole_cgroup, KinList *ret);
bool kin_has(const KinList *l, const Kin *k);
MUST_CHECK int kin_add(KinList *l, const Kin *k);
/* Through a pidfd whose start time is compared again, so that a reused pid is never hit. Gone
 * already: nothing. */
void kin_signal(const Kin *k, int sig);
/* KILL to each direct child at once, how many: what forks and ends faster than /proc can be looked
 * through becomes a child of the keeper at each hop. The caller is the only one that reaps, so no
 * pid is reused meanwhile. 0 also without CONFIG_PROC_CHILDREN. */
size_t kin_kill_children(void);
/* The same for all of the caller's own cgroup.procs but itself, as systemd does it: against what
 * forks faster than kin_list looks. For a cgroup that is the run's alone. 0 also where cgroup2 is
 * not at /sys/fs/cgroup. */
size_t kin_kill_cgroup(void);

enum { KIN_E_GONE = 1 };
/* The cgroup2 path of a process ("/user.slice/..."), else its name=systemd path, else "". Owned by
 * the caller. */
MUST_CHECK int kin_cgroup(pid_t pid, char **ret);
/* Writes 1 to cgroup.kill of the caller's own cgroup: on success it does not come back. */
void kin_kill_cgroup_and_self(void);
