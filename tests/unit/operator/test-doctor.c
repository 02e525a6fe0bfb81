/* operator/doctor: the pure parts */
#include "../verb/fixture.h"

#include <string.h>

#include "operator/doctor.h"

static void subids(const char *text, long long id, unsigned long long want, bool holds) {
        unsigned long long count = 77;
        bool got = !holds;

        doctor_subids(text, "anna", 1000, id, &count, &got);
        ck_assert_uint_eq(count, want);
        ck_assert_int_eq(got, holds);
}

START_TEST(subids_by_name_and_number) {
        subids("anna:100000:65536\n", 100000, 65536, true);
        subids("anna:100000:65536\n", 165535, 65536, true);
        subids("anna:100000:65536\n", 165536, 65536, false);
        subids("anna:100000:65536\n", 99999, 65536, false);
        subids("anna:100000:65536", -1, 65536, false);
        subids("bert:1:5\n1000:200000:10\nanna:300000:5\n", 200009, 15, true);
        subids("annabel:100000:65536\nan:1:1\n", 100000, 0, false);
        subids("", 5, 0, false);
}
END_TEST

START_TEST(subids_of_junk) {
        subids("anna\nanna:\nanna:x:y\nanna:1:\nanna:-1:5\nanna:1:5:6\n:::\n\n", 1, 0, false);
        subids("anna:99999999999999999999:1\n", 1, 0, false);
}
END_TEST

START_TEST(tight_by_bytes_and_inodes) {
        ck_assert(doctor_tight(0, 1000000));
        ck_assert(doctor_tight(64 * 1024 * 1024 - 1, 1000000));
        ck_assert(!doctor_tight(64 * 1024 * 1024, 1000000));
        ck_assert(doctor_tight(1ULL << 40, 999));
        ck_assert(!doctor_tight(1ULL << 40, UINT64_MAX));
}
END_TEST

START_TEST(quote_whatever_it_holds) {
        CLEANUP(str_freep) char *plain = NULL;
        CLEANUP(str_freep) char *odd = NULL;

        ck_assert_int_eq(doctor_quote("/a b", &plain), 0);
        ck_assert_str_eq(plain, "'/a b'");
        ck_assert_int_eq(doctor_quote("it's $(x) `y`", &odd), 0);
        ck_assert_str_eq(odd, "'it'\\''s $(x) `y`'");
}
END_TEST

/* Every check has a name of its own, and each theme ends. */
START_TEST(checks_are_told_apart) {
        static const DoctorCheck *(*const themes[])(size_t) = {
                doctor_policy_check, doctor_files_check, doctor_units_check, doctor_host_check};
        CLEANUP(strv_done) Strv names = STRV_NULL;

        for (size_t t = 0; t < 4; t++)
                for (size_t i = 0; themes[t](i); i++) {
                        ck_assert_ptr_null(strv_find(&names, themes[t](i)->name));
                        ck_assert_int_eq(strv_add(&names, themes[t](i)->name), 0);
                }
        ck_assert_uint_gt(names.len, 20);
}
END_TEST

START_TEST(findings_are_counted_without_notes) {
        CLEANUP(doctor_done) Doctor d = {.config = HOST_CONFIG_NULL, .check = "x"};

        ck_assert_int_eq(doctor_say(&d, DOCTOR_NOTE, NULL, "n"), 0);
        ck_assert_int_eq(doctor_say(&d, DOCTOR_FINDING, "a", "f"), 0);
        ck_assert_int_eq(doctor_say(&d, DOCTOR_SAFE, "b", "s %s"), 0);
        ck_assert_uint_eq(doctor_findings(&d), 2);
        ck_assert_str_eq(d.items[2].text, "s %s");
        ck_assert_str_eq(d.items[2].command, "b");
        ck_assert_ptr_null(d.items[0].command);
}
END_TEST

RUN_TESTS("operator/doctor", subids_by_name_and_number, subids_of_junk, tight_by_bytes_and_inodes,
          quote_whatever_it_holds, checks_are_told_apart, findings_are_counted_without_notes)
