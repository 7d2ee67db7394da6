/* The state of one player's move checks, and the newest answers to their moves. Internal to
   validators/. */
#ifndef HS_PLAYER_MOVES_H
#define HS_PLAYER_MOVES_H

#include "validators/base/ledger.h"
#include "validators/clock/movement.h"
#include "validators/clock/timing.h"
#include "validators/match/players.h"
#include "validators/move.h"

/* Sizes in bytes of the two parts of struct hs_move_result. Every result uses the PLAIN part. Only
   a result with a correction or a failure uses the REST part. */
enum {
    HS_MOVE_PLAIN = offsetof(struct hs_move_result, error),
    HS_MOVE_REST = sizeof(struct hs_move_result) - HS_MOVE_PLAIN
};

/* The answer to a move. The answer is stored, because the same move may be sent again. */
struct hs_move_answer {
    struct hs_digest digest;
    uint64_t epoch;
    /* The REST part of the result: HS_MOVE_REST bytes, owned. NULL until this ring slot stores its
       first correction or failure. */
    unsigned char *rest;
    unsigned char plain[HS_MOVE_PLAIN]; /* the PLAIN part of the result */
};

/* A ring buffer of the newest answers. The struct and its two arrays are one allocation. Each
   `rest` has its own allocation. In a full ring, `next` is the index of the oldest answer. */
struct hs_move_answers {
    uint32_t next, count;
    uint32_t capacity; /* at most HS_MOVES_KEPT; grows while memory is available */
    /* The highest epoch of all moves so far, and the highest seq in this epoch; valid if count > 0.
     */
    uint64_t newest_epoch, newest_seq;
    uint64_t *seq;
    struct hs_move_answer *answer;
    size_t rest_bytes; /* total size of all `rest` allocations */
};

/* Initial capacity of the ring of answers. */
enum { HS_MOVES_FIRST = 8 };

#define HS_MOVE_ANSWERS_BYTES(capacity)                                                            \
    (sizeof(struct hs_move_answers) +                                                              \
     (capacity) * (sizeof(uint64_t) + sizeof(struct hs_move_answer)))

/* The state of one player's checks. Every player with moves has this struct, so it must stay small.
 */
struct hs_move_checks {
    struct hs_timing timing;
    struct hs_movement movement;
};
_Static_assert(sizeof(struct hs_move_checks) <= 512, "state per player");

/* Where the player is in the world, according to their accepted moves (moves/world.h). Snapshots do
   not contain this struct, because movers have no poses after a restore. */
struct hs_whereabouts {
    struct hs_vec place;     /* place at the end of the last move; valid if has_place */
    int64_t place_us;        /* arrival of the last move; valid if has_place */
    uint32_t base;           /* index of the base in hs_movers.all + 1; 0: no base */
    struct hs_vec corrected; /* position of the last correction; valid if has_corrected */
    int64_t looked_us;       /* arrival of the last move for which ground was searched */
    int64_t hover_us;        /* how long the player has walked without ground */
    bool has_place, has_corrected;
    bool is_hovering; /* the last search found no ground */
};

/* The posture of a player, according to the flags of their moves. Snapshots do not contain the
   posture. */
struct hs_posture {
    /* Arrival of the move that gave `is_crouched` its present value; valid if has_flags. */
    int64_t since_us;
    bool has_flags; /* the last move had flags */
    bool is_crouched;
    bool is_afloat; /* the last move had flags, and its mode has neither ground nor gravity */
};

struct hs_player_moves {
    struct hs_move_checks checks;
    struct hs_whereabouts whereabouts;
    struct hs_posture posture;
    uint64_t epoch;
    int64_t epoch_us;       /* arrival of the first move of the epoch; valid if has_epoch */
    int64_t corrected_us;   /* arrival of the last corrected move; valid if has_corrected */
    int64_t acked_us;       /* arrival of the last move with an ack; valid if has_acked */
    int64_t jump_closed_us; /* jumps by the server up to this time no longer excuse a failure */
    /* Time of the newest spawn that the client has certainly seen. A client has seen a spawn if a
       move ends within reach of the spawn place, or if an epoch begins after the spawn. */
    int64_t spawn_shown_us;
    /* The last launch by the server. Its speeds shrink as time passes. */
    struct hs_launch launch;
    /* The time up to which credit was granted before the game server's clock was set back. */
    int64_t granted_us;
    /* If several consecutive moves arrive far before the newest arrival, the game server's clock
       was set back. behind_from_us and behind_us are the arrivals of the first and the last such
       move. */
    int64_t behind_from_us, behind_us;
    uint32_t behind_count;   /* number of such moves so far */
    struct hs_vec corrected; /* position of the last correction; valid if has_corrected */
    /* Hash of the name of the base of `corrected`, as in hs_movement.base; 0: no base. */
    uint64_t corrected_base;
    /* Sums over all moves since the last movement check: the granted time, and the time that passed
       on the client's clock. */
    double unmoved_us, unmoved_client_us;
    bool has_epoch, has_corrected, has_acked;
    bool has_used_correction; /* a move was accepted only because of the last correction */
    bool may_be_thrown;       /* the last launch goes upwards, and no move has used it to rise
                                 yet */
    bool was_refused;         /* the last move with a valid timestamp was not accepted */
    /* See hs_match_lost_moves. */
    bool has_lost_moves;
    /* is_restored: the player was restored (snapshot.h). The game server may have moved the player
       between save and restore, and no move has shown the new position yet. restored_us is the
       arrival of the first move after the restore; valid if has_restored_us. */
    bool is_restored, has_restored_us;
    int64_t restored_us;
    struct hs_move_answers *answers; /* owned; NULL: no answer is stored */
    uint64_t reasons[HS_MOVE_REASON_COUNT];
    uint64_t raised[HS_MOVE_CHECK_COUNT];
};

/* Each accepted move reads this many bytes from the start of struct hs_player_moves. */
enum { HS_PLAYER_MOVES_NEAR = offsetof(struct hs_player_moves, reasons) + sizeof(uint64_t) };

/* Clears a result, except the array `failures`. Most moves have no failures, so clearing the array
   would waste time. */
void hs_move_result_clear(struct hs_move_result *result);

/* Bytes that are reserved for every player, even for a player without moves. The bytes of answers
   are reserved separately. */
#define HS_MOVES_RESERVE sizeof(struct hs_player_moves)

/* Returns NULL if out of memory. */
struct hs_player_moves *hs_player_moves_create(void);

/* The next four functions accept NULL as `moves`. hs_player_moves_destroy and
   hs_player_moves_end_session release the bytes of the answers in `budget`, but not the
   HS_MOVES_RESERVE bytes. */
void hs_player_moves_destroy(struct hs_player_moves *moves, struct hs_budget *budget);

/* Resets the state at the end of a session, but keeps the credit. Otherwise a player could refill
   the credit by leaving and rejoining. */
void hs_player_moves_end_session(struct hs_player_moves *moves, struct hs_budget *budget);

/* Forgets all times. Call this function after a reset of the match's clock, or when moves show that
   the game server's clock was set back. */
void hs_player_moves_forget_times(struct hs_player_moves *moves);

/* Returns the bytes that count against the budget: HS_MOVES_RESERVE plus the answers. */
size_t hs_player_moves_charge(const struct hs_player_moves *moves);

/* Returns a hash of the move. A later move with the same hash is the same move, sent again. */
struct hs_digest hs_move_digest(const struct hs_move *move);

/* Returns the answer kept for (epoch, seq), or NULL. */
const struct hs_move_answer *hs_move_answers_find(const struct hs_move_answers *answers,
                                                  uint64_t epoch, uint64_t seq);

/* Prefetch memory into the processor's cache. hs_move_answers_prefetch_itself prefetches the
   struct. hs_move_answers_prefetch reads the struct and prefetches the slot for the next answer.
   Both functions accept NULL. */
void hs_move_answers_prefetch_itself(const struct hs_move_answers *answers);
void hs_move_answers_prefetch(const struct hs_move_answers *answers);

/* Copies the result from an answer to `out`, which must have been cleared with
   hs_move_result_clear. */
void hs_move_answer_read(const struct hs_move_answer *answer, struct hs_move_result *out);

/* Writes an answer into slot `i`, which is below `capacity`. Returns false and changes nothing if
   out of memory. */
bool hs_move_answers_write(struct hs_move_answers *answers, uint32_t i,
                           const struct hs_digest *digest, uint64_t epoch, uint64_t seq,
                           const struct hs_move_result *result);

/* Creates an empty ring. `capacity` is 1 to HS_MOVES_KEPT. Returns NULL if out of memory. */
struct hs_move_answers *hs_move_answers_create(uint32_t capacity);

/* Returns how many more bytes hs_player_moves_keep needs to store `result`. */
size_t hs_player_moves_need(const struct hs_player_moves *moves,
                            const struct hs_move_result *result);

/* Stores an answer, unless there is no memory for the answer. If the ring is full and cannot grow,
   the new answer replaces the oldest answer. The answer `stale` is not stored if the ring is full
   and the move's number is below all move numbers in the ring. */
void hs_player_moves_keep(struct hs_player_moves *moves, struct hs_budget *budget,
                          const struct hs_move *move, const struct hs_digest *digest,
                          const struct hs_move_result *result);

#endif
