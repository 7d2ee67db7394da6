/* A running service reads its configuration again, either completely or not at all. Tested over
   HTTP. */
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static char directory[64];
static struct hs_test_service service;
static struct hs_test_http *http;

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void setup(void)
{
    strcpy(directory, "/tmp/hindsight_reload_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static void start(const char *const *arguments)
{
    ck_assert(hs_test_service_start(&service, arguments));
    http = hs_test_http_open(service.admin_port);
}

static void stop(void)
{
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
}

static long get(const char *path)
{
    struct hs_test_response response;
    hs_test_http_send(http, "GET", path, NULL, 0, NULL, &response);
    long status = response.status;
    hs_test_response_free(&response);
    return status;
}

#define SUCCESSFUL "hindsight_config_last_reload_successful"
#define WHEN       "hindsight_config_last_reload_success_timestamp_seconds"

/* Returns the newest log line with the message from *at on, or NULL. The caller frees it. Stores
   the number of such lines in *count. */
static json_t *find_lines(const char *msg, long *at, int *count)
{
    char path[64], line[8192];
    json_t *newest = NULL;
    *count = 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", service.err);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, *at, SEEK_SET), 0);
    while (fgets(line, sizeof line, file) != NULL && strchr(line, '\n') != NULL) {
        json_t *root = json_loads(line, 0, NULL);
        ck_assert_msg(root != NULL, "not JSON: %s", line);
        if (strcmp(json_string_value(json_object_get(root, "msg")), msg) == 0) {
            json_decref(newest);
            newest = json_incref(root);
            ++*count;
        }
        json_decref(root);
    }
    fclose(file);
    return newest;
}

/* Sends SIGHUP and waits for the log line that ends the reload. Returns the line. The caller frees
   it. */
static json_t *reload(const char *msg)
{
    long at = lseek(service.err, 0, SEEK_END);
    kill(service.pid, SIGHUP);
    for (int tries = 0; tries < 1000; tries++) {
        int count;
        json_t *line = find_lines(msg, &at, &count);
        if (line != NULL)
            return line;
        hs_test_pause_ms(10);
    }
    ck_abort_msg("the log never says: %s", msg);
    return NULL;
}

#define REFUSED "not reloaded: the old configuration stays in use"

/* Waits until the metric has the value, because the service sets it just after it writes the log
   line. */
static void expect_successful(double value)
{
    for (int tries = 0; tries < 1000 && hs_metric(&service, SUCCESSFUL) != value; tries++)
        hs_test_pause_ms(10);
    ck_assert_double_eq(hs_metric(&service, SUCCESSFUL), value);
}

static const char *text_of(const json_t *line, const char *field)
{
    const char *text = json_string_value(json_object_get(line, field));
    return text == NULL ? "" : text;
}

/* If one file is broken, every ruleset stays as it was, even those with good files. When the file
   is repaired, all are loaded. */
START_TEST(rulesets_are_taken_all_or_none)
{
    hs_test_write_file(path_of("arena.json"), "{\"name\":\"arena\"}");
    const char *const arguments[] = {"--rules", directory, NULL};
    start(arguments);
    ck_assert_int_eq(get("/v1/rulesets/arena"), 200);
    ck_assert_int_eq(get("/v1/rulesets/field"), 404);
    ck_assert_double_eq(hs_metric(&service, SUCCESSFUL), 1);
    double first = hs_metric(&service, WHEN);
    ck_assert_double_ge(first, (double)time(NULL) - 60);

    long at = lseek(service.err, 0, SEEK_END);
    int count;
    hs_test_write_file(path_of("arena.json"), "{\"name\":\"arena\",\"histroy\":{},\"up\":1}");
    hs_test_write_file(path_of("field.json"), "{\"name\":\"field\"}");
    json_t *line = reload(REFUSED);
    ck_assert_str_eq(text_of(line, "level"), "error");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "faults")), 1);
    json_decref(line);
    expect_successful(0);
    ck_assert_double_eq(hs_metric(&service, WHEN), first);
    ck_assert_int_eq(get("/v1/rulesets/arena"), 200);
    ck_assert_int_eq(get("/v1/rulesets/field"), 404);
    line = find_lines("configuration fault", &at, &count);
    ck_assert_int_eq(count, 2);
    ck_assert_ptr_nonnull(strstr(text_of(line, "source"), "arena.json"));
    json_decref(line);

    hs_test_write_file(path_of("arena.json"), "{\"name\":\"arena\",\"history\":{\"keep\":0.9}}");
    line = reload("reloaded");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "changes")), 2);
    ck_assert_ptr_nonnull(strstr(text_of(line, "changed"), "ruleset arena: sha256:"));
    ck_assert_ptr_nonnull(strstr(text_of(line, "changed"), "ruleset field: new, sha256:"));
    json_decref(line);
    expect_successful(1);
    ck_assert_double_gt(hs_metric(&service, WHEN), first);
    ck_assert_int_eq(get("/v1/rulesets/field"), 200);

    line = reload("reloaded");
    ck_assert_int_eq(json_integer_value(json_object_get(line, "changes")), 0);
    ck_assert_str_eq(text_of(line, "changed"), "");
    json_decref(line);
    stop();
}
END_TEST

/* The service reads the file again, applies the options that can change, and names the others in
   the log. */
START_TEST(the_file_is_read_again)
{
    char config[160], text[512];
    snprintf(config, sizeof config, "%s", path_of("hindsight.conf"));
    hs_test_write_file(path_of("hindsight.conf"), "{\"max_batch\":5}");
    const char *const arguments[] = {"--config", config, NULL};
    start(arguments);
    ck_assert_int_eq(get("/v1/rulesets/arena"), 404);

    hs_test_write_file(path_of("arena.json"), "{\"name\":\"arena\"}");
    snprintf(text, sizeof text,
             "{\"max_batch\":6,\"max_maps\":7,\"rules\":\"%s\",\"log_level\":\"debug\"}",
             directory);
    hs_test_write_file(path_of("hindsight.conf"), text);
    json_t *line = reload("reloaded");
    ck_assert_ptr_nonnull(strstr(text_of(line, "changed"), "log_level: info -> debug"));
    ck_assert_ptr_nonnull(strstr(text_of(line, "changed"), "rules: none -> "));
    ck_assert_ptr_nonnull(strstr(text_of(line, "changed"), "ruleset arena: new"));
    ck_assert_str_eq(text_of(line, "needs_restart"), "max_batch, max_maps");
    json_decref(line);
    ck_assert_int_eq(get("/v1/rulesets/arena"), 200);

    /* With log level debug, each request has a line. */
    int count;
    long at = 0;
    ck_assert_int_eq(get("/v1/rulesets/no-such"), 404);
    json_t *request = find_lines("request", &at, &count);
    ck_assert_ptr_nonnull(request);
    json_decref(request);

    /* If an option returns to its old value, nothing waits for a restart. The reload is logged even
       if the new level hides such lines. */
    snprintf(text, sizeof text, "{\"max_batch\":5,\"rules\":\"%s\",\"log_level\":\"error\"}",
             directory);
    hs_test_write_file(path_of("hindsight.conf"), text);
    line = reload("reloaded");
    ck_assert_str_eq(text_of(line, "changed"), "log_level: debug -> error");
    ck_assert_str_eq(text_of(line, "needs_restart"), "");
    json_decref(line);
    stop();
}
END_TEST

/* A configuration with several faults: each is reported, and nothing is applied, not even the good
   rulesets. */
START_TEST(a_broken_file_changes_nothing)
{
    char config[160], text[512];
    snprintf(config, sizeof config, "%s", path_of("hindsight.conf"));
    snprintf(text, sizeof text, "{\"rules\":\"%s\"}", directory);
    hs_test_write_file(path_of("hindsight.conf"), text);
    const char *const arguments[] = {"--config", config, NULL};
    start(arguments);
    hs_test_write_file(path_of("arena.json"), "{\"name\":\"arena\"}");
    hs_test_write_file(path_of("hindsight.conf"),
                       "{\"log_level\":\"loud\",\"treads\":1,\"max_maps\":0}");
    long at = lseek(service.err, 0, SEEK_END);
    json_t *line = reload(REFUSED);
    ck_assert_int_eq(json_integer_value(json_object_get(line, "faults")), 3);
    json_decref(line);
    int count;
    json_decref(find_lines("configuration fault", &at, &count));
    ck_assert_int_eq(count, 3);
    expect_successful(0);
    ck_assert_int_eq(get("/v1/rulesets/arena"), 404);

    ck_assert_int_eq(unlink(config), 0);
    json_decref(reload(REFUSED));
    ck_assert_int_eq(get("/v1/rulesets/arena"), 404);
    hs_test_write_file(path_of("hindsight.conf"), text);
    json_decref(reload("reloaded"));
    expect_successful(1);
    ck_assert_int_eq(get("/v1/rulesets/arena"), 200);
    stop();
}
END_TEST

/* If there are more rulesets than fit, all are refused. */
START_TEST(rulesets_without_space_are_refused)
{
    const char *const arguments[] = {"--rules", directory, "--max-rulesets", "8", NULL};
    start(arguments);
    hs_test_write_file(path_of("a.json"), "{\"name\":\"a\"}");
    hs_test_write_file(path_of("b.json"), "{\"name\":\"b\"}");
    json_decref(reload(REFUSED));
    ck_assert_int_eq(get("/v1/rulesets/a"), 404);
    ck_assert_int_eq(get("/v1/rulesets/b"), 404);
    ck_assert_int_eq(unlink(path_of("b.json")), 0);
    json_decref(reload("reloaded"));
    ck_assert_int_eq(get("/v1/rulesets/a"), 200);
    stop();
}
END_TEST

/* A match keeps the revision of its ruleset. */
START_TEST(a_running_match_keeps_its_rules)
{
    static const char opening[] = "{\"ruleset\":\"arena\"}";
    struct hs_test_response response;
    char before[80];
    hs_test_write_file(path_of("arena.json"), "{\"name\":\"arena\"}");
    const char *const arguments[] = {"--rules", directory, NULL};
    start(arguments);
    hs_test_http_send(http, "PUT", "/v1/matches/m", opening, sizeof opening - 1, NULL, &response);
    ck_assert_int_eq(response.status, 201);
    hs_test_response_free(&response);
    for (int round = 0; round < 2; round++) {
        hs_test_http_send(http, "GET", "/v1/matches/m", NULL, 0, NULL, &response);
        const char *revision = strstr(response.body, "sha256:");
        ck_assert_ptr_nonnull(revision);
        if (round == 0)
            snprintf(before, sizeof before, "%.71s", revision);
        else
            ck_assert_int_eq(strncmp(before, revision, 71), 0);
        hs_test_response_free(&response);
        if (round == 0) {
            hs_test_write_file(path_of("arena.json"),
                               "{\"name\":\"arena\",\"history\":{\"keep\":0.9}}");
            json_decref(reload("reloaded"));
        }
    }
    hs_test_http_send(http, "GET", "/v1/rulesets", NULL, 0, NULL, &response);
    ck_assert_ptr_null(strstr(response.body, before));
    hs_test_response_free(&response);
    stop();
}
END_TEST

/* Puts rulesets and opens matches until *stop is true. Meanwhile a reload replaces the rulesets.
   Returns the number of wrong answers. */
static void *use_rulesets(void *context)
{
    atomic_bool *stop = context;
    static const char put[] = "{\"name\":\"arena\",\"history\":{\"keep\":0.8}}";
    static const char opening[] = "{\"ruleset\":\"arena\"}";
    struct hs_test_http *own = hs_test_http_open(service.data_port);
    struct hs_test_response response;
    uintptr_t wrong = 0;
    while (!atomic_load(stop)) {
        hs_test_http_send(own, "PUT", "/v1/rulesets/arena", put, sizeof put - 1, NULL, &response);
        wrong += response.status != 200;
        hs_test_response_free(&response);
        hs_test_http_send(own, "PUT", "/v1/matches/m", opening, sizeof opening - 1, NULL,
                          &response);
        wrong += response.status != 201;
        hs_test_response_free(&response);
        hs_test_http_send(own, "DELETE", "/v1/matches/m", NULL, 0, NULL, &response);
        wrong += response.status != 200;
        hs_test_response_free(&response);
    }
    hs_test_http_close(own);
    return (void *)wrong;
}

START_TEST(requests_go_on_beside_reloads)
{
    atomic_bool done = false;
    pthread_t thread;
    void *wrong;
    hs_test_write_file(path_of("arena.json"), "{\"name\":\"arena\"}");
    const char *const arguments[] = {"--rules", directory, NULL};
    start(arguments);
    ck_assert_int_eq(pthread_create(&thread, NULL, use_rulesets, &done), 0);
    for (int i = 0; i < 20; i++) {
        hs_test_write_file(path_of("arena.json"), i % 3 == 1 ? "{" : "{\"name\":\"arena\"}");
        json_decref(reload(i % 3 == 1 ? REFUSED : "reloaded"));
    }
    atomic_store(&done, true);
    ck_assert_int_eq(pthread_join(thread, &wrong), 0);
    ck_assert_uint_eq((uintptr_t)wrong, 0);
    stop();
}
END_TEST

/* ---- messages to the service manager ---- */

static void expect_message(int fd, const char *expected)
{
    char message[64];
    ssize_t len = recv(fd, message, sizeof message - 1, 0);
    ck_assert_msg(len > 0, "the service never said %s", expected);
    message[len] = '\0';
    ck_assert_str_eq(message, expected);
}

START_TEST(the_service_manager_is_notified)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%.60s/notify", directory);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    struct timeval patience = {.tv_sec = 20};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    if (_i == 1)
        setenv("WATCHDOG_USEC", "200000", 1);
    start(NULL);
    expect_message(fd, "READY=1");
    if (_i == 0) {
        json_decref(reload("reloaded"));
        expect_message(fd, "RELOADING=1");
        expect_message(fd, "READY=1");
    } else {
        expect_message(fd, "WATCHDOG=1");
        expect_message(fd, "WATCHDOG=1");
    }
    stop(); /* stops the service; its messages wait in the socket */
    char message[64] = "";
    while (strcmp(message, "STOPPING=1") != 0) {
        ssize_t len = recv(fd, message, sizeof message - 1, MSG_DONTWAIT);
        ck_assert_int_gt(len, 0);
        message[len] = '\0';
        ck_assert(strcmp(message, _i == 1 ? "WATCHDOG=1" : "") == 0 ||
                  strcmp(message, "STOPPING=1") == 0);
    }
    close(fd);
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reload");
    TCase *tests = tcase_create("SIGHUP");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, rulesets_are_taken_all_or_none);
    tcase_add_test(tests, the_file_is_read_again);
    tcase_add_test(tests, a_broken_file_changes_nothing);
    tcase_add_test(tests, rulesets_without_space_are_refused);
    tcase_add_test(tests, a_running_match_keeps_its_rules);
    tcase_add_test(tests, requests_go_on_beside_reloads);
    tcase_add_loop_test(tests, the_service_manager_is_notified, 0, 2);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
