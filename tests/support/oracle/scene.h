/* Random fights for property tests: a few players who walk, turn, teleport and die, and a claim
   that one of them shot another. A scene is stored in double, in metres. It can be played as it is,
   or changed: moved, turned, scaled, at another time, with quaternions -q instead of q, or with
   another order of players. */
#ifndef HS_TESTS_SCENE_H
#define HS_TESTS_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/random.h"
#include "validators/hit.h"
#include "validators/match.h"
#include "validators/ruleset.h"

enum { HS_SCENE_PLAYERS = 12, HS_SCENE_FRAMES = 8, HS_SCENE_BONES = 2 };
enum { HS_SCENE_PELLETS = 6, HS_SCENE_VICTIMS = 4, HS_SCENE_WALLS = 2 };

/* Rigs: a sphere; a sphere, a tilted capsule and a box on two bones; a tilted box; an aligned
   box. */
enum hs_scene_rig { HS_SCENE_BALL, HS_SCENE_BODY, HS_SCENE_CRATE, HS_SCENE_HULL, HS_SCENE_RIGS };
/* Weapons: a rifle with a radius of 0.05, a ray, slow projectiles with a radius of 0.05 and of 0.3.
   If wished: six pellets, a shot through one body, and a falling projectile that explodes. */
enum hs_scene_weapon {
    HS_SCENE_RIFLE,
    HS_SCENE_RAY,
    HS_SCENE_BOW,
    HS_SCENE_CANNON,
    HS_SCENE_WEAPONS,
    HS_SCENE_SHOTGUN = HS_SCENE_WEAPONS,
    HS_SCENE_PIKE,
    HS_SCENE_ROCKET,
    HS_SCENE_ALL_WEAPONS
};

struct hs_scene_quat {
    double x, y, z, w;
};

struct hs_scene_bone {
    bool present;
    struct hs_vec position; /* in the world */
    struct hs_scene_quat rotation;
    double scale[3];
};

struct hs_scene_pose {
    bool posted; /* the player is in this frame */
    struct hs_vec position;
    struct hs_scene_quat rotation;
    struct hs_vec eye;  /* in the world; valid with has_eye */
    struct hs_vec look; /* in the world, of any length; valid with has_look */
    struct hs_scene_bone bones[HS_SCENE_BONES];
    enum hs_sample_event event;
};

struct hs_scene_player {
    char name[16];
    enum hs_scene_rig rig;
    int team; /* 0: none */
    bool has_bones, has_scale, has_eye;
    bool is_ghost;          /* the body is not solid */
    bool has_look, has_rtt; /* only for the shooter */
    int64_t rtt_us;         /* in every frame */
    double damage_scale;
    struct hs_scene_pose poses[HS_SCENE_FRAMES];
};

struct hs_scene_pellet {
    struct hs_vec end;
    int target; /* -1: the target of the claim */
};

/* A box that moves and turns at constant speed. */
struct hs_scene_mover {
    bool is_there;
    struct hs_vec place, velocity; /* place at the newest frame */
    struct hs_scene_quat rotation;
    struct hs_vec axis;
    double spin; /* radians a second */
    struct hs_vec half_extents, center;
    int first; /* the first frame in which it is posted */
    int opens; /* from this frame on it is not solid; -1: it is always solid */
};

struct hs_scene {
    int player_count; /* the first player is the shooter */
    struct hs_scene_player players[HS_SCENE_PLAYERS];
    int64_t times_us[HS_SCENE_FRAMES];
    enum hs_scene_weapon weapon;
    int target, aimed_at; /* indices of players; usually the same one */
    int64_t hit_time_us, fire_time_us, now_us;
    bool has_fire_time, priority;
    struct hs_vec start, end;
    double claim_padding;
    bool passes_team, is_by_touch; /* shots pass team mates; the first body that is touched is hit
                                      (hit.resolve) */
    bool has_target;               /* false: the claim names no target */
    int pellet_count, victim_count, wall_count;
    struct hs_scene_pellet pellets[HS_SCENE_PELLETS];
    int victims[HS_SCENE_VICTIMS]; /* indices of players */
    bool has_world;
    struct hs_vec walls[HS_SCENE_WALLS][4]; /* corners of a rectangle, in order */
    struct hs_scene_mover mover;
};

/* The features that a scene may have. */
struct hs_scene_wishes {
    bool aligned; /* axis-aligned boxes */
    bool events;  /* teleports, deaths, spawns, missing frames and bones */
    bool turning; /* bodies turn and limbs move from frame to frame */
    bool instant; /* hitscan weapons only */
    bool lagging; /* some players have an older newest frame than others */
    bool kinds;   /* shotguns, piercing shots, blasts */
    bool falling; /* with `kinds`: also weapons that depend on `up`; if false, nothing explodes */
    bool world;   /* walls and a moving box */
    bool ghosts;  /* bodies that do not block, team mates that do not block, hits by touch */
};

/* All features except `instant`. */
extern const struct hs_scene_wishes hs_scene_anything;

void hs_scene_draw(struct hs_random *random, const struct hs_scene_wishes *wishes,
                   struct hs_scene *out);

/* How a scene is played. */
struct hs_scene_frame {
    double scale; /* first scaled, then turned, then moved */
    struct hs_scene_quat rotation;
    struct hs_vec translation;
    int64_t shift_us;
    bool negate;    /* use -q instead of every second quaternion q */
    uint64_t order; /* a seed for the order of the players; 0: unchanged */
};

struct hs_scene_frame hs_scene_as_it_is(void);

struct hs_vec hs_scene_turn(struct hs_scene_quat q, struct hs_vec v);
struct hs_scene_quat hs_scene_product(struct hs_scene_quat a, struct hs_scene_quat b);
struct hs_scene_quat hs_scene_quat_about(struct hs_vec axis, double angle);

/* Returns a point of the scene in the frame of reference in which it is played. */
struct hs_vec hs_scene_point(const struct hs_scene_frame *frame, struct hs_vec p);

/* A played scene; free it with hs_scene_close. */
struct hs_scene_stage {
    struct hs_ruleset *rules;
    struct hs_match *match;
    struct hs_world *world;
    struct hs_hit_claim claim;
    struct hs_pellet_claim pellets[HS_SCENE_PELLETS]; /* the pellets of `claim` */
    struct hs_str victims[HS_SCENE_VICTIMS];
    int64_t now_us;
};

void hs_scene_open(const struct hs_scene *scene, const struct hs_scene_frame *frame,
                   struct hs_scene_stage *out);
void hs_scene_close(struct hs_scene_stage *stage);

/* Verifies the scene's claim. */
void hs_scene_verify(const struct hs_scene_stage *stage, struct hs_hit_result *out);

/* Returns the ruleset of scenes, for a unit of 1 / scale metres. */
struct hs_ruleset *hs_scene_ruleset(double scale);

#endif
