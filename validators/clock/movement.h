/*
 * Movement of a body from one move to the next: speed and acceleration of its movement mode,
 * gravity, and teleports. Internal to validators/.
 *
 * Time is the time that the server granted (`delta_us` of the timing checks), never the client's
 * own time. Each mode has a credit of time for speed, and a credit of time for acceleration.
 * Granted time refills a credit, and the path uses it up. So single moves are not compared with the
 * limits. A short move may exceed a limit if the moves before and after it use less time than was
 * granted to them.
 *
 * One move may replace many lost moves, and may be granted less time than the lost moves took. In
 * that case the client's time is used, up to the server time that no move has used yet. So no
 * player gains time.
 *
 * A body under gravity must not stay higher than its launch explains.
 *
 * Honest games do the following, so it is allowed:
 * - A walking body keeps its horizontal speed on slopes and steps. So the path across `up` and the
 *   path along `up` are checked separately. Downwards, max_fall_speed is the limit.
 * - Walls, landings and brakes stop a body at once. So a loss of speed costs nothing, and neither
 *   does gradual turning. Only a gain of speed in the new direction uses credit, and only across
 *   `up`, because a jump is a gain along `up`.
 * - A body under gravity is launched when its movement mode begins. After that its rise must slow
 *   down by gravity. Then it must fall with at least half of gravity, because it may slide down a
 *   steep slope. Until the body is on the ground again, it may use the mode's jumps in the air. Two
 *   more launches are allowed for landings whose moves were lost.
 * - The server may launch a body: a knock-back, a jump pad, a rocket jump. The velocity of the
 *   launch raises the speed limits. The launch also allows a gain of velocity, and one rise.
 *
 * The functions change only the given state, and allocate nothing. They are not thread-safe on one
 * state.
 */
#ifndef HS_MOVEMENT_H
#define HS_MOVEMENT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "validators/moves_rules.h"
#include "validators/vec.h"
#include "validators/vocabulary.h"

/* One move, as input of the movement checks. Numbers are finite, and positions are within 1e15 of
   0. */
struct hs_movement_step {
    struct hs_vec position;  /* at the end of the move; relative to the base if there is one */
    struct hs_vec velocity;  /* as the client claims it; valid if has_velocity */
    struct hs_vec corrected; /* where the server last put the client; valid if has_corrected */
    struct hs_vec up;        /* unit */
    uint64_t base;           /* hash of the base's name; 0: no base. `corrected` is also relative to
                                this base */
    struct hs_vec base_path; /* path since the last step, on a change of base; valid if
                                has_base_path */
    double delta_us;         /* time granted by the server */
    double client_us;        /* game time by the client's clock since the last step; 0: unknown */
    double dilation;         /* speed of server time; 1, or 0 while the game is paused */
    double jump_speed;   /* length/s; a faster movement from one move to the next is a teleport; 0:
                            no limit */
    double launch_speed; /* length/s; remaining speed of the server's launch across `up`; 0: no
                            launch */
    double launch_climb; /* length/s; remaining upward speed of the launch; 0: no upward speed */
    double credit_s;     /* speed credit that the connection needs; valid if has_credit */
    int64_t received_us; /* arrival at the game server */
    int64_t rtt_us;      /* -1: unknown */
    uint16_t mode; /* index in the rules' modes; any other value, such as HS_NONE: unknown, not
                      checked */
    bool has_velocity, has_corrected, has_base_path, has_credit;
    bool is_announced;  /* the server announced a jump since the last move: teleport, spawn */
    bool may_be_thrown; /* no rise has used the launch yet */
};

/* The finding of one check. If the check failed, `measured` and `limit` are set, and measured >
   limit. */
struct hs_movement_finding {
    bool failed;
    enum hs_unit unit;
    double measured, limit;
};

/*
 * teleport      length: distance from the last position; limit: the path at jump_speed
 * speed         length/s: mean since the credit was last full; limit: max_speed of the mode.
 *               count: changes of base, if there were too many. Each change hides a path.
 * acceleration  length/s^2: mean since the credit was last full; limit: max_accel
 * gravity       length: height above a body under gravity; limit: the allowed height above it
 */
struct hs_movement_result {
    struct hs_movement_finding teleport, speed, acceleration, gravity;
    double time_us;  /* time that counted for the step: at least delta_us */
    bool was_thrown; /* a rise used the launch; only set if may_be_thrown was set */
};

/* A credit of time for one limit of the mode. All modes share this credit, so a debt stays when the
   mode changes. */
struct hs_movement_pool {
    float owed_s;    /* time used beyond the granted time, in seconds; 0: the credit is full */
    float ceiling_s; /* largest allowed debt. While a larger debt from an earlier mode is open, the
                        limit of that mode applies */
    float run_s;     /* time since the credit was last full */
};

/* The movement of one player so far. All zero before the first step. */
struct hs_movement {
    struct hs_vec position; /* at the end of the last step */
    uint64_t base;
    int64_t received_us, window_until_us; /* arrival of the last step; end of the time in which the
                                             limits of old_mode apply too */
    struct hs_movement_pool speed, climbing, acceleration; /* `speed` is across `up`, `climbing` is
                                                              along `up` */
    float velocity[3];                                     /* across `up`; valid if velocity_source
                                                              is set */
    float gathered[3], gathered_s; /* path and time gathered until a velocity can be derived */
    float unused_us;               /* server time that no step has used yet */
    float rise;                    /* the fastest climb that gravity allows now, length/s */
    float rise_age_s;              /* age of `rise` at the start of the gathered time */
    float airborne_s;              /* time in this mode before the gathered time */
    float last_climb;              /* climb in the previous gathered time, length/s */
    float kept;    /* length by which the player is higher than a body under gravity would be */
    float tick_us; /* mean time between arrivals at the game server; 0: unknown */
    float base_changes; /* number of changes of base, which decays over time */
    uint16_t mode, old_mode;
    uint8_t velocity_source, bounces;
    bool has_begun;
};

static_assert(sizeof(struct hs_movement) <= 152, "kept for every player");

/*
 * Checks a step and stores it, whatever the findings are. An overdrawn credit becomes full again,
 * so that one cause gives one finding. This suits callers that only count findings. A caller that
 * refuses a step must keep the state from before the step, and add the step's time to the next
 * step. A check that cannot run does not fail.
 *
 * A change of base restarts the tracking of position and velocity, and refills no credit. The speed
 * check uses `base_path`. Without `base_path` the change hides the path of the body, so the check
 * fails if there are too many changes.
 *
 * After a change of mode, the larger of the two modes' limits applies for the round trip (at most 1
 * s) plus 2 ticks. An unknown round trip counts as 0.2 s. A tick is the mean time between arrivals,
 * at most 0.05 s.
 */
void hs_movement_check(struct hs_movement *movement, const struct hs_moves_rules *rules,
                       const struct hs_movement_step *step, struct hs_movement_result *out);

#endif
