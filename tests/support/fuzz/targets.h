/*
 * The fuzz targets, without the fuzzing engine. Therefore an ordinary test can replay the committed
 * corpus under any compiler and sanitizer.
 *
 * Each target passes the bytes of a client through the decoder, the library and the encoder. The
 * target returns NULL if every rule for any input holds, otherwise a sentence about the fault.
 * Sanitizers find memory faults.
 */
#ifndef HS_TESTS_FUZZ_TARGETS_H
#define HS_TESTS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

typedef const char *hs_fuzz_run(const uint8_t *data, size_t size);

/* Takes a frames body. It is posted to an empty match; then the stored players shoot at each
   other. */
hs_fuzz_run hs_fuzz_frames;

/* Takes a hits body. It is verified on a stage with half a second of history. The players: S (the
   shooter, at the origin), T (20 m ahead along x, walking along y), B (half way), D (dead by now),
   J (has teleported), G (with a gap), L (has left), R (second life) and K (posts bones). */
hs_fuzz_run hs_fuzz_hits;

/* Takes a ticks body. Its frames are posted to an empty match, which then checks its moves, shots
   and hits. */
hs_fuzz_run hs_fuzz_ticks;

/* Takes a moves body. Each move is checked twice on the stage. A list must be decoded in the same
   way as the equal table. */
hs_fuzz_run hs_fuzz_moves;

/* Takes a shots body. Each shot is verified twice on the stage, and once more after it was
   recorded. */
hs_fuzz_run hs_fuzz_shots;

/* Takes a ruleset. Its canonical form must give the same ruleset, and a match under it must accept
   posts. */
hs_fuzz_run hs_fuzz_rulesets;

/* Takes header lines "name:value", one per line. The first byte selects the method and path of the
   request. */
hs_fuzz_run hs_fuzz_headers;

/* Takes a map. The direct reader must give the same map as a tree of values. Casts in its world
   must agree with a test of all items. */
hs_fuzz_run hs_fuzz_maps;

/* Takes two bytes of offset, then a JSON text. The target finds the pointer of the value at the
   offset. */
hs_fuzz_run hs_fuzz_pointer;

/* Takes a byte and a text. If the byte is odd, the text is a token file. Otherwise it is a token,
   which is checked with a file of two tokens. */
hs_fuzz_run hs_fuzz_tokens;

/* Takes the saved state of a match, without the version and the layout tags. If it can be read, the
   match must be playable, and must be saved and read again. */
hs_fuzz_run hs_fuzz_snapshot;

struct hs_fuzz_target {
    const char *name; /* the name of tests/fuzz/fuzz_NAME.c and of tests/fuzz/corpus/NAME */
    hs_fuzz_run *run;
};

enum { HS_FUZZ_TARGETS = 11 };
extern const struct hs_fuzz_target hs_fuzz_targets[HS_FUZZ_TARGETS];

#endif
