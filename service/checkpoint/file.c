#include "service/checkpoint/file.h"
#include "service/system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { HEADER = HS_CHECKPOINT_HEADER, RECORD_HEADER = HS_CHECKPOINT_RECORD_HEADER };

static const char magic[] = "HSCHKPT";

/* Returns the CRC of a record. The CRC covers the type, the size and the bytes. */
static uint32_t checksum(const unsigned char header[RECORD_HEADER], const void *bytes, size_t size)
{
    uLong crc = crc32_z(0, header, 4);
    crc = crc32_z(crc, header + 8, 8);
    return (uint32_t)(size > 0 ? crc32_z(crc, bytes, size) : crc);
}

void hs_checkpoint_magic(unsigned char header[HS_CHECKPOINT_HEADER])
{
    memcpy(header, magic, sizeof magic - 1);
    header[HEADER - 1] = HS_CHECKPOINT_VERSION;
}

void hs_checkpoint_frame(unsigned char header[HS_CHECKPOINT_RECORD_HEADER],
                         enum hs_checkpoint_type type, const struct iovec *parts, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += parts[i].iov_len;
    hs_word_put(header, type, 4);
    hs_word_put(header + 8, size, 8);
    uLong crc = checksum(header, NULL, 0);
    for (size_t i = 0; i < count; i++)
        crc = parts[i].iov_len > 0 ? crc32_z(crc, parts[i].iov_base, parts[i].iov_len) : crc;
    hs_word_put(header + 4, crc, 4);
}

/* ---- writing ---- */

static void put(struct hs_checkpoint_writer *writer, const void *bytes, size_t size)
{
    struct iovec part = {(void *)(uintptr_t)bytes, size};
    if (writer->error == 0 && !hs_file_write(writer->file, &part, 1))
        writer->error = errno;
    if (writer->error == 0)
        writer->bytes += size;
}

void hs_checkpoint_write_begin(struct hs_checkpoint_writer *writer, int directory)
{
    *writer = (struct hs_checkpoint_writer){.directory = directory};
    writer->file = hs_file_create(directory, HS_CHECKPOINT_NEW);
    if (writer->file < 0)
        writer->error = errno;
    unsigned char header[HEADER];
    hs_checkpoint_magic(header);
    put(writer, header, sizeof header);
}

void hs_checkpoint_write(struct hs_checkpoint_writer *writer, enum hs_checkpoint_type type,
                         const void *bytes, size_t size)
{
    unsigned char header[RECORD_HEADER];
    const struct iovec part = {(void *)(uintptr_t)bytes, size};
    hs_checkpoint_frame(header, type, &part, 1);
    put(writer, header, sizeof header);
    put(writer, bytes, size);
    writer->records++;
}

/* Renames the written file to HS_CHECKPOINT_NAME. A file that already has this name becomes the
   previous checkpoint (HS_CHECKPOINT_PREVIOUS). HS_CHECKPOINT_NAME names a complete file at every
   moment. If no file has this name yet, for example after hs_checkpoint_set_aside,
   HS_CHECKPOINT_PREVIOUS does not change. On a file system without hard links, there is no previous
   checkpoint. */
static void put_into_place(struct hs_checkpoint_writer *writer)
{
    int directory = writer->directory;
    bool is_first = faccessat(directory, HS_CHECKPOINT_NAME, F_OK, 0) != 0 && errno == ENOENT;
    if (!is_first && (unlinkat(directory, HS_CHECKPOINT_PREVIOUS, 0) == 0 || errno == ENOENT))
        (void)!linkat(directory, HS_CHECKPOINT_NAME, directory, HS_CHECKPOINT_PREVIOUS, 0);
    if (renameat(directory, HS_CHECKPOINT_NEW, directory, HS_CHECKPOINT_NAME) != 0 ||
        fsync(directory) != 0)
        writer->error = errno;
}

bool hs_checkpoint_write_end(struct hs_checkpoint_writer *writer, bool discard)
{
    unsigned char records[8];
    hs_word_put(records, writer->records, sizeof records);
    hs_checkpoint_write(writer, HS_CHECKPOINT_END, records, sizeof records);
    if (writer->error == 0 && !discard && fsync(writer->file) != 0)
        writer->error = errno;
    if (writer->file >= 0 && close(writer->file) != 0 && writer->error == 0)
        writer->error = errno;
    if (writer->error == 0 && discard)
        writer->error = ENOMEM;
    if (writer->error == 0)
        put_into_place(writer);
    else
        unlinkat(writer->directory, HS_CHECKPOINT_NEW, 0);
    return writer->error == 0;
}

void hs_checkpoint_set_aside(int directory)
{
    /* The rename fails if one name is a file and the other name is a directory. In that case,
       remove HS_CHECKPOINT_DAMAGED and rename again. */
    if (renameat(directory, HS_CHECKPOINT_NAME, directory, HS_CHECKPOINT_DAMAGED) != 0 &&
        (unlinkat(directory, HS_CHECKPOINT_DAMAGED, 0) == 0 ||
         unlinkat(directory, HS_CHECKPOINT_DAMAGED, AT_REMOVEDIR) == 0))
        (void)!renameat(directory, HS_CHECKPOINT_NAME, directory, HS_CHECKPOINT_DAMAGED);
}

/* ---- reading ---- */

struct reading {
    FILE *file;
    uint64_t left; /* unread bytes of the file */
    uint64_t records;
    hs_checkpoint_visit *visit;
    void *context;
    bool is_broken, has_ended;
};

static bool take(struct reading *reading, void *to, size_t size)
{
    if (size > reading->left || fread(to, 1, size, reading->file) != size)
        return false;
    reading->left -= size;
    return true;
}

static void take_record(struct reading *reading, const unsigned char header[RECORD_HEADER],
                        const unsigned char *bytes, size_t size)
{
    uint64_t type = hs_word_get(header, 4);
    if (checksum(header, bytes, size) != hs_word_get(header + 4, 4)) {
        reading->is_broken = true;
    } else if (type == HS_CHECKPOINT_END) {
        reading->has_ended = true;
        if (size != 8 || hs_word_get(bytes, 8) != reading->records || reading->left != 0)
            reading->is_broken = true;
    } else {
        reading->visit(reading->context, (enum hs_checkpoint_type)type, bytes, size);
    }
    reading->records++;
}

/* Reads the next record. Returns false if no complete record is left, or memory runs out. */
static bool read_record(struct reading *reading)
{
    unsigned char header[RECORD_HEADER];
    if (!take(reading, header, sizeof header))
        return false;
    uint64_t size = hs_word_get(header + 8, 8);
    unsigned char *bytes = size <= reading->left ? malloc((size_t)size + 1) : NULL;
    bool taken = bytes != NULL && take(reading, bytes, (size_t)size);
    if (taken)
        take_record(reading, header, bytes, (size_t)size);
    free(bytes);
    return taken;
}

static enum hs_checkpoint_read read_file(struct reading *reading)
{
    unsigned char header[HEADER];
    if (!take(reading, header, sizeof header) || memcmp(header, magic, sizeof magic - 1) != 0)
        return HS_CHECKPOINT_BROKEN;
    if (header[HEADER - 1] != HS_CHECKPOINT_VERSION)
        return HS_CHECKPOINT_OTHER_VERSION;
    while (!reading->has_ended && read_record(reading))
        continue;
    if (reading->is_broken)
        return HS_CHECKPOINT_BROKEN;
    return reading->has_ended ? HS_CHECKPOINT_READ : HS_CHECKPOINT_UNENDED;
}

enum hs_checkpoint_read hs_checkpoint_read_bytes(const void *bytes, size_t size,
                                                 hs_checkpoint_visit *visit, void *context)
{
    struct reading reading = {.left = size, .visit = visit, .context = context};
    if (size == 0)
        return HS_CHECKPOINT_BROKEN;
    reading.file = fmemopen((void *)(uintptr_t)bytes, size, "rb");
    if (reading.file == NULL)
        return HS_CHECKPOINT_UNREADABLE;
    enum hs_checkpoint_read result = read_file(&reading);
    fclose(reading.file);
    return result;
}

enum hs_checkpoint_read hs_checkpoint_read(int directory, const char *name,
                                           hs_checkpoint_visit *visit, void *context)
{
    struct stat status;
    struct reading reading = {.visit = visit, .context = context};
    int file = hs_file_open(directory, name, O_RDONLY | O_NOFOLLOW);
    if (file < 0)
        return errno == ENOENT                     ? HS_CHECKPOINT_MISSING
               : errno == ENXIO || errno == EISDIR ? HS_CHECKPOINT_NOT_FILE
                                                   : HS_CHECKPOINT_UNREADABLE;
    reading.file = fstat(file, &status) == 0 ? fdopen(file, "rb") : NULL;
    if (reading.file == NULL) {
        close(file);
        return HS_CHECKPOINT_UNREADABLE;
    }
    reading.left = (uint64_t)status.st_size;
    enum hs_checkpoint_read result = read_file(&reading);
    fclose(reading.file);
    return result;
}
