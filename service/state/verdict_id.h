/* The ids of verdicts. */
#ifndef HS_SERVICE_VERDICT_ID_H
#define HS_SERVICE_VERDICT_ID_H

#include "api/hits.h"
#include "service/state/registry.h"

/*
 * Makes the id of a verdict: a hash of the tenant (if any), the match and its opening, the kind
 * ("hit"), the player and their session at `time_us`, the number of the shot and the rules. All
 * these survive the process. So the same claim always has the same id, and no other claim has that
 * id. The match must be locked.
 */
void hs_verdict_id_make(const struct hs_match_slot *slot, struct hs_str kind, uint64_t number,
                        struct hs_str player, int64_t time_us, struct hs_verdict_id *out);

#endif
