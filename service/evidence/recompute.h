/*
 * Computes a stored verdict again, under the verdict's own ruleset or under another ruleset. The
 * evidence comes from the store, or from a verdict that was downloaded (hs_evidence_stream in
 * reader.h).
 */
#ifndef HS_SERVICE_EVIDENCE_RECOMPUTE_H
#define HS_SERVICE_EVIDENCE_RECOMPUTE_H

#include "api/ticks.h"
#include "service/evidence/reading.h"
#include "service/record/line_reader.h"
#include "validators/match.h"

/* The evidence of a verdict. All strings are borrowed. */
struct hs_evidence_parts {
    struct hs_str ruleset, revision, rules; /* name, revision and document of the ruleset */
    struct hs_str map, map_revision;        /* ptr NULL: the match has no map */
    struct hs_str map_document;
    struct hs_match_limits limits;
    struct hs_str state;  /* the excerpt (validators/snapshot.h) */
    struct hs_str body;   /* JSON body of a request with only this claim or shot */
    struct hs_str answer; /* the recorded answer, JSON */
    enum hs_route route;
};

/* Sets each member of *parts whose value is in this line of a stream, except `state`. */
void hs_evidence_parts_add_line(struct hs_evidence_parts *parts, const struct hs_stream_line *line);

/* Reads a downloaded verdict. Sets *state to the memory that contains out->state. The caller frees
   *state with free(), even after a failure. Returns false if the text is not a downloaded verdict,
   or memory runs out. */
bool hs_evidence_parts_read(struct hs_str text, struct hs_evidence_parts *out,
                            unsigned char **state);

/* Computes verdicts again. Caches rulesets and maps, because most verdicts have the same ruleset
   and map as other verdicts. Not thread-safe. */
struct hs_recompute;
struct hs_map_entry; /* service/state/maps.h */
struct hs_map_store;

/* The memory of built maps is charged to `maps`, which must outlive the returned object. If `maps`
   is NULL, this memory is not limited. Returns NULL if memory runs out. hs_recompute_destroy does
   nothing for NULL. */
struct hs_recompute *hs_recompute_create(struct hs_map_store *maps);
void hs_recompute_destroy(struct hs_recompute *recompute);

/* While a map is built, `must_stop` is called regularly (hs_world_limits in validators/world.h).
   When `must_stop` returns true, the build stops, and hs_recompute_run returns
   HS_RECOMPUTE_STOPPED. */
void hs_recompute_limit_builds(struct hs_recompute *recompute, bool (*must_stop)(void *),
                               void *context);

/* Adds a loaded map to the cache, so that the map need not be built again. Retains the map. */
void hs_recompute_lend_map(struct hs_recompute *recompute, struct hs_map_entry *map);

/* Returns the estimated time to build the map, in microseconds. 0: there is no map, or the map is
   in the cache. */
int64_t hs_recompute_build_us(const struct hs_recompute *recompute,
                              const struct hs_evidence_parts *parts);

enum hs_recompute_status {
    HS_RECOMPUTE_DONE,
    HS_RECOMPUTE_UNFIT,   /* `rules` do not fit the excerpt */
    HS_RECOMPUTE_FOREIGN, /* the evidence is from another version of the program */
    HS_RECOMPUTE_DAMAGED, /* the evidence cannot be read */
    HS_RECOMPUTE_NO_MEMORY,
    HS_RECOMPUTE_STOPPED /* `must_stop` ended the build of the map */
};

/* The evidence of a stored verdict. `parts` borrows from the stored verdict and from the other
   members. Free the structure with hs_stored_parts_free, even after a failure. */
struct hs_stored_parts {
    struct hs_evidence_parts parts;
    struct hs_buffer opening;
    char *rules, *map;
};

/* Reads the evidence of `stored`. *out borrows from `stored`. Skips documents that are in the cache
   of `recompute`. Returns false if the evidence is damaged or memory runs out. */
bool hs_stored_parts_read(const struct hs_evidence_stored *stored, struct hs_recompute *recompute,
                          struct hs_stored_parts *out);
void hs_stored_parts_free(struct hs_stored_parts *stored);

/* A verdict that was computed again. The structure is valid until hs_recomputed_free or the next
   hs_recompute_run. */
struct hs_recomputed {
    const struct hs_ruleset *ruleset;
    struct hs_match *match;         /* the excerpt */
    const struct hs_hit_claim *hit; /* either `hit` or `shot` is NULL */
    const struct hs_shot_claim *shot;
    int64_t now_us, forward_us;
    struct hs_hit_result result;
    struct hs_str item, recorded; /* JSON of the posted claim or shot, and of the recorded result */
    bool is_identical;            /* the new result equals `recorded`, byte by byte */
    /* `root`, `arena` and `request` own the memory of the members above. */
    json_t *root;
    struct hs_arena arena;
    struct hs_ticks_request request;
};

/* Computes a verdict again under `rules`, or under its own ruleset if `rules` is NULL. Returns
   UNFIT if the excerpt does not fit `rules` (hs_excerpt_fits in snapshot.h). Free the result with
   hs_recomputed_free, even after a failure. */
enum hs_recompute_status hs_recompute_run(struct hs_recompute *recompute,
                                          const struct hs_evidence_parts *parts,
                                          const struct hs_ruleset *rules,
                                          struct hs_recomputed *out);
void hs_recomputed_free(struct hs_recomputed *recomputed);

#endif
