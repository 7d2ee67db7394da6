/* How hits and posted shots are verified: what both share. Internal to validators/. */
#ifndef HS_HIT_VERIFY_H
#define HS_HIT_VERIFY_H

#include "validators/hit/context.h"

/* Prepares a claim. True: its estimated work fits, or the budget is still whole. */
bool hs_hit_may_begin(struct hs_hit_context *c, bool is_whole);

/* Sets the result of a claim that does not fit its budget. */
void hs_hit_give_up(struct hs_hit_context *c);

/* Empties a result: everything but the entries of its lists. */
void hs_hit_clear(struct hs_hit_result *out);

/* Verdict and reason from the rows. */
void hs_hit_decide(struct hs_hit_context *c);

#endif
