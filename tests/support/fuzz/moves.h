/* What must hold of judged moves, whatever was posted. */
#ifndef HS_TESTS_FUZZ_MOVES_H
#define HS_TESTS_FUZZ_MOVES_H

#include "api/moves.h"

/*
 * Judges the moves, each at once a second time, as a retry would. NULL when every answer agrees
 * with itself and the retries with them, else a sentence about what does not.
 */
const char *hs_fuzz_judge_moves(struct hs_match *match, const struct hs_moves_request *request);

#endif
