/*
 * The path of a shot through space and time. An instant shot has one leg. The path of a projectile
 * has many legs, so that each target is tested at its position when the projectile passes. Internal
 * to validators/.
 */
#ifndef HS_PATH_H
#define HS_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/base/units.h"
#include "validators/sweep.h"

/* The maximum duration of a leg: 1/64 s, in which a body hardly turns. Bodies move within a leg,
   but keep the rotation that they have at the start of the leg. Legs of half this duration would
   double the work. */
#define HS_LEG_US 15625

/* The maximum number of legs of a flight. This number limits the work of one claim. If a flight
   needs more legs, its legs are made longer. The extension of the path is one more leg. */
#define HS_MAX_LEGS 512

struct hs_path {
    struct hs_vec start;
    struct hs_vec velocity;      /* at the start, length/s; flights only */
    struct hs_vec gravity;       /* acceleration, length/s^2; flights only */
    struct hs_vec direction;     /* unit; direction of the trace, or of the flight at its start */
    struct hs_vec end_direction; /* unit; direction of the extension */
    double length;               /* from start to end along the path, without the extension */
    double extension;            /* length beyond the end; the extension takes no time */
    double radius;               /* radius of the sphere, length */
    double reach; /* distance at which an obstacle ends the path; length + extension if no obstacle
                     does */
    int64_t start_us, end_us;          /* equal for an instant path */
    uint32_t flight_legs;              /* 0 for an instant path */
    double travelled[HS_MAX_LEGS + 1]; /* distance at the ends of the flight's legs; flights only */
};

struct hs_leg {
    struct hs_sweep sweep;
    double travelled;         /* distance before this leg */
    int64_t start_us, end_us; /* times at which the leg starts and ends */
};

/* Creates an instant path from start to end. If start and end are equal, the direction of the path
   is (1, 0, 0). */
void hs_path_trace(struct hs_vec start, struct hs_vec end, double radius, double extension,
                   int64_t time_us, struct hs_path *out);

/*
 * Creates the path of a flight from start to end under gravity. end_us is after start_us. Each leg
 * is a chord of the curve, and stays within `chord_error` of the curve, unless HS_MAX_LEGS is
 * reached.
 */
void hs_path_flight(struct hs_vec start, struct hs_vec end, struct hs_vec gravity, double radius,
                    double extension, double chord_error, int64_t start_us, int64_t end_us,
                    struct hs_path *out);

/* Returns the number of legs up to the reach of the path. hs_path_leg shortens the last leg so that
   it ends at the reach. */
uint32_t hs_path_legs(const struct hs_path *path);
void hs_path_leg(const struct hs_path *path, uint32_t i, struct hs_leg *out);

/* Returns the time at which the path has covered `distance`. */
int64_t hs_path_time(const struct hs_path *path, double distance);

/* Cuts a leg into two parts at a time that is strictly between the times of its ends. If the time
   is not between them, returns false and changes nothing. */
bool hs_leg_cut(struct hs_leg *leg, int64_t at_us, struct hs_leg *rest);

/* Returns the sweep of the leg relative to a body that moves by `motion` during the leg. */
struct hs_sweep hs_leg_relative(const struct hs_leg *leg, struct hs_vec motion);

/* Converts a contact of the sweep that hs_leg_relative returns into world coordinates. The
   distances of the contact are then measured along the whole path. */
void hs_leg_to_world(const struct hs_leg *leg, const struct hs_sweep *relative,
                     struct hs_vec motion, struct hs_sweep_contact *contact);

/*
 * Computes the seconds that a projectile with this launch speed needs from start to end under
 * gravity. *low is the time of the low arc, and *high is the time of the high arc. Without gravity
 * the two times are equal. If the speed is too low, returns false and sets *needed to the lowest
 * speed that reaches the end.
 *
 * The times are solutions of |d - g t^2 / 2| = v t. Squared, this is a quadratic equation in t^2.
 */
bool hs_flight_times(struct hs_vec start, struct hs_vec end, struct hs_vec gravity, double speed,
                     double *low, double *high, double *needed);

/* Returns the distance from the origin to the segment between `from` and `from + travel`. The
   nearest point of the segment is the foot of the perpendicular, clamped to the ends. */
static inline double hs_segment_distance(struct hs_vec from, struct hs_vec travel)
{
    double squared = hs_vec_dot(travel, travel);
    double s = squared > 0 ? -hs_vec_dot(from, travel) / squared : 0;
    return hs_vec_length(hs_vec_add_scaled(from, travel, hs_clamp(s, 0, 1)));
}

#endif
