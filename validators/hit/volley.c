#include "validators/hit/volley.h"

#include <float.h>

static void note_missing(struct hs_volley *volley, enum hs_reason reason,
                         const struct hs_view *view)
{
    if (!volley->is_missing) {
        volley->missing = reason;
        volley->missing_view = *view;
    }
    volley->is_missing = true;
}

/* The first in doubt is kept, else the first that surely stands in the way: as long as one pellet
   may have landed, nothing is sure of all. */
static void note_obstacle(struct hs_volley *volley, const struct hs_encounter *e)
{
    bool in_doubt = !e->is_occluded;
    if (!volley->is_doubtful && (in_doubt || !volley->is_occluded)) {
        volley->obstacle = e->obstacle;
        volley->needed = e->needed;
    }
    volley->is_occluded = volley->is_occluded || e->is_occluded;
    volley->is_doubtful = volley->is_doubtful || in_doubt;
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
    hs_land_direct(c, view, &e->target, 1);
    if (volley->landed == 0)
        hs_describe_impact(c, view->player, &e->target);
    volley->landed++;
    if (!e->is_occluded && !e->is_doubtful)
        volley->free++;
}

static void judge_encounter(struct hs_hit_context *c, const struct hs_view *view,
                            const struct hs_encounter *e, struct hs_volley *volley,
                            struct hs_pellet_result *out)
{
    bool enforced = hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_ENFORCE;
    bool blocked = e->target.touched && !e->is_occluded && hs_encounter_is_blocked(c, e);
    if (e->target.touched && !blocked && (e->is_occluded || e->is_doubtful))
        note_obstacle(volley, e);
    if (e->target.gap == DBL_MAX) { /* not one hitbox had a place then */
        out->outcome = HS_PELLET_UNKNOWN;
        out->reason = HS_REASON_LOW_CONFIDENCE_GAP;
        note_missing(volley, out->reason, view);
        return;
    }
    if (!e->target.touched) {
        out->outcome = HS_PELLET_MISS;
        out->reason = e->met_count > 0 ? HS_REASON_WRONG_TARGET : HS_REASON_NO_INTERSECTION;
        out->margin = e->target.gap;
        volley->margin = volley->has_margin ? fmin(volley->margin, out->margin) : out->margin;
        volley->has_margin = true;
    } else if (e->is_occluded && enforced) {
        out->outcome = HS_PELLET_OCCLUDED;
        out->reason = HS_REASON_OCCLUDED_WORLD;
        if (!c->out->impact.present)
            hs_describe_obstacle(c, &e->obstacle);
        return;
    } else if (hs_encounter_is_blocked(c, e)) {
        out->outcome = HS_PELLET_BLOCKED;
        out->reason = HS_REASON_BLOCKED_BY_PLAYER;
        volley->blocker = e->met[0].player;
    } else if (e->is_doubtful && enforced) {
        out->outcome = HS_PELLET_UNKNOWN;
        out->reason = hs_doubt_reason(&e->obstacle);
        return;
    } else {
        land(c, view, e, volley, out);
        return;
    }
    if (e->met_count > 0)
        out->player = e->met[0].player->name;
}

static void judge_pellet(struct hs_hit_context *c, const struct hs_pellet_claim *pellet,
                         struct hs_volley *volley, struct hs_pellet_result *out)
{
    struct hs_str name = pellet->target.ptr != NULL ? pellet->target : c->claim->target;
    struct hs_view view = {0};
    *out = (struct hs_pellet_result){.outcome = HS_PELLET_MISS, .reason = HS_REASON_OK};
    if (name.ptr == NULL)
        return; /* claims nobody */
    hs_work_spend(&c->work, HS_WORK_LOOK);
    hs_look(c, name, c->hit_time_us, &view);
    enum hs_reason reason = hs_judge_victim(c, &view, name);
    if (reason != HS_REASON_OK) {
        bool missing = hs_reason_verdict(reason) == HS_VERDICT_INCONCLUSIVE;
        out->outcome = missing ? HS_PELLET_UNKNOWN : HS_PELLET_REFUSED;
        out->reason = reason;
        if (missing)
            note_missing(volley, reason, &view);
        return;
    }
    struct hs_path path;
    struct hs_encounter e;
    hs_path_trace(c->claim->start, pellet->end, c->path.radius, c->path.extension, c->hit_time_us,
                  &path);
    hs_encounter_find(c, &path, view.player, &e);
    judge_encounter(c, &view, &e, volley, out);
}

void hs_volley_find(struct hs_hit_context *c, struct hs_volley *out)
{
    size_t fired = c->weapon != NULL ? (size_t)c->weapon->pellets : HS_MAX_PELLETS;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < c->claim->pellet_count && !hs_work_is_over(&c->work); i++) {
        struct hs_pellet_result *result = &c->out->pellets[c->out->pellet_count++];
        if (i < fired)
            judge_pellet(c, &c->claim->pellets[i], out, result);
        else
            *result = (struct hs_pellet_result){.outcome = HS_PELLET_REFUSED,
                                                .reason = HS_REASON_PELLET_COUNT};
    }
    c->out->has_margin = out->landed == 0 && out->has_margin;
    c->out->margin = c->out->has_margin ? out->margin : 0;
}
