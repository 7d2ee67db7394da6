/* Frames: the players and movers that a game server simulated. JSON <-> struct hs_frame. */
#ifndef HS_API_FRAMES_H
#define HS_API_FRAMES_H

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/match.h"

struct hs_frames_request {
    struct hs_frame *frames; /* in the reader's arena; names borrowed from the JSON value */
    size_t count;
    size_t entries; /* number of players and movers in all frames */
};

/* Describes the JSON value of "frames". */
extern const struct hs_json_list hs_frames_list;

/* How many players and movers have each result. */
struct hs_frames_counts {
    size_t players[HS_FRAME_RESULT_COUNT];
    size_t movers[HS_FRAME_RESULT_COUNT];
};

/*
 * Counts the results. `results`, here and in hs_frames_encode, contains the results frame by frame:
 * first one for each player, then one for each mover. `malformed` lists the items that could not be
 * read; it may be NULL. A malformed frame counts as one malformed player.
 */
void hs_frames_count(const struct hs_frames_request *request,
                     const struct hs_malformed_items *malformed,
                     const enum hs_frame_result *results, struct hs_frames_counts *out);

/* An answer describes at most this many unannounced jumps. Further jumps only set the flag. */
enum { HS_MAX_JUMPS = 16 };

/* Writes the answer. `stored` is the number of players with the result STORED. `match` is the match
   that received the frames; it is read only if `flags` reports a jump. */
void hs_frames_encode(struct hs_writer *writer, const struct hs_frames_request *request,
                      const struct hs_malformed_items *malformed,
                      const enum hs_frame_result *results, size_t stored, unsigned flags,
                      const struct hs_match *match, bool needs_resync);

#endif
