#include "service/checkpoint/map_file.h"
#include "service/checkpoint/words.h"
#include "service/system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
    HEADER = 40,
    COUNTS = 8, /* offset of the counts in the header */
    SUM = 32,   /* offset of the checksum */
    VERTEX = 24,
    TRIANGLE = 12,
    BOX = 48,
    CHUNK = 1365 * 48 /* bytes; a multiple of each element size */
};

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

/* ---- values ---- */

static void put_vec(unsigned char *to, struct hs_vec v)
{
    const double parts[3] = {v.x, v.y, v.z};
    for (size_t i = 0; i < 3; i++) {
        uint64_t word;
        memcpy(&word, &parts[i], sizeof word);
        hs_word_put(to + 8 * i, word, 8);
    }
}

static struct hs_vec get_vec(const unsigned char *from)
{
    double parts[3];
    for (size_t i = 0; i < 3; i++) {
        uint64_t word = hs_word_get(from + 8 * i, 8);
        memcpy(&parts[i], &word, sizeof word);
    }
    return (struct hs_vec){parts[0], parts[1], parts[2]};
}

/* ---- kinds of elements ---- */

static void put_vertex(const struct hs_world_mesh *mesh, size_t i, unsigned char *to)
{
    put_vec(to, mesh->vertices[i]);
}

static void put_triangle(const struct hs_world_mesh *mesh, size_t i, unsigned char *to)
{
    for (size_t k = 0; k < 3; k++)
        hs_word_put(to + 4 * k, mesh->triangles[i][k], 4);
}

static void put_box(const struct hs_world_mesh *mesh, size_t i, unsigned char *to)
{
    put_vec(to, mesh->boxes[i].min);
    put_vec(to + VERTEX, mesh->boxes[i].max);
}

static void get_vertex(struct hs_map_document *out, size_t i, const unsigned char *from)
{
    out->vertices[i] = get_vec(from);
}

static void get_triangle(struct hs_map_document *out, size_t i, const unsigned char *from)
{
    for (size_t k = 0; k < 3; k++)
        out->triangles[i][k] = (uint32_t)hs_word_get(from + 4 * k, 4);
}

static void get_box(struct hs_map_document *out, size_t i, const unsigned char *from)
{
    out->boxes[i] = (struct hs_world_box){get_vec(from), get_vec(from + VERTEX)};
}

/* In file order. */
static const struct kind {
    size_t size;
    void (*put)(const struct hs_world_mesh *mesh, size_t i, unsigned char *to);
    void (*get)(struct hs_map_document *out, size_t i, const unsigned char *from);
} kinds[3] = {{VERTEX, put_vertex, get_vertex},
              {TRIANGLE, put_triangle, get_triangle},
              {BOX, put_box, get_box}};

/* The number of elements from `i` on that fit into a chunk. */
static size_t in_chunk(const struct kind *kind, size_t i, size_t count)
{
    size_t max = CHUNK / kind->size;
    return count - i < max ? count - i : max;
}

/* ---- writing ---- */

struct writing {
    int file, error;
    uLong crc;
    unsigned char chunk[CHUNK];
};

static void write_all(struct writing *w, const unsigned char *bytes, size_t size, off_t at)
{
    while (size > 0 && w->error == 0) {
        ssize_t written = pwrite(w->file, bytes, size, at);
        if (written < 0 && errno != EINTR)
            w->error = errno;
        if (written <= 0)
            continue;
        bytes += written;
        size -= (size_t)written;
        at += written;
    }
}

/* Writes all elements of a kind and returns the offset of the next kind. */
static off_t write_kind(struct writing *w, const struct kind *kind,
                        const struct hs_world_mesh *mesh, size_t count, off_t at)
{
    for (size_t i = 0; i < count && w->error == 0;) {
        size_t n = in_chunk(kind, i, count);
        for (size_t k = 0; k < n; k++)
            kind->put(mesh, i + k, w->chunk + k * kind->size);
        w->crc = crc32_z(w->crc, w->chunk, n * kind->size);
        write_all(w, w->chunk, n * kind->size, at);
        at += (off_t)(n * kind->size);
        i += n;
    }
    return at;
}

static void write_mesh(struct writing *w, const struct hs_world_mesh *mesh)
{
    const size_t counts[3] = {mesh->vertex_count, mesh->triangle_count, mesh->box_count};
    unsigned char header[HEADER] = {0};
    off_t at = HEADER;
    memcpy(header, magic, sizeof magic);
    for (size_t i = 0; i < 3; i++)
        hs_word_put(header + COUNTS + 8 * i, counts[i], 8);
    w->crc = crc32_z(0, header + COUNTS, SUM - COUNTS);
    for (size_t i = 0; i < 3; i++)
        at = write_kind(w, &kinds[i], mesh, counts[i], at);
    hs_word_put(header + SUM, w->crc, 4);
    write_all(w, header, sizeof header, 0);
}

int hs_map_file_write(int directory, const char *revision, const struct hs_world_mesh *mesh)
{
    char name[HS_MAP_FILE_NAME];
    if (!hs_map_file_name(revision, name))
        return EINVAL;
    struct writing *w = calloc(1, sizeof *w);
    if (w == NULL)
        return ENOMEM;
    w->file = hs_file_create(directory, temporary);
    if (w->file < 0)
        w->error = errno;
    else
        write_mesh(w, mesh);
    if (w->error == 0 && fsync(w->file) != 0)
        w->error = errno;
    if (w->file >= 0 && close(w->file) != 0 && w->error == 0)
        w->error = errno;
    if (w->error == 0 &&
        (renameat(directory, temporary, directory, name) != 0 || fsync(directory) != 0))
        w->error = errno;
    if (w->error != 0)
        unlinkat(directory, temporary, 0);
    int error = w->error;
    free(w);
    return error;
}

/* ---- reading ---- */

struct reading {
    FILE *file;
    uLong crc;
    uint64_t counts[3];
    bool no_memory;
    unsigned char chunk[CHUNK];
};

/* Checks the counts against the size of the file before any allocation. */
static bool read_header(struct reading *r, uint64_t size, uint32_t *sum)
{
    unsigned char header[HEADER];
    if (size < HEADER || fread(header, 1, HEADER, r->file) != HEADER ||
        memcmp(header, magic, sizeof magic) != 0 || hs_word_get(header + SUM + 4, 4) != 0)
        return false;
    uint64_t left = size - HEADER;
    for (size_t i = 0; i < 3; i++) {
        r->counts[i] = hs_word_get(header + COUNTS + 8 * i, 8);
        if (r->counts[i] > left / kinds[i].size)
            return false;
        left -= r->counts[i] * kinds[i].size;
    }
    r->crc = crc32_z(0, header + COUNTS, SUM - COUNTS);
    *sum = (uint32_t)hs_word_get(header + SUM, 4);
    return left == 0;
}

static bool read_kind(struct reading *r, const struct kind *kind, size_t count,
                      struct hs_map_document *out)
{
    for (size_t i = 0; i < count;) {
        size_t n = in_chunk(kind, i, count);
        if (fread(r->chunk, kind->size, n, r->file) != n)
            return false;
        r->crc = crc32_z(r->crc, r->chunk, n * kind->size);
        for (size_t k = 0; k < n; k++)
            kind->get(out, i + k, r->chunk + k * kind->size);
        i += n;
    }
    return true;
}

static bool read_mesh(struct reading *r, uint64_t size, struct hs_map_document *out)
{
    uint32_t sum;
    if (!read_header(r, size, &sum))
        return false;
    out->vertex_count = r->counts[0];
    out->triangle_count = r->counts[1];
    out->box_count = r->counts[2];
    out->vertices = malloc(out->vertex_count * sizeof *out->vertices + 1);
    out->triangles = malloc(out->triangle_count * sizeof *out->triangles + 1);
    out->boxes = malloc(out->box_count * sizeof *out->boxes + 1);
    if (out->vertices == NULL || out->triangles == NULL || out->boxes == NULL) {
        r->no_memory = true;
        return false;
    }
    bool whole = true;
    for (size_t i = 0; i < 3; i++)
        whole = whole && read_kind(r, &kinds[i], r->counts[i], out);
    return whole && (uint32_t)r->crc == sum;
}

/* Closes the file. */
static enum hs_map_file read_file(int file, struct hs_map_document *out)
{
    struct stat status;
    struct reading *r = calloc(1, sizeof *r);
    if (r != NULL)
        r->file = fstat(file, &status) == 0 ? fdopen(file, "rb") : NULL;
    if (r == NULL || r->file == NULL) {
        free(r);
        close(file);
        return r == NULL ? HS_MAP_FILE_NO_MEMORY : HS_MAP_FILE_DAMAGED;
    }
    bool whole = read_mesh(r, (uint64_t)status.st_size, out);
    enum hs_map_file result = whole          ? HS_MAP_FILE_READ
                              : r->no_memory ? HS_MAP_FILE_NO_MEMORY
                                             : HS_MAP_FILE_DAMAGED;
    fclose(r->file);
    free(r);
    return result;
}

enum hs_map_file hs_map_file_read(int directory, const char *revision, struct hs_map_document *out)
{
    char name[HS_MAP_FILE_NAME];
    *out = (struct hs_map_document){0};
    if (!hs_map_file_name(revision, name))
        return HS_MAP_FILE_MISSING;
    int file = hs_file_open(directory, name, O_RDONLY | O_NOFOLLOW);
    if (file < 0)
        return errno == ENOENT ? HS_MAP_FILE_MISSING : HS_MAP_FILE_DAMAGED;
    enum hs_map_file result = read_file(file, out);
    if (result != HS_MAP_FILE_READ)
        hs_map_document_free(out);
    return result;
}
