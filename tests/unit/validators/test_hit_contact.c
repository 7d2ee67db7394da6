/* The contacts of a path: which body and hitbox is touched first, which bodies block, and how near
   a miss was. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/play/fixture.h"
#include "tests/support/play/verdicts.h"
#include "tests/support/run_suite.h"

static struct hs_hit_result *judge(const struct hs_hit_claim *claim)
{
    return hs_stage_judge(match, claim, NOW);
}

static void expect_impact(const struct hs_hit_result *r, const char *player, const char *zone,
                          double distance)
{
    ck_assert(r->impact.present);
    ck_assert_str_eq(r->impact.player.text, player);
    ck_assert_str_eq(r->impact.zone.text, zone);
    ck_assert_double_eq_tol(r->impact.distance, distance, 1e-6);
}

static void place(const char *player, double x, double y)
{
    hs_stage_place(match, NOW, player, x, y, 0);
}

static void place_dead(const char *player, double x, double y)
{
    struct hs_player_frame entry = hs_stage_entry(player, x, y, 0);
    entry.event = HS_EVENT_DEATH;
    ck_assert_int_eq(hs_stage_post(match, NOW, &entry, NULL), HS_FRAME_STORED);
}

static struct hs_hit_claim level_shot(void)
{
    return hs_stage_claim(NOW, 20, 0, 1.6);
}

/* ---- where it touches ---- */

START_TEST(the_impact_has_centre_point_and_normal)
{
    place("S", 0, 0);
    place("T", 20, 0);
    struct hs_hit_claim claim = level_shot();
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    expect_impact(r, "T", "head", 19.8);
    ck_assert_double_eq_tol(r->impact.center.x, 19.8, 1e-6);
    ck_assert_double_eq_tol(r->impact.point.x, 19.85, 1e-6);
    ck_assert_double_eq_tol(r->impact.normal.x, -1, 1e-6);
    ck_assert_double_eq_tol(r->impact.point.z, 1.6, 1e-6);
    ck_assert(!r->has_margin);
    const struct hs_check_row *row = hs_stage_row(r, HS_CHECK_CONTACT);
    ck_assert_str_eq(row->player.text, "T");
    ck_assert_double_eq(row->measured, 0);
}
END_TEST

START_TEST(the_extension_reaches_a_little_beyond_the_end)
{
    place("S", 0, 0);
    place("T", 20, 0);
    struct hs_hit_claim claim = level_shot();
    claim.end.x = 19.7 + 1e-4; /* the path is extended by 0.1 */
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    claim.end.x = 19.7 - 1e-4;
    hs_expect_reason(judge(&claim), HS_REASON_NO_INTERSECTION);
    ck_assert_double_eq_tol(judge(&claim)->margin, 1e-4, 1e-6);
}
END_TEST

START_TEST(a_start_inside_touches_at_once)
{
    place("S", 0, 0);
    place("T", 0.2, 0);
    rules->hit.origin_tolerance = 0.5;
    struct hs_hit_claim claim = hs_stage_claim(NOW, 5, 0, 1.2);
    claim.start = (struct hs_vec){0.2, 0, 1.2};
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    expect_impact(r, "T", "torso", 0);
}
END_TEST

START_TEST(a_path_never_meets_its_shooter)
{
    place("S", 0, 0);
    place("T", 20, 0);
    struct hs_hit_claim claim = level_shot(); /* the path starts in the shooter's own head */
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    claim.target.ptr = NULL;
    claim.end = (struct hs_vec){0, 5, 1.6};
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK); /* the claim names no target, and no body is touched */
    ck_assert(!r->impact.present);
    ck_assert_double_eq(r->damage_total, 0);
}
END_TEST

START_TEST(a_claim_without_target_names_the_touched_body)
{
    place("S", 0, 0);
    place("T", 20, 0);
    struct hs_hit_claim claim = level_shot();
    claim.target.ptr = NULL;
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    expect_impact(r, "T", "head", 19.8);
    ck_assert_double_eq(r->damage_total, 0);
}
END_TEST

/* ---- zones of one body ---- */

/* One row goes down through the head into the torso, the other goes up through the torso into the
   head. */
START_TEST(the_first_zone_along_the_path_counts)
{
    place("S", 0, 0);
    place("T", 0, 0.2); /* S aims past their own feet; bodies may overlap */
    rules->hit.origin_tolerance = 10;
    struct hs_hit_claim claim = hs_stage_claim(NOW, 0, 0.2, _i == 0 ? 0 : 3);
    claim.start = (struct hs_vec){0, 0.2, _i == 0 ? 3 : 0};
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    expect_impact(r, "T", _i == 0 ? "head" : "torso", _i == 0 ? 3 - 1.8 : 0.9 - 0.35);
    ck_assert_double_eq(r->damage_total, _i == 0 ? 40 : 20);
}
END_TEST

START_TEST(zones_with_priority_win_on_their_own_body)
{
    rules->hit.zone_priority[0] = HS_STAGE_HEAD;
    rules->hit.zone_priority_count = 1;
    rules->hit.origin_tolerance = 10;
    place("S", 9, 0);
    place("T", 0, 0);
    struct hs_hit_claim claim = hs_stage_claim(NOW, 0, 0, 3);
    claim.start = (struct hs_vec){0, 0, 0};
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    expect_impact(r, "T", "head", 1.4);
    ck_assert_double_eq(r->damage_total, 40);
    /* The body that is touched first counts, whatever its zone. */
    place("B", 0, 0.34); /* B's torso begins behind T's torso, and in front of T's head */
    claim.start = (struct hs_vec){0, 0, 0};
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    /* A path that ends before the head touches only the torso. */
    claim.end.z = 1.2;
    expect_impact(judge(&claim), "T", "torso", 0.55);
}
END_TEST

/* The path of a slow projectile is cut into parts. The places of the cuts must not matter. */
START_TEST(priority_holds_along_a_projectiles_whole_path)
{
    rules->hit.zone_priority[0] = HS_STAGE_HEAD;
    rules->hit.zone_priority_count = 1;
    rules->hit.origin_tolerance = 10;
    rules->hit.sweep_extension = 0;
    static const double speeds[] = {6, 20, 40, 1000};
    rules->weapons[HS_STAGE_BOW]->speed = speeds[_i];
    for (int ms = 400; ms <= 1000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 9, 0, 0);
        hs_stage_place(match, HS_MS(ms), "T", 0, 0, 0);
    }
    struct hs_hit_claim claim = hs_stage_claim(NOW, 0, 0, 3);
    claim.start = (struct hs_vec){0, 0, 0};
    claim.weapon = HS_STR("bow");
    rules->rewind.limit_us = NOW; /* at 6 m/s, the torso is touched long before the end */
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    expect_impact(r, "T", "head", 1.4);
}
END_TEST

/* A path starts inside two hitboxes of one body. The hitbox with the nearer centre counts, not the
   first one in the rig. */
START_TEST(of_two_zones_touched_at_the_start_the_nearer_centre_counts)
{
    rules->hit.origin_tolerance = 10;
    rules->rigs[0]->hitboxes[HS_STAGE_TORSO].center.x = 0.1;
    hs_ruleset_finish(rules);
    place("S", 9, 0);
    struct hs_player_frame crouching = hs_stage_entry("T", 0, 0, 0); /* the head is at 1.1, too */
    crouching.stance = HS_STR("crouch");
    ck_assert_int_eq(hs_stage_post(match, NOW, &crouching, NULL), HS_FRAME_STORED);
    struct hs_hit_claim claim = hs_stage_claim(NOW, 5, 0, 1.1);
    claim.start = (struct hs_vec){_i == 0 ? 0.1 : 0, 0, 1.1};
    expect_impact(judge(&claim), "T", _i == 0 ? "torso" : "head", 0);
}
END_TEST

/* ---- bystanders ---- */

START_TEST(a_player_who_blocks_is_named)
{
    place("S", 0, 0);
    place("T", 20, 0);
    place("C", 15, 0);
    place("B", 10, 0);
    place("D", 10, 5);
    struct hs_hit_claim claim = level_shot();
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_BLOCKED_BY_PLAYER);
    expect_impact(r, "B", "head", 9.8);
    const struct hs_check_row *row = hs_stage_row(r, HS_CHECK_BYSTANDER);
    ck_assert_str_eq(row->player.text, "B");
    ck_assert_double_eq_tol(row->measured, 9.8, 1e-6);
    ck_assert_double_eq_tol(row->limit, 19.8, 1e-6);
    ck_assert_int_eq(hs_stage_row(r, HS_CHECK_CONTACT)->outcome, HS_OUTCOME_PASS);
    ck_assert_double_eq(r->damage_total, 0);
}
END_TEST

START_TEST(a_player_behind_the_target_does_not_block)
{
    place("S", 0, 0);
    place("T", 20, 0);
    place("B", 21, 0);
    struct hs_hit_claim claim = level_shot();
    claim.end.x = 30;
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    expect_impact(judge(&claim), "T", "head", 19.8);
}
END_TEST

START_TEST(the_dead_do_not_block)
{
    place("S", 0, 0);
    place("T", 20, 0);
    place_dead("B", 10, 0);
    struct hs_hit_claim claim = level_shot();
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    place("C", 15, 0);
    hs_expect_reason(judge(&claim), HS_REASON_BLOCKED_BY_PLAYER);
    expect_impact(judge(&claim), "C", "head", 14.8);
}
END_TEST

START_TEST(those_who_left_do_not_block)
{
    place("S", 0, 0);
    place("T", 20, 0);
    place("B", 10, 0);
    struct hs_player_frame leave = hs_stage_entry("B", 0, 0, 0);
    leave.event = HS_EVENT_LEAVE;
    hs_stage_post(match, HS_MS(1010), &leave, NULL);
    struct hs_hit_claim claim = level_shot();
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_uint_eq(r->rewind.ignored_count, 0);
}
END_TEST

START_TEST(a_path_that_touches_only_another_body_misses)
{
    place("S", 0, 0);
    place("T", 20, 3);
    place("U", 12, 0);
    struct hs_hit_claim claim = level_shot();
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_WRONG_TARGET);
    ck_assert_str_eq(hs_stage_row(r, HS_CHECK_CONTACT)->player.text, "U");
    expect_impact(r, "U", "head", 11.8);
    ck_assert(r->has_margin);
    ck_assert_double_gt(r->margin, 2.5);
    ck_assert_ptr_null(hs_stage_row(r, HS_CHECK_BYSTANDER));
}
END_TEST

START_TEST(bystanders_are_rewound)
{
    for (int ms = 800; ms <= 1000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_place(match, HS_MS(ms), "T", 20, 0, 0);
        hs_stage_place(match, HS_MS(ms), "Gone", 10, 0.02 * (ms - 875), 0);
        hs_stage_place(match, HS_MS(ms), "Came", 12, 0.02 * (1000 - ms), 0);
    }
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(875), 20, 0, 1.6);
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_BLOCKED_BY_PLAYER);
    expect_impact(r, "Gone", "head", 9.8);
    claim.hit_time_us = NOW;
    r = judge(&claim);
    hs_expect_reason(r, HS_REASON_BLOCKED_BY_PLAYER);
    expect_impact(r, "Came", "head", 11.8);
    claim.hit_time_us = HS_MS(925);
    hs_expect_reason(judge(&claim), HS_REASON_OK);
}
END_TEST

START_TEST(bystanders_without_a_pose_are_ignored_and_listed)
{
    for (int ms = 800; ms <= 1000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_place(match, HS_MS(ms), "T", 20, 0, 0);
    }
    char name[8];
    for (int i = 0; i < HS_MAX_IGNORED + 4; i++) {
        snprintf(name, sizeof name, "N%d", i);
        place(name, 10, 0);
    }
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 20, 0, 1.6);
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_uint_eq(r->rewind.ignored_count, HS_MAX_IGNORED);
    ck_assert_str_eq(r->rewind.ignored[0].text, "N0");
    ck_assert_str_eq(r->rewind.ignored[15].text, "N15");
}
END_TEST

START_TEST(with_bystander_in_shadow_a_bystander_does_not_block)
{
    rules->checks[HS_CHECK_BYSTANDER] = _i == 0 ? HS_MODE_SHADOW : HS_MODE_OFF;
    place("S", 0, 0);
    place("T", 20, 0);
    place("B", 10, 0);
    struct hs_hit_claim claim = level_shot();
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_double_eq(r->damage_total, 40);
    ck_assert_str_eq(r->damage[0].player.text, "T");
    ck_assert_uint_eq(r->would_reject_count, _i == 0 ? 1 : 0);
}
END_TEST

/* Two bodies are touched at the same distance. The one with the nearer hitbox centre counts. */
START_TEST(ties_go_to_the_nearer_centre)
{
    place("S", 0, 0);
    place("T", 0.1, 0);
    place("B", -0.1, 0.05);
    struct hs_hit_claim claim = level_shot(); /* the path starts inside both heads */
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    claim.start.y = 0.1; /* the start is nearer to B's head */
    claim.start.x = -0.05;
    hs_expect_reason(judge(&claim), HS_REASON_BLOCKED_BY_PLAYER);
}
END_TEST

/* ---- padding ---- */

START_TEST(padding_needs_a_free_line)
{
    rules->hit.claim_padding = 0.1;
    place("S", 0, 0);
    place("T", 20, 0.25); /* the shot misses the head by 0.05; the torso is below the path */
    struct hs_hit_claim claim = hs_stage_claim(NOW, 20, 0, 1.6 + 0.05);
    claim.start.z = claim.end.z;
    hs_expect_reason(judge(&claim), HS_REASON_OK_LENIENT);
    place("B", 25, 0); /* behind T */
    claim.end.x = 30;
    hs_expect_reason(judge(&claim), HS_REASON_OK_LENIENT);
    place("C", 10, 0); /* before T */
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_WRONG_TARGET);
    ck_assert_str_eq(hs_stage_row(r, HS_CHECK_CONTACT)->player.text, "C");
    ck_assert_double_lt(r->margin, 0.1);
}
END_TEST

/* A shot that misses the head of T by 0.05, and claims B and C too. The torso is below the path. */
static struct hs_hit_claim padded_shot(void)
{
    static const struct hs_str victims[2] = {{"B", 1}, {"C", 1}};
    struct hs_hit_claim claim = hs_stage_claim(NOW, 30, 0, 1.6 + 0.05);
    rules->hit.claim_padding = 0.1;
    place("S", 0, 0);
    place("T", 20, 0.25);
    claim.start.z = claim.end.z;
    claim.victims = victims;
    claim.victim_count = 2;
    return claim;
}

/* A target that is hit although the path misses it counts as one of the pierced bodies. */
START_TEST(a_target_within_the_padding_is_a_pierced_body)
{
    rules->weapons[HS_STAGE_RIFLE]->pierce = 1 + _i;
    const struct hs_hit_claim claim = padded_shot();
    place("B", 25, 0);
    place("C", 28, 0);
    const struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK_LENIENT);
    ck_assert_uint_eq(r->damage_count, _i == 0 ? 2 : 3);
    ck_assert_uint_eq(r->refused_count, _i == 0 ? 1 : 0);
    if (_i == 0)
        ck_assert_int_eq(r->refused[0].reason, HS_REASON_BLOCKED_BY_PLAYER);
}
END_TEST

/* A projectile explodes at a target that is hit because of the padding, not at the claimed end
   behind it. B is near the target, C near the end. */
START_TEST(a_shot_explodes_at_a_target_within_the_padding)
{
    struct hs_weapon *rifle = rules->weapons[HS_STAGE_RIFLE];
    rifle->has_blast = true;
    rifle->blast = (struct hs_blast){.radius = 3, .inner_radius = 3, .damage = 30};
    const struct hs_hit_claim claim = padded_shot();
    place("B", 20, -2);
    place("C", 30, -2);
    const struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK_LENIENT);
    ck_assert(!hs_result_has_flag(r, HS_FLAG_UNVERIFIED_IMPACT));
    expect_impact(r, "T", "head", 20);
    ck_assert_double_eq_tol(r->impact.normal.y, -1, 0.05);
    ck_assert_uint_eq(r->refused_count, 1);
    ck_assert_str_eq(r->refused[0].player.text, "C");
    ck_assert_double_eq(r->damage_total, 70);
}
END_TEST

/* With hit.resolve `touched`, a shot that pierces hits bodies that the claim does not name. Bodies
   that it names and that are not hit are refused. Only C is behind too many bodies; D is beside. */
START_TEST(named_bodies_that_a_shot_does_not_pierce_are_refused)
{
    static const struct hs_str listed[4] = {{"D", 1}, {"C", 1}, {"B", 1}, {"absent", 6}};
    static const enum hs_reason reasons[3] = {
        HS_REASON_NO_INTERSECTION, HS_REASON_BLOCKED_BY_PLAYER, HS_REASON_UNKNOWN_TARGET_HISTORY};
    rules->hit.resolve = HS_RESOLVE_TOUCHED;
    rules->weapons[HS_STAGE_RIFLE]->pierce = 1;
    place("S", 0, 0);
    place("T", 10, 0);
    place("B", 12, 0);
    place("C", 14, 0);
    place("D", 12, 5);
    struct hs_hit_claim claim = level_shot();
    claim.target = (struct hs_str){0};
    claim.victims = listed;
    claim.victim_count = 4;
    const struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_uint_eq(r->damage_count, 2);
    ck_assert_uint_eq(r->refused_count, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(r->refused[i].reason, reasons[i]);
}
END_TEST

/* ---- bones ---- */

static void post_bones(int64_t time_us, bool root, bool head)
{
    struct hs_player_frame entry = hs_stage_entry("T", 20, 0, 0);
    struct hs_posted_bone bones[2] = {
        {.present = root, .position = {20, 0, 0}, .rotation = {0, 0, 0, 1}},
        {.present = head, .position = {20, 0, 1.6}, .rotation = {0, 0, 0, 1}},
    };
    entry.fields = HS_FIELD_BONES;
    entry.bones = bones;
    entry.bone_count = 2;
    ck_assert_int_eq(hs_stage_post(match, time_us, &entry, NULL), HS_FRAME_STORED);
}

START_TEST(missing_bones_are_left_out_and_reported)
{
    hs_stage_place(match, HS_MS(900), "S", 0, 0, 0);
    place("S", 0, 0);
    post_bones(HS_MS(900), true, true);
    post_bones(HS_MS(1000), true, false);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(950), 20, 0, 1.1);
    struct hs_hit_result *r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_str_eq(r->impact.zone.text, "torso");
    ck_assert_uint_eq(r->rewind.excluded_bone_count, 1);
    ck_assert_str_eq(r->rewind.excluded_bones[0].text, "head");
    claim = hs_stage_claim(HS_MS(950), 20, 0, 1.7);
    claim.start.z = 1.7;
    hs_expect_reason(judge(&claim), HS_REASON_NO_INTERSECTION);
    claim.hit_time_us = HS_MS(900); /* at the time of the sample itself the bone exists */
    hs_expect_reason(judge(&claim), HS_REASON_OK);
    ck_assert_uint_eq(judge(&claim)->rewind.excluded_bone_count, 0);
}
END_TEST

/* No bone is known in both samples, so nothing shows that the shot missed the body. Missing data
   does not prove cheating. */
START_TEST(a_body_without_any_bone_then_is_inconclusive)
{
    hs_stage_place(match, HS_MS(900), "S", 0, 0, 0);
    place("S", 0, 0);
    post_bones(HS_MS(900), true, false);
    post_bones(HS_MS(1000), false, true);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(950), 20, 0, 1.1);
    struct hs_hit_result *r = judge(&claim);
    ck_assert_str_eq(hs_verdict_name(r->verdict), "inconclusive");
    ck_assert(!r->has_margin || r->margin < 1e6);
    ck_assert_uint_eq(r->rewind.excluded_bone_count, 2);
    /* If contact is in shadow, missing data is not paid either. */
    rules->checks[HS_CHECK_CONTACT] = HS_MODE_SHADOW;
    r = judge(&claim);
    hs_expect_reason(r, HS_REASON_OK);
    ck_assert_uint_eq(r->would_reject_count, 1);
    ck_assert_double_eq(r->damage_total, 0);
}
END_TEST

/* The shooter stands exactly between two others. Rounding is different at every place, and must not
   decide which of the two is in the way. */
START_TEST(bodies_equally_near_do_not_hide_each_other)
{
    static const char *const names[] = {"S", "B", "T"};
    static const double beside[] = {0, -0.1, 0.1};
    for (int i = 0; i < 300; i++) {
        double x = 0.1 * i, y = 7 - 0.37 * i;
        int64_t time_us = HS_MS(1000 + i);
        for (int p = 0; p < 3; p++)
            hs_stage_place(match, time_us, names[p], x, y + beside[p], 0);
        struct hs_hit_claim claim = hs_stage_claim(time_us, x + 20, y, 1.6);
        claim.start = (struct hs_vec){x, y, 1.6};
        struct hs_hit_result *r = hs_stage_verify(match, &claim, time_us);
        hs_expect_reason(r, HS_REASON_OK);
        free(r);
    }
}
END_TEST

static TCase *cases_of_bodies(void)
{
    TCase *tcase = tcase_create("bodies");
    tcase_add_test(tcase, the_impact_has_centre_point_and_normal);
    tcase_add_test(tcase, the_extension_reaches_a_little_beyond_the_end);
    tcase_add_test(tcase, a_start_inside_touches_at_once);
    tcase_add_test(tcase, a_path_never_meets_its_shooter);
    tcase_add_test(tcase, a_claim_without_target_names_the_touched_body);
    tcase_add_loop_test(tcase, the_first_zone_along_the_path_counts, 0, 2);
    tcase_add_loop_test(tcase, of_two_zones_touched_at_the_start_the_nearer_centre_counts, 0, 2);
    tcase_add_test(tcase, zones_with_priority_win_on_their_own_body);
    tcase_add_loop_test(tcase, priority_holds_along_a_projectiles_whole_path, 0, 4);
    tcase_add_test(tcase, a_player_who_blocks_is_named);
    tcase_add_test(tcase, a_player_behind_the_target_does_not_block);
    tcase_add_test(tcase, bodies_equally_near_do_not_hide_each_other);
    tcase_add_test(tcase, the_dead_do_not_block);
    tcase_add_test(tcase, those_who_left_do_not_block);
    tcase_add_test(tcase, a_path_that_touches_only_another_body_misses);
    tcase_add_test(tcase, bystanders_are_rewound);
    tcase_add_test(tcase, bystanders_without_a_pose_are_ignored_and_listed);
    tcase_add_loop_test(tcase, with_bystander_in_shadow_a_bystander_does_not_block, 0, 2);
    tcase_add_test(tcase, ties_go_to_the_nearer_centre);
    tcase_add_test(tcase, padding_needs_a_free_line);
    tcase_add_loop_test(tcase, a_target_within_the_padding_is_a_pierced_body, 0, 2);
    tcase_add_test(tcase, a_shot_explodes_at_a_target_within_the_padding);
    tcase_add_test(tcase, named_bodies_that_a_shot_does_not_pierce_are_refused);
    tcase_add_test(tcase, missing_bones_are_left_out_and_reported);
    tcase_add_test(tcase, a_body_without_any_bone_then_is_inconclusive);
    return tcase;
}

int main(void)
{
    Suite *suite = suite_create("hit contact");
    TCase *tcase = cases_of_bodies();
    tcase_add_checked_fixture(tcase, open_stage, close_stage);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
