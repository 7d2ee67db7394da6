/*
 * Volleys: a cheat fires a weapon at twice the weapon's rate for ten seconds, or in another pattern
 * for twenty seconds (hs_volleys). Messages travel over an ordinary link. A lost message is sent
 * again and arrives later, so messages may overtake each other and arrive together. The reported
 * fire times are exact, rounded down to 1/60 s, or off by up to 20 ms.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/simulate/crowd.h"
#include "cli/simulate/hits/simulation.h"
#include "validators/base/units.h"
#include "validators/shot.h"

#define BURST_US  INT64_C(10000000) /* length of a burst, and of the window in worst_window */
#define VOLLEY_US (2 * BURST_US)
#define START_US  INT64_C(2000000)
#define FRAME_US  INT64_C(50000)
#define TICK_US   INT64_C(16667)

enum stamps { EXACT, ROUNDED, JITTERED, STAMPS };

const struct hs_volley hs_volleys[HS_VOLLEYS] = {
    /* interval, group, fires, rests, renames, knows */
    {0.5, 1, 0, 0, 0, false},    {1 / 1.1, 1, 0, 0, 0, true}, {1 / 15.0, 1, 0, 0, 0, true},
    {0.2, 1, 0.6, 1.4, 0, true}, {4, 4, 0, 0, 0, true},       {0.2, 1, 0, 0, 0.2, true},
};

enum { NAME_SIZE = 24 };

struct bullet {
    uint64_t number;
    int64_t fired_us, arrives_us;
    bool accepted;
};

struct burst {
    struct hs_ruleset *ruleset;
    const struct hs_weapon *weapon;
    const struct hs_volley *volley;
    struct hs_match *match;
    struct bullet *bullets;
    size_t count, capacity;
    int64_t length_us;
    bool as_shots; /* true: posts shots; false: claims hits */
};

/* Creates a copy of the built-in rules without magazines, so that only the fire rate is tested. */
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

/* Returns the number of name changes up to `time_us`. The name contains this number. */
static int64_t name_number(const struct burst *burst, int64_t time_us)
{
    int64_t since_us = time_us > START_US ? time_us - START_US : 0;
    return burst->volley->renames > 0 ? since_us / hs_seconds_to_us(burst->volley->renames) : 0;
}

static struct hs_str name_of(int64_t number, char text[NAME_SIZE])
{
    snprintf(text, NAME_SIZE, "cheat%d", (int)number);
    return hs_str_of(text);
}

static int by_arrival(const void *a, const void *b)
{
    const struct bullet *left = a, *right = b;
    if (left->arrives_us != right->arrives_us)
        return left->arrives_us < right->arrives_us ? -1 : 1;
    return left->number < right->number ? -1 : 1;
}

static void fire_one(struct burst *burst, int64_t at, const struct hs_link *link,
                     enum stamps stamps, struct hs_dice *dice)
{
    unsigned losses;
    double fired = hs_seconds(START_US + at);
    if (stamps == ROUNDED)
        fired = floor(fired * HS_CROWD_HZ) / HS_CROWD_HZ;
    else if (stamps == JITTERED)
        fired += hs_dice_between(dice, -0.02, 0.02);
    double up = link->base / 2 + 1.5 * link->jitter;
    double arrives = fired - up + hs_link_command(link, fired - up, dice, &losses);
    arrives = ceil(fmax(arrives, fired - 0.02) * HS_CROWD_HZ) / HS_CROWD_HZ;
    burst->bullets[burst->count] = (struct bullet){burst->count + 1, hs_seconds_to_us(fired),
                                                   hs_seconds_to_us(arrives), false};
    burst->count++;
}

static void fire(struct burst *burst, enum hs_link_kind kind, enum stamps stamps,
                 struct hs_dice *dice)
{
    const struct hs_volley *volley = burst->volley;
    int64_t interval_us =
        (int64_t)(volley->interval * (double)burst->weapon->min_interval_us + 0.5);
    struct hs_link link;
    hs_link_draw(kind, dice, &link);
    for (int64_t at = 0; at <= burst->length_us; at += interval_us) {
        if (volley->rests > 0 &&
            fmod(hs_seconds(at), volley->fires + volley->rests) > volley->fires)
            continue;
        for (int i = 0; i < volley->group && burst->count < burst->capacity; i++)
            fire_one(burst, at, &link, stamps, dice);
    }
    qsort(burst->bullets, burst->count, sizeof *burst->bullets, by_arrival);
}

/* Posts the frames up to `until_us`. Returns false if memory runs out. */
static bool post_frames(const struct burst *burst, int64_t until_us, int64_t *next_us)
{
    enum hs_frame_result results[2];
    unsigned flags;
    for (; *next_us <= until_us; *next_us += FRAME_US) {
        char names[2][NAME_SIZE];
        int64_t name = name_number(burst, *next_us),
                before = name_number(burst, *next_us - FRAME_US);
        const struct hs_player_frame entries[2] = {
            {.player = name_of(name, names[0]),
             .account = HS_STR("cheat"), /* the account stays the same under a new name */
             .weapon = hs_name_str(&burst->weapon->name)},
            {.player = name_of(before, names[1]), .event = HS_EVENT_LEAVE}};
        const struct hs_frame frame = {
            .time_us = *next_us, .players = entries, .player_count = name == before ? 1 : 2};
        if (!hs_match_post_frame(burst->match, &frame, results, &flags))
            return false;
    }
    return true;
}

/* Returns whether the cheat sends the claim. A cheat who knows the verdicts does not send a claim
   that would be refused. */
static bool is_sent(const struct burst *burst, const struct hs_hit_result *result)
{
    return !burst->volley->knows || result->verdict == HS_VERDICT_ACCEPTED;
}

/* Verifies a bullet. Returns false if memory runs out. */
static bool verify(const struct burst *burst, const struct bullet *bullet,
                   struct hs_hit_result *result)
{
    char text[NAME_SIZE];
    const struct hs_ruleset *rules = burst->ruleset;
    struct hs_vec eye = rules->rigs[rules->default_rig]->stances[0].eye;
    struct hs_str shooter = name_of(name_number(burst, bullet->fired_us), text);
    struct hs_str name = hs_name_str(&burst->weapon->name);
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
    /* Each hit gets its own direction, because two shots along the same line count as one shot. */
    struct hs_vec end = {eye.x + burst->weapon->range / 2, eye.y + 1e-3 * (double)bullet->number,
                         eye.z};
    const struct hs_hit_claim hit = {.shot = bullet->number,
                                     .shooter = shooter,
                                     .weapon = name,
                                     .hit_time_us = bullet->fired_us,
                                     .start = eye,
                                     .end = end};
    hs_hit_verify(burst->match, &hit, bullet->arrives_us, result);
    return !is_sent(burst, result) || hs_hit_record(burst->match, &hit, result, HS_STR("{}"));
}

/* Verifies all bullets. Sets *accepted to the number of accepted bullets, and *at_once to the
   largest number of accepted bullets that were fired in one tick. Adds the results to `count`,
   which may be NULL. Returns false if memory runs out. */
static bool play(const struct burst *burst, uint64_t *accepted, uint64_t *at_once,
                 struct hs_cheat_count *count)
{
    struct hs_hit_result *result = malloc(sizeof *result);
    int64_t next_us = START_US - 20 * FRAME_US, tick = -1;
    uint64_t in_tick = 0;
    bool good = result != NULL;
    *accepted = *at_once = 0;
    for (size_t i = 0; good && i < burst->count; i++) {
        good = post_frames(burst, burst->bullets[i].arrives_us, &next_us) &&
               verify(burst, &burst->bullets[i], result);
        if (good && result->verdict == HS_VERDICT_ACCEPTED) {
            int64_t fired = burst->bullets[i].fired_us / TICK_US;
            burst->bullets[i].accepted = true;
            in_tick = fired == tick ? in_tick + 1 : 1;
            tick = fired;
            *at_once = in_tick > *at_once ? in_tick : *at_once;
            ++*accepted;
            if (count != NULL)
                hs_cheat_count_accepted(count, result);
        } else if (good && count != NULL) {
            count->reasons[result->reason]++;
        }
    }
    free(result);
    return good;
}

static int by_fire_time(const void *a, const void *b)
{
    const struct bullet *left = a, *right = b;
    return (left->fired_us > right->fired_us) - (left->fired_us < right->fired_us);
}

/* Returns the largest number of accepted bullets that were fired in any ten seconds, divided by the
   number that the weapon can fire in ten seconds. Sorts the bullets by fire time. */
static double worst_window(const struct burst *burst)
{
    int64_t interval_us = burst->weapon->min_interval_us;
    size_t from = 0, inside = 0, most = 0;
    qsort(burst->bullets, burst->count, sizeof *burst->bullets, by_fire_time);
    for (size_t to = 0; to < burst->count; to++) {
        inside += burst->bullets[to].accepted;
        for (; burst->bullets[from].fired_us <= burst->bullets[to].fired_us - BURST_US; from++)
            inside -= burst->bullets[from].accepted;
        most = inside > most ? inside : most;
    }
    int64_t legal = (BURST_US + interval_us - 1) / interval_us;
    return (double)most / (double)legal;
}

static void close_burst(struct burst *burst)
{
    free(burst->bullets);
    hs_match_destroy(burst->match);
    hs_ruleset_destroy(burst->ruleset);
}

/* Creates the rules and the match of a volley, and allocates the array of bullets. Returns false if
   memory runs out. In both cases, the caller must close `burst`. */
static bool open_burst(struct burst *burst, const struct hs_sim_arena *arena, enum hs_arm arm,
                       const struct hs_volley *volley, int64_t length_us)
{
    *burst =
        (struct burst){.ruleset = create_rules(arena), .volley = volley, .length_us = length_us};
    if (burst->ruleset == NULL)
        return false;
    uint16_t weapon = hs_ruleset_find_weapon(burst->ruleset, hs_str_of(hs_arm_names[arm]));
    burst->weapon = burst->ruleset->weapons[weapon];
    double shots = (double)length_us / (volley->interval * (double)burst->weapon->min_interval_us);
    burst->capacity = ((size_t)shots + 2) * (size_t)volley->group;
    burst->match =
        hs_match_create(burst->ruleset, &(struct hs_match_limits){.players = 64, .samples = 64});
    burst->bullets = calloc(burst->capacity, sizeof *burst->bullets);
    return burst->match != NULL && burst->bullets != NULL;
}

bool hs_burst_run(const struct hs_simulation *simulation, const struct hs_sim_arena *arena,
                  uint64_t number, struct hs_score *score)
{
    static const enum hs_arm arms[] = {HS_ARM_RIFLE, HS_ARM_SHOTGUN, HS_ARM_KNIFE};
    enum hs_arm arm = arms[number % 3];
    uint64_t link = simulation->link >= 0 ? (uint64_t)simulation->link : number % HS_LINKS;
    struct hs_dice dice = {hs_seed_of(~simulation->seed, number)};
    struct burst burst;
    uint64_t accepted, at_once;
    bool good = open_burst(&burst, arena, arm, &hs_volleys[HS_VOLLEY_TWICE], BURST_US);
    burst.as_shots = (good && burst.weapon->require_shot) || number / 9 % 2 == 1;
    if (good) {
        fire(&burst, (enum hs_link_kind)link, (enum stamps)(number / 3 % STAMPS), &dice);
        good = play(&burst, &accepted, &at_once, NULL);
        int64_t legal = BURST_US / burst.weapon->min_interval_us + 1;
        score->bursts[arm] =
            (struct hs_burst_count){1, burst.count, accepted, (int64_t)accepted - legal};
    }
    close_burst(&burst);
    return good;
}

bool hs_volley_compare(const struct hs_sim_arena *arena, const struct hs_cheat *cheat,
                       enum hs_link_kind link, uint64_t seed, struct hs_cheat_count *count)
{
    const struct hs_volley *tricked = &hs_volleys[(int)cheat->amount];
    const struct hs_volley honest = {1, 1, tricked->fires, tricked->rests, 0, true};
    uint64_t accepted[2] = {0}, at_once = 0;
    double extent = 0;
    bool good = true;
    for (int i = 0; good && i < 2; i++) {
        struct burst burst;
        struct hs_dice dice = {seed};
        good = open_burst(&burst, arena, cheat->arm, i == 0 ? &honest : tricked, VOLLEY_US);
        if (good) {
            fire(&burst, link, EXACT, &dice);
            good = play(&burst, &accepted[i], &at_once, i == 0 ? NULL : count);
            extent = tricked->group > 1 ? (double)at_once : worst_window(&burst);
            count->claims += i == 0 ? 0 : burst.count;
        }
        close_burst(&burst);
    }
    double damage = arena->weapons[cheat->arm]->damage;
    double twin = (double)accepted[0], gained = (double)accepted[1];
    hs_paired_add(&count->hits, twin, gained);
    hs_paired_add(&count->damage, twin * damage, gained * damage);
    count->extent = fmax(count->extent, extent);
    return good;
}
