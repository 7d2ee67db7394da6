/* Writes what one check found into its row of the report. Internal to validators/. */
#ifndef HS_REPORT_H
#define HS_REPORT_H

#include "validators/hit/context.h"

/* Returned by a check that does not apply: the report gets no row. */
#define HS_NO_ROW HS_REASON_COUNT

void hs_report_measure(struct hs_check_row *row, enum hs_unit unit, double measured, double limit);

/*
 * Writes both numbers. Returns `reason` if the measured value exceeds the limit, else HS_REASON_OK.
 */
enum hs_reason hs_report_limit(struct hs_check_row *row, enum hs_unit unit, double measured,
                               double limit, enum hs_reason reason);
enum hs_reason hs_report_time_limit(struct hs_check_row *row, int64_t measured_us, int64_t limit_us,
                                    enum hs_reason reason);

void hs_report_player(struct hs_check_row *row, const struct hs_player *player);

/* Writes the player of a view without a pose, and how far the view's time is from their frames, or
   how far apart the frames around it are. */
void hs_report_lack(const struct hs_hit_context *c, struct hs_check_row *row,
                    const struct hs_view *view);

/* The same; returns hs_missing_pose_reason. */
enum hs_reason hs_report_missing(const struct hs_hit_context *c, struct hs_check_row *row,
                                 const struct hs_view *view, enum hs_reason no_history);

/* Copies what this check found for the hit's posted shot; returns its reason, or HS_NO_ROW. */
enum hs_reason hs_report_posted(const struct hs_hit_context *c, struct hs_check_row *row);

/* Whether this check did not pass for the hit's posted shot. False without a posted shot. */
bool hs_posted_failed(const struct hs_hit_context *c, const struct hs_check_row *row);

/* The reason for a missing pose. `no_history`: the reason when no frame ever showed the player. */
enum hs_reason hs_missing_pose_reason(enum hs_rewind_status status, enum hs_reason no_history);

#endif
