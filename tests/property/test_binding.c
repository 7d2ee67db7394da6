/* Claims at some angle to the posted direction and to the aim. This file computes the angles
   separately: with the C library, and for projectiles by trying every flight time. A claim that is
   inside or outside its limit by a margin never gets the wrong result. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/play/stage.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/shot.h"

#define DEFAULT_SEED 20261123
#define DEGREES      (180 / 3.14159265358979323846)

/* In degrees. Cases that are closer to their limit are left out. */
#define MARGIN        0.002
#define FLIGHT_MARGIN 0.03

enum { CASES = 4000, PELLETS = 8, STEPS = 20000 };

static struct hs_ruleset *rules;
static struct hs_match *match;
static struct hs_hit_result result;
static struct hs_random rng;
static uint64_t number;
static long inside, outside;

static void set_up(void)
{
    rules = hs_stage_ruleset();
    match = NULL;
    number = 0;
    inside = outside = 0;
}

static void tear_down(void)
{
    hs_match_destroy(match);
    hs_ruleset_destroy(rules);
}

/* ---- the oracle ---- */

static double angle(struct hs_vec a, struct hs_vec b)
{
    return DEGREES * atan2(hs_vec_length(hs_vec_cross(a, b)), hs_vec_dot(a, b));
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The algorithm of docs/spread.md, step by step. */
static struct hs_vec pellet_of(struct hs_vec n, double spread_deg, uint64_t seed, uint64_t index)
{
    uint64_t state = mix(seed) + mix(index + 1);
    double u[2];
    for (int i = 0; i < 2; i++) {
        state += UINT64_C(0x9e3779b97f4a7c15);
        u[i] = ldexp((double)(mix(state) >> 11), -53);
    }
    double off = tan(spread_deg / DEGREES) * sqrt(u[0]), turn = 360 / DEGREES * u[1];
    double sign = signbit(n.z) ? -1 : 1, a = -1 / (sign + n.z), b = n.x * n.y * a;
    struct hs_vec b1 = {1 + sign * n.x * n.x * a, sign * b, -sign * n.x};
    struct hs_vec b2 = {b, sign + n.y * n.y * a, -n.y};
    struct hs_vec v = hs_vec_add_scaled(n, b1, off * cos(turn));
    v = hs_vec_add_scaled(v, b2, off * sin(turn));
    return hs_vec_scale(v, 1 / hs_vec_length(v));
}

/* Returns the smallest angle between `posted` and any launch from the origin that reaches `to` at a
   speed within 2 % of `speed`. Flight times are tried on a grid. Returns 180 if no launch reaches
   it. */
static double nearest_launch(struct hs_vec to, struct hs_vec posted, double speed, double gravity)
{
    double direct = hs_vec_length(to) / speed, nearest = 180;
    double longest = fmax(3 * direct, gravity > 0 ? 3 * speed / gravity : 0);
    for (int i = 0; i <= STEPS; i++) {
        double t = 0.3 * direct * pow(longest / (0.3 * direct), (double)i / STEPS);
        struct hs_vec launch = hs_vec_scale(to, 1 / t);
        launch.z += gravity * t / 2;
        double needed = hs_vec_length(launch);
        if (needed >= 0.98 * speed && needed <= 1.02 * speed)
            nearest = fmin(nearest, angle(launch, posted));
    }
    return nearest;
}

/* ---- one case ---- */

static double between(double low, double high)
{
    return hs_random_between(&rng, low, high);
}

/* Returns a unit vector at that angle from `from`. */
static struct hs_vec beside(struct hs_vec from, double degrees)
{
    struct hs_vec side = hs_vec_cross(from, hs_random_direction(&rng));
    side = hs_vec_scale(side, 1 / hs_vec_length(side));
    struct hs_vec out = hs_vec_scale(from, cos(degrees / DEGREES));
    return hs_vec_add_scaled(out, side, sin(degrees / DEGREES));
}

/* Returns an angle on either side of a limit. */
static double off_limit(double limit)
{
    return limit * (hs_random_chance(&rng, 0.5) ? between(0, 1) : between(1, 2.5));
}

/* S stands at the origin. If `aim` is NULL, the frames contain no aim of S. */
static void begin(const struct hs_vec *aim, enum hs_weapon_type type, int64_t pellets)
{
    struct hs_weapon *weapon = rules->weapons[HS_STAGE_RIFLE];
    hs_match_destroy(match);
    match = hs_stage_match(rules);
    for (int ms = 900; ms <= 1000; ms += 50) {
        struct hs_player_frame s = hs_stage_entry("S", 0, 0, -1.6); /* the eye is at the origin */
        s.fields = aim != NULL ? HS_FIELD_AIM : 0;
        for (int i = 0; aim != NULL && i < 3; i++)
            s.aim[i] = i == 0 ? aim->x : i == 1 ? aim->y : aim->z;
        ck_assert_int_eq(hs_stage_post(match, HS_MS(ms), &s, NULL), HS_FRAME_STORED);
    }
    weapon->type = type;
    weapon->pellets = pellets;
    weapon->spread_deg = hs_random_chance(&rng, 0.3) ? 0 : between(0.2, 12);
    weapon->speed = between(15, 80);
    weapon->gravity = hs_random_chance(&rng, 0.3) ? 0 : between(1, 15);
    weapon->max_flight_us = HS_MS(100000);
    rules->hit.binding_tolerance_deg = between(0.2, 3);
    rules->hit.sweep_extension = hs_random_chance(&rng, 0.5) ? 0 : between(0, 0.3);
    number++;
}

static void post(struct hs_shot_claim shot)
{
    int64_t forward_us;
    shot.shot = number;
    shot.shooter = HS_STR("S");
    shot.weapon = HS_STR("rifle");
    shot.time_us = HS_MS(950);
    hs_shot_verify(match, &shot, HS_MS(1000), &result, &forward_us);
    ck_assert(hs_shot_record(match, &shot, &result, HS_STR("{}")));
}

static struct hs_hit_claim claim_to(struct hs_vec end)
{
    return (struct hs_hit_claim){.shot = number,
                                 .shooter = HS_STR("S"),
                                 .weapon = HS_STR("rifle"),
                                 .hit_time_us = HS_MS(1000),
                                 .has_fire_time = true,
                                 .fire_time_us = HS_MS(950),
                                 .end = end};
}

/* Expects the result of the check for a claim whose worst angle is `off`. */
static void expect(const struct hs_hit_claim *claim, enum hs_check check, enum hs_reason reason,
                   double off, double limit, double margin)
{
    if (fabs(off - limit) < margin)
        return;
    hs_hit_verify(match, claim, HS_MS(1000), &result);
    const struct hs_check_row *row = hs_stage_row(&result, check);
    ck_assert_msg(row != NULL, "case %llu: no row", (unsigned long long)number);
    enum hs_reason wanted = off <= limit ? HS_REASON_OK : reason;
    ck_assert_msg(row->reason == wanted,
                  "case %llu: %.6f degrees, limit %.6f, but measured %.6f, limit %.6f",
                  (unsigned long long)number, off, limit, row->measured, row->limit);
    *(off <= limit ? &inside : &outside) += 1;
}

static void expect_bound(const struct hs_hit_claim *claim, double off, double limit, double margin,
                         double length)
{
    double rounding = DEGREES * 0.1 * rules->hit.sweep_extension / length;
    expect(claim, HS_CHECK_BINDING, HS_REASON_DIRECTION_MISMATCH, off, fmax(limit, rounding),
           margin);
}

/* ---- bullets ---- */

static void bullet_case(void)
{
    struct hs_vec to[PELLETS], middle = hs_random_direction(&rng);
    int count = 1, pellets = hs_random_chance(&rng, 0.5) ? 1 : PELLETS;
    int kind = hs_random_index(&rng, 3);
    begin(NULL, HS_WEAPON_HITSCAN, pellets);
    double spread = rules->weapons[HS_STAGE_RIFLE]->spread_deg;
    double limit = kind == 0 ? rules->hit.binding_tolerance_deg + spread : 0.1;
    struct hs_shot_claim shot = {.direction = middle, .has_direction = kind < 2};
    to[0] = middle;
    if (kind == 1) {
        shot.has_seed = true;
        shot.seed = hs_random_bits(&rng) >> 11;
        for (count = 0; count < pellets; count++)
            to[count] = pellet_of(middle, spread, shot.seed, (uint64_t)count);
    } else if (kind == 2) {
        for (count = 0; count < 1 + (int)(number % PELLETS); count++)
            to[count] = beside(middle, between(0, 10));
        shot.directions = to;
        shot.direction_count = (size_t)count;
    }
    post(shot);
    struct hs_vec along = beside(to[hs_random_index(&rng, count)], off_limit(limit));
    double length = hs_random_log_between(&rng, 0.05, 100), off = 180;
    for (int i = 0; i < count; i++)
        off = fmin(off, angle(to[i], along));
    struct hs_hit_claim claim = claim_to(hs_vec_scale(along, length));
    expect_bound(&claim, off, limit, MARGIN, length);
}

/* ---- pellets ---- */

static void set_pellets(struct hs_hit_claim *claim, const struct hs_vec *along, size_t count)
{
    static struct hs_pellet_claim pellets[PELLETS];
    memset(pellets, 0, sizeof pellets);
    for (size_t i = 0; i < count; i++)
        pellets[i].end = hs_vec_scale(along[i], 5);
    claim->pellets = pellets;
    claim->pellet_count = count;
    claim->end = pellets[0].end;
}

/* Claims all pellets of a seed in another order, with one pellet off its direction. */
static void seed_case(void)
{
    struct hs_vec middle = hs_random_direction(&rng), to[PELLETS], along[PELLETS];
    begin(NULL, HS_WEAPON_HITSCAN, PELLETS);
    double spread = rules->weapons[HS_STAGE_RIFLE]->spread_deg, off = 180;
    uint64_t seed = hs_random_bits(&rng) >> 11;
    post((struct hs_shot_claim){
        .direction = middle, .has_direction = true, .has_seed = true, .seed = seed});
    int other = hs_random_index(&rng, PELLETS);
    for (int i = 0; i < PELLETS; i++)
        along[(i + other) % PELLETS] = to[i] = pellet_of(middle, spread, seed, (uint64_t)i);
    along[other] = beside(along[other], off_limit(0.1));
    for (int i = 0; i < PELLETS; i++)
        off = fmin(off, angle(to[i], along[other]));
    /* The pellet may match the direction of a neighbour that is free. Then the expected result is
       unclear, and the case is left out. */
    if (spread < 2 || fabs(off - angle(to[0], along[other])) > 1e-12)
        return;
    struct hs_hit_claim claim = claim_to((struct hs_vec){0});
    set_pellets(&claim, along, PELLETS);
    expect(&claim, HS_CHECK_PELLETS, HS_REASON_SPREAD_MISMATCH, off, 0.1, MARGIN);
}

/* Claims pellets around a posted direction. If no shot is posted, claims pellets around an aim,
   within one cone of spread. */
static void pellets_case(void)
{
    struct hs_vec middle = hs_random_direction(&rng), along[PELLETS];
    bool is_posted = hs_random_chance(&rng, 0.5), has_aim = hs_random_chance(&rng, 0.5);
    begin(has_aim ? &middle : NULL, HS_WEAPON_HITSCAN, PELLETS);
    double spread = rules->weapons[HS_STAGE_RIFLE]->spread_deg, off = 0, apart = 0;
    size_t count = 1 + (size_t)hs_random_index(&rng, PELLETS);
    double widest = off_limit(spread + 2);
    if (is_posted)
        post((struct hs_shot_claim){.direction = middle, .has_direction = true});
    for (size_t i = 0; i < count; i++) {
        along[i] = beside(middle, widest * sqrt(between(0, 1)));
        off = fmax(off, angle(along[i], middle));
        for (size_t k = 0; k < i; k++)
            apart = fmax(apart, angle(along[i], along[k]));
    }
    struct hs_hit_claim claim = claim_to((struct hs_vec){0});
    set_pellets(&claim, along, count);
    expect(&claim, HS_CHECK_PELLETS, HS_REASON_SPREAD_MISMATCH, apart, 2 * spread + 0.2, MARGIN);
    if (is_posted)
        expect_bound(&claim, off, spread + rules->hit.binding_tolerance_deg, MARGIN, 5);
    if (has_aim)
        expect(&claim, HS_CHECK_AIM, HS_REASON_AIM_MISMATCH, off, spread + 5, MARGIN);
    else
        ck_assert(is_posted || (result.flags & 1u << HS_FLAG_AIM_UNKNOWN) != 0 ||
                  fabs(apart - 2 * spread - 0.2) < MARGIN);
}

/* ---- projectiles ---- */

/* Claims a projectile with or without a shot. The claim has a velocity, an end, or both, which may
   contradict each other. */
static void projectile_case(void)
{
    struct hs_vec posted = hs_random_direction(&rng);
    int kind = hs_random_index(&rng, 4); /* 0: end, 1: velocity, 2: both, 3: both without a shot */
    begin(NULL, HS_WEAPON_PROJECTILE, 1);
    const struct hs_weapon *weapon = rules->weapons[HS_STAGE_RIFLE];
    double limit = rules->hit.binding_tolerance_deg + (kind < 3 ? weapon->spread_deg : 0);
    double t = between(0.02, 1.5), off;
    struct hs_vec launch = beside(posted, off_limit(limit));
    struct hs_vec velocity = kind == 1 ? launch : beside(posted, off_limit(limit));
    velocity = hs_vec_scale(velocity, weapon->speed * between(0.985, 1.015));
    struct hs_vec end = hs_vec_scale(kind == 1 ? velocity : hs_vec_scale(launch, weapon->speed), t);
    end.z -= weapon->gravity * t * t / 2;
    struct hs_hit_claim claim = claim_to(end);
    claim.fire_time_us = HS_MS(950);
    claim.hit_time_us = claim.fire_time_us + (int64_t)(t * 1e6 + 0.5);
    claim.velocity = velocity;
    claim.has_velocity = kind > 0;
    claim.has_no_end = kind == 1;
    if (kind == 3)
        posted = velocity; /* without a posted shot, the velocity must lead to the end */
    else
        post((struct hs_shot_claim){.direction = posted, .has_direction = true});
    off = nearest_launch(end, posted, weapon->speed, weapon->gravity);
    if (kind == 1 || kind == 2)
        off = fmax(off, angle(velocity, posted));
    if (hs_vec_length(end) > 0.1 && off < 180)
        expect_bound(&claim, off, limit, FLIGHT_MARGIN, hs_vec_length(end));
}

START_TEST(no_claim_is_decided_wrongly)
{
    static void (*const cases[])(void) = {bullet_case, seed_case, pellets_case, projectile_case};
    uint64_t seed = hs_test_seed(DEFAULT_SEED);
    long count = hs_test_count("HS_PROPERTY_CASES", CASES);
    if (_i == 3)
        count = (count + 3) / 4; /* the oracle is slow */
    for (long i = 0; i < count; i++) {
        rng = hs_random_start(seed, (uint64_t)i * 4 + (uint64_t)_i);
        cases[_i]();
    }
    printf("kind %d, seed %llu: %ld inside, %ld outside\n", _i, (unsigned long long)seed, inside,
           outside);
    ck_assert(count < CASES / 4 || (inside > count / 20 && outside > count / 20));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("binding");
    TCase *tcase = tcase_create("binding");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, no_claim_is_decided_wrongly, 0, 4);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
