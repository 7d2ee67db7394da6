/* Finds valid values in a ruleset that are probably mistakes. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "validators/geometry/quat.h"
#include "validators/ruleset.h"

struct warning {
    hs_ruleset_report *report;
    void *context;
    size_t count;
    const struct hs_rig *rig; /* the default rig; other lengths are compared with its reach */
    double body;              /* length; reach of `rig` in its upright stance */
};

static void warn(struct warning *w, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void warn(struct warning *w, const char *pointer, const char *format, ...)
{
    char text[384];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    w->count++;
    if (w->report != NULL)
        w->report(w->context, pointer, text);
}

/* ---- the direction of rigs ---- */

/* Returns the stance whose eye is furthest from the root. */
static const struct hs_stance *upright(const struct hs_rig *rig)
{
    const struct hs_stance *found = &rig->stances[0];
    for (int i = 1; i < rig->stance_count; i++)
        if (hs_vec_length(rig->stances[i].eye) > hs_vec_length(found->eye))
            found = &rig->stances[i];
    return found;
}

static double along(struct hs_vec v, enum hs_up up)
{
    return hs_vec_dot(v, hs_up_direction(up));
}

/*
 * Returns the direction in which `v` has its largest component, if this component is more than four
 * times the component along `up`. Otherwise returns `up`. An animal may be longer than it is tall,
 * but its length is less than four times its height. A body that was built along an axis other than
 * `up` has almost no height.
 */
static enum hs_up longest_direction(struct hs_vec v, enum hs_up up)
{
    enum hs_up longest = up;
    for (int i = HS_UP_PX; i <= HS_UP_NZ; i++)
        if (along(v, (enum hs_up)i) > along(v, longest))
            longest = (enum hs_up)i;
    return along(v, up) < along(v, longest) / 4 ? longest : up;
}

/* Returns the lengths of the sides of the box around the root and the centres of all hitboxes. */
static struct hs_vec extent(const struct hs_rig *rig, const struct hs_stance *stance)
{
    struct hs_vec low = {0, 0, 0}, high = {0, 0, 0};
    for (int i = 0; i < rig->hitbox_count; i++) {
        const struct hs_hitbox *box = &rig->hitboxes[i];
        const struct hs_rest_bone *bone = &stance->bones[box->bone];
        struct hs_vec scaled = {box->center.x * (double)bone->scale[0],
                                box->center.y * (double)bone->scale[1],
                                box->center.z * (double)bone->scale[2]};
        struct hs_vec turned = box->axis_aligned ? scaled : hs_quat_rotate(bone->rotation, scaled);
        struct hs_vec at = hs_vec_add(bone->position, turned);
        low = hs_vec_min(low, at);
        high = hs_vec_max(high, at);
    }
    return hs_vec_sub(high, low);
}

static void check_rig(struct warning *w, const struct hs_rig *rig, enum hs_up up)
{
    const struct hs_stance *stance = upright(rig);
    const char *name = hs_up_name(up);
    char pointer[2 * HS_NAME_MAX + 64];
    enum hs_up eye_up = longest_direction(stance->eye, up);
    double eye = hs_vec_length(stance->eye);
    snprintf(pointer, sizeof pointer, "/rigs/%s/stances/%s/eye", rig->name.text, stance->name.text);
    if (eye_up != up)
        warn(w, pointer,
             "the eye is %g along %s and %g along %s, but `up` is %s: set `up` to %s, or turn the "
             "rig",
             along(stance->eye, eye_up), hs_up_name(eye_up), along(stance->eye, up), name, name,
             hs_up_name(eye_up));
    else if (eye > 5 * stance->reach || (eye > 0 && eye < stance->reach / 50))
        warn(w, pointer,
             "the eye is %g from the root and the hitboxes reach %g from it: one of them looks "
             "like another unit of length",
             eye, stance->reach);
    if (eye_up != up)
        return;
    /* `size` has no sign, so the positive direction of each axis is enough. */
    struct hs_vec size = extent(rig, stance);
    double height = fabs(along(size, up));
    enum hs_up widest = size.x >= size.y && size.x >= size.z ? HS_UP_PX
                        : size.y >= size.z                   ? HS_UP_PY
                                                             : HS_UP_PZ;
    snprintf(pointer, sizeof pointer, "/rigs/%s/hitboxes", rig->name.text);
    if (height < along(size, widest) / 4)
        warn(w, pointer,
             "the hitboxes extend by %g along %s and by %g along `up`, which is %s: change `up`, "
             "or turn the rig",
             along(size, widest), hs_up_name(widest) + 1, height, name);
}

/* ---- units of length ---- */

/*
 * Divides `value` by the reach of the body. Warns and returns false if the ratio is below `low` or
 * above `high`. A speed counts as the length covered in a second. 0 is accepted, because it means
 * that the value is not set. The ratio to the body does not depend on the unit of length. The
 * bounds are wide. But the bounds differ from usual values by a factor of less than 100, so that a
 * mix-up of metres and centimetres is found.
 */
static bool check_length(struct warning *w, const char *pointer, double value, double low,
                         double high)
{
    double times = value / w->body;
    if (value == 0 || !(w->body > 0) || (times >= low && times <= high))
        return true;
    warn(w, pointer,
         "%g is %.3g times the body of the rig `%s`, which reaches %g from its root: it looks like "
         "another unit of length (lengths that a document leaves out are in centimetres)",
         value, times, w->rig->name.text, w->body);
    return false;
}

static void check_weapons(struct warning *w, const struct hs_ruleset *ruleset)
{
    const struct hs_weapon *furthest = NULL; /* the non-melee weapon with the longest range */
    char pointer[HS_NAME_MAX + 64];
    for (int i = 0; i < ruleset->weapon_count; i++) {
        const struct hs_weapon *weapon = ruleset->weapons[i];
        snprintf(pointer, sizeof pointer, "/weapons/%s/min_interval", weapon->name.text);
        if (weapon->min_interval_us == 0)
            warn(w, pointer,
                 "is 0, so the rate of fire is not checked: set the seconds between two shots");
        snprintf(pointer, sizeof pointer, "/weapons/%s/spread_deg", weapon->name.text);
        if (weapon->pellets > 1 && weapon->spread_deg == 0)
            warn(w, pointer,
                 "is 0, so all pellets must fly the same way: set half the angle of their cone");
        snprintf(pointer, sizeof pointer, "/weapons/%s/pierce", weapon->name.text);
        if (weapon->pellets > 1 && weapon->pierce > 0)
            warn(w, pointer,
                 "is %g, but each of the weapon's pellets hurts only one body: set `pierce` to 0, "
                 "or "
                 "`pellets` to 1",
                 (double)weapon->pierce);
        snprintf(pointer, sizeof pointer, "/weapons/%s/radius", weapon->name.text);
        bool fine = check_length(w, pointer, weapon->radius, 0, 1);
        snprintf(pointer, sizeof pointer, "/weapons/%s/range", weapon->name.text);
        if (weapon->type == HS_WEAPON_MELEE && fine)
            check_length(w, pointer, weapon->range, 0.05, 10);
        if (weapon->type != HS_WEAPON_MELEE &&
            (furthest == NULL || weapon->range > furthest->range))
            furthest = weapon;
    }
    if (furthest == NULL)
        return;
    snprintf(pointer, sizeof pointer, "/weapons/%s/range", furthest->name.text);
    check_length(w, pointer, furthest->range, 10, HUGE_VAL);
}

static void check_speeds(struct warning *w, const struct hs_moves_rules *moves)
{
    const struct hs_move_mode *slow = NULL, *fast = NULL;
    for (int i = 0; i < moves->mode_count; i++) {
        const struct hs_move_mode *mode = &moves->modes[i];
        if (mode->max_speed == 0)
            continue; /* this mode has no speed limit */
        slow = slow == NULL || mode->max_speed < slow->max_speed ? mode : slow;
        fast = fast == NULL || mode->max_speed > fast->max_speed ? mode : fast;
    }
    if (slow == NULL || fast == NULL)
        return;
    char pointer[HS_NAME_MAX + 64];
    snprintf(pointer, sizeof pointer, "/moves/modes/%s/max_speed", fast->name.text);
    check_length(w, pointer, fast->max_speed, 1, HUGE_VAL);
    snprintf(pointer, sizeof pointer, "/moves/modes/%s/max_speed", slow->name.text);
    check_length(w, pointer, slow->max_speed, 0, 100);
}

/* Warns about at most one radius and one step, because all modes usually have the same values. */
static void check_bodies(struct warning *w, const struct hs_moves_rules *moves)
{
    bool radius_is_fine = true, step_is_fine = true;
    char pointer[HS_NAME_MAX + 64];
    for (int i = 0; i < moves->mode_count; i++) {
        const struct hs_move_mode *mode = &moves->modes[i];
        snprintf(pointer, sizeof pointer, "/moves/modes/%s/body_radius", mode->name.text);
        radius_is_fine = radius_is_fine && check_length(w, pointer, mode->body_radius, 0.01, 1);
        snprintf(pointer, sizeof pointer, "/moves/modes/%s/step", mode->name.text);
        step_is_fine = step_is_fine && check_length(w, pointer, mode->step, 0.01, 2);
    }
}

size_t hs_ruleset_warn(const struct hs_ruleset *ruleset, hs_ruleset_report *report, void *context)
{
    const struct hs_rig *rig = ruleset->rigs[ruleset->default_rig];
    struct warning w = {report, context, 0, rig, upright(rig)->reach};
    for (int i = 0; i < ruleset->rig_count; i++)
        check_rig(&w, ruleset->rigs[i], ruleset->up);
    check_length(&w, "/history/max_speed", ruleset->history.max_speed, 5, HUGE_VAL);
    check_length(&w, "/hit/origin_tolerance", ruleset->hit.origin_tolerance, 0.01, 5);
    check_length(&w, "/hit/sweep_extension", ruleset->hit.sweep_extension, 0, 3);
    check_weapons(&w, ruleset);
    check_speeds(&w, &ruleset->moves);
    check_bodies(&w, &ruleset->moves);
    return w.count;
}
