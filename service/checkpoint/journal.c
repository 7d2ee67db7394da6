#include "service/checkpoint/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "service/system/array.h"
#include "service/system/clock.h"
#include "service/system/files.h"
#include "service/system/thread.h"
#include "service/watch/log.h"
#include "validators/journal.h"

#define NAME_PREFIX "journal."

struct hs_journal {
    int directory;
    enum hs_journal_sync sync;
    pthread_mutex_t sync_lock; /* held during fdatasync; locked before `lock` */
    pthread_mutex_t lock;      /* guards the following members */
    int file;                  /* -1: no file could be created yet */
    uint64_t number;           /* number of the current file */
    uint64_t next;             /* number of the next file; each number is used at most once */
    uint64_t size;      /* size of the current file, up to the end of the last complete record */
    uint64_t head_size; /* size of the header and the layout record with which each file begins */
    bool is_torn;       /* the file ends with a partial record, so nothing may be appended */
    /* `unsafe` counts the failures after which a power failure may lose written records;
       `unsafe_at_rotation` is the value of `unsafe` at the last rotation. The first
       `unsafe_covered` of these failures are harmless, because the newest checkpoint contains the
       records. */
    uint64_t unsafe, unsafe_at_rotation, unsafe_covered;
    /* `position`: bytes of all records written to any file. `synced`: how many of these bytes are
       synced */
    uint64_t position, synced;
    /* A power failure cannot lose the first `settled` bytes, because these bytes were synced
       without a failure, or a checkpoint contains them. `position_at_rotation` is `position` at the
       last rotation. */
    uint64_t settled, position_at_rotation;
    struct hs_journal_stats stats;
    struct hs_log_limit log_limit;
    pthread_t thread;
    bool has_thread, is_ending;
    pthread_cond_t wake;
};

void hs_journal_name(uint64_t number, char name[HS_JOURNAL_NAME_MAX])
{
    snprintf(name, HS_JOURNAL_NAME_MAX, NAME_PREFIX "%010" PRIu64, number);
}

/* ---- writing ---- */

static void log_failure(struct hs_journal *journal, const char *what)
{
    int error = errno;
    if (hs_log_allowed(&journal->log_limit))
        hs_log(HS_LOG_ERROR, "the journal cannot be written: no hit is paid until a write succeeds",
               HS_LOG_TEXT("operation", what), HS_LOG_TEXT("detail", strerror(error)));
    errno = error;
}

/* Appends a complete record or nothing. The caller holds `lock`. */
static bool append(struct hs_journal *journal, enum hs_checkpoint_type type,
                   const struct iovec *parts, size_t count)
{
    enum { PARTS_MAX = 4 };
    unsigned char header[HS_CHECKPOINT_RECORD_HEADER];
    struct iovec all[PARTS_MAX + 1] = {{header, sizeof header}};
    size_t size = sizeof header;
    for (size_t i = 0; i < count; i++) {
        all[i + 1] = parts[i];
        size += parts[i].iov_len;
    }
    hs_checkpoint_frame(header, type, parts, count);
    if (!hs_file_write(journal->file, all, count + 1)) {
        int error = errno;
        journal->is_torn = ftruncate(journal->file, (off_t)journal->size) != 0;
        errno = error;
        return false;
    }
    journal->size += size;
    journal->position += size;
    return true;
}

/* Creates the next file with its header. The caller holds `lock`. On failure returns false, sets
   errno and keeps the current file. */
static bool begin_file(struct hs_journal *journal)
{
    char name[HS_JOURNAL_NAME_MAX];
    unsigned char magic[HS_CHECKPOINT_HEADER], layout[8];
    hs_journal_name(journal->next, name);
    int file = openat(journal->directory, name,
                      O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return false;
    struct hs_journal before = *journal;
    hs_checkpoint_magic(magic);
    hs_word_put(layout, hs_journal_layout(), sizeof layout);
    struct iovec head = {magic, sizeof magic}, record = {layout, sizeof layout};
    journal->file = file;
    journal->number = journal->next++;
    journal->is_torn = false;
    journal->size = sizeof magic;
    if (hs_file_write(file, &head, 1) && append(journal, HS_CHECKPOINT_LAYOUT, &record, 1)) {
        journal->head_size = journal->size;
        return true;
    }
    int error = errno;
    unlinkat(journal->directory, name, 0);
    close(file);
    journal->file = before.file;
    journal->number = before.number;
    journal->size = before.size;
    journal->is_torn = before.is_torn;
    errno = error;
    return false;
}

/* Ensures that records can be appended to the current file. Begins a new file if the current file
   ends with a partial record. The next start of the service reads the old file up to the partial
   record. The caller holds `lock`. */
static bool has_file(struct hs_journal *journal)
{
    if (journal->file >= 0 && !journal->is_torn)
        return true;
    int before = journal->file;
    if (!begin_file(journal))
        return false;
    if (journal->sync != HS_JOURNAL_SYNC_OFF && fsync(journal->directory) != 0)
        journal->unsafe++;
    if (before >= 0) {
        journal->unsafe++;
        /* The new file gets the descriptor number of the old file, because another thread may be
           calling fdatasync with this number. */
        if (dup3(journal->file, before, O_CLOEXEC) >= 0) {
            close(journal->file);
            journal->file = before;
        }
    }
    return true;
}

bool hs_journal_write(struct hs_journal *journal, enum hs_checkpoint_type type,
                      const struct iovec *parts, size_t count, uint64_t *number)
{
    pthread_mutex_lock(&journal->lock);
    bool fine = has_file(journal) && append(journal, type, parts, count);
    if (fine) {
        journal->stats.written++;
        journal->stats.bytes = journal->position;
    } else {
        journal->stats.failed++;
        log_failure(journal, "write");
    }
    if (number != NULL)
        *number = journal->number;
    pthread_mutex_unlock(&journal->lock);
    return fine;
}

/* Returns the number of the current file, or of the first file if none could be created yet. The
   caller holds `lock`. */
static uint64_t current_number(const struct hs_journal *journal)
{
    return journal->file >= 0 ? journal->number : journal->next;
}

/* ---- surviving a power failure ---- */

/* In the sync mode `always`, returns whether a payment survives a power failure if it is written
   immediately and then synced. In the other modes, returns true. The caller holds `lock`. */
static bool is_sound(const struct hs_journal *journal)
{
    return journal->sync != HS_JOURNAL_SYNC_ALWAYS || journal->unsafe == journal->unsafe_covered;
}

/* Records that the bytes up to `position` are synced. The caller holds `lock`. */
static void record_synced(struct hs_journal *journal, uint64_t position)
{
    if (journal->synced < position)
        journal->synced = position;
    if (is_sound(journal))
        journal->settled = journal->synced;
}

/* Syncs the file. The caller holds sync_lock, so the file cannot be closed during the sync. */
static void sync_file(struct hs_journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    int file = journal->file;
    uint64_t position = journal->position;
    bool is_behind = journal->synced < position && file >= 0;
    pthread_mutex_unlock(&journal->lock);
    if (!is_behind)
        return;
    bool fine = fdatasync(file) == 0;
    pthread_mutex_lock(&journal->lock);
    if (fine) {
        record_synced(journal, position);
    } else {
        /* The kernel may have dropped the pages that it could not write. A later sync would not
           write these pages, so only a checkpoint makes their records durable. */
        journal->stats.synced_failed++;
        journal->unsafe++;
        log_failure(journal, "fdatasync");
    }
    pthread_mutex_unlock(&journal->lock);
}

void hs_journal_state(struct hs_journal *journal, struct hs_journal_state *out)
{
    bool is_synced = journal->sync == HS_JOURNAL_SYNC_ALWAYS;
    pthread_mutex_lock(&journal->lock);
    *out = (struct hs_journal_state){.is_sound = is_sound(journal),
                                     .number = current_number(journal),
                                     .written = journal->position,
                                     .synced = journal->synced,
                                     .settled = is_synced ? journal->settled : journal->position};
    pthread_mutex_unlock(&journal->lock);
}

bool hs_journal_settle(struct hs_journal *journal)
{
    struct hs_journal_state state;
    if (journal == NULL || journal->sync != HS_JOURNAL_SYNC_ALWAYS)
        return true;
    hs_journal_state(journal, &state);
    uint64_t position = state.written;
    if (state.synced < position) {
        pthread_mutex_lock(&journal->sync_lock);
        /* Another thread often syncs the first `position` bytes while this thread waits for the
           lock. */
        hs_journal_state(journal, &state);
        if (state.synced < position)
            sync_file(journal);
        pthread_mutex_unlock(&journal->sync_lock);
        hs_journal_state(journal, &state);
    }
    return state.is_sound;
}

static void *sync_at_intervals(void *context)
{
    struct hs_journal *journal = context;
    pthread_mutex_lock(&journal->lock);
    while (!journal->is_ending) {
        struct timespec until = hs_clock_timespec(hs_clock_us() + HS_JOURNAL_INTERVAL_US);
        pthread_cond_timedwait(&journal->wake, &journal->lock, &until);
        pthread_mutex_unlock(&journal->lock);
        pthread_mutex_lock(&journal->sync_lock);
        sync_file(journal);
        pthread_mutex_unlock(&journal->sync_lock);
        pthread_mutex_lock(&journal->lock);
    }
    pthread_mutex_unlock(&journal->lock);
    return NULL;
}

/* ---- files ---- */

uint64_t hs_journal_rotate(struct hs_journal *journal)
{
    pthread_mutex_lock(&journal->sync_lock);
    pthread_mutex_lock(&journal->lock);
    int before = journal->file;
    uint64_t position = journal->position;
    bool is_needed = before >= 0 && (journal->is_torn || journal->size > journal->head_size);
    bool is_new = is_needed && begin_file(journal);
    if (is_needed && !is_new)
        log_failure(journal, "open");
    uint64_t number = current_number(journal);
    journal->unsafe_at_rotation = journal->unsafe;
    journal->position_at_rotation = position;
    pthread_mutex_unlock(&journal->lock);
    if (is_new) {
        bool fine = journal->sync == HS_JOURNAL_SYNC_OFF ||
                    (fdatasync(before) == 0 && fsync(journal->directory) == 0);
        close(before);
        pthread_mutex_lock(&journal->lock);
        /* A failed sync does no harm after the next checkpoint, because the next checkpoint
           contains the records in the old file. */
        if (!fine)
            journal->unsafe_at_rotation = ++journal->unsafe;
        else
            record_synced(journal, position);
        pthread_mutex_unlock(&journal->lock);
    }
    pthread_mutex_unlock(&journal->sync_lock);
    return number;
}

void hs_journal_checkpointed(struct hs_journal *journal, uint64_t number)
{
    char name[HS_JOURNAL_NAME_MAX];
    size_t count;
    pthread_mutex_lock(&journal->lock);
    journal->unsafe_covered = journal->unsafe_at_rotation;
    if (journal->settled < journal->position_at_rotation)
        journal->settled = journal->position_at_rotation;
    record_synced(journal, journal->settled);
    pthread_mutex_unlock(&journal->lock);
    uint64_t *numbers = hs_journal_list(journal->directory, &count);
    for (size_t i = 0; numbers != NULL && i < count && numbers[i] < number; i++) {
        hs_journal_name(numbers[i], name);
        unlinkat(journal->directory, name, 0);
    }
    free(numbers);
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
    return first < second ? -1 : first > second;
}

static bool number_of(const char *name, uint64_t *number)
{
    char canonical[HS_JOURNAL_NAME_MAX];
    if (strncmp(name, NAME_PREFIX, sizeof NAME_PREFIX - 1) != 0)
        return false;
    *number = strtoull(name + sizeof NAME_PREFIX - 1, NULL, 10);
    hs_journal_name(*number, canonical);
    return strcmp(name, canonical) == 0;
}

uint64_t *hs_journal_list(int directory, size_t *count)
{
    size_t capacity = 0;
    uint64_t *numbers = hs_array_grow(NULL, 0, &capacity, sizeof *numbers), number;
    DIR *entries = hs_directory_open(directory);
    bool fine = numbers != NULL && entries != NULL;
    *count = 0;
    for (const struct dirent *entry; fine && (entry = readdir(entries)) != NULL;) {
        if (!number_of(entry->d_name, &number))
            continue;
        uint64_t *grown = hs_array_grow(numbers, *count, &capacity, sizeof *numbers);
        fine = grown != NULL;
        if (fine) {
            numbers = grown;
            numbers[(*count)++] = number;
        }
    }
    if (entries != NULL)
        closedir(entries);
    if (!fine) {
        free(numbers);
        return NULL;
    }
    qsort(numbers, *count, sizeof *numbers, compare_numbers);
    return numbers;
}

/* ---- life ---- */

struct hs_journal *hs_journal_create(int directory, uint64_t next, enum hs_journal_sync sync)
{
    struct hs_journal *journal = calloc(1, sizeof *journal);
    if (journal == NULL)
        return NULL;
    journal->directory = directory;
    journal->sync = sync;
    journal->file = -1;
    journal->next = next;
    journal->log_limit = (struct hs_log_limit){.per_second = 1, .kind = "journal failures"};
    pthread_mutex_init(&journal->sync_lock, NULL);
    pthread_mutex_init(&journal->lock, NULL);
    hs_clock_condition(&journal->wake);
    pthread_mutex_lock(&journal->lock);
    if (!has_file(journal))
        log_failure(journal, "open");
    pthread_mutex_unlock(&journal->lock);
    if (sync == HS_JOURNAL_SYNC_INTERVAL)
        journal->has_thread = hs_thread_start(&journal->thread, sync_at_intervals, journal);
    if (sync != HS_JOURNAL_SYNC_INTERVAL || journal->has_thread)
        return journal;
    hs_journal_destroy(journal, true);
    return NULL;
}

void hs_journal_destroy(struct hs_journal *journal, bool remove)
{
    char name[HS_JOURNAL_NAME_MAX];
    if (journal == NULL)
        return;
    pthread_mutex_lock(&journal->lock);
    journal->is_ending = true;
    pthread_cond_signal(&journal->wake);
    pthread_mutex_unlock(&journal->lock);
    if (journal->has_thread)
        pthread_join(journal->thread, NULL);
    if (journal->file >= 0) {
        hs_journal_name(journal->number, name);
        if (remove)
            unlinkat(journal->directory, name, 0);
        close(journal->file);
    }
    pthread_cond_destroy(&journal->wake);
    pthread_mutex_destroy(&journal->lock);
    pthread_mutex_destroy(&journal->sync_lock);
    free(journal);
}

void hs_journal_stats(struct hs_journal *journal, struct hs_journal_stats *out)
{
    pthread_mutex_lock(&journal->lock);
    *out = journal->stats;
    pthread_mutex_unlock(&journal->lock);
}
