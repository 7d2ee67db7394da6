/*
 * Checks how a body moves from one move to the next: speed, acceleration, gravity and teleports.
 * Each movement mode has its own limits. Internal to validators/.
 *
 * The duration of a step is the time that the server granted (`delta_us` of the timing checks). The
 * client's clock does not matter. There is one exception: a move that replaces many lost moves may
 * be granted less time than the lost moves took. Such a step may last as long as the client claims,
 * but no longer than the server time that no step has used yet. So no player gains time.
 *
 * Single moves are not compared with the limits of speed and acceleration. Instead, each limit has
 * a credit of time. Elapsed time refills the credit, and each move uses up the time that the same
 * movement would take at the limit. So a short move may exceed a limit if the moves before and
 * after it use less time than was granted to them.
 *
 * A body under gravity must not stay higher than its launch can explain.
 *
 * The following is allowed, because honest games do it:
 * - A walking body keeps its horizontal speed on slopes and steps. So the path across `up` and the
 *   path along `up` are checked separately. Downwards, max_fall_speed is the limit.
 * - Walls, landings and brakes stop a body at once. So slowing down and gradual turning are free.
 *   Only a gain of speed in the new direction uses credit. A gain along `up` uses no credit,
 *   because a jump is a gain along `up`.
 * - A body may be launched when it enters a mode with gravity. After that, gravity must slow its
 *   rise. Then the body must fall. Half of gravity is enough, because the body may slide down a
 *   steep slope. Until the body touches ground again, it may use the mode's air jumps. Two launches
 *   beyond the air jumps are allowed, because the moves of a landing may have been lost.
 * - The server may launch a body: a knock-back, a jump pad, a rocket jump. The velocity of the
 *   launch raises the speed limits, and allows a gain of velocity and one rise.
 *
 * The functions change only the given state, and allocate nothing. Calls with the same state are
 * not thread-safe.
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
    struct hs_vec corrected; /* position of the server's last correction; valid if has_corrected */
    struct hs_vec up;        /* unit */
    uint64_t base;           /* hash of the base's name; 0: no base. `corrected` is also relative to
                                this base */
    struct hs_vec base_path; /* path since the last step, if the base changed; valid if
                                has_base_path */
    double delta_us;         /* time granted by the server */
    double client_us;        /* game time by the client's clock since the last step; 0: unknown */
    double dilation;         /* game seconds per server second; 0 while the game is paused */
    double jump_speed; /* length/s; faster movement between two moves is a teleport; 0: no limit */
    double launch_speed; /* length/s; remaining speed of the server's launch across `up`; 0: no
                            launch */
    double launch_climb; /* length/s; remaining upward speed of the launch; 0: no upward speed */
    double credit_s;     /* speed credit for moves that arrive unevenly; valid if has_credit */
    double announced_us; /* server time since the announced teleport or spawn; valid if
                            is_announced */
    int64_t received_us; /* arrival at the game server */
    int64_t rtt_us;      /* -1: unknown */
    uint16_t mode; /* index in the rules' modes; any other value, such as HS_NONE: unknown, not
                      checked */
    bool has_velocity, has_corrected, has_base_path, has_credit;
    bool is_announced;  /* the server announced a teleport or a spawn since the last move */
    bool may_be_thrown; /* the server's launch still allows one rise */
};

/* The finding of one check. If the check failed, `measured` and `limit` are set, and measured >
   limit. */
struct hs_movement_finding {
    bool failed;
    enum hs_unit unit;
    double measured, limit;
};

/*
 * teleport      length: distance from the last position; limit: the distance at jump_speed
 * speed         length/s: mean since the credit was last full; limit: max_speed of the mode.
 *               count: changes of base that hid the body's path, if there were too many
 * acceleration  length/s^2: mean since the credit was last full; limit: max_accel
 * gravity       length: how much higher the body is than gravity allows; limit: the tolerance
 */
struct hs_movement_result {
    struct hs_movement_finding teleport, speed, acceleration, gravity;
    double time_us;  /* duration of the step as the checks counted it; at least delta_us */
    bool was_thrown; /* this step's rise used the server's launch */
};

/* The time credit for one limit. A debt stays when the mode changes. */
struct hs_movement_pool {
    float owed_s;    /* time used beyond the elapsed time; 0: the credit is full */
    float ceiling_s; /* largest allowed debt; may exceed the mode's credit while a debt from an
                        earlier mode is open */
    float run_s;     /* time since the credit was last full */
};

/* The movement of one player so far. All zero before the first step. */
struct hs_movement {
    struct hs_vec position; /* at the end of the last step */
    uint64_t base;
    /* Arrival of the last step. Until window_until_us, the limits of old_mode apply too. */
    int64_t received_us, window_until_us;
    struct hs_movement_pool speed, climbing, acceleration; /* `speed` is across `up`, `climbing` is
                                                              along `up` */
    float velocity[3];                                     /* across `up`; valid if velocity_source
                                                              is set */
    float gathered[3], gathered_s; /* path and time, summed until a velocity can be derived */
    float unused_us;               /* server time that no step has used yet */
    float rise;                    /* highest climbing speed that gravity allows, length/s */
    float rise_age_s;              /* age of `rise` when `gathered_s` was last 0 */
    float airborne_s;              /* time in this mode, or since a later launch; without
                                      `gathered_s` */
    float last_climb;              /* climbing speed when `gathered` was last checked, length/s */
    float kept;    /* length by which the player is higher than a body under gravity would be */
    float tick_us; /* mean time between arrivals at the game server; 0: unknown */
    float base_changes; /* number of changes of base; decays over time */
    uint16_t mode, old_mode;
    uint8_t velocity_source, bounces;
    bool has_begun;
};

static_assert(sizeof(struct hs_movement) <= 152, "kept for every player");

/* Returns the largest fall speed in a mode; HUGE_VAL: the fall speed is not limited. */
double hs_move_mode_fall_speed(const struct hs_move_mode *mode);

/*
 * Checks a step and stores it, even if a check fails. If a credit is overdrawn, it is refilled, so
 * that one cause leads to one finding. A caller that refuses the step must restore the state from
 * before the step, and add the time of the refused step to the next step. A check that lacks data
 * does not fail.
 *
 * When the body moves to another base (the mover under the player), the tracking of its velocity
 * and of its flight starts again, but a used-up credit is not refilled. For this step, the speed
 * check uses `base_path`. Without `base_path`, the body's path is unknown, and the speed check
 * fails only if changes of base without `base_path` are too frequent.
 *
 * After a change of mode, the larger of the two modes' limits applies for one round trip plus two
 * ticks. The round trip counts as at most 1 s, and as 0.2 s if it is unknown. A tick is the mean
 * time between arrivals, at most 0.05 s.
 */
void hs_movement_check(struct hs_movement *movement, const struct hs_moves_rules *rules,
                       const struct hs_movement_step *step, struct hs_movement_result *out);

/*
 * Records that the dilation fell by `slowed_by`. Call this before the first step with the lower
 * dilation, or for the first refused move with it. The client learns of the change late. So the old
 * dilation still counts for one round trip plus two ticks, like the old limits after a change of
 * mode, but for no longer than it was in force (slowed_after_us). rtt_us is -1 if unknown.
 */
void hs_movement_slow_down(struct hs_movement *movement, double slowed_by, double slowed_after_us,
                           int64_t rtt_us);

/*
 * The server put the body somewhere at the time `event_us`: the body spawned or was teleported. Of
 * the time before this event, later steps can use at most `credit.max`. Does nothing if a step
 * arrived at this time or later.
 */
void hs_movement_skip_before(struct hs_movement *movement, const struct hs_moves_rules *rules,
                             int64_t event_us);

/* The game was paused from the last step until `until_us`, so later steps cannot use this time. */
void hs_movement_pause(struct hs_movement *movement, const struct hs_moves_rules *rules,
                       int64_t until_us);

#endif
