/*
 * Describes the finding of a check in one sentence, for the person who integrates the service. The
 * sentences for reasons are in vocabulary.h, and all other sentences are in detail.c. The numbers
 * come from the finding. The same finding gives the same bytes on every machine. The functions
 * allocate nothing and are thread-safe.
 */
#ifndef HS_API_DETAIL_H
#define HS_API_DETAIL_H

#include "validators/hit.h"
#include "validators/moves.h"

/* The maximum length of a sentence in bytes, with its terminating 0. */
enum { HS_SENTENCE_MAX = 384 };

/* The claim or posted shot to which a row belongs. */
struct hs_detail_claim {
    uint64_t shot;
    struct hs_str shooter, target, weapon; /* ptr NULL: the claim does not name the player or
                                              weapon */
    bool is_shot;                          /* a posted shot, not a claim */
};

/* Describes a row whose check did not pass. */
void hs_check_detail(const struct hs_detail_claim *claim, const struct hs_hit_result *result,
                     const struct hs_check_row *row, char out[HS_SENTENCE_MAX]);

/* Describes a failed check of a move. */
void hs_move_detail(const struct hs_move_failure *failure, char out[HS_SENTENCE_MAX]);

/* Describes a jump that the server did not announce as a teleport or spawn. */
void hs_jump_detail(struct hs_str name, const struct hs_frame_jump *jump,
                    char out[HS_SENTENCE_MAX]);

#endif
