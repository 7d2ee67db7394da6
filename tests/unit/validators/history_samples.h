/* A history of 100 samples, and samples for it. open_history and close_history are the fixture. */
#ifndef HS_TESTS_HISTORY_SAMPLES_H
#define HS_TESTS_HISTORY_SAMPLES_H

#include <check.h>

#include "tests/support/play/stage.h"
#include "validators/history/ring.h"

static const struct hs_history_rules rules = {.keep_us = HS_MS(1000),
                                              .max_gap_us = HS_MS(150),
                                              .max_forward_us = HS_MS(5000),
                                              .world_bound = 1e5,
                                              .max_speed = 200};
static const struct hs_state plain = {
    .damage_scale = 1, .ammo = -1, .alive = true, .is_solid = true};

static struct hs_history *history;

static inline void open_history(void)
{
    history = hs_history_create(&(struct hs_history_limits){.samples = 100});
    ck_assert_ptr_nonnull(history);
}

static inline void close_history(void)
{
    hs_history_destroy(history);
}

static inline struct hs_sample sample_at(int64_t time_us, double x)
{
    return (struct hs_sample){.time_us = time_us,
                              .position = {x, 0, 0},
                              .rotation = {0, 0, 0, 1},
                              .rtt_us = -1,
                              .interp_us = -1};
}

static inline enum hs_insert_result put(int64_t time_us, double x)
{
    struct hs_sample sample = sample_at(time_us, x);
    return hs_history_insert(history, &rules, &sample, &plain, NULL);
}

static inline enum hs_insert_result put_event(int64_t time_us, double x, enum hs_sample_event event)
{
    struct hs_sample sample = sample_at(time_us, x);
    sample.event = (uint8_t)event;
    return hs_history_insert(history, &rules, &sample, &plain, NULL);
}

static inline bool jumped(uint32_t i)
{
    return hs_history_at(history, i)->jumped;
}

#endif
