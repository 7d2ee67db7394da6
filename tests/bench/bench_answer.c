/*
 * The cost of writing an answer.
 *
 *   encode_moves_64_us   the results of 64 accepted moves: 15 KB
 *   encode_hit_us        the result of one accepted claim
 *
 * The baseline writes the same JSON with jansson, from an existing tree of values.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "api/hits.h"
#include "api/moves.h"
#include "tests/support/bench.h"

enum { MOVES = 64 };

static struct hs_ruleset *ruleset;

static struct {
    char names[MOVES][16];
    struct hs_move moves[MOVES];
    struct hs_move_result results[MOVES];
    struct hs_hit_claim claim;
    struct hs_hit_result hit;
} answers;

/* An answer: as text that the service writes, and as a tree. */
struct answer {
    struct hs_buffer text;
    json_t *tree;
    char *dumped;
};

static volatile size_t sink;

static void need(bool is_fine)
{
    if (is_fine)
        return;
    fprintf(stderr, "an answer could not be written\n");
    exit(1);
}

/* ---- the answers ---- */

static void make_moves(void)
{
    struct hs_match *match =
        hs_match_create(ruleset, &(struct hs_match_limits){.players = MOVES, .samples = 64});
    need(match != NULL);
    for (int i = 0; i < MOVES * 3; i++) {
        int player = i % MOVES;
        int64_t round_us = i / MOVES * INT64_C(16667);
        snprintf(answers.names[player], sizeof answers.names[player], "player%d", player);
        answers.moves[player] = (struct hs_move){.player = hs_str_of(answers.names[player]),
                                                 .fields = HS_MOVE_HAS_SEQ,
                                                 .seq = (uint64_t)(12345 + i),
                                                 .timestamp_us = 98765432 + round_us,
                                                 .received_us = 123437500 + round_us + 37 * player,
                                                 .dilation = 1};
        need(hs_match_check_move(match, &answers.moves[player], &answers.results[player]));
    }
    hs_match_destroy(match);
}

static void make_hit(void)
{
    struct hs_match *match =
        hs_match_create(ruleset, &(struct hs_match_limits){.players = 8, .samples = 64});
    need(match != NULL);
    for (int i = 0; i < 8; i++) {
        enum hs_frame_result results[2];
        unsigned flags = 0;
        struct hs_player_frame players[] = {
            {.player = HS_STR("alice"),
             .weapon = HS_STR("rifle"),
             .aim = {20, 3.4, 0},
             .rtt_us = 60000,
             .interp_us = 50000,
             .fields = HS_FIELD_AIM | HS_FIELD_RTT | HS_FIELD_INTERP},
            {.player = HS_STR("bob"), .position = {20, 3.2 + 0.04 * i, 0}},
        };
        struct hs_frame frame = {
            .time_us = 12200000 + i * INT64_C(50000), .players = players, .player_count = 2};
        need(hs_match_post_frame(match, &frame, results, &flags));
    }
    answers.claim = (struct hs_hit_claim){.shot = 1042,
                                          .shooter = HS_STR("alice"),
                                          .weapon = HS_STR("rifle"),
                                          .target = HS_STR("bob"),
                                          .hit_time_us = 12437000,
                                          .start = {0, 0, 1.6},
                                          .end = {20, 3.4, 1.6},
                                          .has_end = true};
    hs_hit_verify(match, &answers.claim, 12550000, &answers.hit);
    need(answers.hit.verdict == HS_VERDICT_ACCEPTED && answers.hit.damage_count == 1);
    hs_match_destroy(match);
}

/* ---- writing ---- */

static void write_moves(struct hs_buffer *out)
{
    struct hs_writer writer = {.buffer = out};
    hs_write_begin(&writer, '[');
    for (int i = 0; i < MOVES; i++)
        hs_move_encode(&writer, &ruleset->moves, &answers.moves[i], &answers.results[i]);
    hs_write_end(&writer, ']');
}

static void write_hit(struct hs_buffer *out)
{
    static const struct hs_verdict_id id = {"43b32b368d7a328ff90781abadf9fc69"};
    struct hs_writer writer = {.buffer = out};
    hs_hit_encode(&writer, &answers.claim, &answers.hit, &id, false);
    hs_replayed_encode(&writer, false);
}

static void run_moves(void *context, size_t count)
{
    struct answer *answer = context;
    for (size_t i = 0; i < count; i++) {
        answer->text.len = 0;
        write_moves(&answer->text);
        sink = answer->text.len;
    }
}

static void run_hit(void *context, size_t count)
{
    struct answer *answer = context;
    for (size_t i = 0; i < count; i++) {
        answer->text.len = 0;
        write_hit(&answer->text);
        sink = answer->text.len;
    }
}

static void run_jansson(void *context, size_t count)
{
    const struct answer *answer = context;
    for (size_t i = 0; i < count; i++)
        sink = json_dumpb(answer->tree, answer->dumped, answer->text.capacity, JSON_COMPACT);
}

static void bench(hs_bench_run *run, const char *name, const char *baseline)
{
    hs_bench_run *const runs[] = {run, run_jansson};
    struct answer answer = {0};
    double ns[2];
    run(&answer, 1);
    need(!answer.text.failed);
    answer.tree = json_loadb(answer.text.data, answer.text.len, 0, NULL);
    answer.dumped = malloc(answer.text.capacity);
    need(answer.tree != NULL && answer.dumped != NULL);
    hs_bench_take_turns(runs, 2, &answer, ns);
    hs_bench_print(baseline, ns[1] / 1e3, "us", NULL, 0);
    hs_bench_print(name, ns[0] / 1e3, "us", baseline, ns[1] / ns[0]);
    free(answer.dumped);
    json_decref(answer.tree);
    hs_buffer_free(&answer.text);
}

int main(void)
{
    ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    need(ruleset != NULL);
    make_moves();
    make_hit();
    bench(run_moves, "encode_moves_64_us", "jansson_moves_64_us");
    bench(run_hit, "encode_hit_us", "jansson_hit_us");
    hs_ruleset_destroy(ruleset);
    return EXIT_SUCCESS;
}
