/* operator/journal-check */
#include "../verb/fixture.h"

#include <stdio.h>
#include <string.h>

#include "operator/journal-check.h"

#define H1 "1111111111111111111111111111111111111111111111111111111111111111"
#define H2 "2222222222222222222222222222222222222222222222222222222222222222"
#define H3 "3333333333333333333333333333333333333333333333333333333333333333"

START_TEST(compare_finds_what_the_log_lacks) {
        CLEANUP(journal_check_done) JournalCheck c = JOURNAL_CHECK_NULL;
        static const char text[] = "{\"SPOOLGATE_HASH\":\"" H1 "\",\"SPOOLGATE_REQUEST\":\"a\"}\n"
                                   "{\"SPOOLGATE_HASH\":\"" H3 "\",\"SPOOLGATE_REQUEST\":\"c\"}\n"
                                   "{\"SPOOLGATE_HASH\":\"short\"}\n"
                                   "{\"MESSAGE\":\"other\"}\n"
                                   "{\"SPOOLGATE_HASH\":\"" H2 "\"}\n"
                                   "{\"SPOOLGATE_HA";

        ck_assert_int_eq(journal_check_add(&c, H2), 0);
        ck_assert_int_eq(journal_check_add(&c, H1), 0);
        ck_assert_int_eq(journal_check_compare(&c, text, strlen(text)), 0);
        ck_assert_uint_eq(c.seen, 3);
        ck_assert_uint_eq(c.missing, 1);
        ck_assert_str_eq(c.foreign.data, H3 "  c\n");
}
END_TEST

START_TEST(compare_with_an_empty_log) {
        CLEANUP(journal_check_done) JournalCheck c = JOURNAL_CHECK_NULL;
        static const char text[] = "{\"SPOOLGATE_HASH\":\"" H1 "\"}\n";

        ck_assert_int_eq(journal_check_compare(&c, "", 0), 0);
        ck_assert_uint_eq(c.seen, 0);
        for (int i = 0; i < 12; i++)
                ck_assert_int_eq(journal_check_compare(&c, text, strlen(text)), 0);
        ck_assert_uint_eq(c.missing, 12);
        ck_assert_uint_eq(c.foreign.len, 10 * (64 + 4)); /* only some are named */
}
END_TEST

START_TEST(add_many) {
        CLEANUP(journal_check_done) JournalCheck c = JOURNAL_CHECK_NULL;
        char hash[HASH_HEX_SIZE];

        for (unsigned i = 0; i < 1000; i++) {
                memset(hash, '0', sizeof(hash));
                (void)snprintf(hash + 56, 9, "%08x", i);
                ck_assert_int_eq(journal_check_add(&c, hash), 0);
        }
        ck_assert_uint_eq(c.len, 1000);
        ck_assert_int_eq(journal_check_compare(&c, "", 0), 0);
        ck_assert_str_eq(c.hashes[999] + 56, "000003e7");
}
END_TEST

RUN_TESTS("operator/journal-check", compare_finds_what_the_log_lacks, compare_with_an_empty_log,
          add_many)
