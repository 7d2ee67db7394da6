#include "tests/support/fuzz/body.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/fuzz/checks.h"

enum { MAX_ITEMS = 256 };

void hs_fuzz_body_open(struct hs_fuzz_body *body, const void *data, size_t size)
{
    hs_problem_init(&body->problem);
    body->arena = (struct hs_arena){0};
    body->malformed = (struct hs_malformed_items){.count = 0};
    body->reader = (struct hs_reader){.problem = &body->problem,
                                      .arena = &body->arena,
                                      .max_items = MAX_ITEMS,
                                      .malformed = &body->malformed};
    body->text = (struct hs_str){data, size};
    body->root = hs_json_parse(body->text, &body->problem);
}

/* ---- comparing the two readers ---- */

static bool same_text(const struct hs_str *a, const struct hs_str *b)
{
    return (a->ptr == NULL) == (b->ptr == NULL) && hs_str_equal(*a, *b);
}

static size_t size_of(const struct hs_json_field *field)
{
    switch (field->kind) {
    case HS_JSON_BOOL:
        return sizeof(bool);
    case HS_JSON_ENUM:
    case HS_JSON_INT32:
    case HS_JSON_SHORT_SECONDS:
        return sizeof(int32_t);
    case HS_JSON_FLOATS:
        return field->count * sizeof(float);
    case HS_JSON_REALS:
        return field->count * sizeof(double);
    case HS_JSON_VEC:
        return 3 * sizeof(double);
    default:
        return sizeof(int64_t);
    }
}

static bool same_object(const struct hs_json_object *object, const char *a, const char *b);

static bool same_list(const struct hs_json_list *list, const char *a, const char *b)
{
    const char *items_a, *items_b;
    size_t count_a, count_b;
    memcpy(&items_a, a, sizeof items_a);
    memcpy(&items_b, b, sizeof items_b);
    memcpy(&count_a, a + sizeof items_a, sizeof count_a);
    memcpy(&count_b, b + sizeof items_b, sizeof count_b);
    if (count_a != count_b || (items_a == NULL) != (items_b == NULL))
        return false;
    for (size_t i = 0; i < count_a; i++) {
        const char *item_a = items_a + i * list->size, *item_b = items_b + i * list->size;
        bool same = list->item.kind == HS_JSON_OBJECT
                        ? same_object(list->item.object, item_a, item_b)
                    : list->item.kind == HS_JSON_NAME
                        ? same_text((const void *)item_a, (const void *)item_b)
                        : memcmp(item_a, item_b, size_of(&list->item)) == 0;
        if (!same)
            return false;
    }
    return true;
}

static bool same_field(const struct hs_json_field *field, const char *a, const char *b)
{
    const char *at_a = a + field->offset, *at_b = b + field->offset;
    if (field->flag != 0 && a[field->flag] != b[field->flag])
        return false;
    switch (field->kind) {
    case HS_JSON_NAME:
    case HS_JSON_NAME_OR_NULL:
        return same_text((const void *)at_a, (const void *)at_b);
    case HS_JSON_OBJECT:
        return same_object(field->object, at_a, at_b);
    case HS_JSON_LIST:
    case HS_JSON_BATCH:
        return same_list(field->list, at_a, at_b);
    case HS_JSON_CUSTOM:
        return true; /* same_bones compares it */
    default:
        return memcmp(at_a, at_b, size_of(field)) == 0;
    }
}

static bool same_object(const struct hs_json_object *object, const char *a, const char *b)
{
    for (size_t i = 0; i < object->count; i++) {
        if (!same_field(&object->fields[i], a, b))
            return false;
        if (object->fields[i].bit != 0 &&
            memcmp(a + object->bits_offset, b + object->bits_offset, sizeof(unsigned)) != 0)
            return false;
    }
    return true;
}

static bool same_bones(const struct hs_frame *a, const struct hs_frame *b)
{
    for (size_t i = 0; i < a->player_count; i++) {
        const struct hs_player_frame *p = &a->players[i], *q = &b->players[i];
        if (p->bone_count != q->bone_count)
            return false;
        for (size_t k = 0; k < p->bone_count; k++) {
            const struct hs_posted_bone *bone = &p->bones[k], *other = &q->bones[k];
            if (bone->present != other->present ||
                memcmp(bone->position, other->position, sizeof bone->position) != 0 ||
                memcmp(bone->rotation, other->rotation, sizeof bone->rotation) != 0 ||
                memcmp(bone->scale, other->scale, sizeof bone->scale) != 0)
                return false;
        }
    }
    for (size_t i = 0; i < a->mover_count; i++)
        if (a->movers[i].teleported != b->movers[i].teleported)
            return false;
    return true;
}

static bool same_request(const struct hs_ticks_request *a, const struct hs_ticks_request *b)
{
    const struct {
        const struct hs_json_list *list;
        const void *a, *b;
    } lists[] = {
        {&hs_frames_list, &a->frames.frames, &b->frames.frames},
        {&hs_moves_list, &a->moves.moves, &b->moves.moves},
        {&hs_shots_list, &a->shots.shots, &b->shots.shots},
        {&hs_hits_list, &a->hits.claims, &b->hits.claims},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!same_list(lists[i].list, lists[i].a, lists[i].b))
            return false;
    for (size_t i = 0; i < a->frames.count; i++)
        if (!same_bones(&a->frames.frames[i], &b->frames.frames[i]))
            return false;
    for (size_t i = 0; i < a->hits.count; i++)
        if (a->hits.claims[i].has_no_end != b->hits.claims[i].has_no_end ||
            memcmp(&a->hits.claims[i].end, &b->hits.claims[i].end, sizeof(struct hs_vec)) != 0)
            return false;
    return a->fields == b->fields && a->frames.entries == b->frames.entries &&
           ((a->fields & HS_TICKS_NOW) == 0 || a->now_us == b->now_us);
}

static const char *compare_ways(struct hs_fuzz_body *body, enum hs_route route,
                                struct hs_ticks_request *out)
{
    struct hs_ticks_request direct = {0};
    if (body->root != NULL)
        hs_ticks_decode_body(&body->reader, body->root, route, out);
    body->is_direct = hs_ticks_read_directly(&body->reader, body->text, route, &direct);
    if (!body->is_direct)
        return NULL;
    HS_MUST(body->problem.code == HS_PROBLEM_NONE && body->malformed.count == 0,
            "the direct reader accepts a body that the tree refuses");
    HS_MUST(same_request(out, &direct), "the direct reader reads other values than the tree");
    return NULL;
}

/* ---- comparing the two forms ---- */

static bool is_plain_bone(const json_t *bone)
{
    return json_array_size(bone) == 7;
}

/* Returns the bones in one array. Returns NULL unless each has 7 numbers. */
static json_t *flat_bones(const json_t *bones)
{
    json_t *flat = json_array(), *bone, *number;
    size_t i, k;
    json_array_foreach(bones, i, bone) json_array_foreach(bone, k, number)
        json_array_append(flat, number);
    bool is_plain = json_array_size(bones) > 0;
    json_array_foreach(bones, i, bone) is_plain = is_plain && is_plain_bone(bone);
    if (is_plain)
        return flat;
    json_decref(flat);
    return json_deep_copy(bones);
}

static json_t *table_of(const json_t *items);

static bool is_batch(const char *key)
{
    static const char *const names[] = {"frames", "players", "movers", "moves", "shots", "hits"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(key, names[i]) == 0)
            return true;
    return false;
}

/* Returns a copy without ignored members, because a table may nest them too deep. */
static json_t *known_part(const json_t *value)
{
    json_t *copy, *item;
    const char *key;
    size_t i;
    if (!json_is_object(value) && !json_is_array(value))
        return json_deep_copy(value);
    copy = json_is_object(value) ? json_object() : json_array();
    json_array_foreach(value, i, item) json_array_append_new(copy, known_part(item));
    json_object_foreach((json_t *)(uintptr_t)value, key, item) if (strncmp(key, "x_", 2) != 0)
        json_object_set_new(copy, key, known_part(item));
    return copy;
}

/* Returns the value of a member in the compact form. */
static json_t *compact(const char *key, const json_t *value)
{
    if (value == NULL)
        return json_null();
    if (strcmp(key, "bones") == 0)
        return flat_bones(value);
    return is_batch(key) ? table_of(value) : known_part(value);
}

/* Returns a list of objects as a table. Every name that an object has becomes a column. An empty
   list stays a list. */
static json_t *table_of(const json_t *items)
{
    json_t *names = json_object(), *columns = json_array(), *rows = json_array(), *item, *value;
    const char *key;
    size_t i;
    if (json_array_size(items) == 0 || json_is_object(items)) {
        json_decref(names);
        json_decref(columns);
        json_decref(rows);
        return json_deep_copy(items);
    }
    json_array_foreach(items, i, item)
        json_object_foreach(item, key, value) if (strncmp(key, "x_", 2) != 0)
            json_object_set_new(names, key, json_null());
    json_object_foreach(names, key, value) json_array_append_new(columns, json_string(key));
    json_array_foreach(items, i, item)
    {
        json_t *row = json_array();
        json_object_foreach(names, key, value)
            json_array_append_new(row, compact(key, json_object_get(item, key)));
        json_array_append_new(rows, row);
    }
    json_decref(names);
    return json_pack("{s:o,s:o}", "columns", columns, "rows", rows);
}

char *hs_fuzz_body_compact(const json_t *root)
{
    json_t *twin = json_object();
    const char *key;
    const json_t *value;
    json_object_foreach((json_t *)(uintptr_t)root, key, value)
        json_object_set_new(twin, key, compact(key, value));
    char *text = json_dumps(twin, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(twin);
    return text;
}

/* Compares a body with its compact form, in which every list is a table. Both must give the same
   request. */
static const char *compare_forms(const struct hs_fuzz_body *body, enum hs_route route,
                                 const struct hs_ticks_request *request)
{
    struct hs_fuzz_body twin;
    struct hs_ticks_request again = {0};
    char *text = hs_fuzz_body_compact(body->root);
    hs_fuzz_body_open(&twin, text, strlen(text));
    const char *fault = compare_ways(&twin, route, &again);
    if (fault == NULL && (twin.problem.code != HS_PROBLEM_NONE || twin.malformed.count > 0))
        fault = "a body is accepted with lists and refused with tables";
    if (fault == NULL && !same_request(request, &again))
        fault = "lists and tables give different values";
    hs_fuzz_body_close(&twin);
    free(text);
    return fault;
}

const char *hs_fuzz_body_decode(struct hs_fuzz_body *body, enum hs_route route,
                                struct hs_ticks_request *out)
{
    HS_MUST_HOLD(compare_ways(body, route, out));
    if (body->problem.code != HS_PROBLEM_NONE || body->malformed.count > 0)
        return NULL;
    return compare_forms(body, route, out);
}

void hs_fuzz_body_close(struct hs_fuzz_body *body)
{
    json_decref(body->root);
    hs_arena_free(&body->arena);
}
