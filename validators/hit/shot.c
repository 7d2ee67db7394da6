#include "validators/shot.h"

#include "validators/base/digest.h"
#include "validators/hit/booking.h"
#include "validators/hit/checks.h"
#include "validators/hit/verify.h"
#include "validators/hit/work.h"

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
    return digest;
}

static const struct hs_ledger_entry *find_replay(const struct hs_match *match,
                                                 const struct hs_shot_claim *claim)
{
    const struct hs_player *shooter = hs_players_find(&match->players, claim->shooter);
    if (shooter == NULL)
        return NULL;
    const struct hs_ledger_entry *entry = hs_ledger_find(&shooter->ledger.shots, claim->shot);
    struct hs_digest digest = digest_of(claim);
    bool same = entry != NULL && entry->answer != NULL && entry->digest.word[0] == digest.word[0] &&
                entry->digest.word[1] == digest.word[1];
    return same ? entry : NULL;
}

/* A projectile spawned now is as late as its launch lies back; no more than a claim may rewind. */
static int64_t forward_time(const struct hs_match *match, const struct hs_shot_claim *claim,
                            int64_t now_us)
{
    int64_t late = now_us - claim->time_us, limit = match->ruleset->rewind.limit_us;
    return late < 0 ? 0 : late > limit ? limit : late;
}

void hs_shot_verify_within(const struct hs_match *match, const struct hs_shot_claim *claim,
                           int64_t now_us, uint64_t limit, bool is_whole, struct hs_hit_result *out,
                           int64_t *forward_time_us)
{
    hs_hit_clear(out);
    out->work = HS_WORK_REPLAY;
    *forward_time_us = forward_time(match, claim, now_us);
    out->replay = find_replay(match, claim);
    if (out->replay != NULL)
        return;
    struct hs_vec ahead = claim->has_direction ? claim->direction : (struct hs_vec){0, 0, 0};
    const struct hs_hit_claim as_hit = {.shot = claim->shot,
                                        .shooter = claim->shooter,
                                        .weapon = claim->weapon,
                                        .hit_time_us = claim->time_us,
                                        .fire_time_us = claim->time_us,
                                        .has_fire_time = true,
                                        .start = claim->origin,
                                        .end = hs_vec_add(claim->origin, ahead)};
    struct hs_hit_context c = {.match = match,
                               .ruleset = match->ruleset,
                               .claim = &as_hit,
                               .now_us = now_us,
                               .is_shot = true,
                               .work = {.spent = HS_WORK_REPLAY, .limit = limit},
                               .out = out};
    if (!hs_hit_may_begin(&c, is_whole)) {
        hs_hit_give_up(&c);
        return;
    }
    hs_work_spend(&c.work, HS_WORK_CLAIM);
    if (claim->has_direction)
        c.direction = claim->direction; /* as given: adding it to a far origin rounds it */
    out->rewind.time_us = claim->time_us;
    out->rewind.by_us = now_us - claim->time_us;
    hs_checks_run(&c);
    if (hs_work_is_over(&c.work)) {
        hs_hit_give_up(&c);
        return;
    }
    hs_hit_decide(&c);
    out->weapon = c.weapon != NULL ? c.weapon_index : HS_NONE;
    out->fire_time_us = out->eye_time_us = claim->time_us;
    out->work = c.work.spent;
}

void hs_shot_verify(const struct hs_match *match, const struct hs_shot_claim *claim, int64_t now_us,
                    struct hs_hit_result *out, int64_t *forward_time_us)
{
    hs_shot_verify_within(match, claim, now_us, 0, true, out, forward_time_us);
}

/* Latency is judged of each hit by itself, but where it left the shot open, its hits are as well.
 */
static bool is_remembered(const struct hs_check_row *row)
{
    return hs_check_stage(row->check) == HS_CHECK_STAGE_KEPT ||
           (row->check == HS_CHECK_LATENCY && row->outcome == HS_OUTCOME_UNKNOWN);
}

static void remember_checks(const struct hs_hit_result *result, struct hs_posted_shot *shot)
{
    for (uint16_t i = 0; i < result->check_count && shot->check_count < HS_MAX_REMEMBERED; i++) {
        const struct hs_check_row *row = &result->checks[i];
        if (is_remembered(row))
            shot->checks[shot->check_count++] = (struct hs_remembered_check){
                (uint8_t)row->check, (uint8_t)row->outcome, (uint8_t)row->reason,
                (uint8_t)row->unit,  row->measured,         row->limit};
    }
}

void hs_shot_lacked(struct hs_match *match, const struct hs_shot_claim *claim)
{
    struct hs_player *shooter = hs_players_find(&match->players, claim->shooter);
    if (shooter != NULL)
        hs_ledger_record_lacked(&shooter->ledger.shots, claim->time_us);
}

bool hs_shot_note(struct hs_match *match, const struct hs_shot_claim *claim,
                  const struct hs_hit_result *result, struct hs_str answer)
{
    struct hs_player *shooter = hs_hit_shooter(match, claim->shooter);
    if (shooter == NULL)
        return false;
    struct hs_posted_shot shot = {.weapon = result->weapon,
                                  .has_seed = claim->has_seed,
                                  .seed = claim->seed,
                                  .has_direction = claim->has_direction,
                                  .direction = claim->direction,
                                  .direction_count = (uint16_t)claim->direction_count,
                                  .directions = (struct hs_vec *)(uintptr_t)claim->directions};
    remember_checks(result, &shot);
    struct hs_ledger_entry entry = {.number = claim->shot,
                                    .digest = digest_of(claim),
                                    .fire_time_us = claim->time_us,
                                    .accepted = result->verdict == HS_VERDICT_ACCEPTED,
                                    .start = claim->origin,
                                    .shot = result->weapon != HS_NONE ? &shot : NULL,
                                    .answer = (char *)(uintptr_t)answer.ptr,
                                    .answer_size = answer.len};
    if (!hs_hit_book(match, shooter, true, &entry, result))
        return false;
    if (result->verdict == HS_VERDICT_REJECTED)
        shooter->shots_refused++;
    return true;
}
