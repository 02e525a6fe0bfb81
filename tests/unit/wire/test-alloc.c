/* wire/alloc: the Nth allocation fails, for every N, and what comes out is right or -ENOMEM; never wrong, never "malformed" */
#include "../verb/fixture.h"

#include <errno.h>
#include <string.h>

#include "wire/alloc.h"
#include "wire/record.h"
#include "wire/request.h"
#include "wire/response.h"

static unsigned long countdown; /* 0: not armed */
void *__libc_malloc(size_t size);

__attribute__((visibility("default"))) void *malloc(size_t size) { /* jansson's too */
        if (countdown && --countdown == 0)
                return NULL;
        return __libc_malloc(size);
}

static void arm(unsigned long n) {
        countdown = n;
}

/* true: the Nth allocation was reached, and failed. */
static bool disarm(void) {
        bool failed = countdown == 0;

        countdown = 0;
        return failed;
}

START_TEST(format) {
        static const char *const keys[] = { "event", "request", "verb", "arg", "argv", "unit", "key", "fingerprint", "by" };
        static const char *const ends[] = { "", "-a", "-bb", "-ccc", "-dddd" };
        CLEANUP(record_freep) Record *r = NULL;
        CLEANUP(str_freep) char *want = NULL;
        bool more = true;

        ck_assert_int_eq(record_new(&r), 0);
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
                ck_assert_int_eq(record_put_str(r, keys[i], ends[i % 5]), 0);
        ck_assert_int_eq(record_format(r, &want), 0);
        for (unsigned long n = 1; more; n++) {
                CLEANUP(str_freep) char *text = NULL;
                int e;

                arm(n);
                e = record_format(r, &text);
                more = disarm();
                ck_assert_msg(e == 0 || (more && e == -ENOMEM), "%lu: %d", n, e);
                if (e == 0)
                        ck_assert_str_eq(text, want);
        }
}
END_TEST

START_TEST(put) {
        bool more = true;

        for (unsigned long n = 1; more; n++) {
                CLEANUP(record_freep) Record *r = NULL;
                int e;

                ck_assert_int_eq(record_new(&r), 0);
                arm(n);
                e = record_put_str(r, "key", "a value");
                more = disarm();
                ck_assert_msg(e == 0 || (more && e == -ENOMEM), "%lu: %d", n, e);
        }
}
END_TEST

static const char body[] = "{\"verb\":\"restart\",\"arg\":\"a-service-with-a-long-name\",\"requested_at\":\"2026-01-02T03:04:05Z\","
                           "\"idempotency_key\":\"deploy.2026-01-02:0123456789abcdef0123456789abcdef\"}";

START_TEST(request) {
        bool more = true;
        Name name;

        ck_assert_int_eq(name_parse("20260102T030405Z-restart-0123456789abcdef.json", &name), 0);
        for (unsigned long n = 1; more; n++) {
                CLEANUP(request_freep) Request *q = NULL;
                const char *detail = NULL;
                Reason reason = REASON_NONE;
                int e;

                arm(n);
                e = request_parse(&name, body, strlen(body), &q, &reason, &detail);
                more = disarm();
                ck_assert_msg(e == 0 || (more && e == -ENOMEM), "%lu: %d %s", n, e, detail ? detail : "");
                if (e != 0)
                        continue;
                ck_assert_str_eq(q->verb, "restart");
                ck_assert_str_eq(q->arg, "a-service-with-a-long-name");
                ck_assert_str_eq(q->idempotency_key, "deploy.2026-01-02:0123456789abcdef0123456789abcdef");
        }
}
END_TEST

START_TEST(request_out) {
        CLEANUP(request_freep) Request *q = NULL;
        CLEANUP(str_freep) char *want = NULL;
        const char *detail;
        bool more = true;
        Reason reason;
        Name name;

        ck_assert_int_eq(name_parse("20260102T030405Z-restart-0123456789abcdef.json", &name), 0);
        ck_assert_int_eq(request_parse(&name, body, strlen(body), &q, &reason, &detail), 0);
        ck_assert_int_eq(request_format(q, &want), 0);
        for (unsigned long n = 1; more; n++) {
                CLEANUP(str_freep) char *text = NULL;
                int e;

                arm(n);
                e = request_format(q, &text);
                more = disarm();
                ck_assert_msg(e == 0 || (more && e == -ENOMEM), "%lu: %d", n, e);
                if (e == 0)
                        ck_assert_str_eq(text, want);
        }
}
END_TEST

START_TEST(response) {
        static const char message[] = "a sentence of some length for people, and then a command\nspoolgate audit -s demo";
        CLEANUP(str_done) Str line = STR_NULL;
        Response r = RESPONSE_NULL;
        bool more = true;

        r.request = "20260102T030405Z-restart-0123456789abcdef.json";
        r.state = STATE_DENIED;
        r.reason = REASON_RATE;
        r.message = message;
        ck_assert_int_eq(response_format(&r, &line), 0);
        for (unsigned long n = 1; more; n++) {
                CLEANUP(response_freep) ResponseDoc *d = NULL;
                int e;

                arm(n);
                e = response_parse(line.data, line.len, &d);
                more = disarm();
                ck_assert_msg(e == 0 || (more && e == -ENOMEM), "%lu: %d", n, e);
                if (e == 0)
                        ck_assert_str_eq(response_of(d)->message, message);
        }
}
END_TEST

START_TEST(record) {
        static const char text[] = "{\"checkout\":\"/home/somebody/projects/a-shop-with-a-long-name\",\"spool\":\"untracked/spoolgate\"}";
        bool more = true;

        for (unsigned long n = 1; more; n++) {
                CLEANUP(record_freep) Record *r = NULL;
                RecordError error;
                int e;

                arm(n);
                e = record_parse(text, strlen(text), &r, &error);
                more = disarm();
                ck_assert_msg(e == 0 || (more && e == -ENOMEM), "%lu: %d", n, e);
                if (e == 0)
                        ck_assert_str_eq(record_str(r, "checkout"), "/home/somebody/projects/a-shop-with-a-long-name");
        }
}
END_TEST

RUN_TESTS("wire/alloc", format, put, request, request_out, response, record)
