/* A match in metres with a map moves to another replica, because its own replica drains. Its game
   server follows docs/balancer.md: no request fails, no honest claim is rejected, and the wall
   keeps its place. */
#include "tests/support/clock.h"
#include "tests/support/http/balancer.h"
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { REPLICAS = 2, WINDOW = 20, SHOT_TICKS = 3, MORE = 60 };
#define TICK  0.05
#define DELAY 0.1 /* seconds; the shooter sees what happened this long ago */
#define MATCH "/v1/matches/moving"

static struct hs_test_service replicas[REPLICAS];
static struct hs_balancer balancer;

/* The two rows. In one, only the game opens the match. In the other, a post opens it with the
   default ruleset and the default map. */
static const struct {
    const char *arguments[8];
    /* the game opens the match at the start, and again when the match is unknown */
    bool puts;
    int inconclusive; /* number of claims per request that may find no history yet */
} ways[] = {
    {{"--drain-wait-seconds", "3", "--auto-open=false", NULL}, true, 0},
    {{"--drain-wait-seconds", "3", "--default-ruleset", "metres", "--default-map", "hall", NULL},
     false,
     1},
};

/* A wall between ann, who is in the middle, and cid. */
static const char map[] = "{\"boxes\":[{\"min\":[-10.1,-5,0],\"max\":[-10,5,5]}]}";

struct game {
    struct hs_test_http *http;
    int tick;
    int opened, resynced;
    /* Numbers of claims: inconclusive for lack of history, accepted, stopped by the wall; then
       accepted and stopped after the move to the other replica. */
    int inconclusive, accepted, stopped, accepted_late, stopped_late;
};

static void start(size_t way)
{
    struct hs_balancer_server servers[REPLICAS];
    for (unsigned i = 0; i < REPLICAS; i++) {
        ck_assert(hs_test_service_start(&replicas[i], ways[way].arguments));
        ck_assert_int_eq(hs_test_http_status(replicas[i].admin_port, "PUT", "/v1/maps/hall", map),
                         201);
        servers[i] = (struct hs_balancer_server){i + 1, replicas[i].data_port};
    }
    ck_assert(hs_balancer_start(&balancer, servers, REPLICAS));
}

static void stop(void)
{
    hs_balancer_stop(&balancer);
    for (size_t i = 0; i < REPLICAS; i++)
        ck_assert(hs_test_service_stop(&replicas[i]));
}

/* Returns the replica that has the match, or REPLICAS if none or more than one has it. */
static size_t owner(void)
{
    size_t found = REPLICAS;
    for (size_t i = 0; i < REPLICAS; i++)
        if (replicas[i].pid > 0 &&
            hs_test_http_status(replicas[i].data_port, "GET", MATCH, NULL) == 200)
            found = found == REPLICAS ? i : REPLICAS + 1;
    return found;
}

/* ---- the game ---- */

static double ben_at(double time)
{
    return 3 * sin(time);
}

static int print_frame(char *to, size_t size, int tick)
{
    double time = tick * TICK;
    return snprintf(to, size,
                    "{\"time\":%.3f,\"players\":[{\"player\":\"ann\",\"position\":[0,0,0],"
                    "\"weapon\":\"rifle\"},{\"player\":\"ben\",\"position\":[20,%.6f,0]},"
                    "{\"player\":\"cid\",\"position\":[-20,0,0]}]}",
                    time, ben_at(time));
}

static bool aims_at_cid(int tick)
{
    return tick / SHOT_TICKS % 2 == 1;
}

/* Writes the frame of a tick. Every third tick also has a shot, which is the rate of the rifle. The
   shot is at the place where ann sees ben, or at cid behind the wall. */
static void print_tick(char *to, size_t size, int tick)
{
    double now = tick * TICK;
    int len = snprintf(to, size, "{\"now\":%.3f,\"frames\":[", now);
    len += print_frame(to + len, size - (size_t)len, tick);
    len += snprintf(to + len, size - (size_t)len, "]");
    if (tick % SHOT_TICKS == 0 && now > 2 * DELAY)
        len += snprintf(to + len, size - (size_t)len,
                        ",\"hits\":[{\"shot\":%d,\"shooter\":\"ann\",\"hit_time\":%.3f,"
                        "\"fire_time\":%.3f,\"start\":[0,0,1.6],\"end\":[%d,%.6f,1.1],"
                        "\"target\":\"%s\"}]",
                        tick, now - DELAY, now, aims_at_cid(tick) ? -20 : 20,
                        aims_at_cid(tick) ? 0 : ben_at(now - DELAY),
                        aims_at_cid(tick) ? "cid" : "ben");
    snprintf(to + len, size - (size_t)len, "}");
}

static json_t *send_text(struct game *game, const char *method, const char *path, const char *text,
                         long *status)
{
    struct hs_test_response response;
    hs_test_http_send(game->http, method, path, text, text == NULL ? 0 : strlen(text), NULL,
                      &response);
    json_t *answer = hs_test_response_json(&response);
    *status = response.status;
    ck_assert_msg(answer != NULL, "%s %s: %ld %s%s", method, path, *status, response.body,
                  response.error);
    hs_test_response_free(&response);
    return answer;
}

static void open_match(struct game *game)
{
    long status;
    json_decref(
        send_text(game, "PUT", MATCH, "{\"ruleset\":\"metres\",\"map\":\"hall\"}", &status));
    ck_assert_msg(status == 200 || status == 201, "%ld", status);
    game->opened += status == 201;
}

/* Posts the frames of the window before the current tick again. */
static void resync(struct game *game)
{
    char text[8192];
    long status;
    int len = snprintf(text, sizeof text, "{\"frames\":[");
    for (int tick = game->tick - WINDOW; tick < game->tick; tick++) {
        len += print_frame(text + len, sizeof text - (size_t)len, tick);
        len += snprintf(text + len, sizeof text - (size_t)len, tick + 1 < game->tick ? "," : "]}");
    }
    json_decref(send_text(game, "POST", MATCH "/frames", text, &status));
    ck_assert_int_eq(status, 200);
    game->resynced++;
}

static void count_claim(struct game *game, const json_t *claim)
{
    const char *verdict = json_string_value(json_object_get(claim, "verdict"));
    const char *reason = json_string_value(json_object_get(claim, "reason"));
    bool late = game->resynced > 0, knows = strcmp(verdict, "inconclusive") != 0;
    game->inconclusive += !knows;
    if (!knows)
        return;
    if (aims_at_cid(game->tick)) {
        ck_assert_msg(strcmp(reason, "occluded_world") == 0, "tick %d: through the wall: %s",
                      game->tick, reason);
        game->stopped++;
        game->stopped_late += late;
    } else {
        ck_assert_msg(strcmp(verdict, "accepted") == 0, "tick %d: an honest hit: %s", game->tick,
                      reason);
        game->accepted++;
        game->accepted_late += late;
    }
}

/* Plays one tick of the game server. If the match is unknown, opens it, posts the frames of the
   window, and sends the request again. If a match reports too little history, it also gets these
   frames. */
static void play_tick(struct game *game)
{
    char text[2048];
    long status;
    print_tick(text, sizeof text, game->tick);
    json_t *answer = send_text(game, "POST", MATCH "/ticks", text, &status);
    if (status == 404 && game->opened > 0) {
        ck_assert_str_eq(json_string_value(json_object_get(answer, "code")), "unknown_match");
        json_decref(answer);
        open_match(game);
        if (game->tick > WINDOW)
            resync(game);
        answer = send_text(game, "POST", MATCH "/ticks", text, &status);
    }
    ck_assert_int_eq(status, 200);
    const json_t *claim = json_array_get(json_object_get(answer, "hits"), 0);
    if (claim != NULL)
        count_claim(game, claim);
    bool asks = json_object_get(json_object_get(answer, "frames"), "need") != NULL;
    if (asks && game->tick > WINDOW)
        resync(game);
    json_decref(answer);
    game->tick++;
    hs_test_pause_ms(10);
}

START_TEST(the_rules_move_with_the_match)
{
    struct game game = {0};
    long status = 0;
    int code = -1;
    start((size_t)_i);
    game.http = hs_test_http_open(balancer.port);
    if (ways[_i].puts)
        open_match(&game);
    while (game.tick < MORE)
        play_tick(&game);
    size_t before = owner();
    ck_assert_uint_lt(before, REPLICAS);
    ck_assert(game.accepted > 0 && game.stopped > 0);
    ck_assert_int_eq(game.inconclusive + game.resynced, 0);

    kill(replicas[before].pid, SIGTERM);
    double begun = hs_test_seconds();
    while (game.resynced == 0 && hs_test_seconds() - begun < 30)
        play_tick(&game);
    ck_assert_int_eq(game.resynced, 1);
    for (int i = 0; i < MORE; i++)
        play_tick(&game);
    ck_assert_int_eq(waitpid(replicas[before].pid, &code, 0), replicas[before].pid);
    ck_assert_int_eq(code, 0);
    replicas[before].pid = 0;
    for (int i = 0; i < MORE; i++)
        play_tick(&game);

    ck_assert_uint_eq(owner(), 1 - before);
    ck_assert_int_eq(game.resynced, 1);
    ck_assert_int_eq(game.opened, ways[_i].puts ? 2 : 0);
    ck_assert_int_le(game.inconclusive, ways[_i].inconclusive);
    ck_assert_int_ge(game.accepted_late, 2 * MORE / SHOT_TICKS / 2);
    ck_assert_int_ge(game.stopped_late, 2 * MORE / SHOT_TICKS / 2);
    json_t *answer = send_text(&game, "GET", MATCH, NULL, &status);
    ck_assert_str_eq(json_string_value(json_object_get(answer, "ruleset")), "metres");
    ck_assert_str_eq(json_string_value(json_object_get(answer, "map")), "hall");
    json_decref(answer);
    hs_test_http_close(game.http);
    stop();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("moved match");
    TCase *tests = tcase_create("moved match");
    tcase_set_timeout(tests, 120);
    if (hs_balancer_program() != NULL)
        tcase_add_loop_test(tests, the_rules_move_with_the_match, 0,
                            (int)(sizeof ways / sizeof ways[0]));
    else
        printf("SKIP: haproxy is not installed\n");
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
