/*
 * First contact of a path with one rewound body. Internal to validators/.
 */
#ifndef HS_CONTACT_H
#define HS_CONTACT_H

#include "validators/geometry/path.h"
#include "validators/history/rewind.h"
#include "validators/match/players.h"
#include "validators/work.h"

/* Touches closer together than this share of the path happen at once: starts inside two hitboxes,
   or faces that coincide. Their hitboxes' centres likewise are equally near. A thousandth of the
   slack of touch. */
#define HS_CONTACT_TIE 1e-9

struct hs_contact {
    bool has_pose; /* the body had a pose somewhere along the path */
    bool touched;
    double distance;        /* travel of the sphere's centre to the first touch of this body */
    double center_distance; /* from the sphere's centre then to the touched hitbox's: breaks ties */
    uint16_t hitbox;        /* that counts: the first touched, or one of a zone with priority */
    struct hs_sweep_contact detail; /* of that hitbox, in the world; its distance along the path */
    const struct hs_rig *rig;

    /* Nearest approach, where asked for. */
    double gap;          /* smallest gap between the sphere and any hitbox */
    double gap_distance; /* travel at it */
    uint16_t gap_hitbox;
    struct hs_vec gap_center, gap_point;  /* sphere's centre and the nearest point of the body then;
                                             only where nothing was touched */
    uint64_t excluded[HS_MAX_BONES / 64]; /* bones without a place at the end of the path */
};

/*
 * Sweeps a path over a body. With `measure_gap` the nearest approach is found too. Dead bodies are
 * passed through unless `even_dead`. Once `work` is over its limit the result is meaningless.
 */
void hs_contact_find(const struct hs_path *path, const struct hs_ruleset *ruleset,
                     const struct hs_history *history, bool measure_gap, bool even_dead,
                     struct hs_work *work, struct hs_contact *out);

/* a is touched before b; within rounding the nearer hitbox centre decides. */
bool hs_contact_is_before(const struct hs_path *path, const struct hs_contact *a,
                          const struct hs_contact *b);

#endif
