/* Parses the text of requests into jansson values; table.h turns these values into structs. Bad
   fields are reported with their JSON pointers. */
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

/* Deeper nesting is refused before the text is parsed, because the parser recurses. */
#define HS_JSON_MAX_DEPTH 16

/* A parsed object needs about 250 bytes of memory, and a parsed array about 100, even if their text
   is short. In real requests, an object or array has on average at least this many bytes of text.
   These bytes are added up for all objects and arrays in a body. A body is refused if its text is
   more than HS_JSON_LET_PASS bytes shorter than the sum. */
enum { HS_JSON_BYTES_PER_OBJECT = 12, HS_JSON_BYTES_PER_ARRAY = 4, HS_JSON_LET_PASS = 4096 };

/*
 * Parses a body. The body must be an object in UTF-8, without a byte order mark, duplicate keys or
 * an escaped NUL. Its depth must be at most HS_JSON_MAX_DEPTH. A number that is out of range
 * becomes a string, so that only its own item is malformed. A body that is mostly empty objects and
 * arrays is refused, because their values take a hundred times the memory of their text. On
 * failure, sets `problem` and returns NULL. The caller owns the value.
 */
json_t *hs_json_parse(struct hs_str body, struct hs_problem *problem);

/* Lets hs_json_load distinguish "out of memory" from bad JSON. Call this once, before threads
   start. */
void hs_json_init(void);

/* Like json_loadb. If it fails because memory ran out, sets *no_memory, even if `error` names
   another cause. */
json_t *hs_json_load(struct hs_str text, size_t flags, json_error_t *error, bool *no_memory);

struct hs_json_columns;

/* The position of a value: a chain of steps from the value up to the document. */
struct hs_json_at {
    const struct hs_json_at *parent; /* NULL: the document */
    const char *key;                 /* NULL: an array element */
    size_t index;
    const struct hs_json_columns *columns; /* for a row: the columns of its elements */
};

struct hs_reader {
    struct hs_problem *problem;
    struct hs_arena *arena; /* for decoded arrays */
    size_t max_items;       /* largest number of items in a batch */
    const char *document;   /* name of the document in error messages; NULL: "this request" */
    bool no_memory;
    /* Collects malformed items. NULL: one malformed item makes the whole request fail. */
    struct hs_malformed_items *malformed;
    struct hs_malformed *item; /* the item that is being read; NULL: no item, or malformed items are
                                  not collected */
    /* Where the text of each item begins in the body. The direct read (direct.h) sets this for
       arrays of moves, shots and hits. NULL: not known. */
    const char *const *starts[HS_ITEM_COUNT];
    void *context; /* for the decoders of a ruleset; otherwise unused */
};

/* Records a bad field for the current item, or for the request if no item is being read. Once the
   maximum number of errors is stored, further bad fields are only counted. */
void hs_json_bad(struct hs_reader *reader, const struct hs_json_at *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes the JSON pointer of the value that begins at byte `offset` of a text. If no value begins
   there, uses the last value that begins before `offset`. */
void hs_json_pointer_at(struct hs_str text, size_t offset, char pointer[HS_POINTER_MAX]);

#endif
