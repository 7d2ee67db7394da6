/*
 * Values into plain structs: an object is a table, each member is one row of it. A value that its
 * row does not allow is reported with its JSON pointer.
 */
#ifndef HS_API_JSON_TABLE_H
#define HS_API_JSON_TABLE_H

#include "api/json/reading.h"
#include "validators/ruleset.h"
#include "validators/vocabulary.h"

/* The largest time in seconds that is accepted, either way: 285 years. */
#define HS_JSON_TIME_MAX 9e9
/* The largest integer of a request: every smaller one is exact in a double. */
#define HS_JSON_INT_MAX 9007199254740991
/* The largest coordinate or length that is accepted as a number; the ruleset bounds it further.
   The square of a distance between two such coordinates is still finite. */
#define HS_JSON_REAL_MAX 1e150
/* The range of a REAL that is bounded by nothing else. */
#define HS_JSON_ANY_REAL .low = -HS_JSON_REAL_MAX, .high = HS_JSON_REAL_MAX

/* What a member is on the wire, and the type it has in its struct. */
enum hs_json_kind {
    HS_JSON_NAME,          /* struct hs_str; a valid name */
    HS_JSON_NAME_OR_NULL,  /* the same; null is like absent */
    HS_JSON_ENUM,          /* an enum; one of `words` from member `low` on */
    HS_JSON_BOOL,          /* bool */
    HS_JSON_INT,           /* int64_t or uint64_t; an integer within [low, high] */
    HS_JSON_INT32,         /* int32_t */
    HS_JSON_REAL,          /* double, within [low, high] */
    HS_JSON_REALS,         /* double[count], at most 10 */
    HS_JSON_FLOATS,        /* float[count], at most 10 */
    HS_JSON_VEC,           /* struct hs_vec or double[3]; `check` may refuse it */
    HS_JSON_TIME,          /* int64_t microseconds; seconds within HS_JSON_TIME_MAX of 0 */
    HS_JSON_NEAREST_TIME,  /* the same; a number beyond that range is the end of the range */
    HS_JSON_SHORT_SECONDS, /* int32_t microseconds; seconds within [0, high], high <= 2000 */
    HS_JSON_OBJECT,        /* a struct; `object` */
    HS_JSON_LIST,     /* a pointer to items and, right behind it, their count as size_t; `list` */
    HS_JSON_BATCH,    /* the same; malformed items are left out, see hs_json_read_batch */
    HS_JSON_ELEMENTS, /* an array of `low` to `high` `items`; `decode` reads each into the target */
    HS_JSON_ENTRIES,  /* an object with free names; `decode` reads each member into the target */
    HS_JSON_ANY,      /* const json_t *; the value as it is */
    HS_JSON_CUSTOM,   /* anything; `decode` */
};

/* Reads a value into `target`. The key of a member, or the index of an element, is in `at`. */
typedef void hs_json_decode(struct hs_reader *reader, const json_t *value,
                            const struct hs_json_at *at, void *target);
/* Reports what is wrong with a vector of finite numbers. */
typedef void hs_json_check_vec(struct hs_reader *reader, const struct hs_json_at *at,
                               const double v[3]);

/* One member of an object and its place in a struct. Times are rounded half to even. */
struct hs_json_field {
    const char *name;
    enum hs_json_kind kind;
    bool required;
    size_t offset;     /* of the value in the struct */
    double low, high;  /* inclusive */
    size_t count;      /* of numbers */
    unsigned bit;      /* set in the `unsigned` at bits_offset when the member is present */
    size_t flag;       /* offset of a bool that is set when the member is present; 0: none */
    const char *items; /* what the ELEMENTS are, for faults */
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
    size_t bits_offset;     /* used by fields with a bit */
    hs_json_decode *finish; /* called after the members of an object, not of a row; may be NULL */
    /* Members are read in the order of the fields, not of the document, and CUSTOM fields also when
       they are absent (value NULL). */
    bool in_order;
    const struct hs_scalar *scalars; /* further members, with offsets in the same struct; or NULL */
    const size_t *scalar_count;
};

/* The items of an array. */
struct hs_json_list {
    struct hs_json_field item; /* without a name, at offset 0 */
    size_t size;               /* of an item in bytes */
    size_t low, high;          /* a LIST has at least `low` and at most `high` items */
    enum hs_item batch;        /* what the items of a BATCH are */
    const void *initial;       /* what an item of a BATCH is before it is read; NULL: zeros */
};

/* The fields and their number, for a struct hs_json_object. */
#define HS_JSON_FIELDS(table) .fields = (table), .count = sizeof(table) / sizeof(table)[0]

/*
 * Decodes an object into `target` by its table. Members not in the table are refused, except
 * names that begin with x_. Absent members leave the target alone.
 */
void hs_json_read_object(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_object *table, void *target);

/* Decodes one value into the struct at `base` by its field. */
void hs_json_read_field(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        const struct hs_json_field *field, void *base);

/*
 * Objects in columns: the names of their members once, then a row of values for each.
 *
 * Reads the names: every one a member of the table or beginning with x_, none twice, the required
 * ones among them. False and noted faults otherwise.
 */
struct hs_json_columns {
    const struct hs_json_object *table;
    size_t count;
    uint8_t fields[64]; /* places in the table; that of none: its values are ignored */
};
bool hs_json_read_columns(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, const struct hs_json_object *table,
                          struct hs_json_columns *out);

/*
 * Checks that a value is an array of at least `low` and at most `high` elements and gives room
 * for its `size`-byte items from the arena (zeroed). NULL when it is not, or memory is out, or as
 * many faults were noted as are kept; an empty array gives a pointer that must not be used.
 */
void *hs_json_read_array(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         size_t low, size_t high, size_t size, size_t *count);

/*
 * Reads a batch: an array of at most reader->max_items objects, or with reader->columns rows. An
 * item with a bad field is listed in reader->malformed and left out, so the items move up. More
 * than reader->max_items malformed items refuse the request. Returns as hs_json_read_array does;
 * *count is the number of items without bad fields.
 */
void *hs_json_read_batch(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_list *list, size_t *count);

/* The same as HS_JSON_ELEMENTS and HS_JSON_ENTRIES. */
void hs_json_read_elements(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, size_t low, size_t high, const char *items,
                           hs_json_decode *decode, void *target);
void hs_json_read_entries(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, hs_json_decode *decode, void *target);

/* Reads the member at->key into the struct at `base` if a scalar has that name. False: none has.
   `section` NULL: any section. */
bool hs_json_read_scalar(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_scalar *scalars, size_t count, const char *section,
                         void *base);

/* One finite number; false and a noted fault otherwise. */
bool hs_json_read_real(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       double low, double high, double *out);
bool hs_json_read_reals(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        size_t count, double *out);
bool hs_json_read_name(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       struct hs_str *out);
/* One of the names of `words` from member `low` on. */
bool hs_json_read_word(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       const struct hs_vocabulary *words, int low, int *out);
/* Notes a member that is not known, unless its name begins with x_. */
void hs_json_refuse_unknown(struct hs_reader *reader, const struct hs_json_at *at, const char *key);

/* The vector is a direction: its length is neither 0 nor huge. */
hs_json_check_vec hs_json_check_direction;

#endif
