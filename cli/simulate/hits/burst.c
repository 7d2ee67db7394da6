/*
 * A cheat fires a weapon for ten seconds at twice its rate. Messages travel over an ordinary link:
 * lost ones come later, and late ones overtake each other and bunch up. The reported fire times are
 * exact, rounded to ticks of a client, or have an error.
 */
#include <math.h>
#include <stdlib.h>

#include "cli/simulate/crowd.h"
#include "cli/simulate/hits/simulation.h"
#include "validators/base/units.h"
#include "validators/shot.h"

#define BURST_US INT64_C(10000000)
#define START_US INT64_C(2000000)
#define FRAME_US INT64_C(50000)

enum stamps { EXACT, ROUNDED, JITTERED, STAMPS };

struct bullet {
    uint64_t number;
    int64_t fired_us, arrives_us;
};

struct burst {
    struct hs_ruleset *ruleset;
    const struct hs_weapon *weapon;
    struct hs_match *match;
    struct bullet *bullets;
    size_t count, capacity;
    bool as_shots; /* posts shots; otherwise claims hits */
};

/* The built-in rules without magazines: only the fire rate is tested. */
static struct hs_ruleset *create_rules(const struct hs_sim_arena *arena)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    if (ruleset == NULL)
        return NULL;
    for (int i = 0; i < ruleset->weapon_count; i++)
        ruleset->weapons[i]->magazine = 0;
    ruleset->rewind = arena->ruleset->rewind;
    return ruleset;
}

static int by_arrival(const void *a, const void *b)
{
    const struct bullet *left = a, *right = b;
    if (left->arrives_us != right->arrives_us)
        return left->arrives_us < right->arrives_us ? -1 : 1;
    return left->number < right->number ? -1 : 1;
}

static void fire(struct burst *burst, enum hs_link_kind kind, enum stamps stamps,
                 struct hs_dice *dice)
{
    struct hs_link link;
    hs_link_draw(kind, dice, &link);
    int64_t interval_us = burst->weapon->min_interval_us / 2;
    for (int64_t at = 0; at <= BURST_US && burst->count < burst->capacity; at += interval_us) {
        unsigned losses;
        double fired = hs_seconds(START_US + at);
        if (stamps == ROUNDED)
            fired = floor(fired * HS_CROWD_HZ) / HS_CROWD_HZ;
        else if (stamps == JITTERED)
            fired += hs_dice_between(dice, -0.02, 0.02);
        double up = link.base / 2 + 1.5 * link.jitter;
        double arrives = fired - up + hs_link_command(&link, dice, &losses);
        arrives = ceil(fmax(arrives, fired - 0.02) * HS_CROWD_HZ) / HS_CROWD_HZ;
        burst->bullets[burst->count] =
            (struct bullet){burst->count + 1, hs_seconds_to_us(fired), hs_seconds_to_us(arrives)};
        burst->count++;
    }
    qsort(burst->bullets, burst->count, sizeof *burst->bullets, by_arrival);
}

/* False: out of memory. */
static bool post_frames(const struct burst *burst, int64_t until_us, int64_t *next_us)
{
    enum hs_frame_result result;
    unsigned flags;
    for (; *next_us <= until_us; *next_us += FRAME_US) {
        const struct hs_player_frame entry = {.player = HS_STR("cheat"),
                                              .weapon = hs_name_str(&burst->weapon->name)};
        const struct hs_frame frame = {.time_us = *next_us, .players = &entry, .player_count = 1};
        if (!hs_match_post_frame(burst->match, &frame, &result, &flags))
            return false;
    }
    return true;
}

/* False: out of memory. */
static bool verify(const struct burst *burst, const struct bullet *bullet,
                   struct hs_hit_result *result)
{
    const struct hs_ruleset *rules = burst->ruleset;
    struct hs_vec eye = rules->rigs[rules->default_rig]->stances[0].eye;
    struct hs_str shooter = HS_STR("cheat"), name = hs_name_str(&burst->weapon->name);
    int64_t forward_us;
    if (burst->as_shots) {
        const struct hs_shot_claim shot = {.shot = bullet->number,
                                           .shooter = shooter,
                                           .weapon = name,
                                           .time_us = bullet->fired_us,
                                           .origin = eye};
        hs_shot_verify(burst->match, &shot, bullet->arrives_us, result, &forward_us);
        return hs_shot_record(burst->match, &shot, result, HS_STR("{}"));
    }
    /* Each hit has another direction, because two shots along the same line count as one. */
    struct hs_vec end = {eye.x + burst->weapon->range / 2, eye.y + 1e-3 * (double)bullet->number,
                         eye.z};
    const struct hs_hit_claim hit = {.shot = bullet->number,
                                     .shooter = shooter,
                                     .weapon = name,
                                     .hit_time_us = bullet->fired_us,
                                     .start = eye,
                                     .end = end};
    hs_hit_verify(burst->match, &hit, bullet->arrives_us, result);
    return hs_hit_record(burst->match, &hit, result, HS_STR("{}"));
}

static bool play(const struct burst *burst, struct hs_burst_count *sum)
{
    struct hs_hit_result *result = malloc(sizeof *result);
    int64_t next_us = START_US - 20 * FRAME_US, accepted = 0;
    int64_t legal = BURST_US / burst->weapon->min_interval_us + 1;
    bool good = result != NULL;
    for (size_t i = 0; good && i < burst->count; i++) {
        good = post_frames(burst, burst->bullets[i].arrives_us, &next_us) &&
               verify(burst, &burst->bullets[i], result);
        accepted += good && result->verdict == HS_VERDICT_ACCEPTED;
    }
    free(result);
    *sum = (struct hs_burst_count){1, burst->count, (uint64_t)accepted, accepted - legal};
    return good;
}

bool hs_burst_run(const struct hs_simulation *simulation, const struct hs_sim_arena *arena,
                  uint64_t number, struct hs_score *score)
{
    static const enum hs_arm arms[] = {HS_ARM_RIFLE, HS_ARM_SHOTGUN, HS_ARM_KNIFE};
    enum hs_arm arm = arms[number % 3];
    uint64_t link = simulation->link >= 0 ? (uint64_t)simulation->link : number % HS_LINKS;
    struct hs_dice dice = {hs_seed_of(~simulation->seed, number)};
    struct burst burst = {.ruleset = create_rules(arena)};
    if (burst.ruleset == NULL)
        return false;
    uint16_t weapon = hs_ruleset_find_weapon(burst.ruleset, hs_str_of(hs_arm_names[arm]));
    burst.weapon = burst.ruleset->weapons[weapon];
    burst.as_shots = burst.weapon->require_shot || number / 9 % 2 == 1;
    burst.capacity = (size_t)(2 * BURST_US / burst.weapon->min_interval_us) + 2;
    burst.match =
        hs_match_create(burst.ruleset, &(struct hs_match_limits){.players = 2, .samples = 64});
    burst.bullets = calloc(burst.capacity, sizeof *burst.bullets);
    bool good = burst.match != NULL && burst.bullets != NULL;
    if (good) {
        fire(&burst, (enum hs_link_kind)link, (enum stamps)(number / 3 % STAMPS), &dice);
        good = play(&burst, &score->bursts[arm]);
    }
    free(burst.bullets);
    hs_match_destroy(burst.match);
    hs_ruleset_destroy(burst.ruleset);
    return good;
}
