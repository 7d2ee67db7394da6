/* A move while its checks run. check.c runs them in order; movement.c has the checks of speed and
   position. Internal to validators/moves. */
#ifndef HS_MOVES_CHECKING_H
#define HS_MOVES_CHECKING_H

#include "validators/match/player_moves.h"
#include "validators/match/players.h"
#include "validators/moves.h"
#include "validators/moves/world.h"

/* The state of the player before a move. This state is restored if the move is refused. */
struct hs_move_undo {
    struct hs_movement movement;
    struct hs_launch launch;
    int64_t jump_closed_us;
    double unmoved_us, unmoved_client_us; /* these sums already include the time of the move */
    bool may_be_thrown, is_restored;
};

/* A move, its player, and their connection. */
struct hs_checking {
    const struct hs_match *match;
    const struct hs_moves_rules *rules;
    const struct hs_move *move;
    struct hs_player *player;
    struct hs_player_moves *moves;
    int64_t rtt_us; /* -1: unknown */
    int64_t interp_us;
    int64_t credit_us; /* credit that the connection needs; -1: unknown */
    /* `trace` and `undo` are set only if has_moved, because most of their bytes are for moves with
       a position. */
    struct hs_move_trace *trace; /* through the world */
    struct hs_move_undo *undo;
    double more_us; /* time that the movement checks counted beyond the granted time */
    bool has_moved; /* the move has a position, and was checked for movement */
    struct hs_move_result *out;
};

/* Adds a failure of a check, unless the check is off. */
void hs_checking_fail(struct hs_checking *c, enum hs_move_check check, enum hs_unit unit,
                      double measured, double limit);

/* Returns whether the player can have reached the end of the move from `place`, where the server
   put them at `time_us`. Also returns true if the end is unknown: the move has no position, or its
   position is relative to a base. */
bool hs_checking_is_in_reach(const struct hs_checking *c, struct hs_vec place, int64_t time_us);

/* Checks the movement of a move for the time that the clock granted, and updates the player's
   state. If the move is refused, hs_checking_take_back restores the state from before the move. */
void hs_checking_movement(struct hs_checking *c, const struct hs_timing_result *granted);
void hs_checking_take_back(struct hs_checking *c);

#endif
