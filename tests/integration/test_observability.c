/*
 * What operators see of the running service: metrics that promtool accepts and that move with
 * the traffic, rules and a dashboard that name only what is there, log lines that stay bounded.
 */
#include "tests/support/http.h"
#include "tests/support/raw.h"
#include "tests/support/run_suite.h"
#include "tests/support/service.h"
#include "tests/support/yaml_json.h"

#include <check.h>
#include <ctype.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RULES     "deploy/prometheus/hindsight.rules.yml"
#define ALERTS    "deploy/prometheus/alerts.yml"
#define DASHBOARD "deploy/grafana/hindsight.json"
#define DOCUMENT  "docs/observability.md"

static struct hs_test_service service;

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* /metrics as text; to be freed. */
static char *scrape(const struct hs_test_service *of)
{
    struct hs_test_http *http = hs_test_http_open(of->admin_port);
    struct hs_test_response response;
    hs_test_http_send(http, "GET", "/metrics", NULL, 0, NULL, &response);
    ck_assert_int_eq(response.status, 200);
    char *text = strdup(response.body);
    ck_assert_ptr_nonnull(text);
    hs_test_response_free(&response);
    hs_test_http_close(http);
    return text;
}

/* The value of one series of an exposition; the test fails when it is not there. */
static double series(const char *text, const char *name)
{
    size_t len = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, name, len) == 0 && line[len] == ' ')
            return strtod(line + len, NULL);
    }
    ck_abort_msg("%s is not there", name);
    return 0;
}

static bool have_promtool(void)
{
    return system("command -v promtool >/dev/null 2>&1") == 0; /* NOLINT(cert-env33-c) */
}

/* Runs a shell command with `input` on its standard input; its exit status, its output. */
static int run(const char *command, const char *input, char output[8192])
{
    char name[] = "/tmp/hindsight-observability-XXXXXX", line[512];
    int file = mkstemp(name);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, input, strlen(input)), (ssize_t)strlen(input));
    close(file);
    snprintf(line, sizeof line, "%s 2>&1 < %s", command, name);
    FILE *pipe = popen(line, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, 8191, pipe)] = '\0';
    int status = pclose(pipe);
    unlink(name);
    return status;
}

START_TEST(promtool_accepts_the_metrics)
{
    char output[8192], *text = scrape(&service);
    ck_assert_msg(run("promtool check metrics", text, output) == 0 && output[0] == '\0', "%s",
                  output);
    free(text);
}
END_TEST

START_TEST(promtool_accepts_the_rules)
{
    char output[8192];
    ck_assert_msg(run("promtool check rules " RULES " " ALERTS, "", output) == 0, "%s", output);
    ck_assert_msg(run("promtool test rules deploy/prometheus/tests/*.yml", "", output) == 0, "%s",
                  output);
}
END_TEST

/* ---- names ---- */

enum { NAMES_MAX = 256, NAME_SIZE = 128 };

struct names {
    size_t count;
    char name[NAMES_MAX][NAME_SIZE];
};

static bool has(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->name[i], name) == 0)
            return true;
    return false;
}

static void add(struct names *names, const char *name, size_t len)
{
    char text[NAME_SIZE];
    snprintf(text, sizeof text, "%.*s", (int)len, name);
    if (has(names, text))
        return;
    ck_assert_uint_lt(names->count, NAMES_MAX);
    memcpy(names->name[names->count++], text, sizeof text);
}

/* The metrics an expression names: words outside of quotation marks with one of our beginnings. */
static void add_metrics(struct names *names, const char *expression)
{
    bool quoted = false;
    for (const char *at = expression; *at != '\0';) {
        if (*at == '"')
            quoted = !quoted;
        if (quoted || !(isalpha((unsigned char)*at) || *at == '_')) {
            at++;
            continue;
        }
        size_t len = 1;
        while (isalnum((unsigned char)at[len]) || at[len] == '_' || at[len] == ':')
            len++;
        if (strncmp(at, "hindsight", 9) == 0 || strncmp(at, "process_", 8) == 0)
            add(names, at, len);
        at += len;
    }
}

/* Every text under a key of that name, however deep. */
static void add_members(struct names *names, json_t *value, const char *key)
{
    const char *name;
    json_t *member;
    size_t i;
    if (json_is_string(json_object_get(value, key)))
        add_metrics(names, json_string_value(json_object_get(value, key)));
    if (json_is_object(value)) {
        json_object_foreach(value, name, member) add_members(names, member, key);
    } else if (json_is_array(value)) {
        json_array_foreach(value, i, member) add_members(names, member, key);
    }
}

/* The names of all samples of an exposition. */
static void add_samples(struct names *names, const char *text)
{
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (*line != '#')
            add(names, line, strcspn(line, "{ "));
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
}

static json_t *load_yaml(const char *path)
{
    char error[256];
    json_t *root = hs_test_yaml_load(path, error);
    ck_assert_msg(root != NULL, "%s: %s", path, error);
    return root;
}

/* A rule or a panel about something that does not exist shows nothing for ever. */
START_TEST(rules_and_dashboard_name_what_exists)
{
    static struct names samples, recorded, used;
    char *text = scrape(&service);
    add_samples(&samples, text);
    json_t *rules = load_yaml(RULES), *alerts = load_yaml(ALERTS);
    json_t *dashboard = json_load_file(DASHBOARD, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(dashboard);
    add_members(&recorded, rules, "record");
    add_members(&used, rules, "expr");
    add_members(&used, alerts, "expr");
    ck_assert_uint_ge(used.count, 20);
    add_members(&used, dashboard, "expr");
    add_members(&used, dashboard, "definition");
    ck_assert_uint_ge(used.count, 40);
    for (size_t i = 0; i < used.count; i++) {
        const char *name = used.name[i];
        const struct names *known = strchr(name, ':') != NULL ? &recorded : &samples;
        ck_assert_msg(has(known, name), "%s is used and does not exist", name);
    }
    for (size_t i = 0; i < recorded.count; i++)
        ck_assert_msg(has(&used, recorded.name[i]), "%s is recorded and not used",
                      recorded.name[i]);
    json_decref(rules);
    json_decref(alerts);
    json_decref(dashboard);
    free(text);
}
END_TEST

static char *read_file(const char *path)
{
    static char text[1 << 16];
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

/* Every family of metrics and every alert is on the page for operators. */
START_TEST(everything_is_documented)
{
    char *text = scrape(&service), *page = read_file(DOCUMENT);
    for (const char *line = text; (line = strstr(line, "# TYPE ")) != NULL; line += 7) {
        char name[NAME_SIZE + 2];
        snprintf(name, sizeof name, "`%.*s", (int)strcspn(line + 7, " "), line + 7);
        ck_assert_msg(strstr(page, name) != NULL, "%s is not in " DOCUMENT, name + 1);
    }
    json_t *alerts = load_yaml(ALERTS), *group, *rule;
    size_t i, j, count = 0;
    json_array_foreach(json_object_get(alerts, "groups"), i, group)
    {
        json_array_foreach(json_object_get(group, "rules"), j, rule)
        {
            const char *name = json_string_value(json_object_get(rule, "alert"));
            ck_assert_ptr_nonnull(name);
            ck_assert_msg(strstr(page, name) != NULL, "%s is not in " DOCUMENT, name);
            count++;
        }
    }
    ck_assert_uint_ge(count, 9);
    json_decref(alerts);
    free(text);
}
END_TEST

/* ---- metrics and traffic ---- */

#define STAGE(name) "hindsight_verify_duration_seconds_count{stage=\"" name "\"}"

START_TEST(metrics_move_with_the_traffic)
{
    static const char frames[] =
        "{\"frames\":[{\"time\":1.0,\"players\":[{\"player\":\"a\",\"position\":[0,0,0]},"
        "{\"player\":\"b\",\"position\":[0,500,0]}]},{\"time\":1.1,\"players\":["
        "{\"player\":\"a\",\"position\":[0,0,0]},{\"player\":\"b\",\"position\":[0,500,0]}]}]}";
    static const char hits[] =
        "{\"now\":1.1,\"hits\":[{\"shot\":1,\"shooter\":\"a\",\"hit_time\":1.05,\"weapon\":"
        "\"rifle\","
        "\"start\":[0,0,160],\"end\":[0,500,160],\"target\":\"b\"},{\"shot\":2,\"shooter\":\"a\","
        "\"hit_time\":1.05,\"weapon\":\"rifle\",\"start\":[0,0,160],\"end\":[0,500,160],\"target\":"
        "\"b\"}]}";
    static const char shots[] =
        "{\"now\":1.1,\"shots\":[{\"shot\":3,\"shooter\":\"a\",\"time\":1.1,\"weapon\":\"rifle\","
        "\"origin\":[0,0,160],\"direction\":[0,1,0]}]}";
    static const struct {
        const char *path, *body;
    } posts[] = {{"/v1/matches/m/frames", frames},
                 {"/v1/matches/m/hits", hits},
                 {"/v1/matches/m/shots", shots}};
    struct hs_test_service fresh;
    ck_assert(hs_test_service_start(&fresh, NULL));
    char *text = scrape(&fresh);
    ck_assert(series(text, STAGE("judge")) == 0);
    ck_assert(series(text, "hindsight_http_connections{listener=\"data\"}") == 0);
    ck_assert(series(text, "hindsight_http_connections{listener=\"admin\"}") == 1);
    free(text);

    struct hs_test_http *http = hs_test_http_open(fresh.data_port);
    for (size_t i = 0; i < 3; i++) {
        struct hs_test_response response;
        hs_test_http_send(http, "POST", posts[i].path, posts[i].body, strlen(posts[i].body), NULL,
                          &response);
        ck_assert_msg(response.status == 200, "%s: %s", posts[i].path, response.body);
        hs_test_response_free(&response);
    }
    text = scrape(&fresh);
    ck_assert(series(text, STAGE("decode")) == 2); /* two requests with claims */
    ck_assert(series(text, STAGE("lock")) == 2);
    ck_assert(series(text, STAGE("judge")) == 3); /* three claims */
    ck_assert(series(text, STAGE("encode")) == 3);
    ck_assert(series(text, "hindsight_verify_duration_seconds_sum{stage=\"judge\"}") > 0);
    ck_assert(series(text, "hindsight_rewind_age_seconds_count") >= 1);
    ck_assert(series(text, "hindsight_http_request_duration_seconds_count{route="
                           "\"/v1/matches/{match}/hits\"}") == 1);
    ck_assert(series(text, "hindsight_http_request_duration_seconds_sum{route="
                           "\"/v1/matches/{match}/hits\"}") > 0);
    ck_assert(series(text, "hindsight_frames_total{result=\"stored\"}") == 4);
    ck_assert(series(text, "hindsight_matches_active") == 1);
    ck_assert(series(text, "hindsight_matches_limit") == 4096);
    ck_assert(series(text, "hindsight_players_active") == 2);
    ck_assert(series(text, "hindsight_history_bytes") > 0);
    ck_assert(series(text, "hindsight_http_connections{listener=\"data\"}") == 1);
    ck_assert(series(text, "hindsight_http_connections_limit{listener=\"data\"}") >= 1);
    ck_assert(series(text, "hindsight_http_inflight_requests") == 1); /* this one */
    free(text);
    hs_test_http_close(http);
    for (int tries = 0;; tries++) {
        text = scrape(&fresh);
        double open = series(text, "hindsight_http_connections{listener=\"data\"}");
        free(text);
        if (open == 0)
            break;
        ck_assert_int_lt(tries, 500);
        pause_ms(10);
    }
    ck_assert(hs_test_service_stop(&fresh));
}
END_TEST

/* ---- log ---- */

#define GET(path, header) "GET " path " HTTP/1.1\r\nHost: x\r\n" header "\r\n"

static void send_raw(unsigned port, const char *request)
{
    struct hs_raw_answer answer;
    int fd = hs_raw_connect(port);
    ck_assert_int_ge(fd, 0);
    ck_assert(hs_raw_send(fd, request, strlen(request)));
    hs_raw_read(fd, false, &answer);
    close(fd);
}

struct counted {
    int lines, requests, left_out_lines, left_out;
};

/* Reads the whole log of a service that has ended: every line is one object. */
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

/* Whatever comes in a path or a header, a line of the log is one object that we made. */
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
        send_raw(logging.data_port, requests[i]);
    int log = dup(logging.err);
    ck_assert(hs_test_service_stop(&logging));
    count_lines(log, &counted);
    ck_assert_int_ge(counted.requests, 5);
}
END_TEST

/* A flood of refused requests: so many lines a second, and the rest counted. */
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
    pause_ms(1500); /* the line about them comes by itself */
    char *text = scrape(&logging);
    double dropped = series(text, "hindsight_log_lines_dropped_total");
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

/* Whoever reads the log has stopped reading: requests are answered all the same. */
START_TEST(a_stuck_log_stops_nothing)
{
    static const char *const arguments[] = {"--log-rate", "0", NULL};
    char directory[] = "/tmp/hindsight-log-XXXXXX", fifo[64], script[64], wrap[128];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(fifo, sizeof fifo, "%s/log", directory);
    snprintf(script, sizeof script, "%s/wrap.sh", directory);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    int reader = open(fifo, O_RDWR | O_CLOEXEC); /* and never reads */
    FILE *file = fopen(script, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "exec \"$@\" 2>%s\n", fifo);
    fclose(file);
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
    char *text = scrape(&logging);
    ck_assert(series(text, "hindsight_log_lines_dropped_total") > 0);
    ck_assert(series(text, "hindsight_workers_stuck{listener=\"data\"}") == 0);
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
    if (!hs_test_service_start(&service, NULL))
        return 1;
    Suite *suite = suite_create("observability");
    TCase *tests = tcase_create("operators");
    tcase_set_timeout(tests, 60);
    if (have_promtool()) {
        tcase_add_test(tests, promtool_accepts_the_metrics);
        tcase_add_test(tests, promtool_accepts_the_rules);
    } else {
        printf("SKIP: promtool is not installed\n");
    }
    tcase_add_test(tests, rules_and_dashboard_name_what_exists);
    tcase_add_test(tests, everything_is_documented);
    tcase_add_test(tests, metrics_move_with_the_traffic);
    tcase_add_test(tests, peers_cannot_forge_lines);
    tcase_add_test(tests, floods_are_counted_not_logged);
    tcase_add_test(tests, a_stuck_log_stops_nothing);
    suite_add_tcase(suite, tests);
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    return failed == 0 && clean ? 0 : 1;
}
