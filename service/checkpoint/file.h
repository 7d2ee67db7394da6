/*
 * A file of checksummed records. The file is always complete or absent. Content, with all numbers
 * little-endian:
 *
 * - "HSCHKPT" and a version (8 bytes)
 * - records: type (4), CRC-32 (4), size (8), then `size` bytes. The CRC (zlib) covers the type, the
 *   size and the bytes
 * - a last record of type 0, which contains the number of records before it (8 bytes)
 *
 * The file is written under a temporary name, synced and renamed. So after a crash during a write,
 * the old file is still complete; the incomplete new file is never read. Only one thread at a time
 * may use this module.
 */
#ifndef HS_SERVICE_CHECKPOINT_FILE_H
#define HS_SERVICE_CHECKPOINT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define HS_CHECKPOINT_NAME     "checkpoint"
#define HS_CHECKPOINT_PREVIOUS "checkpoint.previous"
#define HS_CHECKPOINT_NEW      "checkpoint.new"     /* the checkpoint that is being written */
#define HS_CHECKPOINT_DAMAGED  "checkpoint.damaged" /* a damaged checkpoint, renamed at startup */

enum { HS_CHECKPOINT_VERSION = 3 };

/* Sizes of the file header and of each record header. */
enum { HS_CHECKPOINT_HEADER = 8, HS_CHECKPOINT_RECORD_HEADER = 16 };

enum hs_checkpoint_type {
    HS_CHECKPOINT_END,
    HS_CHECKPOINT_RULESET,
    HS_CHECKPOINT_MATCH,
    /* A record without bytes. If a file has this record, it is the first record in the file. The
       record means that no claim was verified after this checkpoint was written. The record is
       ignored in HS_CHECKPOINT_PREVIOUS, because a process has started since HS_CHECKPOINT_PREVIOUS
       was written. */
    HS_CHECKPOINT_FINAL,
    /* gives a name to a ruleset from an earlier record; contains the owner and the revision */
    HS_CHECKPOINT_RULESET_NAME,
    HS_CHECKPOINT_MAP, /* name, owner, revision; the geometry is in its own file (map_file.h) */
    /* The number of a journal. This checkpoint contains the changes from all journals with lower
       numbers. This record comes before the match records. */
    HS_CHECKPOINT_JOURNAL,
    HS_CHECKPOINT_LAYOUT, /* journal only: the layout of the event records that follow */
    /* journal only: name and opening number of a match, and its records (validators/journal.h) */
    HS_CHECKPOINT_EVENTS,
    HS_CHECKPOINT_CLOSE,        /* journal only: name and opening number of an ended match */
    HS_CHECKPOINT_RULESET_GONE, /* journal only: owner and name of a deleted ruleset */
    /* the canary of the ruleset name in the previous record; contains the owner, the revision and
       the share (the bits of a double) */
    HS_CHECKPOINT_CANARY
};

/* These functions write and read the lowest `size` bytes (1 to 8) of a value, in little-endian
   order. */
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

/* Writes the file header. */
void hs_checkpoint_magic(unsigned char header[HS_CHECKPOINT_HEADER]);

/* Writes the header of a record that contains the concatenated parts. */
void hs_checkpoint_frame(unsigned char header[HS_CHECKPOINT_RECORD_HEADER],
                         enum hs_checkpoint_type type, const struct iovec *parts, size_t count);

struct hs_checkpoint_writer {
    int directory, file;
    uint64_t records, bytes;
    int error; /* the first errno; 0: no error */
};

/* Begins a new file. Errors are reported by hs_checkpoint_write_end. */
void hs_checkpoint_write_begin(struct hs_checkpoint_writer *writer, int directory);
void hs_checkpoint_write(struct hs_checkpoint_writer *writer, enum hs_checkpoint_type type,
                         const void *bytes, size_t size);

/* Finishes the file and makes it the newest checkpoint. The checkpoint that the file replaces
   becomes the previous checkpoint. Returns false if a step failed (see `error`) or `discard` is
   set. After a failure, the newest checkpoint is still the old file. But if only the sync of the
   directory failed, the new file has already replaced the old file. */
bool hs_checkpoint_write_end(struct hs_checkpoint_writer *writer, bool discard);

/* Renames the newest checkpoint to HS_CHECKPOINT_DAMAGED. */
void hs_checkpoint_set_aside(int directory);

enum hs_checkpoint_read {
    HS_CHECKPOINT_READ,
    HS_CHECKPOINT_MISSING,
    HS_CHECKPOINT_UNREADABLE,    /* errno is set; nothing was read */
    HS_CHECKPOINT_OTHER_VERSION, /* nothing was read */
    /* complete records were read; the end record is missing, as in every journal */
    HS_CHECKPOINT_UNENDED,
    HS_CHECKPOINT_NOT_FILE, /* for example a FIFO or a directory; nothing was read */
    HS_CHECKPOINT_BROKEN    /* the file is damaged; the undamaged records in the file were read */
};

/* Receives one complete record. `bytes` is valid only during the call. */
typedef void hs_checkpoint_visit(void *context, enum hs_checkpoint_type type, const void *bytes,
                                 size_t size);

enum hs_checkpoint_read hs_checkpoint_read(int directory, const char *name,
                                           hs_checkpoint_visit *visit, void *context);

/* Reads the bytes of a file, like hs_checkpoint_read. For a complete journal, the result is
   HS_CHECKPOINT_UNENDED, because journals have no end record. */
enum hs_checkpoint_read hs_checkpoint_read_bytes(const void *bytes, size_t size,
                                                 hs_checkpoint_visit *visit, void *context);

#endif
