#include "validators/world/blockers.h"

#include <float.h>
#include <string.h>

/* ---- one mover on one leg ---- */

static const struct hs_vec still = {0, 0, 0};

/* Returns whether the leg certainly misses a ball with the radius `reach`. The centre of the ball
   is at `center` when the leg starts, and moves by `motion` during the leg. */
static bool is_far(const struct hs_leg *leg, struct hs_vec center, double reach,
                   struct hs_vec motion, double slack)
{
    const struct hs_sweep *sweep = &leg->sweep;
    struct hs_vec from = hs_vec_sub(sweep->start, center);
    struct hs_vec travel = hs_vec_sub(hs_vec_scale(sweep->direction, sweep->length), motion);
    return hs_segment_distance(from, travel) > reach + sweep->radius + slack;
}

static double slack_of(const struct hs_leg *leg, double reach)
{
    return 4 * HS_TOUCH_SLACK * (leg->sweep.length + leg->sweep.radius + reach);
}

static bool touches(const struct hs_leg *leg, const struct hs_mover_pose *pose,
                    struct hs_vec motion, struct hs_sweep_contact *out)
{
    if (!pose->is_solid ||
        is_far(leg, pose->solid.center, pose->reach, motion, slack_of(leg, pose->reach)))
        return false;
    struct hs_sweep relative = hs_leg_relative(leg, motion);
    hs_sweep_solid(&relative, &pose->solid, out);
    if (out->touched)
        hs_leg_to_world(leg, &relative, motion, out);
    return out->touched;
}

/* Records a contact with an unknown mover if it is the first such contact on the path. */
static void record_unknown(const struct hs_mover *mover, const struct hs_sweep_contact *contact,
                           enum hs_rewind_status status, struct hs_obstacle *out)
{
    if (out->is_unknown && out->unknown_distance <= contact->distance)
        return;
    out->is_unknown = true;
    out->unknown_distance = contact->distance;
    out->unknown_status = status;
    out->unknown_mover = mover;
}

/* Tests a mover that has no pose at the time of the leg. If the mover's newest pose is in the way,
   the mover may be an obstacle. */
static void try_unknown_mover(const struct hs_leg *leg, const struct hs_mover *mover,
                              enum hs_rewind_status status, struct hs_obstacle *out)
{
    struct hs_mover_pose pose;
    struct hs_sweep_contact contact;
    if (hs_mover_newest(mover, &pose) && touches(leg, &pose, still, &contact))
        record_unknown(mover, &contact, status, out);
}

/* Returns whether the leg may touch the mover. Returns false if the leg misses a ball around the
   mover's box. */
static bool is_near(const struct hs_leg *leg, const struct hs_mover *mover,
                    const struct hs_bracket *start)
{
    struct hs_vec center;
    double reach;
    hs_mover_ball(mover, start, &center, &reach);
    return !is_far(leg, center, reach, still, slack_of(leg, reach));
}

/* Finds the mover's bracket at the start of a leg. If the leg starts at the end of the samples or
   at the beginning of a gap, the mover has a pose at the start of the leg, but not during the leg.
   So the status is taken from the time 1 us after the start. */
static enum hs_rewind_status find_on_leg(const struct hs_leg *leg, const struct hs_mover *mover,
                                         const struct hs_ruleset *ruleset, struct hs_bracket *out)
{
    if (leg->end_us - leg->start_us < 2)
        return hs_rewind_find(mover->history, ruleset, leg->start_us, out);
    enum hs_rewind_status status = hs_rewind_find(mover->history, ruleset, leg->start_us + 1, out);
    if (status == HS_REWIND_OK && out->to != out->from)
        hs_mover_later(mover, ruleset, out, leg->start_us, out);
    return status;
}

/* Tests a mover on a leg. The mover must have no sample at a time within the leg, so that its
   movement is straight. */
static void try_mover(struct hs_blockers *s, const struct hs_leg *leg, const struct hs_mover *mover,
                      struct hs_obstacle *out)
{
    struct hs_bracket start, end;
    hs_work_spend(s->work, HS_WORK_LEG + HS_WORK_SWEEP);
    enum hs_rewind_status status = find_on_leg(leg, mover, s->ruleset, &start);
    if (status != HS_REWIND_OK) {
        s->is_mover_unknown = true;
        try_unknown_mover(leg, mover, status, out);
        return;
    }
    const struct hs_mover_state *state = hs_mover_state_at(mover, &start);
    if (!state->is_solid)
        return;
    struct hs_mover_pose pose, later;
    struct hs_vec motion = still;
    bool moves =
        leg->end_us > leg->start_us && hs_mover_later(mover, s->ruleset, &start, leg->end_us, &end);
    if (!moves && !is_near(leg, mover, &start))
        return;
    hs_mover_place(mover, &start, &pose);
    if (moves) {
        hs_mover_place(mover, &end, &later);
        motion = hs_vec_sub(later.solid.center, pose.solid.center);
    }
    struct hs_sweep_contact contact;
    if (!touches(leg, &pose, motion, &contact))
        return;
    if (state->is_stale) {
        /* The mover was solid before a restart, but may no longer be solid. */
        s->is_mover_unknown = true;
        record_unknown(mover, &contact, HS_REWIND_TOO_SHORT, out);
        return;
    }
    if (out->touched && out->contact.distance <= contact.distance)
        return;
    out->touched = true;
    out->contact = contact;
    out->mover = mover;
}

/* Tests one mover on a leg. Cuts the leg at the times of the mover's samples. */
static void try_leg(struct hs_blockers *s, const struct hs_leg *whole, const struct hs_mover *mover,
                    struct hs_obstacle *out)
{
    struct hs_leg leg = *whole, rest;
    while (!hs_work_is_over(s->work) &&
           hs_leg_cut(&leg, hs_mover_next_change(mover, s->ruleset, leg.start_us), &rest)) {
        try_mover(s, &leg, mover, out);
        leg = rest;
    }
    try_mover(s, &leg, mover, out);
}

/* ---- which movers are near ---- */

/* A box around a part of a path. */
struct extent {
    struct hs_vec low, high;
};

static void cover_point(struct extent *extent, struct hs_vec p)
{
    extent->low = (struct hs_vec){fmin(extent->low.x, p.x), fmin(extent->low.y, p.y),
                                  fmin(extent->low.z, p.z)};
    extent->high = (struct hs_vec){fmax(extent->high.x, p.x), fmax(extent->high.y, p.y),
                                   fmax(extent->high.z, p.z)};
}

static void cover_leg(struct extent *extent, const struct hs_leg *leg)
{
    const struct hs_sweep *s = &leg->sweep;
    cover_point(extent, s->start);
    cover_point(extent, hs_vec_add_scaled(s->start, s->direction, s->length));
}

static const struct extent nothing = {{DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};

static double size_of(struct hs_vec v)
{
    return fabs(v.x) + fabs(v.y) + fabs(v.z);
}

/* Returns the largest distance between a sphere's path and a mover's bounds at which the sphere may
   touch the mover. This distance is the sum of the sphere's radius, the touch slack and the
   rounding errors. The slack grows with the length of the path relative to the mover, and so with
   the size of the bounds. */
static double margin_of(const struct extent *around, double length, double radius)
{
    double moves = size_of(hs_vec_sub(around->high, around->low));
    double rounding = 1e-12 * (size_of(around->low) + size_of(around->high));
    return radius + 4 * HS_TOUCH_SLACK * (length + radius + moves) + rounding;
}

static bool is_apart(const struct extent *extent, const struct extent *around, double margin)
{
    const struct hs_vec *low = &around->low, *high = &around->high;
    return extent->low.x > high->x + margin || extent->high.x < low->x - margin ||
           extent->low.y > high->y + margin || extent->high.y < low->y - margin ||
           extent->low.z > high->z + margin || extent->high.z < low->z - margin;
}

/* Returns whether a leg misses the ball around the box `around`. For a long leg, this test excludes
   more movers than is_apart, because most of the box around a long leg is far from the leg. */
static bool passes_by(const struct hs_leg *leg, const struct extent *around, double margin)
{
    struct hs_vec middle = hs_vec_lerp(around->low, around->high, 0.5);
    return is_far(leg, middle, hs_vec_distance(middle, around->high), still, margin);
}

/* Sets is_mover_unknown if a mover has no pose at `from_us` or at `to_us`. Used also for movers
   that are far from the path. */
static void flag_distant(struct hs_blockers *s, const struct hs_mover *mover, int64_t from_us,
                         int64_t to_us)
{
    struct hs_bracket unused;
    hs_work_spend(s->work, UINT64_C(2) * HS_WORK_PASS);
    if (hs_mover_is_placed(mover, s->ruleset, from_us, to_us))
        return;
    hs_work_spend(s->work, HS_WORK_LEG);
    if (hs_rewind_find(mover->history, s->ruleset, from_us, &unused) != HS_REWIND_OK ||
        hs_rewind_find(mover->history, s->ruleset, to_us, &unused) != HS_REWIND_OK)
        s->is_mover_unknown = true;
}

/* Tests all movers on a leg. If `any` is true, stops when any contact is found. */
static void try_movers_on_leg(struct hs_blockers *s, const struct hs_leg *leg, bool any,
                              struct hs_obstacle *out)
{
    const struct hs_movers *movers = s->movers;
    struct extent extent = nothing;
    cover_leg(&extent, leg);
    for (uint32_t i = 0; i < movers->count && !(any && out->touched) && !hs_work_is_over(s->work);
         i++) {
        const struct hs_mover *mover = &movers->all[i];
        if (mover == s->without)
            continue;
        hs_work_spend(s->work, HS_WORK_PASS);
        struct extent around;
        hs_mover_surroundings(mover, &around.low, &around.high);
        double margin = margin_of(&around, leg->sweep.length, leg->sweep.radius);
        if (is_apart(&extent, &around, margin) || passes_by(leg, &around, margin))
            flag_distant(s, mover, leg->start_us, leg->end_us);
        else
            try_leg(s, leg, mover, out);
    }
}

enum { CHUNK = 16, CHUNKS = HS_MAX_LEGS / CHUNK + 1 };

/* The first `legs` legs of a path. `whole` is a box around all these legs. Each element of `chunks`
   is a box around CHUNK consecutive legs. */
struct stretch {
    uint32_t legs;
    int64_t start_us, end_us;
    double length, radius;
    struct extent whole, chunks[CHUNKS];
};

static void measure(const struct hs_path *path, uint32_t legs, double radius, struct stretch *out)
{
    struct hs_leg leg;
    *out = (struct stretch){
        .legs = legs, .start_us = path->start_us, .radius = radius, .whole = nothing};
    for (uint32_t i = 0; i < legs; i++) {
        struct extent *chunk = &out->chunks[i / CHUNK];
        if (i % CHUNK == 0)
            *chunk = nothing;
        hs_path_leg(path, i, &leg);
        cover_leg(chunk, &leg);
        cover_leg(&out->whole, &leg);
        out->length = fmax(out->length, leg.sweep.length);
        out->end_us = leg.end_us;
    }
}

/* Tests one mover on the legs of a stretch, up to the nearest contact so far. */
static void try_stretch(struct hs_blockers *s, const struct hs_path *path,
                        const struct stretch *stretch, const struct hs_mover *mover,
                        struct hs_obstacle *out)
{
    struct extent around;
    hs_mover_surroundings(mover, &around.low, &around.high);
    double margin = margin_of(&around, stretch->length, stretch->radius);
    flag_distant(s, mover, stretch->start_us, stretch->end_us);
    if (is_apart(&stretch->whole, &around, margin))
        return;
    for (uint32_t first = 0; first < stretch->legs; first += CHUNK) {
        uint32_t end = first + CHUNK < stretch->legs ? first + CHUNK : stretch->legs;
        hs_work_spend(s->work, HS_WORK_PASS);
        if (is_apart(&stretch->chunks[first / CHUNK], &around, margin))
            continue;
        hs_work_spend(s->work, UINT64_C(1) * CHUNK * HS_WORK_CAST);
        for (uint32_t i = first; i < end; i++) {
            struct hs_leg leg;
            hs_path_leg(path, i, &leg);
            leg.sweep.radius = stretch->radius;
            if (out->touched && out->contact.distance < leg.travelled)
                return;
            if (!passes_by(&leg, &around, margin))
                try_leg(s, &leg, mover, out);
        }
    }
}

static void try_map(struct hs_blockers *s, const struct hs_leg *leg, struct hs_obstacle *out)
{
    struct hs_world_contact contact;
    hs_work_spend(s->work, HS_WORK_CAST);
    if (s->world == NULL || !hs_world_sweep_within(s->world, &leg->sweep, s->work, &contact))
        return;
    out->touched = true;
    out->mover = NULL;
    out->contact = (struct hs_sweep_contact){.touched = true,
                                             .distance = leg->travelled + contact.distance,
                                             .center = contact.center,
                                             .point = contact.point,
                                             .normal = contact.normal};
}

/* ---- paths and lines ---- */

static bool is_open(const struct hs_blockers *s)
{
    return s->world == NULL && s->movers->count == 0;
}

/* Clears is_unknown if the contact comes before the unknown mover, because the result then does not
   depend on that mover. */
static void settle_unknown(struct hs_obstacle *out)
{
    if (out->touched && out->is_unknown && out->unknown_distance >= out->contact.distance)
        out->is_unknown = false;
}

/* Sweeps a sphere along the path. First finds the contact with the map, and then tests the movers
   up to this contact. */
static void cast(struct hs_blockers *s, const struct hs_path *path, double radius,
                 struct hs_obstacle *out)
{
    const struct hs_movers *movers = s->movers;
    memset(out, 0, sizeof *out);
    out->radius = radius;
    uint32_t legs = hs_path_legs(path), reached = 0;
    struct hs_leg leg;
    while (reached < legs && !out->touched && !hs_work_is_over(s->work)) {
        hs_path_leg(path, reached++, &leg);
        leg.sweep.radius = radius;
        try_map(s, &leg, out);
    }
    if (reached == 0)
        return; /* the work limit was already exceeded, so no leg was tested */
    if (legs == 1) {
        try_movers_on_leg(s, &leg, false, out);
    } else if (movers->count > 0) {
        struct stretch stretch;
        hs_work_spend(s->work, (uint64_t)reached * HS_WORK_CAST);
        measure(path, reached, radius, &stretch);
        for (uint32_t i = 0; i < movers->count && !hs_work_is_over(s->work); i++)
            try_stretch(s, path, &stretch, &movers->all[i], out);
    }
    settle_unknown(out);
}

void hs_blockers_find(struct hs_blockers *s, const struct hs_path *path, double radius,
                      struct hs_obstacle *out)
{
    out->touched = out->is_unknown = false;
    out->radius = radius;
    if (is_open(s))
        return;
    cast(s, path, radius, out);
    bool starts_inside = (out->touched && out->contact.distance <= 0) ||
                         (out->is_unknown && out->unknown_distance <= 0);
    if (starts_inside && radius > 0)
        cast(s, path, 0, out);
}

void hs_blockers_between(struct hs_blockers *s, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, enum hs_obstacle_scope scope, struct hs_obstacle *out)
{
    struct hs_vec along = hs_vec_sub(to, from);
    double length = hs_vec_length(along);
    memset(out, 0, sizeof *out);
    if (is_open(s) || !(length > 0))
        return;
    struct hs_sweep sweep = {.start = from, .direction = hs_vec_scale(along, 1 / length)};
    sweep.length = length;
    const struct hs_leg leg = {.sweep = sweep, .start_us = time_us, .end_us = time_us};
    try_map(s, &leg, out);
    if (scope != HS_NEAREST_OF_MAP)
        try_movers_on_leg(s, &leg, scope == HS_ANY, out);
    settle_unknown(out);
}

static struct hs_leg leg_of(const struct hs_sweep *sweep, int64_t time_us)
{
    return (struct hs_leg){.sweep = *sweep, .start_us = time_us, .end_us = time_us};
}

void hs_blockers_sweep_map(struct hs_blockers *s, const struct hs_sweep *sweep,
                           struct hs_obstacle *out)
{
    const struct hs_leg leg = leg_of(sweep, 0);
    memset(out, 0, sizeof *out);
    try_map(s, &leg, out);
}

void hs_blockers_sweep_movers(struct hs_blockers *s, const struct hs_sweep *sweep, int64_t time_us,
                              struct hs_obstacle *out)
{
    const struct hs_leg leg = leg_of(sweep, time_us);
    memset(out, 0, sizeof *out);
    try_movers_on_leg(s, &leg, false, out);
    settle_unknown(out);
}
