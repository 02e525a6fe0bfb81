/* record/journal: the fixed ids of the catalog, and that a missing journal harms nobody */
#include "base/hash.h"
#include "record/journal.h"
#include "tests/unit/fs/scratch.h"

START_TEST(message_id_distinct) {
        for (JournalKind i = 0; i < JOURNAL_KIND_COUNT; i++) {
                ck_assert(hash_is_hex(journal_message_id(i), 32));
                for (JournalKind j = 0; j < i; j++)
                        ck_assert_str_ne(journal_message_id(i), journal_message_id(j));
        }
}
END_TEST

/* The catalog and people's scripts know them: they never change. */
START_TEST(message_id_fixed) {
        ck_assert_str_eq(journal_message_id(JOURNAL_DONE), "6ffdc26da2d779cf6ea439758922bfe2");
        ck_assert_str_eq(journal_message_id(JOURNAL_DENIED), "6f446eb5f627c7ed35b82f725f3be62d");
        ck_assert_str_eq(journal_message_id(JOURNAL_OPERATOR), "716c709134aaad5a54410a953a459fb9");
}
END_TEST

START_TEST(priority_each) {
        for (JournalKind i = 0; i < JOURNAL_KIND_COUNT; i++)
                ck_assert_int_eq(journal_priority(i), i == JOURNAL_DENIED       ? 5
                                                      : i == JOURNAL_INTEGRITY  ? 4
                                                      : i == JOURNAL_HOST_ERROR ? 3
                                                                                : 6);
}
END_TEST

START_TEST(send_any) {
        JournalEntry e = {.kind = JOURNAL_DONE};

        journal_send(&e); /* nothing but the kind */
        e = (JournalEntry){JOURNAL_DENIED, "message", "project", "request", "verb",
                           "arg",          "denied",  "policy",  "hash"};
        journal_send(&e);
}
END_TEST

static void add_tests(TCase *tc) {
        tcase_add_test(tc, message_id_distinct);
        tcase_add_test(tc, message_id_fixed);
        tcase_add_test(tc, priority_each);
        tcase_add_test(tc, send_any);
}

int main(void) {
        return scratch_main("record/journal", add_tests);
}
