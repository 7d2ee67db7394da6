#include "validators/match/accounts.h"

#include <stdlib.h>

#include "validators/match/journal.h"
#include "validators/match/player_moves.h"

enum { FIRST_PLACES = 8 };

static bool has_account(const struct hs_player *player, struct hs_str name)
{
    return hs_str_equal(hs_name_str(&player->account), name);
}

/* ---- the list ---- */

static struct hs_account *find(const struct hs_accounts *accounts, struct hs_str name)
{
    for (uint32_t i = 0; accounts->all != NULL && i < accounts->count; i++)
        if (hs_str_equal(hs_name_str(&accounts->all[i].name), name))
            return &accounts->all[i];
    return NULL;
}

static void forget(struct hs_accounts *accounts, struct hs_account *account)
{
    struct hs_account *end = accounts->all + accounts->count;
    memmove(account, account + 1, (size_t)(end - account - 1) * sizeof *account);
    accounts->count--;
}

static void forget_least_suspicious(struct hs_accounts *accounts, int64_t now_us)
{
    uint32_t least = 0;
    double suspicion = 0;
    for (uint32_t i = 0; i < accounts->count; i++) {
        double own = hs_suspicion_sum(&accounts->all[i].standing.suspicion, now_us);
        if (i > 0 && own >= suspicion)
            continue;
        least = i;
        suspicion = own;
    }
    forget(accounts, &accounts->all[least]);
}

static bool grow(struct hs_players *players)
{
    struct hs_accounts *accounts = &players->accounts;
    uint32_t capacity = accounts->capacity == 0 ? FIRST_PLACES : 2 * accounts->capacity;
    size_t more = (capacity - accounts->capacity) * sizeof *accounts->all;
    if (accounts->count >= players->limit || !hs_budget_reserve_spare(players->budget, more))
        return false;
    struct hs_account *all = realloc(accounts->all, capacity * sizeof *all);
    if (all == NULL) {
        hs_budget_release(players->budget, more);
        return false;
    }
    accounts->all = all;
    accounts->capacity = capacity;
    return true;
}

/* Adds an uninitialized account to the list. If there is no space, the new account replaces the
   least suspicious account. Returns NULL if the list is empty and cannot grow. */
static struct hs_account *add(struct hs_players *players, int64_t now_us)
{
    struct hs_accounts *accounts = &players->accounts;
    bool is_full = accounts->count == accounts->capacity && !grow(players);
    if (is_full && accounts->count > 0)
        forget_least_suspicious(accounts, now_us);
    return accounts->count < accounts->capacity ? &accounts->all[accounts->count++] : NULL;
}

bool hs_accounts_restore(struct hs_players *players, const struct hs_account *account)
{
    struct hs_account *added = add(players, account->left_us);
    if (added != NULL)
        *added = *account;
    return added != NULL;
}

/* ---- the values of an account ---- */

/* Copies the cadences from the ledger to the account. If there are more than HS_ACCOUNT_WEAPONS
   weapons, copies the cadences of the weapons that need the longest time to earn back all their
   tokens. */
static void park_cadences(const struct hs_players *players, const struct hs_ledger *ledger,
                          struct hs_account *account)
{
    for (int i = 0; i < HS_ACCOUNT_WEAPONS; i++)
        account->weapon[i] = HS_NONE;
    for (uint16_t i = 0; i < ledger->cadence_count; i++) {
        const struct hs_cadence *cadence = &ledger->cadences[i];
        int64_t interval_us = players->ruleset->weapons[cadence->weapon]->min_interval_us;
        int64_t settled_us = hs_cadence_settled(cadence, interval_us);
        int place = 0;
        for (int k = 1; k < HS_ACCOUNT_WEAPONS && account->weapon[place] != HS_NONE; k++)
            if (account->weapon[k] == HS_NONE ||
                account->settled_us[k] < account->settled_us[place])
                place = k;
        if (account->weapon[place] != HS_NONE && account->settled_us[place] >= settled_us)
            continue;
        account->weapon[place] = cadence->weapon;
        account->settled_us[place] = settled_us;
    }
}

static void park_moves(struct hs_player_moves *moves, struct hs_account *account)
{
    const struct hs_timing *timing = &moves->checks.timing;
    account->has_moves = true;
    account->has_credit = timing->has_credit;
    account->credit_us = timing->credit_us;
    account->heard_us = timing->heard_us;
    memcpy(account->move_reasons, moves->reasons, sizeof moves->reasons);
    memcpy(account->raised, moves->raised, sizeof moves->raised);
    memset(moves->reasons, 0, sizeof moves->reasons);
    memset(moves->raised, 0, sizeof moves->raised);
}

/* Moves the values of a player's account to *account. The cadences are copied, so the player keeps
   them. Otherwise a present player who loses the account could fire again at once. */
static void take_away(const struct hs_players *players, struct hs_player *player, int64_t left_us,
                      struct hs_account *account)
{
    memset(account, 0, sizeof *account);
    account->name = player->account;
    account->left_us = left_us;
    account->standing = player->standing;
    player->standing = (struct hs_standing){0};
    park_cadences(players, &player->ledger, account);
    if (player->moves != NULL)
        park_moves(player->moves, account);
}

/* Parks the values of a player's account. Returns false if the player has no account, or if there
   is no memory. */
static bool park(struct hs_players *players, struct hs_player *player, int64_t left_us)
{
    struct hs_account *account = player->account.text[0] != '\0' ? add(players, left_us) : NULL;
    if (account != NULL)
        take_away(players, player, left_us, account);
    return account != NULL;
}

void hs_accounts_park(struct hs_players *players, struct hs_player *player, int64_t left_us)
{
    if (park(players, player, left_us))
        hs_ledger_clear_cadences(&player->ledger);
}

static void add_counts(uint64_t *to, const uint64_t *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] += from[i];
}

static void add_standing(struct hs_standing *to, const struct hs_standing *standing)
{
    struct hs_standing from = *standing;
    hs_suspicion_decay(&to->suspicion, from.suspicion.time_us);
    hs_suspicion_decay(&from.suspicion, to->suspicion.time_us);
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        to->suspicion.hits[i] += from.suspicion.hits[i];
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        to->suspicion.moves[i] += from.suspicion.moves[i];
    add_counts(to->reasons, from.reasons, HS_REASON_COUNT);
    to->would_reject += from.would_reject;
    to->shots_refused += from.shots_refused;
    to->damage_dealt += from.damage_dealt;
}

/* Adds the account's counters to the player's counters. The player gets the smaller of the two
   credits, so that a new name gives no extra credit. */
static void take_moves(struct hs_player_moves *moves, const struct hs_account *account)
{
    struct hs_timing *timing = &moves->checks.timing;
    add_counts(moves->reasons, account->move_reasons, HS_MOVE_REASON_COUNT);
    add_counts(moves->raised, account->raised, HS_MOVE_CHECK_COUNT);
    if (!account->has_credit || (timing->has_credit && timing->credit_us <= account->credit_us))
        return;
    timing->credit_us = account->credit_us;
    if (!timing->has_credit)
        timing->heard_us = account->heard_us;
    timing->has_credit = true;
}

/* Delays each of the account's weapons until the time in settled_us. If the player's own shots also
   delay a weapon, the later of the two times counts. The two delays are not added, because the same
   shots may have caused both. */
static void take_cadences(const struct hs_players *players, struct hs_ledger *ledger,
                          const struct hs_account *account)
{
    for (int i = 0; i < HS_ACCOUNT_WEAPONS; i++) {
        if (account->weapon[i] == HS_NONE)
            continue;
        uint16_t weapon = (uint16_t)account->weapon[i];
        int64_t interval_us = players->ruleset->weapons[weapon]->min_interval_us;
        const struct hs_cadence *own = hs_ledger_cadence(ledger, weapon);
        if (own == NULL)
            hs_ledger_settle(ledger, weapon, account->settled_us[i]);
        else if (hs_cadence_settled(own, interval_us) < account->settled_us[i])
            hs_ledger_settle(ledger, weapon, account->settled_us[i] - own->count * interval_us);
    }
}

/* Moves an account from the list to *out. Returns false if the list does not contain the account.
 */
static bool take_out(struct hs_players *players, struct hs_str name, struct hs_account *out)
{
    struct hs_account *account = find(&players->accounts, name);
    if (account == NULL)
        return false;
    *out = *account;
    forget(&players->accounts, account);
    players->account_changes++;
    return true;
}

static void give(const struct hs_players *players, struct hs_player *player,
                 const struct hs_account *account)
{
    if (account->has_moves && player->moves == NULL)
        player->moves = hs_player_moves_create();
    if (player->moves != NULL)
        take_moves(player->moves, account);
    add_standing(&player->standing, &account->standing);
    take_cadences(players, &player->ledger, account);
}

void hs_accounts_take(struct hs_players *players, struct hs_player *player)
{
    struct hs_account account;
    if (take_out(players, hs_name_str(&player->account), &account))
        give(players, player, &account);
}

void hs_accounts_set(struct hs_players *players, struct hs_player *player, struct hs_str name)
{
    if (has_account(player, name))
        return;
    /* Take the new account out of the list before parking the player's old account. Otherwise a
       full list could forget the new account. */
    struct hs_account account;
    bool has_values = take_out(players, name, &account);
    for (uint32_t i = 0; i < players->count; i++) {
        struct hs_player *other = players->all[i];
        if (!has_account(other, name))
            continue;
        if (!other->left) {
            take_away(players, other, other->left_us, &account);
            has_values = true;
        }
        other->account = (struct hs_name){0};
    }
    park(players, player, player->left_us);
    hs_name_set(&player->account, name);
    if (has_values)
        give(players, player, &account);
    players->account_changes++;
    hs_journal_account(players, player);
}

void hs_accounts_forget_times(struct hs_players *players, int64_t old_us, int64_t new_us)
{
    for (uint32_t i = 0; i < players->accounts.count; i++) {
        struct hs_account *account = &players->accounts.all[i];
        hs_suspicion_decay(&account->standing.suspicion, old_us);
        account->standing.suspicion.time_us = new_us;
        account->left_us = account->heard_us = new_us;
        for (int k = 0; k < HS_ACCOUNT_WEAPONS; k++)
            account->weapon[k] = HS_NONE;
    }
}
