#include "validators/hit/contact.h"

#include <float.h>

#include "validators/base/units.h"

/* A body during one leg. */
struct leg_body {
    struct hs_bracket bracket; /* at the start of the leg */
    struct hs_vec motion;      /* of the root until the end of the leg */
    bool moves;
    struct hs_bracket end; /* where it moves */
};

/* The player moved without a jump, a death or a new life from one bracket to the other. */
static bool is_continuous(const struct hs_history *history, const struct hs_bracket *from,
                          const struct hs_bracket *to, struct hs_work *work)
{
    if (from->held || to->held)
        return false;
    const struct hs_state *a = hs_rewind_state(history, from);
    int64_t first = hs_history_find(history, from->from->time_us);
    int64_t last = hs_history_find(history, to->to->time_us);
    hs_work_spend(work, (uint64_t)(last - first) * HS_WORK_SAMPLE);
    for (int64_t i = first + 1; i <= last; i++) {
        const struct hs_sample *sample = hs_history_at(history, (uint32_t)i);
        const struct hs_state *state = hs_history_state(history, sample);
        if (sample->jumped || sample->event == HS_EVENT_TELEPORT ||
            sample->event == HS_EVENT_SPAWN || state->life != a->life || state->rig != a->rig)
            return false;
    }
    return true;
}

static bool place_body(const struct hs_leg *leg, const struct hs_ruleset *ruleset,
                       const struct hs_history *history, struct hs_work *work, struct leg_body *out)
{
    hs_work_spend(work, HS_WORK_LEG);
    out->moves = false;
    out->motion = (struct hs_vec){0, 0, 0};
    if (hs_rewind_find(history, ruleset, leg->start_us, &out->bracket) != HS_REWIND_OK)
        return false;
    if (leg->end_us == leg->start_us ||
        hs_rewind_find(history, ruleset, leg->end_us, &out->end) != HS_REWIND_OK ||
        !is_continuous(history, &out->bracket, &out->end, work))
        return true;
    out->moves = true;
    out->motion = hs_vec_sub(hs_rewind_position(&out->end), hs_rewind_position(&out->bracket));
    return true;
}

/*
 * A lower bound of the gap between the sphere on this leg and anything of the body: the path as
 * seen from the moving root, against the ball that holds all hitboxes.
 */
static double coarse_gap(const struct hs_leg *leg, const struct hs_ruleset *ruleset,
                         const struct hs_history *history, const struct leg_body *body)
{
    const struct hs_sweep *sweep = &leg->sweep;
    struct hs_vec root = hs_rewind_position(&body->bracket);
    struct hs_vec from = hs_vec_sub(sweep->start, root);
    struct hs_vec travel = hs_vec_sub(hs_vec_scale(sweep->direction, sweep->length), body->motion);
    double squared = hs_vec_dot(travel, travel);
    double s = squared > 0 ? -hs_vec_dot(from, travel) / squared : 0;
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    double nearest = hs_vec_length(hs_vec_add_scaled(from, travel, s));
    double reach = hs_rewind_reach(history, ruleset, &body->bracket);
    if (body->moves) /* limbs may swing while the root moves: twice the ball holds both poses */
        reach += hs_rewind_reach(history, ruleset, &body->end);
    return nearest - reach * (1 + HS_TOUCH_SLACK) - sweep->radius;
}

/* Legs looked at together before any is looked at alone. */
enum { CHUNK = 16 };

/*
 * A lower bound of the gap on legs first..last, from the samples alone: their roots lie in one
 * ball, the path is near one segment. DBL_MAX where there is no sample to stand on.
 */
static double chunk_gap(const struct hs_path *path, uint32_t first, uint32_t last,
                        const struct hs_ruleset *ruleset, const struct hs_history *history,
                        struct hs_work *work)
{
    struct hs_leg begin, end;
    hs_work_spend(work, UINT64_C(2) * HS_WORK_LEG);
    hs_path_leg(path, first, &begin);
    hs_path_leg(path, last, &end);
    uint32_t count = hs_history_count(history);
    int64_t found = hs_history_find(history, begin.start_us);
    uint32_t i = found < 0 ? 0 : (uint32_t)found;
    if (count == 0 || hs_history_at(history, i)->time_us > end.end_us ||
        (i + 1 == count &&
         begin.start_us - hs_history_at(history, i)->time_us > ruleset->rewind.future_slack_us))
        return DBL_MAX;
    struct hs_vec middle = hs_history_at(history, i)->position;
    double spread = 0, reach = 0;
    for (; i < count; i++) {
        const struct hs_sample *sample = hs_history_at(history, i);
        struct hs_bracket alone = {.from = sample, .to = sample};
        hs_work_spend(work, HS_WORK_SAMPLE);
        spread = fmax(spread, hs_vec_distance(sample->position, middle));
        reach = fmax(reach, hs_rewind_reach(history, ruleset, &alone));
        if (sample->time_us >= end.end_us)
            break;
    }
    struct hs_vec from = hs_vec_sub(begin.sweep.start, middle);
    struct hs_vec to = hs_vec_add_scaled(hs_vec_sub(end.sweep.start, middle), end.sweep.direction,
                                         end.sweep.length);
    struct hs_vec along = hs_vec_sub(to, from);
    double squared = hs_vec_dot(along, along);
    double s = squared > 0 ? -hs_vec_dot(from, along) / squared : 0;
    s = s < 0 ? 0 : s > 1 ? 1 : s;
    double nearest = hs_vec_length(hs_vec_add_scaled(from, along, s));
    /* The way bends away from its chord by at most g t^2 / 8; a last leg that only extends it
       bends the chord by no more than its own length. */
    double seconds = hs_seconds(end.end_us - begin.start_us);
    double bulge = hs_vec_length(path->gravity) * seconds * seconds / 8;
    if (bulge > 0 && end.start_us == end.end_us)
        bulge += end.sweep.length;
    return nearest - bulge - spread - 2 * reach * (1 + HS_TOUCH_SLACK) - path->radius;
}

/*
 * Cuts a leg at the first sample inside it: between two samples a body moves straight, and a jump
 * takes place at a sample. False when there is none and `leg` stays whole.
 */
static bool cut_leg(const struct hs_history *history, struct hs_leg *leg, struct hs_leg *rest)
{
    if (leg->end_us == leg->start_us)
        return false;
    int64_t next = hs_history_find(history, leg->start_us) + 1;
    return next < (int64_t)hs_history_count(history) &&
           hs_leg_cut(leg, hs_history_at(history, (uint32_t)next)->time_us, rest);
}

/* What is known while a leg is searched. */
struct search {
    const struct hs_leg *leg;
    const struct hs_ruleset *ruleset;
    double tie;
    bool measure_gap;
    struct hs_work *work;
    int best_rank; /* of the hitbox that counts: lower wins over nearer */
    struct hs_contact *out;
};

static int zone_rank(const struct hs_ruleset *ruleset, uint16_t zone)
{
    const struct hs_hit_rules *rules = &ruleset->hit;
    for (int i = 0; i < rules->zone_priority_count; i++)
        if (rules->zone_priority[i] == zone)
            return i;
    return rules->zone_priority_count;
}

static void take_contact(struct search *s, uint16_t hitbox, const struct hs_solid *solid,
                         struct hs_vec motion, const struct hs_sweep *relative,
                         const struct hs_sweep_contact *found)
{
    struct hs_contact *out = s->out;
    struct hs_sweep_contact contact = *found;
    double center_distance = hs_vec_distance(contact.center, solid->center);
    hs_leg_to_world(s->leg, relative, motion, &contact);
    int rank = zone_rank(s->ruleset, out->rig->hitboxes[hitbox].zone);

    bool first = !out->touched;
    bool sooner = first || contact.distance < out->detail.distance - s->tie;
    bool tied = !first && !sooner && contact.distance <= out->detail.distance + s->tie;
    bool nearer = sooner || (tied && center_distance < out->center_distance - s->tie);
    if (first || contact.distance < out->distance)
        out->distance = contact.distance;
    if (first || rank < s->best_rank || (rank == s->best_rank && nearer)) {
        out->hitbox = hitbox;
        out->detail = contact;
        out->center_distance = center_distance;
        s->best_rank = rank;
    }
    out->touched = true;
}

/* What the sweep of a hitbox found. */
static void take(struct search *s, uint16_t hitbox, const struct hs_solid *solid,
                 struct hs_vec motion, const struct hs_sweep *relative,
                 const struct hs_sweep_contact *found)
{
    struct hs_contact *out = s->out;
    if (found->gap < out->gap) {
        struct hs_sweep_contact nearest = *found;
        hs_leg_to_world(s->leg, relative, motion, &nearest);
        out->gap = nearest.gap;
        out->gap_distance = nearest.gap_distance;
        out->gap_hitbox = hitbox;
        out->gap_center = nearest.center;
        out->gap_point = nearest.point;
    }
    if (found->touched)
        take_contact(s, hitbox, solid, motion, relative, found);
}

static void search_hitbox(struct search *s, uint16_t hitbox, const struct hs_solid *solid,
                          struct hs_vec motion, const struct hs_sweep *relative)
{
    struct hs_sweep_contact contact;
    double distance;
    hs_work_spend(s->work, HS_WORK_SWEEP);
    if (!s->measure_gap && !hs_sweep_touches(relative, solid, &distance))
        return;
    hs_sweep_solid(relative, solid, &contact);
    take(s, hitbox, solid, motion, relative, &contact);
}

/* A lower bound of the gap between a sphere on its way and a ball. */
static double ball_gap(const struct hs_sweep *sweep, struct hs_vec center, double radius)
{
    struct hs_vec from_start = hs_vec_sub(center, sweep->start);
    double along = hs_vec_dot(from_start, sweep->direction);
    along = along < 0 ? 0 : along > sweep->length ? sweep->length : along;
    double nearest = hs_vec_length(hs_vec_add_scaled(from_start, sweep->direction, -along));
    return nearest - radius - sweep->radius;
}

/*
 * One leg that takes no time. Most hitboxes are further off than what counts: touches, and the
 * nearest approach where it is asked for. Those are not even placed.
 */
static void search_instant(struct search *s, const struct hs_history *history,
                           const struct leg_body *placed, double slack)
{
    struct hs_pose pose;
    hs_rewind_pose(history, s->ruleset, &placed->bracket, &pose);
    const struct hs_vec still = {0, 0, 0};
    const struct hs_sweep sweep = hs_leg_relative(s->leg, still);
    double bounds[HS_MAX_HITBOXES], least = DBL_MAX, counts = slack;
    uint16_t nearest = 0, count = pose.rig->hitbox_count;
    s->out->rig = pose.rig;
    hs_work_spend(s->work, (uint64_t)count * HS_WORK_BALL);
    memset(s->out->excluded, 0, sizeof s->out->excluded);
    for (uint16_t i = 0; i < count; i++) {
        struct hs_vec center;
        double radius;
        uint16_t bone = pose.rig->hitboxes[i].bone;
        bounds[i] = DBL_MAX;
        if (hs_pose_ball(&pose, i, &center, &radius))
            bounds[i] = ball_gap(&sweep, center, radius);
        else
            s->out->excluded[bone / 64] |= UINT64_C(1) << (bone % 64);
        if (bounds[i] < least) {
            least = bounds[i];
            nearest = i;
        }
    }
    struct hs_solid first, solid;
    struct hs_sweep_contact contact;
    bool knows_first = s->measure_gap && least < DBL_MAX;
    if (knows_first) {
        hs_pose_place(&pose, nearest, &first);
        hs_work_spend(s->work, HS_WORK_SWEEP);
        hs_sweep_solid(&sweep, &first, &contact);
        counts = contact.gap > slack ? contact.gap : slack;
    }
    /* In the order of the rig, which decides where two are alike. */
    for (uint16_t i = 0; i < count; i++) {
        if (knows_first && i == nearest)
            take(s, i, &first, still, &sweep, &contact);
        else if (bounds[i] <= counts && hs_pose_place(&pose, i, &solid))
            search_hitbox(s, i, &solid, still, &sweep);
    }
}

static void search_leg(struct search *s, const struct hs_history *history,
                       const struct leg_body *placed)
{
    struct hs_body body, end;
    hs_rewind_body(history, s->ruleset, &placed->bracket, &body);
    hs_work_spend(s->work, (uint64_t)body.count * (placed->moves ? 2 : 1) * HS_WORK_BALL);
    if (placed->moves)
        hs_rewind_body(history, s->ruleset, &placed->end, &end);
    s->out->rig = body.rig;
    memcpy(s->out->excluded, body.excluded, sizeof body.excluded);
    uint16_t e = 0;
    for (uint16_t i = 0; i < body.count; i++) {
        struct hs_vec motion = {0, 0, 0};
        if (placed->moves) {
            /* Both lists are in the order of the rig; a hitbox missing at the end moves as the
             * root. */
            while (e < end.count && end.hitbox[e] < body.hitbox[i])
                e++;
            bool there = e < end.count && end.hitbox[e] == body.hitbox[i];
            motion =
                there ? hs_vec_sub(end.solids[e].center, body.solids[i].center) : placed->motion;
        }
        struct hs_sweep relative = hs_leg_relative(s->leg, motion);
        search_hitbox(s, body.hitbox[i], &body.solids[i], motion, &relative);
    }
}

/* One leg without a sample inside. */
static void try_leg(struct search *s, const struct hs_leg *leg, const struct hs_history *history,
                    bool even_dead, double slack)
{
    struct leg_body body;
    if (!place_body(leg, s->ruleset, history, s->work, &body))
        return;
    s->out->has_pose = true;
    if (!even_dead && !hs_rewind_state(history, &body.bracket)->alive)
        return;
    double nearest = coarse_gap(leg, s->ruleset, history, &body);
    if (nearest > slack && !(s->measure_gap && nearest < s->out->gap))
        return;
    s->leg = leg;
    if (leg->end_us == leg->start_us)
        search_instant(s, history, &body, slack);
    else
        search_leg(s, history, &body);
}

/* Nothing further along the path can count more than what is touched already. */
static bool is_settled(const struct search *s)
{
    return s->out->touched && (s->ruleset->hit.zone_priority_count == 0 || s->best_rank == 0);
}

void hs_contact_find(const struct hs_path *path, const struct hs_ruleset *ruleset,
                     const struct hs_history *history, bool measure_gap, bool even_dead,
                     struct hs_work *work, struct hs_contact *out)
{
    memset(out, 0, sizeof *out);
    out->gap = DBL_MAX;
    struct search search = {.ruleset = ruleset,
                            .tie = HS_CONTACT_TIE * (path->length + path->radius),
                            .measure_gap = measure_gap,
                            .work = work,
                            .out = out};
    double slack = HS_TOUCH_SLACK * 2 * (path->length + path->extension + path->radius);
    uint32_t legs = hs_path_legs(path);
    for (uint32_t i = 0; i < legs && !is_settled(&search) && !hs_work_is_over(work); i++) {
        if (legs > 1 && i % CHUNK == 0) {
            uint32_t last = i + CHUNK < legs ? i + CHUNK - 1 : legs - 1;
            double nearest = chunk_gap(path, i, last, ruleset, history, work);
            if (nearest > slack && !(measure_gap && nearest < out->gap)) {
                out->has_pose = out->has_pose || nearest < DBL_MAX;
                i = last;
                continue;
            }
        }
        struct hs_leg leg, rest = {0};
        hs_path_leg(path, i, &leg);
        bool more = true;
        while (more && !is_settled(&search) && !hs_work_is_over(work)) {
            more = cut_leg(history, &leg, &rest);
            try_leg(&search, &leg, history, even_dead, slack);
            leg = rest;
        }
    }
}

bool hs_contact_is_before(const struct hs_path *path, const struct hs_contact *a,
                          const struct hs_contact *b)
{
    double tie = HS_CONTACT_TIE * (path->length + path->radius);
    if (fabs(a->distance - b->distance) > tie)
        return a->distance < b->distance;
    return a->center_distance < b->center_distance - tie;
}
