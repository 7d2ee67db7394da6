/* The members of an account, for code that holds one inside another struct. */
#ifndef HS_ACCOUNT_INSIDE_H
#define HS_ACCOUNT_INSIDE_H

#include <stdatomic.h>

#include "validators/account.h"

struct hs_account {
    atomic_size_t used;    /* bytes */
    size_t limit;          /* bytes; SIZE_MAX: no limit */
    struct hs_account *of; /* also counts the bytes of this account; NULL: no other account does */
    atomic_bool was_refused; /* a reservation failed since this was last set to false */
};

void hs_account_init(struct hs_account *account, size_t limit, struct hs_account *of);

#endif
