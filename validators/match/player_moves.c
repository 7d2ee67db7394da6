#include "validators/match/player_moves.h"

#include "validators/ruleset.h"

#include <stdlib.h>

#include "validators/base/digest.h"
#include "validators/base/prefetch.h"

static void free_answers(struct hs_player_moves *moves, struct hs_budget *budget)
{
    struct hs_move_answers *answers = moves->answers;
    hs_budget_release(budget, hs_player_moves_charge(moves) - HS_MOVES_RESERVE);
    for (uint32_t i = 0; answers != NULL && i < answers->count; i++)
        free(answers->answer[i].rest);
    free(answers);
}

void hs_player_moves_destroy(struct hs_player_moves *moves, struct hs_budget *budget)
{
    if (moves != NULL)
        free_answers(moves, budget);
    free(moves);
}

/* Forgets which of the server's jumps, spawns and launches the player's moves have already shown.
 */
static void forget_events(struct hs_player_moves *moves)
{
    if (moves == NULL)
        return;
    moves->jump_closed_us = moves->spawn_shown_us = INT64_MIN;
    moves->launch = (struct hs_launch){.time_us = INT64_MIN};
    moves->may_be_thrown = false;
}

struct hs_player_moves *hs_player_moves_create(void)
{
    struct hs_player_moves *moves = calloc(1, sizeof *moves);
    if (moves != NULL)
        moves->granted_us = INT64_MIN;
    forget_events(moves);
    return moves;
}

void hs_player_moves_end_session(struct hs_player_moves *moves, struct hs_budget *budget)
{
    if (moves == NULL)
        return;
    free_answers(moves, budget);
    struct hs_timing timing = moves->checks.timing;
    hs_timing_restart(&timing);
    *moves = (struct hs_player_moves){.checks.timing = timing,
                                      .granted_us = moves->granted_us,
                                      .has_lost_moves = moves->has_lost_moves};
    forget_events(moves);
}

size_t hs_player_moves_charge(const struct hs_player_moves *moves)
{
    if (moves == NULL || moves->answers == NULL)
        return HS_MOVES_RESERVE;
    return HS_MOVES_RESERVE + HS_MOVE_ANSWERS_BYTES(moves->answers->capacity) +
           moves->answers->rest_bytes;
}

struct hs_move_answers *hs_move_answers_create(uint32_t capacity)
{
    struct hs_move_answers *answers = calloc(1, HS_MOVE_ANSWERS_BYTES(capacity));
    if (answers == NULL)
        return NULL;
    answers->capacity = capacity;
    answers->seq = (uint64_t *)(answers + 1);
    answers->answer = (struct hs_move_answer *)(answers->seq + capacity);
    return answers;
}

/* Returns whether one more answer can be stored without growing the ring. A ring with HS_MOVES_KEPT
   slots never grows: a new answer replaces the oldest answer. */
static bool has_place(const struct hs_move_answers *answers)
{
    return answers != NULL &&
           (answers->count < answers->capacity || answers->capacity == HS_MOVES_KEPT);
}

/* Returns the capacity to which a full ring grows. */
static uint32_t wanted_places(const struct hs_move_answers *answers)
{
    if (answers == NULL)
        return HS_MOVES_FIRST;
    return 2 * answers->capacity < HS_MOVES_KEPT ? 2 * answers->capacity : HS_MOVES_KEPT;
}

/* Returns the difference in bytes between a ring with `capacity` slots and the ring `answers`,
   which may be NULL. */
static size_t bytes_to(const struct hs_move_answers *answers, uint32_t capacity)
{
    return HS_MOVE_ANSWERS_BYTES(capacity) -
           (answers != NULL ? HS_MOVE_ANSWERS_BYTES(answers->capacity) : 0);
}

/* Moves all answers to a larger ring, in order of age, and frees the smaller ring. */
static void move_answers(struct hs_move_answers *from, struct hs_move_answers *to)
{
    for (uint32_t k = 0; k < from->count; k++) {
        uint32_t i = (from->next + k) % from->capacity;
        to->seq[k] = from->seq[i];
        to->answer[k] = from->answer[i];
    }
    to->next = to->count = from->count;
    to->newest_epoch = from->newest_epoch;
    to->newest_seq = from->newest_seq;
    to->rest_bytes = from->rest_bytes;
    free(from);
}

/* Grows the ring if the budget has enough bytes and the allocation succeeds. */
static void make_place(struct hs_player_moves *moves, struct hs_budget *budget)
{
    uint32_t capacity = wanted_places(moves->answers);
    size_t bytes = bytes_to(moves->answers, capacity);
    if (!hs_budget_reserve(budget, bytes))
        return;
    struct hs_move_answers *made = hs_move_answers_create(capacity);
    if (made == NULL) {
        hs_budget_release(budget, bytes);
        return;
    }
    if (moves->answers != NULL)
        move_answers(moves->answers, made);
    moves->answers = made;
}

void hs_player_moves_forget_times(struct hs_player_moves *moves)
{
    if (moves == NULL)
        return;
    hs_timing_restart(&moves->checks.timing);
    moves->checks.movement = (struct hs_movement){0};
    moves->whereabouts = (struct hs_whereabouts){0};
    moves->posture = (struct hs_posture){0};
    moves->has_epoch = moves->has_corrected = moves->has_acked = moves->is_restored = false;
    moves->granted_us = INT64_MIN;
    forget_events(moves);
    moves->behind_count = 0;
    moves->unmoved_us = moves->unmoved_client_us = 0;
}

/* Adds a name to the digest. Does nothing if the name is absent. `which` is the number of the
   member with the name, so that the same name in two members gives two different digests. */
static void add_name(struct hs_digest *digest, struct hs_str name, uint64_t which)
{
    if (name.ptr == NULL)
        return;
    hs_digest_word(digest, which);
    hs_digest_str(digest, name);
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
    if (move->fields & HS_MOVE_HAS_POSITION)
        hs_digest_vec(&digest, move->position);
    if (move->fields & HS_MOVE_HAS_VELOCITY)
        hs_digest_vec(&digest, move->velocity);
    if (move->fields & HS_MOVE_HAS_SERVER_POSITION)
        hs_digest_vec(&digest, move->server_position);
    if (move->fields & HS_MOVE_HAS_SERVER_VELOCITY)
        hs_digest_vec(&digest, move->server_velocity);
    add_name(&digest, move->mode, 1);
    add_name(&digest, move->base, 2);
    add_name(&digest, move->server_mode, 3);
    add_name(&digest, move->server_base, 4);
    for (size_t i = 0; i < move->flag_count; i++)
        hs_digest_word(&digest, (uint64_t)move->flags[i]);
    for (int i = 0; i < 4 && (move->fields & HS_MOVE_HAS_SERVER_ROTATION); i++)
        hs_digest_real(&digest, move->server_rotation[i]);
    return hs_digest_end(digest);
}

static bool is_newer(uint64_t epoch, uint64_t seq, const struct hs_move_answers *answers)
{
    return epoch > answers->newest_epoch ||
           (epoch == answers->newest_epoch && seq > answers->newest_seq);
}

const struct hs_move_answer *hs_move_answers_find(const struct hs_move_answers *answers,
                                                  uint64_t epoch, uint64_t seq)
{
    if (answers == NULL || answers->count == 0 || is_newer(epoch, seq, answers))
        return NULL;
    for (uint32_t i = 0; i < answers->count; i++)
        if (answers->seq[i] == seq && answers->answer[i].epoch == epoch)
            return &answers->answer[i];
    return NULL;
}

void hs_move_answers_prefetch_itself(const struct hs_move_answers *answers)
{
    if (answers != NULL)
        hs_prefetch(answers, sizeof *answers);
}

void hs_move_answers_prefetch(const struct hs_move_answers *answers)
{
    if (answers == NULL)
        return;
    hs_prefetch(&answers->seq[answers->next], sizeof *answers->seq);
    hs_prefetch(&answers->answer[answers->next], sizeof *answers->answer);
}

/* Returns whether the ring is full and this move's number is below all move numbers in the ring.
   The answer to such a move was probably stored before and has been replaced. */
static bool is_below_all(const struct hs_move_answers *answers, const struct hs_move *move)
{
    for (uint32_t i = 0; i < answers->count; i++)
        if (answers->answer[i].epoch < move->epoch ||
            (answers->answer[i].epoch == move->epoch && answers->seq[i] < move->seq))
            return false;
    return answers->count == answers->capacity;
}

void hs_move_result_clear(struct hs_move_result *result)
{
    memset(result, 0, offsetof(struct hs_move_result, failures));
    result->corrected_mode = HS_NONE;
    result->speed = 1;
}

/* Returns the number of bytes of the REST part that the result uses. */
static size_t rest_of(const struct hs_move_result *result)
{
    if (result->failure_count == 0 && result->position != HS_MOVE_POSITION_CORRECTION)
        return 0;
    return offsetof(struct hs_move_result, failures) - HS_MOVE_PLAIN +
           result->failure_count * sizeof result->failures[0];
}

void hs_move_answer_read(const struct hs_move_answer *answer, struct hs_move_result *out)
{
    memcpy(out, answer->plain, HS_MOVE_PLAIN);
    if (rest_of(out) > 0)
        memcpy((unsigned char *)out + HS_MOVE_PLAIN, answer->rest, rest_of(out));
}

/* Returns the number of bytes to allocate for `answer->rest` before `result` can be stored. */
static size_t rest_needed(const struct hs_move_answer *answer, const struct hs_move_result *result)
{
    return rest_of(result) > 0 && answer->rest == NULL ? HS_MOVE_REST : 0;
}

bool hs_move_answers_write(struct hs_move_answers *answers, uint32_t i,
                           const struct hs_digest *digest, uint64_t epoch, uint64_t seq,
                           const struct hs_move_result *result)
{
    struct hs_move_answer *answer = &answers->answer[i];
    size_t needed = rest_needed(answer, result);
    if (needed > 0) {
        answer->rest = malloc(needed);
        if (answer->rest == NULL)
            return false;
        answers->rest_bytes += needed;
    }
    answers->seq[i] = seq;
    answer->digest = *digest;
    answer->epoch = epoch;
    memcpy(answer->plain, result, HS_MOVE_PLAIN);
    if (rest_of(result) > 0)
        memcpy(answer->rest, (const unsigned char *)result + HS_MOVE_PLAIN, rest_of(result));
    return true;
}

size_t hs_player_moves_need(const struct hs_player_moves *moves,
                            const struct hs_move_result *result)
{
    const struct hs_move_answers *answers = moves->answers;
    if (has_place(answers))
        return rest_needed(&answers->answer[answers->next], result);
    return bytes_to(answers, wanted_places(answers)) + (rest_of(result) > 0 ? HS_MOVE_REST : 0);
}

/* Stores an answer in the next slot. Returns false if the budget or the memory is exhausted. */
static bool write_next(struct hs_move_answers *answers, struct hs_budget *budget,
                       const struct hs_move *move, const struct hs_digest *digest,
                       const struct hs_move_result *result)
{
    size_t needed = rest_needed(&answers->answer[answers->next], result);
    if (!hs_budget_reserve(budget, needed))
        return false;
    if (hs_move_answers_write(answers, answers->next, digest, move->epoch, move->seq, result))
        return true;
    hs_budget_release(budget, needed);
    return false;
}

void hs_player_moves_keep(struct hs_player_moves *moves, struct hs_budget *budget,
                          const struct hs_move *move, const struct hs_digest *digest,
                          const struct hs_move_result *result)
{
    if (!has_place(moves->answers))
        make_place(moves, budget);
    struct hs_move_answers *answers = moves->answers;
    /* If a client sends many moves again, the answers to the first of these moves must not replace
       the answers to the last of them. */
    bool pushes_out =
        answers != NULL && result->reason == HS_MOVE_STALE && is_below_all(answers, move);
    if (answers == NULL || pushes_out || !write_next(answers, budget, move, digest, result))
        return;
    answers->next = answers->next + 1 < answers->capacity ? answers->next + 1 : 0;
    if (answers->count < answers->capacity)
        answers->count++;
    if (answers->count == 1 || is_newer(move->epoch, move->seq, answers)) {
        answers->newest_epoch = move->epoch;
        answers->newest_seq = move->seq;
    }
}
