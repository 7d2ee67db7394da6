#include "validators/hit/obstacle.h"
#include "validators/hit/report.h"

#include <float.h>

/* ---- one mover on one leg ---- */

/* The box cannot be touched on this leg, however it moves by `motion` meanwhile. */
static bool is_far(const struct hs_leg *leg, const struct hs_mover_pose *pose, struct hs_vec motion,
                   double slack)
{
    const struct hs_sweep *sweep = &leg->sweep;
    struct hs_vec from = hs_vec_sub(sweep->start, pose->solid.center);
    struct hs_vec travel = hs_vec_sub(hs_vec_scale(sweep->direction, sweep->length), motion);
    double squared = hs_vec_dot(travel, travel);
    double s = squared > 0 ? -hs_vec_dot(from, travel) / squared : 0;
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    double nearest = hs_vec_length(hs_vec_add_scaled(from, travel, s));
    return nearest > pose->reach + sweep->radius + slack;
}

static bool touches(const struct hs_leg *leg, const struct hs_mover_pose *pose,
                    struct hs_vec motion, struct hs_sweep_contact *out)
{
    double slack = 4 * HS_TOUCH_SLACK * (leg->sweep.length + leg->sweep.radius + pose->reach);
    if (!pose->is_solid || is_far(leg, pose, motion, slack))
        return false;
    struct hs_sweep relative = hs_leg_relative(leg, motion);
    hs_sweep_solid(&relative, &pose->solid, out);
    if (out->touched)
        hs_leg_to_world(leg, &relative, motion, out);
    return out->touched;
}

/* The first mover on the way of which it is not known whether it is there. */
static void note_doubt(const struct hs_mover *mover, const struct hs_sweep_contact *contact,
                       enum hs_rewind_status status, struct hs_obstacle *out)
{
    if (out->is_doubtful && out->doubt_distance <= contact->distance)
        return;
    out->is_doubtful = true;
    out->doubt_distance = contact->distance;
    out->doubt = status;
    out->doubt_mover = mover;
}

/* A mover without a place then: would it be in the way as it stands now? */
static void doubt_mover(const struct hs_leg *leg, const struct hs_mover *mover,
                        enum hs_rewind_status status, struct hs_obstacle *out)
{
    struct hs_mover_pose pose;
    struct hs_sweep_contact contact;
    if (hs_mover_newest(mover, &pose) && touches(leg, &pose, (struct hs_vec){0, 0, 0}, &contact))
        note_doubt(mover, &contact, status, out);
}

/* Box and path apart, by a ball around the one and the whole of the other. */
static bool is_near(const struct hs_leg *leg, const struct hs_mover *mover,
                    const struct hs_bracket *start, struct hs_vec motion)
{
    struct hs_mover_pose ball = {.is_solid = true};
    hs_mover_ball(mover, start, &ball.solid.center, &ball.reach);
    double slack = 4 * HS_TOUCH_SLACK * (leg->sweep.length + leg->sweep.radius + ball.reach);
    return !is_far(leg, &ball, motion, slack);
}

/*
 * The mover at the start of a leg, as it is within the leg: one that is lost from sight at a sample
 * has a place there, and none after it.
 */
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

/* A leg with no sample of the mover inside: it moves straight. */
static void try_mover(struct hs_hit_context *c, const struct hs_leg *leg,
                      const struct hs_mover *mover, struct hs_obstacle *out)
{
    struct hs_bracket start, end;
    hs_work_spend(&c->work, HS_WORK_LEG + HS_WORK_SWEEP);
    enum hs_rewind_status status = find_on_leg(leg, mover, c->ruleset, &start);
    if (status != HS_REWIND_OK) {
        c->out->flags |= 1u << HS_FLAG_MOVER_UNKNOWN;
        doubt_mover(leg, mover, status, out);
        return;
    }
    const struct hs_mover_state *state = hs_mover_state_at(mover, &start);
    if (!state->is_solid)
        return;
    struct hs_mover_pose pose, later;
    struct hs_vec motion = {0, 0, 0};
    if (leg->end_us > leg->start_us &&
        hs_mover_later(mover, c->ruleset, &start, leg->end_us, &end)) {
        hs_mover_place(mover, &start, &pose);
        hs_mover_place(mover, &end, &later);
        motion = hs_vec_sub(later.solid.center, pose.solid.center);
    } else {
        if (!is_near(leg, mover, &start, motion))
            return;
        hs_mover_place(mover, &start, &pose);
    }
    struct hs_sweep_contact contact;
    if (!touches(leg, &pose, motion, &contact))
        return;
    if (state->is_stale) {
        /* It was solid before a restart; a door may have opened since. */
        c->out->flags |= 1u << HS_FLAG_MOVER_UNKNOWN;
        note_doubt(mover, &contact, HS_REWIND_TOO_SHORT, out);
        return;
    }
    if (out->touched && out->contact.distance <= contact.distance)
        return;
    out->touched = true;
    out->contact = contact;
    out->mover = mover;
}

/* The leg, cut at the mover's samples. */
static void try_leg(struct hs_hit_context *c, const struct hs_leg *whole,
                    const struct hs_mover *mover, struct hs_obstacle *out)
{
    struct hs_leg leg = *whole, rest;
    while (!hs_work_is_over(&c->work) &&
           hs_leg_cut(&leg, hs_mover_next_change(mover, c->ruleset, leg.start_us), &rest)) {
        try_mover(c, &leg, mover, out);
        leg = rest;
    }
    try_mover(c, &leg, mover, out);
}

/* ---- which movers are near ---- */

/* What is around a part of a path. */
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

/*
 * How far from its way a sphere may touch a mover: its radius, the slack over a way that the
 * mover's own movement makes longer, and rounding.
 */
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

/* A long leg goes by far more than its extent touches: the ball around the box decides. */
static bool passes_by(const struct hs_leg *leg, const struct extent *around, double margin)
{
    struct hs_vec middle = hs_vec_lerp(around->low, around->high, 0.5);
    struct hs_mover_pose ball = {.solid = {.center = middle},
                                 .reach = hs_vec_distance(middle, around->high)};
    return is_far(leg, &ball, (struct hs_vec){0, 0, 0}, margin);
}

/* What is told of a mover that is nowhere near the path: whether anybody knew where it was. */
static void note_distant(struct hs_hit_context *c, const struct hs_mover *mover, int64_t from_us,
                         int64_t to_us)
{
    struct hs_bracket unused;
    hs_work_spend(&c->work, UINT64_C(2) * HS_WORK_PASS);
    if (hs_mover_is_placed(mover, c->ruleset, from_us, to_us))
        return;
    hs_work_spend(&c->work, HS_WORK_LEG);
    if (hs_rewind_find(mover->history, c->ruleset, from_us, &unused) != HS_REWIND_OK ||
        hs_rewind_find(mover->history, c->ruleset, to_us, &unused) != HS_REWIND_OK)
        c->out->flags |= 1u << HS_FLAG_MOVER_UNKNOWN;
}

/* With `any` the first found will do. */
static void try_movers_on_leg(struct hs_hit_context *c, const struct hs_leg *leg, bool any,
                              struct hs_obstacle *out)
{
    const struct hs_movers *movers = &c->match->movers;
    struct extent extent = nothing;
    cover_leg(&extent, leg);
    for (uint32_t i = 0; i < movers->count && !(any && out->touched) && !hs_work_is_over(&c->work);
         i++) {
        const struct hs_mover *mover = &movers->all[i];
        hs_work_spend(&c->work, HS_WORK_PASS);
        struct extent around;
        hs_mover_surroundings(mover, &around.low, &around.high);
        double margin = margin_of(&around, leg->sweep.length, leg->sweep.radius);
        if (is_apart(&extent, &around, margin) || passes_by(leg, &around, margin))
            note_distant(c, mover, leg->start_us, leg->end_us);
        else
            try_leg(c, leg, mover, out);
    }
}

/* Legs whose extents are kept together. */
enum { CHUNK = 16, CHUNKS = HS_MAX_LEGS / CHUNK + 1 };

/* Legs of a path in chunks, each with what is around it. */
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

/* One mover along all of it, as far as nothing is touched before. */
static void try_stretch(struct hs_hit_context *c, const struct hs_path *path,
                        const struct stretch *stretch, const struct hs_mover *mover,
                        struct hs_obstacle *out)
{
    struct extent around;
    hs_mover_surroundings(mover, &around.low, &around.high);
    double margin = margin_of(&around, stretch->length, stretch->radius);
    note_distant(c, mover, stretch->start_us, stretch->end_us);
    if (is_apart(&stretch->whole, &around, margin))
        return;
    for (uint32_t first = 0; first < stretch->legs; first += CHUNK) {
        uint32_t end = first + CHUNK < stretch->legs ? first + CHUNK : stretch->legs;
        hs_work_spend(&c->work, HS_WORK_PASS);
        if (is_apart(&stretch->chunks[first / CHUNK], &around, margin))
            continue;
        hs_work_spend(&c->work, UINT64_C(1) * CHUNK * HS_WORK_CAST);
        for (uint32_t i = first; i < end; i++) {
            struct hs_leg leg;
            hs_path_leg(path, i, &leg);
            leg.sweep.radius = stretch->radius;
            if (out->touched && out->contact.distance < leg.travelled)
                return;
            if (!passes_by(&leg, &around, margin))
                try_leg(c, &leg, mover, out);
        }
    }
}

static void try_map(struct hs_hit_context *c, const struct hs_leg *leg, struct hs_obstacle *out)
{
    struct hs_world_contact contact;
    hs_work_spend(&c->work, HS_WORK_CAST);
    if (c->match->world == NULL ||
        !hs_world_sweep_within(c->match->world, &leg->sweep, &c->work, &contact))
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

static bool is_open(const struct hs_hit_context *c)
{
    return c->match->world == NULL && c->match->movers.count == 0;
}

/* Who is stopped before a mover in doubt does not depend on it. */
static void settle_doubt(struct hs_obstacle *out)
{
    if (out->touched && out->is_doubtful && out->doubt_distance >= out->contact.distance)
        out->is_doubtful = false;
}

/* Along the path with a sphere of that radius: the map, then each mover as far as that. */
static void cast(struct hs_hit_context *c, const struct hs_path *path, double radius,
                 struct hs_obstacle *out)
{
    const struct hs_movers *movers = &c->match->movers;
    memset(out, 0, sizeof *out);
    out->radius = radius;
    uint32_t legs = hs_path_legs(path), reached = 0;
    struct hs_leg leg;
    while (reached < legs && !out->touched && !hs_work_is_over(&c->work)) {
        hs_path_leg(path, reached++, &leg);
        leg.sweep.radius = radius;
        try_map(c, &leg, out);
    }
    if (legs == 1) {
        try_movers_on_leg(c, &leg, false, out);
    } else if (movers->count > 0) {
        struct stretch stretch;
        hs_work_spend(&c->work, (uint64_t)reached * HS_WORK_CAST);
        measure(path, reached, radius, &stretch);
        for (uint32_t i = 0; i < movers->count && !hs_work_is_over(&c->work); i++)
            try_stretch(c, path, &stretch, &movers->all[i], out);
    }
    settle_doubt(out);
}

void hs_obstacle_find(struct hs_hit_context *c, const struct hs_path *path, double radius,
                      struct hs_obstacle *out)
{
    out->touched = out->is_doubtful = false;
    out->radius = radius;
    if (is_open(c))
        return;
    cast(c, path, radius, out);
    bool starts_inside = (out->touched && out->contact.distance <= 0) ||
                         (out->is_doubtful && out->doubt_distance <= 0);
    if (starts_inside && radius > 0)
        cast(c, path, 0, out);
}

/* False where the two places are one. */
static bool line_between(struct hs_vec from, struct hs_vec to, int64_t time_us, struct hs_leg *out)
{
    struct hs_vec along = hs_vec_sub(to, from);
    double length = hs_vec_length(along);
    if (!(length > 0))
        return false;
    *out = (struct hs_leg){.sweep = {.start = from,
                                     .direction = hs_vec_scale(along, 1 / length),
                                     .length = length,
                                     .radius = 0},
                           .start_us = time_us,
                           .end_us = time_us};
    return true;
}

static void cast_line(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                      int64_t time_us, bool any, struct hs_obstacle *out)
{
    struct hs_leg leg;
    memset(out, 0, sizeof *out);
    if (is_open(c) || !line_between(from, to, time_us, &leg))
        return;
    try_map(c, &leg, out);
    try_movers_on_leg(c, &leg, any, out);
    settle_doubt(out);
}

void hs_obstacle_between(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, struct hs_obstacle *out)
{
    cast_line(c, from, to, time_us, false, out);
}

void hs_obstacle_hides(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                       int64_t time_us, struct hs_obstacle *out)
{
    cast_line(c, from, to, time_us, true, out);
}

void hs_obstacle_of_map(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                        struct hs_obstacle *out)
{
    struct hs_leg leg;
    memset(out, 0, sizeof *out);
    if (line_between(from, to, 0, &leg))
        try_map(c, &leg, out);
}

/* ---- reporting ---- */

void hs_report_mover(struct hs_check_row *row, const struct hs_mover *mover)
{
    if (mover != NULL)
        row->mover = mover->name;
}

enum hs_reason hs_doubt_reason(const struct hs_obstacle *obstacle)
{
    return hs_missing_pose_reason(obstacle->doubt, HS_REASON_HISTORY_TOO_SHORT);
}
