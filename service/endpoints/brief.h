/*
 * Brief answers (`?brief`). A brief answer leaves out plain results: items that were accepted and
 * have nothing that the game server must read (hs_move_is_plain, hs_shot_is_plain,
 * hs_hit_is_plain). A brief answer lists the other results with their indexes, and contains the
 * number of plain results. Answers to requests without `?brief` do not change.
 */
#ifndef HS_SERVICE_BRIEF_H
#define HS_SERVICE_BRIEF_H

#include "service/endpoints/posting.h"

/* Begins an answer. Returns false if memory runs out. */
bool hs_brief_begin(struct hs_posting *posting, const struct hs_ticks_request *tick);

/* The length and the state of an answer before an item is written. */
struct hs_brief_mark {
    size_t len;
    bool needs_comma;
};
struct hs_brief_mark hs_brief_mark(const struct hs_posting *posting);

/* Removes the item that was written after the mark if the item is plain. Adds the index of the item
   if the item is not plain. */
void hs_brief_item(struct hs_posting *posting, enum hs_item kind, struct hs_brief_mark mark);

/* Writes how many items of each kind were plain. */
void hs_brief_end(struct hs_posting *posting, const struct hs_ticks_request *tick);

#endif
