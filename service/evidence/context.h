/*
 * The context of a row in the evidence store: data about the player and the match at the moment of
 * the verdict, for people. No verdict depends on it. The context is a JSON object:
 *
 * - `opening`: the number of the opening of the match (registry.h)
 * - `player`: the player, as GET /v1/matches/{match}/players/{player} shows them
 * - `claims`: two counts of the hits of all players of the match so far: `all` hits, and
 *   `with_reason`, the hits with the reason of this verdict
 * - `hints`: the codes of the hints of the match
 * - `match`: only in a summary: the match when it ended, in the form of api/matches.h
 */
#ifndef HS_SERVICE_EVIDENCE_CONTEXT_H
#define HS_SERVICE_EVIDENCE_CONTEXT_H

#include "api/json/writing.h"
#include "service/state/registry.h"

/* Writes the context of a verdict about a player of a locked match. `hit_reason`: the reason of a
   hit or posted shot; -1: the verdict is about a move. */
void hs_context_write(const struct hs_match_slot *slot, struct hs_str player, int hit_reason,
                      struct hs_buffer *out);

/* Write the contexts of a summary: of a player, and of the match without its players. */
void hs_context_write_player(const struct hs_match_slot *slot, const struct hs_player_info *player,
                             struct hs_buffer *out);
void hs_context_write_match(const struct hs_match_slot *slot, struct hs_buffer *out);

/* Returns a member of a context as its JSON text. ptr NULL: the context has no such member. */
struct hs_str hs_context_member(struct hs_str context, struct hs_str key);

#endif
