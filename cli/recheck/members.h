/*
 * JSON as pieces of its text: the members of an object and the elements of an array, one after the
 * other, without a tree. What a piece holds is not looked at; whoever uses it parses it.
 */
#ifndef HS_RECHECK_MEMBERS_H
#define HS_RECHECK_MEMBERS_H

#include "api/json/cursor.h"
#include "validators/str.h"

struct hs_pieces {
    struct hs_cursor cursor;
    char close;  /* '}' or ']' */
    bool begun;  /* past the first piece */
    bool broken; /* the text is not JSON here */
};

/* Of an object ('{') or an array ('['); broken when the text is something else. */
struct hs_pieces hs_pieces_of(struct hs_str text, char open);

/*
 * The next element, or member with its name (without quotation marks, as it is written). False at
 * the end, which is at the end of the text, and where it is broken. `key`: NULL in an array.
 */
bool hs_pieces_next(struct hs_pieces *pieces, struct hs_str *key, struct hs_str *value);

/* The inside of a string that has no escapes; ptr NULL: it is none, or has. */
struct hs_str hs_piece_text(struct hs_str value);

#endif
