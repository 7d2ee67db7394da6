/* Frames: the poses of players and movers that a game server simulated. Decodes JSON into struct
   hs_frame, and encodes the answer. */
#ifndef HS_API_FRAMES_H
#define HS_API_FRAMES_H

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/match.h"

struct hs_frames_request {
    /* In the reader's arena; the names are borrowed from the JSON value or the body. */
    struct hs_frame *frames;
    size_t count;
    size_t entries; /* number of players and movers in all frames */
};

/* Describes the JSON value of "frames". */
extern const struct hs_json_list hs_frames_list;

/* The number of players and the number of movers with each result. */
struct hs_frames_counts {
    size_t players[HS_FRAME_RESULT_COUNT];
    size_t movers[HS_FRAME_RESULT_COUNT];
};

/*
 * Counts the results. `results` contains the results of all frames, in order. For each frame,
 * `results` contains one result per player, and then one result per mover. `malformed` contains the
 * items that could not be read, and may be NULL. A malformed frame counts as one malformed player.
 */
void hs_frames_count(const struct hs_frames_request *request,
                     const struct hs_malformed_items *malformed,
                     const enum hs_frame_result *results, struct hs_frames_counts *out);

/* The max number of unannounced jumps that an answer describes. The answer does not describe
   further jumps. */
enum { HS_MAX_JUMPS = 16 };

/* Writes the answer. `results` is as in hs_frames_count. `stored` is the number of players with the
   result HS_FRAME_STORED. `match` is the match that received the frames. `match` is read only if
   `flags` contains HS_FRAME_FLAG_UNFLAGGED_JUMP. */
void hs_frames_encode(struct hs_writer *writer, const struct hs_frames_request *request,
                      const struct hs_malformed_items *malformed,
                      const enum hs_frame_result *results, size_t stored, unsigned flags,
                      const struct hs_match *match, bool needs_resync);

#endif
