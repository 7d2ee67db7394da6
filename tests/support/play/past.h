/*
 * One player's history to rewind in, without a match around it: the rules of the stage, samples put
 * in by hand, and what is found at a time. What cannot fail in a sane test fails it.
 */
#ifndef HS_TESTS_PAST_H
#define HS_TESTS_PAST_H

#include "tests/support/play/stage.h"
#include "validators/history/rewind.h"

/* Of places worked out by hand: what single precision leaves at a few metres from the root. */
#define HS_PAST_NEAR 1e-6

struct hs_past {
    struct hs_ruleset *rules;
    struct hs_history *history; /* room for 64 samples */
    struct hs_state state;      /* of the samples to come: alive, else zero */
};

void hs_past_open(struct hs_past *past);
void hs_past_close(struct hs_past *past);

/* A sample that says where, not turned; and one turned about z. */
struct hs_sample hs_past_at(int64_t time_us, double x, double y, double z);
void hs_past_yaw(struct hs_sample *sample, double degrees);

/* `posted_pose` may be NULL. */
void hs_past_put(struct hs_past *past, struct hs_sample sample,
                 const struct hs_posted_pose *posted_pose);

/* At a time when there is a pose. The body holds until the next call. */
struct hs_bracket hs_past_find(const struct hs_past *past, int64_t time_us);
struct hs_vec hs_past_eye(const struct hs_past *past, int64_t time_us);
struct hs_body *hs_past_body(const struct hs_past *past, int64_t time_us);

void hs_expect_vec(struct hs_vec got, double x, double y, double z, double tolerance);

#endif
