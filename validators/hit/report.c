/* What the checks write: the rows of the report. */
#include "validators/hit/report.h"
#include "validators/base/units.h"
#include "validators/hit/context.h"

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

bool hs_posted_failed(const struct hs_hit_context *c, enum hs_check check)
{
    for (uint16_t i = 0; c->posted != NULL && i < c->posted->shot->check_count; i++)
        if (c->posted->shot->checks[i].check == check &&
            c->posted->shot->checks[i].outcome != HS_OUTCOME_PASS)
            return true;
    return false;
}

bool hs_posted_was_refused(const struct hs_hit_context *c)
{
    bool refused = !c->posted->accepted;
    for (uint16_t i = 0; i < c->posted->shot->check_count; i++)
        if (c->posted->shot->checks[i].outcome != HS_OUTCOME_PASS)
            refused = false;
    return refused;
}

bool hs_report_remembered(struct hs_hit_context *c, enum hs_check check)
{
    if (c->posted == NULL)
        return false;
    const struct hs_posted_shot *shot = c->posted->shot;
    for (uint16_t i = 0; i < shot->check_count; i++) {
        const struct hs_remembered_check *found = &shot->checks[i];
        if (found->check != check)
            continue;
        struct hs_check_row *row =
            add_row(c, check, (enum hs_outcome)found->outcome, (enum hs_reason)found->reason);
        hs_report_measure(row, (enum hs_unit)found->unit, found->measured, found->limit);
        row->of_posted_shot = true;
    }
    return true;
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

void hs_report_lack(struct hs_check_row *row, const struct hs_hit_context *c,
                    const struct hs_view *view)
{
    if (view->player == NULL)
        return;
    hs_report_player(row, view->player);
    if (view->status == HS_REWIND_OK || view->status == HS_REWIND_NO_HISTORY)
        return;
    const struct hs_history *history = view->player->history;
    int64_t i = hs_history_find(history, view->time_us), lack_us = 0, limit_us = 0;
    if (view->status == HS_REWIND_TOO_SHORT) {
        lack_us = hs_history_at(history, 0)->time_us - view->time_us;
    } else if (view->status == HS_REWIND_LOW_CONFIDENCE) {
        limit_us = c->ruleset->history.max_gap_us;
        lack_us = hs_history_at(history, (uint32_t)i + 1)->time_us -
                  hs_history_at(history, (uint32_t)i)->time_us;
    } else {
        limit_us = c->ruleset->rewind.future_slack_us;
        lack_us = view->time_us - hs_history_at(history, (uint32_t)i)->time_us;
    }
    hs_report_measure(row, HS_UNIT_SECONDS, hs_seconds(lack_us), hs_seconds(limit_us));
}

struct hs_check_row *hs_report_missing(struct hs_hit_context *c, enum hs_check check,
                                       const struct hs_view *view, enum hs_reason unknown)
{
    struct hs_check_row *row =
        hs_report_unknown(c, check, hs_missing_pose_reason(view->status, unknown));
    hs_report_lack(row, c, view);
    return row;
}
