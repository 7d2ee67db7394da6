/*
 * The frames that a game server has posted, and interpolation between them. The server also sends
 * some of these frames to its clients as snapshots.
 */
#ifndef HS_SIMULATE_FILM_H
#define HS_SIMULATE_FILM_H

#include "cli/simulate/crowd.h"

struct hs_film_frame {
    double time; /* seconds on the server's clock */
    struct hs_sim_pose people[HS_CROWD];
};

struct hs_film {
    struct hs_film_frame *frames;
    size_t count;
};

/* A time, with the frames before and after this time. */
struct hs_moment {
    size_t from, to; /* indices of the frames; equal if there is no later frame */
    double alpha;    /* 0 .. 1: where the time lies between the two frames */
    double time;
};

/* Finds the frames around `time`. If `time` is after the last frame, `from`, `to` and `out->time`
   describe the last frame. Returns false if `time` is before the first frame. */
bool hs_film_find(const struct hs_film *film, double time, struct hs_moment *out);

/* Computes a player's pose at `time`. Interpolates the position and the yaw; the yaw turns in the
   shorter direction. If the player used a portal or spawned between the two frames, does not
   interpolate. Takes everything else from the older frame. Returns false if `time` is before the
   first frame. */
bool hs_film_pose(const struct hs_film *film, double time, unsigned who, struct hs_sim_pose *out);

/* Computes a player's pose at a moment from the values that clients receive: positions in single
   precision, yaw in 16 bits. */
void hs_film_pose_sent(const struct hs_film *film, const struct hs_moment *moment, unsigned who,
                       struct hs_sim_pose *out);

struct hs_vec hs_to_single(struct hs_vec v);

/* Computes the hitboxes for a pose. Ignores the rotations of bones and hitboxes, because the
   arena's rig has no rotations. */
void hs_pose_body(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                  struct hs_body *out);

/* The first contact of a shot. */
struct hs_first {
    int who;              /* the player; -1: the world, or nothing */
    uint16_t hitbox;      /* index of the touched hitbox */
    double distance;      /* distance from the shot's start; the shot's length if the shot touches
                             nothing */
    struct hs_vec normal; /* surface normal, if the contact is with the world */
};

/* Returns whether a sweep touches the body at a distance of less than `out->distance`. If so, sets
   `out->hitbox` and `out->distance` to the first contact. */
bool hs_pose_touch(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                   const struct hs_sweep *sweep, struct hs_first *out);

/* Returns the smallest gap between a shot and a body; negative if the shot passes through the
   body. */
double hs_pose_gap(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                   const struct hs_sweep *sweep);

/* Returns the distance from a point to the nearest surface of a body; 0 inside. */
double hs_pose_distance(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                        struct hs_vec point);

/* Returns whether the world hides the body's centre, top and bottom from the point `from`. */
bool hs_pose_is_hidden(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                       struct hs_vec from);

/* Returns the sweep between two different points. */
struct hs_sweep hs_sweep_between(struct hs_vec from, struct hs_vec to, double radius);

#endif
