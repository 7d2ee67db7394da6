/* matches: opening, state and summary of a match; one player's state. */
#ifndef HS_API_MATCHES_H
#define HS_API_MATCHES_H

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/match.h"
#include "validators/moves.h"

struct hs_match_request {
    struct hs_str ruleset; /* ptr NULL: the default */
    struct hs_str map;     /* ptr NULL: none */
};

void hs_match_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_match_request *out);

/* What identifies an open match. */
struct hs_match_head {
    struct hs_str name, ruleset, map; /* map empty: none */
    const char *revision;             /* of the ruleset */
    const char *map_revision;         /* with a map */
};

/* Answer to PUT, and an entry of the list: name, ruleset, map, their revisions, newest time,
   how many players and movers. */
void hs_match_encode(struct hs_writer *writer, const struct hs_match_head *head,
                     const struct hs_match *match);

/* The same with hints (validators/hints.h) and every player. */
void hs_match_encode_state(struct hs_writer *writer, const struct hs_match_head *head,
                           const struct hs_match *match);

/* Answer to DELETE: players, verdict counts, damage. */
void hs_match_encode_summary(struct hs_writer *writer, const struct hs_match_head *head,
                             const struct hs_match *match);

/* `moves`: what they tell of him; not present: he sent none. */
void hs_player_encode(struct hs_writer *writer, const struct hs_player_info *player,
                      const struct hs_moves_info *moves);

#endif
