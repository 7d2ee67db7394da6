/* A match at its bound of memory: what it knows goes on, nothing grows. */
#include "tests/support/run_suite.h"
#include "validators/hit.h"
#include "validators/match.h"
#include "validators/moves.h"
#include "validators/ruleset.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 256 };

static struct hs_ruleset *rules;
static struct hs_match *match;

static void setup(void)
{
    const struct hs_match_limits limits = {.players = 100, .samples = SAMPLES, .movers = 100};
    rules = hs_ruleset_create_builtin(&hs_builtin_rulesets[0]);
    ck_assert_ptr_nonnull(rules);
    match = hs_match_create(rules, &limits);
    ck_assert_ptr_nonnull(match);
}

static void teardown(void)
{
    hs_match_destroy(match);
    hs_ruleset_destroy(rules);
}

/* One frame with a player and a mover; the worse of what became of them. */
static enum hs_frame_result post(const char *player, const char *mover, int64_t time_us,
                                 unsigned *flags)
{
    const struct hs_player_frame one = {.player = {player, strlen(player)}};
    const struct hs_mover_frame other = {
        .mover = {mover, strlen(mover)}, .fields = HS_MOVER_BOX, .half_extents = {1, 1, 1}};
    const struct hs_frame frame = {time_us, &one, 1, &other, 1};
    enum hs_frame_result results[2];
    ck_assert(hs_match_post_frame(match, &frame, results, flags));
    ck_assert_int_eq(results[0], results[1]);
    return results[0];
}

static size_t bytes(void)
{
    struct hs_match_info info;
    hs_match_info(match, &info);
    return info.history_bytes;
}

START_TEST(held)
{
    unsigned flags = 0;
    int64_t time_us = 0;
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(post("bob", "lift", time_us += 1000, &flags), HS_FRAME_STORED);
    hs_match_hold(match, true);
    ck_assert_int_eq(post("eve", "door", time_us += 1000, &flags), HS_FRAME_CAPACITY);
    ck_assert_uint_eq(flags, 0);
    size_t before = bytes();
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(post("bob", "lift", time_us += 1000, &flags), HS_FRAME_STORED);
    ck_assert_uint_eq(bytes(), before);
    ck_assert_uint_eq(flags, 1u << HS_FRAME_FLAG_HISTORY_FULL);
    struct hs_player_info bob;
    ck_assert(hs_match_find_player(match, HS_STR("bob"), &bob));
    ck_assert_uint_eq(bob.samples, 32); /* the room 20 samples have */
    ck_assert_int_eq(bob.newest_us, time_us);
    ck_assert_int_eq(bob.oldest_us, time_us - 31000);
}
END_TEST

START_TEST(let_go)
{
    unsigned flags = 0;
    int64_t time_us = 0;
    ck_assert_int_eq(post("bob", "lift", time_us += 1000, &flags), HS_FRAME_STORED);
    hs_match_hold(match, true);
    hs_match_hold(match, false);
    ck_assert_int_eq(post("eve", "door", time_us += 1000, &flags), HS_FRAME_STORED);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(post("bob", "lift", time_us += 1000, &flags), HS_FRAME_STORED);
    ck_assert_uint_eq(flags, 0);
    struct hs_player_info bob;
    ck_assert(hs_match_find_player(match, HS_STR("bob"), &bob));
    ck_assert_uint_eq(bob.samples, 101);
}
END_TEST

/* Moves and claims bring in nobody either, and no history that could grow. */
START_TEST(nobody_comes_by_moves_or_claims)
{
    unsigned flags = 0;
    int64_t time_us = 0;
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(post("bob", "lift", time_us += 1000, &flags), HS_FRAME_STORED);
    hs_match_hold(match, true);
    size_t before = bytes();
    const struct hs_move move = {
        .player = HS_STR("eve"), .timestamp_us = 1, .received_us = time_us, .dilation = 1};
    struct hs_move_result moved;
    ck_assert(hs_match_judge_move(match, &move, &moved));
    ck_assert_int_eq(moved.reason, HS_MOVE_CAPACITY);
    const struct hs_hit_claim claim = {.shooter = HS_STR("eve"), .hit_time_us = time_us};
    struct hs_hit_result *hit = malloc(sizeof *hit);
    ck_assert_ptr_nonnull(hit);
    hs_hit_verify(match, &claim, time_us, hit);
    ck_assert(!hs_hit_note(match, &claim, hit, HS_STR("{")));
    free(hit);
    ck_assert_int_eq(post("eve", "door", time_us += 1000, &flags), HS_FRAME_CAPACITY);
    ck_assert_uint_eq(bytes(), before);
    hs_match_hold(match, false);
    ck_assert(hs_match_judge_move(match, &move, &moved));
    ck_assert_int_eq(moved.reason, HS_MOVE_OK);
    /* Held again before his first frame, he has the room that one takes, and no more. */
    hs_match_hold(match, true);
    before = bytes();
    struct hs_player_frame eve = {.player = HS_STR("eve")};
    const struct hs_frame frame = {.players = &eve, .player_count = 1};
    for (int i = 0; i < 1000; i++) {
        struct hs_frame at = frame;
        at.time_us = time_us += 1000;
        enum hs_frame_result result;
        ck_assert(hs_match_post_frame(match, &at, &result, &flags));
        ck_assert_int_eq(result, HS_FRAME_STORED);
    }
    ck_assert_uint_lt(bytes() - before, 8192);
}
END_TEST

/* Who left and comes back has his room still; a new clock finds whom it knows. */
START_TEST(who_is_known_may_return)
{
    unsigned flags = 0;
    ck_assert_int_eq(post("bob", "lift", 1000, &flags), HS_FRAME_STORED);
    const struct hs_player_frame leaving = {.player = HS_STR("bob"), .event = HS_EVENT_LEAVE};
    const struct hs_frame frame = {2000, &leaving, 1, NULL, 0};
    enum hs_frame_result result;
    ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
    hs_match_hold(match, true);
    ck_assert_int_eq(post("bob", "lift", 3000, &flags), HS_FRAME_STORED);
    /* Three frames of strangers on another clock restart nothing: none could be stored. */
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(post("eve", "door", INT64_C(90000000) + i * 1000, &flags),
                         HS_FRAME_TIME_JUMP);
    ck_assert_uint_eq(flags & 1u << HS_FRAME_FLAG_HISTORY_RESTARTED, 0);
    for (int i = 0; i < 3; i++)
        post("bob", "lift", INT64_C(190000000) + i * 1000, &flags);
    ck_assert_uint_ne(flags & 1u << HS_FRAME_FLAG_HISTORY_RESTARTED, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hold");
    TCase *tests = tcase_create("matches");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, held);
    tcase_add_test(tests, let_go);
    tcase_add_test(tests, nobody_comes_by_moves_or_claims);
    tcase_add_test(tests, who_is_known_may_return);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
