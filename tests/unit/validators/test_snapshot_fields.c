/* The lists of saved fields name every byte of their structs once, except padding. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/run_suite.h"
#include "validators/base/saved.h"

/* Returns whether these bytes can be padding before an aligned field: they are fewer than the
   field's alignment, which divides its offset. */
static bool is_padding(size_t from, size_t to)
{
    size_t alignment = to & (~to + 1);
    return to - from < (alignment < 8 ? alignment : 8);
}

START_TEST(the_lists_contain_every_byte)
{
    const struct hs_saved_struct *saved = &hs_saved_structs[_i];
    size_t at = 0;
    for (size_t i = 0; i < saved->field_count; i++) {
        const struct hs_saved_field *field = &saved->fields[i];
        ck_assert_msg(field->offset >= at, "%s.%s is at the wrong place in the list", saved->name,
                      field->name);
        ck_assert_msg(field->offset == at || is_padding(at, field->offset),
                      "a field of %s before %s is in no list", saved->name, field->name);
        at = field->offset + field->size;
    }
    ck_assert_msg(at == saved->size || is_padding(at, saved->size),
                  "a field at the end of %s is in no list", saved->name);
}
END_TEST

/* The move checks have a layout of their own. If that layout changes, the rest of the saved state
   stays readable. */
START_TEST(every_layout_has_its_own_hash)
{
    ck_assert_uint_ne(hs_saved_layout(0, HS_SAVED_MOVE_CHECKS),
                      hs_saved_layout(HS_SAVED_MOVE_CHECKS, HS_SAVED_STRUCTS));
    for (unsigned i = 0; i < HS_SAVED_STRUCTS; i++)
        for (unsigned k = 0; k < i; k++)
            ck_assert_uint_ne(hs_saved_layout(i, i + 1), hs_saved_layout(k, k + 1));
}
END_TEST

/* Numbers have their lowest byte first, and floats follow IEEE 754. */
START_TEST(saved_numbers_are_little_endian)
{
    struct hs_bytes bytes = {0};
    static const unsigned char wanted[] = {0x02, 0x01, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 2, 'a', 'b'};
    hs_bytes_put(&bytes, 0x0102, 2);
    hs_bytes_put_real(&bytes, 1.0);
    hs_bytes_put_name(&bytes, "ab");
    ck_assert_uint_eq(bytes.len, sizeof wanted);
    ck_assert_mem_eq(bytes.data, wanted, sizeof wanted);
    struct hs_bytes_reader reader = {bytes.data, bytes.data + bytes.len, false};
    ck_assert_uint_eq(hs_bytes_get(&reader, 2), 0x0102);
    ck_assert_double_eq(hs_bytes_get_real(&reader), 1.0);
    ck_assert(hs_str_equal(hs_bytes_get_name(&reader), HS_STR("ab")));
    ck_assert(!reader.failed && reader.at == reader.end);
    ck_assert_uint_eq(hs_bytes_get(&reader, 1), 0);
    ck_assert(reader.failed);
    free(bytes.data);
}
END_TEST

/*
 * Values of enums are found by name, because a number may have another meaning in another version.
 * A removed name has no value.
 */
START_TEST(saved_members_are_found_by_name)
{
    struct hs_bytes bytes = {0};
    struct hs_saved_names names;
    hs_saved_put_names(&bytes);
    /* The first two of the three verdicts are "accepted" and "rejected". Each name follows its
       length. */
    ck_assert_mem_eq(bytes.data, "\003\010accepted\010rejected", 19);
    memcpy(bytes.data + 2, "rejected", 8);
    memcpy(bytes.data + 11, "shrugged", 8);
    struct hs_bytes_reader reader = {bytes.data, bytes.data + bytes.len, false};
    hs_saved_get_names(&reader, &names);
    ck_assert(!reader.failed && reader.at == reader.end);
    ck_assert_uint_eq(names.count[HS_VOCABULARY_VERDICTS], HS_VERDICT_COUNT);
    ck_assert_uint_eq(names.member[HS_VOCABULARY_VERDICTS][0], HS_VERDICT_REJECTED);
    ck_assert_uint_eq(names.member[HS_VOCABULARY_VERDICTS][1], HS_NO_MEMBER);
    ck_assert_uint_eq(names.member[HS_VOCABULARY_VERDICTS][2], HS_VERDICT_INCONCLUSIVE);
    ck_assert_uint_eq(names.count[HS_VOCABULARY_REASONS], HS_REASON_COUNT);
    ck_assert_uint_eq(names.member[HS_VOCABULARY_REASONS][HS_REASON_DUPLICATE],
                      HS_REASON_DUPLICATE);
    free(bytes.data);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("snapshot fields");
    TCase *tcase = tcase_create("all");
    tcase_add_loop_test(tcase, the_lists_contain_every_byte, 0, HS_SAVED_STRUCTS);
    tcase_add_test(tcase, every_layout_has_its_own_hash);
    tcase_add_test(tcase, saved_numbers_are_little_endian);
    tcase_add_test(tcase, saved_members_are_found_by_name);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
