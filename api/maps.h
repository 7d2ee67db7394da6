/*
 * Maps: JSON documents with the static geometry of a world.
 *
 * A document with a million triangles is about 40 MB long. As a tree of JSON values, this document
 * would need more than ten times as much memory. So the arrays are read directly from the text. The
 * parser reads only the rest of the document and elements in an unusual form.
 */
#ifndef HS_API_MAPS_H
#define HS_API_MAPS_H

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/world.h"

/* The content of a document. The arrays are allocated with malloc. */
struct hs_map_document {
    struct hs_vec *vertices;
    uint32_t (*triangles)[3];
    struct hs_world_box *boxes;
    size_t vertex_count, triangle_count, box_count;
};

/* Counts the elements of a document before the document is decoded. In the result, only the counts
   are set. If the document is malformed, only the elements before the fault are counted. */
struct hs_world_mesh hs_map_measure(struct hs_str text);

/* Returns the size in bytes of the arrays of a mesh with these counts. hs_map_decode allocates at
   most this many bytes for the arrays. */
size_t hs_map_mesh_bytes(const struct hs_world_mesh *counts);

/*
 * Decodes a document with the optional members `vertices`, `triangles` and `boxes`. `counts` must
 * be the result of hs_map_measure. Returns whether the document is valid. If the result is false,
 * the reader's `problem` lists the faults with their JSON pointers, or the reader's `no_memory` is
 * set. After HS_PROBLEM_MAX faults are listed, further faults are only counted. *out is always set,
 * and the caller must free it with hs_map_document_free.
 */
bool hs_map_decode(struct hs_reader *reader, struct hs_str text, const struct hs_world_mesh *counts,
                   struct hs_map_document *out);
void hs_map_document_free(struct hs_map_document *document);

/* Returns the mesh of a document. The arrays of the mesh are borrowed from the document. */
struct hs_world_mesh hs_map_mesh(const struct hs_map_document *document);

/* Writes a document from which hs_map_decode reads exactly the same mesh. */
void hs_map_encode_document(struct hs_writer *writer, const struct hs_world_mesh *mesh);

/* Writes the answer to GET and PUT of a map. */
void hs_map_encode(struct hs_writer *writer, struct hs_str name, const char *revision,
                   const struct hs_world_info *info);

#endif
