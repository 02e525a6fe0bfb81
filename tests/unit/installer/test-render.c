#include "guard/take.h"
#include "installer/document.h"
#include "installer/render.h"
#include "tests/unit/fs/scratch.h"

#define RUN "/state/seal/run"

/* @C the checkout, @R the run folder, @F{PATH} and @E{PATH} the copy of PATH. */
static void expand(const char *text, Str *ret) {
        while (*text) {
                size_t plain = strcspn(text, "@");
                const char *end = strchr(text, '}');

                ck_assert_int_eq(str_add(ret, text, plain), 0);
                text += plain;
                if (!*text)
                        return;
                if (text[1] == 'C' || text[1] == 'R') {
                        ck_assert_int_eq(str_adds(ret, text[1] == 'C' ? scratch_path : RUN), 0);
                        text += 2;
                } else {
                        CLEANUP(str_freep) char *path = NULL;
                        CLEANUP(str_freep) char *name = NULL;

                        ck_assert_int_eq(str_printf(&path, "%.*s", (int)(end - text - 3), text + 3),
                                         0);
                        ck_assert_int_eq(
                                place_name(text[1] == 'F' ? "file" : "extends", path, &name), 0);
                        ck_assert_int_eq(
                                str_addf(ret, RUN "/%s%s", name, text[1] == 'F' ? "" : ".yaml"), 0);
                        text = end + 1;
                }
        }
}

static void split(const char *words, Strv *ret) {
        char copy[512], *at = copy, *word;

        ck_assert_int_lt(snprintf(copy, sizeof(copy), "%s", words), (int)sizeof(copy));
        while ((word = strsep(&at, " ")))
                if (*word)
                        ck_assert_int_eq(strv_add(ret, word), 0);
}

static void write_file(const char *name, const char *text) {
        char path[PATH_MAX + 64];
        FILE *f;

        (void)snprintf(path, sizeof(path), "%s/%s", scratch_path, name);
        f = fopen(path, "we");
        ck_assert_ptr_nonnull(f);
        ck_assert_int_ge(fputs(text, f), 0);
        ck_assert_int_eq(fclose(f), 0);
}

/* What most cases refer to. */
static void world(void) {
        ck_assert_int_eq(mkdirat(scratch_fd, "web", 0755), 0);
        ck_assert_int_eq(mkdirat(scratch_fd, "data", 0755), 0);
        ck_assert_int_eq(mkdirat(scratch_fd, "deep", 0755), 0);
        ck_assert_int_eq(symlinkat("/", scratch_fd, "link"), 0);
        write_file("Dockerfile", "FROM scratch\n");
        write_file("web/Dockerfile", "FROM scratch\n");
        write_file("web/dev.Dockerfile", "FROM scratch\n");
        write_file("app.env", "A=1\n");
        write_file("secret", "s\n");
        write_file("base.yaml", "services:\n  base: {image: b, env_file: app.env}\n");
        write_file("deep/base.yaml", "services:\n  base: {image: b, env_file: app.env}\n");
        write_file("plain.yaml", "base: {image: b}\n");
}

#define GUARDED                                                                                    \
        "app.env Dockerfile web/Dockerfile secret base.yaml deep/base.yaml plain.yaml absent.env " \
        "link"

typedef struct Outcome {
        Rendered rendered;
        Place place;
        Str why;
} Outcome;
static void outcome_done(Outcome *o) {
        rendered_done(&o->rendered);
        place_done(&o->place);
        str_done(&o->why);
}

static int render(const char *files, const char *guarded, const char *folder, Outcome *o) {
        CLEANUP(strv_done) Strv compose = STRV_NULL;
        CLEANUP(strv_done) Strv all = STRV_NULL;
        CLEANUP(taken_list_done) TakenList taken = TAKEN_LIST_NULL;
        int r;

        split(files, &compose);
        split(files, &all);
        split(guarded, &all);
        ck_assert_int_eq(take_files(scratch_fd, &all, NULL, &taken), 0);
        o->place = (Place){.checkout_fd = scratch_fd,
                           .checkout = scratch_path,
                           .folder = folder,
                           .home = "/home/u",
                           .run = RUN,
                           .taken = &taken};
        r = render_files(&o->place, &compose, &o->rendered, &o->why);
        o->place.taken = NULL;
        return r;
}

static const struct {
        const char *in, *out;
} good[] = {
        /* builds */
        {"services: {a: {build: web}}", "services:\n  a:\n    build:\n      context: '@C/web'\n    "
                                        "  dockerfile: '@F{web/Dockerfile}'\n"},
        {"services: {a: {build: {context: ./web/, target: t}}}",
         "services:\n  a:\n    build:\n      target: t\n      context: '@C/web'\n      dockerfile: "
         "'@F{web/Dockerfile}'\n"},
        {"services: {a: {build: {dockerfile: web/Dockerfile, args: [A=1]}}}",
         "services:\n  a:\n    build:\n      args:\n      - A=1\n      context: '@C'\n      "
         "dockerfile: "
         "'@F{web/Dockerfile}'\n"},
        {"services: {a: {build: {context: web, dockerfile: ../Dockerfile}}}",
         "services:\n  a:\n    build:\n      context: '@C/web'\n      dockerfile: "
         "'@F{Dockerfile}'\n"},
        {"services: {a: {build: {context: web, dockerfile: dev.Dockerfile}}}", /* not guarded */
         "services:\n  a:\n    build:\n      context: '@C/web'\n      dockerfile: "
         "'@C/web/dev.Dockerfile'\n"},
        {"services: {a: {build: {context: /srv/x, dockerfile: D}}}",
         "services:\n  a:\n    build:\n      context: '/srv/x'\n      dockerfile: 'D'\n"},
        {"services: {a: {build: /srv/x}}",
         "services:\n  a:\n    build:\n      context: '/srv/x'\n"},
        {"services: {a: {build: data}}", /* none there */
         "services:\n  a:\n    build:\n      context: '@C/data'\n      dockerfile: "
         "'@C/data/Dockerfile'\n"},
        {"services: {a: {build: }}", "services:\n  a:\n    build: null\n"},
        /* env_file */
        {"services: {a: {env_file: ./app.env}}", "services:\n  a:\n    env_file: '@F{app.env}'\n"},
        {"services: {a: {env_file: [app.env, absent.env, /etc/x.env]}}",
         "services:\n  a:\n    env_file:\n    - '@F{app.env}'\n    - '@F{absent.env}'\n    - "
         "'/etc/x.env'\n"},
        {"services: {a: {env_file: [{path: app.env, required: false}]}}",
         "services:\n  a:\n    env_file:\n    - path: '@F{app.env}'\n      required: false\n"},
        /* volumes */
        {"services: {a: {volumes: [./data:/d:ro, n:/n, /var/lib/x, '~/c:/c', '~:/h', /etc:/e, "
         "data:/v, "
         ".hidden:/i, '/x:ro', './data:$X', 'n$X:/n']}}",
         "services:\n  a:\n    volumes:\n    - '@C/data:/d:ro'\n    - n:/n\n    - /var/lib/x\n"
         "    - '/home/u/c:/c'\n    - '/home/u:/h'\n    - '/etc:/e'\n    - data:/v\n    - "
         "'@C/.hidden:/i'\n"
         "    - '/x:ro'\n    - '@C/data:$X'\n    - 'n$X:/n'\n"},
        {"services: {a: {volumes: ['.:/d', 'deep/../data/x:/y', './deep/../data/x:/y']}}",
         "services:\n  a:\n    volumes:\n    - '@C:/d'\n    - 'deep/../data/x:/y'\n    - "
         "'@C/data/x:/y'\n"},
        {"services: {a: {volumes: [{type: bind, source: ./data, target: /d}, {source: n, type: "
         "volume, "
         "target: /n}, {type: tmpfs, target: /t}]}}",
         "services:\n  a:\n    volumes:\n    - type: bind\n      source: '@C/data'\n      target: "
         "/d\n"
         "    - source: n\n      type: volume\n      target: /n\n    - type: tmpfs\n      target: "
         "/t\n"},
        /* secrets, configs, profiles, devices */
        {"secrets: {s: {file: ./secret}, e: {external: true}}\nconfigs: {c: {file: data/c}}",
         "secrets:\n  s:\n    file: '@F{secret}'\n  e:\n    external: true\nconfigs:\n  c:\n    "
         "file: "
         "'@C/data/c'\n"},
        {"services: {a: {security_opt: ['seccomp=./secret', 'seccomp:unconfined', "
         "'label=disable']}}",
         "services:\n  a:\n    security_opt:\n    - 'seccomp=@F{secret}'\n    - "
         "'seccomp:unconfined'\n"
         "    - 'label=disable'\n"},
        {"services: {a: {devices: [/dev/fuse, 'x.y/z=1']}}",
         "services:\n  a:\n    devices:\n    - /dev/fuse\n    - 'x.y/z=1'\n"},
        /* extends, include */
        {"services: {a: {extends: {file: base.yaml, service: base}}, b: {extends: a}}",
         "services:\n  a:\n    extends:\n      file: '@E{base.yaml}'\n      service: base\n  b:\n  "
         "  extends: "
         "a\n"},
        {"include: [base.yaml]\nservices: {}", "include:\n- '@E{base.yaml}'\nservices: {}\n"},
        /* scalars keep their types */
        {"x: [yes, 'yes', 010, 1:30, ~, '', 2001-01-01, \"a\\nb\", 'it''s', \"\\u00e9\", a: b]\n"
         "z:\n-\n- null\n? y\n: |\n  l1\n   l2\n",
         "x:\n- yes\n- 'yes'\n- 010\n- 1:30\n- ~\n- ''\n- 2001-01-01\n- \"a\\nb\"\n- 'it''s'\n- "
         "\"\303\251\"\n- a: b\nz:\n- null\n- null\ny: \"l1\\n l2\\n\"\n"},
        /* merges: PyYAML's order and values; a shared scalar is a path here and a name there */
        {"x-a: &a {env_file: &f app.env, tty: true}\nservices: {b: {<<: *a, tty: false, image: "
         "*f}}",
         "x-a:\n  env_file: app.env\n  tty: true\nservices:\n  b:\n    env_file: '@F{app.env}'\n   "
         " tty: "
         "false\n    image: app.env\n"},
        {"services: {a: {environment: {P: ./x, Q: \"${V:-./x}\"}, command: ./run}}",
         "services:\n  a:\n    environment:\n      P: ./x\n      Q: '${V:-./x}'\n    command: "
         "./run\n"},
};

START_TEST(render_rewrites) {
        CLEANUP(outcome_done) Outcome o = {0};
        CLEANUP(str_done) Str wanted = STR_NULL;

        world();
        write_file("c.yaml", good[_i].in);
        ck_assert_msg(render("c.yaml", GUARDED, "", &o) == 0, "%s\n%s", good[_i].in, o.why.data);
        expand(good[_i].out, &wanted);
        ck_assert_str_eq(o.rendered.files[0].name, "compose-0.yaml");
        ck_assert_str_eq(o.rendered.files[0].text.data, wanted.data);
}
END_TEST

static const struct {
        const char *in, *why;
} bad[] = {
        {"services:\n  a:\n    env_file:\n    - ${F}\n", "c.yaml:4: ${F}: a path with a variable"},
        {"services:\n  a: {build: ./$X}\n", "c.yaml:2: ./$X: a path with a variable"},
        {"services:\n  a: {build: {context: web,\n   dockerfile: $X}}\n",
         "c.yaml:3: $X: a path with a variable"},
        {"services:\n  a: {volumes: ['./d/${X}:/d']}\n",
         "c.yaml:2: ./d/${X}: a path with a variable"},
        {"services:\n  a: {volumes: ['${X:-./d}:/d']}\n",
         "c.yaml:2: a volume whose source is a variable"},
        {"services:\n  a:\n    volumes: [{type: $T, source: ./d, target: /d}]\n",
         "c.yaml:3: the type of a volume must not be a variable"},
        {"services:\n  a:\n    volumes: [{type: bind, source: d, target: /d}]\n",
         "c.yaml:3: the source of a bind must begin with / or ./"},
        {"services:\n  a: {security_opt: [$X]}\n",
         "c.yaml:2: a security_opt that begins with a variable"},
        {"services:\n  a: {volumes: ['../x:/x']}\n", "c.yaml:2: ../x: leads out of the checkout"},
        {"services:\n  a: {env_file: web/../../x}\n",
         "c.yaml:2: web/../../x: leads out of the checkout"},
        {"services:\n  a: {volumes: ['/srv/../etc:/x']}\n",
         "c.yaml:2: /srv/../etc: an absolute path with .."},
        {"services:\n  a: {volumes: ['./link:/x']}\n",
         "c.yaml:2: ./link: a symlink in the checkout"},
        {"services:\n  a: {volumes: ['./link/etc:/x']}\n",
         "c.yaml:2: ./link/etc: a symlink in the checkout"},
        {"services:\n  a: {volumes: [{type: bind, source: ./link, target: /x}]}\n",
         "c.yaml:2: ./link: a symlink in the checkout"},
        {"services:\n  a: {build: link}\n", "c.yaml:2: link: a symlink in the checkout"},
        {"services:\n  a: {env_file: link}\n", "c.yaml:2: link: a symlink in the checkout"},
        {"services:\n  a: {volumes: ['./.git:/x']}\n",
         "c.yaml:2: ./.git: lies in git's own folder"},
        {"services:\n  a: {volumes: ['~root/x:/x']}\n", "c.yaml:2: ~root/x: a home folder"},
        {"services:\n  a: {env_file: ~/x}\n", "c.yaml:2: ~/x: a home folder"},
        {"services:\n  a: {build: 'https://x/y.git'}\n", "c.yaml:2: https://x/y.git: is fetched"},
        {"services:\n  a: {build: {context: 'git@x:y'}}\n", "c.yaml:2: git@x:y: is fetched"},
        {"services:\n  a: {build: github.com/x/y}\n", "c.yaml:2: github.com/x/y: is fetched"},
        {"services:\n  a: {build: '-'}\n", "c.yaml:2: -: is fetched"},
        {"services:\n  a: {build: ''}\n", "c.yaml:2: : an empty path"},
        {"services:\n  a: {build: [x]}\n", "c.yaml:2: must not be a list"},
        {"services:\n  a: {build: {context: [x]}}\n",
         "c.yaml:2: context and dockerfile must be text"},
        {"services:\n  a: {build: {additional_contexts: {x: .}}}\n",
         "c.yaml:2: additional_contexts"},
        {"services:\n  a: {build: {dockerfile_inline: FROM x}}\n",
         "c.yaml:2: podman-compose does not read"},
        {"services:\n  a: {extends: {file: nope.yaml, service: s}}\n",
         "c.yaml:2: nope.yaml: is a compose file that is not guarded\nspoolgate install --guard "
         "nope.yaml"},
        {"services:\n  a: {extends: {file: ../x.yaml, service: s}}\n",
         "c.yaml:2: ../x.yaml: is no file in the"},
        {"services:\n  a: {extends: {file: link, service: s}}\n",
         "c.yaml:2: link: is or lies behind a symbolic link"},
        {"services:\n  a: {extends: {file: plain.yaml, service: base}}\n",
         "plain.yaml: has no services"},
        {"services:\n  a: {extends: b, build: {context: web}}\n",
         "c.yaml:2: build of a service with extends: name both"},
        {"include: [nope.yaml]\n", "c.yaml:1: nope.yaml: is a compose file that is not guarded"},
        {"include: [deep/base.yaml]\n", "c.yaml:1: include of a file in another folder"},
        {"include: [{path: base.yaml}]\n", "c.yaml:1: a map where a path"},
        {"x-podman: {in_pod: false}\n", "c.yaml:1: x-podman can't be sealed"},
        {"services:\n  a: {x-podman.rootfs: /}\n", "c.yaml:2: x-podman.rootfs can't be sealed"},
        {"services:\n  a: {provider: {type: x}}\n", "c.yaml:2: provider can't be sealed"},
        {"services:\n  a: {label_file: x}\n", "c.yaml:2: label_file can't be sealed"},
        {"services:\n  a: {devices: [./d]}\n", "c.yaml:2: must be an absolute path"},
        {"volumes:\n  v: {driver_opts: {type: none, device: ./d}}\n",
         "c.yaml:2: must be an absolute path"},
        {"services:\n  a: !reset {}\n", "c.yaml:2: a tag (!...) can't be sealed"},
        {"services:\n  a: {image: !!str x}\n", "c.yaml:2: a tag (!...) can't be sealed"},
        {"services:\n  a: {image: x}\n<<<<<<< HEAD\n", "c.yaml:4: "},
        {"services:\n  a: {image: x, image: y}\n", "c.yaml:2: the same key twice"},
        {"services:\n  a: {'<<': {image: y}}\n", "c.yaml:2: << must not be quoted"},
        {"services:\n  a: {image: \"\\0\"}\n", "c.yaml:2: a NUL byte"},
        {"services:\n  a: {env_file: \"a\\nb\"}\n", "c.yaml:2: a\nb: a control character"},
        {"services:\n  a: {image: \"\xff\"}\n", "c.yaml:2: "},
        {"\xff\xfe"
         "a",
         "c.yaml: is not UTF-8"},
        {"a: 1\n---\nb: 1\n", "c.yaml:2: holds a second document"},
        {"services: &s\n  a: *s\n", "c.yaml:1: nests too deep, or names itself"},
        {"services: []\n", "c.yaml:1: must not be a list"},
        {"services: x\n", "c.yaml:1: must be a map"},
        {"services:\n  a: x\n", "c.yaml:2: must be a map"},
        {"- x\n", "c.yaml:1: is no compose file"},
        {"", "c.yaml:1: is no compose file"},
};

START_TEST(render_refuses) {
        CLEANUP(outcome_done) Outcome o = {0};

        world();
        write_file("c.yaml", bad[_i].in);
        ck_assert_msg(render("c.yaml", GUARDED, "", &o) == RENDER_E_REFUSED, "%s", bad[_i].in);
        ck_assert_msg(strncmp(o.why.data, bad[_i].why, strlen(bad[_i].why)) == 0, "%s\n%s",
                      o.why.data, bad[_i].why);
        ck_assert_uint_eq(o.rendered.len, 0);
}
END_TEST

static void two_files(const char *first, const char *second, int wanted, Outcome *o) {
        world();
        write_file("c.yaml", first);
        write_file("deep/o.yaml", second);
        ck_assert_msg(render("c.yaml deep/o.yaml", GUARDED, "", o) == wanted, "%s", o->why.data);
}

/* Relative to the first one's folder; no default of its own covers what the first one says. */
START_TEST(render_second_file) {
        CLEANUP(outcome_done) Outcome o = {0};
        CLEANUP(str_done) Str wanted = STR_NULL;

        two_files("services: {a: {build: web}}",
                  "services: {a: {build: {args: {A: 1}}, env_file: app.env}}", 0, &o);
        expand("services:\n  a:\n    build:\n      args:\n        A: 1\n    env_file: "
               "'@F{app.env}'\n",
               &wanted);
        ck_assert_str_eq(o.rendered.files[1].name, "compose-1.yaml");
        ck_assert_str_eq(o.rendered.files[1].text.data, wanted.data);
}
END_TEST

START_TEST(render_second_file_half_a_build) {
        CLEANUP(outcome_done) Outcome o = {0};

        two_files("services: {a: {build: web}}", "services: {a: {build: {context: .}}}",
                  RENDER_E_REFUSED, &o);
        ck_assert_str_eq(o.why.data, "deep/o.yaml:1: an earlier file has a build for this service: "
                                     "name both context and dockerfile, or neither");
}
END_TEST

START_TEST(render_folder_below) {
        CLEANUP(outcome_done) Outcome o = {0};
        CLEANUP(str_done) Str wanted = STR_NULL;

        world();
        write_file("deep/c.yaml", "services: {a: {build: ../web, env_file: ../app.env, volumes: "
                                  "['./x:/x', '..:/y']}}");
        ck_assert_int_eq(render("deep/c.yaml", GUARDED, "deep", &o), 0);
        expand("services:\n  a:\n    build:\n      context: '@C/web'\n      dockerfile: "
               "'@F{web/Dockerfile}'\n    env_file: '@F{app.env}'\n    volumes:\n    - "
               "'@C/deep/x:/x'\n    - '@C:/y'\n",
               &wanted);
        ck_assert_str_eq(o.rendered.files[0].text.data, wanted.data);
}
END_TEST

START_TEST(render_extended_file) {
        CLEANUP(outcome_done) Outcome o = {0};
        CLEANUP(str_done) Str wanted = STR_NULL;

        world();
        write_file("c.yaml", "services: {a: {extends: {file: deep/base.yaml, service: base}}}");
        ck_assert_int_eq(render("c.yaml", GUARDED, "", &o), 0);
        ck_assert_uint_eq(o.rendered.len, 2);
        expand("@E{deep/base.yaml}", &wanted);
        ck_assert_str_eq(o.rendered.files[1].name, strrchr(wanted.data, '/') + 1);
        str_clear(&wanted);
        expand("services:\n  base:\n    image: b\n    env_file: '@F{app.env}'\n", &wanted);
        ck_assert_str_eq(o.rendered.files[1].text.data, wanted.data);
}
END_TEST

START_TEST(render_lists) {
        CLEANUP(outcome_done) Outcome o = {0};
        static const char *const trusts[] = {
                ("c.yaml:1: dev.Dockerfile is a Dockerfile that is not guarded: the agent can "
                 "change it"),
                "c.yaml:1: data/x.env is not guarded: the agent can change it",
                "c.yaml:1: /var/run/docker.sock lies outside the checkout",
        };

        world();
        write_file("c.yaml",
                   "services: {a: {build: {context: web, dockerfile: dev.Dockerfile}, env_file: "
                   "[data/x.env, app.env], volumes: [./data:/d, ./data:/e, "
                   "/var/run/docker.sock:/s]}}");
        ck_assert_int_eq(render("c.yaml", GUARDED, "", &o), 0);
        ck_assert_uint_eq(o.place.trusts.len, 3);
        for (size_t i = 0; i < 3; i++)
                ck_assert_str_eq(o.place.trusts.items[i], trusts[i]);
        ck_assert_uint_eq(o.place.copies.len, 1);
        ck_assert_str_eq(o.place.copies.items[0], "app.env");
        ck_assert_uint_eq(o.place.sources.len, 4);
        ck_assert_str_eq(o.place.sources.items[0], "web");
        ck_assert_str_eq(o.place.sources.items[1], "web/dev.Dockerfile");
        ck_assert_str_eq(o.place.sources.items[2], "data/x.env");
        ck_assert_str_eq(o.place.sources.items[3], "data");
}
END_TEST

START_TEST(render_not_guarded) {
        CLEANUP(outcome_done) Outcome o = {0};

        world();
        ck_assert_int_eq(render("none.yaml", "", "", &o), RENDER_E_REFUSED);
        ck_assert_str_eq(o.why.data, "none.yaml: does not exist");
}
END_TEST

/* Ten lines that are a gigabyte when written out. */
START_TEST(render_alias_bomb) {
        CLEANUP(outcome_done) Outcome o = {0};
        CLEANUP(str_done) Str text = STR_NULL;

        ck_assert_int_eq(str_adds(&text, "x0: &x0 [lol, lol, lol, lol, lol, lol, lol, lol]\n"), 0);
        for (int i = 1; i < 10; i++)
                ck_assert_int_eq(str_addf(&text, "x%d: &x%d [*x%d, *x%d, *x%d, *x%d, *x%d, *x%d]\n",
                                          i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1),
                                 0);
        write_file("c.yaml", text.data);
        ck_assert_int_eq(render("c.yaml", "", "", &o), RENDER_E_REFUSED);
        ck_assert_ptr_nonnull(strstr(o.why.data, "larger than 4 MiB with all aliases written out"));
}
END_TEST

/* The same text again: nothing is relative any more. */
START_TEST(render_fixed_point) {
        CLEANUP(outcome_done) Outcome o = {0};
        CLEANUP(outcome_done) Outcome again = {0};

        world();
        write_file("c.yaml", good[_i].in);
        ck_assert_int_eq(render("c.yaml", GUARDED, "", &o), 0);
        if (o.rendered.len > 1) /* names a copy that stands nowhere here */
                return;
        write_file("c.yaml", o.rendered.files[0].text.data);
        ck_assert_msg(render("c.yaml", GUARDED, "", &again) == 0, "%s", again.why.data);
        ck_assert_str_eq(again.rendered.files[0].text.data, o.rendered.files[0].text.data);
}
END_TEST

static void add(TCase *tc) {
        tcase_add_loop_test(tc, render_rewrites, 0, sizeof(good) / sizeof(good[0]));
        tcase_add_loop_test(tc, render_refuses, 0, sizeof(bad) / sizeof(bad[0]));
        tcase_add_loop_test(tc, render_fixed_point, 0, sizeof(good) / sizeof(good[0]));
        tcase_add_test(tc, render_second_file);
        tcase_add_test(tc, render_second_file_half_a_build);
        tcase_add_test(tc, render_folder_below);
        tcase_add_test(tc, render_extended_file);
        tcase_add_test(tc, render_lists);
        tcase_add_test(tc, render_not_guarded);
        tcase_add_test(tc, render_alias_bomb);
}

int main(void) {
        return scratch_main("installer/render", add);
}
