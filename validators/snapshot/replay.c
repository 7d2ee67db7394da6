/* Applies the journal records that match/journal.c writes. */
#include "validators/journal.h"

#include <math.h>

#include "validators/hit/booking.h"
#include "validators/match/accounts.h"
#include "validators/match/journal.h"
#include "validators/snapshot/load.h"

/* Starts a session of the player with this name. Adds the player if they are not in the match.
   Returns NULL if the player cannot be added. */
static struct hs_player *begin_session(struct hs_loading *l, struct hs_str name)
{
    struct hs_players *players = &l->match->players;
    struct hs_player *player = hs_players_find(players, name);
    if (player != NULL) {
        if (!player->left)
            hs_players_leave(players, player, player->left_us, player->ended_us);
        hs_players_rejoin(players, player);
        return player;
    }
    enum hs_players_add added = hs_players_add(players, name, l->match->limits.samples, &player);
    l->no_memory = l->no_memory || added == HS_PLAYERS_NO_MEMORY;
    return added == HS_PLAYERS_ADDED ? player : NULL;
}

static void replay_session(struct hs_loading *l)
{
    struct hs_players *players = &l->match->players;
    struct hs_player *player, as_recorded = {0};
    struct hs_str name = hs_loading_name(l, false);
    as_recorded.session = hs_bytes_get(&l->reader, 8);
    as_recorded.former_session = hs_bytes_get(&l->reader, 8);
    as_recorded.left = hs_loading_flag(l);
    as_recorded.has_left_before = hs_loading_flag(l);
    as_recorded.left_us = hs_loading_time(l);
    as_recorded.ended_us = hs_loading_time(l);
    int64_t evict_before_us = (int64_t)hs_bytes_get(&l->reader, 8);
    if (!hs_loading_is_fine(l))
        return;
    uint64_t sessions =
        as_recorded.session > players->sessions ? as_recorded.session : players->sessions;
    player = hs_players_find(players, name);
    /* If the snapshot does not contain the player, but the snapshot's number of sessions includes
       this session, the player was evicted before the save. */
    bool is_newer = as_recorded.session > (player != NULL ? player->session : players->sessions);
    bool ends = player != NULL && !player->left && as_recorded.left &&
                player->session == as_recorded.session;
    if (is_newer) {
        /* Use the eviction limit in the record. So a player who was evicted to make space for this
           session can be evicted again. */
        players->evict_before_us = evict_before_us;
        player = begin_session(l, name);
    }
    /* If a player rejoined while the match was saved in parts, the number of the player's session
       can be above the saved number of sessions. So update the number of sessions even if the
       snapshot contains the session. */
    players->sessions = sessions;
    if (player == NULL || (!is_newer && !ends))
        return;
    player->session = as_recorded.session;
    player->former_session = as_recorded.former_session;
    if (as_recorded.left)
        hs_players_leave(players, player, as_recorded.left_us, as_recorded.ended_us);
    player->has_left_before = as_recorded.has_left_before;
    player->left_us = as_recorded.left_us;
    player->ended_us = as_recorded.ended_us;
}

/* Records a payment of the player's current session. Does nothing if the snapshot already contains
   the payment. */
static void book(struct hs_loading *l, struct hs_player *player, struct hs_journal_payment *payment)
{
    struct hs_ledger *ledger = &player->ledger;
    struct hs_ledger_numbers *numbers = payment->is_shot ? &ledger->shots : &ledger->hits;
    struct hs_ledger_entry *entry = &payment->entry;
    ledger->free_before_us = l->match->players.evict_before_us;
    if (hs_ledger_is_used(numbers, entry->number, ledger->free_before_us) ||
        hs_ledger_is_forgotten(numbers, entry->fire_time_us))
        return;
    if (!hs_ledger_record(ledger, numbers, entry)) {
        l->no_memory = true;
        return;
    }
    hs_hit_book_cadence(l->match, player, payment->weapon, entry->fire_time_us);
    if (payment->is_shot)
        return;
    player->standing.reasons[payment->reason]++;
    player->standing.damage_dealt += payment->damage;
    l->match->totals.reasons[payment->reason]++;
    l->match->totals.damage += payment->damage;
}

/* Applies a payment of one of the player's earlier sessions. Only the payment's time and cadence
   still matter. */
static void book_former(struct hs_loading *l, struct hs_player *player,
                        const struct hs_journal_payment *payment)
{
    struct hs_ledger_numbers *numbers =
        payment->is_shot ? &player->ledger.shots : &player->ledger.hits;
    if (!hs_ledger_is_forgotten(numbers, payment->entry.fire_time_us))
        hs_hit_book_cadence(l->match, player, payment->weapon, payment->entry.fire_time_us);
    hs_ledger_record_paid(numbers, payment->entry.fire_time_us);
}

/* Returns whether a payment no longer matters. A payment from before the last clock reset does not
   matter. A payment from before evict_before_us does not matter either, because claims from that
   time are too old to be accepted. The match may have forgotten the shot number of such a payment,
   so the payment must not count again. */
static bool is_past(const struct hs_match *match, const struct hs_journal_payment *payment)
{
    return payment->clock != match->clock ||
           payment->entry.fire_time_us < match->players.evict_before_us;
}

static void replay_paid(struct hs_loading *l)
{
    struct hs_journal_payment payment = {0};
    const struct hs_ruleset *ruleset = l->match->ruleset;
    struct hs_player *player = hs_players_find(&l->match->players, hs_loading_name(l, false));
    payment.session = hs_bytes_get(&l->reader, 8);
    payment.is_shot = hs_loading_flag(l);
    payment.clock = (uint32_t)hs_bytes_get(&l->reader, 4);
    payment.weapon = (uint16_t)hs_bytes_get(&l->reader, 2);
    payment.reason = (enum hs_reason)hs_bytes_get_max(&l->reader, 1, HS_REASON_COUNT - 1);
    payment.damage = hs_bytes_get_real(&l->reader);
    hs_loading_entry(l, &payment.entry);
    bool is_valid = payment.entry.accepted && payment.damage >= 0 && isfinite(payment.damage) &&
                    (payment.weapon < ruleset->weapon_count || payment.weapon == HS_NONE);
    bool counts = player != NULL && !is_past(l->match, &payment);
    if (!is_valid || !hs_loading_is_fine(l))
        l->is_damaged = true;
    else if (counts && payment.session == player->session)
        book(l, player, &payment);
    else if (counts && payment.session < player->session)
        book_former(l, player, &payment);
    hs_ledger_free_entry(&payment.entry);
}

static void replay_cancel(struct hs_loading *l)
{
    struct hs_player *player = hs_players_find(&l->match->players, hs_loading_name(l, false));
    uint64_t session = hs_bytes_get(&l->reader, 8);
    uint32_t clock = (uint32_t)hs_bytes_get(&l->reader, 4);
    uint64_t number = hs_bytes_get(&l->reader, 8);
    if (hs_loading_is_fine(l) && player != NULL && player->session == session &&
        clock == l->match->clock)
        hs_hit_book_cancel(l->match, player, number);
}

static void replay_account(struct hs_loading *l)
{
    struct hs_players *players = &l->match->players;
    struct hs_player *player = hs_players_find(players, hs_loading_name(l, false));
    uint64_t change = hs_bytes_get(&l->reader, 8);
    uint64_t session = hs_bytes_get(&l->reader, 8);
    struct hs_str name = hs_loading_name(l, false);
    /* The snapshot already contains the first `account_changes` changes of accounts. Do not apply
       these changes again: hs_accounts_set can add the player's current values to the account, and
       by now these values may belong to another account. */
    if (!hs_loading_is_fine(l) || change <= players->account_changes)
        return;
    if (player != NULL && player->session == session && !player->left)
        hs_accounts_set(players, player, name);
    players->account_changes = change;
}

static void replay_clock(struct hs_loading *l)
{
    struct hs_match *match = l->match;
    uint32_t clock = (uint32_t)hs_bytes_get(&l->reader, 4);
    int64_t time_us = hs_loading_time(l);
    if (!hs_loading_is_fine(l) || clock <= match->clock)
        return;
    hs_match_restart(match, time_us);
    match->clock = clock;
}

void hs_match_set_journal(struct hs_match *match, struct hs_bytes *journal)
{
    match->players.journal = journal;
}

uint64_t hs_journal_layout(void)
{
    return hs_saved_format();
}

bool hs_match_replay(struct hs_match *match, const void *records, size_t size)
{
    static void (*const replay[])(struct hs_loading * l) = {
        [HS_JOURNAL_SESSION] = replay_session, [HS_JOURNAL_PAID] = replay_paid,
        [HS_JOURNAL_CLOCK] = replay_clock,     [HS_JOURNAL_CANCEL] = replay_cancel,
        [HS_JOURNAL_ACCOUNT] = replay_account,
    };
    if (size == 0) /* `records` may be NULL */
        return true;
    struct hs_loading l = {.reader = {records, (const unsigned char *)records + size, false},
                           .match = match};
    hs_saved_own_names(&l.names);
    while (l.reader.at < l.reader.end && hs_loading_is_fine(&l)) {
        uint64_t kind = hs_bytes_get(&l.reader, 1);
        if (kind >= HS_JOURNAL_SESSION && kind <= HS_JOURNAL_ACCOUNT)
            replay[kind](&l);
        else
            l.is_damaged = true;
    }
    return hs_loading_is_fine(&l);
}
