/* Hits: claims and their results. JSON <-> struct hs_hit_claim, hs_hit_result. */
#ifndef HS_API_HITS_H
#define HS_API_HITS_H

#include "api/detail.h"
#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/hit.h"

/* Describes the JSON value of "hits". */
extern const struct hs_json_list hs_hits_list;

/* The id of a verdict: 32 hexadecimal digits. */
struct hs_verdict_id {
    char text[33];
};

/* Writes the member `impact` of an open object, unless there is no impact. */
void hs_impact_encode(struct hs_writer *writer, const struct hs_impact *impact);

/* Writes a result as a JSON object, but leaves the object open: hs_replayed_encode adds the last
   member and closes it. When the same claim is sent again, the answer repeats the bytes written
   here. With `explain`, an accepted claim also gets its checks. */
void hs_hit_encode(struct hs_writer *writer, const struct hs_hit_claim *claim,
                   const struct hs_hit_result *result, const struct hs_verdict_id *id,
                   bool explain);

/* Returns whether a brief answer omits the result. This is so if the claim is accepted with the
   reason `ok` and not replayed, and the result contains no damage, no flag, and nothing else that
   the game server must read. */
bool hs_hit_is_plain(const struct hs_hit_result *result);

/* Write the members that results of hits and shots have in common. hs_verdict_encode writes the
   first members. hs_checks_encode writes the checks, the flags and `would_reject`. */
void hs_verdict_encode(struct hs_writer *writer, uint64_t shot, struct hs_str shooter,
                       const struct hs_hit_result *result, const struct hs_verdict_id *id);
void hs_checks_encode(struct hs_writer *writer, const struct hs_detail_claim *claim,
                      const struct hs_hit_result *result, bool explain);

/* Writes the array `would_reject`: the reasons of checks that failed in shadow mode. */
void hs_would_reject_encode(struct hs_writer *writer, const struct hs_hit_result *result);

/* Writes `measured`, `limit` and `unit`, or nothing for HS_UNIT_NONE. */
void hs_measure_encode(struct hs_writer *writer, double measured, double limit, enum hs_unit unit);

/* Writes the member `replayed`, and closes the object. */
void hs_replayed_encode(struct hs_writer *writer, bool replayed);

#endif
