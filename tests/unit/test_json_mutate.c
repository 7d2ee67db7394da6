/*
 * The mutations of the fuzzers: their size is limited, a seed repeats them, and every kind occurs.
 */
#include "tests/support/fuzz/json_mutate.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/fuzz/json_outline.h"
#include "tests/support/run_suite.h"

static const char document[] = "{\"now\":12.5,\"hits\":[{\"shot\":1042,\"shooter\":\"alice\",\"hit_"
                               "time\":12.41,\"start\":[0,0,1.6],"
                               "\"end\":[20,3.5,1.6],\"target\":null},{\"shot\":1043,\"shooter\":"
                               "\"bob\",\"start\":[0,-1,2e3]}]}";

enum { SIZE = sizeof document - 1, ROOM = 2048, CASES = 20000 };

/* Mutates the document once, in a block of exactly `room` bytes. The caller frees it. */
static uint8_t *mutated(uint64_t seed, size_t room, size_t *size)
{
    struct hs_random random = hs_random_start(seed, 0);
    uint8_t *bytes = malloc(room);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, document, SIZE);
    *size = hs_json_mutate(bytes, SIZE, room, &random);
    return bytes;
}

START_TEST(nothing_is_written_beyond_the_room)
{
    for (uint64_t seed = 0; seed < CASES; seed++) {
        size_t size, room = SIZE + seed % 40;
        uint8_t *bytes = mutated(seed, room, &size);
        ck_assert_uint_le(size, room);
        if (size == 0)
            ck_assert_mem_eq(bytes, document, SIZE);
        free(bytes);
    }
}
END_TEST

START_TEST(a_seed_repeats_its_mutation)
{
    size_t changed = 0;
    for (uint64_t seed = 0; seed < 500; seed++) {
        size_t size, again;
        uint8_t *a = mutated(seed, ROOM, &size), *b = mutated(seed, ROOM, &again);
        ck_assert_uint_eq(size, again);
        ck_assert_mem_eq(a, b, size);
        changed += size > 0 && (size != SIZE || memcmp(a, document, SIZE) != 0);
        free(a);
        free(b);
    }
    ck_assert_uint_gt(changed, 400);
}
END_TEST

START_TEST(mutations_pile_up_within_the_room)
{
    struct hs_random random = hs_random_start(5, 0);
    uint8_t bytes[ROOM];
    size_t size = SIZE, mutations = 0;
    memcpy(bytes, document, SIZE);
    for (int i = 0; i < CASES; i++) {
        size_t next = hs_json_mutate(bytes, size, sizeof bytes, &random);
        ck_assert_uint_le(next, sizeof bytes);
        mutations += next > 0;
        size = next > 0 ? next : size;
        if (i % 50 == 49) { /* start again from a good document, because after many mutations only
                               the first bytes can be read */
            memcpy(bytes, document, SIZE);
            size = SIZE;
        }
    }
    ck_assert_uint_gt(mutations, CASES / 2);
}
END_TEST

START_TEST(what_is_no_json_stays_as_it_is)
{
    static const char *const texts[] = {
        "", "x", "12", "\"text\"", "abcd{}", "null", "\xff\xfe\xfd\xfc{"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct hs_random random = hs_random_start(i, 0);
        uint8_t bytes[64];
        size_t size = strlen(texts[i]);
        memcpy(bytes, texts[i], size + 1);
        ck_assert_uint_eq(hs_json_mutate(bytes, size, sizeof bytes, &random), 0);
        ck_assert_str_eq((const char *)bytes, texts[i]);
    }
}
END_TEST

START_TEST(bytes_before_the_text_stay)
{
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct hs_random random = hs_random_start(seed, 1);
        uint8_t bytes[128] = "\x01\xff[1,[2,{\"a\":3}]]";
        size_t size = hs_json_mutate(bytes, 18, sizeof bytes, &random);
        ck_assert_mem_eq(bytes, "\x01\xff", size > 0 ? 2 : 0);
    }
}
END_TEST

struct reached {
    size_t fine, duplicate, utf8, nul, number, premature, deep, other_type, many;
};

static size_t depth_of(const uint8_t *bytes, size_t size)
{
    size_t depth = 0, most = 0;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == '[' || bytes[i] == '{')
            depth++;
        else if ((bytes[i] == ']' || bytes[i] == '}') && depth > 0)
            depth--;
        most = depth > most ? depth : most;
    }
    return most;
}

static void classify(const uint8_t *bytes, size_t size, struct reached *reached)
{
    json_error_t error;
    json_t *root = json_loadb((const char *)bytes, size, JSON_REJECT_DUPLICATES, &error);
    reached->deep += depth_of(bytes, size) > 16;
    if (root == NULL) {
        enum json_error_code code = json_error_code(&error);
        reached->duplicate += code == json_error_duplicate_key;
        reached->utf8 += code == json_error_invalid_utf8;
        reached->nul += code == json_error_null_character;
        reached->number += code == json_error_numeric_overflow;
        reached->premature += code == json_error_premature_end_of_input;
        return;
    }
    const json_t *now = json_object_get(root, "now"), *hits = json_object_get(root, "hits");
    reached->fine++;
    reached->other_type += now != NULL && !json_is_number(now);
    reached->many += json_array_size(hits) > 2;
    json_decref(root);
}

/* Every fault occurs that a reader of JSON must handle, and most texts pass the parser. */
START_TEST(every_kind_of_fault_comes_up)
{
    struct reached reached = {0};
    for (uint64_t seed = 0; seed < CASES; seed++) {
        size_t size;
        uint8_t *bytes = mutated(seed, ROOM, &size);
        classify(bytes, size, &reached);
        free(bytes);
    }
    ck_assert_uint_gt(reached.fine, CASES / 2);
    ck_assert_uint_gt(reached.duplicate, 50);
    ck_assert_uint_gt(reached.utf8, 50);
    ck_assert_uint_gt(reached.nul, 5);
    ck_assert_uint_gt(reached.number, 50);
    ck_assert_uint_gt(reached.premature, 50);
    ck_assert_uint_gt(reached.deep, 50);
    ck_assert_uint_gt(reached.other_type, 20);
    ck_assert_uint_gt(reached.many, 50);
}
END_TEST

START_TEST(a_crossing_takes_the_value_of_the_other_text)
{
    static const char one[] = "{\"a\":1,\"b\":2}", other[] = "{\"c\":[7],\"b\":\"other\"}";
    uint8_t out[64];
    bool met = false;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct hs_random random = hs_random_start(seed, 2);
        size_t size = hs_json_cross((const uint8_t *)one, sizeof one - 1, (const uint8_t *)other,
                                    sizeof other - 1, out, sizeof out, &random);
        ck_assert_uint_gt(size, 0);
        met = met || (size == 19 && memcmp(out, "{\"a\":1,\"b\":\"other\"}", size) == 0);
        ck_assert_uint_le(hs_json_cross((const uint8_t *)one, sizeof one - 1,
                                        (const uint8_t *)other, sizeof other - 1, out, 8, &random),
                          8);
    }
    ck_assert(met);
    struct hs_random random = hs_random_start(0, 3);
    ck_assert_uint_eq(
        hs_json_cross((const uint8_t *)"x", 1, (const uint8_t *)other, 5, out, sizeof out, &random),
        0);
}
END_TEST

/* The outline ends at the first fault, and open containers end with the text. */
START_TEST(an_outline_ends_at_the_first_fault)
{
    static const char text[] = "?{\"a\":[1,{\"b\":\"x\\\"y\"},tru";
    struct hs_json_outline outline;
    hs_json_outline((const uint8_t *)text, sizeof text - 1, &outline);
    ck_assert_uint_eq(outline.count, 6);
    ck_assert_int_eq(outline.spans[0].kind, HS_JSON_OBJECT);
    ck_assert_uint_eq(outline.spans[0].end, sizeof text - 1);
    ck_assert_uint_eq(outline.spans[1].key_end - outline.spans[1].key, 3);
    ck_assert_int_eq(outline.spans[2].kind, HS_JSON_NUMBER);
    ck_assert_int_eq(outline.spans[3].parent, 1);
    ck_assert_int_eq(outline.spans[4].kind, HS_JSON_STRING);
    ck_assert_uint_eq(outline.spans[4].end - outline.spans[4].begin, 6);
    ck_assert_int_eq(outline.spans[5].kind, HS_JSON_WORD);
    hs_json_outline((const uint8_t *)"{\"a\":1;2}", 9, &outline);
    ck_assert_uint_eq(outline.count, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json mutate");
    TCase *tests = tcase_create("mutations");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, nothing_is_written_beyond_the_room);
    tcase_add_test(tests, a_seed_repeats_its_mutation);
    tcase_add_test(tests, mutations_pile_up_within_the_room);
    tcase_add_test(tests, what_is_no_json_stays_as_it_is);
    tcase_add_test(tests, bytes_before_the_text_stay);
    tcase_add_test(tests, every_kind_of_fault_comes_up);
    tcase_add_test(tests, a_crossing_takes_the_value_of_the_other_text);
    tcase_add_test(tests, an_outline_ends_at_the_first_fault);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite) == 0 ? 0 : 1;
}
