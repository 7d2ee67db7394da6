/* Rules that hold for the answers to any shots. */
#ifndef HS_TESTS_FUZZ_SHOTS_H
#define HS_TESTS_FUZZ_SHOTS_H

#include "api/ticks.h"

/* Verifies and records the shots. Then sends each recorded shot again as a retry. Returns NULL if
   every answer is consistent and every retry gets the same answer, otherwise a sentence about the
   fault. */
const char *hs_fuzz_judge_shots(struct hs_match *match, const struct hs_ticks_request *request);

#endif
