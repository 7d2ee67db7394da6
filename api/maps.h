/*
 * maps: the static geometry of a world as a document.
 *
 * A map of a million triangles is some forty megabytes of text, and would be ten times that as a
 * tree of JSON values. So the long arrays are read from the text as they stand; only the rest of
 * the document, and elements that are not plainly what they should be, go through the parser.
 */
#ifndef HS_API_MAPS_H
#define HS_API_MAPS_H

#include "api/json/table.h"
#include "api/json/writing.h"
#include "validators/world.h"

/* What a document holds; the arrays are malloc'ed. */
struct hs_map_document {
    struct hs_vec *vertices;
    uint32_t (*triangles)[3];
    struct hs_world_box *boxes;
    size_t vertex_count, triangle_count, box_count;
};

/*
 * Counts the elements of a document before it is read; sets the counts alone, without arrays. In a
 * malformed document it counts the elements before the fault.
 */
struct hs_world_mesh hs_map_measure(struct hs_str text);

/* Bytes that hs_map_decode allocates at most for a document with these counts. */
size_t hs_map_decode_bytes(const struct hs_world_mesh *counts);

/*
 * Reads a document: `vertices`, `triangles`, `boxes`, each of which may be left out. Faults are
 * noted in the reader's problem with their pointers, and no_memory is set as everywhere; beyond
 * HS_PROBLEM_MAX faults it only counts the faulty elements. `counts`: the element counts of this
 * document. True when the document is right; *out is set in any case and must be freed.
 */
bool hs_map_decode(struct hs_reader *reader, struct hs_str text, const struct hs_world_mesh *counts,
                   struct hs_map_document *out);
void hs_map_document_free(struct hs_map_document *document);

/* The document as what a world is made of; borrows its arrays. */
struct hs_world_mesh hs_map_mesh(const struct hs_map_document *document);

/* A document of which hs_map_decode makes the same mesh, to the last bit. */
void hs_map_encode_document(struct hs_writer *writer, const struct hs_world_mesh *mesh);

/* Answer to GET and PUT: what is known of a map. */
void hs_map_encode(struct hs_writer *writer, struct hs_str name, const char *revision,
                   const struct hs_world_info *info);

#endif
