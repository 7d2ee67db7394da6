#include "tests/support/play/verdicts.h"

#include <check.h>
#include <math.h>

#include "tests/support/play/stage.h"

void hs_expect_reason(const struct hs_hit_result *result, enum hs_reason reason)
{
    ck_assert_str_eq(hs_reason_name(result->reason), hs_reason_name(reason));
    ck_assert_str_eq(hs_verdict_name(result->verdict), hs_verdict_name(hs_reason_verdict(reason)));
}

const struct hs_check_row *hs_expect_row(const struct hs_hit_result *result, enum hs_check check,
                                         enum hs_outcome outcome, enum hs_reason reason)
{
    const struct hs_check_row *row = hs_stage_row(result, check);
    ck_assert_msg(row != NULL, "no row of %s", hs_check_name(check));
    ck_assert_str_eq(hs_outcome_name(row->outcome), hs_outcome_name(outcome));
    ck_assert_str_eq(hs_reason_name(row->reason), hs_reason_name(reason));
    return row;
}

void hs_expect_measure(const struct hs_hit_result *result, enum hs_check check, enum hs_unit unit,
                       double measured, double limit)
{
    const struct hs_check_row *row = hs_stage_row(result, check);
    ck_assert(row != NULL && row->unit == unit);
    ck_assert_double_eq_tol(row->measured, measured, 1e-12 * fmax(1, fabs(measured)));
    ck_assert_double_eq_tol(row->limit, limit, 1e-12 * fmax(1, fabs(limit)));
}

bool hs_result_has_flag(const struct hs_hit_result *result, enum hs_flag flag)
{
    return (result->flags >> flag & 1) != 0;
}
