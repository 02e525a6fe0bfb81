/* A program that says what a test wants in place of spoolgate-inspect. */
#pragma once
#include "room.h"

#include "guard/verdict.h"

typedef struct Words {
        VerdictHead head;
        VerdictFile files[4];
} Words;

static inline Words words_of(InspectCode code, uint32_t count) {
        Words w = { .head = { VERDICT_MAGIC, VERDICT_VERSION, code, count, { 0 } } };

        for (uint32_t i = 0; i < 4; i++)
                w.files[i] = (VerdictFile){ VERDICT_MAGIC, i, INSPECT_FILE_SAME, 0 };
        return w;
}

static inline void program(const char *script) {
        CLEANUP(str_freep) char *text = NULL;

        ck_assert_int_ge(str_printf(&text, "#!/bin/sh\n%s\n", script), 0);
        room_write("inspect", text, 0700);
}

static inline void program_says(const Words *w, size_t len) {
        CLEANUP(str_freep) char *script = NULL;

        room_write_bytes("words", w, len, 0600);
        ck_assert_int_ge(str_printf(&script, "exec /bin/cat %s/words", room_path), 0);
        program(script);
}

static inline size_t words_len(uint32_t count) {
        return sizeof(VerdictHead) + count * sizeof(VerdictFile);
}
