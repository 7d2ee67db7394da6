#include "tests/support/oracle/map_reference.h"

#include <math.h>
#include <string.h>

static bool is_vector(const json_t *value, double out[3])
{
    if (!json_is_array(value) || json_array_size(value) != 3)
        return false;
    for (size_t k = 0; k < 3; k++) {
        const json_t *number = json_array_get(value, k);
        out[k] = json_number_value(number);
        if (!json_is_number(number) || !(fabs(out[k]) <= HS_WORLD_COORDINATE_MAX))
            return false;
    }
    return true;
}

static bool same_vector(const double a[3], struct hs_vec b)
{
    return a[0] == b.x && a[1] == b.y && a[2] == b.z;
}

/*
 * Returns whether the value is valid; *same becomes false if it is valid but was read differently.
 */
static bool vertex_is_right(const json_t *value, const struct hs_map_document *got, size_t i,
                            bool *same)
{
    double v[3];
    if (!is_vector(value, v))
        return false;
    *same = *same && i < got->vertex_count && same_vector(v, got->vertices[i]);
    return true;
}

static bool triangle_is_right(const json_t *value, size_t vertices,
                              const struct hs_map_document *got, size_t i, bool *same)
{
    if (!json_is_array(value) || json_array_size(value) != 3)
        return false;
    for (size_t k = 0; k < 3; k++) {
        const json_t *number = json_array_get(value, k);
        json_int_t n = json_integer_value(number);
        if (!json_is_integer(number) || n < 0 || (size_t)n >= vertices)
            return false;
        *same = *same && i < got->triangle_count && got->triangles[i][k] == (uint32_t)n;
    }
    return true;
}

static bool box_is_right(const json_t *value, const struct hs_map_document *got, size_t i,
                         bool *same)
{
    double min[3], max[3];
    const char *key;
    json_t *member;
    if (!json_is_object(value) || !is_vector(json_object_get(value, "min"), min) ||
        !is_vector(json_object_get(value, "max"), max))
        return false;
    json_object_foreach((json_t *)(uintptr_t)value, key,
                        member) if (strcmp(key, "min") != 0 && strcmp(key, "max") != 0 &&
                                    strncmp(key, "x_", 2) != 0) return false;
    for (size_t k = 0; k < 3; k++)
        if (min[k] > max[k])
            return false;
    *same = *same && i < got->box_count && same_vector(min, got->boxes[i].min) &&
            same_vector(max, got->boxes[i].max);
    return true;
}

static bool is_right(const json_t *root, const struct hs_map_document *got, bool *same)
{
    const char *key;
    json_t *list, *value;
    size_t i, vertices = json_array_size(json_object_get(root, "vertices")), counts[3] = {0};
    json_object_foreach((json_t *)(uintptr_t)root, key, list)
    {
        int which = strcmp(key, "vertices") == 0    ? 0
                    : strcmp(key, "triangles") == 0 ? 1
                    : strcmp(key, "boxes") == 0     ? 2
                                                    : 3;
        if (which == 3 && strncmp(key, "x_", 2) == 0)
            continue;
        if (which == 3 || !json_is_array(list))
            return false;
        counts[which] = json_array_size(list);
        json_array_foreach(list, i, value)
        {
            bool right = which == 0   ? vertex_is_right(value, got, i, same)
                         : which == 1 ? triangle_is_right(value, vertices, got, i, same)
                                      : box_is_right(value, got, i, same);
            if (!right)
                return false;
        }
    }
    *same = *same && counts[0] == got->vertex_count && counts[1] == got->triangle_count &&
            counts[2] == got->box_count;
    return true;
}

const char *hs_map_compare(struct hs_str text, bool *accepted, struct hs_problem *problem)
{
    struct hs_problem plain;
    struct hs_arena arena = {0};
    struct hs_reader reader = {.problem = problem, .arena = &arena};
    struct hs_map_document got;
    hs_problem_init(problem);
    hs_problem_init(&plain);
    struct hs_world_mesh counts = hs_map_measure(text);
    bool taken = hs_map_decode(&reader, text, &counts, &got);
    json_t *root = hs_json_parse(text, &plain);
    bool same = true;
    bool right = root != NULL && is_right(root, &got, &same);
    const char *fault = NULL;
    if (taken != (problem->code == HS_PROBLEM_NONE))
        fault = "the result and the problem disagree";
    else if (taken && !right)
        fault = "a faulty document was accepted";
    else if (!taken && right && strstr(problem->errors[0].detail, "without escapes") == NULL)
        fault = "a valid document was refused";
    else if (taken && !same)
        fault = "the two readers read different values";
    if (accepted != NULL)
        *accepted = taken;
    json_decref(root);
    hs_map_document_free(&got);
    hs_arena_free(&arena);
    return fault;
}
