/* origin: does the trace start where the shooter's eye was at the fire time, with no wall between
   the start and the eye? */
#include "validators/hit/checks.h"
#include "validators/hit/obstacle.h"

/* Compares the start with `from`, which is the shooter's eye or the start of the posted shot. Tests
   for a wall between the start and `from`. */
static enum hs_reason check_start(struct hs_hit_context *c, struct hs_check_row *row,
                                  struct hs_vec from, double tolerance, bool only_map)
{
    double off = hs_vec_distance(c->claim->start, from);
    struct hs_obstacle wall = {0};
    if (off <= tolerance && row->mode != HS_MODE_OFF)
        hs_obstacle_between(c, from, c->claim->start, c->eye_time_us,
                            only_map ? HS_NEAREST_OF_MAP : HS_NEAREST, &wall);
    if (wall.touched || wall.is_unknown)
        return hs_report_obstacle(row, &wall, wall.touched, HS_REASON_ORIGIN_OCCLUDED, off);
    return hs_report_limit(row, HS_UNIT_LENGTH, off, tolerance, HS_REASON_ORIGIN_MISMATCH);
}

enum hs_reason hs_check_origin(struct hs_hit_context *c, struct hs_check_row *row)
{
    double tolerance = c->ruleset->hit.origin_tolerance;
    if (hs_posted_failed(c, row))
        return hs_report_posted(c, row);
    if (hs_hit_is_driven(c))
        return HS_NO_ROW;
    if (c->shooter.status != HS_REWIND_OK && c->posted == NULL)
        return hs_report_missing(c, row, &c->shooter, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
    /* A hit may start at another place than its posted shot, so the two starts are compared. The
       shooter and the movers have no pose at the fire time, so only the map is tested for walls. */
    if (c->shooter.status != HS_REWIND_OK)
        return check_start(c, row, c->posted->start, tolerance, true);
    /* Between two samples, the eye may have been anywhere between its positions in the two
       samples. */
    return check_start(c, row, c->eye, tolerance + c->eye_moved, false);
}
