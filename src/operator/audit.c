#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/hash.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/follow.h"
#include "operator/history.h"
#include "operator/journal-check.h"
#include "operator/project.h"
#include "operator/would.h"
#include "wire/reason.h"

static const char audit_help[] =
        "usage: spoolgate audit [verify] [-s SLUG] [OPTION...]\n"
        "\n"
        "What was asked, decided and run, from the audit log; one line a record.\n"
        "verify proves the chain of hashes over every file of the log.\n"
        "\n"
        "  -s, --slug SLUG      the project\n"
        "  --since WHEN         90s 30m 2h 3d 2w ago, 2026-01-02, or 2026-01-02T03:04:05Z\n"
        "  --verb VERB          records of one verb\n"
        "  --outcome STATE      done, failed, uncertain, denied or expired\n"
        "  --request NAME       records of one request; a part of its name will do\n"
        "  --follow             stay, and show what comes\n"
        "  --would              what was refused, grouped by the setting that decided\n"
        "  --json               the records as they stand, a line each\n"
        "  --journal            verify: also compare the journal's copies with the log\n";

enum { AUDIT_FOLLOW_NS = 250 * 1000 * 1000 };

typedef struct AuditOptions {
        const char *slug, *since;
        HistoryFilter filter;
        bool follow, would, json, verify, journal;
} AuditOptions;

typedef struct AuditShow {
        const AuditOptions *o;
        Would *would;
        JournalCheck *check;
        int64_t seq; /* of the last record */
        Str out;
} AuditShow;

static void audit_show_done(AuditShow *s) {
        str_done(&s->out);
}

static int audit_each(void *userdata, const Record *r, const char *raw, size_t len,
                      const char *hash) {
        AuditShow *s = userdata;
        int x = 0;

        if (!record_int(r, "seq", &s->seq))
                return 0;
        if (s->check && s->check->first_ms == 0)
                s->check->first_ms = history_time(r);
        if (s->check && hash)
                return journal_check_add(s->check, hash);
        if (s->o->verify || !history_matches(&s->o->filter, r))
                return 0;
        if (s->would)
                return would_add(s->would, r);
        if (!s->o->json)
                return history_format(r, &s->out);
        x = str_add(&s->out, raw, len);
        return x == 0 ? str_addc(&s->out, '\n') : x;
}

static int audit_follow(AuditShow *s, int state_fd) {
        CLEANUP(follow_done) Follow f = FOLLOW_NULL;
        int r = 0;

        f.state_fd = state_fd;
        f.seq = s->seq;
        while (r == 0) {
                r = follow_poll(&f, audit_each, s);
                command_print(&s->out);
                str_clear(&s->out);
                if (r == 0)
                        (void)nanosleep(&(struct timespec){0, AUDIT_FOLLOW_NS}, NULL);
        }
        return r;
}

static int audit_print_would(const AuditOptions *o, Would *w) {
        CLEANUP(record_freep) Record *record = NULL;
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_done) Str out = STR_NULL;
        int r = 0;

        would_sort(w);
        if (!o->json) {
                r = would_format(w, &out);
                if (r == 0)
                        command_print(&out);
                return r;
        }
        r = record_new(&record);
        if (r == 0)
                r = would_record(w, record);
        if (r == 0)
                r = record_format_pretty(record, &text);
        return r < 0 ? r : command_help(text);
}

static int audit_list(const AuditOptions *o, int state_fd) {
        CLEANUP(audit_show_done) AuditShow s = {.o = o};
        CLEANUP(would_done) Would would = WOULD_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        uint64_t lines;
        int r, x;

        if (o->would)
                s.would = &would;
        r = history_read(state_fd, audit_each, &s, &why, &lines);
        if (r < 0)
                return command_broken("audit", r);
        command_print(&s.out);
        str_clear(&s.out);
        x = o->would ? audit_print_would(o, &would) : 0;
        if (x == 0 && r > 0) {
                x = str_adds(&why, "\nspoolgate audit verify");
                command_fail("audit", why.data);
        }
        if (x == 0 && r == 0 && o->follow)
                x = audit_follow(&s, state_fd);
        if (x < 0)
                return command_broken("audit", x);
        return r == 0 ? COMMAND_OK : COMMAND_FINDING;
}

static int audit_journal(JournalCheck *check, const char *slug, Str *out, bool *ret_good) {
        CLEANUP(str_done) Str why = STR_NULL;
        int r = journal_check_run(check, slug, &why);

        *ret_good = r == 0 && check->missing == 0;
        if (r > 0)
                return str_addf(out, "the journal can't be read: %s\n", why.data);
        if (r == 0)
                r = str_addf(out, "the journal holds %llu copies; ",
                             (unsigned long long)check->seen);
        if (r == 0 && *ret_good)
                return str_adds(out, "the log has every one of them\n");
        return r < 0 ? r
                     : str_addf(out, "the log lacks %llu of them:\n%s",
                                (unsigned long long)check->missing,
                                check->foreign.data ? check->foreign.data : "");
}

static int audit_verify_say(const AuditOptions *o, const char *slug, JournalCheck *check,
                            uint64_t lines, const char *broken) {
        CLEANUP(record_freep) Record *record = NULL;
        CLEANUP(str_freep) char *text = NULL;
        CLEANUP(str_done) Str out = STR_NULL;
        bool good = true;
        int r;

        r = broken ? str_addf(&out, "the audit log is broken: %s\n", broken)
                   : str_addf(&out, "%llu records, each in the chain\n", (unsigned long long)lines);
        if (r == 0 && o->journal && !broken)
                r = audit_journal(check, slug, &out, &good);
        if (r == 0 && o->json) {
                r = record_new(&record);
                if (r == 0)
                        r = record_put_bool(record, "whole", !broken && good);
                if (r == 0)
                        r = record_put_int(record, "records", (int64_t)lines);
                if (r == 0)
                        r = record_put_bytes(record, "message", out.data, out.len - 1);
                if (r == 0)
                        r = record_format_pretty(record, &text);
                if (r == 0)
                        (void)command_help(text);
        }
        if (r < 0)
                return command_broken("audit", r);
        if (!o->json)
                command_print(&out);
        return broken || !good ? COMMAND_FINDING : COMMAND_OK;
}

static int audit_prove(const AuditOptions *o, const char *slug, int state_fd) {
        CLEANUP(audit_show_done) AuditShow s = {.o = o};
        CLEANUP(journal_check_done) JournalCheck check = JOURNAL_CHECK_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        uint64_t lines = 0;
        int r;

        if (o->journal)
                s.check = &check;
        r = history_read(state_fd, audit_each, &s, &why, &lines);
        return r < 0 ? command_broken("audit", r)
                     : audit_verify_say(o, slug, &check, lines, r > 0 ? why.data : NULL);
}

static int audit_act(const AuditOptions *o) {
        CLEANUP(layout_done) Layout l = LAYOUT_NULL;
        CLEANUP(fd_closep) int state_fd = -EBADF;
        CLEANUP(str_done) Str why = STR_NULL;
        int r;

        r = hash_init();
        if (r == 0)
                r = project_select(o->slug, &l, &why);
        if (r == 0)
                r = history_open(&l, &state_fd, &why);
        if (r < 0)
                return command_broken("audit", r);
        if (r > 0) {
                command_fail("audit", why.data);
                return COMMAND_BROKEN;
        }
        return o->verify ? audit_prove(o, l.slug, state_fd) : audit_list(o, state_fd);
}

/* false: no option or value of ours. */
static bool audit_take(int opt, const char *value, AuditOptions *o) {
        State state;

        switch (opt) {
        case 's':
                o->slug = value;
                return true;
        case 't':
                return history_since(value, clock_wall_ms(), &o->filter.since_ms) == 0;
        case 'v':
                o->filter.verb = value;
                return true;
        case 'o':
                o->filter.state = value;
                return state_parse(value, &state);
        case 'r':
                o->filter.request = value;
                return true;
        case 'f':
                return o->follow = true;
        case 'w':
                return o->would = true;
        case 'j':
                return o->json = true;
        case 'J':
                return o->journal = true;
        default:
                return false;
        }
}

int audit_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'},
                {"since", required_argument, NULL, 't'},
                {"verb", required_argument, NULL, 'v'},
                {"outcome", required_argument, NULL, 'o'},
                {"request", required_argument, NULL, 'r'},
                {"follow", no_argument, NULL, 'f'},
                {"would", no_argument, NULL, 'w'},
                {"json", no_argument, NULL, 'j'},
                {"journal", no_argument, NULL, 'J'},
                {"help", no_argument, NULL, 'h'},
                {NULL, 0, NULL, 0},
        };
        AuditOptions o = {0};
        int opt;

        o.verify = argc > 1 && str_eq(argv[1], "verify");
        argc -= o.verify;
        argv += o.verify;
        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, "+:s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(audit_help);
                if (!audit_take(opt, optarg, &o))
                        return command_usage("audit", opt, argv + optind - 1);
        }
        if (optind < argc)
                return command_usage("audit", '?', argv + optind);
        return audit_act(&o);
}
