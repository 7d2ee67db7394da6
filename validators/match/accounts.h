/*
 * An account is a stable id for the person who plays. A frame may contain a player's account. The
 * account keeps the person's standing (struct hs_standing), the cadences of their weapons, and the
 * counters and credit of their moves. The account keeps these values even if the person leaves,
 * returns, or joins under another name. At any time, an account belongs to at most one present
 * player. When a player leaves, the values of their account are parked: they are moved to the list
 * in struct hs_accounts. Internal to validators/.
 */
#ifndef HS_ACCOUNTS_H
#define HS_ACCOUNTS_H

#include "validators/match/players.h"

/* A parked account remembers the cadences (struct hs_cadence) of at most this many weapons. If the
   player fired more weapons, the account remembers the weapons that need the longest time to earn
   back all their tokens. */
enum { HS_ACCOUNT_WEAPONS = 8 };

/* A parked account: the values of an account whose player left. */
struct hs_account {
    struct hs_name name;
    int64_t left_us;
    struct hs_standing standing;
    uint64_t move_reasons[HS_MOVE_REASON_COUNT];
    uint64_t raised[HS_MOVE_CHECK_COUNT];
    double credit_us; /* valid if has_credit */
    int64_t heard_us;
    /* weapon[i] is the index of a weapon in the ruleset; HS_NONE: entry i is unused. At the time
       settled_us[i], this weapon has earned back all its tokens. */
    uint64_t weapon[HS_ACCOUNT_WEAPONS];
    int64_t settled_us[HS_ACCOUNT_WEAPONS];
    bool has_moves, has_credit;
};

/*
 * Sets the account of a player. The values of the player's previous account are parked. If the
 * player had no account, the player's values so far are added to the new account. If another
 * present player has the new account, that player loses the account. A player who loses or changes
 * their account keeps the cadences of their weapons. So a new account never makes a weapon fire
 * faster. hs_journal_reserve must have reserved the space for the journal record.
 */
void hs_accounts_set(struct hs_players *players, struct hs_player *player, struct hs_str name);

/* Parks the account values of a player who leaves. Does nothing if the player has no account. The
   player keeps the account's name. The match's player limit also limits the number of parked
   accounts. If there is no space for another account, the least suspicious parked account is
   forgotten. */
void hs_accounts_park(struct hs_players *players, struct hs_player *player, int64_t left_us);

/* Moves the parked values of the player's account back to the player. Does nothing if the account
   is not parked. */
void hs_accounts_take(struct hs_players *players, struct hs_player *player);

/* Adds a parked account that was read from a snapshot. Returns false if out of memory. */
bool hs_accounts_restore(struct hs_players *players, const struct hs_account *account);

/* Adapts the parked accounts to a clock reset. `old_us` is the match's time before the reset, and
   `new_us` is the time after it. */
void hs_accounts_forget_times(struct hs_players *players, int64_t old_us, int64_t new_us);

#endif
