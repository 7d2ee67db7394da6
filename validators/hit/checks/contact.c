/* contact: does the path touch the claimed body where it was? */
#include <float.h>

#include "validators/hit/checks.h"
#include "validators/hit/encounter.h"
#include "validators/hit/volley.h"

/* The claimed body is on the path; whether too many bodies stand before it is the next check's. */
static void report_target_touched(struct hs_hit_context *c, const struct hs_encounter *e)
{
    const struct hs_contact *target = &e->target;
    struct hs_check_row *row = hs_report_pass(c, HS_CHECK_CONTACT);
    hs_report_measure(row, HS_UNIT_LENGTH, target->gap > 0 ? target->gap : 0,
                      c->ruleset->hit.claim_padding);
    hs_report_player(row, c->target.player);
    hs_land_direct(c, &c->target, target, 1);
    hs_note_region(c, target);
    if (hs_encounter_is_blocked(c, e))
        hs_describe_impact(c, e->met[0].player, &e->met[0].contact);
    else if (e->is_occluded && e->clips)
        hs_describe_first(c, e);
    else
        hs_describe_impact(c, c->target.player, target);
}

static void report_target_missed(struct hs_hit_context *c, const struct hs_encounter *e)
{
    double padding = c->ruleset->hit.claim_padding;
    const struct hs_contact *target = &e->target;
    bool free_line = e->met_count == 0 || e->met[0].contact.distance > target->gap_distance;
    c->out->has_margin = true;
    c->out->margin = target->gap;
    hs_describe_first(c, e);

    struct hs_check_row *row;
    if (c->is_weapon_stale) {
        /* Its ball may be wide enough. */
        row = hs_report_unknown(c, HS_CHECK_CONTACT, HS_REASON_HISTORY_TOO_SHORT);
        hs_report_player(row, c->target.player);
    } else if (e->reaches && free_line) {
        c->is_lenient = true;
        hs_land_lenient(c, &c->target, target);
        row = hs_report_pass(c, HS_CHECK_CONTACT);
        hs_report_player(row, c->target.player);
    } else if (e->met_count > 0) {
        row = hs_report_fail(c, HS_CHECK_CONTACT, HS_REASON_WRONG_TARGET);
        hs_report_player(row, e->met[0].player);
    } else {
        row = hs_report_fail(c, HS_CHECK_CONTACT, HS_REASON_NO_INTERSECTION);
        hs_report_player(row, c->target.player);
    }
    hs_report_measure(row, HS_UNIT_LENGTH, target->gap, padding);
}

/* The body is on the path, but beyond where the world ends it, or hidden beside it. */
static bool is_behind_obstacle(struct hs_hit_context *c, const struct hs_encounter *e,
                               const struct hs_view *view)
{
    if (!e->clips && e->world_radius >= c->path.radius)
        return false;
    struct hs_path whole = c->path;
    struct hs_contact contact;
    whole.reach = whole.length + whole.extension;
    hs_contact_find(&whole, c->ruleset, view->player->history, false, false, &c->work, &contact);
    return contact.touched;
}

/* Bodies claimed behind the first, for weapons that go through: each must be on the path, with no
   more bodies before it than the shot goes through. */
static void pierce(struct hs_hit_context *c, const struct hs_encounter *e)
{
    for (size_t i = 0; i < c->claim->victim_count && !hs_work_is_over(&c->work); i++) {
        struct hs_view view;
        hs_work_spend(&c->work, HS_WORK_LOOK + (i + e->met_count) * HS_WORK_PASS);
        if (hs_is_claimed_before(c, i))
            continue;
        hs_look(c, c->claim->victims[i], c->hit_time_us, &view);
        enum hs_reason reason = hs_judge_victim(c, &view, c->claim->victims[i]);
        uint32_t before = 0;
        const struct hs_met *met = NULL;
        for (uint32_t k = 0; k < e->met_count && met == NULL; k++) {
            if (e->met[k].player == view.player)
                met = &e->met[k];
            else
                before++;
        }
        if (met != NULL && e->target.touched &&
            hs_contact_is_before(&c->path, &e->target, &met->contact))
            before++;
        if (reason == HS_REASON_OK && met == NULL)
            reason = is_behind_obstacle(c, e, &view) ? HS_REASON_OCCLUDED_WORLD
                                                     : HS_REASON_NO_INTERSECTION;
        else if (reason == HS_REASON_OK && before > (uint64_t)c->weapon->pierce)
            reason = HS_REASON_BLOCKED_BY_PLAYER;
        else if (reason == HS_REASON_OK && hs_encounter_is_in_doubt(c, e, met->contact.distance))
            reason = hs_doubt_reason(&e->obstacle);
        else if (reason == HS_REASON_OK)
            reason = met->doubt;
        if (reason == HS_REASON_OK)
            hs_land_direct(c, &view, &met->contact, 1);
        else
            hs_refuse_victim(c, c->claim->victims[i], reason);
    }
}

/*
 * Victims besides the target make sense for blasts and for single shots that go through; for
 * nothing else. `e`: what the one path of the claim met, NULL for pellets.
 */
static void judge_others_claimed(struct hs_hit_context *c, const struct hs_encounter *e)
{
    if (c->weapon == NULL || c->weapon->has_blast)
        return;
    if (c->weapon->pierce > 0 && e != NULL) {
        pierce(c, e);
        return;
    }
    for (size_t i = 0; i < c->claim->victim_count; i++)
        if (!hs_is_claimed_before(c, i))
            hs_refuse_victim(c, c->claim->victims[i], HS_REASON_NO_INTERSECTION);
}

static void check_path(struct hs_hit_context *c, const struct hs_encounter *e)
{
    bool poseless = c->claims_target && c->target.status != HS_REWIND_OK;
    if (poseless) {
        hs_report_missing(c, HS_CHECK_CONTACT, &c->target, HS_REASON_UNKNOWN_TARGET_HISTORY);
    } else if (c->claims_target && e->target.gap == DBL_MAX) {
        /* Not one hitbox of his had a place along the path: nothing was missed, nothing is paid. */
        c->target.status = HS_REWIND_LOW_CONFIDENCE;
        hs_report_player(hs_report_unknown(c, HS_CHECK_CONTACT, HS_REASON_LOW_CONFIDENCE_GAP),
                         c->target.player);
    } else if (!c->claims_target) {
        hs_describe_first(c, e);
        if (!c->claims_self)
            hs_report_pass(c, HS_CHECK_CONTACT);
    } else if (e->target.touched) {
        report_target_touched(c, e);
    } else {
        report_target_missed(c, e);
    }
    judge_others_claimed(c, e);
}

static void check_pellets(struct hs_hit_context *c, const struct hs_volley *volley)
{
    bool is_reached = volley->landed > 0 || hs_volley_hangs(c, volley);
    bool is_missed = !is_reached && volley->blocker == NULL && volley->has_margin;
    if (!is_reached && volley->is_missing)
        hs_report_lack(hs_report_unknown(c, HS_CHECK_CONTACT, volley->missing), c,
                       &volley->missing_view);
    else if (is_missed && c->is_weapon_stale)
        hs_report_measure(hs_report_unknown(c, HS_CHECK_CONTACT, HS_REASON_HISTORY_TOO_SHORT),
                          HS_UNIT_LENGTH, volley->margin, 0);
    else if (is_missed)
        hs_report_measure(hs_report_fail(c, HS_CHECK_CONTACT, HS_REASON_NO_INTERSECTION),
                          HS_UNIT_LENGTH, volley->margin, 0);
    else /* or nobody was claimed, or team and life refuse, or the world is in the way */
        hs_report_pass(c, HS_CHECK_CONTACT);
    judge_others_claimed(c, NULL);
}

void hs_check_contact(struct hs_hit_context *c)
{
    if (c->volley != NULL)
        check_pellets(c, c->volley);
    else
        check_path(c, c->encounter);
}
