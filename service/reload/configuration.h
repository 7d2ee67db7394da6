/*
 * The configuration of a running service: its sources, the values in use, and the reload. Only the
 * main thread, which handles the signals, may use this module.
 */
#ifndef HS_SERVICE_CONFIGURATION_H
#define HS_SERVICE_CONFIGURATION_H

#include "service/options/values.h"
#include "service/reload/steps.h"

struct hs_metrics;
struct hs_service;

enum { HS_CONFIGURATION_STEPS = 3 };

struct hs_configuration {
    const struct hs_options_input *input; /* a reload reads the input again */
    struct hs_options in_use;             /* the options in effect, with reloaded values */
    struct hs_reload_step steps[HS_CONFIGURATION_STEPS];
};

/* Applies the service's options at the start. `input` is the source of these options and must stay
   valid. Logs every fault. Returns false if there was a fault. */
bool hs_configuration_start(struct hs_configuration *configuration,
                            const struct hs_service *service, const struct hs_options_input *input);

/*
 * Reads the configuration file, the environment and the arguments again. Runs the steps and sets
 * the log level; other options need a restart. If there is a fault, nothing changes and the result
 * is false. Logs the faults, the changes, and the changed options that need a restart.
 */
bool hs_configuration_reload(struct hs_configuration *configuration, struct hs_metrics *metrics);

#endif
