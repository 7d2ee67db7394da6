/*
 * Verdicts do not depend on the compiler, its optimisation or the machine: a long run of seeded
 * scenes gives one hash over verdicts, reasons, flags and numbers rounded to 1e-4. The constant
 * changes only when the rules do; then every build must print the same new one.
 */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/hit.h"

#define GOLDEN UINT64_C(0x9d2327c73aa3ee6f)

enum { SCENES = 400, PLAYERS = 8, FRAMES = 24, CLAIMS = 150 };

static uint64_t hash_state;
static int reasons[HS_REASON_COUNT]; /* how often each came up */

/* FNV-1a over the bytes of a number. */
static void mix(uint64_t value)
{
    for (int i = 0; i < 8; i++, value >>= 8)
        hash_state = (hash_state ^ (value & 0xff)) * UINT64_C(1099511628211);
}

static void mix_number(double value)
{
    mix((uint64_t)(int64_t)floor(value * 1e4 + 0.5));
}

static void mix_text(const char *text)
{
    for (; *text != '\0'; text++)
        mix((unsigned char)*text);
}

static void mix_result(const struct hs_hit_result *r)
{
    reasons[r->reason]++;
    mix_text(hs_verdict_name(r->verdict));
    mix_text(hs_reason_name(r->reason));
    mix(r->flags);
    mix_number(r->damage_total);
    mix_text(r->impact.zone.text);
    mix_text(r->impact.player.text);
    mix_number(r->impact.distance);
    mix_number(r->impact.point.x);
    mix_number(r->impact.point.y);
    mix_number(r->impact.point.z);
    mix_number(r->impact.normal.x);
    mix_number(r->has_margin ? r->margin : -1);
    mix_number(r->rewind.alpha);
    for (int i = 0; i < r->check_count; i++) {
        mix_text(hs_check_name(r->checks[i].check));
        mix((uint64_t)r->checks[i].outcome);
        mix_number(r->checks[i].measured);
        mix_number(r->checks[i].limit);
    }
}

static void random_rotation(struct hs_random *random, double q[4])
{
    double length = 0;
    do {
        length = 0;
        for (int i = 0; i < 4; i++) {
            q[i] = hs_random_between(random, -1, 1);
            length += q[i] * q[i];
        }
    } while (length < 0.01 || length > 1);
    length = sqrt(length);
    for (int i = 0; i < 4; i++)
        q[i] /= length;
}

/* One draw a statement: C leaves the order within an expression to the compiler. */
static struct hs_vec random_vec(struct hs_random *random, double flat, double high)
{
    struct hs_vec v;
    v.x = hs_random_between(random, -flat, flat);
    v.y = hs_random_between(random, -flat, flat);
    v.z = hs_random_between(random, 0, high);
    return v;
}

/* Players on straight ways at a walking pace, some with posted bones, turning as they go. */
static void post_frames(struct hs_random *random, struct hs_match *match, char names[][8])
{
    struct hs_vec at[PLAYERS], velocity[PLAYERS];
    for (int p = 0; p < PLAYERS; p++) {
        at[p] = random_vec(random, 12, 2);
        velocity[p] = random_vec(random, 6, 0.5);
    }
    for (int f = 0; f < FRAMES; f++) {
        struct hs_player_frame players[PLAYERS];
        struct hs_posted_bone bones[PLAYERS][2];
        memset(players, 0, sizeof players);
        memset(bones, 0, sizeof bones);
        for (int p = 0; p < PLAYERS; p++) {
            struct hs_player_frame *entry = &players[p];
            at[p] = hs_vec_add_scaled(at[p], velocity[p], 1.0 / 32);
            entry->player = (struct hs_str){names[p], strlen(names[p])};
            entry->position = at[p];
            entry->fields = HS_FIELD_ROTATION;
            entry->stance = p % 3 == 1 && f % 7 == 0 ? HS_STR("crouch") : HS_STR("stand");
            entry->team = p % 2 == 0 ? HS_STR("red") : HS_STR("blue");
            random_rotation(random, entry->rotation);
            if (p % 4 != 3)
                continue;
            entry->fields |= HS_FIELD_BONES;
            entry->bones = bones[p];
            entry->bone_count = 2;
            for (int b = 0; b < 2; b++) {
                struct hs_vec bone = at[p];
                bone.z += b == 1 ? 1.5 : 0.1;
                bones[p][b].present = b == 1 || f % 5 != 0;
                bones[p][b].position[0] = bone.x;
                bones[p][b].position[1] = bone.y;
                bones[p][b].position[2] = bone.z;
                random_rotation(random, bones[p][b].rotation);
            }
        }
        struct hs_frame frame = {
            .time_us = f * INT64_C(31250), .players = players, .player_count = PLAYERS};
        enum hs_frame_result results[PLAYERS];
        unsigned flags = 0;
        ck_assert(hs_match_post_frame(match, &frame, results, &flags));
        for (int p = 0; p < PLAYERS; p++)
            mix((uint64_t)results[p]);
    }
}

static void judge(struct hs_random *random, const struct hs_match *match, char names[][8])
{
    static const char *const weapons[] = {"rifle", "knife", "bow"};
    const int64_t now_us = (FRAMES - 1) * INT64_C(31250);
    for (int i = 0; i < CLAIMS; i++) {
        int shooter = hs_random_index(random, PLAYERS);
        int target = hs_random_index(random, PLAYERS);
        const char *weapon = weapons[i % 3];
        struct hs_player_info from, to;
        struct hs_hit_claim claim = {.shot = (uint64_t)i};
        claim.shooter = (struct hs_str){names[shooter], strlen(names[shooter])};
        claim.target = (struct hs_str){names[target], strlen(names[target])};
        claim.weapon = (struct hs_str){weapon, strlen(weapon)};
        claim.hit_time_us = now_us - (int64_t)hs_random_between(random, -60000, 280000);
        ck_assert(hs_match_find_player(match, claim.shooter, &from));
        ck_assert(hs_match_find_player(match, claim.target, &to));
        claim.start = hs_vec_add(from.position, (struct hs_vec){0, 0, 1.6});
        double aside = hs_random_between(random, -0.6, 0.6);
        double height = hs_random_between(random, 0.2, 1.8);
        claim.end = hs_vec_add(to.position, (struct hs_vec){aside, -aside, height});
        struct hs_hit_result result;
        hs_hit_verify(match, &claim, now_us, &result);
        mix_result(&result);
    }
}

START_TEST(test_golden_hash)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    ck_assert_ptr_nonnull(ruleset);
    ruleset->hit.origin_tolerance = 3;
    hs_ruleset_finish(ruleset);
    struct hs_random random = hs_random_start(20240229, 0);
    hash_state = UINT64_C(14695981039346656037);
    for (int s = 0; s < SCENES; s++) {
        struct hs_match_limits limits = {.players = PLAYERS, .samples = 64};
        struct hs_match *match = hs_match_create(ruleset, &limits);
        char names[PLAYERS][8];
        for (int p = 0; p < PLAYERS; p++)
            snprintf(names[p], sizeof names[p], "p%d", p);
        ck_assert_ptr_nonnull(match);
        post_frames(&random, match, names);
        judge(&random, match, names);
        hs_match_destroy(match);
    }
    hs_ruleset_destroy(ruleset);
    /* A hash over one kind of answer only would prove little. */
    static const enum hs_reason wanted[] = {
        HS_REASON_OK,           HS_REASON_NO_INTERSECTION,   HS_REASON_WRONG_TARGET,
        HS_REASON_REWIND_LIMIT, HS_REASON_BLOCKED_BY_PLAYER, HS_REASON_FRIENDLY_FIRE,
        HS_REASON_OUT_OF_RANGE, HS_REASON_TIME_IN_FUTURE,    HS_REASON_SELF_HIT};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        ck_assert_msg(reasons[wanted[i]] >= 20, "%s came up %d times", hs_reason_name(wanted[i]),
                      reasons[wanted[i]]);
    printf("golden hash: 0x%016" PRIx64 "\n", hash_state);
    ck_assert_msg(hash_state == GOLDEN, "the golden hash is 0x%016" PRIx64, hash_state);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("golden");
    TCase *tcase = tcase_create("hash");
    tcase_add_test(tcase, test_golden_hash);
    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
