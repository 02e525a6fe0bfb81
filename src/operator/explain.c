#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "drain/integrity.h"
#include "drain/outcome.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/gatelist.h"
#include "operator/host.h"
#include "operator/would.h"
#include "policy/gates.h"
#include "verb/argv.h"
#include "wire/record.h"

static const char explain_help[] =
        "usage: spoolgate explain [-s SLUG] [--json] VERB [ARG]\n"
        "\n"
        "Which gate would decide on such a request of the agent's right now, and why. Nothing is "
        "run, nothing is\n"
        "counted. Exit 1: it would be refused.\n"
        "\n"
        "  -s, --slug SLUG  the project\n"
        "  --json           as JSON\n";

typedef struct Explain {
        Config *config;
        Verdict verdict;
        Outcome outcome;
        Guard *guard;
        HostRate rate;
        bool rate_asked;
        Str passed, setting, argv;
} Explain;

static void explain_done(Explain *e) {
        e->verdict.grant = grant_free(e->verdict.grant);
        outcome_done(&e->outcome);
        e->guard = guard_free(e->guard);
        str_done(&e->passed);
        str_done(&e->setting);
        str_done(&e->argv);
}

static int explain_rate(void *userdata, VerbCall call, int64_t *ret_retry_sec) {
        Explain *e = userdata;
        int r = host_rate(e->config, call.verb->name, call.arg, &e->rate);

        if (r < 0)
                return r;
        if (e->rate.broken)
                return err_new(EBADMSG); /* the drain refuses it as host-error too */
        e->rate_asked = true;
        *ret_retry_sec = (e->rate.retry_ms + 999) / 1000;
        return 0;
}

static int explain_integrity(void *userdata, Reason *ret_reason) {
        Explain *e = userdata;
        int r = integrity_ask(e->config, &e->guard);

        if (r == 0)
                *ret_reason = integrity_reason(guard_code(e->guard));
        return r;
}

enum { EXPLAIN_E_SHAPE = 1 };

/* A request as the agent's client would write it now, parsed as the drain would. */
static int explain_request(const char *verb, const char *arg, Request **ret) {
        CLEANUP(str_freep) char *verb_copy = NULL;
        CLEANUP(str_freep) char *arg_copy = NULL;
        CLEANUP(str_freep) char *body = NULL;
        Request plain = {.requested_ms = clock_wall_ms()};
        const char *detail;
        Reason reason;
        int r;

        if (!table_verb_shape(verb, strlen(verb)))
                return EXPLAIN_E_SHAPE;
        name_make(verb, plain.requested_ms, &plain.name);
        r = str_dup(verb, &verb_copy);
        if (r == 0)
                r = str_dup(arg, &arg_copy);
        plain.verb = verb_copy;
        plain.arg = arg_copy;
        if (r == 0)
                r = request_format(&plain, &body);
        if (r == 0)
                r = request_parse(&plain.name, body, strlen(body), ret, &reason, &detail);
        return r > 0 ? EXPLAIN_E_SHAPE : r;
}

static int explain_judge(Explain *e, const Request *request) {
        const Config *c = e->config;
        GateFacts facts = {
                .table = c->table,
                .policy = c->policy,
                .own_broken = c->own_trouble != NULL,
                .now_ms = clock_wall_ms(),
                .source = GATE_AGENT,
                .probes = {.userdata = e, .rate = explain_rate, .integrity = explain_integrity},
        };
        CLEANUP(host_pause_done) HostPause pause = HOST_PAUSE_NULL;
        int r = host_pause(c, &pause);

        facts.paused = pause.paused;
        if (r == 0)
                r = gates_judge(&facts, request, &e->verdict);
        return r;
}

static int explain_refusal(Explain *e, const Request *request) {
        CLEANUP(str_done) Str text = STR_NULL;
        CLEANUP(str_freep) char *setting = NULL;
        const Verdict *v = &e->verdict;
        int r = 0;

        if (e->guard && guard_code(e->guard) != GUARD_OK) {
                r = host_guard_text(e->guard, &text);
                if (r == 0)
                        r = outcome_refuse(e->config, v->reason, text.data, &e->outcome);
        } else {
                r = outcome_of_verdict(e->config, request->verb, v, &e->outcome);
        }
        if (r == 0)
                r = would_setting(reason_name(v->reason), request->verb, &setting);
        if (r == 0)
                r = str_adds(&e->setting, setting);
        if (r == 0 && v->reason == REASON_RATE)
                r = str_addf(&e->setting, " (used %u of %u, %u of %u)", e->rate.used, e->rate.limit,
                             e->rate.used_total, e->rate.limit_total);
        if (r == 0 && e->guard && *would_remedy(reason_name(v->reason)))
                r = str_addf(&e->outcome.message, "\n%s -s %s",
                             would_remedy(reason_name(v->reason)), e->config->layout.slug);
        return r;
}

static int explain_plan(Explain *e) {
        CLEANUP(plan_freep) Plan *plan = NULL;
        CLEANUP(str_freep) char *argv = NULL;
        int r;

        if (e->verdict.call.verb->launch == VERB_SELF)
                return str_adds(&e->argv, "(answered by the drain)");
        r = plan_new(e->config->table, e->verdict.call, &plan);
        if (r == 0)
                r = plan_format(plan, &argv);
        return r == 0 ? str_adds(&e->argv, argv) : r;
}

static int explain_fill(Explain *e, const Request *request) {
        const Verdict *v = &e->verdict;
        const Verb *verb = table_find(e->config->table, request->verb);
        bool refused = v->reason != REASON_NONE;
        int r = 0;

        if (v->reason != REASON_HOST_CONFIG)
                r = gatelist_before(refused ? v->gate : NULL, verb && verb->class == VERB_MUTATING,
                                    &e->passed);
        if (r < 0)
                return r;
        return refused ? explain_refusal(e, request) : explain_plan(e);
}

static int explain_print(const Explain *e, const Request *request) {
        CLEANUP(str_done) Str out = STR_NULL;
        const Verdict *v = &e->verdict;
        const char *about = gatelist_about(v->gate);
        bool refused = v->reason != REASON_NONE;
        int r;

        r = str_addf(&out, "%s%s%s: ", request->verb, request->arg ? " " : "",
                     request->arg ? request->arg : "");
        if (r == 0 && refused)
                r = str_addf(&out, "would be %s: %s\n  gate      %s%s%s%s\n  setting   %s\n",
                             state_name(reason_state(v->reason)), reason_name(v->reason), v->gate,
                             about ? " (" : "", about ? about : "", about ? ")" : "",
                             e->setting.data);
        if (r == 0 && !refused)
                r = str_addf(&out, "would run now\n  argv      %s\n  timeout   %u s\n",
                             e->argv.data, grant_timeout_sec(v->grant));
        if (r == 0 && e->rate_asked && !refused)
                r = str_addf(&out, "  rate      %u of %u used, of all verbs %u of %u\n",
                             e->rate.used, e->rate.limit, e->rate.used_total, e->rate.limit_total);
        if (r == 0 && e->passed.len > 0)
                r = str_addf(&out, "  passed    %s\n", e->passed.data);
        if (r == 0 && refused)
                r = str_addf(&out, "%s\n", e->outcome.message.data);
        if (r == 0)
                command_print(&out);
        return r;
}

static int explain_json(const Explain *e, const Request *request) {
        CLEANUP(record_freep) Record *root = NULL;
        CLEANUP(str_freep) char *text = NULL;
        const Verdict *v = &e->verdict;
        bool refused = v->reason != REASON_NONE;
        int r = record_new(&root);

        if (r == 0)
                r = record_put_str(root, "project", e->config->layout.slug);
        if (r == 0)
                r = record_put_str(root, "verb", request->verb);
        if (r == 0)
                r = record_put_str(root, "arg", request->arg);
        if (r == 0)
                r = record_put_bool(root, "runs", !refused);
        if (r == 0)
                r = record_put_str(root, "reason", refused ? reason_name(v->reason) : NULL);
        if (r == 0)
                r = record_put_str(root, "gate", refused ? v->gate : NULL);
        if (r == 0)
                r = record_put_str(root, "setting", refused ? e->setting.data : NULL);
        if (r == 0)
                r = record_put_str(root, "message", refused ? e->outcome.message.data : NULL);
        if (r == 0)
                r = record_put_str(root, "argv", refused ? NULL : e->argv.data);
        if (r == 0)
                r = record_format_pretty(root, &text);
        return r < 0 ? r : command_help(text);
}

static int explain_run(Config *c, const char *verb, const char *arg, bool json) {
        CLEANUP(explain_done) Explain e = {.config = c, .outcome = OUTCOME_NULL};
        CLEANUP(request_freep) Request *request = NULL;
        int r = explain_request(verb, arg, &request);

        if (r == EXPLAIN_E_SHAPE) {
                command_fail("explain", "no request can be written with that verb or argument: a "
                                        "verb is [a-z][a-z-]{0,31}");
                return COMMAND_FINDING;
        }
        if (r == 0)
                r = explain_judge(&e, request);
        if (r == 0)
                r = explain_fill(&e, request);
        if (r == 0)
                r = json ? explain_json(&e, request) : explain_print(&e, request);
        if (r < 0)
                return command_broken("explain", r);
        return e.verdict.reason == REASON_NONE ? COMMAND_OK : COMMAND_FINDING;
}

int explain_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'},
                {"json", no_argument, NULL, 'j'},
                {"help", no_argument, NULL, 'h'},
                {NULL, 0, NULL, 0},
        };
        CLEANUP(config_done) Config c = HOST_CONFIG_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        const char *slug = NULL;
        bool json = false;
        int opt, r;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, ":s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(explain_help);
                if (opt == 's')
                        slug = optarg;
                else if (opt == 'j')
                        json = true;
                else
                        return command_usage("explain", opt, argv + optind - 1);
        }
        if (optind >= argc || argc - optind > 2)
                return command_usage("explain", optind < argc ? '?' : ':',
                                     optind < argc ? argv + optind + 2 : argv);
        r = hash_init();
        if (r == 0)
                r = host_load(slug, &c, &why);
        if (r < 0)
                return command_broken("explain", r);
        if (r > 0) {
                command_fail("explain", why.data);
                return COMMAND_BROKEN;
        }
        return explain_run(&c, argv[optind], optind + 1 < argc ? argv[optind + 1] : NULL, json);
}
