/* Limits of the service's input other than time and bytes: connections, items of a batch, nesting.
   A request at each limit is served, and one beyond it is refused. Operators are not affected. */
#include "tests/support/http/raw.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CONNECTIONS = 3, BATCH = 3 };

static struct hs_test_service service; /* started with --max-connections 3 --max-batch 3 */
static struct hs_raw_answer answer;

#define GET_LIVEZ "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"

static int post(const char *where, const char *body)
{
    char request[4096];
    snprintf(request, sizeof request,
             "POST /v1/matches/m/%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
             "Content-Length: %zu\r\n\r\n%s",
             where, strlen(body), body);
    return hs_raw_ask(service.data_port, request, &answer);
}

/* Connections beyond the limit are neither refused nor forgotten. Each waits until another
   connection ends. */
START_TEST(connections)
{
    int held[CONNECTIONS], waiting[2];
    for (int i = 0; i < CONNECTIONS; i++) {
        held[i] = hs_raw_connect(service.data_port);
        ck_assert(hs_raw_send(held[i], GET_LIVEZ, strlen(GET_LIVEZ)));
        hs_raw_read(held[i], false, &answer);
        ck_assert_int_eq(answer.status, 200);
    }
    for (int i = 0; i < 2; i++) {
        waiting[i] = hs_raw_connect(service.data_port);
        ck_assert(hs_raw_send(waiting[i], GET_LIVEZ, strlen(GET_LIVEZ)));
    }
    struct pollfd poller = {.fd = waiting[0], .events = POLLIN};
    ck_assert_int_eq(poll(&poller, 1, 300), 0);
    /* Operators use another listener. */
    ck_assert_int_eq(hs_raw_ask(service.admin_port, GET_LIVEZ, &answer), 200);
    for (int i = 0; i < 2; i++) {
        close(held[i]);
        hs_raw_read(waiting[i], false, &answer);
        ck_assert_int_eq(answer.status, 200);
    }
    close(held[2]);
    close(waiting[0]);
    close(waiting[1]);
}
END_TEST

/* More operators than the max number of data connections can connect at once. */
START_TEST(admin_is_apart)
{
    int fds[4 * CONNECTIONS];
    for (int i = 0; i < 4 * CONNECTIONS; i++) {
        fds[i] = hs_raw_connect(service.admin_port);
        ck_assert(hs_raw_send(fds[i], GET_LIVEZ, strlen(GET_LIVEZ)));
        hs_raw_read(fds[i], false, &answer);
        ck_assert_int_eq(answer.status, 200);
    }
    for (int i = 0; i < 4 * CONNECTIONS; i++)
        close(fds[i]);
}
END_TEST

/* Makes a list with `count` copies of an item. */
static const char *list(const char *name, const char *item, int count)
{
    static char body[2048];
    int size = snprintf(body, sizeof body, "{\"%s\":[", name);
    for (int i = 0; i < count; i++)
        size += snprintf(body + size, sizeof body - (size_t)size, "%s%s", i == 0 ? "" : ",", item);
    snprintf(body + size, sizeof body - (size_t)size, "]}");
    return body;
}

START_TEST(batches)
{
    static const struct {
        const char *list, *item, *pointer;
    } rows[] = {
        {"frames", "{\"time\":1,\"players\":[]}", "\"pointer\":\"/frames\""},
        {"moves", "{\"player\":\"a\",\"client_time\":1,\"received\":1}", "\"pointer\":\"/moves\""},
        {"hits", "{\"shot\":1,\"shooter\":\"a\",\"hit_time\":1,\"start\":[0,0,0],\"end\":[1,0,0]}",
         "\"pointer\":\"/hits\""},
        {"shots",
         "{\"shot\":1,\"shooter\":\"a\",\"time\":1,\"origin\":[0,0,0],\"direction\":[1,0,0]}",
         "\"pointer\":\"/shots\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ck_assert_msg(post(rows[i].list, list(rows[i].list, rows[i].item, BATCH)) == 200, "%s: %s",
                      rows[i].list, answer.body);
        ck_assert_int_eq(post(rows[i].list, list(rows[i].list, rows[i].item, BATCH + 1)), 400);
        ck_assert_msg(strstr(answer.body, rows[i].pointer) != NULL, "%s", answer.body);
        ck_assert_int_eq(post("ticks", list(rows[i].list, rows[i].item, BATCH)), 200);
        ck_assert_int_eq(post("ticks", list(rows[i].list, rows[i].item, BATCH + 1)), 400);
    }
}
END_TEST

/* An ignored member may nest up to the limit. If it nests one level deeper, the service refuses the
   request before it builds a tree of values. */
START_TEST(depth)
{
    for (int beyond = 0; beyond < 2; beyond++) {
        char body[256] = "{\"frames\":[],\"x_deep\":";
        for (int i = 0; i < 15 + beyond; i++)
            strcat(body, "[");
        for (int i = 0; i < 15 + beyond; i++)
            strcat(body, "]");
        strcat(body, "}");
        ck_assert_int_eq(post("frames", body), beyond ? 400 : 200);
    }
    ck_assert_ptr_nonnull(strstr(answer.body, "deeper than 16"));
}
END_TEST

int main(void)
{
    static const char *const arguments[] = {"--max-connections", "3", "--threads", "1",
                                            "--max-batch",       "3", NULL};
    if (!hs_test_service_start(&service, arguments))
        return 1;
    Suite *suite = suite_create("limits");
    TCase *tests = tcase_create("edge");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, connections);
    tcase_add_test(tests, admin_is_apart);
    tcase_add_test(tests, batches);
    tcase_add_test(tests, depth);
    suite_add_tcase(suite, tests);
    int failed = hs_run_suite(suite);
    bool clean = hs_test_service_stop(&service);
    return failed == 0 && clean ? 0 : 1;
}
