/* Sending the steps of a plan, and comparing what comes back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/play/scenario/expect.h"
#include "cli/play/scenario/file.h"

static bool same_as_saved(const json_t *saved, const char *name, const json_t *answer, char *fault)
{
    const json_t *before = json_object_get(saved, name);
    if (before != NULL && answer != NULL && json_equal(before, answer))
        return true;
    char *was = before != NULL ? json_dumps(before, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    char *is = answer != NULL ? json_dumps(answer, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    snprintf(fault, HS_EXPECT_FAULT_MAX, "\"%s\" was %.200s, is %.200s", name,
             was != NULL ? was : "never kept", is != NULL ? is : "not JSON");
    free(was);
    free(is);
    return false;
}

static bool play_step(const struct hs_scenario_plan *plan, const struct hs_scenario_step *step,
                      hs_scenario_send *send, void *context, json_t *saved, char *fault)
{
    const char *answer = NULL;
    size_t size = 0;
    long status = send(context, step, &answer, &size);
    if (status == 0 || answer == NULL) {
        snprintf(fault, HS_EXPECT_FAULT_MAX, "no answer");
        return false;
    }
    if (!hs_expect_answer(step->expect, status, answer, size, plan->unit, fault))
        return false;
    if (step->save == NULL && step->same_as == NULL)
        return true;
    json_t *document = json_loadb(answer, size, JSON_DECODE_ANY, NULL);
    bool same = step->same_as == NULL || same_as_saved(saved, step->same_as, document, fault);
    if (step->save != NULL && document != NULL)
        json_object_set(saved, step->save, document);
    json_decref(document);
    return same;
}

bool hs_scenario_play(const struct hs_scenario_plan *plan, hs_scenario_send *send, void *context,
                      char fault[HS_SCENARIO_ERROR_MAX])
{
    json_t *saved = json_object();
    fault[0] = '\0';
    bool good = true;
    for (size_t i = 0; good && i < plan->count; i++) {
        const struct hs_scenario_step *step = &plan->steps[i];
        char detail[HS_EXPECT_FAULT_MAX];
        good = play_step(plan, step, send, context, saved, detail);
        if (!good)
            snprintf(fault, HS_SCENARIO_ERROR_MAX, "request %zu, %s %.120s: %s", i + 1,
                     step->method, step->path, detail);
    }
    json_decref(saved);
    return good;
}
