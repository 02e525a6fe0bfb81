/* wire/bridge */
#include "../verb/fixture.h"

#include <string.h>

#include "wire/bridge.h"

#define LEAST                                                                                      \
        "{\"v\":1,\"slug\":\"shop\",\"checkout\":{\"path\":\"/home/u/"                             \
        "shop\",\"device\":66,\"inode\":12},"                                                      \
        "\"spool\":\"untracked/spoolgate\",\"stack\":\"script\",\"path\":\"/usr/bin:/"             \
        "bin\",\"home\":\"/home/u\","                                                              \
        "\"launch\":\"scope\",\"jail\":\"landlock\"}"
#define FULL                                                                                       \
        "{\n  \"v\": 1,\n  \"slug\": \"shop\",\n"                                                  \
        "  \"checkout\": {\n    \"path\": \"/home/u/my shop\",\n    \"device\": 66,\n    "         \
        "\"inode\": 12\n  },\n"                                                                    \
        "  \"git_dir\": {\n    \"path\": \"/home/u/my shop/.git\",\n    \"device\": 66,\n    "     \
        "\"inode\": -1\n  },\n"                                                                    \
        "  \"spool\": \"untracked/spoolgate\",\n  \"stack\": \"docker-compose\",\n  \"project\": " \
        "\"shop\",\n"                                                                              \
        "  \"path\": \"/usr/bin:/bin\",\n  \"home\": \"/home/u\",\n  \"runtime_dir\": "            \
        "\"/run/user/1000\",\n"                                                                    \
        "  \"network\": \"agents\",\n  \"container\": \"sandbox\",\n  \"bins\": [\n    "           \
        "\"docker=/usr/bin/docker\"\n  ],\n"                                                       \
        "  \"compose\": [\n    \"compose.yaml\",\n    \"deploy/prod.yaml\"\n  ],\n"                \
        "  \"compose_dir\": \"/home/u/my shop\",\n"                                                \
        "  \"run_files\": [\n    \"/home/u/.local/state/spoolgate/shop/seal/compose.yaml\"\n  "    \
        "],\n"                                                                                     \
        "  \"services\": [\n    \"web\",\n    \"db\"\n  ],\n  \"buildable\": [\n    \"web\"\n  "   \
        "],\n"                                                                                     \
        "  \"env_files\": [\n    \".env\"\n  ],\n  \"run_env_files\": [\n    "                     \
        "\"/home/u/s/env-0\"\n"                                                                    \
        "  ],\n  \"guarded\": [\n    \"compose.yaml\"\n  ],\n"                                     \
        "  \"env\": [\n    \"TZ=UTC\"\n  ],\n  \"keys\": [\n    \"agent.key\"\n  ],\n  "           \
        "\"launch\": \"direct\",\n"                                                                \
        "  \"jail\": \"seccomp\",\n  \"agent_uid\": 100999,\n  \"tasks_max\": 512,\n  "            \
        "\"memory_max\": 1073741824,\n  \"inspect_memory\": 2147483648,\n"                         \
        "  \"version\": \"0.1.0\"\n}\n"

static Bridge *parsed(const char *text) {
        CLEANUP(str_freep) char *message = NULL;
        Bridge *b = NULL;

        ck_assert_msg(bridge_parse(text, strlen(text), &b, &message) == 0, "%s", message);
        return b;
}

static void refused(const char *text, const char *says) {
        CLEANUP(str_freep) char *message = NULL;
        Bridge *b = NULL;

        ck_assert_msg(bridge_parse(text, strlen(text), &b, &message) == BRIDGE_E_INVALID, "%s",
                      text);
        ck_assert_msg(strstr(message, says) != NULL, "%s: %s", text, message);
        ck_assert_int_eq(strncmp(message, "bridge.json:", 12), 0);
        ck_assert_ptr_null(b);
}

/* `base` with the first `from` replaced. */
static void bent(const char *base, const char *from, const char *to, const char *says) {
        CLEANUP(str_freep) char *text = NULL;
        const char *at = strstr(base, from);

        ck_assert_msg(at != NULL, "%s", from);
        ck_assert_int_eq(
                str_printf(&text, "%.*s%s%s", (int)(at - base), base, to, at + strlen(from)), 0);
        refused(text, says);
}

START_TEST(parse_the_least) {
        CLEANUP(bridge_freep) Bridge *b = parsed(LEAST);

        ck_assert_str_eq(b->slug, "shop");
        ck_assert_str_eq(b->checkout.path, "/home/u/shop");
        ck_assert_uint_eq(b->checkout.device, 66);
        ck_assert_uint_eq(b->checkout.inode, 12);
        ck_assert_ptr_null(b->git_dir.path);
        ck_assert_ptr_null(b->project);
        ck_assert_uint_eq(b->services.len, 0);
        ck_assert_int_eq(b->agent_uid, -1);
        ck_assert_int_eq(b->tasks_max, 0);
        ck_assert_ptr_null(bridge_free(NULL));
}
END_TEST

START_TEST(parse_and_format_everything) {
        CLEANUP(bridge_freep) Bridge *b = parsed(FULL);
        CLEANUP(str_freep) char *text = NULL;

        ck_assert_uint_eq(b->git_dir.inode, UINT64_MAX);
        ck_assert_str_eq(b->compose.items[1], "deploy/prod.yaml");
        ck_assert_str_eq(b->keys.items[0], "agent.key");
        ck_assert_int_eq(b->agent_uid, 100999);
        ck_assert_int_eq(b->memory_max, 1073741824);
        ck_assert_int_eq(b->inspect_memory, 2147483648);
        ck_assert_int_eq(bridge_format(b, &text), 0);
        ck_assert_str_eq(text, FULL);
}
END_TEST

START_TEST(format_the_least_parses_back) {
        CLEANUP(bridge_freep) Bridge *b = parsed(LEAST), *again = NULL;
        CLEANUP(str_freep) char *text = NULL, *other = NULL;

        ck_assert_int_eq(bridge_format(b, &text), 0);
        ck_assert_ptr_nonnull(strstr(text, "\"git_dir\": null"));
        again = parsed(text);
        ck_assert_int_eq(bridge_format(again, &other), 0);
        ck_assert_str_eq(text, other);
}
END_TEST

START_TEST(parse_the_file_around) {
        refused("", "bridge.json:1:");
        refused("{\n oops", "bridge.json:2:");
        refused("[]", "an object");
        refused("{}", "v: must be 1");
        bent(LEAST, "\"v\":1", "\"v\":2", "v: must be 1");
        bent(LEAST, "\"v\":1", "\"v\":1,\"extra\":1", "extra: unknown key");
        bent(LEAST, "\"v\":1", "\"v\":1,\"v\":1", "bridge.json:1:");
}
END_TEST

START_TEST(parse_each_text) {
        bent(LEAST, "\"slug\":\"shop\",", "", "slug: must be a string");
        bent(LEAST, "\"slug\":\"shop\"", "\"slug\":null", "slug: must be a string");
        bent(LEAST, "\"slug\":\"shop\"", "\"slug\":\"Shop\"", "slug: must be [a-z]");
        bent(LEAST, "\"slug\":\"shop\"", "\"slug\":\"a.b\"", "slug: must be [a-z]");
        bent(LEAST, "\"slug\":\"shop\"", "\"slug\":\"a1234567890123456789012345678901\"",
             "slug: must be [a-z]");
        bent(LEAST, "untracked/spoolgate", "/abs", "spool: must be a relative");
        bent(LEAST, "untracked/spoolgate", "a/../b", "spool: must be a relative");
        bent(LEAST, "untracked/spoolgate", "", "spool: must be a relative");
        bent(LEAST, "untracked/spoolgate", ".", "spool: must be a relative");
        bent(LEAST, "untracked/spoolgate", "a//b", "spool: must be a relative");
        bent(LEAST, "untracked/spoolgate", "a/", "spool: must be a relative");
        bent(LEAST, "\"script\"", "\"kubernetes\"", "stack: must be script");
        bent(LEAST, "/usr/bin:/bin", "a\\nb", "path: must be text without control");
        bent(LEAST, "\"home\":\"/home/u\"", "\"home\":\"home\"", "home: must be an absolute");
        bent(LEAST, "\"scope\"", "\"both\"", "launch: must be scope or direct");
        bent(LEAST, "\"landlock\"", "\"none\"", "jail: must be landlock or seccomp");
        bent(FULL, "\"agents\"", "\"--flag\"", "network: must be a name");
        bent(FULL, "\"sandbox\"", "7", "container: must be a string");
        bent(FULL, "\"project\": \"shop\"", "\"project\": \"-x\"", "project: must be a name");
        bent(FULL, "\"runtime_dir\": \"/run/user/1000\"", "\"runtime_dir\": \"/run/../x\"",
             "runtime_dir: must be");
}
END_TEST

START_TEST(parse_each_list) {
        bent(FULL, "docker=/usr/bin/docker", "docker=docker", "bins: must be name=/absolute");
        bent(FULL, "docker=/usr/bin/docker", "=/usr/bin/docker", "bins: must be name=/absolute");
        bent(FULL, "docker=/usr/bin/docker", "docker=/", "bins: must be name=/absolute");
        bent(FULL, "deploy/prod.yaml", "../prod.yaml", "compose: must be a relative");
        bent(FULL, "\"/home/u/.local", "\"home/u/.local", "run_files: must be an absolute");
        bent(FULL, "/home/u/s/env-0", "home/u/s/env-0", "run_env_files: must be an absolute");
        bent(FULL, "\"db\"", "\"--db\"", "services: must be [a-z]");
        bent(FULL, "\"db\"", "3", "services: must be a list of strings");
        bent(FULL, "\"buildable\": [\n    \"web\"\n  ]", "\"buildable\": \"web\"",
             "buildable: must be a list");
        bent(FULL, "\".env\"", "\"/etc/passwd\"", "env_files: must be a relative");
        bent(FULL, "\"guarded\": [\n    \"compose.yaml\"", "\"guarded\": [\n    \"..\"",
             "guarded: must be a relative");
        bent(FULL, "TZ=UTC", "LD_PRELOAD=/x", "env: must be NAME=value");
        bent(FULL, "TZ=UTC", "PATH=/x", "env: must be NAME=value");
        bent(FULL, "agent.key", "../agent.key", "keys: must be a name");
        bent(FULL, "agent.key", ".key", "keys: must be a name");
}
END_TEST

START_TEST(parse_pins_and_numbers) {
        bent(LEAST, "\"device\":66", "\"device\":\"66\"", "checkout: must be {");
        bent(LEAST, "\"device\":66", "\"device\":66,\"more\":1", "checkout: must be {");
        bent(LEAST, "\"device\":66,", "", "checkout: must be {");
        bent(LEAST, "/home/u/shop\"", "home/u/shop\"", "checkout: must be an absolute");
        bent(LEAST, "{\"path\":\"/home/u/shop\",\"device\":66,\"inode\":12}", "null",
             "checkout: must be {");
        bent(FULL, "\"/home/u/my shop/.git\"", "\"/home/u/my shop/../.git\"",
             "git_dir: must be an absolute");
        bent(FULL, "100999", "-2", "agent_uid: must be an integer");
        bent(FULL, "100999", "1.0", "agent_uid: must be an integer");
        bent(FULL, "512", "-1", "tasks_max: must be an integer");
        bent(FULL, "1073741824", "null", "memory_max: must be an integer");
        bent(FULL, "2147483648", "-1", "inspect_memory: must be an integer");
}
END_TEST

START_TEST(setup_points_into_the_bridge) {
        CLEANUP(bridge_freep) Bridge *b = parsed(FULL);
        CLEANUP(setup_done) VerbSetup s = {.stack = NULL};
        CLEANUP(table_freep) VerbTable *t = NULL;

        ck_assert_int_eq(bridge_setup(b, &s), 0);
        ck_assert_ptr_eq(s.stack, b->stack);
        ck_assert_ptr_eq(s.checkout, b->checkout.path);
        ck_assert_str_eq(s.network, "agents");
        ck_assert_str_eq(s.files.items[0], b->run_files.items[0]);
        ck_assert_str_eq(s.env_files.items[0], "/home/u/s/env-0");
        ck_assert_uint_eq(s.services.len, 2);
        ck_assert_uint_eq(s.buildable.len, 1);
        ck_assert_str_eq(s.env.items[0], "TZ=UTC");
        ck_assert_int_eq(table_new(&s, NULL, &t), 0);
        ck_assert_ptr_null(table_find(t, "up")->missing);
}
END_TEST

RUN_TESTS("wire/bridge", parse_the_least, parse_and_format_everything, format_the_least_parses_back,
          parse_the_file_around, parse_each_text, parse_each_list, parse_pins_and_numbers,
          setup_points_into_the_bridge)
