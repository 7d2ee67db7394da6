/*
 * Reads a body straight into structs, by the tables of table.h and without a tree of values.
 *
 * It reads what games post: members that the table knows, each once, members whose names begin with
 * x_, tables whose columns precede their rows, strings without escapes, and values that every rule
 * accepts. It gives up on everything else, whether wrong or just unusual.
 * Then the caller parses the body with hs_json_parse, which reads the same values or finds the
 * faults. So both ways have the same answers, and only one of them needs to explain faults.
 */
#ifndef HS_API_JSON_DIRECT_H
#define HS_API_JSON_DIRECT_H

#include "api/json/cursor.h"
#include "api/json/table.h"

struct hs_direct {
    struct hs_cursor cursor;
    struct hs_reader *reader; /* its problem stays empty, or the read is given up */
    size_t containers;        /* the bytes that objects and arrays should have, see reading.h */
    /* The capacity that the next array of its kind begins with: the count of the one before. */
    size_t counts[HS_ITEM_COUNT], bone_count;
    /* The required members of `table`, one bit each. Most objects have the table of the one before,
       so they are computed once. */
    const struct hs_json_object *table;
    uint64_t required;
};

/*
 * Reads a body that is one object. Arrays are in the arena of `reader`, and names are borrowed from
 * `body`. False: it gave up, `target` has any value, and `reader` has no faults.
 */
bool hs_json_read_directly(struct hs_reader *reader, struct hs_str body,
                           const struct hs_json_object *table, void *target);

/* The same for a body that is a batch in the form of a table. The items and their count go to
   `target`, as with HS_JSON_BATCH. */
bool hs_json_read_table_directly(struct hs_reader *reader, struct hs_str body,
                                 const struct hs_json_list *list, void *target);

/* The next functions are for the `take` of CUSTOM fields. False or NULL: give up. */

/* Takes the opening bracket of an object or an array. */
bool hs_direct_open(struct hs_direct *in, char bracket);

/* Whether the next value is a number. */
bool hs_direct_is_number(struct hs_direct *in);

/* Reads `count` numbers with commas between them. */
bool hs_direct_take_numbers(struct hs_direct *in, size_t count, double *out);

/* Reads the literal `word`: null, true or false. Nothing moves if the text has another value. */
bool hs_direct_take_literal(struct hs_direct *in, const char *word);

/* Reads a string without escapes, control characters and bytes above 127. */
bool hs_direct_take_text(struct hs_direct *in, struct hs_str *out);

/* An array that grows in the arena of the reader. */
struct hs_direct_items {
    char *items; /* zeroed; never NULL after a first hs_direct_add */
    size_t size, count, capacity;
    size_t first; /* the capacity to begin with; 0: a few */
};

/* Adds an item. `high`: the most items that may be read. */
void *hs_direct_add(struct hs_direct *in, struct hs_direct_items *items, size_t high);

#endif
