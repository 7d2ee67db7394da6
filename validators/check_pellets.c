/*
 * pellets: no more than the weapon fires, and spread as the shot's seed spreads them.
 * contact and bystander for many pellets: each on its own, once; one that lands is enough.
 */
#include <float.h>

#include "angle.h"
#include "encounter.h"
#include "hit_context.h"
#include "spread.h"

/* Directions may differ by this from the expected ones: they come through floats and wires. */
#define SPREAD_TOLERANCE_DEG 0.1

/* ---- number and spread ---- */

static double to_radians(double degrees)
{
    return degrees * (HS_PI / 180);
}

/* Expected directions of the shot's pellets; 0 when the shot said nothing about them. */
static size_t expected_directions(const struct hs_hit_context *c, struct hs_vec out[HS_MAX_PELLETS])
{
    const struct hs_posted_shot *shot = c->posted != NULL ? c->posted->shot : NULL;
    if (shot == NULL)
        return 0;
    if (shot->direction_count > 0) {
        memcpy(out, shot->directions, shot->direction_count * sizeof out[0]);
        return shot->direction_count;
    }
    if (!shot->has_seed || !shot->has_direction)
        return 0;
    for (uint32_t i = 0; i < (uint32_t)c->weapon->pellets; i++)
        out[i] =
            hs_spread_direction(shot->direction, to_radians(c->weapon->spread_deg), shot->seed, i);
    return (size_t)c->weapon->pellets;
}

/*
 * Each pellet takes the nearest expected direction that no other has taken; a claim may leave
 * pellets out, so places say nothing. Returns the largest error, radians.
 */
static double spread_error(const struct hs_hit_context *c, const struct hs_vec *expected,
                           size_t count)
{
    bool taken[HS_MAX_PELLETS] = {false};
    double worst = 0;
    for (size_t i = 0; i < c->claim->pellet_count; i++) {
        struct hs_vec along = hs_vec_sub(c->claim->pellets[i].end, c->claim->start);
        double length = hs_vec_length(along), nearest = HS_PI;
        size_t best = count;
        if (!(length > 0))
            return HS_PI;
        for (size_t k = 0; k < count; k++) {
            double off = hs_angle_between(hs_vec_scale(along, 1 / length), expected[k]);
            if (!taken[k] && (best == count || off < nearest)) {
                nearest = off;
                best = k;
            }
        }
        if (best < count)
            taken[best] = true;
        worst = nearest > worst ? nearest : worst;
    }
    return worst;
}

void hs_check_pellets(struct hs_hit_context *c)
{
    if (c->weapon == NULL || c->claim->pellet_count == 0)
        return;
    size_t count = c->claim->pellet_count;
    if (count > (uint64_t)c->weapon->pellets) {
        hs_report_measure(hs_report_fail(c, HS_CHECK_PELLETS, HS_REASON_PELLET_COUNT),
                          HS_UNIT_COUNTED, (double)count, (double)c->weapon->pellets);
        return;
    }
    struct hs_vec expected[HS_MAX_PELLETS] = {{0, 0, 0}};
    size_t expected_count = expected_directions(c, expected);
    if (expected_count == 0) {
        hs_report_measure(hs_report_pass(c, HS_CHECK_PELLETS), HS_UNIT_COUNTED, (double)count,
                          (double)c->weapon->pellets);
        return;
    }
    double error = hs_degrees(spread_error(c, expected, expected_count));
    struct hs_check_row *row = error <= SPREAD_TOLERANCE_DEG
                                   ? hs_report_pass(c, HS_CHECK_PELLETS)
                                   : hs_report_fail(c, HS_CHECK_PELLETS, HS_REASON_SPREAD_MISMATCH);
    hs_report_measure(row, HS_UNIT_DEGREES, error, SPREAD_TOLERANCE_DEG);
}

/* ---- contact ---- */

/* What came of all pellets. */
struct volley {
    bool landed;
    const struct hs_player *blocker; /* of the first blocked pellet */
    enum hs_reason missing;          /* of the first pellet without a pose */
    bool is_missing;
    double margin; /* smallest of the missed ones */
    bool has_margin;
};

static void judge_encounter(struct hs_hit_context *c, const struct hs_view *view,
                            const struct hs_encounter *e, struct volley *volley,
                            struct hs_pellet_result *out)
{
    if (e->target.gap == DBL_MAX) { /* not one hitbox had a place then */
        out->outcome = HS_PELLET_UNKNOWN;
        out->reason = volley->missing = HS_REASON_LOW_CONFIDENCE_GAP;
        volley->is_missing = true;
        return;
    }
    if (!e->target.touched) {
        out->outcome = HS_PELLET_MISS;
        out->reason = e->met_count > 0 ? HS_REASON_WRONG_TARGET : HS_REASON_NO_INTERSECTION;
        out->margin = e->target.gap;
        volley->margin = volley->has_margin ? fmin(volley->margin, out->margin) : out->margin;
        volley->has_margin = true;
    } else if (hs_encounter_is_blocked(c, e)) {
        out->outcome = HS_PELLET_BLOCKED;
        out->reason = HS_REASON_BLOCKED_BY_PLAYER;
        volley->blocker = e->met[0].player;
    } else {
        const struct hs_hitbox *box = &e->target.rig->hitboxes[e->target.hitbox];
        out->outcome = HS_PELLET_HIT;
        out->player = view->player->name;
        out->zone = c->ruleset->zones[box->zone].name;
        out->amount = c->weapon == NULL ? 0
                                        : c->weapon->damage * c->weapon->zone_factor[box->zone] *
                                              hs_falloff(c->weapon, e->target.detail.distance);
        hs_land_direct(c, view, &e->target, 1);
        if (!volley->landed)
            hs_describe_impact(c, view->player, &e->target);
        volley->landed = true;
        return;
    }
    if (e->met_count > 0)
        out->player = e->met[0].player->name;
}

static void judge_pellet(struct hs_hit_context *c, const struct hs_pellet_claim *pellet,
                         struct volley *volley, struct hs_pellet_result *out)
{
    struct hs_str name = pellet->target.ptr != NULL ? pellet->target : c->claim->target;
    struct hs_view view = {0};
    *out = (struct hs_pellet_result){.outcome = HS_PELLET_MISS, .reason = HS_REASON_OK};
    if (name.ptr == NULL)
        return; /* claims nobody */
    hs_look(c, name, c->hit_time_us, &view);
    enum hs_reason reason = hs_judge_victim(c, &view, name);
    if (reason != HS_REASON_OK) {
        bool missing = hs_reason_verdict(reason) == HS_VERDICT_INCONCLUSIVE;
        out->outcome = missing ? HS_PELLET_UNKNOWN : HS_PELLET_REFUSED;
        out->reason = reason;
        if (missing && !volley->is_missing)
            volley->missing = reason;
        volley->is_missing = volley->is_missing || missing;
        return;
    }
    struct hs_path path;
    struct hs_encounter e;
    hs_path_trace(c->claim->start, pellet->end, c->path.radius, c->path.extension, c->hit_time_us,
                  &path);
    hs_encounter_find(c, &path, view.player, &e);
    judge_encounter(c, &view, &e, volley, out);
}

void hs_check_pellet_contact(struct hs_hit_context *c)
{
    struct volley volley = {0};
    for (size_t i = 0; i < c->claim->pellet_count; i++)
        judge_pellet(c, &c->claim->pellets[i], &volley, &c->out->pellets[c->out->pellet_count++]);
    if (volley.landed) {
        hs_report_pass(c, HS_CHECK_CONTACT);
        hs_report_pass(c, HS_CHECK_BYSTANDER);
        return;
    }
    c->out->has_margin = volley.has_margin;
    c->out->margin = volley.margin;
    if (volley.blocker != NULL) {
        hs_report_pass(c, HS_CHECK_CONTACT);
        hs_report_player(hs_report_fail(c, HS_CHECK_BYSTANDER, HS_REASON_BLOCKED_BY_PLAYER),
                         volley.blocker);
    } else if (volley.is_missing) {
        hs_report_unknown(c, HS_CHECK_CONTACT, volley.missing);
    } else if (volley.has_margin) {
        hs_report_measure(hs_report_fail(c, HS_CHECK_CONTACT, HS_REASON_NO_INTERSECTION),
                          HS_UNIT_LENGTH, volley.margin, 0);
    } else {
        hs_report_pass(c, HS_CHECK_CONTACT); /* nobody was claimed, or team and life say no */
    }
}
