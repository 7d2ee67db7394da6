/* Writes the findings of a check into its row. Internal to validators/. */
#ifndef HS_REPORT_H
#define HS_REPORT_H

#include "validators/hit/context.h"

/* Returned by a check that does not apply. The result then has no row for the check. */
#define HS_NO_ROW HS_REASON_COUNT

void hs_report_measure(struct hs_check_row *row, enum hs_unit unit, double measured, double limit);

/* Write the measured value and the limit into the row. Return HS_REASON_OK if the measured value
   is within the limit, otherwise `reason`. */
enum hs_reason hs_report_limit(struct hs_check_row *row, enum hs_unit unit, double measured,
                               double limit, enum hs_reason reason);
enum hs_reason hs_report_time_limit(struct hs_check_row *row, int64_t measured_us, int64_t limit_us,
                                    enum hs_reason reason);

void hs_report_player(struct hs_check_row *row, const struct hs_player *player);

/* For a view without a pose: writes the player, and the gap in that player's frames. If the view's
   time is between two frames, the gap is the time between these frames; otherwise it is the time to
   the nearest frame. */
void hs_report_lack(const struct hs_hit_context *c, struct hs_check_row *row,
                    const struct hs_view *view);

/* Like hs_report_lack, and returns the result of hs_missing_pose_reason. */
enum hs_reason hs_report_missing(const struct hs_hit_context *c, struct hs_check_row *row,
                                 const struct hs_view *view, enum hs_reason no_history);

/* Looks up the result that the same check had for the hit's posted shot, and copies this result
   into the row. Returns the reason of this result, or HS_NO_ROW if there is no such result. */
enum hs_reason hs_report_posted(const struct hs_hit_context *c, struct hs_check_row *row);

/* Returns whether the row's check failed or was unknown for the hit's posted shot; false without a
   posted shot. */
bool hs_posted_failed(const struct hs_hit_context *c, const struct hs_check_row *row);

/* Returns the reason why a pose is missing. If the player has no frames at all, the result is
   `no_history`. */
enum hs_reason hs_missing_pose_reason(enum hs_rewind_status status, enum hs_reason no_history);

#endif
