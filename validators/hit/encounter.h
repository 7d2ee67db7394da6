/* Finds what is on a path: obstacles, the claimed body, and all other bodies in order of
   contact. Each pellet of a claim has its own path. Internal to validators/. */
#ifndef HS_ENCOUNTER_H
#define HS_ENCOUNTER_H

#include "validators/hit/contact.h"
#include "validators/hit/context.h"
#include "validators/hit/obstacle.h"

/* The number of bodies besides the target that are kept per path. This number is larger than the
   number of bodies that a shot can pierce. */
enum { HS_MAX_MET = 66 };

struct hs_met {
    const struct hs_player *player;
    struct hs_contact contact;
    /* HS_REASON_OK, or the reason why it is unknown whether the body is on the path. */
    enum hs_reason unknown;
};

struct hs_encounter {
    /* The obstacle that matters for the target. If is_unseen, `obstacle` is between the eye and the
       target. If is_beside, `obstacle` is between the path and the target. Otherwise `obstacle` is
       the first obstacle on the path. */
    struct hs_obstacle obstacle;
    bool clips;               /* `obstacle` stops the shot, because the world check is enforced */
    struct hs_obstacle end;   /* the first obstacle on the path */
    bool ends;                /* the path ends at `end` */
    double world_radius;      /* radius of the sphere swept against map and movers */
    double free;              /* distance at which the world stops the sphere of world_radius */
    struct hs_contact target; /* set if there is a target */
    /* The path touches the target. Or the path misses the target by at most claim_padding, and no
       other body is on the path before the nearest approach to the target. */
    bool reaches;
    /* Distance to the target along the path, or from the eye if is_unseen. */
    double needed;
    bool is_occluded;       /* `obstacle` is in front of the target */
    bool is_beside;         /* `obstacle` is between the path and a target beside the path */
    bool is_unseen;         /* `obstacle` hides the target from the eye of a shooter who leans */
    bool is_unknown;        /* an unknown mover (obstacle.h) may be in front of the target */
    uint32_t before_target; /* number of other bodies touched before the target */
    /* How many of the bodies in before_target may not be solid, because their `is_solid` is stale
       after a restore. */
    uint32_t uncertain_before;
    uint32_t met_count;
    struct hs_met met[HS_MAX_MET]; /* other bodies on the path, in order of contact */
};

/*
 * Sweeps a sphere along a path against the world, and ends the path where the world stops the
 * sphere. Then sweeps a sphere along the path against every player except the shooter.
 *
 * The sphere that is swept against bodies can be larger than the sphere that is swept against the
 * world. So the larger sphere can touch a body beside the path. Such a touch counts if the line
 * from the path to the touched point is free, or if the smaller sphere touches the body too.
 *
 * Also finds the nearest approach to `target` (NULL: no target is claimed). Some bodies do not stop
 * the path (hs_contact_find).
 */
void hs_encounter_find(struct hs_hit_context *c, struct hs_path *path,
                       const struct hs_player *target, struct hs_encounter *out);

/* Calls hs_encounter_find for a claim without pellets. Also lists, in the answer, the target's
   bones without a pose. */
void hs_encounter_of_claim(struct hs_hit_context *c, struct hs_encounter *out);

/*
 * Returns the time of a contact at `distance` along the path. Bodies are rewound to this time, and
 * the checks `rewind` and `latency` use this time. The result is usually the hit time. If the
 * projectile passed the contact more than hs_flight_tolerance before the hit time, the result is
 * the time of passing plus hs_flight_tolerance. So a client cannot make a contact look newer by
 * claiming a flight that continues after the contact. The time from the result to the hit time is
 * rounded down to whole milliseconds, so small rounding errors of lengths do not change the result.
 */
int64_t hs_contact_time(const struct hs_hit_context *c, double distance);

/* Sets contact_us, and finds the target at the time when the path touches the target. If the weapon
   has a blast, contact_us is not later than the explosion. Call this after the path of a projectile
   was swept. */
void hs_encounter_settle(struct hs_hit_context *c, const struct hs_encounter *e);

/* Return whether more bodies are in front of the target than the weapon pierces.
   hs_encounter_may_be_blocked also counts bodies that may not be solid, because their `is_solid` is
   stale after a restore. */
bool hs_encounter_is_blocked(const struct hs_hit_context *c, const struct hs_encounter *e);
bool hs_encounter_may_be_blocked(const struct hs_hit_context *c, const struct hs_encounter *e);

/*
 * Returns whether the world hides, or may hide, a point from the eye of a shooter who leans. A
 * shooter who leans cannot hit a point that the eye cannot see. The point is `center`, at
 * `distance` along the path, on `body` (NULL: on no body). If the shooter leans only slightly, it
 * is enough that the eye sees any tested point of the body (hs_sight_of_body), and a point on no
 * body counts as visible. Sets *out to the obstacle or the unknown mover (obstacle.h), with its
 * distance from the eye.
 */
bool hs_is_hidden_from_eye(struct hs_hit_context *c, const struct hs_path *path,
                           const struct hs_player *body, struct hs_vec center, double distance,
                           struct hs_obstacle *out);

/*
 * For hit.resolve `touched`: sets `view` to the first body that the path touches. On entry, `view`
 * contains the named player or no player. Leaves `view` unchanged if the path touches nobody, if it
 * touches the named player first, or if the named player is the shooter. If the path misses the
 * named player by at most claim_padding, this miss counts as a touch, except for pellets.
 */
void hs_find_touched(struct hs_hit_context *c, const struct hs_path *path, struct hs_view *view);

/* Both functions set the impact in the answer. The first function sets the impact to a contact with
   a body. The second function sets the impact to a point on the map or on a mover. */
void hs_describe_impact(struct hs_hit_context *c, const struct hs_player *player,
                        const struct hs_contact *contact);
void hs_describe_obstacle(struct hs_hit_context *c, const struct hs_obstacle *obstacle);

/* Sets the impact to the first body other than the target. If the path touches no such body, sets
   the impact to the point where the world stops the path. */
void hs_describe_first(struct hs_hit_context *c, const struct hs_encounter *e);

/* Adds the damage of one contact, for one pellet. */
void hs_land_direct(struct hs_hit_context *c, const struct hs_view *view,
                    const struct hs_contact *contact);

/* Returns HS_REASON_OK if the shooter may damage a victim at the time of the view, otherwise the
   reason: self-hit, team, life or a missing pose. */
enum hs_reason hs_verify_victim(const struct hs_hit_context *c, const struct hs_view *view,
                                struct hs_str name, bool may_be_self);

/* Returns whether the claim also lists victim `i` at an earlier index. */
bool hs_is_repeated(const struct hs_hit_context *c, size_t i);

/* Returns whether a player is already listed as refused. */
bool hs_hit_refuses(const struct hs_hit_context *c, struct hs_str name);

/* Adds a refused victim. `measured` and `limit` matter only for HS_REASON_OUTSIDE_BLAST. */
void hs_refuse_victim(struct hs_hit_context *c, struct hs_str name, enum hs_reason reason,
                      double measured, double limit);

/* The results of all pellets of a claim. */
struct hs_volley {
    bool has_names; /* at least one pellet names or touches a player */
    /* The player whom each pellet names or, with hit.resolve `touched`, touches; NULL: nobody. */
    const struct hs_player *named[HS_MAX_PELLETS];
    uint16_t landed; /* number of pellets that hit their claimed body */
    uint16_t free;   /* like `landed`, without the pellets that the world stops or may stop */

    bool is_occluded; /* the world stops at least one pellet in front of its claimed body */
    bool is_unknown;  /* an unknown mover may stop at least one pellet that would hit */
    bool is_unseen;   /* the eye does not see, or may not see, the claimed body of at least one
                         pellet */
    /* The first unknown mover that may be in the way. If there is no such mover: the first certain
       obstacle (record_obstacle in volley.c). */
    struct hs_obstacle obstacle;
    double needed; /* distance to the claimed body on the path that `obstacle` may block */

    /* The player who blocks the last blocked pellet; NULL: no pellet is blocked. */
    const struct hs_player *blocker;
    /* The first body that is named by a pellet but takes no damage; NULL: there is no such body.
       `spared_reason` says why this body takes no damage. */
    const struct hs_player *spared;
    enum hs_reason spared_reason;
    bool is_missing;        /* data about the claimed body of at least one pellet is missing */
    enum hs_reason missing; /* the reason for the first pellet with missing data; valid if
                               is_missing */
    struct hs_view missing_view;
    bool has_margin;
    double margin; /* smallest distance by which a pellet missed; valid if has_margin */
};

/* Explains why no pellet hits. If a pellet names a body that takes no damage, writes this body into
   the row, and returns the reason why it takes no damage. Returns HS_REASON_OK if there is no such
   body, if the check of the reason is not enforced, or if another check decides. Call this only if
   no blast hurts anyone. */
enum hs_reason hs_volley_report_spared(const struct hs_hit_context *c, struct hs_check_row *row);

/* Sweeps each pellet. Writes each result and the first impact to c->out, and adds the damage of
   the pellets that hit. */
void hs_volley_find(struct hs_hit_context *c, struct hs_volley *out);

/* Adds the results of the listed pellets to the answer, if the claim was evaluated like a claim
   without pellets (`listed_pellets` in context.h). Call this after the checks, before
   hs_hit_damage. */
void hs_volley_describe_only(struct hs_hit_context *c);

/* Returns whether the world check is enforced, and an unknown mover (obstacle.h) may be in the way
   of a pellet that would hit. */
static inline bool hs_volley_is_open(const struct hs_hit_context *c)
{
    return c->volley->is_unknown && hs_world_is_enforced(c);
}

#endif
