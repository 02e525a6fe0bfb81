#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "run/kin.h"
#include "run/scope.h"

#define SCOPE_DEST "org.freedesktop.systemd1"
#define SCOPE_PATH "/org/freedesktop/systemd1"
#define SCOPE_IFACE "org.freedesktop.systemd1.Manager"
enum { SCOPE_ASK_MS = 5000, SCOPE_TRY_MS = 2500, SCOPE_PAUSE_MS = 50 };
static const uint64_t scope_stop_usec = 10 * 1000 * 1000;

/* What the callbacks have seen. Everything is asynchronous on one connection, so that no step
 * (connecting, Hello, AddMatch) can outlast the deadline: sd-bus' own bound for authentication is
 * 90 s. */
typedef struct ScopeWait {
        const char *unit;
        sd_bus_message *reply;
        char *job;     /* object path, from the reply */
        char *removed; /* object path of the last JobRemoved of our unit */
        bool done;     /* its result was "done" */
        bool replied;
        int code; /* SCOPE_E_*, or -errno of a callback */
} ScopeWait;

static void scope_wait_done(ScopeWait *w) {
        w->reply = sd_bus_message_unref(w->reply);
        str_freep(&w->job);
        str_freep(&w->removed);
}

const char *scope_stage(int code) {
        switch (code) {
        case SCOPE_E_BUS:
                return "bus";
        case SCOPE_E_EXISTS:
                return "exists";
        case SCOPE_E_JOB:
                return "job";
        case SCOPE_E_TIMEOUT:
                return "job-timeout";
        case SCOPE_E_PLACE:
                return "place";
        default:
                return "setup";
        }
}

static int scope_code_of(const sd_bus_error *error) {
        static const struct {
                const char *name;
                int code;
        } known[] = {
                {SCOPE_DEST ".UnitExists", SCOPE_E_EXISTS},
                {"org.freedesktop.DBus.Error.Timeout", SCOPE_E_TIMEOUT},
                {"org.freedesktop.DBus.Error.NoReply", SCOPE_E_TIMEOUT},
                {"org.freedesktop.DBus.Error.ServiceUnknown", SCOPE_E_BUS},
                {"org.freedesktop.DBus.Error.NameHasNoOwner", SCOPE_E_BUS},
                {"org.freedesktop.DBus.Error.Disconnected", SCOPE_E_BUS},
        };

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
                if (sd_bus_error_has_name(error, known[i].name))
                        return known[i].code;
        return SCOPE_E_JOB;
}

static int scope_on_reply(sd_bus_message *m, void *userdata, sd_bus_error *ret_error) {
        ScopeWait *w = userdata;

        (void)ret_error;
        w->replied = true;
        if (sd_bus_message_is_method_error(m, NULL) > 0)
                w->code = scope_code_of(sd_bus_message_get_error(m));
        else
                w->reply = sd_bus_message_ref(m);
        return 1;
}

static int scope_on_removed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error) {
        ScopeWait *w = userdata;
        const char *job, *unit, *result;
        uint32_t id;

        (void)ret_error;
        if (sd_bus_message_read(m, "uoss", &id, &job, &unit, &result) < 0)
                return 0; /* not the signal that we know */
        if (!str_eq(unit, w->unit))
                return 0;
        str_freep(&w->removed);
        w->code = str_dup(job, &w->removed);
        w->done = str_eq(result, "done");
        return 0;
}

/* One turn of the connection. SCOPE_E_TIMEOUT, SCOPE_E_BUS. */
static int scope_turn(sd_bus *bus, int64_t deadline) {
        int64_t left = deadline - clock_mono_ms();
        int r;

        if (left <= 0)
                return SCOPE_E_TIMEOUT;
        r = sd_bus_process(bus, NULL);
        if (r == 0)
                r = sd_bus_wait(bus, (uint64_t)left * 1000);
        if (r == -ENOMEM)
                return err_new(ENOMEM);
        return r < 0 && r != -EINTR ? SCOPE_E_BUS : 0;
}

/* Bytes as they stand in a D-Bus address (specification, "Server Addresses"). */
static int scope_escape(const char *path, Str *out) {
        int r = 0;

        for (; r == 0 && *path; path++) {
                unsigned char c = (unsigned char)*path;

                if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                    strchr("-_/\\.*", c))
                        r = str_addc(out, *path);
                else
                        r = str_addf(out, "%%%02x", c);
        }
        return r;
}

static int scope_start_private(sd_bus **ret) {
        CLEANUP(sd_bus_close_unrefp) sd_bus *bus = NULL;
        CLEANUP(str_done) Str address = STR_NULL;
        const char *dir = secure_getenv("XDG_RUNTIME_DIR");
        int r;

        if (!dir || dir[0] != '/')
                return SCOPE_E_BUS;
        r = str_adds(&address, "unix:path=");
        if (r == 0)
                r = scope_escape(dir, &address);
        if (r == 0)
                r = str_adds(&address, "/systemd/private");
        if (r < 0)
                return r;
        if (sd_bus_new(&bus) < 0)
                return err_new(ENOMEM);
        if (sd_bus_set_address(bus, address.data) < 0 || sd_bus_start(bus) < 0)
                return SCOPE_E_BUS;
        *ret = bus;
        bus = NULL;
        return 0;
}

/* Connected and greeted. A socket without a living daemon behind it fails here, not in the middle
 * of the call. */
static int scope_connect_to(bool private, int64_t deadline, sd_bus **ret) {
        CLEANUP(sd_bus_close_unrefp) sd_bus *bus = NULL;
        int r = 0;

        if (private)
                r = scope_start_private(&bus);
        else if (sd_bus_open_user(&bus) < 0)
                r = SCOPE_E_BUS;
        while (r == 0) {
                r = sd_bus_is_ready(bus);
                if (r > 0) {
                        *ret = bus;
                        bus = NULL;
                        return 0;
                }
                r = r < 0 ? SCOPE_E_BUS : scope_turn(bus, deadline);
        }
        return r;
}

static int scope_connect(int64_t deadline, sd_bus **ret) {
        int64_t now = clock_mono_ms();
        int r;

        r = scope_connect_to(false, now + (deadline - now) / 2, ret);
        if (r > 0)
                r = scope_connect_to(true, deadline, ret);
        return r > 0 ? SCOPE_E_BUS : r;
}

static int scope_call(sd_bus *bus, sd_bus_message *call, int64_t deadline, ScopeWait *w) {
        int64_t left = deadline - clock_mono_ms();
        int r = 0;

        if (left <= 0)
                return SCOPE_E_TIMEOUT;
        if (sd_bus_call_async(bus, NULL, call, scope_on_reply, w, (uint64_t)left * 1000) < 0)
                return SCOPE_E_BUS;
        while (r == 0 && !w->replied)
                r = scope_turn(bus, deadline);
        return r != 0 ? r : w->code;
}

/* The names are systemd's; each value a variant of one basic type. sd-bus' own errors here are
 * ENOMEM or ours. */
static int scope_add_properties(sd_bus_message *m, const ScopeSpec *spec) {
        int r;

        r = sd_bus_message_open_container(m, 'a', "(sv)");
        if (r >= 0)
                r = sd_bus_message_append(m, "(sv)", "PIDs", "au", 1, (uint32_t)getpid());
        if (r >= 0)
                r = sd_bus_message_append(m, "(sv)", "Description", "s", spec->description);
        if (r >= 0)
                r = sd_bus_message_append(m, "(sv)", "CollectMode", "s", "inactive-or-failed");
        if (r >= 0)
                r = sd_bus_message_append(m, "(sv)", "TimeoutStopUSec", "t", scope_stop_usec);
        if (r >= 0 && spec->tasks_max > 0)
                r = sd_bus_message_append(m, "(sv)", "TasksMax", "t", (uint64_t)spec->tasks_max);
        if (r >= 0 && spec->memory_max > 0)
                r = sd_bus_message_append(m, "(sv)", "MemoryMax", "t", (uint64_t)spec->memory_max);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        return r;
}

static int scope_new_call(sd_bus *bus, const char *method, sd_bus_message **ret) {
        return sd_bus_message_new_method_call(bus, ret, SCOPE_DEST, SCOPE_PATH, SCOPE_IFACE,
                                              method);
}

static int scope_start_unit(sd_bus *bus, const ScopeSpec *spec, int64_t deadline, ScopeWait *w) {
        CLEANUP(sd_bus_message_unrefp) sd_bus_message *call = NULL;
        const char *job;
        int r;

        r = scope_new_call(bus, "StartTransientUnit", &call);
        if (r >= 0)
                r = sd_bus_message_append(call, "ss", spec->unit, "fail");
        if (r >= 0)
                r = scope_add_properties(call, spec);
        if (r >= 0)
                r = sd_bus_message_append(call, "a(sa(sv))", 0);
        if (r < 0)
                return err_new(-r);
        r = scope_call(bus, call, deadline, w);
        if (r != 0)
                return r;
        if (sd_bus_message_read(w->reply, "o", &job) < 0)
                return SCOPE_E_JOB;
        return str_dup(job, &w->job);
}

/* Where the kernel says that we stand, whatever was said on the bus. */
static int scope_check_place(const char *unit) {
        CLEANUP(str_freep) char *cgroup = NULL, *end = NULL;
        int r;

        r = kin_cgroup(getpid(), &cgroup);
        if (r > 0)
                return SCOPE_E_PLACE;
        if (r == 0)
                r = str_printf(&end, "/%s", unit);
        if (r < 0)
                return r;
        return str_ends(cgroup, end) ? 0 : SCOPE_E_PLACE;
}

/* *sent: the manager may know of the unit from here on. */
static int scope_try(const ScopeSpec *spec, int64_t deadline, bool *sent) {
        CLEANUP(scope_wait_done) ScopeWait wait = {.unit = spec->unit};
        CLEANUP(sd_bus_close_unrefp)
        sd_bus *bus = NULL; /* goes first: its callbacks point at wait */
        int r;

        r = scope_connect(deadline, &bus);
        if (r != 0)
                return r;
        /* Without a sender: on the private socket nobody has a name. The manager keeps the order of
         * what comes on one connection, so the match stands before the call. */
        r = sd_bus_match_signal_async(bus, NULL, NULL, SCOPE_PATH, SCOPE_IFACE, "JobRemoved",
                                      scope_on_removed, NULL, &wait);
        if (r < 0)
                return r == -ENOMEM ? err_new(ENOMEM) : SCOPE_E_BUS;
        if (prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0) < 0)
                return err_new(errno);
        *sent = true;
        r = scope_start_unit(bus, spec, deadline, &wait);
        while (r == 0 && !str_eq(wait.job, wait.removed)) {
                r = scope_turn(bus, deadline);
                if (r == 0)
                        r = wait.code;
        }
        if (r != 0)
                return r;
        return wait.done ? scope_check_place(spec->unit) : SCOPE_E_JOB;
}

/* A manager that re-executes itself loses replies and signals, not units. So the question is put
 * again, and "exists" is then the answer to it when we stand in that unit's cgroup. */
int scope_enter(const ScopeSpec *spec) {
        int64_t deadline = clock_mono_ms() + spec->timeout_ms;
        bool sent = false;

        for (;;) {
                int64_t end = clock_mono_ms() + SCOPE_TRY_MS;
                bool before = sent;
                int r;

                r = scope_try(spec, end < deadline ? end : deadline, &sent);
                if (r == SCOPE_E_EXISTS && before) {
                        r = scope_check_place(spec->unit);
                        if (r == SCOPE_E_PLACE)
                                r = SCOPE_E_TIMEOUT; /* not yet there */
                }
                if (r != SCOPE_E_TIMEOUT && (r != SCOPE_E_BUS || !sent))
                        return r;
                if (clock_mono_ms() + SCOPE_PAUSE_MS >= deadline)
                        return r;
                (void)usleep(SCOPE_PAUSE_MS * 1000);
        }
}

/* A property of type string of the manager or a unit. SCOPE_E_*. */
static int scope_get(sd_bus *bus, const char *path, const char *iface, const char *name,
                     int64_t deadline, char **ret) {
        CLEANUP(scope_wait_done) ScopeWait wait = {0};
        CLEANUP(sd_bus_message_unrefp) sd_bus_message *call = NULL;
        const char *value;
        int r;

        r = sd_bus_message_new_method_call(bus, &call, SCOPE_DEST, path,
                                           "org.freedesktop.DBus.Properties", "Get");
        if (r >= 0)
                r = sd_bus_message_append(call, "ss", iface, name);
        if (r < 0)
                return err_new(-r);
        r = scope_call(bus, call, deadline, &wait);
        if (r != 0)
                return r;
        if (sd_bus_message_read(wait.reply, "v", "s", &value) < 0)
                return SCOPE_E_JOB;
        return str_dup(value, ret);
}

int scope_available(bool *ret) {
        CLEANUP(sd_bus_close_unrefp) sd_bus *bus = NULL;
        CLEANUP(str_freep) char *version = NULL;
        int64_t deadline = clock_mono_ms() + SCOPE_ASK_MS;
        int r;

        r = scope_connect(deadline, &bus);
        if (r == 0)
                r = scope_get(bus, SCOPE_PATH, SCOPE_IFACE, "Version", deadline, &version);
        if (r < 0)
                return r;
        *ret = r == 0;
        return 0;
}

int scope_active(const char *unit, bool *ret_active) {
        CLEANUP(scope_wait_done) ScopeWait wait = {0};
        CLEANUP(sd_bus_message_unrefp) sd_bus_message *call = NULL;
        CLEANUP(sd_bus_close_unrefp) sd_bus *bus = NULL;
        CLEANUP(str_freep) char *state = NULL;
        int64_t deadline = clock_mono_ms() + SCOPE_ASK_MS;
        const char *path;
        int r;

        r = scope_connect(deadline, &bus);
        if (r != 0)
                return r;
        r = scope_new_call(bus, "GetUnit", &call);
        if (r >= 0)
                r = sd_bus_message_append(call, "s", unit);
        if (r < 0)
                return err_new(-r);
        r = scope_call(bus, call, deadline, &wait);
        if (r == 0 && sd_bus_message_read(wait.reply, "o", &path) < 0)
                r = SCOPE_E_JOB;
        if (r == 0)
                r = scope_get(bus, path, SCOPE_DEST ".Unit", "ActiveState", deadline, &state);
        if (r != 0 && r != SCOPE_E_JOB) /* SCOPE_E_JOB: NoSuchUnit, or gone in between */
                return r;
        *ret_active = r == 0 && !str_eq(state, "inactive") && !str_eq(state, "failed");
        return 0;
}

/* GetUnitProcesses: a(sus), path below the unit, pid, command line. */
static int scope_is_empty(sd_bus *bus, const char *unit, int64_t deadline, bool *ret_empty) {
        CLEANUP(scope_wait_done) ScopeWait wait = {0};
        CLEANUP(sd_bus_message_unrefp) sd_bus_message *call = NULL;
        int r;

        r = scope_new_call(bus, "GetUnitProcesses", &call);
        if (r >= 0)
                r = sd_bus_message_append(call, "s", unit);
        if (r < 0)
                return err_new(-r);
        r = scope_call(bus, call, deadline, &wait);
        if (r != 0)
                return r;
        if (sd_bus_message_enter_container(wait.reply, 'a', "(sus)") < 0)
                return SCOPE_E_JOB;
        *ret_empty = sd_bus_message_at_end(wait.reply, false) > 0;
        return 0;
}

int scope_drop_empty(const char *unit) {
        CLEANUP(scope_wait_done) ScopeWait wait = {0};
        CLEANUP(sd_bus_message_unrefp) sd_bus_message *call = NULL;
        CLEANUP(sd_bus_close_unrefp) sd_bus *bus = NULL;
        int64_t deadline = clock_mono_ms() + SCOPE_ASK_MS;
        bool empty = false;
        int r;

        r = scope_connect(deadline, &bus);
        if (r == 0)
                r = scope_is_empty(bus, unit, deadline, &empty);
        if (r == SCOPE_E_JOB) /* NoSuchUnit */
                return 0;
        if (r != 0 || !empty)
                return r;
        r = scope_new_call(bus, "StopUnit", &call);
        if (r >= 0)
                r = sd_bus_message_append(call, "ss", unit, "replace");
        if (r < 0)
                return err_new(-r);
        r = scope_call(bus, call, deadline, &wait);
        return r == SCOPE_E_JOB ? 0 : r; /* gone in between */
}
