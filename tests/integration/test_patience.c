/* `hindsight play` against services that refuse requests for some time. The program waits as the
   answers say and gets the same result. Or it gives up after a limited time, and prints the reason
   of the last answer. */
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TICKS = 25, CLAIMS = (TICKS - 1) / 3 };

static struct hs_test_service service; /* the service that answers everything */
static struct hs_test_service strict;  /* the service that accepts one request per 20 ms, without a
                                          burst */
static char folder[64];

static const char *write_text(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    hs_test_write_file(path, text);
    return path;
}

/* Writes a recording in which ben stands in the open, and ann shoots every 150 ms, sometimes a
   metre beside ben. */
static const char *write_recording(void)
{
    char text[8192];
    int len = snprintf(text, sizeof text,
                       "{\"format\":\"hindsight-stream\",\"version\":2}\n"
                       "{\"open\":\"patience\",\"ruleset\":\"metres\"}\n");
    for (int i = 0; i < TICKS; i++) {
        double now = 0.05 * i;
        len += snprintf(text + len, sizeof text - (size_t)len,
                        "{\"match\":\"patience\",\"request\":\"ticks\",\"body\":{\"now\":%g,"
                        "\"frames\":[{\"time\":%g,\"players\":[{\"player\":\"ann\",\"position\":[0,"
                        "0,0],\"weapon\":"
                        "\"rifle\"},{\"player\":\"ben\",\"position\":[20,0,0]}]}]",
                        now, now);
        if (i > 0 && i % 3 == 0)
            len += snprintf(text + len, sizeof text - (size_t)len,
                            ",\"hits\":[{\"shot\":%d,\"shooter\":\"ann\",\"hit_time\":%g,"
                            "\"fire_time\":%g,\"start\":[0,0,1.6],\"end\":[20,%d,1.1],"
                            "\"target\":\"ben\"}]},\"who\":\"honest\",\"truth\":\"%s\"}\n",
                            i, now - 0.1, now, i % 2, i % 2 == 1 ? "miss" : "hit");
        else
            len += snprintf(text + len, sizeof text - (size_t)len, "}}\n");
    }
    ck_assert_int_lt(len, (int)sizeof text);
    return write_text("patience.jsonl", text);
}

/* Plays a recording. Returns the result as JSON without the measured times. The caller releases
   it. */
static json_t *play(unsigned port, const char *path)
{
    struct hs_test_run result;
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%u", port);
    HS_TEST_RUN(&result, "play", path, "--url", url, "--json");
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    ck_assert_str_eq(result.err, "");
    json_t *object = json_loads(result.out, 0, NULL);
    ck_assert_ptr_nonnull(object);
    json_t *requests = json_object_get(object, "requests");
    ck_assert_int_eq(json_integer_value(json_object_get(requests, "count")), TICKS);
    json_object_del(requests, "p50_ms");
    json_object_del(requests, "p99_ms");
    json_object_del(requests, "max_ms");
    return object;
}

START_TEST(a_slower_service_gives_the_same)
{
    const char *path = write_recording();
    json_t *free_run = play(service.data_port, path);
    double began = hs_test_seconds();
    json_t *held_back = play(strict.data_port, path);
    double took = hs_test_seconds() - began;
    ck_assert_int_eq(json_integer_value(json_object_get(free_run, "claims")), CLAIMS);
    ck_assert_int_gt(json_integer_value(json_object_get(free_run, "accepted")), 0);
    ck_assert_int_gt(json_integer_value(json_object_get(free_run, "rejected")), 0);
    ck_assert(json_equal(free_run, held_back));
    ck_assert_msg(took >= 0.02 * (TICKS - 1), "played in %g s", took);
    json_decref(free_run);
    json_decref(held_back);
}
END_TEST

/* ---- a service with prepared answers ---- */

#define BUSY(header, body) "HTTP/1.1 503 Service Unavailable\r\n" header "|" body
#define OPENED             "HTTP/1.1 201 Created\r\n|{}"
#define WRONG              "HTTP/1.1 400 Bad Request\r\n|{\"title\":\"That is wrong\"}"

/* Each text is a reply: header lines, a bar, the body. The last reply is repeated. NULL ends the
   list. */
struct replies {
    const char *each[4];
};

static void answer_one(int fd, const char *reply)
{
    char request[8192], text[1024];
    size_t size = 0, wanted = sizeof request - 1;
    ssize_t got;
    while (size < wanted && (got = recv(fd, request + size, wanted - size, 0)) > 0) {
        size += (size_t)got;
        request[size] = '\0';
        const char *end = strstr(request, "\r\n\r\n");
        const char *length = strstr(request, "Content-Length: ");
        if (end != NULL)
            wanted =
                (size_t)(end + 4 - request) + (length != NULL ? strtoul(length + 16, NULL, 10) : 0);
    }
    const char *bar = strchr(reply, '|');
    int len = snprintf(text, sizeof text, "%.*sConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
                       (int)(bar - reply), reply, strlen(bar + 1), bar + 1);
    if (send(fd, text, (size_t)len, MSG_NOSIGNAL) < 0) {
        /* Then the program reports that it got no answer. */
    }
    close(fd);
}

/* Starts a process that sends the replies. It ends with this process. Returns its port. */
static unsigned start_answering(const struct replies *replies, pid_t *pid)
{
    unsigned port;
    int listener = hs_raw_reserve(&port);
    ck_assert_int_ge(listener, 0);
    ck_assert_int_eq(listen(listener, 16), 0);
    *pid = fork();
    ck_assert_int_ge(*pid, 0);
    if (*pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (size_t i = 0;; i += replies->each[i + 1] != NULL)
            answer_one(accept(listener, NULL, NULL), replies->each[i]);
    }
    close(listener);
    return port;
}

static double play_against(const struct replies *replies, const char *path,
                           struct hs_test_run *result)
{
    char url[64];
    pid_t pid;
    snprintf(url, sizeof url, "http://127.0.0.1:%u", start_answering(replies, &pid));
    double began = hs_test_seconds();
    HS_TEST_RUN(result, "play", path, "--url", url);
    double took = hs_test_seconds() - began;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return took;
}

static const struct {
    struct replies replies;
    double at_least, at_most; /* seconds */
    const char *said;
} given_up[] = {
    /* The requested wait is longer than the program ever waits. */
    {{{BUSY("Retry-After: 3600\r\n", "{\"title\":\"Full\"}"), NULL}},
     0,
     10,
     "503 Full (sent 1 time; the service asks to wait another 3600 s)"},
    /* The service always gives this answer. The time in its body is more exact than in its
       header. */
    {{{BUSY("Retry-After: 1\r\n", "{\"title\":\"Full\",\"retry_after_ms\":2}"), NULL}},
     0.2,
     30,
     "503 Full (sent 101 times; the service asks to wait another 0.002 s)"},
    /* If the answer has no retry time, the program gives up at once. */
    {{{BUSY("", "{\"title\":\"Broken\"}"), NULL}}, 0, 10, "503 Broken\n"},
    /* Proxies in front of the service send only the header field. */
    {{{BUSY("Retry-After: 1\r\n", "busy"), WRONG, NULL}}, 1, 20, "400 That is wrong\n"},
};

START_TEST(play_gives_up_and_prints_why)
{
    struct hs_test_run result;
    double took = play_against(&given_up[_i].replies, write_recording(), &result);
    ck_assert_int_eq(result.code, 1);
    ck_assert_msg(strstr(result.err, given_up[_i].said) != NULL, "%s", result.err);
    ck_assert_ptr_nonnull(strstr(result.err, "refused PUT /v1/matches/patience"));
    ck_assert_msg(took >= given_up[_i].at_least && took < given_up[_i].at_most, "it took %g s",
                  took);
}
END_TEST

/* If a recording expects a refusal, the program does not wait. */
START_TEST(refusals_that_are_expected_are_taken)
{
    static const struct replies replies = {
        {OPENED, BUSY("Retry-After: 1\r\n", "{\"code\":\"overloaded\"}"), OPENED, NULL}};
    struct hs_test_run result;
    const char *path = write_text(
        "expected.jsonl", "{\"format\":\"hindsight-stream\",\"version\":2}\n"
                          "{\"open\":\"expected\",\"ruleset\":\"metres\"}\n"
                          "{\"match\":\"expected\",\"request\":\"frames\",\"body\":{\"frames\":[]},"
                          "\"expect\":{\"status\":503,\"code\":\"overloaded\"}}\n");
    play_against(&replies, path, &result);
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
}
END_TEST

int main(void)
{
    static const char *const slow[] = {"--tenant-rate", "50", "--tenant-burst", "1", NULL};
    strcpy(folder, "/tmp/hs-patience-XXXXXX");
    if (!hs_test_service_start(&service, NULL) || !hs_test_service_start(&strict, slow) ||
        mkdtemp(folder) == NULL)
        return 1;
    Suite *suite = suite_create("patience");
    TCase *tests = tcase_create("refused for now");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_slower_service_gives_the_same);
    tcase_add_loop_test(tests, play_gives_up_and_prints_why, 0,
                        (int)(sizeof given_up / sizeof given_up[0]));
    tcase_add_test(tests, refusals_that_are_expected_are_taken);
    suite_add_tcase(suite, tests);
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    clean = hs_test_service_stop(&strict) && clean;
    static const char *const files[] = {"patience.jsonl", "expected.jsonl"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
    return failed == 0 && clean ? 0 : 1;
}
