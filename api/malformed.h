/* The malformed items of a batch. Each malformed item gets an answer with its errors, in its place
   among the answers. The other items are processed. The lists are in the arena of one request, and
   only one thread uses them. */
#ifndef HS_API_MALFORMED_H
#define HS_API_MALFORMED_H

#include <stddef.h>
#include <stdint.h>

#include "api/json/writing.h"
#include "validators/str.h"

/* The kinds of items. Players and movers are entries of frames. */
enum hs_item {
    HS_ITEM_FRAME,
    HS_ITEM_PLAYER,
    HS_ITEM_MOVER,
    HS_ITEM_MOVE,
    HS_ITEM_SHOT,
    HS_ITEM_HIT,
    HS_ITEM_COUNT
};

/* An item keeps at most HS_ITEM_ERRORS_MAX errors. After HS_PROBLEM_MAX (problem.h) errors in a
   request, each further item keeps only its first error. */
enum { HS_ITEM_ERRORS_MAX = 8 };

struct hs_item_error {
    struct hs_item_error *next;
    const char *pointer, *detail; /* as in the `errors` of a problem */
};

struct hs_malformed {
    struct hs_malformed *next;
    size_t frame;                  /* for a player or a mover: the index of its frame */
    size_t index;                  /* index in its batch */
    struct hs_str who;             /* player, mover or shooter; ptr NULL: the name cannot be read */
    int64_t number;                /* number of the shot, or `seq`; -1: the number cannot be read */
    struct hs_item_error *errors;  /* in the order in which they were found */
    struct hs_item_error **append; /* the end of the list */
    size_t kept, left_out;         /* number of errors in the list; number of errors left out */
};

struct hs_malformed_items {
    struct {
        struct hs_malformed *first, *last; /* in the order of the request */
        size_t count;
    } lists[HS_ITEM_COUNT];
    size_t count;  /* number of malformed items */
    size_t errors; /* number of errors kept by all items together */
};

/* The keys of an item's name and of its number; NULL: the item has no such member. `rest` contains
   the other members that every answer to an item of this kind must have. */
struct hs_item_kind {
    const char *name_key, *number_key, *rest;
};
extern const struct hs_item_kind hs_item_kinds[HS_ITEM_COUNT];

/* Returns the first malformed item of a kind, or NULL. `items` may be NULL. */
const struct hs_malformed *hs_malformed_first(const struct hs_malformed_items *items,
                                              enum hs_item kind);

/* Writes the answer to a move, a shot or a hit. For a frame, a player or a mover, writes its entry
   in `refused`. */
void hs_malformed_encode(struct hs_writer *writer, enum hs_item kind,
                         const struct hs_malformed *malformed);

#endif
