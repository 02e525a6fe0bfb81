/* run/scope.h - transient scopes of the user manager over sd-bus (org.freedesktop.systemd1(5), systemd.md 4.4) */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"

typedef struct ScopeSpec { const char *unit, *description; int64_t tasks_max, memory_max; uint32_t timeout_ms; } ScopeSpec;
enum { SCOPE_E_BUS = 1, SCOPE_E_EXISTS, SCOPE_E_JOB, SCOPE_E_TIMEOUT, SCOPE_E_PLACE };
const char *scope_stage(int code); /* "bus" "exists" "job" "job-timeout" "place"; "setup" for anything else */
/* Moves the calling process into a new transient scope: StartTransientUnit(PIDs=[self], Description, CollectMode=inactive-or-failed, TasksMax, MemoryMax, TimeoutStopUSec), match on
 * JobRemoved installed before the call, wait for that job, then /proc/self/cgroup must end in /UNIT. All of it takes at most timeout_ms. Bus: $DBUS_SESSION_BUS_ADDRESS' user bus
 * ($XDG_RUNTIME_DIR/bus), else $XDG_RUNTIME_DIR/systemd/private. All connections are closed on return.
 * No PIDFDs (systemd 254): they guard against a pid that is reused in between, and ours is not. */
MUST_CHECK int scope_enter(const ScopeSpec *spec);
/* Is a user manager there that makes scopes? (installer, doctor) */
MUST_CHECK int scope_available(bool *ret);
/* Neither inactive nor failed nor unknown. SCOPE_E_BUS, SCOPE_E_TIMEOUT: can't be told. */
MUST_CHECK int scope_active(const char *unit, bool *ret_active);
