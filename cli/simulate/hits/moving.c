/*
 * A player walks, and posts moves to a match. An accepted move puts the player where the client
 * says. A refused move puts the player back at the last accepted place. The cheat has an honest
 * twin on the same connection.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/simulate/crowd.h"
#include "cli/simulate/hits/simulation.h"
#include "validators/base/units.h"
#include "validators/moves.h"

#define BEGIN  20.0 /* seconds; when the walk begins */
#define DT     (1.0 / HS_CROWD_HZ)
#define FRAME  0.05       /* seconds between two frames */
#define HONEST 2.0        /* seconds of honest moves before the cheat starts */
#define CYCLE  2.0        /* seconds; the cheat begins to hold packets once in each cycle */
#define HOPS   3.0        /* base changes per second */
#define HOP    20.0       /* metres between two bases */
#define FREE_Y (-15.0)    /* metres; y of a straight path through the arena without walls */
#define WALL   2.0        /* metres; on the line y = 0, a wall reaches from x = -WALL to x = WALL */
#define SHOWN  (2.0 / 30) /* seconds; age of the acknowledged snapshot when the move arrives */

enum { BASES = 40, NAME_SIZE = 16 };

/* A way to move. `speed` is the speed of the player divided by the maximum speed of `mode`. `clock`
   is the rate of the client's clock. */
static const struct gait {
    const char *mode;
    double speed, clock, held; /* `held`: packets are held for this many seconds of each cycle */
    bool hops;                 /* the player goes to another base HOPS times per second */
    bool has_acks;
    bool in_arena; /* the player crosses the arena, for 5.5 s */
    bool is_new;   /* the player cheats from the first move on */
    double y, height;
} gaits[] = {
    {NULL, 2, 1, 0, false, true, false, false, 0, 0},
    {"walking", 1, 1, 0, false, true, true, true, 0, 0},
    {"walking", 1, 1, 0, false, true, true, true, FREE_Y, 3.5},
    {"walking", 1, 1, 0, true, true, false, false, 0, 0},
    {"walking", 1, 1, 0.4, false, true, false, false, 0, 0},
    {"walking", 1, 1.005, 0, false, true, false, false, 0, 0},
    {"walking", 1, 1.02, 0, false, true, false, false, 0, 0},
    {"walking", 1, 1.1, 0, false, true, false, false, 0, 0},
    {"walking", 1.02, 1, 0, false, true, false, true, 0, 0},
    {"walking", 1.05, 1, 0, false, true, false, true, 0, 0},
    {"walking", 1.02, 1.02, 0, false, true, false, true, 0, 0},
    {"walking", 1, 1.02, 0, false, false, false, true, 0, 0},
    {"walking", 1, 1.3, 0, false, false, false, true, 0, 0},
};

struct walker {
    struct hs_match *match;
    const struct gait *gait; /* NULL: honest */
    struct hs_link link;
    struct hs_dice dice;
    double speed;                  /* m/s */
    struct hs_vec place, accepted; /* relative to the base */
    double base, accepted_base;    /* index of the base */
    /* `at_once`: seconds granted to the moves that arrived in the last tick */
    double clock, arrives, next_frame, at_once;
    double metres, in_wall, in_air; /* sums over accepted moves; metres, metres, seconds */
    uint64_t moves;
};

static bool post_frame(struct walker *walker, bool hops, double time)
{
    char names[BASES][NAME_SIZE];
    struct hs_mover_frame movers[BASES];
    enum hs_frame_result results[1 + BASES];
    unsigned flags;
    struct hs_vec place = walker->accepted;
    bool loses, is_out = hs_link_outage(&walker->link, time, &loses) > 0;
    place.x += HOP * walker->accepted_base;
    const struct hs_player_frame entry = {
        .player = HS_STR("walker"),
        .fields = is_out ? 0 : HS_FIELD_RTT,
        .position = place,
        .rtt_us = (int32_t)hs_seconds_to_us(hs_link_ping(&walker->link, &walker->dice))};
    for (int i = 0; i < BASES; i++) {
        snprintf(names[i], NAME_SIZE, "base%d", i);
        movers[i] = (struct hs_mover_frame){.mover = hs_str_of(names[i]),
                                            .fields = HS_MOVER_BOX,
                                            .position = {HOP * i, 0, 0},
                                            .half_extents = {HOP / 2, HOP / 2, 0.1},
                                            .center = {0, 0, -0.1}};
    }
    const struct hs_frame frame = {.time_us = hs_seconds_to_us(time),
                                   .players = &entry,
                                   .player_count = 1,
                                   .movers = movers,
                                   .mover_count = hops ? BASES : 0};
    return hs_match_post_frame(walker->match, &frame, results, &flags);
}

/* Moves the player to the accepted place. Adds the movement to the sums if `counts` is true. */
static void accept_place(struct walker *walker, bool counts, const struct hs_move_result *result)
{
    struct hs_vec step = hs_vec_sub(walker->place, walker->accepted);
    step.x += HOP * (walker->base - walker->accepted_base);
    if (counts) {
        walker->metres += hs_vec_length(step);
        if (fabs(walker->place.x) < WALL && fabs(walker->place.y) < WALL)
            walker->in_wall += fabs(step.x);
        if (walker->place.z > 0)
            walker->in_air += hs_seconds(result->delta_us);
    }
    walker->accepted = walker->place;
    walker->accepted_base = walker->base;
}

static void count_result(struct walker *walker, const struct hs_move_result *result,
                         struct hs_cheat_count *count)
{
    if (count == NULL)
        return;
    count->claims++;
    if (result->verdict != HS_VERDICT_ACCEPTED)
        count->move_reasons[result->reason]++;
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        count->raised[i] += (result->raised & 1u << i) != 0;
    /* Normally the checks grant a player DT in one tick. More than DT is a gain for the cheat. */
    if (walker->at_once > DT + 1e-6)
        count->extent = fmax(count->extent, walker->at_once);
}

/* Sends the move made at `time`, with the cheat's changes if `tricks` is true. Returns false if
   memory runs out. */
static bool send_move(struct walker *walker, const struct gait *gait, bool tricks, double time,
                      struct hs_cheat_count *count)
{
    char base[NAME_SIZE];
    unsigned losses;
    double sent = time, in_cycle = fmod(time - BEGIN, CYCLE);
    if (tricks && in_cycle < gait->held)
        sent += gait->held - in_cycle;
    double arrives = sent + hs_link_command(&walker->link, sent, &walker->dice, &losses);
    arrives = ceil(fmax(arrives, walker->arrives) * HS_CROWD_HZ) / HS_CROWD_HZ;
    if (arrives > walker->arrives)
        walker->at_once = 0;
    walker->arrives = arrives;
    while (walker->next_frame <= arrives) {
        if (!post_frame(walker, gait->hops, walker->next_frame))
            return false;
        walker->next_frame += FRAME;
    }
    snprintf(base, sizeof base, "base%d", (int)walker->base);
    const char *mode = tricks ? gait->mode : "walking";
    const struct hs_move move = {
        .player = HS_STR("walker"),
        .fields = HS_MOVE_HAS_SEQ | HS_MOVE_HAS_POSITION | (gait->has_acks ? HS_MOVE_HAS_ACK : 0),
        .seq = ++walker->moves,
        .timestamp_us = hs_seconds_to_us(walker->clock),
        .received_us = hs_seconds_to_us(arrives),
        .ack_us = hs_seconds_to_us(time - walker->link.base / 2 - SHOWN),
        .dilation = 1,
        .mode = mode != NULL ? hs_str_of(mode) : (struct hs_str){0},
        .base = gait->hops ? hs_str_of(base) : (struct hs_str){0},
        .position = walker->place,
    };
    struct hs_move_result result;
    if (!hs_match_check_move(walker->match, &move, &result))
        return false;
    walker->at_once += hs_seconds(result.delta_us);
    if (result.verdict == HS_VERDICT_ACCEPTED && result.position == HS_MOVE_POSITION_ACK) {
        accept_place(walker, tricks, &result);
    } else {
        walker->place = walker->accepted;
        walker->base = walker->accepted_base;
    }
    count_result(walker, &result, count);
    return true;
}

/* Plays a gait and counts the results. If `twin` is true, the player walks honestly instead, for
   the same time. Returns false if memory runs out. */
static bool walk(struct walker *walker, const struct gait *gait, bool twin,
                 struct hs_cheat_count *count)
{
    static const struct gait honest = {"walking", 1, 1, 0, false, true, false, false, 0, 0};
    double from = gait->is_new ? 0 : HONEST, seconds = gait->in_arena ? 5.5 : from + 10;
    const struct gait *own = twin ? &honest : gait;
    walker->place.x = gait->in_arena ? -17.5 : 0;
    walker->place.y = gait->in_arena ? (twin ? FREE_Y : gait->y) : 0;
    walker->place.z = own->height;
    walker->accepted = walker->place;
    for (int i = 1; i <= (int)(seconds * HS_CROWD_HZ); i++) {
        double since = i * DT;
        bool tricks = since > from;
        double dt = DT * (tricks ? own->clock : 1);
        walker->clock += dt;
        walker->place.x += dt * walker->speed * (tricks ? own->speed : 1);
        if (tricks && own->hops)
            walker->base = fmin(floor((since - from) * HOPS), BASES - 1);
        if (!send_move(walker, own, tricks, BEGIN + since, tricks ? count : NULL))
            return false;
    }
    return true;
}

/* Creates rules that enforce all move checks. Sets a client_max_error that allows any distance
   between the client's position and the server's position. Returns NULL if memory runs out. */
static struct hs_ruleset *create_rules(void)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    if (ruleset == NULL)
        return NULL;
    ruleset->moves.client_max_error = 1e6;
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        ruleset->move_checks[i] = HS_MODE_ENFORCE;
    return ruleset;
}

bool hs_moving_compare(const struct hs_sim_arena *arena, const struct hs_cheat *cheat,
                       enum hs_link_kind link, uint64_t seed, struct hs_cheat_count *count)
{
    const struct gait *gait = &gaits[(int)cheat->amount];
    struct hs_ruleset *rules = create_rules();
    struct walker walkers[2] = {{0}};
    bool good = rules != NULL;
    for (int i = 0; good && i < 2; i++) {
        struct walker *walker = &walkers[i];
        walker->dice.state = seed;
        hs_link_draw(link, &walker->dice, &walker->link);
        uint16_t mode = hs_ruleset_find_move_mode(rules, HS_STR("walking"));
        walker->speed = rules->moves.modes[mode].max_speed;
        walker->clock = 1;
        walker->next_frame = BEGIN - 1;
        walker->match = hs_match_create(
            rules, &(struct hs_match_limits){.players = 2, .samples = 64, .movers = BASES});
        good = walker->match != NULL;
        if (good && gait->in_arena)
            hs_match_set_world(walker->match, arena->world);
        good = good && walk(walker, gait, i == 0, i == 0 ? NULL : count);
        hs_match_destroy(walker->match);
    }
    hs_ruleset_destroy(rules);
    hs_paired_add(&count->hits, walkers[0].metres, walkers[1].metres);
    if (gait->in_arena)
        count->extent = fmax(gait->height > 0 ? walkers[1].in_air : walkers[1].in_wall, 0);
    return good;
}
