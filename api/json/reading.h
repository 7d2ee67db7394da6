/*
 * Reading requests: text to jansson values, values to plain structs by declarative tables, and a
 * JSON pointer for every field that is not as it should be.
 */
#ifndef HS_API_JSON_IN_H
#define HS_API_JSON_IN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/problem.h"
#include "api/json/arena.h"
#include "api/malformed.h"
#include "validators/str.h"
#include "validators/vocabulary.h"

/* Containers nested deeper than this are refused before anything is parsed: parsers recurse. */
#define HS_JSON_MAX_DEPTH 16

/*
 * Parses a body: UTF-8 without a byte order mark, no duplicate keys, no escaped NUL, numbers in
 * range, at most HS_JSON_MAX_DEPTH deep, an object, and not mostly of empty objects and arrays,
 * which take a hundred times the memory of their text. NULL with `problem` set otherwise; the
 * caller owns the value.
 */
json_t *hs_json_parse(struct hs_str body, struct hs_problem *problem);

/* Call it once, before threads start. Then hs_json_load can tell lack of memory from a text that is
   not JSON. */
void hs_json_init(void);

/* Like json_loadb; *no_memory: it returned NULL for lack of memory, whatever `error` says. */
json_t *hs_json_load(struct hs_str text, size_t flags, json_error_t *error, bool *no_memory);

/* Where a value stands: a chain from the value up to the document. */
struct hs_json_at {
    const struct hs_json_at *parent; /* NULL: the document */
    const char *key;                 /* NULL: an array element */
    size_t index;
};

struct hs_reader {
    struct hs_problem *problem;
    struct hs_arena *arena; /* decoded arrays live here */
    size_t max_items;       /* of the arrays that make a batch */
    const char *document;   /* what it is that is read, for faults; NULL: "this request" */
    bool no_memory;
    /* Collects the items of batches that cannot be read. NULL: such an item refuses the whole
       request. */
    struct hs_malformed_items *malformed;
    struct hs_malformed
        *item; /* the item that is read now; NULL: none, or they are not collected */
    const struct hs_json_columns *columns; /* of the batch that is read; NULL: items are objects */
    void *context;                         /* for the decoders of a document; else unused */
};

/* Notes a bad field of the item that is read, or else of the request; beyond those that are kept,
   it is only counted. */
void hs_json_bad(struct hs_reader *reader, const struct hs_json_at *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum hs_json_kind {
    HS_JSON_NAME,          /* struct hs_str; a valid name */
    HS_JSON_NAME_OR_NULL,  /* the same; null is like absent */
    HS_JSON_ENUM,          /* an enum; one of `words`, not before member `low` */
    HS_JSON_BOOL,          /* bool */
    HS_JSON_INT,           /* int64_t or uint64_t; an integer within [low, high] */
    HS_JSON_INT32,         /* int32_t */
    HS_JSON_REAL,          /* double, within [low, high] */
    HS_JSON_REALS,         /* double[count] */
    HS_JSON_FLOATS,        /* float[count], at most 10 */
    HS_JSON_VEC,           /* struct hs_vec or double[3]; `check` may refuse it */
    HS_JSON_TIME,          /* int64_t microseconds; within HS_JSON_TIME_MAX seconds of 0 */
    HS_JSON_NEAREST_TIME,  /* the same; any other number is taken as the nearest such time */
    HS_JSON_SHORT_SECONDS, /* int32_t microseconds; seconds within [0, high], high <= 2000 */
    HS_JSON_OBJECT,        /* a struct; `object` */
    HS_JSON_LIST,          /* a pointer to items, and behind it their number as size_t; `list` */
    HS_JSON_BATCH,         /* the same; at most reader->max_items, of kind list->batch */
    HS_JSON_ANY,           /* const json_t *; the value as it is */
    HS_JSON_CUSTOM,        /* anything; `decode` */
};

typedef void hs_json_decode(struct hs_reader *reader, const json_t *value,
                            const struct hs_json_at *at, void *target);
/* A member that its table does not have. False: nobody knows it. */
typedef bool hs_json_other(struct hs_reader *reader, const char *key, const json_t *value,
                           const struct hs_json_at *at, void *target);
typedef void hs_json_check_vec(struct hs_reader *reader, const struct hs_json_at *at,
                               const double v[3]);

/* A member of an object and where it goes. Times are rounded half to even. */
struct hs_json_field {
    const char *name;
    enum hs_json_kind kind;
    bool required;
    size_t offset; /* of the value in the target */
    double low, high;
    size_t count;
    unsigned bit; /* set in the `unsigned` at bits_offset when the member is present */
    size_t flag;  /* offset of a bool that is set when the member is present; 0: none */
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
    hs_json_decode *finish; /* called when all members of an object were read; NULL: not called */
    hs_json_other *other;   /* asked about members that no field names; NULL: not asked */
};

/* The items of an array. */
struct hs_json_list {
    struct hs_json_field item; /* without a name, at offset 0 */
    size_t size;               /* of an item in bytes */
    size_t low, high;          /* how many items a LIST may have */
    enum hs_item batch;        /* what the items of a BATCH are */
    const void *initial;       /* an item before it is read; NULL: zeros */
};

/* The fields and their number, for a struct hs_json_object. */
#define HS_JSON_FIELDS(table) .fields = (table), .count = sizeof(table) / sizeof(table)[0]

/*
 * Decodes an object into `target` by its table. Members not in the table are refused, except
 * names that begin with x_. Absent members leave the target alone.
 */
void hs_json_read_object(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_object *table, void *target);

/* Decodes one value as a member of `base`, as its field says. */
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

/* The checks of a vector: it is a direction, neither 0 nor huge. */
hs_json_check_vec hs_json_check_direction;

/* The largest time in seconds that is accepted, either way: 285 years. */
#define HS_JSON_TIME_MAX 9e9
/* The largest integer of a request: every smaller one is exact in a double. */
#define HS_JSON_INT_MAX 9007199254740991
/* The largest coordinate or length that is accepted as a number; the ruleset bounds it further.
   The square of a distance between two such coordinates is still finite. */
#define HS_JSON_REAL_MAX 1e150
/* The range of a REAL that is bounded by nothing else. */
#define HS_JSON_ANY_REAL .low = -HS_JSON_REAL_MAX, .high = HS_JSON_REAL_MAX

/* The pointer of the value that begins at or before byte `offset` of a JSON text. */
void hs_json_pointer_at(struct hs_str text, size_t offset, char pointer[HS_POINTER_MAX]);

#endif
