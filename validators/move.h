/* A client's move as the game server posts it, and what the judges answer. */
#ifndef HS_MOVE_H
#define HS_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "linkage.h"
#include "str.h"
#include "vec.h"
#include "vocabulary.h"

HS_PUBLIC_BEGIN

/* The answers to this many moves of a player are kept for retries; to fewer where memory is short.
 */
enum { HS_MOVES_KEPT = 64 };

/* A set of optional members of struct hs_move. */
enum hs_move_field {
    HS_MOVE_HAS_SEQ = 1 << 0,
    HS_MOVE_HAS_ACK = 1 << 1,
    HS_MOVE_HAS_POSITION = 1 << 2,
    HS_MOVE_HAS_VELOCITY = 1 << 3,
    HS_MOVE_HAS_SERVER_POSITION = 1 << 4,
    HS_MOVE_HAS_SERVER_VELOCITY = 1 << 5,
};

/* A move as posted. Numbers are finite; names absent: ptr NULL. */
struct hs_move {
    struct hs_str player;
    unsigned fields; /* enum hs_move_field */
    enum hs_move_kind kind;
    uint64_t seq;         /* of this move in its epoch */
    uint64_t epoch;       /* of the client's clock: a new one begins anew; 0 where it is not said */
    int64_t timestamp_us; /* of the client */
    int64_t received_us;  /* by the game server */
    int64_t ack_us;       /* send time of the newest snapshot the client had seen */
    double dilation;      /* of the game's time, >= 0; 1 where it is not said, 0: paused */
    struct hs_str mode;   /* of moving: a name of the ruleset's `moves.modes` */
    struct hs_str base;   /* what the player stands on: positions are relative to it */
    struct hs_vec position, velocity; /* at the end of the move, as the client has it */
    /* The same as the server simulated it, to acknowledge or to correct by. */
    struct hs_vec server_position, server_velocity;
    struct hs_str server_mode;
};

/* A check of a move that failed. */
struct hs_move_failure {
    uint8_t check, mode, unit; /* enum hs_move_check, hs_mode, hs_unit */
    double measured, limit;
};

enum hs_move_position {
    HS_MOVE_POSITION_NONE, /* nothing to compare was sent */
    HS_MOVE_POSITION_ACK,
    HS_MOVE_POSITION_CORRECTION,
};

struct hs_move_result {
    enum hs_verdict verdict;
    enum hs_move_reason reason;
    bool replayed;     /* the same move was judged before; this is what was answered */
    bool force_update; /* the client needs the server's state */
    bool is_resolving; /* the compatible judge takes back what the client is ahead */
    int64_t delta_us;  /* that the server may simulate */
    unsigned raised;   /* bits of enum hs_move_check: failed on this move, whatever the mode */
    uint16_t failure_count;
    /* State after the move. */
    int64_t discrepancy_us, lifetime_us; /* of the compatible judge */
    int64_t credit_us;
    double speed; /* of the client's clock; 1 is honest */
    enum hs_move_position position;
    double error, limit; /* length; of a correction */
    struct hs_vec corrected, corrected_velocity;
    bool has_corrected_velocity;
    uint16_t corrected_mode; /* index in the ruleset's modes; HS_NONE: not known */
    /* In deciding order; those beyond failure_count are not set. */
    struct hs_move_failure failures[HS_MOVE_CHECK_COUNT];
};

HS_PUBLIC_END

#endif
