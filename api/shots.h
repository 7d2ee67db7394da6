/* Posted shots: decodes JSON into struct hs_shot_claim, and encodes the results. A game server
   posts a shot before it posts the hits of the shot. */
#ifndef HS_API_SHOTS_H
#define HS_API_SHOTS_H

#include "api/hits.h"
#include "validators/shot.h"

/* Describes the JSON value of "shots". */
extern const struct hs_json_list hs_shots_list;

/* Writes a result as a JSON object. Like hs_hit_encode, does not close the object. */
void hs_shot_encode(struct hs_writer *writer, const struct hs_shot_claim *claim,
                    const struct hs_hit_result *result, int64_t forward_time_us,
                    const struct hs_verdict_id *id, bool explain);

/* Like hs_hit_is_plain. The result of a shot with a projectile is never plain, because the game
   server needs the forward_time in the result. */
bool hs_shot_is_plain(const struct hs_hit_result *result);

#endif
