/* Without a fuzzer: each file of the folders in argv goes through the target, whole, cut short at up
 * to REPLAY_PLACES lengths, and with single bytes bent there; fixed inputs: a failure repeats. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

enum { REPLAY_MAX = 80 * 1024, REPLAY_PLACES = 64 };

static unsigned long replay_runs;

static void replay_one(const uint8_t *data, size_t size) {
        uint8_t *copy = malloc(size + 1); /* exact, so that a sanitizer sees one byte too many */

        FUZZ_CHECK(copy);
        memcpy(copy, data, size);
        copy = realloc(copy, size ? size : 1);
        FUZZ_CHECK(copy);
        (void)LLVMFuzzerTestOneInput(copy, size);
        free(copy);
        replay_runs++;
}

static void replay_bytes(uint8_t *data, size_t size) {
        static const uint8_t bends[] = {0x00, '"', '\\', '{', '0', '=', '\n', 0x80, 0xff};

        const size_t step = size / REPLAY_PLACES + 1;

        replay_one(data, size);
        for (size_t i = 0; i < size && size <= REPLAY_MAX / 4; i += step) {
                uint8_t kept = data[i];

                replay_one(data, i);
                for (size_t k = 0; k < sizeof(bends); k++) {
                        data[i] = bends[k];
                        replay_one(data, size);
                }
                data[i] = kept;
        }
}

static void replay_file(const char *dir, const char *name) {
        static uint8_t data[REPLAY_MAX];
        char path[4096];
        size_t size;
        FILE *f;

        FUZZ_CHECK(snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path));
        f = fopen(path, "re");
        FUZZ_CHECK(f);
        size = fread(data, 1, sizeof(data), f);
        FUZZ_CHECK(!ferror(f) && feof(f));
        FUZZ_CHECK(fclose(f) == 0);
        replay_bytes(data, size);
}

int main(int argc, char **argv) {
        for (int i = 1; i < argc; i++) {
                DIR *dir = opendir(argv[i]);
                const struct dirent *entry;
                unsigned long files = 0;

                FUZZ_CHECK(dir);
                while ((entry = readdir(dir)))
                        if (entry->d_name[0] != '.') {
                                replay_file(argv[i], entry->d_name);
                                files++;
                        }
                FUZZ_CHECK(closedir(dir) == 0);
                FUZZ_CHECK(files > 0);
        }
        FUZZ_CHECK(replay_runs > 0);
        (void)printf("%lu inputs\n", replay_runs);
        return EXIT_SUCCESS;
}
