/*
 * The geometry of a claim: the poses of the players, and the path of the shot. People who review a
 * verdict see this geometry. The functions that decide verdicts also compute this geometry.
 */
#ifndef HS_SERVICE_EVIDENCE_GEOMETRY_H
#define HS_SERVICE_EVIDENCE_GEOMETRY_H

#include "validators/geometry/path.h"
#include "validators/history/rewind.h"
#include "validators/hit.h"
#include "validators/match/players.h"

/* A path has a point at its start and at the end of each leg. */
enum { HS_SCENE_POINTS_MAX = HS_MAX_LEGS + 2 };

struct hs_hit_scene {
    /* NULL: the match has no such player, or (only for `target`) no target was claimed */
    const struct hs_player *shooter, *target;
    int64_t hit_time_us;      /* time of all poses except the shooter's */
    int64_t eye_time_us;      /* time of the shooter's pose */
    bool has_eye, has_aim;    /* whether `eye` and `aim` are known at eye_time_us */
    struct hs_vec eye;        /* in world coordinates */
    struct hs_vec aim;        /* a unit vector */
    bool has_path;            /* false: the shot has pellets, or the end of the shot is outside the
                                 world */
    struct hs_vec start, end; /* the trace of the claim */
    double radius;            /* radius of the weapon's shots in the test against bodies */
    uint32_t point_count;     /* number of `points`; the path may continue beyond `end` */
    struct hs_vec points[HS_SCENE_POINTS_MAX];
    /* `closest`: the point where the path is nearest to the target, or the first contact if the
       path touches the target (closest.gap is then <= 0). Valid only if has_closest is true. */
    bool has_closest;
    struct hs_sweep_contact closest;
    uint16_t closest_hitbox;
    const struct hs_rig *closest_rig;
};

/* Computes the geometry of a claim that arrived at `now_us`. `is_shot`: true if `claim` describes a
   posted shot, false if `claim` is a claimed hit. `target`: name of the player whom out->target and
   out->closest describe; ptr NULL: no player. */
void hs_hit_scene_find(const struct hs_match *match, const struct hs_hit_claim *claim, bool is_shot,
                       struct hs_str target, int64_t now_us, struct hs_hit_scene *out);

/* Computes the body of a player at `time_us`, and sets *bracket to the two samples around
   `time_us`. Returns false if the player has no pose at that time. */
bool hs_scene_body(const struct hs_match *match, const struct hs_player *player, int64_t time_us,
                   struct hs_bracket *bracket, struct hs_body *out);

#endif
