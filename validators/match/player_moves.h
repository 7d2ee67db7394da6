/*
 * What is kept of one player's moves: the state of the judges, and the answers given lately.
 * Internal to validators/.
 */
#ifndef HS_PLAYER_MOVES_H
#define HS_PLAYER_MOVES_H

#include "validators/base/ledger.h"
#include "validators/clock/movement.h"
#include "validators/clock/timing.h"
#include "validators/move.h"

/* An answer kept for a retry. */
struct hs_move_answer {
    struct hs_digest digest; /* of the move */
    struct hs_move_result result;
};

/* The newest answers, one after the other in the order they were given. One block of memory. */
struct hs_move_answers {
    uint32_t next, count;
    uint32_t capacity; /* HS_MOVES_KEPT once so many came, and where there is memory for them */
    uint64_t newest_epoch, newest_seq; /* of all that were ever kept; with count > 0 */
    uint64_t *seq, *epoch;
    struct hs_move_answer *answer;
};

/* Answers there is room for at first. */
enum { HS_MOVES_FIRST = 8 };

#define HS_MOVE_ANSWERS_BYTES(capacity)                                                            \
    (sizeof(struct hs_move_answers) +                                                              \
     (capacity) * (2 * sizeof(uint64_t) + sizeof(struct hs_move_answer)))

/* What the judges know: of fixed size, and small, as there is one for everybody. */
struct hs_move_judges {
    struct hs_timing timing;
    struct hs_movement movement;
};
_Static_assert(sizeof(struct hs_move_judges) <= 512, "state per player");

struct hs_player_moves {
    struct hs_move_judges judges;
    uint64_t epoch;
    int64_t epoch_us;       /* arrival of its first move; with has_epoch */
    int64_t corrected_us;   /* arrival of the move that was corrected last; with has_corrected */
    int64_t jump_closed_us; /* jumps announced up to here are used up */
    int64_t granted_us;     /* credit was granted up to here before moves set the clock back */
    int64_t behind_from_us; /* arrivals of moves before a clock that may have been set back: */
    int64_t behind_us;      /* the first and the last that agree; with behind_count */
    uint32_t behind_count;
    struct hs_vec corrected; /* where to; with has_corrected */
    /* Granted to moves that movement did not look at, and what the client says they took. */
    double unmoved_us, unmoved_client_us;
    bool has_epoch, has_corrected;
    bool has_lost_moves; /* some were judged since the last known one: hs_match_lost_moves */
    /* Read back (snapshot.h): the server may have moved him meanwhile. Since the first move after
       that arrived; with has_restored_us. */
    bool is_restored, has_restored_us;
    int64_t restored_us;
    uint64_t reasons[HS_MOVE_REASON_COUNT];
    uint64_t raised[HS_MOVE_CHECK_COUNT];
    struct hs_move_answers *answers; /* owned; NULL until a move came with a number */
};

/* Only the failures that are counted are ever written or read: most moves have none. */
void hs_move_result_clear(struct hs_move_result *result);
void hs_move_result_copy(struct hs_move_result *to, const struct hs_move_result *from);

/* The bytes that the player's owner sets aside for them, whether there are moves or not. */
#define HS_MOVES_RESERVE (sizeof(struct hs_player_moves) + HS_MOVE_ANSWERS_BYTES(HS_MOVES_FIRST))

/* NULL is taken; what is beyond the reserve goes back to `account`, here and below. */
void hs_player_moves_destroy(struct hs_player_moves *moves, struct hs_account *account);

/* What they take, and no less than the reserve. NULL is taken. */
size_t hs_player_moves_charge(const struct hs_player_moves *moves);

/* NULL: out of memory. */
struct hs_player_moves *hs_player_moves_create(void);

/* The player's session is over: all begins anew but the credit, which nobody gets again by leaving.
   NULL is taken. */
void hs_player_moves_end_session(struct hs_player_moves *moves, struct hs_account *account);

/* The server's clock was set anew: nothing is compared with old times. NULL is taken. */
void hs_player_moves_forget_times(struct hs_player_moves *moves);

/* Everything decoded of a move, as a hash: the same move sent again has the same. */
struct hs_digest hs_move_digest(const struct hs_move *move);

/* The answer kept of (epoch, seq), or NULL. */
const struct hs_move_answer *hs_move_answers_find(const struct hs_move_answers *answers,
                                                  uint64_t epoch, uint64_t seq);

/* Without answers. `capacity`: 1 to HS_MOVES_KEPT. NULL: out of memory. */
struct hs_move_answers *hs_move_answers_create(uint32_t capacity);

/* What keeping one more answer takes of the account. */
size_t hs_player_moves_need(const struct hs_player_moves *moves);

/* Room for one more, if the account has it and there are fewer than HS_MOVES_KEPT. */
void hs_player_moves_grow(struct hs_player_moves *moves, struct hs_account *account);

/* Keeps an answer; the oldest makes room. One that is `stale` because it is older than those kept
   takes nobody's place. */
void hs_move_answers_keep(struct hs_move_answers *answers, const struct hs_move *move,
                          const struct hs_digest *digest, const struct hs_move_result *result);

#endif
