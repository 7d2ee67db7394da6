/*
 * Many connections do everything at once. They post frames, moves, shots, hits and ticks to shared
 * matches. They open and end matches, replace rulesets and maps, and read metrics. Meanwhile the
 * service reads its configuration again and writes checkpoints. Some tenants exceed their rate, and
 * some requests have no time left or no token. SIGTERM comes in the middle. Every answer must be
 * one that can occur, and the process must end with 0. The next process must know exactly the
 * answered requests: each hit is paid once, and none is lost. The test also runs with
 * SANITIZE=thread. HS_STORM_SECONDS sets the duration.
 */
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GAMES = 2, SHOOTERS = 3, TICK_US = 10000, DAMAGE = 20, CLAIMS = 2, BODY = 2048 };

static char directory[64], data_path[96], token_path[96], rules_path[96];
static struct hs_test_service service;
static atomic_bool leaving; /* SIGTERM was sent, so connections may close */

static struct hs_test_token tokens[] = {
    {.tenant = "red", .kid = "a", .scopes = "\"ingest\",\"verify\""},
    {.tenant = "green", .kid = "a", .scopes = "\"ingest\",\"verify\""},
    {.tenant = "blue", .kid = "a", .scopes = "\"ingest\",\"verify\",\"rules\""},
    {.tenant = "greedy", .kid = "a", .scopes = "\"ingest\""},
    {.tenant = "operator", .kid = "a", .scopes = "\"admin\""},
    {.tenant = "greedy", .kid = "b", .scopes = "\"ingest\""}, /* added and removed by the test */
};
enum { TOKENS = sizeof tokens / sizeof tokens[0], BLUE = 2, GREEDY = 3, OPERATOR = 4 };

/* A game: the data that all threads share which write to the same match. */
struct game {
    const char *match;
    atomic_int tick;   /* newest answered frame */
    atomic_int number; /* number of the next claim of the game's only shooter */
    const char *token;
};

/* Sums of the first answers to claims of one shooter. */
struct paid {
    double damage;
    long accepted, rejected, inconclusive, replayed;
};

struct client {
    pthread_t thread;
    void (*act)(struct client *client, int round);
    struct hs_test_http *http;
    const char *token;
    struct game *game; /* the game of a thread that posts frames or claims */
    struct hs_random random;
    struct paid paid;
    char doubtful[BODY]; /* body with claims that got no answer */
    long answers, refused;
    char fault[512]; /* empty if there is no fault */
};

static void pause_us(long us)
{
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

/* ---- requests ---- */

/* Sends a request. A status is a fault unless `allowed` (such as " 200 201 ") contains it, or
   unless it refuses the request for lack of space or time. The caller frees the answer. */
static long send_as(struct client *client, const char *method, const char *path, const char *body,
                    const char *const *headers, const char *allowed,
                    struct hs_test_response *response)
{
    char spaced[16];
    hs_test_http_send(client->http, method, path, body, body != NULL ? strlen(body) : 0, headers,
                      response);
    bool refused = response->status == 429 || response->status == 503;
    client->answers += response->status != 0;
    client->refused += refused;
    snprintf(spaced, sizeof spaced, " %ld ", response->status);
    bool fine =
        response->status == 0 ? atomic_load(&leaving) : refused || strstr(allowed, spaced) != NULL;
    if (refused && strstr(response->body, "\"retry_after_ms\":") == NULL)
        fine = false;
    if (!fine && client->fault[0] == '\0')
        snprintf(client->fault, sizeof client->fault, "%s %s: %ld %.300s%.60s", method, path,
                 response->status, response->body, response->error);
    return response->status;
}

static long ask(struct client *client, const char *method, const char *path, const char *body,
                const char *allowed)
{
    const char *const headers[] = {client->token, NULL};
    struct hs_test_response response;
    long status = send_as(client, method, path, body, headers, allowed, &response);
    hs_test_response_free(&response);
    return status;
}

/* ---- games ---- */

static double time_of(int tick)
{
    return 100 + tick * (TICK_US * 1e-6);
}

/* Posts frames and moves. The target stands still, so a claim gets the same verdict at any time. */
static void feed(struct client *client, int round)
{
    struct game *game = client->game;
    char path[64], body[BODY];
    double time = time_of(round + 1);
    snprintf(path, sizeof path, "/v1/matches/%s/frames", game->match);
    snprintf(body, sizeof body,
             "{\"frames\":[{\"time\":%.6f,\"players\":[{\"player\":\"s\",\"position\":[0,0,0],"
             "\"weapon\":\"rifle\"},{\"player\":\"t\",\"position\":[10,0,0]}]}]}",
             time);
    if (ask(client, "POST", path, body, " 200 ") == 200)
        atomic_store(&game->tick, round + 1);
    snprintf(path, sizeof path, "/v1/matches/%s/moves", game->match);
    snprintf(body, sizeof body,
             "{\"moves\":[{\"player\":\"s\",\"seq\":%d,\"client_time\":%.6f,\"received\":%.6f,"
             "\"epoch\":1}]}",
             round + 1, time, time);
    ask(client, "POST", path, body, " 200 ");
    pause_us(2000);
}

static int write_claims(struct client *client, char *out, size_t size, double now)
{
    int first = atomic_fetch_add(&client->game->number, CLAIMS), len = 0;
    for (int i = 0; i < CLAIMS; i++)
        /* Each shot has another path. */
        len += snprintf(out + len, size - (size_t)len,
                        "%s{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":%.6f,\"fire_time\":%.6f,"
                        "\"start\":[0,0,1.6],\"end\":[20,%.6f,1.6],\"target\":\"t\"}",
                        i == 0 ? "" : ",", first + i, now, now, 1e-4 * ((first + i) % 1000));
    return len;
}

static void count(struct client *client, const char *text)
{
    json_t *answer = json_loads(text, 0, NULL), *result;
    const json_t *results = json_object_get(answer, "results");
    const json_t *hits = results != NULL ? results : json_object_get(answer, "hits");
    size_t i, seen = 0;
    json_array_foreach(hits, i, result)
    {
        const char *verdict = json_string_value(json_object_get(result, "verdict"));
        double damage = json_number_value(json_object_get(result, "damage_total"));
        seen++;
        if (json_is_true(json_object_get(result, "replayed"))) {
            client->paid.replayed++;
            continue;
        }
        client->paid.damage += damage;
        client->paid.accepted += strcmp(verdict, "accepted") == 0;
        client->paid.rejected += strcmp(verdict, "rejected") == 0;
        client->paid.inconclusive += strcmp(verdict, "inconclusive") == 0;
    }
    if (seen != CLAIMS && client->fault[0] == '\0')
        snprintf(client->fault, sizeof client->fault, "%zu results: %.400s", seen, text);
    json_decref(answer);
}

/* Posts claims of the shooter that all threads of the game share, as hits or in ticks. Sends some
   of them again. */
static void shoot(struct client *client, int round)
{
    struct game *game = client->game;
    char path[64], body[BODY], claims[1024];
    const char *const headers[] = {client->token, NULL};
    struct hs_test_response response;
    int tick = atomic_load(&game->tick);
    if (tick < 2) {
        pause_us(1000);
        return;
    }
    bool is_tick = hs_random_chance(&client->random, 0.3);
    double now = time_of(tick);
    write_claims(client, claims, sizeof claims, now);
    snprintf(path, sizeof path, "/v1/matches/%s/%s", game->match, is_tick ? "ticks" : "hits");
    snprintf(body, sizeof body, "{\"now\":%.6f,\"hits\":[%s]}", now, claims);
    bool again = hs_random_chance(&client->random, 0.2);
    for (int i = 0; i < (again ? 2 : 1); i++) {
        long status = send_as(client, "POST", path, body, headers, " 200 ", &response);
        if (status == 200)
            count(client, response.body);
        else if (status == 0 && i == 0)
            snprintf(client->doubtful, sizeof client->doubtful, "%s", body);
        hs_test_response_free(&response);
        if (status != 200) {
            pause_us(3000);
            break;
        }
    }
    if (round % 8 == 0) { /* another player posts this shot, because a player who posts shots must
                             post all of them */
        snprintf(path, sizeof path, "/v1/matches/%s/shots", game->match);
        snprintf(body, sizeof body,
                 "{\"now\":%.6f,\"shots\":[{\"shot\":%d,\"shooter\":\"t\",\"time\":%.6f,"
                 "\"origin\":[10,0,1.6],\"direction\":[-1,0,0]}]}",
                 now, round, now);
        ask(client, "POST", path, body, " 200 ");
    }
}

/* ---- other clients ---- */

/* Two clients open, write, read and end matches with the same names. A match that does not exist
   gets 403. A match that is deleted while the request runs gets 404. */
static void open_and_end(struct client *client, int round)
{
    char path[96], body[256];
    snprintf(path, sizeof path, "/v1/matches/short-%d", round % 3);
    ask(client, "PUT", path, round % 2 == 0 ? "{\"ruleset\":\"arena\"}" : "{}", " 200 201 409 ");
    snprintf(path, sizeof path, "/v1/matches/short-%d/frames", round % 3);
    snprintf(
        body, sizeof body,
        "{\"frames\":[{\"time\":%.3f,\"players\":[{\"player\":\"p%d\",\"position\":[0,0,0]}]}]}",
        time_of(round), round % 5);
    ask(client, "POST", path, body, " 200 403 404 ");
    snprintf(path, sizeof path, "/v1/matches/short-%d/players/p%d", round % 3, round % 5);
    ask(client, "GET", path, NULL, " 200 403 404 ");
    snprintf(path, sizeof path, "/v1/matches/short-%d", round % 3);
    ask(client, round % 4 == 0 ? "GET" : "DELETE", path, NULL, " 200 403 404 ");
    pause_us(2000);
}

static void replace(struct client *client, int round)
{
    char body[256];
    snprintf(body, sizeof body, "{\"history\":{\"keep\":%d}}", 1 + round % 3);
    ask(client, "PUT", "/v1/rulesets/arena", body, " 200 201 ");
    ask(client, "GET", "/v1/rulesets/arena", NULL, " 200 ");
    snprintf(body, sizeof body, "{\"boxes\":[{\"min\":[%d,-5,0],\"max\":[50,5,3]}]}",
             20 + round % 7);
    ask(client, "PUT", "/v1/maps/wall", body, " 200 201 ");
    ask(client, "PUT", "/v1/matches/walled", "{\"map\":\"wall\"}", " 200 201 409 422 ");
    ask(client, "GET", "/v1/maps/wall", NULL, " 200 403 404 ");
    ask(client, "DELETE", "/v1/matches/walled", NULL, " 200 403 404 ");
    if (round % 3 == 0)
        ask(client, "DELETE", "/v1/maps/wall", NULL, " 204 403 404 ");
    pause_us(5000);
}

/* Reads the page for operators, and what the console requests. */
static void look(struct client *client, int round)
{
    static const char *const paths[] = {"/metrics",         "/livez",          "/readyz",
                                        "/v1/matches",      "/v1/matches/red", "/v1/rulesets",
                                        "/v1/matches/green"};
    const char *path = paths[round % 7];
    /* A match gets 403 until a post opens it, and /readyz gets 404 while the service drains. */
    ask(client, "GET", path, NULL, " 200 403 404 ");
    pause_us(2000);
}

/* Sends as fast as possible: more than the rate allows, with no time left, without a valid token,
   or to objects of other tenants. */
static void flood(struct client *client, int round)
{
    const char *const late[] = {client->token, "X-Deadline-Ms: 0", NULL};
    const char *const nobody[] = {"Authorization: Bearer hs_greedy_a_wrong", NULL};
    const char *const own[] = {client->token, NULL};
    struct hs_test_response response;
    const char *path = round % 4 == 3 ? "/v1/matches/red" : "/v1/matches";
    send_as(client, "GET", path, NULL,
            round % 4 == 1   ? late
            : round % 4 == 2 ? nobody
                             : own,
            round % 4 == 1   ? ""
            : round % 4 == 2 ? " 401 "
            : round % 4 == 3 ? " 403 404 "
                             : " 200 ",
            &response);
    hs_test_response_free(&response);
}

static void *run(void *context)
{
    struct client *client = context;
    for (int round = 0; client->fault[0] == '\0'; round++) {
        long before = client->answers;
        client->act(client, round);
        if (atomic_load(&leaving) && client->answers == before)
            break;
    }
    return NULL;
}

/* ---- the storm ---- */

enum { OPENERS = 2, FLOODERS = 2, CLIENTS = GAMES * (1 + SHOOTERS) + OPENERS + FLOODERS + 2 };

static struct game games[GAMES];
static struct client clients[CLIENTS];

static void put_file(const char *name, const char *text)
{
    char path[128], fresh[136];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    hs_test_write_file(fresh, text);
    ck_assert_int_eq(rename(fresh, path), 0);
}

#define HOUSE                                                                                      \
    "{\"up\":\"+z\",\"default_rig\":\"ball\",\"rigs\":{\"ball\":{\"bones\":[\"root\"],"            \
    "\"hitboxes\":"                                                                                \
    "[{\"bone\":\"root\",\"zone\":\"torso\",\"shape\":\"sphere\",\"radius\":0.5,\"center\":[0,0,"  \
    "1.6]}],"                                                                                      \
    "\"stances\":{\"stand\":{\"eye\":[0,0,1.6],\"bones\":[[0,0,0,0,0,0,1]]}}}},\"history\":{"      \
    "\"keep\":2},"                                                                                 \
    "\"weapons\":{\"rifle\":{\"type\":\"hitscan\",\"damage\":20,\"range\":100,\"radius\":0.05}}}"

static void add(size_t *count, void (*act)(struct client *, int), int token, struct game *game,
                unsigned port)
{
    struct client *client = &clients[*count];
    client->act = act;
    client->token = tokens[token].header;
    client->game = game;
    client->http = hs_test_http_open(port);
    client->random = hs_random_start(hs_test_seed(1), *count);
    ++*count;
}

static size_t gather(void)
{
    size_t count = 0;
    for (int g = 0; g < GAMES; g++) {
        games[g].match = tokens[g].tenant;
        add(&count, feed, g, &games[g], service.data_port);
        for (int i = 0; i < SHOOTERS; i++)
            add(&count, shoot, g, &games[g], service.data_port);
    }
    for (int i = 0; i < OPENERS; i++)
        add(&count, open_and_end, BLUE, NULL, service.data_port);
    for (int i = 0; i < FLOODERS; i++)
        add(&count, flood, GREEDY, NULL, service.data_port);
    add(&count, replace, BLUE, NULL, service.data_port);
    add(&count, look, OPERATOR, NULL, service.admin_port);
    return count;
}

/* Makes the service read its configuration repeatedly. Sometimes a file is broken, and a token is
   added and removed. Returns the number of rounds. */
static int blow(long seconds)
{
    double began = hs_test_seconds();
    int rounds = 0;
    do {
        put_file("rules/extra.json", rounds % 3 == 1 ? "{" : "{\"history\":{\"keep\":1}}");
        hs_test_tokens_write(token_path, tokens, rounds % 2 == 0 ? TOKENS - 1 : TOKENS);
        kill(service.pid, SIGHUP);
        pause_us(60000);
        rounds++;
    } while (hs_test_seconds() - began < (double)seconds);
    /* repair the file, because the next process cannot start with a broken one */
    put_file("rules/extra.json", "{}");
    return rounds;
}

/* Sends the requests that got no answer again. Claims that were verified before are replayed.
   Other claims are verified now, and pay nothing because the match has no poses. */
static void settle(struct client *client, struct hs_test_http *http)
{
    char path[96];
    const char *const headers[] = {client->token, NULL};
    struct hs_test_response response;
    if (client->doubtful[0] == '\0')
        return;
    snprintf(path, sizeof path, "/v1/matches/%s/hits", client->game->match);
    hs_test_http_send(http, "POST", path, client->doubtful, strlen(client->doubtful), headers,
                      &response);
    ck_assert_msg(response.status == 200, "%ld %s", response.status, response.body);
    for (char *at = response.body; (at = strstr(at, "\"replayed\":true")) != NULL; at++)
        memcpy(at, "\"replayed\":null", 15);
    count(client, response.body);
    ck_assert_str_eq(client->fault, "");
    hs_test_response_free(&response);
}

/* Compares what the service knows about a game's shooter with the answers that the threads got. */
static void compare(int g, struct hs_test_http *http)
{
    struct paid all = {0};
    char path[96];
    const char *const headers[] = {tokens[g].header, NULL};
    struct hs_test_response response;
    for (size_t i = 0; i < CLIENTS; i++) {
        if (clients[i].game != &games[g])
            continue;
        settle(&clients[i], http);
        all.damage += clients[i].paid.damage;
        all.accepted += clients[i].paid.accepted;
        all.rejected += clients[i].paid.rejected;
        all.inconclusive += clients[i].paid.inconclusive;
        all.replayed += clients[i].paid.replayed;
    }
    snprintf(path, sizeof path, "/v1/matches/%s/players/s", games[g].match);
    hs_test_http_send(http, "GET", path, NULL, 0, headers, &response);
    ck_assert_msg(response.status == 200, "%ld %s", response.status, response.body);
    json_t *player = hs_test_response_json(&response);
    const json_t *verdicts = json_object_get(player, "verdicts");
    double dealt = json_number_value(json_object_get(player, "damage_dealt"));
    long accepted = (long)json_integer_value(json_object_get(verdicts, "accepted"));
    long rejected = (long)json_integer_value(json_object_get(verdicts, "rejected"));
    long inconclusive = (long)json_integer_value(json_object_get(verdicts, "inconclusive"));
    ck_assert_msg(dealt == all.damage && accepted == all.accepted && rejected == all.rejected &&
                      inconclusive == all.inconclusive,
                  "answered: damage %g, %ld accepted, %ld rejected, %ld inconclusive; known: %s",
                  all.damage, all.accepted, all.rejected, all.inconclusive, response.body);
    ck_assert_msg(all.accepted >= 10 && all.damage == (double)all.accepted * DAMAGE &&
                      all.replayed >= 2,
                  "too few claims of each kind: damage %g, %ld accepted, %ld replayed; %s",
                  all.damage, all.accepted, all.replayed, response.body);
    json_decref(player);
    hs_test_response_free(&response);
}

START_TEST(nothing_is_lost)
{
    const char *const storm[] = {"--threads",
                                 "4",
                                 "--admin-threads",
                                 "2",
                                 "--data",
                                 data_path,
                                 "--checkpoint-seconds",
                                 "1",
                                 "--token-file",
                                 token_path,
                                 "--rules",
                                 rules_path,
                                 "--default-ruleset",
                                 "house",
                                 "--tenant-rate",
                                 "100",
                                 "--queue-ms",
                                 "50",
                                 "--drain-wait-seconds",
                                 "1",
                                 NULL};
    const char *const after[] = {"--data",  data_path,  "--token-file",      token_path,
                                 "--rules", rules_path, "--default-ruleset", "house",
                                 NULL};
    int status = -1;
    long refused = 0;
    static const char limited[] = "hindsight_requests_shed_total{reason=\"tenant_rate\"}";
    put_file("rules/house.json", HOUSE);
    hs_test_tokens_write(token_path, tokens, TOKENS);
    ck_assert(hs_test_service_start(&service, storm));
    ck_assert_uint_eq(gather(), CLIENTS);
    replace(&clients[CLIENTS - 2], 1); /* puts the ruleset that the matches need */
    for (size_t i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(pthread_create(&clients[i].thread, NULL, run, &clients[i]), 0);
    int reloads = blow(hs_test_count("HS_STORM_SECONDS", 3));
    ck_assert_int_ge(reloads, 3);
    /* On a slow machine the flood needs more time to exceed the tenant's rate. */
    for (int i = 0; i < 30 && hs_metric(&service, limited) < 1; i++)
        blow(1);
    ck_assert(hs_metric(&service, "hindsight_checkpoints_total{result=\"written\"}") >= 1);
    ck_assert(hs_metric(&service, "hindsight_requests_shed_total{reason=\"deadline\"}") >= 1);
    ck_assert(hs_metric(&service, limited) >= 1);

    atomic_store(&leaving, true);
    kill(service.pid, SIGTERM);
    ck_assert_int_eq(waitpid(service.pid, &status, 0), service.pid);
    service.pid = 0;
    for (size_t i = 0; i < CLIENTS; i++) {
        pthread_join(clients[i].thread, NULL);
        hs_test_http_close(clients[i].http);
        ck_assert_msg(clients[i].fault[0] == '\0', "client %zu: %s", i, clients[i].fault);
        ck_assert_msg(clients[i].answers >= 10, "client %zu had %ld answers", i,
                      clients[i].answers);
        refused += clients[i].refused;
    }
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "it ended with %d", status);
    ck_assert_int_ge(refused, 10);
    ck_assert(hs_test_service_stop(&service));

    ck_assert(hs_test_service_start(&service, after));
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    for (int g = 0; g < GAMES; g++)
        compare(g, http);
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
}
END_TEST

static void setup(void)
{
    strcpy(directory, "/tmp/hindsight_storm_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(data_path, sizeof data_path, "%s/data", directory);
    snprintf(token_path, sizeof token_path, "%s/tokens.json", directory);
    snprintf(rules_path, sizeof rules_path, "%s/rules", directory);
    ck_assert_int_eq(mkdir(rules_path, 0700), 0);
}

static void teardown(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

int main(void)
{
    Suite *suite = suite_create("storm");
    TCase *tests = tcase_create("everything at once");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, nothing_is_lost);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
