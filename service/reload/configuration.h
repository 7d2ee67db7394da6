/*
 * The configuration of a running service: its sources, the values in use, and the reload. Only the
 * thread that handles signals may use it.
 */
#ifndef HS_SERVICE_CONFIGURATION_H
#define HS_SERVICE_CONFIGURATION_H

#include "service/options/values.h"
#include "service/reload/steps.h"

struct hs_metrics;
struct hs_service;

enum { HS_CONFIGURATION_STEPS = 3 };

struct hs_configuration {
    const struct hs_options_input *input; /* read again at a reload */
    struct hs_options in_use;             /* including reloaded values */
    struct hs_reload_step steps[HS_CONFIGURATION_STEPS];
};

/* Applies the options of the service for the first time. The options were read from `input`, which
   must stay valid. Logs each fault; returns false if there is a fault. */
bool hs_configuration_start(struct hs_configuration *configuration,
                            const struct hs_service *service, const struct hs_options_input *input);

/*
 * Reads file, environment and arguments again. Runs the steps and sets the log level; other options
 * need a restart. If there is a fault, nothing changes. Logs the faults, the changes, and the
 * options that need a restart.
 */
bool hs_configuration_reload(struct hs_configuration *configuration, struct hs_metrics *metrics);

#endif
