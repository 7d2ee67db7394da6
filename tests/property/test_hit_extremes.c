/* All finite inputs give finite results: never NaN, and infinity only if the claim's own distances
   overflow. Coordinates go from 1e-300 to 1e300. Scalars of the ruleset are at the ends of their
   ranges, times are very far apart, and poses are of every kind. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/play/stage.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#define DEFAULT_SEED  20250306
#define DEFAULT_CASES 4000

/* Squares of numbers below this do not overflow. */
#define HOLDABLE 1e150

/* Returns a value of any size up to `most`, or a special value that often breaks code. */
static double any(struct hs_random *random, double most)
{
    double sign = hs_random_chance(random, 0.5) ? 1 : -1;
    switch (hs_random_index(random, 8)) {
    case 0:
        return 0;
    case 1:
        return sign * most;
    case 2:
        return sign * hs_random_log_between(random, 1e-300, 1e-100);
    case 3:
        return sign * 5e-324;
    case 4:
        return sign * hs_random_log_between(random, 1e-9, most > 1 ? most : 1);
    default:
        return hs_random_between(random, -fmin(most, 30), fmin(most, 30));
    }
}

static struct hs_vec any_vec(struct hs_random *random, double most)
{
    return (struct hs_vec){any(random, most), any(random, most), any(random, most)};
}

/* Sets each scalar to an end of its range, to its default, or to a value in between. */
static void spread_scalars(struct hs_random *random, const struct hs_scalar *table, size_t count,
                           void *base)
{
    for (size_t i = 0; i < count; i++) {
        double low = table[i].low, high = table[i].high;
        if (hs_random_chance(random, 0.5))
            continue;
        double value = hs_random_chance(random, 0.3) ? low
                       : hs_random_chance(random, 0.3)
                           ? high
                           : hs_random_log_between(random, fmax(low, 1e-6), high);
        hs_scalar_set(&table[i], base, value);
    }
}

static struct hs_ruleset *any_ruleset(struct hs_random *random)
{
    struct hs_ruleset *rules = hs_stage_ruleset();
    spread_scalars(random, hs_ruleset_scalars, hs_ruleset_scalar_count, rules);
    rules->history.world_bound = hs_random_chance(random, 0.7) ? 1e12 : 1e5;
    if (rules->rewind.limit_us > rules->history.keep_us)
        rules->rewind.limit_us = rules->history.keep_us;
    if (rules->moves.lead_block_us > rules->moves.lead_window_us)
        rules->moves.lead_block_us = rules->moves.lead_window_us;
    for (int w = 0; w < rules->weapon_count; w++) {
        spread_scalars(random, hs_weapon_scalars, hs_weapon_scalar_count, rules->weapons[w]);
        rules->weapons[w]->speed = fmax(rules->weapons[w]->speed, w == HS_STAGE_BOW ? 1e-9 : 0);
        rules->weapons[w]->world_radius =
            fmin(rules->weapons[w]->world_radius, rules->weapons[w]->radius);
        if (w == HS_STAGE_BOW)
            rules->weapons[w]->pellets = 1;
        rules->weapons[w]->falloff_count = (uint16_t)hs_random_index(random, 3);
        rules->weapons[w]->falloff[0] = (struct hs_falloff_point){0, 1};
        rules->weapons[w]->falloff[1] = (struct hs_falloff_point){5e-324, 0.5};
    }
    for (int i = 0; i < 2; i++) {
        struct hs_hitbox *box = &rules->rigs[0]->hitboxes[i];
        if (!hs_random_chance(random, 0.3))
            continue;
        box->shape = (enum hs_shape)hs_random_index(random, HS_SHAPE_COUNT);
        box->axis_aligned = hs_random_chance(random, 0.3);
        box->radius = hs_random_log_between(random, 1e-12, 1e6);
        box->half_length = any(random, 1e6) > 0 ? 1e-12 : 0;
        box->half_extents = (struct hs_vec){hs_random_log_between(random, 1e-12, 1e6), 1, 1e-300};
        box->center = any_vec(random, 1e3);
    }
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        rules->checks[i] = (enum hs_mode)hs_random_index(random, HS_MODE_COUNT);
    rules->hit.zone_priority_count = (uint16_t)hs_random_index(random, 2);
    hs_ruleset_finish(rules);
    ck_assert_uint_eq(hs_ruleset_validate(rules, NULL, NULL), 0);
    return rules;
}

static void any_rotation(struct hs_random *random, double out[4])
{
    static const double rotations[][4] = {
        {0, 0, 0, 1},           {0, 0, 0, -1},         {1, 0, 0, 0},     {0, 0.6, 0, 0.8},
        {0, 0, 1e-200, 1.0009}, {0.5, 0.5, 0.5, -0.5}, {0, 0, 0, 0.9991}};
    memcpy(out, rotations[hs_random_index(random, 7)], 4 * sizeof out[0]);
}

static void any_entry(struct hs_random *random, double bound, struct hs_player_frame *entry,
                      struct hs_posted_bone bones[2])
{
    static const enum hs_sample_event events[] = {HS_EVENT_NONE,     HS_EVENT_NONE,
                                                  HS_EVENT_NONE,     HS_EVENT_SPAWN,
                                                  HS_EVENT_TELEPORT, HS_EVENT_DEATH};
    entry->position = any_vec(random, bound);
    entry->event = events[hs_random_index(random, 6)];
    entry->fields = (unsigned)hs_random_index(random, 1 << 5) | HS_FIELD_DAMAGE_SCALE;
    entry->damage_scale =
        hs_random_chance(random, 0.2) ? 0 : hs_random_log_between(random, 1e-9, 1e9);
    any_rotation(random, entry->rotation);
    entry->aim[0] = any(random, 1e300);
    entry->aim[1] = any(random, 1e300);
    entry->eye = any_vec(random, bound);
    entry->bones = bones;
    entry->bone_count = 2;
    for (int b = 0; b < 2; b++) {
        struct hs_vec place = any_vec(random, bound);
        bones[b] = (struct hs_posted_bone){.present = hs_random_chance(random, 0.9),
                                           .position = {place.x, place.y, place.z},
                                           .scale = {1e-6, -1e6, 1}};
        any_rotation(random, bones[b].rotation);
    }
}

static void play(struct hs_random *random, struct hs_match *match, int64_t start_us)
{
    static const char *const names[] = {"S", "T", "B", "C"};
    double bound = hs_match_ruleset(match)->history.world_bound;
    int64_t time_us = start_us;
    for (int f = 0; f < 5; f++) {
        for (int p = 0; p < 4; p++) {
            struct hs_player_frame entry = hs_stage_entry(names[p], 0, 0, 0);
            struct hs_posted_bone bones[2];
            any_entry(random, bound, &entry, bones);
            hs_stage_post(match, time_us, &entry, NULL);
        }
        time_us += hs_random_chance(random, 0.2) ? 1 : 50000;
    }
}

static struct hs_hit_claim any_claim(struct hs_random *random, int64_t start_us, double most)
{
    static const char *const weapons[] = {NULL, "rifle", "knife", "bow", "bow"};
    static const char *const targets[] = {NULL, "T", "T", "T", "B", "S", "X"};
    static const int64_t ages[] = {0, 1, 100000, 200000, INT64_C(8000000000000000)};
    int64_t sign = hs_random_chance(random, 0.5) ? 1 : -1;
    struct hs_hit_claim claim = hs_stage_claim(start_us + hs_random_index(random, 200000), 0, 0, 0);
    claim.start = any_vec(random, most);
    claim.end = hs_random_chance(random, 0.1) ? claim.start : any_vec(random, most);
    claim.weapon = hs_stage_str(weapons[hs_random_index(random, 5)]);
    claim.target = hs_stage_str(targets[hs_random_index(random, 7)]);
    claim.has_fire_time = hs_random_chance(random, 0.5);
    claim.fire_time_us = claim.hit_time_us + sign * ages[hs_random_index(random, 5)];
    claim.has_claimed_damage = claim.has_radius = true;
    claim.claimed_damage = any(random, 1e308);
    claim.radius = any(random, 1e308);
    return claim;
}

/* ---- results ---- */

typedef bool is_fine(double value);

static bool is_number(double value)
{
    return !isnan(value);
}

static bool is_holdable(double value)
{
    return isfinite(value);
}

static bool vec_is_fine(struct hs_vec v, is_fine *fine)
{
    return fine(v.x) && fine(v.y) && fine(v.z);
}

/* A margin larger than the world is wrong, because no body is so far away. */
static bool margin_is_measured(const struct hs_hit_result *r, double most)
{
    return !r->has_margin || most > 1e12 || fabs(r->margin) < 1e14;
}

static const char *flaw(const struct hs_hit_result *r, is_fine *fine)
{
    if (!fine(r->damage_total) || r->damage_total < 0)
        return "damage_total";
    for (int i = 0; i < r->damage_count; i++)
        if (!fine(r->damage[i].amount) || !fine(r->damage[i].distance))
            return "damage";
    if (!fine(r->rewind.alpha) || r->rewind.alpha < 0 || r->rewind.alpha >= 1)
        return "alpha";
    if (!fine(r->margin))
        return "margin";
    for (int i = 0; i < r->check_count; i++)
        if (!fine(r->checks[i].measured) || !fine(r->checks[i].limit))
            return hs_check_name(r->checks[i].check);
    const struct hs_impact *impact = &r->impact;
    if (!vec_is_fine(impact->point, fine) || !vec_is_fine(impact->center, fine))
        return "impact";
    if (!vec_is_fine(impact->normal, fine) || !fine(impact->distance) || impact->distance < 0)
        return "normal";
    if (impact->present && fabs(hs_vec_length(impact->normal) - 1) > 1e-6)
        return "length of normal";
    return NULL;
}

/* Rows: claims up to the bound of the world, beyond it, and so far away that squares overflow. */
START_TEST(finite_input_gives_finite_output)
{
    static const double most[] = {1e12, 1e100, 1.7e308};
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)_i);
    long cases = hs_test_count("HS_PROPERTY_CASES", DEFAULT_CASES), touched = 0, paid = 0;
    is_fine *fine = most[_i] <= HOLDABLE ? is_holdable : is_number;
    static struct hs_hit_result result;
    for (long i = 0; i < cases; i++) {
        struct hs_ruleset *rules = any_ruleset(&random);
        struct hs_match *match = hs_stage_match(rules);
        int64_t start_us = hs_random_chance(&random, 0.5) ? 0 : INT64_C(1700000000000000);
        play(&random, match, start_us);
        for (int k = 0; k < 5; k++) {
            struct hs_hit_claim claim = any_claim(&random, start_us, most[_i]);
            hs_hit_verify(match, &claim, start_us + 200000, &result);
            const char *what = flaw(&result, fine);
            if (!margin_is_measured(&result, most[_i]))
                what = "margin of nothing";
            ck_assert_msg(what == NULL, "case %ld, claim %d (%s): %s", i, k,
                          hs_reason_name(result.reason), what);
            touched += result.impact.present;
            paid += result.damage_total > 0;
        }
        hs_match_destroy(match);
        hs_ruleset_destroy(rules);
    }
    printf("up to %g: %ld claims, %ld touched somebody, %ld were paid\n", most[_i], 5 * cases,
           touched, paid);
    ck_assert_int_gt(touched, cases / 20);
    ck_assert_int_gt(paid, cases / 50);
}
END_TEST

int main(void)
{
    printf("hit extremes: HS_SEED=%llu, %ld cases\n",
           (unsigned long long)hs_test_seed(DEFAULT_SEED),
           hs_test_count("HS_PROPERTY_CASES", DEFAULT_CASES));
    Suite *suite = suite_create("hit extremes");
    TCase *tcase = tcase_create("hit extremes");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, finite_input_gives_finite_output, 0, 3);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
