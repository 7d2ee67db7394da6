/* A player whose moves contradict what the server knows. Metres, 60 moves a second; the server's
   clock begins at 100 s. Each test program that includes it has its own copy. */
#ifndef HS_TESTS_SERVER_MOVES_H
#define HS_TESTS_SERVER_MOVES_H

#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "tests/support/play/session.h"
#include "validators/snapshot.h"

#define S(seconds) ((int64_t)((seconds)*1e6 + 0.5))
#define FRAME_US   INT64_C(16667)
#define DT         (FRAME_US / 1e6)

static struct hs_test_session session;
static struct hs_moves_rules *rules;
static struct hs_move move; /* the next move */
static int failures;        /* failed checks of movement since the last begin */

static inline void begin(void)
{
    move = hs_session_move(S(1), S(100));
    move.fields = HS_MOVE_HAS_POSITION;
    move.mode = HS_STR("walking");
    failures = 0;
}

static inline void set_up(void)
{
    hs_session_open(&session);
    rules = &session.rules->moves;
    hs_ruleset_add_builtin_moves(session.rules, 100);
    begin();
}

static inline void tear_down(void)
{
    hs_session_close(&session);
}

static inline struct hs_move_result judge(void)
{
    struct hs_move_result result = hs_session_judge(&session, &move);
    failures += result.failure_count;
    return result;
}

/* Sends the next move, by dx and dz. */
static inline struct hs_move_result step(double dx, double dz)
{
    move.timestamp_us += FRAME_US;
    move.received_us += FRAME_US;
    move.position.x += dx;
    move.position.z += dz;
    return judge();
}

/* Moves at a velocity for some time. Returns the last result. */
static inline struct hs_move_result run(double vx, double vz, double seconds)
{
    struct hs_move_result result = {0};
    for (long i = lround(seconds * 60); i > 0; i--)
        result = step(vx * DT, vz * DT);
    return result;
}

static inline void post(int64_t time_us, struct hs_player_frame entry)
{
    entry.fields |= HS_FIELD_RTT;
    entry.rtt_us = 100000;
    ck_assert_int_eq(hs_stage_post(session.match, time_us, &entry, NULL), HS_FRAME_STORED);
}

static inline void restart(void)
{
    static const struct hs_match_limits limits = {.players = 64, .samples = 256, .movers = 4};
    struct hs_bytes bytes = {0};
    hs_match_save(session.match, &bytes);
    hs_match_destroy(session.match);
    ck_assert_int_eq(hs_match_load(session.rules, &limits, bytes.data, bytes.len, &session.match),
                     HS_MATCH_LOADED);
    free(bytes.data);
}

#endif
