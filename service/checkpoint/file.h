/*
 * A file of checked records that is there whole or not at all. Little-endian:
 *
 *   "HSCHKPT" and a version (8 bytes)
 *   records: type (4), CRC-32 (4), size (8), and so many bytes; the CRC is that of zlib over type,
 *            size and bytes
 *   the last record has type 0 and the number of those before it (8 bytes)
 *
 * It is written under another name, synced and renamed. What a crash leaves behind is the file
 * before, and perhaps the beginning of one that is never read. One thread at a time.
 */
#ifndef HS_SERVICE_CHECKPOINT_FILE_H
#define HS_SERVICE_CHECKPOINT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define HS_CHECKPOINT_NAME     "checkpoint"
#define HS_CHECKPOINT_PREVIOUS "checkpoint.previous" /* the one before */
#define HS_CHECKPOINT_NEW      "checkpoint.new"      /* being written */
#define HS_CHECKPOINT_DAMAGED  "checkpoint.damaged"  /* moved out of the way at a start */

enum { HS_CHECKPOINT_VERSION = 3 };

/* Bytes before the first record, and before the bytes of each. */
enum { HS_CHECKPOINT_HEADER = 8, HS_CHECKPOINT_RECORD_HEADER = 16 };

enum hs_checkpoint_type {
    HS_CHECKPOINT_END,
    HS_CHECKPOINT_RULESET,
    HS_CHECKPOINT_MATCH,
    HS_CHECKPOINT_FINAL,        /* the first, without bytes: nothing was judged after this file was
                                   written. Not valid in the previous file: a process started with it */
    HS_CHECKPOINT_RULESET_NAME, /* a name of an earlier ruleset: owner, revision */
    HS_CHECKPOINT_MAP,          /* a name, its owner, the revision; map_file.h has the geometry */
    HS_CHECKPOINT_JOURNAL, /* before all matches: the file contains journals before this number */
    HS_CHECKPOINT_LAYOUT,  /* journal only: the layout of the events that follow */
    HS_CHECKPOINT_EVENTS,  /* journal only: a match, its opening, records of validators/journal.h */
    HS_CHECKPOINT_CLOSE,   /* journal only: a match that ended, its opening */
    HS_CHECKPOINT_RULESET_GONE /* journal only: a ruleset that was deleted: owner, name */
};

/* The first bytes of a file. */
void hs_checkpoint_magic(unsigned char header[HS_CHECKPOINT_HEADER]);

/* The header of a record whose bytes are the concatenation of `parts`. */
void hs_checkpoint_frame(unsigned char header[HS_CHECKPOINT_RECORD_HEADER],
                         enum hs_checkpoint_type type, const struct iovec *parts, size_t count);

struct hs_checkpoint_writer {
    int directory, file;
    uint64_t records, bytes;
    int error; /* errno of what went wrong first; 0: nothing did */
};

/* Begins a file in a directory. Errors are kept until hs_checkpoint_write_end. */
void hs_checkpoint_write_begin(struct hs_checkpoint_writer *writer, int directory);
void hs_checkpoint_write(struct hs_checkpoint_writer *writer, enum hs_checkpoint_type type,
                         const void *bytes, size_t size);

/* Puts the file into its place, and that which was there into that of the one before. False, with
   `error` set and both as they were, when any of it failed, or with `discard`. */
bool hs_checkpoint_write_end(struct hs_checkpoint_writer *writer, bool discard);

/* Renames the newest file, or whatever has its name, to the name of damaged files. */
void hs_checkpoint_set_aside(int directory);

enum hs_checkpoint_read {
    HS_CHECKPOINT_READ,
    HS_CHECKPOINT_MISSING,
    HS_CHECKPOINT_UNREADABLE,    /* errno says why; nothing was read */
    HS_CHECKPOINT_OTHER_VERSION, /* nothing was read */
    HS_CHECKPOINT_UNENDED,  /* whole records were read; the end record is missing, as in journals */
    HS_CHECKPOINT_NOT_FILE, /* a FIFO, a directory or the like; nothing was read */
    HS_CHECKPOINT_BROKEN    /* only whole records were read; others are damaged */
};

/* A record that is whole. `bytes` are the callee's for the call. */
typedef void hs_checkpoint_visit(void *context, enum hs_checkpoint_type type, const void *bytes,
                                 size_t size);

enum hs_checkpoint_read hs_checkpoint_read(int directory, const char *name,
                                           hs_checkpoint_visit *visit, void *context);

#endif
