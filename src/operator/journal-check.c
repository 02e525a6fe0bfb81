#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "installer/child.h"
#include "operator/journal-check.h"
#include "wire/record.h"

enum { JOURNAL_CHECK_TIMEOUT_MS = 60 * 1000, JOURNAL_CHECK_MAX = 256 * 1024 * 1024 };
enum { JOURNAL_CHECK_NAMED = 10 };

void journal_check_done(JournalCheck *c) {
        free(c->hashes);
        str_done(&c->foreign);
        *c = JOURNAL_CHECK_NULL;
}

int journal_check_add(JournalCheck *c, const char *hash) {
        if (c->len == c->cap) {
                size_t cap = c->cap ? c->cap * 2 : 256;
                char(*hashes)[HASH_HEX_SIZE] = reallocarray(c->hashes, cap, sizeof(*c->hashes));

                if (!hashes)
                        return err_new(ENOMEM);
                c->hashes = hashes;
                c->cap = cap;
        }
        memcpy(c->hashes[c->len++], hash, HASH_HEX_SIZE);
        return 0;
}

static int journal_check_order(const void *a, const void *b) {
        return memcmp(a, b, HASH_HEX_SIZE);
}

static bool journal_check_has(const JournalCheck *c, const char *hash) {
        return c->len > 0 &&
               bsearch(hash, c->hashes, c->len, sizeof(*c->hashes), journal_check_order);
}

static int journal_check_line(JournalCheck *c, const char *line, size_t len) {
        CLEANUP(record_freep) Record *r = NULL;
        const char *hash, *request;
        RecordError error;
        int x = record_parse(line, len, &r, &error);

        if (x != 0)
                return x < 0 ? x : 0; /* a piece of one: the output was cut off */
        hash = record_str(r, "SPOOLGATE_HASH");
        if (!hash || !hash_is_hex(hash, HASH_HEX_SIZE - 1))
                return 0;
        c->seen++;
        if (journal_check_has(c, hash))
                return 0;
        request = record_str(r, "SPOOLGATE_REQUEST");
        return c->missing++ < JOURNAL_CHECK_NAMED
                       ? str_addf(&c->foreign, "%s  %s\n", hash, request ? request : "-")
                       : 0;
}

int journal_check_compare(JournalCheck *c, const char *text, size_t len) {
        int r = 0;

        if (c->len > 1)
                qsort(c->hashes, c->len, sizeof(*c->hashes), journal_check_order);
        for (size_t at = 0; r == 0 && at < len;) {
                const char *end = memchr(text + at, '\n', len - at);
                size_t n = end ? (size_t)(end - text) - at : len - at;

                if (n > 0)
                        r = journal_check_line(c, text + at, n);
                at += n + 1;
        }
        return r;
}

static int journal_check_absent(int added) {
        return added < 0 ? added : JOURNAL_CHECK_E_ABSENT;
}

int journal_check_run(JournalCheck *c, const char *slug, Str *why) {
        CLEANUP(str_freep) char *project = NULL;
        CLEANUP(str_freep) char *uid = NULL;
        CLEANUP(str_freep) char *since = NULL;
        CLEANUP(str_done) Str output = STR_NULL;
        const char *program = access("/usr/bin/journalctl", X_OK) == 0 ? "/usr/bin/journalctl"
                                                                       : "/bin/journalctl";
        int status, r;

        r = str_printf(&project, "SPOOLGATE_PROJECT=%s", slug);
        if (r == 0)
                r = str_printf(&uid, "_UID=%u", (unsigned)geteuid());
        if (r == 0)
                r = str_printf(&since, "--since=@%lld", (long long)(c->first_ms / 1000));
        if (r == 0)
                r = child_run((const char *const[]){program, "--quiet", "--no-pager",
                                                    "--output=json",
                                                    "--output-fields=SPOOLGATE_HASH,"
                                                    "SPOOLGATE_REQUEST",
                                                    since, project, uid, NULL},
                              JOURNAL_CHECK_TIMEOUT_MS, JOURNAL_CHECK_MAX, false, &output, &status);
        if (r == CHILD_E_SPAWN)
                return journal_check_absent(str_addf(why, "%s is not there", program));
        if (r == CHILD_E_TIMEOUT)
                return journal_check_absent(str_addf(why, "%s did not end", program));
        if (r < 0)
                return r;
        if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 1))
                return journal_check_absent(str_addf(why, "%s failed", program));
        return journal_check_compare(c, output.data ? output.data : "", output.len);
}
