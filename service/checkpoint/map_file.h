/*
 * The geometry of a map as a file of its own, named for its revision: written once, whole or not at
 * all. Little-endian:
 *
 *   "HSMAPV1" and 0 (8 bytes), how many vertices, triangles, boxes (8 each), CRC-32 (4), 0 (4)
 *   vertices: x, y, z (double); triangles: three numbers of vertices (4 each); boxes: the lowest
 * and the highest corner (double)
 *
 * The CRC is that of zlib over the counts and everything after the header. What is read gives the
 * same bits as what was written, so a world built from it answers alike.
 */
#ifndef HS_SERVICE_MAP_FILE_H
#define HS_SERVICE_MAP_FILE_H

#include <stdbool.h>

#include "api/maps.h"

enum { HS_MAP_FILE_NAME = 65 }; /* 64 hexadecimal digits */

/* The name of the file of a revision ("sha256:" and 64 digits). False: it is none. */
bool hs_map_file_name(const char *revision, char name[HS_MAP_FILE_NAME]);

/* Writes the file under another name, syncs it and the directory, and renames it over one that may
   be there. 0, or the errno of what failed; no file is left behind then. One thread at a time. */
int hs_map_file_write(int directory, const char *revision, const struct hs_world_mesh *mesh);

enum hs_map_file {
    HS_MAP_FILE_READ,
    HS_MAP_FILE_MISSING,
    HS_MAP_FILE_DAMAGED, /* or another format, or it cannot be opened */
    HS_MAP_FILE_NO_MEMORY
};

/* *out, with READ, is to be freed. Whether the geometry is that of the revision is not looked at:
   who builds its world learns it (map_store.h). */
enum hs_map_file hs_map_file_read(int directory, const char *revision, struct hs_map_document *out);

#endif
