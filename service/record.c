#include "service/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/json_out.h"
#include "service/line_queue.h"
#include "service/log.h"
#include "service/metrics.h"
#include "service/ruleset_store.h"
#include "service/stream.h"
#include "service/version.h"

struct revision {
    char text[HS_REVISION_MAX];
};

struct hs_record {
    struct hs_line_queue *queue;
    struct hs_metrics *metrics;
    struct hs_log_limit log_limit;
    pthread_mutex_t lock; /* guards the revisions: what is in the file already */
    struct revision *revisions;
    size_t revision_count, revision_room;
};

/* ---- lines ---- */

static void write_text_member(struct hs_writer *writer, const char *key, const char *text)
{
    hs_write_key(writer, key);
    hs_write_text(writer, text);
}

static void write_int_member(struct hs_writer *writer, const char *key, size_t value)
{
    hs_write_key(writer, key);
    hs_write_int(writer, (int64_t)value);
}

static void end_line(struct hs_writer *writer)
{
    hs_write_end(writer, '}');
    hs_buffer_append(writer->buffer, "\n", 1);
    writer->needs_comma = false;
}

/* JSON has line ends between its tokens only, where blanks are as good. */
static void write_flat(struct hs_writer *writer, const char *key, struct hs_str json)
{
    hs_write_key(writer, key);
    hs_write_raw(writer, json);
    if (writer->buffer->failed)
        return;
    char *from = writer->buffer->data + writer->buffer->len - json.len;
    for (char *at = from; (at = memchr(at, '\n', json.len - (size_t)(at - from))) != NULL;)
        *at = ' ';
    for (char *at = from; (at = memchr(at, '\r', json.len - (size_t)(at - from))) != NULL;)
        *at = ' ';
}

static void write_header(struct hs_writer *writer)
{
    char time_text[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(time_text, sizeof time_text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    hs_write_begin(writer, '{');
    write_text_member(writer, "format", HS_STREAM_FORMAT);
    write_int_member(writer, "version", HS_STREAM_VERSION);
    write_text_member(writer, "program", HS_VERSION);
    write_text_member(writer, "started", time_text);
    end_line(writer);
}

static void write_ruleset(struct hs_writer *writer, const struct hs_ruleset_entry *entry)
{
    hs_write_begin(writer, '{');
    write_text_member(writer, "ruleset", entry->ruleset->name.text);
    write_text_member(writer, "revision", entry->revision);
    hs_write_key(writer, "document");
    hs_write_raw(writer, (struct hs_str){entry->document, entry->document_size});
    end_line(writer);
}

static void write_opening(struct hs_writer *writer, const struct hs_match_slot *slot)
{
    hs_write_begin(writer, '{');
    write_text_member(writer, "open", slot->name.text);
    write_text_member(writer, "ruleset", slot->ruleset->revision);
    write_int_member(writer, "max_players", slot->limits.players);
    write_int_member(writer, "max_samples", slot->limits.samples);
    write_int_member(writer, "max_movers", slot->limits.movers);
    end_line(writer);
}

static void write_request(struct hs_writer *writer, const struct hs_match_slot *slot,
                          const struct hs_recorded_request *request)
{
    hs_write_begin(writer, '{');
    write_text_member(writer, "match", slot->name.text);
    write_text_member(writer, "request", hs_stream_request_name(request->route));
    if (request->explain) {
        hs_write_key(writer, "explain");
        hs_write_bool(writer, true);
    }
    if (request->body.len > 0)
        write_flat(writer, "body", request->body);
    hs_write_key(writer, "answer");
    hs_write_raw(writer, request->answer);
    end_line(writer);
}

/* ---- rulesets, each once ---- */

/* Both with the lock held. */
static bool find_revision(const struct hs_record *record, const char *revision)
{
    for (size_t i = 0; i < record->revision_count; i++)
        if (strcmp(record->revisions[i].text, revision) == 0)
            return true;
    return false;
}

static bool add_revision(struct hs_record *record, const char *revision)
{
    if (record->revision_count == record->revision_room) {
        size_t room = record->revision_room * 2 + 16;
        struct revision *more = realloc(record->revisions, room * sizeof *more);
        if (more == NULL)
            return false;
        record->revisions = more;
        record->revision_room = room;
    }
    struct revision *added = &record->revisions[record->revision_count++];
    snprintf(added->text, sizeof added->text, "%s", revision);
    return true;
}

/* The lock is held until the line is put, so that no match is opened before it. */
static bool put_ruleset(struct hs_record *record, const struct hs_ruleset_entry *entry)
{
    pthread_mutex_lock(&record->lock);
    bool there = find_revision(record, entry->revision);
    if (!there) {
        struct hs_buffer line = {0};
        struct hs_writer writer = {.buffer = &line};
        write_ruleset(&writer, entry);
        there = add_revision(record, entry->revision);
        if (there && !hs_line_queue_put(record->queue, &line)) {
            record->revision_count--;
            there = false;
        }
        hs_buffer_free(&line);
    }
    pthread_mutex_unlock(&record->lock);
    return there;
}

/* ---- requests ---- */

/* The request is not in the recording: neither is anything of this match after it. */
static void drop(struct hs_record *record, struct hs_match_slot *slot)
{
    unsigned left_out;
    hs_metrics_recorded(record->metrics, false);
    if (slot->recorded != HS_RECORDED_ENDED)
        slot->recorded = HS_RECORDED_LOST;
    if (hs_log_allowed(&record->log_limit, &left_out))
        hs_log(HS_LOG_WARN, "a request is not recorded, nor the rest of its match",
               HS_LOG_TEXT("match", slot->name.text), HS_LOG_NUMBER("lines_dropped", left_out));
    if (slot->recorded == HS_RECORDED_ENDED)
        return;
    struct hs_buffer line = {0};
    struct hs_writer writer = {.buffer = &line};
    hs_write_begin(&writer, '{');
    write_text_member(&writer, "gap", slot->name.text);
    end_line(&writer);
    if (hs_line_queue_put(record->queue, &line))
        slot->recorded = HS_RECORDED_ENDED;
    hs_buffer_free(&line);
}

void hs_record_request(struct hs_record *record, struct hs_match_slot *slot,
                       const struct hs_recorded_request *request)
{
    bool lost = slot->recorded == HS_RECORDED_LOST || slot->recorded == HS_RECORDED_ENDED;
    bool opens = slot->recorded == HS_RECORDED_NOT;
    if (lost || request->answer.ptr == NULL || (opens && !put_ruleset(record, slot->ruleset))) {
        drop(record, slot);
        return;
    }
    struct hs_buffer lines = {0};
    struct hs_writer writer = {.buffer = &lines};
    if (opens)
        write_opening(&writer, slot);
    write_request(&writer, slot, request);
    if (hs_line_queue_put(record->queue, &lines)) {
        slot->recorded = HS_RECORDED_OPEN;
        hs_metrics_recorded(record->metrics, true);
    } else {
        drop(record, slot);
    }
    hs_buffer_free(&lines);
}

size_t hs_record_queue_bytes(struct hs_record *record)
{
    return hs_line_queue_bytes(record->queue);
}

/* ---- the recording ---- */

struct hs_record *hs_record_open(const char *path, size_t max_bytes, struct hs_metrics *metrics,
                                 char error[256])
{
    struct hs_record *record = calloc(1, sizeof *record);
    if (record == NULL) {
        snprintf(error, 256, "out of memory");
        return NULL;
    }
    record->metrics = metrics;
    record->log_limit.per_second = 1;
    pthread_mutex_init(&record->lock, NULL);
    record->queue = hs_line_queue_open(path, max_bytes, error);
    struct hs_buffer line = {0};
    struct hs_writer writer = {.buffer = &line};
    write_header(&writer);
    if (record->queue != NULL && !hs_line_queue_put(record->queue, &line)) {
        snprintf(error, 256, "out of memory");
        hs_line_queue_close(record->queue);
        record->queue = NULL;
    }
    hs_buffer_free(&line);
    if (record->queue != NULL)
        return record;
    hs_record_close(record);
    return NULL;
}

void hs_record_close(struct hs_record *record)
{
    if (record == NULL)
        return;
    hs_line_queue_close(record->queue);
    pthread_mutex_destroy(&record->lock);
    free(record->revisions);
    free(record);
}
