/*
 * A memory budget: the bytes in use by one holder against its limit. Several budgets can share
 * another one above them.
 *
 * A holder reserves bytes before it allocates them, and does without when the reservation fails. So
 * no limit is passed at any moment. Safe to call from many threads at once.
 */
#ifndef HS_ACCOUNT_H
#define HS_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "linkage.h"

HS_PUBLIC_BEGIN

struct hs_account;

/*
 * Creates a budget with a limit in bytes (SIZE_MAX: none). Bytes reserved in it are also reserved
 * in `of` (NULL: nowhere else), which is borrowed and must outlive it. NULL: out of memory. Destroy
 * everything that uses the budget before the budget.
 */
struct hs_account *hs_account_create(size_t limit, struct hs_account *of);
void hs_account_destroy(struct hs_account *account);

/* Bytes in use now. */
size_t hs_account_used(const struct hs_account *account);

/*
 * Reserves the bytes. False: the limit would be passed; nothing changed. hs_account_take_spare
 * leaves a twentieth of each limit to hs_account_take; use it for bytes the caller can do without.
 * NULL as account: always succeeds. hs_account_give releases reserved bytes.
 */
bool hs_account_take(struct hs_account *account, size_t bytes);
bool hs_account_take_spare(struct hs_account *account, size_t bytes);
void hs_account_give(struct hs_account *account, size_t bytes);

/* Whether the bytes could be reserved now. False counts as a failed reservation, because the
   caller then gives something up. */
bool hs_account_has(struct hs_account *account, size_t bytes);
bool hs_account_has_spare(struct hs_account *account, size_t bytes);

HS_PUBLIC_END

#endif
