/*
 * Checks the path of a move through the world: whether something blocks the body, whether a walking
 * body has ground below it, and whether the body is on the base that the move names. Internal to
 * validators/.
 *
 * These checks use a sphere as the body. The radius of the sphere is the `body_radius` of the mode.
 * The position of a move is at the feet, and the centre of the sphere is two radii above the feet.
 * So the sphere does not touch floors, slopes of up to 60 degrees, or curbs up to one radius high.
 * The sphere passes under any edge that is at least three radii above the feet, whether the player
 * crouches or not.
 *
 * An honest body may step up, jump, fall or turn a corner between two moves. So if the straight
 * path is blocked, paths over steps and around corners are tried, as far as the speed and the time
 * allow. The move counts as blocked if none of the tested paths is free.
 *
 * Movers are tested at up to four times. A path is accepted if it is free at one of these times.
 * The first time is the arrival of the move. The second time is earlier by the round trip plus the
 * interpolation delay, because the client saw the movers as they were at that time. The third and
 * the fourth time are computed in the same way from the arrival of the previous move, because the
 * connection may have delayed this move.
 *
 * The functions change only the trace and the player's whereabouts, and allocate no memory.
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
    const struct hs_whereabouts *before;
    const struct hs_move_mode *mode; /* NULL: unknown */
    /* How far the client's view of the movers lags behind the movers on the server. */
    int64_t lag_us;
    bool is_placed;              /* `place` is valid */
    struct hs_vec place;         /* end of the move in world coordinates */
    const struct hs_mover *base; /* NULL: no base, or an unknown base */
    uint32_t base_number;        /* index of the base in match->movers + 1; 0: no base */
    /* The move names a base that is not a mover of the match. */
    bool has_unknown_base;
    /* The path of the body since the last move, if the base changed; valid if has_base_path. The
       old or the new base may have carried the body. So the path is measured in the world, relative
       to the old base, and relative to the new base. base_path is the shortest of these three
       paths. */
    struct hs_vec base_path;
    bool has_base_path;
    /* The path is free only if it starts at the position of the last correction. */
    bool used_corrected;
    /* Results of the search for ground. hs_move_trace_keep copies them to struct hs_whereabouts. */
    int64_t looked_us;
    int64_t hover_us;
    bool is_hovering;
    struct hs_movement_finding path, ground;
    struct hs_movement_finding base_found; /* HS_UNIT_NONE: the base is unknown */
};

/* Starts the trace of a move that has a position, and finds where the move ends. `mode` is an index
   in hs_moves_rules.modes, or HS_NONE. `rtt_us` is -1 if unknown. */
void hs_move_trace_begin(struct hs_move_trace *trace, const struct hs_match *match,
                         const struct hs_whereabouts *before, const struct hs_move *move,
                         uint16_t mode, int64_t rtt_us, int64_t interp_us);

/* Checks the path, the ground and the base. `time_us` is the longest time that the move may have
   taken. `uses_corrected` is true if the player may have started from the position of the last
   correction. `is_new_base` is true if the previous move had another base. */
void hs_move_trace_judge(struct hs_move_trace *trace, double time_us, bool uses_corrected,
                         bool is_new_base);

bool hs_move_trace_found(const struct hs_move_trace *trace);

/* Clears the failures. Call this function if a jump by the server explains the failures. */
void hs_move_trace_excuse(struct hs_move_trace *trace);

/* Stores the end of an accepted move. The next move starts at this place. */
void hs_move_trace_keep(const struct hs_move_trace *trace, struct hs_whereabouts *whereabouts);

/* Returns the vector from the client's position to the server's position. The vector is in world
   coordinates if the two positions have different bases and the positions of both bases are
   known. */
struct hs_vec hs_move_trace_apart(const struct hs_move_trace *trace);

/* Stores the server's position for a correction. After the correction, the next move may start at
   this position. */
void hs_move_trace_correct(const struct hs_move_trace *trace, struct hs_whereabouts *whereabouts);

#endif
