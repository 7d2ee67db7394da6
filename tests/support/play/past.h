/* The history of one player for rewind tests, without a match: the rules of the stage, and samples
   that tests add. Faults fail the test. */
#ifndef HS_TESTS_PAST_H
#define HS_TESTS_PAST_H

#include "tests/support/play/stage.h"
#include "validators/history/rewind.h"

/* The tolerance for places that were computed by hand: single precision at a few metres from the
   root. */
#define HS_PAST_NEAR 1e-6

struct hs_past {
    struct hs_ruleset *rules;
    struct hs_history *history; /* capacity of 64 samples */
    struct hs_state state;      /* fields of the next samples: alive, all others zero */
};

void hs_past_open(struct hs_past *past);
void hs_past_close(struct hs_past *past);

/* The first returns a sample at a place, without a turn. The second turns a sample about z. */
struct hs_sample hs_past_at(int64_t time_us, double x, double y, double z);
void hs_past_yaw(struct hs_sample *sample, double degrees);

/* Adds a sample. `posted_pose` may be NULL. */
void hs_past_put(struct hs_past *past, struct hs_sample sample,
                 const struct hs_posted_pose *posted_pose);

/* Return the pose at a time that must have one. The body is valid until the next call. */
struct hs_bracket hs_past_find(const struct hs_past *past, int64_t time_us);
struct hs_vec hs_past_eye(const struct hs_past *past, int64_t time_us);
struct hs_body *hs_past_body(const struct hs_past *past, int64_t time_us);

void hs_expect_vec(struct hs_vec got, double x, double y, double z, double tolerance);

#endif
