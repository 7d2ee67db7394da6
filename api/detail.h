/*
 * Describes the result of a check in one sentence, for the engineer who integrates the service.
 * vocabulary.h contains the sentences for reasons, and detail.c contains all other sentences. The
 * numbers in a sentence are from the result. The same result gives the same bytes on every machine.
 * The functions allocate nothing and are thread-safe.
 */
#ifndef HS_API_DETAIL_H
#define HS_API_DETAIL_H

#include "validators/hit.h"
#include "validators/moves.h"

/* The maximum length of a sentence in bytes, with its terminating 0. */
enum { HS_SENTENCE_MAX = 384 };

/* The claim or the posted shot that was checked. */
struct hs_detail_claim {
    uint64_t shot;
    struct hs_str shooter, target, weapon; /* ptr NULL: the claim does not contain this name */
    bool is_shot;                          /* true: a posted shot; false: a claim */
};

/* Describes the row of a check that did not pass. */
void hs_check_detail(const struct hs_detail_claim *claim, const struct hs_hit_result *result,
                     const struct hs_check_row *row, char out[HS_SENTENCE_MAX]);

/* Describes a failed check of a move. */
void hs_move_detail(const struct hs_move_failure *failure, char out[HS_SENTENCE_MAX]);

/* Describes a jump in the frames that was not posted as a teleport or a spawn. */
void hs_jump_detail(struct hs_str name, const struct hs_frame_jump *jump,
                    char out[HS_SENTENCE_MAX]);

#endif
