#include "cli/recheck/stream_reader.h"

#include <errno.h>
#include <stdio.h>

#include "cli/recheck/members.h"
#include "service/options/values.h"
#include "service/record/stream.h"

/* What a match can be opened with: the ranges of the service's options. */
enum { MOST_PLAYERS = 65536, MOST_MOVERS = 65536, LEAST_SAMPLES = 8, MOST_SAMPLES = 16384 };

static const char *const first_members[HS_STREAM_KIND_COUNT] = {
    [HS_STREAM_HEADER] = "format",   [HS_STREAM_RULESET] = "ruleset", [HS_STREAM_MAP] = "map",
    [HS_STREAM_OPEN] = "open",       [HS_STREAM_REQUEST] = "match",   [HS_STREAM_GAP] = "gap",
    [HS_STREAM_JOURNAL] = "journal",
};

static bool is(struct hs_str text, const char *literal)
{
    return hs_str_equal(text, (struct hs_str){literal, strlen(literal)});
}

static bool read_number(struct hs_str text, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || *number > UINT64_MAX / 100)
            return false;
        *number = *number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return text.len > 0;
}

static bool read_text(struct hs_str value, struct hs_str *text)
{
    *text = hs_piece_text(value);
    return text->ptr != NULL;
}

/* A member that `play` reads. */
static bool read_played(struct hs_stream_line *line, struct hs_str key, struct hs_str value)
{
    static const struct {
        const char *name;
        size_t offset;
    } members[] = {{"title", offsetof(struct hs_stream_line, title)},
                   {"unit", offsetof(struct hs_stream_line, unit)},
                   {"who", offsetof(struct hs_stream_line, who)},
                   {"truth", offsetof(struct hs_stream_line, truth)},
                   {"expect", offsetof(struct hs_stream_line, expect)}};
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (is(key, members[i].name))
            *(struct hs_str *)((char *)line + members[i].offset) = value;
    return true;
}

/* A member that says how a match was restored, or why it was not. */
static bool read_restored(struct hs_stream_line *line, struct hs_str key, struct hs_str value)
{
    if (is(key, "state"))
        return read_text(value, &line->state);
    if (is(key, "layout"))
        return read_text(value, &line->layout);
    if (is(key, "records"))
        return read_text(value, &line->records);
    if (is(key, "reason"))
        return read_text(value, &line->reason);
    if (is(key, "moves_lost"))
        line->moves_lost = is(value, "true");
    else if (is(key, "ended"))
        line->ended = is(value, "true");
    else
        return read_played(line, key, value);
    return true;
}

/* A member that is not the first; those of later versions of the format are passed over. */
static bool read_member(struct hs_stream_line *line, struct hs_str key, struct hs_str value)
{
    struct hs_str name;
    if (is(key, "revision") || is(key, "ruleset"))
        return read_text(value, &line->revision);
    if (is(key, "map"))
        return read_text(value, &line->map);
    if (is(key, "map_revision"))
        return read_text(value, &line->map_revision);
    if (is(key, "tenant"))
        return read_text(value, &line->tenant) && hs_name_is_valid(line->tenant);
    if (is(key, "program"))
        return read_text(value, &line->program);
    if (is(key, "version"))
        return read_number(value, &line->version);
    if (is(key, "opening"))
        return read_number(value, &line->opening);
    if (is(key, "max_players"))
        return read_number(value, &line->max_players);
    if (is(key, "max_samples"))
        return read_number(value, &line->max_samples);
    if (is(key, "max_movers"))
        return read_number(value, &line->max_movers);
    if (is(key, "request_work"))
        return read_number(value, &line->request_work);
    if (is(key, "request"))
        return read_text(value, &name) && hs_stream_request_route(name, &line->route);
    if (is(key, "explain"))
        line->explain = is(value, "true");
    else if (is(key, "document"))
        line->document = value;
    else if (is(key, "body"))
        line->body = value;
    else if (is(key, "answer"))
        line->answer = value;
    else
        return read_restored(line, key, value);
    return true;
}

/* A match is opened with the bounds of a service that was not told any. */
static void set_bounds(struct hs_stream_line *line)
{
    struct hs_options options;
    if (line->max_players > 0 && line->max_samples > 0 && line->max_movers > 0)
        return;
    hs_options_default(&options);
    if (line->max_players == 0)
        line->max_players = options.max_players;
    if (line->max_samples == 0)
        line->max_samples = options.max_samples;
    if (line->max_movers == 0)
        line->max_movers = options.max_movers;
}

static bool is_whole(const struct hs_stream_line *line)
{
    if (line->kind != HS_STREAM_HEADER && !hs_name_is_valid(line->name))
        return false;
    switch (line->kind) {
    case HS_STREAM_RULESET:
    case HS_STREAM_MAP:
        return line->revision.ptr != NULL && line->document.ptr != NULL;
    case HS_STREAM_OPEN:
        return line->revision.ptr != NULL &&
               (line->map.ptr == NULL) == (line->map_revision.ptr == NULL) &&
               line->max_players <= MOST_PLAYERS && line->max_samples >= LEAST_SAMPLES &&
               line->max_samples <= MOST_SAMPLES && line->max_movers <= MOST_MOVERS;
    case HS_STREAM_REQUEST:
        return line->route != HS_ROUTE_COUNT;
    case HS_STREAM_JOURNAL:
        return line->ended || (line->layout.ptr != NULL && line->records.ptr != NULL);
    case HS_STREAM_HEADER:
    case HS_STREAM_GAP:
    case HS_STREAM_KIND_COUNT:
        break;
    }
    return true;
}

static bool read_line(const char *text, struct hs_stream_line *line)
{
    struct hs_pieces pieces = hs_pieces_of((struct hs_str){text, strlen(text)}, '{');
    struct hs_str key, value;
    int kind = 0;
    *line = (struct hs_stream_line){.route = HS_ROUTE_COUNT};
    if (!hs_pieces_next(&pieces, &key, &value) || !read_text(value, &line->name))
        return false;
    while (kind < HS_STREAM_KIND_COUNT && !is(key, first_members[kind]))
        kind++;
    line->kind = (enum hs_stream_kind)kind;
    bool fine = kind < HS_STREAM_KIND_COUNT;
    while (fine && hs_pieces_next(&pieces, &key, &value))
        fine = read_member(line, key, value);
    if (fine && line->kind == HS_STREAM_OPEN)
        set_bounds(line);
    return fine && !pieces.broken && is_whole(line);
}

static bool wrong(struct hs_stream_reader *reader, size_t number, const char *what)
{
    snprintf(reader->error, sizeof reader->error, "line %zu: %s", number, what);
    return false;
}

static const char *const is_foreign = "is not the first line of a recording of hindsight";

static bool check_header(struct hs_stream_reader *reader, const struct hs_stream_line *line)
{
    if (!is(line->name, HS_STREAM_FORMAT))
        return wrong(reader, reader->number, is_foreign);
    if (line->version < HS_STREAM_OLDEST || line->version > HS_STREAM_VERSION)
        return wrong(reader, reader->number, "another version of the format");
    reader->is_recording = true;
    return true;
}

/* The next line of the file. NULL: the end, or an error. */
static const char *next_text(struct hs_stream_reader *reader)
{
    const char *text = hs_lines_next(reader->lines);
    const char *failure = hs_lines_error(reader->lines);
    if (failure != NULL)
        wrong(reader, hs_lines_number(reader->lines), failure);
    else if (text != NULL)
        reader->number = hs_lines_number(reader->lines);
    return failure != NULL ? NULL : text;
}

/* After a broken line: the next header, behind nothing but broken lines. False: the end, or an
   error. */
static bool find_header(struct hs_stream_reader *reader, struct hs_stream_line *line)
{
    const char *text;
    size_t broken = reader->number, count = 0;
    bool ended, is_line;
    do {
        count++;
        ended = hs_lines_ended(reader->lines);
        text = next_text(reader);
        is_line = text != NULL && read_line(text, line);
    } while (text != NULL && !is_line);
    if (reader->error[0] != '\0')
        return false;
    bool restarted = is_line && line->kind == HS_STREAM_HEADER;
    if (!restarted && (is_line || ended || broken == 1))
        return wrong(reader, broken, broken == 1 ? is_foreign : "is not a line of a recording");
    reader->interrupted += count;
    return restarted;
}

bool hs_stream_reader_next(struct hs_stream_reader *reader, struct hs_stream_line *line)
{
    const char *text = next_text(reader);
    if (text == NULL)
        return false;
    if (!read_line(text, line) && !find_header(reader, line))
        return false;
    if (reader->number == 1 && line->kind != HS_STREAM_HEADER)
        return wrong(reader, reader->number, is_foreign);
    return line->kind != HS_STREAM_HEADER || check_header(reader, line);
}

bool hs_stream_reader_open(struct hs_stream_reader *reader, const char *path)
{
    *reader = (struct hs_stream_reader){.lines = hs_lines_open(path)};
    if (reader->lines == NULL)
        snprintf(reader->error, sizeof reader->error, "cannot be read: %s", strerror(errno));
    return reader->lines != NULL;
}

void hs_stream_reader_close(struct hs_stream_reader *reader)
{
    hs_lines_close(reader->lines);
}
