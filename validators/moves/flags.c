#include "validators/moves/flags.h"

#include "validators/match/player_moves.h"

/* The flags count as wrong only if frames contradict them for at least the round trip plus
   GRACE_US. If the server chooses a stance, the client's moves report the stance after one round
   trip. If the client chooses a stance, the server adopts the stance within a few ticks. */
#define GRACE_US       INT64_C(250000)
#define UNKNOWN_RTT_US INT64_C(200000)

static bool says(const struct hs_move *move, enum hs_move_flag flag)
{
    for (size_t i = 0; i < move->flag_count; i++)
        if (move->flags[i] == flag)
            return true;
    return false;
}

static bool is_crouched(const struct hs_ruleset *ruleset, const struct hs_state *state)
{
    const struct hs_stance *stances = ruleset->rigs[state->rig]->stances;
    struct hs_vec up = hs_up_direction(ruleset->up);
    return hs_vec_dot(stances[state->stance].eye, up) < hs_vec_dot(stances[0].eye, up);
}

/* Returns whether the flags have stayed the same for one round trip plus GRACE_US, and all frames
   in this period contradict the flags. So flags or frames that merely arrive late cause no failure.
   For honest players, the newest frame usually agrees with the flags, and the search ends there. */
static bool contradicts_frames(const struct hs_ruleset *ruleset, const struct hs_player *player,
                               int64_t received_us, int64_t rtt_us)
{
    const struct hs_history *history = player->history;
    const struct hs_posture *posture = &player->moves->posture;
    int64_t while_us = (rtt_us >= 0 ? rtt_us : UNKNOWN_RTT_US) + GRACE_US;
    int64_t newest = hs_history_find(history, received_us), i = newest;
    if (newest < 0 ||
        hs_history_at(history, (uint32_t)newest)->time_us - posture->since_us < while_us)
        return false;
    for (; i >= 0; i--) {
        const struct hs_sample *sample = hs_history_at(history, (uint32_t)i);
        if (sample->time_us < received_us - while_us)
            break;
        const struct hs_state *state = hs_history_state(history, sample);
        if (!state->tells_stance || is_crouched(ruleset, state) == posture->is_crouched)
            return false;
    }
    return i < newest;
}

static bool is_free(const struct hs_move_mode *mode)
{
    return !(mode->step > 0) && !(mode->gravity > 0);
}

/* Returns whether the move's mode has neither ground (`step`) nor gravity. Returns false if no mode
   in the ruleset has ground, or if no mode has gravity, because such a ruleset does not describe
   ground or gravity. */
static bool is_afloat(const struct hs_ruleset *ruleset, const struct hs_move *move)
{
    const struct hs_moves_rules *rules = &ruleset->moves;
    struct hs_str name = move->mode.ptr != NULL ? move->mode : move->server_mode;
    uint16_t mode = name.ptr != NULL ? hs_ruleset_find_move_mode(ruleset, name) : HS_NONE;
    bool has_ground = false, has_fall = false;
    for (uint16_t i = 0; i < rules->mode_count; i++) {
        has_ground = has_ground || rules->modes[i].step > 0;
        has_fall = has_fall || rules->modes[i].gravity > 0;
    }
    return mode != HS_NONE && has_ground && has_fall && is_free(&rules->modes[mode]);
}

/* A jump may begin in one mode and end in another mode. So a jump is a failure only if the modes of
   both the previous move and this move have neither ground nor gravity. */
bool hs_move_flags_contradict(const struct hs_match *match, const struct hs_player *player,
                              const struct hs_move *move, int64_t rtt_us)
{
    struct hs_posture *posture = &player->moves->posture;
    bool had_flags = posture->has_flags, was_afloat = posture->is_afloat;
    posture->has_flags = (move->fields & HS_MOVE_HAS_FLAGS) != 0;
    posture->is_afloat = posture->has_flags && is_afloat(match->ruleset, move);
    if (!posture->has_flags)
        return false;
    bool crouches = says(move, HS_MOVE_CROUCHED);
    if (!had_flags || crouches != posture->is_crouched)
        posture->since_us = move->received_us;
    posture->is_crouched = crouches;
    bool jumps_afloat = says(move, HS_MOVE_JUMPED) && was_afloat && posture->is_afloat;
    return jumps_afloat || contradicts_frames(match->ruleset, player, move->received_us, rtt_us);
}
