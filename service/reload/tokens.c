#include "service/reload/tokens.h"

static struct hs_tokens *load(const struct hs_options *options, struct hs_reload *reload)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    struct hs_tokens *tokens = hs_tokens_load(options->token_file, &problem);
    if (tokens == NULL)
        hs_reload_fault(reload, options->token_file, &problem);
    return tokens;
}

static void *prepare(void *context, const struct hs_options *options, struct hs_reload *reload)
{
    bool wanted = options->token_file[0] != '\0';
    if (wanted != (context != NULL)) {
        hs_reload_fault_text(reload, "token_file", "%s",
                             wanted ? "restart the service to require tokens"
                                    : "restart the service to stop requiring tokens");
        return NULL;
    }
    return wanted ? load(options, reload) : NULL;
}

static void commit(void *context, void *prepared, struct hs_reload *reload)
{
    struct hs_keyring *keyring = context;
    size_t before = hs_keyring_count(keyring), after = hs_tokens_count(prepared);
    hs_tokens_swap(keyring, prepared);
    if (before != after)
        hs_reload_changed(reload, "tokens: %zu -> %zu", before, after);
}

static void discard(void *context, void *prepared)
{
    (void)context;
    hs_tokens_destroy(prepared);
}

struct hs_reload_step hs_token_reload_step(struct hs_keyring *keyring)
{
    return (struct hs_reload_step){
        .context = keyring, .prepare = prepare, .commit = commit, .discard = discard};
}

static void *prepare_check(void *context, const struct hs_options *options,
                           struct hs_reload *reload)
{
    (void)context;
    return options->token_file[0] != '\0' ? load(options, reload) : NULL;
}

static void commit_check(void *context, void *prepared, struct hs_reload *reload)
{
    (void)reload;
    discard(context, prepared);
}

struct hs_reload_step hs_token_check_step(void)
{
    return (struct hs_reload_step){
        .prepare = prepare_check, .commit = commit_check, .discard = discard};
}
