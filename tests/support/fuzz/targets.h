/*
 * What the fuzzers do with one input, apart from the fuzzing engine, so that the committed corpus
 * is replayed by an ordinary test under any compiler and sanitizer.
 *
 * Each target takes bytes as a client would send them through the decoder, and what was decoded
 * through the library and the encoder. It returns NULL when everything that must hold of any
 * input did hold, else a sentence about what did not. Faults of memory are the sanitizers' part.
 */
#ifndef HS_TESTS_FUZZ_TARGETS_H
#define HS_TESTS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

typedef const char *hs_fuzz_run(const uint8_t *data, size_t size);

/* A frames body: posted to an empty match, then stored players shoot at each other. */
hs_fuzz_run hs_fuzz_frames;

/*
 * A hits body: judged on a stage with half a second of history of S (the shooter, at the origin),
 * T (20 m ahead along x, walking along y), B (half way), D (dead by now), J (has teleported),
 * G (with a gap), L (has left), R (second life) and K (posts its bones).
 */
hs_fuzz_run hs_fuzz_hits;

/* A ticks body: its frames posted to an empty match, its moves, shots and hits judged there. */
hs_fuzz_run hs_fuzz_ticks;

/* A moves body: judged on the stage, each move twice; a list must decode as its table does. */
hs_fuzz_run hs_fuzz_moves;

/* A shots body: judged on the stage, each shot twice and once more when it is booked. */
hs_fuzz_run hs_fuzz_shots;

/* A ruleset: its canonical form must read back as itself, and a match must run on it. */
hs_fuzz_run hs_fuzz_rulesets;

/* Header lines "name:value", one a line; the first byte says method and place of the request. */
hs_fuzz_run hs_fuzz_headers;

/* A map: read as a tree of values is; its world must answer as all its items together do. */
hs_fuzz_run hs_fuzz_maps;

/* Two bytes of offset, then a JSON text. */
hs_fuzz_run hs_fuzz_pointer;

/* An odd byte and a token file, or an even one and a token for a file with two. */
hs_fuzz_run hs_fuzz_tokens;

/* What of a match outlives its process, after the version and the tags of layouts: when it is read,
   it can be played on, saved and read again. */
hs_fuzz_run hs_fuzz_snapshot;

struct hs_fuzz_target {
    const char *name; /* of tests/fuzz/fuzz_NAME.c and of tests/fuzz/corpus/NAME */
    hs_fuzz_run *run;
};

enum { HS_FUZZ_TARGETS = 11 };
extern const struct hs_fuzz_target hs_fuzz_targets[HS_FUZZ_TARGETS];

#endif
