/* wire/order */
#include "../verb/fixture.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "wire/order.h"

#define NAME_RUN "20260102T030405Z-restart-0123456789abcdef.json"
#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define FRAME(order)                                                                               \
        "{\"v\":1,\"order\":\"" order "\",\"request\":\"" NAME_RUN                                 \
        "\",\"by\":\"anna\",\"at\":\"2026-01-02T03:04:05.678Z\""

static int parse(const char *text, Order *ret) {
        return order_parse(text, strlen(text), ret);
}

static void refuses(const char *text) {
        CLEANUP(order_done) Order o = ORDER_NULL;

        ck_assert_msg(parse(text, &o) == ORDER_E_INVALID, "%s", text);
        ck_assert_ptr_null(o.by);
}

/* What parses formats to a line that parses to the same. */
static void again(const char *text, const char *want) {
        CLEANUP(order_done) Order o = ORDER_NULL;
        CLEANUP(order_done) Order twice = ORDER_NULL;
        CLEANUP(str_freep) char *line = NULL;
        CLEANUP(str_freep) char *line2 = NULL;

        ck_assert_msg(parse(text, &o) == 0, "%s", text);
        ck_assert_int_eq(order_format(&o, &line), 0);
        ck_assert_str_eq(line, want);
        ck_assert_int_eq(parse(line, &twice), 0);
        ck_assert_int_eq(order_format(&twice, &line2), 0);
        ck_assert_str_eq(line2, want);
}

START_TEST(parse_each_kind) {
        CLEANUP(order_done) Order run = ORDER_NULL;
        CLEANUP(order_done) Order approve = ORDER_NULL;
        CLEANUP(order_done) Order cancel = ORDER_NULL;
        CLEANUP(order_done) Order note = ORDER_NULL;

        ck_assert_int_eq(
                parse(FRAME("run") ",\"verb\":\"restart\",\"arg\":\"web\",\"timeout_sec\":7}",
                      &run),
                0);
        ck_assert_int_eq(run.kind, ORDER_RUN);
        ck_assert_str_eq(run.name.text, NAME_RUN);
        ck_assert_str_eq(run.verb, "restart");
        ck_assert_str_eq(run.arg, "web");
        ck_assert_str_eq(run.by, "anna");
        ck_assert_int_eq(run.at_ms, 1767323045678);
        ck_assert_uint_eq(run.timeout_sec, 7);
        ck_assert_ptr_null(run.key);

        ck_assert_int_eq(
                parse(FRAME("approve") ",\"verb\":\"restart\",\"arg\":null,\"key\":\"" HEX64
                                       "\",\"fingerprint\":\"" HEX64 "\"}",
                      &approve),
                0);
        ck_assert_int_eq(approve.kind, ORDER_APPROVE);
        ck_assert_ptr_null(approve.arg);
        ck_assert_str_eq(approve.key, HEX64);
        ck_assert_str_eq(approve.fingerprint, HEX64);
        ck_assert_uint_eq(approve.timeout_sec, 0);

        ck_assert_int_eq(parse(FRAME("cancel") "}", &cancel), 0);
        ck_assert_int_eq(cancel.kind, ORDER_CANCEL);
        ck_assert_ptr_null(cancel.verb);

        ck_assert_int_eq(
                parse(FRAME("note") ",\"event\":\"resumed\",\"detail\":\"done with it\"}", &note),
                0);
        ck_assert_int_eq(note.kind, ORDER_NOTE);
        ck_assert_str_eq(note.event, "resumed");
        ck_assert_str_eq(note.detail, "done with it");
}
END_TEST

START_TEST(format_is_one_line) {
        again(FRAME("run") ",\"arg\":\"web\",\"verb\":\"restart\"}",
              "{\"v\":1,\"order\":\"run\",\"request\":\"" NAME_RUN
              "\",\"verb\":\"restart\",\"arg\":\"web\",\"by\":\"anna\",\"at\":\"2026-01-02T03:04:"
              "05."
              "678Z\",\"key\":null,\"fingerprint\":null,\"timeout_sec\":null,\"event\":null,"
              "\"detail\":null}\n");
        again(FRAME("note") ",\"event\":\"sealed\"}",
              "{\"v\":1,\"order\":\"note\",\"request\":\"" NAME_RUN
              "\",\"verb\":null,\"arg\":null,\"by\":\"anna\",\"at\":\"2026-01-02T03:04:05.678Z\","
              "\"key\":null,\"fingerprint\":null,\"timeout_sec\":null,\"event\":\"sealed\","
              "\"detail\":null}\n");
}
END_TEST

START_TEST(parse_refuses) {
        static const char *const bad[] = {
                "",
                "[]",
                "{}",
                FRAME("run") ",\"verb\":\"restart\"} x",
                FRAME("run") ",\"verb\":\"restart\",\"more\":1}",
                FRAME("runs") ",\"verb\":\"restart\"}",
                FRAME("run") "}",                                     /* no verb */
                FRAME("run") ",\"verb\":\"up\"}",                     /* not the name's */
                FRAME("run") ",\"verb\":\"restart\",\"arg\":\"-v\"}", /* shape */
                FRAME("run") ",\"verb\":\"restart\",\"arg\":7}",
                FRAME("run") ",\"verb\":\"restart\",\"timeout_sec\":0}",
                FRAME("run") ",\"verb\":\"restart\",\"timeout_sec\":86401}",
                FRAME("run") ",\"verb\":\"restart\",\"timeout_sec\":\"7\"}",
                FRAME("run") ",\"verb\":\"restart\",\"key\":\"" HEX64 "\"}",
                FRAME("run") ",\"verb\":\"restart\",\"event\":\"sealed\"}",
                FRAME("run") ",\"verb\":\"restart\",\"detail\":\"x\"}",
                FRAME("approve") ",\"verb\":\"restart\"}",
                FRAME("approve") ",\"verb\":\"restart\",\"key\":\"" HEX64 "\"}",
                FRAME("approve") ",\"verb\":\"restart\",\"key\":\"" HEX64
                                 "\",\"fingerprint\":\"x\"}",
                FRAME("approve") ",\"verb\":\"restart\",\"key\":\"../../"
                                 "etc\",\"fingerprint\":\"" HEX64 "\"}",
                FRAME("cancel") ",\"verb\":\"restart\"}",
                FRAME("cancel") ",\"timeout_sec\":5}",
                FRAME("note") "}",
                FRAME("note") ",\"event\":\"rooted\"}",
                FRAME("note") ",\"event\":\"told\",\"detail\":\"\"}",
                FRAME("note") ",\"event\":\"told\",\"detail\":\"a\\nb\"}",
                "{\"v\":2,\"order\":\"cancel\",\"request\":\"" NAME_RUN
                "\",\"by\":\"anna\",\"at\":\"2026-01-02T03:04:05Z\"}",
                "{\"v\":1,\"order\":\"cancel\",\"request\":\"../x.json\",\"by\":\"anna\",\"at\":"
                "\"2026-01-02T03:04:05Z\"}",
                "{\"v\":1,\"order\":\"cancel\",\"request\":\"" NAME_RUN
                "\",\"by\":\"\",\"at\":\"2026-01-02T03:04:05Z\"}",
                "{\"v\":1,\"order\":\"cancel\",\"request\":\"" NAME_RUN
                "\",\"at\":\"2026-01-02T03:04:05Z\"}",
                "{\"v\":1,\"order\":\"cancel\",\"request\":\"" NAME_RUN
                "\",\"by\":\"anna\",\"at\":\"yesterday\"}",
        };

        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                refuses(bad[i]);
}
END_TEST

START_TEST(parse_bounds) {
        CLEANUP(str_done) Str text = STR_NULL;
        CLEANUP(order_done) Order o = ORDER_NULL;

        ck_assert_int_eq(str_adds(&text, FRAME("note") ",\"event\":\"told\",\"detail\":\""), 0);
        for (int i = 0; i < ORDER_DETAIL_MAX; i++)
                ck_assert_int_eq(str_addc(&text, 'x'), 0);
        ck_assert_int_eq(str_adds(&text, "\"}"), 0);
        ck_assert_int_eq(parse(text.data, &o), 0);
        ck_assert_uint_eq(strlen(o.detail), ORDER_DETAIL_MAX);
        text.data[text.len - 2] = 'x';
        text.data[text.len - 1] = '"';
        ck_assert_int_eq(str_adds(&text, "}"), 0);
        refuses(text.data);
        str_clear(&text);
        ck_assert_int_eq(str_adds(&text, FRAME("cancel") "}"), 0);
        while (text.len <= ORDER_MAX_BYTES)
                ck_assert_int_eq(str_addc(&text, ' '), 0);
        refuses(text.data);
}
END_TEST

START_TEST(format_refuses_what_parse_would) {
        CLEANUP(order_done) Order o = ORDER_NULL;
        char *line = NULL;

        o.kind = ORDER_RUN;
        ck_assert_int_eq(name_parse(NAME_RUN, &o.name), 0);
        ck_assert_int_eq(order_format(&o, &line), -EINVAL); /* nobody */
        ck_assert_int_eq(str_dup("anna", &o.by), 0);
        ck_assert_int_eq(order_format(&o, &line), -EINVAL); /* no verb */
        ck_assert_int_eq(str_dup("up", &o.verb), 0);
        ck_assert_int_eq(order_format(&o, &line), -EINVAL); /* another verb */
        str_freep(&o.verb);
        ck_assert_int_eq(str_dup("restart", &o.verb), 0);
        ck_assert_int_eq(order_format(&o, &line), 0);
        str_freep(&line);
}
END_TEST

START_TEST(file_names) {
        CLEANUP(order_done) Order o = ORDER_NULL;
        Name file, back;
        char done[ORDER_DONE_SIZE];

        ck_assert_int_eq(hash_init(), 0);
        ck_assert_int_eq(name_parse(NAME_RUN, &o.name), 0);
        o.kind = ORDER_RUN;
        order_file(&o, 1767323045678, &file);
        ck_assert_str_eq(file.text, NAME_RUN);
        order_done_name(&file, done);
        ck_assert_str_eq(done, "20260102T030405Z-restart-0123456789abcdef.done.json");
        ck_assert_int_eq(name_parse(done, &back), NAME_E_SHAPE);
        o.kind = ORDER_APPROVE;
        order_file(&o, 1767323045678, &file);
        ck_assert_str_eq(file.text, NAME_RUN);
        o.kind = ORDER_CANCEL;
        order_file(&o, 1767323045678, &file);
        ck_assert_str_ne(file.text, NAME_RUN);
        ck_assert_str_eq(file.verb, "cancel");
        ck_assert_int_eq(name_parse(file.text, &back), 0);
}
END_TEST

START_TEST(words) {
        ck_assert_str_eq(order_name(ORDER_RUN), "run");
        ck_assert_str_eq(order_name(ORDER_NOTE), "note");
        ck_assert_str_eq(order_event_at(0), "paused");
        ck_assert_str_eq(order_event_at(6), "upgraded");
        ck_assert_str_eq(order_event_at(8), "edited");
        ck_assert_ptr_null(order_event_at(9));
}
END_TEST

RUN_TESTS("wire/order", parse_each_kind, format_is_one_line, parse_refuses, parse_bounds,
          format_refuses_what_parse_would, file_names, words)
