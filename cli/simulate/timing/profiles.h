/*
 * The networks of simulated movers: one way takes a base delay, a jitter that only adds, and what
 * its kind has of queues, stalls, losses, outages and changes of route. Packets keep their order.
 * Times are seconds.
 */
#ifndef HS_SIMULATE_TIMING_PROFILES_H
#define HS_SIMULATE_TIMING_PROFILES_H

#include <stdbool.h>

#include "cli/simulate/dice.h"

#define HS_TIMING_PROFILE_LIST(X) X(LAN) X(CABLE) X(WIFI) X(MOBILE) X(BAD) X(OUTAGE)

enum hs_timing_profile {
#define X(name) HS_TIMING_##name,
    HS_TIMING_PROFILE_LIST(X)
#undef X
        HS_TIMING_PROFILES
};

const char *hs_timing_profile_name(enum hs_timing_profile profile);

/* Letters of either case. False: there is no such profile. */
bool hs_timing_profile_parse(const char *name, enum hs_timing_profile *out);

/* Something that happens now and then, and lasts. */
struct hs_timing_spell {
    double from, to;
    double every;        /* mean time from the end of one to the next; 0: never */
    double least, most;  /* of its length: uniform, and then ... */
    double mean_further; /* ... exponential with this mean */
    bool coin;           /* thrown anew for each */
    struct hs_dice dice;
};

/* The first of them is still to come. */
struct hs_timing_spell hs_timing_spell_start(double at, double every, double least, double most,
                                             double mean_further, struct hs_dice dice);

/* Whether one is on at `at`; times asked for never decrease. */
bool hs_timing_spell_on(struct hs_timing_spell *spell, double at);

/* One direction. */
struct hs_timing_line {
    enum hs_timing_profile profile;
    double base;
    double queue, queue_at; /* of an Ornstein-Uhlenbeck process, in deviations */
    double newest;          /* arrival: nothing sent later comes before it */
    bool in_loss;           /* a burst of losses goes on */
    struct hs_timing_spell stall, outage, handover;
    double handed_over; /* start of the last change of route seen */
    struct hs_dice dice;
};

/* The line to the server and the line back: outages and changes of route meet both. */
void hs_timing_lines_start(enum hs_timing_profile profile, struct hs_dice *dice, double at,
                           struct hs_timing_line *up, struct hs_timing_line *down);

/* Sends a packet; times never decrease. False: lost. */
bool hs_timing_line_send(struct hs_timing_line *line, double at, double *arrives);

/* 0 < mean: exponentially distributed. */
double hs_timing_exponential(struct hs_dice *dice, double mean);

/* Mean 0, deviation 1, with its tails. */
double hs_timing_normal(struct hs_dice *dice);

#endif
