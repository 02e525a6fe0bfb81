#include <errno.h>
#include <getopt.h>
#include <unistd.h>

#include "base/fd.h"
#include "fs/pin.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/project.h"
#include "policy/policy.h"
#include "verb/argv.h"
#include "verb/own.h"
#include "wire/record.h"
#include "wire/verbs.h"

static const char verbs_help[] = "usage: spoolgate verbs [-s SLUG] [--json | --check]\n"
                                 "\n"
                                 "Prints everything this bridge can ever run, argv by argv: that "
                                 "list is the security property.\n"
                                 "\n"
                                 "  -s, --slug SLUG  the project\n"
                                 "  --json           as JSON\n"
                                 "  --check          read verbs.json and policy.conf, say what is "
                                 "wrong with them; exit 1 then\n";

enum { VERBS_FILE_MAX = 1024 * 1024 };

typedef struct Verbs {
        Layout layout;
        Bridge *bridge;
        OwnVerbs own;
        VerbSetup setup;
        VerbTable *table;
        Policy *policy;  /* NULL: broken, or not there */
        bool own_broken; /* then policy.conf may name them all the same, as for the drain */
        Str trouble;     /* a line for each broken file */
} Verbs;

static void verbs_done(Verbs *v) {
        v->policy = policy_free(v->policy);
        v->table = table_free(v->table);
        setup_done(&v->setup);
        own_done(&v->own);
        v->bridge = bridge_free(v->bridge);
        layout_done(&v->layout);
        str_done(&v->trouble);
}

/* *ret_found false: not there, or not to be used, which trouble says. */
static int verbs_file(Verbs *v, const char *name, bool optional, Str *ret, bool *ret_found) {
        CLEANUP(fd_closep) int dir = -EBADF;
        PinRule rule = {geteuid(), 0022};
        int r;

        r = pin_host_dir(v->layout.config, &rule, &dir);
        if (r == 0)
                r = pin_read_at(dir, name, &rule, PIN_ANY_LINKS, VERBS_FILE_MAX, ret);
        *ret_found = r == 0;
        if (r <= 0 || (r == PIN_E_ABSENT && optional))
                return r < 0 ? r : 0;
        return str_addf(&v->trouble, "%s/%s %s\n", v->layout.config, name, pin_reason(r));
}

static int verbs_load_own(Verbs *v) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        CLEANUP(str_freep) char *message = NULL;
        bool found;
        int r;

        r = verbs_file(v, "verbs.json", true, &bytes, &found);
        v->own_broken = v->trouble.len > 0;
        if (r < 0 || !found)
                return r;
        r = verbs_parse(bytes.data, bytes.len, v->bridge->checkout.path, &v->own, &message);
        v->own_broken = r == VERBS_E_INVALID;
        return r == VERBS_E_INVALID ? str_addf(&v->trouble, "%s/%s\n", v->layout.config, message)
                                    : r;
}

static int verbs_load_policy(Verbs *v) {
        CLEANUP(str_done) Str bytes = STR_NULL;
        CLEANUP(str_freep) char *message = NULL;
        bool found;
        int r;

        r = verbs_file(v, "policy.conf", false, &bytes, &found);
        if (r < 0 || !found)
                return r;
        r = v->own_broken
                    ? policy_parse_built_in(bytes.data, bytes.len, v->table, &v->policy, &message)
                    : policy_parse(bytes.data, bytes.len, v->table, &v->policy, &message);
        return r == POLICY_E_INVALID ? str_addf(&v->trouble, "%s/%s\n", v->layout.config, message)
                                     : r;
}

static int verbs_load(const char *slug, Verbs *v, Str *why) {
        int r;

        r = project_open(slug, &v->layout, &v->bridge, why);
        if (r == 0)
                r = bridge_setup(v->bridge, &v->setup);
        if (r == 0)
                r = verbs_load_own(v);
        if (r != 0)
                return r;
        r = table_new(&v->setup, &v->own, &v->table);
        if (r > 0)
                return err_new(EINVAL); /* bridge_parse knows the stacks */
        return r < 0 ? r : verbs_load_policy(v);
}

static const char *verbs_mode(const Verbs *v, const Verb *verb) {
        return v->policy && policy_mode(v->policy, verb) == POLICY_AUTO ? "auto" : "deny";
}

static uint32_t verbs_timeout(const Verbs *v, const Verb *verb) {
        return v->policy ? policy_timeout(v->policy, verb) : verb->timeout_sec;
}

static int verbs_row(const Verbs *v, const Verb *verb, Str *out) {
        CLEANUP(str_freep) char *argv = NULL;
        const Strv *args = table_args(v->table, verb);
        int r;

        r = argv_format_row(v->table, verb, &argv);
        if (r == 0)
                r = str_addf(out, "%-14s %s  %-9s  %5us  %s\n", verb->name, verbs_mode(v, verb),
                             verb_class_name(verb->class), verbs_timeout(v, verb), argv);
        if (r == 0 && args)
                r = str_adds(out, "    args:");
        for (size_t i = 0; r == 0 && args && i < args->len; i++)
                r = str_addf(out, " %s", args->items[i]);
        if (r == 0 && args)
                r = str_adds(out, args->len > 0 ? "\n" : " none: every one is refused\n");
        if (r == 0 && verb->cwd == VERB_CWD_CHECKOUT)
                r = str_adds(out, "    runs in the checkout: it trusts every file there that its "
                                  "program reads by itself\n");
        if (r == 0 && verb->missing)
                r = str_addf(out, "    off: %s\n", verb->missing);
        return r;
}

static int verbs_print(const Verbs *v) {
        CLEANUP(str_done) Str out = STR_NULL;
        const Verb *verb;
        int r = 0;

        for (size_t i = 0; (verb = table_at(v->table, i)) && r == 0; i++)
                r = verbs_row(v, verb, &out);
        if (r == 0)
                command_print(&out);
        return r;
}

static int verbs_record(const Verbs *v, const Verb *verb, Record **ret) {
        CLEANUP(record_freep) Record *row = NULL;
        CLEANUP(str_freep) char *argv = NULL;
        const Strv *args = table_args(v->table, verb);
        int r;

        r = argv_format_row(v->table, verb, &argv);
        if (r == 0)
                r = record_new(&row);
        if (r == 0)
                r = record_put_str(row, "name", verb->name);
        if (r == 0)
                r = record_put_str(row, "class", verb_class_name(verb->class));
        if (r == 0)
                r = record_put_str(row, "mode", verbs_mode(v, verb));
        if (r == 0)
                r = record_put_str(row, "needs", verb_scope_name(verb->needs));
        if (r == 0)
                r = record_put_int(row, "timeout_sec", verbs_timeout(v, verb));
        if (r == 0)
                r = record_put_bool(row, "own", verb->own);
        if (r == 0)
                r = record_put_str(row, "cwd",
                                   verb->cwd == VERB_CWD_CHECKOUT ? "checkout" : "host");
        if (r == 0)
                r = record_put_str(row, "argv", argv);
        if (r == 0)
                r = args ? record_put_strv(row, "args", args) : record_put_null(row, "args");
        if (r == 0)
                r = record_put_str(row, "missing", verb->missing);
        if (r < 0)
                return r;
        *ret = row;
        row = NULL;
        return 0;
}

static int verbs_print_json(const Verbs *v) {
        CLEANUP(record_freep) Record *root = NULL;
        CLEANUP(str_freep) char *text = NULL;
        const Verb *verb;
        int r;

        r = record_new(&root);
        if (r == 0)
                r = record_put_str(root, "project", v->layout.slug);
        if (r == 0)
                r = record_put_list(root, "verbs");
        for (size_t i = 0; (verb = table_at(v->table, i)) && r == 0; i++) {
                CLEANUP(record_freep) Record *row = NULL;

                r = verbs_record(v, verb, &row);
                if (r == 0)
                        r = record_append_take(root, "verbs", &row);
        }
        if (r == 0)
                r = record_format_pretty(root, &text);
        return r < 0 ? r : command_help(text);
}

static int verbs_act(const char *slug, bool json, bool check) {
        CLEANUP(verbs_done) Verbs v = {0};
        CLEANUP(str_done) Str why = STR_NULL;
        int r;

        r = verbs_load(slug, &v, &why);
        if (r > 0) {
                command_fail("verbs", why.data);
                return r == PROJECT_E_NONE ? COMMAND_FINDING : COMMAND_BROKEN;
        }
        if (r == 0 && !check)
                r = json ? verbs_print_json(&v) : verbs_print(&v);
        if (r < 0)
                return command_broken("verbs", r);
        if (v.trouble.len > 0)
                command_fail("verbs", v.trouble.data);
        return v.trouble.len > 0 ? COMMAND_FINDING : COMMAND_OK;
}

int verbs_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'},
                {"json", no_argument, NULL, 'j'},
                {"check", no_argument, NULL, 'c'},
                {"help", no_argument, NULL, 'h'},
                {NULL, 0, NULL, 0},
        };
        const char *slug = NULL;
        bool json = false, check = false;
        int opt;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, "+:s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(verbs_help);
                if (opt == 's')
                        slug = optarg;
                else if (opt == 'j')
                        json = true;
                else if (opt == 'c')
                        check = true;
                else
                        return command_usage("verbs", opt, argv + optind - 1);
        }
        if (optind < argc)
                return command_usage("verbs", '?', argv + optind);
        return verbs_act(slug, json, check);
}
