/* contact: does the path touch the claimed body where the body was at the hit time? */
#include <float.h>

#include "validators/hit/checks.h"
#include "validators/hit/encounter.h"

/* Flags a claim whose bone or zone was not touched. */
static void compare_bone(struct hs_hit_context *c, const struct hs_contact *contact)
{
    const struct hs_hitbox *box = &contact->rig->hitboxes[contact->hitbox];
    struct hs_str claimed = c->claim->claimed_bone;
    if (claimed.ptr != NULL &&
        !hs_str_equal(claimed, hs_name_str(&contact->rig->bones[box->bone])) &&
        !hs_str_equal(claimed, hs_name_str(&c->ruleset->zones[box->zone].name)))
        c->out->flags |= 1u << HS_FLAG_REGION_MISMATCH;
}

/* Reports a touch of the target. The check `bystander` counts the bodies in front of the target. */
static enum hs_reason touch_target(struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_encounter *e = c->encounter;
    const struct hs_contact *target = &e->target;
    hs_report_measure(row, HS_UNIT_LENGTH, target->nearest.gap > 0 ? target->nearest.gap : 0,
                      c->ruleset->hit.claim_padding);
    hs_report_player(row, c->target.player);
    hs_land_direct(c, &c->target, target);
    compare_bone(c, target);
    if (hs_encounter_is_blocked(c, e))
        hs_describe_impact(c, e->met[0].player, &e->met[0].contact);
    else if (e->is_occluded && e->clips)
        hs_describe_first(c, e);
    else
        hs_describe_impact(c, c->target.player, target);
    return HS_REASON_OK;
}

static enum hs_reason miss_target(struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_encounter *e = c->encounter;
    const struct hs_contact *target = &e->target;
    c->out->has_margin = true;
    c->out->margin = target->nearest.gap;
    hs_describe_first(c, e);
    hs_report_measure(row, HS_UNIT_LENGTH, target->nearest.gap, c->ruleset->hit.claim_padding);
    hs_report_player(row, c->target.player);
    if (c->is_weapon_stale) /* the weapon is unknown, and its sphere may be larger than the sphere
                               that was swept */
        return HS_REASON_HISTORY_TOO_SHORT;
    if (e->reaches) {
        c->is_lenient = true;
        hs_land(c, &(struct hs_landed){.player = c->target.player,
                                       .cause = HS_CAUSE_DIRECT,
                                       .zone = target->rig->hitboxes[target->nearest_hitbox].zone,
                                       .distance = target->nearest.gap_distance,
                                       .pellets = 1});
        return HS_REASON_OK;
    }
    if (e->met_count == 0)
        return HS_REASON_NO_INTERSECTION;
    hs_report_player(row, e->met[0].player);
    return HS_REASON_WRONG_TARGET;
}

/* Returns whether an obstacle hides the body. Either the body is on the path, behind the obstacle
   that ends the path. Or the body is beside the path, behind another obstacle. */
static bool is_behind_obstacle(struct hs_hit_context *c, const struct hs_view *view)
{
    const struct hs_encounter *e = c->encounter;
    if (!e->clips && e->world_radius >= c->path.radius)
        return false;
    struct hs_path whole = c->path;
    struct hs_contact contact;
    whole.reach = whole.length + whole.extension;
    hs_contact_find(&whole, c->ruleset, view->player->history, false, c->passed_team, &c->work,
                    &contact);
    return contact.touched;
}

/* Returns whether the path hits the target before it touches `body`. */
static bool is_behind_target(const struct hs_hit_context *c, const struct hs_contact *body)
{
    const struct hs_contact *target = &c->encounter->target;
    return target->touched ? hs_contact_is_before(&c->path, target, body)
                           : c->is_lenient && target->nearest.gap_distance < body->distance;
}

/* Checks an additional victim: the path must touch the victim, and the weapon must pierce all
   bodies in front of the victim. */
static void pierce(struct hs_hit_context *c, const struct hs_view *view, struct hs_str name)
{
    const struct hs_encounter *e = c->encounter;
    enum hs_reason reason = hs_verify_victim(c, view, name, false);
    const struct hs_obstacle *obstacle = &e->end;
    double tie = HS_CONTACT_TIE * (c->path.length + c->path.radius);
    uint32_t before = 0;
    while (before < e->met_count && e->met[before].player != view->player)
        before++;
    const struct hs_met *met = before < e->met_count ? &e->met[before] : NULL;
    if (met != NULL && is_behind_target(c, &met->contact))
        before++;
    if (reason == HS_REASON_OK && met == NULL)
        reason = is_behind_obstacle(c, view) ? HS_REASON_OCCLUDED_WORLD : HS_REASON_NO_INTERSECTION;
    else if (reason == HS_REASON_OK && before > (uint64_t)c->weapon->pierce)
        reason = HS_REASON_BLOCKED_BY_PLAYER;
    else if (reason == HS_REASON_OK && obstacle->is_unknown && hs_world_is_enforced(c) &&
             obstacle->unknown_distance < met->contact.distance - tie)
        reason = hs_unknown_reason(obstacle);
    else if (reason == HS_REASON_OK)
        reason = met->unknown;
    struct hs_obstacle wall;
    if (reason == HS_REASON_OK && hs_world_is_enforced(c) &&
        hs_is_hidden_from_eye(c, &c->path, view->player, met->contact.detail.center,
                              met->contact.distance, &wall))
        reason = wall.touched ? HS_REASON_OCCLUDED_WORLD : hs_unknown_reason(&wall);
    if (reason == HS_REASON_OK)
        hs_land_direct(c, view, &met->contact);
    else
        hs_refuse_victim(c, name, reason, 0, 0);
}

/* Looks up an additional victim at the time when the path touches this victim. */
static void find_victim(const struct hs_hit_context *c, struct hs_str name, struct hs_view *view)
{
    const struct hs_encounter *e = c->encounter;
    uint32_t i = 0;
    hs_find_view(c, name, c->hit_time_us, view);
    while (i < e->met_count && e->met[i].player != view->player)
        i++;
    if (c->path.flight_legs > 0 && i < e->met_count)
        hs_find_view(c, name, hs_contact_time(c, e->met[i].contact.distance), view);
}

/* With hit.resolve `touched`, the additional victims are the first bodies on the path, up to the
   number that the weapon pierces. */
static void pierce_touched(struct hs_hit_context *c)
{
    const struct hs_encounter *e = c->encounter;
    uint32_t count = (uint32_t)c->weapon->pierce;
    for (uint32_t i = 0; i < e->met_count && i < count && !hs_work_is_over(&c->work); i++) {
        struct hs_str name = hs_name_str(&e->met[i].player->name);
        struct hs_view view;
        hs_work_spend(&c->work, HS_WORK_LOOK + (uint64_t)e->met_count * HS_WORK_PASS);
        find_victim(c, name, &view);
        pierce(c, &view, name);
    }
}

/* Returns whether a victim already has damage or is already refused. Such a victim need not be
   checked again. */
static bool is_checked(const struct hs_hit_context *c, struct hs_str name)
{
    for (uint16_t i = 0; i < c->landed_count; i++)
        if (hs_str_equal(hs_name_str(&c->landed[i].player->name), name))
            return true;
    return hs_hit_refuses(c, name);
}

/* Checks the additional victims of a shot. The check `blast` checks the victims of a blast. */
static void check_victims(struct hs_hit_context *c)
{
    if (c->weapon == NULL || c->weapon->has_blast)
        return;
    bool pierces = c->weapon->pierce > 0 && c->encounter != NULL;
    if (pierces && c->ruleset->hit.resolve == HS_RESOLVE_TOUCHED)
        pierce_touched(c);
    for (size_t i = 0; i < c->claim->victim_count && !hs_work_is_over(&c->work); i++) {
        struct hs_str name = c->claim->victims[i];
        struct hs_view view;
        if (pierces)
            hs_work_spend(&c->work, HS_WORK_LOOK + (i + c->encounter->met_count) * HS_WORK_PASS);
        if (hs_is_repeated(c, i) || hs_str_equal(name, hs_hit_target(c)) || is_checked(c, name))
            continue;
        if (pierces) {
            find_victim(c, name, &view);
            pierce(c, &view, name);
        } else {
            hs_refuse_victim(c, name, HS_REASON_NO_INTERSECTION, 0, 0);
        }
    }
}

static enum hs_reason check_path(struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_encounter *e = c->encounter;
    if (!c->claims_target) {
        hs_describe_first(c, e);
        return c->claims_self ? HS_NO_ROW : HS_REASON_OK;
    }
    if (c->target.status != HS_REWIND_OK)
        return hs_report_missing(c, row, &c->target, HS_REASON_UNKNOWN_TARGET_HISTORY);
    if (e->target.nearest.gap == DBL_MAX) { /* no hitbox had a pose on the path */
        c->target.status = HS_REWIND_LOW_CONFIDENCE;
        hs_report_player(row, c->target.player);
        return HS_REASON_LOW_CONFIDENCE_GAP;
    }
    return e->target.touched ? touch_target(c, row) : miss_target(c, row);
}

static enum hs_reason check_pellets(const struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_volley *volley = c->volley;
    bool is_reached = volley->landed > 0 || hs_volley_is_open(c);
    if (!is_reached && volley->is_missing) {
        hs_report_lack(c, row, &volley->missing_view);
        return volley->missing;
    }
    /* A blast may hurt others, so the check `blast` decides. But the claimed target is reported
       here, so that the check `blast` refuses this target. */
    bool is_target = c->claims_target && volley->spared == c->target.player;
    bool bursts = c->weapon != NULL && c->weapon->has_blast && !is_target;
    enum hs_reason spared = is_reached || bursts ? HS_REASON_OK : hs_volley_report_spared(c, row);
    if (spared != HS_REASON_OK)
        return spared;
    if (is_reached || volley->blocker != NULL || !volley->has_margin)
        return HS_REASON_OK; /* the claim hits or has no target, or another check decides */
    hs_report_measure(row, HS_UNIT_LENGTH, volley->margin, 0);
    return c->is_weapon_stale ? HS_REASON_HISTORY_TOO_SHORT : HS_REASON_NO_INTERSECTION;
}

enum hs_reason hs_check_contact(struct hs_hit_context *c, struct hs_check_row *row)
{
    enum hs_reason reason = c->volley != NULL ? check_pellets(c, row) : check_path(c, row);
    check_victims(c);
    return reason;
}
