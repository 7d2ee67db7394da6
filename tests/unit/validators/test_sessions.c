/* Inheritance between samples, sessions, and the match's clock. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/play/inspect.h"
#include "tests/support/run_suite.h"
#include "tests/unit/validators/posting.h"

/* ---- inheritance ---- */

START_TEST(the_first_sample_has_the_defaults)
{
    hs_stage_place(match, 0, "P", 0, 0, 0);
    const struct hs_state *s = hs_state_at(match, "P", 0);
    ck_assert(s->rig == rules->default_rig && s->stance == 0 && s->team == HS_NONE);
    ck_assert(s->weapon == HS_NONE && s->any_weapon && s->ammo == -1 && !s->reloading);
    ck_assert(s->alive && s->life == 0 && !s->is_protected && s->damage_scale == 1);
    const struct hs_sample *sample = hs_sample_at(match, "P", 0);
    ck_assert(sample->rtt_us == -1 && sample->interp_us == -1 && sample->rotation[3] == 1);
    ck_assert(sample->aim[0] == 0 && sample->aim[1] == 0 && sample->aim[2] == 0);
}
END_TEST

static struct hs_player_frame speaking(void)
{
    static const struct hs_str owned[] = {{"bow", 3}, {"rifle", 5}, {"unheard-of", 10}};
    struct hs_player_frame entry = hs_stage_entry("P", 0, 0, 0);
    entry.fields = HS_FIELD_ALIVE | HS_FIELD_LIFE | HS_FIELD_PROTECTED | HS_FIELD_AMMO |
                   HS_FIELD_RELOADING | HS_FIELD_DAMAGE_SCALE | HS_FIELD_WEAPONS | HS_FIELD_RTT |
                   HS_FIELD_INTERP;
    entry.stance = HS_STR("crouch");
    entry.team = HS_STR("red");
    entry.weapon = HS_STR("bow");
    entry.weapons = owned;
    entry.weapon_count = 3;
    entry.life = 7;
    entry.alive = false;
    entry.is_protected = entry.reloading = true;
    entry.ammo = 3;
    entry.damage_scale = 4;
    entry.rtt_us = 42000;
    entry.interp_us = 50000;
    return entry;
}

static void expect_spoken(const struct hs_state *s)
{
    ck_assert_uint_eq(s->stance, 1);
    ck_assert_uint_eq(s->team, 0);
    ck_assert_uint_eq(s->weapon, HS_STAGE_BOW);
    ck_assert(!s->any_weapon && s->owned[0] == ((1u << HS_STAGE_BOW) | (1u << HS_STAGE_RIFLE)));
    ck_assert(s->life == 7 && !s->alive && s->is_protected && s->reloading);
    ck_assert(s->ammo == 3 && s->damage_scale == 4);
}

START_TEST(posted_state_is_inherited)
{
    ck_assert_int_eq(post(0, speaking()), HS_FRAME_STORED);
    for (int ms = 50; ms <= 200; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "P", 0, 0, 0);
        expect_spoken(hs_state_at(match, "P", HS_MS(ms)));
    }
    /* Another player inherits nothing from this player. */
    hs_stage_place(match, HS_MS(200), "Q", 0, 0, 0);
    ck_assert(hs_state_at(match, "Q", HS_MS(200))->alive &&
              hs_state_at(match, "Q", HS_MS(200))->life == 0);
}
END_TEST

START_TEST(rtt_and_interp_stick)
{
    post(0, speaking());
    hs_stage_place(match, HS_MS(50), "P", 0, 0, 0);
    ck_assert_int_eq(hs_sample_at(match, "P", 0)->rtt_us, 42000);
    ck_assert_int_eq(hs_sample_at(match, "P", HS_MS(50))->rtt_us, 42000);
    ck_assert_int_eq(hs_sample_at(match, "P", HS_MS(50))->interp_us, 50000);
}
END_TEST

/* Inheritance follows the times of the samples, not the order of arrival. */
START_TEST(late_samples_inherit_in_time_and_change_nothing_later)
{
    hs_stage_place(match, 0, "P", 0, 0, 0);
    hs_stage_place(match, HS_MS(100), "P", 0, 0, 0);
    ck_assert_int_eq(post(HS_MS(200), speaking()), HS_FRAME_STORED);
    struct hs_player_frame late = hs_stage_entry("P", 0, 0, 0);
    late.fields = HS_FIELD_AMMO;
    late.ammo = 99;
    late.weapon = HS_STR("knife");
    ck_assert_int_eq(post(HS_MS(50), late), HS_FRAME_STORED);
    ck_assert_int_eq(place(HS_MS(150), "P"), HS_FRAME_STORED);
    ck_assert_int_eq(place(HS_MS(75), "P"), HS_FRAME_STORED);
    ck_assert_int_eq(place(HS_MS(250), "P"), HS_FRAME_STORED);
    ck_assert_int_eq(hs_state_at(match, "P", HS_MS(50))->ammo, 99);
    ck_assert(hs_state_at(match, "P", HS_MS(50))->alive &&
              hs_state_at(match, "P", HS_MS(50))->life == 0);
    ck_assert_int_eq(hs_state_at(match, "P", HS_MS(75))->ammo,
                     99); /* the value of the sample before it in time */
    /* this sample was stored before, so it does not change */
    ck_assert_int_eq(hs_state_at(match, "P", HS_MS(100))->ammo, -1);
    ck_assert_uint_eq(hs_state_at(match, "P", HS_MS(100))->weapon, HS_NONE);
    ck_assert_int_eq(hs_state_at(match, "P", HS_MS(150))->ammo, -1);
    expect_spoken(hs_state_at(match, "P", HS_MS(200)));
    expect_spoken(hs_state_at(match, "P", HS_MS(250)));
}
END_TEST

/* Places P every 10 ms. */
static void fill(int from_ms, int until_ms)
{
    for (int ms = from_ms; ms <= until_ms; ms += 10)
        ck_assert_int_eq(place(HS_MS(ms), "P"), HS_FRAME_STORED);
}

/* The memory of the match is used up, so each new sample replaces the oldest one. Later there is
   free memory again, and a late sample arrives. */
START_TEST(late_samples_inherit_from_replaced_ones)
{
    ck_assert_int_eq(post(0, speaking()), HS_FRAME_STORED);
    fill(10, 10 * (HS_HISTORY_FIRST - 1));
    match->budget.limit = hs_budget_used(&match->budget);
    unsigned flags = 0;
    ck_assert_int_eq(post_flags(HS_MS(10 * HS_HISTORY_FIRST), hs_stage_entry("P", 0, 0, 0), &flags),
                     HS_FRAME_STORED);
    ck_assert_uint_eq(flags, 1u << HS_FRAME_FLAG_HISTORY_FULL);
    match->budget.limit = SIZE_MAX;
    ck_assert_int_eq(place(HS_MS(5), "P"), HS_FRAME_STORED);
    expect_spoken(hs_state_at(match, "P", HS_MS(5)));
    ck_assert_int_eq(hs_sample_at(match, "P", HS_MS(5))->rtt_us, 42000);
}
END_TEST

/* A shot needs memory, so the oldest samples of P are dropped. */
START_TEST(late_samples_inherit_from_dropped_ones)
{
    ck_assert_int_eq(post(0, speaking()), HS_FRAME_STORED);
    struct hs_player_frame entry = hs_stage_entry("P", 0, 0, 0);
    entry.team = HS_STR("blue");
    ck_assert_int_eq(post(HS_MS(10), entry), HS_FRAME_STORED);
    fill(20, 190);
    match->budget.limit = hs_budget_used(&match->budget);
    hs_players_free_space(&match->players, 1);
    ck_assert_uint_eq(hs_samples_of(match, "P"), HS_HISTORY_FIRST);
    match->budget.limit = SIZE_MAX;
    ck_assert_int_eq(place(HS_MS(35), "P"), HS_FRAME_STORED);
    const struct hs_state *state = hs_state_at(match, "P", HS_MS(35));
    ck_assert(state->is_protected && !state->alive && state->life == 7);
    ck_assert_uint_eq(state->team, hs_state_at(match, "P", HS_MS(190))->team);
}
END_TEST

/* A new state needs memory, so the four oldest samples of P are dropped. */
START_TEST(late_samples_inherit_from_the_newest_dropped_one)
{
    struct hs_player_frame entry = hs_stage_entry("P", 0, 0, 0);
    entry.fields |= HS_FIELD_AMMO;
    for (int i = 0; i < HS_HISTORY_MIN + 4; i++) {
        entry.ammo = i < 7 ? i : 7;
        ck_assert_int_eq(post(HS_MS(10 * i), entry), HS_FRAME_STORED);
    }
    /* 1 / 20 of the limit stays free. */
    match->budget.limit = (hs_budget_used(&match->budget) / 19 + 1) * 20;
    entry.ammo = 8;
    ck_assert_int_eq(post(HS_MS(200), entry), HS_FRAME_STORED);
    ck_assert_uint_eq(hs_samples_of(match, "P"), HS_HISTORY_MIN + 1);
    match->budget.limit = SIZE_MAX;
    ck_assert_int_eq(place(HS_MS(35), "P"), HS_FRAME_STORED);
    ck_assert_int_eq(hs_state_at(match, "P", HS_MS(35))->ammo, 3);
}
END_TEST

START_TEST(a_late_spawn_does_not_renumber_later_lives)
{
    hs_stage_place(match, 0, "P", 0, 0, 0);
    ck_assert_int_eq(post(HS_MS(200), hs_stage_event("P", HS_EVENT_SPAWN)), HS_FRAME_STORED);
    ck_assert_int_eq(post(HS_MS(100), hs_stage_event("P", HS_EVENT_SPAWN)), HS_FRAME_STORED);
    ck_assert_int_eq(hs_state_at(match, "P", HS_MS(100))->life, 1);
    ck_assert_int_eq(hs_state_at(match, "P", HS_MS(200))->life, 1);
}
END_TEST

START_TEST(deaths_and_spawns_change_the_life)
{
    hs_stage_place(match, 0, "P", 0, 0, 0);
    post(HS_MS(50), hs_stage_event("P", HS_EVENT_DEATH));
    hs_stage_place(match, HS_MS(100), "P", 0, 0, 0);
    post(HS_MS(150), hs_stage_event("P", HS_EVENT_SPAWN));
    struct hs_player_frame given = hs_stage_event("P", HS_EVENT_SPAWN);
    given.fields = HS_FIELD_LIFE;
    given.life = 40;
    post(HS_MS(200), given);
    hs_stage_place(match, HS_MS(250), "P", 0, 0, 0);
    static const struct {
        int ms;
        bool alive;
        int64_t life;
    } want[] = {{0, true, 0},   {50, false, 0},  {100, false, 0},
                {150, true, 1}, {200, true, 40}, {250, true, 40}};
    for (int i = 0; i < 6; i++) {
        const struct hs_state *s = hs_state_at(match, "P", HS_MS(want[i].ms));
        ck_assert_int_eq(s->alive, want[i].alive);
        ck_assert_int_eq(s->life, want[i].life);
    }
    struct hs_player_info player;
    ck_assert(hs_match_find_player(match, HS_STR("P"), &player));
    ck_assert(player.alive && player.life == 40);
}
END_TEST

START_TEST(another_rig_begins_with_its_first_stance)
{
    uint16_t rig = hs_ruleset_add_rig(rules, HS_STR("tall"));
    struct hs_name name = rules->rigs[rig]->name;
    *rules->rigs[rig] = *rules->rigs[0];
    rules->rigs[rig]->name = name;
    post(0, speaking());
    struct hs_player_frame entry = hs_stage_entry("P", 0, 0, 0);
    entry.rig = HS_STR("body"); /* the same rig again, so nothing changes */
    post(HS_MS(50), entry);
    ck_assert_uint_eq(hs_state_at(match, "P", HS_MS(50))->stance, 1);
    entry.rig = HS_STR("tall");
    post(HS_MS(100), entry);
    ck_assert_uint_eq(hs_state_at(match, "P", HS_MS(100))->rig, rig);
    ck_assert_uint_eq(hs_state_at(match, "P", HS_MS(100))->stance, 0);
    hs_stage_place(match, HS_MS(150), "P", 0, 0, 0);
    ck_assert_uint_eq(hs_state_at(match, "P", HS_MS(150))->rig, rig);
}
END_TEST

/* ---- sessions ---- */

START_TEST(leaving_ends_the_session)
{
    post(0, speaking());
    ck_assert_int_eq(post(HS_MS(100), hs_stage_event("P", HS_EVENT_LEAVE)), HS_FRAME_STORED);
    struct hs_player_info player;
    ck_assert(!hs_match_find_player(match, HS_STR("P"), &player));
    uint32_t cursor = 0;
    ck_assert(!hs_match_next_player(match, &cursor, &player));
    ck_assert_uint_eq(hs_info_of(match).players, 0);
    ck_assert_uint_eq(hs_history_count(hs_history_of(match, "P")), 0);
    /* Leaving twice, or without a session, is no fault. */
    ck_assert_int_eq(post(HS_MS(150), hs_stage_event("P", HS_EVENT_LEAVE)), HS_FRAME_STORED);
    ck_assert_int_eq(post(HS_MS(150), hs_stage_event("Nobody", HS_EVENT_LEAVE)), HS_FRAME_STORED);
    ck_assert_uint_eq(hs_info_of(match).players, 0);
}
END_TEST

START_TEST(late_frames_of_an_old_session_stay_out)
{
    post(0, speaking());
    post(HS_MS(100), hs_stage_event("P", HS_EVENT_LEAVE));
    ck_assert_int_eq(place(HS_MS(50), "P"), HS_FRAME_TOO_OLD);
    ck_assert_int_eq(place(HS_MS(100), "P"), HS_FRAME_TOO_OLD);
    ck_assert_ptr_nonnull(strstr(hs_frame_result_text(HS_FRAME_TOO_OLD), "`leave`"));
    ck_assert_uint_eq(hs_info_of(match).players, 0);
    ck_assert_int_eq(place(HS_MS(100) + 1, "P"), HS_FRAME_STORED);
    ck_assert_uint_eq(hs_info_of(match).players, 1);
    ck_assert_int_eq(place(HS_MS(60), "P"), HS_FRAME_TOO_OLD); /* too old for the new session */
    ck_assert_uint_eq(hs_samples_of(match, "P"), 1);
    /* The new session starts without state. */
    const struct hs_state *s = hs_state_at(match, "P", HS_MS(100) + 1);
    ck_assert(s->alive && s->life == 0 && s->weapon == HS_NONE && s->team == HS_NONE);
}
END_TEST

START_TEST(counters_of_a_session_end_with_it)
{
    hs_stage_play(match);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), 20, 4, 1.6);
    struct hs_hit_result *result = hs_stage_verify(match, &claim, HS_MS(1000));
    ck_assert(hs_hit_record(match, &claim, result, HS_STR("{")));
    free(result);
    struct hs_player_info player;
    ck_assert(hs_match_find_player(match, HS_STR("S"), &player));
    ck_assert_uint_eq(player.reasons[HS_REASON_OK], 1);
    ck_assert_double_eq(player.damage_dealt, 40);
    post(HS_MS(1050), hs_stage_event("S", HS_EVENT_LEAVE));
    hs_stage_place(match, HS_MS(1100), "S", 0, 0, 0);
    ck_assert(hs_match_find_player(match, HS_STR("S"), &player));
    ck_assert_uint_eq(player.reasons[HS_REASON_OK], 0);
    ck_assert_double_eq(player.damage_dealt, 0);
    struct hs_match_totals totals;
    hs_match_totals(match, &totals);
    ck_assert_uint_eq(totals.reasons[HS_REASON_OK], 1);
    ck_assert_double_eq(totals.damage, 40);
}
END_TEST

/* ---- the clock ---- */

START_TEST(three_agreeing_frames_restart_the_clock)
{
    int64_t jump = _i == 0 ? HS_MS(3600 * 1000) : -HS_MS(3600 * 1000);
    enum hs_frame_result refusal = _i == 0 ? HS_FRAME_TIME_JUMP : HS_FRAME_TOO_OLD;
    post(0, speaking());
    hs_stage_place(match, HS_MS(50), "P", 5, 0, 0);
    unsigned flags = 0;
    ck_assert_int_eq(place(jump, "P"), refusal);
    ck_assert_int_eq(place(jump + HS_MS(50), "P"), refusal);
    ck_assert_uint_eq(hs_samples_of(match, "P"), 2); /* the history is kept */
    ck_assert_int_eq(hs_info_of(match).newest_us, HS_MS(50));
    ck_assert_int_eq(post_flags(jump + HS_MS(100), hs_stage_entry("P", 9, 0, 0), &flags),
                     HS_FRAME_STORED);
    ck_assert_uint_eq(flags, 1u << HS_FRAME_FLAG_HISTORY_RESTARTED);
    ck_assert_uint_eq(hs_samples_of(match, "P"), 1);
    ck_assert_int_eq(hs_info_of(match).newest_us, jump + HS_MS(100));
    ck_assert(hs_info_of(match).needs_resync);
    ck_assert_int_eq(hs_info_of(match).opening_us, 0);         /* the match is the same */
    expect_spoken(hs_state_at(match, "P", jump + HS_MS(100))); /* the player is the same, too */
    ck_assert_int_eq(place(jump + HS_MS(150), "P"), HS_FRAME_STORED);
    ck_assert_int_eq(place(HS_MS(100), "P"), _i == 0 ? HS_FRAME_TOO_OLD : HS_FRAME_TIME_JUMP);
}
END_TEST

START_TEST(frames_that_do_not_agree_restart_nothing)
{
    hs_stage_place(match, 0, "P", 0, 0, 0);
    int64_t far = HS_MS(100000);
    ck_assert_int_eq(place(far, "P"), HS_FRAME_TIME_JUMP);
    ck_assert_int_eq(place(far + HS_MS(1001), "P"), HS_FRAME_TIME_JUMP); /* too far apart */
    ck_assert_int_eq(place(far + HS_MS(1001), "P"), HS_FRAME_TIME_JUMP); /* the same time again */
    /* a time before the last */
    ck_assert_int_eq(place(far + HS_MS(1000), "P"), HS_FRAME_TIME_JUMP);
    ck_assert_int_eq(place(far + HS_MS(1050), "P"), HS_FRAME_TIME_JUMP); /* the second in a row that
                                                                            agrees */
    ck_assert_int_eq(place(HS_MS(50), "P"), HS_FRAME_STORED);            /* a frame of the old
                                                                            clock, which is
                                                                            stored */
    /* the first of three again */
    ck_assert_int_eq(place(far + HS_MS(1100), "P"), HS_FRAME_TIME_JUMP);
    ck_assert_int_eq(place(far + HS_MS(1150), "P"), HS_FRAME_TIME_JUMP);
    ck_assert_uint_eq(hs_samples_of(match, "P"), 2);
    ck_assert_int_eq(place(far + HS_MS(2150), "P"), HS_FRAME_STORED); /* times 1 s apart agree */
    ck_assert_uint_eq(hs_samples_of(match, "P"), 1);
}
END_TEST

START_TEST(a_small_step_back_heals_by_itself)
{
    for (int ms = 0; ms <= 6000; ms += 50)
        hs_stage_place(match, HS_MS(ms), "P", 0, 0, 0);
    /* The clock goes back by 3 s. Frames are refused until their time is within the window
       again. */
    for (int ms = 3000; ms < 5000; ms += 50)
        ck_assert_int_eq(place(HS_MS(ms), "P"), HS_FRAME_TOO_OLD);
    ck_assert_int_eq(place(HS_MS(6050), "P"), HS_FRAME_STORED);
    ck_assert_uint_eq(hs_samples_of(match, "P"), 21);
}
END_TEST

START_TEST(five_seconds_back_is_too_old_and_an_hour_ahead_is_a_jump)
{
    hs_stage_place(match, HS_MS(10000), "P", 0, 0, 0);
    ck_assert_int_eq(place(HS_MS(5000), "P"), HS_FRAME_TOO_OLD);
    ck_assert_int_eq(place(HS_MS(10000) + HS_MS(3600000), "P"), HS_FRAME_TIME_JUMP);
    ck_assert_uint_eq(hs_samples_of(match, "P"), 1);
}
END_TEST

/* A refused entry changes nothing, so it cannot cause the history of other players to be
   dropped. */
START_TEST(refused_entries_do_not_restart_the_clock)
{
    hs_stage_place(match, 0, "P", 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        struct hs_player_frame entry = hs_stage_entry("P", 0, 0, 0);
        entry.fields = HS_FIELD_ROTATION; /* the rotation is refused, because its value is 0 0 0
                                             0 */
        ck_assert_int_ne(post(HS_MS(100000 + 50 * i), entry), HS_FRAME_STORED);
    }
    ck_assert_uint_eq(hs_samples_of(match, "P"), 1);
    ck_assert_int_eq(hs_info_of(match).newest_us, 0);
}
END_TEST

/* If the match is full, an entry of a new player cannot restart the clock either, until another
   player leaves. */
START_TEST(strangers_to_a_full_match_do_not_restart_the_clock)
{
    char name[8];
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof name, "p%d", i);
        hs_stage_place(match, 0, name, 0, 0, 0);
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(place(HS_MS(100000 + 50 * i), "Q"), HS_FRAME_TIME_JUMP);
    ck_assert_int_eq(hs_info_of(match).newest_us, 0);
    ck_assert_uint_eq(hs_samples_of(match, "p0"), 1);
    post(HS_MS(50), hs_stage_event("p0", HS_EVENT_LEAVE));
    ck_assert_int_eq(place(HS_MS(100000), "Q"), HS_FRAME_TIME_JUMP);
    ck_assert_int_eq(place(HS_MS(100050), "Q"), HS_FRAME_TIME_JUMP);
    ck_assert_int_eq(place(HS_MS(100100), "Q"), HS_FRAME_STORED);
}
END_TEST

/* The only entry of the frame that restarts the clock is refused, because memory is short. The
   match has the new clock then, and the suspicion stays. */
START_TEST(a_clock_reset_without_a_stored_entry_sets_the_clock)
{
    char name[8];
    for (int i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "p%d", i);
        hs_stage_place(match, HS_MS(100000000), name, 0, 0, 0);
    }
    struct hs_player *player = hs_players_find(&match->players, HS_STR("p0"));
    player->standing.suspicion.hits[HS_CHECK_CONTACT] = 4;
    player->standing.suspicion.time_us = HS_MS(100000000);
    /* Memory for another player, but not for more places. */
    size_t bytes = hs_players_min_bytes(match->limits.samples);
    match->budget.limit = hs_budget_used(&match->budget);
    while (!hs_budget_has_spare(&match->budget, bytes))
        match->budget.limit++;
    unsigned flags = 0;
    for (int i = 0; i < 3; i++)
        ck_assert_int_ne(post_flags(HS_MS(1000 + 50 * i), hs_stage_entry("Q", 0, 0, 0), &flags),
                         HS_FRAME_STORED);
    ck_assert_uint_ne(flags & 1u << HS_FRAME_FLAG_HISTORY_RESTARTED, 0);
    for (int i = 3; i < 6; i++)
        ck_assert_int_eq(place(HS_MS(1000 + 50 * i), "p0"), HS_FRAME_STORED);
    struct hs_player_info info;
    ck_assert(hs_match_find_player(match, HS_STR("p0"), &info));
    ck_assert_double_gt(info.suspicion, 3.9);
}
END_TEST

START_TEST(old_sessions_end_with_the_old_clock)
{
    hs_stage_place(match, HS_MS(50000), "P", 0, 0, 0);
    post(HS_MS(50050), hs_stage_event("P", HS_EVENT_LEAVE));
    for (int i = 0; i < 3; i++)
        place(HS_MS(50 * i), "Q");
    ck_assert_int_eq(place(HS_MS(150), "P"), HS_FRAME_STORED);
}
END_TEST

START_TEST(resync_until_one_window_is_there)
{
    ck_assert(hs_info_of(match).needs_resync && !hs_info_of(match).has_frames);
    hs_stage_place(match, HS_MS(500), "P", 0, 0, 0);
    ck_assert(hs_info_of(match).needs_resync && hs_info_of(match).has_frames);
    hs_stage_place(match, HS_MS(1499), "P", 0, 0, 0);
    ck_assert(hs_info_of(match).needs_resync);
    hs_stage_place(match, HS_MS(1500), "P", 0, 0, 0);
    ck_assert(!hs_info_of(match).needs_resync);
    ck_assert_int_eq(hs_info_of(match).opening_us, HS_MS(500));
}
END_TEST

START_TEST(a_late_frame_lengthens_the_window)
{
    hs_stage_place(match, HS_MS(1000), "P", 0, 0, 0);
    hs_stage_place(match, HS_MS(0), "P", 0, 0, 0);
    ck_assert(!hs_info_of(match).needs_resync);
    ck_assert_int_eq(hs_info_of(match).newest_us, HS_MS(1000));
}
END_TEST

START_TEST(empty_frames_change_nothing)
{
    unsigned flags = 0;
    struct hs_frame frame = {.time_us = HS_MS(50), .players = NULL, .player_count = 0};
    ck_assert(hs_match_post_frame(match, &frame, NULL, &flags));
    ck_assert(!hs_info_of(match).has_frames);
    hs_match_destroy(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sessions");
    TCase *tcase = tcase_create("sessions");
    tcase_add_checked_fixture(tcase, open_stage, close_stage);
    tcase_add_test(tcase, the_first_sample_has_the_defaults);
    tcase_add_test(tcase, posted_state_is_inherited);
    tcase_add_test(tcase, rtt_and_interp_stick);
    tcase_add_test(tcase, late_samples_inherit_in_time_and_change_nothing_later);
    tcase_add_test(tcase, late_samples_inherit_from_replaced_ones);
    tcase_add_test(tcase, late_samples_inherit_from_dropped_ones);
    tcase_add_test(tcase, late_samples_inherit_from_the_newest_dropped_one);
    tcase_add_test(tcase, a_late_spawn_does_not_renumber_later_lives);
    tcase_add_test(tcase, deaths_and_spawns_change_the_life);
    tcase_add_test(tcase, another_rig_begins_with_its_first_stance);
    tcase_add_test(tcase, leaving_ends_the_session);
    tcase_add_test(tcase, late_frames_of_an_old_session_stay_out);
    tcase_add_test(tcase, counters_of_a_session_end_with_it);
    tcase_add_loop_test(tcase, three_agreeing_frames_restart_the_clock, 0, 2);
    tcase_add_test(tcase, frames_that_do_not_agree_restart_nothing);
    tcase_add_test(tcase, a_small_step_back_heals_by_itself);
    tcase_add_test(tcase, five_seconds_back_is_too_old_and_an_hour_ahead_is_a_jump);
    tcase_add_test(tcase, refused_entries_do_not_restart_the_clock);
    tcase_add_test(tcase, strangers_to_a_full_match_do_not_restart_the_clock);
    tcase_add_test(tcase, a_clock_reset_without_a_stored_entry_sets_the_clock);
    tcase_add_test(tcase, old_sessions_end_with_the_old_clock);
    tcase_add_test(tcase, resync_until_one_window_is_there);
    tcase_add_test(tcase, a_late_frame_lengthens_the_window);
    tcase_add_test(tcase, empty_frames_change_nothing);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
