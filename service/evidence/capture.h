/* Stores verdicts and moves in the evidence store. */
#ifndef HS_SERVICE_EVIDENCE_CAPTURE_H
#define HS_SERVICE_EVIDENCE_CAPTURE_H

#include "api/hits.h"
#include "api/moves.h"
#include "api/shots.h"
#include "service/evidence/items.h"
#include "service/evidence/writer.h"
#include "service/state/registry.h"

/* A verdict on a hit or a posted shot. Either `hit` or `shot` is NULL. */
struct hs_verdict_to_keep {
    const struct hs_hit_claim *hit;
    const struct hs_shot_claim *shot;
    const struct hs_hit_result *result;
    int64_t forward_us; /* the forward_time of `shot` */
    struct hs_verdict_id id;
    struct hs_str body;          /* body of the request, JSON */
    size_t place;                /* index of the claim or shot in its list in `body` */
    struct hs_body_items *items; /* reads the list in `body`; freed by the caller */
    struct hs_bytes state;       /* excerpt of the match, from hs_capture_begin to hs_capture_end */
    bool is_sample;              /* the verdict is accepted, with an empty `would_reject` */
    int64_t at_us;               /* wall clock; 0 until hs_capture_row sets it */
};

/* If the verdict should be stored (hs_evidence_wants), saves the excerpt of the match and returns
   true. The match must be locked. */
bool hs_capture_begin(const struct hs_evidence *evidence, const struct hs_match_slot *slot,
                      struct hs_verdict_to_keep *verdict);

/* Sets the members of *row that `GET /v1/verdicts` shows, and zeroes the other members of *row. The
   strings are borrowed. The match must be locked. Callers may call this function before or after
   the match records the verdict. */
void hs_capture_row(const struct hs_match_slot *slot, struct hs_verdict_to_keep *verdict,
                    struct hs_evidence_row *row);

/* Stores the verdict and frees the excerpt. Call this function after the match has recorded the
   verdict, before unlocking the match. Returns false if the store dropped the verdict. */
bool hs_capture_end(struct hs_evidence *evidence, struct hs_match_slot *slot,
                    struct hs_verdict_to_keep *verdict);

/* A move that was checked. */
struct hs_move_to_keep {
    const struct hs_move *move;
    const struct hs_move_result *result;
    struct hs_str body;          /* body of the request, JSON */
    size_t place;                /* index of the move in its list, from 0 */
    struct hs_body_items *items; /* reads the list in `body`; freed by the caller */
};

/* Stores a move that was rejected or failed a check. For each player and reason, stores only the
   first moves and a sample of the later moves. The match must be locked. Returns false if the move
   was not stored. `evidence` may be NULL. */
bool hs_capture_move(struct hs_evidence *evidence, const struct hs_match_slot *slot,
                     const struct hs_move_to_keep *kept);

#endif
