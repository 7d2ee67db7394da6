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

/* The move checks limit their sums of times to plus or minus this value, about three thousand
   years. So absurd timestamps cannot make an int64_t overflow, even if a few of these sums are
   added. */
#define HS_MOVES_LONGEST_US INT64_C(100000000000000000)

/* Rules for games that rewind by half of the shooter's ping. The exact time is half of
   clamp(ping - fudge, 0, min(wish, max)). `wish` is a limit that the player chose. */
struct hs_prediction_rules {
    int64_t max_us;        /* the largest ping that is compensated */
    int64_t fudge_us;      /* the part of a ping that comes from the frame time, not the network */
    double dilation;       /* seconds of game time per second of real time */
    bool zero_without_rtt; /* if no round trip of a player is known, their ping counts as 0 */
};

struct hs_move_mode {
    struct hs_name name;
    double max_speed;      /* length/s, sideways and upwards; 0: not checked */
    double max_fall_speed; /* length/s, downwards; 0: the same as max_speed */
    double max_accel;      /* length/s^2; 0: not checked */
    double gravity;        /* length/s^2 downwards; 0: not checked */
    int64_t air_jumps;     /* how many times a player may jump in the air before they land */
    double credit;         /* a player may save up to this many seconds of movement at max_speed */
    double body_radius;    /* length; a sphere with this radius must fit along the path through the
                              world; 0: not checked */
    double step;           /* length; largest distance to the ground below; 0: not checked */
};

struct hs_moves_rules {
    enum hs_prevention prevention;

    /* The compatible timing check (clock/compat.h). */
    bool detection;
    int64_t max_margin_us;   /* if a client's clock is ahead by more than this, the client fails the
                                check */
    int64_t min_margin_us;   /* <= 0; lower limit of the discrepancy; below 0: the client's clock is
                                behind */
    double resolution_rate;  /* 0 .. 1; share of each move's time that pays back the discrepancy */
    double drift_allowance;  /* discrepancy that is forgiven, in seconds per second of server
                                time */
    bool force_corrections;  /* while a discrepancy is paid back, every move gets a correction */
    int64_t max_delta_us;    /* the largest time that is simulated for one move */
    int64_t min_delta_us;    /* shorter moves are not simulated */
    int64_t reset_period_us; /* clients may restart their timestamps at 0 after this time */

    /* Position. */
    double position_error_squared;  /* length^2; a larger squared error of the position needs a
                                       correction */
    double client_max_error;        /* length; if above 0, errors up to this need no correction:
                                       the server adopts the client's position */
    int64_t ack_interval_us;        /* minimum time between two acks */
    int64_t correction_interval_us; /* minimum time between two corrections */
    double large_error; /* length; errors of at least this use large_interval_us instead of
                           correction_interval_us; 0: large_interval_us is never used */
    int64_t large_interval_us;
    int64_t forced_after_us; /* the server may move a player who was silent for this long */
    int64_t forced_for_us;   /* maximum time for which the server may move the player */
    struct hs_prediction_rules prediction;

    /* The default timing check (clock/guard.h). */
    int64_t credit_max_us;
    int64_t epoch_interval_us; /* minimum time before a player's clock may be restarted again */
    int64_t ack_slack_us;      /* tolerance of the detector AckBound */
    double ack_skew_ppm;       /* how wrong the speed of an honest clock may be */
    int64_t lead_block_us, lead_window_us, lead_clip_us;
    double lead_leak;      /* lead that is forgiven, in seconds per second */
    int64_t lead_noise_us; /* lead_clip_us and the thresholds grow with the noise of a connection;
                              noise of this length doubles them */
    int64_t lead_threshold_us, lead_threshold_without_rtt_us, lead_jump_us;

    struct hs_move_mode modes[HS_MAX_MOVE_MODES];
    uint16_t mode_count;
};

HS_PUBLIC_END

#endif
