/* Finds the items of a list in a request body, one after the other, as JSON texts. */
#ifndef HS_SERVICE_EVIDENCE_ITEMS_H
#define HS_SERVICE_EVIDENCE_ITEMS_H

#include <jansson.h>

#include "api/json/buffer.h"
#include "api/json/cursor.h"

/* The state of a search in one list. Before the first call, set all members except `starts` to
   zero. */
struct hs_body_items {
    const char *const *starts; /* where each item begins in the body; NULL: not known */
    struct hs_cursor cursor;   /* at the item with index `next`; valid if has_list */
    size_t next;
    bool has_list;
    json_t *root; /* the parsed body, if the body has an unusual form, for example a table */
};

/*
 * Appends the item with index `place` of the list `key`, without line breaks. If the list is a
 * table, the item is a row, and is written as an object. The service must have accepted the body.
 * `place` must not decrease from call to call. `mask` contains JSON pointers, for example
 * "/x_address,/x_client/name", or is "". Each value that a pointer refers to is replaced by
 * "masked". If memory runs out, sets out->failed.
 */
void hs_body_item(struct hs_body_items *items, struct hs_str body, struct hs_str key, size_t place,
                  const char *mask, struct hs_buffer *out);
void hs_body_items_free(struct hs_body_items *items);

#endif
