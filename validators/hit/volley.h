/*
 * The pellets of one claim: each is judged on its own and counts once. Internal to validators/.
 */
#ifndef HS_VOLLEY_H
#define HS_VOLLEY_H

#include "validators/hit/encounter.h"

/* What came of all pellets. */
struct hs_volley {
    uint16_t landed; /* on a body claimed */
    uint16_t free;   /* of those, with nothing of the world in the way */

    bool is_occluded; /* of one at least */
    bool is_doubtful; /* one at least may have landed, had a mover without a place stood aside */
    struct hs_obstacle obstacle; /* in the way of the first such pellet */
    double needed;               /* its travel to the body */

    const struct hs_player *blocker; /* of the last blocked pellet */
    bool is_missing;                 /* one at least has no pose of the body claimed */
    enum hs_reason missing;          /* of the first such */
    struct hs_view missing_view;
    bool has_margin;
    double margin; /* smallest of the missed ones */
};

/* Sweeps each pellet and writes the pellets of the result, the impact, and what is to be paid. */
void hs_volley_find(struct hs_hit_context *c, struct hs_volley *out);

/* A pellet may have landed, had a mover without a place stood aside: the world check decides. */
static inline bool hs_volley_hangs(const struct hs_hit_context *c, const struct hs_volley *volley)
{
    return volley->is_doubtful && hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_ENFORCE;
}

#endif
