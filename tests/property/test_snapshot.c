/* A match that was saved and restored answers like the match that lived on. Moves and retries do so
   at once. Claims do so once frames have confirmed the state and a window of poses was posted.
   Reading any bytes is harmless. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/play/small_game.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/moves.h"
#include "validators/snapshot.h"

/* Shots are compared only after the time in which events may be lost. */
enum { MOST_TICKS = 260, RESYNC_TICKS = 90, AFTER_TICKS = 60 };

static const struct hs_match_limits limits = {.players = 16, .samples = 128, .movers = 4};

static void play(const struct hs_small_game *traffic, struct hs_match *match, int from, int to)
{
    for (int tick = from; tick < to; tick++) {
        hs_small_game_frames(traffic, match, tick);
        hs_small_game_moves(traffic, match, tick);
        hs_small_game_shots(traffic, match, tick);
    }
}

static struct hs_match *load(const struct hs_ruleset *ruleset, const struct hs_bytes *bytes)
{
    struct hs_match *match;
    ck_assert_int_eq(hs_match_load(ruleset, &limits, bytes->data, bytes->len, &match),
                     HS_MATCH_LOADED);
    return match;
}

static void assert_same_bytes(const struct hs_match *a, const struct hs_match *b, const char *when)
{
    struct hs_bytes of_a = {0}, of_b = {0};
    hs_match_save(a, &of_a);
    hs_match_save(b, &of_b);
    ck_assert(!of_a.failed && !of_b.failed);
    bool same = of_a.len == of_b.len && memcmp(of_a.data, of_b.data, of_a.len) == 0;
    ck_assert_msg(same, "their saved states differ %s", when);
    free(of_a.data);
    free(of_b.data);
}

static void compare(const struct hs_small_game *traffic, struct hs_match *a, struct hs_match *b,
                    int from)
{
    for (int tick = from; tick < from + RESYNC_TICKS + AFTER_TICKS; tick++) {
        bool is_resynced = tick >= from + RESYNC_TICKS;
        uint64_t of_a = hs_small_game_frames(traffic, a, tick);
        uint64_t of_b = hs_small_game_frames(traffic, b, tick);
        ck_assert_msg(of_a == of_b, "seed %" PRIu64 ": frames of tick %d", traffic->seed, tick);
        of_a = hs_small_game_moves(traffic, a, tick);
        of_b = hs_small_game_moves(traffic, b, tick);
        ck_assert_msg(of_a == of_b, "seed %" PRIu64 ": moves of tick %d", traffic->seed, tick);
        if (!is_resynced)
            continue;
        of_a = hs_small_game_shots(traffic, a, tick);
        of_b = hs_small_game_shots(traffic, b, tick);
        ck_assert_msg(of_a == of_b, "seed %" PRIu64 ": shots of tick %d", traffic->seed, tick);
    }
}

START_TEST(answers_as_before)
{
    long cases = hs_test_count("HS_PROPERTY_CASES", 20000) / 200 + 1;
    uint64_t seed = hs_test_seed(20261);
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    for (long i = 0; i < cases; i++) {
        struct hs_random random = hs_random_start(seed, (uint64_t)i);
        struct hs_small_game traffic = {.seed = seed + (uint64_t)i,
                                        .has_rtt = hs_random_chance(&random, 0.5)};
        int ticks = 1 + hs_random_index(&random, MOST_TICKS);
        struct hs_match *a = hs_match_create(ruleset, &limits);
        play(&traffic, a, 0, ticks);
        struct hs_bytes bytes = {0};
        hs_match_save(a, &bytes);
        struct hs_match *b = load(ruleset, &bytes);
        assert_same_bytes(a, b, "at once");
        struct hs_match_info times;
        hs_match_info(b, &times);
        ck_assert(times.needs_resync && !times.has_frames);
        traffic.resync_tick = ticks;
        compare(&traffic, a, b, ticks);
        assert_same_bytes(a, b, "in the end");
        free(bytes.data);
        hs_match_destroy(a);
        hs_match_destroy(b);
    }
    printf("%ld of %ld verdicts and %ld of %ld moves were replays\n", hs_small_game_counts.replays,
           hs_small_game_counts.verdicts, hs_small_game_counts.move_replays,
           hs_small_game_counts.moves);
    ck_assert_int_gt(hs_small_game_counts.replays, cases);
    ck_assert_int_gt(hs_small_game_counts.move_replays, cases);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* A repeated claim gets its first answer even before a frame is posted. A new claim is
   inconclusive, and never refused because of missing data. */
START_TEST(answers_again_without_poses)
{
    struct hs_small_game traffic = {.seed = 5};
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match *a = hs_match_create(ruleset, &limits);
    play(&traffic, a, 0, 100);
    struct hs_bytes bytes = {0};
    hs_match_save(a, &bytes);
    struct hs_match *b = load(ruleset, &bytes);
    long before = hs_small_game_counts.replays;
    uint64_t again_a = hs_small_game_shots(&traffic, a, 99),
             again_b = hs_small_game_shots(&traffic, b, 99);
    ck_assert_uint_eq(again_a, again_b);
    ck_assert_int_gt(hs_small_game_counts.replays, before + 2);
    free(bytes.data);
    hs_match_destroy(a);
    hs_match_destroy(b);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* The match is saved in parts while players leave and come. All players who stayed are saved, and
   the state of each is consistent. */
START_TEST(no_player_is_missing_between_parts)
{
    struct hs_small_game traffic = {.seed = 6};
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match_limits few = {.players = HS_SMALL_GAME_PLAYERS, .samples = 64, .movers = 4};
    struct hs_match *match = hs_match_create(ruleset, &few);
    play(&traffic, match, 0, 60);
    struct hs_player_frame gone = {.player = HS_STR("bob"), .event = HS_EVENT_LEAVE};
    struct hs_player_frame newcomer = {.player = HS_STR("gus")};
    struct hs_frame frame = {.time_us = 60 * HS_SMALL_GAME_TICK_US, .player_count = 1};
    enum hs_frame_result result;
    unsigned flags = 0;
    struct hs_bytes bytes = {0};
    struct hs_save_cursor cursor = {0};
    int parts = 0;
    for (bool is_more = true; is_more; parts++) {
        is_more = hs_match_save_part(match, &cursor, 1, &bytes);
        frame.players = parts == 1 ? &gone : &newcomer;
        if (parts == 1 || parts == 2)
            ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
    }
    ck_assert_int_gt(parts, HS_SMALL_GAME_PLAYERS);
    struct hs_match *read = load(ruleset, &bytes);
    static const struct hs_str all[] = {{"alice", 5}, {"carl", 4}, {"dora", 4}, {"emil", 4}};
    struct hs_player_info was, is;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        ck_assert(hs_match_find_player(match, all[i], &was));
        ck_assert(hs_match_find_player(read, all[i], &is));
        ck_assert_double_eq_tol(was.suspicion, is.suspicion, 0.01); /* a frame reduced it */
        ck_assert_double_eq(was.damage_dealt, is.damage_dealt);
        ck_assert_mem_eq(was.reasons, is.reasons, sizeof was.reasons);
    }
    free(bytes.data);
    hs_match_destroy(match);
    hs_match_destroy(read);
    hs_ruleset_destroy(ruleset);
}
END_TEST

enum { CROWD = 1200, OWN_TEAM = CROWD };

/* Posts players to a match, each in their own team or all in `team`. */
static void post_teams(struct hs_match *match, int64_t time_us, int from, int to, int team)
{
    for (int i = from; i < to; i++) {
        char player[16], name[16];
        snprintf(player, sizeof player, "p%d", i);
        snprintf(name, sizeof name, "t%d", team == OWN_TEAM ? i : team);
        struct hs_player_frame entry = {.player = hs_str_of(player), .team = hs_str_of(name)};
        struct hs_frame frame = {.time_us = time_us, .players = &entry, .player_count = 1};
        enum hs_frame_result result;
        unsigned flags = 0;
        ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
        ck_assert_int_eq(result, HS_FRAME_STORED);
    }
}

/* Players change their teams while the match is saved in parts. Together the parts name more teams
   than a match can store. */
START_TEST(more_teams_than_fit_between_parts)
{
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match_limits many = {.players = CROWD, .samples = 64, .movers = 4};
    struct hs_match *match = hs_match_create(ruleset, &many);
    struct hs_bytes bytes = {0};
    struct hs_save_cursor cursor = {0};
    post_teams(match, 1000000, 0, CROWD / 2, 0);
    post_teams(match, 1000000, CROWD / 2, CROWD, OWN_TEAM);
    for (int i = 0; i < CROWD / 2; i++)
        ck_assert(hs_match_save_part(match, &cursor, 1, &bytes));
    for (int i = 1; i <= 8; i++)
        post_teams(match, 1000000 + 400000 * i, CROWD / 2, CROWD, 0);
    post_teams(match, 4200000, 0, CROWD / 2, OWN_TEAM);
    while (hs_match_save_part(match, &cursor, 1, &bytes))
        continue;
    struct hs_match *read;
    ck_assert_int_eq(hs_match_load(ruleset, &many, bytes.data, bytes.len, &read), HS_MATCH_LOADED);
    struct hs_match_info info;
    hs_match_info(read, &info);
    ck_assert_uint_eq(info.players, CROWD);
    free(bytes.data);
    hs_match_destroy(match);
    hs_match_destroy(read);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* If the clock was set back while the service was down, it is accepted as usual: at the third frame
   that agrees. If the clock went on, it is accepted at once. */
START_TEST(clock_after_the_gap)
{
    struct hs_small_game traffic = {.seed = 7};
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match *a = hs_match_create(ruleset, &limits);
    play(&traffic, a, 0, 400);
    struct hs_bytes bytes = {0};
    hs_match_save(a, &bytes);
    struct hs_match *later = load(ruleset, &bytes), *back = load(ruleset, &bytes);
    struct hs_player_frame entry = {.player = HS_STR("alice")};
    struct hs_frame frame = {.players = &entry, .player_count = 1};
    enum hs_frame_result result;
    unsigned flags = 0;
    frame.time_us = INT64_C(3600000000);
    ck_assert(hs_match_post_frame(later, &frame, &result, &flags));
    ck_assert_int_eq(result, HS_FRAME_STORED);
    ck_assert_uint_eq(flags, 0);
    for (int i = 0; i < 3; i++) {
        frame.time_us = 100000 * i;
        ck_assert(hs_match_post_frame(back, &frame, &result, &flags));
        ck_assert_int_eq(result, i < 2 ? HS_FRAME_TOO_OLD : HS_FRAME_STORED);
    }
    ck_assert_uint_eq(flags, 1u << HS_FRAME_FLAG_HISTORY_RESTARTED);
    free(bytes.data);
    hs_match_destroy(a);
    hs_match_destroy(later);
    hs_match_destroy(back);
    hs_ruleset_destroy(ruleset);
}
END_TEST

static int64_t credit_of(const struct hs_match *match)
{
    struct hs_moves_info info;
    ck_assert(hs_match_moves_info(match, HS_STR("bob"), &info) && info.present);
    return info.credit_us;
}

static void judge_move(struct hs_match *match, int64_t received_us, int64_t client_us)
{
    struct hs_move move = {.player = HS_STR("bob"),
                           .timestamp_us = client_us,
                           .received_us = received_us,
                           .dilation = 1};
    struct hs_move_result result;
    ck_assert(hs_match_check_move(match, &move, &result));
}

/* After an orderly end, the credit grows by the time between save and restore; after a kill, it
   does not grow. If the layout of the checks differs, they start new but keep the credit. Each move
   takes almost no time, so the credit that is left is the growth. */
START_TEST(credit_is_not_refilled)
{
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match *match = hs_match_create(ruleset, &limits), *read;
    for (int i = 1; i <= 20; i++)
        judge_move(match, 1000000 + i * 1000, 1000000 + i * 100000);
    ck_assert_int_eq(credit_of(match), 0);
    struct hs_bytes bytes = {0};
    hs_match_save(match, &bytes);
    read = load(ruleset, &bytes);
    ck_assert_int_eq(credit_of(read), 0);
    judge_move(read, 1020000 + 300000, 3000001);
    ck_assert_int_eq(credit_of(read), 300000 - 1);
    hs_match_destroy(read);
    read = load(ruleset, &bytes);
    hs_match_lost_moves(read);
    judge_move(read, 1020000 + 300000, 3000001);
    ck_assert_int_eq(credit_of(read), 0);
    judge_move(read, 1020000 + 350000, 3000002);
    ck_assert_int_eq(credit_of(read), 50000 - 1);
    hs_match_destroy(read);
    bytes.data[12] ^= 1; /* a byte in the layout tag of the checks */
    ck_assert_int_eq(hs_match_load(ruleset, &limits, bytes.data, bytes.len, &read),
                     HS_MATCH_LOADED_PARTLY);
    ck_assert_int_eq(credit_of(read), 0);
    judge_move(read, 1020000 + 300000, 3000001);
    ck_assert_int_le(credit_of(read), 300000);
    hs_match_destroy(read);
    bytes.data[4] ^= 1; /* a byte in the tag of everything else */
    ck_assert_int_eq(hs_match_load(ruleset, &limits, bytes.data, bytes.len, &read),
                     HS_MATCH_OTHER_VERSION);
    ck_assert_ptr_null(read);
    free(bytes.data);
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* Every prefix is refused. If any byte is changed, the bytes are refused, or the match can still be
   played. */
START_TEST(damaged_bytes)
{
    struct hs_small_game traffic = {.seed = 8, .has_rtt = true};
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match *a = hs_match_create(ruleset, &limits), *b;
    play(&traffic, a, 0, 40);
    struct hs_bytes bytes = {0};
    hs_match_save(a, &bytes);
    for (size_t size = 0; size < bytes.len; size += size < 4096 ? 1 : 61) {
        unsigned char *copy = malloc(
            size + 1); /* a block of the exact size, so sanitizers detect reads past the end */
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, bytes.data, size);
        ck_assert_int_eq(hs_match_load(ruleset, &limits, copy, size, &b), HS_MATCH_DAMAGED);
        ck_assert_ptr_null(b);
        free(copy);
    }
    struct hs_random random = hs_random_start(hs_test_seed(1), 0);
    long loaded = 0, cases = hs_test_count("HS_PROPERTY_CASES", 20000) / 20 + 1;
    for (long i = 0; i < cases; i++) {
        size_t at = (size_t)(hs_random_bits(&random) % bytes.len);
        unsigned char was = bytes.data[at];
        bytes.data[at] = (unsigned char)hs_random_bits(&random);
        enum hs_match_load result = hs_match_load(ruleset, &limits, bytes.data, bytes.len, &b);
        bytes.data[at] = was;
        if (result != HS_MATCH_LOADED && result != HS_MATCH_LOADED_PARTLY)
            continue;
        loaded++;
        play(&traffic, b, 40, 44);
        hs_match_destroy(b);
    }
    ck_assert_int_gt(loaded, cases / 10);
    ck_assert_int_lt(loaded, cases);
    free(bytes.data);
    hs_match_destroy(a);
    hs_ruleset_destroy(ruleset);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("snapshot");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, answers_as_before);
    tcase_add_test(tcase, answers_again_without_poses);
    tcase_add_test(tcase, no_player_is_missing_between_parts);
    tcase_add_test(tcase, more_teams_than_fit_between_parts);
    tcase_add_test(tcase, clock_after_the_gap);
    tcase_add_test(tcase, credit_is_not_refilled);
    tcase_add_test(tcase, damaged_bytes);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
