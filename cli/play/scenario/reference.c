#include "cli/play/scenario/reference.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HALF_ROOT 0.70710678118654752440 /* of 2: sine and cosine of an eighth */

const struct hs_reference hs_references[HS_REFERENCES] = {
    {"metres", 1, {0, 1, 2}, {1, 1, 1}, {0, 0, 0, 1}, {0, 0, 0}, 0},
    {"centimetres", 100, {0, 1, 2}, {1, 1, 1}, {0, 0, 0, 1}, {0, 0, 0}, 0},
    /* z up to y up: (x,y,z) -> (x,z,-y), a quarter about x. */
    {"y-up", 1, {0, 2, 1}, {1, 1, -1}, {-HALF_ROOT, 0, 0, HALF_ROOT}, {0, 0, 0}, 0},
    /* z up to y up, (x,y,z) -> (x,z,-y), then a quarter about the new up: (-y, z, -x). */
    {"turned", 100, {1, 2, 0}, {-1, 1, -1}, {-0.5, 0.5, 0.5, 0.5}, {4.1e6, -2.3e6, 7.7e6}, 0},
    {"epoch", 1, {0, 1, 2}, {1, 1, 1}, {0, 0, 0, 1}, {0, 0, 0}, 1.7e9},
};

static const struct {
    const char *key;
    enum hs_quantity quantity;
} meanings[] = {
    {"aim", HS_QUANTITY_DIRECTION},
    {"bones", HS_QUANTITY_BONES},
    {"center", HS_QUANTITY_POINT},
    {"claim_padding", HS_QUANTITY_LENGTH},
    {"direction", HS_QUANTITY_DIRECTION},
    {"directions", HS_QUANTITY_DIRECTION},
    {"distance", HS_QUANTITY_LENGTH},
    {"end", HS_QUANTITY_POINT},
    {"eye", HS_QUANTITY_POINT},
    {"falloff", HS_QUANTITY_FALLOFF},
    {"fire_time", HS_QUANTITY_TIME},
    {"from", HS_QUANTITY_TIME},
    {"gravity", HS_QUANTITY_LENGTH},
    {"half_extents", HS_QUANTITY_EXTENTS},
    {"half_length", HS_QUANTITY_LENGTH},
    {"hit_time", HS_QUANTITY_TIME},
    {"inner_radius", HS_QUANTITY_LENGTH},
    {"limit", HS_QUANTITY_MEASURE},
    {"margin", HS_QUANTITY_LENGTH},
    {"max", HS_QUANTITY_POINT},
    {"max_speed", HS_QUANTITY_LENGTH},
    {"measured", HS_QUANTITY_MEASURE},
    {"min", HS_QUANTITY_POINT},
    {"min_trace", HS_QUANTITY_LENGTH},
    {"newest_time", HS_QUANTITY_TIME},
    {"normal", HS_QUANTITY_DIRECTION},
    {"now", HS_QUANTITY_TIME},
    {"origin", HS_QUANTITY_POINT},
    {"origin_tolerance", HS_QUANTITY_LENGTH},
    {"point", HS_QUANTITY_POINT},
    {"position", HS_QUANTITY_POINT},
    {"radius", HS_QUANTITY_LENGTH},
    {"range", HS_QUANTITY_LENGTH},
    {"rotation", HS_QUANTITY_ROTATION},
    {"speed", HS_QUANTITY_LENGTH},
    {"start", HS_QUANTITY_POINT},
    {"sweep_extension", HS_QUANTITY_LENGTH},
    {"time", HS_QUANTITY_TIME},
    {"to", HS_QUANTITY_TIME},
    {"up", HS_QUANTITY_UP},
    {"velocity", HS_QUANTITY_DISPLACEMENT},
    {"vertices", HS_QUANTITY_POINT},
    {"world_bound", HS_QUANTITY_LENGTH},
    {"world_radius", HS_QUANTITY_LENGTH},
};

/* Where in a document we are: what the values here mean. */
struct place {
    const struct hs_reference *reference;
    enum hs_quantity quantity;
    bool local;     /* inside a rig or a mover's box: points do not shift */
    bool is_length; /* the object around measures lengths or speeds */
    bool tolerance; /* a "$within": scales, but neither turns nor shifts */
};

static json_t *apply(const struct place *place, const json_t *value);

enum hs_quantity hs_quantity_of(const char *key)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (strcmp(meanings[i].key, key) == 0)
            return meanings[i].quantity;
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

/* array[first..first+2] turned, times `scale`, plus `shift` (may be NULL), appended to `out`. */
static void append_turned(const struct hs_reference *reference, const json_t *array, size_t first,
                          double scale, const double *shift, bool keep_sign, json_t *out)
{
    for (size_t i = 0; i < 3; i++) {
        double old = number_at(array, first + (size_t)reference->axis[i]);
        double sign = keep_sign ? 1 : reference->sign[i];
        json_array_append_new(out, json_real(old * sign * scale + (shift ? shift[i] : 0)));
    }
}

static json_t *turned(const struct place *place, const json_t *value, double scale, bool shifts,
                      bool keep_sign)
{
    if (!is_numbers(value, 3))
        return json_deep_copy(value);
    json_t *out = json_array();
    append_turned(place->reference, value, 0, scale, shifts ? place->reference->shift : NULL,
                  keep_sign, out);
    return out;
}

/* 1, or -1 for a mirror: of a signed permutation the determinant. */
static double handedness(const struct hs_reference *reference)
{
    const int *axis = reference->axis, *sign = reference->sign;
    int order = (axis[1] - axis[0] + 3) % 3 == 1 ? 1 : -1;
    return order * sign[0] * sign[1] * sign[2];
}

/* The rotation R q R^-1: its axis turns, its angle stays; in a mirror it goes the other way. */
static void append_rotation(const struct hs_reference *reference, const json_t *value, size_t first,
                            json_t *out)
{
    append_turned(reference, value, first, handedness(reference), NULL, false, out);
    json_array_append_new(out, json_real(number_at(value, first + 3)));
}

static json_t *turned_bone(const struct place *place, const json_t *value)
{
    size_t count = json_array_size(value);
    if (!is_numbers(value, count) || (count != 7 && count != 10))
        return json_deep_copy(value);
    const struct hs_reference *reference = place->reference;
    json_t *out = json_array();
    append_turned(reference, value, 0, reference->unit, place->local ? NULL : reference->shift,
                  false, out);
    append_rotation(reference, value, 3, out);
    if (count == 10)
        append_turned(reference, value, 7, 1, NULL, true, out);
    return out;
}

static json_t *turned_bones(const struct place *place, const json_t *value)
{
    if (!json_is_array(value))
        return json_deep_copy(value);
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(value); i++)
        json_array_append_new(out, turned_bone(place, json_array_get(value, i)));
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

/* Capsules run along their own z, which does not turn with the rig: their rotation does. */
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
    /* Refused victims carry no unit: all that is measured of them is how far off they were. */
    return is_text(unit, "length") || is_text(unit, "length_per_second") ||
           (unit == NULL && is_text(json_object_get(object, "reason"), "outside_blast"));
}

/*
 * The corners of a box: which of them is the lesser along a new axis depends on its sign. Sorting
 * would do for boxes, but make a bad one, with min beyond max, good.
 */
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
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        struct place inner = *place;
        if (key[0] == '$') {
            inner.tolerance = strcmp(key, "$within") == 0;
        } else {
            inner.quantity = hs_quantity_of(key);
            inner.is_length = is_length;
            inner.local |= strcmp(key, "rigs") == 0 || strcmp(key, "box") == 0;
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
    const double unit = place->reference->unit;
    switch (place->quantity) {
    case HS_QUANTITY_POINT:
        if (json_is_array(json_array_get(value, 0)))
            break; /* a list of them */
        return turned(place, value, unit, !place->local, false);
    case HS_QUANTITY_DISPLACEMENT:
        return turned(place, value, unit, false, false);
    case HS_QUANTITY_DIRECTION:
        if (json_is_array(json_array_get(value, 0)))
            break; /* a list of them */
        return turned(place, value, 1, false, false);
    case HS_QUANTITY_EXTENTS:
        return turned(place, value, unit, false, true);
    case HS_QUANTITY_FALLOFF:
        return scaled_falloff(place, value);
    case HS_QUANTITY_BONES:
        return turned_bones(place, value);
    case HS_QUANTITY_ROTATION:
        if (is_numbers(value, 4)) {
            json_t *out = json_array();
            append_rotation(place->reference, value, 0, out);
            return out;
        }
        return json_deep_copy(value);
    case HS_QUANTITY_PLAIN:
    case HS_QUANTITY_LENGTH:
    case HS_QUANTITY_TIME:
    case HS_QUANTITY_UP:
    case HS_QUANTITY_MEASURE:
        break;
    }
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
