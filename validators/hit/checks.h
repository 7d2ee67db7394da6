/*
 * The checks of claims and posted shots, as listed in HS_CHECKS. Each check is a file in checks/.
 * Internal to validators/.
 */
#ifndef HS_HIT_CHECKS_H
#define HS_HIT_CHECKS_H

#include "validators/hit/report.h"

/*
 * Each check returns a reason, or HS_NO_ROW if the check does not apply and gets no row. The
 * verdict of the reason (vocabulary.h) determines the outcome. `row` is the check's empty row. The
 * check may set the row's numbers, player and mover. The check also writes data for later steps
 * into the context.
 */
#define X(id, name, mode, stage)                                                                   \
    enum hs_reason hs_check_##name(struct hs_hit_context *c, struct hs_check_row *row);
HS_CHECKS(X)
#undef X

#endif
