/* Decodes the bodies of posts to a match. POST ticks contains all parts of one game tick, and each
   other post contains one part. */
#ifndef HS_API_TICKS_H
#define HS_API_TICKS_H

#include "api/frames.h"
#include "api/hits.h"
#include "api/http/routes.h"
#include "api/moves.h"
#include "api/shots.h"

/* The parts of a tick, in the order in which the service applies them. The arrays are in the
   reader's arena. Names are borrowed from the JSON value or the body. */
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
    unsigned fields; /* bits of enum hs_ticks_field for the members that are present */
};

enum hs_ticks_field {
    HS_TICKS_FRAMES = 1 << 0,
    HS_TICKS_MOVES = 1 << 1,
    HS_TICKS_SHOTS = 1 << 2,
    HS_TICKS_NOW = 1 << 3,
    HS_TICKS_HITS = 1 << 4
};

/* Decodes the body of a post. In the body of POST ticks, all parts are optional. In the body of
   each other route, the one part is required. */
void hs_ticks_decode_body(struct hs_reader *reader, const json_t *root, enum hs_route route,
                          struct hs_ticks_request *out);

/* Like hs_ticks_decode_body, but without a tree of values. Names are borrowed from `body`. If the
   body is unusual or faulty, returns false and zeroes *out. The caller must then parse the body and
   call hs_ticks_decode_body. */
bool hs_ticks_read_directly(struct hs_reader *reader, struct hs_str body, enum hs_route route,
                            struct hs_ticks_request *out);

#endif
