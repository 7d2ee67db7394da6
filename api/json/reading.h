/* Parses the text of requests into jansson values. The functions in table.h turn these values into
   structs. Bad fields are reported with their JSON pointers. */
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

/* The max depth of nesting. Deeper texts are refused before they are parsed, because the parser is
   recursive. */
#define HS_JSON_MAX_DEPTH 16

/* A parsed object needs about 250 bytes of memory, and a parsed array needs about 100 bytes, even
   if the text is short. In real requests, the average object has at least HS_JSON_BYTES_PER_OBJECT
   bytes of text, and the average array has at least HS_JSON_BYTES_PER_ARRAY bytes. For each body,
   these bytes are summed over all its objects and arrays. A body is refused if its text is more
   than HS_JSON_LET_PASS bytes shorter than the sum. */
enum { HS_JSON_BYTES_PER_OBJECT = 12, HS_JSON_BYTES_PER_ARRAY = 4, HS_JSON_LET_PASS = 4096 };

/*
 * Parses a body. The body must be an object in UTF-8, without a byte order mark, duplicate keys or
 * an escaped NUL. Its depth must be at most HS_JSON_MAX_DEPTH. A number that is out of range
 * becomes a string, so that only the item with the number is malformed. A body that consists mostly
 * of empty objects and arrays is refused, because the parsed values need a hundred times the memory
 * of the text. On failure, sets `problem` and returns NULL. The caller owns the returned value.
 */
json_t *hs_json_parse(struct hs_str body, struct hs_problem *problem);

/* Sets the allocator of the JSON library, so that hs_json_load can distinguish a lack of memory
   from bad JSON. Call this function once, before threads start. */
void hs_json_init(void);

/* Like json_loadb. Sets *no_memory to whether parsing failed because memory ran out. `error` may
   then name another cause. */
json_t *hs_json_load(struct hs_str text, size_t flags, json_error_t *error, bool *no_memory);

struct hs_json_columns;

/* The position of a value in the document: one step of a path, with a link to the previous step. */
struct hs_json_at {
    /* Position of the value that contains this value; NULL: the document. */
    const struct hs_json_at *parent;
    const char *key; /* name of the member; NULL: the value is the array element `index` */
    size_t index;
    /* If the value is a row: the columns of the row's elements. */
    const struct hs_json_columns *columns;
};

struct hs_reader {
    struct hs_problem *problem;
    struct hs_arena *arena; /* contains the decoded arrays */
    size_t max_items;       /* largest number of items in a batch */
    const char *document;   /* name of the document in error messages; NULL: "this request" */
    bool no_memory;
    /* The malformed items found so far. NULL: one malformed item makes the whole request fail. */
    struct hs_malformed_items *malformed;
    /* The item that is being read; NULL: no item is being read, or `malformed` is NULL. */
    struct hs_malformed *item;
    /* For each kind of item, the addresses in the body at which the items begin. The direct read
       (direct.h) sets these addresses for arrays of moves, shots and hits. NULL: unknown. */
    const char *const *starts[HS_ITEM_COUNT];
    void *context; /* used only by the decoders of rulesets */
};

/* Records a bad field. The error belongs to the item that is being read, or to the request if no
   item is being read. If the max number of errors is already stored, only counts the bad field. */
void hs_json_bad(struct hs_reader *reader, const struct hs_json_at *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes the JSON pointer of the value that begins at byte `offset` of a text. If no value begins
   at `offset`, uses the last value that begins before `offset`. */
void hs_json_pointer_at(struct hs_str text, size_t offset, char pointer[HS_POINTER_MAX]);

#endif
