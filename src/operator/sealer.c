/* `spoolgate seal` */
#include <errno.h>
#include <getopt.h>

#include "installer/sealing.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/errand.h"
#include "operator/pager.h"

static const char sealer_help[] =
        "usage: spoolgate seal [-s SLUG] [--yes | --check]\n"
        "\n"
        "Approves the guarded files as they are now: shows what changed since the last seal, asks\n"
        "once, and seals the very bytes that were shown. Values of env files are not shown.\n"
        "Refused are files that are not committed as they are (INTEGRITY=both), and always links,\n"
        "other users' files and what can't be made a sealed copy.\n"
        "\n"
        "  -s, --slug SLUG  the project\n"
        "  --yes            do not ask\n"
        "  --check          only say what is different; exit 1 then\n";

typedef struct SealerOptions {
        const char *slug;
        bool yes, check;
} SealerOptions;

static int sealer_tell(const Strv *lines, const char *head) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r = str_adds(&text, head);

        for (size_t i = 0; i < lines->len && r == 0; i++)
                r = str_addf(&text, "%s\n", lines->items[i]);
        if (r == 0)
                command_print(&text);
        return r;
}

static int sealer_show(const SealingPlace *p, const Sealing *s, const Strv *changes) {
        CLEANUP(str_done) Str diff = STR_NULL;
        int r = sealing_diff(p, s, &diff);

        if (r < 0)
                return r;
        pager_show(&diff);
        r = sealer_tell(changes, "");
        for (size_t i = 0; i < s->run.trusts.len; i++)
                command_warn(s->run.trusts.items[i]);
        return r;
}

static int sealer_store(const Config *c, const SealingPlace *p, const Sealing *s) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r = sealing_store(p, s);

        if (r == 0)
                r = errand_wake(c); /* a drain writes the note down */
        if (r == 0)
                r = str_addf(&text, "sealed %zu files of %s\n", s->taken.len, c->layout.slug);
        if (r == 0)
                command_print(&text);
        return r;
}

/* The exit status, or negative. */
static int sealer_go(const Config *c, const SealingPlace *p, const SealerOptions *o, Str *why) {
        CLEANUP(sealing_done) Sealing s = SEALING_NULL;
        CLEANUP(strv_done) Strv changes = STRV_NULL;
        int r = sealing_look(p, &s, why);
        bool refused = r == SEALING_E_REFUSED;

        if (r < 0)
                return r;
        r = sealing_changes(&s, &changes);
        if (r == 0 && refused && o->check)
                r = sealer_tell(&changes, "");
        if (r < 0)
                return r;
        if (refused) {
                command_fail("seal", why->data);
                return COMMAND_FINDING;
        }
        if (changes.len == 0)
                return sealer_tell(&changes, "everything is as it was sealed\n") < 0 ? -ENOMEM
                                                                                     : COMMAND_OK;
        r = o->check ? sealer_tell(&changes, "") : sealer_show(p, &s, &changes);
        if (r < 0)
                return r;
        if (o->check || !errand_confirm("seal", "Seal this?", o->yes))
                return COMMAND_FINDING;
        r = sealer_store(c, p, &s);
        return r < 0 ? r : COMMAND_OK;
}

static int sealer_act(const SealerOptions *o) {
        CLEANUP(config_done) Config c = ERRAND_CONFIG_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        int r = errand_open(o->slug, &c, &why);

        if (r != 0)
                return errand_exit("seal", r, &why);
        r = sealer_go(&c,
                      &(SealingPlace){&c.layout, c.bridge, c.checkout_fd, c.state_fd,
                                      c.policy ? policy_integrity(c.policy) : POLICY_BOTH},
                      o, &why);
        return r < 0 ? command_broken("seal", r) : r;
}

int seal_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'},
                {"yes", no_argument, NULL, 'y'},
                {"check", no_argument, NULL, 'c'},
                {"help", no_argument, NULL, 'h'},
                {NULL, 0, NULL, 0},
        };
        SealerOptions o = {0};
        int opt;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, ":s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(sealer_help);
                if (opt == 's')
                        o.slug = optarg;
                else if (opt == 'y')
                        o.yes = true;
                else if (opt == 'c')
                        o.check = true;
                else
                        return command_usage("seal", opt, argv + optind - 1);
        }
        return optind < argc ? command_usage("seal", '?', argv + optind) : sealer_act(&o);
}
