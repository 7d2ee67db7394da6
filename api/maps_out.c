/* Writes documents of maps, and answers about maps. */
#include "api/maps.h"

#include <math.h>

/* Writes -0.0 with its sign, because the revision of a map depends on the sign. */
static void write_coordinate(struct hs_writer *writer, double value)
{
    if (value == 0 && signbit(value))
        hs_write_raw(writer, HS_STR("-0.0"));
    else
        hs_write_exact(writer, value);
}

static void write_exact_vec(struct hs_writer *writer, struct hs_vec v)
{
    hs_write_begin(writer, '[');
    write_coordinate(writer, v.x);
    write_coordinate(writer, v.y);
    write_coordinate(writer, v.z);
    hs_write_end(writer, ']');
}

void hs_map_encode_document(struct hs_writer *writer, const struct hs_world_mesh *mesh)
{
    hs_write_begin(writer, '{');
    hs_write_begin_field(writer, "vertices", '[');
    for (size_t i = 0; i < mesh->vertex_count; i++)
        write_exact_vec(writer, mesh->vertices[i]);
    hs_write_end(writer, ']');
    hs_write_begin_field(writer, "triangles", '[');
    for (size_t i = 0; i < mesh->triangle_count; i++) {
        hs_write_begin(writer, '[');
        for (int k = 0; k < 3; k++)
            hs_write_int(writer, mesh->triangles[i][k]);
        hs_write_end(writer, ']');
    }
    hs_write_end(writer, ']');
    hs_write_begin_field(writer, "boxes", '[');
    for (size_t i = 0; i < mesh->box_count; i++) {
        hs_write_begin(writer, '{');
        hs_write_key(writer, "min");
        write_exact_vec(writer, mesh->boxes[i].min);
        hs_write_key(writer, "max");
        write_exact_vec(writer, mesh->boxes[i].max);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
    hs_write_end(writer, '}');
}

void hs_map_encode(struct hs_writer *writer, struct hs_str name, const char *revision,
                   const struct hs_world_info *info)
{
    hs_write_begin(writer, '{');
    hs_write_str_field(writer, "name", name);
    hs_write_text_field(writer, "revision", revision);
    hs_write_int_field(writer, "vertices", (int64_t)info->vertices);
    hs_write_int_field(writer, "triangles", (int64_t)info->triangles);
    hs_write_int_field(writer, "boxes", (int64_t)info->boxes);
    hs_write_int_field(writer, "degenerate", (int64_t)info->degenerate);
    hs_write_int_field(writer, "bytes", (int64_t)info->bytes);
    hs_write_begin_field(writer, "bounds", '{');
    hs_write_vec_field(writer, "min", info->min);
    hs_write_vec_field(writer, "max", info->max);
    hs_write_end(writer, '}');
    hs_write_end(writer, '}');
}
