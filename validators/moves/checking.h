/* The state of the checks on one move. check.c runs all checks. movement.c checks the speed and the
   path of the move. Internal to validators/moves. */
#ifndef HS_MOVES_CHECKING_H
#define HS_MOVES_CHECKING_H

#include "validators/match/player_moves.h"
#include "validators/match/players.h"
#include "validators/moves.h"
#include "validators/moves/world.h"

/* The state of the player before a move. If the move is refused, this state is restored. */
struct hs_move_undo {
    struct hs_movement movement;
    struct hs_launch launch;
    int64_t jump_closed_us;
    double unmoved_us, unmoved_client_us; /* both values already include the time of the move */
    bool may_be_thrown, is_restored, has_used_correction;
};

struct hs_checking {
    const struct hs_match *match;
    const struct hs_moves_rules *rules;
    const struct hs_move *move;
    struct hs_player *player;
    struct hs_player_moves *moves;
    int64_t rtt_us; /* -1: unknown */
    int64_t interp_us;
    int64_t credit_us; /* the result of hs_connection_move_credit; -1: unknown */
    /* `trace` and `undo` are valid only if has_moved. Clearing such large structs for each move
       would be slow. */
    struct hs_move_trace *trace;
    struct hs_move_undo *undo;
    double more_us; /* time that the movement checks used in addition to the granted time */
    bool has_moved; /* the move has a position, and its movement was checked */
    struct hs_move_result *out;
};

/* Adds a failure of a check to the result. Does nothing if the check is off. */
void hs_checking_fail(struct hs_checking *c, enum hs_move_check check, enum hs_unit unit,
                      double measured, double limit);

/* The server put the player at `place` at the time `time_us`. Returns whether the player could have
   moved from `place` to the end of the move. Returns true if the move has no position or names a
   base, because the end is then unknown. Also returns true if no mode has a speed limit. */
bool hs_checking_is_in_reach(const struct hs_checking *c, struct hs_vec place, int64_t time_us);

/* hs_checking_movement checks the movement of a move, for which `granted` contains the granted
   time, and updates the player's state. If the move is refused, hs_checking_take_back undoes the
   update. */
void hs_checking_movement(struct hs_checking *c, const struct hs_timing_result *granted);
void hs_checking_take_back(struct hs_checking *c);

#endif
