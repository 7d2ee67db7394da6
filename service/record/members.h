/*
 * Splits a JSON text into the members of an object or the elements of an array, one after the
 * other, without building a tree. The content of a piece is not checked; the caller parses it.
 */
#ifndef HS_SERVICE_RECORD_MEMBERS_H
#define HS_SERVICE_RECORD_MEMBERS_H

#include <stdint.h>

#include "api/json/cursor.h"
#include "validators/str.h"

struct hs_pieces {
    struct hs_cursor cursor;
    char close;  /* '}' or ']' */
    bool begun;  /* the first piece has been read */
    bool broken; /* the text is not JSON at the cursor */
};

/* Returns an iterator over the pieces of an object ('{') or an array ('['). Sets `broken` if the
   text is something else. */
struct hs_pieces hs_pieces_of(struct hs_str text, char open);

/* Reads the next element, or the next member with its name (without quotation marks; escapes are
   not decoded). Returns false at the end, or if the text is not JSON. `key` is NULL for an array.
 */
bool hs_pieces_next(struct hs_pieces *pieces, struct hs_str *key, struct hs_str *value);

/* Returns the first element of the array that is the member `list` of an object, or ptr NULL if it
   is not found. */
struct hs_str hs_pieces_first(struct hs_str object, struct hs_str list);

/* Returns the content of a string, or ptr NULL if the value is not a string or has escapes. */
struct hs_str hs_piece_text(struct hs_str value);

/* Reads digits as a number. Returns false if the value is something else, or too large. */
bool hs_piece_whole(struct hs_str value, uint64_t *number);

#endif
