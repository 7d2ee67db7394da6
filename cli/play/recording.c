#include "cli/play/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recheck/stream_reader.h"

struct file_recording {
    struct hs_stream_reader reader;
    struct hs_stream_line line; /* the line that was read last */
    json_t *rulesets;           /* revision -> name, for the rulesets read so far */
    const char *path;
    char *error; /* buffer of HS_PLAY_ERROR_MAX bytes, owned by the caller */
};

static bool fail(const struct file_recording *file, const char *what)
{
    snprintf(file->error, HS_PLAY_ERROR_MAX, "%.200s, line %zu: %s", file->path,
             file->reader.number, what);
    return false;
}

void hs_recording_entry_clear(struct hs_recording_entry *entry)
{
    json_decref(entry->document);
    json_decref(entry->body);
    json_decref(entry->expect);
    json_decref(entry->who);
    json_decref(entry->truth);
    *entry = (struct hs_recording_entry){0};
}

json_t *hs_recording_claims(const struct hs_recording_entry *entry)
{
    if (entry->route != HS_ROUTE_HITS_POST && entry->route != HS_ROUTE_TICKS_POST)
        return NULL;
    json_t *hits = json_object_get(entry->body, "hits");
    return json_is_array(hits) ? hits : NULL;
}

/* Parses a member as JSON. Leaves *out unchanged if the member is absent. */
static bool read_json(const struct file_recording *file, struct hs_str text, json_t **out)
{
    json_error_t why;
    if (text.ptr == NULL)
        return true;
    *out = json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    return *out != NULL || fail(file, why.text);
}

static bool is_truth(const json_t *value)
{
    const char *text = json_string_value(value);
    return json_is_null(value) ||
           (text != NULL && (strcmp(text, "hit") == 0 || strcmp(text, "miss") == 0));
}

static bool is_label(const json_t *value)
{
    return hs_name_is_valid(hs_str_of(json_string_value(value)));
}

/* Reads one value for each claim into the array *out. `text` is an array with one value for each
   claim, or a single value that applies to all claims. */
static bool read_per_claim(const struct file_recording *file, struct hs_str text,
                           bool (*fits)(const json_t *), const char *fault, size_t claims,
                           json_t **out)
{
    json_t *value = NULL;
    if (text.ptr == NULL)
        return true;
    if (!read_json(file, text, &value))
        return false;
    *out = json_is_array(value) ? json_incref(value) : json_array();
    for (size_t i = 0; !json_is_array(value) && i < claims; i++)
        json_array_append(*out, value);
    json_decref(value);
    bool good = claims > 0 && json_array_size(*out) == claims;
    for (size_t i = 0; good && i < claims; i++)
        good = fits(json_array_get(*out, i));
    return good || fail(file, fault);
}

/* Returns the `now` of a body. If the body has no `now`, returns the time of its last frame. */
static double time_of(const json_t *body)
{
    const json_t *now = json_object_get(body, "now"), *frames = json_object_get(body, "frames");
    size_t count = json_array_size(frames);
    if (!json_is_number(now) && count > 0)
        now = json_object_get(json_array_get(frames, count - 1), "time");
    return json_is_number(now) ? json_number_value(now) : -HUGE_VAL;
}

/* Converts a table (columns and rows) to a list of objects. Returns NULL if a row does not have
   exactly one cell for each column. In this case, the caller sends the table unchanged, and the
   service refuses the table. */
static json_t *list_of(const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns"),
                 *rows = json_object_get(table, "rows");
    json_t *list = json_array(), *row, *cell;
    size_t i, k;
    json_array_foreach(rows, i, row)
    {
        json_t *item = json_object();
        json_array_append_new(list, item);
        json_array_foreach(row, k, cell)
        {
            const char *name = json_string_value(json_array_get(columns, k));
            if (name != NULL && !json_is_null(cell))
                json_object_set(item, name, cell);
        }
        if (json_array_size(row) != json_array_size(columns)) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static void expand(json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    json_t *list = json_is_object(value) ? list_of(value) : NULL;
    if (list != NULL)
        json_object_set_new(object, key, list);
}

/* Converts tables to lists of objects, because forge.c and tally.c read only lists. */
static void expand_tables(json_t *body)
{
    size_t i;
    json_t *frame;
    expand(body, "hits");
    expand(body, "frames");
    json_array_foreach(json_object_get(body, "frames"), i, frame) expand(frame, "players");
}

static bool read_request(const struct file_recording *file, struct hs_recording_entry *entry)
{
    const struct hs_stream_line *line = &file->line;
    entry->kind = HS_ENTRY_REQUEST;
    entry->route = line->route;
    entry->explain = line->explain;
    entry->answered = line->answer.ptr != NULL;
    if (!read_json(file, line->body, &entry->body) ||
        !read_json(file, line->expect, &entry->expect))
        return false;
    if (entry->expect != NULL && !json_is_object(entry->expect))
        return fail(file, "\"expect\" must be an object");
    expand_tables(entry->body);
    entry->at = time_of(entry->body);
    size_t claims = json_array_size(hs_recording_claims(entry));
    return read_per_claim(file, line->who, is_label,
                          "\"who\" must be a name, or an array with a name for each claim", claims,
                          &entry->who) &&
           read_per_claim(file, line->truth, is_truth,
                          "\"truth\" must be \"hit\", \"miss\" or null, or an array with "
                          "one for each claim",
                          claims, &entry->truth);
}

static bool read_document(const struct file_recording *file, struct hs_recording_entry *entry)
{
    const struct hs_stream_line *line = &file->line;
    entry->kind = line->kind == HS_STREAM_MAP ? HS_ENTRY_MAP : HS_ENTRY_RULESET;
    snprintf(entry->revision, sizeof(entry->revision), "%.*s", (int)line->revision.len,
             line->revision.ptr);
    if (entry->kind == HS_ENTRY_RULESET)
        json_object_set_new(file->rulesets, entry->revision, json_string(entry->name.text));
    return read_json(file, line->document, &entry->document);
}

/* Reads a line that opens a match. The line identifies the ruleset by the revision of a ruleset in
   the recording, or by the name of a ruleset that the service already has. */
static bool read_opening(const struct file_recording *file, struct hs_recording_entry *entry)
{
    const struct hs_stream_line *line = &file->line;
    const json_t *name = json_object_getn(file->rulesets, line->revision.ptr, line->revision.len);
    struct hs_str ruleset = name != NULL ? hs_str_of(json_string_value(name)) : line->revision;
    entry->kind = HS_ENTRY_OPEN;
    if (!hs_name_is_valid(ruleset))
        return fail(file, "the recording has no such ruleset");
    if (line->map.ptr != NULL && !hs_name_is_valid(line->map))
        return fail(file, "\"map\" must be a name");
    hs_name_set(&entry->ruleset, ruleset);
    hs_name_set(&entry->map, line->map);
    return true;
}

static bool read_entry(const struct file_recording *file, struct hs_recording_entry *entry)
{
    const struct hs_stream_line *line = &file->line;
    entry->line = file->reader.number;
    entry->kind = line->kind == HS_STREAM_HEADER ? HS_ENTRY_RESTART : HS_ENTRY_GAP;
    if (line->kind != HS_STREAM_HEADER)
        hs_name_set(&entry->name, line->name);
    if (line->kind == HS_STREAM_RULESET || line->kind == HS_STREAM_MAP)
        return read_document(file, entry);
    if (line->kind == HS_STREAM_REQUEST)
        return read_request(file, entry);
    /* An opening with a saved state counts as a gap, because the state cannot be sent. */
    return line->kind != HS_STREAM_OPEN || line->state.ptr != NULL || read_opening(file, entry);
}

static enum hs_recording_result file_next(void *state, struct hs_recording_entry *entry,
                                          char error[HS_PLAY_ERROR_MAX])
{
    struct file_recording *file = state;
    file->error = error;
    if (hs_stream_reader_next(&file->reader, &file->line))
        return read_entry(file, entry) ? HS_RECORDING_ENTRY : HS_RECORDING_BAD;
    if (file->reader.error[0] == '\0')
        return HS_RECORDING_END;
    snprintf(error, HS_PLAY_ERROR_MAX, "%.200s: %s", file->path, file->reader.error);
    return HS_RECORDING_BAD;
}

static double file_progress(void *state)
{
    const struct file_recording *file = state;
    return hs_lines_progress(file->reader.lines);
}

static void file_destroy(void *state)
{
    struct file_recording *file = state;
    hs_stream_reader_close(&file->reader);
    json_decref(file->rulesets);
    free(file);
}

static bool read_header(struct file_recording *file, struct hs_recording_header *header)
{
    const struct hs_stream_line *line = &file->line;
    json_t *title = NULL, *unit = NULL;
    struct hs_stream_reader *reader = &file->reader;
    if (reader->lines == NULL || !hs_stream_reader_next(reader, &file->line)) {
        snprintf(file->error, HS_PLAY_ERROR_MAX, "%.200s: %s", file->path,
                 reader->error[0] != '\0' ? reader->error : "is empty");
        return false;
    }
    bool good = read_json(file, line->title, &title) && read_json(file, line->unit, &unit);
    if (json_is_string(title))
        snprintf(header->title, sizeof(header->title), "%s", json_string_value(title));
    header->unit = unit != NULL ? json_number_value(unit) : 1.0;
    if (good && (!(header->unit > 0.0) || !isfinite(header->unit)))
        good = fail(file, "\"unit\" must be a number above 0");
    json_decref(title);
    json_decref(unit);
    return good;
}

struct hs_recording *hs_recording_open(const char *path, char error[HS_PLAY_ERROR_MAX])
{
    struct hs_recording *recording = calloc(1, sizeof(*recording));
    struct file_recording *file = calloc(1, sizeof(*file));
    json_t *rulesets = json_object();
    if (recording == NULL || file == NULL || rulesets == NULL) {
        snprintf(error, HS_PLAY_ERROR_MAX, "out of memory");
        free(recording);
        free(file);
        json_decref(rulesets);
        return NULL;
    }
    *file = (struct file_recording){.path = path, .rulesets = rulesets, .error = error};
    *recording = (struct hs_recording){
        .state = file, .next = file_next, .progress = file_progress, .destroy = file_destroy};
    hs_stream_reader_open(&file->reader, path);
    if (read_header(file, &recording->header))
        return recording;
    hs_recording_close(recording);
    return NULL;
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
