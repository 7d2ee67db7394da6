#include "validators/match/journal.h"

#include "validators/base/saved.h"

/* The max size of a payment record without the stored answer and the pellet directions. The sizes
   of the answer and the directions vary, so hs_journal_reserve adds them. Two records of other
   kinds together are smaller than RECORD_BYTES. */
enum { RECORD_BYTES = 512 };

/* While the journal contains more bytes than this, no session may begin or end, and no account may
   change. So frames cannot grow the buffer without limit. */
enum { UNWRITTEN_MAX = 256 * 1024 };

bool hs_journal_reserve(const struct hs_players *players, const struct hs_ledger_entry *entry)
{
    if (players->journal == NULL)
        return true;
    if (entry == NULL)
        return players->journal->len <= UNWRITTEN_MAX &&
               hs_bytes_ensure(players->journal, RECORD_BYTES);
    size_t directions = entry->shot != NULL ? entry->shot->direction_count : 0;
    return hs_bytes_ensure(players->journal, RECORD_BYTES + entry->answer_size +
                                                 directions * sizeof entry->shot->directions[0]);
}

/* Starts a record. Returns NULL if there is no journal. */
static struct hs_bytes *begin_record(const struct hs_players *players, enum hs_journal_record kind,
                                     const struct hs_player *player)
{
    if (players->journal != NULL)
        hs_bytes_put(players->journal, kind, 1);
    if (players->journal != NULL && player != NULL)
        hs_bytes_put_name(players->journal, player->name.text);
    return players->journal;
}

void hs_journal_session(const struct hs_players *players, const struct hs_player *player)
{
    struct hs_bytes *out = begin_record(players, HS_JOURNAL_SESSION, player);
    if (out == NULL)
        return;
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
    struct hs_bytes *out = begin_record(players, HS_JOURNAL_PAID, player);
    if (out == NULL)
        return;
    hs_bytes_put(out, payment->session, 8);
    hs_bytes_put(out, payment->is_shot, 1);
    hs_bytes_put(out, payment->clock, 4);
    hs_bytes_put(out, payment->weapon, 2);
    hs_bytes_put(out, payment->reason, 1);
    hs_bytes_put_real(out, payment->damage);
    hs_saved_put_entry(out, &payment->entry);
}

void hs_journal_account(const struct hs_players *players, const struct hs_player *player)
{
    struct hs_bytes *out = begin_record(players, HS_JOURNAL_ACCOUNT, player);
    if (out == NULL)
        return;
    hs_bytes_put(out, players->account_changes, 8);
    hs_bytes_put(out, player->session, 8);
    hs_bytes_put_name(out, player->account.text);
}

void hs_journal_cancel(const struct hs_match *match, const struct hs_player *player,
                       uint64_t number)
{
    struct hs_bytes *out = begin_record(&match->players, HS_JOURNAL_CANCEL, player);
    if (out == NULL)
        return;
    hs_bytes_put(out, player->session, 8);
    hs_bytes_put(out, match->clock, 4);
    hs_bytes_put(out, number, 8);
}

void hs_journal_clock(const struct hs_match *match, int64_t time_us)
{
    struct hs_bytes *out = begin_record(&match->players, HS_JOURNAL_CLOCK, NULL);
    if (out == NULL)
        return;
    hs_bytes_put(out, match->clock, 4);
    hs_bytes_put(out, (uint64_t)time_us, 8);
}
