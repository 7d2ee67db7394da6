/* What must hold of judged shots, whatever was posted. */
#ifndef HS_TESTS_FUZZ_SHOTS_H
#define HS_TESTS_FUZZ_SHOTS_H

#include "api/ticks.h"

/*
 * Judges the shots and books each; what was booked is a retry when it comes again. NULL when every
 * answer agrees with itself and the retries with them, else a sentence about what does not.
 */
const char *hs_fuzz_judge_shots(struct hs_match *match, const struct hs_ticks_request *request);

#endif
