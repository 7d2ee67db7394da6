#include "service/reload/configuration.h"

#include "service/service.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

#include <string.h>

static void log_fault(void *context, const char *source, const struct hs_problem *problem)
{
    (void)context;
    for (size_t i = 0; i < problem->count; i++)
        hs_log(HS_LOG_ERROR, "configuration fault", HS_LOG_TEXT("source", source),
               HS_LOG_TEXT("pointer", problem->errors[i].pointer),
               HS_LOG_TEXT("detail", problem->errors[i].detail));
    if (problem->count == 0)
        hs_log(HS_LOG_ERROR, "configuration fault", HS_LOG_TEXT("source", source),
               HS_LOG_TEXT("detail", problem->detail));
    if (problem->left_out > 0)
        hs_log(HS_LOG_ERROR, "configuration fault", HS_LOG_TEXT("source", source),
               HS_LOG_NUMBER("more", problem->left_out));
}

bool hs_configuration_start(struct hs_configuration *configuration,
                            const struct hs_service *service, const struct hs_options_input *input)
{
    struct hs_reload reload = {.fault = log_fault};
    *configuration = (struct hs_configuration){input,
                                               *service->options,
                                               {hs_ruleset_reload_step(service->rulesets),
                                                hs_token_reload_step(service->keyring),
                                                hs_webhook_reload_step(service->webhook)}};
    bool fine = hs_reload_run(configuration->steps, HS_CONFIGURATION_STEPS, &configuration->in_use,
                              &reload);
    hs_reload_free(&reload);
    return fine;
}

/* ---- reload ---- */

struct differences {
    struct hs_reload *reload;
    struct hs_buffer waiting; /* keys that need a restart */
};

static void add_difference(void *context, const char *key, const char *before, const char *after,
                           bool reloaded)
{
    struct differences *differences = context;
    if (reloaded) {
        hs_reload_changed(differences->reload, "%s: %s -> %s", key,
                          before[0] == '\0' ? "none" : before, after[0] == '\0' ? "none" : after);
        return;
    }
    if (differences->waiting.len > 0)
        hs_buffer_puts(&differences->waiting, ", ");
    hs_buffer_puts(&differences->waiting, key);
}

/* Reads the configuration file, the environment and the arguments again. Returns false if a source
   has a fault. */
static bool read_again(const struct hs_configuration *configuration, struct hs_options *options,
                       struct hs_reload *reload)
{
    char faults[HS_OPTIONS_FAULTS_MAX], *rest = NULL;
    if (hs_options_read(configuration->input, options, faults) == HS_OPTIONS_OK)
        return true;
    for (char *line = strtok_r(faults, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        hs_reload_fault_text(reload, "options", "%s", line);
    return false;
}

/* Sets the log level and logs the reload. The line is logged if the old level or the new level
   allows this line. */
static void set_level(struct hs_configuration *configuration, struct hs_reload *reload,
                      struct hs_buffer *waiting)
{
    enum hs_log_level level;
    bool known = hs_log_level_parse(configuration->in_use.log_level, &level);
    if (known && !hs_log_enabled(level))
        hs_log_set_level(level);
    hs_buffer_append(&reload->changed, "", 1);
    hs_buffer_append(waiting, "", 1);
    hs_log(HS_LOG_INFO, "reloaded", HS_LOG_NUMBER("changes", reload->changes),
           HS_LOG_TEXT("changed", reload->changed.failed ? "" : reload->changed.data),
           HS_LOG_TEXT("needs_restart", waiting->failed ? "" : waiting->data));
    if (known)
        hs_log_set_level(level);
}

bool hs_configuration_reload(struct hs_configuration *configuration, struct hs_metrics *metrics)
{
    struct hs_reload reload = {.fault = log_fault};
    struct differences differences = {.reload = &reload};
    struct hs_options options;
    bool known = read_again(configuration, &options, &reload);
    /* If the new options have a fault, the steps check the files that the current options name, so
       that all faults are reported. */
    bool fine = hs_reload_run(configuration->steps, HS_CONFIGURATION_STEPS,
                              known ? &options : &configuration->in_use, &reload);
    if (fine) {
        hs_options_each_difference(&configuration->in_use, &options, add_difference, &differences);
        hs_options_copy_reloaded(&configuration->in_use, &options);
        set_level(configuration, &reload, &differences.waiting);
    } else {
        hs_log(HS_LOG_ERROR, "not reloaded: the old configuration stays in use",
               HS_LOG_NUMBER("faults", reload.faults));
    }
    hs_metrics_reload(metrics, fine);
    hs_reload_free(&reload);
    hs_buffer_free(&differences.waiting);
    return fine;
}
