/*
 * Checkpoints: files from which a restart restores the state of the service. A thread writes the
 * long-lived state of all matches (validators/snapshot.h) to the data directory, every few seconds
 * and when the service stops. The file also has the rulesets of the matches, and the names of
 * rulesets and maps that were put. Each new map gets its own file (maps.h). The next start reads
 * all these files. docs/checkpoint.md is the page for operators.
 *
 * A request waits at most while one part of its match is copied. A function is thread-safe only if
 * its comment says so.
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
    uint64_t written, failed;             /* numbers of written and of failed checkpoints */
    uint64_t restored[HS_RESTORED_COUNT]; /* matches at the start, by result */
    /* rulesets and maps at the start, by result */
    uint64_t rulesets[HS_RESTORED_NAME_COUNT], maps[HS_RESTORED_NAME_COUNT];
    uint64_t map_files_written, map_files_failed;
    uint64_t files_refused;  /* files refused at the start: incomplete, or of another version */
    double lag_seconds;      /* age of the state in the newest checkpoint; 0 if there are no
                                checkpoints */
    double interval_seconds; /* time between two checkpoints; 0 if there are no checkpoints */
    double duration_seconds; /* duration of the newest checkpoint; 0: no checkpoint was written */
    uint64_t bytes;          /* size of the newest checkpoint */
    struct hs_journal_stats journal;
};

/*
 * Creates and locks the data directory of the options, and restores its contents into the registry
 * and the stores of rulesets and maps. No other thread may use the registry and the stores yet.
 * Returns false with a message in `error` if the directory cannot be used or another process uses
 * it; *out is then NULL. *out is also NULL if the options name no directory.
 */
bool hs_checkpoint_open(struct hs_service *service, struct hs_checkpoint **out, char error[512]);

/* Creates the journal, writes the first checkpoint, and starts the thread for the next ones. If the
   first checkpoint cannot be written, the file that was read becomes the previous checkpoint, and
   is treated as if the old process had crashed. Returns false if the journal cannot be created, the
   file cannot be renamed either, or the thread does not start. */
bool hs_checkpoint_start(struct hs_checkpoint *checkpoint);

/* Ends the thread and writes a last checkpoint. Requests must not change matches after this call:
   the changes would be lost. Does nothing for NULL. */
void hs_checkpoint_close(struct hs_checkpoint *checkpoint);

/* Frees the checkpoint without writing. Does nothing for NULL. */
void hs_checkpoint_abandon(struct hs_checkpoint *checkpoint);

/* Gets the figures of the checkpoints. Thread-safe. If `checkpoint` is NULL, all values are 0. */
void hs_checkpoint_stats(struct hs_checkpoint *checkpoint, struct hs_checkpoint_stats *out);

#endif
