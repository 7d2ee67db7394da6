/* Records the result of a claim: the claim's number and answer, the cadence, the payment, and the
   totals. */
#include "validators/hit/booking.h"

#include "validators/hit/hints.h"
#include "validators/match/journal.h"

/* Returns the player with this name. Adds the player if no frame ever named them. Returns NULL if
   there is no space. */
static struct hs_player *shooter_of(struct hs_match *match, struct hs_str name)
{
    struct hs_player *player = hs_players_find(&match->players, name);
    match->players.shooter = player;
    if (player != NULL)
        return player;
    if (!hs_journal_reserve(&match->players, NULL) ||
        hs_players_add(&match->players, name, match->limits.samples, &player) != HS_PLAYERS_ADDED)
        return NULL;
    hs_players_begin_session(&match->players, player);
    return player;
}

bool hs_hit_admit(struct hs_match *match, struct hs_str shooter)
{
    return shooter_of(match, shooter) != NULL;
}

void hs_hit_withhold(struct hs_hit_result *result, enum hs_reason reason)
{
    bool lacks_shot = result->reason == HS_REASON_NO_MATCHING_SHOT;
    if (result->verdict != HS_VERDICT_ACCEPTED && !lacks_shot)
        return;
    result->verdict = HS_VERDICT_INCONCLUSIVE;
    result->reason = reason;
    result->damage_total = 0;
    result->damage_count = 0;
    for (uint16_t i = 0; i < result->check_count; i++) {
        struct hs_check_row *row = &result->checks[i];
        if (row->check != HS_CHECK_IDENTITY)
            continue;
        row->outcome = HS_OUTCOME_UNKNOWN;
        row->reason = reason;
    }
}

/* Returns the weapon whose cadence must record this result, or HS_NONE. A shot that fails
   `fire_rate` in shadow mode is not recorded. A rejected shot is not recorded either, so later
   shots pass or fail as they would in enforce mode. */
static uint16_t cadence_of(const struct hs_hit_result *result)
{
    bool counts = result->verdict == HS_VERDICT_ACCEPTED && !result->shot_was_posted;
    for (uint16_t i = 0; i < result->would_reject_count; i++)
        counts = counts && result->would_reject[i] != HS_REASON_FIRE_RATE;
    return counts ? result->weapon : (uint16_t)HS_NONE;
}

void hs_hit_book_cadence(const struct hs_match *match, struct hs_player *player, uint16_t weapon,
                         int64_t fire_time_us)
{
    if (weapon == HS_NONE)
        return;
    const struct hs_weapon *rules = match->ruleset->weapons[weapon];
    hs_ledger_record_shot(&player->ledger, weapon, fire_time_us, rules->min_interval_us,
                          rules->reload_us);
}

/* Records the number, and reserves memory for the cadence. Returns false if out of memory. */
static bool book_number(struct hs_match *match, struct hs_ledger *ledger,
                        struct hs_ledger_numbers *numbers, const struct hs_ledger_entry *entry,
                        uint16_t weapon)
{
    bool adds_cadence = weapon != HS_NONE && hs_ledger_cadence(ledger, weapon) == NULL;
    size_t need = hs_ledger_need(ledger, numbers, entry, adds_cadence);
    hs_ledger_free_answers(ledger, need);
    hs_players_free_space(&match->players, need);
    return (weapon == HS_NONE || hs_ledger_reserve_cadence(ledger, weapon)) &&
           hs_ledger_record(ledger, numbers, entry);
}

struct hs_player *hs_hit_book(struct hs_match *match, struct hs_str shooter, bool is_shot,
                              const struct hs_hit_result *result, struct hs_str answer,
                              struct hs_ledger_entry *entry)
{
    struct hs_player *player = shooter_of(match, shooter);
    entry->accepted = result->verdict == HS_VERDICT_ACCEPTED;
    entry->answer = (char *)(uintptr_t)answer.ptr;
    entry->answer_size = answer.len;
    if (player == NULL)
        return NULL;
    struct hs_ledger *ledger = &player->ledger;
    struct hs_ledger_numbers *numbers = is_shot ? &ledger->shots : &ledger->hits;
    bool is_of_former = hs_player_is_back_since(player, entry->fire_time_us);
    ledger->free_before_us = match->players.evict_before_us;
    bool was_used =
        !is_of_former && (hs_ledger_is_used(numbers, entry->number, ledger->free_before_us) ||
                          hs_ledger_is_forgotten(numbers, entry->fire_time_us));
    if (was_used || (is_of_former && !entry->accepted))
        return player;
    struct hs_journal_payment payment = {.session = is_of_former ? player->former_session
                                                                 : player->session,
                                         .is_shot = is_shot,
                                         .clock = match->clock,
                                         .weapon = cadence_of(result),
                                         .reason = result->reason,
                                         .damage = result->damage_total,
                                         .entry = *entry};
    entry->payment = entry->accepted ? match->payments + 1 : 0;
    if (entry->accepted && !hs_journal_reserve(&match->players, entry))
        return NULL;
    if (is_of_former)
        hs_ledger_record_paid(numbers, entry->fire_time_us);
    else if (!book_number(match, ledger, numbers, entry, payment.weapon))
        return NULL;
    /* hs_ledger_reserve_cadence reserved memory for the cadence, but hs_ledger_record may have used
       that memory. If so, the shot does not count for the rate of fire. */
    hs_hit_book_cadence(match, player, payment.weapon, result->fire_time_us);
    if (entry->accepted) {
        match->payments++;
        hs_journal_paid(&match->players, player, &payment);
    }
    return player;
}

bool hs_hit_book_cancel(const struct hs_match *match, struct hs_player *player, uint64_t number)
{
    struct hs_ledger *ledger = &player->ledger;
    const struct hs_ledger_entry *hit = hs_ledger_find(&ledger->hits, number);
    struct hs_ledger_entry *entry = hs_ledger_posted(ledger, number);
    if (entry == NULL || !entry->accepted)
        return false;
    bool may_be_paid = (hit != NULL && hit->accepted) ||
                       hs_ledger_is_forgotten(&ledger->hits, entry->fire_time_us);
    if (!entry->is_cancelled && entry->shot != NULL && !may_be_paid)
        hs_ledger_return_shot(ledger, entry->shot->weapon, entry->fire_time_us,
                              match->ruleset->weapons[entry->shot->weapon]->reload_us);
    entry->is_cancelled = true;
    return true;
}

/*
 * Returns whether a failure raises no suspicion. Another player or the server can cause most of
 * these failures, for example by a kill or a body in the line of fire. Latency alone can cause some
 * failures. And shooters gain nothing from hitting themselves or a team mate.
 */
static bool is_blameless(const struct hs_hit_result *result, const struct hs_check_row *row)
{
    bool is_unstable = (result->flags & 1u << HS_FLAG_UNSTABLE_LATENCY) != 0;
    switch (row->reason) {
    case HS_REASON_TARGET_PROTECTED:
    case HS_REASON_BLOCKED_BY_PLAYER:
    case HS_REASON_TARGET_DEAD:
    case HS_REASON_STALE_LIFE:
    case HS_REASON_SHOOTER_DEAD:
    case HS_REASON_FRIENDLY_FIRE:
    case HS_REASON_SELF_HIT:
        return true;
    case HS_REASON_NO_MATCHING_SHOT:
        return result->shot_was_posted;
    default:
        return row->mover.text[0] != '\0' || row->check == HS_CHECK_REWIND ||
               (is_unstable && row->check == HS_CHECK_LATENCY);
    }
}

/* Raises the suspicion. For a rejected claim, only the failure that decided the verdict counts. For
   an accepted claim, all failures count. All of them are failures of checks in shadow mode. */
static void add_suspicion(struct hs_match *match, struct hs_player *shooter,
                          const struct hs_hit_result *result)
{
    bool is_rejected = result->verdict == HS_VERDICT_REJECTED;
    bool is_accepted = result->verdict == HS_VERDICT_ACCEPTED;
    shooter->standing.would_reject += is_accepted && result->would_reject_count > 0 ? 1 : 0;
    for (uint16_t i = 0; i < result->check_count && (is_rejected || is_accepted); i++) {
        const struct hs_check_row *row = &result->checks[i];
        bool counts =
            is_rejected ? row->mode == HS_MODE_ENFORCE && row->reason == result->reason : true;
        if (!counts || row->outcome != HS_OUTCOME_FAIL || is_blameless(result, row))
            continue;
        hs_suspicion_decay(&shooter->standing.suspicion, match->newest_us);
        shooter->standing.suspicion.hits[row->check] +=
            hs_suspicion_weight(match->ruleset, row->unit, row->measured, row->limit);
        if (is_rejected)
            return;
    }
}

/* The entry contains only the end of the first pellet. This end is compared with every pellet of
   the claim, because the order of the pellets must not matter. */
bool hs_hit_repeats_trace(const struct hs_hit_claim *claim, const struct hs_ledger_entry *entry)
{
    bool repeats =
        claim->pellet_count == 0 && hs_ledger_is_same_trace(entry, claim->start, claim->end);
    for (size_t i = 0; !repeats && i < claim->pellet_count; i++)
        repeats = hs_ledger_is_same_trace(entry, claim->start, claim->pellets[i].end);
    return repeats;
}

bool hs_hit_record(struct hs_match *match, const struct hs_hit_claim *claim,
                   const struct hs_hit_result *result, struct hs_str answer)
{
    struct hs_hit_claim evaluated = *claim;
    if (claim->pellet_count > 0)
        evaluated.end = claim->pellets[0].end;
    else if (claim->has_no_end)
        evaluated.end = result->end;
    struct hs_ledger_entry entry = {.number = claim->shot,
                                    .digest = result->digest,
                                    .fire_time_us = result->fire_time_us,
                                    .is_instant = result->is_instant,
                                    .has_offset = result->has_offset,
                                    .hit_time_us = claim->hit_time_us,
                                    .offset_us = result->offset_us,
                                    .start = claim->start,
                                    .end = evaluated.end};
    struct hs_player *shooter = hs_hit_book(match, claim->shooter, false, result, answer, &entry);
    if (shooter == NULL)
        return false;
    match->totals.reasons[result->reason]++;
    match->totals.damage += result->damage_total;
    shooter->standing.reasons[result->reason]++;
    shooter->standing.damage_dealt += result->damage_total;
    add_suspicion(match, shooter, result);
    hs_hints_learn(match, shooter, &evaluated, result);
    return true;
}
