#include "validators/shot.h"

#include "validators/base/digest.h"
#include "validators/hit/booking.h"
#include "validators/hit/checks.h"
#include "validators/hit/work.h"
#include "validators/match/connection.h"
#include "validators/match/journal.h"

static struct hs_digest digest_of(const struct hs_shot_claim *claim)
{
    struct hs_digest digest = {{3, 4}};
    hs_digest_word(&digest, claim->shot);
    hs_digest_str(&digest, claim->shooter);
    hs_digest_str(&digest, claim->weapon);
    hs_digest_word(&digest, (uint64_t)claim->time_us);
    hs_digest_vec(&digest, claim->origin);
    hs_digest_word(&digest, (uint64_t)claim->has_direction * 2 + claim->has_seed);
    hs_digest_vec(&digest, claim->direction);
    hs_digest_word(&digest, claim->seed);
    hs_digest_word(&digest, claim->direction_count);
    for (size_t i = 0; i < claim->direction_count; i++)
        hs_digest_vec(&digest, claim->directions[i]);
    return hs_digest_end(digest);
}

/* Returns how long before `now_us` the shot was fired: at least 0, and at most rewind.limit. The
   server must advance the new projectile by this time. */
static int64_t launch_age(const struct hs_match *match, const struct hs_shot_claim *claim,
                          int64_t now_us)
{
    int64_t late = now_us - claim->time_us, limit = match->ruleset->rewind.limit_us;
    return late < 0 ? 0 : late > limit ? limit : late;
}

/* Returns by how many microseconds the server's projectile is behind the client's projectile. If
   the ping exceeds the maximum, sets *sleep_us to the time for which the client must delay its own
   projectile. */
static int64_t forward_time(const struct hs_match *match, const struct hs_shot_claim *claim,
                            int64_t now_us, int64_t *sleep_us)
{
    const struct hs_prediction_rules *rules = &match->ruleset->moves.prediction;
    struct hs_connection connection;
    *sleep_us = 0;
    if (match->ruleset->rewind.source != HS_REWIND_BY_PREDICTION)
        return launch_age(match, claim, now_us);
    hs_connection_read(hs_players_find(&match->players, claim->shooter), now_us, &connection);
    if (!hs_connection_predicts(&connection, rules))
        return 0;
    *sleep_us = (int64_t)((double)hs_connection_excess(&connection, rules) * rules->dilation);
    return (int64_t)((double)hs_connection_prediction(&connection, rules) * rules->dilation);
}

/* Returns how long a projectile can still fly after the server advanced the projectile by
   forward_us, or -1 if the weapon fires no projectile. */
static int64_t remaining_flight(const struct hs_match *match, uint16_t index, int64_t forward_us)
{
    if (index == HS_NONE || match->ruleset->weapons[index]->type != HS_WEAPON_PROJECTILE)
        return -1;
    int64_t left = match->ruleset->weapons[index]->max_flight_us - forward_us;
    return left > 0 ? left : 0;
}

void hs_shot_verify_within(const struct hs_match *match, const struct hs_shot_claim *claim,
                           int64_t now_us, uint64_t limit, bool is_whole, struct hs_hit_result *out,
                           int64_t *forward_time_us)
{
    int64_t sleep_us;
    *forward_time_us = forward_time(match, claim, now_us, &sleep_us);
    struct hs_vec ahead = claim->has_direction ? claim->direction : (struct hs_vec){0, 0, 0};
    const struct hs_hit_claim as_hit = {.shot = claim->shot,
                                        .shooter = claim->shooter,
                                        .weapon = claim->weapon,
                                        .hit_time_us = claim->time_us,
                                        .fire_time_us = claim->time_us,
                                        .has_fire_time = true,
                                        .start = claim->origin,
                                        .end = hs_vec_add(claim->origin, ahead)};
    struct hs_hit_context c;
    hs_hit_begin(&c, match, now_us, limit, out);
    c.claim = &as_hit;
    c.is_shot = true;
    c.shot_direction = claim->has_direction ? &claim->direction : NULL;
    c.shot_spreads = claim->has_seed || claim->direction_count > 0;
    hs_hit_evaluate(&c, hs_hit_find_earlier(&c), digest_of(claim), is_whole);
    if (out->replay != NULL)
        return;
    out->sleep_us = sleep_us;
    out->remaining_flight_us = remaining_flight(match, out->weapon, *forward_time_us);
}

void hs_shot_verify(const struct hs_match *match, const struct hs_shot_claim *claim, int64_t now_us,
                    struct hs_hit_result *out, int64_t *forward_time_us)
{
    hs_shot_verify_within(match, claim, now_us, 0, true, out, forward_time_us);
}

/* Stores the results of those checks of the shot that also count for its hits. The check `latency`
   runs again for each hit. But if the outcome of `latency` was unknown for the shot, the outcome is
   unknown for the hits too. */
static void remember_checks(const struct hs_hit_result *result, struct hs_posted_shot *shot)
{
    for (uint16_t i = 0; i < result->check_count && shot->check_count < HS_MAX_REMEMBERED; i++) {
        const struct hs_check_row *row = &result->checks[i];
        if (hs_check_stage(row->check) == HS_CHECK_STAGE_KEPT ||
            (row->check == HS_CHECK_LATENCY && row->outcome == HS_OUTCOME_UNKNOWN))
            shot->checks[shot->check_count++] = (struct hs_remembered_check){
                (uint8_t)row->check, (uint8_t)row->outcome, (uint8_t)row->reason,
                (uint8_t)row->unit,  row->measured,         row->limit};
    }
}

/* Stores the shooter's team and damage scale, which hits of the shot need later. */
static void remember_shooter(const struct hs_match *match, const struct hs_shot_claim *claim,
                             struct hs_posted_shot *shot)
{
    const struct hs_player *shooter = hs_players_find(&match->players, claim->shooter);
    struct hs_bracket bracket;
    if (shooter == NULL ||
        hs_rewind_find(shooter->history, match->ruleset, claim->time_us, &bracket) != HS_REWIND_OK)
        return;
    const struct hs_state *state = hs_rewind_state(shooter->history, &bracket);
    shot->knows_shooter = true;
    shot->damage_scale = state->damage_scale;
    shot->has_team = state->team != HS_NONE;
    if (shot->has_team)
        shot->team_hash = hs_str_hash(hs_name_str(&match->teams[state->team]));
}

void hs_shot_lacked(struct hs_match *match, const struct hs_shot_claim *claim)
{
    struct hs_player *shooter = hs_players_find(&match->players, claim->shooter);
    if (shooter != NULL)
        hs_ledger_record_lacked(&shooter->ledger.shots, claim->time_us);
}

bool hs_shot_record(struct hs_match *match, const struct hs_shot_claim *claim,
                    const struct hs_hit_result *result, struct hs_str answer)
{
    struct hs_posted_shot shot = {.weapon = result->weapon,
                                  .has_seed = claim->has_seed,
                                  .seed = claim->seed,
                                  .has_direction = claim->has_direction,
                                  .direction = claim->direction,
                                  .direction_count = (uint16_t)claim->direction_count,
                                  .directions = (struct hs_vec *)(uintptr_t)claim->directions};
    remember_checks(result, &shot);
    remember_shooter(match, claim, &shot);
    struct hs_ledger_entry entry = {.number = claim->shot,
                                    .digest = result->digest,
                                    .fire_time_us = claim->time_us,
                                    .start = claim->origin,
                                    .shot = result->weapon != HS_NONE ? &shot : NULL};
    struct hs_player *shooter = hs_hit_book(match, claim->shooter, true, result, answer, &entry);
    if (shooter == NULL)
        return false;
    if (result->verdict == HS_VERDICT_REJECTED)
        shooter->standing.shots_refused++;
    return true;
}

/* Withdraws the shot, and returns the reason for the answer. */
static enum hs_reason cancel(struct hs_match *match, const struct hs_shot_claim *claim,
                             bool may_record)
{
    struct hs_player *shooter = hs_players_find(&match->players, claim->shooter);
    if (shooter == NULL)
        return HS_REASON_NO_MATCHING_SHOT;
    if (!may_record || !hs_journal_reserve(&match->players, NULL))
        return HS_REASON_NOT_RECORDED;
    if (hs_hit_book_cancel(match, shooter, claim->shot)) {
        hs_journal_cancel(match, shooter, claim->shot);
        return HS_REASON_OK;
    }
    /* If the shot itself could not be recorded, the game server sends the shot again, and then this
       cancellation. */
    const struct hs_ledger_numbers *shots = &shooter->ledger.shots;
    bool may_be_lacked =
        shots->lacks_some && match->newest_us - shots->lacked_until_us <= match->claim_window_us;
    return may_be_lacked ? HS_REASON_NOT_RECORDED : HS_REASON_NO_MATCHING_SHOT;
}

void hs_shot_cancel(struct hs_match *match, const struct hs_shot_claim *claim, bool may_record,
                    struct hs_hit_result *out)
{
    static const enum hs_outcome outcomes[HS_VERDICT_COUNT] = {HS_OUTCOME_PASS, HS_OUTCOME_FAIL,
                                                               HS_OUTCOME_UNKNOWN};
    enum hs_reason reason = cancel(match, claim, may_record);
    hs_hit_clear(out);
    out->verdict = hs_reason_verdict(reason);
    out->reason = reason;
    out->weapon = HS_NONE;
    out->work = HS_WORK_REPLAY;
    out->check_count = 1;
    out->checks[0] = (struct hs_check_row){.check = HS_CHECK_IDENTITY,
                                           .outcome = outcomes[out->verdict],
                                           .reason = reason,
                                           .mode = HS_MODE_ENFORCE};
}
