/* The state in an account of a person: standing, moves, cadence. This state survives leaving, new
   names and restarts. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/play/fixture.h"
#include "tests/support/run_suite.h"
#include "validators/hit.h"
#include "validators/journal.h"
#include "validators/match/accounts.h"
#include "validators/match/player_moves.h"
#include "validators/moves.h"
#include "validators/snapshot.h"

static int64_t now_us;

static void set_up(void)
{
    open_stage();
    now_us = 0;
}

static struct hs_player *find(const char *name)
{
    return hs_players_find(&match->players, hs_stage_str(name));
}

/* Lets a player join. `account` may be NULL: none. */
static struct hs_player *join(const char *name, const char *account)
{
    struct hs_player_frame entry = hs_stage_entry(name, 0, 0, 0);
    entry.account = hs_stage_str(account);
    now_us += HS_MS(50);
    ck_assert_int_eq(hs_stage_post(match, now_us, &entry, NULL), HS_FRAME_STORED);
    return find(name);
}

static void leave(const char *name)
{
    struct hs_player_frame entry = hs_stage_entry(name, 0, 0, 0);
    entry.event = HS_EVENT_LEAVE;
    now_us += HS_MS(50);
    ck_assert_int_eq(hs_stage_post(match, now_us, &entry, NULL), HS_FRAME_STORED);
}

/* Gives a player 37 flags of moves, a refused claim and a shot, and nearly no credit. */
static void misbehave(struct hs_player *player)
{
    if (player->moves == NULL)
        player->moves = hs_player_moves_create();
    ck_assert_ptr_nonnull(player->moves);
    player->moves->raised[HS_MOVE_CHECK_FAST_CLOCK_PROVEN] += 37;
    player->moves->reasons[HS_MOVE_FAST_CLOCK_PROVEN] += 37;
    player->moves->checks.timing.has_credit = true;
    player->moves->checks.timing.credit_us = 1000;
    player->standing.reasons[HS_REASON_NO_INTERSECTION]++;
    player->standing.suspicion.hits[HS_CHECK_CONTACT] += 1;
    player->standing.suspicion.time_us = now_us;
    ck_assert(hs_ledger_record_shot(&player->ledger, HS_STAGE_RIFLE, now_us, HS_MS(100), 0));
}

static void expect_standing(const char *name, const char *account, unsigned times)
{
    struct hs_player_info info;
    struct hs_moves_info moves = {0};
    ck_assert(hs_match_find_player(match, hs_stage_str(name), &info));
    hs_match_moves_info(match, hs_stage_str(name), &moves);
    ck_assert(hs_str_equal(info.account, hs_stage_str(account)));
    ck_assert_uint_eq(info.reasons[HS_REASON_NO_INTERSECTION], times);
    ck_assert_uint_eq(moves.raised[HS_MOVE_CHECK_FAST_CLOCK_PROVEN], 37 * times);
    ck_assert_double_eq_tol(info.suspicion, times, 0.01);
    ck_assert_double_eq_tol(info.suspicion_hits[HS_CHECK_CONTACT], times, 0.01);
    struct hs_player *player = find(name);
    ck_assert(times == 0 || player->moves->checks.timing.credit_us <= 1000);
}

static bool has_fired(const char *name)
{
    return hs_ledger_cadence(&find(name)->ledger, HS_STAGE_RIFLE) != NULL;
}

START_TEST(an_account_outlasts_sessions_and_names)
{
    misbehave(join("bob", "person"));
    expect_standing("bob", "person", 1);
    leave("bob");
    struct hs_match_info info;
    hs_match_info(match, &info);
    ck_assert_uint_eq(info.accounts, 1);
    join("bob", NULL); /* the account is sticky */
    expect_standing("bob", "person", 1);
    ck_assert_uint_eq(match->players.accounts.count, 0);
    leave("bob");
    misbehave(join("eve", "person"));
    expect_standing("eve", "person", 2);
    ck_assert(has_fired("eve"));
    leave("eve");
    join("bob", "other"); /* another person uses the same name */
    expect_standing("bob", "other", 0);
    ck_assert(!has_fired("bob"));
    join("ann", "person");
    expect_standing("ann", "person", 2);
    ck_assert(has_fired("ann"));
}
END_TEST

START_TEST(without_an_account_leaving_ends_the_standing)
{
    misbehave(join("bob", NULL));
    leave("bob");
    join("eve", NULL);
    ck_assert_double_eq(find("eve")->standing.suspicion.hits[HS_CHECK_CONTACT], 0);
    ck_assert_uint_eq(match->players.accounts.count, 0);
    misbehave(find("eve"));
    join("eve", "person"); /* the account is named later, and gets the values of the session so
                              far */
    expect_standing("eve", "person", 1);
}
END_TEST

/* A client reconnects before the server sees the end of the old connection. The account moves to
   the newest player. */
START_TEST(the_last_player_who_names_an_account_has_it)
{
    misbehave(join("bob", "person"));
    join("eve", "person");
    expect_standing("eve", "person", 1);
    ck_assert(find("bob")->account.text[0] == '\0');
    ck_assert_double_eq(find("bob")->standing.suspicion.hits[HS_CHECK_CONTACT], 0);
    join("eve", "second"); /* a player changes to another account */
    expect_standing("eve", "second", 0);
    join("eve", "person");
    expect_standing("eve", "person", 1);
}
END_TEST

/* A frame that arrives late names the account of before. */
START_TEST(a_late_frame_changes_no_account)
{
    misbehave(join("bob", "person"));
    join("bob", "second");
    struct hs_player_frame entry = hs_stage_entry("bob", 0, 0, 0);
    entry.account = HS_STR("person");
    ck_assert_int_eq(hs_stage_post(match, now_us - HS_MS(25), &entry, NULL), HS_FRAME_STORED);
    expect_standing("bob", "second", 0);
    join("eve", NULL);
    entry.player = HS_STR("eve");
    ck_assert_int_eq(hs_stage_post(match, now_us - HS_MS(25), &entry, NULL), HS_FRAME_STORED);
    expect_standing("eve", "person", 1); /* the first frame that names an account may be late */
}
END_TEST

START_TEST(the_debt_of_a_weapon_stays)
{
    struct hs_player *bob = join("bob", "person");
    rules->weapons[HS_STAGE_RIFLE]->min_interval_us = HS_MS(1000);
    for (uint16_t weapon = 0; weapon < rules->weapon_count; weapon++)
        ck_assert(hs_ledger_record_shot(&bob->ledger, weapon, now_us, 0, 0));
    int64_t fired_us = now_us;
    leave("bob");
    struct hs_player *eve = join("eve", "person");
    const struct hs_cadence *cadence = hs_ledger_cadence(&eve->ledger, HS_STAGE_RIFLE);
    ck_assert_ptr_nonnull(cadence);
    ck_assert_int_eq(hs_cadence_debt(cadence, fired_us + HS_MS(100), HS_MS(1000)), HS_MS(750));
    ck_assert_uint_eq(eve->ledger.bytes, hs_ledger_bytes(&eve->ledger));
}
END_TEST

/* Returns how much too early a player's rifle would fire `later_us` after `fired_us`. */
static int64_t debt_after(const char *name, int64_t fired_us, int64_t later_us)
{
    const struct hs_cadence *cadence = hs_ledger_cadence(&find(name)->ledger, HS_STAGE_RIFLE);
    ck_assert_ptr_nonnull(cadence);
    return hs_cadence_debt(cadence, fired_us + later_us, HS_MS(1000));
}

/* Frames name one account for two present players. Neither gets a full bucket from it, and no shot
   counts twice. */
START_TEST(present_players_who_share_an_account_keep_their_debts)
{
    rules->weapons[HS_STAGE_RIFLE]->min_interval_us = HS_MS(1000);
    struct hs_player *bob = join("bob", "person");
    ck_assert(hs_ledger_record_shot(&bob->ledger, HS_STAGE_RIFLE, now_us, HS_MS(1000), 0));
    int64_t fired_us = now_us;
    for (int i = 0; i < 3; i++) {
        join("eve", "person");
        ck_assert_int_eq(debt_after("bob", fired_us, HS_MS(500)), HS_MS(350));
        ck_assert_int_eq(debt_after("eve", fired_us, HS_MS(500)), HS_MS(350));
        join("bob", "person");
    }
    fired_us += HS_MS(1000);
    ck_assert(
        hs_ledger_record_shot(&find("bob")->ledger, HS_STAGE_RIFLE, fired_us, HS_MS(1000), 0));
    join("eve", "person");
    leave("eve");
    join("bob", "person");
    ck_assert_int_eq(debt_after("bob", fired_us, HS_MS(500)), HS_MS(350));
    /* A shot that arrives late is still inserted among the others. */
    ck_assert_int_eq(debt_after("bob", fired_us, HS_MS(-500)), HS_MS(850));
    ck_assert_uint_eq(hs_match_count_bytes(match), hs_budget_used(&match->budget));
}
END_TEST

START_TEST(a_present_player_with_a_new_account_keeps_the_debt)
{
    rules->weapons[HS_STAGE_RIFLE]->min_interval_us = HS_MS(1000);
    struct hs_player *bob = join("bob", "person");
    ck_assert(hs_ledger_record_shot(&bob->ledger, HS_STAGE_RIFLE, now_us, HS_MS(1000), 0));
    int64_t fired_us = now_us;
    join("bob", "other");
    ck_assert_int_eq(debt_after("bob", fired_us, HS_MS(500)), HS_MS(350));
    join("bob", "person");
    ck_assert_int_eq(debt_after("bob", fired_us, HS_MS(500)), HS_MS(350));
}
END_TEST

/* At most as many accounts as players are kept, in the memory of the match. The most suspicious
   ones stay. */
START_TEST(parked_accounts_are_bounded)
{
    match->players.limit = 20;
    for (int i = 0; i < 100; i++) {
        char name[16], account[16];
        snprintf(name, sizeof name, "p%d", i);
        snprintf(account, sizeof account, "a%d", i);
        struct hs_player *player = join(name, account);
        if (i == 7)
            misbehave(player);
        leave(name);
        for (int k = 0; k < 4; k++) { /* after these frames the player can be evicted */
            now_us += HS_MS(4000);
            join("clock", NULL);
        }
        ck_assert_uint_eq(hs_match_count_bytes(match), hs_budget_used(&match->budget));
    }
    ck_assert_uint_ge(match->players.accounts.count, 20);
    ck_assert_uint_le(match->players.accounts.count, 40);
    join("late", "a7");
    ck_assert_uint_eq(find("late")->standing.reasons[HS_REASON_NO_INTERSECTION], 1);
}
END_TEST

/* A player changes to a parked account while the list of accounts is full. Their old account is
   parked, and must not push out the one that they take. */
START_TEST(a_full_list_keeps_the_account_that_is_taken)
{
    match->players.limit = 8;
    join("bob", "person");
    ck_assert(hs_ledger_record_shot(&find("bob")->ledger, HS_STAGE_RIFLE, now_us, HS_MS(1000), 0));
    find("bob")->standing.reasons[HS_REASON_NO_INTERSECTION]++;
    leave("bob");
    for (int i = 0; i < 7; i++) {
        char name[16], account[16];
        snprintf(name, sizeof name, "p%d", i);
        snprintf(account, sizeof account, "a%d", i);
        misbehave(join(name, account));
        leave(name);
    }
    ck_assert_uint_eq(match->players.accounts.count, 8);
    join("bob", "other");
    join("bob", "person");
    ck_assert_uint_eq(find("bob")->standing.reasons[HS_REASON_NO_INTERSECTION], 1);
    ck_assert(has_fired("bob"));
    ck_assert_uint_eq(match->players.accounts.count, 8);
}
END_TEST

static void reload(const struct hs_bytes *saved)
{
    struct hs_match_limits limits = match->limits;
    hs_match_destroy(match);
    ck_assert_int_eq(hs_match_load(rules, &limits, saved->data, saved->len, &match),
                     HS_MATCH_LOADED);
}

START_TEST(accounts_are_saved)
{
    misbehave(join("bob", "person"));
    misbehave(join("eve", "second"));
    leave("bob");
    struct hs_bytes saved = {0};
    hs_match_save(match, &saved);
    reload(&saved);
    free(saved.data);
    ck_assert_uint_eq(match->players.accounts.count, 1);
    ck_assert_uint_eq(hs_match_count_bytes(match), hs_budget_used(&match->budget));
    expect_standing("eve", "second", 1);
    join("ann", "person");
    expect_standing("ann", "person", 1);
}
END_TEST

/* After a crash, the journal knows which player has which account. */
START_TEST(accounts_are_journalled)
{
    struct hs_bytes saved = {0}, journal = {0};
    misbehave(join("bob", "person"));
    hs_match_save(match, &saved);
    hs_match_set_journal(match, &journal);
    leave("bob");
    join("eve", "person");
    join("bob", "other");
    reload(&saved);
    ck_assert(hs_match_replay(match, journal.data, journal.len));
    expect_standing("eve", "person", 1);
    expect_standing("bob", "other", 0);
    free(saved.data);
    free(journal.data);
}
END_TEST

static void expect_same_bytes(const struct hs_bytes *a, const struct hs_bytes *b)
{
    ck_assert_uint_eq(a->len, b->len);
    ck_assert_mem_eq(a->data, b->data, a->len);
}

/* Gives two players and a third name the same two accounts in turn. */
static void exchange_accounts(void)
{
    misbehave(join("bob", "person"));
    misbehave(join("eve", NULL));
    join("eve", "person");
    join("bob", "second");
    join("eve", "third");
    find("eve")->moves->checks.timing.credit_us = 90000;
}

/* A snapshot already contains the first records of the journal. If all records are replayed, each
   player and each account has exactly the values of before. */
START_TEST(records_of_accounts_in_the_snapshot_are_not_applied_again)
{
    struct hs_bytes saved = {0}, newest = {0}, again = {0}, journal = {0};
    hs_match_set_journal(match, &journal);
    exchange_accounts();
    hs_match_save(match, &saved);
    if (_i == 1)
        join("ann", "person");
    hs_match_save(match, &newest);
    struct hs_player *bob = find("bob");
    double credit_us = bob->moves->checks.timing.credit_us;
    size_t parked = match->players.accounts.count;
    reload(&saved);
    ck_assert(hs_match_replay(match, journal.data, journal.len));
    ck_assert_uint_eq(match->players.accounts.count, parked);
    ck_assert_double_eq(find("bob")->moves->checks.timing.credit_us, credit_us);
    ck_assert_double_eq(find("eve")->moves->checks.timing.credit_us, 90000);
    ck_assert_uint_eq(hs_match_count_bytes(match), hs_budget_used(&match->budget));
    expect_standing("bob", "second", 0);
    expect_standing("eve", "third", 0);
    if (_i == 0) {
        hs_match_save(match, &again);
        reload(&newest);
        newest.len = 0;
        hs_match_save(match, &newest);
        expect_same_bytes(&again, &newest);
    } else {
        expect_standing("ann", "person", 2);
    }
    free(saved.data);
    free(newest.data);
    free(again.data);
    free(journal.data);
}
END_TEST

/* A player gets an account between two parts of a save, and leaves. The values of their session are
   in the account once. */
START_TEST(an_account_that_is_set_between_two_parts_is_saved_once)
{
    struct hs_bytes saved = {0}, journal = {0};
    struct hs_save_cursor cursor = {0};
    join("ann", NULL);
    misbehave(join("bob", NULL));
    hs_match_set_journal(match, &journal);
    ck_assert(hs_match_save_part(match, &cursor, 1, &saved));
    join("bob", "person");
    leave("bob");
    while (hs_match_save_part(match, &cursor, 1, &saved))
        continue;
    reload(&saved);
    ck_assert(hs_match_replay(match, journal.data, journal.len));
    join("eve", "person");
    expect_standing("eve", "person", 1);
    free(saved.data);
    free(journal.data);
}
END_TEST

/* A player with an account comes back between two parts of a save. The account must be in one part:
   with the player, or in the list of parked accounts. */
START_TEST(an_account_that_returns_between_two_parts_is_saved)
{
    struct hs_bytes saved = {0}, journal = {0};
    struct hs_save_cursor cursor = {0};
    join("ann", NULL);
    misbehave(join("bob", "person"));
    leave("bob");
    hs_match_set_journal(match, &journal);
    ck_assert(hs_match_save_part(match, &cursor, 1, &saved));
    join("bob", NULL);
    while (hs_match_save_part(match, &cursor, 1, &saved))
        continue;
    reload(&saved);
    ck_assert(hs_match_replay(match, journal.data, journal.len));
    expect_standing("bob", "person", 1);
    ck_assert(has_fired("bob"));
    free(saved.data);
    free(journal.data);
}
END_TEST

START_TEST(a_clock_reset_keeps_standing_and_drops_fire_times)
{
    misbehave(join("bob", "person"));
    leave("bob");
    now_us = HS_MS(-900000);
    hs_match_restart(match, now_us);
    match->newest_us = now_us;
    join("eve", "person");
    expect_standing("eve", "person", 1);
    ck_assert(!has_fired("eve")); /* the fire times of the old clock are forgotten */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("accounts");
    TCase *tcase = tcase_create("accounts");
    tcase_add_checked_fixture(tcase, set_up, close_stage);
    tcase_add_test(tcase, an_account_outlasts_sessions_and_names);
    tcase_add_test(tcase, without_an_account_leaving_ends_the_standing);
    tcase_add_test(tcase, the_last_player_who_names_an_account_has_it);
    tcase_add_test(tcase, a_late_frame_changes_no_account);
    tcase_add_test(tcase, the_debt_of_a_weapon_stays);
    tcase_add_test(tcase, present_players_who_share_an_account_keep_their_debts);
    tcase_add_test(tcase, a_present_player_with_a_new_account_keeps_the_debt);
    tcase_add_test(tcase, parked_accounts_are_bounded);
    tcase_add_test(tcase, a_full_list_keeps_the_account_that_is_taken);
    tcase_add_test(tcase, accounts_are_saved);
    tcase_add_test(tcase, accounts_are_journalled);
    tcase_add_loop_test(tcase, records_of_accounts_in_the_snapshot_are_not_applied_again, 0, 2);
    tcase_add_test(tcase, an_account_that_is_set_between_two_parts_is_saved_once);
    tcase_add_test(tcase, an_account_that_returns_between_two_parts_is_saved);
    tcase_add_test(tcase, a_clock_reset_keeps_standing_and_drops_fire_times);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
