/*
 * The journal of a match. If the process is killed at any moment, the restored match knows every
 * payment once, in its session and on its clock. Snapshots and records may overlap in any way.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/play/small_game.h"
#include "tests/support/play/stage.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/base/encoding.h"
#include "validators/journal.h"
#include "validators/match/journal.h"
#include "validators/match/players.h"

static const struct hs_match_limits limits = {.players = 16, .samples = 64, .movers = 16};
static struct hs_ruleset *rules;
static uint64_t seed;

static void set_up(void)
{
    rules = hs_small_game_ruleset();
    ck_assert_ptr_nonnull(rules);
}

static void tear_down(void)
{
    hs_ruleset_destroy(rules);
}

static struct hs_match *load_within(const struct hs_bytes *snapshot,
                                    const struct hs_match_limits *bounds)
{
    struct hs_match *match = NULL;
    ck_assert_int_eq(hs_match_load(rules, bounds, snapshot->data, snapshot->len, &match),
                     HS_MATCH_LOADED);
    return match;
}

static struct hs_match *load(const struct hs_bytes *snapshot)
{
    return load_within(snapshot, &limits);
}

static void save(const struct hs_match *match, struct hs_bytes *out)
{
    out->len = 0;
    hs_match_save(match, out);
    ck_assert(!out->failed);
}

static void replay(struct hs_match *match, const struct hs_bytes *records)
{
    ck_assert(hs_match_replay(match, records->data, records->len));
}

/* Records that the match contains already change nothing. */
static void assert_replay_changes_nothing(struct hs_match *match, const struct hs_bytes *records)
{
    struct hs_bytes before = {0}, after = {0};
    save(match, &before);
    replay(match, records);
    save(match, &after);
    ck_assert_uint_eq(before.len, after.len);
    ck_assert_mem_eq(before.data, after.data, after.len);
    free(before.data);
    free(after.data);
}

static void play(const struct hs_small_game *game, struct hs_match *match, int from, int to)
{
    for (int tick = from; tick < to; tick++) {
        hs_small_game_frames(game, match, tick);
        hs_small_game_moves(game, match, tick);
        hs_small_game_shots(game, match, tick);
    }
}

static void assert_paid(const struct hs_ledger_numbers *live, const struct hs_ledger_numbers *back,
                        long *paid)
{
    for (uint32_t i = 0; i < live->count; i++) {
        const struct hs_ledger_entry *entry = &live->entries[i];
        if (!entry->accepted)
            continue;
        const struct hs_ledger_entry *found = hs_ledger_find(back, entry->number);
        ck_assert_msg(found != NULL, "number %llu was forgotten",
                      (unsigned long long)entry->number);
        ck_assert(found->accepted && found->fire_time_us == entry->fire_time_us);
        ck_assert(found->is_instant == entry->is_instant &&
                  found->hit_time_us == entry->hit_time_us);
        ck_assert(found->has_offset == entry->has_offset && found->offset_us == entry->offset_us);
        ck_assert_mem_eq(&found->digest, &entry->digest, sizeof found->digest);
        ck_assert_uint_eq(found->answer_size, entry->answer_size);
        ck_assert_mem_eq(found->answer, entry->answer, entry->answer_size);
        ck_assert((found->shot != NULL) == (entry->shot != NULL));
        ++*paid;
    }
    /* `live` has forgotten payments up to `paid_us`. `back` has forgotten payments up to that time
       too, or still has a payment of that time or later. */
    bool knows_time = !live->has_paid || hs_ledger_is_forgotten(back, live->paid_us);
    for (uint32_t i = 0; i < back->count; i++) {
        const struct hs_ledger_entry *entry = &back->entries[i];
        knows_time = knows_time || (entry->accepted && entry->fire_time_us >= live->paid_us);
    }
    ck_assert(knows_time);
}

/* Checks that all payments of `live` are in `back`, in the same sessions. */
static long assert_same_payments(const struct hs_match *live, const struct hs_match *back)
{
    long paid = 0;
    ck_assert_uint_eq(back->players.sessions, live->players.sessions);
    ck_assert_uint_eq(back->clock, live->clock);
    for (uint32_t i = 0; i < live->players.count; i++) {
        const struct hs_player *player = live->players.all[i];
        const struct hs_player *found = hs_players_find(&back->players, hs_name_str(&player->name));
        ck_assert_ptr_nonnull(found);
        ck_assert_uint_eq(found->session, player->session);
        ck_assert_uint_eq(found->former_session, player->former_session);
        ck_assert_int_eq(found->left, player->left);
        ck_assert_int_eq(found->has_left_before, player->has_left_before);
        if (player->has_left_before)
            ck_assert(found->left_us == player->left_us && found->ended_us == player->ended_us);
        assert_paid(&player->ledger.hits, &found->ledger.hits, &paid);
        assert_paid(&player->ledger.shots, &found->ledger.shots, &paid);
    }
    ck_assert_uint_eq(back->players.present, live->players.present);
    return paid;
}

/* A snapshot at one moment and the records up to a later moment restore the payments of the later
   moment. Applying records twice, or to a snapshot that contains them, changes nothing. */
START_TEST(snapshot_and_records_restore_every_payment)
{
    const struct hs_small_game game = {.seed = seed + (uint64_t)_i, .has_rtt = true};
    struct hs_random random = hs_random_start(seed, (uint64_t)_i);
    struct hs_bytes journal = {0}, snapshot = {0};
    int saved = hs_random_index(&random, 300), end = saved + 1 + hs_random_index(&random, 200);
    struct hs_match *live = hs_match_create(rules, &limits);
    play(&game, live, 0, saved);
    save(live, &snapshot);
    hs_match_set_journal(live, &journal);
    play(&game, live, saved, end);
    ck_assert(!journal.failed);

    struct hs_match *back = load(&snapshot);
    replay(back, &journal);
    long paid = assert_same_payments(live, back);
    assert_replay_changes_nothing(back, &journal);
    hs_match_destroy(back);

    save(live, &snapshot);
    back = load(&snapshot);
    assert_replay_changes_nothing(back, &journal);
    if (end > 100)
        ck_assert_int_gt(paid, 0);
    hs_match_destroy(back);
    hs_match_destroy(live);
    free(journal.data);
    free(snapshot.data);
}
END_TEST

/* Records of a match that was opened after the snapshot are applied to an empty match. */
START_TEST(records_restore_a_match_opened_after_the_snapshot)
{
    const struct hs_small_game game = {.seed = seed, .has_rtt = true};
    struct hs_bytes journal = {0}, opening = {0};
    struct hs_match *live = hs_match_create(rules, &limits);
    save(live, &opening);
    hs_match_set_journal(live, &journal);
    play(&game, live, 0, 150);
    struct hs_match *back = load(&opening);
    replay(back, &journal);
    ck_assert_int_gt(assert_same_payments(live, back), 20);
    /* Frames restore the players of the match. No claim is paid a second time. */
    long before = hs_small_game_counts.replays;
    for (int tick = 140; tick < 150; tick++)
        hs_small_game_frames(&game, back, tick);
    struct hs_match_totals paid, after;
    hs_match_totals(back, &paid);
    for (int tick = 140; tick < 150; tick++)
        hs_small_game_shots(&game, back, tick);
    hs_match_totals(back, &after);
    ck_assert_int_gt(hs_small_game_counts.replays, before);
    ck_assert_double_eq(after.damage, paid.damage);
    hs_match_destroy(back);
    hs_match_destroy(live);
    free(journal.data);
    free(opening.data);
}
END_TEST

static void post(struct hs_match *match, const char *name, enum hs_sample_event event,
                 int64_t time_us)
{
    const struct hs_player_frame entry = {
        .player = {name, strlen(name)}, .event = event, .position = {0, 0, 0}};
    const struct hs_frame frame = {.time_us = time_us, .players = &entry, .player_count = 1};
    enum hs_frame_result result;
    unsigned flags = 0;
    ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
}

/* Session numbers are never used twice, even if a player was evicted between two sessions. */
START_TEST(session_numbers_are_never_reused)
{
    const struct hs_match_limits two = {.players = 2, .samples = 8, .movers = 1};
    struct hs_bytes journal = {0}, opening = {0};
    struct hs_match *match = hs_match_create(rules, &two);
    save(match, &opening);
    hs_match_set_journal(match, &journal);
    post(match, "a", HS_EVENT_NONE, HS_MS(1000));
    post(match, "b", HS_EVENT_NONE, HS_MS(1000));
    ck_assert_uint_eq(hs_match_session(match, HS_STR("a"), HS_MS(1000)), 1);
    ck_assert_uint_eq(hs_match_session(match, HS_STR("b"), HS_MS(1000)), 2);
    ck_assert_uint_eq(hs_match_session(match, HS_STR("c"), HS_MS(1000)), 0);
    post(match, "a", HS_EVENT_LEAVE, HS_MS(1100));
    post(match, "a", HS_EVENT_NONE, HS_MS(1200));
    ck_assert_uint_eq(hs_match_session(match, HS_STR("a"), HS_MS(1200)), 3);
    /* fired in the first session */
    ck_assert_uint_eq(hs_match_session(match, HS_STR("a"), HS_MS(1100)), 1);
    post(match, "a", HS_EVENT_LEAVE, HS_MS(1300));
    int64_t time_us = HS_MS(1300);
    do
        post(match, "b", HS_EVENT_NONE, time_us += HS_MS(1000));
    while (time_us <= HS_MS(1300) + match->claim_window_us);
    post(match, "c", HS_EVENT_NONE, time_us);
    ck_assert_ptr_null(hs_players_find(&match->players, HS_STR("a")));
    ck_assert_uint_eq(hs_match_session(match, HS_STR("c"), time_us), 4);
    struct hs_match *back = load_within(&opening, &two);
    replay(back, &journal);
    ck_assert_ptr_null(hs_players_find(&back->players, HS_STR("a")));
    ck_assert_uint_eq(hs_match_session(back, HS_STR("c"), time_us), 4);
    ck_assert_uint_eq(back->players.sessions, 4);
    hs_match_destroy(back);
    hs_match_destroy(match);
    free(journal.data);
    free(opening.data);
}
END_TEST

/* A player leaves, the clock is set back, and the player is evicted before the snapshot. Records
   from before the eviction do not bring the player back, and later payments are restored. */
START_TEST(records_do_not_bring_back_an_evicted_player)
{
    const struct hs_small_game game = {.seed = seed, .has_rtt = true, .resync_tick = 1000};
    const struct hs_match_limits few = {
        .players = HS_SMALL_GAME_PLAYERS + 1, .samples = 64, .movers = 16};
    struct hs_bytes journal = {0}, snapshot = {0};
    struct hs_match *live = hs_match_create(rules, &few);
    play(&game, live, 1000, 1010);
    post(live, "gone", HS_EVENT_NONE, 1009 * HS_SMALL_GAME_TICK_US);
    hs_match_set_journal(live, &journal);
    post(live, "gone", HS_EVENT_LEAVE, 1010 * HS_SMALL_GAME_TICK_US);
    play(&game, live, 0, 20);
    ck_assert_uint_eq(live->clock, 1);
    post(live, "new", HS_EVENT_NONE, 20 * HS_SMALL_GAME_TICK_US);
    ck_assert_ptr_null(hs_players_find(&live->players, HS_STR("gone")));
    save(live, &snapshot);
    play(&game, live, 20, 140);
    struct hs_match *back = load_within(&snapshot, &few);
    replay(back, &journal);
    ck_assert_ptr_null(hs_players_find(&back->players, HS_STR("gone")));
    ck_assert_int_gt(assert_same_payments(live, back), 0);
    hs_match_destroy(back);
    hs_match_destroy(live);
    free(journal.data);
    free(snapshot.data);
}
END_TEST

/* A player rejoins between two parts of a save, so their saved session is newer than the saved
   number of sessions. */
START_TEST(a_rejoin_between_two_parts_repeats_no_session_number)
{
    struct hs_bytes journal = {0}, snapshot = {0};
    struct hs_save_cursor cursor = {0};
    struct hs_match *match = hs_match_create(rules, &limits);
    post(match, "a", HS_EVENT_NONE, HS_MS(1000));
    post(match, "b", HS_EVENT_NONE, HS_MS(1000));
    post(match, "a", HS_EVENT_LEAVE, HS_MS(1050));
    hs_match_set_journal(match, &journal);
    ck_assert(hs_match_save_part(match, &cursor, 1, &snapshot));
    post(match, "a", HS_EVENT_NONE, HS_MS(1100));
    while (hs_match_save_part(match, &cursor, 1, &snapshot))
        continue;
    struct hs_match *back = load(&snapshot);
    replay(back, &journal);
    assert_same_payments(match, back);
    ck_assert_uint_eq(hs_match_session(back, HS_STR("a"), HS_MS(1100)), 3);
    post(back, "c", HS_EVENT_NONE, HS_MS(1150));
    ck_assert_uint_eq(hs_match_session(back, HS_STR("c"), HS_MS(1150)), 4);
    hs_match_destroy(back);
    hs_match_destroy(match);
    free(journal.data);
    free(snapshot.data);
}
END_TEST

/* The record of a clock reset is applied to the restored match: shot numbers stay, and times are
   dropped. */
START_TEST(records_restore_a_clock_reset)
{
    const struct hs_small_game game = {.seed = seed, .has_rtt = true};
    struct hs_bytes journal = {0}, opening = {0};
    struct hs_match *live = hs_match_create(rules, &limits);
    save(live, &opening);
    hs_match_set_journal(live, &journal);
    play(&game, live, 1000, 1100);
    for (int tick = 0; live->clock == 0 && tick < 10; tick++)
        hs_small_game_frames(&game, live, tick);
    ck_assert_uint_eq(live->clock, 1);
    struct hs_match *back = load(&opening);
    replay(back, &journal);
    assert_same_payments(live, back);
    ck_assert_int_le(back->newest_us, live->newest_us);
    assert_replay_changes_nothing(back, &journal);
    hs_match_destroy(back);
    hs_match_destroy(live);
    free(journal.data);
    free(opening.data);
}
END_TEST

/* The clock is reset between two parts of a save. All parts are of the new clock, so the payments
   after the reset stay. */
START_TEST(a_clock_reset_between_two_parts_forgets_no_payment)
{
    const struct hs_small_game game = {.seed = seed, .has_rtt = true, .resync_tick = 1000};
    struct hs_bytes journal = {0}, snapshot = {0};
    struct hs_save_cursor cursor = {0};
    struct hs_match *live = hs_match_create(rules, &limits);
    play(&game, live, 1000, 1050);
    hs_match_set_journal(live, &journal);
    hs_bytes_put(&snapshot, 7, 1); /* the caller's own bytes before the snapshot stay */
    ck_assert(hs_match_save_part(live, &cursor, 1, &snapshot));
    ck_assert(hs_match_save_part(live, &cursor, 1, &snapshot));
    play(&game, live, 0, 140);
    ck_assert_uint_eq(live->clock, 1);
    while (hs_match_save_part(live, &cursor, 1, &snapshot))
        continue;
    ck_assert_uint_eq(snapshot.data[0], 7);
    memmove(snapshot.data, snapshot.data + 1, --snapshot.len);
    struct hs_match *back = load(&snapshot);
    replay(back, &journal);
    ck_assert_int_gt(assert_same_payments(live, back), 0);
    for (uint32_t i = 0; i < live->players.count; i++) {
        const struct hs_player *player = live->players.all[i];
        const struct hs_player *found = hs_players_find(&back->players, hs_name_str(&player->name));
        ck_assert_uint_eq(found->ledger.cadence_count, player->ledger.cadence_count);
    }
    hs_match_destroy(back);
    hs_match_destroy(live);
    free(journal.data);
    free(snapshot.data);
}
END_TEST

/* A clock that is reset again and again cannot delay the end of a save. */
START_TEST(clock_resets_do_not_delay_a_save_without_limit)
{
    struct hs_bytes snapshot = {0};
    struct hs_save_cursor cursor = {0};
    struct hs_match *live = hs_match_create(rules, &limits);
    int parts = 1;
    for (const char *name = "abcdefgh"; *name != '\0'; name++)
        post(live, (char[]){*name, '\0'}, HS_EVENT_NONE, HS_MS(1000));
    for (; hs_match_save_part(live, &cursor, 1, &snapshot); parts++) {
        ck_assert_int_lt(parts, 8);
        hs_match_restart(live, HS_MS(parts));
    }
    struct hs_match *back = load(&snapshot);
    ck_assert_uint_eq(back->clock, live->clock);
    ck_assert_uint_eq(back->players.count, 8);
    hs_match_destroy(back);
    hs_match_destroy(live);
    free(snapshot.data);
}
END_TEST

/* A payment of an ended session is so old that its number is free, and its record is older than the
   snapshot. The time of the payment stays forgotten. */
START_TEST(an_old_record_of_an_ended_session_changes_nothing)
{
    struct hs_bytes journal = {0}, snapshot = {0};
    struct hs_match *live = hs_match_create(rules, &limits);
    const struct hs_journal_payment payment = {
        .session = 1,
        .is_shot = _i == 1,
        .weapon = HS_NONE,
        .entry = {.number = 7, .accepted = true, .fire_time_us = HS_MS(1000)}};
    hs_match_set_journal(live, &journal);
    post(live, "a", HS_EVENT_NONE, HS_MS(1000));
    hs_journal_paid(&live->players, hs_players_find(&live->players, HS_STR("a")), &payment);
    post(live, "a", HS_EVENT_LEAVE, HS_MS(1050));
    post(live, "a", HS_EVENT_NONE, HS_MS(1100));
    for (int64_t time_us = HS_MS(1100); time_us <= HS_MS(1100) + live->claim_window_us;)
        post(live, "a", HS_EVENT_NONE, time_us += HS_MS(1000));
    save(live, &snapshot);
    struct hs_match *back = load(&snapshot);
    assert_replay_changes_nothing(back, &journal);
    hs_match_destroy(back);
    hs_match_destroy(live);
    free(journal.data);
    free(snapshot.data);
}
END_TEST

/* The largest weapon damage, factors and damage_scale together deal such damage. */
START_TEST(records_restore_large_damage)
{
    struct hs_bytes journal = {0}, opening = {0};
    struct hs_match *live = hs_match_create(rules, &limits);
    const struct hs_journal_payment payment = {
        .session = 1, .weapon = HS_NONE, .damage = 4e21, .entry = {.number = 7, .accepted = true}};
    save(live, &opening);
    hs_match_set_journal(live, &journal);
    post(live, "a", HS_EVENT_NONE, HS_MS(1000));
    hs_journal_paid(&live->players, hs_players_find(&live->players, HS_STR("a")), &payment);
    struct hs_match *back = load(&opening);
    replay(back, &journal);
    struct hs_match_totals totals;
    hs_match_totals(back, &totals);
    ck_assert_double_eq(totals.damage, 4e21);
    hs_match_destroy(back);
    hs_match_destroy(live);
    free(journal.data);
    free(opening.data);
}
END_TEST

/* While the records cannot be written, their size is limited. At the limit sessions neither begin
   nor end, as if out of memory. */
START_TEST(unwritten_records_are_bounded)
{
    struct hs_bytes journal = {0};
    struct hs_match *match = hs_match_create(rules, &limits);
    hs_match_set_journal(match, &journal);
    int64_t time_us = 0;
    size_t sessions = 0;
    const struct hs_player_frame come = {.player = HS_STR("a")},
                                 go = {.player = HS_STR("a"), .event = HS_EVENT_LEAVE};
    bool fine = true;
    for (int i = 0; fine && i < 100000; i++) {
        const struct hs_frame frame = {
            .time_us = time_us += 1000, .players = i % 2 == 0 ? &come : &go, .player_count = 1};
        enum hs_frame_result result;
        unsigned flags = 0;
        fine = hs_match_post_frame(match, &frame, &result, &flags);
        sessions += fine;
    }
    ck_assert(!fine);
    ck_assert_uint_gt(sessions, 1000);
    ck_assert_uint_lt(journal.len, 300 * 1024);
    uint64_t session = match->players.sessions;
    journal.len = 0; /* as if the records were written */
    post(match, "b", HS_EVENT_NONE, time_us);
    ck_assert_uint_eq(hs_match_session(match, HS_STR("b"), time_us), session + 1);
    hs_match_destroy(match);
    free(journal.data);
}
END_TEST

/* If there is no space for the record of an account, the entry is not stored. So the same frame can
   be posted again later. */
START_TEST(without_space_for_its_account_an_entry_is_not_stored)
{
    static unsigned char bytes[512 * 1024];
    static const size_t waiting[] = {256 * 1024, 300 * 1024};
    struct hs_bytes journal = {.data = bytes, .capacity = sizeof bytes};
    struct hs_match *match = hs_match_create(rules, &limits);
    struct hs_player_info info;
    post(match, "a", HS_EVENT_NONE, HS_MS(1000));
    hs_match_set_journal(match, &journal);
    const struct hs_player_frame entries[] = {
        {.player = HS_STR("b"), .account = HS_STR("two")}, /* joins: needs two records */
        {.player = HS_STR("a"), .account = HS_STR("one")}};
    for (int i = 0; i < 2; i++) {
        const struct hs_frame frame = {
            .time_us = HS_MS(2000 + 1000 * i), .players = &entries[i], .player_count = 1};
        enum hs_frame_result result;
        unsigned flags = 0;
        journal.len = waiting[i];
        ck_assert_int_eq(hs_match_post_frame(match, &frame, &result, &flags), i == 0);
        ck_assert_int_eq(match->newest_us, HS_MS(2000));
        journal.len = 0;
        ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
        ck_assert_int_eq(result, i == 0 ? HS_FRAME_DUPLICATE_TIME : HS_FRAME_STORED);
        ck_assert(hs_match_find_player(match, entries[i].player, &info));
        ck_assert(hs_str_equal(info.account, entries[i].account));
    }
    hs_match_destroy(match);
}
END_TEST

/* Damaged records are refused. If damaged records are accepted, the match can still be saved, read
   and played. */
START_TEST(damaged_records_leave_a_usable_match)
{
    const struct hs_small_game game = {.seed = seed, .has_rtt = true};
    struct hs_random random = hs_random_start(seed, 7);
    struct hs_bytes journal = {0}, opening = {0}, bytes = {0};
    struct hs_match *live = hs_match_create(rules, &limits);
    save(live, &opening);
    hs_match_set_journal(live, &journal);
    play(&game, live, 0, 60);
    long refused = 0;
    for (int i = 0; i < 3000; i++) {
        size_t len = hs_random_chance(&random, 0.5)
                         ? journal.len
                         : (size_t)hs_random_index(&random, (int)journal.len);
        /* exact size, so sanitizers detect reads past its end */
        unsigned char *damaged = malloc(len > 0 ? len : 1);
        memcpy(damaged, journal.data, len);
        for (int k = hs_random_index(&random, 8); k > 0 && len > 0; k--)
            damaged[hs_random_index(&random, (int)len)] = (unsigned char)hs_random_bits(&random);
        struct hs_match *back = load(&opening);
        refused += !hs_match_replay(back, damaged, len);
        save(back, &bytes);
        struct hs_match *read = load(&bytes);
        if (i % 50 == 0)
            play(&game, read, 61, 64);
        hs_match_destroy(read);
        hs_match_destroy(back);
        free(damaged);
    }
    ck_assert_int_gt(refused, 1000);
    hs_match_destroy(live);
    free(journal.data);
    free(opening.data);
    free(bytes.data);
}
END_TEST

int main(void)
{
    seed = hs_test_seed(20261122);
    printf("journal: HS_SEED=%llu\n", (unsigned long long)seed);
    Suite *suite = suite_create("journal");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, snapshot_and_records_restore_every_payment, 0, 40);
    tcase_add_test(tcase, records_restore_a_match_opened_after_the_snapshot);
    tcase_add_test(tcase, session_numbers_are_never_reused);
    tcase_add_test(tcase, records_do_not_bring_back_an_evicted_player);
    tcase_add_test(tcase, a_rejoin_between_two_parts_repeats_no_session_number);
    tcase_add_test(tcase, records_restore_a_clock_reset);
    tcase_add_test(tcase, a_clock_reset_between_two_parts_forgets_no_payment);
    tcase_add_test(tcase, clock_resets_do_not_delay_a_save_without_limit);
    tcase_add_loop_test(tcase, an_old_record_of_an_ended_session_changes_nothing, 0, 2);
    tcase_add_test(tcase, records_restore_large_damage);
    tcase_add_test(tcase, unwritten_records_are_bounded);
    tcase_add_test(tcase, without_space_for_its_account_an_entry_is_not_stored);
    tcase_add_test(tcase, damaged_records_leave_a_usable_match);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
