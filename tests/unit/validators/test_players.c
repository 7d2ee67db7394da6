/* The stored samples of a match's players: after each frame only those of the window remain. */
#include <check.h>
#include <stdio.h>

#include "tests/support/play/stage.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/hit.h"
#include "validators/match/players.h"

enum { PLAYERS = 40, SAMPLES = 100, FRAMES = 4000 };

/* The times of the samples that the match must have of one player, ascending. */
struct kept {
    int64_t times_us[SAMPLES];
    int count;
};

static struct kept model[PLAYERS];
static char names[PLAYERS][16];

static void model_insert(struct kept *kept, int64_t time_us)
{
    int i = kept->count++;
    ck_assert_int_lt(i, SAMPLES);
    for (; i > 0 && kept->times_us[i - 1] > time_us; i--)
        kept->times_us[i] = kept->times_us[i - 1];
    kept->times_us[i] = time_us;
}

static void model_prune(struct kept *kept, int64_t before_us)
{
    int gone = 0;
    while (gone + 1 < kept->count && kept->times_us[gone + 1] <= before_us)
        gone++;
    kept->count -= gone;
    for (int i = 0; i < kept->count; i++)
        kept->times_us[i] = kept->times_us[i + gone];
}

static void check_player(const struct hs_match *match, int i)
{
    const struct hs_player *player =
        hs_players_find(&match->players, (struct hs_str){names[i], strlen(names[i])});
    uint32_t count = player == NULL ? 0 : hs_history_count(player->history);
    ck_assert_uint_eq(count, (unsigned)model[i].count);
    for (uint32_t k = 0; k < count; k++)
        ck_assert_int_eq(hs_history_at(player->history, k)->time_us, model[i].times_us[k]);
}

/* Posts a frame with an entry of one player, who moves, leaves, comes back, or is late. */
static void play(struct hs_match *match, struct hs_random *random, int64_t *newest_us)
{
    int who = hs_random_index(random, PLAYERS);
    int64_t time_us = *newest_us + hs_random_index(random, HS_MS(20)) - HS_MS(5);
    struct hs_player_frame entry = hs_stage_entry(names[who], 1, 0, 0);
    if (hs_random_chance(random, 0.01))
        entry.event = HS_EVENT_LEAVE;
    const struct hs_frame frame = {.time_us = time_us, .players = &entry, .player_count = 1};
    enum hs_frame_result result;
    unsigned flags = 0;
    ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
    if (result != HS_FRAME_STORED)
        return;
    if (entry.event == HS_EVENT_LEAVE)
        model[who].count = 0;
    else
        model_insert(&model[who], time_us);
    *newest_us = time_us > *newest_us ? time_us : *newest_us;
}

START_TEST(everybody_is_pruned_by_every_frame)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    ck_assert_ptr_nonnull(ruleset);
    const struct hs_match_limits limits = {.players = PLAYERS, .samples = SAMPLES};
    struct hs_match *match = hs_match_create(ruleset, &limits);
    ck_assert_ptr_nonnull(match);
    struct hs_random random = hs_random_start(hs_test_seed(11), 0);
    memset(model, 0, sizeof model);
    for (int i = 0; i < PLAYERS; i++)
        snprintf(names[i], sizeof names[i], "p%d", i);
    int64_t newest_us = 0, most = 0;
    for (int f = 0; f < FRAMES; f++) {
        play(match, &random, &newest_us);
        /* Sometimes nobody posts for a while. */
        if (hs_random_chance(&random, 0.005))
            newest_us += HS_MS(600);
        for (int i = 0; i < PLAYERS; i++) {
            if (match->has_frames)
                model_prune(&model[i], match->newest_us - ruleset->history.keep_us);
            check_player(match, i);
            most = model[i].count > most ? model[i].count : most;
        }
    }
    ck_assert_int_gt(most, 2);
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
}
END_TEST

START_TEST(after_a_clock_reset_nothing_is_pruned)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    const struct hs_match_limits limits = {.players = 4, .samples = SAMPLES};
    struct hs_match *match = hs_match_create(ruleset, &limits);
    ck_assert_ptr_nonnull(match);
    const char *both[] = {"P", "Q"};
    for (int ms = 0; ms <= 500; ms += 50)
        for (int i = 0; i < 2; i++)
            hs_stage_place(match, HS_MS(ms), both[i], 0, 0, 0);
    ck_assert_uint_eq(match->players.due_count, 2);
    /* Three frames agree on a clock that is an hour ahead. */
    for (int ms = 0; ms <= 100; ms += 50) {
        struct hs_player_frame entry = hs_stage_entry("P", 1, 0, 0);
        const struct hs_frame frame = {
            .time_us = HS_MS(3600000 + ms), .players = &entry, .player_count = 1};
        enum hs_frame_result result;
        unsigned flags = 0;
        ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
    }
    ck_assert_uint_eq(match->players.due_count, 0);
    hs_stage_place(match, HS_MS(3600150), "P", 0, 0, 0);
    hs_stage_place(match, HS_MS(3600150), "Q", 0, 0, 0);
    ck_assert_uint_eq(match->players.due_count, 1); /* Q has one sample, which stays */
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* hs_players_find_next returns the same player as hs_players_find, in any order of the names. Some
   names begin like another one or are too long. */
START_TEST(find_next_returns_the_named_player)
{
    static const char longest[2 * HS_NAME_MAX] = "p1";
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    const struct hs_match_limits limits = {.players = PLAYERS, .samples = SAMPLES};
    struct hs_match *match = hs_match_create(ruleset, &limits);
    ck_assert_ptr_nonnull(match);
    struct hs_players *players = &match->players;
    struct hs_random random = hs_random_start(hs_test_seed(12), 0);
    ck_assert_ptr_null(hs_players_find_next(players, HS_STR("p1"), HS_PLAYERS_FOR_MOVE));
    for (int i = 0; i < PLAYERS; i++) {
        snprintf(names[i], sizeof names[i], "p%d", i);
        if (i < PLAYERS - 5)
            hs_stage_place(match, 0, names[i], 0, 0, 0);
    }
    for (int i = 0, who = 0; i < 20000; i++) {
        who = hs_random_chance(&random, 0.8) ? (who + 1) % PLAYERS
                                             : hs_random_index(&random, PLAYERS);
        struct hs_str name = {names[who], strlen(names[who])};
        if (hs_random_chance(&random, 0.1))
            name.len--;
        const struct hs_player *found = hs_players_find(players, name);
        enum hs_players_use use = i % 2 == 0 ? HS_PLAYERS_FOR_FRAME : HS_PLAYERS_FOR_MOVE;
        ck_assert_ptr_eq(hs_players_find_next(players, name, use), found);
        ck_assert_uint_le(players->next, players->count);
        if (found != NULL)
            ck_assert_ptr_eq(players->all[players->next - 1], found);
    }
    players->next = 1;
    ck_assert_ptr_null(hs_players_find_next(players, (struct hs_str){longest, sizeof longest},
                                            HS_PLAYERS_FOR_FRAME));
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
}
END_TEST

/* A match remembers the shooter of the last claim. A shooter who was removed is not found. */
START_TEST(a_removed_shooter_is_not_found)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    const struct hs_match_limits limits = {.players = 2, .samples = SAMPLES};
    struct hs_match *match = hs_match_create(ruleset, &limits);
    ck_assert_ptr_nonnull(match);
    struct hs_players *players = &match->players;
    ck_assert(hs_hit_admit(match, HS_STR("P")));
    ck_assert_ptr_eq(hs_players_find(players, HS_STR("P")), players->all[0]);
    hs_players_drop_last(players);
    ck_assert_ptr_null(hs_players_find(players, HS_STR("P")));
    ck_assert(hs_hit_admit(match, HS_STR("P")) && hs_hit_admit(match, HS_STR("Q")));
    hs_players_leave(players, players->all[0], 0, 0);
    players->evict_before_us = 1;
    ck_assert(hs_hit_admit(match, HS_STR("P")));
    ck_assert(hs_hit_admit(match, HS_STR("R"))); /* evicts P */
    ck_assert_ptr_null(hs_players_find(players, HS_STR("P")));
    ck_assert_ptr_eq(hs_players_find(players, HS_STR("R")), players->all[1]);
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("players");
    TCase *tcase = tcase_create("pruning");
    tcase_add_test(tcase, everybody_is_pruned_by_every_frame);
    tcase_add_test(tcase, after_a_clock_reset_nothing_is_pruned);
    tcase_add_test(tcase, find_next_returns_the_named_player);
    tcase_add_test(tcase, a_removed_shooter_is_not_found);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
