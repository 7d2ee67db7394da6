#include "service/evidence/writer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "service/evidence/documents.h"
#include "service/evidence/files.h"
#include "service/evidence/spool.h"
#include "service/evidence/wal.h"
#include "service/service.h"
#include "service/system/clock.h"
#include "service/system/thread.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

/* A crash may lose at most the verdicts of the last 0.2 s. A row waits up to COMMIT_US until its
   transaction starts. The rest of the 0.2 s is for the transaction, which is slow if the thread
   rarely gets a processor. A transaction has at most COMMIT_ROWS rows, because a small transaction
   needs less processor time. MOVE_US: the interval between moves of the write-ahead log into the
   file (wal.h). The first commit after a move syncs the disk, because SQLite then writes at the
   start of its log again. */
enum { COMMIT_ROWS = 50, COMMIT_US = 20000, MOVE_US = 5000000 };
enum { RETRY_US = 1000000, WAIT_US = 2000000 };
/* SQLite does not queue connections that wait for a file. So after TURN_US of commits, the thread
   pauses until no connection of this process waits. The pause lasts at most PAUSES times NAP_NS.
   NAP_NS is longer than the time after which a waiting connection of another process tries again.
   Without the pauses, a constant stream of verdicts would prevent deletions and the storing of
   maps. */
enum { TURN_US = 100000, NAP_NS = 3000000, PAUSES = 16 };

/* A queued row. Its strings follow in the same allocation. */
struct item {
    struct item *next;
    struct hs_evidence_row row;
    struct hs_ruleset_entry *ruleset; /* retained */
    struct hs_map_entry *map;         /* retained; may be NULL */
    size_t size;
    int64_t added_us; /* monotonic */
    bool is_refused;  /* the file has refused the row, so the row is skipped */
};

struct hs_evidence {
    const struct hs_service *service;
    struct hs_evidence_settings settings;
    struct hs_log_limit log_limit;
    pthread_mutex_t lock; /* guards the members from `first` to `end_us` */
    pthread_cond_t wake;
    struct item *first, **last;
    size_t bytes, count;
    uint64_t added, done; /* added: rows queued so far. done: rows committed or dropped so far */
    uint64_t lost;        /* value of `done` after the newest batch with dropped rows; 0: none */
    struct hs_evidence_wait *waits;
    bool is_ending;
    int64_t end_us; /* if is_ending: the thread gives up at this time (hs_clock_us) */
    pthread_t thread;
    struct hs_wal_mover *mover;
    struct hs_spool *spool;          /* NULL without PostgreSQL */
    struct hs_evidence_store *store; /* open file; only the thread uses `store` and `day` */
    char day[HS_EVIDENCE_DAY];       /* place of the open file (files.h) */
};

/* ---- items ---- */

static void free_item(struct hs_evidence *evidence, struct item *item)
{
    hs_ruleset_store_release(evidence->service->rulesets, item->ruleset);
    hs_map_store_release(evidence->service->maps, item->map);
    free(item);
}

static char *copy_text(char *to, struct hs_str *text)
{
    if (text->ptr == NULL)
        return to;
    memcpy(to, text->ptr, text->len);
    text->ptr = to;
    return to + text->len;
}

/* The strings in a row, except those in HS_EVIDENCE_TEXTS. X(member) */
#define ROW_TEXTS(X)                                                                               \
    X(id) X(unit) X(revision) X(map) X(map_revision) X(opening) X(request) X(state) X(context)

static struct item *make_item(const struct hs_evidence_row *row)
{
    size_t size = sizeof(struct item);
#define X(member, column) size += row->member.len;
    HS_EVIDENCE_TEXTS(X)
#undef X
#define X(member) size += row->member.len;
    ROW_TEXTS(X)
#undef X
    struct item *item = malloc(size);
    if (item == NULL)
        return NULL;
    *item = (struct item){.row = *row, .size = size};
    char *to = (char *)(item + 1);
#define X(member, column) to = copy_text(to, &item->row.member);
    HS_EVIDENCE_TEXTS(X)
#undef X
#define X(member) to = copy_text(to, &item->row.member);
    ROW_TEXTS(X)
#undef X
    return item;
}

/* ---- the thread ---- */

static void count_dropped(struct hs_evidence *evidence, enum hs_evidence_drop why, size_t rows)
{
    hs_metrics_add(evidence->service->metrics, HS_METRIC_EVIDENCE_DROPPED, why, (int64_t)rows);
}

static void report_failure(struct hs_evidence *evidence, const char *detail)
{
    hs_metrics_add(evidence->service->metrics, HS_METRIC_EVIDENCE_FAILURES, 0, 1);
    if (hs_log_allowed(&evidence->log_limit))
        hs_log(HS_LOG_ERROR, "the evidence store cannot be written", HS_LOG_TEXT("detail", detail));
}

/* With PostgreSQL, limits the size of the spool. Otherwise removes old files. */
static void limit_size(struct hs_evidence *evidence)
{
    const struct hs_evidence_settings *settings = &evidence->settings;
    if (settings->home.is_postgres)
        hs_evidence_store_limit(evidence->store, settings->keep_bytes);
    else
        hs_evidence_remove_old(settings->home.directory, evidence->day, settings->keep_days,
                               settings->keep_bytes);
}

/* Renames a damaged file, so that the next verdict creates a new file. */
static void move_aside(struct hs_evidence *evidence, const char *place)
{
    hs_metrics_add(evidence->service->metrics, HS_METRIC_EVIDENCE_FAILURES, 0, 1);
    hs_wal_mover_hold(evidence->mover);
    if (evidence->spool != NULL)
        hs_spool_move_aside(evidence->spool);
    else
        hs_evidence_move_aside(evidence->settings.home.directory, place, time(NULL));
    hs_wal_mover_release(evidence->mover);
}

/* Sets the place for new rows (the file of today, or the spool) and its path. */
static void find_place(const struct hs_evidence *evidence, char place[HS_EVIDENCE_DAY],
                       char path[HS_EVIDENCE_PATH])
{
    memcpy(place, HS_EVIDENCE_SPOOL, sizeof HS_EVIDENCE_SPOOL);
    if (evidence->spool == NULL)
        hs_evidence_day(time(NULL), place);
    hs_evidence_path(evidence->settings.home.directory, place, path);
}

/* Opens the file for new rows, if it is not open yet. When a new day has begun, also removes old
   files. */
static bool open_day(struct hs_evidence *evidence)
{
    bool is_synced = evidence->settings.is_synced;
    char day[HS_EVIDENCE_DAY], path[HS_EVIDENCE_PATH], error[256];
    find_place(evidence, day, path);
    if (hs_spool_is_damaged(evidence->spool)) {
        hs_evidence_store_close(evidence->store);
        evidence->store = NULL;
        move_aside(evidence, day);
    }
    if (evidence->store != NULL && strcmp(day, evidence->day) == 0)
        return true;
    hs_evidence_store_close(evidence->store);
    evidence->store = hs_evidence_store_open(path, is_synced, error);
    if (evidence->store == NULL && hs_evidence_store_file_is_damaged(path)) {
        move_aside(evidence, day);
        evidence->store = hs_evidence_store_open(path, is_synced, error);
    }
    if (evidence->store == NULL) {
        report_failure(evidence, error);
        return false;
    }
    snprintf(evidence->day, sizeof evidence->day, "%s", day);
    hs_wal_leave(hs_evidence_store_db(evidence->store));
    limit_size(evidence);
    return true;
}

/* Readers expect that each file contains only times of its own day. If a row from before midnight
   is written after midnight, its time becomes the start of the new day. If the wall clock steps
   back over midnight, the time of a row becomes the current time. Because the store keeps times in
   order, the rows stay in the order of the queue. */
static bool put_row(struct hs_evidence *evidence, const struct hs_evidence_row *row)
{
    struct hs_evidence_row moved = *row;
    int64_t day_us, end_us;
    hs_evidence_span(evidence->day, &day_us, &end_us);
    int64_t at_us = row->at_us < end_us ? row->at_us : hs_clock_wall_us();
    moved.at_us = at_us < day_us ? day_us : at_us < end_us ? at_us : end_us - 1;
    return hs_evidence_store_put(evidence->store, &moved, end_us);
}

/* Writes a list of rows in one transaction. On failure, *failed is the row that could not be
   written, or NULL if no single row caused the failure. */
static bool try_items(struct hs_evidence *evidence, struct item *items, struct item **failed)
{
    struct hs_evidence_store *store = evidence->store;
    *failed = NULL;
    if (!hs_evidence_store_begin(store))
        return false;
    for (struct item *item = items; item != NULL && *failed == NULL; item = item->next)
        if (!item->is_refused &&
            (!hs_evidence_put_documents(store, evidence->settings.home.directory, item->ruleset,
                                        item->map) ||
             !put_row(evidence, &item->row)))
            *failed = item;
    return *failed == NULL && hs_evidence_store_commit(store);
}

/* Writes a list of rows. Skips each row that the file refuses, so that a refused row does not delay
   the other rows. */
static bool write_items(struct hs_evidence *evidence, struct item *items)
{
    struct item *failed;
    if (!open_day(evidence))
        return false;
    struct hs_evidence_store *store = evidence->store;
    while (!try_items(evidence, items, &failed)) {
        bool is_refused = failed != NULL && hs_evidence_store_has_refused(store);
        bool is_damaged = hs_evidence_store_is_damaged(store);
        report_failure(evidence, hs_evidence_store_error(store));
        hs_evidence_store_undo(store);
        if (!is_refused) {
            hs_evidence_store_close(store);
            /* At the next try, another file may have the same path. So the file must be opened
               again. */
            evidence->store = NULL;
            if (is_damaged)
                move_aside(evidence, evidence->day);
            return false;
        }
        failed->is_refused = true;
    }
    char path[HS_EVIDENCE_PATH];
    hs_evidence_path(evidence->settings.home.directory, evidence->day, path);
    hs_wal_mover_written(evidence->mover, path);
    return true;
}

/* Ends the waits whose rows were written or lost, the waits of `owner`, and the waits that have
   timed out by `now_us`. The caller holds the lock. */
static void end_waits(struct hs_evidence *evidence, const void *owner, int64_t now_us)
{
    struct hs_evidence_wait **at = &evidence->waits;
    while (*at != NULL) {
        struct hs_evidence_wait *wait = *at;
        bool is_lost = evidence->lost > wait->done_before;
        bool is_settled = evidence->done >= wait->mark && !is_lost;
        if (!is_settled && !is_lost && wait->owner != owner && now_us < wait->until_us) {
            at = &wait->next;
            continue;
        }
        *at = wait->next; /* `done` may free the wait */
        wait->is_lost = !is_settled;
        wait->done(wait);
    }
}

/* Frees a list of rows after the rows were committed or dropped, and ends the waits for these rows.
   The caller holds the lock. */
static void finish(struct hs_evidence *evidence, struct item *items, bool is_written)
{
    size_t count = 0, refused = 0;
    while (items != NULL) {
        struct item *item = items;
        items = item->next;
        evidence->bytes -= item->size;
        count++;
        refused += item->is_refused;
        free_item(evidence, item);
    }
    if (is_written)
        hs_spool_add(evidence->spool, count - refused);
    evidence->count -= count;
    evidence->done += count;
    if (!is_written || refused > 0)
        evidence->lost = evidence->done;
    end_waits(evidence, NULL, 0);
    count_dropped(evidence, HS_EVIDENCE_DROP_REFUSED, refused);
    if (is_written)
        hs_metrics_add(evidence->service->metrics, HS_METRIC_EVIDENCE_WRITTEN, 0,
                       (int64_t)(count - refused));
    else
        count_dropped(evidence, HS_EVIDENCE_DROP_DISK, count - refused);
}

static bool is_batch_due(const struct hs_evidence *evidence)
{
    return evidence->is_ending || evidence->count >= COMMIT_ROWS ||
           (evidence->first != NULL && (evidence->settings.is_synced ||
                                        hs_clock_us() >= evidence->first->added_us + COMMIT_US));
}

/* Waits until a batch must be written. Removes up to COMMIT_ROWS rows from the queue, and returns a
   list of these rows; NULL: the writer is stopping. The caller holds the lock, which is released
   during the wait. */
static struct item *take_batch(struct hs_evidence *evidence)
{
    while (!is_batch_due(evidence)) {
        int64_t from_us = evidence->first != NULL ? evidence->first->added_us : hs_clock_us();
        struct timespec until = hs_clock_timespec(from_us + COMMIT_US);
        pthread_cond_timedwait(&evidence->wake, &evidence->lock, &until);
    }
    struct item *items = evidence->first, **end = &items;
    for (size_t i = 0; i < COMMIT_ROWS && *end != NULL; i++)
        end = &(*end)->next;
    evidence->first = *end;
    if (*end == NULL)
        evidence->last = &evidence->first;
    *end = NULL;
    return items;
}

/* Writes a batch. After a failure, tries again until the batch is written or the writer must stop.
   The caller holds the lock, which is released while the rows are written. */
static void write_batch(struct hs_evidence *evidence, struct item *items)
{
    bool is_written;
    for (;;) {
        pthread_mutex_unlock(&evidence->lock);
        is_written = write_items(evidence, items);
        pthread_mutex_lock(&evidence->lock);
        if (is_written || (evidence->is_ending && hs_clock_us() >= evidence->end_us))
            break;
        struct timespec until = hs_clock_timespec(hs_clock_us() + RETRY_US);
        pthread_cond_timedwait(&evidence->wake, &evidence->lock, &until);
    }
    finish(evidence, items, is_written);
}

/* If the file for new rows already exists, opens it and starts its log. Opening can be slow,
   because SQLite recovers its log after a crash, and the first write to a log syncs the disk. Call
   this function before the service accepts requests, so that the first rows do not wait. */
static void open_existing(struct hs_evidence *evidence)
{
    char day[HS_EVIDENCE_DAY], path[HS_EVIDENCE_PATH];
    find_place(evidence, day, path);
    if (access(path, F_OK) == 0 && open_day(evidence))
        hs_wal_begin(hs_evidence_store_db(evidence->store));
}

/* Pauses the thread, so that other connections can write. The caller holds the lock, which is
   released during the pause. */
static void give_turn(struct hs_evidence *evidence)
{
    pthread_mutex_unlock(&evidence->lock);
    int pauses = 0;
    do
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    while (++pauses < PAUSES && hs_db_has_waiting());
    pthread_mutex_lock(&evidence->lock);
}

static void *write_rows(void *context)
{
    struct hs_evidence *evidence = context;
    int64_t turn_us = hs_clock_us();
    pthread_mutex_lock(&evidence->lock);
    for (;;) {
        struct item *items = take_batch(evidence);
        if (items == NULL)
            break;
        write_batch(evidence, items);
        if (hs_clock_us() - turn_us < TURN_US)
            continue;
        give_turn(evidence);
        turn_us = hs_clock_us();
    }
    pthread_mutex_unlock(&evidence->lock);
    hs_evidence_store_close(evidence->store);
    return NULL;
}

/* ---- requests ---- */

bool hs_evidence_wants(const struct hs_evidence *evidence, bool is_plain, struct hs_str id)
{
    enum { ENOUGH = 8 }; /* how many hex digits of the id (a hash) select the sample */
    unsigned sample = evidence->settings.sample;
    if (id.len > ENOUGH)
        id.len = ENOUGH;
    return !is_plain || (sample > 0 && hs_str_hash(id) % sample == 0);
}

/* Returns whether a row of `size` bytes may be queued. The caller holds the lock. */
static bool has_space(const struct hs_evidence *evidence, size_t size, bool is_sample)
{
    size_t limit = evidence->settings.queue_bytes / (is_sample ? 2 : 1);
    if (evidence->is_ending)
        return false;
    return (evidence->settings.blocks && !is_sample) ||
           (evidence->bytes < limit && size <= limit - evidence->bytes);
}

bool hs_evidence_is_blocked(struct hs_evidence *evidence)
{
    if (evidence == NULL || !evidence->settings.blocks)
        return false;
    pthread_mutex_lock(&evidence->lock);
    bool is_full = evidence->bytes >= evidence->settings.queue_bytes;
    pthread_mutex_unlock(&evidence->lock);
    return is_full;
}

bool hs_evidence_put(struct hs_evidence *evidence, const struct hs_evidence_row *row,
                     bool is_sample, struct hs_ruleset_entry *ruleset, struct hs_map_entry *map)
{
    struct item *item = make_item(row);
    if (item == NULL) {
        count_dropped(evidence, HS_EVIDENCE_DROP_MEMORY, 1);
        return false;
    }
    hs_ruleset_store_retain(evidence->service->rulesets, item->ruleset = ruleset);
    item->map = map;
    if (map != NULL)
        hs_map_store_retain(evidence->service->maps, map);
    pthread_mutex_lock(&evidence->lock);
    bool fits = has_space(evidence, item->size, is_sample);
    if (fits) {
        item->added_us = hs_clock_us();
        evidence->bytes += item->size;
        evidence->count++;
        evidence->added++;
        *evidence->last = item;
        evidence->last = &item->next;
        if (evidence->count == 1 || evidence->count == COMMIT_ROWS)
            pthread_cond_signal(&evidence->wake);
    }
    pthread_mutex_unlock(&evidence->lock);
    if (fits)
        return true;
    free_item(evidence, item);
    count_dropped(evidence, is_sample ? HS_EVIDENCE_DROP_SAMPLE : HS_EVIDENCE_DROP_QUEUE, 1);
    return false;
}

/* ---- waits ---- */

uint64_t hs_evidence_done(struct hs_evidence *evidence)
{
    if (evidence == NULL || !evidence->settings.is_synced)
        return 0;
    pthread_mutex_lock(&evidence->lock);
    uint64_t done = evidence->done;
    pthread_mutex_unlock(&evidence->lock);
    return done;
}

uint64_t hs_evidence_mark(struct hs_evidence *evidence, uint64_t done_before)
{
    if (evidence == NULL || !evidence->settings.is_synced)
        return 0;
    pthread_mutex_lock(&evidence->lock);
    bool must_wait = evidence->done < evidence->added || evidence->lost > done_before;
    uint64_t mark = must_wait ? evidence->added : 0;
    pthread_mutex_unlock(&evidence->lock);
    return mark;
}

bool hs_evidence_await(struct hs_evidence *evidence, struct hs_evidence_wait *wait)
{
    wait->until_us = hs_clock_us() + WAIT_US;
    pthread_mutex_lock(&evidence->lock);
    wait->is_lost = evidence->lost > wait->done_before;
    bool must_wait = evidence->done < wait->mark && !wait->is_lost;
    if (must_wait) {
        wait->next = evidence->waits;
        evidence->waits = wait;
    }
    pthread_mutex_unlock(&evidence->lock);
    return must_wait;
}

void hs_evidence_expire(struct hs_evidence *evidence)
{
    if (evidence == NULL)
        return;
    pthread_mutex_lock(&evidence->lock);
    end_waits(evidence, NULL, hs_clock_us());
    pthread_mutex_unlock(&evidence->lock);
}

void hs_evidence_end_waits(struct hs_evidence *evidence, const void *owner)
{
    if (evidence == NULL)
        return;
    pthread_mutex_lock(&evidence->lock);
    end_waits(evidence, owner, 0);
    pthread_mutex_unlock(&evidence->lock);
}

const struct hs_evidence_home *hs_evidence_home(const struct hs_evidence *evidence)
{
    return &evidence->settings.home;
}

const char *hs_evidence_mask(const struct hs_evidence *evidence)
{
    return evidence->settings.mask;
}

size_t hs_evidence_queue_length(struct hs_evidence *evidence)
{
    pthread_mutex_lock(&evidence->lock);
    size_t count = evidence->count + hs_spool_length(evidence->spool);
    pthread_mutex_unlock(&evidence->lock);
    return count;
}

/* ---- start and end ---- */

static void destroy(struct hs_evidence *evidence)
{
    hs_db_pool_destroy(evidence->settings.home.readers);
    pthread_cond_destroy(&evidence->wake);
    pthread_mutex_destroy(&evidence->lock);
    free(evidence);
}

struct hs_evidence *hs_evidence_start(const struct hs_service *service,
                                      const struct hs_evidence_settings *settings, char error[256])
{
    struct hs_evidence *evidence = calloc(1, sizeof *evidence);
    snprintf(error, 256, "out of memory");
    if (evidence == NULL)
        return NULL;
    evidence->service = service;
    evidence->settings = *settings;
    evidence->settings.home.metrics = service->metrics;
    evidence->log_limit = (struct hs_log_limit){.per_second = 1, .kind = "evidence"};
    evidence->last = &evidence->first;
    pthread_mutex_init(&evidence->lock, NULL);
    hs_clock_condition(&evidence->wake);
    if (settings->home.is_postgres) {
        evidence->settings.home.readers = hs_db_pool_create(); /* NULL: no connection is reused */
        evidence->spool = hs_spool_start(&evidence->settings.home, settings->keep_days,
                                         settings->keep_bytes, service->metrics);
    }
    evidence->mover = hs_wal_mover_start(service->metrics, MOVE_US);
    if ((evidence->spool != NULL || !settings->home.is_postgres) && evidence->mover != NULL) {
        open_existing(evidence);
        if (hs_thread_start(&evidence->thread, write_rows, evidence))
            return evidence;
        hs_evidence_store_close(evidence->store);
    }
    hs_wal_mover_stop(evidence->mover);
    hs_spool_stop(evidence->spool, 0);
    destroy(evidence);
    return NULL;
}

void hs_evidence_stop(struct hs_evidence *evidence, int64_t wait_us)
{
    if (evidence == NULL)
        return;
    pthread_mutex_lock(&evidence->lock);
    evidence->is_ending = true;
    evidence->end_us = hs_clock_us() + wait_us;
    pthread_cond_signal(&evidence->wake);
    pthread_mutex_unlock(&evidence->lock);
    pthread_join(evidence->thread, NULL);
    hs_wal_mover_stop(evidence->mover);
    hs_spool_stop(evidence->spool, evidence->end_us);
    destroy(evidence);
}
