#include "validators/base/saved.h"

#include <math.h>

/* ---- vocabularies ---- */

static const struct hs_vocabulary *const vocabularies[HS_SAVED_VOCABULARIES] = {
    [HS_VOCABULARY_VERDICTS] = &hs_verdict_words,
    [HS_VOCABULARY_MODES] = &hs_mode_words,
    [HS_VOCABULARY_CHECKS] = &hs_check_words,
    [HS_VOCABULARY_REASONS] = &hs_reason_words,
    [HS_VOCABULARY_UNITS] = &hs_unit_words,
    [HS_VOCABULARY_MOVE_CHECKS] = &hs_move_check_words,
    [HS_VOCABULARY_MOVE_REASONS] = &hs_move_reason_words,
};

_Static_assert((int)HS_REASON_COUNT <= (int)HS_VOCABULARY_MAX, "every name fits");

void hs_saved_put_names(struct hs_bytes *bytes)
{
    for (unsigned v = 0; v < HS_SAVED_VOCABULARIES; v++) {
        hs_bytes_put(bytes, (uint64_t)vocabularies[v]->count, 1);
        for (int i = 0; i < vocabularies[v]->count; i++)
            hs_bytes_put_name(bytes, vocabularies[v]->names[i]);
    }
}

void hs_saved_get_names(struct hs_bytes_reader *reader, struct hs_saved_names *names)
{
    for (unsigned v = 0; v < HS_SAVED_VOCABULARIES; v++) {
        names->count[v] = (uint16_t)hs_bytes_get_max(reader, 1, HS_VOCABULARY_MAX);
        for (unsigned i = 0; i < names->count[v]; i++) {
            int member = hs_vocabulary_find(vocabularies[v], hs_bytes_get_name(reader));
            names->member[v][i] = member >= 0 ? (uint8_t)member : HS_NO_MEMBER;
        }
    }
}

void hs_saved_own_names(struct hs_saved_names *names)
{
    for (unsigned v = 0; v < HS_SAVED_VOCABULARIES; v++) {
        names->count[v] = (uint16_t)vocabularies[v]->count;
        for (unsigned i = 0; i < names->count[v]; i++)
            names->member[v][i] = (uint8_t)i;
    }
}

/* ---- layouts ---- */

static void hash_bytes(uint64_t *hash, const void *bytes, size_t size)
{
    uint64_t text = hs_str_hash((struct hs_str){bytes, size});
    *hash = (*hash ^ text) * UINT64_C(1099511628211);
}

uint64_t hs_saved_layout(enum hs_saved_id from, enum hs_saved_id to)
{
    uint64_t hash = HS_SAVED_VERSION;
    for (unsigned id = from; id < to; id++) {
        const struct hs_saved_struct *saved = &hs_saved_structs[id];
        for (size_t i = 0; i < saved->field_count; i++) {
            const struct hs_saved_field *field = &saved->fields[i];
            /* A vocabulary may grow, so its size is not part of the layout: the saved names list
               the members that the vocabulary had at the time of the save. */
            bool grows = field->kind == HS_SAVED_COUNTS || field->kind == HS_SAVED_SUMS;
            uint32_t size = grows ? 0 : field->size;
            unsigned char shape[6] = {field->kind,
                                      field->vocabulary,
                                      (unsigned char)size,
                                      (unsigned char)(size >> 8),
                                      (unsigned char)(size >> 16),
                                      (unsigned char)(size >> 24)};
            if (field->kind == HS_SAVED_ELSEWHERE)
                continue;
            hash_bytes(&hash, field->name, strlen(field->name));
            hash_bytes(&hash, shape, sizeof shape);
        }
    }
    return hash;
}

uint64_t hs_saved_vocabularies(void)
{
    uint64_t hash = HS_SAVED_VERSION;
    for (unsigned v = 0; v < HS_SAVED_VOCABULARIES; v++)
        for (int i = 0; i < vocabularies[v]->count; i++) {
            const char *name = vocabularies[v]->names[i];
            hash_bytes(&hash, name, strlen(name) + 1);
        }
    return hash;
}

uint64_t hs_saved_format(void)
{
    return hs_saved_layout(0, HS_SAVED_STRUCTS) ^ hs_saved_vocabularies();
}

/* ---- writing ---- */

static size_t item_size(const struct hs_saved_field *field)
{
    static const size_t sizes[] = {
        [HS_SAVED_FLAG] = sizeof(bool),
        [HS_SAVED_INT32] = 4,
        [HS_SAVED_SMALL] = 4,
        [HS_SAVED_SET] = 4,
        [HS_SAVED_MARK] = 8,
        [HS_SAVED_TIME] = 8,
        [HS_SAVED_REAL] = 8,
        [HS_SAVED_BOUND] = 8,
        [HS_SAVED_SPAN] = 8,
        [HS_SAVED_COUNTS] = 8,
        [HS_SAVED_SUMS] = 8,
    };
    _Static_assert(sizeof sizes / sizeof sizes[0] == HS_SAVED_KINDS &&
                       HS_SAVED_KINDS == HS_SAVED_FLAG + 13,
                   "a new kind needs its size here, and its range in is_sane");
    if (field->kind == HS_SAVED_MEMBER)
        return field->size;
    if (field->kind != HS_SAVED_UNSIGNED)
        return sizes[field->kind];
    if (field->size % 8 == 0) /* the items of an array have eight bytes or one byte */
        return 8;
    return field->size == 4 || field->size == 2 ? field->size : 1;
}

/* Returns the offset in memory at which the lowest `size` bytes of a uint64_t begin. */
static size_t low_bytes(size_t size)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : sizeof(uint64_t) - size;
}

/* Loads an unsigned integer of `size` bytes. */
static uint64_t load_word(const unsigned char *from, size_t size)
{
    uint64_t word = 0;
    memcpy((unsigned char *)&word + low_bytes(size), from, size);
    return word;
}

static void store_word(unsigned char *to, size_t size, uint64_t word)
{
    memcpy(to, (const unsigned char *)&word + low_bytes(size), size);
}

/* Like memcpy, but without a call for the usual sizes: eight bytes and one byte. */
static void copy_field(unsigned char *to, const unsigned char *from, size_t size)
{
    if (size == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else if (size == 1)
        *to = *from;
    else
        memcpy(to, from, size);
}

/* Writes a field to `to` and returns the address after its last byte. */
static unsigned char *put_field(const struct hs_saved_field *field, const unsigned char *from,
                                unsigned char *to)
{
    /* On little-endian machines, all fields except members of vocabularies are saved as they are in
       memory. */
    if (field->kind != HS_SAVED_MEMBER && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        copy_field(to, from, field->size);
        return to + field->size;
    }
    size_t size = item_size(field);
    unsigned stored = field->kind == HS_SAVED_MEMBER ? 1 : (unsigned)size;
    for (size_t i = 0; i < field->size; i += size, to += stored)
        hs_bytes_store(to, load_word(from + i, size), stored);
    return to;
}

static bool is_count(const struct hs_saved_field *field)
{
    return field->kind == HS_SAVED_COUNTS || field->kind == HS_SAVED_SUMS;
}

void hs_saved_put(struct hs_bytes *bytes, enum hs_saved_id id, const void *from)
{
    const struct hs_saved_struct *saved = &hs_saved_structs[id];
    /* A saved field is never longer than the field in memory. */
    unsigned char *to = hs_bytes_reserve(bytes, saved->size), *end = to;
    for (size_t f = 0; to != NULL && f < saved->field_count; f++) {
        const struct hs_saved_field *field = &saved->fields[f];
        if (field->kind != HS_SAVED_ELSEWHERE)
            end = put_field(field, (const unsigned char *)from + field->offset, end);
    }
    if (to != NULL)
        bytes->len -= saved->size - (size_t)(end - to);
}

static bool is_zero(const unsigned char *from, size_t size)
{
    uint64_t word;
    for (; size >= sizeof word; size -= sizeof word, from += sizeof word) {
        memcpy(&word, from, sizeof word);
        if (word != 0)
            return false;
    }
    for (; size > 0; size--, from++)
        if (*from != 0)
            return false;
    return true;
}

void hs_saved_put_uncounted(struct hs_bytes *bytes, enum hs_saved_id id, const void *from)
{
    const struct hs_saved_struct *saved = &hs_saved_structs[id];
    uint64_t set = 0;
    size_t max = sizeof set + saved->size;
    unsigned char *begin = hs_bytes_reserve(bytes, max), *to = begin;
    if (begin == NULL)
        return;
    to += sizeof set;
    for (size_t f = 0; f < saved->field_count; f++) {
        const struct hs_saved_field *field = &saved->fields[f];
        const unsigned char *at = (const unsigned char *)from + field->offset;
        if (field->kind == HS_SAVED_ELSEWHERE || is_count(field) || is_zero(at, field->size))
            continue;
        to = put_field(field, at, to);
        set |= UINT64_C(1) << f;
    }
    hs_bytes_store(begin, set, sizeof set);
    bytes->len -= max - (size_t)(to - begin);
}

static void save_shot(const struct hs_posted_shot *shot, struct hs_bytes *out)
{
    hs_saved_put(out, HS_SAVED_SHOT, shot);
    for (uint16_t i = 0; i < shot->check_count; i++)
        hs_saved_put(out, HS_SAVED_REMEMBERED, &shot->checks[i]);
    for (uint16_t i = 0; i < shot->direction_count; i++) {
        hs_bytes_put_real(out, shot->directions[i].x);
        hs_bytes_put_real(out, shot->directions[i].y);
        hs_bytes_put_real(out, shot->directions[i].z);
    }
}

void hs_saved_put_entry(struct hs_bytes *out, const struct hs_ledger_entry *entry)
{
    hs_saved_put(out, HS_SAVED_ENTRY, entry);
    hs_bytes_put(out, entry->shot != NULL, 1);
    if (entry->shot != NULL)
        save_shot(entry->shot, out);
    hs_bytes_put(out, entry->answer_size, 4);
    hs_bytes_put_run(out, entry->answer, entry->answer_size);
}

/* ---- reading ---- */

/* Returns whether a field of this kind can have this value. If not, the bytes are damaged. */
static bool is_sane(enum hs_saved_kind kind, uint64_t word)
{
    double real;
    float small;
    uint32_t half = (uint32_t)word;
    memcpy(&real, &word, sizeof real);
    memcpy(&small, &half, sizeof small);
    if (kind == HS_SAVED_FLAG)
        return word <= 1;
    if (kind == HS_SAVED_TIME)
        return word + (uint64_t)HS_SAVED_TIME_MAX <= 2 * (uint64_t)HS_SAVED_TIME_MAX;
    if (kind == HS_SAVED_BOUND)
        return !isnan(real);
    if (kind == HS_SAVED_SPAN)
        return isfinite(real) && fabs(real) <= (double)HS_SAVED_TIME_MAX;
    if (kind == HS_SAVED_SMALL)
        return isfinite(small);
    return (kind != HS_SAVED_REAL && kind != HS_SAVED_SUMS) || isfinite(real);
}

static bool get_member(struct hs_bytes_reader *reader, const struct hs_saved_names *names,
                       const struct hs_saved_field *field, unsigned char *to)
{
    uint64_t number = hs_bytes_get(reader, 1);
    if (number >= names->count[field->vocabulary])
        return false;
    uint8_t member = names->member[field->vocabulary][number];
    if (member == HS_NO_MEMBER)
        return false;
    store_word(to, field->size, member);
    return true;
}

/* Reads a field of the kind COUNTS or SUMS. Ignores the values for members that this program does
   not have. */
static bool get_counts(struct hs_bytes_reader *reader, const struct hs_saved_names *names,
                       const struct hs_saved_field *field, unsigned char *to)
{
    bool sane = true;
    memset(to, 0, field->size);
    for (unsigned i = 0; i < names->count[field->vocabulary]; i++) {
        uint64_t count = hs_bytes_get(reader, 8);
        uint8_t member = names->member[field->vocabulary][i];
        sane = sane && is_sane((enum hs_saved_kind)field->kind, count);
        if (member != HS_NO_MEMBER)
            store_word(to + 8 * (size_t)member, 8, sane ? count : 0);
    }
    return sane;
}

static bool get_set(struct hs_bytes_reader *reader, const struct hs_saved_names *names,
                    const struct hs_saved_field *field, unsigned char *to)
{
    uint64_t bits = hs_bytes_get(reader, 4), members = 0;
    for (unsigned i = 0; i < 32; i++) {
        if ((bits >> i & 1) == 0)
            continue;
        bool is_known = i < names->count[field->vocabulary] &&
                        names->member[field->vocabulary][i] != HS_NO_MEMBER;
        if (!is_known)
            return false;
        members |= UINT64_C(1) << names->member[field->vocabulary][i];
    }
    store_word(to, field->size, members);
    return true;
}

static bool get_items(struct hs_bytes_reader *reader, const struct hs_saved_field *field,
                      unsigned char *to)
{
    bool sane = true;
    size_t size = item_size(field);
    for (size_t i = 0; i < field->size; i += size) {
        uint64_t word = hs_bytes_get(reader, (unsigned)size);
        sane = sane && is_sane((enum hs_saved_kind)field->kind, word);
        store_word(to + i, size, sane ? word : 0);
    }
    return sane;
}

static bool get_field(struct hs_bytes_reader *reader, const struct hs_saved_names *names,
                      const struct hs_saved_field *field, unsigned char *to)
{
    if (is_count(field))
        return get_counts(reader, names, field, to);
    if (field->kind == HS_SAVED_MEMBER)
        return get_member(reader, names, field, to);
    if (field->kind == HS_SAVED_SET)
        return get_set(reader, names, field, to);
    return get_items(reader, field, to);
}

bool hs_saved_get(struct hs_bytes_reader *reader, const struct hs_saved_names *names,
                  enum hs_saved_id id, void *to)
{
    bool sane = true;
    const struct hs_saved_struct *saved = &hs_saved_structs[id];
    for (size_t f = 0; f < saved->field_count; f++) {
        const struct hs_saved_field *field = &saved->fields[f];
        if (field->kind != HS_SAVED_ELSEWHERE)
            sane = get_field(reader, names, field, (unsigned char *)to + field->offset) && sane;
    }
    return sane;
}

bool hs_saved_get_uncounted(struct hs_bytes_reader *reader, const struct hs_saved_names *names,
                            enum hs_saved_id id, void *to)
{
    bool sane = true;
    const struct hs_saved_struct *saved = &hs_saved_structs[id];
    uint64_t set = hs_bytes_get(reader, sizeof set);
    for (size_t f = 0; f < saved->field_count; f++) {
        const struct hs_saved_field *field = &saved->fields[f];
        unsigned char *at = (unsigned char *)to + field->offset;
        if (field->kind == HS_SAVED_ELSEWHERE || is_count(field))
            continue;
        if (set >> f & 1)
            sane = get_field(reader, names, field, at) && sane;
        else
            memset(at, 0, field->size);
    }
    return sane;
}
