/*
 * A request that posts frames, moves, shots, hits or a tick to a match. The service reads the body,
 * locks the match, writes the journal, processes the items, writes the journal again, and answers.
 * The match stays locked while the frames and moves of a tick are processed. A request with more
 * than 1 ms of work unlocks the match between two claims, so that waiting threads can use it. Most
 * requests are shorter.
 */
#ifndef HS_SERVICE_POSTING_H
#define HS_SERVICE_POSTING_H

#include "api/ticks.h"
#include "service/endpoints/table.h"
#include "service/evidence/items.h"

/* A request whose match is locked. */
struct hs_posting {
    struct hs_service *service;
    const struct hs_request *request;
    struct hs_match_slot *slot;
    struct hs_writer writer;
    const struct hs_malformed_items *malformed; /* items that could not be read */
    uint64_t budget, spent;                     /* work units (validators/work.h) of this request */
    /* value of `spent` when the match was last unlocked for other threads */
    uint64_t lent_at;
    int64_t stage_ns;   /* when the newest stage ended (hs_clock_ns) */
    size_t over_budget; /* claims and shots that did not fit the budget */
    bool is_gone;       /* the match was deleted: the request cannot be answered */
    /* the state of the match before the first claim; the time of its newest frame is the default of
       `now` */
    struct hs_match_info newest;
    /* The answer depends on a lack of disk space or memory, so `recheck` cannot compute it
       again. */
    bool is_short;
    size_t unwritten;  /* bytes in the match's journal that earlier requests could not write */
    bool is_unwritten; /* payments of this request could not be written to the journal */
    bool has_evidence; /* the request added rows to the evidence store */
    bool must_settle;  /* the answer depends on records that may not be settled yet */
    /* Only brief answers use these members. `is_plain`: the last item is plain. `plain`: the number
       of plain items of each kind. `acks`: the indexes of the plain moves with an ack, in the arena
       of the request. */
    bool is_plain;
    size_t plain[HS_ITEM_COUNT];
    size_t *acks, ack_count;
    /* texts of the items in the body, for the evidence store */
    struct hs_body_items moves, hits, shots;
    size_t place; /* index of the current item in its list of the body */
};

/* Stores frames and writes the answer object. Returns false and writes nothing if memory runs
   out. */
bool hs_post_frames(struct hs_posting *posting, const struct hs_frames_request *request);

/*
 * Checks move `i`, or verifies posted shot or claim `i`, and writes the result. A shot or claim
 * that no longer fits the budget gets `over_budget` and is not recorded. Returns false if memory
 * runs out.
 */
typedef bool hs_posting_item(struct hs_posting *posting, const struct hs_ticks_request *tick,
                             size_t i);
hs_posting_item hs_post_move, hs_post_shot, hs_post_hit;

#endif
