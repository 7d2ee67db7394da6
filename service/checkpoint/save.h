/*
 * What outlives the process: every few seconds, and at the end, a thread of its own writes the
 * long-lived state of all matches (validators/snapshot.h), with the rulesets they are pinned to,
 * and the names of rulesets and maps that were put, to a file of the data directory, and new maps
 * (checkpoint_maps.h) to files of their own; the next start reads it. docs/checkpoint.md is the
 * operator's page.
 *
 * Requests wait for it no longer than a copy of a part of their match takes. Thread-safe where it
 * says so.
 */
#ifndef HS_SERVICE_CHECKPOINT_H
#define HS_SERVICE_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/checkpoint/journal.h"

struct hs_service;
struct hs_checkpoint;

/* What became of matches at the start. X(id, label) */
#define HS_RESTORED(X)                                                                             \
    X(WHOLE, "restored")                                                                           \
    X(ANEW, "restored_without_judges") /* of moves: they were of another layout */                 \
    X(VERSION, "other_version")        /* the match was written by a program with other rules */   \
    X(DAMAGED, "damaged")                                                                          \
    X(NO_ROOM, "no_room")

enum hs_restored {
#define X(id, label) HS_RESTORED_##id,
    HS_RESTORED(X)
#undef X
        HS_RESTORED_COUNT
};

/* Likewise of rulesets that were put, and of maps: those with a name, and those of a match. */
#define HS_RESTORED_NAMES(X)                                                                       \
    X(BACK, "restored")                                                                            \
    X(IS_FILES, "name_of_a_file") /* a ruleset: a file of today has its name */                    \
    X(MISSING, "missing")                                                                          \
    X(DAMAGED, "damaged")                                                                          \
    X(NO_ROOM, "no_room")

enum hs_restored_name {
#define X(id, label) HS_RESTORED_NAME_##id,
    HS_RESTORED_NAMES(X)
#undef X
        HS_RESTORED_NAME_COUNT
};

struct hs_checkpoint_stats {
    uint64_t written, failed;             /* checkpoints */
    uint64_t restored[HS_RESTORED_COUNT]; /* matches, at the start */
    uint64_t rulesets[HS_RESTORED_NAME_COUNT], maps[HS_RESTORED_NAME_COUNT]; /* at the start */
    uint64_t map_files_written, map_files_failed;
    uint64_t files_refused;  /* at the start: not whole, or of another version */
    double lag_seconds;      /* the age of what a crash would leave; 0: nothing is kept */
    double interval_seconds; /* between two; 0: nothing is kept */
    double duration_seconds; /* of the newest that was written; 0: none was */
    uint64_t bytes;          /* likewise */
    struct hs_journal_stats journal;
};

/*
 * Makes and takes the data directory of the service's options, and restores into its registry and
 * its stores of rulesets and maps what is found there. Nobody else may use these yet. False, with a
 * sentence in `error`, when the directory cannot be used, or is used by another process; *out is
 * NULL then, and when nothing is to be kept.
 */
bool hs_checkpoint_open(struct hs_service *service, struct hs_checkpoint **out, char error[512]);

/* Writes the first one and starts the thread for the others. If the first cannot be written, the
   file that was read counts as left by a crash from now on. False: neither worked, or no thread was
   started. */
bool hs_checkpoint_start(struct hs_checkpoint *checkpoint);

/* Ends the thread and writes all matches once more; no request may change one any more, or it is
   lost. NULL: nothing. */
void hs_checkpoint_close(struct hs_checkpoint *checkpoint);

/* Frees it without writing. NULL: nothing. */
void hs_checkpoint_abandon(struct hs_checkpoint *checkpoint);

/* Thread-safe. NULL: nothing is kept; all is 0. */
void hs_checkpoint_stats(struct hs_checkpoint *checkpoint, struct hs_checkpoint_stats *out);

#endif
