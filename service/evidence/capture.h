/* Turns a verdict into a row of the evidence store. */
#ifndef HS_SERVICE_EVIDENCE_CAPTURE_H
#define HS_SERVICE_EVIDENCE_CAPTURE_H

#include "api/hits.h"
#include "api/moves.h"
#include "api/shots.h"
#include "service/evidence/items.h"
#include "service/evidence/writer.h"
#include "service/state/registry.h"

/* A verdict that may be stored. The verdict is about a hit or about a posted shot, so one of `hit`
   and `shot` is NULL. */
struct hs_verdict_to_keep {
    const struct hs_hit_claim *hit;
    const struct hs_shot_claim *shot;
    const struct hs_hit_result *result;
    int64_t forward_us; /* the forward_time of a shot */
    struct hs_verdict_id id;
    struct hs_str body;          /* body of the request, JSON */
    size_t place;                /* index of the item in its list, from 0 */
    struct hs_body_items *items; /* reads that list; freed by the caller */
    struct hs_bytes state;       /* set by hs_capture_begin; owned */
    bool is_sample;              /* accepted, and `would_reject` is empty */
    int64_t at_us;               /* wall clock; 0 until hs_capture_row sets it */
};

/* Saves the excerpt of the locked match, if the store wants the verdict. Returns false if the store
   does not want the verdict. */
bool hs_capture_begin(const struct hs_evidence *evidence, const struct hs_match_slot *slot,
                      struct hs_verdict_to_keep *verdict);

/* Sets the members of a row that `GET /v1/verdicts` shows. Sets all other members to zero. All
   texts are borrowed. The match must be locked. Call it before or after the match has recorded the
   verdict. */
void hs_capture_row(const struct hs_match_slot *slot, struct hs_verdict_to_keep *verdict,
                    struct hs_evidence_row *row);

/* Adds the verdict to the store and frees the excerpt. Call it with the same locked match after the
   verdict was recorded. Returns false if the store dropped the verdict. */
bool hs_capture_end(struct hs_evidence *evidence, struct hs_match_slot *slot,
                    struct hs_verdict_to_keep *verdict);

/* A checked move that may be stored. */
struct hs_move_to_keep {
    const struct hs_move *move;
    const struct hs_move_result *result;
    struct hs_str body;          /* body of the request, JSON */
    size_t place;                /* index of the move in its list, from 0 */
    struct hs_body_items *items; /* reads that list; freed by the caller */
};

/* Adds a move to the store if it was rejected or failed a check. For each reason, only the first
   moves of a player and a sample of the later moves are stored. The match must be locked. Returns
   false if the move is not stored. `evidence` may be NULL. */
bool hs_capture_move(struct hs_evidence *evidence, const struct hs_match_slot *slot,
                     const struct hs_move_to_keep *kept);

#endif
