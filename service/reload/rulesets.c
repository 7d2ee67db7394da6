#include "service/reload/rulesets.h"

static void note_fault(void *context, const char *path, const struct hs_problem *problem)
{
    struct hs_reload *reload = context;
    hs_reload_fault(reload, path, problem);
}

static void note_change(void *context, const char *name, const char *before, const char *after)
{
    struct hs_reload *reload = context;
    if (before[0] == '\0')
        hs_reload_changed(reload, "ruleset %s: new, %s", name, after);
    else
        hs_reload_changed(reload, "ruleset %s: %s -> %s", name, before, after);
}

static void *prepare(void *context, const struct hs_options *options, struct hs_reload *reload)
{
    struct hs_ruleset_store *store = context;
    struct hs_ruleset_batch *batch = NULL;
    if (options->rules[0] != '\0') {
        batch = hs_ruleset_batch_read(store, options->rules, note_fault, reload);
        if (batch == NULL)
            return NULL;
    }
    if (!hs_ruleset_store_would_have_default(store, batch))
        hs_reload_fault_text(reload, "default_ruleset", "the default ruleset does not exist: %s",
                             options->default_ruleset);
    return batch;
}

static void commit(void *context, void *prepared, struct hs_reload *reload)
{
    (void)context;
    hs_ruleset_batch_put(prepared, note_change, reload);
}

static void discard(void *context, void *prepared)
{
    (void)context;
    hs_ruleset_batch_discard(prepared);
}

struct hs_reload_step hs_ruleset_reload_step(struct hs_ruleset_store *store)
{
    return (struct hs_reload_step){
        .context = store, .prepare = prepare, .commit = commit, .discard = discard};
}
