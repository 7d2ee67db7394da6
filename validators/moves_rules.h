/* The `moves` part of a ruleset: every constant of the timing judges and of movement. */
#ifndef HS_MOVES_RULES_H
#define HS_MOVES_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "linkage.h"
#include "str.h"
#include "vocabulary.h"

HS_PUBLIC_BEGIN

enum { HS_MAX_MOVE_MODES = 16 };

/* What judges of moves add up stays within this of 0, however absurd the times of moves are: three
   thousand years, and no sum of a few of them overflows. */
#define HS_MOVES_LONGEST_US INT64_C(100000000000000000)

/* Half of clamp(ping - fudge, 0, min(wish, max)): how far back a game that predicts by ping looks.
 */
struct hs_prediction_rules {
    int64_t max_us;   /* no more of a ping is compensated */
    int64_t fudge_us; /* of a ping that is no delay: what a frame adds to it */
};

/* A way of moving. */
struct hs_move_mode {
    struct hs_name name;
    double max_speed; /* length/s */
    double max_accel; /* length/s^2; 0: not judged */
    double gravity;   /* length/s^2 downwards; 0: not judged */
    double credit;    /* seconds of max_speed that may be saved for later */
};

struct hs_moves_rules {
    enum hs_prevention prevention;

    /* The compatible judge. */
    bool detection;
    int64_t max_margin_us;   /* flagged when ahead by more */
    int64_t min_margin_us;   /* being behind by more is not remembered; <= 0 */
    double resolution_rate;  /* share of each move that pays back; 0 .. 1 */
    double drift_allowance;  /* seconds forgiven per server second */
    bool force_corrections;  /* while resolving, every move gets one */
    int64_t max_delta_us;    /* simulated time of one move */
    int64_t min_delta_us;    /* shorter moves are not simulated */
    int64_t reset_period_us; /* the client's clock restarts at 0 after this */

    /* Position. */
    double position_error_squared;  /* length^2: a larger one needs a correction */
    bool client_authoritative;      /* positions are taken over, and judged by movement alone */
    int64_t correction_interval_us; /* no more corrections than one in this time */
    int64_t forced_after_us;        /* silence after which the server may move the client */
    int64_t forced_for_us;          /* for at most this long */
    struct hs_prediction_rules prediction;

    /* The default judge. */
    int64_t credit_max_us;
    int64_t epoch_interval_us; /* a player's clock may begin anew no sooner */
    int64_t ack_slack_us;      /* of the proof */
    double ack_skew_ppm;       /* by which an honest clock may be off */
    int64_t lead_block_us, lead_window_us, lead_clip_us;
    double lead_leak;      /* seconds forgiven per second */
    int64_t lead_noise_us; /* noise that doubles clip and threshold */
    int64_t lead_threshold_us, lead_threshold_without_rtt_us, lead_jump_us;

    struct hs_move_mode modes[HS_MAX_MOVE_MODES];
    uint16_t mode_count;
};

HS_PUBLIC_END

#endif
