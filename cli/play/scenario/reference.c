#include "cli/play/scenario/reference.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/play/words.h"

#define HALF_ROOT 0.70710678118654752440 /* sqrt(2)/2: sine and cosine of 45 degrees */

const struct hs_reference hs_references[HS_REFERENCES] = {
    {"metres", 1, {0, 1, 2}, {1, 1, 1}, {0, 0, 0, 1}, {0, 0, 0}, 0},
    {"centimetres", 100, {0, 1, 2}, {1, 1, 1}, {0, 0, 0, 1}, {0, 0, 0}, 0},
    /* A rotation by -90 degrees about x makes y the up axis instead of z: (x, y, z) becomes (x, z,
       -y). */
    {"y-up", 1, {0, 2, 1}, {1, 1, -1}, {-HALF_ROOT, 0, 0, HALF_ROOT}, {0, 0, 0}, 0},
    /* The rotation of "y-up", and then a rotation by 90 degrees about the new y axis: (x, y, z)
       becomes (-y, z, -x). */
    {"turned", 100, {1, 2, 0}, {-1, 1, -1}, {-0.5, 0.5, 0.5, 0.5}, {4.1e6, -2.3e6, 7.7e6}, 0},
    {"epoch", 1, {0, 1, 2}, {1, 1, 1}, {0, 0, 0, 1}, {0, 0, 0}, 1.7e9},
};

/* The JSON keys for each quantity. All other keys are HS_QUANTITY_PLAIN. */
static const char *const keys[][24] = {
    [HS_QUANTITY_LENGTH] =
        {"body_radius",  "claim_padding", "distance",         "gravity",     "half_length",
         "inner_radius", "margin",        "max_accel",        "max_error",   "max_fall_speed",
         "max_speed",    "min_trace",     "origin_tolerance", "radius",      "range",
         "speed",        "step",          "sweep_extension",  "world_bound", "world_radius"},
    [HS_QUANTITY_POINT] = {"center", "end", "eye", "max", "min", "origin", "point", "position",
                           "server_position", "start", "vertices"},
    [HS_QUANTITY_DISPLACEMENT] = {"server_velocity", "velocity"},
    [HS_QUANTITY_DIRECTION] = {"aim", "direction", "directions", "normal"},
    [HS_QUANTITY_EXTENTS] = {"half_extents"},
    [HS_QUANTITY_ROTATION] = {"rotation", "server_rotation"},
    [HS_QUANTITY_BONES] = {"bones"},
    [HS_QUANTITY_FALLOFF] = {"falloff"},
    [HS_QUANTITY_TIME] = {"fire_time", "from", "hit_time", "newest_time", "now", "received", "time",
                          "to"},
    [HS_QUANTITY_UP] = {"up"},
    [HS_QUANTITY_MEASURE] = {"limit", "measured"},
};

/* Where a value is in the document. The place decides how the value is converted. */
struct place {
    const struct hs_reference *reference;
    enum hs_quantity quantity;
    bool local;     /* in a rig, in a mover's box or relative to a mover: points are not shifted */
    bool is_length; /* hs_measures_length of the enclosing object */
    bool tolerance; /* in a "$within": the value is scaled, but not turned or shifted */
};

static json_t *apply(const struct place *place, const json_t *value);

enum hs_quantity hs_quantity_of(const char *key)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (hs_is_one_of(key, keys[i]))
            return (enum hs_quantity)i;
    return HS_QUANTITY_PLAIN;
}

static bool is_numbers(const json_t *value, size_t count)
{
    if (!json_is_array(value) || json_array_size(value) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!json_is_number(json_array_get(value, i)))
            return false;
    return true;
}

static double number_at(const json_t *array, size_t index)
{
    return json_number_value(json_array_get(array, index));
}

/* Returns the determinant of the signed permutation: 1 for a rotation, -1 for a mirror. */
static double handedness(const struct hs_reference *reference)
{
    const int *axis = reference->axis, *sign = reference->sign;
    int order = (axis[1] - axis[0] + 3) % 3 == 1 ? 1 : -1;
    return order * sign[0] * sign[1] * sign[2];
}

/*
 * Converts an array of numbers to the frame of reference. Each letter in `parts` stands for the
 * next part of the array: p(oint), v(elocity), d(irection), e(xtents) and s(cales) are three
 * numbers each, r(otation) is four. R is the rotation of the frame. A rotation q in the array
 * becomes R q R^-1, so the axis of q is turned, and the angle of q stays the same. A frame that
 * mirrors also changes the sign of the angle.
 */
static json_t *turned(const struct place *place, const json_t *value, const char *parts)
{
    const struct hs_reference *reference = place->reference;
    size_t count = 0, at = 0;
    for (const char *part = parts; *part != '\0'; part++)
        count += *part == 'r' ? 4 : 3;
    if (!is_numbers(value, count))
        return json_deep_copy(value);
    json_t *out = json_array();
    for (const char *part = parts; *part != '\0'; part++) {
        bool has_sign = *part != 'e' && *part != 's', shifts = *part == 'p' && !place->local;
        double scale = *part == 'r'                                   ? handedness(reference)
                       : *part == 'p' || *part == 'v' || *part == 'e' ? reference->unit
                                                                      : 1;
        for (size_t i = 0; i < 3; i++) {
            double old = number_at(value, at + (size_t)reference->axis[i]);
            double sign = has_sign ? reference->sign[i] : 1;
            double shift = shifts ? reference->shift[i] : 0;
            json_array_append_new(out, json_real(old * sign * scale + shift));
        }
        at += 3;
        if (*part == 'r')
            json_array_append_new(out, json_real(number_at(value, at++)));
    }
    return out;
}

static json_t *scaled_falloff(const struct place *place, const json_t *value)
{
    json_t *out = json_deep_copy(value);
    for (size_t i = 0; i < json_array_size(out); i++) {
        json_t *pair = json_array_get(out, i);
        if (is_numbers(pair, 2))
            json_array_set_new(pair, 0, json_real(number_at(pair, 0) * place->reference->unit));
    }
    return out;
}

static json_t *turned_up(const struct place *place, const json_t *value)
{
    const char *text = json_string_value(value);
    if (text == NULL || strlen(text) != 2 || text[1] < 'x' || text[1] > 'z')
        return json_deep_copy(value);
    int old = text[1] - 'x';
    for (int i = 0; i < 3; i++) {
        if (place->reference->axis[i] != old)
            continue;
        bool negative = (text[0] == '-') != (place->reference->sign[i] < 0);
        return json_sprintf("%c%c", negative ? '-' : '+', 'x' + i);
    }
    return json_deep_copy(value);
}

static json_t *apply_number(const struct place *place, const json_t *value)
{
    double number = json_number_value(value);
    bool length = place->quantity == HS_QUANTITY_LENGTH ||
                  (place->quantity == HS_QUANTITY_MEASURE && place->is_length) ||
                  (place->tolerance && place->quantity == HS_QUANTITY_POINT);
    if (length && place->reference->unit != 1)
        return json_real(number * place->reference->unit);
    if (place->quantity == HS_QUANTITY_TIME && !place->tolerance &&
        place->reference->time_shift != 0)
        return json_real(number + place->reference->time_shift);
    return json_deep_copy(value);
}

/* Sets the rotation of a capsule in a rig. A capsule always extends along its own z axis. So the
   rotation q of a capsule becomes R q instead of R q R^-1. */
static void turn_capsule(const struct hs_reference *reference, const json_t *before, json_t *after)
{
    const double *r = reference->turn;
    const json_t *old = json_object_get(before, "rotation");
    double h[4] = {0, 0, 0, 1};
    if (r[3] == 1 || (old != NULL && !is_numbers(old, 4)))
        return;
    for (size_t i = 0; old != NULL && i < 4; i++)
        h[i] = number_at(old, i);
    json_object_set_new(after, "rotation",
                        json_pack("[f,f,f,f]",
                                  r[3] * h[0] + r[0] * h[3] + r[1] * h[2] - r[2] * h[1],
                                  r[3] * h[1] - r[0] * h[2] + r[1] * h[3] + r[2] * h[0],
                                  r[3] * h[2] + r[0] * h[1] - r[1] * h[0] + r[2] * h[3],
                                  r[3] * h[3] - r[0] * h[0] - r[1] * h[1] - r[2] * h[2]));
}

static bool is_text(const json_t *value, const char *text)
{
    const char *string = json_string_value(value);
    return string != NULL && strcmp(string, text) == 0;
}

bool hs_measures_length(const json_t *object)
{
    const json_t *unit = json_object_get(object, "unit");
    /* If a blast does not reach a victim, the victim's entry has a reason and no unit. The numbers
       in such an entry are always distances. */
    return is_text(unit, "length") || is_text(unit, "length_per_second") ||
           (unit == NULL && json_is_string(json_object_get(object, "reason")));
}

/* Swaps min and max on each new axis with a negative sign. Does not sort the two values, because
   sorting would repair a box that is bad on purpose (min above max). */
static void sort_corners(const struct hs_reference *reference, json_t *object)
{
    json_t *min = json_object_get(object, "min"), *max = json_object_get(object, "max");
    if (!is_numbers(min, 3) || !is_numbers(max, 3))
        return;
    for (size_t i = 0; i < 3; i++) {
        if (reference->sign[i] > 0)
            continue;
        double lesser = number_at(max, i);
        json_array_set_new(max, i, json_real(number_at(min, i)));
        json_array_set_new(min, i, json_real(lesser));
    }
}

static json_t *apply_object(const struct place *place, const json_t *value)
{
    json_t *out = json_object();
    const char *key;
    json_t *member;
    bool is_length = hs_measures_length(value);
    /* if the object has a base, its position is relative to a mover */
    bool is_based = json_is_string(json_object_get(value, "base"));
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        struct place inner = *place;
        if (key[0] == '$') {
            inner.tolerance = strcmp(key, "$within") == 0;
        } else {
            inner.quantity = hs_quantity_of(key);
            inner.is_length = is_length;
            inner.local |= strcmp(key, "rigs") == 0 || strcmp(key, "box") == 0 || is_based;
        }
        json_object_set_new(out, key, apply(&inner, member));
    }
    if (place->local && is_text(json_object_get(value, "shape"), "capsule"))
        turn_capsule(place->reference, value, out);
    sort_corners(place->reference, out);
    return out;
}

static json_t *apply_array(const struct place *place, const json_t *value)
{
    static const char *const parts[] = {
        [HS_QUANTITY_POINT] = "p",     [HS_QUANTITY_DISPLACEMENT] = "v",
        [HS_QUANTITY_DIRECTION] = "d", [HS_QUANTITY_EXTENTS] = "e",
        [HS_QUANTITY_ROTATION] = "r",  [HS_QUANTITY_MEASURE] = NULL};
    bool is_list = json_is_array(json_array_get(value, 0));
    bool is_bone = place->quantity == HS_QUANTITY_BONES && json_is_number(json_array_get(value, 0));
    if (place->quantity == HS_QUANTITY_FALLOFF)
        return scaled_falloff(place, value);
    if (is_bone)
        return turned(place, value, json_array_size(value) == 10 ? "prs" : "pr");
    if (parts[place->quantity] != NULL && !is_list)
        return turned(place, value, parts[place->quantity]);
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(out, apply(place, json_array_get(value, i)));
    return out;
}

static json_t *apply(const struct place *place, const json_t *value)
{
    if (json_is_object(value))
        return apply_object(place, value);
    if (json_is_array(value))
        return apply_array(place, value);
    if (json_is_number(value))
        return apply_number(place, value);
    if (place->quantity == HS_QUANTITY_UP)
        return turned_up(place, value);
    return json_deep_copy(value);
}

json_t *hs_reference_apply(const struct hs_reference *reference, const json_t *document)
{
    return apply(&(struct place){.reference = reference}, document);
}
