/*
 * The cost of checking a move, in nanoseconds, with 64 players in turn.
 *
 *   move_compat_ns   the compatible clock check alone, which is the baseline
 *   move_timing_ns   both clock checks
 *   move_ns          a numbered move posted to a match: both clock checks, and its stored answer
 *   move_way_ns      the same with a position, a velocity and the server's position
 *   move_path_ns     the same on a map of a million triangles, with the checks of path and ground
 *
 * The clients are honest and send 60 moves a second, with acks and some jitter. Their clocks are
 * reset every 240 s.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/bench.h"
#include "tests/support/oracle/world_cases.h"
#include "tests/support/play/move_stream.h"
#include "validators/clock/timing.h"

/* On the map, players turn around after REACH moves. */
enum { PLAYERS = 64, MOVES = 1024, TURN = MOVES / 2, REACH = 8, BLOCKS = 23334 };

#define FRAME_US INT64_C(16667)
#define ROUND_US (MOVES * FRAME_US)

/* The stream of moves is repeated. In each round all times are one round later. */
struct judging {
    const struct hs_moves_rules *rules;
    struct hs_match *match;
    struct hs_clock_item items[MOVES];
    char names[PLAYERS][8];
    struct hs_timing timing[PLAYERS];
    struct hs_compat compat[PLAYERS];
    struct hs_move move; /* the move to post next */
    size_t at, player, turn;
    int64_t shift_us;
    unsigned fields;
    struct hs_vec (*places)[REACH + 1]; /* places of each player on the map; NULL: no map */
};

static volatile double granted_us; /* volatile, so that the compiler removes no work */

static void need(bool there)
{
    if (there)
        return;
    fprintf(stderr, "a move was not checked\n");
    exit(EXIT_FAILURE);
}

/* Returns the next move of the next player. All players make the same moves. */
static const struct hs_move *next_move(struct judging *j)
{
    if (++j->player < PLAYERS)
        return &j->move;
    j->player = 0;
    if (++j->at >= MOVES) {
        j->at = 0;
        j->turn++;
        j->shift_us += ROUND_US;
    }
    j->move = j->items[j->at].move;
    j->move.timestamp_us = (j->move.timestamp_us + j->shift_us - 1) % j->rules->reset_period_us + 1;
    j->move.received_us += j->shift_us;
    j->move.ack_us += j->shift_us;
    j->move.seq = j->turn * MOVES + j->at + 1;
    j->move.fields |= j->fields;
    return &j->move;
}

/* Each figure has a worker. Their batches alternate. */
enum figure { COMPAT, TIMING, MATCH, WAY, PATH, FIGURES };

static struct judging judgings[FIGURES];

static void judge_compat(void *context, size_t count)
{
    struct judging *j = &((struct judging *)context)[COMPAT];
    double sum_us = 0;
    for (size_t i = 0; i < count; i++) {
        const struct hs_move *move = next_move(j);
        struct hs_compat *compat = &j->compat[j->player];
        struct hs_timing_move step = {.timestamp_us = move->timestamp_us,
                                      .received_us = move->received_us,
                                      .dilation = move->dilation};
        struct hs_compat_result result;
        if (compat->current_us == 0) {
            hs_compat_begin(compat, j->rules, &step);
            continue;
        }
        enum hs_move_reason reason = hs_compat_examine(compat, j->rules, &step);
        need(reason == HS_MOVE_OK || reason == HS_MOVE_RESET);
        hs_compat_accept(compat, j->rules, reason, &step, &result);
        sum_us += result.delta_us;
    }
    granted_us = sum_us;
}

static void judge_timing(void *context, size_t count)
{
    struct judging *j = &((struct judging *)context)[TIMING];
    double sum_us = 0;
    for (size_t i = 0; i < count; i++) {
        const struct hs_move *move = next_move(j);
        struct hs_timing *timing = &j->timing[j->player];
        struct hs_timing_move timed = {.timestamp_us = move->timestamp_us,
                                       .received_us = move->received_us,
                                       .ack_us = move->ack_us,
                                       .has_ack = true,
                                       .dilation = move->dilation};
        struct hs_timing_result result;
        hs_timing_check(timing, j->rules, &timed, &result);
        need(result.reason == HS_MOVE_OK || result.reason == HS_MOVE_RESET);
        sum_us += result.delta_us;
    }
    granted_us = sum_us;
}

static void post(struct judging *j, size_t count)
{
    double sum_us = 0;
    for (size_t i = 0; i < count; i++) {
        const struct hs_move *move = next_move(j);
        struct hs_move_result result;
        j->move.player = (struct hs_str){j->names[j->player], strlen(j->names[j->player])};
        if (j->places != NULL) {
            size_t at = j->at % (2 * (size_t)REACH);
            j->move.position = j->places[j->player][at < REACH ? at : 2 * (size_t)REACH - at];
            j->move.server_position = j->move.position;
        }
        need(hs_match_check_move(j->match, move, &result));
        need(result.verdict == HS_VERDICT_ACCEPTED && !result.replayed);
        sum_us += (double)result.delta_us;
    }
    granted_us = sum_us;
}

static void judge_match(void *context, size_t count)
{
    post(&((struct judging *)context)[MATCH], count);
}

static void judge_way(void *context, size_t count)
{
    post(&((struct judging *)context)[WAY], count);
}

static void judge_path(void *context, size_t count)
{
    post(&((struct judging *)context)[PATH], count);
}

static void prepare(struct judging *j, const struct hs_ruleset *ruleset)
{
    const struct hs_clock_options options = {
        .seed = 1, .rate_hz = 1e6 / (double)FRAME_US, .length_us = 2 * ROUND_US, .jitter_us = 3000};
    const struct hs_match_limits limits = {.players = PLAYERS, .samples = 64};
    struct hs_move_stream play;
    j->rules = &ruleset->moves;
    j->match = hs_match_create(ruleset, &limits);
    need(j->match != NULL);
    for (int i = 0; i < PLAYERS; i++)
        snprintf(j->names[i], sizeof j->names[i], "P%d", i);
    hs_move_stream_start(&play, &options);
    need(hs_move_stream_fill(&play, j->items, MOVES) == MOVES);
    for (int i = 0; i < MOVES; i++) { /* the player walks */
        struct hs_move *move = &j->items[i].move;
        move->position = (struct hs_vec){i < TURN ? i : MOVES - i, 0, 0};
        move->velocity = (struct hs_vec){i < TURN ? 60 : -60, 0, 0};
        move->server_position = move->position;
        move->mode = HS_STR("walking");
    }
    j->player = PLAYERS - 1;
    j->at = MOVES - 1;
    j->shift_us = -ROUND_US;
    j->turn = SIZE_MAX;
}

static double ground_below(const struct hs_world *world, struct hs_vec at)
{
    const struct hs_sweep down = {
        .start = {at.x, at.y, 100}, .direction = {0, 0, -1}, .length = 200};
    struct hs_world_contact contact;
    return hs_world_sweep(world, &down, &contact) ? contact.point.z : -100;
}

/* Draws a walk of a body at 6 m/s, 0.8 m above level ground, with nothing in its way. */
static void draw_walk(struct hs_random *random, const struct hs_world *world,
                      struct hs_vec places[REACH + 1])
{
    double low, high;
    bool is_free;
    do {
        struct hs_vec at = {hs_random_between(random, 60, HS_TEST_LEVEL_WIDTH - 60),
                            hs_random_between(random, 60, HS_TEST_LEVEL_WIDTH - 60), 0};
        double angle = hs_random_between(random, 0, 6.28);
        struct hs_vec step = {0.1 * cos(angle), 0.1 * sin(angle), 0};
        low = 100, high = -100;
        for (int i = 0; i <= REACH; i++) {
            places[i] = at;
            low = fmin(low, ground_below(world, at));
            high = fmax(high, ground_below(world, at));
            at = hs_vec_add(at, step);
        }
        is_free = high - low < 0.3;
        for (int i = 0; i <= REACH && is_free; i++) {
            places[i].z = high;
            const struct hs_sweep body = {.start = {places[i].x, places[i].y, high + 0.4},
                                          .direction = {1, 0, 0},
                                          .radius = 0.25};
            is_free = !hs_world_sweep(world, &body, NULL);
        }
    } while (!is_free);
}

/* Makes the map, which must exist longer than the match. */
static struct hs_world *prepare_map(struct judging *j)
{
    struct hs_random random = hs_random_start(1, 0);
    struct hs_test_mesh mesh = {0};
    hs_test_mesh_level(&mesh, &random, BLOCKS);
    struct hs_world *world = hs_world_create(&mesh.mesh, NULL, NULL);
    j->places = calloc(PLAYERS, sizeof *j->places);
    need(world != NULL && j->places != NULL);
    for (int i = 0; i < PLAYERS; i++)
        draw_walk(&random, world, j->places[i]);
    for (int i = 0; i < MOVES; i++)
        j->items[i].move.velocity = (struct hs_vec){0, 0, 0};
    hs_match_set_world(j->match, world);
    hs_test_mesh_free(&mesh);
    return world;
}

/* Checks that the path was cast through the map and that nothing was in the way. */
static void check_path(const struct judging *j)
{
    for (int i = 0; i < PLAYERS; i++) {
        struct hs_moves_info info;
        need(hs_match_moves_info(j->match, hs_str_of(j->names[i]), &info) && info.present);
        need(info.raised[HS_MOVE_CHECK_PATH] == 0 && info.raised[HS_MOVE_CHECK_GROUND] == 0);
    }
}

int main(void)
{
    hs_bench_run *const runs[FIGURES] = {judge_compat, judge_timing, judge_match, judge_way,
                                         judge_path};
    static const char *const names[FIGURES] = {"move_compat_ns", "move_timing_ns", "move_ns",
                                               "move_way_ns", "move_path_ns"};
    double ns[FIGURES];
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[0]);
    struct hs_ruleset *metres = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    need(ruleset != NULL && metres != NULL);
    for (int i = 0; i < FIGURES; i++)
        prepare(&judgings[i], i == PATH ? metres : ruleset);
    struct hs_world *world = prepare_map(&judgings[PATH]);
    judgings[PATH].fields =
        HS_MOVE_HAS_POSITION | HS_MOVE_HAS_VELOCITY | HS_MOVE_HAS_SERVER_POSITION;
    judgings[WAY].fields =
        HS_MOVE_HAS_POSITION | HS_MOVE_HAS_VELOCITY | HS_MOVE_HAS_SERVER_POSITION;
    hs_bench_take_turns(runs, FIGURES, judgings, ns);
    check_path(&judgings[PATH]);
    for (int i = 0; i < FIGURES; i++) {
        hs_bench_print(names[i], ns[i], "ns", i == COMPAT ? NULL : names[COMPAT],
                       i == COMPAT ? 0 : ns[COMPAT] / ns[i]);
        hs_match_destroy(judgings[i].match);
    }
    free(judgings[PATH].places);
    hs_world_destroy(world);
    hs_ruleset_destroy(metres);
    hs_ruleset_destroy(ruleset);
    return EXIT_SUCCESS;
}
