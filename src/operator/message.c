/* `spoolgate tell`: host -> agent, CHECKOUT/SPOOL/inbox/STAMP-RANDOM.txt */
#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "fs/publish.h"
#include "operator/command.h"
#include "operator/commands.h"
#include "operator/errand.h"
#include "spool/scan.h"
#include "spool/spool.h"

static const char message_help[] = "usage: spoolgate tell [-s SLUG] TEXT\n"
                                   "       spoolgate tell [-s SLUG] --list | --clear\n"
                                   "\n"
                                   "Leaves the agent a message, which `spoolgate-request --inbox` "
                                   "reads; TEXT - reads it from\n"
                                   "stdin. At most 4096 bytes of text.\n"
                                   "\n"
                                   "  -s, --slug SLUG  the project\n"
                                   "  --list           what lies there\n"
                                   "  --clear          remove every message\n";

enum { MESSAGE_MAX = 4096, MESSAGE_LIST_MAX = 1000, MESSAGE_FILE_MAX = 64 * 1024 };
typedef enum MessageMode { MESSAGE_TELL, MESSAGE_LIST, MESSAGE_CLEAR } MessageMode;

static int message_no(Str *why, const char *text) {
        int r = str_adds(why, text);

        return r < 0 ? r : ERRAND_E_NONE;
}

static int message_open(const Config *c, Spool *ret, Str *why) {
        PinRule rule = {.owner = c->uid, .forbid = 0};
        const char *which = "";
        int r = spool_open(c->checkout_fd, c->bridge->spool, &rule, ret, &which);

        if (r <= 0)
                return r;
        r = str_addf(why, "the spool's %s %s\nspoolgate install --slug %s", which, pin_reason(r),
                     c->layout.slug);
        return r < 0 ? r : ERRAND_E_BROKEN;
}

/* Readable text and nothing else, so that what is told is what is seen. */
static int message_check(const Str *text, Str *why) {
        CLEANUP(str_done) Str seen = STR_NULL;
        int r;

        if (text->len == 0)
                return message_no(why, "there is nothing to tell");
        r = str_add_escaped(&seen, text->data, text->len, true);
        if (r < 0)
                return r;
        if (seen.len != text->len || memcmp(seen.data, text->data, seen.len) != 0)
                return message_no(why,
                                  "the text is not UTF-8, or has characters that nobody can see");
        return 0;
}

static int message_text(const char *arg, Str *ret, Str *why) {
        int r = str_eq(arg, "-") ? io_read_all(STDIN_FILENO, MESSAGE_MAX, ret) : str_adds(ret, arg);

        if (r < 0)
                return r;
        if (r > 0 || ret->len > MESSAGE_MAX)
                return message_no(why, "the text is longer than 4096 bytes");
        if (ret->len > 0 && ret->data[ret->len - 1] != '\n')
                r = str_addc(ret, '\n');
        return r < 0 ? r : message_check(ret, why);
}

static int message_tell(const Config *c, const Spool *s, const char *arg, Str *why) {
        CLEANUP(str_done) Str text = STR_NULL;
        CLEANUP(str_done) Str out = STR_NULL;
        CLEANUP(str_freep) char *name = NULL;
        char stamp[17], nonce[17];
        int r = message_text(arg, &text, why);

        if (r != 0)
                return r;
        clock_format_stamp(clock_wall_ms(), stamp);
        hash_random_hex(nonce, sizeof(nonce) - 1);
        r = str_printf(&name, "%s-%s.txt", stamp, nonce);
        if (r == 0)
                r = publish_file(s->dirs[SPOOL_INBOX], name, text.data, text.len, 0644,
                                 PUBLISH_NEW | PUBLISH_SYNC);
        if (r > 0)
                return err_new(EACCES);
        if (r == 0)
                r = errand_note(c, "told", NULL, text.data);
        if (r == 0)
                r = str_addf(&out, "inbox/%s\n", name);
        if (r < 0)
                return r;
        command_print(&out);
        return 0;
}

static int message_show(const Spool *s, const char *name, Str *out) {
        CLEANUP(str_done) Str text = STR_NULL;
        int r = pin_read_at(s->dirs[SPOOL_INBOX], name, &(PinRule){(uid_t)-1, 0}, PIN_SAME_MOUNT,
                            MESSAGE_FILE_MAX, &text);

        if (r < 0)
                return r;
        if (r > 0)
                return str_addf(out, "== %s: %s\n", name, pin_reason(r));
        r = str_addf(out, "== %s\n%s", name, text.data ? text.data : "");
        if (r == 0 && text.len > 0 && text.data[text.len - 1] != '\n')
                r = str_addc(out, '\n');
        return r;
}

static int message_each(const Spool *s, bool clear) {
        CLEANUP(strv_done) Strv names = STRV_NULL;
        CLEANUP(str_done) Str out = STR_NULL;
        bool more;
        size_t gone = 0;
        int r = scan_visible(s->dirs[SPOOL_INBOX], MESSAGE_LIST_MAX, &names, &more);

        for (size_t i = 0; i < names.len && r >= 0; i++) {
                if (!clear) {
                        r = message_show(s, names.items[i], &out);
                        continue;
                }
                r = publish_remove(s->dirs[SPOOL_INBOX], names.items[i]);
                gone += r == 0;
                if (r > 0)
                        r = str_addf(&out, "%s can't be removed\n", names.items[i]);
        }
        if (r >= 0 && clear)
                r = str_addf(&out, "%zu removed\n", gone);
        if (r < 0)
                return r;
        command_print(&out);
        return 0;
}

static int message_act(const char *slug, MessageMode mode, const char *arg) {
        CLEANUP(config_done) Config c = ERRAND_CONFIG_NULL;
        CLEANUP(spool_close) Spool s = SPOOL_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        int r = errand_open(slug, &c, &why);

        if (r == 0)
                r = message_open(&c, &s, &why);
        if (r == 0)
                r = mode == MESSAGE_TELL ? message_tell(&c, &s, arg, &why)
                                         : message_each(&s, mode == MESSAGE_CLEAR);
        return r != 0 ? errand_exit("tell", r, &why) : COMMAND_OK;
}

int tell_command(int argc, char **argv) {
        static const struct option options[] = {
                {"slug", required_argument, NULL, 's'},
                {"list", no_argument, NULL, 'l'},
                {"clear", no_argument, NULL, 'c'},
                {"help", no_argument, NULL, 'h'},
                {NULL, 0, NULL, 0},
        };
        MessageMode mode = MESSAGE_TELL;
        const char *slug = NULL;
        int opt, words;

        opterr = 0;
        optind = 0;
        while ((opt = getopt_long(argc, argv, ":s:", options, NULL)) >= 0) {
                if (opt == 'h')
                        return command_help(message_help);
                if (opt == 's')
                        slug = optarg;
                else if (opt == 'l' || opt == 'c')
                        mode = opt == 'l' ? MESSAGE_LIST : MESSAGE_CLEAR;
                else
                        return command_usage("tell", opt, argv + optind - 1);
        }
        words = mode == MESSAGE_TELL ? 1 : 0;
        if (argc - optind != words)
                return command_usage("tell", '?',
                                     argv + (argc - optind > words ? optind + words : argc));
        return message_act(slug, mode, argv[optind]);
}
