/* Checks the `flags` of a move. In the flags, the client reports the player's posture. The check
   compares the flags with the stance in frames and with the movement mode. Internal to
   validators/. */
#ifndef HS_MOVES_FLAGS_H
#define HS_MOVES_FLAGS_H

#include "validators/match/players.h"
#include "validators/move.h"

/* Returns whether the flags contradict recent frames, or report a jump in a mode with neither
   ground nor gravity. Returns false for a move without flags. Updates the posture in player->moves,
   which must not be NULL. `rtt_us` is -1 if unknown. */
bool hs_move_flags_contradict(const struct hs_match *match, const struct hs_player *player,
                              const struct hs_move *move, int64_t rtt_us);

#endif
