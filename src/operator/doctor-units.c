/* doctor's checks of units and the user manager */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "installer/detect.h"
#include "operator/doctor.h"
#include "run/scope.h"

enum { DOCTOR_PATH, DOCTOR_SERVICE, DOCTOR_TIMER, DOCTOR_REARM }; /* as in installer/units */

static bool doctor_direct(const Doctor *d) {
        return d->bridge && str_eq(d->bridge->launch, "direct");
}

static bool doctor_installed(const Doctor *d) {
        return d->has_units && !str_eq(d->units.units[DOCTOR_PATH].load, "not-found");
}

static int doctor_manager(Doctor *d) {
        CLEANUP(str_freep) char *command = NULL;
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        int r;

        if (d->has_units)
                return 0;
        r = runtime && *runtime ? str_dup("systemctl --user status", &command)
                                : str_printf(&command, "export XDG_RUNTIME_DIR=/run/user/%u",
                                             (unsigned)geteuid());
        return r < 0 ? r
                     : doctor_add(d, doctor_direct(d) ? DOCTOR_NOTE : DOCTOR_FINDING, &command,
                                  "no user manager answers: %s",
                                  d->units_trouble.data ? d->units_trouble.data : "");
}

static int doctor_loaded(Doctor *d) {
        CLEANUP(str_freep) char *command = NULL;
        Str missing = STR_NULL;
        int r = 0;

        for (size_t i = 0; r == 0 && d->has_units && i < UNITS_COUNT; i++)
                if (!str_eq(d->units.units[i].load, "loaded"))
                        r = str_addf(&missing, " %s", d->units.units[i].name);
        if (r == 0 && missing.len > 0)
                r = str_printf(&command, "spoolgate upgrade -s %s", d->layout.slug);
        if (r == 0 && missing.len > 0)
                r = doctor_add(d, DOCTOR_FINDING, &command, "units are not installed:%s",
                               missing.data);
        str_done(&missing);
        return r;
}

static int doctor_reload(Doctor *d) {
        for (size_t i = 0; d->has_units && i < UNITS_COUNT; i++)
                if (str_eq(d->units.units[i].reload, "yes"))
                        return doctor_say(d, DOCTOR_SAFE, "systemctl --user daemon-reload",
                                          "a unit file was changed and is not loaded yet");
        return 0;
}

static int doctor_failed(Doctor *d) {
        int r = 0;

        for (size_t i = 0; r == 0 && d->has_units && i < UNITS_COUNT; i++) {
                CLEANUP(str_freep) char *command = NULL;
                const UnitState *u = &d->units.units[i];

                if (!str_eq(u->active, "failed"))
                        continue;
                r = str_printf(&command,
                               "systemctl --user reset-failed %s && systemctl --user start "
                               "spoolgate-%s.path",
                               u->name, d->layout.slug);
                if (r == 0)
                        r = doctor_add(
                                d, DOCTOR_SAFE, &command, "%s has failed: %s%s", u->name, u->result,
                                strstr(u->result, "limit") ? " (a start or trigger limit)" : "");
        }
        return r;
}

static int doctor_enabled(Doctor *d) {
        static const int wanted[] = {DOCTOR_PATH, DOCTOR_TIMER};
        int r = 0;

        for (size_t i = 0; r == 0 && doctor_installed(d) && i < 2; i++) {
                CLEANUP(str_freep) char *command = NULL;
                const UnitState *u = &d->units.units[wanted[i]];

                if (!str_eq(u->load, "loaded") || str_eq(u->active, "failed"))
                        continue;
                if (!str_eq(u->enabled, "enabled")) {
                        r = str_printf(&command, "systemctl --user enable --now %s", u->name);
                        if (r == 0)
                                r = doctor_add(d, DOCTOR_SAFE, &command,
                                               "%s is %s: it doesn't come back by itself", u->name,
                                               *u->enabled ? u->enabled : "not enabled");
                } else if (!str_eq(u->active, "active")) {
                        r = str_printf(&command, "systemctl --user start %s", u->name);
                        if (r == 0)
                                r = doctor_add(d, DOCTOR_SAFE, &command, "%s is %s", u->name,
                                               u->active);
                }
        }
        return r;
}

/* The drain paces itself; a start limit would only let the agent turn the bridge off. */
static int doctor_limits(Doctor *d) {
        static const int limited[] = {DOCTOR_PATH, DOCTOR_SERVICE};
        int r = 0;

        for (size_t i = 0; r == 0 && doctor_installed(d) && i < 2; i++) {
                CLEANUP(str_freep) char *command = NULL;
                const UnitState *u = &d->units.units[limited[i]];

                if (!*u->limit || str_eq(u->limit, "0"))
                        continue;
                r = str_printf(&command, "systemctl --user revert %s", u->name);
                if (r == 0)
                        r = doctor_add(d, DOCTOR_FINDING, &command,
                                       "%s has a start limit (%s): a burst of requests stops the "
                                       "bridge; a drop-in sets it",
                                       u->name, u->limit);
        }
        return r;
}

static int doctor_linger(Doctor *d) {
        CLEANUP(str_freep) char *command = NULL;
        CLEANUP(str_freep) char *user = NULL;
        bool linger;
        int r = detect_linger(&linger, &user);

        if (r < 0 || linger)
                return r;
        r = str_printf(&command, "loginctl enable-linger %s", user ? user : "");
        return r < 0 ? r
                     : doctor_add(d, doctor_installed(d) ? DOCTOR_SAFE : DOCTOR_NOTE, &command,
                                  "lingering is off: the bridge, and every container it starts, "
                                  "ends with the last login");
}

static int doctor_launch(Doctor *d) {
        bool available;
        int r = scope_available(&available);

        if (r < 0 || (available && !doctor_direct(d)))
                return r;
        if (!available && !doctor_direct(d))
                return doctor_say(d, DOCTOR_FINDING, "systemctl --user status",
                                  "the user manager makes no scopes: every verb that changes "
                                  "something fails with spawn");
        if (!available)
                return doctor_say(d, DOCTOR_NOTE, NULL,
                                  "direct: a run ends with the drain that started it");
        return doctor_say(
                d, DOCTOR_NOTE, NULL,
                "direct, though this user manager makes scopes: a run ends with "
                "the drain that started it (spoolgate install --launch scope changes that)");
}

static const DoctorCheck doctor_units_checks[] = {
        {"user manager", doctor_manager, false},  {"units", doctor_loaded, false},
        {"unit files", doctor_reload, false},     {"failed units", doctor_failed, false},
        {"enabled units", doctor_enabled, false}, {"start limits", doctor_limits, false},
        {"lingering", doctor_linger, false},      {"launch", doctor_launch, true},
};

const DoctorCheck *doctor_units_check(size_t i) {
        return i < sizeof(doctor_units_checks) / sizeof(doctor_units_checks[0])
                       ? &doctor_units_checks[i]
                       : NULL;
}
