/* Hits: decodes claims from JSON into struct hs_hit_claim, and encodes struct hs_hit_result. */
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

/* Writes the member `impact` of an open object. Does nothing if there is no impact. */
void hs_impact_encode(struct hs_writer *writer, const struct hs_impact *impact);

/* Writes a result as a JSON object, but does not close the object. hs_replayed_encode adds the last
   member and closes the object. If the same claim is sent again, the answer contains the same bytes
   again. If `explain` is true, the object contains the checks even if the claim is accepted. */
void hs_hit_encode(struct hs_writer *writer, const struct hs_hit_claim *claim,
                   const struct hs_hit_result *result, const struct hs_verdict_id *id,
                   bool explain);

/* Returns whether a brief answer omits the result. A result is omitted if it has the reason `ok`,
   is not replayed, and contains no damage, no flag and nothing else that the game server must
   read. */
bool hs_hit_is_plain(const struct hs_hit_result *result);

/* These functions write the members that the results of hits and of shots have in common.
   hs_verdict_encode opens the object and writes the first members. hs_checks_encode writes the
   checks, the flags and `would_reject`. */
void hs_verdict_encode(struct hs_writer *writer, uint64_t shot, struct hs_str shooter,
                       const struct hs_hit_result *result, const struct hs_verdict_id *id);
void hs_checks_encode(struct hs_writer *writer, const struct hs_detail_claim *claim,
                      const struct hs_hit_result *result, bool explain);

/* Writes the member `would_reject`: the reasons of the checks that failed in shadow mode. */
void hs_would_reject_encode(struct hs_writer *writer, const struct hs_hit_result *result);

/* Writes the members `measured`, `limit` and `unit`. Writes nothing if the unit is HS_UNIT_NONE. */
void hs_measure_encode(struct hs_writer *writer, double measured, double limit, enum hs_unit unit);

/* Writes the member `replayed`, and closes the object. */
void hs_replayed_encode(struct hs_writer *writer, bool replayed);

#endif
