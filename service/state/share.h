/*
 * One bounded resource (bytes or connections) that tenants share. Callers reserve an amount before
 * they use it and release it afterwards, so the limit is never exceeded.
 *
 * A tenant's reservation is refused if the tenant would then have more than the amount that would
 * remain free (dynamic thresholds, Choudhury and Hahne, 1998). So one tenant alone gets half of the
 * limit, and two tenants get at most a third each. Thread-safe.
 */
#ifndef HS_SERVICE_SHARE_H
#define HS_SERVICE_SHARE_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/str.h"

struct hs_share;

/* Creates a share with a limit. Returns NULL if memory runs out. */
struct hs_share *hs_share_create(size_t limit);
void hs_share_destroy(struct hs_share *share); /* does nothing for NULL */

/* Reserves an amount for a tenant. Returns false if it does not fit, or if memory runs out. If
   `tenant` has len 0 (the operator, or a service without tokens), only the limit counts. */
bool hs_share_reserve(struct hs_share *share, struct hs_str tenant, size_t amount);

/* Releases an amount that was reserved for the same tenant. */
void hs_share_release(struct hs_share *share, struct hs_str tenant, size_t amount);

/* Charges `to` for an amount that was reserved without a tenant. Use it for items that are restored
   before their owner is known. Ignores the limits. Returns false if memory runs out; then nothing
   changed. */
bool hs_share_assign(struct hs_share *share, struct hs_str to, size_t amount);

/* Returns the max amount that a tenant can have: half of the limit, or the whole limit without a
   tenant. */
size_t hs_share_max(const struct hs_share *share, struct hs_str tenant);

/* Returns how much more a tenant can reserve now. */
size_t hs_share_left(struct hs_share *share, struct hs_str tenant);

size_t hs_share_used(const struct hs_share *share);
size_t hs_share_limit(const struct hs_share *share);

#endif
