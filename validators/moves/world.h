/*
 * The path of a move through the world. Does the world block the body? Is there ground under a body
 * that walks? Does the player stand on the base that the move names? Internal to validators/.
 *
 * A body is a sphere here. Its radius is the `body_radius` of the mode, and its centre is two radii
 * above the position, which is at the feet. So the sphere touches neither floors, nor slopes of up
 * to 60 degrees, nor curbs of one radius. The sphere passes under any edge that is three radii or
 * more above the feet, whether the player crouches or not.
 *
 * The straight path between two moves is only the first guess. Between two moves that arrive,
 * honest bodies step up, jump, fall and turn corners. So if the straight path is blocked, other
 * paths are tried, over steps and around corners, as far as the mode's speed and the time allow.
 * The path counts as blocked if no tested path is free.
 *
 * Movers are tested at up to four times. The first is the time when the game server received the
 * move. The second is earlier by one round trip and the interpolation delay: the client saw the
 * movers of this time. The other two are the corresponding times of the last move, because the
 * connection may have delayed this move. A free path at one of these times is enough.
 *
 * The functions change only the state of the player, and allocate nothing.
 */
#ifndef HS_MOVES_WORLD_H
#define HS_MOVES_WORLD_H

#include "validators/clock/movement.h"
#include "validators/match/player_moves.h"
#include "validators/match/players.h"
#include "validators/move.h"

struct hs_move_trace {
    const struct hs_match *match;
    const struct hs_move *move;
    const struct hs_whereabouts *before; /* the player's whereabouts before this move */
    const struct hs_move_mode *mode;     /* NULL: unknown */
    int64_t lag_us;                      /* age of the movers that the client sees */
    bool is_placed;                      /* `place` is known */
    struct hs_vec place;                 /* the player's place at the end of the move, in the
                                            world */
    const struct hs_mover *base;         /* NULL: no base, or an unknown base */
    uint32_t base_number;                /* index of the base in the match's movers + 1; 0: no
                                            base */
    bool has_unknown_base;               /* the move names a base that is not a mover */
    /* If the base changed: the shortest of several paths, in the world and relative to each of the
       two bases. Valid if has_base_path is set. */
    struct hs_vec base_path;
    bool has_base_path;
    /* Results of the search for the ground. hs_move_trace_keep stores them. */
    int64_t looked_us;
    int64_t hover_us;
    bool is_hovering;
    struct hs_movement_finding path, ground;
    struct hs_movement_finding base_found; /* finding about the base; unit NONE: the base is
                                              unknown */
};

/* Finds where a move with a position ends. `mode`: index in the rules, or HS_NONE. `rtt_us` and
   `interp_us`: times of the player's connection; rtt_us is -1 if unknown. */
void hs_move_trace_begin(struct hs_move_trace *trace, const struct hs_match *match,
                         const struct hs_whereabouts *before, const struct hs_move *move,
                         uint16_t mode, int64_t rtt_us, int64_t interp_us);

/* Checks the path, the ground and the base. `time_us` is the longest time that the move may have
   taken. `uses_corrected` means that the player may have started from the place where the server
   put them. `is_new_base` means that the base of the move differs from the base of the last
   move. */
void hs_move_trace_judge(struct hs_move_trace *trace, double time_us, bool uses_corrected,
                         bool is_new_base);

/* Returns whether one of the three checks failed. */
bool hs_move_trace_found(const struct hs_move_trace *trace);

/* Clears the findings, because the server moved the player. */
void hs_move_trace_excuse(struct hs_move_trace *trace);

/* Makes the end of an accepted move the start of the next move. */
void hs_move_trace_keep(const struct hs_move_trace *trace, struct hs_whereabouts *whereabouts);

/* Returns the vector from the client's position to the server's position. If the server has the
   player on another base, the vector is in world coordinates. */
struct hs_vec hs_move_trace_apart(const struct hs_move_trace *trace);

/* Makes the server's position the start of the next move, because the present move is corrected. */
void hs_move_trace_correct(const struct hs_move_trace *trace, struct hs_whereabouts *whereabouts);

#endif
