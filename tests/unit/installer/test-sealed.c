#include <dirent.h>

#include "base/hash.h"
#include "guard/take.h"
#include "installer/sealed.h"
#include "tests/unit/fs/scratch.h"

static char state_path[PATH_MAX + 8];
static int state_fd = -EBADF, checkout_fd = -EBADF;
static char checkout_path[PATH_MAX + 8];

static void open_at(const char *name, char *path, size_t size, int *ret_fd) {
        ck_assert_int_eq(mkdirat(scratch_fd, name, 0700), 0);
        (void)snprintf(path, size, "%s/%s", scratch_path, name);
        *ret_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(*ret_fd, 0);
}

static void write_at(int fd, const char *name, const char *text) {
        CLEANUP(fd_closep)
        int file = openat(fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        ck_assert_int_ge(file, 0);
        ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
}

static const char *read_run(const char *name) {
        static char text[4096];
        char path[256];
        CLEANUP(fd_closep) int fd = -EBADF;
        ssize_t n;

        (void)snprintf(path, sizeof(path), "seal/run/%s", name);
        fd = openat(state_fd, path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return NULL;
        n = read(fd, text, sizeof(text) - 1);
        ck_assert_int_ge(n, 0);
        text[n] = '\0';
        return text;
}

static void set_up(void) {
        ck_assert_int_eq(hash_init(), 0);
        open_at("state", state_path, sizeof(state_path), &state_fd);
        open_at("checkout", checkout_path, sizeof(checkout_path), &checkout_fd);
}

static void bridge_fill(Bridge *b, const char *stack, const char *compose, const char *guarded,
                        const char *env) {
        ck_assert_int_eq(str_dup(checkout_path, &b->checkout.path), 0);
        ck_assert_int_eq(str_dup(stack, &b->stack), 0);
        if (compose)
                ck_assert_int_eq(strv_add(&b->compose, compose), 0);
        if (guarded)
                ck_assert_int_eq(strv_add(&b->guarded, guarded), 0);
        if (env)
                ck_assert_int_eq(strv_add(&b->env_files, env), 0);
}

static int prepare(const Bridge *b, Sealed *ret, Str *why) {
        CLEANUP(taken_list_done) TakenList taken = TAKEN_LIST_NULL;

        ck_assert_int_eq(take_files(checkout_fd, &b->guarded, &b->env_files, &taken), 0);
        return sealed_prepare(checkout_fd, state_path, b, &taken, ret, why);
}

static void seal(const Bridge *b) {
        CLEANUP(sealed_done) Sealed s = SEALED_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        int r = prepare(b, &s, &why);

        ck_assert_msg(r == 0, "%d %s", r, why.data);
        ck_assert_int_eq(sealed_write(state_fd, &s), 0);
}

static void refused(const Bridge *b, const char *said) {
        CLEANUP(sealed_done) Sealed s = SEALED_NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        ck_assert_int_eq(prepare(b, &s, &why), SEALED_E_REFUSED);
        ck_assert_ptr_nonnull(strstr(why.data, said));
        ck_assert_uint_eq(s.len, 0);
}

static void add_stack(Bridge *b) {
        CLEANUP(str_freep) char *path = NULL;
        CLEANUP(str_freep) char *entry = NULL;

        ck_assert_int_eq(sealed_stack(state_path, &path), 0);
        ck_assert_int_eq(str_printf(&entry, "stack=%s", path), 0);
        ck_assert_int_eq(strv_add_take(&b->bins, &entry), 0);
}

START_TEST(run_files_of_compose_stacks) {
        CLEANUP(strv_done) Strv compose = STRV_NULL;
        CLEANUP(strv_done) Strv files = STRV_NULL;

        ck_assert_int_eq(strv_add(&compose, "deep/c.yaml"), 0);
        ck_assert_int_eq(strv_add(&compose, "o.yaml"), 0);
        ck_assert_int_eq(sealed_run_files("/s", "podman-compose", &compose, &files), 0);
        ck_assert_uint_eq(files.len, 2);
        ck_assert_str_eq(files.items[0], "/s/seal/run/compose-0.yaml");
        ck_assert_str_eq(files.items[1], "/s/seal/run/compose-1.yaml");
        ck_assert_int_eq(sealed_run_files("/s", "quadlet", &compose, &files), 0);
        ck_assert_uint_eq(files.len, 0);
}
END_TEST

START_TEST(write_podman_compose) {
        CLEANUP(bridge_done) Bridge b = BRIDGE_NULL;
        struct stat st;

        set_up();
        write_at(checkout_fd, "c.yaml", "services: {a: {image: x, volumes: [./d:/d]}}\n");
        write_at(checkout_fd, ".env", "A=1\n");
        bridge_fill(&b, "podman-compose", "c.yaml", "c.yaml", ".env");
        seal(&b);
        ck_assert_ptr_nonnull(strstr(read_run("compose-0.yaml"), "/checkout/d:/d"));
        ck_assert_str_eq(read_run(".env"), "A=1\n");
        ck_assert_str_eq(read_run("sources"), "d\n");
        ck_assert_int_eq(fstatat(state_fd, "seal/run", &st, 0), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0700);
        ck_assert_int_eq(fstatat(state_fd, "seal/run/.env", &st, 0), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0400);
        write_at(checkout_fd, "c.yaml", "services: {a: {image: y}}\n");
        ck_assert_int_eq(unlinkat(checkout_fd, ".env", 0), 0);
        seal(&b);
        ck_assert_str_eq(read_run("compose-0.yaml"), "services:\n  a:\n    image: y\n");
        ck_assert_ptr_null(read_run(".env"));
}
END_TEST

START_TEST(write_docker_compose_as_it_is) {
        CLEANUP(bridge_done) Bridge b = BRIDGE_NULL;
        CLEANUP(sealed_done) Sealed s = SEALED_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        static const char text[] = "include: [o.yaml]\nservices:\n  a: {build: !reset .}\n"
                                   "  b:\n    extends: {file: x.yaml, service: s}\n";

        set_up();
        write_at(checkout_fd, "c.yaml", text);
        bridge_fill(&b, "docker-compose", "c.yaml", "c.yaml", NULL);
        ck_assert_int_eq(prepare(&b, &s, &why), 0);
        ck_assert_uint_eq(s.trusts.len, 2);
        ck_assert_ptr_nonnull(
                strstr(s.trusts.items[0], "c.yaml: include is read from the checkout"));
        ck_assert_ptr_nonnull(strstr(s.trusts.items[1], "c.yaml:5: x.yaml is read from"));
        ck_assert_int_eq(sealed_write(state_fd, &s), 0);
        ck_assert_str_eq(read_run("compose-0.yaml"), text);
}
END_TEST

START_TEST(run_env_files_of_docker_compose) {
        CLEANUP(strv_done) Strv env = STRV_NULL;
        CLEANUP(strv_done) Strv files = STRV_NULL;

        ck_assert_int_eq(strv_add(&env, "deep/.env"), 0);
        ck_assert_int_eq(strv_add(&env, "b.env"), 0);
        ck_assert_int_eq(sealed_run_env_files("/s", "docker-compose", &env, &files), 0);
        ck_assert_uint_eq(files.len, 2);
        ck_assert_str_eq(files.items[0], "/s/seal/run/env-0");
        ck_assert_str_eq(files.items[1], "/s/seal/run/env-1");
        ck_assert_int_eq(sealed_run_env_files("/s", "podman-compose", &env, &files), 0);
        ck_assert_uint_eq(files.len, 0);
}
END_TEST

START_TEST(write_docker_compose_env_files) {
        CLEANUP(bridge_done) Bridge b = BRIDGE_NULL;

        set_up();
        write_at(checkout_fd, "c.yaml", "services: {}\n");
        write_at(checkout_fd, ".env", "A=1\n");
        bridge_fill(&b, "docker-compose", "c.yaml", "c.yaml", ".env");
        ck_assert_int_eq(strv_add(&b.env_files, "gone.env"), 0);
        seal(&b);
        ck_assert_str_eq(read_run("env-0"), "A=1\n");
        ck_assert_str_eq(read_run("env-1"), ""); /* absent is empty: the tool wants a file */
        ck_assert_ptr_null(read_run(".env"));
}
END_TEST

/* attacks.md row 94 */
START_TEST(write_docker_compose_sources) {
        CLEANUP(bridge_done) Bridge b = BRIDGE_NULL;

        set_up();
        ck_assert_int_eq(mkdirat(checkout_fd, "dir", 0700), 0);
        write_at(checkout_fd, "dir/c.yaml",
                 "include: [inc/i.yaml]\n"
                 "services:\n"
                 "  a:\n"
                 "    build: {context: ../web, dockerfile: D, additional_contexts: {x: ./more}}\n"
                 "    env_file: [a.env, {path: b.env}]\n"
                 "    volumes: [./data:/d:ro, named:/n, /srv/x:/x, {type: bind, source: long, "
                 "target: /l},\n"
                 "              {type: volume, source: vol, target: /v}, '${WHERE}/x:/y']\n"
                 "    extends: {file: base.yaml, service: s}\n"
                 "  b: {build: 'https://example.org/x.git', volumes: [/plain]}\n"
                 "configs: {c: {file: conf.d/c}}\n"
                 "secrets: {s: {file: ./s}}\n"
                 "volumes: {named: {driver_opts: {type: none, o: bind, device: ./dev}}}\n");
        write_at(checkout_fd, "dir/base.yaml", "services: {s: {volumes: ['./under:/u']}}\n");
        bridge_fill(&b, "docker-compose", "dir/c.yaml", "dir/c.yaml", NULL);
        ck_assert_int_eq(strv_add(&b.guarded, "dir/base.yaml"), 0);
        seal(&b);
        ck_assert_str_eq(
                read_run("sources"),
                "web\ndir/more\nweb/D\ndir/a.env\ndir/b.env\ndir/data\ndir/long\n"
                "dir/base.yaml\ndir/under\ndir/conf.d/c\ndir/s\ndir/dev\ndir/inc/i.yaml\n");
}
END_TEST

START_TEST(prepare_docker_compose_trusts_and_refuses) {
        CLEANUP(bridge_done) Bridge b = BRIDGE_NULL;
        CLEANUP(sealed_done) Sealed s = SEALED_NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        set_up();
        write_at(checkout_fd, "c.yaml",
                 "services: {a: {volumes: ['${W}:/w', '/srv:/s', './data:/d', '../up:/u']}}\n");
        bridge_fill(&b, "docker-compose", "c.yaml", "c.yaml", NULL);
        ck_assert_int_eq(prepare(&b, &s, &why), 0);
        ck_assert_uint_eq(s.trusts.len, 3);
        ck_assert_ptr_nonnull(strstr(s.trusts.items[0], "c.yaml:1: ${W}:/w is not followed"));
        ck_assert_ptr_nonnull(strstr(s.trusts.items[1], "/srv lies outside the checkout"));
        ck_assert_ptr_nonnull(strstr(s.trusts.items[2], "../up lies outside the checkout"));
        ck_assert_int_eq(symlinkat("/", checkout_fd, "data"), 0);
        refused(&b, "c.yaml:1: ./data: a symlink in the checkout");
}
END_TEST

/* Named by its path in the checkout, for want of a copy: where it leads is looked at too. */
START_TEST(write_podman_compose_sources) {
        CLEANUP(bridge_done) Bridge b = BRIDGE_NULL;

        set_up();
        write_at(checkout_fd, "c.yaml",
                 "services: {a: {image: x, env_file: loose.env, volumes: ['./d:/d']}}\n"
                 "secrets: {s: {file: ./s}}\n");
        bridge_fill(&b, "podman-compose", "c.yaml", "c.yaml", NULL);
        seal(&b);
        ck_assert_str_eq(read_run("sources"), "loose.env\nd\ns\n");
}
END_TEST

START_TEST(write_the_stacks_program) {
        CLEANUP(bridge_done) Bridge b = BRIDGE_NULL;
        struct stat st;

        set_up();
        write_at(checkout_fd, "stack.sh", "#!/bin/sh\n");
        bridge_fill(&b, "script", NULL, "stack.sh", NULL);
        seal(&b);
        ck_assert_ptr_null(read_run("stack")); /* no program is named so: it lies elsewhere */
        add_stack(&b);
        seal(&b);
        ck_assert_str_eq(read_run("stack"), "#!/bin/sh\n");
        ck_assert_int_eq(fstatat(state_fd, "seal/run/stack", &st, 0), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0755);
}
END_TEST

START_TEST(prepare_refuses) {
        CLEANUP(bridge_done) Bridge none = BRIDGE_NULL;
        CLEANUP(bridge_done) Bridge link = BRIDGE_NULL;
        CLEANUP(bridge_done) Bridge env = BRIDGE_NULL;
        CLEANUP(bridge_done) Bridge loose = BRIDGE_NULL;

        set_up();
        write_at(checkout_fd, "c.yaml", "services: {}\n");
        ck_assert_int_eq(symlinkat("c.yaml", checkout_fd, "link"), 0);
        bridge_fill(&none, "script", NULL, NULL, NULL);
        add_stack(&none);
        refused(&none, "the stack's program is not guarded");
        bridge_fill(&link, "script", NULL, "link", NULL);
        add_stack(&link);
        refused(&link, "link: is or lies behind a symbolic link");
        bridge_fill(&env, "podman-compose", "c.yaml", "c.yaml", ".env");
        ck_assert_int_eq(symlinkat("c.yaml", checkout_fd, ".env"), 0);
        refused(&env, ".env: is or lies behind a symbolic link");
        bridge_fill(&loose, "docker-compose", "c.yaml", NULL, NULL);
        refused(&loose, "c.yaml: is not guarded");
}
END_TEST

static unsigned count_entries(const char *name) {
        CLEANUP(fd_closep) int fd = openat(state_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char buffer[4096];
        unsigned n = 0;
        ssize_t len;

        ck_assert_int_ge(fd, 0);
        while ((len = getdents64(fd, buffer, sizeof(buffer))) > 0)
                for (ssize_t i = 0; i < len; n++)
                        i += ((const struct dirent64 *)(const void *)(buffer + i))->d_reclen;
        ck_assert_int_eq(len, 0);
        return n - 2;
}

START_TEST(write_sweeps_what_a_crash_left) {
        CLEANUP(sealed_done) Sealed s = SEALED_NULL;

        set_up();
        ck_assert_int_eq(mkdirat(state_fd, "seal", 0700), 0);
        ck_assert_int_eq(mkdirat(state_fd, "seal/run.0123456789abcdef", 0700), 0);
        write_at(state_fd, "seal/run.0123456789abcdef/.env", "SECRET=1\n");
        write_at(state_fd, "seal/seal", "x");
        ck_assert_int_eq(sealed_write(state_fd, &s), 0);
        ck_assert_uint_eq(count_entries("seal"), 2); /* seal and run */
        ck_assert_uint_eq(count_entries("seal/run"), 0);
        ck_assert_int_eq(sealed_write(state_fd, &s), 0);
        ck_assert_uint_eq(count_entries("seal"), 2);
}
END_TEST

START_TEST(write_into_a_folder_of_others) {
        CLEANUP(sealed_done) Sealed s = SEALED_NULL;

        set_up();
        ck_assert_int_eq(mkdirat(state_fd, "seal", 0700), 0);
        ck_assert_int_eq(fchmodat(state_fd, "seal", 0777, 0), 0);
        ck_assert_int_eq(sealed_write(state_fd, &s), -EBADMSG);
        ck_assert_uint_eq(count_entries("seal"), 0);
}
END_TEST

/* A reader that opens the folder finds one seal's files, whatever is written meanwhile. */
START_TEST(write_leaves_an_open_folder_whole) {
        CLEANUP(bridge_done) Bridge b = BRIDGE_NULL;
        CLEANUP(fd_closep) int old = -EBADF;
        struct stat before, after;

        set_up();
        write_at(checkout_fd, "c.yaml", "services: {}\n");
        bridge_fill(&b, "docker-compose", "c.yaml", "c.yaml", NULL);
        seal(&b);
        old = openat(state_fd, "seal/run/compose-0.yaml", O_RDONLY | O_CLOEXEC);
        ck_assert_int_ge(old, 0);
        write_at(checkout_fd, "c.yaml", "services: {a: {}}\n");
        ck_assert_int_eq(fstat(old, &before), 0);
        seal(&b);
        ck_assert_int_eq(fstat(old, &after), 0);
        ck_assert_int_eq(before.st_size, after.st_size);
        ck_assert_str_eq(read_run("compose-0.yaml"), "services: {a: {}}\n");
}
END_TEST

static void add(TCase *tc) {
        tcase_add_test(tc, run_files_of_compose_stacks);
        tcase_add_test(tc, write_podman_compose);
        tcase_add_test(tc, write_docker_compose_as_it_is);
        tcase_add_test(tc, run_env_files_of_docker_compose);
        tcase_add_test(tc, write_docker_compose_env_files);
        tcase_add_test(tc, write_docker_compose_sources);
        tcase_add_test(tc, prepare_docker_compose_trusts_and_refuses);
        tcase_add_test(tc, write_podman_compose_sources);
        tcase_add_test(tc, write_the_stacks_program);
        tcase_add_test(tc, prepare_refuses);
        tcase_add_test(tc, write_sweeps_what_a_crash_left);
        tcase_add_test(tc, write_into_a_folder_of_others);
        tcase_add_test(tc, write_leaves_an_open_folder_whole);
}

int main(void) {
        return scratch_main("installer/sealed", add);
}
