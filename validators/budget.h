/*
 * A memory budget: a limit for the bytes that one holder uses. Several budgets can belong to one
 * larger budget, which limits the sum of their bytes.
 *
 * A holder reserves bytes before it allocates them. If the reservation fails, the holder does not
 * allocate. So no limit is ever exceeded. Safe to call from many threads at once.
 */
#ifndef HS_BUDGET_H
#define HS_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include "linkage.h"

HS_PUBLIC_BEGIN

struct hs_budget;

/*
 * Creates a budget with a limit in bytes (SIZE_MAX: no limit). Bytes reserved in the new budget are
 * also reserved in the budget `of`, which is borrowed and must outlive the new budget. If `of` is
 * NULL, bytes are reserved in the new budget only. Returns NULL if out of memory. Before you
 * destroy a budget, destroy everything that uses it.
 */
struct hs_budget *hs_budget_create(size_t limit, struct hs_budget *of);
void hs_budget_destroy(struct hs_budget *budget);

/* Bytes in use now. */
size_t hs_budget_used(const struct hs_budget *budget);

/*
 * Reserves the bytes. Returns false and changes nothing if a limit would be exceeded.
 * hs_budget_reserve_spare is for bytes that the caller can do without. It fails earlier: it leaves
 * a twentieth of each limit free for hs_budget_reserve. A NULL budget grants every request.
 * hs_budget_release returns reserved bytes.
 */
bool hs_budget_reserve(struct hs_budget *budget, size_t bytes);
bool hs_budget_reserve_spare(struct hs_budget *budget, size_t bytes);
void hs_budget_release(struct hs_budget *budget, size_t bytes);

/* Returns whether the bytes can be reserved now. A false result counts as a failed reservation,
   because the caller then drops something. */
bool hs_budget_has(struct hs_budget *budget, size_t bytes);
bool hs_budget_has_spare(struct hs_budget *budget, size_t bytes);

HS_PUBLIC_END

#endif
