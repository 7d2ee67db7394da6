/*
 * The file with the geometry of one map; its name is the revision. The file is always complete or
 * absent. Content:
 *
 * - "HSMAPV1" and 0 (8 bytes)
 * - counts of vertices, triangles and boxes (8 each), CRC-32 (4), 0 (4), all little-endian
 * - the arrays of struct hs_world_mesh, as they are in memory: vertices (x, y, z), triangles (three
 *   indices), boxes (the lowest and the highest corner)
 *
 * The CRC (zlib) covers the counts and the arrays. Reading returns the exact bits that were
 * written, so a restored world leads to the same verdicts. Revisions also depend on the byte order,
 * so a machine with another byte order rejects the file.
 */
#ifndef HS_SERVICE_MAP_FILE_H
#define HS_SERVICE_MAP_FILE_H

#include <stdbool.h>

#include "api/maps.h"

enum { HS_MAP_FILE_NAME = 65 };

/* Writes the file name of a revision ("sha256:" and 64 digits). Returns false if `revision` does
   not have this form. */
bool hs_map_file_name(const char *revision, char name[HS_MAP_FILE_NAME]);

/* Writes the file under a temporary name, syncs the file, and renames it. An existing file with the
   same name is replaced. Returns 0 on success. On failure deletes the incomplete file and returns
   an errno. Only one thread at a time may call this function. */
int hs_map_file_write(int directory, const char *revision, const struct hs_world_mesh *mesh);

enum hs_map_file {
    HS_MAP_FILE_READ,
    HS_MAP_FILE_MISSING,
    HS_MAP_FILE_DAMAGED, /* the file is damaged, has another format, or cannot be opened */
    HS_MAP_FILE_NO_MEMORY
};

/* Reads a map file. If the result is HS_MAP_FILE_READ, the caller frees *out. Does not check that
   the revision belongs to the geometry; the build of the world does (state/maps.h). */
enum hs_map_file hs_map_file_read(int directory, const char *revision, struct hs_map_document *out);

/* Appends the JSON document of a map whose file is in the data directory `data`. Returns false if
   the file is missing or damaged, or memory runs out. */
bool hs_map_file_document(const char *data, const char *revision, struct hs_buffer *out);

#endif
