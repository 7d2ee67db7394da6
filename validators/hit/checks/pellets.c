/* pellets: is the number of pellets in the claim at most the number that the weapon fires, and do
   the pellets have the directions expected from the shot? Without expected directions: do all
   pellets fit into one cone of spread? volley.c finds the body that each pellet hits. */
#include "validators/geometry/angle.h"
#include "validators/hit/checks.h"

/* Assigns pellets to expected directions. */
struct matching {
    struct hs_work *work;
    /* Numbers of claimed pellets and of expected directions. */
    size_t pellets, count;
    /* Angle from each pellet to each direction; radians. */
    double off[HS_MAX_PELLETS][HS_MAX_PELLETS];
    /* The pellet that is assigned to each direction; equal to `pellets` if no pellet is
       assigned. */
    size_t owner[HS_MAX_PELLETS];
    bool tried[HS_MAX_PELLETS]; /* directions that were already tried for the current pellet */
};

/* Assigns a pellet to a direction within the tolerance. If all such directions have a pellet, tries
   to move these pellets to other directions (augmenting paths: Kuhn, The Hungarian method for the
   assignment problem, 1955). */
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

/* Assigns each pellet to its own expected direction, in any order, because a claim may omit
   pellets. Returns the largest error in radians. The error of a pellet without a direction
   within the tolerance is the angle to the nearest free direction. */
static double spread_error(struct hs_hit_context *c, const struct hs_vec *expected, size_t count)
{
    struct matching m = {.work = &c->work, .pellets = c->claim->pellet_count, .count = count};
    double tolerance = HS_SPREAD_TOLERANCE_DEG * (HS_PI / 180), worst = 0;
    for (size_t i = 0; i < m.pellets; i++) {
        struct hs_vec direction;
        if (!hs_pellet_direction(c, i, &direction))
            return HS_PI;
        for (size_t k = 0; k < count; k++)
            m.off[i][k] = hs_angle_between(direction, expected[k]);
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

/* Returns the largest angle between two claimed pellets, in radians. Compares chords, because a
   chord is cheaper to compute than an angle, and grows with the angle. */
static double widest_pair(struct hs_hit_context *c)
{
    size_t count = c->claim->pellet_count, widest[2] = {0, 0};
    struct hs_vec directions[HS_MAX_PELLETS];
    double chord = 0;
    hs_work_spend(&c->work, count * count);
    for (size_t i = 0; i < count; i++) {
        if (!hs_pellet_direction(c, i, &directions[i]))
            return 0; /* without a direction, the check `shape` rejects the claim */
        for (size_t k = 0; k < i; k++) {
            struct hs_vec apart = hs_vec_sub(directions[i], directions[k]);
            if (hs_vec_dot(apart, apart) <= chord)
                continue;
            chord = hs_vec_dot(apart, apart);
            widest[0] = k;
            widest[1] = i;
        }
    }
    return hs_angle_between(directions[widest[0]], directions[widest[1]]);
}

enum hs_reason hs_check_pellets(struct hs_hit_context *c, struct hs_check_row *row)
{
    size_t count = c->claim->pellet_count;
    if (c->weapon == NULL || c->listed_pellets == 0)
        return HS_NO_ROW;
    if (count == 0) /* the shot has one path, whose direction the check `binding` compares */
        return hs_report_limit(row, HS_UNIT_COUNTED, (double)c->listed_pellets, 1,
                               HS_REASON_PELLET_COUNT);
    struct hs_vec expected[HS_MAX_PELLETS] = {{0, 0, 0}};
    bool is_too_many = count > (uint64_t)c->weapon->pellets;
    size_t expected_count = is_too_many ? 0 : hs_posted_directions(c, expected);
    double apart = is_too_many || expected_count > 0 ? 0 : hs_degrees(widest_pair(c));
    double limit = 2 * (c->weapon->spread_deg + HS_SPREAD_TOLERANCE_DEG);
    if (apart > limit)
        return hs_report_limit(row, HS_UNIT_DEGREES, apart, limit, HS_REASON_SPREAD_MISMATCH);
    if (expected_count == 0)
        return hs_report_limit(row, HS_UNIT_COUNTED, (double)count, (double)c->weapon->pellets,
                               HS_REASON_PELLET_COUNT);
    /* The work of comparing pellets with directions. place_pellet adds its own work. */
    hs_work_spend(&c->work, count * expected_count * HS_WORK_BALL);
    return hs_report_limit(row, HS_UNIT_DEGREES,
                           hs_degrees(spread_error(c, expected, expected_count)),
                           HS_SPREAD_TOLERANCE_DEG, HS_REASON_SPREAD_MISMATCH);
}
