/*
 * Shared by the routes that judge: they post frames into a locked match and answer claims with
 * verdicts. Frames and moves of a tick are stored and judged together, and so are the claims of
 * most requests. A long request lends the match to waiting threads between two claims.
 */
#ifndef HS_SERVICE_JUDGE_H
#define HS_SERVICE_JUDGE_H

#include "api/frames.h"
#include "api/hits.h"
#include "api/moves.h"
#include "api/shots.h"
#include "service/http/server.h"
#include "service/state/registry.h"

struct hs_service;

/* A request whose match is locked. */
struct hs_judging {
    struct hs_service *service;
    const struct hs_request *request;
    struct hs_match_slot *slot;
    struct hs_writer writer;
    const struct hs_malformed_items *malformed; /* items that could not be read */
    uint64_t budget, spent;                     /* work units (validators/work.h) of this request */
    uint64_t lent_at;                           /* value of `spent` when the match was last lent */
    size_t over_budget;                         /* claims and shots that did not fit */
    /* Called between two claims. False: the match was deleted in between. */
    bool (*between)(struct hs_judging *judging);
    bool is_gone; /* the match was deleted: the request cannot be answered */
    /* The newest frame time when its first claim was judged: `now` of all claims without one. */
    bool has_newest;
    struct hs_match_times newest;
    /* Some answers depend on a full disk or memory: a recording cannot compute them again. */
    bool is_short;
    size_t unwritten;  /* unwritten bytes of earlier requests in the match's journal */
    bool is_unwritten; /* payments of this request could not be written to the journal */
};

/* Stores frames and writes the answer object. False: out of memory, nothing written. */
bool hs_judge_frames(struct hs_judging *judging, const struct hs_frames_request *request);

/* Judges moves and writes the array of results. False: out of memory; those before were judged. */
bool hs_judge_moves(struct hs_judging *judging, const struct hs_moves_request *request);

/*
 * Judges posted shots, or claims, and writes the array of results. Items that no longer fit the
 * budget get `over_budget` and are not recorded. False: the match is gone.
 */
bool hs_judge_shots(struct hs_judging *judging, const struct hs_shots_request *request);
bool hs_judge_hits(struct hs_judging *judging, const struct hs_hits_request *request);

#endif
