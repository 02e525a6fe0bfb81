#include "installer/compose.h"
#include "tests/unit/fs/scratch.h"

/* Reads files (a NULL-ended list) of the case's folder; gives what compose_read gave. */
static int read_files(const char *const *files, Compose *ret, Str *why) {
        CLEANUP(strv_done) Strv list = STRV_NULL;

        for (; *files; files++)
                ck_assert_int_eq(strv_add(&list, *files), 0);
        return compose_read(scratch_fd, scratch_path, &list, ret, why);
}

static void read_good(const char *const *files, Compose *ret) {
        CLEANUP(str_done) Str why = STR_NULL;
        int r = read_files(files, ret, &why);

        ck_assert_msg(r == 0, "%d: %s", r, why.data);
}

#define FILES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void refuse(const char *text, const char *said) {
        CLEANUP(str_done) Str why = STR_NULL;
        CLEANUP(compose_done) Compose c = COMPOSE_NULL;

        (void)unlinkat(scratch_fd, "c.yaml", 0); /* of the refusal before */
        scratch_file(scratch_fd, "c.yaml", text);
        ck_assert_int_eq(read_files(FILES("c.yaml"), &c, &why), COMPOSE_E_INVALID);
        ck_assert_msg(strncmp(why.data, said, strlen(said)) == 0, "%s", why.data);
        ck_assert_uint_eq(c.services_len, 0);
}

static const ComposePart *part_of(const Compose *c, ComposeKind kind, const char *text) {
        for (size_t i = 0; i < c->parts_len; i++)
                if (c->parts[i].kind == kind && str_eq(c->parts[i].text, text))
                        return &c->parts[i];
        ck_abort_msg("no %s %s", compose_kind_name(kind), text);
}

START_TEST(read_services) {
        CLEANUP(compose_done) Compose c = COMPOSE_NULL;

        scratch_file(scratch_fd, "c.yaml",
                     "x-base: &base\n  image: busybox\n  build: ./base\n"
                     "services:\n"
                     "  web:\n    build: .\n"
                     "  db: {image: postgres}\n"
                     "  merged:\n    <<: *base\n"
                     "  unbuilt: {<<: *base, build: null}\n"
                     "  \"quoted\":\n    build: {context: app, dockerfile: Dockerfile.dev}\n"
                     "  debug:\n    image: x\n    profiles: [debug]\n"
                     "  noprofile:\n    image: x\n    profiles: []\n"
                     "  inline:\n    build:\n      dockerfile_inline: |\n        FROM scratch\n");
        read_good(FILES("c.yaml"), &c);
        ck_assert_uint_eq(c.services_len, 8);
        ck_assert_str_eq(c.services[0].name, "web");
        ck_assert(compose_find(&c, "web")->build);
        ck_assert_str_eq(compose_find(&c, "web")->where, "c.yaml:5");
        ck_assert(!compose_find(&c, "db")->build);
        ck_assert(compose_find(&c, "merged")->build);
        ck_assert(!compose_find(&c, "unbuilt")->build);
        ck_assert(compose_find(&c, "quoted")->build);
        ck_assert(compose_find(&c, "inline")->build);
        ck_assert(compose_find(&c, "debug")->profiled);
        ck_assert(!compose_find(&c, "noprofile")->profiled);
        ck_assert(!compose_find(&c, "web")->profiled);
        ck_assert_ptr_null(compose_find(&c, "x-base"));
        ck_assert_str_eq(part_of(&c, COMPOSE_DOCKERFILE, "./Dockerfile")->path, "Dockerfile");
        ck_assert_str_eq(part_of(&c, COMPOSE_DOCKERFILE, "./base/Dockerfile")->path,
                         "base/Dockerfile");
        ck_assert_str_eq(part_of(&c, COMPOSE_DOCKERFILE, "app/Dockerfile.dev")->path,
                         "app/Dockerfile.dev");
        ck_assert_uint_eq(c.parts_len, 3);
}
END_TEST

START_TEST(read_merges_files) {
        CLEANUP(compose_done) Compose c = COMPOSE_NULL;

        scratch_dir(scratch_fd, "deploy");
        scratch_file(scratch_fd, "deploy/c.yaml",
                     "services:\n  web: {image: x}\n  db: {image: y}\n");
        scratch_file(scratch_fd, "o.yaml",
                     "services:\n  web: {build: app, env_file: web.env}\n  extra: {image: z, "
                     "profiles: [p]}\n");
        read_good(FILES("deploy/c.yaml", "o.yaml"), &c);
        ck_assert_uint_eq(c.services_len, 3);
        ck_assert(compose_find(&c, "web")->build);
        ck_assert_str_eq(compose_find(&c, "web")->where, "deploy/c.yaml:2");
        ck_assert(compose_find(&c, "extra")->profiled);
        /* of several -f, paths are seen from the first one's folder */
        ck_assert_str_eq(part_of(&c, COMPOSE_DOCKERFILE, "app/Dockerfile")->path,
                         "deploy/app/Dockerfile");
        ck_assert_str_eq(part_of(&c, COMPOSE_ENV_FILE, "web.env")->path, "deploy/web.env");
}
END_TEST

START_TEST(read_env_files_configs_secrets) {
        CLEANUP(compose_done) Compose c = COMPOSE_NULL;

        scratch_file(
                scratch_fd, "c.yaml",
                "services:\n  a:\n    image: x\n    env_file:\n      - ./one.env\n      - path: "
                "conf/../two.env\n        required: false\n"
                "      - ${HOME}/v.env\n      - ../out.env\n      - /etc/abs.env\n      - ~/h.env\n"
                "configs:\n  nginx: {file: ./nginx.conf}\n  ext: {external: true}\n"
                "secrets:\n  key:\n    file: secrets/key\n");
        read_good(FILES("c.yaml"), &c);
        ck_assert_str_eq(part_of(&c, COMPOSE_ENV_FILE, "./one.env")->path, "one.env");
        ck_assert_str_eq(part_of(&c, COMPOSE_ENV_FILE, "./one.env")->where, "c.yaml:5");
        ck_assert_str_eq(part_of(&c, COMPOSE_ENV_FILE, "conf/../two.env")->path, "two.env");
        ck_assert_ptr_null(part_of(&c, COMPOSE_ENV_FILE, "${HOME}/v.env")->path);
        ck_assert_ptr_null(part_of(&c, COMPOSE_ENV_FILE, "../out.env")->path);
        ck_assert_ptr_null(part_of(&c, COMPOSE_ENV_FILE, "/etc/abs.env")->path);
        ck_assert_ptr_null(part_of(&c, COMPOSE_ENV_FILE, "~/h.env")->path);
        ck_assert_str_eq(part_of(&c, COMPOSE_CONFIG, "./nginx.conf")->path, "nginx.conf");
        ck_assert_str_eq(part_of(&c, COMPOSE_SECRET, "secrets/key")->path, "secrets/key");
        ck_assert_uint_eq(c.parts_len, 8);
}
END_TEST

START_TEST(read_include_and_extends) {
        CLEANUP(compose_done) Compose c = COMPOSE_NULL;

        scratch_dir(scratch_fd, "sub");
        scratch_file(scratch_fd, "sub/inc.yaml",
                     "include: [../c.yaml]\nservices:\n  inner: {build: ctx}\n");
        scratch_file(scratch_fd, "sub/more.yaml", "services:\n  more: {image: x}\n");
        scratch_file(scratch_fd, "sub/base.yaml",
                     "services:\n  base: {extends: deeper}\n  deeper: {build: .}\n");
        scratch_file(scratch_fd, "c.yaml",
                     "include:\n  - sub/inc.yaml\n  - path: [sub/more.yaml]\n"
                     "services:\n  web:\n    extends: {file: sub/base.yaml, service: base}\n"
                     "  same: {extends: {service: inner2}}\n  inner2: {build: .}\n  plain: "
                     "{extends: nowhere}\n");
        read_good(FILES("c.yaml"), &c);
        ck_assert_uint_eq(c.services_len, 6);
        ck_assert(compose_find(&c, "inner")->build);
        ck_assert(!compose_find(&c, "more")->build);
        ck_assert(compose_find(&c, "web")->build);
        ck_assert(compose_find(&c, "same")->build);
        ck_assert(!compose_find(&c, "plain")->build);
        ck_assert_ptr_null(compose_find(&c, "base"));
        ck_assert_str_eq(part_of(&c, COMPOSE_INCLUDE, "sub/inc.yaml")->path, "sub/inc.yaml");
        ck_assert_str_eq(part_of(&c, COMPOSE_INCLUDE, "../c.yaml")->path, "c.yaml");
        ck_assert_str_eq(part_of(&c, COMPOSE_EXTENDS, "sub/base.yaml")->path, "sub/base.yaml");
        ck_assert_str_eq(part_of(&c, COMPOSE_DOCKERFILE, "ctx/Dockerfile")->path,
                         "sub/ctx/Dockerfile");
}
END_TEST

START_TEST(read_nothing) {
        CLEANUP(compose_done) Compose c = COMPOSE_NULL;

        scratch_file(scratch_fd, "empty.yaml", "");
        scratch_file(scratch_fd, "v.yaml", "version: '3'\nservices:\n");
        read_good(FILES("empty.yaml", "v.yaml"), &c);
        ck_assert_uint_eq(c.services_len, 0);
}
END_TEST

START_TEST(read_refuses) {
        refuse("services: [web]\n", "c.yaml:1: services must be a map");
        refuse("- web\n", "c.yaml:1: is no compose file");
        refuse("services:\n  web: x\n", "c.yaml:2: a service must be a map");
        refuse("services:\n  web:\n", "c.yaml:2: a service must be a map");
        refuse("services:\n  web: {image: x}\n  web: {image: y}\n", "c.yaml:3: the same key twice");
        refuse("services:\n  web: {build: [x]}\n", "c.yaml:2: build must be");
        refuse("services:\n  web:\n    image: \"x\n", "c.yaml:");
        refuse("services:\n  a: {extends: b}\n  b: {extends: a}\n", "c.yaml:");
        refuse("services:\n  a:\n    env_file: &e [*e]\n", "c.yaml:3: a path must be text");
        refuse("services:\n  a:\n    env_file: &e [{path: *e}]\n", "c.yaml:3: a path must be text");
        refuse("services: &s\n  <<: *s\n  a: {image: x}\n", "c.yaml:1: merges nest too deep");
        refuse("include: gone.yaml\n", "gone.yaml: does not exist");
        refuse("services:\n  a: {extends: {file: x.yaml}}\n", "c.yaml:2: extends names no service");
}
END_TEST

START_TEST(read_refuses_links) {
        CLEANUP(compose_done) Compose c = COMPOSE_NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        scratch_link("/etc/passwd", scratch_fd, "link.yaml");
        ck_assert_int_eq(read_files(FILES("link.yaml"), &c, &why), COMPOSE_E_INVALID);
        ck_assert_ptr_nonnull(strstr(why.data, "link.yaml: is or lies behind a symbolic link"));
        str_clear(&why);
        scratch_dir(scratch_fd, "dir.yaml");
        ck_assert_int_eq(read_files(FILES("dir.yaml"), &c, &why), COMPOSE_E_INVALID);
        ck_assert_ptr_nonnull(strstr(why.data, "dir.yaml: is not of the right type"));
}
END_TEST

START_TEST(beneath) {
        static const struct {
                const char *base, *path, *want;
        } cases[] = {
                {"", "a", "a"},         {"", "./a/../b", "b"},    {"x/y", "../z", "x/z"},
                {"x", "../../z", NULL}, {"", "..", NULL},         {"", ".", ""},
                {"x", "..", ""},        {"", "/co/a//b", "a/b"},  {"x", "/co", ""},
                {"", "/coat", NULL},    {"", "/co/../etc", NULL}, {"", "a//b/", "a/b"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                CLEANUP(str_freep) char *got = NULL;

                ck_assert_int_eq(compose_beneath("/co", cases[i].base, cases[i].path, &got), 0);
                ck_assert_msg(str_eq(got, cases[i].want), "%s + %s: %s", cases[i].base,
                              cases[i].path, got ? got : "(outside)");
        }
}
END_TEST

START_TEST(read_many) {
        CLEANUP(compose_done) Compose c = COMPOSE_NULL;
        CLEANUP(str_done) Str text = STR_NULL;

        ck_assert_int_eq(str_adds(&text, "services:\n"), 0);
        for (int i = 0; i < 1000; i++)
                ck_assert_int_eq(str_addf(&text, "  s%d: {image: x, build: .}\n", i), 0);
        scratch_file(scratch_fd, "c.yaml", text.data);
        read_good(FILES("c.yaml"), &c);
        ck_assert_uint_eq(c.services_len, 1000);
        ck_assert_str_eq(c.services[999].where, "c.yaml:1001");
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, read_services);
        tcase_add_test(tc, read_merges_files);
        tcase_add_test(tc, read_env_files_configs_secrets);
        tcase_add_test(tc, read_include_and_extends);
        tcase_add_test(tc, read_nothing);
        tcase_add_test(tc, read_refuses);
        tcase_add_test(tc, read_refuses_links);
        tcase_add_test(tc, beneath);
        tcase_add_test(tc, read_many);
}

int main(void) {
        return scratch_main("installer/compose", add_tests);
}
