/* Frames: the players and movers that a game server simulated. JSON <-> struct hs_frame. */
#ifndef HS_API_FRAMES_H
#define HS_API_FRAMES_H

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/match.h"

struct hs_frames_request {
    struct hs_frame *frames; /* in the reader's arena; names borrowed from the JSON value */
    size_t count;
    size_t entries; /* players and movers of all frames */
};

/* The value of "frames". */
extern const struct hs_json_list hs_frames_list;

/* The number of players and movers with each result. */
struct hs_frames_counts {
    size_t players[HS_FRAME_RESULT_COUNT];
    size_t movers[HS_FRAME_RESULT_COUNT];
};

/*
 * Counts the results. `results`, here and in hs_frames_encode, has one result for each player of
 * the first frame, then one result for each mover of that frame. The results of the other frames
 * follow in the same way. `malformed` lists the items of the request that could not be read; NULL:
 * no such items. Each malformed frame adds one to the number of malformed players.
 */
void hs_frames_count(const struct hs_frames_request *request,
                     const struct hs_malformed_items *malformed,
                     const enum hs_frame_result *results, struct hs_frames_counts *out);

/* The maximum number of unannounced jumps in one answer. Further jumps only set a flag. */
enum { HS_MAX_JUMPS = 16 };

/* Writes the answer. `stored`: the number of players with the result STORED. `match`: the match of
   the frames, read only if `flags` reports a jump. */
void hs_frames_encode(struct hs_writer *writer, const struct hs_frames_request *request,
                      const struct hs_malformed_items *malformed,
                      const enum hs_frame_result *results, size_t stored, unsigned flags,
                      const struct hs_match *match, bool needs_resync);

#endif
