/* What guard/head reads from a hostile .git: the first byte says as what. */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard/head.h"

static char fuzz_path[] = "/tmp/spoolgate-fuzz-head.XXXXXX";
static int fuzz_fd = -1;

static void fuzz_clean(void) {
        (void)unlinkat(fuzz_fd, "HEAD", 0);
        (void)unlinkat(fuzz_fd, "packed-refs", 0);
        (void)unlinkat(fuzz_fd, "refs/heads/a", 0);
}

static void fuzz_remove(void) {
        fuzz_clean();
        (void)unlinkat(fuzz_fd, "refs/heads", AT_REMOVEDIR);
        (void)unlinkat(fuzz_fd, "refs", AT_REMOVEDIR);
        (void)rmdir(fuzz_path);
}

static int fuzz_dir(void) {
        if (fuzz_fd >= 0)
                return fuzz_fd;
        FUZZ_CHECK(mkdtemp(fuzz_path));
        fuzz_fd = open(fuzz_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        FUZZ_CHECK(fuzz_fd >= 0 && atexit(fuzz_remove) == 0);
        FUZZ_CHECK(mkdirat(fuzz_fd, "refs", 0700) == 0 && mkdirat(fuzz_fd, "refs/heads", 0700) == 0);
        return fuzz_fd;
}

static void fuzz_write(const char *name, const void *bytes, size_t len) {
        int fd = openat(fuzz_dir(), name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        FUZZ_CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && close(fd) == 0);
}

static void fuzz_resolve(const char *head, const char *name, const uint8_t *data, size_t size) {
        char hex[VERDICT_HEX + 1] = "";
        int r;

        if (head)
                fuzz_write("HEAD", head, strlen(head));
        fuzz_write(name, data, size);
        r = head_resolve(fuzz_dir(), fuzz_dir(), hex);
        FUZZ_CHECK(r == 0 || r == INSPECT_HEAD || r == INSPECT_UNBORN || r == INSPECT_SHA256 || r == INSPECT_REFTABLE);
        FUZZ_CHECK((r == 0) == (strspn(hex, "0123456789abcdef") == VERDICT_HEX));
        fuzz_clean();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        if (size == 0)
                return 0;
        switch (data[0]) {
        case 'H':
                fuzz_resolve(NULL, "HEAD", data + 1, size - 1);
                break;
        case 'R':
                fuzz_resolve("ref: refs/heads/a\n", "refs/heads/a", data + 1, size - 1);
                break;
        case 'P':
                fuzz_resolve("ref: refs/heads/a\n", "packed-refs", data + 1, size - 1);
                break;
        default:
                FUZZ_CHECK(head_config((const char *)data, size) >= 0);
                break;
        }
        return 0;
}
