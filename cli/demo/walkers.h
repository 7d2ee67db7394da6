/*
 * People who walk, run and jump about an arena: where each of them is at every tick of a 64 Hz
 * game, and, seen from a client, at any time between two ticks. Metres, seconds, z up.
 */
#ifndef HS_PLAY_WALKERS_H
#define HS_PLAY_WALKERS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/demo/arena.h"
#include "cli/simulate/dice.h"
#include "validators/history/rewind.h"
#include "validators/ruleset.h"

enum { HS_WALKERS = 9, HS_WALK_HZ = 64 };

struct hs_walk_pose {
    struct hs_vec position; /* of the feet, in whole tenths of a millimetre */
    double yaw;             /* radians */
    bool alive;
    bool spawned; /* came (back) to life in this tick, possibly far from where he died */
    bool died;    /* in this tick */
};

struct hs_walkers;

/* `ticks` of room, none walked yet; the arena is borrowed. NULL: out of memory. */
struct hs_walkers *hs_walkers_create(const struct hs_arena *arena, size_t ticks);
void hs_walkers_destroy(struct hs_walkers *walkers);

/* Everybody moves on by one tick. Not beyond the room given. */
void hs_walkers_step(struct hs_walkers *walkers, struct hs_dice *dice);

/* He is dead from the next tick on, and spawns anew some seconds later. */
void hs_walkers_kill(struct hs_walkers *walkers, unsigned walker);

double hs_walkers_time(size_t tick); /* seconds on the clock of the match */
const struct hs_walk_pose *hs_walkers_at(const struct hs_walkers *walkers, unsigned walker,
                                         size_t tick);

/*
 * What a client shows of a walker at a time: the pose between two ticks, on a straight line; up
 * to the spawn the old place. False before the first tick; after the last one the last.
 */
bool hs_walkers_seen(const struct hs_walkers *walkers, unsigned walker, double time,
                     struct hs_walk_pose *out);

/* How far the door of the arena is open; as clients show it, a straight line between two ticks. */
double hs_walkers_opening_at(const struct hs_walkers *walkers, size_t tick);
double hs_walkers_opening(const struct hs_walkers *walkers, double time);

/* The hitboxes of somebody upright in a stance of the rig, whose bones and hitboxes are not turned
   within it. `yaw`: radians around +z. */
void hs_upright_body(struct hs_vec position, double yaw, const struct hs_rig *rig, unsigned stance,
                     struct hs_body *out);

/* His hitboxes: those of the rig's first stance, standing upright at the pose. */
void hs_walk_body(const struct hs_walk_pose *pose, const struct hs_rig *rig, struct hs_body *out);

#endif
