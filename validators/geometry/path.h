/*
 * The path of a shot through space and time. A path consists of straight legs: one leg for an
 * instant shot, and many legs for a projectile. So each target is tested at its position at the
 * time when the projectile passed. Internal to validators/.
 */
#ifndef HS_PATH_H
#define HS_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/base/units.h"
#include "validators/sweep.h"

/* The maximum duration of a leg, 1/64 s. During a leg, bodies move but do not turn. In such a short
   time, a real body turns little. Shorter legs would cost more work. */
#define HS_LEG_US 15625

/* The maximum number of legs in a flight, to limit the work of one claim. Longer flights have
   longer legs. The extension beyond the end of the path is one more leg. */
#define HS_MAX_LEGS 512

struct hs_path {
    struct hs_vec start;
    struct hs_vec velocity;      /* at the start, length/s; flights only */
    struct hs_vec gravity;       /* acceleration, length/s^2; flights only */
    struct hs_vec direction;     /* unit vector; direction of the trace, or of the flight at its
                                    start */
    struct hs_vec end_direction; /* unit vector; direction of the extension */
    double length;               /* from start to end along the path, without the extension */
    double extension;            /* how far the path continues beyond the end; the extension takes
                                    no time */
    double radius;               /* radius of the swept sphere; length */
    double reach; /* distance at which an obstacle ends the path; without an obstacle, length +
                     extension */
    int64_t start_us, end_us;          /* equal for an instant path */
    uint32_t flight_legs;              /* 0 for an instant path */
    double travelled[HS_MAX_LEGS + 1]; /* flights only: distance from the path's start to the start
                                          of each leg, and to the end of the last leg */
};

struct hs_leg {
    struct hs_sweep sweep;
    double travelled; /* distance from the path's start to this leg's start */
    int64_t start_us, end_us;
};

/* Creates an instant path from start to end. If start and end are equal, the direction is (1, 0,
   0), and there is no extension. */
void hs_path_trace(struct hs_vec start, struct hs_vec end, double radius, double extension,
                   int64_t time_us, struct hs_path *out);

/*
 * Creates the path of a projectile that flies from start to end under gravity. `end_us` must be
 * after `start_us`. Each leg is a chord of the curve. A leg is at most `chord_error` away from the
 * curve, unless this accuracy would need more than HS_MAX_LEGS legs.
 */
void hs_path_flight(struct hs_vec start, struct hs_vec end, struct hs_vec gravity, double radius,
                    double extension, double chord_error, int64_t start_us, int64_t end_us,
                    struct hs_path *out);

/* hs_path_legs returns the number of legs up to `reach`. hs_path_leg computes one of these legs;
   the last leg ends at `reach`. */
uint32_t hs_path_legs(const struct hs_path *path);
void hs_path_leg(const struct hs_path *path, uint32_t i, struct hs_leg *out);

/* Returns the time at which the shot has travelled `distance`. */
int64_t hs_path_time(const struct hs_path *path, double distance);

/* Cuts a leg in two at `at_us`: *leg becomes the first part, *rest the second. If `at_us` is not
   strictly inside the leg, changes nothing and returns false. */
bool hs_leg_cut(struct hs_leg *leg, int64_t at_us, struct hs_leg *rest);

/* Returns the leg's sweep as seen from a body that moves by `motion` during the leg. */
struct hs_sweep hs_leg_relative(const struct hs_leg *leg, struct hs_vec motion);

/* Converts a contact to world coordinates. The contact must be on the sweep `relative`, which
   hs_leg_relative returned. Afterwards, the distances of the contact are measured from the start of
   the path. */
void hs_leg_to_world(const struct hs_leg *leg, const struct hs_sweep *relative,
                     struct hs_vec motion, struct hs_sweep_contact *contact);

/*
 * Computes how many seconds a projectile with this launch speed flies from start to end: *low on
 * the low arc, *high on the high arc. Without gravity, the two times are equal. Sets *needed to the
 * lowest speed that reaches the end (0 without gravity). Returns false if `speed` is too low.
 *
 * The times solve |d - g t^2 / 2| = v t, where d is end - start, g is the gravity and v is the
 * speed. The square of this equation is quadratic in t^2.
 */
bool hs_flight_times(struct hs_vec start, struct hs_vec end, struct hs_vec gravity, double speed,
                     double *low, double *high, double *needed);

/* Returns the distance from the origin (0, 0, 0) to the segment between `from` and
   `from + travel`. */
static inline double hs_segment_distance(struct hs_vec from, struct hs_vec travel)
{
    double squared = hs_vec_dot(travel, travel);
    double s = squared > 0 ? -hs_vec_dot(from, travel) / squared : 0;
    return hs_vec_length(hs_vec_add_scaled(from, travel, hs_clamp(s, 0, 1)));
}

#endif
