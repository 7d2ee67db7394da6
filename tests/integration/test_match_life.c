/* A match from start to end: the first post opens it, it fills up to its limits, several threads
   read and write it at once, and its end frees its memory. */
#include <check.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/service.h"
#include "tests/support/run_suite.h"
#include "validators/base/ledger.h"

enum { BONES = 20, RATE = 64 };

static struct hs_test_service service;

/* ---- the ruleset: each body is a column of twenty small spheres, one per bone, 0.1 m apart
   ---- */

static json_t *column_rig(void)
{
    json_t *bones = json_array(), *hitboxes = json_array(), *rest = json_array();
    for (int i = 0; i < BONES; i++) {
        json_t *name = json_sprintf("bone_%d", i);
        json_array_append(bones, name);
        json_array_append_new(hitboxes,
                              json_pack("{s:o,s:s,s:s,s:f,s:[i,i,i]}", "bone", name, "zone", "body",
                                        "shape", "sphere", "radius", 0.04, "center", 0, 0, 0));
        json_array_append_new(rest, json_pack("[i,i,f,i,i,i,i]", 0, 0, 0.1 * i, 0, 0, 0, 1));
    }
    return json_pack("{s:o,s:o,s:{s:{s:[i,i,f],s:o}}}", "bones", bones, "hitboxes", hitboxes,
                     "stances", "stand", "eye", 0, 0, 1.0, "bones", rest);
}

/* Opens a match with a ruleset of the same name. */
static void open_match(struct hs_test_http *http, const char *match, double keep)
{
    json_t *ruleset =
        json_pack("{s:s,s:s,s:s,s:{s:f,s:f,s:f},s:{s:f,s:f},s:{s:f,s:f,s:f},s:{s:f},s:{s:o},"
                  "s:{s:{s:s,s:f,s:f,s:f}}}",
                  "name", match, "up", "+z", "default_rig", "column", "history", "keep", keep,
                  "world_bound", 1e5, "max_speed", 200.0, "rewind", "limit", 1.0, "future_slack",
                  0.05, "hit", "min_trace", 1e-6, "sweep_extension", 0.1, "origin_tolerance", 10.0,
                  "zones", "body", 1.0, "rigs", "column", column_rig(), "weapons", "rifle", "type",
                  "hitscan", "damage", 20.0, "range", 100.0, "radius", 0.0);
    ck_assert(ruleset != NULL);
    long status;
    char path[128];
    snprintf(path, sizeof(path), "/v1/rulesets/%s", match);
    json_decref(hs_test_http_json(http, "PUT", path, ruleset, &status));
    ck_assert_msg(status == 200 || status == 201, "the ruleset: status %ld", status);
    snprintf(path, sizeof(path), "/v1/matches/%s", match);
    json_decref(
        hs_test_http_json(http, "PUT", path, json_pack("{s:s}", "ruleset", match), &status));
    ck_assert_int_eq(status, 201);
}

static json_t *get(struct hs_test_http *http, const char *path)
{
    long status;
    json_t *answer = hs_test_http_json(http, "GET", path, NULL, &status);
    ck_assert_msg(status == 200 && answer != NULL, "GET %s: status %ld", path, status);
    return answer;
}

/* ---- memory (row 94 of the acceptance table) ---- */

struct frame_text {
    char *text;
    size_t size;
    char *time; /* the place of the time in the text: ten bytes */
};

/* Makes a frame of `players` columns that stand 3 m apart on the x axis. */
static struct frame_text build_frame(int players)
{
    struct frame_text frame = {0};
    FILE *stream = open_memstream(&frame.text, &frame.size);
    ck_assert(stream != NULL);
    fputs("{\"frames\":[{\"time\":0000000000,\"players\":[", stream);
    for (int i = 0; i < players; i++) {
        fprintf(stream, "%s{\"player\":\"p%d\",\"position\":[%d,0,0],\"bones\":[", i > 0 ? "," : "",
                i, 3 * i);
        for (int k = 0; k < BONES; k++)
            fprintf(stream, "%s[%d,0,%d.%d,0,0,0,1]", k > 0 ? "," : "", 3 * i, k / 10, k % 10);
        fputs("]}", stream);
    }
    fputs("]}]}", stream);
    ck_assert_int_eq(fclose(stream), 0);
    frame.time = strstr(frame.text, "0000000000");
    return frame;
}

/* Returns the time of frame k: 100 s + k / 64 s. */
static double frame_time(int k)
{
    return 100 + (double)k / RATE;
}

static void post_frames(struct hs_test_http *http, const struct frame_text *frame, int from, int to,
                        int players)
{
    for (int k = from; k < to; k++) {
        char time[16];
        snprintf(time, sizeof(time), "%010.6f", frame_time(k));
        memcpy(frame->time, time, 10);
        struct hs_test_response response;
        hs_test_http_send(http, "POST", "/v1/matches/crowd/frames", frame->text, frame->size, NULL,
                          &response);
        json_t *answer = hs_test_response_json(&response);
        ck_assert_msg(response.status == 200 &&
                          json_integer_value(json_object_get(answer, "stored")) == players,
                      "frame %d: status %ld: %.300s%s", k, response.status, response.body,
                      response.error);
        json_decref(answer);
        hs_test_response_free(&response);
    }
}

static json_int_t history_bytes(struct hs_test_http *http)
{
    json_t *match = get(http, "/v1/matches/crowd");
    json_int_t bytes = json_integer_value(json_object_get(match, "history_bytes"));
    json_decref(match);
    return bytes;
}

static void check_claim(struct hs_test_http *http, int shot, double hit_time, double now,
                        const char *verdict, const char *reason)
{
    json_t *body =
        json_pack("{s:f,s:[{s:i,s:s,s:s,s:s,s:f,s:[f,f,f],s:[f,f,f]}]}", "now", now, "hits", "shot",
                  shot, "shooter", "p0", "weapon", "rifle", "target", "p1", "hit_time", hit_time,
                  "start", 1.0, 0.0, 1.0, "end", 3.0, 0.001 * shot, 1.0);
    long status;
    json_t *answer = hs_test_http_json(http, "POST", "/v1/matches/crowd/hits", body, &status);
    ck_assert_int_eq(status, 200);
    const json_t *result = json_array_get(json_object_get(answer, "results"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(result, "verdict")), verdict);
    ck_assert_str_eq(json_string_value(json_object_get(result, "reason")), reason);
    json_decref(answer);
}

/* One sample at or beyond the age limit stays, so that places can be interpolated in the whole
   window. */
static void check_window(struct hs_test_http *http, int newest)
{
    json_t *player = get(http, "/v1/matches/crowd/players/p1");
    const json_t *window = json_object_get(player, "window");
    double oldest = json_number_value(json_array_get(window, 0));
    double limit = frame_time(newest) - 1.0;
    ck_assert_double_eq_tol(json_number_value(json_array_get(window, 1)), frame_time(newest), 1e-6);
    ck_assert_msg(oldest <= limit && oldest > limit - 1.5 / RATE, "oldest %.6f, limit %.6f", oldest,
                  limit);
    json_int_t samples = json_integer_value(json_object_get(player, "samples"));
    ck_assert_msg(samples >= RATE + 1 && samples <= RATE + 2, "%lld samples", (long long)samples);
    json_decref(player);
    check_claim(http, 1, limit - 2.0 / RATE, limit + 0.5, "inconclusive", "history_too_short");
    check_claim(http, 2, limit, frame_time(newest), "accepted", "ok");
    check_claim(http, 3, limit + 0.001, frame_time(newest), "accepted", "ok");
}

START_TEST(test_memory_is_bounded)
{
    /*
     * Under a wrapper such as valgrind the test has fewer players, because it would take minutes.
     */
    const int players = getenv("HS_WRAP") != NULL ? 50 : 1000;
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    double idle = hs_metric(&service, "hindsight_history_bytes");
    open_match(http, "crowd", 1.0);
    struct frame_text frame = build_frame(players);
    post_frames(http, &frame, 0, RATE + 8, players);
    json_int_t full = history_bytes(http);
    post_frames(http, &frame, RATE + 8, 2 * RATE, players);
    json_int_t later = history_bytes(http);
    ck_assert_msg(later <= full, "%lld bytes after one second, %lld after two", (long long)full,
                  (long long)later);
    /* For one second of frames: ten floats per bone and another kilobyte for each sample, times two
       because arrays grow by doubling. */
    json_int_t bound = (json_int_t)players * 2 * (RATE + 2) * (BONES * 10 * 4 + 1024);
    json_int_t least = (json_int_t)players * RATE * BONES * 3 * 4;
    ck_assert_msg(later >= least && later <= bound, "%lld bytes, expected %lld to %lld",
                  (long long)later, (long long)least, (long long)bound);
    ck_assert_msg(hs_metric(&service, "hindsight_history_bytes") >= idle + (double)least,
                  "the metric does not show it");
    check_window(http, 2 * RATE - 1);

    long status;
    json_decref(hs_test_http_json(http, "DELETE", "/v1/matches/crowd", NULL, &status));
    ck_assert_int_eq(status, 200);
    ck_assert_double_eq_tol(hs_metric(&service, "hindsight_history_bytes"), idle, 0.5);
    free(frame.text);
    hs_test_http_close(http);
}
END_TEST

/* ---- posts and claims at once (row 95) ---- */

enum { RACE_FRAMES = 400, RACE_READERS = 2 };

/* In frame k, at 100 s and k hundredths, the target is at y = 0 if k is even, otherwise at y =
   5. */
struct race {
    atomic_int posted; /* number of answered frames */
    atomic_bool done;
};

struct racer {
    struct race *race;
    int id;
    int rounds;      /* number of checked requests */
    char fault[512]; /* empty if there is no fault */
};

static json_t *race_frame(int k)
{
    json_t *bones = json_array();
    for (int i = 0; i < BONES; i++)
        json_array_append_new(bones,
                              json_pack("[i,i,f,i,i,i,i]", 20, k % 2 * 5, 0.1 * i, 0, 0, 0, 1));
    json_t *target = json_pack("{s:s,s:[i,i,i],s:s,s:o}", "player", "T", "position", 20, k % 2 * 5,
                               0, "event", "teleport", "bones", bones);
    return json_pack("{s:[{s:f,s:[{s:s,s:[i,i,i]},{s:s,s:[i,i,i]},o]}]}", "frames", "time",
                     100 + k * 0.01, "players", "player", "S0", "position", 0, 0, 0, "player", "S1",
                     "position", 0, 0, 0, target);
}

static void *post_race(void *context)
{
    struct racer *racer = context;
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    for (int k = 0; k < RACE_FRAMES && racer->fault[0] == '\0'; k++) {
        long status;
        json_t *answer =
            hs_test_http_json(http, "POST", "/v1/matches/race/frames", race_frame(k), &status);
        if (status != 200 ||
            json_integer_value(json_object_get(answer, "stored")) != RACE_READERS + 1)
            snprintf(racer->fault, sizeof(racer->fault), "frame %d: status %ld", k, status);
        json_decref(answer);
        atomic_store(&racer->race->posted, k + 1);
    }
    atomic_store(&racer->race->done, true);
    hs_test_http_close(http);
    return NULL;
}

/* Makes claims at the time of the frame after `seen`: one shot at each bone, at the bone's place in
   even frames. Each reader has its own shooter. */
static json_t *race_claims(const struct racer *racer, int seen)
{
    json_t *hits = json_array();
    double time = 100 + (seen + 1) * 0.01;
    char shooter[16];
    snprintf(shooter, sizeof(shooter), "S%d", racer->id);
    /* Each round has another direction, because a shot that equals an earlier one would count as a
       repetition. */
    double y = 0.0003 * (racer->rounds % 100);
    for (int i = 0; i < BONES; i++)
        json_array_append_new(hits, json_pack("{s:i,s:s,s:s,s:s,s:f,s:[f,f,f],s:[f,f,f]}", "shot",
                                              racer->rounds * BONES + i, "shooter", shooter,
                                              "weapon", "rifle", "target", "T", "hit_time", time,
                                              "start", 1.0, 0.0, 0.1 * i, "end", 20.0, y, 0.1 * i));
    return json_pack("{s:f,s:o}", "now", time, "hits", hits);
}

/* All claims of a request must have been verified with the same whole frame. */
static void judge_race(struct racer *racer, const json_t *answer, int seen)
{
    const json_t *results = json_object_get(answer, "results");
    int by = -1;
    for (int i = 0; i < BONES; i++) {
        const json_t *result = json_array_get(results, (size_t)i);
        const json_t *from = json_object_get(json_object_get(result, "rewind"), "from");
        int frame = (int)lround((json_number_value(from) - 100) * 100);
        by = i == 0 ? frame : by;
        const char *verdict = json_string_value(json_object_get(result, "verdict"));
        const char *bone =
            json_string_value(json_object_get(json_object_get(result, "impact"), "bone"));
        char expected_bone[24];
        snprintf(expected_bone, sizeof(expected_bone), "bone_%d", i);
        bool hit = verdict != NULL && strcmp(verdict, "accepted") == 0 && bone != NULL &&
                   strcmp(bone, expected_bone) == 0;
        bool miss = verdict != NULL && strcmp(verdict, "rejected") == 0;
        if (frame == by && (frame == seen || frame == seen + 1) && (frame % 2 == 0 ? hit : miss))
            continue;
        char *text = json_dumps(result, JSON_COMPACT);
        snprintf(
            racer->fault, sizeof(racer->fault),
            "frame seen %d, frame of the first claim %d, bone %d verified with frame %d: %.350s",
            seen, by, i, frame, text != NULL ? text : "no result");
        free(text);
        return;
    }
}

static void *read_race(void *context)
{
    struct racer *racer = context;
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    int last_seen = -1, of_this_frame = 0;
    while (!atomic_load(&racer->race->done) && racer->fault[0] == '\0') {
        int seen = atomic_load(&racer->race->posted) - 1;
        of_this_frame = seen == last_seen ? of_this_frame + 1 : 0;
        last_seen = seen;
        /*
         * The service remembers a limited number of shot numbers for one time. Further numbers
         * count as used.
         */
        if (seen < 0 || of_this_frame >= HS_LEDGER_NUMBERS / BONES) {
            sched_yield();
            continue;
        }
        long status;
        json_t *answer = hs_test_http_json(http, "POST", "/v1/matches/race/hits",
                                           race_claims(racer, seen), &status);
        if (status != 200)
            snprintf(racer->fault, sizeof(racer->fault), "claims: status %ld", status);
        else
            judge_race(racer, answer, seen);
        json_decref(answer);
        racer->rounds++;
    }
    hs_test_http_close(http);
    return NULL;
}

START_TEST(test_claims_never_see_half_a_frame)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    /* The window is so long that the service forgets no frame of the race, however slow a reader
       is. */
    open_match(http, "race", RACE_FRAMES * 0.01 + 1);
    struct race race = {0};
    struct racer racers[RACE_READERS + 1];
    pthread_t threads[RACE_READERS + 1];
    for (int i = 0; i <= RACE_READERS; i++) {
        racers[i] = (struct racer){.race = &race, .id = i};
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, i < RACE_READERS ? read_race : post_race, &racers[i]),
            0);
    }
    int rounds = 0;
    for (int i = 0; i <= RACE_READERS; i++) {
        pthread_join(threads[i], NULL);
        rounds += racers[i].rounds;
    }
    for (int i = 0; i <= RACE_READERS; i++)
        ck_assert_msg(racers[i].fault[0] == '\0', "%s", racers[i].fault);
    ck_assert_msg(rounds > 10, "only %d requests raced", rounds);
    hs_test_http_close(http);
}
END_TEST

/* ---- opening ---- */

START_TEST(test_first_post_opens)
{
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    long status;
    json_t *frames = json_pack("{s:[{s:f,s:[{s:s,s:[i,i,i]}]}]}", "frames", "time", 1.0, "players",
                               "player", "T", "position", 0, 0, 0);
    json_t *answer =
        hs_test_http_json(http, "POST", "/v1/matches/unannounced/frames", frames, &status);
    ck_assert_int_eq(status, 200);
    ck_assert_int_eq(json_integer_value(json_object_get(answer, "stored")), 1);
    ck_assert_str_eq(json_string_value(json_object_get(answer, "need")), "resync");
    json_decref(answer);
    json_t *match = get(http, "/v1/matches/unannounced");
    json_t *ruleset = get(http, "/v1/rulesets/default");
    ck_assert_str_eq(json_string_value(json_object_get(match, "revision")),
                     json_string_value(json_object_get(ruleset, "revision")));
    json_decref(match);
    json_decref(ruleset);
    hs_test_http_close(http);
}
END_TEST

static int run_suite(void)
{
    Suite *suite = suite_create("match life");
    TCase *opening = tcase_create("opening");
    tcase_set_timeout(opening, 60);
    tcase_add_test(opening, test_first_post_opens);
    suite_add_tcase(suite, opening);
    TCase *memory = tcase_create("memory");
    tcase_set_timeout(memory, 300);
    tcase_add_test(memory, test_memory_is_bounded);
    suite_add_tcase(suite, memory);
    TCase *race = tcase_create("race");
    tcase_set_timeout(race, 120);
    tcase_add_test(race, test_claims_never_see_half_a_frame);
    suite_add_tcase(suite, race);
    return hs_run_suite(suite);
}

int main(void)
{
    if (!hs_test_service_start(&service, NULL))
        return 1;
    int failed = run_suite();
    return hs_test_service_stop(&service) && failed == 0 ? 0 : 1;
}
