/*
 * A cheat holds the trigger of a weapon for ten seconds and fires at twice its pace, over a
 * connection like everybody's: what is lost comes later, and what comes late overtakes and bunches
 * up. Times of firing are told as they are, rounded to the ticks of a client, or with jitter.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/simulate/crowd.h"
#include "cli/simulate/hits/trial.h"
#include "validators/base/units.h"
#include "validators/shot.h"

#define BURST_US INT64_C(10000000)
#define START_US INT64_C(2000000)
#define FRAME_US INT64_C(50000)

enum way { EXACT, ROUNDED, JITTERED, WAYS };

struct bullet {
    uint64_t number;
    int64_t fired_us, arrives_us;
};

/* Rounds are left out: what is looked at is the pace alone. */
static struct hs_ruleset *rules_without_magazines(void)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    for (int i = 0; ruleset != NULL && i < ruleset->weapon_count; i++)
        ruleset->weapons[i]->magazine = 0;
    return ruleset;
}

static size_t fire(struct hs_dice *dice, const struct hs_link *link, int64_t interval_us,
                   enum way way, struct bullet *out, size_t room)
{
    size_t count = 0;
    for (int64_t at = 0; at <= BURST_US && count < room; at += interval_us / 2) {
        unsigned losses;
        double fired = hs_seconds(START_US + at);
        if (way == ROUNDED)
            fired = floor(fired * HS_CROWD_HZ) / HS_CROWD_HZ;
        else if (way == JITTERED)
            fired += hs_dice_between(dice, -0.02, 0.02);
        double up = link->base / 2 + 1.5 * link->jitter;
        double arrives = fired - up + hs_link_command(link, dice, &losses);
        arrives = ceil(fmax(arrives, fired - 0.02) * HS_CROWD_HZ) / HS_CROWD_HZ;
        out[count] = (struct bullet){count + 1, hs_seconds_to_us(fired), hs_seconds_to_us(arrives)};
        count++;
    }
    return count;
}

static int by_arrival(const void *a, const void *b)
{
    const struct bullet *left = a, *right = b;
    if (left->arrives_us != right->arrives_us)
        return left->arrives_us < right->arrives_us ? -1 : 1;
    return left->number < right->number ? -1 : 1;
}

static bool post_frames(struct hs_match *match, const struct hs_weapon *weapon, int64_t until_us,
                        int64_t *next_us)
{
    enum hs_frame_result result;
    unsigned flags;
    for (; *next_us <= until_us; *next_us += FRAME_US) {
        const struct hs_player_frame entry = {.player = HS_STR("cheat"),
                                              .weapon = hs_name_str(&weapon->name)};
        const struct hs_frame frame = {.time_us = *next_us, .players = &entry, .player_count = 1};
        if (!hs_match_post_frame(match, &frame, &result, &flags))
            return false;
    }
    return true;
}

/* 1: accepted, 0: not, -1: out of memory. */
static int judge(struct hs_match *match, const struct hs_weapon *weapon, struct hs_vec eye,
                 const struct bullet *bullet, bool as_shot, struct hs_hit_result *result)
{
    struct hs_str shooter = HS_STR("cheat"), name = hs_name_str(&weapon->name);
    int64_t forward_us;
    bool noted;
    if (as_shot) {
        const struct hs_shot_claim shot = {.shot = bullet->number,
                                           .shooter = shooter,
                                           .weapon = name,
                                           .time_us = bullet->fired_us,
                                           .origin = eye};
        hs_shot_verify(match, &shot, bullet->arrives_us, result, &forward_us);
        noted = hs_shot_record(match, &shot, result, HS_STR("{}"));
    } else {
        /* Each another way, or they would be the same trajectory. */
        struct hs_vec end = {eye.x + weapon->range / 2, eye.y + 1e-3 * (double)bullet->number,
                             eye.z};
        const struct hs_hit_claim hit = {.shot = bullet->number,
                                         .shooter = shooter,
                                         .weapon = name,
                                         .hit_time_us = bullet->fired_us,
                                         .start = eye,
                                         .end = end};
        hs_hit_verify(match, &hit, bullet->arrives_us, result);
        noted = hs_hit_record(match, &hit, result, HS_STR("{}"));
    }
    return !noted ? -1 : result->verdict == HS_VERDICT_ACCEPTED ? 1 : 0;
}

static bool play(const struct hs_ruleset *ruleset, struct hs_match *match,
                 const struct hs_weapon *weapon, struct bullet *bullets, size_t count, bool as_shot,
                 struct hs_burst_count *sum)
{
    struct hs_hit_result *result = malloc(sizeof *result);
    struct hs_vec eye = ruleset->rigs[ruleset->default_rig]->stances[0].eye;
    int64_t next_us = START_US - 20 * FRAME_US, legal = BURST_US / weapon->min_interval_us + 1;
    int64_t accepted = 0;
    qsort(bullets, count, sizeof *bullets, by_arrival);
    for (size_t i = 0; result != NULL && i < count; i++) {
        bool posted = post_frames(match, weapon, bullets[i].arrives_us, &next_us);
        int verdict = posted ? judge(match, weapon, eye, &bullets[i], as_shot, result) : -1;
        if (verdict < 0) {
            free(result);
            return false;
        }
        accepted += verdict;
    }
    bool good = result != NULL;
    free(result);
    if (sum->bursts == 0 || accepted - legal > sum->worst)
        sum->worst = accepted - legal;
    sum->bursts++;
    sum->shots += count;
    sum->accepted += (uint64_t)accepted;
    return good;
}

bool hs_burst_play(const struct hs_sim_arena *arena, uint64_t seed, uint64_t number,
                   enum hs_link_kind kind, struct hs_score *score)
{
    static const enum hs_arm arms[] = {HS_ARM_RIFLE, HS_ARM_SHOTGUN, HS_ARM_KNIFE};
    enum hs_arm arm = arms[number % 3];
    struct hs_dice dice = {hs_seed_of(~seed, number)};
    struct hs_link link;
    hs_link_draw(kind, &dice, &link);
    struct hs_ruleset *ruleset = rules_without_magazines();
    if (ruleset == NULL)
        return false;
    ruleset->rewind = arena->ruleset->rewind;
    struct hs_str name = hs_name_str(&arena->weapons[arm]->name);
    const struct hs_weapon *weapon = ruleset->weapons[hs_ruleset_find_weapon(ruleset, name)];
    size_t room = (size_t)(2 * BURST_US / weapon->min_interval_us) + 2;
    struct hs_match *match =
        hs_match_create(ruleset, &(struct hs_match_limits){.players = 2, .samples = 64});
    struct bullet *bullets = calloc(room, sizeof *bullets);
    bool good = match != NULL && bullets != NULL;
    if (good) {
        size_t count = fire(&dice, &link, weapon->min_interval_us, (enum way)(number / 3 % WAYS),
                            bullets, room);
        good =
            play(ruleset, match, weapon, bullets, count, number / 9 % 2 == 1, &score->bursts[arm]);
    }
    free(bullets);
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
    return good;
}
