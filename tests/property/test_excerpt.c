/*
 * A match that was restored from an excerpt gives the same verdict on its claim or shot, to the
 * bit. The tests use random scenes with everything that a scene can contain, and a game with
 * histories, ledgers and moves. Reading a damaged excerpt is harmless.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/oracle/hit_compare.h"
#include "tests/support/oracle/scene.h"
#include "tests/support/play/small_game.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/snapshot.h"

static const struct hs_match_limits limits = {.players = 64, .samples = 256, .movers = 8};

/* Counts what the excerpts of a run left out. */
static struct {
    long excerpts, players, players_left_out, bytes;
} counts;

static struct hs_match *load(const struct hs_match *whole, const struct hs_bytes *bytes)
{
    struct hs_match *match;
    struct hs_match_info before, after;
    ck_assert(!bytes->failed);
    ck_assert_int_eq(
        hs_match_load(hs_match_ruleset(whole), &limits, bytes->data, bytes->len, &match),
        HS_MATCH_LOADED);
    hs_match_info(whole, &before);
    hs_match_info(match, &after);
    counts.excerpts++;
    counts.players += before.players;
    counts.players_left_out += (long)before.players - (long)after.players;
    counts.bytes += (long)bytes->len;
    return match;
}

static void compare(const struct hs_hit_result *want, const struct hs_hit_result *got)
{
    ck_assert_msg(got->reason == want->reason, "case %ld: %s instead of %s", counts.excerpts,
                  hs_reason_name(got->reason), hs_reason_name(want->reason));
    ck_assert_msg(hs_same_words(want, got), "case %ld: the words of the answers differ",
                  counts.excerpts);
    ck_assert_msg(hs_same_bits(want, got), "case %ld: the numbers of the answers differ",
                  counts.excerpts);
}

static void verify_again(const struct hs_match *match, const struct hs_world *world,
                         const struct hs_hit_claim *hit, const struct hs_shot_claim *shot,
                         const struct hs_hit_result *want)
{
    struct hs_bytes bytes = {0};
    struct hs_hit_result got;
    int64_t forward_us;
    if (hit != NULL)
        hs_hit_save_excerpt(match, hit, want, &bytes);
    else
        hs_shot_save_excerpt(match, shot, want, &bytes);
    struct hs_match *restored = load(match, &bytes);
    hs_match_set_world(restored, world);
    if (hit != NULL)
        hs_hit_verify(restored, hit, want->now_us, &got);
    else
        hs_shot_verify(restored, shot, want->now_us, &got, &forward_us);
    compare(want, &got);
    hs_match_destroy(restored);
    free(bytes.data);
}

START_TEST(verdicts_of_scenes)
{
    long cases = hs_test_count("HS_PROPERTY_CASES", 20000);
    uint64_t seed = hs_test_seed(20262);
    struct hs_tally tally = {0};
    for (long i = 0; i < cases; i++) {
        struct hs_random random = hs_random_start(seed, (uint64_t)i);
        struct hs_scene_frame as_it_is = hs_scene_as_it_is();
        struct hs_scene scene;
        struct hs_scene_stage stage;
        struct hs_hit_result want;
        hs_scene_draw(&random, &hs_scene_anything, &scene);
        hs_scene_open(&scene, &as_it_is, &stage);
        hs_scene_verify(&stage, &want);
        hs_tally_count(&tally, &want);
        verify_again(stage.match, stage.world, &stage.claim, NULL, &want);
        hs_scene_close(&stage);
    }
    hs_tally_expect_variety("excerpts", &tally);
    ck_assert_int_gt(counts.players_left_out, counts.players / 100);
}
END_TEST

/* An excerpt is written while its match is locked, so it must stay small. With all counts and
   used numbers it would have 10,000 bytes in this game. */
enum { MAX_MEAN_BYTES = 7100 };

static void verify_move_on(const struct hs_match *match, const struct hs_hit_claim *hit,
                           const struct hs_shot_claim *shot, const struct hs_hit_result *result)
{
    verify_again(match, NULL, hit, shot, result);
}

START_TEST(verdicts_of_a_game)
{
    enum { TICKS = 260 };
    long cases = hs_test_count("HS_PROPERTY_CASES", 20000) / 2000 + 1;
    uint64_t seed = hs_test_seed(20263);
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    hs_small_game_verified = verify_move_on;
    for (long i = 0; i < cases; i++) {
        struct hs_small_game game = {.seed = seed + (uint64_t)i, .has_rtt = i % 2 == 0};
        struct hs_match *match = hs_match_create(ruleset, &limits);
        for (int tick = 0; tick < TICKS; tick++) {
            hs_small_game_frames(&game, match, tick);
            hs_small_game_moves(&game, match, tick);
            hs_small_game_shots(&game, match, tick);
        }
        hs_match_destroy(match);
    }
    hs_small_game_verified = NULL;
    hs_ruleset_destroy(ruleset);
    printf("%ld excerpts, %ld bytes each\n", counts.excerpts, counts.bytes / counts.excerpts);
    ck_assert_int_gt(counts.excerpts, 100 * cases);
    ck_assert_int_lt(counts.bytes / counts.excerpts, MAX_MEAN_BYTES);
}
END_TEST

static struct hs_bytes last;

static void keep_last(const struct hs_match *match, const struct hs_hit_claim *hit,
                      const struct hs_shot_claim *shot, const struct hs_hit_result *result)
{
    last.len = 0;
    if (hit != NULL)
        hs_hit_save_excerpt(match, hit, result, &last);
    else
        hs_shot_save_excerpt(match, shot, result, &last);
}

static void play_until(const struct hs_small_game *game, struct hs_match *match, int ticks)
{
    for (int tick = 0; tick < ticks; tick++) {
        hs_small_game_frames(game, match, tick);
        hs_small_game_moves(game, match, tick);
        hs_small_game_shots(game, match, tick);
    }
}

START_TEST(damaged_excerpts_are_harmless)
{
    long cases = hs_test_count("HS_PROPERTY_CASES", 20000) / 20;
    struct hs_small_game game = {.seed = 7, .has_rtt = true};
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match *match = hs_match_create(ruleset, &limits);
    struct hs_random random = hs_random_start(hs_test_seed(20264), 0);
    hs_small_game_verified = keep_last;
    play_until(&game, match, 120);
    hs_small_game_verified = NULL;
    long refused = 0;
    for (long i = 0; i < cases; i++) {
        struct hs_match *restored = NULL;
        size_t at = (size_t)hs_random_index(&random, (int)last.len);
        size_t size = i % 3 == 0 ? at : last.len;
        unsigned char kept = last.data[at];
        last.data[at] = (unsigned char)hs_random_index(&random, 256);
        enum hs_match_load result = hs_match_load(ruleset, &limits, last.data, size, &restored);
        refused += result != HS_MATCH_LOADED;
        ck_assert(i % 3 != 0 || result != HS_MATCH_LOADED);
        if (restored != NULL) {
            hs_small_game_shots(&game, restored, 119);
            hs_match_destroy(restored);
        }
        last.data[at] = kept;
    }
    ck_assert_int_gt(refused, cases / 3);
    free(last.data);
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* Bytes 4 to 11 are the hash of the vocabularies and layouts; bytes 0 to 3 are the version. */
START_TEST(another_version_is_reported)
{
    struct hs_small_game game = {.seed = 7};
    struct hs_ruleset *ruleset = hs_small_game_ruleset();
    struct hs_match *match = hs_match_create(ruleset, &limits), *restored;
    last = (struct hs_bytes){0};
    hs_small_game_verified = keep_last;
    play_until(&game, match, 120);
    hs_small_game_verified = NULL;
    for (size_t at = 0; at < 12; at++) {
        last.data[at] ^= 1;
        ck_assert_int_eq(hs_match_load(ruleset, &limits, last.data, last.len, &restored),
                         HS_MATCH_OTHER_VERSION);
        ck_assert_ptr_null(restored);
        last.data[at] ^= 1;
    }
    ck_assert_int_eq(hs_match_load(ruleset, &limits, last.data, last.len, &restored),
                     HS_MATCH_LOADED);
    hs_match_destroy(restored);
    free(last.data);
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("excerpts");
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, verdicts_of_scenes);
    tcase_add_test(tcase, verdicts_of_a_game);
    tcase_add_test(tcase, damaged_excerpts_are_harmless);
    tcase_add_test(tcase, another_version_is_reported);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
