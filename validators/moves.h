/*
 * Client moves: when a move was made by the client's clock, when the game server received it, and
 * optionally where it ends. What of it may be simulated, whether the clock that made it is fast,
 * and whether a body can move like that.
 *
 * A move is judged by the state of its player alone; frames matter for his round trip and for the
 * jumps the server announced. Not thread-safe on one match, like everything of it.
 */
#ifndef HS_MOVES_H
#define HS_MOVES_H

#include <stdbool.h>
#include <stdint.h>

#include "linkage.h"
#include "match.h"
#include "move.h"
#include "vocabulary.h"

HS_PUBLIC_BEGIN

/*
 * Judges a move and books it on its player, who is added if nobody knows him. False: out of memory;
 * nothing has changed then. Only the first HS_MOVES_KEPT moves of a player allocate.
 */
bool hs_match_judge_move(struct hs_match *match, const struct hs_move *move,
                         struct hs_move_result *out);

/* What moves tell of a player. */
struct hs_moves_info {
    bool present; /* he sent one */
    uint64_t epoch;
    int64_t received_us; /* the newest */
    int64_t discrepancy_us, lifetime_us, credit_us;
    bool is_resolving;
    double speed;
    uint32_t bursts_per_minute;
    uint64_t reasons[HS_MOVE_REASON_COUNT];
    uint64_t raised[HS_MOVE_CHECK_COUNT]; /* moves on which the check failed, whatever its mode */
};

/* False: no such player present. */
bool hs_match_moves_info(const struct hs_match *match, struct hs_str player,
                         struct hs_moves_info *out);

HS_PUBLIC_END

#endif
