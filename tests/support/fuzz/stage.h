/* The match in which fuzzed claims are judged, in metres. Not thread-safe. */
#ifndef HS_TESTS_FUZZ_STAGE_H
#define HS_TESTS_FUZZ_STAGE_H

#include "validators/match.h"

extern const struct hs_match_limits hs_fuzz_limits;

/* The built-in ruleset in metres; made once, lives to the end of the process. */
const struct hs_ruleset *hs_fuzz_ruleset(void);

/* The stage of hs_fuzz_hits (targets.h); made once, lives to the end of the process. */
const struct hs_match *hs_fuzz_stage(void);

/* Posts the stage's frames to a match with any ruleset; what does not suit it is refused there.
   False: out of memory. */
bool hs_fuzz_stage_play(struct hs_match *match);

#endif
