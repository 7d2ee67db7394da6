/* bystander: do other bodies block the path to the claimed body? */
#include "validators/hit/checks.h"
#include "validators/hit/encounter.h"

static enum hs_reason check_pellets(const struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_volley *volley = c->volley;
    if (volley->landed > 0)
        return HS_REASON_OK;
    if (hs_volley_is_open(c) || volley->is_missing || volley->blocker == NULL)
        return HS_NO_ROW;
    hs_report_player(row, volley->blocker);
    return HS_REASON_BLOCKED_BY_PLAYER;
}

enum hs_reason hs_check_bystander(struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_encounter *e = c->encounter;
    if (c->volley != NULL)
        return check_pellets(c, row);
    if (!c->claims_target || c->target.status != HS_REWIND_OK)
        return HS_NO_ROW;
    if (!e->target.touched)
        return c->is_lenient ? HS_REASON_OK : HS_NO_ROW;
    if (!hs_encounter_may_be_blocked(c, e))
        return HS_REASON_OK;
    hs_report_player(row, e->met[0].player);
    if (!hs_encounter_is_blocked(c, e))
        return HS_REASON_HISTORY_TOO_SHORT;
    hs_report_measure(row, HS_UNIT_LENGTH, e->met[0].contact.distance, e->target.distance);
    return HS_REASON_BLOCKED_BY_PLAYER;
}
