/* A client's move, as the game server posts it, and the result of the move's checks. */
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

/* How many answers to moves are kept per player for retries; fewer if memory runs short. */
enum { HS_MOVES_KEPT = 96 };

/* Bits for the optional members of struct hs_move. */
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

/* A posted move. All numbers are finite. An absent name has ptr NULL. */
struct hs_move {
    struct hs_str player;
    unsigned fields; /* enum hs_move_field */
    enum hs_move_kind kind;
    uint64_t seq;         /* number of this move in its epoch */
    uint64_t epoch;       /* number of the client's clock: a larger epoch means that the clock was
                             restarted; 0 if not posted */
    int64_t timestamp_us; /* time of the move by the client's clock */
    int64_t received_us;  /* arrival of the move at the game server */
    int64_t ack_us;       /* send time of the newest snapshot that the client had seen */
    double dilation;      /* speed of game time, >= 0; 1 if not posted, 0 while
                             paused */
    struct hs_str mode;   /* movement mode: a name in the ruleset's `moves.modes` */
    struct hs_str base;   /* the mover on which the player stands; `position` is
                             relative to this mover */
    struct hs_vec position, velocity; /* at the end of the move, as the client computed them */
    const enum hs_move_flag *flags;   /* what the client reports about the player's body; borrowed;
                                         valid with HS_MOVE_HAS_FLAGS */
    size_t flag_count;
    /* Position and velocity in the server's simulation. A correction sends these values to the
       client. */
    struct hs_vec server_position, server_velocity;
    struct hs_str server_mode;
    struct hs_str server_base; /* the base of server_position; if absent, `base` is also the base of
                                  server_position */
    double server_rotation[4]; /* the body's rotation on the game server, for a correction */
};

struct hs_move_failure {
    uint8_t check, mode, unit; /* enum hs_move_check, hs_mode, hs_unit */
    uint8_t reason;            /* enum hs_move_reason: the move's reason if the check is enforced */
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
    bool replayed;     /* the move was sent again, and this result repeats the first result */
    bool force_update; /* the server must send its state to the client */
    bool is_resolving; /* the compatible check (clock/compat.h) shortens the simulated time, to pay
                          back a discrepancy */
    bool is_whole;     /* the previous move was not rejected, and delta_us is all of the client's
                          time since that move */
    unsigned raised;   /* the checks that this move failed, enforced or not: bits `1 << check` of
                          enum hs_move_check */
    uint16_t failure_count;
    uint16_t corrected_mode; /* index in the ruleset's modes; HS_NONE: unknown */
    int64_t delta_us;        /* the server may simulate the move for this long */
    int64_t forced_us; /* for this long, the server moves the player without moves from the client;
                          0: not at all */
    int64_t late_us;   /* how late a stale move was; 0: unknown, or the move is not stale */
    /* State after the move. */
    int64_t discrepancy_us, lifetime_us; /* from the compatible check (clock/compat.h) */
    int64_t error_us;                    /* client time minus server time of this move */
    int64_t age_us;                      /* time since the first move of this clock */
    int64_t credit_us;
    double speed; /* speed of the client's clock relative to the server's clock; 1 is honest */
    /* Only for a correction, otherwise 0. `error` is how far the client's position is off, `limit`
       is the largest error that needs no correction (both length). `corrected` and
       `corrected_velocity` are the values to send to the client. */
    double error, limit;
    struct hs_vec corrected, corrected_velocity;
    bool has_corrected_velocity;
    /* The failed checks, in order of precedence. Entries from failure_count on are not set. */
    struct hs_move_failure failures[HS_MOVE_CHECK_COUNT];
};

HS_PUBLIC_END

#endif
