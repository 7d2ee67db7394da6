/*
 * The checks of claims and posted shots, from HS_CHECKS: one file each in checks/. Internal to
 * validators/.
 */
#ifndef HS_HIT_CHECKS_H
#define HS_HIT_CHECKS_H

#include "validators/hit/report.h"

/*
 * Each check returns a reason or HS_NO_ROW. The verdict that the reason gives (vocabulary.h) is the
 * outcome. `row` is the check's empty row; the check may write its numbers, player and mover. A
 * check also writes into the context what later steps need.
 */
#define X(id, name, mode, stage)                                                                   \
    enum hs_reason hs_check_##name(struct hs_hit_context *c, struct hs_check_row *row);
HS_CHECKS(X)
#undef X

#endif
