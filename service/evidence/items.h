/* Finds the posted items of a body, one after the other, as JSON texts. */
#ifndef HS_SERVICE_EVIDENCE_ITEMS_H
#define HS_SERVICE_EVIDENCE_ITEMS_H

#include <jansson.h>

#include "api/json/buffer.h"
#include "api/json/cursor.h"

/* Where the search in one list goes on. Zero at first. */
struct hs_body_items {
    struct hs_cursor cursor; /* before item `next` of the list; with has_list */
    size_t next;
    bool has_list;
    json_t *root; /* of a body in an unusual form, such as a table */
};

/*
 * Appends item `place` of the list `key` of a body that was read before, without line breaks. The
 * row of a table becomes an object. Places must not decrease from call to call. Values at the
 * pointers of `mask` ("/x_address,/x_client/name", or "") become "masked". `out` fails if memory is
 * out.
 */
void hs_body_item(struct hs_body_items *items, struct hs_str body, struct hs_str key, size_t place,
                  const char *mask, struct hs_buffer *out);
void hs_body_items_free(struct hs_body_items *items);

#endif
