/* Reviews: the opinions of analysts on stored verdicts. */
#ifndef HS_API_REVIEWS_H
#define HS_API_REVIEWS_H

#include "api/json/table.h"
#include "api/json/writing.h"

/* X(id, name): the analyst's opinion on the claim. */
#define HS_REVIEW_LABELS(X)                                                                        \
    X(CHEAT, "cheat") /* the player cheats */                                                      \
    X(LEGIT, "legit") /* the claim was honest */                                                   \
    X(LAG, "lag")     /* the claim was honest, but the connection was bad */                       \
    X(BUG, "bug")     /* a fault of the game or of its integration */                              \
    X(UNSURE, "unsure")

#define X(id, name) HS_REVIEW_##id,
enum hs_review_label { HS_REVIEW_LABELS(X) HS_REVIEW_LABEL_COUNT };
#undef X

extern const struct hs_vocabulary hs_review_labels;

enum { HS_REVIEW_NOTE_MAX = 2000, HS_REVIEW_BY_MAX = 64 }; /* maximum lengths in bytes */

struct hs_review {
    enum hs_review_label label;
    struct hs_str note, by; /* ptr NULL: absent */
    int64_t at_us;          /* time of the review by the wall clock, in microseconds */
};

/* Decodes the body of POST /v1/verdicts/{verdict}/reviews. The texts are borrowed from `root`. */
void hs_review_decode(struct hs_reader *reader, const json_t *root, struct hs_review *out);

void hs_review_encode(struct hs_writer *writer, const struct hs_review *review);

#endif
