/*
 * What the routes that judge share: frames into a locked match, claims out as verdicts. The match
 * stays locked from the first frame to the last verdict, so a tick is never torn.
 */
#ifndef HS_SERVICE_JUDGE_H
#define HS_SERVICE_JUDGE_H

#include "api/frames.h"
#include "api/hits.h"
#include "api/moves.h"
#include "api/shots.h"
#include "service/state/registry.h"

struct hs_service;

/* Stores frames and writes the answer object. False: out of memory, nothing written. */
bool hs_judge_frames(struct hs_service *service, struct hs_match_slot *slot,
                     const struct hs_frames_request *request, struct hs_arena *arena,
                     struct hs_writer *writer);

/* Judges moves and writes the array of results. False: out of memory; those before were judged. */
bool hs_judge_moves(struct hs_service *service, struct hs_match_slot *slot,
                    const struct hs_moves_request *request, struct hs_writer *writer);

/* Judges posted shots and writes the array of results. */
void hs_judge_shots(struct hs_service *service, struct hs_match_slot *slot,
                    const struct hs_shots_request *request, bool explain, struct hs_writer *writer);

/* Judges claims and writes the array of results. */
void hs_judge_hits(struct hs_service *service, struct hs_match_slot *slot,
                   const struct hs_hits_request *request, bool explain, struct hs_writer *writer);

#endif
