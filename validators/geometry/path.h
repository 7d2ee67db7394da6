/*
 * The way of a shot through space and time: one leg for what is instant, many for a projectile,
 * so that targets are met where they are when it passes them. Internal to validators/.
 */
#ifndef HS_PATH_H
#define HS_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/sweep.h"

/* A leg is at most this long in time, so that a body hardly turns within it: 1/64 s. Bodies move
   within a leg; only their turning is rounded to its start. Halving it doubles the work. */
#define HS_LEG_US 15625

/* More legs than this and they get longer instead: a bound on the work of one claim. */
#define HS_MAX_LEGS 512

struct hs_path {
    struct hs_vec start;
    struct hs_vec velocity;            /* at the start; length/s; of a flight */
    struct hs_vec gravity;             /* acceleration, length/s^2; of a flight */
    struct hs_vec direction;           /* unit: of the trace, or of the launch */
    struct hs_vec end_direction;       /* unit: along which the extension lies */
    double length;                     /* from start to end along the way, without the extension */
    double extension;                  /* beyond the end, at the end's time */
    double radius;                     /* of the sphere */
    double reach;                      /* the way ends here: something stands in it; at most length
                                          and extension */
    int64_t start_us, end_us;          /* equal: instant */
    uint32_t flight_legs;              /* 0 when instant */
    double travelled[HS_MAX_LEGS + 1]; /* length at the ends of the legs of a flight */
};

struct hs_leg {
    struct hs_sweep sweep;
    double travelled;         /* length before this leg */
    int64_t start_us, end_us; /* times at its ends */
};

/* An instant path from start to end. The two must differ for a direction; else it is (1,0,0). */
void hs_path_trace(struct hs_vec start, struct hs_vec end, double radius, double extension,
                   int64_t time_us, struct hs_path *out);

/*
 * A flight from start to end under gravity in the time between start_us and end_us (> 0). Legs are
 * short enough that the chord is nowhere further than `chord_error` from the curve (as far as
 * HS_MAX_LEGS goes).
 */
void hs_path_flight(struct hs_vec start, struct hs_vec end, struct hs_vec gravity, double radius,
                    double extension, double chord_error, int64_t start_us, int64_t end_us,
                    struct hs_path *out);

/* Legs as far as the path reaches; the last may be shorter than it was. */
uint32_t hs_path_legs(const struct hs_path *path);
void hs_path_leg(const struct hs_path *path, uint32_t i, struct hs_leg *out);

/* The time at which the path has travelled a distance. */
int64_t hs_path_time(const struct hs_path *path, double distance);

/* Cuts a leg in two at a time between its ends. False when the time is not inside. */
bool hs_leg_cut(struct hs_leg *leg, int64_t at_us, struct hs_leg *rest);

/* The leg's sweep as seen from something that moves by `motion` while the leg lasts. */
struct hs_sweep hs_leg_relative(const struct hs_leg *leg, struct hs_vec motion);

/* A contact of that relative sweep, as it is in the world; distances count along the path. */
void hs_leg_to_world(const struct hs_leg *leg, const struct hs_sweep *relative,
                     struct hs_vec motion, struct hs_sweep_contact *contact);

/*
 * Seconds a projectile of that launch speed takes from start to end under gravity: the low arc in
 * *low, the high one in *high (equal without gravity). False when the speed does not carry that
 * far; *needed is then the smallest speed that would.
 *
 * |d - g t^2 / 2| = v t, squared, is a quadratic in t^2.
 */
bool hs_flight_times(struct hs_vec start, struct hs_vec end, struct hs_vec gravity, double speed,
                     double *low, double *high, double *needed);

#endif
