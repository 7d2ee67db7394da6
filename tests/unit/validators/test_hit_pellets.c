/* Claims that list pellets. A list of one pellet, of a weapon that fires one, is like a claim
   without a list. A volley explodes only where its pellets end. */
#include <check.h>
#include <stdlib.h>

#include "tests/support/oracle/world_cases.h"
#include "tests/support/play/fixture.h"
#include "tests/support/play/verdicts.h"
#include "tests/support/run_suite.h"

static struct hs_world *world;
static struct hs_weapon *rifle, *bow;
static const struct hs_str victims[1] = {{"V", 1}};

static void set_up(void)
{
    open_stage();
    world = NULL;
    rifle = rules->weapons[HS_STAGE_RIFLE];
    bow = rules->weapons[HS_STAGE_BOW];
    rules->checks[HS_CHECK_AIM] = HS_MODE_OFF;
}

static void tear_down(void)
{
    close_stage();
    hs_world_destroy(world);
}

/* Builds a wall across the line of fire, from x to x + 1. */
static void build_wall(double x)
{
    struct hs_test_mesh mesh = {0};
    hs_test_mesh_box(&mesh, (struct hs_vec){x, -50, -5}, (struct hs_vec){x + 1, 50, 50});
    world = hs_world_create(&mesh.mesh, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    hs_match_set_world(match, world);
    hs_test_mesh_free(&mesh);
}

static void stand_until(const char *player, int until_ms, double x, double y)
{
    for (int ms = 0; ms <= until_ms; ms += 50)
        hs_stage_place(match, HS_MS(ms), player, x, y, 0);
}

static void stand(const char *player, double x, double y)
{
    stand_until(player, 1000, x, y);
}

static void give_blast(struct hs_weapon *weapon)
{
    weapon->has_blast = true;
    weapon->blast =
        (struct hs_blast){.radius = 3, .inner_radius = 3, .damage = 30, .occlusion = true};
}

static struct hs_hit_result *judge(const struct hs_hit_claim *claim)
{
    return hs_stage_judge(match, claim, NOW);
}

static void list_pellets(struct hs_hit_claim *claim, const struct hs_pellet_claim *pellets,
                         size_t count)
{
    claim->has_pellets = true;
    claim->pellets = pellets;
    claim->pellet_count = count;
}

static void expect(const struct hs_hit_claim *claim, enum hs_reason reason, double damage)
{
    const struct hs_hit_result *r = judge(claim);
    hs_expect_reason(r, reason);
    ck_assert_double_eq_tol(r->damage_total, damage, 1e-9);
}

/* Expects a result from a claim without a list. Then lists its end as its only pellet, with another
   `end` beside the list, and expects the same result. */
static void expect_alike(struct hs_hit_claim claim, enum hs_reason reason, double damage,
                         enum hs_pellet_outcome outcome)
{
    expect(&claim, reason, damage);
    const struct hs_hit_result plain = *judge(&claim);
    const struct hs_pellet_claim pellet = {.end = claim.end, .target = claim.target};
    list_pellets(&claim, &pellet, 1);
    claim.target = (struct hs_str){0};
    claim.end = (struct hs_vec){-30, 0, 1.6};
    const struct hs_hit_result *r = judge(&claim);
    expect(&claim, reason, damage);
    ck_assert_uint_eq(r->flags, plain.flags);
    ck_assert_int_eq(r->impact.present, plain.impact.present);
    if (plain.impact.present)
        ck_assert_double_eq(r->impact.distance, plain.impact.distance);
    ck_assert_uint_eq(plain.pellet_count, 0);
    ck_assert_uint_eq(r->pellet_count, 1);
    ck_assert_int_eq(r->pellets[0].outcome, outcome);
    ck_assert_double_eq(r->pellets[0].margin, plain.margin);
}

static struct hs_hit_claim arrow(double x, int64_t flight_us)
{
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), x, 0, 1.6);
    claim.weapon = HS_STR("bow");
    claim.has_fire_time = true;
    claim.fire_time_us = claim.hit_time_us - flight_us;
    return claim;
}

/* ---- one pellet ---- */

START_TEST(one_pellet_hits_and_misses_like_a_bullet)
{
    stand("S", 0, 0);
    stand("T", 20, 0);
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 20, 0, 1.6);
    expect_alike(claim, HS_REASON_OK, 40, HS_PELLET_HIT);
    ck_assert_double_eq(judge(&claim)->damage[0].amount, 40);
    claim.end.y = 2;
    expect_alike(claim, HS_REASON_NO_INTERSECTION, 0, HS_PELLET_MISS);
    claim.end.y = 0;
    stand("B", 10, 0);
    expect_alike(claim, HS_REASON_BLOCKED_BY_PLAYER, 0, HS_PELLET_BLOCKED);
    build_wall(5);
    expect_alike(claim, HS_REASON_OCCLUDED_WORLD, 0, HS_PELLET_OCCLUDED);
    claim.target = HS_STR("nobody");
    expect_alike(claim, HS_REASON_UNKNOWN_TARGET_HISTORY, 0, HS_PELLET_UNKNOWN);
}
END_TEST

/* The arrow passes x = 10 after 250 ms. B leaves the line after that, but before the impact. */
START_TEST(one_pellet_flies_like_an_arrow)
{
    stand("S", 0, 0);
    stand("T", 30, 0);
    stand_until("B", 600, 10, 0);
    for (int ms = 650; ms <= 1000; ms += 50)
        hs_stage_place(match, HS_MS(ms), "B", 10, 4, 0);
    expect_alike(arrow(30, 750000), HS_REASON_BLOCKED_BY_PLAYER, 0, HS_PELLET_BLOCKED);
}
END_TEST

START_TEST(one_pellet_explodes_like_a_rocket)
{
    give_blast(_i == 0 ? bow : rifle);
    stand("S", 0, 0);
    stand("V", 30, 1);
    stand("W", 4, 1);
    struct hs_hit_claim claim = _i == 0 ? arrow(30, 750000) : hs_stage_claim_fired(NOW, 30, 0, 1.6);
    claim.target = (struct hs_str){0};
    claim.victims = victims;
    claim.victim_count = 1;
    expect_alike(claim, HS_REASON_OK, 30, HS_PELLET_MISS);
    build_wall(5);
    rules->rewind.limit_us = HS_MS(600); /* the rocket explodes at the wall 580 ms before now */
    expect_alike(claim, HS_REASON_OUTSIDE_BLAST, 0, HS_PELLET_MISS);
    ck_assert_uint_eq(judge(&claim)->unclaimed_count, 1);
}
END_TEST

/* Even if the check of their number is in shadow mode, an arrow has one path. */
START_TEST(pellets_beyond_the_only_one_are_not_swept)
{
    static const struct hs_pellet_claim pellets[2] = {{.end = {30, 0, 1.6}}, {.end = {30, 0, 1.6}}};
    rules->checks[HS_CHECK_PELLETS] = _i == 0 ? HS_MODE_ENFORCE : HS_MODE_SHADOW;
    stand("S", 0, 0);
    stand("T", 30, 0);
    stand_until("B", 600, 10, 0);
    hs_stage_place(match, HS_MS(650), "B", 10, 4, 0);
    hs_stage_place(match, NOW, "B", 10, 4, 0);
    struct hs_hit_claim claim = arrow(30, 750000);
    list_pellets(&claim, pellets, 2);
    expect(&claim, HS_REASON_BLOCKED_BY_PLAYER, 0);
    const struct hs_hit_result *r = judge(&claim);
    hs_expect_row(r, HS_CHECK_PELLETS, HS_OUTCOME_FAIL, HS_REASON_PELLET_COUNT);
    ck_assert_uint_eq(r->pellet_count, 2);
    ck_assert_int_eq(r->pellets[1].reason, HS_REASON_PELLET_COUNT);
}
END_TEST

/* Row: the number of pellets that the weapon fires. The shots have the same pellets, but another
   `end` beside them. */
START_TEST(the_same_pellets_are_the_same_trajectory)
{
    rifle->pellets = _i + 1;
    rifle->min_interval_us = HS_MS(150);
    rules->checks[HS_CHECK_FIRE_RATE] = HS_MODE_OFF;
    stand("S", 0, 0);
    stand("T", 20, 0);
    const struct hs_pellet_claim pellets[2] = {{.end = {20, 0, 1.6}}, {.end = {20, 0, 1.6}}};
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(900), 20, 0, 1.6);
    list_pellets(&claim, pellets, (size_t)rifle->pellets);
    const struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    claim.end.y = 0.5;
    ck_assert(hs_hit_record(match, &claim, r, HS_STR("{")));
    claim.shot = 2;
    claim.hit_time_us = claim.fire_time_us = HS_MS(960);
    for (double y = 0; y <= 1; y += 0.5) {
        claim.end.y = y;
        hs_expect_reason(judge(&claim), HS_REASON_DUPLICATE_TRAJECTORY);
    }
    claim.hit_time_us = claim.fire_time_us = HS_MS(980);
    hs_expect_reason(judge(&claim), HS_REASON_OK);
}
END_TEST

/* Row: how often the list of pellets is turned by one place. */
START_TEST(the_order_of_pellets_makes_no_other_trajectory)
{
    enum { PELLETS = 3 };
    struct hs_pellet_claim pellets[PELLETS] = {
        {.end = {20, 0, 1.6}}, {.end = {20, 0, 1.1}}, {.end = {20, 0.1, 1.1}}};
    rifle->pellets = PELLETS;
    rifle->spread_deg = 10;
    rifle->min_interval_us = HS_MS(150);
    rules->checks[HS_CHECK_FIRE_RATE] = HS_MODE_OFF;
    stand("S", 0, 0);
    stand("T", 20, 0);
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(900), 20, 0, 1.6);
    list_pellets(&claim, pellets, PELLETS);
    const struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert(hs_hit_record(match, &claim, r, HS_STR("{")));
    for (int i = 0; i < _i; i++) {
        const struct hs_pellet_claim first = pellets[0];
        memmove(pellets, pellets + 1, (PELLETS - 1) * sizeof pellets[0]);
        pellets[PELLETS - 1] = first;
    }
    claim.shot = 2;
    claim.hit_time_us = claim.fire_time_us = HS_MS(960);
    hs_expect_reason(judge(&claim), HS_REASON_DUPLICATE_TRAJECTORY);
    for (int i = 0; i < PELLETS; i++)
        pellets[i].end.y += 0.01;
    hs_expect_reason(judge(&claim), HS_REASON_OK);
}
END_TEST

/* ---- pellets whose target takes no damage ---- */

/* Row: what the frames of T say, and the reason of a claim that names T. */
static const struct {
    bool is_dead, is_protected, is_friend, is_shooter;
    enum hs_reason reason;
} spared[] = {{.is_dead = true, .reason = HS_REASON_TARGET_DEAD},
              {.is_protected = true, .reason = HS_REASON_TARGET_PROTECTED},
              {.is_friend = true, .reason = HS_REASON_FRIENDLY_FIRE},
              {.is_shooter = true, .reason = HS_REASON_SELF_HIT}};

#define SPARED ((int)(sizeof spared / sizeof *spared))

static void play_spared(int row)
{
    for (int ms = 0; ms <= 1000; ms += 50) {
        struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0), t = hs_stage_entry("T", 20, 0, 0);
        s.team = HS_STR("a");
        t.team = spared[row].is_friend ? HS_STR("a") : HS_STR("b");
        t.fields = HS_FIELD_ALIVE | HS_FIELD_PROTECTED;
        t.alive = !spared[row].is_dead;
        t.is_protected = spared[row].is_protected;
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &s, NULL), HS_FRAME_STORED);
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &t, NULL), HS_FRAME_STORED);
    }
}

/* The verdict does not depend on whether the claim or its pellets name the target. */
START_TEST(pellets_of_a_spared_target_have_its_reason)
{
    rifle->pellets = 2;
    rifle->spread_deg = 10;
    play_spared(_i);
    stand("U", 20, 2);
    stand("nobody", 40, 9);
    const struct hs_str target = spared[_i].is_shooter ? HS_STR("S") : HS_STR("T");
    struct hs_pellet_claim pellets[2] = {{.end = {20, 0, 1.6}}, {.end = {20, 0, 1.1}}};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 20, 0, 1.6);
    claim.target = target;
    list_pellets(&claim, pellets, 2);
    expect(&claim, spared[_i].reason, 0);
    hs_expect_row(judge(&claim), HS_CHECK_CONTACT, HS_OUTCOME_PASS, HS_REASON_OK);
    claim.target = (struct hs_str){0};
    pellets[0].target = pellets[1].target = target;
    expect(&claim, spared[_i].reason, 0);
    ck_assert_str_eq(hs_stage_row(judge(&claim), HS_CHECK_CONTACT)->player.text,
                     spared[_i].is_shooter ? "S" : "T");
    pellets[1].target = HS_STR("nobody"); /* missed */
    expect(&claim, spared[_i].reason, 0);
    pellets[1].target = HS_STR("absent"); /* this pellet may have hit */
    expect(&claim, HS_REASON_UNKNOWN_TARGET_HISTORY, 0);
    pellets[1] = (struct hs_pellet_claim){.end = {20, 2, 1.6}, .target = HS_STR("U")};
    expect(&claim, HS_REASON_OK, 40);
}
END_TEST

/* The target of the claim takes no damage, or is unknown in the last row. The pellet that hits U
   counts, whether the claim names U or hit.resolve finds U. */
START_TEST(a_spared_target_does_not_spare_the_others)
{
    bool is_absent = _i == SPARED;
    rifle->pellets = 2;
    rifle->spread_deg = 10;
    play_spared(is_absent ? 0 : _i);
    stand("U", 20, 2);
    stand("V", 20, 9);
    struct hs_pellet_claim pellets[2] = {{.end = {20, 0, 1.6}},
                                         {.end = {20, 2, 1.6}, .target = HS_STR("U")}};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 20, 0, 1.6);
    claim.target = is_absent ? HS_STR("absent") : spared[_i].is_shooter ? HS_STR("S") : HS_STR("T");
    list_pellets(&claim, pellets, 2);
    expect(&claim, HS_REASON_OK, 40);
    ck_assert_int_ne(judge(&claim)->pellets[0].outcome, HS_PELLET_HIT);
    ck_assert_int_eq(judge(&claim)->pellets[1].outcome, HS_PELLET_HIT);
    pellets[1].target = HS_STR("V"); /* missed, so the reason is the target's */
    expect(&claim, is_absent ? HS_REASON_UNKNOWN_TARGET_HISTORY : spared[_i].reason, 0);
    pellets[1].target = (struct hs_str){0};
    expect(&claim, is_absent ? HS_REASON_UNKNOWN_TARGET_HISTORY : spared[_i].reason, 0);
    rules->hit.resolve = HS_RESOLVE_TOUCHED;
    expect(&claim, spared[is_absent ? 0 : _i].is_shooter ? HS_REASON_SELF_HIT : HS_REASON_OK,
           spared[is_absent ? 0 : _i].is_shooter ? 0 : 40);
}
END_TEST

/* The pellets miss T by less than claim_padding, and hit U behind T. A near miss counts as a hit
   only without pellets, so it must not replace the hit of U. */
START_TEST(a_near_miss_of_the_named_body_does_not_replace_a_hit)
{
    rifle->pellets = 2;
    rules->hit.resolve = HS_RESOLVE_TOUCHED;
    rules->hit.claim_padding = 0.1;
    stand("S", 0, 0);
    stand("T", 10, 0.25);
    stand("U", 20, 0);
    const struct hs_pellet_claim pellets[2] = {{.end = {20, 0, 1.6}}, {.end = {20, 0, 1.6}}};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 20, 0, 1.6);
    expect(&claim, HS_REASON_OK_LENIENT, 20);
    list_pellets(&claim, pellets, 2);
    expect(&claim, HS_REASON_OK, 80);
    ck_assert_str_eq(judge(&claim)->damage[0].player.text, "U");
}
END_TEST

/* No pellet hits. The blast hurts V, and the answer says why the target takes no damage. */
START_TEST(a_volley_with_a_blast_refuses_its_spared_target)
{
    rifle->pellets = 2;
    rifle->spread_deg = 10;
    give_blast(rifle);
    play_spared(_i);
    stand("U", 20, 9);
    stand("V", 19, 1);
    build_wall(21);
    const struct hs_pellet_claim pellets[2] = {{.end = {30, 0, 1.6}},
                                               {.end = {30, 0, 1.6}, .target = HS_STR("U")}};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 20, 0, 1.6);
    list_pellets(&claim, pellets, 2);
    claim.victims = victims;
    claim.victim_count = 1;
    expect(&claim, HS_REASON_OK, 30);
    const struct hs_hit_result *r = judge(&claim);
    ck_assert_uint_eq(r->refused_count, 1);
    ck_assert_str_eq(r->refused[0].player.text, "T");
    ck_assert_int_eq(r->refused[0].reason, spared[_i].reason);
    claim.victim_count = 0;
    expect(&claim, spared[_i].reason, 0);
}
END_TEST

/* If the rule that spares the target is not enforced, the verdict does not change. */
START_TEST(pellets_of_a_spared_target_follow_the_mode_of_its_check)
{
    rifle->pellets = 2;
    play_spared(_i);
    rules->checks[HS_CHECK_LIFE] = rules->checks[HS_CHECK_TEAM] = HS_MODE_SHADOW;
    const struct hs_str target = spared[_i].is_shooter ? HS_STR("S") : HS_STR("T");
    const struct hs_pellet_claim pellet = {.end = {20, 0, 1.6}, .target = target};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 20, 0, 1.6);
    claim.target = (struct hs_str){0};
    list_pellets(&claim, &pellet, 1);
    expect(&claim, HS_REASON_OK, 0);
}
END_TEST

/* The blast of a volley counts, even if its direct targets are spared. */
START_TEST(a_volley_on_a_spared_target_still_explodes)
{
    rifle->pellets = 2;
    give_blast(rifle);
    play_spared(_i);
    stand("V", 19, 1);
    build_wall(21);
    const struct hs_str target = spared[_i].is_shooter ? HS_STR("S") : HS_STR("T");
    struct hs_pellet_claim pellets[2] = {{.end = {20, 0, 1.6}, .target = target},
                                         {.end = {20, 0, 1.6}, .target = HS_STR("absent")}};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 20, 0, 1.6);
    claim.target = (struct hs_str){0};
    list_pellets(&claim, pellets, 2);
    expect(&claim, HS_REASON_UNKNOWN_TARGET_HISTORY, 0);
    list_pellets(&claim, pellets, 1);
    expect(&claim, spared[_i].reason, 0);
    claim.victims = victims;
    claim.victim_count = 1;
    expect(&claim, HS_REASON_OK, 30);
}
END_TEST

/* ---- several pellets with a blast ---- */

/* Row: whether the pellets name nobody, a player whom they miss, or a player whom the shooter may
   not hurt. */
static const char *const named[] = {NULL, "far", "dead"};

/* The wall at x = 5 stops the pellets. V is behind it, W in front of it. */
START_TEST(a_volley_explodes_where_its_pellets_end)
{
    rifle->pellets = 2;
    give_blast(rifle);
    build_wall(5);
    stand("S", 0, 0);
    stand("V", 30, 1);
    stand("W", 4, 1);
    stand("far", 20, 20);
    stand("dead", 60, 0);
    struct hs_player_frame death = hs_stage_event("dead", HS_EVENT_DEATH);
    death.position.x = 60;
    ck_assert_int_eq(hs_stage_post(match, HS_MS(875), &death, NULL), HS_FRAME_STORED);
    const struct hs_pellet_claim pellets[2] = {
        {.end = {30, 0, 1.6}, .target = hs_stage_str(named[_i])},
        {.end = {30, 0, 1.6}, .target = hs_stage_str(named[_i])}};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 30, 0, 1.6);
    claim.target = (struct hs_str){0};
    claim.victims = victims;
    claim.victim_count = 1;
    list_pellets(&claim, pellets, 2);
    struct hs_hit_result *r = judge(&claim);
    ck_assert_int_eq(r->verdict, HS_VERDICT_REJECTED);
    ck_assert_double_eq(r->damage_total, 0);
    ck_assert(r->impact.present);
    ck_assert_double_eq_tol(r->impact.distance, 5, 0.06);
    ck_assert(!hs_result_has_flag(r, HS_FLAG_UNVERIFIED_IMPACT));
}
END_TEST

/* Row: whether the claim names T, or only its pellets do. The pellets pass T, and the wall behind T
   stops them. A projectile that misses its target explodes in the same way. */
START_TEST(a_volley_that_misses_explodes_where_its_pellets_end)
{
    rifle->pellets = 2;
    give_blast(rifle);
    build_wall(21);
    stand("S", 0, 0);
    stand("T", 20, 1);
    stand("V", 20, -1);
    stand("far", 20, 20);
    struct hs_pellet_claim pellets[2] = {{.end = {30, 0, 1.6}, .target = HS_STR("T")},
                                         {.end = {30, 0, 1.6}, .target = HS_STR("T")}};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 30, 0, 1.6);
    if (_i == 1)
        claim.target = (struct hs_str){0};
    claim.victims = victims;
    claim.victim_count = 1;
    list_pellets(&claim, pellets, 2);
    expect(&claim, HS_REASON_OK, 60);
    const struct hs_hit_result *r = judge(&claim);
    ck_assert_uint_eq(r->unclaimed_count, 0);
    ck_assert_double_eq_tol(r->impact.distance, 21, 0.06);
    ck_assert_uint_eq(r->refused_count, _i == 0 ? 1 : 0);
    ck_assert_int_eq(r->pellets[0].outcome, HS_PELLET_MISS);
    if (_i == 0)
        ck_assert_int_eq(r->refused[0].reason, HS_REASON_NO_INTERSECTION);
    claim.victim_count = 0;
    expect(&claim, HS_REASON_OK, 30);
    if (_i == 0)
        claim.target = HS_STR("far");
    pellets[0].target = pellets[1].target = HS_STR("far");
    expect(&claim, HS_REASON_NO_INTERSECTION, 0); /* the blast hurts nobody */
    ck_assert_uint_eq(judge(&claim)->refused_count, 0);
}
END_TEST

/* The pellets start beside the eye and pass a box that hides T from the eye. Nothing explodes at
   the box, although V is near it. */
START_TEST(a_volley_at_an_unseen_target_does_not_explode)
{
    rifle->pellets = 2;
    give_blast(rifle);
    stand("S", 0, 0);
    stand("T", 20, 0.2);
    stand("V", 0.5, 1.5);
    const struct hs_mover_frame box = {.mover = HS_STR("box"),
                                       .fields = HS_MOVER_BOX,
                                       .position = {1, -0.9, 1.6},
                                       .half_extents = {0.1, 1, 2}};
    for (int ms = 0; ms <= 1000; ms += 50) {
        const struct hs_frame frame = {.time_us = HS_MS(ms), .movers = &box, .mover_count = 1};
        enum hs_frame_result posted;
        unsigned flags = 0;
        ck_assert(hs_match_post_frame(match, &frame, &posted, &flags));
    }
    const struct hs_pellet_claim pellets[2] = {{.end = {20, 0.2, 1.6}}, {.end = {20, 0.2, 1.6}}};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 20, 0.2, 1.6);
    claim.start.y = 0.2;
    claim.victims = victims;
    claim.victim_count = 1;
    list_pellets(&claim, pellets, 2);
    expect(&claim, HS_REASON_OCCLUDED_WORLD, 0);
}
END_TEST

START_TEST(a_volley_that_touches_nothing_explodes_at_its_first_end)
{
    rifle->pellets = 2;
    give_blast(rifle);
    stand("S", 0, 0);
    stand("V", 30, 1);
    static const struct hs_pellet_claim pellets[2] = {{.end = {30, 0, 1.6}}, {.end = {30, 1, 4}}};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, -30, 0, 1.6);
    claim.target = (struct hs_str){0};
    claim.victims = victims;
    claim.victim_count = 1;
    list_pellets(&claim, pellets, 2);
    rules->checks[HS_CHECK_PELLETS] = HS_MODE_OFF;
    expect(&claim, HS_REASON_OK, 30);
    ck_assert(hs_result_has_flag(judge(&claim), HS_FLAG_UNVERIFIED_IMPACT));
    rifle->fuse = HS_FUSE_CONTACT;
    expect(&claim, HS_REASON_OK, 30); /* without a map, a surface may be there */
    build_wall(50);
    expect(&claim, HS_REASON_IMPACT_NOT_ON_SURFACE, 0);
}
END_TEST

/* Pellets that name nobody may have exploded at a door that has no pose at that time. */
START_TEST(a_volley_at_an_unknown_door_is_inconclusive)
{
    rifle->pellets = 2;
    give_blast(rifle);
    stand("S", 0, 0);
    stand("V", 30, 1);
    struct hs_mover_frame door = {.mover = HS_STR("door"),
                                  .fields = HS_MOVER_BOX,
                                  .position = {5, 0, 1.6},
                                  .half_extents = {0.1, 0.5, 2}};
    struct hs_frame frame = {.time_us = NOW, .movers = &door, .mover_count = 1};
    enum hs_frame_result posted;
    unsigned flags = 0;
    ck_assert(hs_match_post_frame(match, &frame, &posted, &flags));
    static const struct hs_pellet_claim pellets[2] = {{.end = {30, 0, 1.6}}, {.end = {30, 0, 1.6}}};
    struct hs_hit_claim claim = hs_stage_claim_fired(HS_MS(900), 30, 0, 1.6);
    claim.target = (struct hs_str){0};
    claim.victims = victims;
    claim.victim_count = 1;
    list_pellets(&claim, pellets, 2);
    expect(&claim, HS_REASON_HISTORY_TOO_SHORT, 0);
    stand("B", 3, 0); /* they exploded in front of the door */
    expect(&claim, HS_REASON_OUTSIDE_BLAST, 0);
}
END_TEST

/* A body that only pellets name is damaged by the blast like a target, and is neither refused nor
   unclaimed. F is named and too far away. Row: 1: the first body on a path is hit. */
START_TEST(a_blast_reaches_the_bodies_that_pellets_name)
{
    rifle->pellets = 3;
    rifle->spread_deg = 10;
    give_blast(rifle);
    rules->hit.resolve = _i == 0 ? HS_RESOLVE_CLAIMED : HS_RESOLVE_TOUCHED;
    stand("S", 0, 0);
    stand("T", 20, 0);
    stand("B", 20, 2);
    stand("F", 30, 3);
    const struct hs_pellet_claim pellets[3] = {{.end = {20, 0, 1.1}, .target = HS_STR("T")},
                                               {.end = {20, 1, 1.1}, .target = HS_STR("B")},
                                               {.end = {30, 2, 1.1}, .target = HS_STR("F")}};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 20, 0, 1.1);
    claim.target = (struct hs_str){0};
    list_pellets(&claim, pellets, 3);
    expect(&claim, HS_REASON_OK, 60);
    const struct hs_hit_result *r = judge(&claim);
    ck_assert_uint_eq(r->damage_count, 2);
    ck_assert_uint_eq(r->refused_count, 0);
    ck_assert_uint_eq(r->unclaimed_count, 0);
}
END_TEST

/* Pellets that name the shooter hit nobody, like a claim with the shooter as target. Row: 1: the
   first body on a path is hit. */
START_TEST(pellets_that_name_the_shooter_hit_nobody)
{
    rifle->pellets = 2;
    rifle->spread_deg = 10;
    rules->hit.resolve = _i == 0 ? HS_RESOLVE_CLAIMED : HS_RESOLVE_TOUCHED;
    stand("S", 0, 0);
    stand("T", 20, 0);
    const struct hs_pellet_claim pellets[2] = {{.end = {20, 0, 1.6}, .target = HS_STR("S")},
                                               {.end = {20, 0, 1.1}, .target = HS_STR("S")}};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 20, 0, 1.6);
    claim.target = (struct hs_str){0};
    list_pellets(&claim, pellets, 2);
    expect(&claim, HS_REASON_SELF_HIT, 0);
}
END_TEST

/* Row: damage of the blast, number of pellets at the head and at the torso, and which cause pays
   how much. A pellet does 15, or 30 to the head. */
static const struct {
    double blast;
    size_t heads, torsos;
    enum hs_cause cause;
    double damage;
} largest[] = {{20, 0, 10, HS_CAUSE_DIRECT, 150},  {20, 2, 8, HS_CAUSE_DIRECT, 180},
               {149, 0, 10, HS_CAUSE_DIRECT, 150}, {150, 0, 10, HS_CAUSE_DIRECT, 150},
               {151, 0, 10, HS_CAUSE_BLAST, 151},  {40, 1, 0, HS_CAUSE_BLAST, 40}};

#define LARGEST ((int)(sizeof largest / sizeof *largest))

START_TEST(all_direct_damage_is_compared_with_the_blast)
{
    rifle->pellets = 10;
    rifle->damage = 15;
    rifle->spread_deg = 10;
    give_blast(rifle);
    rifle->blast.damage = largest[_i].blast;
    stand("S", 0, 0);
    stand("T", 10, 0);
    struct hs_pellet_claim pellets[10] = {{.end = {0}}};
    size_t count = largest[_i].heads + largest[_i].torsos;
    for (size_t i = 0; i < count; i++)
        pellets[i].end = (struct hs_vec){10, 0, i < largest[_i].heads ? 1.6 : 1.1};
    struct hs_hit_claim claim = hs_stage_claim_fired(NOW, 10, 0, 1.6);
    list_pellets(&claim, pellets, count);
    expect(&claim, HS_REASON_OK, largest[_i].damage);
    const struct hs_hit_result *r = judge(&claim);
    for (uint16_t i = 0; i < r->damage_count; i++)
        ck_assert_int_eq(r->damage[i].cause, largest[_i].cause);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hit pellets");
    TCase *tcase = tcase_create("hit pellets");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, one_pellet_hits_and_misses_like_a_bullet);
    tcase_add_test(tcase, one_pellet_flies_like_an_arrow);
    tcase_add_loop_test(tcase, one_pellet_explodes_like_a_rocket, 0, 2);
    tcase_add_loop_test(tcase, pellets_beyond_the_only_one_are_not_swept, 0, 2);
    tcase_add_loop_test(tcase, the_order_of_pellets_makes_no_other_trajectory, 0, 3);
    tcase_add_loop_test(tcase, the_same_pellets_are_the_same_trajectory, 0, 2);
    tcase_add_loop_test(tcase, pellets_of_a_spared_target_have_its_reason, 0, SPARED);
    tcase_add_loop_test(tcase, a_spared_target_does_not_spare_the_others, 0, SPARED + 1);
    tcase_add_test(tcase, a_near_miss_of_the_named_body_does_not_replace_a_hit);
    tcase_add_loop_test(tcase, a_volley_with_a_blast_refuses_its_spared_target, 0, SPARED - 1);
    tcase_add_loop_test(tcase, pellets_of_a_spared_target_follow_the_mode_of_its_check, 0, SPARED);
    tcase_add_loop_test(tcase, a_volley_on_a_spared_target_still_explodes, 0, SPARED);
    tcase_add_loop_test(tcase, a_volley_explodes_where_its_pellets_end, 0, 3);
    tcase_add_loop_test(tcase, a_volley_that_misses_explodes_where_its_pellets_end, 0, 2);
    tcase_add_test(tcase, a_volley_at_an_unseen_target_does_not_explode);
    tcase_add_test(tcase, a_volley_that_touches_nothing_explodes_at_its_first_end);
    tcase_add_test(tcase, a_volley_at_an_unknown_door_is_inconclusive);
    tcase_add_loop_test(tcase, a_blast_reaches_the_bodies_that_pellets_name, 0, 2);
    tcase_add_loop_test(tcase, pellets_that_name_the_shooter_hit_nobody, 0, 2);
    tcase_add_loop_test(tcase, all_direct_damage_is_compared_with_the_blast, 0, LARGEST);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
