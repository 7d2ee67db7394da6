/* The checks of claims and posted shots (HS_CHECKS), one file each in checks/. Internal to
   validators/. */
#ifndef HS_HIT_CHECKS_H
#define HS_HIT_CHECKS_H

#include "validators/hit/report.h"

/*
 * Each check returns a reason, or HS_NO_ROW if the check does not apply. The reason's verdict
 * (vocabulary.h) determines the outcome in the row. `row` is initially empty; the check may set its
 * numbers, player and mover. Checks also store data in the context, for later steps.
 */
#define X(id, name, mode, stage)                                                                   \
    enum hs_reason hs_check_##name(struct hs_hit_context *c, struct hs_check_row *row);
HS_CHECKS(X)
#undef X

#endif
