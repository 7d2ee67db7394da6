/* Posts to a match: all parts of one game tick, or only one of them. JSON -> structs. */
#ifndef HS_API_TICKS_H
#define HS_API_TICKS_H

#include "api/frames.h"
#include "api/hits.h"
#include "api/http/routes.h"
#include "api/moves.h"
#include "api/shots.h"

/* The parts of a tick. The service applies them in this order. The arrays are in the reader's
   arena, and names are borrowed from the JSON value. */
struct hs_ticks_request {
    struct hs_frames_request frames;
    struct hs_moves_request moves;
    struct {
        struct hs_shot_claim *shots;
        size_t count;
    } shots;
    struct {
        struct hs_hit_claim *claims;
        size_t count;
    } hits;
    int64_t now_us;  /* the member `now`, for shots and hits; valid with HS_TICKS_NOW */
    unsigned fields; /* bits of enum hs_ticks_field: the members that are present */
};

enum hs_ticks_field {
    HS_TICKS_FRAMES = 1 << 0,
    HS_TICKS_MOVES = 1 << 1,
    HS_TICKS_SHOTS = 1 << 2,
    HS_TICKS_NOW = 1 << 3,
    HS_TICKS_HITS = 1 << 4
};

/* Decodes the body of a post. For the route POST ticks, every part is optional. The other routes
   have one part, which is required. */
void hs_ticks_decode_body(struct hs_reader *reader, const json_t *root, enum hs_route route,
                          struct hs_ticks_request *out);

/* Like hs_ticks_decode_body, without a tree of values. Names are borrowed from `body`. False: the
   body is unusual or wrong, so it must be parsed and decoded. `out` is then zeroed. */
bool hs_ticks_read_directly(struct hs_reader *reader, struct hs_str body, enum hs_route route,
                            struct hs_ticks_request *out);

#endif
