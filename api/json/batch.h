/* Decodes batches. A batch is an array of objects, or a table with columns and rows. If an item is
   malformed, the other items are still decoded. */
#ifndef HS_API_JSON_BATCH_H
#define HS_API_JSON_BATCH_H

#include "api/json/table.h"

/*
 * The columns of a table. A table is a compact form of an array of objects. The columns list the
 * names of the members once. The rows contain the values, with one row for each object.
 */
struct hs_json_columns {
    const struct hs_json_object *table;
    size_t count;
    /* For each column, the index of its field in table->fields; table->count: the column is
       ignored. */
    uint8_t fields[64];
};

/* Returns the index of the column with the member `key`, or columns->count if there is no such
   column. */
size_t hs_json_find_column(const struct hs_json_columns *columns, const char *key);

/*
 * Reads a batch: an array of objects, or a table, with at most reader->max_items items. A table is
 * an object with `columns` and `rows`; in a row, null stands for an absent member. Malformed items
 * are added to reader->malformed, not to the returned array. All batches of a request add to the
 * same list. The request fails if this list has more than reader->max_items items. Faults in
 * `columns` belong to the object that contains the batch, not to an item. Returns the same result
 * as hs_json_read_array. *count does not include malformed items.
 */
void *hs_json_read_batch(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_list *list, size_t *count);

/* Reads a batch from the two members of a table. The two members must not be NULL. `at` is the
   position of the object that contains the two members; NULL: the object is the body. */
struct hs_json_table {
    const json_t *columns, *rows;
};
void *hs_json_read_table(struct hs_reader *reader, const struct hs_json_table *value,
                         const struct hs_json_at *at, const struct hs_json_list *list,
                         size_t *count);

#endif
