/*
 * Reads a body directly into the structs that the tables of table.h describe, without a tree of
 * values.
 *
 * This reader supports only the form in which games usually post bodies. Each member is in the
 * table, or has a name that begins with x_. Each member occurs once. Columns come before rows.
 * Strings have no escapes. All values are valid. If a body is faulty or unusual, the direct read
 * gives up. The caller then parses the body with hs_json_parse, which reads the same values or
 * finds the faults. So both readers give the same results, and only hs_json_parse needs to explain
 * faults.
 */
#ifndef HS_API_JSON_DIRECT_H
#define HS_API_JSON_DIRECT_H

#include "api/json/cursor.h"
#include "api/json/table.h"

struct hs_direct {
    struct hs_cursor cursor;
    /* After a fault is recorded in this reader, the direct read gives up. */
    struct hs_reader *reader;
    /* The sum over all objects and arrays so far: HS_JSON_BYTES_PER_OBJECT (reading.h) for each
       object, and HS_JSON_BYTES_PER_ARRAY for each array. */
    size_t containers;
    /* The initial capacity of the next array of each kind. It is the count of the previous array of
       the same kind. */
    size_t counts[HS_ITEM_COUNT], bone_count;
    /* One bit for each required member of `table`. The bits are stored, because most objects have
       the same table as the previous object. */
    const struct hs_json_object *table;
    uint64_t required;
};

/*
 * Reads a body that is one object. Arrays are in the arena of `reader`, and names are borrowed from
 * `body`. Returns false if the read gave up; the content of `target` is then undefined. Adds no
 * faults to `reader`.
 */
bool hs_json_read_directly(struct hs_reader *reader, struct hs_str body,
                           const struct hs_json_object *table, void *target);

/* Like hs_json_read_directly, but for a body that is a table (batch.h). Writes the pointer to the
   items and their number to `target`, as for HS_JSON_BATCH. */
bool hs_json_read_table_directly(struct hs_reader *reader, struct hs_str body,
                                 const struct hs_json_list *list, void *target);

/* The following functions are for the `take` functions of CUSTOM fields. After one of these
   functions returns false or NULL, `take` must return false. */

/* Reads the opening bracket of an object or an array. */
bool hs_direct_open(struct hs_direct *in, char bracket);

/* Returns whether the next value is a number. */
bool hs_direct_is_number(struct hs_direct *in);

/* Reads `count` numbers with commas between them. Turns -0 into 0. */
bool hs_direct_take_numbers(struct hs_direct *in, size_t count, double *out);

/* Reads the literal `word`, which is null, true or false. Returns false if the next value is not
   `word`. */
bool hs_direct_take_literal(struct hs_direct *in, const char *word);

/* Reads a string without escapes, control characters or bytes above 127. */
bool hs_direct_take_text(struct hs_direct *in, struct hs_str *out);

/* An array that grows in the arena of the reader. */
struct hs_direct_items {
    char *items; /* the unused items are zeroed; not NULL after the first hs_direct_add */
    size_t size, count, capacity;
    size_t first; /* initial capacity; 0: the default capacity */
};

/* Adds an item, and returns its address. Returns NULL if there are already `high` items, or if out
   of memory. */
void *hs_direct_add(struct hs_direct *in, struct hs_direct_items *items, size_t high);

#endif
