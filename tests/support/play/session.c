#include "tests/support/play/session.h"

#include <check.h>

void hs_session_open(struct hs_test_session *session)
{
    session->rules = hs_stage_ruleset();
    session->match = hs_stage_match(session->rules);
}

void hs_session_close(struct hs_test_session *session)
{
    hs_match_destroy(session->match);
    hs_ruleset_destroy(session->rules);
}

void hs_session_post(struct hs_test_session *session, int64_t time_us, enum hs_sample_event event)
{
    struct hs_player_frame entry = hs_stage_event("S", event);
    ck_assert_int_eq(hs_stage_post(session->match, time_us, &entry, NULL), HS_FRAME_STORED);
}

struct hs_move hs_session_move(int64_t client_us, int64_t received_us)
{
    return (struct hs_move){.player = HS_STR("S"),
                            .timestamp_us = client_us,
                            .received_us = received_us,
                            .dilation = 1};
}

struct hs_move_result hs_session_judge(struct hs_test_session *session, const struct hs_move *move)
{
    struct hs_move_result result;
    ck_assert(hs_match_check_move(session->match, move, &result));
    return result;
}

enum hs_move_reason hs_session_send(struct hs_test_session *session, int64_t client_us,
                                    int64_t received_us)
{
    struct hs_move move = hs_session_move(client_us, received_us);
    return hs_session_judge(session, &move).reason;
}
