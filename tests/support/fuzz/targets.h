/*
 * The fuzz targets without the fuzzing engine. So an ordinary test can replay the committed corpus
 * under any compiler and sanitizer.
 *
 * Each target passes the bytes of a client through the decoder, the library and the encoder. It
 * returns NULL if every rule for any input holds, otherwise a sentence about the fault. Sanitizers
 * find memory faults.
 */
#ifndef HS_TESTS_FUZZ_TARGETS_H
#define HS_TESTS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

typedef const char *hs_fuzz_run(const uint8_t *data, size_t size);

/* A frames body: it is posted to an empty match, then the stored players shoot at each other. */
hs_fuzz_run hs_fuzz_frames;

/* A hits body, verified on a stage with half a second of history. The players: S (the shooter, at
   the origin), T (20 m ahead along x, walking along y), B (half way), D (dead by now), J (has
   teleported), G (with a gap), L (has left), R (second life) and K (posts bones). */
hs_fuzz_run hs_fuzz_hits;

/* A ticks body: its frames are posted to an empty match, which then checks its moves, shots and
   hits. */
hs_fuzz_run hs_fuzz_ticks;

/* A moves body: each move is checked twice on the stage; a list must decode like its table. */
hs_fuzz_run hs_fuzz_moves;

/* A shots body: each shot is verified twice on the stage, and once more after it was recorded. */
hs_fuzz_run hs_fuzz_shots;

/* A ruleset: its canonical form must give the same ruleset, and a match must run under it. */
hs_fuzz_run hs_fuzz_rulesets;

/* Header lines "name:value", one per line; the first byte selects the method and path of the
   request. */
hs_fuzz_run hs_fuzz_headers;

/* A map: the direct reader must agree with the tree, and its world with a test of all its items. */
hs_fuzz_run hs_fuzz_maps;

/* Two bytes of offset, then a JSON text. */
hs_fuzz_run hs_fuzz_pointer;

/* If the first byte is odd, a token file follows; otherwise a token for a file with two tokens. */
hs_fuzz_run hs_fuzz_tokens;

/* The saved state of a match, without the version and the layout tags. If it can be read, the match
   can be played, saved and read again. */
hs_fuzz_run hs_fuzz_snapshot;

struct hs_fuzz_target {
    const char *name; /* the name of tests/fuzz/fuzz_NAME.c and of tests/fuzz/corpus/NAME */
    hs_fuzz_run *run;
};

enum { HS_FUZZ_TARGETS = 11 };
extern const struct hs_fuzz_target hs_fuzz_targets[HS_FUZZ_TARGETS];

#endif
