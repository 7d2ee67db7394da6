/*
 * Accounts: stable ids that frames may post for players; each id stands for a person. When a player
 * leaves, comes back, or joins under another name, the account keeps the standing, the cadence, and
 * two values of the moves: the counters and the credit. Each account belongs to at most one present
 * player at a time. While it belongs to no present player, its values are parked in this list.
 * Internal to validators/.
 */
#ifndef HS_ACCOUNTS_H
#define HS_ACCOUNTS_H

#include "validators/match/players.h"

/* A parked account keeps the time at which tokens are earned for at most this many weapons: the
   weapons with the latest times. */
enum { HS_ACCOUNT_WEAPONS = 8 };

/* An account whose player left. */
struct hs_account {
    struct hs_name name;
    int64_t left_us;
    struct hs_standing standing;
    uint64_t move_reasons[HS_MOVE_REASON_COUNT];
    uint64_t raised[HS_MOVE_CHECK_COUNT];
    double credit_us; /* valid if has_credit */
    int64_t heard_us;
    /* settled_us[i] is the time at which the tokens of weapon[i] are earned. If weapon[i] is
       HS_NONE, the entry is free. */
    uint64_t weapon[HS_ACCOUNT_WEAPONS];
    int64_t settled_us[HS_ACCOUNT_WEAPONS];
    bool has_moves, has_credit;
};

/*
 * Sets the account of a player. If the player had another account, its values are parked. If they
 * had no account, their values so far become values of the new account. If another present player
 * has the account, it moves to this player. Returns false and changes nothing if out of memory.
 */
bool hs_accounts_set(struct hs_players *players, struct hs_player *player, struct hs_str name);

/*
 * Parks the values of a player's account, if they have one. The player keeps the account's name.
 * The number of parked accounts is at most the maximum number of players, and their bytes are
 * reserved in the budget. If there is no space for another account, the least suspicious account is
 * forgotten.
 */
void hs_accounts_park(struct hs_players *players, struct hs_player *player, int64_t left_us);

/* Gives a player the parked values of their account, if there are any. */
void hs_accounts_take(struct hs_players *players, struct hs_player *player);

/* Adds an account that was read from a snapshot. Returns false if out of memory. */
bool hs_accounts_restore(struct hs_players *players, const struct hs_account *account);

/* Moves all times of parked accounts to the new clock, after a clock reset. */
void hs_accounts_forget_times(struct hs_players *players, int64_t old_us, int64_t new_us);

#endif
