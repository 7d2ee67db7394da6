/* A client's move as the game server posts it, and the result of its checks. */
#ifndef HS_MOVE_H
#define HS_MOVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linkage.h"
#include "str.h"
#include "vec.h"
#include "vocabulary.h"

HS_PUBLIC_BEGIN

/* The number of answered moves kept per player for retries. Fewer are kept if memory is short. */
enum { HS_MOVES_KEPT = 96 };

/* A set of optional members of struct hs_move. */
enum hs_move_field {
    HS_MOVE_HAS_SEQ = 1 << 0,
    HS_MOVE_HAS_ACK = 1 << 1,
    HS_MOVE_HAS_POSITION = 1 << 2,
    HS_MOVE_HAS_VELOCITY = 1 << 3,
    HS_MOVE_HAS_SERVER_POSITION = 1 << 4,
    HS_MOVE_HAS_SERVER_VELOCITY = 1 << 5,
    HS_MOVE_HAS_SERVER_ROTATION = 1 << 6,
    HS_MOVE_HAS_FLAGS = 1 << 7,
};

/* A move as posted. Numbers are finite. An absent name has ptr NULL. */
struct hs_move {
    struct hs_str player;
    unsigned fields; /* enum hs_move_field */
    enum hs_move_kind kind;
    uint64_t seq;   /* number of this move in its epoch */
    uint64_t epoch; /* number of the client's clock: a new epoch means that the clock started again;
                       0 if not posted */
    int64_t timestamp_us;             /* time of the move by the client's clock */
    int64_t received_us;              /* arrival of the move at the game server */
    int64_t ack_us;                   /* send time of the newest snapshot the client had seen */
    double dilation;                  /* speed of game time, >= 0; 1 if not posted, 0 while
                                         paused */
    struct hs_str mode;               /* movement mode: a name in the ruleset's `moves.modes` */
    struct hs_str base;               /* the mover under the player; positions are relative to it */
    struct hs_vec position, velocity; /* at the end of the move, as the client computed them */
    const enum hs_move_flag *flags;   /* what the client reports about its body; valid with
                                         HS_MOVE_HAS_FLAGS. Borrowed */
    size_t flag_count;
    /* Position and velocity in the server's simulation. The server acknowledges the client's
       values, or sends these values as a correction. */
    struct hs_vec server_position, server_velocity;
    struct hs_str server_mode;
    struct hs_str server_base; /* the base of server_position; if absent, the same as `base` */
    double server_rotation[4]; /* rotation of the body on the game server; used in the correction */
};

/* A failed check of a move. */
struct hs_move_failure {
    uint8_t check, mode, unit; /* enum hs_move_check, hs_mode, hs_unit */
    uint8_t reason;            /* enum hs_move_reason, if the check is enforced */
    double measured, limit;
};

enum hs_move_position {
    HS_MOVE_POSITION_NONE, /* no server position was posted */
    HS_MOVE_POSITION_ACK,
    HS_MOVE_POSITION_CORRECTION,
};

struct hs_move_result {
    enum hs_verdict verdict;
    enum hs_move_reason reason;
    enum hs_move_position position;
    bool replayed;     /* a retry; this is the result of the first evaluation */
    bool force_update; /* the client needs the server's state */
    bool is_resolving; /* the compatible check (clock/compat.h) shortens the simulated time, to pay
                          back a discrepancy */
    bool is_whole;     /* the previous move was accepted, and delta_us is all of the client's time
                          since that move */
    unsigned raised;   /* bits of enum hs_move_check: the checks that this move failed, in any
                          mode */
    uint16_t failure_count;
    uint16_t corrected_mode; /* index in the ruleset's modes; HS_NONE: unknown */
    int64_t delta_us;        /* time that the server may simulate */
    int64_t forced_us; /* time for which the server moves the player without the client, or 0 */
    int64_t late_us;   /* how late a stale move was; 0: the move is not stale, or the delay is
                          unknown */
    /* State after the move. */
    int64_t discrepancy_us, lifetime_us; /* results of the compatible check */
    int64_t error_us;                    /* client time minus server time of this move */
    int64_t age_us;                      /* time since the first move of this clock */
    int64_t credit_us;
    double speed; /* speed of the client's clock relative to the server's clock; 1 is honest */
    /* Set for a correction, otherwise 0. */
    double error, limit; /* length */
    struct hs_vec corrected, corrected_velocity;
    bool has_corrected_velocity;
    /* In deciding order. Entries from failure_count on are not set. */
    struct hs_move_failure failures[HS_MOVE_CHECK_COUNT];
};

HS_PUBLIC_END

#endif
