#include "tests/support/play/timing_runner.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/http/client.h"
#include "tests/support/play/stage.h"

/* Fails the test unless `holds`. Check's assertions write their place to a file each time, which is
   too slow for every move. */
static void need(bool holds, const char *what)
{
    if (!holds)
        ck_abort_msg("%s", what);
}

struct hs_timing_runner {
    /* For a match in this process. */
    struct hs_ruleset *ruleset;
    struct hs_match *match;
    /* For a match of a service. */
    struct hs_test_http *http;
    char path[64];
    char *body;
    size_t size, room;
};

/* ---- a match in this process ---- */

static void open_here(struct hs_timing_runner *runner, const struct hs_timing_rules *rules)
{
    runner->ruleset = hs_stage_ruleset();
    runner->ruleset->moves.drift_allowance = rules->drift;
    runner->ruleset->moves.prevention =
        rules->resolution ? HS_PREVENTION_RESOLUTION : HS_PREVENTION_CREDIT;
    runner->match = hs_stage_match(runner->ruleset);
}

static void judge_here(struct hs_timing_runner *runner, const struct hs_move *move,
                       struct hs_timing_seen *seen)
{
    struct hs_move_result result;
    need(hs_match_check_move(runner->match, move, &result), "out of memory");
    *seen = (struct hs_timing_seen){.reason = result.reason,
                                    .flags = result.raised,
                                    .delta_s = (double)result.delta_us / 1e6,
                                    .discrepancy_s = (double)result.discrepancy_us / 1e6,
                                    .credit_s = (double)result.credit_us / 1e6,
                                    .speed = result.speed,
                                    .force_update = result.force_update,
                                    .replayed = result.replayed,
                                    .is_resolving = result.is_resolving};
}

/* ---- a match of a service ---- */

static void put(struct hs_timing_runner *runner, const char *path, json_t *body)
{
    long status;
    json_t *answer = hs_test_http_json(runner->http, "PUT", path, body, &status);
    char *text = json_dumps(answer, JSON_COMPACT);
    ck_assert_msg(status == 200 || status == 201, "PUT %s: status %ld %s", path, status, text);
    free(text);
    json_decref(answer);
}

static void open_there(struct hs_timing_runner *runner, unsigned port,
                       const struct hs_timing_rules *rules)
{
    static unsigned matches;
    char name[32], path[64];
    runner->http = hs_test_http_open(port);
    snprintf(name, sizeof name, "%s-%d", rules->resolution ? "resolution" : "credit",
             (int)(rules->drift * 1000 + 0.5));
    snprintf(path, sizeof path, "/v1/rulesets/%s", name);
    put(runner, path,
        json_pack("{s:s,s:{s:s,s:f}}", "name", name, "moves", "prevention",
                  rules->resolution ? "resolution" : "credit", "drift_allowance", rules->drift));
    snprintf(runner->path, sizeof runner->path, "/v1/matches/timing-%u", matches++);
    put(runner, runner->path, json_pack("{s:s}", "ruleset", name));
}

static void add_text(struct hs_timing_runner *runner, const char *text, size_t size)
{
    if (runner->size + size > runner->room) {
        runner->room = 2 * (runner->size + size);
        runner->body = realloc(runner->body, runner->room);
        need(runner->body != NULL, "out of memory");
    }
    memcpy(runner->body + runner->size, text, size);
    runner->size += size;
}

static void add_move(struct hs_timing_runner *runner, const struct hs_move *move, bool is_first)
{
    char row[256];
    int size =
        snprintf(row, sizeof row, "%s[\"%.*s\",%llu,%.6f,%.6f,%llu,%.17g", is_first ? "" : ",",
                 (int)move->player.len, move->player.ptr, (unsigned long long)move->seq,
                 (double)move->timestamp_us / 1e6, (double)move->received_us / 1e6,
                 (unsigned long long)move->epoch, move->dilation);
    need(size < (int)sizeof row, "a row too long");
    add_text(runner, row, (size_t)size);
    if (move->fields & HS_MOVE_HAS_ACK) {
        size = snprintf(row, sizeof row, ",%.6f", (double)move->ack_us / 1e6);
        add_text(runner, row, (size_t)size);
    }
    add_text(runner, "]", 1);
}

/* Writes the body. Moves with acks and moves without acks have different columns. */
static void compose(struct hs_timing_runner *runner, const struct hs_move *moves, size_t count)
{
    static const char with_acks[] =
        "{\"columns\":[\"player\",\"seq\",\"client_time\",\"received\",\"epoch\",\"dilation\","
        "\"ack\"],\"rows\":[";
    static const char without[] =
        "{\"columns\":[\"player\",\"seq\",\"client_time\",\"received\",\"epoch\",\"dilation\"],"
        "\"rows\":[";
    runner->size = 0;
    if (moves[0].fields & HS_MOVE_HAS_ACK)
        add_text(runner, with_acks, sizeof with_acks - 1);
    else
        add_text(runner, without, sizeof without - 1);
    for (size_t i = 0; i < count; i++) {
        need(moves[i].fields == moves[0].fields, "moves of one request have the same members");
        add_move(runner, &moves[i], i == 0);
    }
    add_text(runner, "]}", 2);
}

static enum hs_move_reason reason_of(const char *name)
{
    for (int i = 0; i < HS_MOVE_REASON_COUNT; i++)
        if (strcmp(name, hs_move_reason_name((enum hs_move_reason)i)) == 0)
            return (enum hs_move_reason)i;
    ck_abort_msg("no such reason: %s", name);
    return HS_MOVE_REASON_COUNT;
}

static unsigned flag_of(const char *name)
{
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        if (strcmp(name, hs_move_check_name((enum hs_move_check)i)) == 0)
            return 1u << i;
    ck_abort_msg("no such check: %s", name);
    return 0;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    need(json_is_number(value), key);
    return json_number_value(value);
}

static bool truth(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    need(json_is_boolean(value), key);
    return json_is_true(value);
}

static void read_answer(const json_t *result, struct hs_timing_seen *seen)
{
    const json_t *timing = json_object_get(result, "timing"), *flag;
    const char *reason = json_string_value(json_object_get(result, "reason"));
    size_t i;
    need(reason != NULL, "no reason");
    *seen = (struct hs_timing_seen){.reason = reason_of(reason),
                                    .delta_s = number(result, "delta_time"),
                                    .discrepancy_s = number(timing, "discrepancy"),
                                    .credit_s = number(timing, "credit"),
                                    .speed = number(timing, "speed_estimate"),
                                    .force_update = truth(result, "force_update"),
                                    .replayed = truth(result, "replayed"),
                                    .is_resolving = truth(timing, "resolving")};
    json_array_foreach(json_object_get(timing, "flags"), i, flag) seen->flags |=
        flag_of(json_string_value(flag));
}

static void judge_there(struct hs_timing_runner *runner, const struct hs_move *moves, size_t count,
                        struct hs_timing_seen *seen)
{
    char path[80];
    struct hs_test_response response = {0};
    snprintf(path, sizeof path, "%s/moves", runner->path);
    compose(runner, moves, count);
    hs_test_http_send(runner->http, "POST", path, runner->body, runner->size, NULL, &response);
    ck_assert_msg(response.status == 200, "POST %s: status %ld %s %s", path, response.status,
                  response.error, response.body);
    json_t *answer = hs_test_response_json(&response);
    const json_t *results = json_object_get(answer, "results");
    ck_assert_uint_eq(json_array_size(results), count);
    for (size_t i = 0; i < count; i++)
        read_answer(json_array_get(results, i), &seen[i]);
    json_decref(answer);
    hs_test_response_free(&response);
}

long hs_timing_runner_post(struct hs_timing_runner *runner, const char *body)
{
    char path[96];
    struct hs_test_response response = {0};
    snprintf(path, sizeof path, "%s/moves?strict=true", runner->path);
    hs_test_http_send(runner->http, "POST", path, body, strlen(body), NULL, &response);
    long status = response.status;
    hs_test_response_free(&response);
    return status;
}

static void ask_there(struct hs_timing_runner *runner, struct hs_timing_told *told)
{
    char path[80];
    long status;
    const char *reason;
    json_t *count;
    snprintf(path, sizeof path, "%s/players/P", runner->path);
    json_t *player = hs_test_http_json(runner->http, "GET", path, NULL, &status);
    json_t *timing = json_object_get(player, "timing");
    ck_assert_int_eq(status, 200);
    *told =
        (struct hs_timing_told){.bursts_per_minute = (int)number(timing, "lag_bursts_per_minute"),
                                .credit_s = number(timing, "credit"),
                                .discrepancy_s = number(timing, "discrepancy"),
                                .speed = number(timing, "speed_estimate")};
    json_object_foreach(json_object_get(timing, "reasons"), reason, count)
        told->reasons[reason_of(reason)] = (unsigned long)json_integer_value(count);
    json_decref(player);
}

/* ---- both kinds ---- */

static bool same_bits(double a, double b)
{
    uint64_t bits_a, bits_b;
    memcpy(&bits_a, &a, sizeof bits_a);
    memcpy(&bits_b, &b, sizeof bits_b);
    return bits_a == bits_b;
}

bool hs_timing_seen_equal(const struct hs_timing_seen *a, const struct hs_timing_seen *b)
{
    return a->reason == b->reason && a->flags == b->flags && same_bits(a->delta_s, b->delta_s) &&
           same_bits(a->discrepancy_s, b->discrepancy_s) && same_bits(a->credit_s, b->credit_s) &&
           same_bits(a->speed, b->speed) && a->force_update == b->force_update &&
           a->is_resolving == b->is_resolving;
}

struct hs_timing_runner *hs_timing_runner_open(unsigned port, const struct hs_timing_rules *rules)
{
    struct hs_timing_runner *runner = calloc(1, sizeof *runner);
    ck_assert_ptr_nonnull(runner);
    if (port == 0)
        open_here(runner, rules);
    else
        open_there(runner, port, rules);
    return runner;
}

void hs_timing_runner_close(struct hs_timing_runner *runner)
{
    if (runner->http != NULL) {
        long status;
        json_decref(hs_test_http_json(runner->http, "DELETE", runner->path, NULL, &status));
        ck_assert_int_eq(status, 200);
        hs_test_http_close(runner->http);
    }
    hs_match_destroy(runner->match);
    hs_ruleset_destroy(runner->ruleset);
    free(runner->body);
    free(runner);
}

void hs_timing_runner_judge(struct hs_timing_runner *runner, const struct hs_move *moves,
                            size_t count, struct hs_timing_seen *seen)
{
    if (runner->http != NULL && count > 0)
        judge_there(runner, moves, count, seen);
    for (size_t i = 0; runner->http == NULL && i < count; i++)
        judge_here(runner, &moves[i], &seen[i]);
}

void hs_timing_runner_ask(struct hs_timing_runner *runner, struct hs_timing_told *told)
{
    struct hs_moves_info info;
    if (runner->http != NULL) {
        ask_there(runner, told);
        return;
    }
    ck_assert(hs_match_moves_info(runner->match, HS_STR("P"), &info));
    *told = (struct hs_timing_told){.bursts_per_minute = (int)info.bursts_per_minute,
                                    .credit_s = (double)info.credit_us / 1e6,
                                    .discrepancy_s = (double)info.discrepancy_us / 1e6,
                                    .speed = info.speed};
    for (int i = 0; i < HS_MOVE_REASON_COUNT; i++)
        told->reasons[i] = (unsigned long)info.reasons[i];
}
