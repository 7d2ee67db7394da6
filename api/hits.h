/* hits: claims to verify and their verdicts, JSON <-> struct hs_hit_claim, hs_hit_result. */
#ifndef HS_API_HITS_H
#define HS_API_HITS_H

#include <jansson.h>

#include "api/detail.h"
#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/hit.h"

struct hs_hits_request {
    struct hs_hit_claim *claims; /* in the reader's arena; names borrowed from the JSON value */
    size_t count;
    int64_t now_us;  /* with has_now */
    unsigned fields; /* HS_HITS_NOW */
};
enum { HS_HITS_NOW = 1 };

/* The value of "hits". */
extern const struct hs_json_list hs_hits_list;

/* Decodes the body of POST .../hits. */
void hs_hits_decode_body(struct hs_reader *reader, const json_t *root, struct hs_hits_request *out);

/* The name of one verdict: 32 hexadecimal digits. */
struct hs_verdict_id {
    char text[33];
};

/*
 * One result as an object that is left open: what is written so far is what a replay repeats, and
 * hs_replayed_encode closes it. `explain`: list the checks of an accepted claim too.
 */
void hs_hit_encode(struct hs_writer *writer, const struct hs_hit_claim *claim,
                   const struct hs_hit_result *result, const struct hs_verdict_id *id,
                   bool explain);

/* The parts that results of hits and of shots share: the head; checks, flags, would_reject. */
void hs_verdict_encode(struct hs_writer *writer, uint64_t shot, struct hs_str shooter,
                       const struct hs_hit_result *result, const struct hs_verdict_id *id);
void hs_checks_encode(struct hs_writer *writer, const struct hs_detail_claim *claim,
                      const struct hs_hit_result *result, bool explain);

/* Writes when to send a claim again that was not judged. */
void hs_retry_encode(struct hs_writer *writer, unsigned retry_after_ms);

/* Says whether the result was given before, and closes the object. */
void hs_replayed_encode(struct hs_writer *writer, bool replayed);

#endif
