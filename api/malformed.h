/* The malformed items of a request. A malformed item is an item of a batch (json/batch.h) that
   could not be decoded. At the position of this item, the answer contains an entry with the errors.
   All other items are processed. The lists are in the arena of the request. Not thread-safe. */
#ifndef HS_API_MALFORMED_H
#define HS_API_MALFORMED_H

#include <stddef.h>
#include <stdint.h>

#include "api/json/writing.h"
#include "validators/str.h"

/* The kinds of items. Players and movers are items of a frame. */
enum hs_item {
    HS_ITEM_FRAME,
    HS_ITEM_PLAYER,
    HS_ITEM_MOVER,
    HS_ITEM_MOVE,
    HS_ITEM_SHOT,
    HS_ITEM_HIT,
    HS_ITEM_COUNT
};

/* The max number of errors that are stored per item. After HS_PROBLEM_MAX errors (problem.h) of a
   request are stored, only the first error of each further item is stored. */
enum { HS_ITEM_ERRORS_MAX = 8 };

struct hs_item_error {
    struct hs_item_error *next;
    const char *pointer, *detail; /* as in the `errors` of a problem */
};

struct hs_malformed {
    struct hs_malformed *next;
    size_t frame;      /* for a player or a mover: the index of the frame in the request */
    size_t index;      /* index of the item in its batch */
    struct hs_str who; /* name of the player, mover or shooter; ptr NULL: not readable */
    int64_t number;    /* shot number or `seq`; negative: not readable */
    struct hs_item_error *errors; /* in the order in which they were found */
    /* Address of the pointer that must be set to the next error. This pointer is `errors`, or
       `next` in the last error. */
    struct hs_item_error **append;
    /* Number of errors in the list, and number of errors that were left out. */
    size_t kept, left_out;
};

struct hs_malformed_items {
    struct {
        struct hs_malformed *first, *last; /* a list in the order of the request */
        size_t count;
    } lists[HS_ITEM_COUNT];
    size_t count;  /* number of malformed items */
    size_t errors; /* number of stored errors of all items */
};

/* Describes a kind of items. name_key and number_key are the JSON keys of an item's name and
   number. NULL: items of this kind have no name or no number. `rest` is the JSON text of the other
   members in the answer to a malformed item of this kind. */
struct hs_item_kind {
    const char *name_key, *number_key, *rest;
};
extern const struct hs_item_kind hs_item_kinds[HS_ITEM_COUNT];

/* Returns the first malformed item of a kind, or NULL. `items` may be NULL. */
const struct hs_malformed *hs_malformed_first(const struct hs_malformed_items *items,
                                              enum hs_item kind);

/* Writes the answer to a malformed move, shot or hit, or the entry in `refused` for a malformed
   frame, player or mover. */
void hs_malformed_encode(struct hs_writer *writer, enum hs_item kind,
                         const struct hs_malformed *malformed);

#endif
