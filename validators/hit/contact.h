/*
 * First contact of a path with one rewound body. Internal to validators/.
 */
#ifndef HS_CONTACT_H
#define HS_CONTACT_H

#include "validators/base/units.h"
#include "validators/geometry/path.h"
#include "validators/history/crowd.h"
#include "validators/history/rewind.h"
#include "validators/match/players.h"
#include "validators/work.h"

/* Two touches count as equally early if their distances differ by less than this share of the
   path's length and radius. This happens if the path starts inside two hitboxes, or if two faces
   coincide. The hitbox with the nearer centre then counts, if its centre is nearer by more than the
   same share. The value is a thousandth of HS_TOUCH_SLACK. */
#define HS_CONTACT_TIE 1e-9

struct hs_contact {
    bool has_pose; /* the body had a pose somewhere along the path */
    bool touched;
    bool is_uncertain;      /* touched, but after a restart it is unknown whether the body is
                               solid */
    double distance;        /* travel of the sphere's centre to the first touch of this body */
    double center_distance; /* distance between the centres of sphere and hitbox at the touch; for
                               ties */
    uint16_t hitbox;        /* the hitbox that counts: the hitbox touched first, or a hitbox of a
                               zone with priority */
    struct hs_sweep_contact detail; /* the contact with that hitbox: point and normal in the world,
                                       distance along the path */
    const struct hs_rig *rig;

    /* The nearest approach to any hitbox; set only for the target. If the path touches the body,
       only `gap` is valid. `gap` is the smallest gap between sphere and body, or at most 0 if they
       overlap. */
    struct hs_sweep_contact nearest;
    uint16_t nearest_hitbox;
    uint64_t excluded[HS_MAX_BONES / 64]; /* bones without a pose at the end of the path */
};

/* Sets the contact of a path that touches nothing. */
void hs_contact_clear(struct hs_contact *out);

/*
 * Sweeps a path over a body. If the body is the target of a claim, also finds the nearest approach.
 * The path passes through other bodies that are dead, not solid, or on `passed_team` (HS_NONE: no
 * team). Once `work` exceeds its limit, the result is meaningless.
 */
void hs_contact_find(const struct hs_path *path, const struct hs_ruleset *ruleset,
                     const struct hs_history *history, bool is_target, uint16_t passed_team,
                     struct hs_work *work, struct hs_contact *out);

/*
 * Returns whether an instant path surely misses a body that is not the target. Reads no bones.
 * `passing`: the sweep of the path. True: the path also passes through a body without a pose at
 * that time, and through bodies that do not stop it. *has_pose gets whether the body has a pose.
 * False: hs_contact_find decides.
 */
bool hs_contact_misses(const struct hs_passing *passing, const struct hs_ruleset *ruleset,
                       const struct hs_history *history, uint16_t passed_team, struct hs_work *work,
                       bool *has_pose);

/* Returns whether `a` is touched before `b`. If they are equally early, the nearer hitbox centre
   decides. */
bool hs_contact_is_before(const struct hs_path *path, const struct hs_contact *a,
                          const struct hs_contact *b);

#endif
