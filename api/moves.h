/* Moves of clients, and the results of their checks. JSON <-> struct hs_move, hs_move_result. */
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

/* Describes the JSON value of "moves". */
extern const struct hs_json_list hs_moves_list;

/* Decodes the body of POST .../moves. The body has one of two forms: {"moves":..} with a list or a
   table, or only the members of the table: {"columns":[..],"rows":[[..],..]}. */
void hs_moves_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_moves_request *out);

/* The checks that `timing.flags` can name: the clock checks. All other checks of moves concern the
   movement. */
enum { HS_TIMING_FLAGS = 3 };
extern const enum hs_move_check hs_timing_flags[HS_TIMING_FLAGS];

/* Writes the result of a move that was checked under `rules`. */
void hs_move_encode(struct hs_writer *writer, const struct hs_moves_rules *rules,
                    const struct hs_move *move, const struct hs_move_result *result);

/*
 * Returns whether a brief answer omits the move. This is so if the move is accepted, nothing about
 * it is unusual, and the game server can compute its delta_time. A brief answer lists the acks
 * separately.
 */
bool hs_move_is_plain(const struct hs_move_result *result);

/* Writes the state of a player's clock: the value of `timing` in the state of a player. */
void hs_moves_info_encode(struct hs_writer *writer, const struct hs_moves_info *info);

#endif
