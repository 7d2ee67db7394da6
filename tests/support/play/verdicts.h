/* Assertions of tests about verdicts. Failures end the test, as Check's own assertions do. */
#ifndef HS_TESTS_VERDICTS_H
#define HS_TESTS_VERDICTS_H

#include <stdbool.h>

#include "validators/hit.h"

/* Expects the reason, and the verdict that belongs to it. */
void hs_expect_reason(const struct hs_hit_result *result, enum hs_reason reason);

/* Expects that a check ran with this result. */
const struct hs_check_row *hs_expect_row(const struct hs_hit_result *result, enum hs_check check,
                                         enum hs_outcome outcome, enum hs_reason reason);

/* Expects the numbers of a check, with a tolerance of 1e-12. */
void hs_expect_measure(const struct hs_hit_result *result, enum hs_check check, enum hs_unit unit,
                       double measured, double limit);

bool hs_result_has_flag(const struct hs_hit_result *result, enum hs_flag flag);

#endif
