#include "api/json/direct.h"

#include <string.h>

#include "api/json/batch.h"
#include "api/json/word.h"
#include "validators/base/units.h"

enum {
    FEW = 8,   /* initial capacity of a list if hs_direct_items.first is 0 */
    MANY = 64, /* the max initial capacity for the first batch of a kind */
    /* Assumed number of bytes of text per item; used to guess the number of items in the first
       batch of a kind. */
    BYTES_PER_ITEM = 64,
    KEY_WORDS = 3,     /* number of 64-bit words that the longest name of a member needs */
    IGNORED_NAMES = 8, /* the maximum number of x_ names in one object */
    IGNORED_LEVELS = 4 /* the maximum depth of an ignored value */
};

static bool take_field(struct hs_direct *in, const struct hs_json_field *field, void *base);

/* ---- values ---- */

bool hs_direct_take_literal(struct hs_direct *in, const char *word)
{
    struct hs_cursor *cursor = &in->cursor;
    size_t length = strlen(word);
    hs_cursor_skip_space(cursor);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

static bool is_at(const struct hs_direct *in, char c)
{
    return in->cursor.at < in->cursor.end && *in->cursor.at == c;
}

static inline bool take_null(struct hs_direct *in)
{
    hs_cursor_skip_space(&in->cursor);
    return is_at(in, 'n') && hs_direct_take_literal(in, "null");
}

bool hs_direct_open(struct hs_direct *in, char bracket)
{
    in->containers += bracket == '{' ? HS_JSON_BYTES_PER_OBJECT : HS_JSON_BYTES_PER_ARRAY;
    return hs_cursor_take(&in->cursor, bracket);
}

bool hs_direct_is_number(struct hs_direct *in)
{
    hs_cursor_skip_space(&in->cursor);
    if (in->cursor.at == in->cursor.end)
        return false;
    char c = *in->cursor.at;
    return c == '-' || (c >= '0' && c <= '9');
}

bool hs_direct_take_text(struct hs_direct *in, struct hs_str *out)
{
    struct hs_cursor *cursor = &in->cursor;
    if (!hs_cursor_take(cursor, '"'))
        return false;
    const char *first = cursor->at, *at = first;
    while (at < cursor->end && *at >= ' ' && *at < 127 && *at != '"' && *at != '\\')
        at++;
    if (at == cursor->end || *at != '"')
        return false;
    *out = (struct hs_str){first, (size_t)(at - first)};
    cursor->at = at + 1;
    return true;
}

bool hs_direct_take_numbers(struct hs_direct *in, size_t count, double *out)
{
    if (!hs_cursor_take_numbers(&in->cursor, count, out))
        return false;
    for (size_t i = 0; i < count; i++)
        out[i] += 0.0; /* -0 becomes 0 */
    return true;
}

static bool take_real(struct hs_direct *in, double low, double high, double *out)
{
    if (!hs_cursor_take_numbers(&in->cursor, 1, out))
        return false;
    *out += 0.0; /* -0 becomes 0 */
    return *out >= low && *out <= high;
}

/* Returns whether hs_name_is_valid allows the character. The table has one bit for each
   character. */
static bool is_name_character(unsigned char c)
{
    static const uint64_t bits[4] = {UINT64_C(0x07ff600000000000), UINT64_C(0x07fffffe87fffffe)};
    return (bits[c >> 6] >> (c & 63) & 1) != 0;
}

static bool take_name(struct hs_direct *in, struct hs_str *out)
{
    struct hs_cursor *cursor = &in->cursor;
    if (!hs_cursor_take(cursor, '"'))
        return false;
    const char *first = cursor->at, *at = first;
    while (at < cursor->end && is_name_character((unsigned char)*at))
        at++;
    *out = (struct hs_str){first, (size_t)(at - first)};
    if (out->len == 0 || out->len > HS_NAME_MAX || at == cursor->end || *at != '"')
        return false;
    cursor->at = at + 1;
    return true;
}

static bool take_word(struct hs_direct *in, const struct hs_json_field *field, int *out)
{
    struct hs_str text;
    if (!hs_direct_take_text(in, &text))
        return false;
    *out = hs_vocabulary_find(field->words, text);
    return *out >= (int)field->low;
}

static bool take_bool(struct hs_direct *in, bool *out)
{
    *out = hs_direct_take_literal(in, "true");
    return *out || hs_direct_take_literal(in, "false");
}

static bool take_integer(struct hs_direct *in, const struct hs_json_field *field, void *target)
{
    uint64_t number;
    if (!hs_cursor_take_whole(&in->cursor, HS_JSON_INT_MAX, &number) ||
        (double)number < field->low || (double)number > field->high)
        return false;
    hs_json_put_integer(field, (int64_t)number, target);
    return true;
}

static bool take_time(struct hs_direct *in, const struct hs_json_field *field, void *target)
{
    bool is_short = field->kind == HS_JSON_SHORT_SECONDS;
    double seconds, high = is_short ? field->high : HS_JSON_TIME_MAX;
    if (!take_real(in, is_short ? 0 : -high, high, &seconds))
        return false;
    hs_json_put_integer(field, hs_seconds_to_us(seconds), target);
    return true;
}

/* Reads a value of kind REALS or VEC. */
static bool take_reals(struct hs_direct *in, const struct hs_json_field *field, double *target)
{
    bool is_vec = field->kind == HS_JSON_VEC;
    if (!hs_direct_open(in, '[') || !hs_direct_take_numbers(in, is_vec ? 3 : field->count, target))
        return false;
    if (is_vec && field->check != NULL)
        field->check(in->reader, NULL, target);
    return hs_cursor_take(&in->cursor, ']');
}

/* ---- names ---- */

/* The name of a member, padded with zeros to whole words. */
struct key {
    uint64_t words[KEY_WORDS];
    size_t len;
};

/* Reads the name at `at`. The next KEY_WORDS * HS_WORD bytes must be readable. Moves the cursor
   past the closing quotation mark. Returns false and does not move the cursor if the name is too
   long or has no end. */
static inline bool take_key_at(struct hs_cursor *cursor, const char *at, struct key *key)
{
    size_t count = HS_WORD, i = 0;
    key->words[1] = key->words[2] = 0;
    for (; i < KEY_WORDS && count == HS_WORD; i++) {
        uint64_t word = hs_word_load(at + i * HS_WORD);
        count = hs_word_quote(word);
        key->words[i] = count < HS_WORD ? hs_word_keep(word, count) : word;
    }
    key->len = (i - 1) * HS_WORD + count;
    cursor->at += count < HS_WORD ? key->len + 1 : 0;
    return count < HS_WORD;
}

/* Reads a name near the end of the text. The function is not inline, because the padded copy would
   slow down the reading of other names. */
static __attribute__((noinline)) bool take_last_key(struct hs_cursor *cursor, struct key *key)
{
    char padded[KEY_WORDS * HS_WORD] = {0};
    memcpy(padded, cursor->at, (size_t)(cursor->end - cursor->at));
    return take_key_at(cursor, padded, key);
}

/* Reads a name. The cursor must be after the opening quotation mark. Returns false and does not
   move the cursor if the name is too long or has no end. */
static inline bool take_key(struct hs_cursor *cursor, struct key *key)
{
    return cursor->end - cursor->at < (ptrdiff_t)KEY_WORDS * HS_WORD
               ? take_last_key(cursor, key)
               : take_key_at(cursor, cursor->at, key);
}

/* Returns whether the key is the name of a field. Also checks the length, because zero bytes at the
   end of a key look like padding. */
static bool is_key(const struct key *key, const struct hs_json_field *field)
{
    for (size_t i = 0; i < KEY_WORDS; i++)
        if (hs_word_load(field->name + i * HS_WORD) != key->words[i])
            return false;
    return key->len > 0 && field->name[key->len - 1] != '\0';
}

/* Returns the index of the member with this name in the table, or table->count if the table does
   not contain the name. The search starts at the index `from`, because members usually come in the
   order of the table. */
static size_t find_field(const struct hs_json_object *table, size_t from, const struct key *key)
{
    for (size_t i = from; i < table->count; i++)
        if (is_key(key, &table->fields[i]))
            return i;
    for (size_t i = 0; i < from; i++)
        if (is_key(key, &table->fields[i]))
            return i;
    return table->count;
}

/* Returns whether `seen` contains the bits of all required members of the table. */
static bool has_required(struct hs_direct *in, const struct hs_json_object *table, uint64_t seen)
{
    if (in->table != table) {
        in->table = table;
        in->required = 0;
        for (size_t i = 0; i < table->count; i++)
            in->required |= (uint64_t)table->fields[i].required << i;
    }
    return (in->required & ~seen) == 0;
}

/* A list of names without repetitions. */
struct names {
    size_t count;
    struct hs_str list[IGNORED_NAMES];
};

static bool add_name(struct names *names, struct hs_str name)
{
    for (size_t i = 0; i < names->count; i++)
        if (hs_str_equal(names->list[i], name))
            return false;
    if (names->count == IGNORED_NAMES)
        return false;
    names->list[names->count++] = name;
    return true;
}

/* Reads the quoted name of an ignored member, which must begin with x_. Returns false if the name
   has occurred before. */
static bool take_ignored_name(struct hs_direct *in, struct names *ignored)
{
    struct hs_str name;
    return hs_direct_take_text(in, &name) && name.len >= 2 && memcmp(name.ptr, "x_", 2) == 0 &&
           add_name(ignored, name);
}

/* Reads the quoted name of a member. Sets *index to the index of the member in the table, or to
   table->count if the name begins with x_. Returns false for any other name. */
static inline bool take_member_name(struct hs_direct *in, const struct hs_json_object *table,
                                    size_t from, struct names *ignored, size_t *index)
{
    struct hs_cursor *cursor = &in->cursor;
    struct key key;
    if (!hs_cursor_take(cursor, '"'))
        return false;
    const char *quote = cursor->at - 1;
    *index = take_key(cursor, &key) ? find_field(table, from, &key) : table->count;
    if (*index < table->count)
        return true;
    cursor->at = quote;
    return take_ignored_name(in, ignored);
}

/* ---- ignored values ---- */

static bool skip_value(struct hs_direct *in, size_t levels);

static bool skip_members(struct hs_direct *in, size_t levels)
{
    struct names names;
    struct hs_str name;
    names.count = 0;
    if (hs_cursor_take(&in->cursor, '}'))
        return true;
    do {
        if (!hs_direct_take_text(in, &name) || !add_name(&names, name) ||
            !hs_cursor_take(&in->cursor, ':') || !skip_value(in, levels))
            return false;
    } while (hs_cursor_take(&in->cursor, ','));
    return hs_cursor_take(&in->cursor, '}');
}

static bool skip_elements(struct hs_direct *in, size_t levels)
{
    if (hs_cursor_take(&in->cursor, ']'))
        return true;
    do {
        if (!skip_value(in, levels))
            return false;
    } while (hs_cursor_take(&in->cursor, ','));
    return hs_cursor_take(&in->cursor, ']');
}

/* Skips a value. Returns false if the parser might refuse the value. */
static bool skip_value(struct hs_direct *in, size_t levels)
{
    struct hs_str text;
    double number;
    bool flag;
    hs_cursor_skip_space(&in->cursor);
    switch (in->cursor.at < in->cursor.end ? *in->cursor.at : '\0') {
    case '"':
        return hs_direct_take_text(in, &text);
    case '[':
        return levels > 0 && hs_direct_open(in, '[') && skip_elements(in, levels - 1);
    case '{':
        return levels > 0 && hs_direct_open(in, '{') && skip_members(in, levels - 1);
    case 'n':
        return take_null(in);
    case 't':
    case 'f':
        return take_bool(in, &flag);
    default:
        return hs_cursor_take_numbers(&in->cursor, 1, &number);
    }
}

/* ---- lists ---- */

void *hs_direct_add(struct hs_direct *in, struct hs_direct_items *items, size_t high)
{
    if (items->count == high)
        return NULL;
    if (items->count == items->capacity) {
        size_t first = items->first > 0 ? items->first : FEW;
        size_t capacity = items->capacity > 0 ? 2 * items->capacity : first;
        char *more = hs_arena_alloc(in->reader->arena, capacity, items->size);
        if (more == NULL)
            return NULL;
        if (items->count > 0)
            memcpy(more, items->items, items->count * items->size);
        items->items = more;
        items->capacity = capacity;
    }
    return items->items + items->count++ * items->size;
}

/* Finishes an object or a row after all its members are read. Returns false if a fault was
   recorded. */
static bool finish(struct hs_direct *in, const struct hs_json_object *table, void *target)
{
    if (table->finish != NULL)
        table->finish(in->reader, NULL, NULL, target);
    return in->reader->problem->count == 0;
}

static bool take_present(struct hs_direct *in, const struct hs_json_object *table, size_t i,
                         void *target)
{
    hs_json_mark_present(table, &table->fields[i], target);
    return take_field(in, &table->fields[i], target);
}

static bool take_row(struct hs_direct *in, const struct hs_json_columns *columns, void *target)
{
    const struct hs_json_object *table = columns->table;
    if (!hs_direct_open(in, '['))
        return false;
    for (size_t i = 0; i < columns->count; i++) {
        size_t field = columns->fields[i];
        if (i > 0 && !hs_cursor_take(&in->cursor, ','))
            return false;
        if (field == table->count ? skip_value(in, IGNORED_LEVELS)
            : take_null(in)       ? !table->fields[field].required
                                  : take_present(in, table, field, target))
            continue;
        return false;
    }
    return hs_cursor_take(&in->cursor, ']') && finish(in, table, target);
}

/* Adds the address of the next value to `starts`. */
static bool add_start(struct hs_direct *in, struct hs_direct_items *starts)
{
    hs_cursor_skip_space(&in->cursor);
    const char **start = hs_direct_add(in, starts, SIZE_MAX);
    if (start != NULL)
        *start = in->cursor.at;
    return start != NULL;
}

/* Reads items up to the closing bracket. If `columns` is NULL, the items are objects. Otherwise the
   items are rows. If `starts` is not NULL, adds the address of each item's text to `starts`.
   items->items is not NULL even if the list is empty. */
static bool take_items(struct hs_direct *in, const struct hs_json_list *list, size_t high,
                       const struct hs_json_columns *columns, struct hs_direct_items *starts,
                       struct hs_direct_items *items)
{
    if (hs_cursor_take(&in->cursor, ']')) {
        items->first = 1; /* lists are often empty, so allocate space for one item only */
        bool is_fine = hs_direct_add(in, items, 1) != NULL;
        items->count = 0;
        return is_fine;
    }
    do {
        void *item = hs_direct_add(in, items, high);
        if (item == NULL || (starts != NULL && !add_start(in, starts)))
            return false;
        if (list->initial != NULL)
            memcpy(item, list->initial, list->size);
        if (columns != NULL ? !take_row(in, columns, item) : !take_field(in, &list->item, item))
            return false;
    } while (hs_cursor_take(&in->cursor, ','));
    return hs_cursor_take(&in->cursor, ']');
}

static bool take_list(struct hs_direct *in, const struct hs_json_list *list, void *target)
{
    struct hs_direct_items items = {.size = list->size};
    if (!hs_direct_open(in, '[') || !take_items(in, list, list->high, NULL, NULL, &items))
        return false;
    hs_json_put_list(target, items.items, items.count);
    return items.count >= list->low;
}

/* ---- batches ---- */

/* Reads the names of the columns of a table. */
static bool take_columns(struct hs_direct *in, struct hs_json_columns *out)
{
    uint64_t seen = 0;
    struct names ignored;
    ignored.count = 0;
    out->count = 0;
    if (!hs_direct_open(in, '['))
        return false;
    do {
        size_t i, from = out->count > 0 ? out->fields[out->count - 1] + 1u : 0;
        if (out->count == sizeof out->fields / sizeof out->fields[0] ||
            !take_member_name(in, out->table, from % out->table->count, &ignored, &i) ||
            (i < out->table->count && (seen >> i & 1) != 0))
            return false;
        if (i < out->table->count)
            seen |= UINT64_C(1) << i;
        out->fields[out->count++] = (uint8_t)i;
    } while (hs_cursor_take(&in->cursor, ','));
    return hs_cursor_take(&in->cursor, ']') && has_required(in, out->table, seen);
}

static bool take_table(struct hs_direct *in, const struct hs_json_list *list,
                       struct hs_direct_items *items)
{
    struct hs_json_columns columns;
    columns.table = list->item.object;
    return hs_direct_open(in, '{') && hs_direct_take_literal(in, "\"columns\"") &&
           hs_cursor_take(&in->cursor, ':') && take_columns(in, &columns) &&
           hs_cursor_take(&in->cursor, ',') && hs_direct_take_literal(in, "\"rows\"") &&
           hs_cursor_take(&in->cursor, ':') && hs_direct_open(in, '[') &&
           take_items(in, list, in->reader->max_items, &columns, NULL, items) &&
           hs_cursor_take(&in->cursor, '}');
}

/* Reads a batch: a table or, if `may_be_array`, an array of objects. */
static bool take_batch(struct hs_direct *in, const struct hs_json_list *list, bool may_be_array,
                       void *target)
{
    struct hs_direct_items items = {.size = list->size, .first = in->counts[list->batch]};
    size_t guess = (size_t)(in->cursor.end - in->cursor.at) / BYTES_PER_ITEM + 1;
    if (items.first == 0)
        items.first = guess < MANY ? guess : MANY;
    struct hs_direct_items starts = {.size = sizeof(const char *), .first = items.first};
    bool keeps_starts = list->batch >= HS_ITEM_MOVE;
    hs_cursor_skip_space(&in->cursor);
    bool is_array = may_be_array && !is_at(in, '{');
    if (is_array ? !hs_direct_open(in, '[') || !take_items(in, list, in->reader->max_items, NULL,
                                                           keeps_starts ? &starts : NULL, &items)
                 : !take_table(in, list, &items))
        return false;
    in->reader->starts[list->batch] = (const char *const *)(void *)starts.items;
    in->counts[list->batch] = items.count > 0 ? items.count : 1;
    hs_json_put_list(target, items.items, items.count);
    return true;
}

/* ---- objects ---- */

static bool take_members(struct hs_direct *in, const struct hs_json_object *table, void *target,
                         uint64_t *seen)
{
    struct names ignored;
    size_t next = 0, i;
    ignored.count = 0;
    do {
        if (!take_member_name(in, table, next, &ignored, &i) || !hs_cursor_take(&in->cursor, ':'))
            return false;
        if (i == table->count) {
            if (!skip_value(in, IGNORED_LEVELS))
                return false;
            continue;
        }
        if ((*seen >> i & 1) != 0)
            return false;
        *seen |= UINT64_C(1) << i;
        next = i + 1 < table->count ? i + 1 : 0;
        if (!take_present(in, table, i, target))
            return false;
    } while (hs_cursor_take(&in->cursor, ','));
    return hs_cursor_take(&in->cursor, '}');
}

static bool take_object(struct hs_direct *in, const struct hs_json_object *table, void *target)
{
    uint64_t seen = 0;
    if (table->in_order || table->scalars != NULL || !hs_direct_open(in, '{'))
        return false;
    if (!hs_cursor_take(&in->cursor, '}') && !take_members(in, table, target, &seen))
        return false;
    return has_required(in, table, seen) && finish(in, table, target);
}

static bool take_field(struct hs_direct *in, const struct hs_json_field *field, void *base)
{
    void *target = (char *)base + field->offset;
    switch (field->kind) {
    case HS_JSON_NAME:
        return take_name(in, target);
    case HS_JSON_NAME_OR_NULL:
        return take_null(in) || take_name(in, target);
    case HS_JSON_ENUM:
        return take_word(in, field, target);
    case HS_JSON_BOOL:
        return take_bool(in, target);
    case HS_JSON_INT:
    case HS_JSON_INT32:
        return take_integer(in, field, target);
    case HS_JSON_REAL:
        return take_real(in, field->low, field->high, target);
    case HS_JSON_REALS:
    case HS_JSON_VEC:
        return take_reals(in, field, target);
    case HS_JSON_TIME:
    case HS_JSON_NEAREST_TIME:
    case HS_JSON_SHORT_SECONDS:
        return take_time(in, field, target);
    case HS_JSON_OBJECT:
        return take_object(in, field->object, target);
    case HS_JSON_LIST:
        return take_list(in, field->list, target);
    case HS_JSON_BATCH:
        return take_batch(in, field->list, true, target);
    case HS_JSON_CUSTOM:
        return field->take != NULL && field->take(in, target);
    case HS_JSON_FLOATS: /* no body that is read directly has members of these kinds */
    case HS_JSON_ELEMENTS:
    case HS_JSON_ENTRIES:
    case HS_JSON_ANY:
        break;
    }
    return false;
}

/* Makes a reader that records its faults in `problem` instead of the problem of the request. After
   a fault in this reader, the direct read gives up. */
static struct hs_reader quiet_reader(const struct hs_reader *reader, struct hs_problem *problem)
{
    hs_problem_init(problem);
    return (struct hs_reader){
        .problem = problem, .arena = reader->arena, .max_items = reader->max_items};
}

/* Returns whether the body ends at the cursor, and the parser would accept the number of objects
   and arrays in the body. */
static bool ends_well(struct hs_direct *in, struct hs_str body)
{
    hs_cursor_skip_space(&in->cursor);
    return in->cursor.at == in->cursor.end && in->containers <= body.len + HS_JSON_LET_PASS;
}

bool hs_json_read_directly(struct hs_reader *reader, struct hs_str body,
                           const struct hs_json_object *table, void *target)
{
    struct hs_problem unused;
    struct hs_reader own = quiet_reader(reader, &unused);
    struct hs_direct in = {.cursor = {body.ptr, body.ptr + body.len}, .reader = &own};
    if (body.len == 0 || !take_object(&in, table, target) || !ends_well(&in, body))
        return false;
    memcpy(reader->starts, own.starts, sizeof own.starts);
    return true;
}

bool hs_json_read_table_directly(struct hs_reader *reader, struct hs_str body,
                                 const struct hs_json_list *list, void *target)
{
    struct hs_problem unused;
    struct hs_reader own = quiet_reader(reader, &unused);
    struct hs_direct in = {.cursor = {body.ptr, body.ptr + body.len}, .reader = &own};
    return body.len > 0 && take_batch(&in, list, false, target) && ends_well(&in, body);
}
