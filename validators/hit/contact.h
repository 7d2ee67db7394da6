/* Finds the first contact of a path with one rewound body. Internal to validators/. */
#ifndef HS_CONTACT_H
#define HS_CONTACT_H

#include "validators/base/units.h"
#include "validators/geometry/path.h"
#include "validators/history/crowd.h"
#include "validators/history/rewind.h"
#include "validators/match/players.h"
#include "validators/work.h"

/* Two touches are a tie if their distances differ by less than this share of the path's length plus
   radius. Ties occur if a path starts inside two hitboxes, or if two faces coincide. In a tie, the
   hitbox with the nearer centre counts. This does not apply if the distances of the centres are a
   tie too. The value is a thousandth of HS_TOUCH_SLACK. */
#define HS_CONTACT_TIE 1e-9

struct hs_contact {
    bool has_pose; /* the body has a pose on at least a part of the path */
    bool touched;
    /* The path touches the body, but the body's `is_solid` is stale after a restore, so the body
       may not be solid. */
    bool is_uncertain;
    /* Distance that the sphere's centre travels to the first touch of the body. */
    double distance;
    /* Distance between the centres of sphere and hitbox at the touch, which decides ties. */
    double center_distance;
    /* The hitbox that counts: the first touched hitbox. If hit.zone_priority is set, the first
       hitbox in the touched zone that has the highest priority. */
    uint16_t hitbox;
    /* Contact with the hitbox that counts: point and normal in the world, distance along the
       path. */
    struct hs_sweep_contact detail;
    const struct hs_rig *rig;

    /* The nearest approach to any hitbox; set only for the target. If the path touches the body,
       only `gap` is valid. `gap` is the smallest distance between sphere and body; 0 or negative if
       they overlap. */
    struct hs_sweep_contact nearest;
    uint16_t nearest_hitbox;
    uint64_t excluded[HS_MAX_BONES / 64]; /* bones without a pose at the end of the path */
};

void hs_contact_clear(struct hs_contact *out);

/* Sweeps a path over a body. For the target, also finds the nearest approach. The path passes
   through other bodies that are dead, not solid, or on `passed_team` (HS_NONE: no team). If `work`
   exceeds its limit, the result is meaningless. */
void hs_contact_find(const struct hs_path *path, const struct hs_ruleset *ruleset,
                     const struct hs_history *history, bool is_target, uint16_t passed_team,
                     struct hs_work *work, struct hs_contact *out);

/*
 * Returns whether an instant path certainly misses a body that is not the target. Bodies without a
 * pose, and bodies that do not stop shots, count as missed. Sets *has_pose to whether the body has
 * a pose. Reads no bones. If the result is false, call hs_contact_find. `passing` describes the
 * sweep of the path.
 */
bool hs_contact_misses(const struct hs_passing *passing, const struct hs_ruleset *ruleset,
                       const struct hs_history *history, uint16_t passed_team, struct hs_work *work,
                       bool *has_pose);

/* Returns whether `a` is touched before `b`. In a tie, the nearer hitbox centre decides. */
bool hs_contact_is_before(const struct hs_path *path, const struct hs_contact *a,
                          const struct hs_contact *b);

#endif
