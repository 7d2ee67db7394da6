#include "service/check_config.h"

#include "service/options.h"
#include "service/ruleset_store.h"
#include "service/tokens.h"

/* Where the lines go, and whether there were any. */
struct report {
    FILE *to;
    size_t lines;
};

static void put_problem(void *context, const char *path, const struct hs_problem *problem)
{
    struct report *report = context;
    for (size_t i = 0; i < problem->count; i++)
        fprintf(report->to, "%s: %s: %s\n", path,
                problem->errors[i].pointer[0] == '\0' ? "(root)" : problem->errors[i].pointer,
                problem->errors[i].detail);
    if (problem->count == 0)
        fprintf(report->to, "%s: %s\n", path, problem->detail);
    if (problem->left_out > 0)
        fprintf(report->to, "%s: and %zu more\n", path, problem->left_out);
    report->lines++;
}

static void check_rulesets(const char *path, const struct hs_options *options,
                           struct report *report)
{
    char error[256] = "";
    struct hs_ruleset_store *store =
        hs_ruleset_store_create(options->default_ruleset, options->max_rulesets, error);
    if (store == NULL) {
        fprintf(report->to, "%s\n", error);
        report->lines++;
        return;
    }
    if (options->rules[0] != '\0')
        hs_ruleset_store_load_directory(store, options->rules, put_problem, report);
    struct hs_ruleset_entry *entry = hs_ruleset_store_default(store);
    if (entry == NULL) {
        fprintf(report->to, "%s: /default_ruleset: there is no ruleset of that name\n", path);
        report->lines++;
    }
    hs_ruleset_store_release(store, entry);
    hs_ruleset_store_destroy(store);
}

static void check_tokens(const struct hs_options *options, struct report *report)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    if (options->token_file[0] == '\0')
        return;
    hs_tokens_destroy(hs_tokens_load(options->token_file, &problem));
    if (problem.code != HS_PROBLEM_NONE)
        put_problem(report, options->token_file, &problem);
}

int hs_check_config(const char *path, FILE *to)
{
    struct report report = {.to = to};
    struct hs_options options;
    struct hs_problem problem;
    hs_problem_init(&problem);
    hs_options_default(&options);
    hs_options_from_file(path, &options, &problem);
    if (problem.code != HS_PROBLEM_MALFORMED_JSON)
        hs_options_check(&options, &problem);
    if (problem.code != HS_PROBLEM_NONE)
        put_problem(&report, path, &problem);
    check_rulesets(path, &options, &report);
    check_tokens(&options, &report);
    if (report.lines == 0)
        fputs("ok\n", to);
    return report.lines == 0 ? 0 : 1;
}
