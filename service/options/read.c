/* Reads the configuration from the file, the environment and the arguments, and collects every
   fault. */
#include "service/options/values.h"

#include "service/options/rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The faults, one per line, in the caller's memory. If some faults do not fit, the last line is
   "and more". */
struct faults {
    char *text;
    size_t len, count;
    bool full;
};

__attribute__((format(printf, 2, 3))) static void add_fault(struct faults *faults,
                                                            const char *format, ...)
{
    static const char more[] = "\nand more";
    /* space for the lines and the null terminator */
    const size_t capacity = HS_OPTIONS_FAULTS_MAX - sizeof more;
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    faults->count++;
    if (faults->full)
        return;
    size_t len = strlen(line);
    if (faults->len + len + 1 > capacity) {
        faults->full = true;
        memcpy(faults->text + faults->len, more, sizeof more);
        return;
    }
    if (faults->len > 0)
        faults->text[faults->len++] = '\n';
    memcpy(faults->text + faults->len, line, len + 1);
    faults->len += len;
}

/* Returns FILE if argv[at] is --config FILE or --config=FILE, otherwise NULL. Sets *used to the
   number of arguments to skip: 2 if FILE is a separate argument, otherwise 1. */
static const char *config_argument(const struct hs_options_input *input, int at, int *used)
{
    *used = 1;
    if (strncmp(input->argv[at], "--config=", 9) == 0)
        return input->argv[at] + 9;
    if (strcmp(input->argv[at], "--config") != 0)
        return NULL;
    *used = 2;
    return at + 1 < input->argc ? input->argv[at + 1] : "";
}

static const char *config_path(const struct hs_options_input *input)
{
    const char *path = NULL;
    int used;
    for (char *const *variable = input->environment; *variable != NULL; variable++)
        if (strncmp(*variable, "HINDSIGHT_CONFIG=", 17) == 0)
            path = *variable + 17;
    for (int at = 1; at < input->argc; at += used) {
        const char *given = config_argument(input, at, &used);
        if (given != NULL)
            path = given;
    }
    return path;
}

static void add_problem(struct faults *faults, const char *path, const struct hs_problem *problem)
{
    for (size_t i = 0; i < problem->count; i++)
        add_fault(faults, "%.500s: %s: %s", path,
                  problem->errors[i].pointer[0] == '\0' ? "(root)" : problem->errors[i].pointer,
                  problem->errors[i].detail);
    if (problem->count == 0)
        add_fault(faults, "%.500s: %s", path, problem->detail);
    if (problem->left_out > 0)
        add_fault(faults, "%.500s: and %zu more", path, problem->left_out);
}

/* Applies the configuration file. Returns false if the file cannot be read at all. In this case,
   values are missing, so check_whole must not be called. */
static bool read_file(const char *path, struct hs_options *options, struct faults *faults)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    if (path[0] == '\0') {
        add_fault(faults, "--config needs the name of a file");
        return false;
    }
    hs_options_from_file(path, options, &problem);
    if (problem.code != HS_PROBLEM_NONE)
        add_problem(faults, path, &problem);
    return problem.code == HS_PROBLEM_NONE || problem.count > 0;
}

static void read_environment(const struct hs_options_input *input, struct hs_options *options,
                             struct faults *faults)
{
    for (char *const *variable = input->environment; *variable != NULL; variable++) {
        size_t len = strcspn(*variable, "=");
        struct hs_str name = {*variable, len};
        const struct hs_option_row *row = hs_option_find("HINDSIGHT_", name);
        char what[128];
        if (row == NULL || (*variable)[len] != '=')
            continue;
        if (hs_option_set(options, row, *variable + len + 1, what))
            options->sources[row - hs_option_rows] = HS_OPTION_FROM_ENVIRONMENT;
        else
            add_fault(faults, "%.*s %s", (int)len, name.ptr, what);
    }
}

const char *hs_options_stray_variable(char *const **at)
{
    while (**at != NULL) {
        const char *variable = *(*at)++;
        struct hs_str name = {variable, strcspn(variable, "=")};
        if (strncmp(variable, "HINDSIGHT_", 10) == 0 &&
            !hs_str_equal(name, HS_STR("HINDSIGHT_CONFIG")) &&
            hs_option_find("HINDSIGHT_", name) == NULL)
            return variable;
    }
    return NULL;
}

/* Applies one command-line option. Its value may be the next argument. Returns the number of
   arguments used. */
static int take_argument(int left, char *const *argv, struct hs_options *options,
                         struct faults *faults)
{
    if (strncmp(argv[0], "--", 2) != 0) {
        add_fault(faults, "unexpected argument %.100s; see hindsight serve --help", argv[0]);
        return 1;
    }
    const char *equals = strchr(argv[0], '=');
    struct hs_str name = {argv[0], strcspn(argv[0], "=")};
    const struct hs_option_row *row = hs_option_find("--", name);
    if (row == NULL) {
        add_fault(faults, "there is no option %.100s; see hindsight serve --help", argv[0]);
        /* the next argument is probably the value */
        return equals == NULL && left > 1 && argv[1][0] != '-' ? 2 : 1;
    }
    char what[128];
    const char *value = equals != NULL                   ? equals + 1
                        : row->kind == HS_OPTION_IS_BOOL ? "true"
                                                         : NULL;
    int used = value == NULL ? 2 : 1;
    if (used > left) {
        add_fault(faults, "--%s needs a value", row->name);
        return 1;
    }
    if (hs_option_set(options, row, value == NULL ? argv[1] : value, what))
        options->sources[row - hs_option_rows] = HS_OPTION_FROM_COMMAND_LINE;
    else
        add_fault(faults, "--%s %s", row->name, what);
    return used;
}

/* Checks values that depend on each other. If a faulty value comes from the file, the fault names
   the file. */
static void check_whole(const char *path, const struct hs_options *options, struct faults *faults)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    hs_options_check(options, &problem);
    for (size_t i = 0; i < problem.count; i++) {
        const char *key = problem.errors[i].pointer + 1;
        const struct hs_option_row *row = hs_option_find("", hs_str_of(key));
        if (row != NULL && options->sources[row - hs_option_rows] == HS_OPTION_FROM_FILE)
            add_fault(faults, "%.500s: /%s: %s", path, key, problem.errors[i].detail);
        else
            add_fault(faults, "%s %s", key, problem.errors[i].detail);
    }
}

enum hs_options_result hs_options_read(const struct hs_options_input *input,
                                       struct hs_options *options,
                                       char faults_text[HS_OPTIONS_FAULTS_MAX])
{
    struct faults faults = {.text = faults_text};
    bool known = true;
    int used;
    faults_text[0] = '\0';
    hs_options_default(options);
    for (int at = 1; at < input->argc; at++)
        if (strcmp(input->argv[at], "--help") == 0)
            return HS_OPTIONS_HELP;
    const char *path = config_path(input);
    if (path != NULL)
        known = read_file(path, options, &faults);
    read_environment(input, options, &faults);
    for (int at = 1; at < input->argc; at += used)
        if (config_argument(input, at, &used) == NULL)
            used = take_argument(input->argc - at, input->argv + at, options, &faults);
    if (known)
        check_whole(path, options, &faults);
    return faults.count == 0 ? HS_OPTIONS_OK : HS_OPTIONS_WRONG;
}
