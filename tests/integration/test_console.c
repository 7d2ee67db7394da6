/*
 * Only the admin listener serves the console. This listener serves all files that the page loads,
 * compressed or not, with headers that keep foreign scripts out. tests/console/ tests the page in a
 * browser.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/support/http/client.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

static struct hs_test_service service;

static void get(const char *path, const char *header, struct hs_test_response *response)
{
    struct hs_test_http *http = hs_test_http_open(service.admin_port);
    const char *headers[] = {header, NULL};
    hs_test_http_send(http, "GET", path, NULL, 0, headers, response);
    hs_test_http_close(http);
}

static void has_header(const struct hs_test_response *response, const char *name, const char *part)
{
    char value[512] = "";
    ck_assert_msg(hs_test_response_header(response, name, value, sizeof value), "no %s", name);
    ck_assert_msg(strstr(value, part) != NULL, "%s: %s", name, value);
}

START_TEST(page_keeps_foreign_scripts_out)
{
    struct hs_test_response page;
    get("/console/", NULL, &page);
    ck_assert_int_eq(page.status, 200);
    has_header(&page, "Content-Type", "text/html");
    has_header(&page, "Content-Security-Policy", "default-src 'none'; script-src 'self'");
    has_header(&page, "X-Content-Type-Options", "nosniff");
    has_header(&page, "Cache-Control", "no-cache");
    ck_assert_ptr_null(strstr(page.body, "<script>"));
    ck_assert_ptr_null(strstr(page.body, " style="));
    ck_assert_ptr_null(strstr(page.body, "http"));
    hs_test_response_free(&page);
}
END_TEST

START_TEST(only_the_admin_listener_serves_it)
{
    ck_assert_int_eq(hs_test_http_status(service.data_port, "GET", "/console/", NULL), 404);
    ck_assert_int_eq(hs_test_http_status(service.data_port, "GET", "/console/main.js", NULL), 404);
    ck_assert_int_eq(hs_test_http_status(service.admin_port, "POST", "/console/", "{}"), 405);
}
END_TEST

/* ---- files ---- */

enum { FILES_MAX = 64, NAME_MAX_LEN = 64 };

/* The names of files that were found, each once. */
struct files {
    char name[FILES_MAX][NAME_MAX_LEN];
    size_t count;
};

static void add_file(struct files *files, const char *name, size_t len)
{
    for (size_t i = 0; i < files->count; i++)
        if (strlen(files->name[i]) == len && strncmp(files->name[i], name, len) == 0)
            return;
    ck_assert_uint_lt(files->count, FILES_MAX);
    ck_assert_uint_lt(len, NAME_MAX_LEN);
    snprintf(files->name[files->count++], NAME_MAX_LEN, "%.*s", (int)len, name);
}

/* Adds every name between `before` and the next quote. */
static void find_names(struct files *files, const char *text, const char *before)
{
    for (const char *at = text; (at = strstr(at, before)) != NULL;) {
        at += strlen(before);
        size_t len = strcspn(at, "'\"");
        if (len > 0 && strcspn(at, "\n ") > len)
            add_file(files, at, len);
    }
}

static const char *type_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    ck_assert_ptr_nonnull(dot);
    return strcmp(dot, ".js") == 0    ? "text/javascript"
           : strcmp(dot, ".css") == 0 ? "text/css"
           : strcmp(dot, ".svg") == 0 ? "image/svg+xml"
                                      : "text/html";
}

START_TEST(all_files_that_it_loads_are_there)
{
    struct hs_test_response response;
    struct files files = {0};
    get("/console/", NULL, &response);
    find_names(&files, response.body, "\"/console/");
    hs_test_response_free(&response);
    for (size_t i = 0; i < files.count; i++) {
        char path[NAME_MAX_LEN + 16];
        snprintf(path, sizeof path, "/console/%s", files.name[i]);
        get(path, NULL, &response);
        ck_assert_msg(response.status == 200, "%s: %ld", path, response.status);
        has_header(&response, "Content-Type", type_of(files.name[i]));
        if (strcmp(files.name[i], "three.module.js") != 0 &&
            strcmp(files.name[i], "chart.min.js") != 0) {
            find_names(&files, response.body, "'./");
            find_names(&files, response.body, "\"./");
            ck_assert_msg(strstr(response.body, "https://") == NULL ||
                              strcmp(files.name[i], "OrbitControls.js") == 0,
                          "%s names another server", path);
        }
        hs_test_response_free(&response);
    }
    ck_assert_uint_ge(files.count, 15);
}
END_TEST

/* Unpacks a compressed answer. The caller frees the result. */
static char *unpack(const struct hs_test_response *packed, size_t size)
{
    char *text = calloc(1, size + 1);
    z_stream stream = {.next_in = (unsigned char *)packed->body,
                       .avail_in = (unsigned)packed->size,
                       .next_out = (unsigned char *)text,
                       .avail_out = (unsigned)size + 1};
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(stream.total_out, size);
    inflateEnd(&stream);
    return text;
}

START_TEST(compressed_files_are_the_same)
{
    static const char *const paths[] = {"/console/", "/console/style.css",
                                        "/console/three.module.js"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct hs_test_response plain, packed;
        get(paths[i], NULL, &plain);
        get(paths[i], "Accept-Encoding: br, gzip", &packed);
        has_header(&packed, "Content-Encoding", "gzip");
        has_header(&packed, "Vary", "Accept-Encoding");
        ck_assert_uint_lt(packed.size, plain.size);
        char *text = unpack(&packed, plain.size);
        ck_assert_int_eq(memcmp(text, plain.body, plain.size), 0);
        free(text);
        hs_test_response_free(&packed);
        get(paths[i], "Accept-Encoding: gzip;q=0, br", &packed);
        ck_assert_uint_eq(packed.size, plain.size);
        hs_test_response_free(&plain);
        hs_test_response_free(&packed);
    }
}
END_TEST

START_TEST(unchanged_files_are_not_sent_again)
{
    char etag[128] = "", header[160];
    struct hs_test_response response;
    get("/console/style.css", NULL, &response);
    ck_assert(hs_test_response_header(&response, "ETag", etag, sizeof etag));
    hs_test_response_free(&response);
    snprintf(header, sizeof header, "If-None-Match: %s", etag);
    get("/console/style.css", header, &response);
    ck_assert_int_eq(response.status, 304);
    ck_assert_uint_eq(response.size, 0);
    hs_test_response_free(&response);
    get("/console/main.js", header, &response); /* another file has another hash */
    ck_assert_int_eq(response.status, 200);
    hs_test_response_free(&response);
}
END_TEST

START_TEST(unknown_files_are_a_problem)
{
    static const char *const paths[] = {"/console/none.js", "/console/openapi.yaml",
                                        "/console/..%2Fopenapi.yaml", "/console"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct hs_test_response response;
        get(paths[i], NULL, &response);
        ck_assert_msg(response.status == 404 || response.status == 400, "%s: %ld", paths[i],
                      response.status);
        has_header(&response, "Content-Type", "application/problem+json");
        hs_test_response_free(&response);
    }
}
END_TEST

/* ---- the demo ---- */

START_TEST(demo_leaves_evidence)
{
    struct hs_test_kept kept;
    struct hs_test_run run;
    hs_kept_setup(&kept);
    HS_TEST_RUN(&run, "demo", "--data", kept.data);
    ck_assert_msg(run.code == 0, "%s", run.err);
    hs_kept_start(&kept, NULL);
    hs_kept_holds(hs_kept_get(&kept, "/v1/verdicts?reason=no_intersection&limit=1"),
                  "\"reason\":\"no_intersection\"");
    hs_kept_holds(hs_kept_get(&kept, "/v1/matches"), "\"matches\":[]}");
    hs_kept_stop(&kept);
    hs_kept_teardown(&kept);
}
END_TEST

START_TEST(demo_that_stays_names_a_verdict)
{
    struct hs_test_kept kept;
    int code;
    hs_kept_setup(&kept);
    const char *status = hs_test_shell(
        &code,
        "$HS_PROGRAM demo --stay --data %s >%s/out & demo=$!; "
        "for i in $(seq 300); do grep -q '/console/#/verdicts/' %s/out && break; sleep 0.1; done; "
        "url=$(sed -n '$s/.*: //p' %s/out); sleep 0.5; "
        "curl -s -o /dev/null -w '%%{http_code}' \"${url%%%%/console/*}/v1/verdicts/${url##*/}\"; "
        "kill $demo; wait $demo",
        kept.data, kept.directory, kept.directory, kept.directory);
    ck_assert_str_eq(status, "200");
    ck_assert_int_eq(code, 0);
    hs_kept_teardown(&kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("console");
    TCase *files = tcase_create("files");
    TCase *demo = tcase_create("demo");
    tcase_add_test(files, page_keeps_foreign_scripts_out);
    tcase_add_test(files, only_the_admin_listener_serves_it);
    tcase_add_test(files, all_files_that_it_loads_are_there);
    tcase_add_test(files, compressed_files_are_the_same);
    tcase_add_test(files, unchanged_files_are_not_sent_again);
    tcase_add_test(files, unknown_files_are_a_problem);
    suite_add_tcase(suite, files);
    tcase_add_test(demo, demo_leaves_evidence);
    tcase_add_test(demo, demo_that_stays_names_a_verdict);
    suite_add_tcase(suite, demo);
    if (!hs_test_service_start(&service, NULL))
        return 1;
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    return failed == 0 && clean ? 0 : 1;
}
