/*
 * Requests that the service answers per second. The baseline is a minimal server with the same
 * library, which gets the same bodies over the same number of connections. Rounds of both
 * alternate, so that a busy machine slows both.
 *
 *   hit_request_rps       POST .../hits with one claim, in a match of 16 players with a second of
 *                         history, against $HS_PROGRAM
 *   bare_mhd_echo_rps     the same requests answered with their own bodies
 *   bare_mhd_echo_us,     processor time of the two servers for one such request
 *   hit_request_us
 *   hits_32_claims_per_s  claims per second of the service's processor time, 32 in each request
 *   evidence_overhead     throughput that the store of verdicts costs, as a share: requests per
 *                         second of a service without a store and of one with a store, in turns.
 *                         One of the 32 claims in each request is rejected
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/support/bench.h"
#include "tests/support/http/client.h"
#include "tests/support/http/load.h"
#include "tests/support/http/service.h"

/* A match remembers 1,024 shot numbers of each player, and its clock stands still here. So each
   player of a match can make only that many claims. The first digits of a shot number name the
   match. */
enum { PLAYERS = 16, FRAMES = 61, CONNECTIONS = 8, ROUNDS = 7, MANY = 32, MANY_ROUNDS = 5 };
enum { MATCHES = 900, MANY_MATCHES = 300, FIRST_MATCH = 1000, STORE_ROUNDS = 11 };
#define ROUND_SECONDS      0.5
#define MANY_ROUND_SECONDS 0.2

static char directory[] = "/tmp/hindsight_bench_XXXXXX";

static const char path[] = "/v1/matches/m1000/hits", many_path[] = "/v1/matches/n1000/hits";
static const char accepted[] = "\"verdict\":\"accepted\"";
static const char claim[] =
    "{\"now\":1.0,\"hits\":[{\"shot\":1000000,\"shooter\":\"p0\",\"weapon\":\"rifle\","
    "\"hit_time\":0.875,\"start\":[0,0,1.6],\"end\":[20,3.5,1.6],\"target\":\"p1\","
    "\"claimed_bone\":\"head\",\"claimed_damage\":40}]}";

/* Returns the place of a player in the row. p0 is in the middle. */
static int place(int player)
{
    return player == 0 ? 0 : player - PLAYERS / 2 + (player < PLAYERS / 2 ? 0 : 1);
}

/* All players except p1 stand in a row and aim at p1, who walks across their view. */
static json_t *frame_at(double time)
{
    json_t *players = json_array();
    for (int i = 0; i < PLAYERS; i++) {
        char name[8];
        snprintf(name, sizeof name, "p%d", i);
        double x = i == 1 ? 20 : 0, y = i == 1 ? 4 * time : place(i);
        json_array_append_new(players,
                              json_pack("{s:s,s:[f,f,f],s:[f,f,f],s:s}", "player", name, "position",
                                        x, y, 0.0, "aim", 20.0, 3.5 - y, 0.0, "weapon", "rifle"));
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
 * The rules of `metres`, but the same shot may be fired repeatedly without a pause. So each claim
 * is verified completely and accepted.
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

/* Opens `count` matches for requests with one claim and MANY_MATCHES matches for requests with many
   claims, all with the same frames. */
static bool open_matches(unsigned port, int count)
{
    struct hs_test_http *http = hs_test_http_open(port);
    json_t *frames = json_array(), *body = json_pack("{s:o}", "frames", frames);
    for (int i = 0; i < FRAMES; i++)
        json_array_append_new(frames, frame_at((double)i / (FRAMES - 1)));
    bool fine = put_rules(http);
    for (int i = 0; fine && i < count + MANY_MATCHES; i++) {
        char match[64], posted[80];
        snprintf(match, sizeof match, "/v1/matches/%c%d", i < count ? 'm' : 'n',
                 FIRST_MATCH + (i < count ? i : i - count));
        snprintf(posted, sizeof posted, "%s/frames", match);
        fine = expect(http, "PUT", match, json_pack("{s:s}", "ruleset", "bench"), 201) &&
               expect(http, "POST", posted, json_incref(body), 200);
    }
    json_decref(body);
    hs_test_http_close(http);
    return fine;
}

/* Writes MANY claims of all players except p1. A shot number is the number of the request, and then
   a digit that counts the claims of the player. So numbers rise, as those of a game do. The first
   number has no such digit, because the load counts up all digits of the first number. The last
   claim ends at y = `last_end`: at 3.5 it hits, further away it misses. */
static size_t many_claims(char *out, size_t size, double last_end)
{
    size_t len = (size_t)snprintf(out, size, "{\"now\":1.0,\"hits\":[");
    for (int i = 0; i < MANY && len < size; i++) {
        int shooter = i % (PLAYERS - 1) + (i % (PLAYERS - 1) > 0 ? 1 : 0);
        char digit[2] = {(char)('1' + i / (PLAYERS - 1)), '\0'};
        len += (size_t)snprintf(out + len, size - len,
                                "%s{\"shot\":100000%s,\"shooter\":\"p%d\",\"weapon\":\"rifle\","
                                "\"hit_time\":0.875,\"start\":[0,%d,1.6],\"end\":[20,%.1f,1.6],"
                                "\"target\":\"p1\",\"claimed_bone\":\"head\","
                                "\"claimed_damage\":40}",
                                i == 0 ? "" : ",", i == 0 ? "" : digit, shooter, place(shooter),
                                i + 1 < MANY ? 3.5 : last_end);
    }
    return len < size ? len + (size_t)snprintf(out + len, size - len, "]}") : size;
}

/* Returns the number of processors as the service counts them. The service runs one thread for
   each. */
static unsigned processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

/* Returns the service's processor time so far, in seconds. */
static double processor_time(const struct hs_test_service *service)
{
    clockid_t clock;
    struct timespec spent = {0};
    if (clock_getcpuclockid(service->pid, &clock) != 0 || clock_gettime(clock, &spent) != 0)
        return 0;
    return (double)spent.tv_sec + (double)spent.tv_nsec * 1e-9;
}

static double seconds(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

/* Returns the processor time of the baseline server so far, in seconds. Its threads are all threads
   of this process except the calling one. */
static double echo_time(void)
{
    struct rusage all, own;
    getrusage(RUSAGE_SELF, &all);
    getrusage(RUSAGE_THREAD, &own);
    return seconds(&all) - seconds(&own);
}

static bool measure(const struct hs_test_service *service, struct hs_load *load,
                    struct hs_load *echo)
{
    double hits[ROUNDS], echoes[ROUNDS], hit_us[ROUNDS], echo_us[ROUNDS];
    if (hs_load_run(load, ROUND_SECONDS / 2, accepted) <= 0 ||
        hs_load_run(echo, ROUND_SECONDS / 2, "hits") <= 0)
        return false;
    for (int i = 0; i < ROUNDS; i++) {
        double before = processor_time(service);
        hits[i] = hs_load_run(load, ROUND_SECONDS, accepted);
        hit_us[i] = (processor_time(service) - before) / (hits[i] * ROUND_SECONDS) * 1e6;
        before = echo_time();
        echoes[i] = hs_load_run(echo, ROUND_SECONDS, "hits");
        echo_us[i] = (echo_time() - before) / (echoes[i] * ROUND_SECONDS) * 1e6;
        if (hits[i] <= 0 || echoes[i] <= 0)
            return false;
    }
    double hit = hs_bench_median(hits, ROUNDS), bare = hs_bench_median(echoes, ROUNDS);
    hs_bench_print("bare_mhd_echo_rps", bare, "1/s", NULL, 0);
    hs_bench_print("hit_request_rps", hit, "1/s", "bare_mhd_echo_rps", hit / bare);
    hit = hs_bench_median(hit_us, ROUNDS);
    bare = hs_bench_median(echo_us, ROUNDS);
    hs_bench_print("bare_mhd_echo_us", bare, "us", NULL, 0);
    hs_bench_print("hit_request_us", hit, "us", "bare_mhd_echo_us", bare / hit);
    return true;
}

static bool measure_many(const struct hs_test_service *service, struct hs_load *load)
{
    double claims[MANY_ROUNDS];
    for (int i = -1; i < MANY_ROUNDS; i++) {
        double before = processor_time(service);
        double rate = hs_load_run(load, MANY_ROUND_SECONDS, accepted);
        double spent = processor_time(service) - before;
        if (rate <= 0 || spent <= 0)
            return false;
        claims[i < 0 ? 0 : i] = rate * MANY_ROUND_SECONDS * MANY / spent;
    }
    hs_bench_print("hits_32_claims_per_s", hs_bench_median(claims, MANY_ROUNDS), "1/s", NULL, 0);
    return true;
}

/* Opens a load of requests whose shot numbers begin with `first`, which is also the number of the
   match. */
static struct hs_load *open_load(unsigned port, const char *where, const char *body,
                                 const char *first)
{
    size_t digits = (size_t)(strstr(body, first) - body);
    struct hs_load *load = hs_load_open(port, where, body, digits, CONNECTIONS);
    if (load != NULL && hs_load_copy(load, strlen("1000")) && hs_load_copy(load, strlen(first)))
        return load;
    hs_load_close(load);
    return NULL;
}

/* Starts a service with or without a store of verdicts. Both keep journals. */
static struct hs_load *start_stored(struct hs_test_service *service, const char *mode,
                                    const char *body)
{
    char data[sizeof directory + 8];
    snprintf(data, sizeof data, "%s/%s", directory, mode);
    const char *const options[] = {"--data", data, "--evidence", mode, NULL};
    return hs_test_service_start(service, options) && open_matches(service->data_port, 0)
               ? open_load(service->data_port, many_path, body, "100000")
               : NULL;
}

static bool measure_store(void)
{
    static char body[MANY * 256];
    static const char *const modes[] = {"off", "async"};
    struct hs_test_service services[2] = {0};
    struct hs_load *loads[2];
    double rates[2][STORE_ROUNDS];
    bool fine = many_claims(body, sizeof body, 12) < sizeof body;
    for (int k = 0; k < 2; k++)
        fine = (loads[k] = start_stored(&services[k], modes[k], body)) != NULL && fine;
    for (int i = -1; fine && i < STORE_ROUNDS; i++)
        for (int n = 0; n < 2; n++) {
            int k = (i + n) & 1;
            double rate = hs_load_run(loads[k], MANY_ROUND_SECONDS, "\"verdict\":\"rejected\"");
            rates[k][i < 0 ? 0 : i] = rate;
            fine = fine && rate > 0;
        }
    for (int k = 0; k < 2; k++) {
        hs_load_close(loads[k]);
        fine = hs_test_service_stop(&services[k]) && fine;
    }
    if (!fine)
        return false;
    double off = hs_bench_median(rates[0], STORE_ROUNDS);
    double on = hs_bench_median(rates[1], STORE_ROUNDS);
    hs_bench_print("requests_unstored_rps", off, "1/s", NULL, 0);
    hs_bench_print("requests_stored_rps", on, "1/s", "requests_unstored_rps", on / off);
    hs_bench_print("evidence_overhead", 1 - on / off, "1", NULL, 0);
    return true;
}

int main(void)
{
    static char many[MANY * 256];
    struct hs_test_service service;
    if (many_claims(many, sizeof many, 3.5) >= sizeof many ||
        !hs_test_service_start(&service, NULL))
        return 1;
    unsigned echo_port = 0;
    bool fine = open_matches(service.data_port, MATCHES);
    struct hs_echo *echo = hs_echo_start(processors(), &echo_port);
    struct hs_load *hits = open_load(service.data_port, path, claim, "1000000");
    struct hs_load *echoes = echo == NULL ? NULL : open_load(echo_port, path, claim, "1000000");
    struct hs_load *requests = open_load(service.data_port, many_path, many, "100000");
    fine = fine && hits != NULL && echoes != NULL && requests != NULL &&
           measure(&service, hits, echoes) && measure_many(&service, requests);
    hs_load_close(hits);
    hs_load_close(echoes);
    hs_load_close(requests);
    hs_echo_stop(echo);
    fine = hs_test_service_stop(&service) && fine;
    char command[64];
    fine = mkdtemp(directory) != NULL && measure_store() && fine;
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command) == 0 && fine ? 0 : 1;
}
