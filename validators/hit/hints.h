/* Learning hints from claims (validators/hints.h). Internal to validators/. */
#ifndef HS_HIT_HINTS_H
#define HS_HIT_HINTS_H

#include "validators/hit.h"
#include "validators/match/players.h"

/* Learns from a judged claim. Changes nothing that a verdict depends on; allocates nothing. */
void hs_hints_note(struct hs_match *match, const struct hs_player *shooter,
                   const struct hs_hit_claim *claim, const struct hs_hit_result *result);

#endif
