/*
 * The context of a stored verdict: data about the player and the match at the time of the verdict.
 * It is for people who review the verdict; no verdict depends on it. It is a JSON object:
 *
 * - `opening`: the number of the match's opening (registry.h)
 * - `player`: the player, as in GET /v1/matches/{match}/players/{player}
 * - `claims`: counts of the hits that all players in the match have claimed so far: `all`, and
 *   `with_reason` for those with the same reason as this verdict
 * - `hints`: the codes of the match's hints
 * - `match`: only in the summary of a match: the match as it ended (hs_match_encode_end)
 */
#ifndef HS_SERVICE_EVIDENCE_CONTEXT_H
#define HS_SERVICE_EVIDENCE_CONTEXT_H

#include "api/json/writing.h"
#include "service/state/registry.h"

/* Writes the context of a verdict about a player. The match must be locked. `hit_reason`: the
   reason of a hit or of a posted shot; -1 for a move. */
void hs_context_write(const struct hs_match_slot *slot, struct hs_str player, int hit_reason,
                      struct hs_buffer *out);

/* Write the context of a player's summary, and of the summary of a match, which does not contain
   the players. */
void hs_context_write_player(const struct hs_match_slot *slot, const struct hs_player_info *player,
                             struct hs_buffer *out);
void hs_context_write_match(const struct hs_match_slot *slot, struct hs_buffer *out);

/* Returns a member of a context as its JSON text. ptr NULL: the context has no such member. */
struct hs_str hs_context_member(struct hs_str context, struct hs_str key);

#endif
