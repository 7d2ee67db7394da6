/*
 * Brief answers (`?brief`). A brief answer leaves out plain results. A result is plain if the item
 * was accepted and the result contains nothing that the game server must read (hs_move_is_plain,
 * hs_shot_is_plain, hs_hit_is_plain). A brief answer contains the number of plain results. For each
 * other result, a brief answer contains the result and the index of the item.
 */
#ifndef HS_SERVICE_BRIEF_H
#define HS_SERVICE_BRIEF_H

#include "service/endpoints/posting.h"

/* Prepares a brief answer. Does nothing for other answers. Returns false if memory runs out. */
bool hs_brief_begin(struct hs_posting *posting, const struct hs_ticks_request *tick);

/* The state of the answer before an item is written. */
struct hs_brief_mark {
    size_t len;
    bool needs_comma;
};
struct hs_brief_mark hs_brief_mark(const struct hs_posting *posting);

/* Completes the result that was written after the mark. In a brief answer, removes a plain result,
   and adds the item's index to any other result. Does nothing for other answers. */
void hs_brief_item(struct hs_posting *posting, enum hs_item kind, struct hs_brief_mark mark);

/* Writes how many items of each kind are plain, and the indexes of the plain moves with an ack. */
void hs_brief_end(struct hs_posting *posting, const struct hs_ticks_request *tick);

#endif
