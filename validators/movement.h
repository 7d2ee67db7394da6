/*
 * How a body moves, from one move to the next: speed and acceleration of its way of moving,
 * gravity, jumps from place to place. Internal to validators/.
 *
 * Time is what the server granted (`delta_us` of the timing judge), never what the client says.
 * Speed and acceleration are credits that refill with that time and are spent by the way made, not
 * ratios of one move: what one short move exceeds, its neighbours may have saved. A body under
 * gravity may not gain more height than its launch pays for.
 *
 * Pure but for the state it is given, allocates nothing, not thread-safe on one state.
 */
#ifndef HS_MOVEMENT_H
#define HS_MOVEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "moves_rules.h"
#include "vec.h"
#include "vocabulary.h"

/* One move as movement sees it. */
struct hs_movement_step {
    struct hs_vec position; /* at the end of the move; relative to the base, if there is one */
    struct hs_vec velocity; /* as claimed; with has_velocity */
    bool has_velocity;
    struct hs_vec up;    /* unit */
    uint16_t mode;       /* index in the rules' modes; HS_NONE: not known, not judged */
    uint64_t base;       /* hash of its name; 0: none */
    double delta_us;     /* trusted */
    int64_t received_us; /* by the game server */
    int64_t rtt_us;      /* -1: not known */
    double jump_speed;   /* length/s: faster from one move to the next is a teleport */
    bool is_announced;   /* the server moved the player since the last move: teleport, spawn */
};

/* What a check found; measured <= limit passes. */
struct hs_movement_finding {
    bool failed;
    enum hs_unit unit;
    double measured, limit;
};

struct hs_movement_result {
    struct hs_movement_finding teleport, speed, acceleration, gravity;
};

/* Zero: nothing is known, the next step begins. */
struct hs_movement {
    struct hs_vec position, velocity; /* at the end of the last step judged */
    uint64_t base;
    bool has_begun;
};

/* Judges a step and takes it over. Findings of what could not be judged have not failed. */
void hs_movement_judge(struct hs_movement *movement, const struct hs_moves_rules *rules,
                       const struct hs_movement_step *step, struct hs_movement_result *out);

#endif
