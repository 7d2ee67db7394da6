/* Each documented answer of every route can be caused, and has the documented form. The cause is a
   request, a limit, or a state of the process. The last test fails for documented answers that no
   test saw. */
#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/http/routes.h"
#include "tests/integration/provoked.h"
#include "tests/integration/stored.h"
#include "tests/support/clock.h"
#include "tests/support/contract/document.h"
#include "tests/support/contract/schema.h"
#include "tests/support/http/process_states.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/run_suite.h"

/* The limits are small, so that the tests can reach each of them. Bodies have 8192 bytes at most;
   see provoked.h. Only PUT opens a match. */
static const char *const narrow[] = {"--auto-open=false",
                                     "--body-bytes",
                                     "8192",
                                     "--inflight-body-bytes",
                                     "8192",
                                     "--map-body-bytes",
                                     "8192",
                                     "--map-bytes",
                                     "200000",
                                     "--request-seconds",
                                     "1",
                                     "--max-matches",
                                     "3",
                                     NULL};

static struct hs_test_service service, guarded, limited;
static json_t *document;

/* Each scope is missing in one of these two tokens. */
static struct hs_test_token tokens[] = {
    {.tenant = "acme", .kid = "a", .scopes = "\"ingest\""},
    {.tenant = "acme", .kid = "b", .scopes = "\"rules\""},
};

static char token_file[] = "/tmp/hindsight_tokens_XXXXXX";

static const struct hs_raw_answer *ask(const struct hs_test_service *of, size_t route,
                                       const struct hs_refusal_message *message)
{
    return hs_refusal_receive(hs_refusal_send(hs_refusal_port(of, route), message));
}

static bool is_health(size_t route)
{
    return route == HS_ROUTE_LIVEZ || route == HS_ROUTE_READYZ;
}

static bool lists(size_t route, const char *status)
{
    const json_t *operation = hs_refusal_operation(document, route);
    return json_object_get(json_object_get(operation, "responses"), status) != NULL;
}

/* ---- errors ---- */

static const struct hs_raw_answer *send_for(size_t route, int status,
                                            const struct hs_refusal_message *message)
{
    if (status == 401 || status == 403)
        return hs_refusal_receive(hs_refusal_send(hs_refusal_port(&guarded, route), message));
    if (status == 429)
        return hs_provoke_often(hs_refusal_port(&limited, route), message);
    if (status == 503 && hs_refusal_takes_body(route))
        return hs_provoke_crowded(hs_refusal_port(&service, route), route, message);
    return ask(&service, route, message);
}

/* Returns whether only replicas that share matches give an answer. test_shared_matches.c provokes
   it. */
static bool needs_replicas(size_t route, int status)
{
    return status == 409 && strncmp(hs_refusal_pattern(route), "/v1/matches/", 12) == 0 &&
           strcmp(hs_refusal_method(route), "PUT") != 0;
}

START_TEST(documented_errors_can_be_provoked)
{
    size_t route = (size_t)_i, provoked = 0, listed = 0;
    const json_t *operation = hs_refusal_operation(document, route);
    const char *key;
    json_t *response;
    json_object_foreach(json_object_get(operation, "responses"), key, response)
    {
        int status = atoi(key);
        char body[256] = "", what[512];
        if (status < 400 || status == 408 || needs_replicas(route, status))
            continue;
        listed++;
        if (hs_refusal_takes_body(route))
            hs_refusal_smallest_body(document, route, body, sizeof body);
        struct hs_refusal_message message = {.method = hs_refusal_method(route), .body = body};
        message.headers = hs_refusal_takes_body(route) ? JSON_TYPE : "";
        hs_refusal_path(route, "open", message.path);
        if (!hs_provoke(route, status, tokens, &message))
            continue;
        provoked++;
        message.size = message.unsized ? 0 : strlen(message.body);
        snprintf(what, sizeof what, "%s", message.path);
        hs_refusal_expect(document, route, send_for(route, status, &message), status, what);
    }
    /* the 404 and 503 of health routes depend on the process, not on a request */
    ck_assert_uint_eq(provoked, is_health(route) ? 0 : listed);
}
END_TEST

/* The `default` answers: a wrong method, or a body or an encoding that the route does not take. */
START_TEST(problems_of_any_path_are_documented)
{
    size_t route = (size_t)_i;
    const json_t *path =
        json_object_get(json_object_get(document, "paths"), hs_refusal_pattern(route));
    char allow[300], value[256], wanted[16];
    struct hs_refusal_message message = {
        .method = "PATCH", .headers = JSON_TYPE, .body = "{}", .size = 2};
    hs_refusal_path(route, "open", message.path);
    hs_refusal_expect(document, route, ask(&service, route, &message), 405, message.path);

    const struct hs_raw_answer *raw = ask(&service, route, &message);
    snprintf(allow, sizeof allow, ", %s,", hs_raw_header(raw, "Allow", value));
    const char *method;
    json_t *other;
    size_t methods = 0;
    json_object_foreach((json_t *)(uintptr_t)path, method, other)
    {
        if (strcmp(method, "parameters") == 0)
            continue;
        snprintf(wanted, sizeof wanted, ", %s,", method);
        for (char *c = wanted; *c != '\0'; c++)
            *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        ck_assert_msg(strstr(allow, wanted) != NULL, "%s: Allow is %s", message.path, value);
        methods += strcmp(method, "get") == 0 ? 2 : 1; /* GET counts for HEAD, too */
    }
    for (const char *c = allow; *c != '\0'; c++)
        methods -= *c == ',' && c != allow;
    ck_assert_uint_eq(methods, 0);

    if (hs_refusal_takes_body(route))
        return;
    message.method = hs_refusal_method(route);
    hs_refusal_expect(document, route, ask(&service, route, &message), 400,
                      "a body where none belongs");
    message = (struct hs_refusal_message){.method = hs_refusal_method(route),
                                          .headers = "Content-Encoding: gzip\r\n"};
    hs_refusal_path(route, "open", message.path);
    hs_refusal_expect(document, route, ask(&service, route, &message), 415, "an encoding");
    message.headers = "Transfer-Encoding: chunked\r\n";
    message.unsized = true;
    hs_refusal_expect(document, route, ask(&service, route, &message), 411, "chunks");
}
END_TEST

START_TEST(slow_bodies_time_out)
{
    int sockets[HS_ROUTE_COUNT];
    for (size_t i = 0; i < HS_ROUTE_COUNT; i++) {
        struct hs_refusal_message message = {.method = hs_refusal_method(i),
                                             .headers = JSON_TYPE,
                                             .body = "{",
                                             .size = 1,
                                             .claimed_length = 10};
        hs_refusal_path(i, "open", message.path);
        ck_assert_int_eq(lists(i, "408"), hs_refusal_takes_body(i));
        sockets[i] = lists(i, "408") ? hs_refusal_send(hs_refusal_port(&service, i), &message) : -1;
    }
    for (size_t i = 0; i < HS_ROUTE_COUNT; i++)
        if (sockets[i] >= 0)
            hs_refusal_expect(document, i, hs_refusal_receive(sockets[i]), 408, "a slow body");
}
END_TEST

/* ---- the same cause on every route ---- */

/* Returns the status of a request that waited too long. Requests for health, metrics and the
   contract are never refused because of a wait. */
static int status_when_late(size_t route)
{
    return lists(route, "503") && !is_health(route) ? 503 : 200;
}

/* Every file of the console is always there; other names need not exist. */
static const char *name_for(size_t route, const char *name)
{
    return route == HS_ROUTE_CONSOLE_FILE ? "main.js" : name;
}

/* All requests wait in their sockets while the process is stopped for much longer than they may
   wait. The first request of each listener is served, because it waits behind no other. */
START_TEST(late_requests_of_every_route)
{
    static const char *const briefly[] = {"--queue-ms", "50", "--threads", "1", NULL};
    struct hs_test_service late;
    struct hs_refusal_message first;
    int sockets[HS_ROUTE_COUNT], served[2], stopped = 0;
    ck_assert(hs_test_service_start(&late, briefly));
    kill(late.pid, SIGSTOP);
    ck_assert_int_eq(waitpid(late.pid, &stopped, WUNTRACED), late.pid);
    hs_refusal_any(HS_ROUTE_MATCH_LIST, "late", &first);
    served[0] = hs_refusal_send(hs_refusal_port(&late, HS_ROUTE_MATCH_LIST), &first);
    served[1] = hs_refusal_send(hs_refusal_port(&late, HS_ROUTE_METRICS), &first);
    for (size_t i = 0; i < HS_ROUTE_COUNT; i++) {
        struct hs_refusal_message message;
        hs_refusal_any(i, name_for(i, "late"), &message);
        sockets[i] = hs_refusal_send(hs_refusal_port(&late, i), &message);
    }
    hs_test_pause_ms(900);
    kill(late.pid, SIGCONT);
    ck_assert_int_eq(hs_refusal_receive(served[0])->status, 200);
    ck_assert_int_eq(hs_refusal_receive(served[1])->status, 200);
    for (size_t i = 0; i < HS_ROUTE_COUNT; i++)
        hs_refusal_expect(document, i, hs_refusal_receive(sockets[i]), status_when_late(i),
                          hs_refusal_pattern(i));
    ck_assert(hs_test_service_stop(&late));
}
END_TEST

START_TEST(deadlines_of_every_route)
{
    struct hs_refusal_message message;
    char headers[128];
    hs_refusal_any((size_t)_i, name_for((size_t)_i, "open"), &message);
    snprintf(headers, sizeof headers, "%sX-Deadline-Ms: 0\r\n", message.headers);
    message.headers = headers;
    hs_refusal_expect(document, (size_t)_i, ask(&service, (size_t)_i, &message),
                      status_when_late((size_t)_i), message.path);
}
END_TEST

/* Sends requests with new names until the table is full. The first PUT must get `first`, and later
   PUTs must fail. */
static void fill(const struct hs_test_service *of, size_t route, const char *body, int first)
{
    struct hs_refusal_message message = {.method = "PUT", .headers = JSON_TYPE, .body = body};
    message.size = strlen(body);
    const struct hs_raw_answer *raw = NULL;
    for (int i = 0; i < 8 && (raw == NULL || raw->status != 503); i++) {
        char name[16];
        snprintf(name, sizeof name, "fill-%d", i);
        hs_refusal_path(route, name, message.path);
        raw = ask(of, route, &message);
        if (i == 0 || raw->status != 503)
            hs_refusal_expect(document, route, raw, first, message.path);
    }
    hs_refusal_expect(document, route, raw, 503, message.path);
}

static void expect_no_opening(const struct hs_test_service *of)
{
    static const enum hs_route posts[] = {HS_ROUTE_FRAMES_POST, HS_ROUTE_MOVES_POST,
                                          HS_ROUTE_SHOTS_POST, HS_ROUTE_HITS_POST,
                                          HS_ROUTE_TICKS_POST};
    for (size_t i = 0; i < sizeof posts / sizeof posts[0]; i++) {
        char body[256];
        struct hs_refusal_message message;
        hs_refusal_any(posts[i], "one-too-many", &message);
        hs_refusal_smallest_body(document, posts[i], body, sizeof body);
        message.body = body;
        message.size = strlen(body);
        hs_refusal_expect(document, posts[i], ask(of, posts[i], &message), 503, message.path);
    }
}

#define BOX "{\"boxes\":[{\"min\":[0,0,0],\"max\":[1,1,1]}]}"

/* Every route answers as documented if a table is full, or if the memory for histories or for maps
   is full. */
START_TEST(no_capacity_is_left)
{
    static const char *const narrowest[] = {
        "--max-matches", "1", "--max-rulesets", "8", "--max-maps", "1", NULL};
    static const char *const no_memory[] = {"--history-bytes", "2000", "--map-bytes", "1500000",
                                            NULL};
    static char triangles[16384] = "{\"vertices\":[[0,0,0],[1,0,0],[0,1,0]],\"triangles\":[[0,1,2]";
    struct hs_test_service full;
    ck_assert(hs_test_service_start(&full, narrowest));
    fill(&full, HS_ROUTE_MATCH_PUT, "{}", 201);
    expect_no_opening(&full);
    fill(&full, HS_ROUTE_RULESET_PUT, "{}", 201);
    fill(&full, HS_ROUTE_MAP_PUT, BOX, 201);
    ck_assert(hs_test_service_stop(&full));

    size_t len = strlen(triangles);
    while (len + 16 < sizeof triangles)
        len += (size_t)snprintf(triangles + len, 16, ",[0,1,2]");
    snprintf(triangles + len, sizeof triangles - len, "]}");
    ck_assert(hs_test_service_start(&full, no_memory));
    fill(&full, HS_ROUTE_MATCH_PUT, "{}", 201);
    expect_no_opening(&full);
    fill(&full, HS_ROUTE_MAP_PUT, triangles, 201);
    ck_assert(hs_test_service_stop(&full));
}
END_TEST

/* ---- answers without an error ---- */

static const struct {
    enum hs_route route;
    const char *name, *body; /* NULL: the smallest body, if the route needs a body */
    int status;
} fine[] = {
    {HS_ROUTE_CONTRACT, "", NULL, 200},
    {HS_ROUTE_LIVEZ, "", NULL, 200},
    {HS_ROUTE_READYZ, "", NULL, 200},
    {HS_ROUTE_METRICS, "", NULL, 200},
    {HS_ROUTE_EVENTS, "", NULL, 200},
    {HS_ROUTE_RULESET_PUT, "fine", "{}", 201},
    {HS_ROUTE_RULESET_PUT, "fine", "{}", 200},
    {HS_ROUTE_RULESET_GET, "fine", NULL, 200},
    {HS_ROUTE_RULESET_LIST, "", NULL, 200},
    {HS_ROUTE_MAP_PUT, "fine", BOX, 201},
    {HS_ROUTE_MAP_PUT, "fine", BOX, 200},
    {HS_ROUTE_MAP_GET, "fine", NULL, 200},
    {HS_ROUTE_MAP_DELETE, "fine", NULL, 204},
    {HS_ROUTE_MATCH_PUT, "fine", "{\"ruleset\":\"fine\"}", 201},
    {HS_ROUTE_MATCH_PUT, "fine", "{\"ruleset\":\"fine\"}", 200},
    {HS_ROUTE_MATCH_GET, "fine", NULL, 200},
    {HS_ROUTE_MATCH_LIST, "", NULL, 200},
    {HS_ROUTE_FRAMES_POST, "fine",
     "{\"frames\":[{\"time\":1,\"players\":[{\"player\":\"fine\",\"position\":[0,0,0]}]}]}", 200},
    {HS_ROUTE_PLAYER_GET, "fine", NULL, 200},
    {HS_ROUTE_MOVES_POST, "fine", NULL, 200},
    {HS_ROUTE_SHOTS_POST, "fine", NULL, 200},
    {HS_ROUTE_HITS_POST, "fine", NULL, 200},
    {HS_ROUTE_TICKS_POST, "fine", NULL, 200},
    {HS_ROUTE_MATCH_DELETE, "fine", NULL, 200},
    {HS_ROUTE_RULESET_DELETE, "fine", NULL, 204},
};

START_TEST(documented_successes_can_be_provoked)
{
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        char body[256];
        struct hs_refusal_message message;
        hs_refusal_any(fine[i].route, fine[i].name, &message);
        if (hs_refusal_takes_body(fine[i].route)) {
            if (fine[i].body == NULL)
                hs_refusal_smallest_body(document, fine[i].route, body, sizeof body);
            message.body = fine[i].body != NULL ? fine[i].body : body;
            message.size = strlen(message.body);
        }
        hs_refusal_expect(document, fine[i].route, ask(&service, fine[i].route, &message),
                          fine[i].status, message.path);
    }
}
END_TEST

/* A request that names the hash of the newest file gets 304. */
START_TEST(documented_successes_of_the_console)
{
    static const enum hs_route routes[] = {HS_ROUTE_CONSOLE, HS_ROUTE_CONSOLE_FILE};
    struct hs_refusal_message message;
    char hash[256], header[320];
    for (size_t i = 0; i < 2; i++) {
        hs_refusal_any(routes[i], "main.js", &message);
        const struct hs_raw_answer *raw = ask(&service, routes[i], &message);
        hs_refusal_expect(document, routes[i], raw, 200, message.path);
        snprintf(header, sizeof header, "If-None-Match: %s\r\n", hs_raw_header(raw, "ETag", hash));
        message.headers = header;
        hs_refusal_expect(document, routes[i], ask(&service, routes[i], &message), 304,
                          message.path);
    }
}
END_TEST

/* The routes of stored verdicts, on a service that stores them. */
START_TEST(documented_successes_of_evidence)
{
    static const struct {
        enum hs_route route;
        int status;
    } stored[] = {{HS_ROUTE_VERDICT_LIST, 200},  {HS_ROUTE_VERDICT_GET, 200},
                  {HS_ROUTE_VERDICT_SCENE, 200}, {HS_ROUTE_WHAT_IF, 200},
                  {HS_ROUTE_REVIEW_POST, 201},   {HS_ROUTE_REVIEW_LIST, 200},
                  {HS_ROUTE_SUMMARY_LIST, 200},  {HS_ROUTE_PRECISION, 200},
                  {HS_ROUTE_PLAYER_REPORT, 200}, {HS_ROUTE_PLAYER_ERASE, 200}};
    struct hs_test_kept kept;
    char id[HS_STORED_ID], body[256];
    hs_kept_setup(&kept);
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    for (size_t i = 0; i < sizeof stored / sizeof stored[0]; i++) {
        struct hs_refusal_message message;
        bool is_player = strstr(hs_refusal_pattern(stored[i].route), "players") != NULL;
        hs_refusal_any(stored[i].route, is_player ? "s" : id, &message);
        if (hs_refusal_takes_body(stored[i].route)) {
            hs_refusal_smallest_body(document, stored[i].route, body, sizeof body);
            message.body = body;
            message.size = strlen(body);
        }
        hs_refusal_expect(document, stored[i].route, ask(&kept.service, stored[i].route, &message),
                          stored[i].status, message.path);
    }
    hs_kept_stop(&kept);
    hs_kept_teardown(&kept);
}
END_TEST

/* ---- the process as a whole ---- */

START_TEST(states_of_the_process)
{
    static const struct {
        enum hs_route route;
        int status;
        const char *word;
        bool (*make)(struct hs_raw_answer *);
    } states[] = {
        {HS_ROUTE_READYZ, 404, "draining", hs_state_draining},
        {HS_ROUTE_READYZ, 503, "starting", hs_state_starting},
        {HS_ROUTE_LIVEZ, 503, "stuck", hs_state_stuck},
    };
    static struct hs_raw_answer answer;
    char value[256];
    ck_assert(states[_i].make(&answer));
    hs_refusal_expect(document, states[_i].route, &answer, states[_i].status, states[_i].word);
    ck_assert_str_eq(hs_raw_member(&answer, "status", value), states[_i].word);
}
END_TEST

/* ---- documented answers that never occur ---- */

/* Each documented answer of a route was seen by one of the tests above, in this run. */
START_TEST(every_listed_answer_was_seen)
{
    const json_t *operation = hs_refusal_operation(document, (size_t)_i);
    const char *key;
    json_t *response;
    size_t listed = 0;
    json_object_foreach(json_object_get(operation, "responses"), key, response)
    {
        if (strcmp(key, "default") == 0 || needs_replicas((size_t)_i, atoi(key)))
            continue;
        listed++;
        ck_assert_msg(hs_refusal_was_seen((size_t)_i, atoi(key)), "%s %s never answered %s",
                      hs_refusal_method((size_t)_i), hs_refusal_pattern((size_t)_i), key);
    }
    ck_assert_uint_ge(listed, 1);
    ck_assert(lists((size_t)_i, "default"));
}
END_TEST

static bool open_match(void)
{
    long status;
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    json_decref(hs_test_http_json(http, "PUT", "/v1/rulesets/open", json_object(), NULL));
    json_decref(hs_test_http_json(http, "PUT", "/v1/matches/its",
                                  json_pack("{s:s}", "ruleset", "open"), NULL));
    json_decref(hs_test_http_json(http, "PUT", "/v1/matches/open",
                                  json_pack("{s:s}", "ruleset", "metres"), &status));
    hs_test_http_close(http);
    return status == 201;
}

static Suite *errors_suite(void)
{
    Suite *suite = suite_create("contract errors");
    TCase *routed = tcase_create("routes");
    tcase_set_timeout(routed, 60);
    tcase_add_loop_test(routed, documented_errors_can_be_provoked, 0, HS_ROUTE_COUNT);
    tcase_add_loop_test(routed, problems_of_any_path_are_documented, 0, HS_ROUTE_COUNT);
    tcase_add_loop_test(routed, deadlines_of_every_route, 0, HS_ROUTE_COUNT);
    tcase_add_test(routed, late_requests_of_every_route);
    tcase_add_test(routed, slow_bodies_time_out);
    tcase_add_test(routed, no_capacity_is_left);
    tcase_add_test(routed, documented_successes_can_be_provoked);
    tcase_add_test(routed, documented_successes_of_the_console);
    tcase_add_test(routed, documented_successes_of_evidence);
    suite_add_tcase(suite, routed);
    TCase *process = tcase_create("process");
    tcase_set_timeout(process, 120);
    tcase_add_loop_test(process, states_of_the_process, 0, 3);
    suite_add_tcase(suite, process);
    TCase *all = tcase_create("all"); /* must be last, because it needs the results of the others */
    tcase_add_loop_test(all, every_listed_answer_was_seen, 0, HS_ROUTE_COUNT);
    suite_add_tcase(suite, all);
    return suite;
}

int main(void)
{
    static const char *const slow[] = {"--tenant-rate", "1", "--tenant-burst", "1", NULL};
    const char *const guards[] = {"--token-file", token_file, NULL};
    document = hs_contract_load();
    if (!hs_refusal_init())
        return 1;
    int fd = mkstemp(token_file);
    if (fd < 0)
        return 1;
    close(fd);
    hs_test_tokens_write(token_file, tokens, sizeof tokens / sizeof tokens[0]);
    if (!hs_test_service_start(&service, narrow) || !open_match() ||
        !hs_test_service_start(&guarded, guards) || !hs_test_service_start(&limited, slow))
        return 1;
    int failed = hs_run_suite(errors_suite());
    bool clean = hs_test_service_stop(&service);
    clean = hs_test_service_stop(&guarded) && clean;
    clean = hs_test_service_stop(&limited) && clean;
    unlink(token_file);
    json_decref(document);
    return failed == 0 && clean ? 0 : 1;
}
