/* What the checks of one claim found: the rows of its report. Internal to validators/. */
#ifndef HS_REPORT_H
#define HS_REPORT_H

#include "validators/hit/context.h"

/* Rows of the report. A check that is off reports nothing. */
struct hs_check_row *hs_report_pass(struct hs_hit_context *c, enum hs_check check);
struct hs_check_row *hs_report_fail(struct hs_hit_context *c, enum hs_check check,
                                    enum hs_reason reason);
struct hs_check_row *hs_report_unknown(struct hs_hit_context *c, enum hs_check check,
                                       enum hs_reason reason);
/* Names the player of a view, and measures what their pose at its time lacks: how far the time is
   from their frames, or how far apart the frames around it are. */
void hs_report_lack(struct hs_check_row *row, const struct hs_hit_context *c,
                    const struct hs_view *view);

/* The row for a player without a pose; `unknown`: no frame ever showed them. */
struct hs_check_row *hs_report_missing(struct hs_hit_context *c, enum hs_check check,
                                       const struct hs_view *view, enum hs_reason unknown);
void hs_report_measure(struct hs_check_row *row, enum hs_unit unit, double measured, double limit);
void hs_report_player(struct hs_check_row *row, const struct hs_player *player);

/*
 * What was found of the posted shot stands for its hits too. True when there is a posted shot; its
 * row is then written, if it had one.
 */
bool hs_report_remembered(struct hs_hit_context *c, enum hs_check check);

/* Why a pose is missing, as a reason; `unknown` names the case of no history at all. */
enum hs_reason hs_missing_pose_reason(enum hs_rewind_status status, enum hs_reason unknown);

/* The posted shot of a hit did not pass a check. */
bool hs_posted_failed(const struct hs_hit_context *c, enum hs_check check);

/* The posted shot was refused for something its hits do not carry on, as its time. */
bool hs_posted_was_refused(const struct hs_hit_context *c);

#endif
