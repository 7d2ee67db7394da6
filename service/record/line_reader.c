#include "service/record/line_reader.h"

#include <stddef.h>

#include "service/options/values.h"
#include "service/record/members.h"
#include "service/record/stream.h"

/* The limits of a match must be in the same ranges as the service's options. */
enum { MAX_PLAYERS = 65536, MAX_MOVERS = 65536, MIN_SAMPLES = 8, MAX_SAMPLES = 16384 };

static const char *const first_members[HS_STREAM_KIND_COUNT] = {
    [HS_STREAM_HEADER] = "format",   [HS_STREAM_RULESET] = "ruleset", [HS_STREAM_MAP] = "map",
    [HS_STREAM_OPEN] = "open",       [HS_STREAM_REQUEST] = "match",   [HS_STREAM_GAP] = "gap",
    [HS_STREAM_JOURNAL] = "journal",
};

/* Types of the members after the first member. TEXT: a string without escapes. JSON: the text of
   any value. */
enum type { TEXT, JSON, WHOLE, FLAG };

static const struct member {
    const char *name;
    enum type type;
    size_t offset;
} members[] = {
#define M(name, type, field)                                                                       \
    {                                                                                              \
        name, type, offsetof(struct hs_stream_line, field)                                         \
    }
    M("revision", TEXT, revision),
    M("ruleset", TEXT, revision),
    M("map", TEXT, map),
    M("map_revision", TEXT, map_revision),
    M("tenant", TEXT, tenant),
    M("program", TEXT, program),
    M("request", TEXT, request),
    M("state", TEXT, state),
    M("layout", TEXT, layout),
    M("records", TEXT, records),
    M("reason", TEXT, reason),
    M("document", JSON, document),
    M("body", JSON, body),
    M("answer", JSON, answer),
    M("title", JSON, title),
    M("unit", JSON, unit),
    M("who", JSON, who),
    M("truth", JSON, truth),
    M("expect", JSON, expect),
    M("version", WHOLE, version),
    M("opening", WHOLE, opening),
    M("max_players", WHOLE, max_players),
    M("max_samples", WHOLE, max_samples),
    M("max_movers", WHOLE, max_movers),
    M("request_work", WHOLE, request_work),
    M("explain", FLAG, explain),
    M("brief", FLAG, brief),
    M("moves_lost", FLAG, moves_lost),
    M("ended", FLAG, ended),
#undef M
};

static bool read_text(struct hs_str value, struct hs_str *text)
{
    *text = hs_piece_text(value);
    return text->ptr != NULL;
}

/* Parses a member after the first. Skips unknown members, which a later version of the program may
   have written. */
static bool read_member(struct hs_stream_line *line, struct hs_str key, struct hs_str value)
{
    const struct member *member = members, *end = members + sizeof members / sizeof members[0];
    while (member < end && !hs_str_equal(key, hs_str_of(member->name)))
        member++;
    if (member == end)
        return true;
    void *field = (char *)line + member->offset;
    switch (member->type) {
    case TEXT:
        return read_text(value, field);
    case WHOLE:
        return hs_piece_whole(value, field);
    case JSON:
        *(struct hs_str *)field = value;
        break;
    case FLAG:
        *(bool *)field = hs_str_equal(value, HS_STR("true"));
        break;
    }
    return true;
}

/* If the line does not contain the limits of a match, sets the default limits of the service. */
static void set_limits(struct hs_stream_line *line)
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

static bool is_complete(struct hs_stream_line *line)
{
    if ((line->kind != HS_STREAM_HEADER && !hs_name_is_valid(line->name)) ||
        (line->tenant.ptr != NULL && !hs_name_is_valid(line->tenant)))
        return false;
    switch (line->kind) {
    case HS_STREAM_RULESET:
    case HS_STREAM_MAP:
        return line->revision.ptr != NULL && line->document.ptr != NULL;
    case HS_STREAM_OPEN:
        set_limits(line);
        return line->revision.ptr != NULL &&
               (line->map.ptr == NULL) == (line->map_revision.ptr == NULL) &&
               line->max_players <= MAX_PLAYERS && line->max_samples >= MIN_SAMPLES &&
               line->max_samples <= MAX_SAMPLES && line->max_movers <= MAX_MOVERS;
    case HS_STREAM_REQUEST:
        return hs_stream_request_route(line->request, &line->route);
    case HS_STREAM_JOURNAL:
        return line->ended || (line->layout.ptr != NULL && line->records.ptr != NULL);
    default:
        return true;
    }
}

bool hs_stream_line_read(struct hs_str text, struct hs_stream_line *line)
{
    struct hs_pieces pieces = hs_pieces_of(text, '{');
    struct hs_str key, value;
    int kind = 0;
    *line = (struct hs_stream_line){0};
    if (!hs_pieces_next(&pieces, &key, &value) || !read_text(value, &line->name))
        return false;
    while (kind < HS_STREAM_KIND_COUNT && !hs_str_equal(key, hs_str_of(first_members[kind])))
        kind++;
    line->kind = (enum hs_stream_kind)kind;
    bool fine = kind < HS_STREAM_KIND_COUNT;
    while (fine && hs_pieces_next(&pieces, &key, &value))
        fine = read_member(line, key, value);
    return fine && !pieces.broken && is_complete(line);
}
