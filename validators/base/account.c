#include "validators/base/account_inside.h"

#include <stdint.h>
#include <stdlib.h>

/* One part in KEPT_BACK of each limit is closed to hs_account_take_spare. */
enum { KEPT_BACK = 20 };

void hs_account_init(struct hs_account *account, size_t limit, struct hs_account *of)
{
    atomic_init(&account->used, 0);
    account->limit = limit;
    account->of = of;
    atomic_init(&account->was_refused, false);
}

struct hs_account *hs_account_create(size_t limit, struct hs_account *of)
{
    struct hs_account *account = malloc(sizeof *account);
    if (account != NULL)
        hs_account_init(account, limit, of);
    return account;
}

void hs_account_destroy(struct hs_account *account)
{
    free(account);
}

size_t hs_account_used(const struct hs_account *account)
{
    return atomic_load(&account->used);
}

static bool fits(const struct hs_account *account, size_t used, size_t bytes, bool is_spare)
{
    size_t limit = is_spare ? account->limit - account->limit / KEPT_BACK : account->limit;
    return used <= limit && bytes <= limit - used;
}

/* Reserves in this account only, not in the accounts above it. */
static bool take_here(struct hs_account *account, size_t bytes, bool is_spare)
{
    size_t used = atomic_load(&account->used);
    do {
        if (!fits(account, used, bytes, is_spare))
            return false;
    } while (!atomic_compare_exchange_weak(&account->used, &used, used + bytes));
    return true;
}

static bool take(struct hs_account *account, size_t bytes, bool is_spare)
{
    if (bytes == 0)
        return true;
    for (struct hs_account *at = account; at != NULL; at = at->of) {
        if (take_here(at, bytes, is_spare))
            continue;
        for (struct hs_account *back = account; back != at; back = back->of)
            atomic_fetch_sub(&back->used, bytes);
        atomic_store(&account->was_refused, true);
        return false;
    }
    return true;
}

bool hs_account_take(struct hs_account *account, size_t bytes)
{
    return take(account, bytes, false);
}

bool hs_account_take_spare(struct hs_account *account, size_t bytes)
{
    return take(account, bytes, true);
}

void hs_account_give(struct hs_account *account, size_t bytes)
{
    for (; account != NULL; account = account->of)
        atomic_fetch_sub(&account->used, bytes);
}

/* The caller acts on false, so false counts as a refusal. */
static bool has(struct hs_account *account, size_t bytes, bool is_spare)
{
    for (struct hs_account *at = account; at != NULL; at = at->of) {
        if (fits(at, atomic_load(&at->used), bytes, is_spare))
            continue;
        atomic_store(&account->was_refused, true);
        return false;
    }
    return true;
}

bool hs_account_has(struct hs_account *account, size_t bytes)
{
    return has(account, bytes, false);
}

bool hs_account_has_spare(struct hs_account *account, size_t bytes)
{
    return has(account, bytes, true);
}
