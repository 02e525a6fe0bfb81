/* operator/follow: what is appended, across rotations */
#include "operator/follow.h"
#include "tests/unit/fs/scratch.h"

static char follow_seen[256];

static int each(void *userdata, const Record *r, const char *raw, size_t len, const char *hash) {
        int64_t seq = 0;

        (void)userdata;
        ck_assert_ptr_null(hash);
        ck_assert(record_int(r, "seq", &seq));
        ck_assert(len > 0 && raw[len - 1] == '}');
        (void)snprintf(follow_seen + strlen(follow_seen), sizeof(follow_seen) - strlen(follow_seen),
                       "%d ", (int)seq);
        return 0;
}

static void append(const char *text) {
        CLEANUP(fd_closep)
        int fd = openat(scratch_fd, "audit.log", O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void polled(Follow *f, const char *want) {
        follow_seen[0] = '\0';
        ck_assert_int_eq(follow_poll(f, each, NULL), 0);
        ck_assert_str_eq(follow_seen, want);
}

START_TEST(poll_gives_each_once) {
        CLEANUP(follow_done) Follow f = FOLLOW_NULL;

        f.state_fd = scratch_fd;
        f.seq = 1;
        polled(&f, ""); /* no log yet */
        append("{\"seq\":1}\n{\"seq\":2}\n{\"se");
        polled(&f, "2 ");
        polled(&f, "");
        append("q\":3}\nno json\n{\"seq\":4}\n");
        polled(&f, "3 4 ");
        polled(&f, "");
}
END_TEST

START_TEST(poll_goes_on_after_a_rotation) {
        CLEANUP(follow_done) Follow f = FOLLOW_NULL;

        f.state_fd = scratch_fd;
        append("{\"seq\":1}\n");
        polled(&f, "1 ");
        append("{\"seq\":2}\n");
        ck_assert_int_eq(renameat(scratch_fd, "audit.log", scratch_fd, "audit.log.1"), 0);
        append("{\"seq\":3}\n");
        polled(&f, "2 3 ");
        append("{\"seq\":4}\n");
        polled(&f, "4 ");
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, poll_gives_each_once);
        tcase_add_test(tc, poll_goes_on_after_a_rotation);
}

int main(void) {
        return scratch_main("operator/follow", add_tests);
}
