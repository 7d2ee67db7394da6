#include "tests/support/contract/schema_draw.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/contract/schema.h"

/* Numbers without a documented limit stay in the range of games. */
enum { LONGEST_NAME = 64, USUAL_MAX = 1000000 };

/* Names that occur together, so that claims name players who were posted, and rigs that exist. */
static const char *const usual_names[] = {"alice", "bob", "carl", "humanoid", "stand",
                                          "rifle", "red", "blue", "head",     "torso"};

static json_t *draw_name(struct hs_random *random)
{
    static const char alphabet[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
    char name[LONGEST_NAME + 1];
    if (hs_random_chance(random, 0.7))
        return json_string(
            usual_names[hs_random_index(random, sizeof usual_names / sizeof usual_names[0])]);
    int len = hs_random_chance(random, 0.2) ? LONGEST_NAME : 1 + hs_random_index(random, 12);
    for (int i = 0; i < len; i++)
        name[i] = alphabet[hs_random_index(random, sizeof alphabet - 1)];
    return json_stringn(name, (size_t)len);
}

double hs_schema_draw_number(double low, double high, struct hs_random *random)
{
    static const double usual[] = {1, 20, 1000, USUAL_MAX};
    double end = hs_random_unit(random);
    if (end < 0.06)
        return low;
    if (end < 0.12)
        return high;
    double reach = usual[hs_random_index(random, 4)];
    double from = fmax(low, fmin(high, -reach)), to = fmin(high, fmax(low, reach));
    return from < to ? hs_random_between(random, from, to) : from;
}

static json_t *draw_number(const json_t *document, const json_t *schema, bool integer,
                           struct hs_random *random)
{
    const json_t *low = hs_schema_get(document, schema, "minimum");
    const json_t *high = hs_schema_get(document, schema, "maximum");
    const json_t *beneath = hs_schema_get(document, schema, "exclusiveMinimum");
    double least = low != NULL ? json_number_value(low) : -USUAL_MAX;
    if (beneath != NULL)
        least = nextafter(json_number_value(beneath), HUGE_VAL);
    double value =
        hs_schema_draw_number(least, high != NULL ? json_number_value(high) : USUAL_MAX, random);
    if (integer)
        return json_integer((json_int_t)value);
    /* Games may write 20 or 20.0; both are valid. */
    if (fabs(value) < 1e9 && hs_random_chance(random, 0.2) && floor(value) == value)
        return json_integer((json_int_t)value);
    return json_real(value);
}

/* Draws a number of elements: the min number and a few more. If all optional members are drawn, the
   number is at least one. */
static size_t draw_count(const json_t *document, const json_t *schema, const char *low_keyword,
                         const char *high_keyword, double optional, struct hs_random *random)
{
    const json_t *low = hs_schema_get(document, schema, low_keyword);
    const json_t *high = hs_schema_get(document, schema, high_keyword);
    json_int_t count = json_integer_value(low) + hs_random_index(random, 4);
    if (count == 0 && optional >= 1)
        count = 1;
    if (high != NULL && count > json_integer_value(high))
        count = json_integer_value(high);
    return (size_t)count;
}

static bool stands_in(const json_t *array, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (json_equal(json_array_get(array, i), value))
            return true;
    return false;
}

/* Makes a vector of any length except 0, but so short that its square is finite. */
static void make_direction(json_t *array, struct hs_random *random)
{
    struct hs_vec v = hs_random_direction(random);
    const double parts[3] = {v.x, v.y, v.z};
    double length = hs_random_log_between(random, 1e-50, 1e50);
    for (size_t i = 0; i < json_array_size(array); i++)
        json_array_set_new(array, i, json_real(parts[i % 3] * length));
}

static json_t *draw_array(const json_t *document, const json_t *schema, double optional,
                          struct hs_random *random)
{
    json_t *array = json_array();
    const json_t *items = hs_schema_get(document, schema, "items");
    size_t count = draw_count(document, schema, "minItems", "maxItems", optional, random);
    bool unique = json_is_true(hs_schema_get(document, schema, "uniqueItems"));
    while (json_array_size(array) < count) {
        json_t *item = hs_schema_draw(document, items, optional, random);
        if (unique && stands_in(array, item))
            json_decref(item);
        else
            json_array_append_new(array, item);
    }
    if (hs_schema_get(document, schema, "format") != NULL)
        make_direction(array, random);
    return array;
}

/* Adds members with arbitrary names, such as rigs and weapons. */
static void draw_table(const json_t *document, const json_t *schema, double optional,
                       json_t *object, struct hs_random *random)
{
    const json_t *names = hs_schema_get(document, schema, "propertyNames");
    const json_t *members = hs_schema_get(document, schema, "additionalProperties");
    if (!json_is_object(members))
        return;
    size_t count = draw_count(document, schema, "minProperties", "maxProperties", optional, random);
    while (json_object_size(object) < count) {
        json_t *name = hs_schema_draw(document, names, optional, random);
        json_object_set_new(object, json_string_value(name),
                            hs_schema_draw(document, members, optional, random));
        json_decref(name);
    }
}

/* Adds the members that the applicable branch of `conditional` requires. The branch may contain
   further branches. */
static void draw_conditional(const json_t *document, const json_t *schema,
                             const json_t *conditional, double optional, json_t *object,
                             struct hs_random *random)
{
    const json_t *condition = hs_schema_get(document, conditional, "if");
    if (condition == NULL)
        return;
    bool holds = hs_schema_fits(document, condition, object, NULL);
    const json_t *branch = hs_schema_get(document, conditional, holds ? "then" : "else");
    const json_t *required = json_object_get(branch, "required");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *key = json_string_value(json_array_get(required, i));
        if (json_object_get(object, key) == NULL)
            json_object_set_new(object, key,
                                hs_schema_draw(document, hs_schema_member(document, schema, key),
                                               optional, random));
    }
    const json_t *properties = json_object_get(branch, "properties");
    for (void *at = json_object_iter((json_t *)(uintptr_t)properties), *next; at != NULL;
         at = next) {
        const char *key = json_object_iter_key(at);
        const json_t *member = json_object_get(object, key);
        next = json_object_iter_next((json_t *)(uintptr_t)properties, at);
        if (member != NULL && !hs_schema_fits(document, json_object_iter_value(at), member, NULL))
            json_object_del(object, key); /* the branch does not allow this member */
    }
    if (branch != NULL)
        draw_conditional(document, schema, branch, optional, object, random);
}

static json_t *draw_object(const json_t *document, const json_t *schema, double optional,
                           struct hs_random *random)
{
    json_t *object = json_object(), *member;
    json_t *properties = (json_t *)(uintptr_t)hs_schema_get(document, schema, "properties");
    json_t *name = NULL;
    const json_t *required = hs_schema_get(document, schema, "required");
    const char *key;
    json_object_foreach(properties, key, member)
    {
        name = json_string(key);
        if (stands_in(required, name) || hs_random_chance(random, optional))
            json_object_set_new(object, key, hs_schema_draw(document, member, optional, random));
        json_decref(name);
    }
    if (hs_schema_get(document, schema, "additionalProperties") == NULL &&
        hs_schema_allows_name(document, schema, "x_note") && hs_random_chance(random, 0.1))
        json_object_set_new(object, "x_note", json_pack("[i,{s:n}]", 1, "anything"));
    draw_table(document, schema, optional, object, random);
    draw_conditional(document, schema, schema, optional, object, random);
    return object;
}

static json_t *draw_type(const json_t *document, const json_t *schema, const char *type,
                         double optional, struct hs_random *random)
{
    if (strcmp(type, "null") == 0)
        return json_null();
    if (strcmp(type, "boolean") == 0)
        return json_boolean(hs_random_chance(random, 0.5));
    if (strcmp(type, "number") == 0 || strcmp(type, "integer") == 0)
        return draw_number(document, schema, type[0] == 'i', random);
    if (strcmp(type, "string") == 0)
        return draw_name(random);
    return strcmp(type, "array") == 0 ? draw_array(document, schema, optional, random)
                                      : draw_object(document, schema, optional, random);
}

json_t *hs_schema_draw(const json_t *document, const json_t *schema, double optional,
                       struct hs_random *random)
{
    const json_t *choices = hs_schema_get(document, schema, "enum");
    const json_t *branches = hs_schema_get(document, schema, "oneOf");
    const json_t *type = hs_schema_get(document, schema, "type");
    const json_t *only = hs_schema_get(document, schema, "const");
    if (only != NULL)
        return json_deep_copy(only);
    if (choices != NULL)
        return json_deep_copy(json_array_get(
            choices, (size_t)hs_random_index(random, (int)json_array_size(choices))));
    if (branches != NULL) {
        size_t branch = (size_t)hs_random_index(random, (int)json_array_size(branches));
        return hs_schema_draw(document, json_array_get(branches, branch), optional, random);
    }
    if (json_is_array(type))
        type = json_array_get(type, (size_t)hs_random_index(random, (int)json_array_size(type)));
    if (type == NULL) /* any type is allowed */
        return json_null();
    return draw_type(document, schema, json_string_value(type), optional, random);
}
