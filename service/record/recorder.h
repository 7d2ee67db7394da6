/*
 * Records the requests that change matches, with their answers, for `serve --record FILE`.
 * `hindsight recheck` reads this stream and computes the answers again (docs/recheck.md).
 *
 * The lines of a match are in the order in which its requests were applied, because each line is
 * added while the match is locked. Requests never wait for the disk. A request that does not fit
 * into the queue is counted as dropped. Later requests of its match cannot be computed again, so
 * the recording of the match ends there, with a line that states this. Thread-safe.
 */
#ifndef HS_SERVICE_RECORD_H
#define HS_SERVICE_RECORD_H

#include "api/http/routes.h"
#include "service/state/registry.h"

struct hs_map_store;
struct hs_metrics;
struct hs_record;

/* Opens the file and writes the first line. `max_bytes` limits the bytes that wait to be written.
   The maps of `maps` must keep their documents. Returns NULL with a message in `error` on
   failure. */
struct hs_record *hs_record_open(const char *path, size_t max_bytes, struct hs_metrics *metrics,
                                 struct hs_map_store *maps, char error[256]);

/* Marks the matches whose recording is incomplete, writes the waiting lines, and frees the record.
   `registry` contains the open matches; it is NULL if no match is open. Does nothing if `record` is
   NULL. */
void hs_record_close(struct hs_record *record, struct hs_registry *registry);

/* A request that was applied to a match. */
struct hs_recorded_request {
    enum hs_route route; /* one of HS_STREAM_REQUESTS */
    bool explain, brief;
    uint64_t request_work; /* the work budget of the request if some items did not fit into it,
                              otherwise 0 */
    struct hs_str body;    /* JSON as received; len 0: the request had no body */
    /* JSON. ptr NULL: there was no answer, so it is unknown which posts were applied. */
    struct hs_str answer;
};

/* Records a request. If the opening of the match is not in the file yet, first records the opening
   with its ruleset and its map. The match must be locked and not yet removed. The function updates
   `recorded` of the match. */
void hs_record_request(struct hs_record *record, struct hs_match_slot *slot,
                       const struct hs_recorded_request *request);

/*
 * The following functions record how a match is restored at the start of the service, so that
 * `recheck` restores it in the same way. These functions wait for the disk. After the start, they
 * are called only when a match has moved to another replica, which ends the recording of the match
 * on this replica. A match that cannot be recorded gets a `gap` line with the reason. The match
 * must be locked. The functions do nothing if `record` is NULL.
 */

/* Records that the match was loaded from `state` (hs_match_save). `moves_lost`: see
   hs_match_lost_moves. */
void hs_record_restored(struct hs_record *record, struct hs_match_slot *slot, const void *state,
                        size_t size, bool moves_lost);

/* Records that `records` (hs_match_replay) were applied to the match. If `records` is NULL, records
   that the match had ended and is removed. */
void hs_record_replayed(struct hs_record *record, struct hs_match_slot *slot, const void *records,
                        size_t size);

/* Returns the number of bytes that wait to be written. */
size_t hs_record_queue_bytes(struct hs_record *record);

#endif
