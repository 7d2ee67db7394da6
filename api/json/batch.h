/* Decodes batches: arrays of objects, or tables with columns and rows. One malformed item does not
   invalidate the other items. */
#ifndef HS_API_JSON_BATCH_H
#define HS_API_JSON_BATCH_H

#include "api/json/table.h"

/*
 * The columns of a table. A table is a compact form of many objects: it lists the names of the
 * members once, and then has one row of values for each object.
 */
struct hs_json_columns {
    const struct hs_json_object *table;
    size_t count;
    uint8_t fields[64]; /* for each column, the index of its field in `table`; table->count: the
                           column is ignored */
};

/* Returns the index of a member's column; columns->count if it has no column. */
size_t hs_json_find_column(const struct hs_json_columns *columns, const char *key);

/*
 * Reads a batch: an array of objects, or a table, with at most reader->max_items items. A table is
 * an object with `columns` and `rows`; in a row, null stands for an absent member. Malformed items
 * are added to reader->malformed, not to the returned array. More than reader->max_items malformed
 * items make the request fail. Faults in `columns` belong to the object that contains the batch,
 * not to an item. Returns the same as hs_json_read_array; *count excludes malformed items.
 */
void *hs_json_read_batch(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         const struct hs_json_list *list, size_t *count);

/* Reads a batch from the two members of a table. Neither may be NULL. `at` is the position of the
   object that contains these members; NULL: the body. */
struct hs_json_table {
    const json_t *columns, *rows;
};
void *hs_json_read_table(struct hs_reader *reader, const struct hs_json_table *value,
                         const struct hs_json_at *at, const struct hs_json_list *list,
                         size_t *count);

#endif
