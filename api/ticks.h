/* The bodies of posts to a match: all parts of one game tick, or only one of them. JSON ->
   structs. */
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
    unsigned fields; /* bits of enum hs_ticks_field: the members that are present */
};

enum hs_ticks_field {
    HS_TICKS_FRAMES = 1 << 0,
    HS_TICKS_MOVES = 1 << 1,
    HS_TICKS_SHOTS = 1 << 2,
    HS_TICKS_NOW = 1 << 3,
    HS_TICKS_HITS = 1 << 4
};

/* Decodes the body of a post. For POST ticks, all parts are optional. Each other route has one
   part, which is required. */
void hs_ticks_decode_body(struct hs_reader *reader, const json_t *root, enum hs_route route,
                          struct hs_ticks_request *out);

/* Like hs_ticks_decode_body, but without a tree of values. Names are borrowed from `body`. Returns
   false and zeroes *out if the body is unusual or wrong. It must then be parsed and decoded. */
bool hs_ticks_read_directly(struct hs_reader *reader, struct hs_str body, enum hs_route route,
                            struct hs_ticks_request *out);

#endif
