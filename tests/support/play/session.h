/*
 * A player `S` of the stage (stage.h) who sends moves, with or without frames. Faults end the test.
 */
#ifndef HS_TESTS_SESSION_H
#define HS_TESTS_SESSION_H

#include "tests/support/play/stage.h"
#include "validators/moves.h"

struct hs_test_session {
    struct hs_ruleset *rules;
    struct hs_match *match;
};

void hs_session_open(struct hs_test_session *session);
void hs_session_close(struct hs_test_session *session);

/* Posts a frame with the player at the origin. */
void hs_session_post(struct hs_test_session *session, int64_t time_us, enum hs_sample_event event);

/* Returns a move of the player without a number. */
struct hs_move hs_session_move(int64_t client_us, int64_t received_us);
struct hs_move_result hs_session_judge(struct hs_test_session *session, const struct hs_move *move);
/* Checks a move of hs_session_move, and returns the reason. */
enum hs_move_reason hs_session_send(struct hs_test_session *session, int64_t client_us,
                                    int64_t received_us);

#endif
