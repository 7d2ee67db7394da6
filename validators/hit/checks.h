/*
 * The checks of claims and posted shots, from HS_CHECKS: one file each in checks/. Internal to
 * validators/.
 */
#ifndef HS_HIT_CHECKS_H
#define HS_HIT_CHECKS_H

#include "validators/hit/report.h"

/* Each check writes at most one row, and what later steps need into the context. */
#define X(id, name, mode, stage) void hs_check_##name(struct hs_hit_context *c);
HS_CHECKS(X)
#undef X

/* Runs the checks that fit what `c` holds, a claim or a posted shot, in deciding order. Enforced
   and without a weapon, the weapon check ends them. */
void hs_checks_run(struct hs_hit_context *c);

#endif
