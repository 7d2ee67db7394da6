/* The definition of struct hs_budget, for structs that contain one. */
#ifndef HS_BUDGET_INSIDE_H
#define HS_BUDGET_INSIDE_H

#include <stdatomic.h>

#include "validators/budget.h"

struct hs_budget {
    atomic_size_t used;      /* bytes */
    size_t limit;            /* bytes; SIZE_MAX: no limit */
    struct hs_budget *of;    /* the larger budget that also counts these bytes, or NULL */
    atomic_bool was_refused; /* set when a reservation fails; the owner clears it */
};

void hs_budget_init(struct hs_budget *budget, size_t limit, struct hs_budget *of);

#endif
