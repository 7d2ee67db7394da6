/*
 * Fuzzed requests over HTTP to every route, with damaged bodies, paths, header fields and framing.
 * Several requests share a connection, and are sent in pieces or cut off. Each whole request gets
 * one answer that openapi.yaml allows, and no answer is 500. Afterwards the service answers as
 * before and stops without a sanitizer report, and its saved files can be read.
 *
 * HS_HTTP_FUZZ_REQUESTS sets the number of requests. HS_SEED=<printed> repeats a run. With
 * HS_HTTP_FUZZ_VOLLEY=<printed> it repeats one volley without the earlier ones. HS_PROGRAM may be a
 * service with sanitizers, even if this program is built without them.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/http/problem.h"
#include "api/http/routes.h"
#include "tests/integration/http_lane.h"
#include "tests/support/contract/document.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/run_suite.h"

enum {
    LANES = 4,
    DEFAULT_REQUESTS = 4000,
    STATUSES = 600,
    SCHEMA_EVERY = 16,
    MANY = 20000,
    PROGRESS_EVERY = 100000
};

static char directory[] = "/tmp/hindsight_fuzz_XXXXXX";
static char token_file[64], data_directory[64];

static struct hs_test_service service;
static json_t *document;
static const json_t *operations[HS_ROUTE_COUNT];
static uint64_t seed;
static long wanted, answered_with[STATUSES], done_well[HS_ROUTE_COUNT], looked_at;

static struct hs_test_token tokens[] = {
    {.tenant = "acme", .kid = "all", .scopes = "\"admin\""},
    {.tenant = "acme", .kid = "part", .scopes = "\"ingest\",\"verify\",\"rules\""},
    {.tenant = "other", .kid = "all", .scopes = "\"admin\""},
    {.tenant = "acme", .kid = "few", .scopes = "\"verify\""},
    {.tenant = "acme",
     .kid = "old",
     .scopes = "\"admin\"",
     .validity = ",\"not_after\":\"2020-01-01T00:00:00Z\""},
};
enum { TOKENS = sizeof tokens / sizeof tokens[0] };

/* ---- checks of answers ---- */

static const char *check_problem(const struct hs_lane_answer *answer, const json_t *problem)
{
    static const struct {
        const char *name;
        int status;
    } known[] = {
#define X(id, name, status, title) {name, status},
        HS_PROBLEMS(X)
#undef X
    };
    char type[64], id[160] = "";
    const char *code = json_string_value(json_object_get(problem, "code"));
    const char *named = json_string_value(json_object_get(problem, "type"));
    const char *instance = json_string_value(json_object_get(problem, "instance"));
    if (code == NULL || named == NULL || instance == NULL)
        return "a problem without code, type or instance";
    snprintf(type, sizeof type, "urn:hindsight:problem:%s", code);
    hs_lane_header(answer, "X-Request-Id", id, sizeof id);
    if (strcmp(type, named) != 0 || strcmp(instance, id) != 0)
        return "a problem of another type or instance";
    if (json_integer_value(json_object_get(problem, "status")) != answer->status)
        return "a problem of another status";
    for (size_t i = 1; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(code, known[i].name) == 0)
            return known[i].status == answer->status ? NULL : "a code with another's status";
    return "a problem nobody knows";
}

/* Checks that the contract lists the status for the route, or for any path. */
static bool is_listed(int route, int status)
{
    static const int anywhere[] = {400, 404, 405, 411, 415, 503};
    char key[16];
    snprintf(key, sizeof key, "%d", status);
    if (route != HS_NO_ROUTE &&
        json_object_get(json_object_get(operations[route], "responses"), key) != NULL)
        return true;
    for (size_t i = 0; i < sizeof anywhere / sizeof anywhere[0]; i++)
        if (status == anywhere[i])
            return true;
    return route == HS_NO_ROUTE && status < 500;
}

/* Checks the whole body against the contract's schemas, which takes long. */
static const char *check_schema(const struct hs_lane_answer *answer)
{
    static char why[1024];
    struct hs_test_response response = {.status = answer->status,
                                        .body = strndup(answer->body, answer->body_size),
                                        .size = answer->body_size,
                                        .headers = strndup(answer->head, answer->head_size)};
    bool fine = hs_contract_allows(document, operations[answer->to->route], &response, why);
    hs_test_response_free(&response);
    return fine ? NULL : why;
}

static const char *check_whole(const struct hs_lane_answer *answer, const char *type)
{
    char id[160];
    int route = answer->to->route;
    if (!hs_lane_header(answer, "X-Request-Id", id, sizeof id))
        return "an answer without X-Request-Id";
    if (!is_listed(route, answer->status))
        return "a status the contract does not list";
    if (answer->status >= 400 && strcmp(type, "application/problem+json") != 0 &&
        !(answer->status == 404 && route == HS_ROUTE_READYZ))
        return "an error that is no problem document";
    if (answer->status < 300 && route != HS_NO_ROUTE)
        done_well[route]++;
    bool sampled = looked_at++ % SCHEMA_EVERY == 0;
    return sampled && route != HS_NO_ROUTE && !answer->to->head ? check_schema(answer) : NULL;
}

static const char *judge(void *context, const struct hs_lane_answer *answer)
{
    (void)context;
    char type[128] = "";
    if (answer->status < 200 || answer->status >= STATUSES || answer->status == 500)
        return "a fault of the service";
    answered_with[answer->status]++;
    hs_lane_header(answer, "Content-Type", type, sizeof type);
    type[strcspn(type, ";")] = '\0';
    const char *fault = NULL;
    bool is_json = strstr(type, "json") != NULL;
    if (is_json && answer->to != NULL && answer->body_size > 0) {
        json_t *body = json_loadb(answer->body, answer->body_size, 0, NULL);
        if (body == NULL)
            fault = "a body that is not JSON";
        else if (answer->status >= 400)
            fault = check_problem(answer, body);
        json_decref(body);
    }
    if (fault == NULL && answer->to != NULL)
        fault = check_whole(answer, type);
    return fault;
}

/* ---- the run ---- */

/* Fails with a text that names the fault, the seed and the volley. The bytes are printed before
   it. */
static void give_up(const struct hs_lane lanes[], size_t guilty, const char *fault)
{
    char text[1280];
    snprintf(text, sizeof text, "%s; again: HS_SEED=%llu HS_HTTP_FUZZ_VOLLEY=%llu", fault,
             (unsigned long long)seed, (unsigned long long)lanes[guilty].number);
    fprintf(stderr, "%s\n", text);
    hs_lane_print(&lanes[guilty]);
    for (size_t i = 0; i < LANES; i++)
        if (i != guilty && lanes[i].busy) { /* if the service crashed, another lane may have caused
                                               it */
            fprintf(stderr, "at the same time: ");
            hs_lane_print(&lanes[i]);
        }
    ck_abort_msg("%s", text);
}

/* Waits until a lane can continue, and continues all lanes that can. */
static long step_all(struct hs_lane lanes[])
{
    struct pollfd polled[LANES];
    long done = 0;
    for (size_t i = 0; i < LANES; i++) {
        polled[i] = hs_lane_poll(&lanes[i]);
        if (!lanes[i].busy)
            polled[i].fd = -1;
    }
    poll(polled, LANES, 5); /* because some lanes wait for a timeout */
    for (size_t i = 0; i < LANES; i++) {
        if (!lanes[i].busy)
            continue;
        const char *fault = hs_lane_step(&lanes[i], polled[i].revents);
        if (fault != NULL)
            give_up(lanes, i, fault);
        if (!lanes[i].busy)
            done += (long)hs_lane_done(&lanes[i]);
    }
    return done;
}

static bool any_busy(const struct hs_lane lanes[])
{
    for (size_t i = 0; i < LANES; i++)
        if (lanes[i].busy)
            return true;
    return false;
}

static long fuzz(struct hs_request_maker *maker, uint64_t first, long most)
{
    struct hs_lane lanes[LANES];
    uint64_t volley = first;
    long done = 0, begun = 0;
    for (size_t i = 0; i < LANES; i++) /* one of the lanes uses the listener for operators */
        lanes[i] = (struct hs_lane){
            .fd = -1, .port = i == 0 ? service.admin_port : service.data_port, .judge = judge};
    do {
        for (size_t i = 0; i < LANES && begun < most && done < wanted; i++) {
            if (lanes[i].busy)
                continue;
            const char *fault = hs_lane_begin(&lanes[i], maker, seed, volley++);
            if (fault != NULL)
                give_up(lanes, i, fault);
            begun++;
        }
        long before = done / PROGRESS_EVERY;
        done += step_all(lanes);
        if (done / PROGRESS_EVERY > before) {
            printf("%ld requests so far\n", done);
            fflush(stdout);
        }
    } while (any_busy(lanes) || (begun < most && done < wanted));
    for (size_t i = 0; i < LANES; i++) {
        hs_lane_close(&lanes[i]);
        hs_buffer_free(&lanes[i].out);
        hs_buffer_free(&lanes[i].in);
    }
    return done;
}

/* Most requests must pass the checks of header and length, because only then the rest of the
   service is fuzzed, too. */
static void report(long done)
{
    long well = 0;
    printf("%ld requests over HTTP;", done);
    for (int i = 0; i < STATUSES; i++)
        if (answered_with[i] > 0)
            printf(" %d: %ld", i, answered_with[i]);
    printf("\n");
    for (int i = 0; i < HS_ROUTE_COUNT; i++) {
        well += done_well[i];
        printf("%s %s succeeded %ld times\n", hs_method_name(hs_route_method((enum hs_route)i)),
               hs_route_pattern((enum hs_route)i), done_well[i]);
    }
    fflush(stdout);
    for (int i = 0; i < HS_ROUTE_COUNT && done >= MANY; i++)
        ck_assert_msg(done_well[i] > 0, "nothing of %s succeeded",
                      hs_route_pattern((enum hs_route)i));
    ck_assert_int_ge(well, done / 8);
}

static struct hs_test_response ask(struct hs_test_http *http, const char *method, const char *path,
                                   const char *body)
{
    const char *const headers[] = {tokens[0].header, NULL};
    struct hs_test_response answer;
    hs_test_http_send(http, method, path, body, body != NULL ? strlen(body) : 0, headers, &answer);
    return answer;
}

/* Checks that the service works and has counted no internal fault. */
static void assert_sound(void)
{
    struct hs_test_http *data = hs_test_http_open(service.data_port);
    struct hs_test_http *admin = hs_test_http_open(service.admin_port);
    static const struct {
        const char *method, *path, *body, *says;
    } asked[] = {
        {"GET", "/livez", NULL, "alive"},
        {"PUT", "/v1/matches/sound", "{\"ruleset\":\"metres\"}", "\"ruleset\":\"metres\""},
        {"POST", "/v1/matches/sound/frames",
         "{\"frames\":[{\"time\":1,\"players\":[{\"player\":\"bob\",\"position\":[1,2,3]}]}]}",
         "\"stored\":1"},
        {"GET", "/v1/matches/sound/players/bob", NULL, "bob"},
    };
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        struct hs_test_response answer = ask(data, asked[i].method, asked[i].path, asked[i].body);
        ck_assert_msg(asked[i].says == NULL || strstr(answer.body, asked[i].says) != NULL,
                      "%s: %ld %s %s", asked[i].path, answer.status, answer.body, answer.error);
        hs_test_response_free(&answer);
    }
    struct hs_test_response metrics = ask(admin, "GET", "/metrics", NULL);
    ck_assert_int_eq(metrics.status, 200);
    ck_assert_ptr_nonnull(strstr(metrics.body, "hindsight_http_requests_total{"));
    for (const char *at = metrics.body; (at = strstr(at, "code=\"500\"")) != NULL; at++)
        ck_assert_msg(strncmp(at, "code=\"500\"} 0\n", 14) == 0, "answered 500: %.40s", at);
    hs_test_response_free(&metrics);
    hs_test_http_close(data);
    hs_test_http_close(admin);
}

START_TEST(fuzzed_requests_are_answered)
{
    const char *only = getenv("HS_HTTP_FUZZ_VOLLEY");
    const char *authorizations[TOKENS];
    for (size_t i = 0; i < TOKENS; i++)
        authorizations[i] = tokens[i].header;
    for (int i = 0; i < HS_ROUTE_COUNT; i++)
        operations[i] =
            hs_contract_operation(document, hs_method_name(hs_route_method((enum hs_route)i)),
                                  hs_route_pattern((enum hs_route)i));
    struct hs_request_maker *maker =
        hs_request_maker_create(document, authorizations, TOKENS, seed);
    if (only != NULL)
        fuzz(maker, strtoull(only, NULL, 10), 1);
    else
        report(fuzz(maker, 0, wanted));
    hs_request_maker_destroy(maker);
    assert_sound();
}
END_TEST

/* ---- two starts of the service with the same data ---- */

static bool start(void)
{
    const char *const arguments[] = {"--token-file",
                                     token_file,
                                     "--data",
                                     data_directory,
                                     "--checkpoint-seconds",
                                     "1",
                                     "--max-matches",
                                     "24",
                                     "--max-rulesets",
                                     "48",
                                     "--max-maps",
                                     "16",
                                     "--match-idle-seconds",
                                     "3",
                                     "--log-level",
                                     "error",
                                     NULL};
    return hs_test_service_start(&service, arguments);
}

static void remove_all(void)
{
    char command[160];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    if (system(command) != 0)
        fprintf(stderr, "%s is left behind\n", directory);
}

int main(void)
{
    seed = hs_test_seed(20260911);
    wanted = hs_test_count("HS_HTTP_FUZZ_REQUESTS", DEFAULT_REQUESTS);
    printf("seed %llu, %ld requests\n", (unsigned long long)seed, wanted);
    fflush(stdout);
    document = hs_contract_load();
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(token_file, sizeof token_file, "%s/tokens.json", directory);
    snprintf(data_directory, sizeof data_directory, "%s/data", directory);
    hs_test_tokens_write(token_file, tokens, TOKENS);
    Suite *suite = suite_create("http fuzz");
    TCase *requests = tcase_create("requests");
    tcase_set_timeout(requests, 0); /* runs at least the requested number */
    tcase_add_test(requests, fuzzed_requests_are_answered);
    suite_add_tcase(suite, requests);
    bool started = start();
    int failed = started ? hs_run_suite(suite) : 1;
    bool clean = hs_test_service_stop(&service);
    if (failed == 0 && clean)
        clean = start() && hs_test_service_stop(&service);
    json_decref(document);
    remove_all();
    return failed == 0 && clean ? 0 : 1;
}
