/*
 * What memory is taken, against a limit, of one holder among those who share another account.
 * Whoever wants to keep something takes its bytes first, and does without where they are refused:
 * so a limit is never passed, not for a moment. Safe from many threads at once.
 */
#ifndef HS_ACCOUNT_H
#define HS_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct hs_account {
    atomic_size_t used;      /* bytes */
    size_t limit;            /* bytes; SIZE_MAX: none */
    struct hs_account *of;   /* what is taken here is taken there too; NULL: nowhere else */
    atomic_bool was_refused; /* something, here or there; since it was last set to false */
};

void hs_account_init(struct hs_account *account, size_t limit, struct hs_account *of);

/*
 * Takes bytes, or nothing (false). hs_account_take_spare leaves a twentieth of each limit to
 * hs_account_take: what may be done without takes from what is spare. Without an account (NULL)
 * there is always room.
 */
bool hs_account_take(struct hs_account *account, size_t bytes);
bool hs_account_take_spare(struct hs_account *account, size_t bytes);
void hs_account_give(struct hs_account *account, size_t bytes);

/* Whether so many bytes could be reserved now. False counts as a refusal: the caller gives
   something up. */
bool hs_account_has(struct hs_account *account, size_t bytes);
bool hs_account_has_spare(struct hs_account *account, size_t bytes);

#endif
