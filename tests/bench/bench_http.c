/*
 * Requests that the service answers in a second. The baseline is a minimal server on the same
 * library, which gets the same bodies over the same number of connections. Rounds of both
 * alternate, so that a busy machine slows both.
 *
 *   hit_request_rps     POST .../hits with one claim, in a match of 16 players with a second of
 *                       history, against $HS_PROGRAM
 *   bare_mhd_echo_rps   the same requests answered with their own bodies
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/bench.h"
#include "tests/support/http/client.h"
#include "tests/support/http/load.h"
#include "tests/support/http/service.h"

enum { PLAYERS = 16, FRAMES = 61, CONNECTIONS = 8, ROUNDS = 9 };
#define ROUND_SECONDS 0.5

static const char path[] = "/v1/matches/bench/hits";
static const char accepted[] = "\"verdict\":\"accepted\"";
/* The number of the shot counts up from here. */
static const char claim[] =
    "{\"now\":1.0,\"hits\":[{\"shot\":1000000000,\"shooter\":\"p0\",\"weapon\":\"rifle\","
    "\"hit_time\":0.875,\"start\":[0,0,1.6],\"end\":[20,3.5,1.6],\"target\":\"p1\","
    "\"claimed_bone\":\"head\",\"claimed_damage\":40}]}";

/* p0 shoots from the origin, p1 walks across the view of p0, and the others stand still. */
static json_t *frame_at(double time)
{
    json_t *players = json_array();
    for (int i = 0; i < PLAYERS; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        double x = i == 0 ? 0 : i == 1 ? 20 : 4.0 * i - 30;
        double y = i == 0 ? 0 : i == 1 ? 4 * time : 3.0 * i - 40;
        json_array_append_new(players,
                              json_pack("{s:s,s:[f,f,f],s:[f,f,f],s:s}", "player", name, "position",
                                        x, y, 0.0, "aim", 1.0, 0.0, 0.0, "weapon", "rifle"));
    }
    return json_pack("{s:f,s:o}", "time", time, "players", players);
}

static bool expect(struct hs_test_http *http, const char *method, const char *where, json_t *body,
                   long wanted)
{
    long status = 0;
    json_decref(hs_test_http_json(http, method, where, body, &status));
    if (status != wanted)
        fprintf(stderr, "%s %s: status %ld\n", method, where, status);
    return status == wanted;
}

/*
 * The rules of `metres`, but the same shot may be fired again and again without a pause: what is
 * measured is a claim that is judged to its end and accepted.
 */
static bool put_rules(struct hs_test_http *http)
{
    long status = 0;
    json_t *answer = hs_test_http_json(http, "GET", "/v1/rulesets/metres", NULL, &status);
    json_t *rules = json_incref(json_object_get(answer, "ruleset"));
    json_t *checks = json_object_get(rules, "checks");
    json_t *rifle = json_object_get(json_object_get(rules, "weapons"), "rifle");
    json_object_set_new(rules, "name", json_string("bench"));
    json_object_set_new(checks, "trajectory", json_string("off"));
    json_object_set_new(checks, "fire_rate", json_string("off"));
    json_object_set_new(rifle, "magazine", json_integer(0));
    json_decref(answer);
    return status == 200 && expect(http, "PUT", "/v1/rulesets/bench", rules, 201);
}

static bool open_match(unsigned port)
{
    struct hs_test_http *http = hs_test_http_open(port);
    json_t *frames = json_array();
    for (int i = 0; i < FRAMES; i++)
        json_array_append_new(frames, frame_at((double)i / (FRAMES - 1)));
    bool fine = put_rules(http) && expect(http, "PUT", "/v1/matches/bench",
                                          json_pack("{s:s}", "ruleset", "bench"), 201);
    fine = expect(http, "POST", "/v1/matches/bench/frames", json_pack("{s:o}", "frames", frames),
                  200) &&
           fine;
    hs_test_http_close(http);
    return fine;
}

/* The rules of `metres`, but the same shot may be fired again and again without a pause. So every
   measured claim passes all checks and is accepted. */
static unsigned processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static bool measure(struct hs_load *service, struct hs_load *echo)
{
    double hits[ROUNDS], echoes[ROUNDS];
    if (hs_load_run(service, ROUND_SECONDS / 2, accepted) <= 0 ||
        hs_load_run(echo, ROUND_SECONDS / 2, "hits") <= 0)
        return false;
    for (int i = 0; i < ROUNDS; i++) {
        hits[i] = hs_load_run(service, ROUND_SECONDS, accepted);
        echoes[i] = hs_load_run(echo, ROUND_SECONDS, "hits");
        if (hits[i] <= 0 || echoes[i] <= 0)
            return false;
    }
    double hit = hs_bench_median(hits, ROUNDS), bare = hs_bench_median(echoes, ROUNDS);
    hs_bench_print("bare_mhd_echo_rps", bare, "1/s", NULL, 0);
    hs_bench_print("hit_request_rps", hit, "1/s", "bare_mhd_echo_rps", hit / bare);
    return true;
}

int main(void)
{
    struct hs_test_service service;
    if (!hs_test_service_start(&service, NULL))
        return 1;
    unsigned echo_port = 0;
    size_t digits = (size_t)(strstr(claim, "1000000000") - claim);
    bool fine = open_match(service.data_port);
    struct hs_echo *echo = hs_echo_start(processors(), &echo_port);
    struct hs_load *hits = hs_load_open(service.data_port, path, claim, digits, CONNECTIONS);
    struct hs_load *echoes =
        echo == NULL ? NULL : hs_load_open(echo_port, path, claim, digits, CONNECTIONS);
    fine = fine && hits != NULL && echoes != NULL && measure(hits, echoes);
    hs_load_close(hits);
    hs_load_close(echoes);
    hs_echo_stop(echo);
    return hs_test_service_stop(&service) && fine ? 0 : 1;
}
