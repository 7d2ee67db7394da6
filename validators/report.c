/* What the checks write: the rows of the report. */
#include "hit_context.h"

const char *hs_outcome_name(enum hs_outcome outcome)
{
    switch (outcome) {
    case HS_OUTCOME_PASS:
        return "pass";
    case HS_OUTCOME_FAIL:
        return "fail";
    case HS_OUTCOME_UNKNOWN:
        break;
    }
    return "unknown";
}

static struct hs_check_row *add_row(struct hs_hit_context *c, enum hs_check check,
                                    enum hs_outcome outcome, enum hs_reason reason)
{
    if (hs_hit_mode(c, check) == HS_MODE_OFF)
        return &c->unreported;
    struct hs_check_row *row = &c->out->checks[c->out->check_count++];
    *row = (struct hs_check_row){
        .check = check, .outcome = outcome, .reason = reason, .mode = hs_hit_mode(c, check)};
    return row;
}

struct hs_check_row *hs_report_pass(struct hs_hit_context *c, enum hs_check check)
{
    return add_row(c, check, HS_OUTCOME_PASS, HS_REASON_OK);
}

struct hs_check_row *hs_report_fail(struct hs_hit_context *c, enum hs_check check,
                                    enum hs_reason reason)
{
    return add_row(c, check, HS_OUTCOME_FAIL, reason);
}

struct hs_check_row *hs_report_unknown(struct hs_hit_context *c, enum hs_check check,
                                       enum hs_reason reason)
{
    return add_row(c, check, HS_OUTCOME_UNKNOWN, reason);
}

void hs_report_measure(struct hs_check_row *row, enum hs_unit unit, double measured, double limit)
{
    row->unit = unit;
    row->measured = measured;
    row->limit = limit;
}

void hs_report_player(struct hs_check_row *row, const struct hs_player *player)
{
    row->player = player->name;
}

enum hs_reason hs_missing_pose_reason(enum hs_rewind_status status, enum hs_reason unknown)
{
    switch (status) {
    case HS_REWIND_TOO_SHORT:
        return HS_REASON_HISTORY_TOO_SHORT;
    case HS_REWIND_LOW_CONFIDENCE:
        return HS_REASON_LOW_CONFIDENCE_GAP;
    case HS_REWIND_AFTER_NEWEST:
        return HS_REASON_HISTORY_GAP;
    case HS_REWIND_NO_HISTORY:
    case HS_REWIND_OK:
        break;
    }
    return unknown;
}
