/*
 * A memory budget: the bytes in use by one holder against its limit. Several budgets can share
 * another one above them.
 *
 * A holder reserves bytes before it allocates them, and does without when the reservation fails. So
 * no limit is passed at any moment. Safe to call from many threads at once.
 */
#ifndef HS_BUDGET_H
#define HS_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "linkage.h"

HS_PUBLIC_BEGIN

struct hs_budget;

/*
 * Creates a budget with a limit in bytes (SIZE_MAX: none). Bytes reserved in it are also reserved
 * in `of` (NULL: nowhere else), which is borrowed and must outlive it. NULL: out of memory. Destroy
 * everything that uses the budget before the budget.
 */
struct hs_budget *hs_budget_create(size_t limit, struct hs_budget *of);
void hs_budget_destroy(struct hs_budget *budget);

/* Bytes in use now. */
size_t hs_budget_used(const struct hs_budget *budget);

/*
 * Reserves the bytes. False: the limit would be passed; nothing changed. hs_budget_reserve_spare
 * leaves a twentieth of each limit to hs_budget_reserve; use it for bytes the caller can do
 * without. NULL as budget: always succeeds. hs_budget_release releases reserved bytes.
 */
bool hs_budget_reserve(struct hs_budget *budget, size_t bytes);
bool hs_budget_reserve_spare(struct hs_budget *budget, size_t bytes);
void hs_budget_release(struct hs_budget *budget, size_t bytes);

/* Whether the bytes could be reserved now. False counts as a failed reservation, because the
   caller then gives something up. */
bool hs_budget_has(struct hs_budget *budget, size_t bytes);
bool hs_budget_has_spare(struct hs_budget *budget, size_t bytes);

HS_PUBLIC_END

#endif
