#include "validators/moves/world.h"

#include "validators/base/units.h"
#include "validators/world/blockers.h"

/* Height of the sphere's centre above the feet, in radii. With a height of 1, the sphere would
   touch every slope. With a height of 3, the sphere would not fit under low edges. */
#define CENTER_RADII 2.0

/* A body can stand on an edge that is up to this far from the body's centre, in radii, because
   bodies are wider than the sphere. For a radius of 0.2 m, this distance is 0.5 m. This is the
   distance from the centre of a square body with a width of 0.7 m to its corners. */
#define LEDGE_RADII 2.5

/* A body is on a base if its distance from the base's box is at most this many radii plus `step`.
 */
#define RIDING_RADII 4.0

/* A body may walk without ground for this time. When a player begins to fall, the client may send
   some moves before the mode changes. */
#define GRACE_US INT64_C(200000)

/* The min time between two searches for ground. A body that runs at 6 m/s covers 0.3 m in this
   time. */
#define LOOK_US INT64_C(50000)

/* The time without ground grows by at most this much between two searches. */
#define LOOK_MAX_US INT64_C(100000)

/* A path around an obstacle may take at most this time. */
#define SEARCH_MAX_S 1.0

/* The lag is the round trip plus the interpolation delay. The lag is LAG_UNKNOWN_US if the round
   trip is unknown, and at most LAG_MAX_US. */
#define LAG_UNKNOWN_US INT64_C(200000)
#define LAG_MAX_US     INT64_C(500000)

/* The work limit (struct hs_work) of one search for a path around an obstacle. This is about the
   work of a few hit claims. */
enum { SEARCH_WORK = 40000 };

/* ---- places ---- */

static const struct hs_move_mode *mode_at(const struct hs_moves_rules *rules, uint16_t mode)
{
    return mode < rules->mode_count ? &rules->modes[mode] : NULL;
}

/* Returns whether there is nothing to check, because there is no map, no mover and no base. */
static bool is_open(const struct hs_move_trace *trace)
{
    return trace->match->world == NULL && trace->match->movers.count == 0 &&
           trace->move->base.ptr == NULL;
}

static const struct hs_mover *mover_numbered(const struct hs_match *match, uint32_t number)
{
    return number > 0 && number <= match->movers.count ? &match->movers.all[number - 1] : NULL;
}

/* Sets base_path to the shortest of three paths from the place of the last move. The three paths
   are measured in the world, relative to the old base, and relative to the new base. */
static void find_base_path(struct hs_move_trace *trace)
{
    const struct hs_whereabouts *before = trace->before;
    const struct hs_mover *bases[] = {mover_numbered(trace->match, before->base), trace->base};
    trace->base_path = hs_vec_sub(trace->place, before->place);
    trace->has_base_path = true;
    for (int i = 0; i < 2; i++) {
        struct hs_vec start = before->place;
        if (bases[i] == NULL || !hs_mover_carry(bases[i], trace->match->ruleset, before->place_us,
                                                trace->move->received_us, &start))
            continue;
        struct hs_vec path = hs_vec_sub(trace->place, start);
        if (hs_vec_dot(path, path) < hs_vec_dot(trace->base_path, trace->base_path))
            trace->base_path = path;
    }
}

void hs_move_trace_begin(struct hs_move_trace *trace, const struct hs_match *match,
                         const struct hs_whereabouts *before, const struct hs_move *move,
                         uint16_t mode, int64_t rtt_us, int64_t interp_us)
{
    int64_t lag_us = rtt_us >= 0 ? rtt_us + interp_us : LAG_UNKNOWN_US;
    *trace = (struct hs_move_trace){.match = match,
                                    .move = move,
                                    .before = before,
                                    .mode = mode_at(&match->ruleset->moves, mode),
                                    .lag_us = lag_us < LAG_MAX_US ? lag_us : LAG_MAX_US,
                                    .looked_us = before->looked_us,
                                    .hover_us = before->hover_us,
                                    .is_hovering = before->is_hovering};
    if (is_open(trace))
        return;
    trace->place = move->position;
    trace->is_placed = true;
    if (move->base.ptr != NULL) {
        trace->base = hs_movers_find(&match->movers, move->base, 0);
        trace->has_unknown_base = trace->base == NULL;
        trace->is_placed =
            trace->base != NULL &&
            hs_mover_to_world(trace->base, match->ruleset, move->received_us, &trace->place);
    }
    if (trace->base != NULL)
        trace->base_number = (uint32_t)(trace->base - match->movers.all) + 1;
    if (trace->is_placed && before->has_place && trace->base_number != before->base)
        find_base_path(trace);
}

/* ---- sweeps ---- */

enum { TIMES = 4, STARTS = 2 };

struct search {
    struct hs_blockers blockers;
    struct hs_work work;
    struct hs_vec up;
    double radius;
    int64_t times[TIMES]; /* times at which movers are tested */
    int time_count;
    bool is_unknown; /* a mover may be in the way, but its position at the tested time is unknown */
};

static void begin_search(const struct hs_move_trace *trace, double radius, struct search *s)
{
    int64_t now_us = trace->move->received_us;
    *s = (struct search){.blockers = {.world = trace->match->world,
                                      .movers = &trace->match->movers,
                                      .ruleset = trace->match->ruleset,
                                      .without = trace->base},
                         .up = hs_up_direction(trace->match->ruleset->up),
                         .radius = radius,
                         .times = {now_us},
                         .time_count = 1};
    s->blockers.work = &s->work;
    if (trace->match->movers.count == 0)
        return;
    s->times[s->time_count++] = now_us - trace->lag_us;
    if (!trace->before->has_place || trace->before->place_us >= now_us)
        return;
    /* The connection may have delayed this move by up to the time since the previous move. So test
       the times of the previous move too. */
    s->times[s->time_count++] = trace->before->place_us;
    s->times[s->time_count++] = trace->before->place_us - trace->lag_us;
}

/* Sweeps against the map if `time_us` is NULL, otherwise against the movers at that time. */
static void cast(struct search *s, const struct hs_sweep *sweep, const int64_t *time_us,
                 struct hs_obstacle *out)
{
    if (time_us == NULL)
        hs_blockers_sweep_map(&s->blockers, sweep, out);
    else
        hs_blockers_sweep_movers(&s->blockers, sweep, *time_us, out);
}

/*
 * Returns whether an obstacle stops the sphere between two points. If so, sets *distance to the
 * distance before the obstacle. If the sphere already touches something at its start, a ray is
 * tested instead, so that a body can move away from a wall. If the start of the ray is inside an
 * obstacle, nothing stops the body, so that it can leave the obstacle.
 */
static bool is_stopped(struct search *s, struct hs_vec from, struct hs_vec to,
                       const int64_t *time_us, double *distance)
{
    struct hs_vec along = hs_vec_sub(to, from);
    struct hs_sweep sweep = {.start = from, .length = hs_vec_length(along), .radius = s->radius};
    if (!(sweep.length > 0))
        return false;
    sweep.direction = hs_vec_scale(along, 1 / sweep.length);
    struct hs_obstacle met;
    cast(s, &sweep, time_us, &met);
    if (met.touched && met.contact.distance <= 0) {
        sweep.radius = 0;
        cast(s, &sweep, time_us, &met);
    }
    bool is_there = met.touched && met.contact.distance > 0;
    s->is_unknown |= met.is_unknown;
    if (is_there)
        *distance = met.contact.distance;
    return is_there;
}

/* A path of the sphere's centre. The path consists of straight legs between the points. */
enum { TRAIL_POINTS = 4 };
struct trail {
    struct hs_vec point[TRAIL_POINTS];
    int count;
    /* The places to which the old base and the new base have carried the start of the path. If
       there are such places, tests against movers use them instead of point[0]. The path counts as
       free if it is free with one of these places as its start. */
    struct hs_vec carried[STARTS];
    int carried_count;
};

static bool is_free_of_map(struct search *s, const struct trail *trail, double *distance)
{
    for (int i = 1; i < trail->count; i++)
        if (is_stopped(s, trail->point[i - 1], trail->point[i], NULL, distance))
            return false;
    return true;
}

static bool is_free_of_movers_at(struct search *s, const struct trail *trail, struct hs_vec start,
                                 const int64_t *time_us, double *distance)
{
    for (int i = 1; i < trail->count; i++) {
        struct hs_vec from = i == 1 ? start : trail->point[i - 1];
        if (is_stopped(s, from, trail->point[i], time_us, distance))
            return false;
    }
    return true;
}

/* Returns whether the path is free of movers at one of the times. A time is skipped if a mover may
   be in the way and its position at this time is unknown. If all times are skipped, returns
   true. */
static bool is_free_of_movers(struct search *s, const struct trail *trail, double *distance)
{
    bool is_blocked = false;
    int starts = trail->carried_count > 0 ? trail->carried_count : 1;
    for (int i = 0; i < s->time_count * starts && s->blockers.movers->count > 0; i++) {
        struct hs_vec start =
            trail->carried_count > 0 ? trail->carried[i % starts] : trail->point[0];
        s->is_unknown = false;
        if (!is_free_of_movers_at(s, trail, start, &s->times[i / starts], distance))
            is_blocked = true;
        else if (!s->is_unknown)
            return true;
    }
    return !is_blocked;
}

static bool is_free(struct search *s, const struct trail *trail)
{
    double unused;
    return is_free_of_map(s, trail, &unused) && is_free_of_movers(s, trail, &unused) &&
           !hs_work_is_over(&s->work);
}

/* ---- paths around obstacles ---- */

/* How far a path may deviate from the straight path. */
struct freedom {
    double lift;  /* upwards, for a step and the arc of a jump */
    double trace; /* length of the longest possible path */
};

static struct freedom freedom_of(const struct hs_move_trace *trace, double length, double time_s)
{
    const struct hs_moves_rules *rules = &trace->match->ruleset->moves;
    double step = 0, gravity = 0, speed = trace->mode != NULL ? trace->mode->max_speed : 0;
    for (int i = 0; i < rules->mode_count; i++) { /* the mode may have changed */
        step = hs_larger(step, rules->modes[i].step);
        gravity = hs_larger(gravity, rules->modes[i].gravity);
    }
    /* The arc of a jump that takes `time_s` rises gravity * time_s^2 / 8 above its ends. */
    return (struct freedom){.lift = step + gravity * time_s * time_s / 8,
                            .trace = speed > 0 ? speed * time_s : 1.5 * length};
}

static bool is_free_over(struct search *s, struct trail *trail, struct hs_vec from,
                         struct hs_vec to, double lift)
{
    trail->point[1] = hs_vec_add_scaled(from, s->up, lift);
    trail->point[2] = hs_vec_add_scaled(to, s->up, lift);
    trail->point[3] = to;
    trail->count = 4;
    return is_free(s, trail);
}

/* Tries a path with one corner. If the path climbs, it goes straight up first, then horizontally.
   Otherwise it goes horizontally first, then straight down. */
static bool is_free_by_corner(struct search *s, struct trail *trail, struct hs_vec from,
                              struct hs_vec to)
{
    double climb = hs_vec_dot(hs_vec_sub(to, from), s->up);
    trail->point[1] =
        climb > 0 ? hs_vec_add_scaled(from, s->up, climb) : hs_vec_add_scaled(to, s->up, -climb);
    trail->point[2] = to;
    trail->count = 3;
    return is_free(s, trail);
}

/* Tries paths on one side of the straight path. Each of six paths goes through one point beside the
   straight path. A seventh path runs parallel to the straight path. */
static bool is_free_aside(struct search *s, struct trail *trail, struct hs_vec from,
                          struct hs_vec to, struct hs_vec aside, double length, double trace)
{
    static const double shares[] = {0.5, 0.25, 0.75};
    /* All paths of length `trace` are inside an ellipse with `from` and `to` as its foci. `most` is
       half the width of the ellipse. */
    double most = sqrt(trace * trace - length * length) / 2;
    for (int i = 0; i < 6; i++) {
        trail->point[1] = hs_vec_add_scaled(hs_vec_lerp(from, to, shares[i / 2]), aside,
                                            i % 2 == 0 ? most : most / 2);
        trail->point[2] = to;
        trail->count = 3;
        if (is_free(s, trail))
            return true;
    }
    double beside = (trace - length) / 2;
    trail->point[1] = hs_vec_add_scaled(from, aside, beside);
    trail->point[2] = hs_vec_add_scaled(to, aside, beside);
    trail->point[3] = to;
    trail->count = 4;
    return is_free(s, trail);
}

static bool has_way_around(struct search *s, struct trail *trail, const struct freedom *freedom)
{
    struct hs_vec from = trail->point[0], to = trail->point[1];
    if (is_free_over(s, trail, from, to, freedom->lift) ||
        is_free_over(s, trail, from, to, freedom->lift / 2) ||
        is_free_by_corner(s, trail, from, to))
        return true;
    struct hs_vec path = hs_vec_sub(to, from), aside = hs_vec_cross(s->up, path);
    double length = hs_vec_length(path), width = hs_vec_length(aside);
    if (freedom->trace <= length || !(width > 0))
        return false;
    aside = hs_vec_scale(aside, 1 / width);
    return is_free_aside(s, trail, from, to, aside, length, freedom->trace) ||
           is_free_aside(s, trail, from, to, hs_vec_scale(aside, -1), length, freedom->trace);
}

/* ---- path ---- */

/* Returns the body radius of the mode, or the smallest body radius of all modes if the mode is
   unknown. Returns 0 if there is no radius, and the path is then not checked. Also returns 0 if the
   radius is larger than ruleset->reach, because the radius is then probably in another unit of
   length. */
static double body_radius(const struct hs_move_trace *trace)
{
    const struct hs_moves_rules *rules = &trace->match->ruleset->moves;
    double least = trace->mode != NULL ? trace->mode->body_radius : 0;
    for (int i = 0; i < rules->mode_count && trace->mode == NULL; i++) {
        double radius = rules->modes[i].body_radius;
        least = radius > 0 && (least == 0 || radius < least) ? radius : least;
    }
    return least <= trace->match->ruleset->reach ? least : 0;
}

static struct trail trail_between(const struct hs_move_trace *trace, const struct search *s,
                                  struct hs_vec from, struct hs_vec to)
{
    const struct hs_mover *bases[] = {mover_numbered(trace->match, trace->before->base),
                                      trace->base};
    double height = CENTER_RADII * s->radius;
    struct trail trail = {.count = 2};
    trail.point[0] = hs_vec_add_scaled(from, s->up, height);
    trail.point[1] = hs_vec_add_scaled(to, s->up, height);
    for (int i = 0; i < 2; i++) {
        struct hs_vec start = trail.point[0];
        if (bases[i] != NULL && (i == 0 || bases[i] != bases[0]) &&
            hs_mover_carry(bases[i], trace->match->ruleset, trace->before->place_us,
                           trace->move->received_us, &start))
            trail.carried[trail.carried_count++] = start;
    }
    return trail;
}

/* Returns whether a body can get from `from` to the end of the move in `time_s`. If it cannot,
   describes the obstacle in *out. */
static bool can_pass(const struct hs_move_trace *trace, struct search *s, struct hs_vec from,
                     double time_s, struct hs_movement_finding *out)
{
    struct trail trail = trail_between(trace, s, from, trace->place);
    double length = hs_vec_distance(trail.point[0], trail.point[1]), distance = 0;
    s->work = (struct hs_work){0};
    if (is_free_of_map(s, &trail, &distance) && is_free_of_movers(s, &trail, &distance))
        return true;
    s->work.limit = s->work.spent + SEARCH_WORK;
    struct freedom freedom = freedom_of(trace, length, time_s);
    if (has_way_around(s, &trail, &freedom))
        return true;
    *out = (struct hs_movement_finding){true, HS_UNIT_LENGTH, distance, length};
    return false;
}

static void check_path(struct hs_move_trace *trace, double time_us, bool uses_corrected)
{
    const struct hs_whereabouts *before = trace->before;
    double radius = body_radius(trace);
    if (!before->has_place || radius <= 0 ||
        trace->match->ruleset->move_checks[HS_MOVE_CHECK_PATH] == HS_MODE_OFF)
        return;
    struct search search;
    struct hs_movement_finding found = {0}, unused = {0};
    begin_search(trace, radius, &search);
    int64_t since_us = trace->move->received_us - before->place_us;
    double time_s = hs_clamp(hs_larger(time_us, (double)since_us) / 1e6, 0, SEARCH_MAX_S);
    if (can_pass(trace, &search, before->place, time_s, &found))
        return;
    trace->used_corrected = uses_corrected && before->has_corrected &&
                            can_pass(trace, &search, before->corrected, time_s, &unused);
    if (!trace->used_corrected)
        trace->path = found;
}

/* ---- ground ---- */

/* Sweeps a sphere downwards, from `height` above the feet to `step` below the feet. Returns whether
   the sphere touches ground. Something that the sphere touches at its start is a wall, not
   ground. */
static bool is_above_ground(struct search *s, struct hs_vec feet, double height, double step,
                            double radius)
{
    struct hs_sweep sweep = {.start = hs_vec_add_scaled(feet, s->up, height),
                             .direction = hs_vec_scale(s->up, -1),
                             .length = height + step - radius,
                             .radius = radius};
    struct hs_obstacle met;
    hs_blockers_sweep_map(&s->blockers, &sweep, &met);
    if (met.touched && met.contact.distance > 0)
        return true;
    for (int t = 0; t < s->time_count && s->blockers.movers->count > 0; t++) {
        hs_blockers_sweep_movers(&s->blockers, &sweep, s->times[t], &met);
        if ((met.touched && met.contact.distance > 0) || met.is_unknown)
            return true;
    }
    return false;
}

static bool has_ground(const struct hs_move_trace *trace, double radius, double step)
{
    struct search s;
    begin_search(trace, radius, &s);
    struct hs_vec place = trace->place, east = {s.up.y, s.up.z, s.up.x};
    struct hs_vec north = hs_vec_cross(s.up, east);
    double height = CENTER_RADII * radius;
    struct hs_sweep down = {.start = hs_vec_add_scaled(place, s.up, height),
                            .direction = hs_vec_scale(s.up, -1),
                            .length = height + step};
    struct hs_obstacle met;
    hs_blockers_sweep_map(&s.blockers, &down, &met);
    if (met.touched) /* the usual case; a body that is inside the map also counts as standing */
        return true;
    if (is_above_ground(&s, place, height, step, radius))
        return true;
    for (int i = 0; i < 8; i++) { /* the body may stand on an edge */
        static const double cosine[] = {1,  0.70710678118654752,  0, -0.70710678118654752,
                                        -1, -0.70710678118654752, 0, 0.70710678118654752};
        struct hs_vec at = hs_vec_add_scaled(place, east, cosine[i] * LEDGE_RADII * radius);
        at = hs_vec_add_scaled(at, north, cosine[(i + 6) % 8] * LEDGE_RADII * radius);
        if (is_above_ground(&s, at, height, step, 0))
            return true;
    }
    return false;
}

static void check_ground(struct hs_move_trace *trace)
{
    const struct hs_move_mode *mode = trace->mode;
    int64_t since_us = trace->move->received_us - trace->looked_us;
    bool is_judged = mode != NULL && mode->step > 0 && trace->match->world != NULL &&
                     mode->step <= trace->match->ruleset->reach;
    enum hs_mode check = trace->match->ruleset->move_checks[HS_MOVE_CHECK_GROUND];
    if (!is_judged || check == HS_MODE_OFF || (since_us >= 0 && since_us < LOOK_US))
        return;
    trace->looked_us = trace->move->received_us;
    if (trace->base != NULL || has_ground(trace, mode->body_radius, mode->step)) {
        trace->is_hovering = false;
        trace->hover_us = 0;
        return;
    }
    if (trace->is_hovering && since_us > 0)
        trace->hover_us += since_us < LOOK_MAX_US ? since_us : LOOK_MAX_US;
    trace->is_hovering = true;
    if (trace->hover_us <= GRACE_US)
        return;
    trace->ground = (struct hs_movement_finding){true, HS_UNIT_SECONDS, hs_seconds(trace->hover_us),
                                                 hs_seconds(GRACE_US)};
    if (check != HS_MODE_ENFORCE)
        trace->hover_us = 0; /* report the next failure after another GRACE_US */
}

/* ---- base ---- */

static void check_base(struct hs_move_trace *trace, bool is_new_base)
{
    const struct hs_move_mode *mode = trace->mode;
    enum hs_mode check = trace->match->ruleset->move_checks[HS_MOVE_CHECK_BASE];
    if (trace->has_unknown_base && (is_new_base || check == HS_MODE_ENFORCE))
        trace->base_found = (struct hs_movement_finding){true, HS_UNIT_NONE, 0, 0};
    double limit = mode != NULL ? mode->step + RIDING_RADII * mode->body_radius : 0;
    if (trace->base == NULL || limit <= 0)
        return;
    const struct hs_mover_state *state = hs_mover_newest_state(trace->base);
    const struct hs_solid box = {.center = state->center,
                                 .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                 .half_extents = state->half_extents,
                                 .axis_aligned = true};
    double off = hs_solid_distance(&box, trace->move->position);
    if (off > limit)
        trace->base_found = (struct hs_movement_finding){true, HS_UNIT_LENGTH, off, limit};
}

/* ---- a move ---- */

void hs_move_trace_judge(struct hs_move_trace *trace, double time_us, bool uses_corrected,
                         bool is_new_base)
{
    check_base(trace, is_new_base);
    if (!trace->is_placed)
        return;
    check_path(trace, time_us, uses_corrected);
    check_ground(trace);
}

bool hs_move_trace_found(const struct hs_move_trace *trace)
{
    return trace->path.failed || trace->ground.failed || trace->base_found.failed;
}

void hs_move_trace_excuse(struct hs_move_trace *trace)
{
    trace->path.failed = trace->ground.failed = trace->base_found.failed = false;
    trace->is_hovering = false;
    trace->hover_us = 0;
}

void hs_move_trace_keep(const struct hs_move_trace *trace, struct hs_whereabouts *whereabouts)
{
    *whereabouts = (struct hs_whereabouts){.place = trace->place,
                                           .place_us = trace->move->received_us,
                                           .base = trace->base_number,
                                           .has_place = trace->is_placed,
                                           .corrected = whereabouts->corrected,
                                           .has_corrected = whereabouts->has_corrected,
                                           .looked_us = trace->looked_us,
                                           .hover_us = trace->hover_us,
                                           .is_hovering = trace->is_hovering};
}

/* Computes the server's position in world coordinates. Returns false if the position of the
   server's base is unknown. */
static bool find_server_place(const struct hs_move_trace *trace, struct hs_vec *out)
{
    const struct hs_move *move = trace->move;
    struct hs_str base = move->server_base.ptr != NULL ? move->server_base : move->base;
    *out = move->server_position;
    if (base.ptr == NULL)
        return true;
    const struct hs_mover *mover = hs_movers_find(&trace->match->movers, base, 0);
    return mover != NULL && hs_mover_to_world(mover, trace->match->ruleset, move->received_us, out);
}

struct hs_vec hs_move_trace_apart(const struct hs_move_trace *trace)
{
    const struct hs_move *move = trace->move;
    struct hs_vec there;
    bool is_other = move->server_base.ptr != NULL && !hs_str_equal(move->server_base, move->base);
    if (is_other && trace->is_placed && find_server_place(trace, &there))
        return hs_vec_sub(there, trace->place);
    return hs_vec_sub(move->server_position, move->position);
}

void hs_move_trace_correct(const struct hs_move_trace *trace, struct hs_whereabouts *whereabouts)
{
    whereabouts->has_corrected = find_server_place(trace, &whereabouts->corrected);
}
