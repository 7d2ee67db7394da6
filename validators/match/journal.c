#include "validators/match/journal.h"

#include "validators/base/saved.h"

/* Max size of a session or clock record, and of the fixed part of a payment. */
enum { RECORD_BYTES = 512 };

/* While the owner cannot write the records, nothing is paid, but sessions go on. Beyond this they
   are refused as without memory. */
enum { UNWRITTEN_MAX = 256 * 1024 };

bool hs_journal_reserve(const struct hs_players *players, const struct hs_ledger_entry *entry)
{
    size_t bytes = RECORD_BYTES;
    if (players->journal != NULL && entry == NULL && players->journal->len > UNWRITTEN_MAX)
        return false;
    if (entry != NULL)
        bytes += entry->answer_size;
    if (entry != NULL && entry->shot != NULL)
        bytes += entry->shot->direction_count * sizeof entry->shot->directions[0];
    return players->journal == NULL || hs_bytes_ensure(players->journal, bytes);
}

void hs_journal_session(const struct hs_players *players, const struct hs_player *player)
{
    struct hs_bytes *out = players->journal;
    if (out == NULL)
        return;
    hs_bytes_put(out, HS_JOURNAL_SESSION, 1);
    hs_bytes_put_name(out, player->name.text);
    hs_bytes_put(out, player->session, 8);
    hs_bytes_put(out, player->former_session, 8);
    hs_bytes_put(out, player->left, 1);
    hs_bytes_put(out, player->has_left_before, 1);
    hs_bytes_put(out, (uint64_t)player->left_us, 8);
    hs_bytes_put(out, (uint64_t)player->ended_us, 8);
    hs_bytes_put(out, (uint64_t)players->evict_before_us, 8);
}

void hs_journal_paid(const struct hs_players *players, const struct hs_player *player,
                     const struct hs_journal_payment *payment)
{
    struct hs_bytes *out = players->journal;
    if (out == NULL)
        return;
    hs_bytes_put(out, HS_JOURNAL_PAID, 1);
    hs_bytes_put_name(out, player->name.text);
    hs_bytes_put(out, payment->session, 8);
    hs_bytes_put(out, payment->is_shot, 1);
    hs_bytes_put(out, payment->clock, 4);
    hs_bytes_put(out, payment->weapon, 2);
    hs_bytes_put(out, payment->reason, 1);
    hs_bytes_put_real(out, payment->damage);
    hs_saved_put_entry(out, &payment->entry);
}

void hs_journal_clock(const struct hs_match *match, int64_t time_us)
{
    struct hs_bytes *out = match->players.journal;
    if (out == NULL)
        return;
    hs_bytes_put(out, HS_JOURNAL_CLOCK, 1);
    hs_bytes_put(out, match->clock, 4);
    hs_bytes_put(out, (uint64_t)time_us, 8);
}
