/* Decisions about claims: which check decides, what modes change, and what happens if data is
   missing. Fixture: tests/support/play/stage.h. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/play/fixture.h"
#include "tests/support/play/verdicts.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "tests/unit/validators/posting.h"

static struct hs_world *wall_between, *wall_behind; /* between S and T; behind T */

static struct hs_world *wall_at(double x)
{
    struct hs_world_box box = {{x, -50, -50}, {x + 0.5, 50, 50}};
    struct hs_world *world =
        hs_world_create(&(struct hs_world_mesh){.boxes = &box, .box_count = 1}, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    return world;
}

static void set_up(void)
{
    open_stage();
    wall_between = wall_at(15);
    wall_behind = wall_at(25);
}

static void tear_down(void)
{
    close_stage();
    hs_world_destroy(wall_between);
    hs_world_destroy(wall_behind);
}

static struct hs_hit_result *judge_at(const struct hs_hit_claim *claim, int64_t now_us)
{
    return hs_stage_judge(match, claim, now_us);
}

static struct hs_hit_result *judge(const struct hs_hit_claim *claim)
{
    return judge_at(claim, NOW);
}

static struct hs_hit_claim head_shot(void)
{
    return hs_stage_claim(NOW, 20, 4, 1.6);
}

/* ---- which check decides, and modes ---- */

/* The reason that each check gives after the function `spoil` made it fail. OK: `spoil` cannot make
   the check fail. That is allowed only for a check that is off by default; test_scenario_files.c
   requires a scenario for such a check. */
static const enum hs_reason spoilt_reasons[HS_CHECK_COUNT] = {
    [HS_CHECK_SHAPE] = HS_REASON_COORDINATE_OUT_OF_WORLD,
    [HS_CHECK_IDENTITY] = HS_REASON_DUPLICATE,
    [HS_CHECK_TRAJECTORY] = HS_REASON_DUPLICATE_TRAJECTORY,
    [HS_CHECK_WEAPON] = HS_REASON_WEAPON_NOT_AVAILABLE,
    [HS_CHECK_FIRE_RATE] = HS_REASON_FIRE_RATE,
    [HS_CHECK_REWIND] = HS_REASON_REWIND_LIMIT,
    [HS_CHECK_LATENCY] = HS_REASON_TIME_MISMATCH,
    [HS_CHECK_LIFE] = HS_REASON_TARGET_PROTECTED,
    [HS_CHECK_TEAM] = HS_REASON_FRIENDLY_FIRE,
    [HS_CHECK_ORIGIN] = HS_REASON_ORIGIN_MISMATCH,
    [HS_CHECK_BINDING] = HS_REASON_DIRECTION_MISMATCH,
    [HS_CHECK_AIM] = HS_REASON_AIM_MISMATCH,
    [HS_CHECK_RANGE] = HS_REASON_OUT_OF_RANGE,
    [HS_CHECK_WORLD] = HS_REASON_OCCLUDED_WORLD,
    [HS_CHECK_CONTACT] = HS_REASON_NO_INTERSECTION,
    [HS_CHECK_BYSTANDER] = HS_REASON_BLOCKED_BY_PLAYER,
    [HS_CHECK_PELLETS] = HS_REASON_PELLET_COUNT,
    [HS_CHECK_FLIGHT] = HS_REASON_MUZZLE_VELOCITY,
    [HS_CHECK_BLAST] = HS_REASON_OUTSIDE_BLAST,
};

static bool is_spoilable(enum hs_check check)
{
    return spoilt_reasons[check] != HS_REASON_OK;
}

/* These two checks fail alone: each pellet has its own contact, and a blast is refused only if
   there is no direct hit. All other checks can fail together in one claim. That claim is for a
   projectile that arrives at its fire time, because instant weapons have no flight to check. */
#define ALONE (1u << HS_CHECK_PELLETS | 1u << HS_CHECK_BLAST)

/* Returns the set of checks that one claim can fail together, and their number. */
static unsigned together(int *count)
{
    unsigned set = 0;
    *count = 0;
    for (int i = 0; i < HS_CHECK_COUNT; i++) {
        if (!is_spoilable((enum hs_check)i))
            ck_assert_int_eq(hs_check_default_mode((enum hs_check)i), HS_MODE_OFF);
        if (!is_spoilable((enum hs_check)i) || (ALONE >> i & 1) != 0)
            continue;
        set |= 1u << i;
        ++*count;
    }
    return set;
}

static bool is_in(unsigned set, enum hs_check check)
{
    return (set >> check & 1) != 0;
}

/* Records an answer to an earlier claim of S. */
static void book(uint64_t number, int64_t fire_time_us, struct hs_vec end, enum hs_verdict verdict,
                 uint16_t weapon)
{
    static struct hs_hit_result result;
    struct hs_hit_claim claim = hs_stage_claim(fire_time_us, end.x, end.y, end.z);
    claim.shot = number;
    claim.start.z = 1.6 + 2e-3;
    result.verdict = verdict;
    result.reason = verdict == HS_VERDICT_ACCEPTED ? HS_REASON_OK : HS_REASON_OUT_OF_RANGE;
    result.weapon = weapon;
    result.fire_time_us = fire_time_us;
    ck_assert(hs_hit_record(match, &claim, &result, HS_STR("{")));
}

/* Adds earlier events: the number of the claim (7), its path, and four shots in 40 ms. */
static void spoil_past(unsigned set, const struct hs_hit_claim *claim)
{
    const struct hs_vec elsewhere = {0, 20, 1.6};
    if (is_in(set, HS_CHECK_IDENTITY))
        book(claim->shot, NOW, elsewhere, HS_VERDICT_REJECTED, HS_NONE);
    if (is_in(set, HS_CHECK_TRAJECTORY))
        book(claim->shot + 1, NOW, claim->end, HS_VERDICT_ACCEPTED, HS_NONE);
    for (int i = 1; i <= 4 && is_in(set, HS_CHECK_FIRE_RATE); i++)
        book(claim->shot + 1 + (uint64_t)i, NOW - HS_MS(10) * i, elsewhere, HS_VERDICT_ACCEPTED,
             HS_STAGE_RIFLE);
}

static void spoil_players(unsigned set)
{
    struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0), t = hs_stage_entry("T", 20, 0, 0);
    s.fields = HS_FIELD_RELOADING | HS_FIELD_AIM | HS_FIELD_RTT;
    s.weapon = HS_STR("rifle");
    s.reloading = is_in(set, HS_CHECK_WEAPON);
    s.aim[is_in(set, HS_CHECK_AIM) ? 2 : 0] = 1;
    s.rtt_us = HS_MS(125);
    t.fields = HS_FIELD_PROTECTED;
    t.is_protected = is_in(set, HS_CHECK_LIFE);
    if (is_in(set, HS_CHECK_TEAM))
        s.team = t.team = HS_STR("red");
    hs_stage_post(match, NOW, &s, NULL);
    hs_stage_post(match, NOW, &t, NULL);
    if (is_in(set, HS_CHECK_BYSTANDER)) /* beside T, the body is not touched on the other path */
        hs_stage_place(match, NOW, "B", 10, is_in(set, HS_CHECK_CONTACT) ? 0.6 : 0, 0);
}

/* More pellets than the weapon has, all at the same place. */
static void spoil_pellets(struct hs_hit_claim *claim)
{
    static struct hs_pellet_claim pellets[2];
    pellets[0].end = pellets[1].end = claim->end;
    claim->pellets = pellets;
    claim->pellet_count = 2;
}

/* Lets the projectile explode ten metres in front of the claimed victim. */
static void spoil_blast(struct hs_hit_claim *claim)
{
    static const struct hs_str victims[] = {{"T", 1}};
    struct hs_weapon *rifle = rules->weapons[HS_STAGE_RIFLE];
    rifle->has_blast = true;
    rifle->blast = (struct hs_blast){.radius = 2, .damage = 50, .min_scale = 1};
    claim->target = (struct hs_str){NULL, 0};
    claim->victims = victims;
    claim->victim_count = 1;
    claim->end.x = 10;
}

/* Makes a claim that fails exactly the checks of the set (bits of enum hs_check): several that can
   fail together, or one of ALONE. */
static void spoil(unsigned set, struct hs_hit_claim *claim, int64_t *now_us)
{
    struct hs_weapon *rifle = rules->weapons[HS_STAGE_RIFLE];
    hs_match_destroy(match);
    match = hs_stage_match(rules);
    hs_match_set_world(match, is_in(set, HS_CHECK_WORLD) ? wall_between : wall_behind);
    rules->history.world_bound = 1e5;
    spoil_players(set);
    *claim = hs_stage_claim(NOW, 20, 0, 1.6);
    claim->shot = 7;
    claim->start.z = 1.6 + 2e-3;
    claim->end.y = is_in(set, HS_CHECK_CONTACT) ? 1.2 : 0;
    claim->has_fire_time = claim->has_velocity = true;
    claim->fire_time_us = NOW;
    /* The velocity is up to two degrees off the path, which is less than the tolerance of the
       aim. */
    claim->velocity = hs_vec_sub(claim->end, claim->start);
    claim->velocity.z += is_in(set, HS_CHECK_BINDING) ? 0.7 : 0;
    claim->velocity = hs_vec_scale(claim->velocity, (is_in(set, HS_CHECK_FLIGHT) ? 1.1e6 : 1e6) /
                                                        hs_vec_length(claim->velocity));
    rifle->type = HS_WEAPON_PROJECTILE;
    rifle->speed = 1e6;
    rifle->max_flight_us = HS_MS(1000);
    rifle->min_interval_us = HS_MS(100);
    rifle->range = is_in(set, HS_CHECK_RANGE) ? 19 : 100;
    *now_us = NOW + (is_in(set, HS_CHECK_REWIND) ? HS_MS(251) : 0);
    /* The round trip explains 125 ms before now. This claim is off by 125 ms, or by 126 ms if the
       rewind is too long as well. */
    rules->rewind.newer_slack_us = is_in(set, HS_CHECK_LATENCY) ? HS_MS(100) : HS_MS(200);
    rules->rewind.older_slack_us = rules->rewind.newer_slack_us;
    rules->hit.origin_tolerance = is_in(set, HS_CHECK_ORIGIN) ? 1e-3 : 0.5;
    if (is_in(set, HS_CHECK_PELLETS))
        spoil_pellets(claim);
    if (is_in(set, HS_CHECK_BLAST))
        spoil_blast(claim);
    spoil_past(set, claim);
    if (is_in(set, HS_CHECK_SHAPE))
        rules->history.world_bound = 15;
}

/* Returns the reason that a check gives in such a claim. OK: the check passes. */
static enum hs_reason spoilt_reason(unsigned set, enum hs_check check)
{
    if (!is_in(set, check))
        return HS_REASON_OK;
    /* If the shooter aimed beside the target, the check `world` has nothing to test. */
    if (check == HS_CHECK_WORLD && is_in(set, HS_CHECK_CONTACT))
        return HS_REASON_OK;
    bool bystander = is_in(set, HS_CHECK_BYSTANDER);
    return check == HS_CHECK_CONTACT && bystander ? HS_REASON_WRONG_TARGET : spoilt_reasons[check];
}

/* Returns whether a check runs. A shot that misses has no body in its way. */
static bool is_asked(unsigned set, enum hs_check check)
{
    if (is_in(ALONE, check))
        return is_in(set, check);
    return check != HS_CHECK_BYSTANDER || !is_in(set, HS_CHECK_CONTACT);
}

static void expect_decision(unsigned set, const struct hs_hit_result *r)
{
    enum hs_reason decides = HS_REASON_OK;
    uint16_t would = 0, rows = 0;
    for (int i = 0; i < HS_CHECK_COUNT; i++) {
        enum hs_check check = (enum hs_check)i;
        enum hs_reason reason = spoilt_reason(set, check);
        const struct hs_check_row *row = hs_stage_row(r, check);
        if (!is_spoilable(check) && row == NULL)
            continue;
        if (rules->checks[check] == HS_MODE_OFF || !is_asked(set, check)) {
            ck_assert_msg(row == NULL, "set %05x: %s", set, hs_check_name(check));
            continue;
        }
        ck_assert_msg(row != NULL && row->reason == reason, "set %05x: %s", set,
                      hs_check_name(check));
        ck_assert(row == &r->checks[rows++]); /* in deciding order */
        ck_assert_int_eq(row->mode, rules->checks[check]);
        ck_assert_int_eq(row->outcome, reason == HS_REASON_OK ? HS_OUTCOME_PASS : HS_OUTCOME_FAIL);
        if (reason != HS_REASON_OK && row->mode == HS_MODE_SHADOW)
            ck_assert_int_eq(r->would_reject[would++], reason);
        else if (reason != HS_REASON_OK && decides == HS_REASON_OK)
            decides = reason;
    }
    hs_expect_reason(r, decides);
    ck_assert_uint_eq(r->would_reject_count, would);
    ck_assert_uint_eq(r->check_count, rows);
    bool pays = decides == HS_REASON_OK;
    ck_assert_msg((r->damage_total > 0) == pays, "set %05x pays %g", set, r->damage_total);
}

/* Tests all sets of failing checks. The first check in the order decides, and all failures are
   reported. */
START_TEST(the_first_failure_decides_and_all_are_reported)
{
    int count;
    long sets = 0;
    const unsigned all = together(&count);
    for (unsigned set = 0; set <= all; set++) {
        struct hs_hit_claim claim;
        int64_t now_us;
        if ((set & ~all) != 0)
            continue;
        sets++;
        spoil(set, &claim, &now_us);
        expect_decision(set, judge_at(&claim, now_us));
    }
    ck_assert_int_eq(sets, 1 << count);
    ck_assert_int_ge(count, 17);
}
END_TEST

/* Tests random sets, mostly of few checks. Each check is randomly enforced, in shadow or off. */
START_TEST(modes_change_the_verdict_and_nothing_else)
{
    int count;
    const unsigned all = together(&count);
    struct hs_random random = hs_random_start(hs_test_seed(20250302), (uint64_t)_i);
    for (int k = 0; k < 1000; k++) {
        struct hs_hit_claim claim;
        int64_t now_us;
        unsigned set = (unsigned)(hs_random_bits(&random) >> 20) & all;
        for (int i = hs_random_index(&random, 4); i > 0; i--)
            set &= (unsigned)(hs_random_bits(&random) >> 20);
        for (int i = 0; i < HS_CHECK_COUNT; i++)
            rules->checks[i] = (enum hs_mode)hs_random_index(&random, HS_MODE_COUNT);
        spoil(set, &claim, &now_us);
        expect_decision(set, judge_at(&claim, now_us));
    }
}
END_TEST

/* Tests one failing check in each mode. */
START_TEST(each_mode_has_its_effect_on_a_failure)
{
    enum hs_check check = (enum hs_check)(_i / HS_MODE_COUNT);
    if (!is_spoilable(check))
        return;
    rules->checks[check] = (enum hs_mode)(_i % HS_MODE_COUNT);
    struct hs_hit_claim claim;
    int64_t now_us;
    spoil(1u << check, &claim, &now_us);
    struct hs_hit_result *r = judge_at(&claim, now_us);
    bool enforced = rules->checks[check] == HS_MODE_ENFORCE;
    hs_expect_reason(r, enforced ? spoilt_reason(1u << check, check) : HS_REASON_OK);
    ck_assert_int_eq(r->would_reject_count, rules->checks[check] == HS_MODE_SHADOW);
    if (r->would_reject_count > 0)
        ck_assert_int_eq(r->would_reject[0], spoilt_reason(1u << check, check));
    /* If the blast check fails, nobody takes damage, in any mode. */
    ck_assert((r->damage_total > 0) == (!enforced && check != HS_CHECK_BLAST));
}
END_TEST

/* ---- missing data ---- */

/* Each row names the data that is missing, and the player whose data it is. T has poses from 800 to
   900 ms, and from 1100 ms on. */
static const struct {
    const char *who;
    int ms;
    enum hs_reason reason;
} missing[] = {
    {"X", 850, HS_REASON_UNKNOWN_TARGET_HISTORY},
    {"T", 799, HS_REASON_HISTORY_TOO_SHORT},
    {"T", 1000, HS_REASON_LOW_CONFIDENCE_GAP},
    {"T", 1151, HS_REASON_HISTORY_GAP},
    {"T", 850, HS_REASON_OK},
    {"T", 1150, HS_REASON_OK},
};

#define MISSING ((int)(sizeof missing / sizeof *missing))

static void play_with_holes(const char *holes, const char *whole)
{
    static const int known[] = {800, 850, 900, 1100};
    for (int ms = 600; ms <= 1200; ms += 50)
        hs_stage_place(match, HS_MS(ms), whole, strcmp(whole, "T") == 0 ? 20 : 0, 0, 0);
    for (int i = 0; i < 4 && holes != NULL; i++)
        hs_stage_place(match, HS_MS(known[i]), holes, strcmp(holes, "T") == 0 ? 20 : 0, 0, 0);
}

START_TEST(a_target_without_a_pose_is_inconclusive)
{
    rules->rewind.limit_us = HS_MS(600);
    play_with_holes("T", "S");
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(missing[_i].ms), 20, 0, 1.6);
    claim.target = hs_stage_str(missing[_i].who);
    struct hs_hit_result *r = judge_at(&claim, HS_MS(1200));
    hs_expect_reason(r, missing[_i].reason);
    if (missing[_i].reason == HS_REASON_OK)
        return;
    ck_assert_double_eq(r->damage_total, 0);
    ck_assert(!r->rewind.present);
    hs_expect_row(r, HS_CHECK_CONTACT, HS_OUTCOME_UNKNOWN, missing[_i].reason);
    /* In shadow, the claim is accepted, nothing is paid, and the check is listed. */
    rules->checks[HS_CHECK_LIFE] = rules->checks[HS_CHECK_CONTACT] = HS_MODE_SHADOW;
    r = judge_at(&claim, HS_MS(1200));
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_uint_eq(r->would_reject_count, 1); /* the reason is listed once for both checks */
    ck_assert_int_eq(r->would_reject[0], missing[_i].reason);
    ck_assert_double_eq(r->damage_total, 0);
}
END_TEST

START_TEST(a_shooter_without_a_pose_is_inconclusive)
{
    rules->rewind.limit_us = HS_MS(600);
    bool is_known = strcmp(missing[_i].who, "T") == 0;
    play_with_holes(is_known ? "S" : NULL, "T");
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(missing[_i].ms), 20, 0, 1.6);
    enum hs_reason reason = missing[_i].reason == HS_REASON_UNKNOWN_TARGET_HISTORY
                                ? HS_REASON_UNKNOWN_SHOOTER_HISTORY
                                : missing[_i].reason;
    struct hs_hit_result *r = judge_at(&claim, HS_MS(1200));
    hs_expect_reason(r, reason);
    if (reason == HS_REASON_OK)
        return;
    ck_assert_double_eq(r->damage_total, 0);
    hs_expect_row(r, HS_CHECK_ORIGIN, HS_OUTCOME_UNKNOWN, reason);
    hs_expect_row(r, HS_CHECK_CONTACT, HS_OUTCOME_PASS, HS_REASON_OK);
    /* The shooter's history is unnecessary only if no enforced check uses it. */
    rules->checks[HS_CHECK_WEAPON] = rules->checks[HS_CHECK_LIFE] = HS_MODE_OFF;
    hs_expect_reason(judge_at(&claim, HS_MS(1200)), reason);
    rules->checks[HS_CHECK_ORIGIN] = rules->checks[HS_CHECK_AIM] = HS_MODE_SHADOW;
    r = judge_at(&claim, HS_MS(1200));
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_double_eq(r->damage_total, 0);
    rules->checks[HS_CHECK_ORIGIN] = HS_MODE_OFF;
    r = judge_at(&claim, HS_MS(1200));
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_double_eq(r->damage_total, 0); /* because the aim is still checked, in shadow */
    rules->checks[HS_CHECK_AIM] = HS_MODE_OFF;
    r = judge_at(&claim, HS_MS(1200));
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_double_eq(r->damage_total, 40);
    ck_assert_uint_eq(r->would_reject_count, 0);
}
END_TEST

/* A failure that does not depend on the missing data still rejects the claim. */
START_TEST(an_enforced_failure_wins_over_missing_data)
{
    static const enum hs_check checks[] = {
        HS_CHECK_SHAPE,     HS_CHECK_IDENTITY, HS_CHECK_TRAJECTORY, HS_CHECK_WEAPON,
        HS_CHECK_FIRE_RATE, HS_CHECK_REWIND,   HS_CHECK_LATENCY,    HS_CHECK_ORIGIN,
        HS_CHECK_AIM,       HS_CHECK_RANGE,    HS_CHECK_FLIGHT};
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        struct hs_hit_claim claim;
        int64_t now_us;
        rules->checks[checks[i]] = HS_MODE_ENFORCE;
        spoil(1u << checks[i], &claim, &now_us);
        claim.target = HS_STR("X");
        hs_expect_reason(judge_at(&claim, now_us), spoilt_reason(1u << checks[i], checks[i]));
        rules->checks[checks[i]] = HS_MODE_SHADOW; /* in shadow it does not reject */
        struct hs_hit_result *r = judge_at(&claim, now_us);
        hs_expect_reason(r, HS_REASON_UNKNOWN_TARGET_HISTORY);
        ck_assert_uint_eq(r->would_reject_count, 1);
    }
}
END_TEST

START_TEST(the_shooters_death_wins_over_a_missing_target)
{
    play_still();
    post_event(HS_MS(800) + 1, "S", HS_EVENT_DEATH, 0);
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(849), 20, 0, 1.6);
    rules->hit.death_grace_us = HS_MS(10);
    claim.target = HS_STR("X");
    hs_expect_reason(judge(&claim), HS_REASON_SHOOTER_DEAD);
}
END_TEST

START_TEST(those_who_left_are_unknown)
{
    hs_stage_play(match);
    post_event(HS_MS(1050), _i == 0 ? "T" : "S", HS_EVENT_LEAVE, 0);
    struct hs_hit_claim claim = head_shot();
    hs_expect_reason(judge(&claim), _i == 0 ? HS_REASON_UNKNOWN_TARGET_HISTORY
                                            : HS_REASON_UNKNOWN_SHOOTER_HISTORY);
}
END_TEST

static TCase *cases_of_decisions(void)
{
    TCase *tcase = tcase_create("decisions");
    tcase_set_timeout(tcase, 60); /* seconds, for 65536 decisions on a busy machine */
    tcase_add_test(tcase, the_first_failure_decides_and_all_are_reported);
    tcase_add_loop_test(tcase, modes_change_the_verdict_and_nothing_else, 0, 20);
    tcase_add_loop_test(tcase, each_mode_has_its_effect_on_a_failure, 0,
                        HS_CHECK_COUNT * HS_MODE_COUNT);
    tcase_add_loop_test(tcase, a_target_without_a_pose_is_inconclusive, 0, MISSING);
    tcase_add_loop_test(tcase, a_shooter_without_a_pose_is_inconclusive, 0, MISSING);
    tcase_add_test(tcase, an_enforced_failure_wins_over_missing_data);
    tcase_add_test(tcase, the_shooters_death_wins_over_a_missing_target);
    tcase_add_loop_test(tcase, those_who_left_are_unknown, 0, 2);
    return tcase;
}

int main(void)
{
    printf("hit: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(20250302));
    Suite *suite = suite_create("hit");
    TCase *tcase = cases_of_decisions();
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
