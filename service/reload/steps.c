#include "service/reload/steps.h"

#include "service/system/secret.h"

/* ---- rulesets ---- */

static void report_fault(void *context, const char *path, const struct hs_problem *problem)
{
    if (problem->code == HS_PROBLEM_FORBIDDEN)
        hs_reload_changed(context, "%s: skipped, because %s", path, problem->detail);
    else
        hs_reload_fault(context, path, problem);
}

static void report_change(void *context, const char *name, const char *before, const char *after)
{
    if (before[0] == '\0')
        hs_reload_changed(context, "ruleset %s: new, %s", name, after);
    else
        hs_reload_changed(context, "ruleset %s: %s -> %s", name, before, after);
}

static void *prepare_rulesets(void *context, const struct hs_options *options,
                              struct hs_reload *reload)
{
    struct hs_ruleset_store *store = context;
    struct hs_ruleset_batch *batch = NULL;
    if (options->rules[0] != '\0') {
        batch = hs_ruleset_batch_read(store, options->rules, report_fault, reload);
        if (batch == NULL)
            return NULL;
    }
    if (!hs_ruleset_store_would_have_default(store, batch))
        hs_reload_fault_text(reload, "default_ruleset", "the default ruleset does not exist: %s",
                             options->default_ruleset);
    return batch;
}

static void commit_rulesets(void *context, void *prepared, struct hs_reload *reload)
{
    (void)context;
    hs_ruleset_batch_put(prepared, report_change, reload);
}

static void discard_rulesets(void *context, void *prepared)
{
    (void)context;
    hs_ruleset_batch_discard(prepared);
}

struct hs_reload_step hs_ruleset_reload_step(struct hs_ruleset_store *store)
{
    return (struct hs_reload_step){store, prepare_rulesets, commit_rulesets, discard_rulesets};
}

/* ---- tokens ---- */

static void *prepare_tokens(void *context, const struct hs_options *options,
                            struct hs_reload *reload)
{
    bool wanted = options->token_file[0] != '\0';
    if (wanted != (context != NULL)) {
        hs_reload_fault_text(reload, "token_file", "%s",
                             wanted ? "restart the service to require tokens"
                                    : "restart the service to stop requiring tokens");
        return NULL;
    }
    if (!wanted)
        return NULL;
    struct hs_problem problem;
    hs_problem_init(&problem);
    struct hs_tokens *tokens = hs_tokens_load(options->token_file, &problem);
    if (tokens == NULL)
        hs_reload_fault(reload, options->token_file, &problem);
    return tokens;
}

static void commit_tokens(void *context, void *prepared, struct hs_reload *reload)
{
    struct hs_keyring *keyring = context;
    size_t before = hs_keyring_count(keyring), after = hs_tokens_count(prepared);
    hs_tokens_swap(keyring, prepared);
    if (before != after)
        hs_reload_changed(reload, "tokens: %zu -> %zu", before, after);
}

static void discard_tokens(void *context, void *prepared)
{
    (void)context;
    hs_tokens_destroy(prepared);
}

struct hs_reload_step hs_token_reload_step(struct hs_keyring *keyring)
{
    return (struct hs_reload_step){keyring, prepare_tokens, commit_tokens, discard_tokens};
}

/* ---- the secret of the webhook ---- */

static void *prepare_secret(void *context, const struct hs_options *options,
                            struct hs_reload *reload)
{
    char error[256];
    if (context == NULL || options->webhook_secret_file[0] == '\0')
        return NULL;
    struct hs_secret *secret =
        hs_secret_read(options->webhook_secret_file, HS_WEBHOOK_SECRET_MIN, error);
    if (secret == NULL)
        hs_reload_fault_text(reload, options->webhook_secret_file, "%s", error);
    return secret;
}

static void commit_secret(void *context, void *prepared, struct hs_reload *reload)
{
    if (hs_webhook_set_secret(context, prepared))
        hs_reload_changed(reload, "the secret of the webhook");
}

static void discard_secret(void *context, void *prepared)
{
    (void)context;
    hs_secret_free(prepared);
}

struct hs_reload_step hs_webhook_reload_step(struct hs_webhook *webhook)
{
    return (struct hs_reload_step){webhook, prepare_secret, commit_secret, discard_secret};
}
