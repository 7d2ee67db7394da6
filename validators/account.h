/*
 * What memory is taken, against a limit, of one holder among those who share another account.
 * Whoever wants to keep something takes its bytes first, and does without where they are refused:
 * so a limit is never passed, not for a moment. Safe from many threads at once.
 */
#ifndef HS_ACCOUNT_H
#define HS_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "linkage.h"

HS_PUBLIC_BEGIN

struct hs_account;

/*
 * An account with a limit in bytes (SIZE_MAX: none). Bytes reserved in it are reserved in `of` too
 * (NULL: nowhere else), which is borrowed and must outlive it. NULL: out of memory. Everything that
 * uses an account must be destroyed before it.
 */
struct hs_account *hs_account_create(size_t limit, struct hs_account *of);
void hs_account_destroy(struct hs_account *account);

/* Bytes in use now. */
size_t hs_account_used(const struct hs_account *account);

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

HS_PUBLIC_END

#endif
