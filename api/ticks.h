/* ticks: everything of one game tick in one request, applied in the order of its struct. */
#ifndef HS_API_TICKS_H
#define HS_API_TICKS_H

#include "api/frames.h"
#include "api/hits.h"
#include "api/moves.h"
#include "api/shots.h"

struct hs_ticks_request {
    struct hs_frames_request frames;
    struct hs_moves_request moves;
    struct hs_shots_request shots;
    struct hs_hits_request hits; /* `now` of the tick is that of shots and hits */
    unsigned fields;             /* enum hs_ticks_field */
};

enum hs_ticks_field {
    HS_TICKS_NOW = 1 << 0,
    HS_TICKS_FRAMES = 1 << 1,
    HS_TICKS_SHOTS = 1 << 2,
    HS_TICKS_HITS = 1 << 3,
    HS_TICKS_MOVES = 1 << 4
};

void hs_ticks_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_ticks_request *out);

#endif
