#include "service/record/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/json/writing.h"
#include "service/record/lines.h"
#include "service/record/queue.h"
#include "service/record/stream.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"
#include "service/system/array.h"
#include "service/system/clock.h"
#include "service/system/version.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

/* How long the start of the service waits for space in the queue. With a longer time, a hanging
   disk would delay the start. With a shorter time, a slow disk would lose recordings of restored
   matches. */
enum { RESTORE_WAIT_US = 5000000 };

/* The name and the revision of a ruleset or a map. */
struct revision {
    char text[HS_NAME_MAX + HS_REVISION_MAX + 1];
};

struct hs_record {
    struct hs_line_queue *queue;
    struct hs_metrics *metrics;
    struct hs_map_store *maps;
    struct hs_log_limit log_limit;
    size_t max_bytes; /* limit of the queue */
    /* a wait during the service's start has timed out; the next waits are skipped */
    bool has_waited_long;
    pthread_mutex_t lock; /* guards `revisions`, a list of the rulesets and maps in the file */
    struct revision *revisions;
    size_t revision_count, revision_capacity;
};

/* ---- rulesets and maps, which are written only once ---- */

static bool put_ruleset(struct hs_record *record, const struct hs_ruleset_entry *entry)
{
    struct hs_buffer line = {0};
    struct hs_writer writer = {.buffer = &line};
    hs_line_begin_document(&writer, "ruleset", hs_name_str(&entry->ruleset->name),
                           hs_str_of(entry->revision));
    hs_write_raw(&writer, (struct hs_str){entry->document, entry->document_size});
    hs_line_end(&writer);
    bool taken = hs_line_queue_put(record->queue, &line);
    hs_buffer_free(&line);
    return taken;
}

/* A map that is retained until its line is written. */
struct held_map {
    struct hs_map_store *maps;
    struct hs_map_entry *entry;
};

static void release_map(void *holder)
{
    struct held_map *held = holder;
    hs_map_store_release(held->maps, held->entry);
    free(held);
}

/* The document of a map may be large, so the document is not copied. Instead, the map is retained
   until its line is written. */
static bool put_map(struct hs_record *record, struct hs_map_entry *entry)
{
    struct held_map *held = entry->document != NULL ? malloc(sizeof *held) : NULL;
    if (held == NULL)
        return false;
    *held = (struct held_map){record->maps, entry};
    hs_map_store_retain(record->maps, entry);
    struct hs_buffer head = {0};
    struct hs_writer writer = {.buffer = &head};
    hs_line_begin_document(&writer, "map", hs_name_str(&entry->name), hs_str_of(entry->revision));
    struct hs_str document = {entry->document, entry->document_size};
    bool taken = hs_line_queue_put_around(record->queue, &head, document, release_map, held);
    hs_buffer_free(&head);
    return taken;
}

/* Queues a ruleset or a map. Does nothing if the file already contains the document. Reserves
   memory for the revision before it queues the document. If the document were queued first and
   memory for the revision ran out, the same document would be written again for each match. The
   caller holds the lock. */
static bool put_once(struct hs_record *record, const struct hs_name *name, const char *revision,
                     const struct hs_ruleset_entry *ruleset, struct hs_map_entry *map)
{
    struct revision wanted;
    snprintf(wanted.text, sizeof wanted.text, "%s %s", name->text, revision);
    for (size_t i = 0; i < record->revision_count; i++)
        if (strcmp(record->revisions[i].text, wanted.text) == 0)
            return true;
    void *more = hs_array_grow(record->revisions, record->revision_count,
                               &record->revision_capacity, sizeof wanted);
    if (more == NULL)
        return false;
    record->revisions = more;
    if (map != NULL ? !put_map(record, map) : !put_ruleset(record, ruleset))
        return false;
    record->revisions[record->revision_count++] = wanted;
    return true;
}

/* Queues the ruleset and the map of a match if they are not in the file yet. Holds the lock while
   it queues the ruleset and the map. So in the file, the ruleset and the map come before the
   opening line of every match that uses them. */
static bool put_what_it_needs(struct hs_record *record, const struct hs_match_slot *slot)
{
    const struct hs_ruleset_entry *ruleset = slot->ruleset;
    struct hs_map_entry *map = slot->map;
    pthread_mutex_lock(&record->lock);
    bool there = put_once(record, &ruleset->ruleset->name, ruleset->revision, ruleset, NULL) &&
                 (map == NULL || put_once(record, &map->name, map->revision, NULL, map));
    pthread_mutex_unlock(&record->lock);
    return there;
}

/* ---- requests ---- */

/* Queues the line that ends the recording of a match. `reason`: a sentence; NULL: requests are
   missing. If `must` is set, the line ignores the limit of the queue. */
static void put_gap(struct hs_record *record, struct hs_match_slot *slot, const char *reason,
                    bool must)
{
    struct hs_buffer line = {0};
    struct hs_writer writer = {.buffer = &line};
    hs_write_begin(&writer, '{');
    hs_write_text_field(&writer, "gap", slot->name.text);
    if (reason != NULL)
        hs_write_text_field(&writer, "reason", reason);
    hs_line_end(&writer);
    slot->recorded = HS_RECORDED_LOST;
    if (must ? hs_line_queue_put_last(record->queue, &line)
             : hs_line_queue_put(record->queue, &line))
        slot->recorded = HS_RECORDED_ENDED;
    hs_buffer_free(&line);
}

static void drop(struct hs_record *record, struct hs_match_slot *slot)
{
    hs_metrics_add(record->metrics, HS_METRIC_RECORD_DROPPED, 0, 1);
    hs_log_report(&record->log_limit, false);
    if (hs_log_allowed(&record->log_limit))
        hs_log(HS_LOG_WARN, "a request and the rest of its match are not recorded",
               HS_LOG_TEXT("match", slot->name.text));
    if (slot->recorded != HS_RECORDED_ENDED)
        put_gap(record, slot, NULL, false);
}

void hs_record_request(struct hs_record *record, struct hs_match_slot *slot,
                       const struct hs_recorded_request *request)
{
    bool lost = slot->recorded == HS_RECORDED_LOST || slot->recorded == HS_RECORDED_ENDED;
    bool opens = slot->recorded == HS_RECORDED_NOT;
    if (lost || request->answer.ptr == NULL || (opens && !put_what_it_needs(record, slot))) {
        drop(record, slot);
        return;
    }
    struct hs_buffer lines = {0};
    struct hs_writer writer = {.buffer = &lines};
    if (opens) {
        hs_line_begin_opening(&writer, slot);
        hs_line_end(&writer);
    }
    hs_line_put_request(&writer, slot, request);
    if (hs_line_queue_put(record->queue, &lines)) {
        slot->recorded = HS_RECORDED_OPEN;
        hs_metrics_add(record->metrics, HS_METRIC_RECORDED, 0, 1);
    } else {
        drop(record, slot);
    }
    hs_buffer_free(&lines);
}

/* ---- the start ---- */

static const char *const is_too_large = "its saved state does not fit into --record-queue-bytes";

/* Ends the recording of a restored match. */
static void leave_out(struct hs_record *record, struct hs_match_slot *slot, const char *reason)
{
    put_gap(record, slot, reason, true);
    if (hs_log_allowed(&record->log_limit))
        hs_log(HS_LOG_WARN, "a restored match is not recorded",
               HS_LOG_TEXT("match", slot->name.text), HS_LOG_TEXT("detail", reason));
}

static bool wait_for_space(struct hs_record *record, size_t bytes)
{
    int64_t until_us = record->has_waited_long ? 0 : hs_clock_us() + RESTORE_WAIT_US;
    bool has_space = hs_line_queue_wait(record->queue, bytes, until_us);
    record->has_waited_long = record->has_waited_long || !has_space;
    return has_space;
}

/* Queues a line and frees `line`. Returns NULL on success, otherwise the reason for the failure. */
static const char *put_at_start(struct hs_record *record, struct hs_buffer *line)
{
    const char *reason = line->failed ? "out of memory" : NULL;
    if (reason == NULL &&
        (!wait_for_space(record, line->len) || !hs_line_queue_put(record->queue, line)))
        reason = "the recording could not be written in time";
    hs_buffer_free(line);
    return reason;
}

/* Max bytes that a line needs in addition to its base64, including the overhead of the queue. */
enum { LINE_REST = 8192 };

/* Returns whether a line with `size` bytes as base64 fits into an empty queue. */
static bool may_fit(const struct hs_record *record, size_t size)
{
    return size <= HS_STREAM_STATE_MAX && size / 3 * 4 + LINE_REST <= record->max_bytes;
}

static const char *put_restored(struct hs_record *record, const struct hs_match_slot *slot,
                                const void *state, size_t size, bool moves_lost)
{
    struct hs_buffer line = {0};
    struct hs_writer writer = {.buffer = &line};
    if (slot->awaited_map.text[0] != '\0')
        return "its map was lost in the restart";
    size_t document_size = slot->ruleset->document_size;
    if (!may_fit(record, size) || !may_fit(record, document_size))
        return is_too_large;
    if (!wait_for_space(record, document_size + LINE_REST) || !put_what_it_needs(record, slot))
        return "its ruleset or its map could not be written";
    hs_line_begin_opening(&writer, slot);
    if (moves_lost)
        hs_write_bool_field(&writer, "moves_lost", true);
    hs_line_put_bytes(&writer, "state", state, size);
    hs_line_end(&writer);
    return put_at_start(record, &line);
}

void hs_record_restored(struct hs_record *record, struct hs_match_slot *slot, const void *state,
                        size_t size, bool moves_lost)
{
    if (record == NULL)
        return;
    const char *reason = put_restored(record, slot, state, size, moves_lost);
    if (reason == NULL)
        slot->recorded = HS_RECORDED_OPEN;
    else
        leave_out(record, slot, reason);
}

void hs_record_replayed(struct hs_record *record, struct hs_match_slot *slot, const void *records,
                        size_t size)
{
    struct hs_buffer line = {0};
    struct hs_writer writer = {.buffer = &line};
    char layout[HS_STREAM_LAYOUT];
    if (record == NULL || slot->recorded != HS_RECORDED_OPEN)
        return;
    const char *reason = is_too_large;
    if (may_fit(record, size)) {
        hs_write_begin(&writer, '{');
        hs_write_text_field(&writer, "journal", slot->name.text);
        if (records != NULL) {
            hs_stream_layout(layout);
            hs_write_text_field(&writer, "layout", layout);
            hs_line_put_bytes(&writer, "records", records, size);
        } else {
            hs_write_bool_field(&writer, "ended", true);
        }
        hs_line_end(&writer);
        reason = put_at_start(record, &line);
    }
    if (reason != NULL)
        leave_out(record, slot, reason);
}

size_t hs_record_queue_bytes(struct hs_record *record)
{
    return hs_line_queue_bytes(record->queue);
}

/* ---- the recording ---- */

struct hs_record *hs_record_open(const char *path, size_t max_bytes, struct hs_metrics *metrics,
                                 struct hs_map_store *maps, char error[256])
{
    struct hs_record *record = calloc(1, sizeof *record);
    if (record == NULL) {
        snprintf(error, 256, "out of memory");
        return NULL;
    }
    record->metrics = metrics;
    record->maps = maps;
    record->max_bytes = max_bytes;
    record->log_limit = (struct hs_log_limit){.per_second = 1, .kind = "requests not recorded"};
    pthread_mutex_init(&record->lock, NULL);
    record->queue = hs_line_queue_open(path, max_bytes, error);
    struct hs_buffer line = {0};
    struct hs_writer writer = {.buffer = &line};
    hs_line_put_header(&writer);
    bool fine = record->queue != NULL && hs_line_queue_put(record->queue, &line);
    if (!fine && record->queue != NULL)
        snprintf(error, 256, "out of memory");
    hs_buffer_free(&line);
    if (fine)
        return record;
    hs_record_close(record, NULL);
    return NULL;
}

static void mark_lost(void *context, struct hs_match_slot *slot)
{
    if (slot->recorded == HS_RECORDED_LOST)
        put_gap(context, slot, NULL, true);
}

void hs_record_close(struct hs_record *record, struct hs_registry *registry)
{
    if (record == NULL)
        return;
    if (registry != NULL && record->queue != NULL)
        hs_registry_each(registry, (struct hs_str){0}, mark_lost, record);
    hs_line_queue_close(record->queue);
    hs_log_report(&record->log_limit, true);
    pthread_mutex_destroy(&record->lock);
    free(record->revisions);
    free(record);
}
