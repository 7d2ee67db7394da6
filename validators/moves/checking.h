/* The state of the checks on one move. check.c runs the checks; movement.c contains the checks of
   speed and position. Internal to validators/moves. */
#ifndef HS_MOVES_CHECKING_H
#define HS_MOVES_CHECKING_H

#include "validators/match/player_moves.h"
#include "validators/match/players.h"
#include "validators/moves.h"
#include "validators/moves/world.h"

/* The state to which a refused move returns the player. */
struct hs_move_undo {
    struct hs_movement movement;
    struct hs_launch launch;
    int64_t jump_closed_us;
    double unmoved_us, unmoved_client_us; /* including the time of this move */
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
    int64_t credit_us; /* see hs_connection_move_credit; -1: unknown */
    /* Filled in only if has_moved, because clearing structs this large is slow. */
    struct hs_move_trace *trace;
    struct hs_move_undo *undo;
    double more_us; /* time that the movement checks used beyond the granted time */
    bool has_moved; /* the movement of the move was checked, because it has a position */
    struct hs_move_result *out;
};

/* Adds a failure of a check, unless the check is off. */
void hs_checking_fail(struct hs_checking *c, enum hs_move_check check, enum hs_unit unit,
                      double measured, double limit);

/* Returns whether the player can have moved from `place`, where the server put them at
   `time_us`, to the end of the move. Returns true if the end is unknown, because the move has no
   position or names a base. Also returns true if no mode has a speed limit. */
bool hs_checking_is_in_reach(const struct hs_checking *c, struct hs_vec place, int64_t time_us);

/* hs_checking_movement checks the movement of a move in the time that the clock granted, and
   updates the player's state. hs_checking_take_back undoes this update if the move is refused. */
void hs_checking_movement(struct hs_checking *c, const struct hs_timing_result *granted);
void hs_checking_take_back(struct hs_checking *c);

#endif
