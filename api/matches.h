/* Matches: the body that opens a match, and the answers about matches and their players. */
#ifndef HS_API_MATCHES_H
#define HS_API_MATCHES_H

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/match.h"

struct hs_match_request {
    struct hs_str ruleset; /* ptr NULL: the default ruleset */
    struct hs_str map;     /* ptr NULL: no map */
};

void hs_match_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_match_request *out);

/* The names and revisions of an open match. */
struct hs_match_head {
    struct hs_str name, ruleset, map; /* names; if `map` is empty, the match has no map */
    const char *revision;             /* revision of the ruleset */
    const char *map_revision;         /* revision of the map; valid if the match has a map */
};

/* Writes the answer to PUT: the names and revisions, the time of the newest frame, the numbers of
   players and movers, and the size of the history. The list of matches contains this object for
   each match. */
void hs_match_encode(struct hs_writer *writer, const struct hs_match_head *head,
                     const struct hs_match *match);

/* Writes the answer to GET: the members that hs_match_encode writes, the hints (validators/hints.h)
   and all players. */
void hs_match_encode_state(struct hs_writer *writer, const struct hs_match_head *head,
                           const struct hs_match *match);

/* Writes the answer to DELETE: the members that hs_match_encode writes, the numbers of verdicts and
   reasons, and the damage. */
void hs_match_encode_summary(struct hs_writer *writer, const struct hs_match_head *head,
                             const struct hs_match *match);

/* Writes the document that the evidence store keeps about an ended match: the members that
   hs_match_encode_summary writes, and the hints. */
void hs_match_encode_end(struct hs_writer *writer, const struct hs_match_head *head,
                         const struct hs_match *match);

/* Writes the member `hints`. */
void hs_match_encode_hints(struct hs_writer *writer, const struct hs_match *match);

/* Writes the state of one player in a match. */
void hs_player_encode(struct hs_writer *writer, const struct hs_match *match,
                      const struct hs_player_info *player);

#endif
