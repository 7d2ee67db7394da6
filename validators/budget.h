/*
 * A memory budget limits how many bytes its users may allocate. Several budgets can share one
 * larger budget, which limits the sum of their bytes.
 *
 * Code reserves bytes before it allocates them. If the reservation fails, the code must not
 * allocate, so a limit is never exceeded. Thread-safe.
 */
#ifndef HS_BUDGET_H
#define HS_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "linkage.h"

HS_PUBLIC_BEGIN

struct hs_budget;

/*
 * Creates a budget with a limit in bytes (SIZE_MAX: no limit). Every reservation also reserves the
 * bytes in the larger budget `of`, which is borrowed and must outlive the new budget. If `of` is
 * NULL, there is no larger budget. Returns NULL if out of memory. Before you destroy a budget,
 * destroy everything that reserves bytes in it.
 */
struct hs_budget *hs_budget_create(size_t limit, struct hs_budget *of);
void hs_budget_destroy(struct hs_budget *budget);

/* Returns the number of reserved bytes. */
size_t hs_budget_used(const struct hs_budget *budget);

/*
 * Reserves bytes. Returns false and reserves nothing if a limit would be exceeded. Use
 * hs_budget_reserve_spare for memory that the caller can do without: it leaves 5 % of each limit
 * free for hs_budget_reserve. With a NULL budget, both functions always succeed.
 */
bool hs_budget_reserve(struct hs_budget *budget, size_t bytes);
bool hs_budget_reserve_spare(struct hs_budget *budget, size_t bytes);
void hs_budget_release(struct hs_budget *budget, size_t bytes);

/* Returns whether a reservation of `bytes` would succeed now. If not, the budget counts this call
   as a failed reservation, because the caller then drops data. */
bool hs_budget_has(struct hs_budget *budget, size_t bytes);
bool hs_budget_has_spare(struct hs_budget *budget, size_t bytes);

HS_PUBLIC_END

#endif
