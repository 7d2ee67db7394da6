#include "service/options/values.h"

#include "api/json/reading.h"
#include "service/options/rows.h"
#include "service/system/address.h"
#include "service/system/files.h"
#include "service/watch/log.h"
#include "validators/vocabulary.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(struct hs_options, field)

const struct hs_option_row hs_option_rows[HS_OPTION_COUNT] = {
#define HS_OPTION_SECTION(id, title) {HS_OPTION_IS_SECTION, title, 0, NULL, 0, 0, 0, "", ""},
#define HS_OPTION_TEXT(field, name, initial, argument, help)                                       \
    {HS_OPTION_IS_TEXT, name, AT(field), initial, 0, 0, 0, argument, help},
#define HS_OPTION_BOOL(field, name, initial, help)                                                 \
    {HS_OPTION_IS_BOOL, name, AT(field), NULL, initial, 0, 1, "", help},
#define HS_OPTION_NUMBER(field, name, initial, min, max, help)                                     \
    {HS_OPTION_IS_NUMBER, name, AT(field), NULL, initial, min, max, "N", help},
#include "service/options/options.def"
};

static const enum hs_option reloaded[] = {
#define HS_OPTION_RELOADED(field) HS_OPTION_AT_##field,
#include "service/options/options.def"
};

bool hs_option_is_reloaded(const struct hs_option_row *row)
{
    for (size_t i = 0; i < sizeof reloaded / sizeof reloaded[0]; i++)
        if (row == &hs_option_rows[reloaded[i]])
            return true;
    return false;
}

void hs_options_copy_reloaded(struct hs_options *options, const struct hs_options *from)
{
#define HS_OPTION_RELOADED(field)                                                                  \
    memcpy(&options->field, &from->field, sizeof options->field);                                  \
    options->sources[HS_OPTION_AT_##field] = from->sources[HS_OPTION_AT_##field];
#include "service/options/options.def"
}

static void *field(struct hs_options *options, const struct hs_option_row *row)
{
    return (char *)options + row->offset;
}

void hs_options_default(struct hs_options *options)
{
    memset(options, 0, sizeof *options); /* also sets every source to HS_OPTION_FROM_DEFAULT */
    for (size_t i = 0; i < HS_OPTION_COUNT; i++) {
        const struct hs_option_row *row = &hs_option_rows[i];
        if (row->kind == HS_OPTION_IS_TEXT)
            snprintf(field(options, row), HS_OPTION_TEXT_MAX, "%s", row->initial_text);
        else if (row->kind == HS_OPTION_IS_BOOL)
            *(bool *)field(options, row) = row->initial != 0;
        else if (row->kind == HS_OPTION_IS_NUMBER)
            *(size_t *)field(options, row) = row->initial;
    }
}

void hs_option_spell(const struct hs_option_row *row, const char *prefix,
                     char name[HS_OPTION_NAME_MAX])
{
    snprintf(name, HS_OPTION_NAME_MAX, "%s%s", prefix, row->name);
    for (char *c = name; *c != '\0' && prefix[0] != '-'; c++) {
        if (*c == '-')
            *c = '_';
        else if (prefix[0] != '\0' && *c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    }
}

void hs_option_get(const struct hs_options *options, const struct hs_option_row *row,
                   char text[HS_OPTION_TEXT_MAX])
{
    const void *value = (const char *)options + row->offset;
    text[0] = '\0';
    if (row->kind == HS_OPTION_IS_TEXT)
        snprintf(text, HS_OPTION_TEXT_MAX, "%s", (const char *)value);
    else if (row->kind == HS_OPTION_IS_BOOL)
        snprintf(text, HS_OPTION_TEXT_MAX, "%s", *(const bool *)value ? "true" : "false");
    else if (row->kind == HS_OPTION_IS_NUMBER)
        snprintf(text, HS_OPTION_TEXT_MAX, "%zu", *(const size_t *)value);
}

static bool parse_number(const char *text, const struct hs_option_row *row, size_t *number)
{
    char *end = NULL;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    /* strtoull would also accept blanks and signs */
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || parsed < row->min ||
        parsed > row->max)
        return false;
    *number = (size_t)parsed;
    return true;
}

bool hs_option_set(struct hs_options *options, const struct hs_option_row *row, const char *text,
                   char error[128])
{
    if (row->kind == HS_OPTION_IS_TEXT) {
        if (strlen(text) < HS_OPTION_TEXT_MAX) {
            snprintf(field(options, row), HS_OPTION_TEXT_MAX, "%s", text);
            return true;
        }
        snprintf(error, 128, "must be shorter than %d bytes", HS_OPTION_TEXT_MAX);
        return false;
    }
    if (row->kind == HS_OPTION_IS_BOOL) {
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

/* Returns a value from the file as text, or NULL if the value has the wrong type. */
static const char *text_of(const struct hs_option_row *row, const json_t *value, char number[32])
{
    if (row->kind == HS_OPTION_IS_TEXT)
        return json_string_value(value);
    if (row->kind == HS_OPTION_IS_BOOL)
        return !json_is_boolean(value) ? NULL : json_is_true(value) ? "true" : "false";
    if (!json_is_integer(value))
        return NULL;
    snprintf(number, 32, "%lld", (long long)json_integer_value(value));
    return number;
}

static void take_value(struct hs_options *options, const struct hs_option_row *row,
                       const json_t *value, const struct hs_json_at *at, struct hs_reader *reader)
{
    static const char *const expected[] = {"a string", "true or false", "a whole number"};
    char error[128] = "", number[32];
    const char *text = text_of(row, value, number);
    if (text == NULL)
        hs_json_bad(reader, at, "must be %s", expected[row->kind]);
    else if (!hs_option_set(options, row, text, error))
        hs_json_bad(reader, at, "%s", error);
    else
        options->sources[row - hs_option_rows] = HS_OPTION_FROM_FILE;
}

const struct hs_option_row *hs_option_find(const char *prefix, struct hs_str spelled)
{
    for (size_t i = 0; i < HS_OPTION_COUNT; i++) {
        char name[HS_OPTION_NAME_MAX];
        hs_option_spell(&hs_option_rows[i], prefix, name);
        if (hs_option_rows[i].kind != HS_OPTION_IS_SECTION &&
            hs_str_equal(hs_str_of(name), spelled))
            return &hs_option_rows[i];
    }
    return NULL;
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
    struct hs_reader reader = {.problem = problem};
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value)
    {
        struct hs_json_at at = {.key = key};
        const struct hs_option_row *row = hs_option_find("", hs_str_of(key));
        if (row != NULL)
            take_value(options, row, value, &at, &reader);
        else if (strncmp(key, "x_", 2) != 0)
            hs_json_bad(&reader, &at, "is not an option");
    }
    json_decref(root);
}

void hs_options_from_file(const char *path, struct hs_options *options, struct hs_problem *problem)
{
    enum { LARGEST = 1 << 20 };
    size_t len;
    char *text = hs_file_rest(fopen(path, "re"), LARGEST, &len);
    if (text != NULL)
        hs_options_from_json((struct hs_str){text, len}, options, problem);
    else
        hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST, "cannot be read: %s",
                       hs_file_error(errno));
    free(text);
}

#define NAME(id, text) text,
/* Defines hs_KIND_parse, which returns the value with this name, or COUNT if the name is
   unknown. */
#define PARSE(kind, LIST, COUNT)                                                                   \
    enum hs_##kind hs_##kind##_parse(const char *name)                                             \
    {                                                                                              \
        static const char *const names[] = {LIST(NAME)};                                           \
        static const struct hs_vocabulary words = {names, COUNT};                                  \
        int found = hs_vocabulary_find(&words, hs_str_of(name));                                   \
        return found >= 0 ? (enum hs_##kind)found : (COUNT);                                       \
    }
PARSE(journal_sync, HS_JOURNAL_SYNCS, HS_JOURNAL_SYNC_COUNT)
PARSE(evidence_mode, HS_EVIDENCE_MODES, HS_EVIDENCE_MODE_COUNT)
PARSE(evidence_overflow, HS_EVIDENCE_OVERFLOWS, HS_EVIDENCE_OVERFLOW_COUNT)

bool hs_evidence_backend_is_postgres(const struct hs_options *options)
{
    return strcmp(options->evidence_backend, "postgres") == 0;
}

unsigned hs_event_kinds_parse(const char *list)
{
    static const char *const names[] = {HS_EVENT_KINDS(NAME)};
    static const struct hs_vocabulary words = {names, HS_EVENT_KIND_COUNT};
    for (unsigned kinds = 0;;) {
        size_t len = strcspn(list, ",");
        int kind = hs_vocabulary_find(&words, (struct hs_str){list, len});
        if (kind < 0)
            return 0;
        kinds |= 1u << kind;
        if (list[len] == '\0')
            return kinds;
        list += len + 1;
    }
}

/* Returns whether the members that `mask` lists may be masked. The members' names must begin with
   x_, because verdicts may depend on members with other names. */
static bool is_maskable(const char *mask)
{
    if (*mask == '\0')
        return true;
    for (const char *at = mask;; at++) {
        if (strncmp(at, "/x_", 3) != 0)
            return false;
        at += strcspn(at, ",");
        if (*at == '\0')
            return true;
    }
}

/* Checks the webhook's options. libcurl checks the rest of the URL when it connects. */
static void check_webhook(const struct hs_options *options, struct hs_problem *problem)
{
    const char *url = options->webhook;
    size_t scheme = strncmp(url, "https://", 8) == 0 ? 8 : strncmp(url, "http://", 7) == 0 ? 7 : 0;
    if (hs_event_kinds_parse(options->webhook_verdicts) == 0)
        hs_problem_add(problem, "/webhook_verdicts",
                       "must list rejected, shadow_rejected or inconclusive, separated by commas");
    if (url[0] == '\0')
        return;
    if (scheme == 0 || strcspn(url + scheme, "/?#") == 0 || strpbrk(url, "@ \t\r\n") != NULL)
        hs_problem_add(problem, "/webhook",
                       "must be a URL with https:// or http://, without a user name");
    if (options->webhook_secret_file[0] == '\0')
        hs_problem_add(problem, "/webhook_secret_file",
                       "is also needed, to sign the requests of the webhook");
}

static void check_backend(const struct hs_options *options, struct hs_problem *problem)
{
    bool is_postgres = hs_evidence_backend_is_postgres(options);
    if (!is_postgres && strcmp(options->evidence_backend, "sqlite") != 0)
        hs_problem_add(problem, "/evidence_backend", "must be sqlite or postgres");
    if (is_postgres &&
        (options->data[0] == '\0' || hs_evidence_mode_parse(options->evidence) == HS_EVIDENCE_OFF))
        hs_problem_add(problem, "/evidence_backend",
                       "postgres also needs data, for verdicts that are not in the database yet, "
                       "and evidence other than off");
    if (!is_postgres && options->evidence_connection_file[0] != '\0')
        hs_problem_add(problem, "/evidence_connection_file", "needs evidence_backend postgres");
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
                           "is not a loopback address, so everybody who can reach it is served: "
                           "set token-file, or both no-auth and insecure");
    }
    if (options->token_file[0] != '\0' && options->no_auth)
        hs_problem_add(problem, "/no_auth", "cannot be combined with a token_file");
    if ((options->tls_cert[0] == '\0') != (options->tls_key[0] == '\0'))
        hs_problem_add(problem, options->tls_cert[0] == '\0' ? "/tls_cert" : "/tls_key",
                       "is also needed: TLS needs a certificate and its key");
    if (!hs_name_is_valid(hs_str_of(options->default_ruleset)))
        hs_problem_add(problem, "/default_ruleset", "must be 1 to %d of [A-Za-z0-9_.:-]",
                       HS_NAME_MAX);
    if (options->default_map[0] != '\0' && !hs_name_is_valid(hs_str_of(options->default_map)))
        hs_problem_add(problem, "/default_map", "must be empty, or 1 to %d of [A-Za-z0-9_.:-]",
                       HS_NAME_MAX);
    if (hs_journal_sync_parse(options->journal_sync) == HS_JOURNAL_SYNC_COUNT)
        hs_problem_add(problem, "/journal_sync", "must be off, interval or always");
    if (options->state_redis[0] != '\0' && !hs_address_list_is_valid(options->state_redis))
        hs_problem_add(problem, "/state_redis",
                       "must be HOST:PORT, or several, comma-separated; IPv6 in brackets");
    if (hs_evidence_mode_parse(options->evidence) == HS_EVIDENCE_MODE_COUNT)
        hs_problem_add(problem, "/evidence", "must be off, async or sync");
    check_backend(options, problem);
    if (hs_evidence_overflow_parse(options->evidence_overflow) == HS_EVIDENCE_OVERFLOW_COUNT)
        hs_problem_add(problem, "/evidence_overflow", "must be drop or block");
    if (!is_maskable(options->evidence_mask))
        hs_problem_add(problem, "/evidence_mask",
                       "must be JSON pointers to members that begin with x_, like /x_a,/x_b/c");
    check_webhook(options, problem);
    enum hs_log_level level;
    if (!hs_log_level_parse(options->log_level, &level))
        hs_problem_add(problem, "/log_level", "must be error, warn, info or debug");
    if (options->inflight_body_bytes < options->body_bytes)
        hs_problem_add(problem, "/inflight_body_bytes", "must not be less than body_bytes");
}
