/* Walls and movers in verdicts: results that depend on missing data, shooters who touch a wall,
   blasts. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/oracle/world_cases.h"
#include "tests/support/play/fixture.h"
#include "tests/support/run_suite.h"

static struct hs_world *world;

static void set_up(void)
{
    open_stage();
    world = NULL;
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        rules->checks[i] = HS_MODE_OFF;
    rules->checks[HS_CHECK_WORLD] = rules->checks[HS_CHECK_CONTACT] = HS_MODE_ENFORCE;
    rules->checks[HS_CHECK_BYSTANDER] = rules->checks[HS_CHECK_BLAST] = HS_MODE_ENFORCE;
}

static void tear_down(void)
{
    close_stage();
    hs_world_destroy(world);
}

static void build(struct hs_vec min, struct hs_vec max)
{
    struct hs_test_mesh mesh = {0};
    hs_test_mesh_box(&mesh, min, max);
    world = hs_world_create(&mesh.mesh, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    hs_match_set_world(match, world);
    hs_test_mesh_free(&mesh);
}

static void stand(const char *player, double x, double y)
{
    for (int ms = 0; ms <= 1000; ms += 50)
        hs_stage_place(match, HS_MS(ms), player, x, y, 0);
}

/* Posts a door in the newest frame only. */
static void post_late(struct hs_vec position, struct hs_vec half_extents)
{
    struct hs_mover_frame door = {.mover = HS_STR("door"),
                                  .fields = HS_MOVER_BOX,
                                  .position = position,
                                  .half_extents = half_extents};
    struct hs_frame frame = {.time_us = HS_MS(1000), .movers = &door, .mover_count = 1};
    enum hs_frame_result result;
    unsigned flags = 0;
    ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
    ck_assert_int_eq(result, HS_FRAME_STORED);
}

/* Posts a door across y from -0.5 to 0.5 in the newest frame only. */
static void post_late_door(double x)
{
    post_late((struct hs_vec){x, 0, 1.6}, (struct hs_vec){0.1, 0.5, 2});
}

static void expect(const struct hs_hit_claim *claim, enum hs_verdict verdict, enum hs_reason reason,
                   double damage)
{
    struct hs_hit_result *r = hs_stage_verify(match, claim, HS_MS(1000));
    ck_assert_msg(r->verdict == verdict && r->reason == reason, "%s, %s",
                  hs_verdict_name(r->verdict), hs_reason_name(r->reason));
    ck_assert_double_eq_tol(r->damage_total, damage, 1e-9);
    free(r);
}

/* One pellet hits the body, unless a closed door was there at that time. In the three rows the
   other pellet ends behind a wall, hits a body in between, or misses everything. */
START_TEST(a_pellet_that_may_hit_makes_the_claim_inconclusive)
{
    rules->weapons[HS_STAGE_RIFLE]->pellets = 2;
    stand("S", 0, 0);
    stand("T", 20, 0);
    stand("far", 20, 10);
    post_late_door(5);
    if (_i == 0)
        build((struct hs_vec){10, 4, 0}, (struct hs_vec){10.5, 6, 3});
    if (_i == 1)
        stand("between", 10, 5);
    struct hs_pellet_claim pellets[2] = {{.end = {20, 10, 1.6}, .target = HS_STR("far")},
                                         {.end = {20, 0, 1.6}}};
    if (_i == 2)
        pellets[0].end.z = 9;
    if (_i == 3)
        pellets[0] = pellets[1]; /* both pellets depend on the door */
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 20, 10, 1.6);
    claim.pellets = pellets;
    claim.pellet_count = 2;
    expect(&claim, HS_VERDICT_INCONCLUSIVE, HS_REASON_HISTORY_TOO_SHORT, 0);
    claim.pellet_count = 1;
    static const enum hs_reason alone[] = {HS_REASON_OCCLUDED_WORLD, HS_REASON_BLOCKED_BY_PLAYER,
                                           HS_REASON_NO_INTERSECTION};
    if (_i < 3)
        expect(&claim, HS_VERDICT_REJECTED, alone[_i], 0);
}
END_TEST

/* A body is certainly in front of the door, so the pellet is blocked, whether or not the door was
   there. */
START_TEST(a_pellet_blocked_before_a_door_is_blocked)
{
    rules->weapons[HS_STAGE_RIFLE]->pellets = 2;
    stand("S", 0, 0);
    stand("T", 20, 0);
    stand("between", 3, 0);
    post_late_door(5);
    struct hs_pellet_claim pellet = {.end = {20, 0, 1.6}};
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 20, 0, 1.6);
    claim.pellets = &pellet;
    claim.pellet_count = 1;
    expect(&claim, HS_VERDICT_REJECTED, HS_REASON_BLOCKED_BY_PLAYER, 0);
}
END_TEST

/* An arrow that explodes on contact ends at a door that was not posted at that time. */
START_TEST(a_contact_fuse_on_an_unknown_door_is_inconclusive)
{
    stand("S", 0, 0);
    build((struct hs_vec){50, 0, 0}, (struct hs_vec){51, 1, 1});
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 5, 0, 1.6);
    claim.target = (struct hs_str){0};
    claim.weapon = HS_STR("bow");
    claim.fuse = HS_FUSE_CONTACT;
    expect(&claim, HS_VERDICT_REJECTED, HS_REASON_IMPACT_NOT_ON_SURFACE, 0);
    post_late_door(5.1);
    expect(&claim, HS_VERDICT_INCONCLUSIVE, HS_REASON_HISTORY_TOO_SHORT, 0);
}
END_TEST

/* A shot pierces two bodies, with such a door between them. The body behind the door takes no
   damage, the body in front of it does. */
START_TEST(a_body_behind_an_unknown_door_takes_no_damage)
{
    rules->weapons[HS_STAGE_RIFLE]->pierce = 2;
    stand("S", 0, 0);
    stand("T", 5, 0);
    stand("behind", 10, 0);
    struct hs_str victim = HS_STR("behind");
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 20, 0, 1.6);
    claim.victims = &victim;
    claim.victim_count = 1;
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 80);
    post_late_door(7);
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 40);
    struct hs_hit_result *r = hs_stage_verify(match, &claim, HS_MS(1000));
    ck_assert_uint_eq(r->refused_count, 1);
    ck_assert_int_eq(r->refused[0].reason, HS_REASON_HISTORY_TOO_SHORT);
    free(r);
    rules->checks[HS_CHECK_WORLD] = HS_MODE_SHADOW;
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 80);
}
END_TEST

/* A knife with a radius of 0.30 moves along a wall that it touches, with bodies on both sides. The
   knife hits the body on the shooter's side. The knife does not hit the body behind the wall,
   although the wall is thinner than the knife. */
START_TEST(a_knife_that_touches_a_wall_does_not_reach_through_it)
{
    stand("S", 0, 0);
    stand("near", 1, -0.3);
    stand("T", 1, 0.6);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 1.4, 0.08, 1.1);
    claim.weapon = HS_STR("knife");
    claim.start = (struct hs_vec){0, 0.08, 1.1};
    rules->weapons[HS_STAGE_KNIFE]->world_radius = 0.15 * _i;
    rules->checks[HS_CHECK_BYSTANDER] = HS_MODE_OFF;
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 40);
    build((struct hs_vec){-5, 0.15, 0}, (struct hs_vec){5, 0.2, 3});
    expect(&claim, HS_VERDICT_REJECTED, HS_REASON_OCCLUDED_WORLD, 0);
    claim.target = HS_STR("near");
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 40);
    rules->checks[HS_CHECK_WORLD] = HS_MODE_OFF;
    claim.target = HS_STR("T");
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 40);
}
END_TEST

/* Builds a wall of 1 cm along the path from x = 2 to 18, 3 cm beside it. Wide spheres touch it. */
static void build_beside(void)
{
    build((struct hs_vec){2, 0.03, 0}, (struct hs_vec){18, 0.04, 3});
    rules->weapons[HS_STAGE_RIFLE]->radius = 0.1;
}

START_TEST(a_body_behind_a_wall_beside_the_path_does_not_block)
{
    struct hs_weapon *rifle = rules->weapons[HS_STAGE_RIFLE];
    stand("S", 0, 0);
    stand("T", 20, 0);
    stand("beside", 10, 0.35);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 20, 0, 1.1);
    rifle->radius = 0.1;
    expect(&claim, HS_VERDICT_REJECTED, HS_REASON_BLOCKED_BY_PLAYER, 0);
    build_beside();
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 20);
    rules->checks[HS_CHECK_WORLD] = HS_MODE_SHADOW;
    expect(&claim, HS_VERDICT_REJECTED, HS_REASON_BLOCKED_BY_PLAYER, 0);
    rules->checks[HS_CHECK_WORLD] = HS_MODE_ENFORCE;
    rifle->world_radius = 0.1;
    expect(&claim, HS_VERDICT_REJECTED, HS_REASON_OCCLUDED_WORLD, 0);
}
END_TEST

START_TEST(piercing_does_not_reach_through_a_wall_beside_the_path)
{
    rules->weapons[HS_STAGE_RIFLE]->pierce = 2;
    rules->weapons[HS_STAGE_RIFLE]->radius = 0.1;
    stand("S", 0, 0);
    stand("beside", 10, 0.35);
    stand("T", 20, 0);
    struct hs_str victim = HS_STR("beside");
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 20, 0, 1.1);
    claim.victims = &victim;
    claim.victim_count = 1;
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 40);
    build_beside();
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 20);
    struct hs_hit_result *r = hs_stage_verify(match, &claim, HS_MS(1000));
    ck_assert_uint_eq(r->refused_count, 1);
    ck_assert_int_eq(r->refused[0].reason, HS_REASON_OCCLUDED_WORLD);
    free(r);
}
END_TEST

/* The sphere touches the torso first at a point that the wall hides. The line of the path reaches
   the torso itself. */
START_TEST(a_hidden_limb_does_not_hide_the_body_on_the_path)
{
    stand("S", 0, 0);
    stand("T", 20, 0.2);
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 20, 0, 1.1);
    claim.start.z = 1.1;
    rules->weapons[HS_STAGE_RIFLE]->radius = 0.1;
    struct hs_hit_result *r = hs_stage_verify(match, &claim, HS_MS(1000));
    ck_assert_int_eq(r->reason, HS_REASON_OK);
    ck_assert_double_eq_tol(r->impact.distance, 20 - sqrt(0.4 * 0.4 - 0.2 * 0.2), 1e-5);
    free(r);
    build((struct hs_vec){2, 0.03, 0}, (struct hs_vec){19.75, 0.04, 3});
    r = hs_stage_verify(match, &claim, HS_MS(1000));
    ck_assert_int_eq(r->reason, HS_REASON_OK);
    ck_assert_double_eq_tol(r->impact.distance, 20 - sqrt(0.3 * 0.3 - 0.2 * 0.2), 1e-5);
    free(r);
    /* If only the sphere reaches the body, the wall decides. */
    stand("U", 20, 0.35);
    claim.target = HS_STR("U");
    rules->checks[HS_CHECK_BYSTANDER] = HS_MODE_OFF;
    hs_world_destroy(world);
    build((struct hs_vec){2, 0.03, 0}, (struct hs_vec){20.5, 0.04, 3});
    expect(&claim, HS_VERDICT_REJECTED, HS_REASON_OCCLUDED_WORLD, 0);
    hs_match_set_world(match, NULL);
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 20);
}
END_TEST

/* The distance from the claimed end within which the check of a contact fuse searches for a
   surface: the extension, plus `world_radius`. */
START_TEST(a_contact_fuse_uses_the_radius_against_the_world)
{
    struct hs_weapon *bow = rules->weapons[HS_STAGE_BOW];
    bow->radius = 0.1;
    bow->world_radius = _i == 0 ? 0 : 0.1;
    stand("S", 0, 0);
    double reach = rules->hit.sweep_extension + bow->world_radius;
    build((struct hs_vec){5 + reach - 0.01, -1, 0}, (struct hs_vec){6, 1, 3});
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 5, 0, 1.6);
    claim.target = (struct hs_str){0};
    claim.weapon = HS_STR("bow");
    claim.fuse = HS_FUSE_CONTACT;
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 0);
    claim.end.x -= 0.02;
    struct hs_hit_result *r = hs_stage_verify(match, &claim, HS_MS(1000));
    const struct hs_check_row *row = hs_stage_row(r, HS_CHECK_WORLD);
    ck_assert_int_eq(row->reason, HS_REASON_IMPACT_NOT_ON_SURFACE);
    ck_assert_double_eq_tol(row->measured, reach + 0.01, 1e-5);
    ck_assert_double_eq_tol(row->limit, reach, 1e-9);
    free(r);
}
END_TEST

/* An explosion on the floor reaches a player who stands on it, whether or not the world check is
   on. */
START_TEST(a_blast_on_the_floor_reaches_players_on_it)
{
    static const enum hs_mode modes[] = {HS_MODE_ENFORCE, HS_MODE_SHADOW, HS_MODE_OFF};
    struct hs_weapon *rocket = rules->weapons[HS_STAGE_BOW];
    rocket->has_blast = true;
    rocket->blast = (struct hs_blast){
        .radius = 3, .damage = 30, .inner_radius = 3, .min_scale = 1, .occlusion = true};
    rocket->radius = rocket->world_radius = _i % 2 == 0 ? 0.05 : 0;
    rules->checks[HS_CHECK_WORLD] = modes[_i / 2];
    stand("S", 0, 0);
    stand("T", 20, 0);
    build((struct hs_vec){-50, -50, -1}, (struct hs_vec){50, 50, 0});
    struct hs_str victim = HS_STR("T");
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 19, 0, 0);
    claim.weapon = HS_STR("bow");
    claim.target = (struct hs_str){0};
    claim.victims = &victim;
    claim.victim_count = 1;
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 30);
    /*
     * An explosion under the floor reaches nobody. If the world check is enforced, the path does
     * not get under the floor.
     */
    claim.start.z = claim.end.z = -0.5;
    if (_i / 2 != 0)
        expect(&claim, HS_VERDICT_REJECTED, HS_REASON_BLAST_OCCLUDED, 0);
}
END_TEST

/* A rocket strikes the wall at 490. At 900, when the claimed flight would end far behind the wall,
   T stands there. At the burst only U did. */
START_TEST(a_blast_reaches_those_who_were_there_at_the_burst)
{
    struct hs_weapon *rocket = rules->weapons[HS_STAGE_BOW];
    rocket->has_blast = true;
    rocket->blast = (struct hs_blast){
        .radius = 3, .damage = 30, .inner_radius = 3, .min_scale = 1, .occlusion = true};
    for (int ms = 0; ms <= 1000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_place(match, HS_MS(ms), "T", 14, ms < 700 ? 20 : 2, 0);
        hs_stage_place(match, HS_MS(ms), "U", 14, ms < 700 ? 2 : 20, 0);
    }
    build((struct hs_vec){15.65, -50, -1}, (struct hs_vec){16, 50, 5});
    struct hs_str victim = _i == 0 ? HS_STR("T") : HS_STR("U");
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 32, 0, 1.6);
    claim.has_fire_time = true;
    claim.fire_time_us = HS_MS(100);
    claim.weapon = HS_STR("bow");
    claim.target = (struct hs_str){0};
    claim.victims = &victim;
    claim.victim_count = 1;
    if (_i == 0)
        expect(&claim, HS_VERDICT_REJECTED, HS_REASON_OUTSIDE_BLAST, 0);
    else
        expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 30);
}
END_TEST

/* The game server posts a grenade that exploded on a slope of two triangles. V stands on the slope.
   Row: whether the triangles are wound the other way round. */
START_TEST(a_grenade_on_a_slope_reaches_players_on_it)
{
    static const struct hs_vec corners[4] = {
        {-50, -50, -5}, {50, -50, 5}, {50, 50, 5}, {-50, 50, -5}};
    static const uint32_t wound[2][2][3] = {{{0, 1, 2}, {0, 2, 3}}, {{0, 2, 1}, {0, 3, 2}}};
    struct hs_weapon *grenade = rules->weapons[HS_STAGE_BOW];
    grenade->motion = HS_MOTION_SERVER;
    grenade->has_blast = true;
    grenade->blast = (struct hs_blast){
        .radius = 3, .damage = 30, .inner_radius = 3, .min_scale = 1, .occlusion = true};
    struct hs_world_mesh mesh = {
        .vertices = corners, .vertex_count = 4, .triangles = wound[_i], .triangle_count = 2};
    world = hs_world_create(&mesh, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    hs_match_set_world(match, world);
    stand("S", 0, 0);
    for (int ms = 0; ms <= 1000; ms += 50)
        hs_stage_place(match, HS_MS(ms), "V", 25, 1.5, 2.5);
    struct hs_str victim = HS_STR("V");
    for (int i = 0; i < 40; i++) {
        double x = 24 + 0.027 * i;
        struct hs_hit_claim claim = hs_stage_claim(HS_MS(1000), x, 0.011 * i, x * 0.1);
        claim.weapon = HS_STR("bow");
        claim.target = (struct hs_str){0};
        claim.victims = &victim;
        claim.victim_count = 1;
        expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 30);
    }
}
END_TEST

/* Row: the claimed end and hit time of a rocket that explodes 0.5 s before `now`, the target far
   behind the explosion, and whether a body stops the rocket instead of the wall. The first row is
   the truth. */
static const struct {
    int hit_ms;
    double end;
    struct hs_str target;
    bool is_stopped_by_body;
} late[] = {{490, 15.6, {0}, false},
            {900, 32, {0}, false},
            {900, 32, {"D", 1}, false},
            {900, 32, {"D", 1}, true}};

/* The rewind limit applies to the explosion, even if the claimed flight continues behind it. */
START_TEST(an_old_blast_is_too_old_whatever_the_hit_time)
{
    struct hs_weapon *rocket = rules->weapons[HS_STAGE_BOW];
    rocket->has_blast = true;
    rocket->blast = (struct hs_blast){.radius = 3, .damage = 30, .inner_radius = 3, .min_scale = 1};
    rules->checks[HS_CHECK_REWIND] = HS_MODE_ENFORCE;
    stand("S", 0, 0);
    stand("V", 14, 2);
    stand("D", 32, 0);
    if (late[_i].is_stopped_by_body)
        stand("B", 15, 0);
    else
        build((struct hs_vec){15.65, -50, -1}, (struct hs_vec){16, 50, 5});
    struct hs_str victim = HS_STR("V");
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(late[_i].hit_ms), late[_i].end, 0, 1.6);
    claim.has_fire_time = true;
    claim.fire_time_us = HS_MS(100);
    claim.weapon = HS_STR("bow");
    claim.target = late[_i].target;
    claim.victims = &victim;
    claim.victim_count = 1;
    expect(&claim, HS_VERDICT_REJECTED, HS_REASON_REWIND_LIMIT, 0);
    rules->rewind.limit_us = HS_MS(600);
    expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 30);
}
END_TEST

/* A target within claim_padding is behind a wall. The shot explodes at the wall: it hurts U in
   front of the wall, and not V beside the target. */
START_TEST(a_shot_at_a_padded_target_behind_a_wall_explodes_at_the_wall)
{
    static const struct hs_str victims[2] = {{"U", 1}, {"V", 1}};
    struct hs_weapon *rifle = rules->weapons[HS_STAGE_RIFLE];
    rules->hit.claim_padding = 0.1;
    rifle->has_blast = true;
    rifle->blast = (struct hs_blast){.radius = 3, .inner_radius = 3, .damage = 30, .min_scale = 1};
    stand("S", 0, 0);
    stand("T", 20, 0.25);
    stand("U", 8, -1.5);
    stand("V", 20, -2);
    build((struct hs_vec){10, -50, -1}, (struct hs_vec){10.5, 50, 5});
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 30, 0, 1.6 + 0.05);
    claim.start.z = claim.end.z;
    claim.victims = victims;
    claim.victim_count = 2;
    struct hs_hit_result *r = hs_stage_verify(match, &claim, HS_MS(1000));
    ck_assert_str_eq(hs_reason_name(r->reason), "ok");
    ck_assert_double_eq_tol(r->impact.distance, 10, 0.1);
    ck_assert_uint_eq(r->damage_count, 1);
    ck_assert_str_eq(r->damage[0].player.text, "U");
    free(r);
}
END_TEST

/* A rocket strikes B on its way to T, who is near the end of the path, beside it, and behind a door
   that may be closed. The door does not matter, because the rocket never comes near T. */
START_TEST(a_body_before_a_padded_target_ends_the_shot)
{
    struct hs_weapon *rifle = rules->weapons[HS_STAGE_RIFLE];
    rules->hit.claim_padding = 3;
    rifle->has_blast = true;
    rifle->blast =
        (struct hs_blast){.radius = 12, .inner_radius = 12, .damage = 30, .min_scale = 1};
    stand("S", 0, 0);
    stand("B", 10, 0);
    stand("T", 20, 2.5);
    post_late((struct hs_vec){20, 1.2, 1.6}, (struct hs_vec){3, 0.1, 2});
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 22, 0, 1.6);
    struct hs_str victim = HS_STR("B");
    claim.victims = &victim;
    claim.victim_count = 1;
    struct hs_hit_result *r = hs_stage_verify(match, &claim, HS_MS(1000));
    ck_assert_str_eq(hs_reason_name(r->reason), "ok");
    ck_assert_str_eq(r->impact.player.text, "B");
    ck_assert_uint_eq(r->damage_count, 2); /* B and T are in the blast */
    free(r);
}
END_TEST

/* A door that may be closed is between the path and a padded target beside it. The claim is
   inconclusive, but the door does not hide B, who is on the path behind the target. */
START_TEST(a_door_beside_the_path_hides_no_body_on_it)
{
    static const struct hs_str victim = {"B", 1};
    rules->hit.claim_padding = 3;
    rules->weapons[HS_STAGE_RIFLE]->pierce = 1;
    stand("S", 0, 0);
    stand("T", 20, 2.5);
    stand("B", 28, 0);
    post_late((struct hs_vec){20, 1.2, 1.6}, (struct hs_vec){3, 0.1, 2});
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(900), 30, 0, 1.6);
    claim.victims = &victim;
    claim.victim_count = 1;
    struct hs_hit_result *r = hs_stage_verify(match, &claim, HS_MS(1000));
    ck_assert_int_eq(r->verdict, HS_VERDICT_INCONCLUSIVE);
    ck_assert_uint_eq(r->refused_count, 0);
    free(r);
}
END_TEST

/* A mover that changes its shape between two samples keeps the older shape until the newer
   sample. */
START_TEST(a_shape_is_of_the_older_sample)
{
    stand("S", 0, 0);
    stand("T", 20, 0);
    for (int ms = 0; ms <= 1000; ms += 50) {
        struct hs_mover_frame door = {.mover = HS_STR("door"),
                                      .fields = HS_MOVER_BOX,
                                      .position = {5, 0, 0},
                                      .half_extents = {0.5, 0.5, 2},
                                      .center = {0, ms < 900 ? 1.2 : -1.2, 1.6}};
        struct hs_frame frame = {.time_us = HS_MS(ms), .movers = &door, .mover_count = 1};
        enum hs_frame_result result;
        unsigned flags = 0;
        ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
    }
    /* If the shape changed gradually, it would cross the path at x = 5. */
    struct hs_hit_claim claim = hs_stage_claim(HS_MS(1265), 20, 0, 1.6);
    rules->rewind.future_slack_us = HS_MS(300);
    claim.weapon = HS_STR("bow");
    claim.has_fire_time = true;
    for (int ms = 740; ms <= 780; ms += 4) {
        claim.fire_time_us = HS_MS(ms);
        claim.hit_time_us = HS_MS(ms + 500);
        expect(&claim, HS_VERDICT_ACCEPTED, HS_REASON_OK, 100);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hit walls");
    TCase *tcase = tcase_create("hit walls");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_pellet_that_may_hit_makes_the_claim_inconclusive, 0, 4);
    tcase_add_test(tcase, a_pellet_blocked_before_a_door_is_blocked);
    tcase_add_test(tcase, a_contact_fuse_on_an_unknown_door_is_inconclusive);
    tcase_add_test(tcase, a_body_behind_an_unknown_door_takes_no_damage);
    tcase_add_loop_test(tcase, a_knife_that_touches_a_wall_does_not_reach_through_it, 0, 3);
    tcase_add_test(tcase, a_body_behind_a_wall_beside_the_path_does_not_block);
    tcase_add_test(tcase, piercing_does_not_reach_through_a_wall_beside_the_path);
    tcase_add_test(tcase, a_hidden_limb_does_not_hide_the_body_on_the_path);
    tcase_add_loop_test(tcase, a_contact_fuse_uses_the_radius_against_the_world, 0, 2);
    tcase_add_loop_test(tcase, a_blast_on_the_floor_reaches_players_on_it, 0, 6);
    tcase_add_loop_test(tcase, a_blast_reaches_those_who_were_there_at_the_burst, 0, 2);
    tcase_add_loop_test(tcase, a_grenade_on_a_slope_reaches_players_on_it, 0, 2);
    tcase_add_loop_test(tcase, an_old_blast_is_too_old_whatever_the_hit_time, 0, 4);
    tcase_add_test(tcase, a_shot_at_a_padded_target_behind_a_wall_explodes_at_the_wall);
    tcase_add_test(tcase, a_body_before_a_padded_target_ends_the_shot);
    tcase_add_test(tcase, a_door_beside_the_path_hides_no_body_on_it);
    tcase_add_test(tcase, a_shape_is_of_the_older_sample);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
