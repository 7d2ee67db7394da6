/*
 * The context of a stored verdict: data about the player and the match at the time of the verdict.
 * The context is for people who review the verdict. No verdict depends on the context. The context
 * is a JSON object:
 *
 * - `opening`: identifies the match among all matches with this name (registry.h)
 * - `player`: the player, as in GET /v1/matches/{match}/players/{player}
 * - `claims`: how many hits all players of the match have claimed so far (`all`), and how many of
 *   these hits have the same reason as this verdict (`with_reason`)
 * - `hints`: the codes of the match's hints
 * - `match`: the match's final state (hs_match_encode_end); only in the summary of a match
 */
#ifndef HS_SERVICE_EVIDENCE_CONTEXT_H
#define HS_SERVICE_EVIDENCE_CONTEXT_H

#include "api/json/writing.h"
#include "service/state/registry.h"

/* Writes the context of a verdict about a player. The match must be locked. `hit_reason`: the
   reason of a hit or of a posted shot; -1 for a move. */
void hs_context_write(const struct hs_match_slot *slot, struct hs_str player, int hit_reason,
                      struct hs_buffer *out);

/* Write the context of the summary of a player or of a match. The context of a match does not
   contain the players. */
void hs_context_write_player(const struct hs_match_slot *slot, const struct hs_player_info *player,
                             struct hs_buffer *out);
void hs_context_write_match(const struct hs_match_slot *slot, struct hs_buffer *out);

/* Returns a member of a context as its JSON text. ptr NULL: the context has no such member. */
struct hs_str hs_context_member(struct hs_str context, struct hs_str key);

#endif
