/* The log of a running service under stress from clients and operators: forged lines, floods of
   requests, and a reader that stopped reading. */
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GET(path, header) "GET " path " HTTP/1.1\r\nHost: x\r\n" header "\r\n"

struct counted {
    int lines, requests, left_out_lines, left_out;
};

/* Counts the lines in the log of a service that has ended. Every line must be one object. */
static void count_lines(int file, struct counted *counted)
{
    FILE *log = fdopen(file, "r");
    char line[8192];
    ck_assert_ptr_nonnull(log);
    rewind(log);
    *counted = (struct counted){0};
    while (fgets(line, sizeof line, log) != NULL) {
        json_t *root = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_msg(root != NULL, "not JSON: %s", line);
        const char *msg = json_string_value(json_object_get(root, "msg"));
        ck_assert_ptr_nonnull(msg);
        ck_assert_ptr_null(strstr(msg, "forged"));
        counted->lines++;
        counted->requests += strcmp(msg, "request") == 0;
        if (strcmp(msg, "log lines left out") == 0) {
            counted->left_out_lines++;
            counted->left_out += (int)json_integer_value(json_object_get(root, "lines"));
        }
        json_decref(root);
    }
    fclose(log);
}

/* Whatever a path or a header field contains, each log line is one object that the service
   wrote. */
START_TEST(peers_cannot_forge_lines)
{
#define FORGED "%0A%7B%22msg%22:%22forged%22%7D"
    static const char *const requests[] = {
        GET("/v1/matches/a" FORGED, ""),
        GET("/" FORGED, ""),
        GET("/v1/matches/a\n{\"msg\":\"forged\"}\n", ""),
        GET("/v1/matches/a", "X-Request-Id: \",\"msg\":\"forged\r\n"),
        GET("/v1/matches/a", "X-Request-Id: \x1b[2J\r\n"),
        GET("/v1/matches/a", "traceparent: 00-\"msg\":\"forged\"\r\n"),
        GET("/v1/matches/\xc2\x9b\xff\x01", ""),
        "{\"msg\":\"forged\"}\r\n\r\n",
        "GET /livez HTTP/1.1\r\n{\"msg\":\"forged\"}\r\n\r\n",
        "POST /v1/matches/a/frames HTTP/1.1\r\nHost: x\r\nContent-Length: "
        "\n{\"msg\":\"forged\"}\r\n"
        "\r\n",
    };
    static const char *const arguments[] = {"--log-level", "debug", "--log-rate", "0", NULL};
    struct hs_test_service logging;
    struct counted counted;
    ck_assert(hs_test_service_start(&logging, arguments));
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        hs_raw_status(logging.data_port, requests[i]); /* some of these requests get no answer */
    int log = dup(logging.err);
    ck_assert(hs_test_service_stop(&logging));
    count_lines(log, &counted);
    ck_assert_int_ge(counted.requests, 5);
}
END_TEST

/* Returns a field of the newest line about a request with that status. The caller frees it. */
static char *field_of(int file, int status, const char *name)
{
    FILE *log = fdopen(file, "r");
    char line[8192], *value = NULL;
    ck_assert_ptr_nonnull(log);
    rewind(log);
    while (fgets(line, sizeof line, log) != NULL) {
        json_t *root = json_loads(line, 0, NULL);
        if (json_integer_value(json_object_get(root, "status")) == status) {
            const char *text = json_string_value(json_object_get(root, name));
            free(value);
            value = strdup(text != NULL ? text : "");
        }
        json_decref(root);
    }
    fclose(log);
    ck_assert_msg(value != NULL, "no line of a request with status %d", status);
    return value;
}

/* The line about a refused request contains the reason, but nothing of the body. */
START_TEST(refusals_are_explained)
{
    static const char *const arguments[] = {"--max-matches", "1", NULL};
    static const struct {
        const char *method, *path, *body;
        int status;
        const char *code, *detail;
    } cases[] = {
        {"PUT", "/v1/matches/b", "{}", 503, "overloaded", "the limit of open matches is reached"},
        {"PUT", "/v1/matches/a", "{\"ruleset\":\"inches\"}", 409, "match_conflict",
         "it has ruleset centimetres, map none"},
        {"PUT", "/v1/matches/a", "{\"ruleset\": secret}", 400, "malformed_json", ""},
        {"GET", "/v1/matches/c", NULL, 404, "unknown_match", NULL},
    };
    struct hs_test_service logging;
    struct hs_test_response response;
    ck_assert(hs_test_service_start(&logging, arguments));
    struct hs_test_http *http = hs_test_http_open(logging.data_port);
    hs_test_http_send(http, "PUT", "/v1/matches/a", "{}", 2, NULL, &response);
    ck_assert_int_eq(response.status, 201);
    hs_test_response_free(&response);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size = cases[i].body != NULL ? strlen(cases[i].body) : 0;
        hs_test_http_send(http, cases[i].method, cases[i].path, cases[i].body, size, NULL,
                          &response);
        ck_assert_int_eq(response.status, cases[i].status);
        hs_test_response_free(&response);
    }
    hs_test_http_close(http);
    int log = dup(logging.err);
    ck_assert(hs_test_service_stop(&logging));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *code = field_of(dup(log), cases[i].status, "code");
        char *detail = field_of(dup(log), cases[i].status, "detail");
        ck_assert_str_eq(code, cases[i].code);
        if (cases[i].detail != NULL)
            ck_assert_str_eq(detail, cases[i].detail);
        free(code);
        free(detail);
    }
    close(log);
}
END_TEST

/* No endpoint handles these requests: the watchdog answers some of them, and the others are
   answered before the request is parsed. The log lines of these requests have the usual form, so
   the owner of an X-Request-Id finds the result. */
START_TEST(refusals_of_the_edge_are_logged)
{
#define ABOUT(status, id, more)                                                                    \
    {                                                                                              \
        status, id,                                                                                \
            "POST /v1/matches/late/frames HTTP/1.1\r\nHost: x\r\nContent-Type: "                   \
            "application/json\r\n"                                                                 \
            "Content-Length: 5\r\nX-Request-Id: " id "\r\n" more                                   \
            "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n"         \
    }
    static const char *const arguments[] = {"--request-seconds", "1", NULL};
    static const struct {
        int status;
        const char *id, *request;
    } cases[] = {
        ABOUT(408, "slow", ""),
        ABOUT(503, "too-late", "X-Deadline-Ms: 0\r\n"),
    };
    static const char *const told[][2] = {{"trace_id", "0af7651916cd43dd8448eb211c80319c"},
                                          {"match", "late"},
                                          {"route", "/v1/matches/{match}/frames"}};
    struct hs_test_service logging;
    struct hs_raw_answer answer;
    ck_assert(hs_test_service_start(&logging, arguments));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int fd = hs_raw_connect(logging.data_port);
        ck_assert(hs_raw_send(fd, cases[i].request, strlen(cases[i].request)));
        if (cases[i].status != 408)
            ck_assert(hs_raw_send(fd, "{}   ", 5));
        hs_raw_read(fd, false, &answer);
        ck_assert_int_eq(answer.status, cases[i].status);
        close(fd);
    }
    int log = dup(logging.err);
    ck_assert(hs_test_service_stop(&logging));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *id = field_of(dup(log), cases[i].status, "request_id");
        ck_assert_str_eq(id, cases[i].id);
        free(id);
        for (size_t k = 0; k < sizeof told / sizeof told[0]; k++) {
            char *text = field_of(dup(log), cases[i].status, told[k][0]);
            ck_assert_str_eq(text, told[k][1]);
            free(text);
        }
    }
    close(log);
}
END_TEST

/* A match reaches its memory limit repeatedly. The number of log lines about matches per second is
   limited, too. */
START_TEST(floods_about_matches_are_counted)
{
    enum { MATCHES = 40, RATE = 5, PLAYERS = 60 };
    static const char *const arguments[] = {"--log-rate", "5", "--match-bytes", "65536", NULL};
    struct hs_test_service logging;
    char path[64], *body = malloc(PLAYERS * 64 + 64);
    ck_assert_ptr_nonnull(body);
    int size = sprintf(body, "{\"frames\":[{\"time\":1,\"players\":[");
    for (int i = 0; i < PLAYERS; i++)
        size += sprintf(body + size, "%s{\"player\":\"p%d\",\"position\":[0,0,0]}",
                        i == 0 ? "" : ",", i);
    strcpy(body + size, "]}]}");
    ck_assert(hs_test_service_start(&logging, arguments));
    for (int i = 0; i < MATCHES; i++) {
        snprintf(path, sizeof path, "/v1/matches/held-%d/frames", i);
        ck_assert_int_eq(hs_test_http_status(logging.data_port, "POST", path, body), 200);
    }
    ck_assert(hs_metric(&logging, "hindsight_matches_held") == MATCHES);
    free(body);
    int log = dup(logging.err);
    ck_assert(hs_test_service_stop(&logging));
    FILE *lines = fdopen(log, "r");
    ck_assert_ptr_nonnull(lines);
    rewind(lines);
    char line[8192];
    int held = 0, left_out = 0;
    while (fgets(line, sizeof line, lines) != NULL) {
        const char *count = strstr(line, "\"kind\":\"matches\",\"lines\":");
        held += strstr(line, "a match is memory-limited") != NULL;
        if (count != NULL)
            left_out += atoi(strrchr(count, ':') + 1);
    }
    fclose(lines);
    ck_assert_int_eq(held + left_out, MATCHES);
    ck_assert_int_ge(held, RATE);
    ck_assert_int_gt(left_out, 0);
}
END_TEST

/* For a flood of refused requests, the number of lines per second is limited. One more line says
   how many are missing. */
START_TEST(floods_are_counted_not_logged)
{
    enum { FLOOD = 2000, RATE = 5 };
    static const char *const arguments[] = {"--log-rate", "5", NULL};
    struct hs_test_service logging;
    struct hs_test_response response;
    struct counted counted;
    ck_assert(hs_test_service_start(&logging, arguments));
    struct hs_test_http *http = hs_test_http_open(logging.data_port);
    for (int i = 0; i < FLOOD; i++) {
        hs_test_http_send(http, "GET", "/v1/matches/none", NULL, 0, NULL, &response);
        ck_assert_int_eq(response.status, 404);
        hs_test_response_free(&response);
    }
    hs_test_http_close(http);
    int log = dup(logging.err);
    hs_test_pause_ms(1500); /* the line with the count appears without another request */
    char *text = hs_scrape(&logging);
    double dropped = hs_series(text, "hindsight_log_lines_dropped_total");
    free(text);
    struct counted early;
    count_lines(dup(log), &early);
    ck_assert_int_ge(early.left_out_lines, 1);
    ck_assert(hs_test_service_stop(&logging));
    count_lines(log, &counted);
    ck_assert_int_eq(counted.requests + counted.left_out, FLOOD);
    ck_assert_int_eq(counted.left_out, (int)dropped);
    ck_assert_int_lt(counted.lines, FLOOD / 4);
}
END_TEST

/* If the reader of the log stops reading, requests still get answers. */
START_TEST(a_stuck_log_stops_nothing)
{
    static const char *const arguments[] = {"--log-rate", "0", NULL};
    char directory[] = "/tmp/hindsight-log-XXXXXX", fifo[64], script[64], wrap[128];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(fifo, sizeof fifo, "%s/log", directory);
    snprintf(script, sizeof script, "%s/wrap.sh", directory);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    int reader = open(fifo, O_RDWR | O_CLOEXEC); /* this end of the FIFO is never read from */
    snprintf(wrap, sizeof wrap, "exec \"$@\" 2>%s\n", fifo);
    hs_test_write_file(script, wrap);
    snprintf(wrap, sizeof wrap, "/bin/sh %s", script);
    setenv("HS_WRAP", wrap, 1);
    struct hs_test_service logging;
    bool started = hs_test_service_start(&logging, arguments);
    unsetenv("HS_WRAP");
    ck_assert(started);
    struct hs_test_http *http = hs_test_http_open(logging.data_port);
    struct hs_test_response response;
    for (int i = 0; i < 2000; i++) {
        hs_test_http_send(http, "GET", "/v1/matches/none", NULL, 0, NULL, &response);
        ck_assert_int_eq(response.status, 404);
        hs_test_response_free(&response);
    }
    hs_test_http_close(http);
    char *text = hs_scrape(&logging);
    ck_assert(hs_series(text, "hindsight_log_lines_dropped_total") > 0);
    ck_assert(hs_series(text, "hindsight_workers_stuck{listener=\"data\"}") == 0);
    free(text);
    ck_assert(hs_test_service_stop(&logging));
    close(reader);
    unlink(fifo);
    unlink(script);
    rmdir(directory);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("logging");
    TCase *tests = tcase_create("lines");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, peers_cannot_forge_lines);
    tcase_add_test(tests, refusals_are_explained);
    tcase_add_test(tests, floods_are_counted_not_logged);
    tcase_add_test(tests, refusals_of_the_edge_are_logged);
    tcase_add_test(tests, floods_about_matches_are_counted);
    tcase_add_test(tests, a_stuck_log_stops_nothing);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
