/*
 * Records the requests that change matches, with their answers, for `serve --record FILE`.
 * `hindsight recheck` reads this stream and computes the answers again (docs/recheck.md).
 *
 * The match is locked while a line is queued. So the lines of a match are in the order in which the
 * match's requests were applied. Requests never wait for the disk. A request that does not fit into
 * the queue counts as dropped. The recording of the match then ends with a `gap` line, because
 * later requests could not be computed again. Thread-safe.
 */
#ifndef HS_SERVICE_RECORD_H
#define HS_SERVICE_RECORD_H

#include "api/http/routes.h"
#include "service/state/registry.h"

struct hs_map_store;
struct hs_metrics;
struct hs_record;

/* Opens the file and writes the first line. `max_bytes` limits the bytes in the queue. The maps in
   `maps` must keep their documents. Returns NULL with a message in `error` on failure. */
struct hs_record *hs_record_open(const char *path, size_t max_bytes, struct hs_metrics *metrics,
                                 struct hs_map_store *maps, char error[256]);

/* Adds missing `gap` lines, writes the queued lines, and frees the record. `registry` contains the
   open matches; NULL: no match is open. Does nothing if `record` is NULL. */
void hs_record_close(struct hs_record *record, struct hs_registry *registry);

/* A request that was applied to a match. */
struct hs_recorded_request {
    enum hs_route route; /* one of HS_STREAM_REQUESTS */
    bool explain, brief;
    uint64_t request_work; /* work budget if some items exceeded it; otherwise 0 */
    struct hs_str body;    /* JSON as received; len 0: the request had no body */
    /* JSON. ptr NULL: there was no answer, so it is unknown which items were applied. */
    struct hs_str answer;
};

/* Records a request. Before the request, records the ruleset, the map and the opening of the match
   if they are not in the file yet. Updates slot->recorded. The match must be locked and must not
   have been removed. */
void hs_record_request(struct hs_record *record, struct hs_match_slot *slot,
                       const struct hs_recorded_request *request);

/*
 * The following functions record how a match is restored when the service starts, so that `recheck`
 * can restore the match in the same way. These functions wait for the disk. After the start, only
 * hs_record_replayed is called, with `records` NULL, to end the recording of a match that has moved
 * to another replica. If a match cannot be recorded, a `gap` line states the reason. The match must
 * be locked. The functions do nothing if `record` is NULL.
 */

/* Records that the match was loaded from `state` (hs_match_save). `moves_lost`: hs_match_lost_moves
   was called. */
void hs_record_restored(struct hs_record *record, struct hs_match_slot *slot, const void *state,
                        size_t size, bool moves_lost);

/* Records that `records` (hs_match_replay) were applied to the match. `records` NULL: the match had
   ended and is removed. */
void hs_record_replayed(struct hs_record *record, struct hs_match_slot *slot, const void *records,
                        size_t size);

/* Returns the number of bytes in the queue. */
size_t hs_record_queue_bytes(struct hs_record *record);

#endif
