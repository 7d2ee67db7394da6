#include "validators/hit/contact.h"

#include <float.h>

#include "validators/base/units.h"
#include "validators/history/body_box.h"
#include "validators/history/bounds.h"

/* ---- one body on one leg ---- */

/* The search for the first contact with one body. */
struct search {
    const struct hs_ruleset *ruleset;
    const struct hs_history *history;
    const struct hs_leg *leg;
    double tie, slack;
    bool is_instant; /* the path has one leg, which takes no time */
    bool is_target;
    uint16_t passed_team;
    struct hs_work *work;
    int best_rank; /* priority of the zone in `out`; 0 is the highest */
    struct hs_contact *out;
};

/* A body during one leg. */
struct leg_body {
    struct hs_bracket bracket; /* at the start of the leg */
    struct hs_vec motion;      /* movement of the root during the leg */
    bool moves;
    struct hs_bracket end; /* at the end of the leg; set only if `moves` */
};

/* Returns whether the player moved from one bracket to the other without a jump, and with the
   same life and rig. */
static bool is_continuous(const struct search *s, const struct hs_bracket *from,
                          const struct hs_bracket *to)
{
    if (from->held || to->held)
        return false;
    const struct hs_state *a = hs_rewind_state(s->history, from);
    int64_t first = hs_history_find(s->history, from->from->time_us);
    int64_t last = hs_history_find(s->history, to->to->time_us);
    hs_work_spend(s->work, (uint64_t)(last - first) * HS_WORK_SAMPLE);
    for (int64_t i = first + 1; i <= last; i++) {
        const struct hs_sample *sample = hs_history_at(s->history, (uint32_t)i);
        const struct hs_state *state = hs_history_state(s->history, sample);
        if (sample->jumped || sample->event == HS_EVENT_TELEPORT ||
            sample->event == HS_EVENT_SPAWN || state->life != a->life || state->rig != a->rig)
            return false;
    }
    return true;
}

/* Finds the pose at the start of a leg. No sample is inside the leg, but a sample may be exactly at
   the start of the leg. In this case, the body has no pose during the leg if the next sample is too
   far away in time. */
static bool find_start(const struct search *s, const struct hs_leg *leg, struct hs_bracket *out)
{
    if (hs_rewind_find(s->history, s->ruleset, leg->start_us, out) != HS_REWIND_OK)
        return false;
    struct hs_bracket inside;
    return out->from->time_us != leg->start_us || leg->end_us - leg->start_us < 2 ||
           hs_rewind_find(s->history, s->ruleset, leg->start_us + 1, &inside) == HS_REWIND_OK;
}

/* If a leg ends exactly at a sample with another stance, uses the older stance at the end of the
   leg. The newer stance counts only from this sample on. */
static void keep_stance(const struct search *s, const struct hs_bracket *start,
                        struct hs_bracket *end)
{
    const struct hs_sample *from = start->from, *to = end->from;
    if (from == to || end->alpha > 0 ||
        hs_history_state(s->history, from)->stance == hs_history_state(s->history, to)->stance)
        return;
    end->from = from;
    end->to = to;
    end->alpha = 1;
}

static bool place_body(const struct search *s, const struct hs_leg *leg, struct leg_body *out)
{
    hs_work_spend(s->work, HS_WORK_LEG);
    out->moves = false;
    out->motion = (struct hs_vec){0, 0, 0};
    if (!find_start(s, leg, &out->bracket))
        return false;
    if (leg->end_us == leg->start_us ||
        hs_rewind_find(s->history, s->ruleset, leg->end_us, &out->end) != HS_REWIND_OK ||
        !is_continuous(s, &out->bracket, &out->end))
        return true;
    keep_stance(s, &out->bracket, &out->end);
    out->moves = true;
    out->motion = hs_vec_sub(hs_rewind_position(&out->end), hs_rewind_position(&out->bracket));
    return true;
}

/* Returns whether a hitbox at a distance of at least `gap` from the path cannot change the result.
   Such a hitbox is not touched and is not the nearest approach. */
static bool is_too_far(const struct search *s, double gap)
{
    return gap > s->slack && !(s->is_target && gap < s->out->nearest.gap);
}

/* Returns whether the body is so far from the path that no hitbox can change the result. Compares
   the path, relative to the moving root, with a ball around all hitboxes. Reading a pose is slow,
   so a ball that contains the body in all samples is tried first. */
static bool is_body_too_far(const struct search *s, const struct hs_leg *leg,
                            const struct leg_body *body)
{
    const struct hs_sweep *sweep = &leg->sweep;
    struct hs_vec from = hs_vec_sub(sweep->start, hs_rewind_position(&body->bracket));
    struct hs_vec travel = hs_vec_sub(hs_vec_scale(sweep->direction, sweep->length), body->motion);
    double nearest = hs_segment_distance(from, travel) - sweep->radius;
    double reach = hs_crowd_reach(hs_history_span(s->history), s->ruleset);
    if (is_too_far(s, nearest - (body->moves ? 2 : 1) * reach))
        return true;
    hs_rewind_prefetch(s->history, &body->bracket);
    reach = hs_rewind_reach(s->history, s->ruleset, &body->bracket);
    /* Limbs may move while the root moves, so add the reaches of the poses at both ends. */
    if (body->moves)
        reach += hs_rewind_reach(s->history, s->ruleset, &body->end);
    return is_too_far(s, nearest - reach * (1 + HS_TOUCH_SLACK));
}

/* The number of legs that are tested together before they are tested one by one. */
enum { CHUNK = 16 };

/* Returns a lower bound of the gap between path and body on the legs `first` to `last`, or DBL_MAX
   if no sample covers the times of these legs. Compares the chord of the path with a ball around
   the body in all samples during these legs. */
static double chunk_gap(const struct search *s, const struct hs_path *path, uint32_t first,
                        uint32_t last)
{
    struct hs_leg begin, end;
    hs_work_spend(s->work, UINT64_C(2) * HS_WORK_LEG);
    hs_path_leg(path, first, &begin);
    hs_path_leg(path, last, &end);
    uint32_t count = hs_history_count(s->history);
    int64_t found = hs_history_find(s->history, begin.start_us);
    uint32_t i = found < 0 ? 0 : (uint32_t)found;
    if (count == 0 || hs_history_at(s->history, i)->time_us > end.end_us ||
        (i + 1 == count && begin.start_us - hs_history_at(s->history, i)->time_us >
                               s->ruleset->rewind.future_slack_us))
        return DBL_MAX;
    struct hs_vec middle = hs_history_at(s->history, i)->position;
    double spread = 0, reach = 0;
    for (; i < count; i++) {
        const struct hs_sample *sample = hs_history_at(s->history, i);
        struct hs_bracket alone = {.from = sample, .to = sample};
        hs_work_spend(s->work, HS_WORK_SAMPLE);
        spread = fmax(spread, hs_vec_distance(sample->position, middle));
        reach = fmax(reach, hs_rewind_reach(s->history, s->ruleset, &alone));
        if (sample->time_us >= end.end_us)
            break;
    }
    struct hs_vec from = hs_vec_sub(begin.sweep.start, middle);
    struct hs_vec to = hs_vec_add_scaled(hs_vec_sub(end.sweep.start, middle), end.sweep.direction,
                                         end.sweep.length);
    double nearest = hs_segment_distance(from, hs_vec_sub(to, from));
    /* The path is at most g t^2 / 8 away from its chord. The extension, which can be the last leg,
       moves the chord by at most the length of the extension. */
    double seconds = hs_seconds(end.end_us - begin.start_us);
    double bulge = hs_vec_length(path->gravity) * seconds * seconds / 8;
    if (bulge > 0 && end.start_us == end.end_us)
        bulge += end.sweep.length;
    return nearest - bulge - spread - 2 * reach * (1 + HS_TOUCH_SLACK) - path->radius;
}

static int zone_rank(const struct hs_ruleset *ruleset, uint16_t zone)
{
    const struct hs_hit_rules *rules = &ruleset->hit;
    for (int i = 0; i < rules->zone_priority_count; i++)
        if (rules->zone_priority[i] == zone)
            return i;
    return rules->zone_priority_count;
}

/* Keeps a new contact if it is earlier than the best contact so far, or if its zone has a higher
   priority. Also updates the nearest approach of the target. */
static void keep_nearest(struct search *s, uint16_t hitbox, const struct hs_solid *solid,
                         struct hs_vec motion, const struct hs_sweep *relative,
                         const struct hs_sweep_contact *found)
{
    struct hs_contact *out = s->out;
    if (!found->touched && !(s->is_target && found->gap < out->nearest.gap))
        return;
    struct hs_sweep_contact contact = *found;
    double center_distance = hs_vec_distance(contact.center, solid->center);
    hs_leg_to_world(s->leg, relative, motion, &contact);
    if (contact.gap < out->nearest.gap) {
        out->nearest = contact;
        out->nearest_hitbox = hitbox;
    }
    if (!contact.touched)
        return;
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

static void search_hitbox(struct search *s, uint16_t hitbox, const struct hs_solid *solid,
                          struct hs_vec motion, const struct hs_sweep *relative)
{
    struct hs_sweep_contact contact;
    double distance;
    hs_work_spend(s->work, HS_WORK_SWEEP);
    if (!s->is_target && !hs_sweep_touches(relative, solid, &distance))
        return;
    hs_sweep_solid(relative, solid, &contact);
    keep_nearest(s, hitbox, solid, motion, relative, &contact);
}

/* Results of the exact tests on a leg so far. */
struct found {
    double gap;
    double soonest; /* distance on the leg to the first contact */
};

static void sweep_hitbox(struct search *s, const struct hs_pose *pose, uint16_t hitbox,
                         const struct hs_sweep *sweep, struct found *found, struct hs_solid *solid,
                         struct hs_sweep_contact *out)
{
    hs_work_spend(s->work, HS_WORK_SWEEP);
    hs_pose_place(pose, hitbox, solid);
    hs_sweep_solid(sweep, solid, out);
    found->gap = fmin(found->gap, out->gap);
    if (out->touched)
        found->soonest = fmin(found->soonest, out->distance);
}

/* Returns the hitbox to test first: the hitbox that is probably touched first. If probably no
   hitbox is touched, returns the hitbox that is probably nearest. */
static uint16_t most_promising(const struct hs_pose_bounds *bounds, double slack)
{
    uint16_t nearest = HS_NONE, soonest = HS_NONE;
    for (uint16_t i = hs_bounds_next(bounds, 0); i != HS_NONE; i = hs_bounds_next(bounds, i + 1)) {
        if (nearest == HS_NONE || bounds->gap[i] < bounds->gap[nearest])
            nearest = i;
        if ((double)bounds->gap[i] <= slack &&
            (soonest == HS_NONE || bounds->contact[i] < bounds->contact[soonest]))
            soonest = i;
    }
    return soonest != HS_NONE ? soonest : nearest;
}

/* Returns whether a hitbox cannot change the result: it is too far away, or another hitbox is
   touched earlier by more than s->slack. The slack is much larger than a tie (keep_nearest), so
   a hitbox in a tie is never skipped. */
static bool can_skip(const struct search *s, const struct hs_pose_bounds *bounds, uint16_t i,
                     const struct found *found)
{
    double gap = (double)bounds->gap[i];
    if (gap > s->slack && !(s->is_target && gap <= found->gap))
        return true;
    return s->ruleset->hit.zone_priority_count == 0 && (!s->is_target || found->gap <= 0) &&
           (double)bounds->contact[i] + bounds->travelled > found->soonest + s->slack;
}

/* Sweeps one instant leg. Bounds exclude most hitboxes before they are placed. The other
   hitboxes are compared in the order of the rig, because the first of equal contacts counts. */
static void search_instant(struct search *s, const struct leg_body *placed)
{
    struct hs_pose pose;
    struct hs_pose_bounds bounds;
    const struct hs_vec still = {0, 0, 0};
    const struct hs_sweep sweep = hs_leg_relative(s->leg, still);
    hs_rewind_pose(s->history, s->ruleset, &placed->bracket, &pose);
    hs_work_spend(s->work, (uint64_t)pose.rig->hitbox_count * HS_WORK_BALL);
    hs_pose_find_bounds(&pose, &sweep, s->slack, s->is_target, &bounds);
    s->out->rig = pose.rig;
    memcpy(s->out->excluded, bounds.excluded, sizeof bounds.excluded);
    struct found found = {DBL_MAX, DBL_MAX};
    uint16_t first = most_promising(&bounds, s->slack);
    if (first == HS_NONE)
        return;
    struct hs_solid solid, first_solid;
    struct hs_sweep_contact contact, first_contact;
    sweep_hitbox(s, &pose, first, &sweep, &found, &first_solid, &first_contact);
    for (uint16_t i = hs_bounds_next(&bounds, 0); i != HS_NONE;
         i = hs_bounds_next(&bounds, i + 1)) {
        if (i == first) {
            keep_nearest(s, i, &first_solid, still, &sweep, &first_contact);
        } else if (!can_skip(s, &bounds, i, &found)) {
            sweep_hitbox(s, &pose, i, &sweep, &found, &solid, &contact);
            keep_nearest(s, i, &solid, still, &sweep, &contact);
        }
    }
}

static void search_leg(struct search *s, const struct leg_body *placed)
{
    struct hs_body body, end;
    hs_rewind_body(s->history, s->ruleset, &placed->bracket, &body);
    hs_work_spend(s->work, (uint64_t)body.count * (placed->moves ? 2 : 1) * HS_WORK_BALL);
    if (placed->moves)
        hs_rewind_body(s->history, s->ruleset, &placed->end, &end);
    s->out->rig = body.rig;
    memcpy(s->out->excluded, body.excluded, sizeof body.excluded);
    uint16_t e = 0;
    for (uint16_t i = 0; i < body.count; i++) {
        struct hs_vec motion = {0, 0, 0};
        if (placed->moves) {
            /* Both bodies list their hitboxes in the order of the rig. A hitbox without a pose at
               the end of the leg moves with the root. */
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

/* ---- the whole path ---- */

/* Cuts a leg at the first sample inside the leg, because a body moves in straight lines between
   samples and may jump at a sample. Returns false and leaves `leg` unchanged if no sample is
   inside. */
static bool cut_leg(const struct hs_history *history, struct hs_leg *leg, struct hs_leg *rest)
{
    if (leg->end_us == leg->start_us)
        return false;
    int64_t next = hs_history_find(history, leg->start_us) + 1;
    return next < (int64_t)hs_history_count(history) &&
           hs_leg_cut(leg, hs_history_at(history, (uint32_t)next)->time_us, rest);
}

/* Returns whether shots pass through a body that is not the target. */
static bool is_passed(const struct hs_state *state, uint16_t passed_team)
{
    return !state->alive || !state->is_solid ||
           (state->team == passed_team && state->team != HS_NONE);
}

static void try_leg(struct search *s, const struct hs_leg *leg)
{
    struct leg_body body;
    if (!place_body(s, leg, &body))
        return;
    const struct hs_state *state = hs_rewind_state(s->history, &body.bracket);
    s->out->has_pose = true;
    if (!s->is_target && is_passed(state, s->passed_team))
        return;
    /* An instant path does not need this test, because search_instant excludes distant hitboxes. */
    if (!s->is_instant && is_body_too_far(s, leg, &body))
        return;
    s->leg = leg;
    if (leg->end_us == leg->start_us)
        search_instant(s, &body);
    else
        search_leg(s, &body);
    if (s->out->touched && (state->stale & HS_STALE_SOLID) != 0)
        s->out->is_uncertain = true;
}

/* Returns whether the search can stop, because no later contact can replace the best contact, or
   because the work limit is exceeded. */
static bool is_settled(const struct search *s)
{
    return hs_work_is_over(s->work) ||
           (s->out->touched && (s->ruleset->hit.zone_priority_count == 0 || s->best_rank == 0));
}

void hs_contact_clear(struct hs_contact *out)
{
    out->has_pose = out->touched = out->is_uncertain = false;
    out->distance = out->center_distance = 0;
    out->rig = NULL;
    out->nearest.gap = DBL_MAX;
    memset(out->excluded, 0, sizeof out->excluded);
}

void hs_contact_find(const struct hs_path *path, const struct hs_ruleset *ruleset,
                     const struct hs_history *history, bool is_target, uint16_t passed_team,
                     struct hs_work *work, struct hs_contact *out)
{
    hs_contact_clear(out);
    /* Set the members one by one: an initialiser would clear the struct first. */
    struct search search;
    search.ruleset = ruleset;
    search.history = history;
    search.leg = NULL;
    search.tie = HS_CONTACT_TIE * (path->length + path->radius);
    search.slack = HS_TOUCH_SLACK * 2 * (path->length + path->extension + path->radius);
    search.is_instant = path->flight_legs == 0;
    search.is_target = is_target;
    search.passed_team = passed_team;
    search.work = work;
    search.best_rank = 0;
    search.out = out;
    uint32_t legs = hs_path_legs(path);
    for (uint32_t i = 0; i < legs && !is_settled(&search); i++) {
        if (legs > 1 && i % CHUNK == 0) {
            uint32_t last = i + CHUNK < legs ? i + CHUNK - 1 : legs - 1;
            double nearest = chunk_gap(&search, path, i, last);
            if (is_too_far(&search, nearest)) {
                out->has_pose = out->has_pose || nearest < DBL_MAX;
                i = last;
                continue;
            }
        }
        struct hs_leg leg, rest;
        hs_path_leg(path, i, &leg);
        bool more = true;
        while (more && !is_settled(&search)) {
            more = cut_leg(history, &leg, &rest);
            try_leg(&search, &leg);
            if (more)
                leg = rest;
        }
    }
}

bool hs_contact_misses(const struct hs_passing *passing, const struct hs_ruleset *ruleset,
                       const struct hs_history *history, uint16_t passed_team, struct hs_work *work,
                       bool *has_pose)
{
    struct hs_bracket bracket;
    struct hs_vec middle, half;
    *has_pose = hs_rewind_find(history, ruleset, passing->time_us, &bracket) == HS_REWIND_OK;
    if (*has_pose && !is_passed(hs_rewind_state(history, &bracket), passed_team)) {
        hs_rewind_box(history, ruleset, &bracket, &middle, &half);
        if (!hs_passing_misses(passing, middle, half))
            return false;
    }
    hs_work_spend(work, HS_WORK_LEG);
    return true;
}

bool hs_contact_is_before(const struct hs_path *path, const struct hs_contact *a,
                          const struct hs_contact *b)
{
    double tie = HS_CONTACT_TIE * (path->length + path->radius);
    if (fabs(a->distance - b->distance) > tie)
        return a->distance < b->distance;
    return a->center_distance < b->center_distance - tie;
}
