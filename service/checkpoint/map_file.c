#include "service/checkpoint/map_file.h"
#include "service/checkpoint/file.h"
#include "service/checkpoint/maps.h"
#include "service/system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* HEADER: size of the header. COUNTS and SUM: offsets of the counts and the checksum in the
   header. */
enum { HEADER = 40, COUNTS = 8, SUM = 32, ARRAYS = 3 };

static const size_t sizes[ARRAYS] = {sizeof(struct hs_vec), sizeof(uint32_t[3]),
                                     sizeof(struct hs_world_box)};
_Static_assert(sizeof(struct hs_vec) == 24 && sizeof(struct hs_world_box) == 48,
               "the arrays of a mesh have the layout of the file");

static const char magic[8] = "HSMAPV1";
static const char temporary[] = "map.new";

bool hs_map_file_name(const char *revision, char name[HS_MAP_FILE_NAME])
{
    static const char prefix[] = "sha256:";
    size_t skip = sizeof prefix - 1;
    if (strncmp(revision, prefix, skip) != 0 || strlen(revision + skip) != HS_MAP_FILE_NAME - 1 ||
        strspn(revision + skip, "0123456789abcdef") != HS_MAP_FILE_NAME - 1)
        return false;
    memcpy(name, revision + skip, HS_MAP_FILE_NAME);
    return true;
}

/* Returns the checksum of the counts and the arrays. */
static uint32_t checksum(const unsigned char header[HEADER], const struct iovec arrays[ARRAYS])
{
    uLong crc = crc32_z(0, header + COUNTS, SUM - COUNTS);
    for (size_t i = 0; i < ARRAYS; i++)
        if (arrays[i].iov_len > 0)
            crc = crc32_z(crc, arrays[i].iov_base, arrays[i].iov_len);
    return (uint32_t)crc;
}

int hs_map_file_write(int directory, const char *revision, const struct hs_world_mesh *mesh)
{
    const size_t counts[ARRAYS] = {mesh->vertex_count, mesh->triangle_count, mesh->box_count};
    const void *const arrays[ARRAYS] = {mesh->vertices, mesh->triangles, mesh->boxes};
    unsigned char header[HEADER] = {0};
    struct iovec parts[1 + ARRAYS] = {{header, sizeof header}};
    char name[HS_MAP_FILE_NAME];
    if (!hs_map_file_name(revision, name))
        return EINVAL;
    memcpy(header, magic, sizeof magic);
    for (size_t i = 0; i < ARRAYS; i++) {
        hs_word_put(header + COUNTS + 8 * i, counts[i], 8);
        parts[1 + i] = (struct iovec){(void *)(uintptr_t)arrays[i], counts[i] * sizes[i]};
    }
    hs_word_put(header + SUM, checksum(header, parts + 1), 4);
    int file = hs_file_create(directory, temporary), error = 0;
    if (file < 0)
        return errno;
    if (!hs_file_write(file, parts, 1 + ARRAYS) || fsync(file) != 0)
        error = errno;
    if (close(file) != 0 && error == 0)
        error = errno;
    if (error == 0 &&
        (renameat(directory, temporary, directory, name) != 0 || fsync(directory) != 0))
        error = errno;
    if (error != 0)
        unlinkat(directory, temporary, 0);
    return error;
}

/* ---- reading ---- */

/* Reads the header, and compares the counts with the file size before anything is allocated. */
static bool read_header(FILE *file, unsigned char header[HEADER], uint64_t counts[ARRAYS])
{
    struct stat status;
    if (fstat(fileno(file), &status) != 0 || fread(header, 1, HEADER, file) != HEADER ||
        memcmp(header, magic, sizeof magic) != 0 || hs_word_get(header + SUM + 4, 4) != 0)
        return false;
    uint64_t left = (uint64_t)status.st_size - HEADER;
    for (size_t i = 0; i < ARRAYS; i++) {
        counts[i] = hs_word_get(header + COUNTS + 8 * i, 8);
        if (counts[i] > left / sizes[i])
            return false;
        left -= counts[i] * sizes[i];
    }
    return left == 0;
}

static enum hs_map_file read_mesh(FILE *file, struct hs_map_document *out)
{
    unsigned char header[HEADER];
    uint64_t counts[ARRAYS];
    struct iovec arrays[ARRAYS];
    if (!read_header(file, header, counts))
        return HS_MAP_FILE_DAMAGED;
    bool has_memory = true, is_whole = true;
    for (size_t i = 0; i < ARRAYS; i++) {
        size_t size = counts[i] * sizes[i];
        arrays[i] = (struct iovec){malloc(size + 1), size};
        has_memory = has_memory && arrays[i].iov_base != NULL;
    }
    *out = (struct hs_map_document){arrays[0].iov_base, arrays[1].iov_base, arrays[2].iov_base,
                                    counts[0],          counts[1],          counts[2]};
    if (!has_memory)
        return HS_MAP_FILE_NO_MEMORY;
    for (size_t i = 0; i < ARRAYS; i++)
        is_whole =
            is_whole && fread(arrays[i].iov_base, 1, arrays[i].iov_len, file) == arrays[i].iov_len;
    return is_whole && checksum(header, arrays) == hs_word_get(header + SUM, 4)
               ? HS_MAP_FILE_READ
               : HS_MAP_FILE_DAMAGED;
}

enum hs_map_file hs_map_file_read(int directory, const char *revision, struct hs_map_document *out)
{
    char name[HS_MAP_FILE_NAME];
    *out = (struct hs_map_document){0};
    if (!hs_map_file_name(revision, name))
        return HS_MAP_FILE_MISSING;
    int own = hs_file_open(directory, name, O_RDONLY | O_NOFOLLOW);
    if (own < 0)
        return errno == ENOENT ? HS_MAP_FILE_MISSING : HS_MAP_FILE_DAMAGED;
    FILE *file = fdopen(own, "rb");
    if (file == NULL) {
        close(own);
        return HS_MAP_FILE_NO_MEMORY;
    }
    enum hs_map_file result = read_mesh(file, out);
    fclose(file);
    if (result != HS_MAP_FILE_READ)
        hs_map_document_free(out);
    return result;
}

bool hs_map_file_document(const char *data, const char *revision, struct hs_buffer *out)
{
    char path[4096];
    struct hs_map_document document;
    struct hs_writer writer = {.buffer = out};
    snprintf(path, sizeof path, "%s/" HS_CHECKPOINT_MAPS, data);
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return false;
    bool is_read = hs_map_file_read(directory, revision, &document) == HS_MAP_FILE_READ;
    close(directory);
    if (!is_read)
        return false;
    struct hs_world_mesh mesh = hs_map_mesh(&document);
    hs_map_encode_document(&writer, &mesh);
    hs_map_document_free(&document);
    return !out->failed;
}
