/* compose files, reader, renderer and what docker compose opens: what is rendered is YAML, names no
 * relative path where one matters, and rendered again stays as it is. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

#include "base/fd.h"
#include "installer/compose.h"
#include "installer/document.h"
#include "installer/render.h"
#include "installer/sources.h"

#define FUZZ_CHECKOUT_SIZE 4096
#define FUZZ_RUN "/state/seal/run"
enum { FUZZ_AGAIN_MAX = 64 * 1024 };

static char fuzz_checkout[FUZZ_CHECKOUT_SIZE];
static int fuzz_fd = -EBADF;

static void fuzz_end(void) {
        (void)unlinkat(fuzz_fd, "c.yaml", 0);
        (void)rmdir(fuzz_checkout);
}

static void fuzz_begin(void) {
        const char *tmp;

        if (fuzz_fd >= 0)
                return;
        tmp = getenv("TMPDIR");
        (void)snprintf(fuzz_checkout, sizeof(fuzz_checkout), "%s/fuzz-compose.XXXXXX",
                       tmp && *tmp ? tmp : "/tmp");
        FUZZ_CHECK(mkdtemp(fuzz_checkout));
        fuzz_fd = open(fuzz_checkout, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        FUZZ_CHECK(fuzz_fd >= 0 && atexit(fuzz_end) == 0);
}

static void fuzz_write(int fd, const void *bytes, size_t size) {
        FUZZ_CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
}

/* The reader: each path it gives lies below the checkout. */
static void fuzz_read(const Strv *files, const void *bytes, size_t size) {
        CLEANUP(compose_done) Compose c = COMPOSE_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        CLEANUP(fd_closep)
        int fd = openat(fuzz_fd, "c.yaml", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        int r;

        fuzz_write(fd, bytes, size);
        r = compose_read(fuzz_fd, fuzz_checkout, files, &c, &why);
        FUZZ_CHECK(r == 0 || r == COMPOSE_E_INVALID);
        FUZZ_CHECK((r == 0) == (why.len == 0));
        for (size_t i = 0; i < c.parts_len; i++) {
                const char *path = c.parts[i].path;

                FUZZ_CHECK(!path ||
                           (path[0] != '/' && !str_starts(path, "../") && !strstr(path, "/../") &&
                            !str_ends(path, "/..") && !str_eq(path, "..")));
        }
}

/* 0 or RENDER_E_REFUSED; named: others than c.yaml are pulled in. */
static int fuzz_render(const Strv *files, const void *bytes, size_t size, Str *ret,
                       size_t *ret_files) {
        CLEANUP(rendered_done) Rendered out = RENDERED_NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        CLEANUP(fd_closep) int fd = memfd_create("c.yaml", MFD_CLOEXEC);
        char path[] = "c.yaml";
        Taken item = {.kind = TAKE_GUARDED, .path = path, .fd = -EBADF, .bytes_fd = fd};
        const TakenList taken = {&item, 1};
        CLEANUP(place_done)
        Place place = {.checkout_fd = fuzz_fd,
                       .checkout = fuzz_checkout,
                       .folder = "",
                       .home = "/home/u",
                       .run = FUZZ_RUN,
                       .taken = &taken};
        int r;

        fuzz_write(fd, bytes, size);
        r = render_files(&place, files, &out, &why);
        FUZZ_CHECK(r == 0 || r == RENDER_E_REFUSED);
        FUZZ_CHECK((r == 0) == (why.len == 0));
        if (r == 0) {
                FUZZ_CHECK(out.len >= 1 && out.files[0].text.len > 0);
                FUZZ_CHECK(str_add(ret, out.files[0].text.data, out.files[0].text.len) == 0);
        }
        *ret_files = out.len;
        return r;
}

/* Each is one line, and a path below the checkout. */
static void fuzz_sources(const void *bytes, size_t size) {
        CLEANUP(document_freep) Document *d = NULL;
        CLEANUP(str_done) Str why = STR_NULL;
        CLEANUP(fd_closep) int fd = memfd_create("c.yaml", MFD_CLOEXEC);
        char path[] = "c.yaml";
        Taken item = {.kind = TAKE_GUARDED, .path = path, .fd = -EBADF, .bytes_fd = fd};
        const TakenList taken = {&item, 1};
        CLEANUP(place_done)
        Place place = {.checkout_fd = fuzz_fd,
                       .checkout = fuzz_checkout,
                       .folder = "",
                       .home = "/home/u",
                       .run = FUZZ_RUN,
                       .taken = &taken};
        int r;

        fuzz_write(fd, bytes, size);
        r = document_parse("c.yaml", bytes, size, &d, &why);
        if (r == 0)
                r = sources_collect(&place, "c.yaml", d, &why);
        FUZZ_CHECK(r == 0 || r == SOURCES_E_REFUSED);
        FUZZ_CHECK((r == 0) == (why.len == 0));
        for (size_t i = 0; i < place.sources.len; i++) {
                const char *at = place.sources.items[i];

                FUZZ_CHECK(*at && at[0] != '/' && !strchr(at, '\n') && !str_starts(at, "../") &&
                           !strstr(at, "/../") && !str_ends(at, "/..") && !str_eq(at, ".."));
        }
}

static void fuzz_parses(const Str *text) {
        CLEANUP(document_freep) Document *d = NULL;
        CLEANUP(str_done) Str why = STR_NULL;

        FUZZ_CHECK(document_parse("c.yaml", text->data, text->len, &d, &why) == 0);
        FUZZ_CHECK(document_tag_line(d) == 0);
        FUZZ_CHECK(document_kind(d, document_root(d)) == DOCUMENT_MAP);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        CLEANUP(strv_done) Strv files = STRV_NULL;
        CLEANUP(str_done) Str once = STR_NULL;
        CLEANUP(str_done) Str twice = STR_NULL;
        size_t len;

        fuzz_begin();
        fuzz_add(&files, "c.yaml");
        fuzz_read(&files, data, size);
        fuzz_sources((const char *)data, size);
        if (fuzz_render(&files, data, size, &once, &len) != 0 || once.len > FUZZ_AGAIN_MAX)
                return 0; /* with all aliases written out it may have too many nodes for us */
        fuzz_parses(&once);
        if (len > 1) /* names a copy, which is no file here */
                return 0;
        FUZZ_CHECK(fuzz_render(&files, once.data, once.len, &twice, &len) == 0);
        FUZZ_CHECK(str_eq(once.data, twice.data));
        return 0;
}
