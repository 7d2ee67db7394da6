/*
 * The configuration of a running service: what it was started with, what of it is in use, and how
 * it is taken anew. For the thread that takes signals; nobody else calls it.
 */
#ifndef HS_SERVICE_CONFIGURATION_H
#define HS_SERVICE_CONFIGURATION_H

#include "service/options/values.h"
#include "service/reload/sources.h"

struct hs_metrics;

struct hs_configuration {
    const struct hs_options_input *input; /* read again at a reload */
    struct hs_options in_use;             /* with what reloads took */
    struct hs_reload_step steps[HS_RELOAD_STEPS_MAX];
    size_t step_count;
};

/* `options` is what `input`, which must stay, was read to. No steps yet. */
void hs_configuration_init(struct hs_configuration *configuration, const struct hs_options *options,
                           const struct hs_options_input *input);
void hs_configuration_add(struct hs_configuration *configuration, struct hs_reload_step step);

/* Takes everything for the first time. False: something is wrong, and the log says what. */
bool hs_configuration_start(struct hs_configuration *configuration);

/*
 * Reads file, environment and arguments again and takes what can be taken while running: what the
 * steps keep, and the log level. All of it or, when anything is wrong, nothing; the log says which,
 * and what changed, and what waits for a restart.
 */
bool hs_configuration_reload(struct hs_configuration *configuration, struct hs_metrics *metrics);

#endif
