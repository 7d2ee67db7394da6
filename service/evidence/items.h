/* Finds the posted items of a body, in order, as JSON texts. */
#ifndef HS_SERVICE_EVIDENCE_ITEMS_H
#define HS_SERVICE_EVIDENCE_ITEMS_H

#include <jansson.h>

#include "api/json/buffer.h"
#include "api/json/cursor.h"

/* The state of the search in one list. Set it to zero before the first call. */
struct hs_body_items {
    struct hs_cursor cursor; /* at the item with index `next`; valid if has_list */
    size_t next;
    bool has_list;
    json_t *root; /* the parsed body, if its form is unusual, for example a table */
};

/*
 * Appends the item at `place` (from 0) of the list `key`, without line breaks. The service has
 * already accepted the body. If the list is a table, its row is written as an object. Places must
 * not decrease from call to call. Replaces the values at the pointers of `mask`
 * ("/x_address,/x_client/name", or "") by "masked". If memory runs out, `out` fails (`failed`).
 */
void hs_body_item(struct hs_body_items *items, struct hs_str body, struct hs_str key, size_t place,
                  const char *mask, struct hs_buffer *out);
void hs_body_items_free(struct hs_body_items *items);

#endif
