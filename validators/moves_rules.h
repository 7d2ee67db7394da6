/* The `moves` part of a ruleset: all constants of the timing and movement checks. */
#ifndef HS_MOVES_RULES_H
#define HS_MOVES_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "linkage.h"
#include "str.h"
#include "vocabulary.h"

HS_PUBLIC_BEGIN

enum { HS_MAX_MOVE_MODES = 16 };

/* The sums of the move checks stay between minus and plus this value, even for absurd timestamps.
   The value is about three thousand years. A few such values can be added without an overflow. */
#define HS_MOVES_LONGEST_US INT64_C(100000000000000000)

/* A game that predicts by ping rewinds by half of clamp(ping - fudge, 0, min(wish, max)), where
   `wish` is the limit that the player chose. */
struct hs_prediction_rules {
    int64_t max_us;   /* the largest ping that is compensated */
    int64_t fudge_us; /* subtracted from a ping: the part that comes from the frame time, not from
                         the network */
    double dilation;  /* seconds of game time per second: a factor on the times of shots */
    bool zero_without_rtt; /* a player without any round trip has a ping of 0 */
};

/* A movement mode. */
struct hs_move_mode {
    struct hs_name name;
    double max_speed;      /* length/s, sideways and upwards; 0: not checked */
    double max_fall_speed; /* length/s, downwards; 0: the same as max_speed */
    double max_accel;      /* length/s^2; 0: not checked */
    double gravity;        /* length/s^2 downwards; 0: not checked */
    int64_t air_jumps;     /* number of jumps in the air until the player touches ground again */
    double credit;         /* seconds of max_speed that a player may save for later */
    double body_radius;    /* radius of the sphere that must fit through the world; 0: not
                              checked */
    double step;           /* largest distance to the ground below; 0: no ground is needed */
};

struct hs_moves_rules {
    enum hs_prevention prevention;

    /* The compatible timing check (clock/compat.h). */
    bool detection;
    int64_t max_margin_us;   /* a client that is ahead by more than this is flagged */
    int64_t min_margin_us;   /* <= 0; a client that is further behind counts as only this far
                                behind */
    double resolution_rate;  /* share of each move that pays back the discrepancy; 0 .. 1 */
    double drift_allowance;  /* seconds of discrepancy that are forgiven per second of server
                                time */
    bool force_corrections;  /* while a discrepancy is paid back, every move gets a correction */
    int64_t max_delta_us;    /* the largest simulated time of one move */
    int64_t min_delta_us;    /* shorter moves are not simulated */
    int64_t reset_period_us; /* the client's clock restarts at 0 after this time */

    /* Position. */
    double position_error_squared; /* length^2; a larger error needs a correction */
    double client_max_error; /* length; the server adopts the client's position if its error is
                                smaller; 0: never */
    int64_t ack_interval_us; /* smallest time between two acks */
    int64_t correction_interval_us; /* smallest time between two corrections */
    double large_error;             /* length; large_interval_us applies to errors of this size or
                                       more; 0: never */
    int64_t large_interval_us;      /* smallest time between corrections of large errors */
    int64_t forced_after_us;        /* silence after which the server may move the player */
    int64_t forced_for_us;          /* the longest time for which the server may move the player */
    struct hs_prediction_rules prediction;

    /* The default timing check (clock/guard.h). */
    int64_t credit_max_us;
    int64_t epoch_interval_us; /* smallest time between two epochs of a player's clock */
    int64_t ack_slack_us;      /* tolerance of AckBound */
    double ack_skew_ppm;       /* error that an honest clock may have */
    int64_t lead_block_us, lead_window_us, lead_clip_us;
    double lead_leak;      /* seconds of lead that are forgiven per second */
    int64_t lead_noise_us; /* the noise that doubles clip and threshold */
    int64_t lead_threshold_us, lead_threshold_without_rtt_us, lead_jump_us;

    struct hs_move_mode modes[HS_MAX_MOVE_MODES];
    uint16_t mode_count;
};

HS_PUBLIC_END

#endif
