/* The malformed items in a batch: those that could not be read. At the position of each malformed
   item, the answer has an entry with the errors. All other items are processed. The lists are in
   the arena of one request. Not thread-safe. */
#ifndef HS_API_MALFORMED_H
#define HS_API_MALFORMED_H

#include <stddef.h>
#include <stdint.h>

#include "api/json/writing.h"
#include "validators/str.h"

/* Players and movers are entries of frames. */
enum hs_item {
    HS_ITEM_FRAME,
    HS_ITEM_PLAYER,
    HS_ITEM_MOVER,
    HS_ITEM_MOVE,
    HS_ITEM_SHOT,
    HS_ITEM_HIT,
    HS_ITEM_COUNT
};

/* At most HS_ITEM_ERRORS_MAX errors are stored per item. Once a request has HS_PROBLEM_MAX
   (problem.h) errors, only the first error of each further item is stored. */
enum { HS_ITEM_ERRORS_MAX = 8 };

struct hs_item_error {
    struct hs_item_error *next;
    const char *pointer, *detail; /* as in the `errors` of a problem */
};

struct hs_malformed {
    struct hs_malformed *next;
    size_t frame;                  /* for a player or a mover: the index of its frame */
    size_t index;                  /* index in its batch */
    struct hs_str who;             /* player, mover or shooter; ptr NULL: not readable */
    int64_t number;                /* shot number or `seq`; -1: not readable */
    struct hs_item_error *errors;  /* in the order in which they were found */
    struct hs_item_error **append; /* where to link the next error */
    size_t kept, left_out;         /* how many errors are in the list, and how many were left out */
};

struct hs_malformed_items {
    struct {
        struct hs_malformed *first, *last; /* in the order of the request */
        size_t count;
    } lists[HS_ITEM_COUNT];
    size_t count;  /* number of malformed items */
    size_t errors; /* number of stored errors of all items */
};

/* The JSON keys of an item's name and number; NULL: no such member. `rest` is the JSON text of the
   other members that every answer to such an item must have. */
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
