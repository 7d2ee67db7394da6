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
    struct hs_str name, ruleset, map; /* `map` empty: no map */
    const char *revision;             /* revision of the ruleset */
    const char *map_revision;         /* revision of the map; set only if there is a map */
};

/* Writes the answer to PUT: names, revisions, time of the newest frame, how many players and movers
   there are, and the size of the history. The list of matches contains this object for each
   match. */
void hs_match_encode(struct hs_writer *writer, const struct hs_match_head *head,
                     const struct hs_match *match);

/* Writes the answer to GET: the members of hs_match_encode, hints (validators/hints.h) and all
   players. */
void hs_match_encode_state(struct hs_writer *writer, const struct hs_match_head *head,
                           const struct hs_match *match);

/* Writes the answer to DELETE: the members of hs_match_encode, verdict counts and damage. */
void hs_match_encode_summary(struct hs_writer *writer, const struct hs_match_head *head,
                             const struct hs_match *match);

/* Writes the document about an ended match for the evidence store: the members of
   hs_match_encode_summary and hints. */
void hs_match_encode_end(struct hs_writer *writer, const struct hs_match_head *head,
                         const struct hs_match *match);

/* Writes the member `hints`. */
void hs_match_encode_hints(struct hs_writer *writer, const struct hs_match *match);

/* Writes the state of one player in a match. */
void hs_player_encode(struct hs_writer *writer, const struct hs_match *match,
                      const struct hs_player_info *player);

#endif
