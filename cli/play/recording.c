#include "cli/play/recording.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/play/lines.h"

#define FORMAT_NAME "hindsight-recording"
enum { FORMAT_VERSION = 1 };

struct file_recording {
    struct hs_lines *lines;
    double last_at;
    char path[256];
};

__attribute__((format(printf, 3, 4))) static bool
fail(const struct file_recording *file, char error[HS_PLAY_ERROR_MAX], const char *format, ...)
{
    int used = snprintf(error, HS_PLAY_ERROR_MAX, "%s, line %zu: ", file->path,
                        hs_lines_number(file->lines));
    va_list arguments;
    va_start(arguments, format);
    if (used > 0 && used < HS_PLAY_ERROR_MAX)
        vsnprintf(error + used, (size_t)(HS_PLAY_ERROR_MAX - used), format, arguments);
    va_end(arguments);
    return false;
}

void hs_recording_entry_clear(struct hs_recording_entry *entry)
{
    json_decref(entry->body);
    json_decref(entry->expect);
    json_decref(entry->who);
    json_decref(entry->truth);
    *entry = (struct hs_recording_entry){0};
}

json_t *hs_recording_claims(const struct hs_recording_entry *entry)
{
    if (strcmp(entry->method, "POST") != 0)
        return NULL;
    json_t *hits = json_object_get(entry->body, "hits");
    return json_is_array(hits) ? hits : NULL;
}

bool hs_recording_path(const struct hs_recording_entry *entry, const char *match,
                       char out[HS_PLAY_PATH_MAX])
{
    static const char mark[] = "{match}";
    const char *at = strstr(entry->path, mark);
    if (at == NULL)
        return snprintf(out, HS_PLAY_PATH_MAX, "%s", entry->path) < HS_PLAY_PATH_MAX;
    return snprintf(out, HS_PLAY_PATH_MAX, "%.*s%s%s", (int)(at - entry->path), entry->path, match,
                    at + sizeof(mark) - 1) < HS_PLAY_PATH_MAX;
}

/* The next line that is not blank as a JSON object; NULL at the end or when it is not one. */
static json_t *next_object(struct file_recording *file, bool *end, char error[HS_PLAY_ERROR_MAX])
{
    char *line;
    *end = false;
    do {
        line = hs_lines_next(file->lines);
    } while (line != NULL && line[strspn(line, " \t")] == '\0');
    if (line == NULL) {
        *end = hs_lines_error(file->lines) == NULL;
        if (!*end)
            fail(file, error, "%s", hs_lines_error(file->lines));
        return NULL;
    }
    json_error_t why;
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &why);
    if (object == NULL) {
        fail(file, error, "%s (column %d)", why.text, why.column);
    } else if (!json_is_object(object)) {
        fail(file, error, "must be a JSON object");
        json_decref(object);
        object = NULL;
    }
    return object;
}

static bool only_known(const struct file_recording *file, json_t *object, const char *const *known,
                       char error[HS_PLAY_ERROR_MAX])
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        size_t i = 0;
        while (known[i] != NULL && strcmp(known[i], key) != 0)
            i++;
        if (known[i] == NULL && strncmp(key, "x_", 2) != 0)
            return fail(file, error, "unknown field \"%.64s\"", key);
    }
    return true;
}

static bool read_name(const struct file_recording *file, json_t *value, const char *field,
                      struct hs_name *out, char error[HS_PLAY_ERROR_MAX])
{
    struct hs_str name = {json_string_value(value), json_string_length(value)};
    if (name.ptr == NULL || !hs_name_is_valid(name))
        return fail(file, error, "\"%s\" must be a name: 1 to 64 of [A-Za-z0-9_.:-]", field);
    hs_name_set(out, name);
    return true;
}

static bool read_ruleset(const struct file_recording *file, json_t *ruleset,
                         struct hs_recording_header *header, char error[HS_PLAY_ERROR_MAX])
{
    if (!json_is_object(ruleset))
        return read_name(file, ruleset, "ruleset", &header->ruleset, error);
    header->ruleset_document = json_incref(ruleset);
    return read_name(file, json_object_get(ruleset, "name"), "ruleset/name", &header->ruleset,
                     error);
}

static bool read_map(const struct file_recording *file, json_t *map,
                     struct hs_recording_header *header, char error[HS_PLAY_ERROR_MAX])
{
    if (map == NULL)
        return true;
    if (!json_is_object(map))
        return read_name(file, map, "map", &header->map, error);
    if (!read_name(file, json_object_get(map, "name"), "map/name", &header->map, error))
        return false;
    header->map_document = json_copy(map);
    return json_object_del(header->map_document, "name") == 0 || fail(file, error, "out of memory");
}

static bool read_header(struct file_recording *file, json_t *object,
                        struct hs_recording_header *header, char error[HS_PLAY_ERROR_MAX])
{
    static const char *const known[] = {"format",  "version", "title", "match",
                                        "ruleset", "map",     "unit",  NULL};
    const char *format = json_string_value(json_object_get(object, "format"));
    if (format == NULL || strcmp(format, FORMAT_NAME) != 0)
        return fail(file, error,
                    "not a recording: the first line must have \"format\":\"" FORMAT_NAME "\"");
    json_t *version = json_object_get(object, "version");
    if (!json_is_integer(version) || json_integer_value(version) != FORMAT_VERSION)
        return fail(file, error, "\"version\" must be %d", FORMAT_VERSION);
    if (!only_known(file, object, known, error))
        return false;
    json_t *title = json_object_get(object, "title");
    if (title != NULL && !json_is_string(title))
        return fail(file, error, "\"title\" must be a string");
    snprintf(header->title, sizeof(header->title), "%s",
             title != NULL ? json_string_value(title) : "");
    json_t *unit = json_object_get(object, "unit");
    header->unit = unit != NULL ? json_number_value(unit) : 1.0;
    if (!(header->unit > 0.0) || !isfinite(header->unit))
        return fail(file, error, "\"unit\" must be a number above 0");
    if (!read_name(file, json_object_get(object, "match"), "match", &header->match, error))
        return false;
    return read_ruleset(file, json_object_get(object, "ruleset"), header, error) &&
           read_map(file, json_object_get(object, "map"), header, error);
}

static bool is_short_form(const char *post)
{
    static const char *const posts[] = {"frames", "hits", "ticks"};
    for (size_t i = 0; i < sizeof(posts) / sizeof(posts[0]); i++) {
        if (strcmp(post, posts[i]) == 0)
            return true;
    }
    return false;
}

/* method and path, or the short form `post`. */
static bool read_target(struct file_recording *file, json_t *object,
                        struct hs_recording_entry *entry, char error[HS_PLAY_ERROR_MAX])
{
    static const char *const methods[] = {"GET", "PUT", "POST", "DELETE"};
    json_t *post = json_object_get(object, "post");
    const char *method = json_string_value(json_object_get(object, "method"));
    const char *path = json_string_value(json_object_get(object, "path"));
    if (post != NULL) {
        const char *text = json_string_value(post);
        if (json_object_get(object, "method") != NULL || json_object_get(object, "path") != NULL)
            return fail(file, error, "\"post\" excludes \"method\" and \"path\"");
        if (text == NULL || !is_short_form(text))
            return fail(file, error, "\"post\" must be \"frames\", \"hits\" or \"ticks\"");
        strcpy(entry->method, "POST");
        snprintf(entry->path, sizeof(entry->path), "/v1/matches/{match}/%s", text);
        return true;
    }
    if (path == NULL || path[0] != '/' || strlen(path) >= sizeof(entry->path) - HS_NAME_MAX)
        return fail(file, error, "needs \"post\", or \"method\" and a \"path\" that starts with /");
    snprintf(entry->path, sizeof(entry->path), "%s", path);
    for (size_t i = 0; method != NULL && i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (strcmp(method, methods[i]) == 0) {
            snprintf(entry->method, sizeof(entry->method), "%s", method);
            return true;
        }
    }
    return fail(file, error, "\"method\" must be GET, PUT, POST or DELETE");
}

static bool is_truth(json_t *value)
{
    const char *text = json_string_value(value);
    return json_is_null(value) ||
           (text != NULL && (strcmp(text, "hit") == 0 || strcmp(text, "miss") == 0));
}

/* One value for all claims, or an array with one a claim; kept as an array. */
static bool read_per_claim(struct file_recording *file, json_t *object, const char *field,
                           bool (*fits)(json_t *), const char *what, size_t claims, json_t **out,
                           char error[HS_PLAY_ERROR_MAX])
{
    json_t *value = json_object_get(object, field);
    if (value == NULL)
        return true;
    if (claims == 0)
        return fail(file, error, "\"%s\" without a claim in \"body\"", field);
    json_t *list = json_is_array(value) ? json_incref(value) : json_array();
    for (size_t i = 0; !json_is_array(value) && i < claims; i++)
        json_array_append(list, value);
    *out = list;
    if (json_array_size(list) != claims)
        return fail(file, error, "\"%s\" has %zu items for %zu claims", field,
                    json_array_size(list), claims);
    for (size_t i = 0; i < claims; i++) {
        if (!fits(json_array_get(list, i)))
            return fail(file, error, "\"%s\" must be %s", field, what);
    }
    return true;
}

static bool is_label(json_t *value)
{
    struct hs_str name = {json_string_value(value), json_string_length(value)};
    return name.ptr != NULL && hs_name_is_valid(name);
}

static bool read_entry(struct file_recording *file, json_t *object,
                       struct hs_recording_entry *entry, char error[HS_PLAY_ERROR_MAX])
{
    static const char *const known[] = {"at",     "post", "method", "path", "body",
                                        "expect", "who",  "truth",  NULL};
    entry->line = hs_lines_number(file->lines);
    if (!only_known(file, object, known, error))
        return false;
    json_t *at = json_object_get(object, "at");
    if (!json_is_number(at) || !isfinite(json_number_value(at)))
        return fail(file, error, "\"at\" must be a number of seconds");
    entry->at = json_number_value(at);
    if (entry->at < file->last_at)
        return fail(file, error, "\"at\" runs back from %.6g to %.6g", file->last_at, entry->at);
    file->last_at = entry->at;
    if (!read_target(file, object, entry, error))
        return false;
    entry->body = json_incref(json_object_get(object, "body"));
    entry->expect = json_incref(json_object_get(object, "expect"));
    if (entry->expect != NULL && !json_is_object(entry->expect))
        return fail(file, error, "\"expect\" must be an object");
    size_t claims = json_array_size(hs_recording_claims(entry));
    return read_per_claim(file, object, "who", is_label, "a name, or an array with one a claim",
                          claims, &entry->who, error) &&
           read_per_claim(file, object, "truth", is_truth,
                          "\"hit\", \"miss\" or null, or an array with one a claim", claims,
                          &entry->truth, error);
}

static enum hs_recording_result file_next(void *state, struct hs_recording_entry *entry,
                                          char error[HS_PLAY_ERROR_MAX])
{
    struct file_recording *file = state;
    bool end;
    json_t *object = next_object(file, &end, error);
    if (object == NULL)
        return end ? HS_RECORDING_END : HS_RECORDING_BAD;
    bool good = read_entry(file, object, entry, error);
    json_decref(object);
    return good ? HS_RECORDING_ENTRY : HS_RECORDING_BAD;
}

static double file_progress(void *state)
{
    const struct file_recording *file = state;
    return hs_lines_progress(file->lines);
}

static void file_destroy(void *state)
{
    struct file_recording *file = state;
    hs_lines_close(file->lines);
    free(file);
}

struct hs_recording *hs_recording_open(const char *path, char error[HS_PLAY_ERROR_MAX])
{
    struct hs_recording *recording = calloc(1, sizeof(*recording));
    struct file_recording *file = calloc(1, sizeof(*file));
    errno = ENOMEM;
    if (recording == NULL || file == NULL || (file->lines = hs_lines_open(path)) == NULL) {
        snprintf(error, HS_PLAY_ERROR_MAX, "cannot read %s: %s", path, strerror(errno));
        free(recording);
        free(file);
        return NULL;
    }
    snprintf(file->path, sizeof(file->path), "%s", path);
    file->last_at = -HUGE_VAL;
    recording->state = file;
    recording->next = file_next;
    recording->progress = file_progress;
    recording->destroy = file_destroy;
    bool end;
    json_t *object = next_object(file, &end, error);
    if (object == NULL && end)
        snprintf(error, HS_PLAY_ERROR_MAX, "%s is empty", path);
    bool good = object != NULL && read_header(file, object, &recording->header, error);
    json_decref(object);
    if (!good) {
        hs_recording_close(recording);
        return NULL;
    }
    return recording;
}

enum hs_recording_result hs_recording_next(struct hs_recording *recording,
                                           struct hs_recording_entry *entry,
                                           char error[HS_PLAY_ERROR_MAX])
{
    *entry = (struct hs_recording_entry){0};
    enum hs_recording_result result = recording->next(recording->state, entry, error);
    if (result != HS_RECORDING_ENTRY)
        hs_recording_entry_clear(entry);
    return result;
}

void hs_recording_close(struct hs_recording *recording)
{
    if (recording == NULL)
        return;
    if (recording->destroy != NULL)
        recording->destroy(recording->state);
    json_decref(recording->header.ruleset_document);
    json_decref(recording->header.map_document);
    free(recording);
}

static bool write_line(FILE *file, json_t *object)
{
    bool good = object != NULL &&
                json_dumpf(object, file, JSON_COMPACT | JSON_REAL_PRECISION(15)) == 0 &&
                fputc('\n', file) != EOF;
    json_decref(object);
    return good;
}

/* The map as the first line has it: its name, or the document with its name in it. */
static json_t *map_of(const struct hs_recording_header *header)
{
    if (header->map_document == NULL)
        return json_string(header->map.text);
    json_t *map = json_pack("{s:s}", "name", header->map.text);
    json_object_update_missing(map, header->map_document);
    return map;
}

bool hs_recording_write_header(FILE *file, const struct hs_recording_header *header)
{
    json_t *ruleset = header->ruleset_document != NULL ? json_incref(header->ruleset_document)
                                                       : json_string(header->ruleset.text);
    json_t *object = json_pack("{s:s, s:i, s:s, s:s, s:f, s:o}", "format", FORMAT_NAME, "version",
                               FORMAT_VERSION, "title", header->title, "match", header->match.text,
                               "unit", header->unit, "ruleset", ruleset);
    if (object != NULL && header->map.text[0] != '\0')
        json_object_set_new(object, "map", map_of(header));
    return write_line(file, object);
}

bool hs_recording_write_entry(FILE *file, const struct hs_recording_entry *entry)
{
    static const char prefix[] = "/v1/matches/{match}/";
    const char *last = entry->path + sizeof(prefix) - 1;
    json_t *object = json_pack("{s:f}", "at", entry->at);
    if (object == NULL)
        return false;
    if (strcmp(entry->method, "POST") == 0 &&
        strncmp(entry->path, prefix, sizeof(prefix) - 1) == 0 && is_short_form(last)) {
        json_object_set_new(object, "post", json_string(last));
    } else {
        json_object_set_new(object, "method", json_string(entry->method));
        json_object_set_new(object, "path", json_string(entry->path));
    }
    if (entry->body != NULL)
        json_object_set(object, "body", entry->body);
    if (entry->expect != NULL)
        json_object_set(object, "expect", entry->expect);
    if (entry->who != NULL)
        json_object_set(object, "who", entry->who);
    if (entry->truth != NULL)
        json_object_set(object, "truth", entry->truth);
    return write_line(file, object);
}
