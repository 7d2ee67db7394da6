/* Rules that hold for the answers to any moves. */
#ifndef HS_TESTS_FUZZ_MOVES_H
#define HS_TESTS_FUZZ_MOVES_H

#include "api/moves.h"

/* Checks the moves, and sends each at once again as a retry. NULL: every answer is consistent, and
   the retries are equal. Otherwise a sentence about the fault. */
const char *hs_fuzz_judge_moves(struct hs_match *match, const struct hs_moves_request *request);

#endif
