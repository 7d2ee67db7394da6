/*
 * Splits a JSON object into its members, or a JSON array into its elements, without building a
 * tree. Each call returns one piece. The pieces are not validated; the caller parses them.
 */
#ifndef HS_SERVICE_RECORD_MEMBERS_H
#define HS_SERVICE_RECORD_MEMBERS_H

#include <stdint.h>

#include "api/json/cursor.h"
#include "validators/str.h"

struct hs_pieces {
    struct hs_cursor cursor;
    char close;  /* '}' or ']' */
    bool begun;  /* the first piece was read */
    bool broken; /* the text is not JSON */
};

/* Prepares to split an object (`open` is '{') or an array ('['). Sets `broken` if the text does not
   begin with `open`. */
struct hs_pieces hs_pieces_of(struct hs_str text, char open);

/* Reads the next element, or the next member and its name without quotation marks. For an array,
   `key` is NULL. Returns false at the end. Also returns false if the text is not JSON, or the name
   contains an escape. */
bool hs_pieces_next(struct hs_pieces *pieces, struct hs_str *key, struct hs_str *value);

/* Returns the first element of the array `list` in an object. ptr NULL: the array is missing or
   empty. */
struct hs_str hs_pieces_first(struct hs_str object, struct hs_str list);

/* Returns the content of a string. ptr NULL: the value is not a string, or contains an escape. */
struct hs_str hs_piece_text(struct hs_str value);

/* Parses a number that consists of digits only. Returns false if the value is something else, or is
   too large. */
bool hs_piece_whole(struct hs_str value, uint64_t *number);

#endif
