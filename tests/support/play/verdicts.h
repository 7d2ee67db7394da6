/* What tests expect of a verdict. Failures end the test, as Check's own assertions do. */
#ifndef HS_TESTS_VERDICTS_H
#define HS_TESTS_VERDICTS_H

#include <stdbool.h>

#include "validators/hit.h"

/* The reason, and the verdict it gives. */
void hs_expect_reason(const struct hs_hit_result *result, enum hs_reason reason);

/* The row of a check, which ran and found this. */
const struct hs_check_row *hs_expect_row(const struct hs_hit_result *result, enum hs_check check,
                                         enum hs_outcome outcome, enum hs_reason reason);

/* The numbers of a check, within 1e-12 of themselves. */
void hs_expect_measure(const struct hs_hit_result *result, enum hs_check check, enum hs_unit unit,
                       double measured, double limit);

bool hs_result_has_flag(const struct hs_hit_result *result, enum hs_flag flag);

#endif
