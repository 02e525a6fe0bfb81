/* run/scope.h - transient scopes of the user manager over sd-bus (org.freedesktop.systemd1(5),
 * systemd.md 4.4) */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"

typedef struct ScopeSpec {
        const char *unit, *description;
        int64_t tasks_max, memory_max;
        uint32_t timeout_ms;
} ScopeSpec;
enum { SCOPE_E_BUS = 1, SCOPE_E_EXISTS, SCOPE_E_JOB, SCOPE_E_TIMEOUT, SCOPE_E_PLACE };
const char *
scope_stage(int code); /* "bus" "exists" "job" "job-timeout" "place"; "setup" for anything else */
/* Moves the calling process into a new transient scope: StartTransientUnit(PIDs=[self],
 * Description, CollectMode=inactive-or-failed, TasksMax, MemoryMax, TimeoutStopUSec), match on
 * JobRemoved installed before the call, wait for that job, then /proc/self/cgroup must end in
 * /UNIT. All of it takes at most timeout_ms. Bus: $DBUS_SESSION_BUS_ADDRESS' user bus
 * ($XDG_RUNTIME_DIR/bus), else $XDG_RUNTIME_DIR/systemd/private. All connections are closed on
 * return. Just before the call the caller's PR_SET_PDEATHSIG is cleared: a process that dies
 * between call and job leaves a scope that is active, empty and never collected (seen with systemd
 * 252), so nothing but the caller itself may decide on its end there. No PIDFDs (systemd 254): they
 * guard against a pid that is reused in between, and ours is not. */
MUST_CHECK int scope_enter(const ScopeSpec *spec);
/* Is a user manager there that makes scopes? (installer, doctor) */
MUST_CHECK int scope_available(bool *ret);
/* Neither inactive nor failed nor unknown. SCOPE_E_BUS, SCOPE_E_TIMEOUT: can't be told. */
MUST_CHECK int scope_active(const char *unit, bool *ret_active);
/* For one whose keeper is known to be gone (its lock is free) without a result: stops it when no
 * process is in it. What a SIGKILL of the drain's whole cgroup can leave behind in the moment named
 * above. No such unit, or somebody in it: 0, nothing done. */
MUST_CHECK int scope_drop_empty(const char *unit);
