/*
 * A file of checksummed records. The file is complete or absent. All numbers in the file are
 * little-endian:
 *
 *   "HSCHKPT" and a version (8 bytes)
 *   records: type (4), CRC-32 (4), size (8), then `size` bytes; the CRC (zlib) covers type, size
 *            and bytes
 *   the last record has type 0 and the number of records before it (8 bytes)
 *
 * The file is written under another name, synced and renamed. After a crash, the file of the
 * previous write is still complete. There may also be an incomplete file, which is never read. Only
 * one thread at a time may use this module.
 */
#ifndef HS_SERVICE_CHECKPOINT_FILE_H
#define HS_SERVICE_CHECKPOINT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define HS_CHECKPOINT_NAME     "checkpoint"
#define HS_CHECKPOINT_PREVIOUS "checkpoint.previous" /* the previous checkpoint */
#define HS_CHECKPOINT_NEW      "checkpoint.new"      /* being written */
#define HS_CHECKPOINT_DAMAGED  "checkpoint.damaged"  /* a damaged file, renamed at a start */

enum { HS_CHECKPOINT_VERSION = 3 };

/* Sizes of the header of the file, and of the header of each record. */
enum { HS_CHECKPOINT_HEADER = 8, HS_CHECKPOINT_RECORD_HEADER = 16 };

enum hs_checkpoint_type {
    HS_CHECKPOINT_END,
    HS_CHECKPOINT_RULESET,
    HS_CHECKPOINT_MATCH,
    /* The first record; it has no bytes. The record means that no claim was verified after this
       file was written. The record is ignored in HS_CHECKPOINT_PREVIOUS, because a process has
       started from that file. */
    HS_CHECKPOINT_FINAL,
    HS_CHECKPOINT_RULESET_NAME, /* the name of a ruleset in an earlier record: owner, revision */
    HS_CHECKPOINT_MAP,          /* a name, its owner, the revision; map_file.h has the geometry */
    /* A journal number: the checkpoint contains the changes in all journals with lower numbers.
       This record comes before the match records. */
    HS_CHECKPOINT_JOURNAL,
    HS_CHECKPOINT_LAYOUT, /* journal only: the layout of the events that follow */
    HS_CHECKPOINT_EVENTS, /* journal only: a match, its opening, records of validators/journal.h */
    HS_CHECKPOINT_CLOSE,  /* journal only: a match that ended, its opening */
    HS_CHECKPOINT_RULESET_GONE, /* journal only: a ruleset that was deleted: owner, name */
    HS_CHECKPOINT_CANARY /* the canary of the name in the previous record: owner, revision, share
                            (the bits of a double) */
};

/* Write or read the lowest `size` bytes (1 .. 8) of a value, in little-endian order. */
static inline void hs_word_put(unsigned char *to, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

static inline uint64_t hs_word_get(const unsigned char *from, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

/* Writes the header of a file. */
void hs_checkpoint_magic(unsigned char header[HS_CHECKPOINT_HEADER]);

/* Writes the header of a record whose bytes are the concatenation of `parts`. */
void hs_checkpoint_frame(unsigned char header[HS_CHECKPOINT_RECORD_HEADER],
                         enum hs_checkpoint_type type, const struct iovec *parts, size_t count);

struct hs_checkpoint_writer {
    int directory, file;
    uint64_t records, bytes;
    int error; /* errno of the first error; 0: no error */
};

/* Begins a file in a directory. hs_checkpoint_write_end reports errors. */
void hs_checkpoint_write_begin(struct hs_checkpoint_writer *writer, int directory);
void hs_checkpoint_write(struct hs_checkpoint_writer *writer, enum hs_checkpoint_type type,
                         const void *bytes, size_t size);

/* Ends the file. The newest file becomes the previous file, and the written file becomes the newest
   file. Returns false if a step failed (`error` is set) or `discard` is set. On failure the newest
   file keeps its name. */
bool hs_checkpoint_write_end(struct hs_checkpoint_writer *writer, bool discard);

/* Renames the newest file to HS_CHECKPOINT_DAMAGED. */
void hs_checkpoint_set_aside(int directory);

enum hs_checkpoint_read {
    HS_CHECKPOINT_READ,
    HS_CHECKPOINT_MISSING,
    HS_CHECKPOINT_UNREADABLE,    /* errno says why; nothing was read */
    HS_CHECKPOINT_OTHER_VERSION, /* nothing was read */
    HS_CHECKPOINT_UNENDED,  /* whole records were read; the end record is missing, as in journals */
    HS_CHECKPOINT_NOT_FILE, /* for example a FIFO or a directory; nothing was read */
    HS_CHECKPOINT_BROKEN    /* whole records were read; a later one is damaged */
};

/* Receives a complete record. `bytes` is valid only during the call. */
typedef void hs_checkpoint_visit(void *context, enum hs_checkpoint_type type, const void *bytes,
                                 size_t size);

enum hs_checkpoint_read hs_checkpoint_read(int directory, const char *name,
                                           hs_checkpoint_visit *visit, void *context);

/* Reads bytes that begin with hs_checkpoint_magic. The end record may be missing (UNENDED). */
enum hs_checkpoint_read hs_checkpoint_read_bytes(const void *bytes, size_t size,
                                                 hs_checkpoint_visit *visit, void *context);

#endif
