/* The rules for hints. Each rule looks for one mistake, and says whether a claim shows it: yes, no,
   or nothing. */
#include "validators/base/units.h"
#include "validators/hit/contact.h"
#include "validators/hit/hints.h"
#include "validators/hit/work.h"

enum {
    MAX_VOTES = 32, /* limits the votes, so that a new majority can replace an old one */
    TURNS = 48,     /* ways to permute and mirror three axes; choice 0 changes nothing */
    POSES = 64,     /* number of the shooter's newest poses that are compared with a start */
    /* Ways to shift a path in time or along `up`; the middle choice shifts nothing. */
    SHIFTS = 21
};

/* The steps between shifts: LATE_STEP in seconds, HIGH_STEP as a share of the eye height. A running
   body needs more than two time steps to pass a fixed point, and a body is taller than two height
   steps. So if a path would hit with a shift between two tested shifts, the path also hits with at
   least one of these two tested shifts. */
#define LATE_STEP 0.04
#define HIGH_STEP 0.15

/* Limits in seconds. A difference above CLOCK_OFF means that claims and frames use different
   clocks. Round trips in games are shorter than LONGEST_RTT. A fire time that is wrong by less than
   SHORTEST_LATE is no mistake. */
#define CLOCK_OFF     5.0
#define LONGEST_RTT   2.0
#define SHORTEST_LATE 0.05

const struct hs_hint_unit hs_hint_units[HS_HINT_UNITS] = {
    {100, "metres", "centimetres"},  {1 / 0.0254, "metres", "inches"},
    {2.54, "inches", "centimetres"}, {0.01, "centimetres", "metres"},
    {0.0254, "inches", "metres"},    {1 / 2.54, "centimetres", "inches"}};

static enum hs_says answer(bool is_shown)
{
    return is_shown ? HS_SAYS_YES : HS_SAYS_NO;
}

/* ---- majorities ---- */

static uint8_t one_more(uint8_t votes)
{
    return (uint8_t)(votes < MAX_VOTES ? votes + 1 : MAX_VOTES);
}

/* Counts a claim as a vote, and returns whether the claim agrees with the majority. `fits`: the
   majority's choice explains the claim. `other`: another choice that explains the claim, or -1.
   When a new choice wins, the counts of the finding restart at 0. */
static bool agrees(struct hs_majority *majority, struct hs_finding *finding, bool fits, int other)
{
    if (fits) {
        majority->votes = one_more(majority->votes);
    } else if (majority->votes > 0) {
        majority->votes--;
    } else if (other >= 0) {
        *majority = (struct hs_majority){(uint8_t)other, 1};
        *finding = (struct hs_finding){0};
        return true;
    }
    return fits;
}

/* ---- where shots start ---- */

static double along(struct hs_vec v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static int longest_axis(struct hs_vec v)
{
    int axis = fabs(v.y) > fabs(v.x) ? 1 : 0;
    return fabs(v.z) > fabs(along(v, axis)) ? 2 : axis;
}

static bool is_along(struct hs_vec v, int axis)
{
    for (int i = 0; i < 3; i++)
        if (i != axis && fabs(along(v, i)) > 0.35 * fabs(along(v, axis)))
            return false;
    return true;
}

static int up_axis(const struct hs_ruleset *ruleset)
{
    return longest_axis(hs_up_direction(ruleset->up));
}

void hs_hints_learn_offset(struct hs_claim_facts *f)
{
    if (f->newest == NULL || !(f->eye_height > 0))
        return;
    struct hs_vec offset = hs_vec_scale(hs_vec_sub(f->claim->start, f->root), 1 / f->eye_height);
    double slack = fmax(0.25 * hs_vec_length(f->hints->offset), 0.002);
    f->keeps_offset =
        f->hints->offset_votes > 0 && hs_vec_distance(offset, f->hints->offset) <= slack;
    if (f->keeps_offset) {
        f->hints->offset = hs_vec_lerp(f->hints->offset, offset, 0.125);
        f->hints->offset_votes = one_more(f->hints->offset_votes);
    } else if (f->hints->offset_votes > 1) {
        f->hints->offset_votes--;
    } else {
        f->hints->offset = offset;
        f->hints->offset_votes = 1;
    }
}

/* Returns whether the trace passes the target below its root. A hit can pass below the root only if
   the root is above the feet. */
static bool passes_below(const struct hs_claim_facts *f, double height)
{
    const struct hs_player *target = hs_players_find(&f->match->players, f->claim->target);
    struct hs_bracket bracket;
    if (target == NULL || hs_rewind_find(target->history, f->match->ruleset, f->claim->hit_time_us,
                                         &bracket) != HS_REWIND_OK)
        return false;
    struct hs_vec to = hs_vec_sub(hs_rewind_position(&bracket), f->claim->start);
    struct hs_vec trace = hs_vec_sub(f->claim->end, f->claim->start);
    double length = hs_vec_length(trace);
    if (!(length > 0))
        return false;
    struct hs_vec nearest = hs_vec_scale(trace, hs_vec_dot(to, trace) / (length * length));
    struct hs_vec up = hs_up_direction(f->match->ruleset->up);
    return hs_vec_dot(hs_vec_sub(nearest, to), up) < -0.1 * height;
}

/*
 * Returns the unit (index in hs_hint_units) that puts the usual start at eye height, or -1. Eye
 * heights of 0.7 to 1.4 times the ruleset's eye height are accepted. For similar units such as
 * inches and centimetres, the range is only 0.8 to 1.25 times. Two cases look alike: an offset in
 * centimetres from a root in the middle of the body, and an offset in inches from the feet. Only in
 * the first case do shots pass below the root.
 */
static int unit_of_game(const struct hs_claim_facts *f)
{
    double height = hs_vec_length(f->hints->offset);
    for (int i = 0; i < HS_HINT_UNITS; i++) {
        double ratio = height * hs_hint_units[i].factor;
        bool is_near = hs_hint_units[i].factor < 3 && hs_hint_units[i].factor > 0.3;
        if (is_near ? ratio < 0.8 || ratio > 1.25 : ratio < 0.7 || ratio > 1.4)
            continue;
        bool may_be_low = is_near && hs_hint_units[i].factor > 1;
        if (is_near && (f->off <= f->tolerance || (may_be_low && f->hints->share_below > 0.01)))
            return -1;
        return i;
    }
    return -1;
}

/* ---- what a claim says about each mistake ---- */

static bool is_about(double time, double other)
{
    return other > 0.1 && time > 0.8 * other && time < 1.25 * other;
}

/* Returns whether the claim's times are about 1,000 times the frames' times, or 1/1,000 of them.
   If the frames are in milliseconds too, their steps exceed history.max_forward, so all frames
   after the first are refused. */
static bool is_in_milliseconds(const struct hs_claim_facts *f)
{
    double of_time = fabs(f->time - f->frames), of_now = fabs(f->now - f->frames);
    double odd = of_now > CLOCK_OFF ? f->now : f->time;
    bool all = f->frames_jump && of_time > LONGEST_RTT && of_time < 1000 * LONGEST_RTT;
    return all || (fmax(of_time, of_now) > CLOCK_OFF &&
                   (is_about(odd / 1e3, f->frames) || is_about(odd * 1e3, f->frames)));
}

static enum hs_says says_milliseconds(struct hs_claim_facts *f)
{
    f->measured = f->time;
    f->expected = f->frames;
    return answer(is_in_milliseconds(f));
}

static enum hs_says says_clock(struct hs_claim_facts *f)
{
    double of_time = f->time - f->frames, of_now = f->now - f->frames;
    f->measured = fabs(of_now) > fabs(of_time) ? of_now : of_time;
    return answer(fabs(f->measured) > CLOCK_OFF && !is_in_milliseconds(f));
}

/* Returns where the shooter's feet are according to the claim: one eye height below the start. */
static struct hs_vec claimed_feet(const struct hs_claim_facts *f)
{
    struct hs_vec up = hs_up_direction(f->match->ruleset->up);
    return hs_vec_add_scaled(f->claim->start, up, -f->eye_height);
}

/* Returns whether the claimed start is near the eye if it is multiplied by the factor of unit
   `i`. The ruleset's eye height may be in the unit of the frames or in the unit of the claims. */
static bool fits_unit(const struct hs_claim_facts *f, int i)
{
    double factor = hs_hint_units[i].factor;
    struct hs_vec eye = hs_vec_scale(f->claim->start, factor);
    struct hs_vec feet = hs_vec_scale(claimed_feet(f), factor);
    return hs_vec_distance(eye, f->eye) <= f->eye_height ||
           hs_vec_distance(feet, f->root) <= f->eye_height * factor;
}

/*
 * Answers whether a choice (a unit or a permutation of axes) explains why a claim does not start at
 * the eye. If the majority's choice does not fit, the last of the `count` choices that fits may
 * become the new choice (see agrees). A start within `near` eye heights of the eye is no evidence,
 * because too many choices fit.
 */
static enum hs_says says_choice(const struct hs_claim_facts *f, struct hs_majority *majority,
                                enum hs_hint_code code, double near, int count,
                                bool (*fits)(const struct hs_claim_facts *f, int choice))
{
    if (f->off <= f->tolerance || f->keeps_offset)
        return HS_SAYS_NO;
    if (f->off <= near * f->eye_height)
        return HS_SAYS_NOTHING;
    int other = count - 1;
    while (other >= 0 && !fits(f, other))
        other--;
    return answer(agrees(majority, &f->hints->findings[code], fits(f, majority->choice), other));
}

static enum hs_says says_unit_of_claims(struct hs_claim_facts *f)
{
    f->measured = hs_vec_length(f->claim->start);
    f->expected = hs_vec_length(f->eye);
    return says_choice(f, &f->hints->factor, HS_HINT_UNIT_OF_CLAIMS, 3, HS_HINT_UNITS, fits_unit);
}

static enum hs_says says_unit_of_ruleset(struct hs_claim_facts *f)
{
    double height = hs_vec_length(f->hints->offset);
    if (f->keeps_offset && height > 0.35 && height < 0.45)
        f->hints->share_below +=
            ((passes_below(f, height * f->eye_height) ? 1 : 0) - f->hints->share_below) / 64;
    f->measured = height * f->eye_height;
    f->expected = f->eye_height;
    return answer(f->keeps_offset && unit_of_game(f) >= 0);
}

/* Reorders the axes by permutation i / 8, and mirrors them by the bits of i % 8. */
static struct hs_vec turned(struct hs_vec v, int i)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                         {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const uint8_t *order = orders[i / 8];
    return (struct hs_vec){along(v, order[0]) * (i & 1 ? -1 : 1),
                           along(v, order[1]) * (i & 2 ? -1 : 1),
                           along(v, order[2]) * (i & 4 ? -1 : 1)};
}

static bool fits_turn(const struct hs_claim_facts *f, int i)
{
    double slack = 0.75 * f->eye_height;
    return i > 0 && (hs_vec_distance(turned(f->claim->start, i), f->eye) <= slack ||
                     hs_vec_distance(turned(claimed_feet(f), i), f->root) <= slack);
}

static enum hs_says says_axes(struct hs_claim_facts *f)
{
    return says_choice(f, &f->hints->turn, HS_HINT_AXES, 1.5, TURNS, fits_turn);
}

/* Returns whether the offset from the root to the start points along an axis other than `up`,
   although its length can be an eye height. */
static bool is_beside_up(const struct hs_claim_facts *f)
{
    int axis = longest_axis(f->hints->offset);
    double height = fabs(along(f->hints->offset, axis));
    bool is_eye = (height > 0.3 && height < 3) || unit_of_game(f) >= 0;
    return axis != up_axis(f->match->ruleset) && is_eye && is_along(f->hints->offset, axis);
}

static enum hs_says says_up_axis(struct hs_claim_facts *f)
{
    f->measured = hs_vec_length(f->hints->offset) * f->eye_height;
    f->expected = f->eye_height;
    return answer(f->keeps_offset && is_beside_up(f));
}

static enum hs_says says_eye_height(struct hs_claim_facts *f)
{
    f->measured = hs_vec_distance(f->claim->start, f->root);
    f->expected = hs_vec_distance(f->eye, f->root);
    return answer(f->keeps_offset && f->off > f->tolerance && unit_of_game(f) < 0 &&
                  !is_beside_up(f));
}

/* Finds the pose that fits the start best. Returns how many seconds older this pose is than the
   pose used for the claim, or 0 if no pose fits. */
static double late_by(const struct hs_claim_facts *f)
{
    const struct hs_history *history = f->shooter->history;
    struct hs_vec offset = hs_vec_sub(f->claim->start, hs_vec_sub(f->eye, f->root));
    uint32_t count = hs_history_count(history);
    double nearest = 0.5 * f->tolerance, late = 0;
    for (uint32_t i = count > POSES ? count - POSES : 0; i < count; i++) {
        const struct hs_sample *sample = hs_history_at(history, i);
        double off = hs_vec_distance(sample->position, offset);
        if (off < nearest) {
            nearest = off;
            late = hs_seconds(f->result->eye_time_us - sample->time_us);
        }
    }
    return late;
}

static enum hs_says says_fire_time(struct hs_claim_facts *f)
{
    if (f->claim->has_fire_time || f->result->shot_was_posted)
        return HS_SAYS_NOTHING;
    struct hs_vec middle, half;
    hs_history_span_box(hs_history_span(f->shooter->history), &middle, &half);
    if (hs_vec_length(half) < f->tolerance ||
        (f->off > 0.25 * f->tolerance && f->off <= f->tolerance))
        return HS_SAYS_NOTHING; /* the shooter hardly moved, so every time fits; or the distance is
                                   neither a clear fit nor a clear failure */
    f->measured = f->off > f->tolerance ? late_by(f) : 0;
    return answer(fabs(f->measured) >= SHORTEST_LATE);
}

/* Reports the starts that no other rule explains. Answers yes if the claim starts further from the
   eye than the tolerance, and no earlier rule in the table explains the claim. */
static enum hs_says says_start(struct hs_claim_facts *f)
{
    if (!f->has_pose)
        return HS_SAYS_NOTHING;
    f->measured = f->off;
    f->expected = f->tolerance;
    return answer(f->off > f->tolerance && !f->is_explained);
}

/* Returns the outcome of a check, or unknown if the check did not run. */
static enum hs_outcome outcome_of(const struct hs_hit_result *result, enum hs_check check)
{
    for (uint16_t i = 0; i < result->check_count; i++)
        if (result->checks[i].check == check)
            return result->checks[i].outcome;
    return HS_OUTCOME_UNKNOWN;
}

/* Returns the target of the claim, or NULL if the path of the claim cannot be tested again (for
   example because the claim has pellets). Sets *lands to whether the path touched the target. */
static const struct hs_player *target_of(const struct hs_claim_facts *f, bool *lands)
{
    const struct hs_hit_claim *claim = f->claim;
    const struct hs_hit_result *result = f->result;
    enum hs_outcome outcome = outcome_of(result, HS_CHECK_CONTACT);
    *lands = outcome == HS_OUTCOME_PASS && (result->flags & 1u << HS_FLAG_LENIENT) == 0;
    if (outcome == HS_OUTCOME_UNKNOWN || claim->target.ptr == NULL || claim->pellet_count > 0 ||
        result->weapon == HS_NONE ||
        f->match->ruleset->weapons[result->weapon]->type == HS_WEAPON_PROJECTILE)
        return NULL;
    return hs_players_find(&f->match->players, claim->target);
}

/* Moves the path up by `high`. Returns whether this path touches the target `late_us` after
   `hit_time`. Sets *has_pose to whether the target has a pose at that time. */
static bool meets(struct hs_claim_facts *f, const struct hs_player *target, int64_t late_us,
                  double high, bool *has_pose)
{
    const struct hs_hit_claim *claim = f->claim;
    const struct hs_ruleset *ruleset = f->match->ruleset;
    struct hs_vec up = hs_vec_scale(hs_up_direction(ruleset->up), high);
    struct hs_path path;
    struct hs_contact contact;
    hs_path_trace(hs_vec_add(claim->start, up), hs_vec_add(claim->end, up),
                  ruleset->weapons[f->result->weapon]->radius, ruleset->hit.sweep_extension,
                  claim->hit_time_us + late_us, &path);
    hs_contact_find(&path, ruleset, target->history, false, HS_NONE, &f->work, &contact);
    *has_pose = contact.has_pose && !hs_work_is_over(&f->work);
    return *has_pose && contact.touched;
}

/* Tests the claim at hit_time and at hit_time + interp. If the claim hits only at the later time,
   the answer is yes. If the claim hits only at hit_time, the answer is no. Otherwise the answer is
   nothing. */
static enum hs_says says_interp_twice(struct hs_claim_facts *f)
{
    bool lands, has_pose;
    const struct hs_player *target = target_of(f, &lands);
    if (target == NULL || f->newest->interp_us <= 0)
        return HS_SAYS_NOTHING;
    bool meets_later = meets(f, target, f->newest->interp_us, 0, &has_pose);
    f->measured = hs_seconds(f->newest->interp_us);
    return !has_pose || meets_later == lands ? HS_SAYS_NOTHING : answer(meets_later);
}

/* Returns how far a choice shifts a path. */
static double shift_of(int choice, double step)
{
    static const int middle = SHIFTS / 2;
    return (choice - middle) * step;
}

static bool meets_shifted(struct hs_claim_facts *f, const struct hs_player *target, int choice,
                          bool is_time)
{
    bool has_pose;
    int64_t late_us = is_time ? hs_seconds_to_us(shift_of(choice, LATE_STEP)) : 0;
    double high = is_time ? 0 : shift_of(choice, HIGH_STEP * f->eye_height);
    return meets(f, target, late_us, high, &has_pose);
}

/*
 * Looks for one shift, in time or along `up`, that would turn most misses into hits. A miss that no
 * shift turns into a hit says nothing, because another mistake explains it. A hit that is still a
 * hit with the majority's shift says nothing either. `measured` is the middle of the shifts with
 * which the claim hits.
 */
static enum hs_says says_shift(struct hs_claim_facts *f, enum hs_hint_code code,
                               struct hs_majority *majority, bool is_time)
{
    bool lands;
    const struct hs_player *target = target_of(f, &lands);
    if (target == NULL || f->is_explained || f->off > f->tolerance || !(f->eye_height > 0))
        return HS_SAYS_NOTHING;
    if (lands)
        return majority->votes == 0 || !meets_shifted(f, target, majority->choice, is_time)
                   ? HS_SAYS_NO
                   : HS_SAYS_NOTHING;
    bool fits = false;
    int first = -1, last = -1;
    for (int i = 0; i < SHIFTS; i++) {
        if (!meets_shifted(f, target, i, is_time))
            continue;
        first = first < 0 ? i : first;
        last = i;
        fits = fits || (majority->votes > 0 && i == majority->choice);
    }
    if (first < 0 || hs_work_is_over(&f->work))
        return HS_SAYS_NOTHING;
    double step = is_time ? LATE_STEP : HIGH_STEP * f->eye_height;
    f->measured = 0.5 * (shift_of(first, step) + shift_of(last, step));
    return answer(agrees(majority, &f->hints->findings[code], fits, (first + last) / 2));
}

static enum hs_says says_hit_time(struct hs_claim_facts *f)
{
    return says_shift(f, HS_HINT_HIT_TIME, &f->hints->late, true);
}

static enum hs_says says_target_height(struct hs_claim_facts *f)
{
    return says_shift(f, HS_HINT_TARGET_HEIGHT, &f->hints->high, false);
}

static enum hs_says says_weapon(struct hs_claim_facts *f)
{
    return answer(f->claim->weapon.ptr == NULL && f->result->weapon == HS_NONE &&
                  hs_history_state(f->shooter->history, f->newest)->weapon == HS_NONE);
}

static enum hs_says says_rtt(struct hs_claim_facts *f)
{
    if (f->match->ruleset->checks[HS_CHECK_LATENCY] == HS_MODE_OFF)
        return HS_SAYS_NOTHING;
    return answer(f->newest->rtt_us < 0);
}

static enum hs_says says_rtt_unit(struct hs_claim_facts *f)
{
    if (f->newest->rtt_us < 0)
        return HS_SAYS_NOTHING;
    f->measured = hs_seconds(f->newest->rtt_us);
    return answer(f->measured > LONGEST_RTT);
}

static enum hs_says says_aim(struct hs_claim_facts *f)
{
    if (f->match->ruleset->checks[HS_CHECK_AIM] == HS_MODE_OFF)
        return HS_SAYS_NOTHING;
    return answer((f->result->flags & 1u << HS_FLAG_AIM_UNKNOWN) != 0);
}

/* ---- the table ---- */

const struct hs_hint_rule hs_hint_rules[HS_HINT_COUNT] = {
    [HS_HINT_MILLISECONDS] = {says_milliseconds, false, 0.6, HS_UNIT_SECONDS,
                              "claims have a time of %m s, frames %e s: are some times in "
                              "milliseconds? All times are in seconds."},
    [HS_HINT_CLOCK] = {says_clock, false, 0.6, HS_UNIT_SECONDS,
                       "times of claims and frames differ by %m s: do claims use another clock, "
                       "such as Unix time or the client's?"},
    [HS_HINT_UNIT_OF_CLAIMS] = {says_unit_of_claims, true, 0.6, HS_UNIT_LENGTH,
                                "starts are %m from the origin of the world, eyes %e: are claims "
                                "in %p and frames in %a?"},
    [HS_HINT_UNIT_OF_RULESET] = {says_unit_of_ruleset, true, 0.6, HS_UNIT_LENGTH,
                                 "every start is %m from `position`, eyes of the ruleset are %e: "
                                 "does the game count in %p and the ruleset in %a?"},
    [HS_HINT_AXES] = {says_axes, true, 0.6, HS_UNIT_NONE,
                      "starts fit the eyes once their axes are swapped or mirrored: do claims and "
                      "frames use the same axes?"},
    [HS_HINT_UP_AXIS] = {says_up_axis, true, 0.6, HS_UNIT_LENGTH,
                         "every start is %m from `position` along an axis that is not the "
                         "ruleset's `up`: does the ruleset fit the engine?"},
    [HS_HINT_EYE_HEIGHT] = {says_eye_height, true, 0.6, HS_UNIT_LENGTH,
                            "every start is %m from `position`, but the eye is %e from it: is "
                            "`position` between the feet, and is `eye` right?"},
    [HS_HINT_FIRE_TIME] =
        {says_fire_time, true, 0.6, HS_UNIT_SECONDS,
         "starts fit the shooter's place %m s before the claim arrived: send that "
         "time as `fire_time`."},
    [HS_HINT_START] = {says_start, false, 0.6, HS_UNIT_LENGTH,
                       "starts are %m from the eye, %e is tolerated, and no unit, axis, offset or "
                       "time explains it: do claims and frames mean the same player?"},
    [HS_HINT_INTERP_TWICE] =
        {says_interp_twice, true, 0.6, HS_UNIT_SECONDS,
         "claims hit only %m s after their `hit_time`, which is as long as `interp`: "
         "is interpolation subtracted twice?"},
    [HS_HINT_HIT_TIME] = {says_hit_time, true, 0.6, HS_UNIT_SECONDS,
                          "most misses would hit if `hit_time` were %m s later (if negative: "
                          "earlier): do `hit_time` and the times of frames mean the same moment?"},
    [HS_HINT_TARGET_HEIGHT] = {says_target_height, true, 0.6, HS_UNIT_LENGTH,
                               "most misses would hit if their paths were %m higher (if negative: "
                               "lower): is `position` at the root of the ruleset's rig?"},
    [HS_HINT_WEAPON] = {says_weapon, true, 0.6, HS_UNIT_NONE,
                        "neither frames nor claims name the shooter's weapon: send `weapon` in "
                        "the first frame of a player."},
    [HS_HINT_RTT] = {says_rtt, true, 0.95, HS_UNIT_NONE,
                     "no frame has `rtt`, so `hit_time` is not compared with the shooter's "
                     "connection: send `rtt` in seconds."},
    [HS_HINT_RTT_UNIT] = {says_rtt_unit, true, 0.6, HS_UNIT_SECONDS,
                          "round trips are %m s: is `rtt` in milliseconds? Send it in seconds."},
    [HS_HINT_AIM] = {says_aim, true, 0.6, HS_UNIT_NONE,
                     "no frame has `aim`, and no posted shot has `direction`, so shots are not "
                     "compared with the shooter's aim: send one of them."},
};
