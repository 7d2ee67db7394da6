#include "cli/play/scenario/suite.h"

#include <string.h>
#include <time.h>

#include "cli/play/playback.h"
#include "cli/play/scenario/file.h"

struct sender {
    struct hs_client *client;
    struct hs_tally *tally;
    bool silent; /* the service did not answer the last request */
};

bool hs_play_scenarios_is_name(const char *path)
{
    size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

static long send_step(void *context, const struct hs_scenario_step *step, const char **answer,
                      size_t *size)
{
    struct sender *sender = context;
    struct hs_client_response response;
    unsigned waits;
    json_t *result;
    size_t i;
    sender->silent = !hs_playback_send(sender->client, step->method, step->path,
                                       (struct hs_str){step->body, step->size}, step->expect, 1.0,
                                       &waits, &response);
    *answer = response.body;
    *size = response.size;
    if (sender->silent)
        return 0;
    hs_tally_request(sender->tally, response.seconds);
    json_t *document = json_loadb(response.body, response.size, 0, NULL);
    hs_tally_frames(sender->tally, document);
    json_array_foreach(hs_tally_results(document), i, result)
    {
        hs_tally_result(sender->tally, NULL, HS_TRUTH_UNKNOWN, result);
    }
    json_decref(document);
    return response.status;
}

/* Plays one scenario. Returns false with a message in `error` if the scenario is malformed or the
   service does not answer. In this case, the run stops. */
static bool play_one(const struct hs_scenarios *scenarios, size_t index, const char *prefix,
                     struct sender *sender, FILE *complaints, char error[HS_PLAY_ERROR_MAX])
{
    char fault[HS_SCENARIO_ERROR_MAX];
    struct hs_scenario_info info = hs_scenarios_info(scenarios, index);
    if (info.requires != NULL) {
        fprintf(complaints, "scenario %s skipped: it needs hindsight serve %s\n", info.row,
                info.requires);
        return true;
    }
    struct hs_scenario_plan *plan =
        hs_scenario_plan_create(scenarios, index, &hs_references[0], prefix, fault);
    if (plan == NULL) {
        snprintf(error, HS_PLAY_ERROR_MAX, "scenario %s: %.400s", info.row, fault);
        return false;
    }
    bool held = hs_scenario_play(plan, send_step, sender, fault);
    hs_scenario_plan_destroy(plan);
    if (sender->silent) {
        snprintf(error, HS_PLAY_ERROR_MAX, "no answer from %s: %s", hs_client_url(sender->client),
                 hs_client_error(sender->client));
        return false;
    }
    hs_tally_expectation(sender->tally, held);
    if (!held)
        fprintf(complaints, "scenario %s (%s): %s\n", info.row, info.title, fault);
    return true;
}

bool hs_play_scenarios(const char *path, struct hs_client *client, struct hs_tally *tally,
                       FILE *complaints, char error[HS_PLAY_ERROR_MAX])
{
    char fault[HS_SCENARIO_ERROR_MAX], prefix[32];
    struct timespec now;
    struct hs_scenarios *scenarios = hs_scenarios_load(path, fault);
    if (scenarios == NULL) {
        snprintf(error, HS_PLAY_ERROR_MAX, "%.500s", fault);
        return false;
    }
    /* Matches from an earlier run may still be open, so each run uses new names. */
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(prefix, sizeof(prefix), "play-%llx",
             (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000);
    struct sender sender = {.client = client, .tally = tally};
    bool good = true;
    for (size_t i = 0; good && i < hs_scenarios_count(scenarios); i++)
        good = play_one(scenarios, i, prefix, &sender, complaints, error);
    hs_scenarios_destroy(scenarios);
    return good;
}
