#include "service/record/lines.h"

#include <time.h>

#include "service/record/stream.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"
#include "service/system/version.h"

void hs_line_end(struct hs_writer *writer)
{
    hs_write_end(writer, '}');
    hs_buffer_append(writer->buffer, "\n", 1);
    writer->needs_comma = false;
}

static void write_flat(struct hs_writer *writer, const char *key, struct hs_str json)
{
    hs_write_key(writer, key);
    hs_write_raw(writer, json);
    if (!writer->buffer->failed)
        hs_stream_flatten(writer->buffer->data + writer->buffer->len - json.len, json.len);
}

void hs_line_put_header(struct hs_writer *writer)
{
    char time_text[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(time_text, sizeof time_text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    hs_write_begin(writer, '{');
    hs_write_text_field(writer, "format", HS_STREAM_FORMAT);
    hs_write_int_field(writer, "version", HS_STREAM_VERSION);
    hs_write_text_field(writer, "program", HS_VERSION);
    hs_write_text_field(writer, "started", time_text);
    hs_line_end(writer);
}

void hs_line_begin_opening(struct hs_writer *writer, const struct hs_match_slot *slot)
{
    hs_write_begin(writer, '{');
    hs_write_text_field(writer, "open", slot->name.text);
    hs_write_int_field(writer, "opening", (int64_t)slot->opening);
    if (slot->tenant.text[0] != '\0')
        hs_write_text_field(writer, "tenant", slot->tenant.text);
    hs_write_text_field(writer, "ruleset", slot->ruleset->revision);
    if (slot->map != NULL) {
        hs_write_text_field(writer, "map", slot->map->name.text);
        hs_write_text_field(writer, "map_revision", slot->map->revision);
    }
    hs_write_int_field(writer, "max_players", slot->limits.players);
    hs_write_int_field(writer, "max_samples", slot->limits.samples);
    hs_write_int_field(writer, "max_movers", slot->limits.movers);
}

void hs_line_put_bytes(struct hs_writer *writer, const char *key, const void *bytes, size_t size)
{
    hs_write_key(writer, key);
    hs_buffer_puts(writer->buffer, "\"");
    hs_stream_encode(writer->buffer, bytes, size);
    hs_buffer_puts(writer->buffer, "\"");
    writer->needs_comma = true;
}

void hs_line_put_request(struct hs_writer *writer, const struct hs_match_slot *slot,
                         const struct hs_recorded_request *request)
{
    hs_write_begin(writer, '{');
    hs_write_text_field(writer, "match", slot->name.text);
    hs_write_text_field(writer, "request", hs_stream_request_name(request->route));
    if (request->explain)
        hs_write_bool_field(writer, "explain", true);
    if (request->brief)
        hs_write_bool_field(writer, "brief", true);
    if (request->request_work > 0)
        hs_write_int_field(writer, "request_work", (int64_t)request->request_work);
    if (request->body.len > 0)
        write_flat(writer, "body", request->body);
    hs_write_key(writer, "answer");
    hs_write_raw(writer, request->answer);
    hs_line_end(writer);
}

void hs_line_begin_document(struct hs_writer *writer, const char *kind, struct hs_str name,
                            struct hs_str revision)
{
    hs_write_begin(writer, '{');
    hs_write_str_field(writer, kind, name);
    hs_write_str_field(writer, "revision", revision);
    hs_write_key(writer, "document");
}
