#include "tests/support/fuzz/body.h"

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

/* ---- both ways ---- */

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
        return true; /* see same_bones */
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

const char *hs_fuzz_body_decode(struct hs_fuzz_body *body, enum hs_route route,
                                struct hs_ticks_request *out)
{
    struct hs_ticks_request direct = {0};
    if (body->root != NULL)
        hs_ticks_decode_body(&body->reader, body->root, route, out);
    if (!hs_ticks_read_directly(&body->reader, body->text, route, &direct))
        return NULL;
    HS_MUST(body->problem.code == HS_PROBLEM_NONE && body->malformed.count == 0,
            "the direct way accepts what the tree refuses");
    HS_MUST(same_request(out, &direct), "the direct way reads something else than the tree");
    return NULL;
}

void hs_fuzz_body_close(struct hs_fuzz_body *body)
{
    json_decref(body->root);
    hs_arena_free(&body->arena);
}
