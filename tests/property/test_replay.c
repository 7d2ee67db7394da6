/*
 * A match is saved in parts at a random moment, while posts go on, and the journal is replayed into
 * the restored match. The restored match is compared with the match that was never restored.
 *
 * In half of the runs, memory is short and ledgers forget numbers. Two events then depend on what
 * was forgotten, so these runs do without them: a parked account may be forgotten, and a withdrawn
 * shot returns its token only if its hit is known to be unpaid.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/play/small_game.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/base/encoding.h"
#include "validators/journal.h"
#include "validators/match/accounts.h"

enum { END_TICK = 160 };

struct run {
    struct hs_random random;
    struct hs_small_game game;
    struct hs_match_limits limits;
    const struct hs_ruleset *rules;
    struct hs_match *live;
    int tick;
    struct hs_bytes journal, snapshot;
    struct hs_save_cursor cursor;
};

static const char *const players[] = {"alice", "bob", "carl", "dora", "emil", "fay", "gus"};
static const char *const accounts[] = {"one", "two", "three", "four"};

static struct hs_str pick(struct hs_random *random, const char *const *names, int count)
{
    const char *name = names[hs_random_index(random, count)];
    return (struct hs_str){name, strlen(name)};
}

/* ---- posts ---- */

/* Posts a random player, who may join, leave or get an account. */
static void post_change(struct run *run)
{
    struct hs_player_frame entry = {.player = pick(&run->random, players, 7)};
    if (hs_random_chance(&run->random, 0.2))
        entry.event = HS_EVENT_LEAVE;
    else if (run->limits.bytes == 0 && hs_random_chance(&run->random, 0.8))
        entry.account = pick(&run->random, accounts, 4);
    const struct hs_frame frame = {.time_us = (int64_t)run->tick * HS_SMALL_GAME_TICK_US +
                                              hs_random_index(&run->random, 40000),
                                   .players = &entry,
                                   .player_count = 1};
    enum hs_frame_result result;
    unsigned flags = 0;
    ck_assert(hs_match_post_frame(run->live, &frame, &result, &flags));
}

static void withdraw_shot(struct run *run)
{
    struct hs_hit_result result;
    const struct hs_shot_claim cancel = {
        .shooter = pick(&run->random, players, 6),
        .shot = (uint64_t)(run->tick - hs_random_index(&run->random, 3)) * 8 +
                (uint64_t)hs_random_index(&run->random, 4),
        .is_cancel = true};
    hs_shot_cancel(run->live, &cancel, true, &result);
}

static void save_part(struct run *run)
{
    if (run->snapshot.len == 0 || run->cursor.has_begun)
        run->cursor.has_begun = hs_match_save_part(
            run->live, &run->cursor, (size_t)hs_random_log_between(&run->random, 1, 20000),
            &run->snapshot);
}

/* Plays one tick. Once `saves` is set, parts are saved between the posts. */
static void play_tick(struct run *run, bool saves)
{
    for (int step = 0; step < 5; step++) {
        if (saves && hs_random_chance(&run->random, 0.3))
            save_part(run);
        if (step == 0)
            hs_small_game_frames(&run->game, run->live, run->tick);
        else if (step == 1 && hs_random_chance(&run->random, 0.3))
            post_change(run);
        else if (step == 2)
            hs_small_game_moves(&run->game, run->live, run->tick);
        else if (step == 3)
            hs_small_game_shots(&run->game, run->live, run->tick);
        else if (step == 4 && run->limits.bytes == 0 && hs_random_chance(&run->random, 0.3))
            withdraw_shot(run);
    }
}

/* ---- comparison ---- */

static const struct hs_ledger_entry *newest_paid(const struct hs_ledger_numbers *numbers)
{
    const struct hs_ledger_entry *newest = NULL;
    for (uint32_t i = 0; i < numbers->count; i++)
        if (numbers->entries[i].accepted &&
            (newest == NULL || numbers->entries[i].fire_time_us > newest->fire_time_us))
            newest = &numbers->entries[i];
    return newest;
}

/* Compares the payments since `free_before_us`. Earlier ones may be forgotten. */
static const char *compare_numbers(const struct hs_ledger_numbers *live,
                                   const struct hs_ledger_numbers *back, int64_t free_before_us)
{
    for (uint32_t i = 0; i < live->count; i++) {
        const struct hs_ledger_entry *entry = &live->entries[i];
        const struct hs_ledger_entry *found = hs_ledger_find(back, entry->number);
        if (!entry->accepted || entry->fire_time_us < free_before_us)
            continue;
        if (found == NULL && !hs_ledger_is_forgotten(back, entry->fire_time_us))
            return "a payment is lost";
        if (found == NULL)
            continue;
        if (!found->accepted || found->fire_time_us != entry->fire_time_us)
            return "a payment has another time";
        if (found->is_cancelled != entry->is_cancelled)
            return "a shot is withdrawn in one match only";
    }
    const struct hs_ledger_entry *newest = newest_paid(back);
    bool knows_time = !live->has_paid || live->paid_us < free_before_us ||
                      hs_ledger_is_forgotten(back, live->paid_us) ||
                      (newest != NULL && newest->fire_time_us >= live->paid_us);
    if (!knows_time)
        return "the time of forgotten payments is lost";
    return NULL;
}

static const char *compare_cadences(const struct run *run, const struct hs_ledger *live,
                                    const struct hs_ledger *back)
{
    for (uint16_t i = 0; i < live->cadence_count; i++) {
        const struct hs_cadence *own = &live->cadences[i];
        const struct hs_cadence *found = hs_ledger_cadence(back, own->weapon);
        int64_t interval_us = run->rules->weapons[own->weapon]->min_interval_us;
        if (found == NULL)
            return "a cadence is lost";
        if (hs_cadence_settled(found, interval_us) != hs_cadence_settled(own, interval_us))
            return "a weapon is ready at another time";
    }
    return NULL;
}

static const char *compare_player(const struct run *run, const struct hs_player *live,
                                  const struct hs_player *back)
{
    int64_t free_before_us = run->live->players.evict_before_us;
    if (back == NULL)
        return "a player is lost";
    if (live->session != back->session || live->former_session != back->former_session ||
        live->left != back->left)
        return "a player has another session";
    if (strcmp(live->account.text, back->account.text) != 0)
        return "a player has another account";
    const char *fault = compare_numbers(&live->ledger.hits, &back->ledger.hits, free_before_us);
    if (fault == NULL)
        fault = compare_numbers(&live->ledger.shots, &back->ledger.shots, free_before_us);
    if (fault == NULL)
        fault = compare_cadences(run, &live->ledger, &back->ledger);
    return fault;
}

static const char *compare_accounts(const struct hs_accounts *live, const struct hs_accounts *back)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < live->count; i++)
        for (uint32_t k = 0; k < back->count; k++)
            same += strcmp(live->all[i].name.text, back->all[k].name.text) == 0;
    return same == live->count && same == back->count ? NULL : "other accounts are parked";
}

static const char *compare(const struct run *run, const struct hs_match *back)
{
    const struct hs_players *live = &run->live->players;
    const char *fault = compare_accounts(&live->accounts, &back->players.accounts);
    for (uint32_t i = 0; i < live->count && fault == NULL; i++) {
        const struct hs_player *player = live->all[i];
        fault = compare_player(run, player,
                               hs_players_find(&back->players, hs_name_str(&player->name)));
    }
    if (fault == NULL && live->sessions != back->players.sessions)
        fault = "the number of sessions differs";
    if (fault == NULL && hs_match_count_bytes(back) != hs_budget_used(&back->budget))
        fault = "the budget differs from the bytes in use";
    return fault;
}

/* The players are saved one after the other. If the one who needs most memory changes in between,
   the parts may need more than the limit, and the result is NULL. */
static struct hs_match *load(const struct run *run, const struct hs_bytes *snapshot)
{
    struct hs_match *match = NULL;
    enum hs_match_load result =
        hs_match_load(run->rules, &run->limits, snapshot->data, snapshot->len, &match);
    bool may_fail = run->limits.bytes > 0 && result == HS_MATCH_LOAD_NO_MEMORY;
    ck_assert(result == HS_MATCH_LOADED || may_fail);
    return match;
}

/* Replays the journal into a match that already contains all of it. Nothing may change. */
static const char *replay_all_again(const struct run *run)
{
    struct hs_bytes newest = {0}, before = {0}, after = {0};
    hs_match_save(run->live, &newest);
    struct hs_match *match = load(run, &newest);
    if (match == NULL) {
        free(newest.data);
        return NULL;
    }
    hs_match_save(match, &before);
    bool is_read = hs_match_replay(match, run->journal.data, run->journal.len);
    hs_match_save(match, &after);
    bool is_same = before.len == after.len && memcmp(before.data, after.data, after.len) == 0;
    bool fits = hs_match_count_bytes(match) == hs_budget_used(&match->budget);
    hs_match_destroy(match);
    free(newest.data);
    free(before.data);
    free(after.data);
    return is_read && is_same && fits ? NULL : "records that the snapshot contains change it";
}

static long compared;

/* Plays one match. Prints what differs, and returns it; NULL: nothing. */
static const char *run_seed(const struct hs_ruleset *rules, uint64_t seed)
{
    struct run run = {.random = hs_random_start(seed, 0),
                      .game = {.seed = seed, .has_rtt = true},
                      .limits = {.players = 16, .samples = 64, .movers = 16},
                      .rules = rules};
    if (hs_random_chance(&run.random, 0.5))
        run.limits.bytes = (size_t)hs_random_log_between(&run.random, 40e3, 150e3);
    int begins = hs_random_index(&run.random, END_TICK - 20);
    int saved = begins + hs_random_index(&run.random, END_TICK - begins);
    run.live = hs_match_create(rules, &run.limits);
    ck_assert_ptr_nonnull(run.live);
    for (run.tick = 0; run.tick < END_TICK; run.tick++) {
        if (run.tick == begins)
            hs_match_set_journal(run.live, &run.journal);
        play_tick(&run, run.tick >= saved);
    }
    do
        save_part(&run);
    while (run.cursor.has_begun);
    struct hs_match *back = load(&run, &run.snapshot);
    compared += back != NULL;
    const char *fault = NULL;
    if (back != NULL)
        fault = hs_match_replay(back, run.journal.data, run.journal.len) ? compare(&run, back)
                                                                         : "records are refused";
    hs_match_destroy(back);
    if (fault == NULL)
        fault = replay_all_again(&run);
    if (fault != NULL)
        printf("HS_SEED=%llu HS_RUNS=1: %s (%zu bytes)\n", (unsigned long long)seed, fault,
               run.limits.bytes);
    hs_match_destroy(run.live);
    free(run.journal.data);
    free(run.snapshot.data);
    return fault;
}

START_TEST(a_restored_match_has_the_state_of_the_match_that_went_on)
{
    struct hs_ruleset *rules = hs_small_game_ruleset();
    uint64_t seed = hs_test_seed(20261128);
    long runs = hs_test_count("HS_RUNS", 300), faults = 0;
    for (long i = 0; i < runs; i++)
        faults += run_seed(rules, seed + (uint64_t)i) != NULL;
    ck_assert_int_eq(faults, 0);
    ck_assert_int_ge(compared, runs - runs / 100 - 1);
    hs_ruleset_destroy(rules);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay");
    TCase *tcase = tcase_create("replay");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, a_restored_match_has_the_state_of_the_match_that_went_on);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
