/*
 * Maps: the static geometry of a world as a JSON document.
 *
 * A document with a million triangles is about 40 MB long. As a tree of JSON values it would need
 * more than ten times as much memory. So the long arrays are read directly from the text. Only the
 * rest of the document, and elements in an unusual form, go through the parser.
 */
#ifndef HS_API_MAPS_H
#define HS_API_MAPS_H

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/world.h"

/* The content of a document. The arrays are malloc'ed. */
struct hs_map_document {
    struct hs_vec *vertices;
    uint32_t (*triangles)[3];
    struct hs_world_box *boxes;
    size_t vertex_count, triangle_count, box_count;
};

/* Counts the elements of a document before it is decoded. The result contains only counts. If the
   document is malformed, only the elements before the fault are counted. */
struct hs_world_mesh hs_map_measure(struct hs_str text);

/* Returns the size in bytes of the arrays of a mesh. hs_map_decode allocates at most this many
   bytes for a mesh with these counts. */
size_t hs_map_mesh_bytes(const struct hs_world_mesh *counts);

/*
 * Decodes a document with the optional members `vertices`, `triangles` and `boxes`. `counts` must
 * be the result of hs_map_measure. Returns whether the document is valid. If the document is not
 * valid, either the reader's `no_memory` is set, or the reader's `problem` lists the faults, each
 * with its JSON pointer. Faults after the first HS_PROBLEM_MAX are only counted. *out is always
 * set, and must be freed.
 */
bool hs_map_decode(struct hs_reader *reader, struct hs_str text, const struct hs_world_mesh *counts,
                   struct hs_map_document *out);
void hs_map_document_free(struct hs_map_document *document);

/* Returns the mesh of the document. The mesh borrows the arrays. */
struct hs_world_mesh hs_map_mesh(const struct hs_map_document *document);

/* Writes a document that hs_map_decode turns into exactly the same mesh. */
void hs_map_encode_document(struct hs_writer *writer, const struct hs_world_mesh *mesh);

/* Writes the answer to GET and PUT. */
void hs_map_encode(struct hs_writer *writer, struct hs_str name, const char *revision,
                   const struct hs_world_info *info);

#endif
