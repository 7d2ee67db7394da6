/* `hindsight check-config`: finds the faults of a configuration before a service uses it. */
#include "api/rulesets/document.h"
#include "cli/command.h"
#include "service/delivery/signature.h"
#include "service/http/tls.h"
#include "service/options/values.h"
#include "service/reload/steps.h"
#include "service/state/rulesets.h"
#include "service/system/memory_limit.h"
#include "service/system/secret.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static const char usage[] =
    "usage: hindsight check-config FILE [OPTION]...\n\n"
    "Checks a configuration of `hindsight serve` and each ruleset in the directory that it names.\n"
    "FILE, the environment and the options of `hindsight serve` are combined. Prints every value\n"
    "with its source, and then ok. If there are problems, prints a line for each problem, with\n"
    "its JSON pointer. A FILE that contains a member of a ruleset is checked as a ruleset.\n"
    "Warnings about rulesets go to standard error and do not change the exit code.\n";

static void put_problem(void *context, const char *source, const struct hs_problem *problem)
{
    (void)context;
    for (size_t i = 0; i < problem->count; i++)
        printf("%s: %s: %s\n", source,
               problem->errors[i].pointer[0] == '\0' ? "(root)" : problem->errors[i].pointer,
               problem->errors[i].detail);
    if (problem->count == 0)
        printf("%s: %s\n", source, problem->detail);
    if (problem->left_out > 0)
        printf("%s: and %zu more\n", source, problem->left_out);
}

/* Prints a warning to standard error. Scripts may compare standard output with an expected text, so
   warnings must not appear there. */
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

/* Loads the rulesets and tokens as the service does at startup, reports faults, and frees the
   rulesets and tokens. */
static bool check_steps(const struct hs_options *options)
{
    char error[256] = "";
    struct hs_reload reload = {.fault = put_problem};
    struct hs_ruleset_store *store = hs_ruleset_store_create(
        options->default_ruleset, options->max_rulesets,
        hs_memory_part(options->ruleset_bytes, options->memory, HS_RULESET_PART), error);
    if (store == NULL) {
        printf("%s\n", error);
        return false;
    }
    hs_ruleset_store_limit_work(store, options->request_work);
    struct hs_keyring *keyring = options->token_file[0] != '\0' ? hs_keyring_create(NULL) : NULL;
    const struct hs_reload_step steps[] = {hs_ruleset_reload_step(store),
                                           hs_token_reload_step(keyring)};
    bool fine = hs_reload_run(steps, sizeof steps / sizeof steps[0], options, &reload);
    if (fine)
        hs_ruleset_store_each(store, warn_of_file, (void *)options);
    hs_reload_free(&reload);
    hs_keyring_destroy(keyring);
    hs_ruleset_store_destroy(store);
    return fine;
}

static bool check_tls(const struct hs_options *options)
{
    char error[256];
    struct hs_tls tls = {0};
    /* If only the key or only the certificate is set, hs_options_read has already reported this
       fault. */
    bool fine = options->tls_cert[0] == '\0' || options->tls_key[0] == '\0' ||
                hs_tls_load(options->tls_cert, options->tls_key, &tls, error);
    hs_tls_free(&tls);
    if (!fine)
        printf("%s\n", error);
    return fine;
}

/* Checks that the file at `path` contains a secret of at least `min` bytes. `user` is the value of
   the option that needs the secret. If `path` or `user` is empty, returns true without a check. */
static bool check_secret(const char *user, const char *path, size_t min)
{
    char error[256];
    if (user[0] == '\0' || path[0] == '\0')
        return true;
    struct hs_secret *secret = hs_secret_read(path, min, error);
    bool fine = secret != NULL;
    hs_secret_free(secret);
    if (!fine)
        printf("%s: %s\n", path, error);
    return fine;
}

/* Returns whether a document is a ruleset. No option has the same name as a member of a ruleset. So
   a document with one member of a ruleset is a ruleset. */
static bool is_ruleset(const char *path)
{
    json_t *root = json_load_file(path, 0, NULL);
    bool is = hs_ruleset_has_member(root);
    json_decref(root);
    return is;
}

static bool check_ruleset(const char *path)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    struct hs_ruleset *ruleset = hs_ruleset_from_file(path, (struct hs_str){0}, &problem);
    struct hs_str name = ruleset != NULL ? hs_name_str(&ruleset->name) : HS_STR("");
    if (hs_ruleset_name_is_reserved(name))
        hs_problem_add(&problem, "/name", HS_RULESET_RESERVED_TEXT, (int)name.len, name.ptr);
    struct hs_options options;
    hs_options_default(&options);
    if (ruleset != NULL)
        hs_ruleset_check_work(ruleset, options.request_work, &problem);
    bool fine = problem.code == HS_PROBLEM_NONE;
    if (fine) {
        printf("ruleset %s\n", ruleset->name.text);
        hs_ruleset_warn(ruleset, put_warning, (void *)path);
    } else
        put_problem(NULL, path, &problem);
    hs_ruleset_destroy(ruleset);
    return fine;
}

static bool check_configuration(int argc, char **argv)
{
    struct hs_options options;
    char faults[HS_OPTIONS_FAULTS_MAX], config[] = "--config";
    char **arguments = calloc((size_t)argc + 2, sizeof *arguments);
    if (arguments == NULL) {
        puts("out of memory");
        return false;
    }
    arguments[0] = argv[0];
    arguments[1] = config;
    memcpy(arguments + 2, argv + 1, ((size_t)argc - 1) * sizeof *arguments);
    struct hs_options_input input = {argc + 1, arguments, environ};
    enum hs_options_result result = hs_options_read(&input, &options, faults);
    free(arguments);
    if (result == HS_OPTIONS_WRONG)
        printf("%s\n", faults);
    /* Continue after a fault, so that one run reports all faults. */
    bool fine = check_steps(&options);
    fine = check_tls(&options) && fine;
    fine =
        check_secret(options.webhook, options.webhook_secret_file, HS_WEBHOOK_SECRET_MIN) && fine;
    fine = check_secret(options.state_redis, options.state_redis_password_file, 1) && fine &&
           result == HS_OPTIONS_OK;
    if (fine)
        hs_options_write_effective(&options, stdout);
    char *const *environment = environ;
    for (const char *stray; (stray = hs_options_stray_variable(&environment)) != NULL;)
        printf("ignored: %.*s is not an option\n", (int)strcspn(stray, "="), stray);
    return fine;
}

int hs_check_config_main(int argc, char **argv)
{
    bool wrong = argc < 2 || argv[1][0] == '-';
    for (int at = 1; at < argc; at++) {
        if (strcmp(argv[at], "--help") == 0) {
            fputs(usage, stdout);
            return HS_EXIT_FINE;
        }
        wrong |= strncmp(argv[at], "--config", 8) == 0;
    }
    if (wrong) {
        fputs(usage, stderr);
        return HS_EXIT_USAGE;
    }
    bool fine = is_ruleset(argv[1]) ? check_ruleset(argv[1]) : check_configuration(argc, argv);
    if (fine)
        puts("ok");
    return fine ? HS_EXIT_FINE : HS_EXIT_FAILED;
}
