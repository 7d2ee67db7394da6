#include "service/state/share.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { CHAINS = 64 };

/* The amount that is reserved for one tenant. A tenant has a holder only while this amount is not
   0. */
struct holder {
    struct hs_name tenant;
    size_t amount;
    struct holder *next;
};

struct hs_share {
    pthread_mutex_t lock; /* guards the members below, except `limit`, which never changes */
    size_t limit;
    atomic_size_t used;
    struct holder *chains[CHAINS];
};

struct hs_share *hs_share_create(size_t limit)
{
    struct hs_share *share = calloc(1, sizeof *share);
    if (share == NULL)
        return NULL;
    share->limit = limit;
    pthread_mutex_init(&share->lock, NULL);
    return share;
}

void hs_share_destroy(struct hs_share *share)
{
    if (share == NULL)
        return;
    for (size_t i = 0; i < CHAINS; i++) {
        while (share->chains[i] != NULL) {
            struct holder *holder = share->chains[i];
            share->chains[i] = holder->next;
            free(holder);
        }
    }
    pthread_mutex_destroy(&share->lock);
    free(share);
}

/* Returns the link to a tenant's holder, or the link at which to insert a new holder. The caller
   holds the lock. */
static struct holder **place_of(struct hs_share *share, struct hs_str tenant)
{
    struct holder **at = &share->chains[hs_str_hash(tenant) % CHAINS];
    while (*at != NULL && !hs_str_equal(hs_name_str(&(*at)->tenant), tenant))
        at = &(*at)->next;
    return at;
}

/* Returns how much more can be reserved for a tenant. The caller holds the lock. */
static size_t left(struct hs_share *share, struct hs_str tenant)
{
    size_t free_now = share->limit - share->used;
    if (tenant.len == 0)
        return free_now;
    const struct holder *holder = *place_of(share, tenant);
    size_t own = holder != NULL ? holder->amount : 0;
    return own < free_now ? (free_now - own) / 2 : 0;
}

/* Adds an amount to a tenant's holder. Returns false if memory runs out. The caller holds the
   lock. */
static bool charge(struct hs_share *share, struct hs_str tenant, size_t amount)
{
    if (tenant.len == 0 || amount == 0)
        return true;
    struct holder **at = place_of(share, tenant);
    if (*at == NULL) {
        *at = calloc(1, sizeof **at);
        if (*at == NULL)
            return false;
        hs_name_set(&(*at)->tenant, tenant);
    }
    (*at)->amount += amount;
    return true;
}

bool hs_share_reserve(struct hs_share *share, struct hs_str tenant, size_t amount)
{
    pthread_mutex_lock(&share->lock);
    bool fits = amount <= left(share, tenant) && charge(share, tenant, amount);
    if (fits)
        share->used += amount;
    pthread_mutex_unlock(&share->lock);
    return fits;
}

void hs_share_release(struct hs_share *share, struct hs_str tenant, size_t amount)
{
    if (amount == 0)
        return;
    pthread_mutex_lock(&share->lock);
    share->used -= amount;
    struct holder **at = tenant.len > 0 ? place_of(share, tenant) : NULL;
    if (at != NULL && *at != NULL) {
        (*at)->amount -= amount;
        if ((*at)->amount == 0) {
            struct holder *gone = *at;
            *at = gone->next;
            free(gone);
        }
    }
    pthread_mutex_unlock(&share->lock);
}

bool hs_share_assign(struct hs_share *share, struct hs_str to, size_t amount)
{
    pthread_mutex_lock(&share->lock);
    bool fine = charge(share, to, amount);
    pthread_mutex_unlock(&share->lock);
    return fine;
}

size_t hs_share_max(const struct hs_share *share, struct hs_str tenant)
{
    return tenant.len == 0 ? share->limit : share->limit / 2;
}

size_t hs_share_left(struct hs_share *share, struct hs_str tenant)
{
    pthread_mutex_lock(&share->lock);
    size_t amount = left(share, tenant);
    pthread_mutex_unlock(&share->lock);
    return amount;
}

size_t hs_share_used(const struct hs_share *share)
{
    return share->used;
}

size_t hs_share_limit(const struct hs_share *share)
{
    return share->limit;
}
