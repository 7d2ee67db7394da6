/* The `flags` of a move: what the client reports about its body. The flags are compared with the
   stance in frames and with the movement mode. Internal to validators/. */
#ifndef HS_MOVES_FLAGS_H
#define HS_MOVES_FLAGS_H

#include "validators/match/players.h"
#include "validators/move.h"

/*
 * Returns whether the flags of a move contradict recent frames, or report a jump in a mode that has
 * neither ground nor gravity. A move without flags contradicts nothing. Remembers the flags in
 * player->moves, which must exist. `rtt_us`: -1 if it is unknown.
 */
bool hs_move_flags_contradict(const struct hs_match *match, const struct hs_player *player,
                              const struct hs_move *move, int64_t rtt_us);

#endif
