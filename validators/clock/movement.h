/*
 * How a body moves, from one move to the next: speed and acceleration of its way of moving,
 * gravity, jumps from place to place. Internal to validators/.
 *
 * Time is what the server granted (`delta_us` of the timing judge), never what the client says.
 * Speed and acceleration are credits that refill with that time and are spent by the way made, not
 * ratios of one move: what one short move exceeds, its neighbours may have saved. A body under
 * gravity may not keep more height than its launch pays for.
 *
 * One move may come for the time of many that were lost, and be granted less. What the client says
 * passed then counts as far as server time passed that no move has used yet: nobody gains by it
 * more than the time there was.
 *
 * What honest games do, and is therefore no offence:
 * - A body that walks keeps its horizontal speed on slopes and steps: the ways across `up` and
 *   along it are judged each by itself.
 * - Walls, landings and brakes stop a body at once: loss of speed is free, and so is turning, as
 *   long as it is not done at once. Only what is gained along the new direction is paid for, and
 *   only across `up`: a jump is a gain along it.
 * - A body under gravity is launched when its way of moving begins; after that it must slow down
 *   as gravity demands while it rises, and then fall at half of it at least, for it may slide down
 *   what is too steep to walk on. Two sudden changes upwards are let pass until it is on the ground
 *   again: jumps in the air, or landings whose moves were lost.
 *
 * Pure but for the state it is given, allocates nothing, not thread-safe on one state.
 */
#ifndef HS_MOVEMENT_H
#define HS_MOVEMENT_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "validators/moves_rules.h"
#include "validators/vec.h"
#include "validators/vocabulary.h"

/* One move as movement sees it. Numbers are finite, positions within 1e15 of 0. */
struct hs_movement_step {
    struct hs_vec position;  /* at the end of the move; relative to the base, if there is one */
    struct hs_vec velocity;  /* as claimed; with has_velocity */
    struct hs_vec corrected; /* where the server last told the client to be; with has_corrected */
    struct hs_vec up;        /* unit */
    uint64_t base;           /* hash of its name; 0: none. `corrected` is relative to it, too */
    double delta_us;         /* trusted */
    double client_us;        /* game time by the client's clock since the last step; 0: not known */
    double dilation;         /* of server time: 1, and 0 while the game is paused */
    double jump_speed;   /* length/s: faster from one move to the next is a teleport; 0: none is */
    int64_t received_us; /* by the game server */
    int64_t rtt_us;      /* -1: not known */
    uint16_t mode; /* index in the rules' modes; HS_NONE or none of them: not known, not judged */
    bool has_velocity, has_corrected;
    bool is_announced; /* the server moved the player since the last move: teleport, spawn */
};

/* What a check found. `measured` and `limit` are set where it failed, and measured > limit then. */
struct hs_movement_finding {
    bool failed;
    enum hs_unit unit;
    double measured, limit;
};

/*
 * teleport      length: from the last place to this one, and how far jump_speed reaches.
 * speed         length/s: the mean since the credit was last whole, and the mode's max_speed.
 *               Counted: changes of base, of which each hides a way, where these were too many.
 * acceleration  length/s^2: as speed.
 * gravity       length: height kept above where gravity would have the body, and what is let pass.
 */
struct hs_movement_result {
    struct hs_movement_finding teleport, speed, acceleration, gravity;
};

/* Time spent beyond what passed. Seconds, as modes with other limits share it: what is owed in one
   is owed in the next. */
struct hs_movement_pool {
    float owed_s;    /* 0: the credit is whole */
    float ceiling_s; /* the credit, or a former mode's larger one until that is paid back */
    float run_s;     /* since the credit was last whole */
};

/* Zero: nothing is known, the next step begins. */
struct hs_movement {
    struct hs_vec position; /* at the end of the last step */
    uint64_t base;
    int64_t received_us, window_until_us; /* until then the limits of old_mode count, too */
    struct hs_movement_pool speed, climbing, acceleration; /* speed: across up */
    float velocity[3];                                     /* across up; with velocity_source */
    float way[3], way_s; /* gathered until it is long enough to tell a velocity */
    float unused_us;     /* server time that no step has used yet */
    float rise;          /* the fastest climb that gravity leaves, length/s */
    float rise_age_s;    /* of `rise` at the beginning of what is gathered */
    float airborne_s;    /* in this mode before what is gathered */
    float last_climb;    /* of what was gathered before, length/s */
    float kept;          /* height above where gravity would have the body */
    float tick_us;       /* of the game server: mean time between arrivals; 0: not known */
    float base_changes;  /* less those long ago */
    uint16_t mode, old_mode;
    uint8_t velocity_source, bounces;
    bool has_begun;
};

static_assert(sizeof(struct hs_movement) <= 152, "kept for every player");

/*
 * Judges a step and takes it over, whatever is found: one cause is found once, as a credit that is
 * overdrawn starts anew. Findings of what could not be judged have not failed.
 *
 * A change of base hides the way from the last place to this one: position and velocity start anew,
 * nothing is refilled, and too many changes fail. After a change of mode the larger limit of the
 * two counts for rtt + 2 ticks; rtt is 0.2 s where it is not known, 1 s at most; a tick is the mean
 * time between arrivals, 0.05 s at most.
 */
void hs_movement_judge(struct hs_movement *movement, const struct hs_moves_rules *rules,
                       const struct hs_movement_step *step, struct hs_movement_result *out);

#endif
