#include <errno.h>
#include <getopt.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/project.h"
#include "operator/status.h"

static const char status_help[] =
        "usage: spoolgate status [-s SLUG | --all] [--json | --watch]\n"
        "\n"
        "How a project stands: units, queue, last outcomes, rate windows, integrity, seal, pause, "
        "disk.\n"
        "Exit 1: something has to be mended.\n"
        "\n"
        "  -s, --slug SLUG  the project\n"
        "  --all            every project\n"
        "  --json           as JSON\n"
        "  --watch          again every two seconds\n";

enum { STATUS_WATCH_SEC = 2 };

static int status_add_json(const Status *s, Record *root) {
        CLEANUP(record_freep) Record *one = NULL;
        int r = status_record(s, &one);

        return r < 0 ? r : record_append_take(root, "projects", &one);
}

/* json NULL: painted. */
static int status_once(const Strv *slugs, Paint *p, Record *json, bool *ret_bad) {
        int64_t now_ms = clock_wall_ms();
        int r = 0;

        *ret_bad = false;
        for (size_t i = 0; r == 0 && i < slugs->len; i++) {
                CLEANUP(status_done) Status s = STATUS_NULL;

                r = status_gather(slugs->items[i], now_ms, &s);
                if (r == 0 && i > 0 && !json)
                        r = str_addc(&p->out, '\n');
                if (r == 0)
                        r = json ? status_add_json(&s, json) : status_format(&s, now_ms, p);
                *ret_bad = *ret_bad || status_bad(&s);
        }
        return r;
}

static int status_print_json(const Strv *slugs, bool *ret_bad) {
        CLEANUP(record_freep) Record *root = NULL;
        CLEANUP(str_freep) char *text = NULL;
        int r = record_new(&root);

        if (r == 0)
                r = record_put_list(root, "projects");
        if (r == 0)
                r = status_once(slugs, NULL, root, ret_bad);
        if (r == 0)
                r = record_format_pretty(root, &text);
        return r < 0 ? r : command_help(text);
}

static int status_print(const Strv *slugs, bool watch, bool *ret_bad) {
        int r = 0;

        do {
                CLEANUP(paint_done) Paint p;

                paint_init(&p); /* each time: a window may have changed its width */
                r = status_once(slugs, &p, NULL, ret_bad);
                if (r == 0 && watch && !p.terminal)
                        r = str_addc(&p.out, '\n');
                if (r == 0)
                        paint_flush(&p, watch);
                if (r == 0 && watch)
                        (void)nanosleep(&(struct timespec){STATUS_WATCH_SEC, 0}, NULL);
        } while (r == 0 && watch);
        return r;
}

static int status_choose(const char *slug, bool all, Strv *ret, Str *why) {
        CLEANUP(layout_done) Layout l = LAYOUT_NULL;
        int r;

        if (!all) {
                r = project_select(slug, &l, why);
                return r != 0 ? r : strv_add(ret, l.slug);
        }
        r = layout_list(ret);
        if (r == 0 && ret->len == 0)
                r = str_adds(why, "no project is installed\nspoolgate install") < 0
                            ? -ENOMEM
                            : PROJECT_E_NONE;
        else if (r > 0)
                r = str_adds(why, "HOME is not set to an absolute path") < 0 ? -ENOMEM
                                                                             : PROJECT_E_NONE;
        return r;
}

static int status_act(const char *slug, bool all, bool json, bool watch) {
        CLEANUP(strv_done) Strv slugs = STRV_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        bool bad = false;
        int r = hash_init();

        if (r == 0)
                r = status_choose(slug, all, &slugs, &why);
        if (r > 0) {
                command_fail("status", why.data);
                return COMMAND_BROKEN;
        }
        if (r == 0)
                r = json ? status_print_json(&slugs, &bad) : status_print(&slugs, watch, &bad);
        if (r < 0)
                return command_broken("status", r);
        return bad ? COMMAND_FINDING : COMMAND_OK;
}

int status_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'}, {"all", no_argument, NULL, 'a'},
                {"json", no_argument, NULL, 'j'},       {"watch", no_argument, NULL, 'w'},
                {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0},
        };
        bool all = false, json = false, watch = false;
        const char *slug = NULL;
        int opt;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, "+:s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(status_help);
                if (opt == 's')
                        slug = optarg;
                else if (opt == 'a')
                        all = true;
                else if (opt == 'j' && !watch)
                        json = true;
                else if (opt == 'w' && !json)
                        watch = true;
                else
                        return command_usage("status", opt, argv + optind - 1);
        }
        if (optind < argc)
                return command_usage("status", '?', argv + optind);
        return status_act(slug, all, json, watch);
}
