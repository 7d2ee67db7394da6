/* Functions that write the findings of a check into its row. Internal to validators/. */
#ifndef HS_REPORT_H
#define HS_REPORT_H

#include "validators/hit/context.h"

/* A check that does not apply returns this value; the result then has no row for the check. */
#define HS_NO_ROW HS_REASON_COUNT

void hs_report_measure(struct hs_check_row *row, enum hs_unit unit, double measured, double limit);

/*
 * Write the measured value and the limit into the row. Return `reason` if the measured value
 * exceeds the limit, else HS_REASON_OK.
 */
enum hs_reason hs_report_limit(struct hs_check_row *row, enum hs_unit unit, double measured,
                               double limit, enum hs_reason reason);
enum hs_reason hs_report_time_limit(struct hs_check_row *row, int64_t measured_us, int64_t limit_us,
                                    enum hs_reason reason);

void hs_report_player(struct hs_check_row *row, const struct hs_player *player);

/* Writes the player of a view without a pose, and the gap in time. The gap lies between the view's
   time and the player's frames, or between the two frames around the view's time. */
void hs_report_lack(const struct hs_hit_context *c, struct hs_check_row *row,
                    const struct hs_view *view);

/* Like hs_report_lack; returns the result of hs_missing_pose_reason. */
enum hs_reason hs_report_missing(const struct hs_hit_context *c, struct hs_check_row *row,
                                 const struct hs_view *view, enum hs_reason no_history);

/* Copies the row that this check got for the hit's posted shot. Returns the reason in this row, or
   HS_NO_ROW. */
enum hs_reason hs_report_posted(const struct hs_hit_context *c, struct hs_check_row *row);

/* Returns whether this check failed, or was unknown, for the hit's posted shot. Returns false if
   the hit has no posted shot. */
bool hs_posted_failed(const struct hs_hit_context *c, const struct hs_check_row *row);

/* Returns the reason for a missing pose: `no_history` if no frame ever showed the player. */
enum hs_reason hs_missing_pose_reason(enum hs_rewind_status status, enum hs_reason no_history);

#endif
