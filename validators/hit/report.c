#include "validators/hit/report.h"

#include "validators/base/units.h"

void hs_report_measure(struct hs_check_row *row, enum hs_unit unit, double measured, double limit)
{
    row->unit = unit;
    row->measured = measured;
    row->limit = limit;
}

enum hs_reason hs_report_limit(struct hs_check_row *row, enum hs_unit unit, double measured,
                               double limit, enum hs_reason reason)
{
    hs_report_measure(row, unit, measured, limit);
    return measured <= limit ? HS_REASON_OK : reason;
}

enum hs_reason hs_report_time_limit(struct hs_check_row *row, int64_t measured_us, int64_t limit_us,
                                    enum hs_reason reason)
{
    hs_report_measure(row, HS_UNIT_SECONDS, hs_seconds(measured_us), hs_seconds(limit_us));
    return measured_us <= limit_us ? HS_REASON_OK : reason;
}

void hs_report_player(struct hs_check_row *row, const struct hs_player *player)
{
    row->player = player->name;
}

static const struct hs_remembered_check *find_remembered(const struct hs_hit_context *c,
                                                         enum hs_check check)
{
    for (uint16_t i = 0; c->posted != NULL && i < c->posted->shot->check_count; i++)
        if (c->posted->shot->checks[i].check == check)
            return &c->posted->shot->checks[i];
    return NULL;
}

bool hs_posted_failed(const struct hs_hit_context *c, const struct hs_check_row *row)
{
    const struct hs_remembered_check *found = find_remembered(c, row->check);
    return found != NULL && found->outcome != HS_OUTCOME_PASS;
}

enum hs_reason hs_report_posted(const struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_remembered_check *found = find_remembered(c, row->check);
    if (found == NULL)
        return HS_NO_ROW;
    row->of_posted_shot = true;
    hs_report_measure(row, (enum hs_unit)found->unit, found->measured, found->limit);
    return (enum hs_reason)found->reason;
}

enum hs_reason hs_missing_pose_reason(enum hs_rewind_status status, enum hs_reason no_history)
{
    static const enum hs_reason reasons[] = {
        [HS_REWIND_TOO_SHORT] = HS_REASON_HISTORY_TOO_SHORT,
        [HS_REWIND_LOW_CONFIDENCE] = HS_REASON_LOW_CONFIDENCE_GAP,
        [HS_REWIND_AFTER_NEWEST] = HS_REASON_HISTORY_GAP,
    };
    return reasons[status] != HS_REASON_OK ? reasons[status] : no_history;
}

void hs_report_lack(const struct hs_hit_context *c, struct hs_check_row *row,
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
    hs_report_time_limit(row, lack_us, limit_us, HS_REASON_OK);
}

enum hs_reason hs_report_missing(const struct hs_hit_context *c, struct hs_check_row *row,
                                 const struct hs_view *view, enum hs_reason no_history)
{
    hs_report_lack(c, row, view);
    return hs_missing_pose_reason(view->status, no_history);
}
