/*
 * Streams of client moves as a game server receives them. A stream includes the client's clock,
 * honest or not, its frames, the network in both directions, and the network's faults. The same
 * options give the same stream on every machine. One stream can feed the move checks, a match, or a
 * service.
 */
#ifndef HS_TESTS_MOVE_STREAM_H
#define HS_TESTS_MOVE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/support/random.h"
#include "validators/moves.h"

enum hs_clock_event_kind {
    HS_CLOCK_SPEED,    /* the client's clock runs `amount` times as fast */
    HS_CLOCK_JUMP,     /* the clock jumps by `amount` seconds at once */
    HS_CLOCK_PAUSE,    /* no frames; the clock advances by `amount` seconds in total */
    HS_CLOCK_HOLD,     /* packets sent in this time leave together at its end */
    HS_CLOCK_LOSS,     /* packets sent in this time are lost */
    HS_CLOCK_HITCH,    /* packets that arrive in this time are received at its end */
    HS_CLOCK_DELAY,    /* the delay in each direction is `amount` seconds */
    HS_CLOCK_OLD_ACKS, /* acks keep their first value */
    /* The server announces that game time runs `amount` times as fast, and clients follow. */
    HS_CLOCK_DILATION,
};

/* An event in [from, to) of a stream that repeats every `every_us`; 0: it happens once. */
struct hs_clock_event {
    enum hs_clock_event_kind kind;
    int64_t from_us, to_us, every_us;
    double amount;
};

enum { HS_CLOCK_EVENTS = 6 };

struct hs_clock_options {
    uint64_t seed;
    double rate_hz;    /* rate of frames; 0: 60 */
    int64_t length_us; /* duration in which the client makes frames */
    int64_t start_us;  /* server time of the first frame */
    int64_t clock_us;  /* client time of the first frame; 0: 1 s */
    int64_t period_us; /* period of the client's clock resets; 0: 240 s; < 0: no resets */
    int64_t delay_us;  /* one-way delay; 0: 50 ms */
    int64_t tick_us;   /* the server reads packets at its ticks; 0: at once */
    int64_t jitter_us; /* standard deviation of the delay; packets never overtake each other */
    double skew_ppm;   /* rate error of the client's clock */
    double loss;       /* probability that a packet is lost */
    bool without_acks;
    /* A queue on the way to the server: an Ornstein-Uhlenbeck process around half of queue_most_us,
       within [0, queue_most_us]. */
    int64_t queue_sd_us, queue_tau_us, queue_most_us;
    struct hs_clock_event events[HS_CLOCK_EVENTS];
};

struct hs_clock_item {
    struct hs_move move; /* a move of the player "P", with a `seq` */
    int64_t sent_us;     /* time of sending: real time since the start of the stream */
};

struct hs_move_stream {
    struct hs_clock_options options;
    struct hs_random random;
    double spare; /* second result of the last draw of two normal deviates, for the next call */
    bool has_spare;
    int64_t frame;
    double clock_us; /* time of the client without resets */
    int64_t now_us;  /* real time of the last frame */
    int64_t wrapped_us, arrived_us;
    double queue_us;
    uint64_t seq;
};

/* Starts a stream. `play` may be moved and copied, because it owns nothing. */
void hs_move_stream_start(struct hs_move_stream *play, const struct hs_clock_options *options);

/* Makes the next move in order of arrival. Returns false if the stream has ended. */
bool hs_move_stream_next(struct hs_move_stream *play, struct hs_clock_item *item);

/* Makes up to `most` moves. Returns their number. */
size_t hs_move_stream_fill(struct hs_move_stream *play, struct hs_clock_item *items, size_t most);

#endif
