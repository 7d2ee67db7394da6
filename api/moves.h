/* Moves: decodes JSON into struct hs_move, and encodes struct hs_move_result. */
#ifndef HS_API_MOVES_H
#define HS_API_MOVES_H

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/moves.h"
#include "validators/ruleset.h"

struct hs_moves_request {
    /* In the reader's arena; the names are borrowed from the JSON value or the body. */
    struct hs_move *moves;
    size_t count;
};

/* Describes the JSON value of "moves". */
extern const struct hs_json_list hs_moves_list;

/* Decodes the body of POST .../moves. The body has one of two forms. {"moves":..} contains an array
   or a table. {"columns":[..],"rows":[[..],..]} is itself the table. */
void hs_moves_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_moves_request *out);

/* The clock checks. The member `timing.flags` of an answer can contain only these checks. All other
   checks of moves concern the movement. */
enum { HS_TIMING_FLAGS = 3 };
extern const enum hs_move_check hs_timing_flags[HS_TIMING_FLAGS];

/* Writes the result of a move. `rules` are the rules by which the move was checked. */
void hs_move_encode(struct hs_writer *writer, const struct hs_moves_rules *rules,
                    const struct hs_move *move, const struct hs_move_result *result);

/*
 * Returns whether a brief answer omits the move. A brief answer omits an accepted move if nothing
 * about the move is unusual and the game server can compute the delta_time of the move. A brief
 * answer lists the acks separately.
 */
bool hs_move_is_plain(const struct hs_move_result *result);

/* Writes the state of a player's clock. It is the value of the member `timing` in the state of a
   player. */
void hs_moves_info_encode(struct hs_writer *writer, const struct hs_moves_info *info);

#endif
