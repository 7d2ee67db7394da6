/* The checks of a claim, one by one. Each is tested exactly at its limit and just beyond it.
   Fixture: tests/support/play/stage.h. */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "tests/support/play/fixture.h"
#include "tests/support/play/verdicts.h"
#include "tests/support/run_suite.h"
#include "tests/unit/validators/posting.h"

static struct hs_hit_result *judge(const struct hs_hit_claim *claim)
{
    return hs_stage_judge(match, claim, NOW);
}

static struct hs_hit_claim head_shot(void)
{
    return hs_stage_claim(NOW, 20, 4, 1.6);
}

/* ---- single checks, exactly at the limit and just beyond it ---- */

START_TEST(a_trace_must_be_longer_than_min_trace)
{
    hs_stage_play(match);
    rules->hit.origin_tolerance = 100;
    struct hs_hit_claim claim = head_shot();
    claim.start = (struct hs_vec){20, 4, 0};
    claim.end = (struct hs_vec){20, 4, rules->hit.min_trace};
    hs_expect_reason(judge(&claim), HS_REASON_DEGENERATE_TRACE);
    hs_expect_measure(judge(&claim), HS_CHECK_SHAPE, HS_UNIT_LENGTH, 1e-6, 1e-6);
    claim.end.z = nextafter(rules->hit.min_trace, 1);
    hs_expect_row(judge(&claim), HS_CHECK_SHAPE, HS_OUTCOME_PASS, HS_REASON_OK);
    claim.end = claim.start;
    hs_expect_reason(judge(&claim), HS_REASON_DEGENERATE_TRACE);
    rules->hit.min_trace = 0; /* a trace of length 0 is refused, whatever the limit is */
    hs_expect_reason(judge(&claim), HS_REASON_DEGENERATE_TRACE);
}
END_TEST

/* A row selects one of the six coordinates, and its sign. */
START_TEST(coordinates_may_reach_the_world_bound)
{
    hs_stage_play(match);
    double bound = rules->history.world_bound, sign = _i % 2 == 0 ? 1 : -1;
    struct hs_hit_claim claim = head_shot();
    struct hs_vec *end = _i < 6 ? &claim.start : &claim.end;
    double *coordinate = _i / 2 % 3 == 0 ? &end->x : _i / 2 % 3 == 1 ? &end->y : &end->z;
    *coordinate = sign * bound;
    hs_expect_row(judge(&claim), HS_CHECK_SHAPE, HS_OUTCOME_PASS, HS_REASON_OK);
    *coordinate = sign * nextafter(bound, 1e9);
    hs_expect_reason(judge(&claim), HS_REASON_COORDINATE_OUT_OF_WORLD);
    hs_expect_measure(judge(&claim), HS_CHECK_SHAPE, HS_UNIT_LENGTH, bound, bound);
    *coordinate = sign * 1e300;
    hs_expect_reason(judge(&claim), HS_REASON_COORDINATE_OUT_OF_WORLD);
}
END_TEST

START_TEST(times_may_be_as_old_as_the_rewind_limit)
{
    hs_stage_play(match);
    struct hs_hit_claim claim = hs_stage_claim(NOW - 250000, 20, 3, 1.6);
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    hs_expect_measure(judge(&claim), HS_CHECK_REWIND, HS_UNIT_SECONDS, 0.25, 0.25);
    claim.hit_time_us--;
    hs_expect_reason(judge(&claim), HS_REASON_REWIND_LIMIT);
    hs_expect_measure(judge(&claim), HS_CHECK_REWIND, HS_UNIT_SECONDS, 0.250001, 0.25);
    ck_assert_int_eq(judge(&claim)->rewind.by_us, 250001);
    /* For instant shots the fire time counts, too. */
    claim = head_shot();
    claim.has_fire_time = true;
    claim.fire_time_us = NOW - 250000;
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    claim.fire_time_us--;
    hs_expect_reason(judge(&claim), HS_REASON_REWIND_LIMIT);
}
END_TEST

START_TEST(times_may_be_in_the_future_by_the_slack)
{
    hs_stage_play(match);
    struct hs_hit_claim claim = head_shot();
    claim.hit_time_us = NOW + 50000;
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    ck_assert(hs_result_has_flag(judge(&claim), HS_FLAG_CLAMPED_TO_NEWEST));
    ck_assert(judge(&claim)->rewind.clamped && judge(&claim)->rewind.time_us == NOW);
    claim.hit_time_us++;
    hs_expect_reason(judge(&claim), HS_REASON_TIME_IN_FUTURE);
    hs_expect_measure(judge(&claim), HS_CHECK_REWIND, HS_UNIT_SECONDS, 0.050001, 0.05);
    claim = head_shot();
    ck_assert(!hs_result_has_flag(judge(&claim), HS_FLAG_CLAMPED_TO_NEWEST));
    claim.has_fire_time = true; /* a fire time must not be in the future either */
    claim.fire_time_us = NOW + 50001;
    hs_expect_reason(judge(&claim), HS_REASON_TIME_IN_FUTURE);
}
END_TEST

START_TEST(a_start_may_be_origin_tolerance_from_the_eye)
{
    hs_stage_play(match);
    struct hs_hit_claim claim = head_shot();
    claim.start.y = 0.25;
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    hs_expect_measure(judge(&claim), HS_CHECK_ORIGIN, HS_UNIT_LENGTH, 0.25, 0.25);
    claim.start.y = nextafter(0.25, 1);
    hs_expect_reason(judge(&claim), HS_REASON_ORIGIN_MISMATCH);
}
END_TEST

START_TEST(origin_allows_for_the_way_between_two_samples)
{
    for (int ms = 850; ms <= 1000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0.005 * ms, 0); /* 0.25 per frame */
        hs_stage_place(match, HS_MS(ms), "T", 20, 4.875, 0);
    }
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(975), 20, 4.875, 1.6);
    claim.start.y = 4.875 + 0.5;
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    hs_expect_measure(judge(&claim), HS_CHECK_ORIGIN, HS_UNIT_LENGTH, 0.5, 0.5);
    claim.start.y += 1e-9;
    hs_expect_reason(judge(&claim), HS_REASON_ORIGIN_MISMATCH);
    /* At a sample there is no interpolation. The pose at that time counts, not the present one. */
    claim.hit_time_us = claim.fire_time_us = HS_MS(900);
    claim.start.y = 4.5 + 0.25;
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    claim.start.y += 1e-9;
    hs_expect_reason(judge(&claim), HS_REASON_ORIGIN_MISMATCH);
    /* The eye at the fire time counts. */
    claim.start.y = 4.75;
    claim.fire_time_us = HS_MS(950);
    hs_expect_reason(judge(&claim), HS_REASON_OK);
}
END_TEST

START_TEST(origin_allows_nothing_for_a_teleport)
{
    hs_stage_play(match);
    struct hs_player_frame jump = hs_stage_entry("S", 3, 0, 0);
    jump.event = HS_EVENT_TELEPORT;
    ck_assert_int_eq(hs_stage_post(match, HS_MS(975), &jump, NULL), HS_FRAME_STORED);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(960), 20, 3.84, 1.6);
    hs_expect_measure(judge(&claim), HS_CHECK_ORIGIN, HS_UNIT_LENGTH, 0, 0.25);
    claim.start.x = 3;
    hs_expect_reason(judge(&claim), HS_REASON_ORIGIN_MISMATCH);
}
END_TEST

START_TEST(a_trace_may_be_as_long_as_range_and_extension)
{
    hs_stage_place(match, NOW, "S", 0, 0, 0);
    hs_stage_place(match, NOW, "T", 20, 0, 0);
    double limit = rules->weapons[HS_STAGE_RIFLE]->range + rules->hit.sweep_extension;
    struct hs_hit_claim claim = hs_stage_claim(NOW, limit, 0, 1.6);
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    hs_expect_measure(judge(&claim), HS_CHECK_RANGE, HS_UNIT_LENGTH, limit, limit);
    claim.end.x = nextafter(limit, 1e9);
    hs_expect_reason(judge(&claim), HS_REASON_OUT_OF_RANGE);
}
END_TEST

START_TEST(a_path_touches_within_the_slack)
{
    hs_stage_place(match, NOW, "S", 0, 0, 0);
    hs_stage_place(match, NOW, "T", 20, 0, 0);
    /* The path passes above the head: it touches up to 0.15 + 0.05 above the centre. The slack is
       1e-6 of the path plus the radii. */
    double slack = 1e-6 * (20.1 + 0.2);
    static const double shares[] = {0, 0.9, 1.1, 10};
    for (int i = 0; i < 4; i++) {
        struct hs_hit_claim claim = hs_stage_claim(NOW, 20, 0, 1.8 + shares[i] * slack);
        claim.start.z = claim.end.z;
        struct hs_hit_result *r = judge(&claim);
        hs_expect_reason(r, shares[i] < 1 ? HS_REASON_OK : HS_REASON_NO_INTERSECTION);
        ck_assert_int_eq(r->has_margin, shares[i] > 1);
        if (r->has_margin)
            /* offsets are single precision */
            ck_assert_double_eq_tol(r->margin, shares[i] * slack, 1e-7);
        ck_assert_int_eq(r->impact.present, shares[i] < 1);
    }
}
END_TEST

START_TEST(a_miss_may_be_as_large_as_claim_padding)
{
    rules->hit.claim_padding = 0.08;
    hs_stage_place(match, NOW, "S", 0, 0, 0.28);
    hs_stage_place(match, NOW, "T", 20, 0, 0);
    for (int i = 0; i < 2; i++) {
        struct hs_hit_claim claim = hs_stage_claim(NOW, 20, 0, 1.88 + (i == 0 ? -1e-7 : 1e-7));
        claim.start.z = claim.end.z;
        struct hs_hit_result *r = judge(&claim);
        hs_expect_reason(r, i == 0 ? HS_REASON_OK_LENIENT : HS_REASON_NO_INTERSECTION);
        ck_assert_int_eq(hs_result_has_flag(r, HS_FLAG_LENIENT), i == 0);
        ck_assert_double_eq_tol(hs_stage_row(r, HS_CHECK_CONTACT)->measured, 0.08, 1e-6);
        ck_assert_double_eq(hs_stage_row(r, HS_CHECK_CONTACT)->limit, 0.08);
        ck_assert(!r->impact.present && r->has_margin);
    }
}
END_TEST

/* ---- life ---- */

START_TEST(a_shot_may_be_fired_within_death_grace)
{
    /* The shooter dies in the sample at 880 and stays dead. */
    for (int ms = 500; ms < 880; ms += 50)
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
    post_event(HS_MS(880), "S", HS_EVENT_DEATH, 0);
    for (int ms = 900; ms <= 1000; ms += 50)
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
    hs_stage_place(match, HS_MS(800), "T", 20, 0, 0);
    hs_stage_place(match, HS_MS(900), "T", 20, 0, 0);
    hs_stage_place(match, HS_MS(1000), "T", 20, 0, 0);
    static const int64_t fired[] = {870000, 880000, 960000, 960001};
    for (int i = 0; i < 4; i++) {
        struct hs_hit_claim claim = hs_stage_claim_fired(fired[i], 20, 0, 1.6);
        hs_expect_reason(judge(&claim), i < 3 ? HS_REASON_OK : HS_REASON_SHOOTER_DEAD);
    }
    struct hs_hit_claim claim = hs_stage_claim_fired(960001, 20, 0, 1.6);
    hs_expect_measure(judge(&claim), HS_CHECK_LIFE, HS_UNIT_SECONDS, 0.080001, 0.08);
    /* The fire time counts, not the time of the hit. */
    claim.fire_time_us = HS_MS(960);
    hs_expect_reason(judge(&claim), HS_REASON_OK);
}
END_TEST

/* The grace needs the time of the death. Row: what the first sample says. */
START_TEST(an_unknown_time_of_death_gives_no_grace)
{
    static const struct {
        bool has_event;
        enum hs_reason at_once, later;
    } rows[] = {{true, HS_REASON_OK, HS_REASON_SHOOTER_DEAD},
                {false, HS_REASON_HISTORY_TOO_SHORT, HS_REASON_SHOOTER_DEAD}};
    struct hs_player_frame dead = hs_stage_entry("S", 0, 0, 0);
    dead.fields = HS_FIELD_ALIVE;
    if (rows[_i].has_event)
        post_event(HS_MS(850), "S", HS_EVENT_DEATH, 0);
    else
        hs_stage_post(match, HS_MS(850), &dead, NULL);
    for (int ms = 900; ms <= 1000; ms += 50)
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
    hs_stage_place(match, HS_MS(800), "T", 20, 0, 0);
    hs_stage_place(match, HS_MS(900), "T", 20, 0, 0);
    hs_stage_place(match, HS_MS(1000), "T", 20, 0, 0);
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(900), 20, 0, 1.6);
    hs_expect_reason(judge(&claim), rows[_i].at_once);
    claim = hs_stage_claim_fired(HS_MS(940), 20, 0, 1.6);
    hs_expect_reason(judge(&claim), rows[_i].later);
}
END_TEST

START_TEST(targets_dead_then_and_dead_now)
{
    for (int ms = 700; ms <= 1000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        if (ms == 900)
            post_event(HS_MS(880), "T", HS_EVENT_DEATH, 20);
        hs_stage_place(match, HS_MS(ms), "T", 20, 0, 0);
    }
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(880), 20, 0, 1.6);
    hs_expect_reason(judge(&claim), HS_REASON_TARGET_DEAD);
    ck_assert_str_eq(hs_stage_row(judge(&claim), HS_CHECK_LIFE)->player.text, "T");
    /* How long T had been dead, in seconds. */
    const struct hs_check_row *row = hs_stage_row(judge(&claim), HS_CHECK_LIFE);
    ck_assert_int_eq(row->unit, HS_UNIT_SECONDS);
    ck_assert_double_eq(row->measured, 0);
    claim.hit_time_us = HS_MS(960);
    row = hs_stage_row(judge(&claim), HS_CHECK_LIFE);
    ck_assert_double_eq_tol(row->measured, 0.08, 1e-12);
    ck_assert_double_eq(row->limit, 0);
    claim.hit_time_us = HS_MS(880);
    claim.hit_time_us--;
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert(hs_result_has_flag(r, HS_FLAG_TARGET_DEAD_NOW));
    ck_assert(r->damage_total == 0 && r->damage_count == 0); /* no damage for a target who is dead
                                                                now */
    ck_assert_str_eq(r->impact.zone.text, "head");           /* but the shot is verified */
}
END_TEST

START_TEST(old_lives_are_stale)
{
    for (int ms = 700; ms <= 1000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        if (ms == 900)
            post_event(HS_MS(880), "T", HS_EVENT_SPAWN, 40);
        hs_stage_place(match, HS_MS(ms), "T", ms < 880 ? 20 : 40, 0, 0);
    }
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(879), 20, 0, 1.6);
    hs_expect_reason(judge(&claim), HS_REASON_STALE_LIFE);
    const struct hs_check_row *row = hs_stage_row(judge(&claim), HS_CHECK_LIFE);
    ck_assert_int_eq(row->unit, HS_UNIT_COUNTED); /* number of lives begun since then */
    ck_assert(row->measured == 1 && row->limit == 0);
    claim = hs_stage_claim(HS_MS(880), 40, 0, 1.6);
    hs_expect_reason(judge(&claim), HS_REASON_OK);
}
END_TEST

START_TEST(protection_counts_at_the_time)
{
    play_still();
    struct hs_player_frame entry = hs_stage_entry("T", 20, 0, 0);
    entry.fields = HS_FIELD_PROTECTED;
    entry.is_protected = true;
    ck_assert_int_eq(hs_stage_post(match, HS_MS(925), &entry, NULL), HS_FRAME_STORED);
    static const struct {
        int64_t us;
        bool safe;
    } rows[] = {{924999, false}, {925000, true}, {949999, true}, {950000, false}};
    for (int i = 0; i < 4; i++) { /* a late sample protects until the next sample */
        struct hs_hit_claim claim = hs_stage_claim(rows[i].us, 20, 0, 1.6);
        hs_expect_reason(judge(&claim), rows[i].safe ? HS_REASON_TARGET_PROTECTED : HS_REASON_OK);
    }
}
END_TEST

/* Life is in shadow. The shooter's death must not hide that the target is dead, too. */
START_TEST(no_second_kill_even_where_life_is_in_shadow)
{
    rules->checks[HS_CHECK_LIFE] = _i == 0 ? HS_MODE_SHADOW : HS_MODE_OFF;
    play_still();
    post_event(HS_MS(1010), "T", HS_EVENT_DEATH, 20);
    struct hs_hit_claim claim = hs_stage_claim(NOW, 20, 0, 1.6);
    ck_assert(hs_result_has_flag(judge(&claim), HS_FLAG_TARGET_DEAD_NOW));
    ck_assert_double_eq(judge(&claim)->damage_total, 0);
    post_event(HS_MS(701), "S", HS_EVENT_DEATH, 0);
    claim.has_fire_time = true;
    claim.fire_time_us = HS_MS(749);
    rules->hit.death_grace_us = 0;
    rules->rewind.limit_us = HS_MS(500);
    struct hs_hit_result *r = judge(&claim);
    ck_assert_int_eq(r->would_reject_count, _i == 0 ? 1 : 0);
    ck_assert(hs_result_has_flag(r, HS_FLAG_TARGET_DEAD_NOW));
    ck_assert_double_eq(r->damage_total, 0);
}
END_TEST

/* ---- weapons ---- */

struct weapon_row {
    const char *older, *newer; /* posted in the samples at 950 and 1000; NULL: not posted */
    const char *claimed;
    bool owned, reloading;
    int ammo;
    enum hs_reason reason;
};

static const struct weapon_row weapon_rows[] = {
    {"rifle", "rifle", "rifle", true, false, -1, HS_REASON_OK},
    {"rifle", "rifle", NULL, true, false, -1, HS_REASON_OK},
    {"rifle", "rifle", "knife", true, false, -1, HS_REASON_WEAPON_NOT_AVAILABLE},
    {"rifle", "rifle", "bazooka", true, false, -1, HS_REASON_UNKNOWN_WEAPON},
    {"bow", "rifle", "rifle", true, false, -1, HS_REASON_OK},
    {"rifle", "bow", "rifle", true, false, -1, HS_REASON_OK},
    {"bow", "knife", "rifle", true, false, -1, HS_REASON_WEAPON_NOT_AVAILABLE},
    {NULL, NULL, "rifle", true, false, -1, HS_REASON_OK},
    {NULL, NULL, NULL, true, false, -1, HS_REASON_NO_WEAPON},
    {"rifle", "rifle", "rifle", false, false, -1, HS_REASON_WEAPON_NOT_AVAILABLE},
    {NULL, NULL, "rifle", false, false, -1, HS_REASON_WEAPON_NOT_AVAILABLE},
    {"rifle", "rifle", "rifle", true, true, -1, HS_REASON_WEAPON_NOT_AVAILABLE},
    {"rifle", "rifle", "rifle", true, false, 0, HS_REASON_WEAPON_NOT_AVAILABLE},
    {"rifle", "rifle", "rifle", true, false, 1, HS_REASON_OK},
};

#define WEAPON_ROWS ((int)(sizeof weapon_rows / sizeof *weapon_rows))

START_TEST(weapons_held_in_either_sample)
{
    const struct weapon_row *row = &weapon_rows[_i];
    static const struct hs_str others[] = {{"knife", 5}, {"bow", 3}};
    for (int ms = 950; ms <= 1000; ms += 50) {
        struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
        s.weapon = hs_stage_str(ms == 950 ? row->older : row->newer);
        s.fields = HS_FIELD_RELOADING | HS_FIELD_AMMO | (row->owned ? 0 : HS_FIELD_WEAPONS);
        s.reloading = row->reloading;
        s.ammo = row->ammo;
        s.weapons = others;
        s.weapon_count = 2;
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &s, NULL), HS_FRAME_STORED);
        hs_stage_place(match, HS_MS(ms), "T", 20, 0, 0);
    }
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(975), 20, 0, 1.6);
    claim.weapon = hs_stage_str(row->claimed);
    hs_expect_reason(judge(&claim), row->reason);
}
END_TEST

/* The last round was fired in the tick that reports 0 rounds. The clocks of client and server may
   differ by as much as the claim is late here. */
START_TEST(the_last_round_counts_a_little_longer)
{
    static const struct {
        int fired;
        enum hs_reason reason;
    } rows[] = {{899, HS_REASON_OK},
                {900, HS_REASON_OK},
                {920, HS_REASON_OK},
                {921, HS_REASON_WEAPON_NOT_AVAILABLE}};
    for (int ms = 800; ms <= 1000; ms += 50) {
        struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
        s.weapon = HS_STR("rifle");
        s.fields = HS_FIELD_AMMO;
        s.ammo = ms < 900 ? 1 : 0;
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &s, NULL), HS_FRAME_STORED);
        hs_stage_place(match, HS_MS(ms), "T", 20, 0, 0);
    }
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(rows[_i].fired), 20, 0, 1.6);
    hs_expect_reason(judge(&claim), rows[_i].reason);
}
END_TEST

/* `ammo` and `reloading` belong to the weapon in hand. Rows: the weapon before 900 ms, whether it
   is empty or being reloaded, and whether the rifle is then posted as empty. */
START_TEST(another_weapon_is_not_empty)
{
    static const struct {
        const char *before;
        bool is_empty, reloading, posts_empty;
        enum hs_reason reason;
    } rows[] = {
        {"bow", true, false, false, HS_REASON_OK},
        {"bow", false, true, false, HS_REASON_OK},
        {"bow", true, true, true, HS_REASON_WEAPON_NOT_AVAILABLE},
        {"rifle", true, false, false, HS_REASON_WEAPON_NOT_AVAILABLE},
        {"rifle", false, true, false, HS_REASON_WEAPON_NOT_AVAILABLE},
        {NULL, true, false, false, HS_REASON_WEAPON_NOT_AVAILABLE},
        {NULL, false, true, false, HS_REASON_WEAPON_NOT_AVAILABLE},
    };
    for (int ms = 800; ms <= 1000; ms += 50) {
        struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
        s.weapon = hs_stage_str(ms < 900 ? rows[_i].before : "rifle");
        if (ms == 800) {
            s.fields = HS_FIELD_AMMO | HS_FIELD_RELOADING;
            s.ammo = rows[_i].is_empty ? 0 : 7;
            s.reloading = rows[_i].reloading;
        } else if (ms == 900 && rows[_i].posts_empty) {
            s.fields = HS_FIELD_AMMO;
        }
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &s, NULL), HS_FRAME_STORED);
        hs_stage_place(match, HS_MS(ms), "T", 20, 0, 0);
    }
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(975), 20, 0, 1.6);
    hs_expect_reason(judge(&claim), rows[_i].reason);
}
END_TEST

START_TEST(damage_is_of_the_weapon_held_then)
{
    play_still();
    struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
    s.weapon = HS_STR("rifle");
    hs_stage_post(match, HS_MS(860), &s, NULL);
    s.weapon = HS_STR("knife");
    hs_stage_post(match, HS_MS(1010), &s, NULL);
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(870), 20, 0, 1.6);
    claim.weapon.ptr = NULL;
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    ck_assert_double_eq(judge(&claim)->damage_total, 40);
}
END_TEST

/* ---- teams ---- */

START_TEST(team_mates_are_hurt_only_with_friendly_fire)
{
    static const struct {
        const char *shooter, *target;
        bool friendly_fire;
        enum hs_reason reason;
    } rows[] = {{"red", "red", false, HS_REASON_FRIENDLY_FIRE},
                {"red", "red", true, HS_REASON_OK},
                {"red", "blue", false, HS_REASON_OK},
                {NULL, NULL, false, HS_REASON_OK},
                {"red", NULL, false, HS_REASON_OK},
                {NULL, "red", false, HS_REASON_OK}};
    rules->hit.friendly_fire = rows[_i].friendly_fire;
    struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0), t = hs_stage_entry("T", 20, 0, 0);
    s.team = hs_stage_str(rows[_i].shooter);
    t.team = hs_stage_str(rows[_i].target);
    hs_stage_post(match, NOW, &s, NULL);
    hs_stage_post(match, NOW, &t, NULL);
    struct hs_hit_claim claim = hs_stage_claim(NOW, 20, 0, 1.6);
    hs_expect_reason(judge(&claim), rows[_i].reason);
}
END_TEST

START_TEST(shooters_cannot_hit_themselves)
{
    hs_stage_play(match);
    rules->hit.friendly_fire = true;
    struct hs_hit_claim claim = head_shot();
    claim.target = HS_STR("S");
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_SELF_HIT);
    ck_assert_double_eq(r->damage_total, 0);
    rules->checks[HS_CHECK_TEAM] = HS_MODE_OFF;
    ck_assert_double_eq(judge(&claim)->damage_total, 0);
}
END_TEST

/* Plays S and `count` victims around the end of a blast that also hurts whom the claim does not
   name. Returns the result. */
static const struct hs_hit_result *blast_crowd(int count)
{
    struct hs_weapon *bow = rules->weapons[HS_STAGE_BOW];
    bow->has_blast = true;
    bow->blast = (struct hs_blast){
        .radius = 3, .inner_radius = 3, .damage = 20, .unclaimed = HS_UNCLAIMED_DAMAGE};
    struct hs_match *crowded = hs_match_create(
        rules, &(struct hs_match_limits){.players = 256, .samples = 4, .movers = 1});
    ck_assert_ptr_nonnull(crowded);
    char name[8];
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "v%d", i);
        hs_stage_place(crowded, NOW, name, 20, 1, 0);
    }
    hs_stage_place(crowded, NOW - HS_MS(500), "S", 0, 0, 0);
    hs_stage_place(crowded, NOW, "S", 0, 0, 0);
    struct hs_hit_claim claim = hs_stage_claim(NOW, 20, 0, 1.6);
    claim.weapon = HS_STR("bow");
    claim.target = (struct hs_str){0};
    claim.has_fire_time = true;
    claim.fire_time_us = NOW - HS_MS(500);
    const struct hs_hit_result *r = hs_stage_judge(crowded, &claim, NOW);
    hs_match_destroy(crowded);
    return r;
}

START_TEST(damage_beyond_what_an_answer_holds_is_flagged)
{
    rules->history.max_gap_us = HS_MS(600);
    rules->checks[HS_CHECK_IDENTITY] = HS_MODE_OFF;
    const struct hs_hit_result *r = blast_crowd(HS_MAX_DAMAGE);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_double_eq(r->damage_total, 20.0 * HS_MAX_DAMAGE);
    ck_assert(!hs_result_has_flag(r, HS_FLAG_DAMAGE_CUT));
    r = blast_crowd(HS_MAX_DAMAGE + 1);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_double_eq(r->damage_total, 20.0 * HS_MAX_DAMAGE);
    ck_assert_uint_eq(r->damage_count, HS_MAX_DAMAGE);
    ck_assert(hs_result_has_flag(r, HS_FLAG_DAMAGE_CUT));
}
END_TEST

static TCase *cases_at_limits(void)
{
    TCase *tcase = tcase_create("limits");
    tcase_add_test(tcase, a_trace_must_be_longer_than_min_trace);
    tcase_add_loop_test(tcase, coordinates_may_reach_the_world_bound, 0, 12);
    tcase_add_test(tcase, times_may_be_as_old_as_the_rewind_limit);
    tcase_add_test(tcase, times_may_be_in_the_future_by_the_slack);
    tcase_add_test(tcase, a_start_may_be_origin_tolerance_from_the_eye);
    tcase_add_test(tcase, origin_allows_for_the_way_between_two_samples);
    tcase_add_test(tcase, origin_allows_nothing_for_a_teleport);
    tcase_add_test(tcase, a_trace_may_be_as_long_as_range_and_extension);
    tcase_add_test(tcase, a_path_touches_within_the_slack);
    tcase_add_test(tcase, a_miss_may_be_as_large_as_claim_padding);
    tcase_add_test(tcase, a_shot_may_be_fired_within_death_grace);
    tcase_add_loop_test(tcase, an_unknown_time_of_death_gives_no_grace, 0, 2);
    tcase_add_test(tcase, targets_dead_then_and_dead_now);
    tcase_add_test(tcase, old_lives_are_stale);
    tcase_add_test(tcase, protection_counts_at_the_time);
    tcase_add_loop_test(tcase, no_second_kill_even_where_life_is_in_shadow, 0, 2);
    tcase_add_loop_test(tcase, weapons_held_in_either_sample, 0, WEAPON_ROWS);
    tcase_add_loop_test(tcase, the_last_round_counts_a_little_longer, 0, 4);
    tcase_add_loop_test(tcase, another_weapon_is_not_empty, 0, 7);
    tcase_add_test(tcase, damage_is_of_the_weapon_held_then);
    tcase_add_loop_test(tcase, team_mates_are_hurt_only_with_friendly_fire, 0, 6);
    tcase_add_test(tcase, shooters_cannot_hit_themselves);
    tcase_add_test(tcase, damage_beyond_what_an_answer_holds_is_flagged);
    return tcase;
}

int main(void)
{
    Suite *suite = suite_create("hit limits");
    TCase *tcase = cases_at_limits();
    tcase_add_checked_fixture(tcase, open_stage, close_stage);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
