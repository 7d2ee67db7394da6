/*
 * Computes a stored verdict again from its evidence, under its own ruleset or under another one.
 * The download of a verdict contains this evidence (reader.h).
 */
#ifndef HS_SERVICE_EVIDENCE_RECOMPUTE_H
#define HS_SERVICE_EVIDENCE_RECOMPUTE_H

#include "api/ticks.h"
#include "service/evidence/reading.h"
#include "service/record/line_reader.h"
#include "validators/match.h"

/* The data from which a verdict was computed. All texts are borrowed. */
struct hs_evidence_parts {
    struct hs_str ruleset, revision, rules; /* name, revision and document of the ruleset */
    struct hs_str map, map_revision;        /* ptr NULL: the match has no map */
    struct hs_str map_document;
    struct hs_match_limits limits;
    struct hs_str state;  /* the excerpt (validators/snapshot.h) */
    struct hs_str body;   /* body of a request whose only item is the claim or shot */
    struct hs_str answer; /* the recorded answer */
    enum hs_route route;
};

/* Sets the members that a line of a stream contains, except `state`. */
void hs_evidence_parts_add_line(struct hs_evidence_parts *parts, const struct hs_stream_line *line);

/* Reads the text of a download. Sets *state to the memory of out->state; the caller frees *state,
   also after a failure. Returns false if the text is not such a download, or if memory runs out. */
bool hs_evidence_parts_read(struct hs_str text, struct hs_evidence_parts *out,
                            unsigned char **state);

/* Computes verdicts again. Caches rulesets and maps, because most verdicts share them. Not
   thread-safe. */
struct hs_recompute;
struct hs_map_entry; /* service/state/maps.h */
struct hs_map_store;

/* `maps` counts the memory of maps that are built, and must outlive the result. If `maps` is NULL,
   this memory is not counted. Returns NULL if memory runs out. hs_recompute_destroy does nothing
   for NULL. */
struct hs_recompute *hs_recompute_create(struct hs_map_store *maps);
void hs_recompute_destroy(struct hs_recompute *recompute);

/* Makes each build of a map call `must_stop` (hs_world_limits, validators/world.h). If `must_stop`
   returns true, the build ends, and hs_recompute_run returns HS_RECOMPUTE_STOPPED. */
void hs_recompute_limit_builds(struct hs_recompute *recompute, bool (*must_stop)(void *),
                               void *context);

/* Lends a map of the store, so that verdicts with this map need not build it again. */
void hs_recompute_lend_map(struct hs_recompute *recompute, struct hs_map_entry *map);

/* Estimates the time to build the map of these parts, in microseconds. 0: there is no map to
   build. */
int64_t hs_recompute_build_us(const struct hs_recompute *recompute,
                              const struct hs_evidence_parts *parts);

enum hs_recompute_status {
    HS_RECOMPUTE_DONE,
    HS_RECOMPUTE_UNFIT,   /* the given rules lack the weapon, or have another rig */
    HS_RECOMPUTE_FOREIGN, /* the evidence is from another version of the program */
    HS_RECOMPUTE_DAMAGED, /* the evidence cannot be read */
    HS_RECOMPUTE_NO_MEMORY,
    HS_RECOMPUTE_STOPPED /* `must_stop` ended the build of the map */
};

/* The parts of a stored verdict, and the memory that these parts need in addition to the stored
   verdict. Free the parts with hs_stored_parts_free, also after a failure. */
struct hs_stored_parts {
    struct hs_evidence_parts parts;
    struct hs_buffer opening;
    char *rules, *map;
};

/* Sets the parts of a stored verdict. Does not read documents that are in the cache of `recompute`.
   Returns false if the evidence is damaged or memory runs out. */
bool hs_stored_parts_read(const struct hs_evidence_stored *stored, struct hs_recompute *recompute,
                          struct hs_stored_parts *out);
void hs_stored_parts_free(struct hs_stored_parts *stored);

/* A verdict that was computed again. The result is valid until it is freed, or until the next call
   of hs_recompute_run. */
struct hs_recomputed {
    const struct hs_ruleset *ruleset;
    struct hs_match *match;         /* the excerpt */
    const struct hs_hit_claim *hit; /* either `hit` or `shot` is NULL */
    const struct hs_shot_claim *shot;
    int64_t now_us, forward_us;
    struct hs_hit_result result;
    struct hs_str item, recorded; /* the posted item, and the recorded result; JSON */
    bool is_identical;            /* the new answer has the same bytes as `recorded` */
    json_t *root; /* `root`, `arena` and `request` own the memory of the other members */
    struct hs_arena arena;
    struct hs_ticks_request request;
};

/* Computes a verdict again. `rules` (NULL: the verdict's own rules) must fit the excerpt
   (hs_excerpt_fits, snapshot.h). Free the result with hs_recomputed_free, also after a failure. */
enum hs_recompute_status hs_recompute_run(struct hs_recompute *recompute,
                                          const struct hs_evidence_parts *parts,
                                          const struct hs_ruleset *rules,
                                          struct hs_recomputed *out);
void hs_recomputed_free(struct hs_recomputed *recomputed);

#endif
