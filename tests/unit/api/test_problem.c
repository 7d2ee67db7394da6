/* Error documents: the JSON is valid for any contents, and every field follows the contract. */
#include "api/http/problem.h"

#include "api/json/escape.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static struct hs_problem problem;

static void setup(void)
{
    memset(&problem, 0x5A, sizeof problem);
    hs_problem_init(&problem);
}

static json_t *encode(void)
{
    struct hs_buffer out = {0};
    hs_problem_encode(&problem, "id-1", &out);
    ck_assert(!out.failed);
    json_t *root = json_loadb(out.data, out.len, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_msg(root != NULL, "not JSON: %.*s", (int)out.len, out.data);
    hs_buffer_free(&out);
    return root;
}

static const char *text(const json_t *root, const char *name)
{
    const char *value = json_string_value(json_object_get(root, name));
    return value == NULL ? "(absent)" : value;
}

START_TEST(a_new_problem_has_no_faults)
{
    ck_assert_int_eq(problem.code, HS_PROBLEM_NONE);
    ck_assert_uint_eq(problem.count, 0);
    ck_assert_uint_eq(problem.left_out, 0);
    ck_assert_str_eq(problem.detail, "");
}
END_TEST

START_TEST(first_code_wins)
{
    hs_problem_set(&problem, HS_PROBLEM_MALFORMED_JSON, "line %d", 7);
    hs_problem_set(&problem, HS_PROBLEM_INTERNAL, "later");
    hs_problem_add(&problem, "/a", "bad");
    ck_assert_int_eq(problem.code, HS_PROBLEM_MALFORMED_JSON);
    ck_assert_str_eq(problem.detail, "line 7");
    ck_assert_uint_eq(problem.count, 1);
}
END_TEST

START_TEST(document_has_the_members_of_the_contract)
{
    hs_problem_add(&problem, "/hits/0/start/1", "must be %s", "finite");
    hs_problem_add(&problem, "/hits/2", "is \"strange\"");
    json_t *root = encode();
    ck_assert_str_eq(text(root, "type"), "urn:hindsight:problem:invalid_request");
    ck_assert_str_eq(text(root, "title"), "The request has bad fields");
    ck_assert_str_eq(text(root, "detail"), "The request has bad fields");
    ck_assert_str_eq(text(root, "instance"), "id-1");
    ck_assert_str_eq(text(root, "code"), "invalid_request");
    ck_assert_int_eq(json_integer_value(json_object_get(root, "status")), 400);
    const json_t *errors = json_object_get(root, "errors");
    ck_assert_uint_eq(json_array_size(errors), 2);
    ck_assert_str_eq(text(json_array_get(errors, 0), "pointer"), "/hits/0/start/1");
    ck_assert_str_eq(text(json_array_get(errors, 0), "detail"), "must be finite");
    ck_assert_str_eq(text(json_array_get(errors, 1), "detail"), "is \"strange\"");
    ck_assert_ptr_null(json_object_get(root, "retry_after_ms"));
    ck_assert_ptr_null(json_object_get(root, "errors_left_out"));
    json_decref(root);
}
END_TEST

START_TEST(more_errors_than_are_kept_are_counted)
{
    for (int i = 0; i < HS_PROBLEM_MAX + 5; i++)
        hs_problem_add(&problem, "/x", "%d", i);
    json_t *root = encode();
    ck_assert_uint_eq(json_array_size(json_object_get(root, "errors")), HS_PROBLEM_MAX);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "errors_left_out")), 5);
    json_decref(root);
}
END_TEST

START_TEST(overload_says_when_to_come_back)
{
    hs_problem_set(&problem, HS_PROBLEM_OVERLOADED, "full");
    json_t *root = encode();
    ck_assert_int_eq(json_integer_value(json_object_get(root, "status")), 503);
    ck_assert_int_eq(json_integer_value(json_object_get(root, "retry_after_ms")),
                     HS_RETRY_AFTER_MS);
    ck_assert_ptr_null(json_object_get(root, "errors"));
    json_decref(root);
}
END_TEST

/* A text that is cut in the middle of a character is still valid JSON. So is a text longer than its
   buffer. */
START_TEST(hostile_texts_stay_json)
{
    char longer[1024];
    for (size_t i = 0; i + 3 < sizeof longer; i += 3)
        memcpy(longer + i, "\xe2\x82\xac", 3);
    longer[1023] = '\0';
    for (size_t shift = 0; shift < 3; shift++) {
        setup();
        hs_problem_set(&problem, HS_PROBLEM_INVALID_REQUEST, "%s", longer + shift);
        hs_problem_add(&problem, longer + shift, "%s", longer + shift);
        json_t *root = encode();
        ck_assert_uint_ge(strlen(text(root, "detail")), sizeof problem.detail - 1);
        json_decref(root);
    }
}
END_TEST

START_TEST(every_code_has_name_status_and_title)
{
    for (int i = HS_PROBLEM_NONE + 1; i < HS_PROBLEM_COUNT; i++) {
        int status = hs_problem_status((enum hs_problem_code)i);
        ck_assert(status >= 400 && status < 600);
        ck_assert_str_ne(hs_problem_name((enum hs_problem_code)i), "");
        for (int k = i + 1; k < HS_PROBLEM_COUNT; k++)
            ck_assert_str_ne(hs_problem_name((enum hs_problem_code)i),
                             hs_problem_name((enum hs_problem_code)k));
    }
    ck_assert_int_eq(hs_problem_status(HS_PROBLEM_LENGTH_REQUIRED), 411);
    ck_assert_str_eq(hs_problem_name(HS_PROBLEM_UNKNOWN_MATCH), "unknown_match");
}
END_TEST

static const struct {
    const char *bytes;
    size_t size;
    const char *escaped;
} escapes[] = {
    {"", 0, "\"\""},
    {"plain", 5, "\"plain\""},
    {"a\"b\\c/d", 7, "\"a\\\"b\\\\c/d\""},
    {"\0\n\x1f\x7f", 4, "\"\\u0000\\u000a\\u001f\\u007f\""},
    {"\302\200\302\233\302\237\302\240", 8,
     "\"\\u0080\\u009b\\u009f\302\240\""}, /* terminals obey these characters */
    {"\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9", 9,
     "\"\xe2\x80\xa7\\u2028\\u2029\""}, /* some readers take these characters for ends of lines */
    {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
    {"\xc3", 1, "\"\\ufffd\""},                                  /* cut in the middle */
    {"a\xe2\x82", 3, "\"a\\ufffd\\ufffd\""},                     /* cut in the middle */
    {"\x80z", 2, "\"\\ufffdz\""},                                /* without the first byte */
    {"\xc0\xaf", 2, "\"\\ufffd\\ufffd\""},                       /* overlong */
    {"\xe0\x9f\xbf", 3, "\"\\ufffd\\ufffd\\ufffd\""},            /* overlong */
    {"\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\""},            /* a surrogate */
    {"\xf4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* above U+10FFFF */
    {"\xff", 1, "\"\\ufffd\""},
};

START_TEST(escapes_any_bytes)
{
    struct hs_buffer out = {0};
    hs_escape_json(&out, (struct hs_str){escapes[_i].bytes, escapes[_i].size});
    hs_buffer_append(&out, "", 1);
    ck_assert_str_eq(out.data, escapes[_i].escaped);
    hs_buffer_free(&out);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("problem");
    TCase *tests = tcase_create("documents");
    tcase_add_checked_fixture(tests, setup, NULL);
    tcase_add_test(tests, a_new_problem_has_no_faults);
    tcase_add_test(tests, first_code_wins);
    tcase_add_test(tests, document_has_the_members_of_the_contract);
    tcase_add_test(tests, more_errors_than_are_kept_are_counted);
    tcase_add_test(tests, overload_says_when_to_come_back);
    tcase_add_test(tests, hostile_texts_stay_json);
    tcase_add_test(tests, every_code_has_name_status_and_title);
    tcase_add_loop_test(tests, escapes_any_bytes, 0, (int)(sizeof escapes / sizeof escapes[0]));
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
