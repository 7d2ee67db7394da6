/* The service answers the requests on the pages of docs/integrate as the pages say, and accepts the
   claims in them. The links of the pages exist, and their C code compiles. */
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const pages[] = {"README", "unreal", "unity", "godot", "source", "own"};

enum { PAGES = sizeof pages / sizeof pages[0] };

static struct hs_test_service service;

/* Returns the page as text. The caller frees it. */
static char *read_page(const char *name)
{
    char path[64], *text = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "docs/integrate/%s.md", name);
    FILE *file = fopen(path, "r"), *kept = open_memstream(&text, &size);
    ck_assert_msg(file != NULL && kept != NULL, "%s: run from the root of the tree", path);
    for (int c; (c = fgetc(file)) != EOF;)
        fputc(c, kept);
    fclose(kept);
    fclose(file);
    return text;
}

/* Checks that all frames are stored, and that claims are accepted without a failed check in shadow
   mode. */
static size_t look_at_answer(const json_t *answer, const char *request)
{
    size_t i;
    const json_t *hit, *frames = json_object_get(answer, "frames");
    const json_t *hits = json_object_get(answer, "hits");
    char *said = json_dumps(answer, 0);
    if (frames != NULL) {
        ck_assert_msg(json_array_size(json_object_get(frames, "refused")) == 0, "%s", said);
        ck_assert_msg(json_array_size(json_object_get(frames, "flags")) == 0, "%s", said);
    }
    json_array_foreach(hits, i, hit)
    {
        const char *verdict = json_string_value(json_object_get(hit, "verdict"));
        ck_assert_msg(strcmp(verdict, "accepted") == 0, "%s\nanswers\n%s", request, said);
        ck_assert_uint_eq(json_array_size(json_object_get(hit, "would_reject")), 0);
    }
    json_array_foreach(json_object_get(answer, "moves"), i, hit)
        ck_assert_str_eq(json_string_value(json_object_get(hit, "verdict")), "accepted");
    free(said);
    return json_array_size(hits);
}

/*
 * Posts a block, which is a line with method and path, followed by the body. Returns the number of
 * claims in the body.
 */
static size_t post_block(struct hs_test_http *http, char *block)
{
    char method[8], path[128];
    int head = 0;
    ck_assert_msg(sscanf(block, "%7s %127s%n", method, path, &head) == 2, "%s", block);
    struct hs_test_response response;
    const char *body = block + head;
    hs_test_http_send(http, method, path, body, strlen(body), NULL, &response);
    ck_assert_msg(response.status == 200 || response.status == 201, "%s\nanswers %ld\n%s", block,
                  response.status, response.body);
    json_t *answer = hs_test_response_json(&response);
    size_t claims = look_at_answer(answer, block);
    json_decref(answer);
    hs_test_response_free(&response);
    return claims;
}

START_TEST(requests_are_accepted)
{
    static const char fence[] = "\n```http\n";
    size_t claims = 0;
    char *page = read_page(pages[_i]);
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    for (char *at = page; (at = strstr(at, fence)) != NULL;) {
        char *block = at + strlen(fence), *end = strstr(block, "\n```");
        ck_assert_msg(end != NULL, "an open block");
        *end = '\0';
        claims += post_block(http, block);
        at = end + 1;
    }
    ck_assert_uint_ge(claims, 1);
    hs_test_http_close(http);
    free(page);
}
END_TEST

static json_t *post_frames(struct hs_test_http *http, double first, double last)
{
    json_t *frames = json_array();
    for (double time = first; time < last + 0.01; time += 0.1)
        json_array_append_new(frames, json_pack("{s:f,s:[{s:s,s:[i,i,i]}]}", "time", time,
                                                "players", "player", "p1", "position", 0, 0, 0));
    long status;
    json_t *answer = hs_test_http_json(http, "POST", "/v1/matches/resync/frames",
                                       json_pack("{s:o}", "frames", frames), &status);
    ck_assert_int_eq(status, 200);
    return answer;
}

/*
 * Follows the page that all engines share: after the match was put again, the frames of the last
 * second are posted once. Then the match works.
 */
START_TEST(resync_ends)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    long status;
    json_decref(hs_test_http_json(http, "PUT", "/v1/matches/resync",
                                  json_pack("{s:s}", "ruleset", "unity"), &status));
    ck_assert_int_eq(status, 201);
    json_t *answer = post_frames(http, 12.4, 12.4);
    ck_assert_str_eq(json_string_value(json_object_get(answer, "need")), "resync");
    json_decref(answer);
    json_decref(hs_test_http_json(http, "PUT", "/v1/matches/resync",
                                  json_pack("{s:s}", "ruleset", "unity"), &status));
    ck_assert_int_eq(status, 200);
    answer = post_frames(http, 11.4, 12.3);
    ck_assert_int_eq(json_integer_value(json_object_get(answer, "stored")), 10);
    ck_assert_ptr_null(json_object_get(answer, "need"));
    json_decref(answer);
    hs_test_http_close(http);
}
END_TEST

START_TEST(links_lead_somewhere)
{
    int code;
    const char *missing =
        hs_test_shell(&code,
                      "cd docs/integrate && grep -oE '\\]\\([^)#:]+' %s.md | cut -c3- | "
                      "while read -r path; do [ -e \"$path\" ] || echo \"$path\"; done",
                      pages[_i]);
    ck_assert_int_eq(code, 0);
    ck_assert_str_eq(missing, "");
}
END_TEST

START_TEST(c_compiles)
{
    int code;
    const char *faults =
        hs_test_shell(&code, "awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "
                             "docs/integrate/own.md | cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall "
                             "-Wextra -Werror -fsyntax-only -x c - 2>&1");
    ck_assert_msg(code == 0, "%s", faults);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("integrate");
    TCase *tests = tcase_create("pages");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, requests_are_accepted, 0, PAGES);
    tcase_add_test(tests, resync_ends);
    tcase_add_loop_test(tests, links_lead_somewhere, 0, PAGES);
    tcase_add_test(tests, c_compiles);
    suite_add_tcase(suite, tests);
    if (!hs_test_service_start(&service, NULL))
        return 1;
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    return failed == 0 && clean ? 0 : 1;
}
