/*
 * pellets: no more than the weapon fires, and spread as the shot's seed spreads them. What each of
 * them hits: volley.c.
 */
#include "validators/geometry/angle.h"
#include "validators/hit/checks.h"
#include "validators/spread.h"

/* Directions may differ by this from the expected ones: they come through floats and wires. */
#define SPREAD_TOLERANCE_DEG 0.1

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

/* Who of the pellets took which expected direction, while they are matched. */
struct matching {
    struct hs_work *work;
    size_t pellets, count;                      /* claimed, expected */
    double off[HS_MAX_PELLETS][HS_MAX_PELLETS]; /* radians, of a pellet from a direction */
    size_t owner[HS_MAX_PELLETS];               /* of a direction; `pellets`: nobody yet */
    bool tried[HS_MAX_PELLETS];
};

/* Gives a pellet a direction within the tolerance, moving others aside where that helps (augmenting
   paths: Kuhn, The Hungarian method for the assignment problem, 1955). */
static bool place_pellet(struct matching *m, size_t pellet, double tolerance)
{
    for (size_t k = 0; k < m->count; k++) {
        if (m->tried[k] || m->off[pellet][k] > tolerance)
            continue;
        m->tried[k] = true;
        hs_work_spend(m->work, m->count / 4);
        if (m->owner[k] == m->pellets || place_pellet(m, m->owner[k], tolerance)) {
            m->owner[k] = pellet;
            return true;
        }
    }
    return false;
}

static double nearest_direction(const struct matching *m, size_t pellet, bool only_free)
{
    double nearest = HS_PI;
    for (size_t k = 0; k < m->count; k++)
        if (m->off[pellet][k] < nearest && !(only_free && m->owner[k] != m->pellets))
            nearest = m->off[pellet][k];
    return nearest;
}

/*
 * Each pellet takes an expected direction that no other takes; a claim may leave pellets out, so
 * places say nothing. Returns the largest error, radians: of a pellet without a direction within
 * the tolerance, from the nearest that is left.
 */
static double spread_error(struct hs_hit_context *c, const struct hs_vec *expected, size_t count)
{
    struct matching m = {.work = &c->work, .pellets = c->claim->pellet_count, .count = count};
    double tolerance = to_radians(SPREAD_TOLERANCE_DEG), worst = 0;
    for (size_t i = 0; i < m.pellets; i++) {
        struct hs_vec along = hs_vec_sub(c->claim->pellets[i].end, c->claim->start);
        double length = hs_vec_length(along);
        if (!(length > 0))
            return HS_PI;
        for (size_t k = 0; k < count; k++)
            m.off[i][k] = hs_angle_between(hs_vec_scale(along, 1 / length), expected[k]);
    }
    for (size_t k = 0; k < count; k++)
        m.owner[k] = m.pellets;
    for (size_t i = 0; i < m.pellets; i++) {
        memset(m.tried, 0, sizeof m.tried);
        bool placed = place_pellet(&m, i, tolerance);
        worst = fmax(worst, nearest_direction(&m, i, !placed));
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
    /* Each pellet is compared with each direction. The matching counts its own work. */
    hs_work_spend(&c->work, count * expected_count * HS_WORK_BALL);
    double error = hs_degrees(spread_error(c, expected, expected_count));
    struct hs_check_row *row = error <= SPREAD_TOLERANCE_DEG
                                   ? hs_report_pass(c, HS_CHECK_PELLETS)
                                   : hs_report_fail(c, HS_CHECK_PELLETS, HS_REASON_SPREAD_MISMATCH);
    hs_report_measure(row, HS_UNIT_DEGREES, error, SPREAD_TOLERANCE_DEG);
}
