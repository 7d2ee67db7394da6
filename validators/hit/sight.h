/* Whether a burst sees a body. Internal to validators/. */
#ifndef HS_SIGHT_H
#define HS_SIGHT_H

#include "validators/hit/context.h"

/*
 * HS_REASON_OK when the centre, the highest or the lowest point (along up) of the rewound hitboxes
 * can be seen from a place at that time; HS_REASON_BLAST_OCCLUDED when the world hides all three;
 * the reason of a missing pose when only a mover without a place then hides the last of them.
 */
enum hs_reason hs_sight_of_body(struct hs_hit_context *c, struct hs_vec from,
                                const struct hs_body *body, int64_t time_us);

#endif
