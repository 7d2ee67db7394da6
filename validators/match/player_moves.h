/* One player's moves: the state of the checks, and the newest answers. Internal to validators/. */
#ifndef HS_PLAYER_MOVES_H
#define HS_PLAYER_MOVES_H

#include "validators/base/ledger.h"
#include "validators/clock/movement.h"
#include "validators/clock/timing.h"
#include "validators/match/players.h"
#include "validators/move.h"

/* Sizes of the two parts of a result: PLAIN is used by every move, REST by corrections and
   failures. */
enum {
    HS_MOVE_PLAIN = offsetof(struct hs_move_result, error),
    HS_MOVE_REST = sizeof(struct hs_move_result) - HS_MOVE_PLAIN
};

/* An answer kept for a retry. */
struct hs_move_answer {
    struct hs_digest digest; /* digest of the move */
    uint64_t epoch;
    /* The rest of the result, if it has a correction or failures. Owned, HS_MOVE_REST bytes. NULL
       if no result in this place ever had a correction or failures. */
    unsigned char *rest;
    unsigned char plain[HS_MOVE_PLAIN]; /* the part of the result that every move uses */
};

/* A ring of the newest answers, in the order in which they were given. Memory: one block for the
   ring, and one block for each place with a `rest`. */
struct hs_move_answers {
    uint32_t next, count;
    uint32_t capacity;                 /* grows up to HS_MOVES_KEPT if there is memory */
    uint64_t newest_epoch, newest_seq; /* the highest number ever kept; valid if count > 0 */
    uint64_t *seq;
    struct hs_move_answer *answer;
    size_t rest_bytes; /* bytes of `rest` of all answers */
};

/* The first capacity for answers. */
enum { HS_MOVES_FIRST = 8 };

#define HS_MOVE_ANSWERS_BYTES(capacity)                                                            \
    (sizeof(struct hs_move_answers) +                                                              \
     (capacity) * (sizeof(uint64_t) + sizeof(struct hs_move_answer)))

/* The state of the checks. Its size is fixed and small, because every player has one. */
struct hs_move_checks {
    struct hs_timing timing;
    struct hs_movement movement;
};
_Static_assert(sizeof(struct hs_move_checks) <= 512, "state per player");

/* The player's place in the world, derived from their accepted moves (moves/world.h). A restart
   forgets it, because the movers have no poses after a restart. */
struct hs_whereabouts {
    struct hs_vec place;     /* at the end of the last move; valid if has_place */
    int64_t place_us;        /* arrival of the last move; valid if has_place */
    uint32_t base;           /* index of the base among the movers + 1; 0: no base */
    struct hs_vec corrected; /* where the server last put the client; valid if has_corrected */
    int64_t looked_us;       /* arrival of the last move for which the ground was searched */
    int64_t hover_us;        /* time for which the player walked without ground */
    bool has_place, has_corrected;
    bool is_hovering; /* the last search found no ground */
};

/* The posture of a player, derived from their moves. A restart forgets it. */
struct hs_posture {
    int64_t since_us; /* arrival of the first move with the current value of `is_crouched`; valid if
                         has_flags */
    bool has_flags;   /* the last move had flags */
    bool is_crouched; /* the flags of the last move say that the player crouches */
    bool is_afloat;   /* the last move had flags, and its mode has neither ground nor gravity */
};

struct hs_player_moves {
    struct hs_move_checks checks;
    struct hs_whereabouts whereabouts;
    struct hs_posture posture;
    uint64_t epoch;
    int64_t epoch_us;        /* arrival of the first move of the epoch; valid if has_epoch */
    int64_t corrected_us;    /* arrival of the last corrected move; valid if has_corrected */
    int64_t acked_us;        /* arrival of the last acknowledged move; valid if has_acked */
    int64_t jump_closed_us;  /* announced jumps up to this time no longer excuse a move */
    int64_t spawn_shown_us;  /* spawns up to this time were already shown by moves */
    struct hs_launch launch; /* the remaining part of the server's last launch */
    int64_t granted_us; /* the time up to which credit was granted before the clock was set back */
    /* Arrivals of the first and the last move that agree that the clock was set back. */
    int64_t behind_from_us, behind_us;
    uint32_t behind_count;   /* number of moves that agree that the clock was set back */
    struct hs_vec corrected; /* where the server put the client; valid if has_corrected */
    uint64_t corrected_base; /* hash of the name of the base of `corrected`, as in hs_movement.base;
                                0: no base */
    /* The sums over moves that were not checked for movement: the time granted to these moves, and
       their time by the client's clock. */
    double unmoved_us, unmoved_client_us;
    bool has_epoch, has_corrected, has_acked;
    bool may_be_thrown; /* no rise has used the launch yet */
    bool was_refused;   /* a check refused the last move whose timestamp was valid */
    /* Moves after the last saved move may have been lost: hs_match_lost_moves. */
    bool has_lost_moves;
    /* The player was restored (snapshot.h), and the game server may have moved them between save
       and restore. restored_us is the arrival of the first move after the restore; valid if
       has_restored_us. */
    bool is_restored, has_restored_us;
    int64_t restored_us;
    struct hs_move_answers *answers; /* owned; NULL: no answer is kept */
    uint64_t reasons[HS_MOVE_REASON_COUNT];
    uint64_t raised[HS_MOVE_CHECK_COUNT];
};

/* The bytes that every accepted move reads. */
enum { HS_PLAYER_MOVES_NEAR = offsetof(struct hs_player_moves, reasons) + sizeof(uint64_t) };

/* Clears a result, except the entries of `failures`: most moves have no failures. */
void hs_move_result_clear(struct hs_move_result *result);

/* The bytes that are reserved for every player, with or without moves. They do not include
   answers. */
#define HS_MOVES_RESERVE sizeof(struct hs_player_moves)

/* Creates the state of a player's moves. Returns NULL if out of memory. */
struct hs_player_moves *hs_player_moves_create(void);

/* This function and the next three functions accept NULL as `moves`. hs_player_moves_destroy and
   hs_player_moves_end_session release the bytes beyond the reserve from `budget`. */
void hs_player_moves_destroy(struct hs_player_moves *moves, struct hs_budget *budget);

/* Ends the player's session: the state starts again, except the credit, because leaving must not
   refill it. */
void hs_player_moves_end_session(struct hs_player_moves *moves, struct hs_budget *budget);

/* Prepares for a clock reset: nothing is compared with times of the old clock. */
void hs_player_moves_forget_times(struct hs_player_moves *moves);

/* Returns the bytes in use; at least the reserve. */
size_t hs_player_moves_charge(const struct hs_player_moves *moves);

/* A hash of everything decoded from a move. The same move sent again has the same hash. */
struct hs_digest hs_move_digest(const struct hs_move *move);

/* Returns the answer kept for (epoch, seq), or NULL. */
const struct hs_move_answer *hs_move_answers_find(const struct hs_move_answers *answers,
                                                  uint64_t epoch, uint64_t seq);

/* These functions tell the processor to load memory. hs_move_answers_prefetch_itself loads the
   struct. hs_move_answers_prefetch reads the struct, and loads the memory for the next answer. Both
   functions accept NULL. */
void hs_move_answers_prefetch_itself(const struct hs_move_answers *answers);
void hs_move_answers_prefetch(const struct hs_move_answers *answers);

/* Writes the result of an answer. `out` was cleared. */
void hs_move_answer_read(const struct hs_move_answer *answer, struct hs_move_result *out);

/* Sets answer `i` of the ring: i < capacity. Returns false and changes nothing if out of memory. */
bool hs_move_answers_write(struct hs_move_answers *answers, uint32_t i,
                           const struct hs_digest *digest, uint64_t epoch, uint64_t seq,
                           const struct hs_move_result *result);

/* Creates an empty ring. `capacity`: 1 to HS_MOVES_KEPT. Returns NULL if out of memory. */
struct hs_move_answers *hs_move_answers_create(uint32_t capacity);

/* Returns the bytes that one more answer needs. */
size_t hs_player_moves_need(const struct hs_player_moves *moves,
                            const struct hs_move_result *result);

/* Keeps an answer. If the ring is full and cannot grow, the new answer replaces the oldest. An
   answer is not kept if there is no memory for it, or if its reason is `stale` and it is older than
   all kept answers. */
void hs_player_moves_keep(struct hs_player_moves *moves, struct hs_budget *budget,
                          const struct hs_move *move, const struct hs_digest *digest,
                          const struct hs_move_result *result);

#endif
