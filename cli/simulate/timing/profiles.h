/*
 * The networks for `simulate timing`. In each direction, a packet takes a base delay plus a random
 * jitter of 0 or more. A profile may add queues, stalls, losses, outages and handovers (changes of
 * the base delay). Packets never overtake each other. Times are seconds.
 */
#ifndef HS_SIMULATE_TIMING_PROFILES_H
#define HS_SIMULATE_TIMING_PROFILES_H

#include <stdbool.h>

#include "cli/simulate/dice.h"

enum hs_timing_profile {
    HS_TIMING_LAN,
    HS_TIMING_CABLE,
    HS_TIMING_WIFI,
    HS_TIMING_MOBILE,
    HS_TIMING_BAD,
    HS_TIMING_OUTAGE,
    HS_TIMING_PROFILES
};

extern const char *const hs_timing_profile_names[HS_TIMING_PROFILES]; /* for example "LAN" */

/* A kind of disturbance. Its duration is the sum of a uniform part, from `min` to `max`, and an
   exponential part. */
struct hs_timing_disturbance {
    double every; /* mean time from the end of a disturbance to the start of the next; 0: never */
    double min, max;
    double mean_further; /* mean of the exponential part; 0: no exponential part */
};

/* The current or the next disturbance in a series. */
struct hs_timing_spell {
    struct hs_timing_disturbance kind;
    double from, to;
    bool coin; /* a random bit, drawn for each disturbance */
    struct hs_dice dice;
};

/* Starts a series of disturbances. The first disturbance starts after `at`. */
struct hs_timing_spell hs_timing_spell_start(double at, struct hs_timing_disturbance kind,
                                             struct hs_dice dice);

/* Returns whether there is a disturbance at the time `at`. The time must not decrease from call to
   call. */
bool hs_timing_spell_on(struct hs_timing_spell *spell, double at);

/* One direction of a connection. */
struct hs_timing_line {
    enum hs_timing_profile profile;
    double base;
    /* state of an Ornstein-Uhlenbeck process, in standard deviations, and the time of this state */
    double queue, queue_at;
    double newest; /* arrival time of the newest packet; later packets never arrive before this
                      time */
    bool in_loss;  /* the last packet was lost in a loss run */
    struct hs_timing_spell stall, outage, handover;
    double handed_over; /* start of the last handover that was applied */
    struct hs_dice dice;
};

/* Starts both directions of a connection. Outages and handovers happen in both directions at the
   same time. */
void hs_timing_lines_start(enum hs_timing_profile profile, struct hs_dice *dice, double at,
                           struct hs_timing_line *up, struct hs_timing_line *down);

/* Sends a packet at `at`. The time must not decrease from call to call. Returns false if the packet
   is lost. */
bool hs_timing_line_send(struct hs_timing_line *line, double at, double *arrives);

/* Returns a normal random number with mean 0 and standard deviation 1. Unlike a number from
   hs_dice_normal, the number may lie far from the mean. */
double hs_timing_normal(struct hs_dice *dice);

#endif
