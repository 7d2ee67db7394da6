#include "api/maps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/cursor.h"

enum list { VERTICES, TRIANGLES, BOXES, LISTS };

/* The number of levels around a list element: the document and the list. */
enum { LEVELS_AROUND = 2 };

/* The max number of bytes that are parsed at once. The tree of values may need twenty times as much
   memory. */
enum { PARSED_MAX = 1 << 20 };

struct decoder {
    struct hs_reader *reader;
    struct hs_str text;
    bool measures; /* true: only count the elements, and add the counts to `capacity` */
    size_t capacity[LISTS];
    char *arrays[LISTS]; /* allocated with malloc */
    size_t counts[LISTS];
    struct hs_buffer shell; /* the document with empty lists */
    size_t cut_at[LISTS];   /* offset of each list in the shell */
    size_t cut[LISTS];      /* how many bytes of each list are missing from the shell */
    size_t cuts;
};

/* ---- malformed text ---- */

static bool is_full(const struct decoder *d)
{
    return d->reader->problem->count == HS_PROBLEM_MAX;
}

static void set_malformed(const struct decoder *d, const char *at, const char *what)
{
    size_t line = 1, column = 1;
    for (const char *c = d->text.ptr; c < at && c < d->text.ptr + d->text.len; c++) {
        column = *c == '\n' ? 1 : column + 1;
        line += *c == '\n';
    }
    hs_problem_set(d->reader->problem, HS_PROBLEM_MALFORMED_JSON, "line %zu, column %zu: %s", line,
                   column, what);
}

/* Parses the value between the addresses `from` and `to` in the text. On failure, records the fault
   and returns NULL. */
static json_t *parse_value(const struct decoder *d, const char *from, const char *to,
                           const struct hs_json_at *at)
{
    json_error_t error;
    bool no_memory;
    json_t *value = hs_json_load((struct hs_str){from, (size_t)(to - from)},
                                 JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error, &no_memory);
    d->reader->no_memory = d->reader->no_memory || no_memory;
    if (value != NULL || no_memory)
        return value;
    switch (json_error_code(&error)) {
    case json_error_duplicate_key:
        hs_json_bad(d->reader, at, "contains a field twice");
        break;
    case json_error_numeric_overflow:
        hs_json_bad(d->reader, at, "contains a number that is not finite, or not in range");
        break;
    case json_error_null_character:
        hs_json_bad(d->reader, at, "must not contain a NUL character");
        break;
    default:
        set_malformed(d, from + (error.position > 0 ? error.position : 0), error.text);
        break;
    }
    return NULL;
}

/* ---- elements ---- */

static void check_reach(struct hs_reader *reader, const struct hs_json_at *at, const double v[3])
{
    for (size_t k = 0; k < 3; k++) {
        struct hs_json_at here = {.parent = at, .index = k};
        if (!(fabs(v[k]) <= HS_WORLD_COORDINATE_MAX))
            hs_json_bad(reader, &here, "must be from %g to %g", -HS_WORLD_COORDINATE_MAX,
                        HS_WORLD_COORDINATE_MAX);
    }
}

static bool take_vertex(struct hs_cursor *cursor, void *target)
{
    double *v = target;
    return hs_cursor_take_reals(cursor, v) && fabs(v[0]) <= HS_WORLD_COORDINATE_MAX &&
           fabs(v[1]) <= HS_WORLD_COORDINATE_MAX && fabs(v[2]) <= HS_WORLD_COORDINATE_MAX;
}

static bool take_triangle(struct hs_cursor *cursor, void *target)
{
    return hs_cursor_take_integers(cursor, target);
}

static void read_triangle(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, void *target)
{
    uint32_t *out = target;
    if (!json_is_array(value) || json_array_size(value) != 3) {
        hs_json_bad(reader, at, "must be an array of 3 indices of vertices");
        return;
    }
    for (size_t k = 0; k < 3; k++) {
        struct hs_json_at here = {.parent = at, .index = k};
        json_t *number = json_array_get(value, k);
        json_int_t n = json_integer_value(number);
        if (!json_is_integer(number))
            hs_json_bad(reader, &here, "must be an integer");
        else if (n < 0 || n > (json_int_t)UINT32_MAX)
            hs_json_bad(reader, &here, "must be from 0 to %lld", (long long)UINT32_MAX);
        else
            out[k] = (uint32_t)n;
    }
}

static void read_box(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                     void *target)
{
    struct hs_world_box *out = target;
    static const struct hs_json_field fields[] = {
        {"min", HS_JSON_VEC, true, offsetof(struct hs_world_box, min), .check = check_reach},
        {"max", HS_JSON_VEC, true, offsetof(struct hs_world_box, max), .check = check_reach},
    };
    static const struct hs_json_object table = {HS_JSON_FIELDS(fields)};
    size_t faults = reader->problem->count;
    hs_json_read_object(reader, value, at, &table, out);
    if (reader->problem->count != faults)
        return;
    const double low[3] = {out->min.x, out->min.y, out->min.z};
    const double high[3] = {out->max.x, out->max.y, out->max.z};
    struct hs_json_at min = {.parent = at, .key = "min"};
    for (size_t k = 0; k < 3; k++) {
        struct hs_json_at here = {.parent = &min, .index = k};
        if (low[k] > high[k])
            hs_json_bad(reader, &here, "must not be above that of max");
    }
}

static const struct {
    const char *name;
    size_t size; /* size of an element in bytes */
    /* Reads an element in its usual form. Returns false if the element has another form. In this
       case, the parser must read the element. NULL: the parser reads all elements. */
    bool (*take)(struct hs_cursor *cursor, void *target);
    struct hs_json_field element;
} lists[LISTS] = {
    [VERTICES] = {"vertices",
                  sizeof(struct hs_vec),
                  take_vertex,
                  {.kind = HS_JSON_VEC, .check = check_reach}},
    [TRIANGLES] = {"triangles",
                   sizeof(uint32_t[3]),
                   take_triangle,
                   {.kind = HS_JSON_CUSTOM, .decode = read_triangle}},
    [BOXES] = {"boxes",
               sizeof(struct hs_world_box),
               NULL,
               {.kind = HS_JSON_CUSTOM, .decode = read_box}},
};

/* Reads the next element with the parser. Returns false if the text after the element cannot be
   read. */
static bool parse_element(struct decoder *d, struct hs_cursor *cursor, enum list list, size_t index,
                          void *target)
{
    struct hs_json_at array = {.key = lists[list].name};
    struct hs_json_at at = {.parent = &array, .index = index};
    bool too_deep;
    hs_cursor_skip_space(cursor);
    const char *from = cursor->at;
    if (!hs_cursor_skip_value(cursor, HS_JSON_MAX_DEPTH - LEVELS_AROUND, &too_deep)) {
        if (too_deep)
            hs_json_bad(d->reader, &at, "nested deeper than %d", HS_JSON_MAX_DEPTH);
        else
            set_malformed(d, cursor->at, "a value was expected");
        return false;
    }
    if (is_full(d)) {
        d->reader->problem->left_out++;
        return true;
    }
    if ((size_t)(cursor->at - from) > PARSED_MAX) {
        hs_json_bad(d->reader, &at, "is longer than %d bytes", PARSED_MAX);
        return true;
    }
    json_t *value = parse_value(d, from, cursor->at, &at);
    if (value == NULL)
        return d->reader->problem->code != HS_PROBLEM_MALFORMED_JSON && !d->reader->no_memory;
    hs_json_read_field(d->reader, value, &at, &lists[list].element, target);
    json_decref(value);
    return true;
}

/* Reads the next element. The first call for a list allocates space for all counted elements of the
   list. */
static bool read_element(struct decoder *d, struct hs_cursor *cursor, enum list list)
{
    size_t size = lists[list].size, index = d->counts[list];
    if (d->arrays[list] == NULL && d->capacity[list] <= HS_WORLD_ITEMS_MAX)
        d->arrays[list] = malloc(d->capacity[list] * size);
    if (d->arrays[list] == NULL || index >= d->capacity[list]) {
        d->reader->no_memory = true;
        return false;
    }
    char *target = d->arrays[list] + d->counts[list]++ * size;
    struct hs_cursor quick = *cursor;
    if (lists[list].take != NULL && lists[list].take(&quick, target)) {
        *cursor = quick;
        return true;
    }
    memset(target, 0, size);
    return parse_element(d, cursor, list, index, target);
}

/* Reads a list or counts its elements. The cursor must be at the opening bracket, and moves past
   the closing bracket. Returns false if the list is malformed or memory ran out. */
static bool read_list(struct decoder *d, struct hs_cursor *cursor, enum list list)
{
    bool too_deep;
    cursor->at++;
    if (hs_cursor_take(cursor, ']'))
        return true;
    do {
        d->capacity[list] += d->measures;
        if (!(d->measures
                  ? hs_cursor_skip_value(cursor, HS_JSON_MAX_DEPTH - LEVELS_AROUND, &too_deep)
                  : read_element(d, cursor, list)))
            return false;
    } while (hs_cursor_take(cursor, ','));
    if (hs_cursor_take(cursor, ']'))
        return true;
    hs_cursor_skip_space(cursor);
    if (!d->measures)
        set_malformed(d, cursor->at, "a comma or ] was expected");
    return false;
}

/* ---- the document ---- */

/* Finds the list with the name that ends before the cursor. If a colon and an opening bracket
   follow the name, moves the cursor to the bracket. Otherwise, or if no list has this name, returns
   false. */
static bool find_list(struct hs_cursor *cursor, const char *name, enum list *list)
{
    struct hs_cursor after = *cursor;
    size_t len = (size_t)(cursor->at - name) - 1;
    for (int i = 0; i < LISTS; i++) {
        if (strlen(lists[i].name) != len || memcmp(lists[i].name, name, len) != 0 ||
            !hs_cursor_take(&after, ':') || !hs_cursor_take(&after, '['))
            continue;
        cursor->at = after.at - 1;
        *list = (enum list)i;
        return true;
    }
    return false;
}

/* Appends text to the shell. A shell with more than PARSED_MAX bytes is refused later, so only
   PARSED_MAX + 1 bytes are kept. */
static void keep(struct decoder *d, const char *from, size_t len)
{
    size_t space = PARSED_MAX + 1 - d->shell.len;
    if (!d->measures)
        hs_buffer_append(&d->shell, from, len < space ? len : space);
}

/* Reads the lists, and copies the rest of the text to the shell. Returns false if a list is
   malformed or memory ran out. */
static bool take_lists(struct decoder *d)
{
    struct hs_cursor cursor = {d->text.ptr, d->text.ptr + d->text.len};
    const char *kept = cursor.at;
    size_t depth = 0;
    while (cursor.at < cursor.end) {
        char c = *cursor.at;
        depth += c == '{' || c == '[';
        depth -= (c == '}' || c == ']') && depth > 0;
        if (c != '"') {
            cursor.at++;
            continue;
        }
        bool too_deep;
        const char *name = cursor.at + 1;
        enum list list;
        if (!hs_cursor_skip_value(&cursor, 0, &too_deep))
            break;
        if (depth != 1 || d->cuts == LISTS || !find_list(&cursor, name, &list))
            continue;
        keep(d, kept, (size_t)(cursor.at - kept));
        const char *from = cursor.at;
        if (!read_list(d, &cursor, list))
            return false;
        d->cut_at[d->cuts] = d->shell.len;
        keep(d, "[]", 2);
        d->cut[d->cuts++] = (size_t)(cursor.at - from) - 2;
        kept = cursor.at;
    }
    keep(d, kept, (size_t)(d->text.ptr + d->text.len - kept));
    return true;
}

/* Finds the fault in the shell again, and reports the position of the fault in the whole text. */
static void place_malformed(const struct decoder *d, struct hs_str shell)
{
    json_error_t error;
    if (shell.len >= 3 && memcmp(shell.ptr, "\xef\xbb\xbf", 3) == 0)
        return;
    json_t *root = json_loadb(shell.ptr, shell.len, 0, &error);
    json_decref(root);
    if (root != NULL || error.position < 0)
        return;
    size_t offset = (size_t)error.position;
    for (size_t i = d->cuts; i-- > 0;)
        if ((size_t)error.position > d->cut_at[i])
            offset += d->cut[i];
    d->reader->problem->code = HS_PROBLEM_NONE;
    set_malformed(d, d->text.ptr + offset, error.text);
}

/* Checks a list in the shell. The list must be empty, because the shell does not contain the
   elements that read_list has read. */
static void expect_list(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    (void)target;
    if (!json_is_array(value))
        hs_json_bad(reader, at, "must be an array");
    else if (json_array_size(value) > 0)
        hs_json_bad(reader, at, "must have its name written without escapes");
}

static void read_shell(const struct decoder *d)
{
    static const struct hs_json_field fields[] = {
        {"vertices", HS_JSON_CUSTOM, .decode = expect_list},
        {"triangles", HS_JSON_CUSTOM, .decode = expect_list},
        {"boxes", HS_JSON_CUSTOM, .decode = expect_list},
    };
    static const struct hs_json_object table = {HS_JSON_FIELDS(fields)};
    struct hs_str shell = {d->shell.len > 0 ? d->shell.data : "", d->shell.len};
    bool was_fine = d->reader->problem->code == HS_PROBLEM_NONE;
    if (shell.len > PARSED_MAX) {
        hs_json_bad(d->reader, NULL, "has more than %d bytes beside its lists", PARSED_MAX);
        return;
    }
    json_t *root = hs_json_parse(shell, d->reader->problem);
    if (root == NULL) {
        if (was_fine && d->reader->problem->code == HS_PROBLEM_MALFORMED_JSON)
            place_malformed(d, shell);
        return;
    }
    char nothing; /* expect_list stores nothing */
    hs_json_read_object(d->reader, root, NULL, &table, &nothing);
    json_decref(root);
}

/* Checks that all triangles refer to existing vertices. This check comes last, because `triangles`
   may come before `vertices` in the text. */
static void check_corners(const struct decoder *d, const struct hs_map_document *out)
{
    struct hs_json_at array = {.key = lists[TRIANGLES].name};
    for (size_t i = 0; i < out->triangle_count; i++) {
        for (size_t k = 0; k < 3; k++) {
            if (out->triangles[i][k] < out->vertex_count)
                continue;
            if (is_full(d)) {
                d->reader->problem->left_out++;
                continue;
            }
            struct hs_json_at element = {.parent = &array, .index = i};
            struct hs_json_at at = {.parent = &element, .index = k};
            hs_json_bad(d->reader, &at, "must be the index of one of the %zu vertices",
                        out->vertex_count);
        }
    }
}

struct hs_world_mesh hs_map_measure(struct hs_str text)
{
    struct decoder d = {.text = text, .measures = true};
    take_lists(&d);
    return (struct hs_world_mesh){.vertex_count = d.capacity[VERTICES],
                                  .triangle_count = d.capacity[TRIANGLES],
                                  .box_count = d.capacity[BOXES]};
}

size_t hs_map_mesh_bytes(const struct hs_world_mesh *counts)
{
    return counts->vertex_count * sizeof *counts->vertices +
           counts->triangle_count * sizeof *counts->triangles +
           counts->box_count * sizeof *counts->boxes;
}

bool hs_map_decode(struct hs_reader *reader, struct hs_str text, const struct hs_world_mesh *counts,
                   struct hs_map_document *out)
{
    struct decoder d = {
        .reader = reader,
        .text = text,
        .capacity = {counts->vertex_count, counts->triangle_count, counts->box_count}};
    bool is_whole = take_lists(&d);
    *out = (struct hs_map_document){.vertices = (void *)d.arrays[VERTICES],
                                    .triangles = (void *)d.arrays[TRIANGLES],
                                    .boxes = (void *)d.arrays[BOXES],
                                    .vertex_count = d.counts[VERTICES],
                                    .triangle_count = d.counts[TRIANGLES],
                                    .box_count = d.counts[BOXES]};
    if (is_whole) {
        if (d.shell.failed)
            reader->no_memory = true;
        else
            read_shell(&d);
        if (reader->problem->code == HS_PROBLEM_NONE)
            check_corners(&d, out);
    }
    hs_buffer_free(&d.shell);
    return reader->problem->code == HS_PROBLEM_NONE && !reader->no_memory;
}

void hs_map_document_free(struct hs_map_document *document)
{
    free(document->vertices);
    free(document->triangles);
    free(document->boxes);
    *document = (struct hs_map_document){0};
}

struct hs_world_mesh hs_map_mesh(const struct hs_map_document *document)
{
    return (struct hs_world_mesh){.vertices = document->vertices,
                                  .vertex_count = document->vertex_count,
                                  .triangles = (const uint32_t(*)[3])document->triangles,
                                  .triangle_count = document->triangle_count,
                                  .boxes = document->boxes,
                                  .box_count = document->box_count};
}
