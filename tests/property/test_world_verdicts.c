/*
 * Verdicts of random fights with walls, compared with a caster that shares no code with the one
 * under test. The line of an accepted hit must be free, and the line of an occluded one must not.
 * Walls can only remove hits, and in shadow mode they change nothing. All finite inputs of maps and
 * movers give finite results.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/oracle/scene.h"
#include "tests/support/oracle/world_cases.h"
#include "tests/support/oracle/world_reference.h"
#include "tests/support/play/stage.h"
#include "tests/support/run_suite.h"
#include "validators/history/rewind.h"
#include "validators/match/players.h"

#define DEFAULT_SEED 20261123

enum { FIGHT_CASES = 3000, EXTREME_CASES = 6000 };

/* ---- fights ---- */

struct fight {
    struct hs_scene scene;
    struct hs_scene_stage stage;
    struct hs_test_mesh mesh;
    double radius, world_radius;
};

static void add_wall(struct fight *fight, struct hs_random *random)
{
    const struct hs_scene *scene = &fight->scene;
    struct hs_vec near = hs_vec_lerp(scene->start, scene->end, hs_random_between(random, -0.02, 1));
    double size = hs_random_log_between(random, 0.1, 4);
    uint32_t corner[3];
    near = hs_vec_add_scaled(near, hs_random_direction(random), hs_random_unit(random) * size);
    for (int i = 0; i < 3; i++) {
        struct hs_vec v = hs_vec_add_scaled(near, hs_random_direction(random), size);
        corner[i] = hs_test_mesh_vertex(&fight->mesh, v.x, v.y, v.z);
    }
    hs_test_mesh_triangle(&fight->mesh, corner[0], corner[1], corner[2]);
}

static const struct hs_scene_wishes calm = {.aligned = true, .turning = true, .instant = true};
static const struct hs_scene_wishes flying = {.aligned = true};

static void open_fight(struct hs_random *random, struct fight *fight)
{
    static const double radii[HS_SCENE_WEAPONS] = {0.05, 0, 0.05, 0.3};
    struct hs_scene_frame frame = hs_scene_as_it_is();
    memset(fight, 0, sizeof *fight);
    hs_scene_draw(random, hs_random_chance(random, 0.6) ? &calm : &flying, &fight->scene);
    fight->scene.priority = false;
    fight->radius = radii[fight->scene.weapon];
    hs_scene_open(&fight->scene, &frame, &fight->stage);
    struct hs_ruleset *rules = fight->stage.rules;
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        rules->checks[i] = HS_MODE_OFF;
    rules->checks[HS_CHECK_WORLD] = rules->checks[HS_CHECK_CONTACT] = HS_MODE_ENFORCE;
    rules->checks[HS_CHECK_BYSTANDER] = HS_MODE_ENFORCE;
    rules->hit.claim_padding = hs_random_chance(random, 0.5) ? 0.4 : 0;
    /* This includes shooters who touch a wall with more than a rifle's width. */
    if (hs_random_chance(random, 0.3))
        for (int i = 0; i < rules->weapon_count; i++)
            fight->radius = rules->weapons[i]->radius = 0.3;
    fight->world_radius = fight->radius * hs_random_index(random, 3) / 2;
    for (int i = 0; i < rules->weapon_count; i++)
        rules->weapons[i]->world_radius = fight->world_radius;
    int walls = hs_random_index(random, 3);
    for (int i = 0; i < walls; i++)
        add_wall(fight, random);
}

static void close_fight(struct fight *fight)
{
    hs_scene_close(&fight->stage);
    hs_test_mesh_free(&fight->mesh);
}

/* Verifies the claim with the present walls. */
static void verify(struct fight *fight, enum hs_mode mode, struct hs_hit_result *out)
{
    struct hs_world *world = hs_world_create(&fight->mesh.mesh, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    fight->stage.rules->checks[HS_CHECK_WORLD] = mode;
    hs_match_set_world(fight->stage.match, world);
    memset(out, 0xA5, sizeof *out);
    hs_hit_verify(fight->stage.match, &fight->stage.claim, fight->stage.now_us, out);
    hs_match_set_world(fight->stage.match, NULL);
    hs_world_destroy(world);
}

/* Returns whether a triangle cuts the segment, not close to the triangle's edges or the segment's
   ends. */
static bool is_cut(const struct hs_world_mesh *mesh, struct hs_vec from, struct hs_vec to)
{
    struct hs_vec d = hs_vec_sub(to, from);
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        const uint32_t *v = mesh->triangles[i];
        struct hs_vec a = mesh->vertices[v[0]], b = mesh->vertices[v[1]], c = mesh->vertices[v[2]];
        struct hs_vec ab = hs_vec_sub(b, a), ac = hs_vec_sub(c, a), p = hs_vec_cross(d, ac);
        double det = hs_vec_dot(ab, p);
        struct hs_vec s = hs_vec_sub(from, a), q = hs_vec_cross(s, ab);
        double u = hs_vec_dot(s, p) / det, w = hs_vec_dot(d, q) / det, t = hs_vec_dot(ac, q) / det;
        if (fmin(fmin(u, w), fmin(1 - u - w, fmin(t, 1 - t))) > 1e-3)
            return true;
    }
    return false;
}

/* What the reference sweeps: the sphere of the world radius, or a ray if the shooter touches a
   wall. */
struct line {
    struct hs_sweep sweep;
    double start_gap;
    bool by_ray;
    bool is_thin; /* thinner than the sphere for bodies */
};

static struct line line_of(const struct fight *fight, double length)
{
    const struct hs_scene *scene = &fight->scene;
    struct hs_vec along = hs_vec_sub(scene->end, scene->start);
    struct line line = {.sweep = {.start = scene->start,
                                  .direction = hs_vec_scale(along, 1 / hs_vec_length(along)),
                                  .length = length,
                                  .radius = fight->world_radius}};
    line.start_gap =
        fight->mesh.mesh.triangle_count == 0
            ? HUGE_VAL
            : hs_reference_mesh_distance(&fight->mesh.mesh, scene->start, 10) - fight->world_radius;
    line.by_ray = line.start_gap < 0 && fight->world_radius > 0;
    if (line.by_ray)
        line.sweep.radius = 0;
    line.is_thin = line.sweep.radius < fight->radius;
    return line;
}

static void rewound_target(const struct fight *fight, struct hs_body *out)
{
    struct hs_bracket bracket;
    const struct hs_match *match = fight->stage.match;
    const struct hs_player *player = hs_players_find(&match->players, fight->stage.claim.target);
    ck_assert_int_eq(hs_rewind_find(player->history, fight->stage.rules,
                                    fight->stage.claim.hit_time_us, &bracket),
                     HS_REWIND_OK);
    hs_rewind_body(player->history, fight->stage.rules, &bracket, out);
}

/* Returns the point of the rewound body nearest to `from`. The function follows the slope of the
   distance to find the point. */
static struct hs_vec nearest_point(const struct fight *fight, struct hs_vec from)
{
    const double h = 1e-5;
    struct hs_body body;
    rewound_target(fight, &body);
    double least = HUGE_VAL;
    struct hs_vec point = from;
    for (int i = 0; i < body.count; i++) {
        const struct hs_solid *s = &body.solids[i];
        double gap = hs_solid_distance(s, from);
        if (gap >= least)
            continue;
        least = gap;
        double x = hs_solid_distance(s, (struct hs_vec){from.x + h, from.y, from.z}) -
                   hs_solid_distance(s, (struct hs_vec){from.x - h, from.y, from.z});
        double y = hs_solid_distance(s, (struct hs_vec){from.x, from.y + h, from.z}) -
                   hs_solid_distance(s, (struct hs_vec){from.x, from.y - h, from.z});
        double z = hs_solid_distance(s, (struct hs_vec){from.x, from.y, from.z + h}) -
                   hs_solid_distance(s, (struct hs_vec){from.x, from.y, from.z - h});
        struct hs_vec slope = {x, y, z};
        double length = hs_vec_length(slope);
        point = length > 0 ? hs_vec_add_scaled(from, slope, -gap / length) : from;
    }
    return point;
}

static const char *judge_accepted(const struct fight *fight, const struct hs_hit_result *r)
{
    bool lenient = r->reason == HS_REASON_OK_LENIENT;
    double reached = r->damage_count > 0 ? r->damage[0].distance : 0;
    struct line line = line_of(fight, fmax(reached - 1e-3, 0));
    const struct hs_world_mesh *mesh = &fight->mesh.mesh;
    struct hs_vec center = hs_vec_add_scaled(line.sweep.start, line.sweep.direction, reached);
    if (line.sweep.radius == 0) {
        if (is_cut(mesh, line.sweep.start, center))
            return "the ray was cut";
    } else if (line.start_gap > 1e-3 && hs_reference_judge(mesh, &line.sweep, false, 0) != NULL) {
        return "the sphere was stopped";
    }
    bool instant = fight->scene.weapon <= HS_SCENE_RAY;
    if ((lenient || line.is_thin) && instant) {
        struct hs_vec point = lenient ? nearest_point(fight, center) : r->impact.point;
        if (is_cut(mesh, center, hs_vec_lerp(center, point, 0.98)))
            return lenient ? "a wall stood beside the path" : "the sphere reached through a wall";
    }
    return NULL;
}

static const struct hs_check_row *world_row(const struct hs_hit_result *r)
{
    return hs_stage_row(r, HS_CHECK_WORLD);
}

/* Returns whether the ray along the claimed line certainly reaches the target before anything in
   the world. */
static bool is_in_line(const struct fight *fight, double whole)
{
    enum { STEPS = 2000 };
    struct hs_body body;
    struct line line = line_of(fight, whole);
    rewound_target(fight, &body);
    for (int k = 0; k <= STEPS; k++) {
        double travelled = whole * k / STEPS, nearest = HUGE_VAL;
        struct hs_vec at = hs_vec_add_scaled(line.sweep.start, line.sweep.direction, travelled);
        for (int i = 0; i < body.count; i++)
            nearest = fmin(nearest, hs_solid_distance(&body.solids[i], at));
        if (nearest > 0)
            continue;
        line.sweep.length = travelled;
        line.sweep.radius = 0;
        return hs_reference_judge(&fight->mesh.mesh, &line.sweep, false, 0) == NULL;
    }
    return false;
}

/*
 * An obstacle that hides a body beside the path must be within the sphere that would touch the
 * body.
 */
static const char *judge_hidden(const struct fight *fight, const struct hs_hit_result *r,
                                double whole)
{
    struct line line = line_of(fight, whole);
    struct hs_vec from = hs_vec_sub(r->impact.point, line.sweep.start);
    double along = hs_vec_dot(from, line.sweep.direction);
    double off = hs_vec_length(hs_vec_add_scaled(from, line.sweep.direction, -along));
    if (fight->world_radius == 0 && is_in_line(fight, whole))
        return "a ray along the line reaches the target";
    if (off > fight->radius + 1e-6)
        return "the wall is further from the path than the radius of the sphere";
    return hs_reference_mesh_distance(&fight->mesh.mesh, r->impact.point, 10) > 1e-3
               ? "no wall is there"
               : NULL;
}

/* Accepts only an obstacle on the path itself, or one that hides a body that the thinner sphere
   does not reach. */
static const char *judge_occluded(const struct fight *fight, const struct hs_hit_result *r)
{
    const struct hs_check_row *row = world_row(r);
    double whole = hs_vec_distance(fight->scene.start, fight->scene.end) +
                   fight->stage.rules->hit.sweep_extension;
    struct line line = line_of(fight, whole);
    if (line.by_ray || line.start_gap < 1e-3 || fight->stage.rules->hit.claim_padding > 0)
        return NULL;
    if (!(row->measured < row->limit))
        return "the wall stands behind the target";
    bool instant = fight->scene.weapon <= HS_SCENE_RAY;
    if (line.is_thin && r->impact.present && r->impact.player.text[0] == 0 &&
        fabs(r->impact.distance - row->measured) < 1e-9 &&
        hs_reference_judge(&fight->mesh.mesh, &line.sweep, true, row->measured) != NULL)
        return instant ? judge_hidden(fight, r, whole) : NULL;
    return hs_reference_judge(&fight->mesh.mesh, &line.sweep, true, row->measured);
}

START_TEST(accepted_claims_have_a_free_line_and_occluded_ones_do_not)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 1);
    long cases = hs_test_count("HS_FIGHT_CASES", FIGHT_CASES);
    long accepted = 0, lenient = 0, occluded = 0, by_ray = 0, thin = 0;
    static struct hs_hit_result r;
    static struct fight fight;
    for (long i = 0; i < cases; i++) {
        open_fight(&random, &fight);
        verify(&fight, HS_MODE_ENFORCE, &r);
        const char *wrong = NULL;
        if (r.verdict == HS_VERDICT_ACCEPTED && r.damage_count > 0) {
            wrong = judge_accepted(&fight, &r);
            accepted++;
            lenient += r.reason == HS_REASON_OK_LENIENT;
            by_ray += line_of(&fight, 0).by_ray;
            thin += line_of(&fight, 0).is_thin;
        } else if (r.reason == HS_REASON_OCCLUDED_WORLD) {
            wrong = judge_occluded(&fight, &r);
            occluded++;
        }
        ck_assert_msg(wrong == NULL, "case %ld (%s): %s", i, hs_reason_name(r.reason), wrong);
        close_fight(&fight);
    }
    printf("%ld fights: %ld accepted (%ld lenient, %ld leaning, %ld thin), %ld occluded\n", cases,
           accepted, lenient, by_ray, thin, occluded);
    ck_assert(cases < 1000 || (accepted > cases / 10 && lenient > 0 && by_ray > 0 &&
                               thin > cases / 20 && occluded > cases / 20));
}
END_TEST

/* Two touches may be closer together than the slack. So the answers may have different contacts,
   whose damage differs slightly by the falloff. */
static bool is_same(const struct hs_hit_result *a, const struct hs_hit_result *b)
{
    return a->reason == b->reason && fabs(a->damage_total - b->damage_total) < 1e-4;
}

START_TEST(walls_never_add_hits)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 2);
    long cases = hs_test_count("HS_FIGHT_CASES", FIGHT_CASES), lost = 0, in_shadow = 0;
    static struct hs_hit_result open, before, after, shadow;
    static struct fight fight;
    for (long i = 0; i < cases; i++) {
        open_fight(&random, &fight);
        verify(&fight, HS_MODE_OFF, &open);
        verify(&fight, HS_MODE_ENFORCE, &before);
        add_wall(&fight, &random);
        verify(&fight, HS_MODE_ENFORCE, &after);
        verify(&fight, HS_MODE_SHADOW, &shadow);
        ck_assert_int_ne(open.reason, HS_REASON_OCCLUDED_WORLD);
        /* A shooter who touches the new wall shoots a ray instead, which may pass where the sphere
           did not pass. A wall may also stop the path before the body that was hit, and then the
           padding decides again. */
        bool leans = line_of(&fight, 0).start_gap < 1e-3, accepted = after.reason == HS_REASON_OK;
        /* A new wall may hide the body beside the path that blocked the shot, or the limb that the
           sphere touched first. */
        bool is_thin = line_of(&fight, 0).is_thin;
        leans = leans || (is_thin && before.reason == HS_REASON_BLOCKED_BY_PLAYER);
        ck_assert_msg(leans || !accepted || before.verdict == HS_VERDICT_ACCEPTED,
                      "case %ld: %s, but accepted with one more wall", i,
                      hs_reason_name(before.reason));
        accepted = accepted && !leans;
        ck_assert_msg(!accepted || is_thin || (is_same(&open, &after) && is_same(&before, &after)),
                      "case %ld: %s without walls, %s with walls, but a hit with one more wall", i,
                      hs_reason_name(open.reason), hs_reason_name(before.reason));
        ck_assert_msg(shadow.verdict == open.verdict && shadow.reason == open.reason &&
                          shadow.damage_total == open.damage_total,
                      "case %ld: walls in shadow: %s, none: %s", i, hs_reason_name(shadow.reason),
                      hs_reason_name(open.reason));
        lost += before.verdict == HS_VERDICT_ACCEPTED && after.verdict == HS_VERDICT_REJECTED;
        in_shadow += shadow.would_reject_count > 0;
        close_fight(&fight);
    }
    printf("%ld walls: %ld took a hit away, %ld would have\n", cases, lost, in_shadow);
    ck_assert(cases < 1000 || (lost > cases / 50 && in_shadow > cases / 50));
}
END_TEST

/* ---- extremes ---- */

static double any(struct hs_random *random, double most)
{
    double sign = hs_random_chance(random, 0.5) ? 1 : -1;
    switch (hs_random_index(random, 6)) {
    case 0:
        return 0;
    case 1:
        return sign * most;
    case 2:
        return sign * 5e-324;
    case 3:
        return sign * hs_random_log_between(random, 1e-9, most);
    default:
        return hs_random_between(random, -3, 3);
    }
}

static struct hs_vec any_vec(struct hs_random *random, double most)
{
    return (struct hs_vec){any(random, most), any(random, most), any(random, most)};
}

static struct hs_vec any_size(struct hs_random *random, double most)
{
    struct hs_vec v = any_vec(random, most);
    return (struct hs_vec){fabs(v.x), fabs(v.y), fabs(v.z)};
}

static int64_t any_time(struct hs_random *random)
{
    static const int64_t ends[] = {INT64_C(-9000000000000000), INT64_C(9000000000000000), 0};
    return hs_random_chance(random, 0.1) ? ends[hs_random_index(random, 3)]
                                         : HS_MS(hs_random_index(random, 1100));
}

static struct hs_world *any_world(struct hs_random *random)
{
    struct hs_test_mesh mesh = {0};
    for (int i = 0; i < 6; i++) {
        struct hs_vec v = any_vec(random, 1e12);
        hs_test_mesh_vertex(&mesh, v.x, v.y, v.z);
    }
    hs_test_mesh_triangle(&mesh, 0, 1, 2);
    hs_test_mesh_triangle(&mesh, 3, 4, 5);
    for (int i = 0; i < 3; i++) {
        struct hs_vec min = any_vec(random, 5e11);
        hs_test_mesh_box(&mesh, min, hs_vec_add(min, any_size(random, 4e11)));
    }
    struct hs_world *world = hs_world_create(&mesh.mesh, NULL, NULL);
    ck_assert_ptr_nonnull(world);
    hs_test_mesh_free(&mesh);
    return world;
}

static void post_any(struct hs_random *random, struct hs_match *match)
{
    static const double turns[][4] = {{0, 0, 0, 1}, {0.5, 0.5, 0.5, -0.5}, {0, 0.6, 0, 0.8}};
    for (int ms = 0; ms <= 1000; ms += 50) {
        struct hs_player_frame players[2] = {hs_stage_entry("S", 0, 0, 0),
                                             hs_stage_entry("T", 20, 0, 0)};
        struct hs_mover_frame movers[2];
        enum hs_frame_result results[4];
        unsigned flags = 0;
        players[1].position = any_vec(random, hs_random_chance(random, 0.1) ? 1e12 : 20);
        for (int i = 0; i < 2; i++) {
            movers[i] =
                (struct hs_mover_frame){.mover = i == 0 ? HS_STR("a") : HS_STR("b"),
                                        .fields = HS_MOVER_ROTATION | HS_MOVER_BOX | HS_MOVER_SOLID,
                                        .position = any_vec(random, 1e12),
                                        .half_extents = any_size(random, 1e12),
                                        .center = any_vec(random, 1e12),
                                        .is_solid = hs_random_chance(random, 0.9),
                                        .teleported = hs_random_chance(random, 0.5)};
            memcpy(movers[i].rotation, turns[hs_random_index(random, 3)], sizeof turns[0]);
        }
        struct hs_frame frame = {.time_us = HS_MS(ms),
                                 .players = players,
                                 .player_count = 2,
                                 .movers = movers,
                                 .mover_count = (size_t)hs_random_index(random, 3)};
        ck_assert(hs_match_post_frame(match, &frame, results, &flags));
    }
}

static struct hs_ruleset *any_rules(struct hs_random *random)
{
    struct hs_ruleset *rules = hs_stage_ruleset();
    rules->history.world_bound = 1e12;
    rules->history.max_speed = 1e9;
    rules->hit.claim_padding = hs_random_chance(random, 0.5) ? 1e6 : 0;
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        rules->checks[i] = (enum hs_mode)hs_random_index(random, HS_MODE_COUNT);
    for (int i = 0; i < rules->weapon_count; i++) {
        struct hs_weapon *w = rules->weapons[i];
        w->radius = fabs(any(random, 1e6));
        w->world_radius = w->radius * hs_random_index(random, 3) / 2;
        w->has_world_radius = true;
        w->range = fabs(any(random, 1e12));
        w->gravity = i == HS_STAGE_BOW ? fabs(any(random, 1e12)) : 0;
        w->has_blast = hs_random_chance(random, 0.5);
        w->blast = (struct hs_blast){.radius = hs_random_log_between(random, 1e-6, 1e9),
                                     .damage = 10,
                                     .min_scale = 0.5,
                                     .occlusion = hs_random_chance(random, 0.7)};
    }
    hs_ruleset_finish(rules);
    return rules;
}

static void expect_number(double x, const char *what, long i)
{
    ck_assert_msg(!isnan(x), "case %ld: %s is not a number", i, what);
}

static void expect_numbers(const struct hs_hit_result *r, long i)
{
    const struct hs_impact *m = &r->impact;
    const double all[] = {m->point.x,  m->point.y,  m->point.z,  m->normal.x, m->normal.y,
                          m->normal.z, m->center.x, m->center.y, m->center.z, m->distance};
    for (size_t k = 0; m->present && k < sizeof all / sizeof all[0]; k++)
        expect_number(all[k], "of the impact something", i);
    expect_number(r->damage_total, "the damage", i);
    expect_number(r->has_margin ? r->margin : 0, "the margin", i);
    for (int k = 0; k < r->check_count; k++) {
        expect_number(r->checks[k].measured, "a measure", i);
        expect_number(r->checks[k].limit, "a limit", i);
    }
    for (int k = 0; k < r->damage_count; k++) {
        expect_number(r->damage[k].amount, "an amount", i);
        expect_number(r->damage[k].distance, "a distance", i);
    }
    for (int k = 0; k < r->refused_count; k++)
        expect_number(r->refused[k].measured, "a refusal", i);
    for (int k = 0; k < r->pellet_count; k++)
        expect_number(r->pellets[k].amount, "a pellet", i);
}

START_TEST(every_verdict_has_finite_numbers)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), 3);
    long cases = hs_test_count("HS_EXTREME_CASES", EXTREME_CASES), occluded = 0, impacts = 0;
    static const char *const weapons[] = {"rifle", "knife", "bow"};
    static struct hs_hit_result r;
    struct hs_ruleset *rules = NULL;
    struct hs_match *match = NULL;
    struct hs_world *world = NULL;
    for (long i = 0; i < cases; i++) {
        if (i % 20 == 0) {
            hs_match_destroy(match);
            hs_world_destroy(world);
            hs_ruleset_destroy(rules);
            rules = any_rules(&random);
            match = hs_stage_match(rules);
            world = any_world(&random);
            post_any(&random, match);
            hs_match_set_world(match, world);
        }
        double most = hs_random_chance(&random, 0.3) ? 1e150 : 1e12;
        struct hs_hit_claim claim = hs_stage_claim(any_time(&random), 20, 0, 0);
        const struct hs_str victims[] = {HS_STR("T"), HS_STR("nobody")};
        claim.start = any_vec(&random, most);
        claim.end = hs_random_chance(&random, 0.1) ? claim.start : any_vec(&random, most);
        struct hs_pellet_claim pellets[2] = {{.end = claim.end}, {.end = any_vec(&random, most)}};
        claim.weapon = hs_stage_str(weapons[hs_random_index(&random, 3)]);
        claim.fuse = (enum hs_fuse)hs_random_index(&random, 4);
        if (hs_random_chance(&random, 0.4))
            claim.target = (struct hs_str){0};
        claim.has_fire_time = hs_random_chance(&random, 0.5);
        claim.fire_time_us = any_time(&random);
        claim.victims = victims;
        claim.victim_count = (size_t)hs_random_index(&random, 3);
        claim.pellets = pellets;
        claim.pellet_count =
            hs_str_equal(claim.weapon, HS_STR("rifle")) ? (size_t)hs_random_index(&random, 3) : 0;
        memset(&r, 0xA5, sizeof r);
        hs_hit_verify(match, &claim, any_time(&random), &r);
        expect_numbers(&r, i);
        impacts += r.impact.present;
        for (int k = 0; k < r.check_count; k++)
            occluded += r.checks[k].reason == HS_REASON_OCCLUDED_WORLD;
    }
    hs_match_destroy(match);
    hs_world_destroy(world);
    hs_ruleset_destroy(rules);
    printf("extremes: %ld cases, %ld with an impact, %ld occluded\n", cases, impacts, occluded);
    ck_assert(cases < 1000 || (impacts > cases / 20 && occluded > 0));
}
END_TEST

int main(void)
{
    printf("world verdicts: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(DEFAULT_SEED));
    Suite *suite = suite_create("world verdicts");
    TCase *tcase = tcase_create("world verdicts");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, accepted_claims_have_a_free_line_and_occluded_ones_do_not);
    tcase_add_test(tcase, walls_never_add_hits);
    tcase_add_test(tcase, every_verdict_has_finite_numbers);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
