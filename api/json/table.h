/* Decodes JSON values into plain structs. A table of struct hs_json_field describes an object. Each
   row describes one member. Bad values are reported with their JSON pointers. */
#ifndef HS_API_JSON_TABLE_H
#define HS_API_JSON_TABLE_H

#include "api/json/number.h"
#include "api/json/reading.h"
#include "validators/ruleset.h"
#include "validators/vocabulary.h"

/* The max absolute value of a time, in seconds: 285 years. */
#define HS_JSON_TIME_MAX 9e9
/* The max integer: 2^53 - 1. A double can represent all integers up to this value exactly. */
#define HS_JSON_INT_MAX 9007199254740991
/* The max coordinate or length in JSON. A ruleset sets a smaller limit for coordinates. The square
   of the distance between two points within this limit is finite. */
#define HS_JSON_REAL_MAX HS_NUMBER_MAX
/* The range of a REAL that has no other limits. */
#define HS_JSON_ANY_REAL .low = -HS_JSON_REAL_MAX, .high = HS_JSON_REAL_MAX

/* The kinds of members. Each kind determines the form of the member in JSON and its type in the
   struct. */
enum hs_json_kind {
    HS_JSON_NAME,          /* struct hs_str; a valid name */
    HS_JSON_NAME_OR_NULL,  /* like NAME; null counts as absent */
    HS_JSON_ENUM,          /* an enum; in JSON, one of `words` from index `low` on */
    HS_JSON_BOOL,          /* bool */
    HS_JSON_INT,           /* int64_t or uint64_t; an integer within [low, high] */
    HS_JSON_INT32,         /* int32_t */
    HS_JSON_REAL,          /* double, within [low, high] */
    HS_JSON_REALS,         /* double[count], count at most 10 */
    HS_JSON_FLOATS,        /* float[count], count at most 10 */
    HS_JSON_VEC,           /* struct hs_vec or double[3]; `check` may refuse the value */
    HS_JSON_TIME,          /* int64_t microseconds; seconds within +-HS_JSON_TIME_MAX */
    HS_JSON_NEAREST_TIME,  /* like TIME, but a time out of range is replaced by the nearest limit */
    HS_JSON_SHORT_SECONDS, /* int32_t microseconds; seconds within [0, high], high <= 2000 */
    HS_JSON_OBJECT,        /* a struct, described by `object` */
    HS_JSON_LIST,  /* a pointer to the items, followed by their count as size_t; described by
                      `list` */
    HS_JSON_BATCH, /* like LIST, but in JSON the member may also be a table (batch.h) */
    /* An array of `low` to `high` elements; `decode` reads each element into the target. */
    HS_JSON_ELEMENTS,
    /* An object whose members may have any names; `decode` reads each member into the target. */
    HS_JSON_ENTRIES,
    HS_JSON_ANY,    /* const json_t *; the value itself is not decoded */
    HS_JSON_CUSTOM, /* any type and form; `decode` reads the value */
};

/* Reads a value into `target`. `at` contains the key of a member or the index of an element. */
typedef void hs_json_decode(struct hs_reader *reader, const json_t *value,
                            const struct hs_json_at *at, void *target);
/* Checks an object after all members of the object or the row have been read. Records faults that
   concern the whole object. `value` is NULL if the members were read without a tree of values. */
typedef void hs_json_finish(struct hs_reader *reader, const json_t *value,
                            const struct hs_json_at *at, void *target);
struct hs_direct;
/* Reads a value without a tree of values (direct.h). Returns false if the direct read must give
   up. */
typedef bool hs_json_take(struct hs_direct *in, void *target);
/* Checks a vector of finite numbers and records its faults. */
typedef void hs_json_check_vec(struct hs_reader *reader, const struct hs_json_at *at,
                               const double v[3]);

/* One member of an object and its place in a struct. Times are rounded half to even. */
struct hs_json_field {
    char name[24]; /* padded with zeros, so that direct.c can compare whole words */
    enum hs_json_kind kind;
    bool required;
    size_t offset;    /* offset of the member in the struct */
    double low, high; /* the range, inclusive */
    size_t count;     /* number of elements of REALS or FLOATS */
    unsigned bit; /* this bit is set in the `unsigned` at bits_offset if the member is present */
    size_t flag;  /* offset of a bool that is set if the member is present; 0: no bool */
    /* For ELEMENTS: the word for the elements in messages, for example "hitboxes". */
    const char *items;
    hs_json_take *take; /* for CUSTOM; NULL: the direct read (direct.h) gives up */
    union {
        const struct hs_vocabulary *words;
        const struct hs_json_object *object;
        const struct hs_json_list *list;
        hs_json_check_vec *check;
        hs_json_decode *decode;
    };
};

struct hs_json_object {
    const struct hs_json_field *fields;
    size_t count;           /* at most 64 */
    size_t bits_offset;     /* offset of the `unsigned` in which each present field sets its
                               `bit` */
    hs_json_finish *finish; /* called after the members of an object or a row; may be NULL */
    /* True: members are read in the order of `fields`, not in the order of the document. In this
       case, `decode` of an absent CUSTOM field is called with the value NULL. */
    bool in_order;
    /* Descriptions of further members of the same struct, or NULL. */
    const struct hs_scalar *scalars;
    const size_t *scalar_count;
};

/* Describes the items of an array. */
struct hs_json_list {
    struct hs_json_field item; /* describes one item; item.name is empty, and item.offset is 0 */
    size_t size;               /* size of an item in bytes */
    size_t low, high;          /* min and max number of items of a LIST */
    enum hs_item batch;        /* the kind of items of a BATCH */
    const void *initial; /* value of an item of a BATCH before its members are read; NULL: zeros */
};

/* Initialises `fields` and `count` of a struct hs_json_object. */
#define HS_JSON_FIELDS(table) .fields = (table), .count = sizeof(table) / sizeof(table)[0]

/* Decodes an object into `target`. A member that is not in the table is ignored if its name begins
   with x_. Other unknown members are refused. If a member of the table is absent, the field in the
   target stays unchanged. */
void hs_json_read_object(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_object *table, void *target);

/* Returns the index of the member `key` in the table, or table->count if the table does not contain
   the member. The search starts at the index `from`, because most requests have their members in
   the order of the table. */
size_t hs_json_find_field(const struct hs_json_object *table, size_t from, const char *key);

/* Decodes member `i` of the table into `target`, and marks it as present. */
void hs_json_read_member(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_object *table, size_t i, void *target);

/* Decodes one value into the struct at `base`. */
void hs_json_read_field(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        const struct hs_json_field *field, void *base);

/* Returns whether reading can stop, because the request has failed and no more faults can be
   recorded. */
bool hs_json_is_lost(const struct hs_reader *reader);

/*
 * Checks that a value is an array of `low` to `high` elements. Allocates zeroed space for the
 * elements from the arena, with `size` bytes per element. Returns NULL if the value is not an array
 * of this size, if memory runs out, or if hs_json_is_lost returns true. For an empty array, returns
 * a pointer that is not NULL and must not be read.
 */
void *hs_json_read_array(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         size_t low, size_t high, size_t size, size_t *count);

/* These two functions read a value of the kind HS_JSON_ELEMENTS or HS_JSON_ENTRIES. */
void hs_json_read_elements(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, size_t low, size_t high, const char *items,
                           hs_json_decode *decode, void *target);
void hs_json_read_entries(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, hs_json_decode *decode, void *target);

/* Finds the scalar with the name at->key, and stores `value` in this scalar of the struct at
   `base`. The scalar must be in the section `section`; NULL: any section. Returns false if this
   scalar does not exist. */
bool hs_json_read_scalar(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_scalar *scalars, size_t count, const char *section,
                         void *base);

/* These functions read one value. A function returns false if it recorded a fault. Numbers must be
   finite. */
bool hs_json_read_real(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       double low, double high, double *out);
bool hs_json_read_reals(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        size_t count, double *out);
bool hs_json_read_name(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       struct hs_str *out);
/* Reads a word, which must be one of `words` from index `low` on. */
bool hs_json_read_word(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       const struct hs_vocabulary *words, int low, int *out);
/* Writes "must be a, b or c" into `text`, with the words from index `low` on, and returns `text`.
   If there are more than four words, writes "must be one of a b c d e". */
const char *hs_json_words(const struct hs_vocabulary *words, int low, char text[HS_DETAIL_MAX]);
/* Records a fault for an unknown member, unless its name begins with x_. */
void hs_json_refuse_unknown(struct hs_reader *reader, const struct hs_json_at *at, const char *key);

/* The next functions store a value in a struct. direct.c uses them too. */

/* Stores an INT or INT32, or a time in microseconds. */
void hs_json_put_integer(const struct hs_json_field *field, int64_t number, void *target);
/* Stores a list: the pointer to the items, and then their count. */
void hs_json_put_list(void *target, void *items, size_t count);
/* Marks the member of a field as present: sets the bit and the flag of the field. */
static inline void hs_json_mark_present(const struct hs_json_object *table,
                                        const struct hs_json_field *field, void *target)
{
    if (field->bit != 0)
        *(unsigned *)(void *)((char *)target + table->bits_offset) |= field->bit;
    if (field->flag != 0)
        *((bool *)target + field->flag) = true;
}

/* Checks that a vector can be a direction. The length of a direction must not be 0 or huge. */
hs_json_check_vec hs_json_check_direction;

#endif
