/*
 * A request that posts frames, moves, shots, hits or a tick to a match. The service reads the body,
 * locks the match, writes the journal, processes the items, writes the journal again, and answers.
 * The match stays locked while frames and moves are processed. After each 1 ms of work on claims,
 * waiting threads may use the match before the next claim.
 */
#ifndef HS_SERVICE_POSTING_H
#define HS_SERVICE_POSTING_H

#include "api/ticks.h"
#include "service/endpoints/table.h"
#include "service/evidence/items.h"

/* A request that is being processed, with its match locked. */
struct hs_posting {
    struct hs_service *service;
    const struct hs_request *request;
    struct hs_match_slot *slot;
    struct hs_writer writer;
    const struct hs_malformed_items *malformed; /* items that could not be read */
    /* the work budget of the request, and the work that is already done (validators/work.h) */
    uint64_t budget, spent;
    /* value of `spent` at the last check for waiting threads */
    uint64_t lent_at;
    int64_t stage_ns;   /* when the newest stage of the processing ended (hs_clock_ns) */
    size_t over_budget; /* number of claims and shots that exceeded the budget */
    bool is_gone;       /* the match was deleted, so the request cannot be answered */
    /* state of the match before the first claim; contains the time of the newest frame, which is
       the default of `now` */
    struct hs_match_info newest;
    /* the answer depends on a lack of memory or disk space, so `recheck` cannot compute the answer
       again */
    bool is_short;
    size_t unwritten;  /* length of slot->journal when this request last looked for new records */
    bool is_unwritten; /* this request's payments could not be written to the journal */
    bool has_evidence; /* the request added rows to the evidence store */
    bool must_settle;  /* the answer depends on records that a power failure could still lose */
    /* For brief answers. `is_plain`: whether the current item is plain. `plain`: number of plain
       items of each kind. `acks`: indexes of the plain moves with an ack, in the request's
       arena. */
    bool is_plain;
    size_t plain[HS_ITEM_COUNT];
    size_t *acks, ack_count;
    /* the JSON text of each item in the body, for the evidence store */
    struct hs_body_items moves, hits, shots;
    size_t place; /* index of the current item in its array in the body */
};

/* Stores frames and writes the answer object. Returns false if memory runs out. */
bool hs_post_frames(struct hs_posting *posting, const struct hs_frames_request *request);

/*
 * Checks move `i`, or verifies claim or posted shot `i`, and writes the result. A claim or shot
 * that exceeds the remaining budget gets `over_budget`, and the match does not record it. Returns
 * false if memory runs out.
 */
typedef bool hs_posting_item(struct hs_posting *posting, const struct hs_ticks_request *tick,
                             size_t i);
hs_posting_item hs_post_move, hs_post_shot, hs_post_hit;

#endif
