/* What an account is made of, for those who hold one inside a struct of theirs. */
#ifndef HS_ACCOUNT_INSIDE_H
#define HS_ACCOUNT_INSIDE_H

#include <stdatomic.h>

#include "validators/account.h"

struct hs_account {
    atomic_size_t used;      /* bytes */
    size_t limit;            /* bytes; SIZE_MAX: none */
    struct hs_account *of;   /* what is taken here is taken there too; NULL: nowhere else */
    atomic_bool was_refused; /* something, here or there; since it was last set to false */
};

void hs_account_init(struct hs_account *account, size_t limit, struct hs_account *of);

#endif
