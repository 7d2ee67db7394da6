/*
 * An account is a stable id for the person who plays. A frame may contain a player's account. The
 * account preserves the person's standing, their cadences, and the counters and credit of their
 * moves, even if they leave, return, or join under another name. An account belongs to at most one
 * present player. The values of an account whose player left are parked in this list. Internal to
 * validators/.
 */
#ifndef HS_ACCOUNTS_H
#define HS_ACCOUNTS_H

#include "validators/match/players.h"

/* A parked account remembers the rate-of-fire tokens of at most this many weapons: those whose
   tokens are earned back last. */
enum { HS_ACCOUNT_WEAPONS = 8 };

/* A parked account. */
struct hs_account {
    struct hs_name name;
    int64_t left_us;
    struct hs_standing standing;
    uint64_t move_reasons[HS_MOVE_REASON_COUNT];
    uint64_t raised[HS_MOVE_CHECK_COUNT];
    double credit_us; /* valid if has_credit */
    int64_t heard_us;
    /* All rate-of-fire tokens of weapon[i] are earned back at settled_us[i]. HS_NONE: the entry
       is unused. */
    uint64_t weapon[HS_ACCOUNT_WEAPONS];
    int64_t settled_us[HS_ACCOUNT_WEAPONS];
    bool has_moves, has_credit;
};

/*
 * Sets the account of a player. The values of the player's previous account are parked. If the
 * player had no account, their values so far are added to the new one. If another present player
 * has the account, it is taken from them. A present player who loses an account keeps the debts of
 * their weapons, so a new account never makes a weapon fire faster. hs_journal_reserve must have
 * reserved space.
 */
void hs_accounts_set(struct hs_players *players, struct hs_player *player, struct hs_str name);

/* Parks the values of the account of a player who leaves, if they have one. The player keeps the
   account's name. The match's limit of players also limits the number of parked accounts. If there
   is no space for another one, the least suspicious account is forgotten. */
void hs_accounts_park(struct hs_players *players, struct hs_player *player, int64_t left_us);

/* Moves the parked values of the player's account back to the player, if there are any. */
void hs_accounts_take(struct hs_players *players, struct hs_player *player);

/* Adds an account that was read from a snapshot. Returns false if out of memory. */
bool hs_accounts_restore(struct hs_players *players, const struct hs_account *account);

/* Sets the times in parked accounts to the new clock after a clock reset. */
void hs_accounts_forget_times(struct hs_players *players, int64_t old_us, int64_t new_us);

#endif
