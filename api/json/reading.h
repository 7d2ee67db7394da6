/*
 * Reading requests: text to jansson values, and a JSON pointer for every field that is not as it
 * should be. table.h turns the values into structs.
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

/* The pointer of the value that begins at or before byte `offset` of a JSON text. */
void hs_json_pointer_at(struct hs_str text, size_t offset, char pointer[HS_POINTER_MAX]);

#endif
