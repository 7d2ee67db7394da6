/*
 * Counts the answers to a recording: verdicts by reason and by the shooter's label, accepted claims
 * by ground truth, flags, latencies and expectations.
 */
#ifndef HS_PLAY_TALLY_H
#define HS_PLAY_TALLY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { HS_TALLY_NAME = 65, HS_TALLY_REASONS = 64, HS_TALLY_FLAGS = 32, HS_TALLY_KINDS = 64 };

enum hs_truth { HS_TRUTH_UNKNOWN, HS_TRUTH_HIT, HS_TRUTH_MISS };

/* The measurement that decided a verdict. */
struct hs_tally_number {
    bool known;
    char check[32], unit[16];
    double measured, limit;
};

/* How often one name occurred. The name is a flag, or the reason for a verdict or for a refused
   pose. `verdict` is empty for flags and refused poses. Names are stored as text, because a newer
   service may send names that are unknown to this program. */
struct hs_tally_reason {
    char name[HS_TALLY_NAME], verdict[16];
    size_t count;
    struct hs_tally_number example; /* the measurement of the first claim that has a measurement */
};

/* The counts for all claims with the same label. */
struct hs_tally_kind {
    char who[HS_TALLY_NAME];
    size_t claims, accepted, rejected, inconclusive;
    struct hs_tally_reason reasons[HS_TALLY_REASONS];
    size_t reason_count;
    struct hs_tally_reason flags[HS_TALLY_FLAGS];
    size_t flag_count;
};

struct hs_tally_truth {
    size_t claims, accepted;
};

/* Callers may read the members, but must change them only through the functions below. */
struct hs_tally {
    struct hs_tally_kind total;
    /* one element for each label, in the order in which the labels first occurred */
    struct hs_tally_kind kinds[HS_TALLY_KINDS];
    size_t kind_count;
    double *seconds; /* duration of every request */
    size_t requests, capacity;
    struct hs_tally_truth truths[HS_TRUTH_MISS + 1]; /* indexed by enum hs_truth */
    size_t expected, failed;
    size_t poses, poses_refused;
    struct hs_tally_reason refusals[HS_TALLY_FLAGS]; /* refused poses, by reason */
    size_t refusal_count;
};

struct hs_tally *hs_tally_create(void); /* returns NULL if memory runs out */
void hs_tally_destroy(struct hs_tally *tally);

/* Records the duration of one request. */
void hs_tally_request(struct hs_tally *tally, double seconds);

/* Counts the result of one claim. `who` is the shooter's label, or NULL. Returns false if the
   result lacks a verdict or a reason. */
bool hs_tally_result(struct hs_tally *tally, const char *who, enum hs_truth truth,
                     const json_t *result);

/* Returns the list of results in an answer to hits or to a tick (borrowed), or NULL. */
json_t *hs_tally_results(const json_t *answer);

void hs_tally_expectation(struct hs_tally *tally, bool held);

/* Counts the stored and the refused poses in an answer to frames, {"stored":N,"refused":[..]}, or
   to a tick. */
void hs_tally_frames(struct hs_tally *tally, const json_t *answer);

/* Returns the measurement of the check that decided a result. `known` is false if there is no
   deciding check, or if this check has no measurement. */
struct hs_tally_number hs_tally_deciding(const json_t *result);

/* Returns the counts for the label `who`, or NULL if no claim had this label. */
const struct hs_tally_kind *hs_tally_kind(const struct hs_tally *tally, const char *who);

/* Computes what percentage of the claims with this truth was accepted. Returns false if no claim
   has this truth. */
bool hs_tally_accepted(const struct hs_tally *tally, enum hs_truth truth, double *percent);

void hs_tally_print(const struct hs_tally *tally, FILE *out);

/* Returns the tally as a JSON object (new reference). */
json_t *hs_tally_json(const struct hs_tally *tally);

#endif
