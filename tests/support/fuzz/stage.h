/* The match for fuzzed claims, in metres. Not thread-safe. */
#ifndef HS_TESTS_FUZZ_STAGE_H
#define HS_TESTS_FUZZ_STAGE_H

#include "validators/match.h"

extern const struct hs_match_limits hs_fuzz_limits;

/* Returns the built-in ruleset in metres. It is made once and lives until the process ends. */
const struct hs_ruleset *hs_fuzz_ruleset(void);

/* Returns the stage of hs_fuzz_hits (targets.h). It is made once and lives until the process
   ends. */
const struct hs_match *hs_fuzz_stage(void);

/* Posts the stage's frames to a match under any ruleset. The match refuses entries that do not fit
   the ruleset. Returns false if memory runs out. */
bool hs_fuzz_stage_play(struct hs_match *match);

#endif
