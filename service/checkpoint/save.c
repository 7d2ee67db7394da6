#include "service/checkpoint/save.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "service/checkpoint/file.h"
#include "service/checkpoint/journal.h"
#include "service/checkpoint/kept_match.h"
#include "service/checkpoint/maps.h"
#include "service/checkpoint/restore.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"
#include "service/system/array.h"
#include "service/system/clock.h"
#include "service/system/files.h"
#include "service/system/thread.h"
#include "service/watch/log.h"
#include "validators/base/encoding.h"
#include "validators/snapshot.h"

struct hs_checkpoint {
    struct hs_service *service;
    int directory;
    int owner; /* an open file; its lock shows that a process is using the directory */
    int64_t interval_us;
    struct hs_bytes match; /* buffer that is reused for all matches */
    struct hs_kept_maps maps;
    /* the newest checkpoint contains the records in all journals with lower numbers */
    uint64_t contained;
    uint64_t next_journal; /* number of the first journal of this process */
    pthread_t thread;
    bool has_thread;
    bool has_ended;       /* the final checkpoint was written, so the last journal is deleted */
    pthread_mutex_t lock; /* guards the following members */
    pthread_cond_t wake;
    bool is_ending;
    struct hs_checkpoint_stats stats;
    /* when the newest checkpoint began; before the first one: when the service started */
    int64_t newest_us;
};

/* ---- taking a checkpoint ---- */

struct taking {
    struct hs_checkpoint *checkpoint;
    struct hs_checkpoint_writer writer;
    /* rulesets that were already written; this struct owns a reference to each */
    struct hs_ruleset_entry **rulesets;
    size_t ruleset_count, ruleset_capacity;
    size_t matches;
    bool no_memory;
};

static void write_record(struct taking *taking, enum hs_checkpoint_type type,
                         struct hs_bytes *record)
{
    taking->no_memory = taking->no_memory || record->failed;
    hs_checkpoint_write(&taking->writer, type, record->data, record->len);
    free(record->data);
}

/* Writes a ruleset, unless it was already written to this checkpoint. */
static void write_ruleset(struct taking *taking, struct hs_ruleset_entry *entry)
{
    for (size_t i = 0; i < taking->ruleset_count; i++)
        if (taking->rulesets[i] == entry)
            return;
    void *rulesets = hs_array_grow(taking->rulesets, taking->ruleset_count,
                                   &taking->ruleset_capacity, sizeof *taking->rulesets);
    if (rulesets == NULL) {
        taking->no_memory = true;
        return;
    }
    taking->rulesets = rulesets;
    hs_ruleset_store_retain(taking->checkpoint->service->rulesets, entry);
    taking->rulesets[taking->ruleset_count++] = entry;
    struct hs_bytes record = {0};
    hs_kept_ruleset_put(&record, entry);
    write_record(taking, HS_CHECKPOINT_RULESET, &record);
}

/* A match's map: a reference to the map, or the revision of a map that was not restored. */
struct taken_map {
    struct hs_map_store *store;
    struct hs_map_entry *entry;
    char awaited[HS_REVISION_MAX];
};

static void take_map(void *context, struct hs_match_slot *slot)
{
    struct taken_map *map = context;
    map->entry = slot->map;
    memcpy(map->awaited, slot->awaited_revision, sizeof map->awaited);
    if (slot->map != NULL)
        hs_map_store_retain(map->store, slot->map);
}

/* Writes a match, and the file of its map if this file is missing. */
static void write_match(void *context, struct hs_match_slot *slot)
{
    struct taking *taking = context;
    struct hs_kept_maps *kept = &taking->checkpoint->maps;
    struct hs_map_store *maps = taking->checkpoint->service->maps;
    struct hs_bytes *bytes = &taking->checkpoint->match;
    struct taken_map map = {.store = maps};
    if (taking->no_memory || taking->writer.error != 0)
        return;
    write_ruleset(taking, slot->ruleset);
    bytes->len = 0;
    bool is_open = hs_kept_match_copy(slot, bytes, take_map, &map);
    if (is_open && bytes->failed) {
        taking->no_memory = true;
        bytes->failed = false;
    } else if (is_open) {
        if (map.entry != NULL)
            hs_kept_maps_keep(kept, maps, map.entry);
        else if (map.awaited[0] != '\0')
            hs_kept_maps_refer(kept, map.awaited);
        hs_checkpoint_write(&taking->writer, HS_CHECKPOINT_MATCH, bytes->data, bytes->len);
        taking->matches++;
    }
    hs_map_store_release(maps, map.entry);
}

/* ---- names ---- */

static void write_names(struct taking *taking, enum hs_checkpoint_type type,
                        const char *const *names, size_t count)
{
    struct hs_bytes record = {0};
    for (size_t i = 0; i < count; i++)
        hs_bytes_put_name(&record, names[i]);
    write_record(taking, type, &record);
}

static void write_canary(struct taking *taking, const struct hs_ruleset_entry *entry)
{
    struct hs_ruleset_store *store = taking->checkpoint->service->rulesets;
    struct hs_bytes record = {0};
    double share;
    struct hs_ruleset_entry *canary = hs_ruleset_store_canary(store, entry, &share);
    if (canary == NULL)
        return;
    write_ruleset(taking, canary);
    hs_kept_canary_put(&record, entry->owner.text, canary, share);
    write_record(taking, HS_CHECKPOINT_CANARY, &record);
    hs_ruleset_store_release(store, canary);
}

static void write_posted_rulesets(struct taking *taking)
{
    struct hs_ruleset_store *store = taking->checkpoint->service->rulesets;
    size_t count;
    struct hs_ruleset_entry **all = hs_ruleset_store_list(store, false, &count);
    for (size_t i = 0; i < count; i++) {
        const char *const names[] = {all[i]->owner.text, all[i]->revision};
        if (!all[i]->is_builtin && !all[i]->is_from_file) {
            write_ruleset(taking, all[i]);
            write_names(taking, HS_CHECKPOINT_RULESET_NAME, names, 2);
        }
        write_canary(taking, all[i]);
        hs_ruleset_store_release(store, all[i]);
    }
    taking->no_memory = taking->no_memory || all == NULL;
    free(all);
}

/* Writes the names of maps. Called after the matches are written, so that the checkpoint contains
   the name of every map that the matches use. */
static void write_maps(struct taking *taking)
{
    struct hs_checkpoint *checkpoint = taking->checkpoint;
    struct hs_map_store *store = checkpoint->service->maps;
    size_t count;
    struct hs_map_entry **maps = hs_map_store_all(store, &count);
    taking->no_memory = taking->no_memory || maps == NULL;
    for (size_t i = 0; maps != NULL && i < count; i++) {
        hs_kept_maps_keep(&checkpoint->maps, store, maps[i]);
        const char *const names[] = {maps[i]->name.text, maps[i]->owner.text, maps[i]->revision};
        write_names(taking, HS_CHECKPOINT_MAP, names, 3);
        hs_map_store_release(store, maps[i]);
    }
    free(maps);
}

/* ---- the file ---- */

static void record_result(struct hs_checkpoint *checkpoint, const struct taking *taking, bool fine,
                          int64_t began_us)
{
    int64_t duration_us = hs_clock_us() - began_us;
    pthread_mutex_lock(&checkpoint->lock);
    struct hs_checkpoint_stats *stats = &checkpoint->stats;
    stats->map_files_written = checkpoint->maps.written;
    stats->map_files_failed = checkpoint->maps.failed;
    if (fine) {
        stats->written++;
        stats->bytes = taking->writer.bytes;
        stats->duration_seconds = (double)duration_us * 1e-6;
        checkpoint->newest_us = began_us;
    } else {
        stats->failed++;
    }
    pthread_mutex_unlock(&checkpoint->lock);
    if (fine)
        hs_log(HS_LOG_DEBUG, "checkpoint", HS_LOG_NUMBER("matches", taking->matches),
               HS_LOG_NUMBER("bytes", taking->writer.bytes), HS_LOG_NUMBER("dur_us", duration_us));
    else
        hs_log(HS_LOG_ERROR, "a checkpoint cannot be written: the previous one stays",
               HS_LOG_TEXT("data", checkpoint->service->options->data),
               HS_LOG_TEXT("detail", hs_file_error(taking->writer.error)));
}

/* Writes all matches and names to a new checkpoint. `is_final`: no more claims will be verified. On
   failure logs the reason, returns false, and keeps the newest checkpoint. */
static bool take(struct hs_checkpoint *checkpoint, bool is_final)
{
    int64_t began_us = hs_clock_us();
    struct taking taking = {.checkpoint = checkpoint};
    uint64_t contained = hs_journal_rotate(checkpoint->service->journal);
    unsigned char word[8];
    hs_word_put(word, contained, sizeof word);
    hs_checkpoint_write_begin(&taking.writer, checkpoint->directory);
    if (is_final)
        hs_checkpoint_write(&taking.writer, HS_CHECKPOINT_FINAL, NULL, 0);
    hs_checkpoint_write(&taking.writer, HS_CHECKPOINT_JOURNAL, word, sizeof word);
    bool all = hs_registry_visit(checkpoint->service->registry, write_match, &taking);
    write_posted_rulesets(&taking);
    write_maps(&taking);
    bool is_short = !all || taking.no_memory || checkpoint->maps.no_memory;
    bool fine = hs_checkpoint_write_end(&taking.writer, is_short);
    hs_kept_maps_taken(&checkpoint->maps, fine);
    for (size_t i = 0; i < taking.ruleset_count; i++)
        hs_ruleset_store_release(checkpoint->service->rulesets, taking.rulesets[i]);
    free(taking.rulesets);
    if (fine) {
        /* A restore from the previous checkpoint needs the journals since that checkpoint, so these
           journals stay. */
        hs_journal_checkpointed(checkpoint->service->journal, checkpoint->contained);
        checkpoint->contained = contained;
    }
    record_result(checkpoint, &taking, fine, began_us);
    return fine;
}

/* ---- the thread ---- */

/* Waits until it is time for the next checkpoint. Returns false when the service stops. */
static bool wait_for_turn(struct hs_checkpoint *checkpoint)
{
    struct timespec until = hs_clock_timespec(hs_clock_us() + checkpoint->interval_us);
    pthread_mutex_lock(&checkpoint->lock);
    int result = 0;
    while (!checkpoint->is_ending && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&checkpoint->wake, &checkpoint->lock, &until);
    bool is_ending = checkpoint->is_ending;
    pthread_mutex_unlock(&checkpoint->lock);
    return !is_ending;
}

static void *run(void *context)
{
    struct hs_checkpoint *checkpoint = context;
    while (wait_for_turn(checkpoint))
        take(checkpoint, false);
    return NULL;
}

/* Renames the newest checkpoint to HS_CHECKPOINT_PREVIOUS. Called if the first checkpoint of a
   process cannot be written, for example because the disk is full. The newest checkpoint may
   contain the record HS_CHECKPOINT_FINAL (file.h), which becomes false when a claim is verified.
   This record is ignored in the previous checkpoint. Returns false if the rename fails. */
static bool end_final(const struct hs_checkpoint *checkpoint)
{
    int directory = checkpoint->directory;
    if (renameat(directory, HS_CHECKPOINT_NAME, directory, HS_CHECKPOINT_PREVIOUS) != 0 &&
        errno != ENOENT)
        return false;
    (void)!fsync(directory);
    hs_log(HS_LOG_WARN, "the first checkpoint could not be written: the service tries again",
           HS_LOG_TEXT("data", checkpoint->service->options->data));
    return true;
}

bool hs_checkpoint_start(struct hs_checkpoint *checkpoint)
{
    struct hs_service *service = checkpoint->service;
    service->journal = hs_journal_create(checkpoint->directory, checkpoint->next_journal,
                                         hs_journal_sync_parse(service->options->journal_sync));
    if (service->journal == NULL)
        return false;
    hs_registry_keep_journals(service->registry);
    if (!take(checkpoint, false) && !end_final(checkpoint))
        return false;
    checkpoint->has_thread = hs_thread_start(&checkpoint->thread, run, checkpoint);
    return checkpoint->has_thread;
}

static void end_thread(struct hs_checkpoint *checkpoint)
{
    if (!checkpoint->has_thread)
        return;
    pthread_mutex_lock(&checkpoint->lock);
    checkpoint->is_ending = true;
    pthread_cond_signal(&checkpoint->wake);
    pthread_mutex_unlock(&checkpoint->lock);
    pthread_join(checkpoint->thread, NULL);
    checkpoint->has_thread = false;
}

/* ---- the directory ---- */

static bool make_directory(const char *path)
{
    char part[4096];
    if (strlen(path) >= sizeof part) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (size_t i = 1; path[i] != '\0'; i++) {
        if (path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Creates and locks the directory, because two processes would overwrite each other's state. On
   failure returns false with a message in `error`. */
static bool take_directory(struct hs_checkpoint *checkpoint, const char *path, char error[512])
{
    static const char hint[] = "name another directory, or switch checkpoints off: --data=";
    if (!make_directory(path)) {
        snprintf(error, 512, "the data directory %s cannot be created: %s; %s", path,
                 strerror(errno), hint);
        return false;
    }
    checkpoint->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (checkpoint->directory >= 0)
        checkpoint->owner =
            hs_file_open(checkpoint->directory, "lock", O_RDWR | O_CREAT | O_NOFOLLOW);
    if (checkpoint->owner < 0) {
        snprintf(error, 512, "the data directory %s cannot be written to: %s%s; %s", path,
                 checkpoint->directory >= 0 ? "lock: " : "", hs_file_error(errno), hint);
        return false;
    }
    if (flock(checkpoint->owner, LOCK_EX | LOCK_NB) != 0) {
        snprintf(error, 512, "another process uses the data directory %s", path);
        return false;
    }
    if (hs_kept_maps_open(&checkpoint->maps, checkpoint->directory))
        return true;
    snprintf(error, 512, "the directory %s/" HS_CHECKPOINT_MAPS " cannot be used: %s; %s", path,
             strerror(errno), hint);
    return false;
}

bool hs_checkpoint_open(struct hs_service *service, struct hs_checkpoint **out, char error[512])
{
    const struct hs_options *options = service->options;
    *out = NULL;
    if (options->data[0] == '\0')
        return true;
    struct hs_checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    if (checkpoint == NULL) {
        snprintf(error, 512, "out of memory");
        return false;
    }
    checkpoint->service = service;
    checkpoint->directory = checkpoint->owner = checkpoint->maps.directory = -1;
    checkpoint->interval_us = (int64_t)options->checkpoint_seconds * 1000000;
    checkpoint->newest_us = hs_clock_us();
    pthread_mutex_init(&checkpoint->lock, NULL);
    hs_clock_condition(&checkpoint->wake);
    struct hs_restored_journals journals = {0};
    if (take_directory(checkpoint, options->data, error) &&
        hs_checkpoint_restore(service, checkpoint->directory, &checkpoint->maps, &checkpoint->stats,
                              &journals, error)) {
        checkpoint->contained = journals.contained;
        checkpoint->next_journal = journals.next;
        hs_map_store_keep_meshes(service->maps);
        *out = checkpoint;
        return true;
    }
    hs_checkpoint_abandon(checkpoint);
    return false;
}

void hs_checkpoint_abandon(struct hs_checkpoint *checkpoint)
{
    if (checkpoint == NULL)
        return;
    end_thread(checkpoint);
    hs_journal_destroy(checkpoint->service->journal, checkpoint->has_ended);
    checkpoint->service->journal = NULL;
    hs_kept_maps_close(&checkpoint->maps);
    if (checkpoint->owner >= 0)
        close(checkpoint->owner);
    if (checkpoint->directory >= 0)
        close(checkpoint->directory);
    pthread_cond_destroy(&checkpoint->wake);
    pthread_mutex_destroy(&checkpoint->lock);
    free(checkpoint->match.data);
    free(checkpoint);
}

void hs_checkpoint_close(struct hs_checkpoint *checkpoint)
{
    if (checkpoint == NULL)
        return;
    end_thread(checkpoint);
    checkpoint->has_ended = take(checkpoint, true);
    if (checkpoint->has_ended)
        hs_log(HS_LOG_INFO, "the state of all matches is saved",
               HS_LOG_TEXT("data", checkpoint->service->options->data),
               HS_LOG_NUMBER("bytes", checkpoint->stats.bytes));
    hs_checkpoint_abandon(checkpoint);
}

void hs_checkpoint_stats(struct hs_checkpoint *checkpoint, struct hs_checkpoint_stats *out)
{
    *out = (struct hs_checkpoint_stats){0};
    if (checkpoint == NULL)
        return;
    pthread_mutex_lock(&checkpoint->lock);
    *out = checkpoint->stats;
    out->interval_seconds = (double)checkpoint->interval_us * 1e-6;
    out->lag_seconds = (double)(hs_clock_us() - checkpoint->newest_us) * 1e-6;
    pthread_mutex_unlock(&checkpoint->lock);
    if (checkpoint->service->journal != NULL)
        hs_journal_stats(checkpoint->service->journal, &out->journal);
}
