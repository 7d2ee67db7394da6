#include "player_moves.h"

#include <stdlib.h>

#include "digest.h"

void hs_player_moves_destroy(struct hs_player_moves *moves)
{
    if (moves == NULL)
        return;
    free(moves->answers);
    free(moves);
}

size_t hs_player_moves_bytes(const struct hs_player_moves *moves)
{
    if (moves == NULL)
        return 0;
    return sizeof *moves + (moves->answers != NULL ? sizeof *moves->answers : 0);
}

void hs_player_moves_forget_times(struct hs_player_moves *moves)
{
    if (moves == NULL)
        return;
    hs_timing_restart(&moves->judges.timing);
    moves->judges.movement = (struct hs_movement){0};
    moves->has_epoch = moves->has_corrected = false;
    moves->jump_closed_us = INT64_MIN;
    moves->unmoved_us = moves->unmoved_client_us = 0;
}

struct hs_digest hs_move_digest(const struct hs_move *move)
{
    struct hs_digest digest = {{move->epoch, move->seq}};
    hs_digest_word(&digest, (uint64_t)move->fields | (uint64_t)move->kind << 32);
    hs_digest_word(&digest, (uint64_t)move->timestamp_us);
    hs_digest_word(&digest, (uint64_t)move->received_us);
    if (move->fields & HS_MOVE_HAS_ACK)
        hs_digest_word(&digest, (uint64_t)move->ack_us);
    hs_digest_real(&digest, move->dilation);
    hs_digest_str(&digest, move->mode);
    hs_digest_str(&digest, move->base);
    hs_digest_str(&digest, move->server_mode);
    if (move->fields & HS_MOVE_HAS_POSITION)
        hs_digest_vec(&digest, move->position);
    if (move->fields & HS_MOVE_HAS_VELOCITY)
        hs_digest_vec(&digest, move->velocity);
    if (move->fields & HS_MOVE_HAS_SERVER_POSITION)
        hs_digest_vec(&digest, move->server_position);
    if (move->fields & HS_MOVE_HAS_SERVER_VELOCITY)
        hs_digest_vec(&digest, move->server_velocity);
    return digest;
}

const struct hs_move_answer *hs_move_answers_find(const struct hs_move_answers *answers,
                                                  uint64_t epoch, uint64_t seq)
{
    for (uint32_t i = 0; answers != NULL && i < answers->count; i++)
        if (answers->seq[i] == seq && answers->epoch[i] == epoch)
            return &answers->answer[i];
    return NULL;
}

/* Below everything that is kept, with no room left: once it was kept, and is no more. */
static bool is_below_all(const struct hs_move_answers *answers, const struct hs_move *move)
{
    for (uint32_t i = 0; i < answers->count; i++)
        if (answers->epoch[i] < move->epoch ||
            (answers->epoch[i] == move->epoch && answers->seq[i] < move->seq))
            return false;
    return answers->count == HS_MOVES_KEPT;
}

void hs_move_answers_keep(struct hs_move_answers *answers, const struct hs_move *move,
                          const struct hs_digest *digest, const struct hs_move_result *result)
{
    if (result->reason == HS_MOVE_STALE && is_below_all(answers, move))
        return; /* else a long batch sent again would push out its own answers, one by one */
    uint32_t i = answers->next;
    answers->next = (i + 1) % HS_MOVES_KEPT;
    if (answers->count < HS_MOVES_KEPT)
        answers->count++;
    answers->seq[i] = move->seq;
    answers->epoch[i] = move->epoch;
    answers->answer[i].digest = *digest;
    answers->answer[i].result = *result;
    answers->answer[i].result.replayed = true;
}
