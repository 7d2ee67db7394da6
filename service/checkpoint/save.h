/*
 * Checkpoints: files from which a restart restores the service's state. A thread writes the
 * long-lived state of all matches (validators/snapshot.h) to the data directory, every few seconds
 * and when the service stops. The file also contains the rulesets that matches use, the uploaded
 * rulesets, and the names of the uploaded maps. Each map's geometry gets its own file (maps.h).
 * docs/checkpoint.md is the page for operators.
 *
 * A match is copied in parts, and a request waits at most until one part is copied. A function is
 * thread-safe only if its comment says so.
 */
#ifndef HS_SERVICE_CHECKPOINT_H
#define HS_SERVICE_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/checkpoint/journal.h"
#include "service/watch/labels.h"

struct hs_service;
struct hs_checkpoint;

struct hs_checkpoint_stats {
    /* numbers of checkpoints that were written, and that could not be written */
    uint64_t written, failed;
    uint64_t restored[HS_RESTORED_COUNT]; /* matches restored or refused at the start, by result */
    /* rulesets and maps restored or refused at the start, by result */
    uint64_t rulesets[HS_RESTORED_NAME_COUNT], maps[HS_RESTORED_NAME_COUNT];
    uint64_t map_files_written, map_files_failed;
    uint64_t files_refused;  /* files refused at the start: damaged, or from another version */
    double lag_seconds;      /* age of the state in the newest checkpoint; 0: checkpoints are off */
    double interval_seconds; /* time between two checkpoints; 0: checkpoints are off */
    double duration_seconds; /* writing time of the newest checkpoint; 0: no checkpoint */
    uint64_t bytes;          /* size of the newest checkpoint */
    struct hs_journal_stats journal;
};

/*
 * Creates and locks the data directory that the options name, and restores the saved matches,
 * rulesets and maps. No other thread may use the matches, rulesets and maps yet. Returns false with
 * a message in `error` if the directory cannot be used, another process uses it, or the saved state
 * cannot be read. On failure *out is NULL. If the options name no directory, returns true and sets
 * *out to NULL.
 */
bool hs_checkpoint_open(struct hs_service *service, struct hs_checkpoint **out, char error[512]);

/* Creates the journal, writes the first checkpoint, and starts the thread for later checkpoints. If
   the first checkpoint cannot be written, renames the checkpoint that was read to
   HS_CHECKPOINT_PREVIOUS, where its HS_CHECKPOINT_FINAL record (file.h) is ignored. Returns false
   if the journal cannot be created, the rename fails, or the thread cannot be started. */
bool hs_checkpoint_start(struct hs_checkpoint *checkpoint);

/* Stops the thread, writes the final checkpoint, and frees everything. Changes to matches after
   this call would be lost. Does nothing for NULL. */
void hs_checkpoint_close(struct hs_checkpoint *checkpoint);

/* Frees everything without writing a checkpoint. Does nothing for NULL. */
void hs_checkpoint_abandon(struct hs_checkpoint *checkpoint);

/* Reads the statistics; all values are 0 if `checkpoint` is NULL. Thread-safe. */
void hs_checkpoint_stats(struct hs_checkpoint *checkpoint, struct hs_checkpoint_stats *out);

#endif
