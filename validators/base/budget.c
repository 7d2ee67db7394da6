#include "validators/base/budget_inside.h"

#include <stdint.h>
#include <stdlib.h>

/* hs_budget_reserve_spare leaves 1 / KEPT_BACK of each limit free. */
enum { KEPT_BACK = 20 };

void hs_budget_init(struct hs_budget *budget, size_t limit, struct hs_budget *of)
{
    atomic_init(&budget->used, 0);
    budget->limit = limit;
    budget->of = of;
    atomic_init(&budget->was_refused, false);
}

struct hs_budget *hs_budget_create(size_t limit, struct hs_budget *of)
{
    struct hs_budget *budget = malloc(sizeof *budget);
    if (budget != NULL)
        hs_budget_init(budget, limit, of);
    return budget;
}

void hs_budget_destroy(struct hs_budget *budget)
{
    free(budget);
}

size_t hs_budget_used(const struct hs_budget *budget)
{
    return atomic_load(&budget->used);
}

static bool fits(const struct hs_budget *budget, size_t used, size_t bytes, bool is_spare)
{
    size_t limit = is_spare ? budget->limit - budget->limit / KEPT_BACK : budget->limit;
    return used <= limit && bytes <= limit - used;
}

/* Reserves bytes in this budget only, not in the budgets above it. */
static bool reserve_here(struct hs_budget *budget, size_t bytes, bool is_spare)
{
    size_t used = atomic_load(&budget->used);
    do {
        if (!fits(budget, used, bytes, is_spare))
            return false;
    } while (!atomic_compare_exchange_weak(&budget->used, &used, used + bytes));
    return true;
}

static bool reserve(struct hs_budget *budget, size_t bytes, bool is_spare)
{
    if (bytes == 0)
        return true;
    for (struct hs_budget *at = budget; at != NULL; at = at->of) {
        if (reserve_here(at, bytes, is_spare))
            continue;
        for (struct hs_budget *back = budget; back != at; back = back->of)
            atomic_fetch_sub(&back->used, bytes);
        atomic_store(&budget->was_refused, true);
        return false;
    }
    return true;
}

bool hs_budget_reserve(struct hs_budget *budget, size_t bytes)
{
    return reserve(budget, bytes, false);
}

bool hs_budget_reserve_spare(struct hs_budget *budget, size_t bytes)
{
    return reserve(budget, bytes, true);
}

void hs_budget_release(struct hs_budget *budget, size_t bytes)
{
    for (; budget != NULL; budget = budget->of)
        atomic_fetch_sub(&budget->used, bytes);
}

/* Returns whether `bytes` more bytes fit into this budget and the budgets above it. If they do not
   fit, records a failed reservation. */
static bool has(struct hs_budget *budget, size_t bytes, bool is_spare)
{
    for (struct hs_budget *at = budget; at != NULL; at = at->of) {
        if (fits(at, atomic_load(&at->used), bytes, is_spare))
            continue;
        atomic_store(&budget->was_refused, true);
        return false;
    }
    return true;
}

bool hs_budget_has(struct hs_budget *budget, size_t bytes)
{
    return has(budget, bytes, false);
}

bool hs_budget_has_spare(struct hs_budget *budget, size_t bytes)
{
    return has(budget, bytes, true);
}
