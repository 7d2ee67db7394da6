/*
 * The frames that a game server has posted, and the poses between two frames. The frames are also
 * the snapshots that the server sends to its clients.
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

/* A time, with the two frames before and after it. */
struct hs_moment {
    /* Indices of the two frames; equal if the time is the time of a frame, or after the newest
       frame. */
    size_t from, to;
    double alpha; /* 0 .. 1: position of the time between the two frames */
    double time;
};

/* Finds the frames around a time. For a time after the last frame, `from` and `to` are the last
   frame. Returns false if the time is before the first frame. */
bool hs_film_find(const struct hs_film *film, double time, struct hs_moment *out);

/* Computes a player's pose at a time. Positions follow a straight line, and the yaw follows the
   shorter turn. Across a portal or spawn, position and yaw are taken from the older frame. All
   other members always come from the older frame. Returns false if the time is before the first
   frame. */
bool hs_film_pose(const struct hs_film *film, double time, unsigned who, struct hs_sim_pose *out);

/* Computes a player's pose at a moment as clients receive it: positions in single precision, yaw in
   16 bits. */
void hs_film_pose_sent(const struct hs_film *film, const struct hs_moment *moment, unsigned who,
                       struct hs_sim_pose *out);

struct hs_vec hs_to_single(struct hs_vec v);

/* Computes the hitboxes of a pose. Does not rotate bones or hitboxes, because the arena's rig has
   no rotations. */
void hs_pose_body(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                  struct hs_body *out);

/* The first contact of a shot. */
struct hs_first {
    int who;         /* the player; -1: the world, or nothing */
    uint16_t hitbox; /* index of the touched hitbox */
    double distance; /* distance from the start; the shot's length if the shot touches nothing */
    struct hs_vec normal; /* normal of the world's surface at the contact */
};

/* Returns whether a sweep touches the body before `out->distance`. If so, sets hitbox and
   distance. */
bool hs_pose_touch(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                   const struct hs_sweep *sweep, struct hs_first *out);

/* Returns the smallest gap between a shot and a body; negative if the shot goes through the
   body. */
double hs_pose_gap(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                   const struct hs_sweep *sweep);

/* Returns the distance from a point to the nearest surface of a body; 0 inside. */
double hs_pose_distance(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                        struct hs_vec point);

/* Returns whether the world hides the body's centre, top and bottom from a point. */
bool hs_pose_is_hidden(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                       struct hs_vec from);

/* Returns the sweep between two different points. */
struct hs_sweep hs_sweep_between(struct hs_vec from, struct hs_vec to, double radius);

#endif
