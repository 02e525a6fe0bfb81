/* Throughput of the redactor in MB per second of CPU time: ordinary log lines, the shortest lines,
 * lines full of secrets, one line of 64 MiB. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "run/redact.h"

enum { BENCH_BYTES = 64 * 1024 * 1024, BENCH_PIECE = 64 * 1024 };

static const char *const plain[] = {
        "2025-01-02T03:04:05.678Z INFO  web-1     | GET /api/items/42?page=3 200 12ms 4711 bytes\n",
        "db-1      | 2025-01-02 03:04:05.678 UTC [1] LOG:  checkpoint complete: wrote 23 buffers "
        "(0.1%); sync=0.004 s\n",
        "Step 7/12 : RUN apt-get update && apt-get install -y --no-install-recommends libpq5 "
        "ca-certificates\n",
        " ---> 3f2a9c0d1e4b\n",
        "proxy-1   | 10.0.0.7 - - [02/Jan/2025:03:04:05 +0000] \"POST /checkout HTTP/1.1\" 302 154 "
        "\"-\" \"curl/8.5.0\"\n",
        "worker-1  | Traceback (most recent call last): File \"/app/jobs.py\", line 88, in "
        "run_once\n",
        "web-1     | session 42 opened for user jane, author cache warmed with 1312 keys\n",
};

static const char *const yes[] = {"y\n"};

static const char *const dense[] = {
        ("DB_PASSWORD=hunter2 and gh"
         "p_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789\n"),
        "postgres://app:s3cret@db/app Authorization: Bearer abc.def.ghi\n",
        "\x1b[31mtoken\x1b[0m: \"value-of-the-environment-1\"\n",
        "{\"client_secret\": \"P@ssw0rd\", \"user\": \"jane\"}\n",
};

static int bench_fill(Str *text, const char *const *lines, size_t n, bool one_line) {
        for (size_t i = 0; text->len < BENCH_BYTES; i++) {
                int r = str_adds(text, lines[i % n]);

                if (r < 0)
                        return r;
                if (one_line)
                        text->data[text->len - 1] = ' ';
        }
        return 0;
}

static int bench_run(const char *what, const Redact *redact, const char *const *lines, size_t n,
                     bool one_line) {
        CLEANUP(str_done) Str text = STR_NULL, out = STR_NULL;
        CLEANUP(redact_stream_freep) RedactStream *s = NULL;
        size_t bytes = 0;
        clock_t begin;
        double s_cpu;
        int r = bench_fill(&text, lines, n, one_line);

        if (r == 0)
                r = redact_stream_new(redact, &s);
        begin = clock();
        for (size_t at = 0; at < text.len && r == 0; at += BENCH_PIECE) {
                size_t len = text.len - at < BENCH_PIECE ? text.len - at : BENCH_PIECE;

                str_clear(&out);
                r = redact_feed(s, text.data + at, len, &out);
                bytes += out.len;
        }
        if (r == 0)
                r = redact_flush(s, &out);
        s_cpu = (double)(clock() - begin) / CLOCKS_PER_SEC;
        if (r == 0)
                printf("%-22s %8.1f MB/s   (%zu bytes in, %zu out)\n", what,
                       (double)text.len / 1e6 / (s_cpu > 0 ? s_cpu : 1), text.len, bytes);
        return r;
}

int main(void) {
        CLEANUP(redact_freep) Redact *redact = NULL;
        int r = redact_new(&redact);

        for (int i = 0; i < 40 && r == 0; i++) {
                CLEANUP(str_freep) char *value = NULL;

                r = str_printf(&value, "value-of-the-environment-%d", i);
                if (r == 0)
                        r = redact_add_value(redact, value);
        }
        if (r == 0)
                r = redact_compile(redact);
        if (r == 0)
                r = bench_run("plain log lines", redact, plain, sizeof(plain) / sizeof(plain[0]),
                              false);
        if (r == 0)
                r = bench_run("yes", redact, yes, 1, false);
        if (r == 0)
                r = bench_run("secrets on each line", redact, dense,
                              sizeof(dense) / sizeof(dense[0]), false);
        if (r == 0)
                r = bench_run("one line of 64 MiB", redact, plain, sizeof(plain) / sizeof(plain[0]),
                              true);
        if (r != 0)
                fprintf(stderr, "bench-redact: %d %s\n", r, err_last());
        return r != 0;
}
