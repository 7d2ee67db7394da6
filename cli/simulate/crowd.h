/*
 * The players in a simulated match, and how the game server moves them. Players run, stop, strafe,
 * crouch, jump, use portals, die and respawn between the walls of the arena. All ticks are computed
 * in advance, so shots do not affect the movement. A player with a knife runs after the nearest
 * enemy.
 */
#ifndef HS_SIMULATE_CROWD_H
#define HS_SIMULATE_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/simulate/arena.h"
#include "cli/simulate/dice.h"

enum { HS_CROWD = 10, HS_CROWD_HZ = 60 };

/* A player at one time. */
struct hs_sim_pose {
    struct hs_vec position; /* where the feet are */
    double yaw;      /* radians around +z; always 0 in a crowd, because the clients do the aiming */
    uint32_t jumps;  /* portals used and lives begun so far */
    uint32_t life;   /* lives begun so far */
    enum hs_arm arm; /* the weapon in hand */
    bool crouched, alive;
    bool is_protected; /* the player has just spawned and cannot be hit */
};

struct hs_crowd;

/* Creates the crowd, and computes the poses of all players in all ticks. `arm`: the weapon of all
   players; -1: the players change weapons. Returns NULL if memory runs out. */
struct hs_crowd *hs_crowd_create(size_t ticks, int arm, struct hs_dice *dice);
void hs_crowd_destroy(struct hs_crowd *crowd);

/* Returns the time of a tick on the server's clock, in seconds. */
double hs_crowd_time(size_t tick);
int64_t hs_crowd_time_us(size_t tick);

/* Returns the last tick at or before `time`, or the first tick if no tick is that early. */
size_t hs_crowd_tick(const struct hs_crowd *crowd, double time);

const struct hs_sim_pose *hs_crowd_at(const struct hs_crowd *crowd, unsigned who, size_t tick);

/* Returns the place of a player's feet at `time`, linearly interpolated between two ticks. If the
   player uses a portal or spawns between these ticks, returns the place at the first tick. */
struct hs_vec hs_crowd_place(const struct hs_crowd *crowd, unsigned who, double time);

/* Returns how long a player has been dead at `time`, in seconds; 0: the player is alive. */
double hs_crowd_dead_for(const struct hs_crowd *crowd, unsigned who, double time);

struct hs_str hs_crowd_name(unsigned who);
unsigned hs_crowd_team(unsigned who); /* 0 or 1 */

#endif
