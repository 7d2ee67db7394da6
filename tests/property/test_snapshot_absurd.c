/* Saved matches can be read back, even with absurd times of moves. A match that was read back can
   be played from the first to the last possible time, however absurd it is. Many faults here are
   visible only with sanitizers. */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/play/small_game.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/match/player_moves.h"
#include "validators/match/players.h"
#include "validators/moves.h"
#include "validators/snapshot.h"

static const struct hs_match_limits limits = {.players = 16, .samples = 128, .movers = 4};

static void play(const struct hs_small_game *traffic, struct hs_match *match, int from, int to)
{
    for (int tick = from; tick < to; tick++) {
        hs_small_game_frames(traffic, match, tick);
        hs_small_game_moves(traffic, match, tick);
        hs_small_game_shots(traffic, match, tick);
    }
}

static struct hs_bytes save(const struct hs_match *match)
{
    struct hs_bytes bytes = {0};
    hs_match_save(match, &bytes);
    ck_assert(!bytes.failed);
    return bytes;
}

/* Returns NULL if the bytes are refused. The caller frees the bytes. */
static struct hs_match *try_to_load(const struct hs_ruleset *ruleset, const struct hs_bytes *bytes)
{
    struct hs_match *match;
    enum hs_match_load result = hs_match_load(ruleset, &limits, bytes->data, bytes->len, &match);
    ck_assert(result == HS_MATCH_LOADED || result == HS_MATCH_LOADED_PARTLY ||
              result == HS_MATCH_DAMAGED);
    ck_assert((match == NULL) == (result == HS_MATCH_DAMAGED));
    return match;
}

static void play_to_the_ends(uint64_t seed, struct hs_match *match)
{
    const char *fault = hs_small_game_ends_of_time(seed, match);
    ck_assert_msg(fault == NULL, "seed %" PRIu64 ": %s", seed, fault);
}

/* Sets the sums to nearly the largest possible value, or to a share of that. */
static void set_lifetimes(struct hs_match *match, double share)
{
    for (uint32_t i = 0; i < match->players.count; i++)
        if (match->players.all[i]->moves != NULL)
            match->players.all[i]->moves->checks.timing.compat.lifetime_us =
                share * (double)HS_MOVES_LONGEST_US;
}

static void assert_lifetimes(const struct hs_match *match)
{
    for (uint32_t i = 0; i < match->players.count; i++) {
        struct hs_moves_info info;
        ck_assert(
            !hs_match_moves_info(match, hs_name_str(&match->players.all[i]->name), &info) ||
            (info.lifetime_us <= HS_MOVES_LONGEST_US && info.lifetime_us >= -HS_MOVES_LONGEST_US));
    }
}

START_TEST(saved_matches_can_be_loaded)
{
    long cases = hs_test_count("HS_PROPERTY_CASES", 20000) / 40 + 1;
    uint64_t seed = hs_test_seed(20262);
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    for (long i = 0; i < cases; i++) {
        struct hs_random random = hs_random_start(seed, (uint64_t)i);
        ruleset->moves.prevention =
            hs_random_chance(&random, 0.5) ? HS_PREVENTION_RESOLUTION : HS_PREVENTION_CREDIT;
        struct hs_match *match = hs_match_create(ruleset, &limits), *read;
        struct hs_small_game traffic = {.seed = seed + (uint64_t)i, .has_rtt = true};
        play(&traffic, match, 0, 10);
        set_lifetimes(match, hs_random_between(&random, -1, 1) < 0 ? -0.999 : 0.999);
        for (int k = hs_random_index(&random, 40); k >= 0; k--)
            play_to_the_ends(seed + (uint64_t)(i * 64 + k), match);
        struct hs_bytes bytes = save(match);
        ck_assert_int_eq(hs_match_load(ruleset, &limits, bytes.data, bytes.len, &read),
                         HS_MATCH_LOADED);
        assert_lifetimes(match);
        struct hs_bytes again = save(read);
        ck_assert_uint_eq(again.len, bytes.len);
        ck_assert_mem_eq(again.data, bytes.data, bytes.len);
        play_to_the_ends(seed + (uint64_t)i, read);
        free(bytes.data);
        free(again.data);
        hs_match_destroy(match);
        hs_match_destroy(read);
    }
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* Writes numbers at the ends of their range at random places. */
static void put_extreme(struct hs_random *random, struct hs_bytes *bytes)
{
    static const uint64_t extremes[] = {0,
                                        1,
                                        INT32_MAX,
                                        (uint64_t)INT32_MIN,
                                        INT64_MAX,
                                        (uint64_t)INT64_MIN,
                                        UINT64_MAX,
                                        UINT64_C(1000000000000000000),
                                        (uint64_t)INT64_C(-1000000000000000000),
                                        UINT64_C(100000000000000000),
                                        (uint64_t)INT64_C(-100000000000000000),
                                        UINT64_C(0x7fefffffffffffff), /* the largest double */
                                        UINT64_C(0xffefffffffffffff),
                                        UINT64_C(0x7f7fffff7f7fffff)}; /* the largest floats */
    uint64_t word = extremes[hs_random_index(random, sizeof extremes / sizeof extremes[0])];
    size_t size = (size_t)1 << hs_random_index(random, 4);
    size_t at = 20 + (size_t)(hs_random_bits(random) % (bytes->len - 28)); /* after the tags */
    for (size_t i = 0; i < size; i++)
        bytes->data[at + i] = (unsigned char)(word >> 8 * i);
}

START_TEST(loaded_matches_can_be_used)
{
    struct hs_small_game traffic = {.seed = 9, .has_rtt = true};
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match *match = hs_match_create(ruleset, &limits);
    play(&traffic, match, 0, 4);
    struct hs_bytes whole = save(match), bytes = save(match);
    struct hs_random random = hs_random_start(hs_test_seed(2), 0);
    long loaded = 0, cases = hs_test_count("HS_PROPERTY_CASES", 20000) + 1;
    for (long i = 0; i < cases; i++) {
        memcpy(bytes.data, whole.data, whole.len);
        put_extreme(&random, &bytes);
        struct hs_match *read = try_to_load(ruleset, &bytes);
        if (read == NULL)
            continue;
        loaded++;
        play(&traffic, read, 4, 6);
        play_to_the_ends((uint64_t)i, read);
        hs_match_destroy(read);
    }
    printf("%ld of %ld were read\n", loaded, cases);
    ck_assert_int_gt(loaded, cases / 10);
    ck_assert_int_lt(loaded, cases);
    free(whole.data);
    free(bytes.data);
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* ---- values that once caused faults ---- */

static struct hs_player *alice_of(struct hs_match *match)
{
    struct hs_player *alice = hs_players_find(&match->players, HS_STR("alice"));
    ck_assert_ptr_nonnull(alice);
    return alice;
}

static void of_first_arrival(struct hs_match *match)
{
    alice_of(match)->moves->checks.timing.first_us = INT64_C(-100000000000000000);
}

static void of_stalls(struct hs_match *match)
{
    alice_of(match)->moves->checks.timing.burst_part = INT32_MAX;
}

static void of_resets(struct hs_match *match)
{
    alice_of(match)->moves->checks.timing.wrapped_us = INT64_C(999999999999999999);
}

static void of_dilation(struct hs_match *match)
{
    alice_of(match)->moves->checks.timing.guard.shift_us = INT64_C(-999999999999999999);
}

static void of_round_trips(struct hs_match *match)
{
    struct hs_clock_guard *guard = &alice_of(match)->moves->checks.timing.guard;
    guard->trip_before_us = guard->ceilings_us[0] = guard->ceilings_us[1] = INT32_MAX - 1;
    guard->lowest_before_us = INT32_MAX - 1;
    guard->lowest_us = INT32_MIN;
    guard->lowest_trip_us = INT32_MIN;
}

static void of_ticks(struct hs_match *match)
{
    alice_of(match)->moves->checks.movement.tick_us = 3e38F;
}

static void of_client_time(struct hs_match *match)
{
    alice_of(match)->moves->unmoved_client_us = -HUGE_VAL;
}

static void of_checks_said_twice(struct hs_match *match)
{
    struct hs_ledger_numbers *shots = &alice_of(match)->ledger.shots;
    struct hs_posted_shot *shot = NULL;
    for (uint32_t i = 0; i < shots->count && shot == NULL; i++)
        shot = shots->entries[i].shot;
    ck_assert_ptr_nonnull(shot);
    for (int i = 1; i < HS_MAX_REMEMBERED; i++)
        shot->checks[i] = shot->checks[0];
    shot->check_count = HS_MAX_REMEMBERED;
}

static void (*const harms[])(struct hs_match *) = {of_first_arrival, of_stalls,           of_resets,
                                                   of_dilation,      of_round_trips,      of_ticks,
                                                   of_client_time,   of_checks_said_twice};

START_TEST(harmful_values)
{
    struct hs_small_game traffic = {.seed = 10, .has_rtt = true};
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match *match = hs_match_create(ruleset, &limits);
    play(&traffic, match, 0, 60);
    harms[_i](match);
    struct hs_bytes bytes = save(match);
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct hs_match *read = try_to_load(ruleset, &bytes);
        if (read == NULL)
            break;
        play(&traffic, read, 60, 62);
        play_to_the_ends(seed, read);
        struct hs_player *alice = alice_of(read);
        ck_assert_int_ge(alice->moves->checks.timing.burst_part, 0);
        hs_match_destroy(read);
    }
    bool is_refused = harms[_i] == of_client_time || harms[_i] == of_checks_said_twice;
    struct hs_match *read = try_to_load(ruleset, &bytes);
    ck_assert_int_eq(read == NULL, is_refused);
    hs_match_destroy(read);
    free(bytes.data);
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* After the largest life number, a spawn still begins another life. */
START_TEST(the_life_count_after_the_largest)
{
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match *match = hs_match_create(ruleset, &limits);
    struct hs_player_frame entry = {
        .player = HS_STR("alice"), .fields = HS_FIELD_LIFE, .life = INT64_MAX};
    struct hs_frame frame = {.players = &entry, .player_count = 1};
    enum hs_frame_result result;
    unsigned flags = 0;
    ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
    struct hs_bytes bytes = save(match);
    struct hs_match *read = try_to_load(ruleset, &bytes);
    ck_assert_ptr_nonnull(read);
    entry.fields = 0;
    entry.event = HS_EVENT_SPAWN;
    frame.time_us = HS_SMALL_GAME_TICK_US;
    ck_assert(hs_match_post_frame(read, &frame, &result, &flags));
    ck_assert_int_eq(result, HS_FRAME_STORED);
    struct hs_player_info info;
    ck_assert(hs_match_find_player(read, entry.player, &info));
    ck_assert(info.life == INT64_MIN && info.alive);
    free(bytes.data);
    hs_match_destroy(match);
    hs_match_destroy(read);
    hs_ruleset_destroy(ruleset);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("snapshot_absurd");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, saved_matches_can_be_loaded);
    tcase_add_test(tcase, loaded_matches_can_be_used);
    tcase_add_loop_test(tcase, harmful_values, 0, sizeof harms / sizeof harms[0]);
    tcase_add_test(tcase, the_life_count_after_the_largest);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
