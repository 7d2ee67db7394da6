/*
 * Finds the obstacles and bodies on a path: the claimed body, and all other bodies in order of
 * contact. The pellets of a claim have one path each. Internal to validators/.
 */
#ifndef HS_ENCOUNTER_H
#define HS_ENCOUNTER_H

#include "validators/hit/contact.h"
#include "validators/hit/context.h"
#include "validators/hit/obstacle.h"

/* The number of other bodies kept per path; larger than the number of bodies that a shot can
   pierce. */
enum { HS_MAX_MET = 66 };

struct hs_met {
    const struct hs_player *player;
    struct hs_contact contact;
    enum hs_reason unknown; /* HS_REASON_OK: the body is on the path; otherwise the reason why this
                               is unknown */
};

struct hs_encounter {
    /* The first obstacle on the path, or between the path and a target beside it. */
    struct hs_obstacle obstacle;
    bool clips;               /* the obstacle ends the path, because the world check is enforced */
    struct hs_obstacle end;   /* the first obstacle on the path */
    bool ends;                /* `end` ends the path */
    double world_radius;      /* radius of the sphere that was swept against map and movers */
    double free;              /* distance at which the world stops the sphere of world_radius */
    struct hs_contact target; /* set if there is a target; found on the whole path */
    bool reaches;             /* the target is touched, or missed by no more than claim_padding */
    double needed;            /* distance along the path to the target */
    bool is_occluded;         /* the obstacle is in front of the target */
    bool is_beside;           /* the obstacle is beside the path, and hides the target from the
                                 path */
    bool is_unseen;         /* the obstacle hides the target from the eye of a shooter who leans */
    bool is_unknown;        /* an unknown mover may be in front of the target */
    uint32_t before_target; /* number of bodies touched before the target, if it is touched */
    uint32_t uncertain_before; /* number of these bodies for which it is unknown, after a restart,
                                  whether they are solid */
    uint32_t met_count;
    struct hs_met met[HS_MAX_MET]; /* other bodies touched on the path, in order of contact */
};

/*
 * Sweeps a path against the world, and ends the path where the world stops it. Then sweeps the path
 * against every player except the shooter. The sphere swept against bodies is larger than the
 * sphere swept against the world. The larger sphere may touch a body beside the path. Such a touch
 * counts only if the line from the path to the touched point is free, or if the smaller sphere
 * touches the body too. Also finds the nearest approach of `target` (NULL: no target is claimed).
 * The path passes through other players who are dead.
 */
void hs_encounter_find(struct hs_hit_context *c, struct hs_path *path,
                       const struct hs_player *target, struct hs_encounter *out);

/* Calls hs_encounter_find for the single path of a claim without pellets. Also adds the names of
   the target's bones that have no pose to the answer. */
void hs_encounter_of_claim(struct hs_hit_context *c, struct hs_encounter *out);

/* Returns whether more bodies are in front of the target than the weapon pierces.
   hs_encounter_may_be_blocked also counts bodies for which it is unknown, after a restart, whether
   they are solid. */
bool hs_encounter_is_blocked(const struct hs_hit_context *c, const struct hs_encounter *e);
bool hs_encounter_may_be_blocked(const struct hs_hit_context *c, const struct hs_encounter *e);

/*
 * Whether the world hides a point from the eye of a shooter who leans. Such a shooter cannot hit a
 * point that the eye cannot see. The point is `center`, at `distance` along the path, on `body`
 * (NULL: on no body). If the shooter leans only slightly, it is enough that the eye sees any tested
 * point of the body (hs_sight_of_body). In that case, a point that is not on a body counts as
 * visible. `out` gets the obstacle, or the unknown mover that may be an obstacle, with the distance
 * from the eye.
 */
bool hs_is_hidden_from_eye(struct hs_hit_context *c, const struct hs_path *path,
                           const struct hs_player *body, struct hs_vec center, double distance,
                           struct hs_obstacle *out);

/*
 * With hit.resolve `touched`: sets `view` to the first body that the path touches. On entry, `view`
 * has the named player, or no player. `view` does not change if the path touches nobody, or if the
 * named player is the first body. A miss of the named player by at most claim_padding counts as a
 * touch.
 */
void hs_find_touched(struct hs_hit_context *c, const struct hs_path *path, struct hs_view *view);

/* Set the impact of the answer: a contact with a body, or a point on the map or on a mover. */
void hs_describe_impact(struct hs_hit_context *c, const struct hs_player *player,
                        const struct hs_contact *contact);
void hs_describe_obstacle(struct hs_hit_context *c, const struct hs_obstacle *obstacle);

/* Sets the impact to the first body other than the target. Without such a body, sets it to the
   point where the world stops the path. */
void hs_describe_first(struct hs_hit_context *c, const struct hs_encounter *e);

/* Adds the damage of a contact, for one pellet. */
void hs_land_direct(struct hs_hit_context *c, const struct hs_view *view,
                    const struct hs_contact *contact);

/* Returns HS_REASON_OK if the shooter may hurt a victim at the time of the view, otherwise the
   reason: team, life or a missing pose. */
enum hs_reason hs_verify_victim(const struct hs_hit_context *c, const struct hs_view *view,
                                struct hs_str name, bool may_be_self);

/* Returns whether an earlier entry of the list names the same player as victim i. */
bool hs_is_repeated(const struct hs_hit_context *c, size_t i);

/* Adds a refused victim. `measured` and `limit` only matter for HS_REASON_OUTSIDE_BLAST. */
void hs_refuse_victim(struct hs_hit_context *c, struct hs_str name, enum hs_reason reason,
                      double measured, double limit);

/* The results of all pellets together. */
struct hs_volley {
    uint16_t landed; /* number of pellets that touch their claimed body */
    uint16_t free;   /* number of these pellets that neither map nor mover stops */

    bool is_occluded; /* for at least one pellet, the world is in front of the claimed
                         body */
    bool is_unknown;  /* at least one pellet hits unless an unknown mover is in the way */
    struct hs_obstacle obstacle; /* the first unknown mover that may be in the way, otherwise the
                                    first certain obstacle (record_obstacle in volley.c) */
    double needed;               /* for the pellet of `obstacle`: distance to its claimed body */

    const struct hs_player *blocker; /* the player who blocks the last blocked pellet */
    bool is_missing;                 /* the claimed body of at least one pellet has no pose */
    enum hs_reason missing;          /* if is_missing: the reason of the first such pellet */
    struct hs_view missing_view;
    bool has_margin;
    double margin; /* smallest distance by which a pellet missed */
};

/* Sweeps each pellet. Writes the result of each pellet and the first impact to c->out. Adds the
   damage of each pellet that hits. */
void hs_volley_find(struct hs_hit_context *c, struct hs_volley *out);

/* Returns whether the verdict is unknown: the world check is enforced, and an unknown mover may be
   in the way of the only pellets that could hit. */
static inline bool hs_volley_is_open(const struct hs_hit_context *c)
{
    return c->volley->is_unknown && hs_world_is_enforced(c);
}

#endif
