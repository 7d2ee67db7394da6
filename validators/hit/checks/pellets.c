/*
 * pellets: does the claim have no more pellets than the weapon fires, in the directions that the
 * shot's seed gives? volley.c finds what each of them hits.
 */
#include "validators/geometry/angle.h"
#include "validators/hit/checks.h"
#include "validators/spread.h"

/* Directions may differ by this from the expected ones, because they were rounded to float and to
   text on the way. */
#define SPREAD_TOLERANCE_DEG 0.1

static double to_radians(double degrees)
{
    return degrees * (HS_PI / 180);
}

/* Expected directions of the shot's pellets; 0: the shot did not post any. */
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

/* The assignment of pellets to expected directions. */
struct matching {
    struct hs_work *work;
    size_t pellets, count;                      /* claimed, expected */
    double off[HS_MAX_PELLETS][HS_MAX_PELLETS]; /* angle from a pellet to a direction; radians */
    size_t owner[HS_MAX_PELLETS];               /* pellet of a direction; `pellets`: none yet */
    bool tried[HS_MAX_PELLETS];
};

/* Assigns a pellet to a direction within the tolerance, and reassigns others if that helps
   (augmenting paths: Kuhn, The Hungarian method for the assignment problem, 1955). */
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
 * Assigns each pellet to its own expected direction. A claim may leave pellets out, so their order
 * proves nothing. Returns the largest error in radians. A pellet without a direction within the
 * tolerance is compared with the nearest free direction.
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

enum hs_reason hs_check_pellets(struct hs_hit_context *c, struct hs_check_row *row)
{
    size_t count = c->claim->pellet_count;
    if (c->weapon == NULL || count == 0)
        return HS_NO_ROW;
    struct hs_vec expected[HS_MAX_PELLETS] = {{0, 0, 0}};
    bool is_too_many = count > (uint64_t)c->weapon->pellets;
    size_t expected_count = is_too_many ? 0 : expected_directions(c, expected);
    if (expected_count == 0)
        return hs_report_limit(row, HS_UNIT_COUNTED, (double)count, (double)c->weapon->pellets,
                               HS_REASON_PELLET_COUNT);
    /* Each pellet is compared with each direction. The matching counts its own work. */
    hs_work_spend(&c->work, count * expected_count * HS_WORK_BALL);
    return hs_report_limit(row, HS_UNIT_DEGREES,
                           hs_degrees(spread_error(c, expected, expected_count)),
                           SPREAD_TOLERANCE_DEG, HS_REASON_SPREAD_MISMATCH);
}
