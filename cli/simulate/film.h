/*
 * What the game server showed of its people: the frames it posted, which are also what clients get
 * to see, and poses between two of them.
 */
#ifndef HS_SIMULATE_FILM_H
#define HS_SIMULATE_FILM_H

#include "cli/simulate/crowd.h"

struct hs_sim_pose {
    struct hs_vec position; /* of the feet */
    double yaw;             /* radians around +z */
    uint32_t jumps, life;
    bool crouched, alive, is_protected;
};

struct hs_film_frame {
    double time; /* seconds on the server's clock */
    struct hs_sim_pose people[HS_CROWD];
};

struct hs_film {
    struct hs_film_frame *frames;
    size_t count;
};

/* Two frames, how far between them, and the time that is. */
struct hs_moment {
    size_t from, to; /* equal: exactly that frame, or the newest there is */
    double alpha;
    double time;
};

/* The moment of a time, from the frames there are; false before the first. After the last one: the
   last, whose time it then has. */
bool hs_film_find(const struct hs_film *film, double time, struct hs_moment *out);

/* A straight line, the shorter turn; what does not blend is the older frame's, as is everything
   where somebody jumps in between. */
void hs_film_pose(const struct hs_film *film, const struct hs_moment *moment, unsigned who,
                  struct hs_sim_pose *out);

/* The same as it comes over the wire: positions in single precision, the yaw in 16 bits. */
void hs_film_pose_sent(const struct hs_film *film, const struct hs_moment *moment, unsigned who,
                       struct hs_sim_pose *out);

void hs_pose_body(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                  struct hs_body *out);

struct hs_vec hs_to_single(struct hs_vec v);

/* What a shot touches first. */
struct hs_first {
    int who;              /* -1: the world, or nothing */
    uint16_t hitbox;      /* of a body */
    double distance;      /* travel of the shot's centre; its length where nothing is touched */
    bool world;           /* the world stopped it */
    struct hs_vec normal; /* of the world where it did */
};

/* Among the bodies of those who live, but for one, and the world, which a sphere of `world_radius`
   meets. */
void hs_film_first(const struct hs_sim_arena *arena, const struct hs_sim_pose poses[HS_CROWD],
                   unsigned but_for, const struct hs_sweep *sweep, double world_radius,
                   struct hs_first *out);

/* The smallest gap between a shot and a body; negative where it goes through. */
double hs_pose_gap(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                   const struct hs_sweep *sweep);

/* From a point to the nearest surface of a body; 0 inside. */
double hs_pose_distance(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                        struct hs_vec point);

/* Middle, highest and lowest point of a body's hitboxes. */
void hs_pose_marks(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                   struct hs_vec out[3]);

/* None of the three marks can be seen from a point. */
bool hs_pose_is_hidden(const struct hs_sim_arena *arena, const struct hs_sim_pose *pose,
                       struct hs_vec from);

/* From one point to another; they must differ. */
struct hs_sweep hs_sweep_between(struct hs_vec from, struct hs_vec to, double radius);

#endif
