#include "cli/check_config.h"

#include "api/rulesets/document.h"
#include "service/http/tls.h"
#include "service/options/values.h"
#include "service/reload/steps.h"
#include "service/state/rulesets.h"
#include "service/system/memory_limit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void put_problem(void *context, const char *source, const struct hs_problem *problem)
{
    FILE *to = context;
    for (size_t i = 0; i < problem->count; i++)
        fprintf(to, "%s: %s: %s\n", source,
                problem->errors[i].pointer[0] == '\0' ? "(root)" : problem->errors[i].pointer,
                problem->errors[i].detail);
    if (problem->count == 0)
        fprintf(to, "%s: %s\n", source, problem->detail);
    if (problem->left_out > 0)
        fprintf(to, "%s: and %zu more\n", source, problem->left_out);
}

/* Warnings go beside the output, which a script may compare, and change no exit code. */
static void put_warning(void *context, const char *pointer, const char *text)
{
    fprintf(stderr, "%s: warning: %s: %s\n", (const char *)context, pointer, text);
}

static void warn_of_file(void *context, const struct hs_ruleset_entry *entry)
{
    const struct hs_options *options = context;
    if (!entry->is_from_file)
        return;
    char path[sizeof options->rules + HS_NAME_MAX + sizeof "/.json"];
    snprintf(path, sizeof path, "%s/%s.json", options->rules, entry->ruleset->name.text);
    hs_ruleset_warn(entry->ruleset, put_warning, path);
}

/* Does what a start would, and lets go of it. */
static bool check_steps(const struct hs_options *options, FILE *to)
{
    char error[256] = "";
    struct hs_reload reload = {.fault = put_problem, .context = to};
    struct hs_ruleset_store *store = hs_ruleset_store_create(
        options->default_ruleset, options->max_rulesets,
        hs_memory_part(options->ruleset_bytes, options->memory, HS_RULESET_PART), error);
    if (store == NULL) {
        fprintf(to, "%s\n", error);
        return false;
    }
    hs_ruleset_store_limit_work(store, options->request_work);
    struct hs_keyring *keyring = options->token_file[0] != '\0' ? hs_keyring_create(NULL) : NULL;
    const struct hs_reload_step steps[] = {hs_ruleset_reload_step(store),
                                           hs_token_reload_step(keyring)};
    bool fine = hs_reload_run(steps, sizeof steps / sizeof steps[0], options, true, &reload);
    if (fine)
        hs_ruleset_store_each(store, warn_of_file, (void *)options);
    hs_reload_free(&reload);
    hs_keyring_destroy(keyring);
    hs_ruleset_store_destroy(store);
    return fine;
}

static bool check_tls(const struct hs_options *options, FILE *to)
{
    char error[256];
    struct hs_tls tls = {0};
    /* One without the other was told with the options. */
    bool fine = options->tls_cert[0] == '\0' || options->tls_key[0] == '\0' ||
                hs_tls_load(options->tls_cert, options->tls_key, &tls, error);
    hs_tls_free(&tls);
    if (!fine)
        fprintf(to, "%s\n", error);
    return fine;
}

/* Rulesets have a name; no option is called that. */
static bool is_ruleset(const char *path)
{
    json_t *root = json_load_file(path, 0, NULL);
    bool named = json_object_get(root, "name") != NULL;
    json_decref(root);
    return named;
}

static bool check_ruleset(const char *path, FILE *to)
{
    struct hs_problem *problem = malloc(sizeof *problem);
    if (problem == NULL) {
        fputs("out of memory\n", to);
        return false;
    }
    hs_problem_init(problem);
    struct hs_ruleset *ruleset = hs_ruleset_from_file(path, (struct hs_str){NULL, 0}, problem);
    struct hs_str name = ruleset != NULL ? hs_name_str(&ruleset->name) : HS_STR("");
    if (hs_ruleset_name_is_reserved(name))
        hs_problem_add(problem, "/name", HS_RULESET_RESERVED_TEXT, (int)name.len, name.ptr);
    struct hs_options options;
    hs_options_default(&options);
    if (ruleset != NULL)
        hs_ruleset_check_work(ruleset, options.request_work, problem);
    bool fine = problem->code == HS_PROBLEM_NONE;
    if (fine) {
        fprintf(to, "ruleset %s\n", ruleset->name.text);
        hs_ruleset_warn(ruleset, put_warning, (void *)path);
    } else
        put_problem(to, path, problem);
    hs_ruleset_destroy(ruleset);
    free(problem);
    return fine;
}

static bool check_configuration(int argc, char *const *argv, char *const *environment, FILE *to)
{
    struct hs_options options;
    char faults[HS_OPTIONS_FAULTS_MAX], config[] = "--config";
    char **arguments = calloc((size_t)argc + 2, sizeof *arguments);
    if (arguments == NULL) {
        fputs("out of memory\n", to);
        return false;
    }
    arguments[0] = argv[0];
    arguments[1] = config;
    memcpy(arguments + 2, argv + 1, ((size_t)argc - 1) * sizeof *arguments);
    struct hs_options_input input = {argc + 1, arguments, environment};
    enum hs_options_result result = hs_options_read(&input, &options, faults);
    free(arguments);
    if (result == HS_OPTIONS_WRONG)
        fprintf(to, "%s\n", faults);
    /* What could be read is looked at all the same, so that everything is told at once. */
    bool fine = check_steps(&options, to);
    fine = check_tls(&options, to) && fine && result == HS_OPTIONS_OK;
    if (fine)
        hs_options_write_effective(&options, to);
    for (const char *stray; (stray = hs_options_stray_variable(&environment)) != NULL;)
        fprintf(to, "ignored: %.*s is not an option\n", (int)strcspn(stray, "="), stray);
    return fine;
}

int hs_check_config(int argc, char *const *argv, char *const *environment, FILE *to)
{
    bool fine = is_ruleset(argv[1]) ? check_ruleset(argv[1], to)
                                    : check_configuration(argc, argv, environment, to);
    if (fine)
        fputs("ok\n", to);
    return fine ? 0 : 1;
}
