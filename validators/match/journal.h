/* Writes the journal records (validators/journal.h). Internal to validators/. */
#ifndef HS_JOURNAL_RECORDS_H
#define HS_JOURNAL_RECORDS_H

#include "validators/ledger_entry.h"
#include "validators/match/players.h"
#include "validators/vocabulary.h"

enum hs_journal_record {
    HS_JOURNAL_SESSION = 1, /* a session begins or ends */
    HS_JOURNAL_PAID,        /* a claim or a posted shot was accepted */
    HS_JOURNAL_CLOCK,       /* the clock was reset */
    HS_JOURNAL_CANCEL,      /* a posted shot was withdrawn */
    HS_JOURNAL_ACCOUNT      /* the account of a player changed */
};

struct hs_journal_payment {
    uint64_t session;
    bool is_shot;
    uint32_t clock;
    uint16_t weapon; /* the weapon whose cadence counts the shot; HS_NONE: no cadence counts it */
    enum hs_reason reason;
    double damage;
    struct hs_ledger_entry entry;
};

/* Reserves space for the record of the payment `entry`. If `entry` is NULL, reserves space for two
   records: one record of any other kind, and one record of an account. Returns true if there is no
   journal. Returns false and changes nothing if there is no space. */
bool hs_journal_reserve(const struct hs_players *players, const struct hs_ledger_entry *entry);

/* Each of these functions appends one record. hs_journal_reserve must have reserved the space. */
void hs_journal_session(const struct hs_players *players, const struct hs_player *player);
void hs_journal_paid(const struct hs_players *players, const struct hs_player *player,
                     const struct hs_journal_payment *payment);
void hs_journal_account(const struct hs_players *players, const struct hs_player *player);
void hs_journal_cancel(const struct hs_match *match, const struct hs_player *player,
                       uint64_t number);
void hs_journal_clock(const struct hs_match *match, int64_t time_us);

#endif
