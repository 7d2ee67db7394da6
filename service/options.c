#include "service/options.h"

#include "service/address.h"
#include "service/log.h"

#include <errno.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, BOOL, NUMBER };

struct row {
    enum kind kind;
    const char *name;
    size_t offset;
    const char *initial_text;
    size_t initial, min, max; /* a BOOL's default is in `initial` */
    const char *argument;
    const char *help;
};

static const struct row rows[] = {
#define HS_OPTION_TEXT(field, name, initial, argument, help)                                       \
    {TEXT, name, offsetof(struct hs_options, field), initial, 0, 0, 0, argument, help},
#define HS_OPTION_BOOL(field, name, initial, help)                                                 \
    {BOOL, name, offsetof(struct hs_options, field), NULL, initial, 0, 1, "", help},
#define HS_OPTION_NUMBER(field, name, initial, min, max, help)                                     \
    {NUMBER, name, offsetof(struct hs_options, field), NULL, initial, min, max, "N", help},
#include "service/options.def"
#undef HS_OPTION_TEXT
#undef HS_OPTION_BOOL
#undef HS_OPTION_NUMBER
};

enum { ROW_COUNT = sizeof rows / sizeof rows[0], NAME_MAX_LEN = 48 };

static void *field(struct hs_options *options, const struct row *row)
{
    return (char *)options + row->offset;
}

void hs_options_default(struct hs_options *options)
{
    memset(options, 0, sizeof *options);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].kind == TEXT)
            snprintf(field(options, &rows[i]), HS_OPTION_TEXT_MAX, "%s", rows[i].initial_text);
        else if (rows[i].kind == BOOL)
            *(bool *)field(options, &rows[i]) = rows[i].initial != 0;
        else
            *(size_t *)field(options, &rows[i]) = rows[i].initial;
    }
}

/* The key in the configuration file, or with `prefix` and in capitals the variable. */
static void spell(const struct row *row, const char *prefix, char name[NAME_MAX_LEN])
{
    size_t len = (size_t)snprintf(name, NAME_MAX_LEN, "%s%s", prefix, row->name);
    for (size_t i = 0; i < len; i++) {
        if (name[i] == '-')
            name[i] = '_';
        else if (prefix[0] != '\0' && name[i] >= 'a' && name[i] <= 'z')
            name[i] = (char)(name[i] - 'a' + 'A');
    }
}

static bool parse_number(const char *text, const struct row *row, size_t *number)
{
    char *end = NULL;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    /* strtoull takes blanks and signs */
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || parsed < row->min ||
        parsed > row->max)
        return false;
    *number = (size_t)parsed;
    return true;
}

/* Takes the text form of a value. False, with what was expected in `error`, when it is none. */
static bool set_text(struct hs_options *options, const struct row *row, const char *text,
                     char error[128])
{
    if (row->kind == TEXT) {
        if (strlen(text) < HS_OPTION_TEXT_MAX) {
            snprintf(field(options, row), HS_OPTION_TEXT_MAX, "%s", text);
            return true;
        }
        snprintf(error, 128, "must be shorter than %d bytes", HS_OPTION_TEXT_MAX);
        return false;
    }
    if (row->kind == BOOL) {
        if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
            *(bool *)field(options, row) = text[0] == 't';
            return true;
        }
        snprintf(error, 128, "must be true or false");
        return false;
    }
    if (parse_number(text, row, field(options, row)))
        return true;
    snprintf(error, 128, "must be a whole number from %zu to %zu", row->min, row->max);
    return false;
}

/* A JSON pointer (RFC 6901) to the key of an object at the root. */
static void point(const char *key, char pointer[HS_POINTER_MAX])
{
    size_t len = 0;
    pointer[len++] = '/';
    for (; *key != '\0' && len + 3 < HS_POINTER_MAX; key++) {
        if (*key == '~' || *key == '/') {
            pointer[len++] = '~';
            pointer[len++] = *key == '~' ? '0' : '1';
        } else {
            pointer[len++] = *key;
        }
    }
    pointer[len] = '\0';
}

static void take_value(struct hs_options *options, const struct row *row, const json_t *value,
                       const char *pointer, struct hs_problem *problem)
{
    char error[128] = "", text[32];
    if (row->kind == TEXT && json_is_string(value)) {
        if (!set_text(options, row, json_string_value(value), error))
            hs_problem_add(problem, pointer, "%s", error);
    } else if (row->kind == BOOL && json_is_boolean(value)) {
        *(bool *)field(options, row) = json_is_true(value);
    } else if (row->kind == NUMBER && json_is_integer(value)) {
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(value));
        if (!set_text(options, row, text, error))
            hs_problem_add(problem, pointer, "%s", error);
    } else {
        static const char *const expected[] = {"a string", "true or false", "a whole number"};
        hs_problem_add(problem, pointer, "must be %s", expected[row->kind]);
    }
}

void hs_options_from_json(struct hs_str text, struct hs_options *options,
                          struct hs_problem *problem)
{
    json_error_t error;
    json_t *root = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        hs_problem_set(problem, HS_PROBLEM_MALFORMED_JSON, "line %d, column %d: %s", error.line,
                       error.column, error.text);
        return;
    }
    if (!json_is_object(root))
        hs_problem_add(problem, "", "must be an object");
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value)
    {
        char pointer[HS_POINTER_MAX], name[NAME_MAX_LEN];
        point(key, pointer);
        size_t i = 0;
        for (; i < ROW_COUNT; i++) {
            spell(&rows[i], "", name);
            if (strcmp(name, key) == 0)
                break;
        }
        if (i < ROW_COUNT)
            take_value(options, &rows[i], value, pointer, problem);
        else if (strncmp(key, "x_", 2) != 0)
            hs_problem_add(problem, pointer, "is not an option");
    }
    json_decref(root);
}

void hs_options_from_file(const char *path, struct hs_options *options, struct hs_problem *problem)
{
    enum { LARGEST = 1 << 20 };
    FILE *file = fopen(path, "re");
    char *text = file == NULL ? NULL : malloc(LARGEST + 1);
    if (text == NULL) {
        hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST, "cannot be read: %s", strerror(errno));
        if (file != NULL)
            fclose(file);
        return;
    }
    size_t len = fread(text, 1, LARGEST + 1, file);
    if (ferror(file))
        hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST, "cannot be read: %s", strerror(errno));
    else if (len > LARGEST)
        hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST, "is larger than %d bytes", LARGEST);
    else
        hs_options_from_json((struct hs_str){text, len}, options, problem);
    free(text);
    fclose(file);
}

static bool is_name(const char *text)
{
    return hs_name_is_valid((struct hs_str){text, strlen(text)});
}

void hs_options_check(const struct hs_options *options, struct hs_problem *problem)
{
    const struct {
        const char *pointer, *text;
    } addresses[] = {{"/listen", options->listen}, {"/admin_listen", options->admin_listen}};
    for (size_t i = 0; i < 2; i++) {
        struct hs_address address;
        if (!hs_address_parse(addresses[i].text, &address))
            hs_problem_add(problem, addresses[i].pointer,
                           "must be ADDR:PORT with a numeric address, IPv6 in brackets");
        else if (!hs_address_is_loopback(&address) && options->token_file[0] == '\0' &&
                 !(options->no_auth && options->insecure))
            hs_problem_add(problem, addresses[i].pointer,
                           "is not a loopback address: this serves anybody who can reach it, and "
                           "needs a token-file, or both no-auth and insecure");
    }
    if (options->token_file[0] != '\0' && options->no_auth)
        hs_problem_add(problem, "/no_auth", "does not go with a token_file");
    if ((options->tls_cert[0] == '\0') != (options->tls_key[0] == '\0'))
        hs_problem_add(problem, options->tls_cert[0] == '\0' ? "/tls_cert" : "/tls_key",
                       "is needed too: TLS takes a certificate and its key");
    if (!is_name(options->default_ruleset))
        hs_problem_add(problem, "/default_ruleset", "must be 1 to %d of [A-Za-z0-9_.:-]",
                       HS_NAME_MAX);
    if (options->default_map[0] != '\0' && !is_name(options->default_map))
        hs_problem_add(problem, "/default_map", "must be empty, or 1 to %d of [A-Za-z0-9_.:-]",
                       HS_NAME_MAX);
    enum hs_log_level level;
    if (!hs_log_level_parse(options->log_level, &level))
        hs_problem_add(problem, "/log_level", "must be error, warn, info or debug");
    if (options->inflight_body_bytes < options->body_bytes)
        hs_problem_add(problem, "/inflight_body_bytes", "must not be less than body_bytes");
}

static bool read_environment(char *const *environment, struct hs_options *options, char error[512])
{
    for (; *environment != NULL; environment++) {
        for (size_t i = 0; i < ROW_COUNT; i++) {
            char name[NAME_MAX_LEN], what[128];
            spell(&rows[i], "HINDSIGHT_", name);
            size_t len = strlen(name);
            if (strncmp(*environment, name, len) != 0 || (*environment)[len] != '=')
                continue;
            if (!set_text(options, &rows[i], *environment + len + 1, what)) {
                snprintf(error, 512, "%s %s", name, what);
                return false;
            }
        }
    }
    return true;
}

/* One argument, perhaps with the next one as its value. The number of arguments used, or 0. */
static int take_argument(int left, char *const *argv, struct hs_options *options, char error[512])
{
    const char *name = argv[0] + 2;
    const char *equals = strchr(name, '=');
    size_t len = equals == NULL ? strlen(name) : (size_t)(equals - name);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strlen(rows[i].name) != len || strncmp(rows[i].name, name, len) != 0)
            continue;
        char what[128];
        const char *value = equals != NULL ? equals + 1 : rows[i].kind == BOOL ? "true" : NULL;
        if (value == NULL && left < 2) {
            snprintf(error, 512, "--%s needs a value", rows[i].name);
            return 0;
        }
        int used = value == NULL ? 2 : 1;
        if (set_text(options, &rows[i], value == NULL ? argv[1] : value, what))
            return used;
        snprintf(error, 512, "--%s %s", rows[i].name, what);
        return 0;
    }
    snprintf(error, 512, "there is no option %.100s; see hindsight serve --help", argv[0]);
    return 0;
}

/* The problem as one sentence. */
static void describe(const char *path, const struct hs_problem *problem, char error[512])
{
    size_t len = 0;
    if (path != NULL)
        len = (size_t)snprintf(error, 512, "%.200s: ", path);
    if (problem->count > 0)
        snprintf(error + len, 512 - len, "%.180s %.120s",
                 problem->errors[0].pointer + (path == NULL), problem->errors[0].detail);
    else
        snprintf(error + len, 512 - len, "%.200s", problem->detail);
}

/* The argument of --config in argv[at], also as --config=FILE; NULL: another option. */
static const char *config_argument(int argc, char *const *argv, int at, int *used)
{
    *used = 1;
    if (strncmp(argv[at], "--config=", 9) == 0)
        return argv[at] + 9;
    if (strcmp(argv[at], "--config") != 0)
        return NULL;
    *used = 2;
    return at + 1 < argc ? argv[at + 1] : "";
}

static const char *config_path(int argc, char *const *argv, char *const *environment)
{
    const char *path = NULL;
    int used;
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, "HINDSIGHT_CONFIG=", 17) == 0)
            path = *environment + 17;
    for (int at = 1; at < argc; at += used) {
        const char *given = config_argument(argc, argv, at, &used);
        if (given != NULL)
            path = given;
    }
    return path;
}

enum hs_options_result hs_options_read(int argc, char *const *argv, char *const *environment,
                                       struct hs_options *options, char error[512])
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    hs_options_default(options);
    for (int at = 1; at < argc; at++)
        if (strcmp(argv[at], "--help") == 0)
            return HS_OPTIONS_HELP;
    const char *path = config_path(argc, argv, environment);
    if (path != NULL && path[0] == '\0') {
        snprintf(error, 512, "--config needs the name of a file");
        return HS_OPTIONS_WRONG;
    }
    if (path != NULL) {
        hs_options_from_file(path, options, &problem);
        if (problem.code != HS_PROBLEM_NONE) {
            describe(path, &problem, error);
            return HS_OPTIONS_WRONG;
        }
    }
    if (!read_environment(environment, options, error))
        return HS_OPTIONS_WRONG;
    int used;
    for (int at = 1; at < argc; at += used) {
        if (config_argument(argc, argv, at, &used) != NULL)
            continue;
        if (strncmp(argv[at], "--", 2) != 0) {
            snprintf(error, 512, "unexpected argument %.100s; see hindsight serve --help",
                     argv[at]);
            return HS_OPTIONS_WRONG;
        }
        used = take_argument(argc - at, argv + at, options, error);
        if (used == 0)
            return HS_OPTIONS_WRONG;
    }
    hs_options_check(options, &problem);
    if (problem.code == HS_PROBLEM_NONE)
        return HS_OPTIONS_OK;
    describe(NULL, &problem, error);
    return HS_OPTIONS_WRONG;
}

void hs_options_help(FILE *to)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        char left[64];
        snprintf(left, sizeof left, "--%s %s", rows[i].name, rows[i].argument);
        fprintf(to, "  %-30s %s", left, rows[i].help);
        if (rows[i].kind == TEXT)
            fprintf(to, " (%s)\n", rows[i].initial_text[0] == '\0' ? "none" : rows[i].initial_text);
        else if (rows[i].kind == BOOL)
            fprintf(to, " (%s)\n", rows[i].initial != 0 ? "true" : "false");
        else
            fprintf(to, " (%zu; %zu to %zu)\n", rows[i].initial, rows[i].min, rows[i].max);
    }
}
