/* moves: client moves and what becomes of them, JSON <-> struct hs_move, hs_move_result. */
#ifndef HS_API_MOVES_H
#define HS_API_MOVES_H

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/moves.h"
#include "validators/ruleset.h"

struct hs_moves_request {
    struct hs_move *moves; /* in the reader's arena; names borrowed from the JSON value */
    size_t count;
};

/* The value of "moves". */
extern const struct hs_json_list hs_moves_list;

/*
 * Decodes the body of POST .../moves, in either form: {"moves":[{..},..]}, or the names of the
 * members once and a row of values for each move, {"columns":[..],"rows":[[..],..]}.
 */
void hs_moves_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_moves_request *out);

/* What the judges of a client's clock raise: the names in `timing.flags`. The other checks of a
   move are of its way. */
enum { HS_TIMING_FLAGS = 3 };
extern const enum hs_move_check hs_timing_flags[HS_TIMING_FLAGS];

/* One result, whole. `rules`: by which it was judged. */
void hs_move_encode(struct hs_writer *writer, const struct hs_moves_rules *rules,
                    const struct hs_move *move, const struct hs_move_result *result);

/* What moves tell of a player, as the value of `timing`. */
void hs_moves_info_encode(struct hs_writer *writer, const struct hs_moves_info *info);

#endif
