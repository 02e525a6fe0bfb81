/* wire/verbs */
#include "../verb/fixture.h"

#include <string.h>

#include "wire/verbs.h"

static void refused(const char *text, const char *says) {
        CLEANUP(str_freep) char *message = NULL;
        OwnVerbs v = OWN_VERBS_NULL;

        ck_assert_msg(verbs_parse(text, strlen(text), "/home/u/shop", &v, &message) ==
                              VERBS_E_INVALID,
                      "%s", text);
        ck_assert_msg(strstr(message, says) != NULL, "%s: %s", text, message);
        ck_assert_int_eq(strncmp(message, "verbs.json:", 11), 0);
        ck_assert_ptr_null(v.items);
}

static OwnVerbs parsed(const char *text) {
        char *message = NULL;
        OwnVerbs v = OWN_VERBS_NULL;

        ck_assert_msg(verbs_parse(text, strlen(text), "/home/u/shop", &v, &message) == 0, "%s",
                      message);
        return v;
}

START_TEST(parse_the_least) {
        OwnVerbs v = parsed(
                "{\"v\":1,\"verbs\":["
                "{\"name\":\"warm\",\"class\":\"mutating\",\"argv\":[\"/bin/warm\"]},"
                "{\"name\":\"peek\",\"class\":\"read-only\",\"argv\":[\"/bin/peek\"],\"arg\":null,"
                "\"env\":null,\"probe\":null,\"launch\":null,\"cwd\":null}]}");

        ck_assert_uint_eq(v.len, 2);
        ck_assert_str_eq(v.items[0].name, "warm");
        ck_assert_int_eq(v.items[0].class, VERB_MUTATING);
        ck_assert_int_eq(v.items[0].launch, VERB_SCOPE);
        ck_assert_int_eq(v.items[0].needs, VERB_SCOPE_EDIT);
        ck_assert_int_eq(v.items[0].cwd, VERB_CWD_HOST);
        ck_assert_uint_eq(v.items[0].timeout_sec, 60);
        ck_assert_uint_eq(v.items[0].args.len, 0);
        ck_assert_int_eq(v.items[1].class, VERB_READONLY);
        ck_assert_int_eq(v.items[1].launch, VERB_DIRECT);
        ck_assert_int_eq(v.items[1].needs, VERB_SCOPE_READONLY);
        own_done(&v);
        v = parsed("{\"v\":1,\"verbs\":[]}");
        ck_assert_uint_eq(v.len, 0);
        own_done(&v);
}
END_TEST

START_TEST(parse_everything) {
        OwnVerbs v = parsed(
                "{\"v\":1,\"verbs\":[{\"name\":\"reindex\",\"class\":\"mutating\",\"launch\":"
                "\"direct\","
                "\"argv\":[\"/bin/x\",\"--t\",\"{arg}\"],\"arg\":{\"enum\":[\"orders\",\"users\"]},"
                "\"timeout_sec\":7200,\"cwd\":\"checkout\",\"env\":{\"A\":\"1=2\",\"B_2\":\"\"},"
                "\"permission_scope\":\"full\",\"probe\":\"status\"}]}");
        OwnVerb *o = &v.items[0];

        ck_assert_int_eq(o->launch, VERB_DIRECT);
        ck_assert_uint_eq(o->argv.len, 3);
        ck_assert_str_eq(o->argv.items[2], "{arg}");
        ck_assert_uint_eq(o->args.len, 2);
        ck_assert_str_eq(o->args.items[1], "users");
        ck_assert_uint_eq(o->timeout_sec, 7200);
        ck_assert_int_eq(o->cwd, VERB_CWD_CHECKOUT);
        ck_assert_uint_eq(o->env.len, 2);
        ck_assert_str_eq(o->env.items[0], "A=1=2");
        ck_assert_str_eq(o->env.items[1], "B_2=");
        ck_assert_int_eq(o->needs, VERB_SCOPE_FULL);
        ck_assert_str_eq(o->probe, "status");
        own_done(&v);
}
END_TEST

START_TEST(parse_the_file_around) {
        refused("", "verbs.json:1:");
        refused("{\n\"v\":1,\n oops}", "verbs.json:3:");
        refused("[]", "an object is expected");
        refused("{}", "\"v\" must be 1");
        refused("{\"v\":2,\"verbs\":[]}", "\"v\" must be 1");
        refused("{\"v\":\"1\",\"verbs\":[]}", "\"v\" must be 1");
        refused("{\"v\":1}", "must be a list");
        refused("{\"v\":1,\"verbs\":{}}", "must be a list");
        refused("{\"v\":1,\"verbs\":[],\"x\\u001b\":1}", "unknown key x\\x1b");
        refused("{\"v\":1,\"verbs\":[1]}", "must be an object");
        refused("{\"v\":1,\"verbs\":[{}]}", "without a name");
        refused("{\"v\":1,\"verbs\":[{\"name\":7}]}", "without a name");
        refused("{\"v\":1,\"v\":1,\"verbs\":[]}", "verbs.json:1:");
}
END_TEST

START_TEST(parse_each_key) {
        static const struct {
                const char *text, *says;
        } cases[] = {
                {"\"class\":\"readonly\",\"argv\":[\"/bin/x\"]", "class must be"},
                {"\"argv\":[\"/bin/x\"]", "class must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"launch\":\"self\"",
                 "launch must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"launch\":1", "launch must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"cwd\":\"/\"", "cwd must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"permission_scope\":\"all\"",
                 "permission_scope"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"permission_scope\":\"plan\"",
                 "permission_scope"},
                {"\"class\":\"read-only\",\"argv\":[\"/bin/x\"],\"permission_scope\":\"edit\"",
                 "no permission_scope"},
                {"\"class\":\"mutating\"", "argv must be a list"},
                {"\"class\":\"mutating\",\"argv\":\"/bin/x\"", "argv must be a list"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\",1]", "argv must be a list"},
                {"\"class\":\"mutating\",\"argv\":[]", "1 to 30"},
                {"\"class\":\"mutating\",\"argv\":[\"/home/u/shop/x\"]", "outside the checkout"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"arg\":\"web\"", "arg must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"arg\":{}", "arg must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"arg\":{\"enum\":[]}",
                 "arg must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"arg\":{\"enum\":[\"a\"],\"x\":1}",
                 "arg must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"arg\":{\"enum\":[1]}",
                 "list of strings"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"arg\":{\"enum\":[\"a\"]}",
                 "no {arg}"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"timeout_sec\":\"5\"",
                 "timeout_sec must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"timeout_sec\":5.0",
                 "timeout_sec must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"timeout_sec\":-1", "out of range"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"timeout_sec\":4294967297",
                 "out of range"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"timeout_sec\":7201", "1 to 7200"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"env\":[\"A=1\"]", "env must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"env\":{\"A\":1}", "env must be"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"env\":{\"A=B\":\"1\"}",
                 "without ="},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"env\":{\"PATH\":\"1\"}",
                 "an env name"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"probe\":1",
                 "probe must be a string"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"probe\":\"up\"", "its probe"},
                {"\"class\":\"mutating\",\"argv\":[\"/bin/x\"],\"shell\":true",
                 "unknown key shell"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                CLEANUP(str_freep) char *text = NULL;

                ck_assert_int_eq(str_printf(&text, "{\"v\":1,\"verbs\":[{\"name\":\"warm\",%s}]}",
                                            cases[i].text),
                                 0);
                refused(text, cases[i].says);
                refused(text, "verb warm: ");
        }
}
END_TEST

START_TEST(parse_second_verb_fails_after_a_good_one) {
        refused("{\"v\":1,\"verbs\":[{\"name\":\"warm\",\"class\":\"mutating\",\"argv\":[\"/bin/"
                "x\"]},"
                "{\"name\":\"sh\",\"class\":\"mutating\",\"argv\":[\"/bin/x\"]}]}",
                "verb sh: this name is on the hard");
        refused("{\"v\":1,\"verbs\":[{\"name\":\"warm\",\"class\":\"mutating\",\"argv\":[\"/bin/"
                "x\"]},"
                "{\"name\":\"cool\",\"class\":\"mutating\",\"argv\":[1]}]}",
                "verb cool: argv");
}
END_TEST

RUN_TESTS("wire/verbs", parse_the_least, parse_everything, parse_the_file_around, parse_each_key,
          parse_second_verb_fails_after_a_good_one)
