#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "installer/registry.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/doctor.h"
#include "operator/project.h"
#include "wire/record.h"

static const char doctor_help[] =
        "usage: spoolgate doctor [-s SLUG] [--json | --fix [--yes]]\n"
        "\n"
        "Looks for what is wrong on the host. Each finding ends in the command that mends it, "
        "alone "
        "on its line.\n"
        "Exit 1: findings; 2: something could not be looked at.\n"
        "\n"
        "  -s, --slug SLUG  the project\n"
        "  --json           as JSON\n"
        "  --fix            run the safe ones of these commands, each after asking\n"
        "  --yes            --fix without asking\n";

void doctor_done(Doctor *d) {
        layout_done(&d->layout);
        d->bridge = bridge_free(d->bridge);
        config_done(&d->config);
        str_done(&d->trouble);
        unitstates_done(&d->units);
        str_done(&d->units_trouble);
        for (size_t i = 0; i < d->len; i++) {
                str_freep(&d->items[i].text);
                str_freep(&d->items[i].command);
        }
        free(d->items);
        d->items = NULL;
        d->len = 0;
}

int doctor_add(Doctor *d, DoctorKind kind, char **command, const char *format, ...) {
        DoctorItem *items;
        char *text = NULL;
        va_list args;
        int n;

        va_start(args, format);
        n = vasprintf(&text, format, args);
        va_end(args);
        if (n < 0)
                return err_new(ENOMEM);
        items = reallocarray(d->items, d->len + 1, sizeof(*items));
        if (!items) {
                free(text);
                return err_new(ENOMEM);
        }
        d->items = items;
        items[d->len++] = (DoctorItem){kind, d->check, text, *command};
        *command = NULL;
        return 0;
}

int doctor_say(Doctor *d, DoctorKind kind, const char *command, const char *text) {
        CLEANUP(str_freep) char *copy = NULL;
        int r = str_dup(command, &copy);

        return r == 0 ? doctor_add(d, kind, &copy, "%s", text) : r;
}

int doctor_quote(const char *path, char **ret) {
        CLEANUP(str_done) Str s = STR_NULL;
        int r = str_addc(&s, '\'');

        for (; r == 0 && *path; path++)
                r = *path == '\'' ? str_adds(&s, "'\\''") : str_addc(&s, *path);
        if (r == 0)
                r = str_addc(&s, '\'');
        return r == 0 ? str_take(&s, ret) : r;
}

int doctor_open(const char *slug, Doctor *ret) {
        CLEANUP(doctor_done) Doctor d = {.config = HOST_CONFIG_NULL};
        CLEANUP(str_done) Str ignored = STR_NULL;
        int r = layout_init(&d.layout, slug);

        if (r == 0)
                r = registry_read(&d.layout, &d.bridge, &ignored);
        if (r >= 0)
                r = host_load(slug, &d.config, &d.trouble);
        if (r < 0)
                return r;
        d.loaded = r == 0;
        r = unitstates_read(slug, &d.units, &d.units_trouble);
        if (r < 0)
                return r;
        d.has_units = r == 0;
        *ret = d;
        d = (Doctor){.config = HOST_CONFIG_NULL};
        return 0;
}

static int doctor_run(Doctor *d, const DoctorCheck *check, size_t *blind, Str *said) {
        int r;

        if (check->needs_load && !d->loaded)
                return 0;
        d->check = check->name;
        r = check->look(d);
        if (r >= 0 || r == -ENOMEM)
                return r < 0 ? r : 0;
        (*blind)++;
        return str_addf(said, "could not look: %s: %s (%s)\n", check->name, strerror(-r),
                        err_last());
}

int doctor_look(Doctor *d, size_t *ret_blind, Str *said) {
        static const DoctorCheck *(*const themes[])(size_t) = {
                doctor_policy_check, doctor_files_check, doctor_units_check, doctor_host_check,
                doctor_ledger_check};
        const DoctorCheck *check;
        int r = 0;

        *ret_blind = 0;
        for (size_t t = 0; t < sizeof(themes) / sizeof(themes[0]); t++)
                for (size_t i = 0; r == 0 && (check = themes[t](i)); i++)
                        r = doctor_run(d, check, ret_blind, said);
        return r;
}

size_t doctor_findings(const Doctor *d) {
        size_t n = 0;

        for (size_t i = 0; i < d->len; i++)
                n += d->items[i].kind != DOCTOR_NOTE;
        return n;
}

/* Lines of a text may be a file's own words: nothing but the command begins in column 0. */
static int doctor_print(const Doctor *d, const Str *said) {
        CLEANUP(str_done) Str out = STR_NULL;
        size_t n = doctor_findings(d);
        int r = str_adds(&out, said->data ? said->data : "");

        for (size_t i = 0; r == 0 && i < d->len; i++) {
                const DoctorItem *item = &d->items[i];

                r = str_addf(&out, "%s %s: ", item->kind == DOCTOR_NOTE ? "note   " : "finding",
                             item->check);
                if (r == 0)
                        r = str_add_escaped(&out, item->text, strlen(item->text), false);
                if (r == 0)
                        r = item->command ? str_addf(&out, "\n%s\n", item->command)
                                          : str_addc(&out, '\n');
        }
        if (r == 0)
                r = n == 0 ? str_addf(&out, "%s: nothing found\n", d->layout.slug)
                           : str_addf(&out, "%s: %zu finding%s\n", d->layout.slug, n,
                                      n == 1 ? "" : "s");
        if (r == 0)
                command_print(&out);
        return r;
}

static int doctor_print_json(const Doctor *d, const Str *said) {
        CLEANUP(record_freep) Record *root = NULL;
        CLEANUP(str_freep) char *text = NULL;
        int r = record_new(&root);

        if (r == 0)
                r = record_put_str(root, "project", d->layout.slug);
        if (r == 0)
                r = record_put_list(root, "items");
        for (size_t i = 0; r == 0 && i < d->len; i++) {
                CLEANUP(record_freep) Record *one = NULL;
                CLEANUP(str_done) Str escaped = STR_NULL;
                const DoctorItem *item = &d->items[i];

                r = record_new(&one);
                if (r == 0)
                        r = record_put_str(one, "check", item->check);
                if (r == 0)
                        r = record_put_bool(one, "finding", item->kind != DOCTOR_NOTE);
                if (r == 0)
                        r = str_add_escaped(&escaped, item->text, strlen(item->text), false);
                if (r == 0)
                        r = record_put_str(one, "text", escaped.data);
                str_clear(&escaped);
                if (r == 0 && item->command)
                        r = str_add_escaped(&escaped, item->command, strlen(item->command), false);
                if (r == 0)
                        r = record_put_str(one, "command", item->command ? escaped.data : NULL);
                if (r == 0)
                        r = record_put_bool(one, "safe", item->kind == DOCTOR_SAFE);
                if (r == 0)
                        r = record_append_take(root, "items", &one);
        }
        if (r == 0)
                r = record_put_str(root, "could_not_look", said->data);
        if (r == 0)
                r = record_format_pretty(root, &text);
        return r < 0 ? r : command_help(text);
}

typedef struct DoctorOptions {
        const char *slug;
        bool json, fix, yes;
} DoctorOptions;

/* The exit status of one look, or -errno. */
static int doctor_visit(const char *slug, const DoctorOptions *o, bool fix) {
        CLEANUP(doctor_done) Doctor d = {.config = HOST_CONFIG_NULL};
        CLEANUP(str_done) Str said = STR_NULL;
        size_t blind = 0;
        int r = doctor_open(slug, &d);

        if (r == 0)
                r = doctor_look(&d, &blind, &said);
        if (r == 0 && fix && doctor_findings(&d) > 0) {
                r = doctor_fix(&d, o->yes);
                return r < 0 ? r : doctor_visit(slug, o, false); /* what is left */
        }
        if (r == 0)
                r = o->json ? doctor_print_json(&d, &said) : doctor_print(&d, &said);
        if (r < 0)
                return r;
        return blind > 0 ? COMMAND_BROKEN : doctor_findings(&d) > 0 ? COMMAND_FINDING : COMMAND_OK;
}

static int doctor_act(const DoctorOptions *o) {
        CLEANUP(layout_done) Layout l = LAYOUT_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        int r = hash_init();

        if (r == 0)
                r = project_select(o->slug, &l, &why);
        if (r > 0) {
                command_fail("doctor", why.data);
                return COMMAND_BROKEN;
        }
        if (r == 0)
                r = doctor_visit(l.slug, o, o->fix);
        return r < 0 ? command_broken("doctor", r) : r;
}

int doctor_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'}, {"json", no_argument, NULL, 'j'},
                {"fix", no_argument, NULL, 'f'},        {"yes", no_argument, NULL, 'y'},
                {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0},
        };
        DoctorOptions o = {0};
        int opt;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, "+:s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(doctor_help);
                if (opt == 's')
                        o.slug = optarg;
                else if (opt == 'j' && !o.fix)
                        o.json = true;
                else if (opt == 'f' && !o.json)
                        o.fix = true;
                else if (opt == 'y')
                        o.yes = true;
                else
                        return command_usage("doctor", opt, argv + optind - 1);
        }
        if (optind < argc)
                return command_usage("doctor", '?', argv + optind);
        return doctor_act(&o);
}
