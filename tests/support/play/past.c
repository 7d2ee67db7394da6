#include "tests/support/play/past.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "validators/geometry/angle.h"

void hs_past_open(struct hs_past *past)
{
    past->rules = hs_stage_ruleset();
    past->history = hs_history_create(&(struct hs_history_limits){.samples = 64});
    past->state = (struct hs_state){.damage_scale = 1, .ammo = -1, .alive = true, .is_solid = true};
    ck_assert_ptr_nonnull(past->history);
}

void hs_past_close(struct hs_past *past)
{
    hs_history_destroy(past->history);
    hs_ruleset_destroy(past->rules);
}

struct hs_sample hs_past_at(int64_t time_us, double x, double y, double z)
{
    return (struct hs_sample){.time_us = time_us, .position = {x, y, z}, .rotation = {0, 0, 0, 1}};
}

void hs_past_yaw(struct hs_sample *sample, double degrees)
{
    sample->rotation[2] = (float)sin(degrees * HS_PI / 360);
    sample->rotation[3] = (float)cos(degrees * HS_PI / 360);
}

void hs_past_put(struct hs_past *past, struct hs_sample sample,
                 const struct hs_posted_pose *posted_pose)
{
    ck_assert_int_eq(
        hs_history_insert(past->history, &past->rules->history, &sample, &past->state, posted_pose),
        HS_INSERT_STORED);
}

struct hs_bracket hs_past_find(const struct hs_past *past, int64_t time_us)
{
    struct hs_bracket bracket;
    memset(&bracket, 0xA5, sizeof bracket);
    ck_assert_int_eq(hs_rewind_find(past->history, past->rules, time_us, &bracket), HS_REWIND_OK);
    return bracket;
}

struct hs_vec hs_past_eye(const struct hs_past *past, int64_t time_us)
{
    struct hs_bracket bracket = hs_past_find(past, time_us);
    return hs_rewind_eye(past->history, past->rules, &bracket);
}

struct hs_body *hs_past_body(const struct hs_past *past, int64_t time_us)
{
    static struct hs_body out;
    struct hs_bracket bracket = hs_past_find(past, time_us);
    memset(&out, 0xA5, sizeof out);
    hs_rewind_body(past->history, past->rules, &bracket, &out);
    return &out;
}

void hs_expect_vec(struct hs_vec got, double x, double y, double z, double tolerance)
{
    ck_assert_msg(hs_vec_distance(got, (struct hs_vec){x, y, z}) <= tolerance,
                  "%.9g %.9g %.9g instead of %.9g %.9g %.9g", got.x, got.y, got.z, x, y, z);
}
