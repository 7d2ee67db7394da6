/* Rules that hold for the answers to any moves. */
#ifndef HS_TESTS_FUZZ_MOVES_H
#define HS_TESTS_FUZZ_MOVES_H

#include "api/moves.h"

/* Checks the moves, and sends each one again at once as a retry. Returns NULL if every answer is
   consistent and every retry gets the same answer, otherwise a sentence about the fault. */
const char *hs_fuzz_judge_moves(struct hs_match *match, const struct hs_moves_request *request);

#endif
