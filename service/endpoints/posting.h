/*
 * A request that posts to a match: frames, moves, shots, hits, or a tick of them. It reads the
 * body, locks the match, writes the journal before and after, and answers. The frames and moves of
 * a tick are stored and checked under one lock, and so are the claims of most requests. A long
 * request lends the match to waiting threads between two claims.
 */
#ifndef HS_SERVICE_POSTING_H
#define HS_SERVICE_POSTING_H

#include "api/ticks.h"
#include "service/endpoints/table.h"

/* A request whose match is locked. */
struct hs_posting {
    struct hs_service *service;
    const struct hs_request *request;
    struct hs_match_slot *slot;
    struct hs_writer writer;
    const struct hs_malformed_items *malformed; /* items that could not be read */
    uint64_t budget, spent;                     /* work units (validators/work.h) of this request */
    uint64_t lent_at;                           /* value of `spent` when the match was last lent */
    size_t over_budget;                         /* claims and shots that did not fit */
    bool is_gone; /* the match was deleted: the request cannot be answered */
    /* The newest frame time when the first claim was verified; it is `now` of claims without one.
     */
    bool has_newest;
    struct hs_match_info newest;
    /* Some answers depend on a full disk or memory, so `recheck` cannot compute them again. */
    bool is_short;
    size_t unwritten;  /* unwritten bytes of earlier requests in the match's journal */
    bool is_unwritten; /* payments of this request could not be written to the journal */
    bool must_settle;  /* the answer depends on records that may not be settled yet */
};

/* Decodes a body into the part of a tick that its route posts. */
typedef void hs_posting_decode(struct hs_reader *reader, const json_t *root,
                               struct hs_ticks_request *out);

/* Writes the answer. False: out of memory, or the match is gone. */
typedef bool hs_posting_answer(struct hs_posting *posting, const struct hs_ticks_request *tick);

/* Runs the whole request. */
void hs_posting_run(struct hs_service *service, const struct hs_request *request,
                    struct hs_reply *reply, hs_posting_decode *decode, hs_posting_answer *answer);

/* Answers {"results": list, "revision": ...}; `list` writes the array. */
bool hs_posting_results(struct hs_posting *posting, const struct hs_ticks_request *tick,
                        hs_posting_answer *list);

/* Call this before each claim but the first. False: the match was deleted; the request ends. */
bool hs_posting_next(struct hs_posting *posting);

/* Answers the malformed items from `*place` up to the next item that could be read, and sets
   `*place` to that item. Malformed items change nothing in the match. */
void hs_posting_malformed(struct hs_posting *posting, enum hs_item kind,
                          const struct hs_malformed **next, size_t *place);

/* ---- the parts of a tick: each writes its part of the answer ---- */

/* Stores frames and writes the answer object. False: out of memory, nothing written. */
hs_posting_answer hs_post_frames;

/* Checks moves and writes the array of results. False: out of memory; those before were checked. */
hs_posting_answer hs_post_moves;

/*
 * Verify posted shots, or claims, and write the array of results. Items that no longer fit the
 * budget get `over_budget` and are not recorded. False: the match is gone.
 */
hs_posting_answer hs_post_shots, hs_post_hits;

#endif
