/* Evaluates each pellet of a claim separately. */
#include <float.h>

#include "validators/hit/encounter.h"
#include "validators/hit/report.h"

static void record_missing(struct hs_volley *volley, enum hs_reason reason,
                           const struct hs_view *view)
{
    if (!volley->is_missing) {
        volley->missing = reason;
        volley->missing_view = *view;
    }
    volley->is_missing = true;
}

/* Stores the obstacle for the answer: the first unknown mover (obstacle.h) that may be in the way.
   If no unknown mover is in the way, stores the first certain obstacle. A pellet that an unknown
   mover may stop could still hit, so a certain obstacle on another pellet's path does not decide
   the outcome. */
static void record_obstacle(struct hs_volley *volley, const struct hs_encounter *e)
{
    bool is_unknown = !e->is_occluded;
    if (!volley->is_unknown && (is_unknown || !volley->is_occluded)) {
        volley->obstacle = e->obstacle;
        volley->needed = e->needed;
    }
    volley->is_occluded = volley->is_occluded || e->is_occluded;
    volley->is_unknown = volley->is_unknown || is_unknown;
}

static void land(struct hs_hit_context *c, const struct hs_view *view, const struct hs_encounter *e,
                 struct hs_volley *volley, struct hs_pellet_result *out)
{
    const struct hs_hitbox *box = &e->target.rig->hitboxes[e->target.hitbox];
    out->outcome = HS_PELLET_HIT;
    out->player = view->player->name;
    out->zone = c->ruleset->zones[box->zone].name;
    if (c->weapon != NULL)
        out->amount = c->weapon->damage * c->weapon->zone_factor[box->zone] *
                      hs_falloff(c->weapon, e->target.detail.distance);
    hs_land_direct(c, view, &e->target);
    if (volley->landed == 0)
        hs_describe_impact(c, view->player, &e->target);
    volley->landed++;
    if (!e->is_occluded && !e->is_unknown)
        volley->free++;
}

static void refuse(struct hs_pellet_result *out, enum hs_pellet_outcome outcome,
                   enum hs_reason reason)
{
    out->outcome = outcome;
    out->reason = reason;
}

static void verify_encounter(struct hs_hit_context *c, const struct hs_view *view,
                             const struct hs_encounter *e, struct hs_volley *volley,
                             struct hs_pellet_result *out)
{
    bool enforced = hs_world_is_enforced(c);
    bool blocked = hs_encounter_is_blocked(c, e);
    const struct hs_player *in_front = e->met_count > 0 ? e->met[0].player : NULL;
    bool passes = e->is_beside && c->weapon != NULL && c->weapon->has_blast;
    volley->is_unseen = volley->is_unseen || e->is_unseen;
    if (e->target.touched && (e->is_occluded || (!blocked && e->is_unknown)))
        record_obstacle(volley, e);
    if (e->target.nearest.gap == DBL_MAX) { /* no hitbox had a pose on the path */
        refuse(out, HS_PELLET_UNKNOWN, HS_REASON_LOW_CONFIDENCE_GAP);
        record_missing(volley, out->reason, view);
    } else if (!e->target.touched) {
        refuse(out, HS_PELLET_MISS,
               in_front != NULL ? HS_REASON_WRONG_TARGET : HS_REASON_NO_INTERSECTION);
        out->margin = e->target.nearest.gap;
        volley->margin = volley->has_margin ? fmin(volley->margin, out->margin) : out->margin;
        volley->has_margin = true;
    } else if (e->is_occluded && enforced) {
        refuse(out, HS_PELLET_OCCLUDED, HS_REASON_OCCLUDED_WORLD);
        if (!c->out->impact.present && !passes)
            hs_describe_obstacle(c, &e->obstacle);
    } else if (blocked) {
        refuse(out, HS_PELLET_BLOCKED, HS_REASON_BLOCKED_BY_PLAYER);
        volley->blocker = in_front;
    } else if (hs_encounter_may_be_blocked(c, e)) {
        const struct hs_view in_doubt = {.player = in_front, .status = HS_REWIND_OK};
        refuse(out, HS_PELLET_UNKNOWN, HS_REASON_HISTORY_TOO_SHORT);
        record_missing(volley, out->reason, &in_doubt);
    } else if (e->is_unknown && enforced) {
        refuse(out, HS_PELLET_UNKNOWN, hs_unknown_reason(&e->obstacle));
    } else {
        land(c, view, e, volley, out);
    }
    if (in_front != NULL && (out->outcome == HS_PELLET_MISS || out->outcome == HS_PELLET_BLOCKED))
        out->player = in_front->name;
}

/* Finds where a pellet explodes if it does not hit its claimed body. The pellet explodes at the
   first body on its path, or, without such a body, where the world ends the path. Only the first
   explosion of a claim counts. */
static void find_burst(struct hs_hit_context *c, const struct hs_path *path,
                       const struct hs_encounter *e, struct hs_volley *volley)
{
    if (c->weapon == NULL || !c->weapon->has_blast || c->out->impact.present)
        return;
    double end = e->ends ? e->end.contact.distance : path->length;
    end = e->met_count > 0 ? e->met[0].contact.distance : end;
    if (e->end.is_unknown && e->end.unknown_distance < end) {
        volley->obstacle = e->end;
        volley->needed = end;
        volley->is_unknown = true;
    } else if (e->met_count > 0) {
        hs_describe_impact(c, e->met[0].player, &e->met[0].contact);
    } else if (e->ends) {
        hs_describe_obstacle(c, &e->end);
    }
}

/* Sweeps a pellet that cannot damage anyone by contact. Its blast still counts. */
static void sweep_blast(struct hs_hit_context *c, struct hs_path *path, struct hs_volley *volley)
{
    struct hs_encounter e;
    if (c->weapon == NULL || !c->weapon->has_blast)
        return;
    hs_encounter_find(c, path, NULL, &e);
    find_burst(c, path, &e, volley);
}

/* Returns whether the claim itself names a player as its target. */
static bool is_claimed(const struct hs_hit_context *c, const struct hs_player *player)
{
    return c->claims_self ? player == c->shooter.player
                          : c->claims_target && player == c->target.player;
}

static void verify_pellet(struct hs_hit_context *c, size_t pellet_index, struct hs_volley *volley,
                          struct hs_pellet_result *out)
{
    const struct hs_pellet_claim *pellet = &c->claim->pellets[pellet_index];
    struct hs_str name = pellet->target.ptr != NULL ? pellet->target : c->claim->target;
    struct hs_view view = {.status = HS_REWIND_NO_HISTORY};
    struct hs_path path;
    *out = (struct hs_pellet_result){.outcome = HS_PELLET_MISS, .reason = HS_REASON_OK};
    hs_work_spend(&c->work, HS_WORK_LOOK);
    if (name.ptr != NULL)
        hs_find_view(c, name, c->hit_time_us, &view);
    hs_path_trace(c->claim->start, pellet->end, c->path.radius, c->path.extension, c->hit_time_us,
                  &path);
    if (c->ruleset->hit.resolve == HS_RESOLVE_TOUCHED)
        hs_find_touched(c, &path, &view);
    if (view.player != NULL)
        name = hs_name_str(&view.player->name);
    if (name.ptr == NULL) { /* nobody is claimed or touched */
        sweep_blast(c, &path, volley);
        return;
    }
    volley->has_names = true;
    volley->named[pellet_index] = view.player;
    enum hs_reason reason = hs_verify_victim(c, &view, name, false);
    if (reason != HS_REASON_OK || view.player == NULL) { /* without a player, `reason` is never
                                                            HS_REASON_OK */
        bool missing = hs_reason_verdict(reason) == HS_VERDICT_INCONCLUSIVE;
        refuse(out, missing ? HS_PELLET_UNKNOWN : HS_PELLET_REFUSED, reason);
        if (missing) {
            record_missing(volley, reason, &view);
        } else if (volley->spared == NULL || is_claimed(c, view.player)) {
            volley->spared = view.player; /* the claim's own target comes before other players */
            volley->spared_reason = reason;
        }
        sweep_blast(c, &path, volley);
        return;
    }
    struct hs_encounter e;
    hs_encounter_find(c, &path, view.player, &e);
    verify_encounter(c, &view, &e, volley, out);
    if (out->outcome != HS_PELLET_HIT)
        find_burst(c, &path, &e, volley);
}

void hs_volley_find(struct hs_hit_context *c, struct hs_volley *out)
{
    size_t fired = c->weapon != NULL ? (size_t)c->weapon->pellets : HS_MAX_PELLETS;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < c->claim->pellet_count && !hs_work_is_over(&c->work); i++) {
        struct hs_pellet_result *result = &c->out->pellets[c->out->pellet_count++];
        if (i < fired)
            verify_pellet(c, i, out, result);
        else
            *result = (struct hs_pellet_result){.outcome = HS_PELLET_REFUSED,
                                                .reason = HS_REASON_PELLET_COUNT};
    }
    c->out->has_margin = out->landed == 0 && out->has_margin;
    c->out->margin = c->out->has_margin ? out->margin : 0;
}

enum hs_reason hs_volley_report_spared(const struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_volley *volley = c->volley;
    if (volley == NULL || volley->spared == NULL || volley->landed > 0 || volley->is_missing ||
        hs_volley_is_open(c) ||
        hs_hit_mode(c, hs_reason_check(volley->spared_reason)) != HS_MODE_ENFORCE)
        return HS_REASON_OK;
    /* If the claim itself names the body, the checks `life` and `team` reject the claim. */
    if (is_claimed(c, volley->spared) && !hs_hit_aims_at_others(c))
        return HS_REASON_OK;
    hs_report_player(row, volley->spared);
    return volley->spared_reason;
}

/* ---- the only pellet of a weapon ---- */

static enum hs_pellet_outcome outcome_of(enum hs_reason reason)
{
    if (hs_reason_verdict(reason) == HS_VERDICT_INCONCLUSIVE)
        return HS_PELLET_UNKNOWN;
    switch (reason) {
    case HS_REASON_OCCLUDED_WORLD:
        return HS_PELLET_OCCLUDED;
    case HS_REASON_BLOCKED_BY_PLAYER:
        return HS_PELLET_BLOCKED;
    case HS_REASON_NO_INTERSECTION:
    case HS_REASON_WRONG_TARGET:
        return HS_PELLET_MISS;
    default:
        return HS_PELLET_REFUSED;
    }
}

/* Returns the first row that says why the target is not hit, or NULL. Rows of the check `contact`
   count even if this check is not enforced: these rows say whether the pellet touches the
   target. */
static const struct hs_check_row *find_refusal(const struct hs_hit_context *c)
{
    for (uint16_t i = 0; i < c->out->check_count; i++) {
        const struct hs_check_row *row = &c->out->checks[i];
        bool is_about_path = row->check == HS_CHECK_WORLD || row->check == HS_CHECK_CONTACT ||
                             row->check == HS_CHECK_BYSTANDER;
        bool counts = row->mode == HS_MODE_ENFORCE || row->check == HS_CHECK_CONTACT;
        if (counts && row->outcome != HS_OUTCOME_PASS &&
            (hs_reason_is_about_target(row->reason) || row->reason == HS_REASON_SELF_HIT ||
             (is_about_path && row->outcome == HS_OUTCOME_UNKNOWN)))
            return row;
    }
    return NULL;
}

void hs_volley_describe_only(struct hs_hit_context *c)
{
    struct hs_hit_result *out = c->out;
    if (c->listed_pellets == 0 || c->claim->pellet_count > 0 || !c->has_path)
        return;
    out->pellet_count = (uint16_t)c->listed_pellets;
    for (uint16_t i = 1; i < out->pellet_count; i++)
        out->pellets[i] = (struct hs_pellet_result){.outcome = HS_PELLET_REFUSED,
                                                    .reason = HS_REASON_PELLET_COUNT};
    struct hs_pellet_result *only = &out->pellets[0];
    const struct hs_check_row *row = find_refusal(c);
    const struct hs_landed *landed = &c->landed[0];
    *only = (struct hs_pellet_result){.outcome = HS_PELLET_MISS, .reason = HS_REASON_OK};
    if (row != NULL) {
        refuse(only, outcome_of(row->reason), row->reason);
        only->margin = only->outcome == HS_PELLET_MISS ? out->margin : 0;
        if (row->reason == HS_REASON_WRONG_TARGET || row->reason == HS_REASON_BLOCKED_BY_PLAYER)
            only->player = row->player;
    } else if (c->claims_target && c->landed_count > 0 && landed->cause == HS_CAUSE_DIRECT &&
               landed->player == c->target.player) {
        only->outcome = HS_PELLET_HIT;
        only->player = landed->player->name;
        only->zone = c->ruleset->zones[landed->zone].name;
        only->amount = c->weapon->damage * c->weapon->zone_factor[landed->zone] *
                       hs_falloff(c->weapon, landed->distance);
    }
}
