/* Faults in the header fields of a request. */
#include "api/http/headers.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdint.h>
#include <string.h>

static struct hs_str str(const char *text)
{
    return (struct hs_str){text, strlen(text)};
}

enum { LIMIT = 1000 };

static const struct {
    const char *fields[7]; /* a name, a value, a name, ... */
    bool takes_body;
    enum hs_problem_code framing, content;
} cases[] = {
    {{"Content-Length", "5", "Content-Type", "application/json"}, true, 0, 0},
    {{"Content-Length", "1000", "Content-Type", "application/json"}, true, 0, 0},
    {{"Content-Length", "1001", "Content-Type", "application/json"},
     true,
     0,
     HS_PROBLEM_BODY_TOO_LARGE},
    {{"Content-Length", "18446744073709551615"}, true, 0, HS_PROBLEM_BODY_TOO_LARGE},
    {{"Content-Length", "18446744073709551616"}, true, 0, HS_PROBLEM_BODY_TOO_LARGE},
    {{"Content-Length", "99999999999999999999999999999"}, true, 0, HS_PROBLEM_BODY_TOO_LARGE},
    {{"Content-Length", " 5\t", "Content-Type", "application/json"}, true, 0, 0},
    {{"Content-Length", "5 5"}, true, HS_PROBLEM_BAD_HEADER, 0},
    {{"Content-Length", "5,5"}, true, HS_PROBLEM_BAD_HEADER, 0},
    {{"Content-Length", "-1"}, true, HS_PROBLEM_BAD_HEADER, 0},
    {{"Content-Length", "+1"}, true, HS_PROBLEM_BAD_HEADER, 0},
    {{"Content-Length", ""}, true, HS_PROBLEM_BAD_HEADER, 0},
    {{"Content-Length", "1", "content-length", "1"}, true, HS_PROBLEM_BAD_HEADER, 0},
    {{"Content-Length", "1", "content-length", "1"}, false, HS_PROBLEM_BAD_HEADER, 0},
    {{"Content-Length ", "1"}, true, HS_PROBLEM_BAD_HEADER, 0},
    {{" X", "1"}, false, HS_PROBLEM_BAD_HEADER, 0},
    {{"", "1"}, false, HS_PROBLEM_BAD_HEADER, 0},
    {{"X(", "1"}, false, HS_PROBLEM_BAD_HEADER, 0},
    {{"X", "a\rb"}, false, HS_PROBLEM_BAD_HEADER, 0},
    {{"X", "a\tb"}, false, 0, 0},
    {{"Content-Lengthy", "1"}, false, HS_PROBLEM_BAD_HEADER, 0},
    {{"transfer-encodingchunked", ""}, false, HS_PROBLEM_BAD_HEADER, 0},
    {{"Transfer-Encoding", "chunked"}, true, HS_PROBLEM_LENGTH_REQUIRED, 0},
    {{"transfer-encoding", ""}, false, HS_PROBLEM_LENGTH_REQUIRED, 0},
    {{"Content-Type", "application/json"}, true, HS_PROBLEM_LENGTH_REQUIRED, 0},
    {{"Host", "a", "Host", "a"}, false, HS_PROBLEM_BAD_HEADER, 0},
    {{"Content-Length", "0", "Content-Type", "application/json", "Content-Type", "text/html"},
     true,
     HS_PROBLEM_BAD_HEADER,
     0},
    {{"Content-Length", "0"}, false, 0, 0},
    {{"Content-Length", "1"}, false, 0, HS_PROBLEM_BAD_HEADER},
    {{"Content-Length", "1"}, true, 0, HS_PROBLEM_UNSUPPORTED_MEDIA_TYPE},
    {{"Content-Length", "1", "Content-Type", "application/json", "Content-Encoding", "gzip"},
     true,
     0,
     HS_PROBLEM_UNSUPPORTED_MEDIA_TYPE},
    {{"Content-Length", "1", "Content-Type", "application/json", "Content-Encoding", "Identity"},
     true,
     0,
     0},
    {{"Content-Length", "1", "Content-Type", "application/json;charset=utf-16"},
     true,
     0,
     HS_PROBLEM_UNSUPPORTED_MEDIA_TYPE},
    {{"Content-Length", "1", "Content-Type", "application/json; a=b; Charset=\"UTF-8\""},
     true,
     0,
     0},
    {{"Content-Length", "1", "Content-Type", "application/json; charset = utf-8"},
     true,
     0,
     HS_PROBLEM_UNSUPPORTED_MEDIA_TYPE},
    {{"Content-Length", "1", "Content-Type", "application/json;"}, true, 0, 0},
    {{"Content-Length", "1", "Content-Type", "text/json"},
     true,
     0,
     HS_PROBLEM_UNSUPPORTED_MEDIA_TYPE},
};

START_TEST(only_faulty_header_fields_are_refused)
{
    struct hs_headers headers = {0};
    struct hs_problem problem;
    for (size_t i = 0; i + 1 < 7 && cases[_i].fields[i] != NULL; i += 2)
        hs_headers_add(&headers, str(cases[_i].fields[i]), str(cases[_i].fields[i + 1]));
    hs_problem_init(&problem);
    hs_headers_check_framing(&headers, cases[_i].takes_body, &problem);
    ck_assert_msg(problem.code == cases[_i].framing, "framing of %s: %s gives %s",
                  cases[_i].fields[0], cases[_i].fields[1], hs_problem_name(problem.code));
    if (problem.code != HS_PROBLEM_NONE)
        return;
    hs_headers_check_content(&headers, cases[_i].takes_body, LIMIT, &problem);
    ck_assert_msg(problem.code == cases[_i].content, "content of %s: %s gives %s",
                  cases[_i].fields[0], cases[_i].fields[1], hs_problem_name(problem.code));
}
END_TEST

/* Header fields are bytes, not strings: a zero byte in a name or value hides nothing. */
START_TEST(zero_bytes_in_headers_are_refused)
{
    struct hs_headers headers = {0};
    hs_headers_add(&headers, (struct hs_str){"X\0Y", 3}, str("1"));
    ck_assert_str_ne(headers.ambiguous, "");
    headers = (struct hs_headers){0};
    hs_headers_add(&headers, str("X"), (struct hs_str){"1\0002", 3});
    ck_assert_str_ne(headers.ambiguous, "");
    headers = (struct hs_headers){0};
    hs_headers_add(&headers, str("X"), (struct hs_str){NULL, 0});
    ck_assert_str_eq(headers.ambiguous, "");
}
END_TEST

START_TEST(knows_whether_a_body_follows)
{
    struct hs_headers headers = {0};
    ck_assert(!hs_headers_body_follows(&headers));
    hs_headers_add(&headers, str("Content-Length"), str("0"));
    ck_assert(!hs_headers_body_follows(&headers));
    hs_headers_add(&headers, str("Content-Length"), str("0"));
    ck_assert(hs_headers_body_follows(&headers));
    headers = (struct hs_headers){0};
    hs_headers_add(&headers, str("Content-Length"), str("1"));
    ck_assert(hs_headers_body_follows(&headers));
    headers = (struct hs_headers){0};
    hs_headers_add(&headers, str("Transfer-Encoding"), str("identity"));
    ck_assert(hs_headers_body_follows(&headers));
}
END_TEST

START_TEST(only_valid_request_ids_are_used)
{
    char id[HS_REQUEST_ID_MAX + 2];
    memset(id, 'i', sizeof id - 1);
    id[sizeof id - 1] = '\0';
    struct hs_headers headers = {0};
    hs_headers_add(&headers, str("X-Request-Id"), str(id));
    hs_headers_add(&headers, str("X-Request-Id"), str("a b"));
    hs_headers_add(&headers, str("X-Request-Id"), str(""));
    ck_assert_str_eq(headers.request_id, "");
    hs_headers_add(&headers, str("x-request-id"), str(id + 1));
    ck_assert_str_eq(headers.request_id, id + 1);
    hs_headers_add(&headers, str("X-Request-Id"), str("second"));
    ck_assert_str_eq(headers.request_id, id + 1);
}
END_TEST

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

/* The rules of W3C Trace Context. */
static const struct {
    const char *value;
    bool taken;
} traces[] = {
    {"00-" TRACE "-" PARENT "-01", true},
    {"00-" TRACE "-" PARENT "-00", true},
    {" 00-" TRACE "-" PARENT "-01 ", true},
    {"01-" TRACE "-" PARENT "-01", true},
    {"cc-" TRACE "-" PARENT "-01-what-comes-later", true},
    {"cc-" TRACE "-" PARENT "-01.what", false},
    {"00-" TRACE "-" PARENT "-01-", false},
    {"ff-" TRACE "-" PARENT "-01", false},
    {"00-00000000000000000000000000000000-" PARENT "-01", false},
    {"00-" TRACE "-0000000000000000-01", false},
    {"00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01", false},
    {"00-" TRACE "-B7AD6B7169203331-01", false},
    {"00-" TRACE "-" PARENT "-0g", false},
    {"0x-" TRACE "-" PARENT "-01", false},
    {"00-" TRACE "_" PARENT "-01", false},
    {"00-" TRACE "-" PARENT "_01", false},
    {"00-" TRACE "-" PARENT "-0", false},
    {"00-short", false},
    {"", false},
};

START_TEST(takes_trace_ids)
{
    struct hs_headers headers = {0};
    hs_headers_add(&headers, str("traceparent"), str(traces[_i].value));
    ck_assert_str_eq(headers.trace_id, traces[_i].taken ? TRACE : "");
    hs_headers_add(&headers, str("Traceparent"), str("00-" TRACE "-" PARENT "-01"));
    ck_assert_str_eq(headers.trace_id, ""); /* a second traceparent removes the first */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("headers");
    TCase *tests = tcase_create("headers");
    tcase_add_loop_test(tests, only_faulty_header_fields_are_refused, 0,
                        (int)(sizeof cases / sizeof cases[0]));
    tcase_add_test(tests, zero_bytes_in_headers_are_refused);
    tcase_add_test(tests, knows_whether_a_body_follows);
    tcase_add_test(tests, only_valid_request_ids_are_used);
    tcase_add_loop_test(tests, takes_trace_ids, 0, (int)(sizeof traces / sizeof traces[0]));
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
