/*
 * `serve --record` and `recheck` as a user runs them: traffic of several clients at once is
 * computed again byte for byte; under other rules exactly those claims flip that a second service
 * with these rules, given the same requests, answers otherwise.
 */
#include <check.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/http.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "tests/support/service.h"

enum { OWN_CLIENTS = 3, SHARED_CLIENTS = 3, CLIENTS = OWN_CLIENTS + SHARED_CLIENTS, TICKS = 160 };

static struct hs_test_service service;
static char folder[64];

/* Each name has one path for good. */
static const char *file_named(const char *name)
{
    enum { NAMES = 16 };
    static char paths[NAMES][128];
    char path[128];
    size_t i = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    while (i < NAMES - 1 && paths[i][0] != '\0' && strcmp(paths[i], path) != 0)
        i++;
    ck_assert_uint_lt(i, NAMES - 1);
    memcpy(paths[i], path, sizeof path);
    return paths[i];
}

/* ---- recheck ---- */

struct run {
    int code;
    json_t *report; /* of --json; NULL: there is none */
    char out[8192], err[2048];
};

static void slurp(FILE *file, char *text, size_t size)
{
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
}

/* Runs `hindsight` with these arguments (closed by NULL) to its end. */
static void run(struct run *result, const char *const *arguments)
{
    const char *argv[16] = {getenv("HS_PROGRAM")};
    FILE *out = tmpfile(), *err = tmpfile();
    ck_assert(argv[0] != NULL && out != NULL && err != NULL);
    for (size_t i = 0; i < 14 && arguments[i] != NULL; i++)
        argv[i + 1] = arguments[i];
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        dup2(fileno(out), 1);
        dup2(fileno(err), 2);
        execv(argv[0], (char *const *)(const void *)argv);
        _exit(127);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    result->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    slurp(out, result->out, sizeof result->out);
    slurp(err, result->err, sizeof result->err);
    rewind(out);
    result->report = json_loadf(out, 0, NULL);
    fclose(out);
    fclose(err);
}

#define RUN(result, ...) run(result, (const char *const[]){__VA_ARGS__, NULL})

static json_int_t number(const struct run *result, const char *key)
{
    ck_assert_msg(result->report != NULL, "no report: %s%s", result->out, result->err);
    json_t *value = json_object_get(result->report, key);
    ck_assert_msg(json_is_integer(value), "no %s in %s", key, result->out);
    return json_integer_value(value);
}

/* ---- traffic ---- */

struct client {
    int id;
    struct hs_random random;
    struct hs_test_http *http;
    char match[32], shooter[16];
    char last[4096], last_path[128]; /* a body with claims, to be sent again */
    size_t claims, replayed;         /* answered for the first time, and again */
    char fault[512];
};

static void send_body(struct client *client, const char *method, const char *path, const char *body,
                      bool again)
{
    struct hs_test_response response;
    hs_test_http_send(client->http, method, path, body, body != NULL ? strlen(body) : 0, NULL,
                      &response);
    if (response.status != 200 && response.status != 201)
        snprintf(client->fault, sizeof client->fault, "%s %s: %ld %.200s%.100s", method, path,
                 response.status, response.body, response.error);
    for (const char *at = response.body; (at = strstr(at, "\"replayed\":")) != NULL; at++)
        if (strncmp(at, "\"replayed\":true", 15) == 0)
            client->replayed++;
        else
            client->claims++;
    hs_test_response_free(&response);
    if (!again && strstr(body != NULL ? body : "", "\"shot\"") != NULL) {
        snprintf(client->last, sizeof client->last, "%s", body);
        snprintf(client->last_path, sizeof client->last_path, "%s", path);
    }
}

/* Where the target of client `id` is at a time. */
static double target_y(int id, double time)
{
    return 3.0 * (time - 100.0) + 4.0 * id;
}

static int write_frame(const struct client *client, double time, char *out, size_t size)
{
    return snprintf(
        out, size,
        "{\"time\":%.4f,\r\n \"players\":[{\"player\":\"%s\",\"position\":[0,%d,0],"
        "\"weapon\":\"rifle\",\"rtt\":0.05,\"interp\":0.05,\"aim\":[1,0,0]},\n"
        "{\"player\":\"t%d\",\"position\":[%d,%.4f,0]}],\"movers\":[{\"mover\":\"door-%d\","
        "\"position\":[8,%.4f,0],\"box\":{\"half_extents\":[0.1,1,3]}}]}",
        time, client->shooter, 4 * client->id, client->id, 15 + client->id,
        target_y(client->id, time), client->id, 4 * client->id + 2 + fmod(40 * time, 16));
}

/* Claims that are mostly close to a limit, on one side or the other. */
static int write_hit(struct client *client, int shot, double now, char *out, size_t size)
{
    struct hs_random *random = &client->random;
    double hit_time = now - hs_random_between(random, 0.0, 0.4);
    double off = hs_random_between(random, 0.0, 0.8), miss = hs_random_between(random, -0.6, 0.6);
    return snprintf(out, size,
                    "{\"shot\":%d,\"shooter\":\"%s\",\"hit_time\":%.4f,\"fire_time\":%.4f,"
                    "\"start\":[%.4f,%d,1.6],\"end\":[%d,%.4f,1.2],\"target\":\"t%d\"}",
                    shot, client->shooter, hit_time, hit_time, off, 4 * client->id, 15 + client->id,
                    target_y(client->id, hit_time) + miss, client->id);
}

static int write_shot(struct client *client, int shot, double now, char *out, size_t size)
{
    return snprintf(out, size,
                    "{\"shot\":%d,\"shooter\":\"%s\",\"time\":%.4f,\"origin\":[%.4f,%d,1.6],"
                    "\"direction\":[1,0,0]}",
                    shot, client->shooter, now - hs_random_between(&client->random, 0.0, 0.3),
                    hs_random_between(&client->random, 0.0, 0.8), 4 * client->id);
}

static void path_of(const struct client *client, const char *route, char path[128])
{
    snprintf(path, 128, "/v1/matches/%s/%s%s", client->match, route,
             client->id % 2 == 0 ? "?explain=1" : "");
}

/* Every other client's clock is a fifth too fast, and says so by what it acknowledges. */
static int write_move(const struct client *client, int seq, double time, char *out, size_t size)
{
    double speed = client->id % 2 == 0 ? 1.0 : 1.2;
    return snprintf(out, size,
                    "{\"player\":\"%s\",\"seq\":%d,\"client_time\":%.4f,\"received\":%.4f,"
                    "\"ack\":%.4f,\"epoch\":1,\"mode\":\"walking\",\"position\":[0,%d,0],"
                    "\"server_position\":[0,%.2f,0]}",
                    client->shooter, seq, 5.0 + (time - 100.0) * speed, time, time - 0.1,
                    4 * client->id, 4 * client->id + (seq % 3 == 0 ? 0.5 : 0.0));
}

/* Frames by themselves, then moves and claims by themselves. */
static void send_apart(struct client *client, double time, int shot)
{
    char path[128], body[2048], items[1024];
    path_of(client, "frames", path);
    write_frame(client, time, items, sizeof items);
    snprintf(body, sizeof body, "{\"frames\":[%s]}", items);
    send_body(client, "POST", path, body, false);
    path_of(client, "moves", path);
    write_move(client, shot, time, items, sizeof items);
    snprintf(body, sizeof body, "{\"moves\":[%s]}", items);
    send_body(client, "POST", path, body, false);
    path_of(client, "hits", path);
    write_hit(client, shot, time, items, sizeof items);
    snprintf(body, sizeof body, "{\"now\":%.4f,\"hits\":[%s]}", time, items);
    send_body(client, "POST", path, body, false);
    if (client->id % 3 != 0) /* who posts no shots needs none for his hits */
        return;
    path_of(client, "shots", path);
    write_shot(client, shot + 1, time, items, sizeof items);
    snprintf(body, sizeof body, "{\"now\":%.4f,\"shots\":[%s]}", time, items);
    send_body(client, "POST", path, body, false);
}

static void send_tick(struct client *client, double time, int shot)
{
    char path[128], body[4096], frame[1024], move[512], first[512], second[512];
    path_of(client, "ticks", path);
    write_frame(client, time, frame, sizeof frame);
    write_hit(client, shot, time, first, sizeof first);
    write_hit(client, shot + 1, time, second, sizeof second);
    write_move(client, shot, time, move, sizeof move);
    snprintf(body, sizeof body, "{\"now\":%.4f,\"frames\":[%s],\"moves\":[%s],\"hits\":[%s,%s]}\n",
             time, frame, move, first, second);
    send_body(client, "POST", path, body, false);
}

/* The match is ended, and opened again under rules that have changed meanwhile. */
static void change_sides(struct client *client)
{
    char path[128], path_of_map[128], body[512];
    snprintf(path, sizeof path, "/v1/rulesets/house-%d", client->id);
    snprintf(
        body, sizeof body,
        "{\"up\":\"+z\",\"rigs\":{\"humanoid\":{\"bones\":[\"root\"],\"hitboxes\":[{\"bone\":"
        "\"root\",\"zone\":\"torso\",\"shape\":\"sphere\",\"radius\":0.5,\"center\":[0,0,1.2]}]"
        ",\"stances\":{\"stand\":{\"eye\":[0,0,1.6],\"bones\":[[0,0,0,0,0,0,1]]}}}},"
        "\"hit\":{\"origin_tolerance\":0.3},\"weapons\":{\"rifle\":{\"type\":\"hitscan\","
        "\"damage\":%d,\"range\":100,\"radius\":0.05}}}",
        20 + client->id);
    send_body(client, "PUT", path, body, false);
    snprintf(path, sizeof path, "/v1/matches/%s", client->match);
    send_body(client, "DELETE", path, NULL, false);
    snprintf(path_of_map, sizeof path_of_map, "/v1/maps/wall-%d", client->id);
    snprintf(body, sizeof body, "{\"boxes\":[\n{\"min\":[10,%d,0],\"max\":[10.2,%d,3]}]}",
             4 * client->id + 3, 4 * client->id + 6);
    send_body(client, "PUT", path_of_map, body, false);
    snprintf(body, sizeof body, "{\"ruleset\":\"house-%d\",\"map\":\"wall-%d\"}", client->id,
             client->id);
    send_body(client, "PUT", path, body, false);
    /* The match keeps the map it has. */
    send_body(client, "PUT", path_of_map, "{}", false);
}

static void *play(void *context)
{
    struct client *client = context;
    client->http = hs_test_http_open(service.data_port);
    for (int k = 0; k < TICKS && client->fault[0] == '\0'; k++) {
        double time = 100.0 + 0.05 * k;
        if (k == TICKS / 2 && client->id < OWN_CLIENTS)
            change_sides(client);
        if (hs_random_chance(&client->random, 0.5))
            send_tick(client, time, 10 * k);
        else
            send_apart(client, time, 10 * k);
        if (hs_random_chance(&client->random, 0.2) && client->last_path[0] != '\0')
            send_body(client, "POST", client->last_path, client->last, true);
    }
    hs_test_http_close(client->http);
    return NULL;
}

/* All clients at once. Returns the sums over them. */
static struct client play_all(uint64_t seed)
{
    static struct client clients[CLIENTS];
    pthread_t threads[CLIENTS];
    struct client sum = {0};
    memset(clients, 0, sizeof clients);
    for (int i = 0; i < CLIENTS; i++) {
        clients[i].id = i;
        clients[i].random = hs_random_start(seed, (uint64_t)i);
        snprintf(clients[i].shooter, sizeof clients[i].shooter, "s%d", i);
        if (i < OWN_CLIENTS)
            snprintf(clients[i].match, sizeof clients[i].match, "own-%d", i);
        else
            strcpy(clients[i].match, "shared");
        ck_assert_int_eq(pthread_create(&threads[i], NULL, play, &clients[i]), 0);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_msg(clients[i].fault[0] == '\0', "%s", clients[i].fault);
        sum.claims += clients[i].claims;
        sum.replayed += clients[i].replayed;
    }
    return sum;
}

static double metric(const char *name)
{
    struct hs_test_http *http = hs_test_http_open(service.admin_port);
    struct hs_test_response response;
    char line[128];
    hs_test_http_send(http, "GET", "/metrics", NULL, 0, NULL, &response);
    snprintf(line, sizeof line, "\n%s ", name);
    const char *found = strstr(response.body, line);
    ck_assert_msg(found != NULL, "no %s in the metrics", name);
    double value = strtod(found + strlen(line), NULL);
    hs_test_response_free(&response);
    hs_test_http_close(http);
    return value;
}

/* A service that records, with the metres as default. */
static void start_recording(const char *path)
{
    const char *extra[] = {"--record", path, "--default-ruleset", "metres", "--threads", "4", NULL};
    ck_assert(hs_test_service_start(&service, extra));
}

static void record_traffic(const char *path, struct client *sum)
{
    start_recording(path);
    *sum = play_all(hs_test_seed(7));
    ck_assert(metric("hindsight_record_dropped_total") == 0);
    ck_assert(metric("hindsight_record_requests_total") > CLIENTS * TICKS);
    ck_assert(hs_test_service_stop(&service));
}

/* ---- the same rules ---- */

START_TEST(the_same_rules_give_the_same_bytes)
{
    struct run result;
    struct client sum;
    struct stat status;
    const char *path = file_named("same.stream");
    record_traffic(path, &sum);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.code == 0, "%d: %s%s", result.code, result.out, result.err);
    ck_assert_str_eq(result.err, "");
    ck_assert_uint_gt(sum.claims, CLIENTS * TICKS);
    ck_assert_uint_gt(sum.replayed, 20);
    ck_assert_int_eq(number(&result, "claims") + number(&result, "moves"), (json_int_t)sum.claims);
    ck_assert_int_gt(number(&result, "moves"), CLIENTS * TICKS - 1);
    ck_assert_int_eq(number(&result, "identical"), (json_int_t)sum.claims);
    ck_assert_int_eq(number(&result, "replayed"), (json_int_t)sum.replayed);
    ck_assert_int_eq(number(&result, "matches"), 2 * OWN_CLIENTS + 1);
    ck_assert_int_gt(number(&result, "shots"), 20);
    /* The claims were of all sorts, or the comparison would say little. */
    size_t i, sorts = 0;
    json_t *reason;
    json_array_foreach(json_object_get(result.report, "reasons"), i, reason)
    {
        json_int_t before = json_integer_value(json_object_get(reason, "before"));
        ck_assert_int_eq(before, json_integer_value(json_object_get(reason, "after")));
        sorts += before >= 10;
    }
    ck_assert_uint_ge(sorts, 5);
    ck_assert_ptr_nonnull(strstr(result.out, "occluded_world"));
    ck_assert_ptr_nonnull(strstr(result.out, "fast_clock_proven"));
    json_decref(result.report);
    RUN(&result, "recheck", path);
    ck_assert_int_eq(result.code, 0);
    ck_assert_ptr_nonnull(strstr(result.out, "identical"));
    ck_assert_ptr_nonnull(strstr(result.out, "rewind_limit"));
}
END_TEST

/* ---- other rules ---- */

/* The first character of a kind, the shooter, the shot and both verdicts, for a set of flips. */
static void add_flip(json_t *flips, const char *match, const char *kind, const json_t *before,
                     const json_t *after)
{
    char key[256];
    bool is_move = strcmp(kind, "move") == 0;
    snprintf(key, sizeof key, "%s %c %s %lld", match, kind[0],
             json_string_value(json_object_get(before, is_move ? "player" : "shooter")),
             (long long)json_integer_value(json_object_get(before, is_move ? "seq" : "shot")));
    json_object_set_new(flips, key,
                        json_sprintf("%s %s", json_string_value(json_object_get(before, "reason")),
                                     json_string_value(json_object_get(after, "reason"))));
}

static void compare_results(json_t *flips, const char *match, const char *kind,
                            const json_t *before, const json_t *after)
{
    size_t i;
    json_t *was;
    ck_assert_uint_eq(json_array_size(before), json_array_size(after));
    json_array_foreach(before, i, was)
    {
        const json_t *is = json_array_get(after, i);
        const json_t *reason = json_object_get(is, "reason");
        if (!json_is_true(json_object_get(was, "replayed")) &&
            !json_equal(json_object_get(was, "reason"), (json_t *)(uintptr_t)reason))
            add_flip(flips, match, kind, was, is);
    }
}

/* One line of the stream to the second service. A match that is opened gets the other rules. */
static void send_line(struct hs_test_http *http, const json_t *line, json_t *flips)
{
    long status;
    char path[128];
    const char *match = json_string_value(json_object_get(line, "match"));
    const char *opened = json_string_value(json_object_get(line, "open"));
    const char *map = json_string_value(json_object_get(line, "map"));
    if (map != NULL && opened == NULL) {
        snprintf(path, sizeof path, "/v1/maps/%s", map);
        json_decref(hs_test_http_json(http, "PUT", path,
                                      json_incref(json_object_get(line, "document")), &status));
        ck_assert(status == 200 || status == 201);
    }
    if (opened != NULL) {
        snprintf(path, sizeof path, "/v1/matches/%s", opened);
        json_t *body =
            json_pack("{s:s,s:O?}", "ruleset", "loose", "map", json_object_get(line, "map"));
        json_decref(hs_test_http_json(http, "PUT", path, body, &status));
        ck_assert_int_eq(status, 201);
    }
    if (match == NULL)
        return;
    const char *request = json_string_value(json_object_get(line, "request"));
    bool ends = strcmp(request, "delete") == 0;
    snprintf(path, sizeof path, "/v1/matches/%s%s%s", match, ends ? "" : "/", ends ? "" : request);
    json_t *answer = hs_test_http_json(http, ends ? "DELETE" : "POST", path,
                                       json_incref(json_object_get(line, "body")), &status);
    ck_assert_int_eq(status, 200);
    const json_t *before = json_object_get(line, "answer");
    const char *kind = strcmp(request, "shots") == 0   ? "shot"
                       : strcmp(request, "moves") == 0 ? "move"
                                                       : "hit";
    compare_results(flips, match, kind, json_object_get(before, "results"),
                    json_object_get(answer, "results"));
    compare_results(flips, match, "hit", json_object_get(before, "hits"),
                    json_object_get(answer, "hits"));
    compare_results(flips, match, "shot", json_object_get(before, "shots"),
                    json_object_get(answer, "shots"));
    compare_results(flips, match, "move", json_object_get(before, "moves"),
                    json_object_get(answer, "moves"));
    json_decref(answer);
}

/* What a service with these rules answers otherwise, given the same requests in the same order. */
static json_t *ask_second_service(const char *stream)
{
    const char *extra[] = {"--rules", folder, NULL};
    char *text = NULL;
    size_t room = 0;
    json_t *flips = json_object();
    ck_assert(hs_test_service_start(&service, extra));
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    FILE *file = fopen(stream, "r");
    ck_assert_ptr_nonnull(file);
    while (getline(&text, &room, file) > 0) {
        json_t *line = json_loads(text, 0, NULL);
        ck_assert_ptr_nonnull(line);
        send_line(http, line, flips);
        json_decref(line);
    }
    free(text);
    fclose(file);
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
    return flips;
}

/* The metres with other limits, in the folder, without a name inside. */
static const char *write_rules(void)
{
    long status;
    ck_assert(hs_test_service_start(&service, NULL));
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    json_t *answer = hs_test_http_json(http, "GET", "/v1/rulesets/metres", NULL, &status);
    json_t *rules = json_object_get(answer, "ruleset");
    json_object_del(rules, "name");
    json_object_set_new(json_object_get(rules, "rewind"), "limit", json_real(0.35));
    json_object_set_new(json_object_get(rules, "hit"), "origin_tolerance", json_real(0.15));
    json_object_set_new(json_object_get(rules, "checks"), "fast_clock_proven",
                        json_string("shadow"));
    json_object_set_new(json_object_get(rules, "moves"), "max_delta", json_real(0.04));
    const char *path = file_named("loose.json");
    ck_assert_int_eq(json_dump_file(rules, path, 0), 0);
    json_decref(answer);
    hs_test_http_close(http);
    ck_assert(hs_test_service_stop(&service));
    return path;
}

START_TEST(other_rules_flip_what_a_service_with_them_would)
{
    struct run result;
    struct client sum;
    const char *path = file_named("other.stream");
    record_traffic(path, &sum);
    const char *rules = write_rules();
    json_t *expected = ask_second_service(path);
    RUN(&result, "recheck", path, "--rules", rules, "--json", "--limit", "1000000");
    ck_assert_msg(result.code == 0, "%d: %s", result.code, result.err);
    size_t i;
    json_t *claim, *flips = json_object();
    json_array_foreach(json_object_get(result.report, "changed"), i, claim)
    {
        char key[256];
        snprintf(key, sizeof key, "%s %c %s %lld",
                 json_string_value(json_object_get(claim, "match")),
                 json_string_value(json_object_get(claim, "kind"))[0],
                 json_string_value(json_object_get(claim, "shooter")),
                 (long long)json_integer_value(json_object_get(claim, "shot")));
        const json_t *before = json_object_get(claim, "before");
        const json_t *after = json_object_get(claim, "after");
        json_object_set_new(flips, key,
                            json_sprintf("%s %s",
                                         json_string_value(json_object_get(before, "reason")),
                                         json_string_value(json_object_get(after, "reason"))));
    }
    ck_assert_uint_gt(json_object_size(expected), 100);
    ck_assert_int_ge(number(&result, "flipped"), (json_int_t)json_object_size(flips));
    ck_assert_uint_eq(json_object_size(flips), json_object_size(expected));
    ck_assert(json_equal(flips, expected));
    size_t moves = 0;
    const char *key;
    json_object_foreach(flips, key, claim) moves +=
        strcmp(json_string_value(claim), "fast_clock_proven ok") == 0;
    ck_assert_uint_ge(moves, 3);
    json_int_t judged = number(&result, "claims") + number(&result, "moves");
    ck_assert_int_eq(judged, (json_int_t)sum.claims);
    ck_assert_int_eq(judged, number(&result, "unchanged") + number(&result, "flipped") +
                                 number(&result, "damage_changed"));
    json_decref(result.report);
    json_decref(flips);
    json_decref(expected);

    /* Only the matches that were opened with the metres: by their first post. */
    RUN(&result, "recheck", path, "--rules", rules, "--ruleset", "metres", "--json", "--limit",
        "3");
    ck_assert_int_eq(result.code, 0);
    ck_assert_int_eq(number(&result, "matches"), OWN_CLIENTS + 1);
    ck_assert_int_eq(number(&result, "matches_left_out"), OWN_CLIENTS);
    ck_assert_int_gt(number(&result, "requests_left_out"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(result.report, "changed")), 3);
    ck_assert_int_eq(number(&result, "changed_left_out"), number(&result, "flipped") - 3);
    json_decref(result.report);
    RUN(&result, "recheck", path, "--rules", rules, "--limit", "1");
    ck_assert_int_eq(result.code, 0);
    ck_assert_ptr_nonnull(strstr(result.out, "loose.json (loose, sha256:"));
    ck_assert_ptr_nonnull(strstr(result.out, " more; --limit shows them"));
}
END_TEST

/* ---- files ---- */

/* The file of `from` up to `size` bytes (0: all), with `find` replaced once. */
static const char *copy_stream(const char *from, const char *to, long size, const char *find,
                               const char *put)
{
    char *text = NULL;
    size_t room = 0, written = 0;
    const char *path = file_named(to);
    FILE *in = fopen(from, "r"), *out = fopen(path, "w");
    ck_assert(in != NULL && out != NULL);
    for (ssize_t got; (got = getline(&text, &room, in)) > 0;) {
        char *at = find != NULL ? strstr(text, find) : NULL;
        size_t len = (size_t)got;
        if (size > 0 && written + len > (size_t)size)
            len = (size_t)size - written;
        if (at != NULL) {
            fprintf(out, "%.*s%s%s", (int)(at - text), text, put, at + strlen(find));
            find = NULL;
        } else {
            fwrite(text, 1, len, out);
        }
        written += len;
    }
    free(text);
    fclose(in);
    fclose(out);
    return path;
}

/* A recording of one small match; its service is killed while it runs, or stopped. */
static void record_little(const char *path, const char *match, bool kill_it)
{
    start_recording(path);
    struct client client = {.random = hs_random_start(1, 1),
                            .http = hs_test_http_open(service.data_port)};
    snprintf(client.match, sizeof client.match, "%s", match);
    strcpy(client.shooter, "s0");
    for (int k = 0; k < 30; k++)
        send_apart(&client, 100.0 + 0.05 * k, 10 * k);
    ck_assert_msg(client.fault[0] == '\0', "%s", client.fault);
    hs_test_http_close(client.http);
    if (kill_it) {
        while (metric("hindsight_record_queue_bytes") > 0)
            usleep(1000);
        kill(service.pid, SIGKILL);
        ck_assert(!hs_test_service_stop(&service));
    } else {
        ck_assert(hs_test_service_stop(&service));
    }
}

START_TEST(a_restarted_service_continues_the_file)
{
    struct run result;
    struct stat status;
    const char *path = file_named("restart.stream");
    record_little(path, "little", true);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(truncate(path, status.st_size - 40), 0); /* killed in the middle of a line */
    RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert_int_eq(number(&result, "interrupted"), 1);
    ck_assert_int_eq(number(&result, "identical"), 89);
    json_decref(result.report);
    /* The same name is another match after the restart. */
    record_little(path, "little", false);
    RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert_int_eq(number(&result, "interrupted"), 1);
    ck_assert_int_eq(number(&result, "matches"), 2);
    ck_assert_int_eq(number(&result, "identical"), 89 + 90);
    json_decref(result.report);
    RUN(&result, "recheck", path);
    ck_assert_ptr_nonnull(strstr(result.out, "1 lines end in the middle"));
}
END_TEST

START_TEST(what_was_tampered_with_is_found)
{
    struct run result;
    const char *path = file_named("honest.stream");
    record_little(path, "little", false);
    const char *forged = copy_stream(path, "forged.stream", 0,
                                     "\"verdict\":\"rejected\",\"reason\":\"rewind_limit\"",
                                     "\"verdict\":\"accepted\",\"reason\":\"ok\"");
    RUN(&result, "recheck", forged);
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.out, "accepted ok -> rejected rewind_limit  rewind 0."));
    ck_assert_ptr_nonnull(strstr(result.err, "answers differ under the same rules"));
    forged = copy_stream(path, "forged.stream", 0, "\"stored\":2", "\"stored\":1");
    RUN(&result, "recheck", forged, "--json");
    ck_assert_int_eq(result.code, 1);
    ck_assert_int_eq(number(&result, "answers_changed"), 1);
    ck_assert_int_eq(number(&result, "flipped"), 0);
    json_decref(result.report);
    forged = copy_stream(path, "forged.stream", 0, "\"program\":\"", "\"program\":\"old-");
    RUN(&result, "recheck", forged);
    ck_assert_int_eq(result.code, 0);
    ck_assert_ptr_nonnull(strstr(result.out, "and computed again by"));
}
END_TEST

/* A copy of a stream with one replacement, and what is said to it. */
static const struct {
    const char *find, *put, *says;
} broken[] = {
    {"\"format\":\"hindsight-stream\"", "\"format\":\"other\"", "line 1: is not of a stream"},
    {"\"version\":1", "\"version\":3", "line 1: another version of the format"},
    {"{\"ruleset\":", "{\"rules\":", "line 2: is not a line of a recorded stream"},
    {"\"up\":\"+z\"", "\"up\":\"+w\"", "line 2: not a ruleset: /up"},
    {"\"open\":\"little\",\"ruleset\":\"sha256:", "\"open\":\"little\",\"ruleset\":\"sha224:",
     "line 3: the stream has no ruleset sha224:"},
    {"{\"open\":\"little\"", "{\"open\":\"litter\"",
     "line 4: a request for a match that is not open"},
    {"\"body\":{\"frames\"", "\"body\":{\"fumes\"",
     "line 4: cannot be applied: invalid_request /fumes"},
    {"{\"results\":[", "{\"results\":[{},", "the answer is not one to this request"},
    {"\"answer\":", "\"answer\"", "line 4: is not a line"},
};

START_TEST(broken_files_are_refused)
{
    struct run result;
    const char *path = file_named("whole.stream");
    record_little(path, "little", false);
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        const char *copy = copy_stream(path, "broken.stream", 0, broken[i].find, broken[i].put);
        RUN(&result, "recheck", copy);
        ck_assert_msg(result.code == 1 && strstr(result.err, broken[i].says) != NULL,
                      "row %zu: code %d: %s", i, result.code, result.err);
    }
    RUN(&result, "recheck", copy_stream(path, "broken.stream", 0, NULL, NULL));
    ck_assert_int_eq(result.code, 0);
    FILE *empty = fopen(file_named("broken.stream"), "w");
    fclose(empty);
    RUN(&result, "recheck", file_named("broken.stream"));
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "is empty"));
    RUN(&result, "recheck", file_named("nothing.stream"));
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "cannot be read"));
    RUN(&result, "recheck", path, "--rules", path);
    ck_assert_int_eq(result.code, 1);
    RUN(&result, "recheck", path, "--rules", file_named("nothing.json"));
    ck_assert_int_eq(result.code, 1);
}
END_TEST

static const char *const wrong[][6] = {
    {"recheck", NULL},
    {"recheck", "a.stream", "b.stream", NULL},
    {"recheck", "a.stream", "--rules", NULL},
    {"recheck", "a.stream", "--limit", "many", NULL},
    {"recheck", "a.stream", "--limit", "-1", NULL},
    {"recheck", "a.stream", "--ruleset", "metres", NULL},
    {"recheck", "a.stream", "--rules", "a.json", "--bogus", NULL},
};

START_TEST(wrong_usage_is_2)
{
    struct run result;
    run(&result, wrong[_i]);
    ck_assert_int_eq(result.code, 2);
    ck_assert_ptr_nonnull(strstr(result.err, "--help"));
    ck_assert_str_eq(result.out, "");
}
END_TEST

START_TEST(a_file_that_cannot_be_written_ends_the_start)
{
    struct run result;
    RUN(&result, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--record",
        "/nonexistent/stream");
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "cannot record"));
    RUN(&result, "recheck", "--help");
    ck_assert_int_eq(result.code, 0);
    ck_assert_ptr_nonnull(strstr(result.out, "--rules FILE"));
}
END_TEST

/* ---- what others recorded ---- */

/* Every scenario file, and the demo's match, played by the program itself. */
START_TEST(scenarios_and_the_demo_are_computed_again)
{
    static const char *const files[] = {
        "tests/scenarios/cadence.json",  "tests/scenarios/claims.json",
        "tests/scenarios/geometry.json", "tests/scenarios/latency.json",
        "tests/scenarios/modes.json",    "tests/scenarios/shots.json",
        "tests/scenarios/time.json",     "tests/scenarios/weapons.json"};
    struct run result;
    char url[64];
    const char *path = file_named("scenarios.stream"), *demo = file_named("demo.jsonl");
    RUN(&result, "demo", "--keep", demo);
    ck_assert_int_eq(result.code, 0);
    start_recording(path);
    snprintf(url, sizeof url, "http://127.0.0.1:%u", service.data_port);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        RUN(&result, "play", files[i], "--url", url);
        ck_assert_msg(result.code == 0, "%s: %s", files[i], result.err);
    }
    RUN(&result, "play", demo, "--url", url);
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert(hs_test_service_stop(&service));
    RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    ck_assert_int_gt(number(&result, "claims"), 500);
    ck_assert_int_gt(number(&result, "shots"), 5);
    ck_assert_int_gt(number(&result, "matches"), 50);
    json_decref(result.report);
}
END_TEST

static Suite *create_suite(void)
{
    Suite *suite = suite_create("recheck");
    TCase *tests = tcase_create("recheck");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, the_same_rules_give_the_same_bytes);
    tcase_add_test(tests, other_rules_flip_what_a_service_with_them_would);
    tcase_add_test(tests, a_restarted_service_continues_the_file);
    tcase_add_test(tests, what_was_tampered_with_is_found);
    tcase_add_test(tests, broken_files_are_refused);
    tcase_add_loop_test(tests, wrong_usage_is_2, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(tests, a_file_that_cannot_be_written_ends_the_start);
    tcase_add_test(tests, scenarios_and_the_demo_are_computed_again);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    strcpy(folder, "/tmp/hs-recheck-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    int failed = hs_run_suite(create_suite());
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command) == 0 && failed == 0 ? 0 : 1;
}
