/* Applies the records of journal.c to a match. */
#include "validators/journal.h"

#include "validators/base/saved.h"
#include "validators/match/journal.h"
#include "validators/snapshot/load.h"

struct replaying {
    struct hs_bytes_reader reader;
    struct hs_saved_names names;
    struct hs_match *match;
    bool is_damaged, no_memory;
};

static int64_t get_time(struct replaying *r)
{
    int64_t time_us = (int64_t)hs_bytes_get(&r->reader, 8);
    if (time_us > HS_SAVED_TIME_MAX || time_us < -HS_SAVED_TIME_MAX)
        r->is_damaged = true;
    return time_us;
}

static struct hs_str get_name(struct replaying *r)
{
    struct hs_str name = hs_bytes_get_name(&r->reader);
    if (!hs_name_is_valid(name))
        r->is_damaged = true;
    return name;
}

/* Adds the player of a session that the match does not know yet. NULL: there is no place. */
static struct hs_player *begin_session(struct replaying *r, struct hs_str name)
{
    struct hs_players *players = &r->match->players;
    struct hs_player *player = hs_players_find(players, name);
    if (player != NULL) {
        if (!player->left)
            hs_players_leave(players, player, player->left_us, player->ended_us);
        hs_players_rejoin(players, player);
        return player;
    }
    enum hs_players_add added = hs_players_add(players, name, r->match->limits.samples, &player);
    r->no_memory = r->no_memory || added == HS_PLAYERS_NO_MEMORY;
    return added == HS_PLAYERS_ADDED ? player : NULL;
}

static void replay_session(struct replaying *r)
{
    struct hs_players *players = &r->match->players;
    struct hs_player *player, as_recorded = {0};
    struct hs_str name = get_name(r);
    as_recorded.session = hs_bytes_get(&r->reader, 8);
    as_recorded.former_session = hs_bytes_get(&r->reader, 8);
    as_recorded.left = hs_bytes_get_max(&r->reader, 1, 1) != 0;
    as_recorded.has_left_before = hs_bytes_get_max(&r->reader, 1, 1) != 0;
    as_recorded.left_us = get_time(r);
    as_recorded.ended_us = get_time(r);
    int64_t evict_before_us = (int64_t)hs_bytes_get(&r->reader, 8);
    if (r->reader.failed || r->is_damaged)
        return;
    uint64_t sessions =
        as_recorded.session > players->sessions ? as_recorded.session : players->sessions;
    player = hs_players_find(players, name);
    bool is_newer = player == NULL || player->session < as_recorded.session;
    bool ends = as_recorded.left && !is_newer && player->session == as_recorded.session;
    if (!is_newer && (!ends || player->left))
        return;
    if (is_newer) {
        /* Whoever was evicted for this player can be evicted again. */
        players->evict_before_us = evict_before_us;
        player = begin_session(r, name);
    }
    players->sessions = sessions;
    if (player == NULL)
        return;
    player->session = as_recorded.session;
    player->former_session = as_recorded.former_session;
    if (as_recorded.left)
        hs_players_leave(players, player, as_recorded.left_us, as_recorded.ended_us);
    player->has_left_before = as_recorded.has_left_before;
    player->left_us = as_recorded.left_us;
    player->ended_us = as_recorded.ended_us;
}

/* Books a payment of the session the player is in, unless the snapshot had it. */
static void book(struct replaying *r, struct hs_player *player, struct hs_journal_payment *payment)
{
    struct hs_ledger *ledger = &player->ledger;
    struct hs_ledger_numbers *numbers = payment->is_shot ? &ledger->shots : &ledger->hits;
    struct hs_ledger_entry *entry = &payment->entry;
    if (hs_ledger_find(numbers, entry->number) != NULL ||
        hs_ledger_is_forgotten(numbers, entry->number, entry->fire_time_us))
        return;
    bool is_of_clock = payment->clock == r->match->clock;
    entry->accepted = is_of_clock; /* as after a clock reset */
    if (!hs_ledger_record(ledger, numbers, entry)) {
        r->no_memory = true;
        return;
    }
    if (is_of_clock && payment->weapon != HS_NONE)
        hs_ledger_record_shot(ledger, payment->weapon, entry->fire_time_us,
                              r->match->ruleset->weapons[payment->weapon]->reload_us);
    if (payment->is_shot)
        return;
    player->reasons[payment->reason]++;
    player->damage_dealt += payment->damage;
    r->match->totals.reasons[payment->reason]++;
    r->match->totals.damage += payment->damage;
}

static void replay_paid(struct replaying *r)
{
    struct hs_journal_payment payment = {0};
    const struct hs_ruleset *ruleset = r->match->ruleset;
    struct hs_player *player = hs_players_find(&r->match->players, get_name(r));
    payment.session = hs_bytes_get(&r->reader, 8);
    payment.is_shot = hs_bytes_get_max(&r->reader, 1, 1) != 0;
    payment.clock = (uint32_t)hs_bytes_get(&r->reader, 4);
    payment.weapon = (uint16_t)hs_bytes_get(&r->reader, 2);
    payment.reason = (enum hs_reason)hs_bytes_get_max(&r->reader, 1, HS_REASON_COUNT - 1);
    payment.damage = hs_bytes_get_real(&r->reader);
    bool is_fine = hs_saved_get_entry(&r->reader, &r->names, ruleset, &payment.entry) &&
                   payment.entry.accepted && payment.damage >= 0 &&
                   payment.damage <= (double)HS_SAVED_TIME_MAX &&
                   (payment.weapon < ruleset->weapon_count || payment.weapon == HS_NONE);
    if (!is_fine || r->reader.failed)
        r->is_damaged = true;
    else if (player != NULL && payment.session == player->session)
        book(r, player, &payment);
    else if (player != NULL && payment.session < player->session &&
             payment.clock == r->match->clock)
        hs_ledger_record_ended(payment.is_shot ? &player->ledger.shots : &player->ledger.hits,
                               payment.entry.number, payment.entry.fire_time_us);
    hs_ledger_free_entry(&payment.entry);
}

static void replay_clock(struct replaying *r)
{
    struct hs_match *match = r->match;
    uint32_t clock = (uint32_t)hs_bytes_get(&r->reader, 4);
    int64_t time_us = get_time(r);
    if (r->reader.failed || r->is_damaged || clock <= match->clock)
        return;
    hs_match_restart(match, time_us);
    match->clock = clock;
    match->newest_us = time_us;
}

void hs_match_set_journal(struct hs_match *match, struct hs_bytes *journal)
{
    match->players.journal = journal;
}

uint64_t hs_journal_layout(void)
{
    return hs_saved_layout(0, HS_SAVED_STRUCTS) ^ hs_saved_vocabularies();
}

bool hs_match_replay(struct hs_match *match, const void *records, size_t size)
{
    struct replaying r = {.reader = {records, (const unsigned char *)records + size, false},
                          .match = match};
    hs_saved_own_names(&r.names);
    while (r.reader.at < r.reader.end && !r.reader.failed && !r.is_damaged && !r.no_memory) {
        switch ((enum hs_journal_record)hs_bytes_get(&r.reader, 1)) {
        case HS_JOURNAL_SESSION:
            replay_session(&r);
            continue;
        case HS_JOURNAL_PAID:
            replay_paid(&r);
            continue;
        case HS_JOURNAL_CLOCK:
            replay_clock(&r);
            continue;
        }
        r.is_damaged = true;
    }
    return !r.reader.failed && !r.is_damaged && !r.no_memory;
}
