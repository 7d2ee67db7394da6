/*
 * One bounded resource (bytes, connections or exports) that tenants share. Callers reserve an
 * amount before they use it, so the limit is never exceeded.
 *
 * A tenant's reservation is refused if afterwards the tenant would have more than the amount that
 * is still free (dynamic thresholds: Choudhury, Hahne, 1998). So one tenant alone gets at most half
 * of the limit, and two tenants get at most a third each. A reservation without a tenant may use
 * everything that is free. Thread-safe.
 */
#ifndef HS_SERVICE_SHARE_H
#define HS_SERVICE_SHARE_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/str.h"

struct hs_share;

/* Returns NULL if memory runs out. */
struct hs_share *hs_share_create(size_t limit);
void hs_share_destroy(struct hs_share *share); /* does nothing for NULL */

/* Reserves an amount for a tenant (len 0: the operator, or a service without tokens). Returns false
   if the amount does not fit or memory runs out. */
bool hs_share_reserve(struct hs_share *share, struct hs_str tenant, size_t amount);

/* Releases an amount that was reserved for the same tenant. */
void hs_share_release(struct hs_share *share, struct hs_str tenant, size_t amount);

/* Charges the tenant `to` for an amount that was reserved without a tenant. Callers use this
   function for items that are restored before their owner is known. Ignores the limit. Returns
   false and changes nothing if memory runs out. */
bool hs_share_assign(struct hs_share *share, struct hs_str to, size_t amount);

/* Returns the maximum amount that a tenant can ever hold: half of the limit. Without a tenant,
   returns the whole limit. */
size_t hs_share_max(const struct hs_share *share, struct hs_str tenant);

/* Returns how much more can be reserved for a tenant now. */
size_t hs_share_left(struct hs_share *share, struct hs_str tenant);

size_t hs_share_used(const struct hs_share *share);
size_t hs_share_limit(const struct hs_share *share);

#endif
