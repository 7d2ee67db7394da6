/* bystander: do other bodies stand in the way of the claimed one? */
#include "validators/hit/checks.h"
#include "validators/hit/encounter.h"
#include "validators/hit/volley.h"

static void check_path(struct hs_hit_context *c, const struct hs_encounter *e)
{
    if (!c->claims_target || c->target.status != HS_REWIND_OK)
        return;
    if (e->target.touched && hs_encounter_is_blocked(c, e)) {
        const struct hs_met *first = &e->met[0];
        struct hs_check_row *row =
            hs_report_fail(c, HS_CHECK_BYSTANDER, HS_REASON_BLOCKED_BY_PLAYER);
        hs_report_measure(row, HS_UNIT_LENGTH, first->contact.distance, e->target.distance);
        hs_report_player(row, first->player);
    } else if (e->target.touched || c->is_lenient) {
        hs_report_pass(c, HS_CHECK_BYSTANDER);
    }
}

static void check_pellets(struct hs_hit_context *c, const struct hs_volley *volley)
{
    if (volley->landed > 0)
        hs_report_pass(c, HS_CHECK_BYSTANDER);
    else if (!hs_volley_hangs(c, volley) && !volley->is_missing && volley->blocker != NULL)
        hs_report_player(hs_report_fail(c, HS_CHECK_BYSTANDER, HS_REASON_BLOCKED_BY_PLAYER),
                         volley->blocker);
}

void hs_check_bystander(struct hs_hit_context *c)
{
    if (c->volley != NULL)
        check_pellets(c, c->volley);
    else
        check_path(c, c->encounter);
}
