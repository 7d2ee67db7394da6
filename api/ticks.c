#include "api/ticks.h"

#define TO(member) .offset = offsetof(struct hs_ticks_request, member)

/* The members of every body lie side by side: those of POST shots from `shots` on, those of POST
   hits from `now` on. */
enum { FRAMES, MOVES, SHOTS, NOW, HITS };
static const struct hs_json_field fields[] = {
    {"frames", HS_JSON_BATCH, TO(frames.frames), .list = &hs_frames_list, .bit = HS_TICKS_FRAMES},
    {"moves", HS_JSON_BATCH, TO(moves.moves), .list = &hs_moves_list, .bit = HS_TICKS_MOVES},
    {"shots", HS_JSON_BATCH, TO(shots.shots), .list = &hs_shots_list, .bit = HS_TICKS_SHOTS},
    {"now", HS_JSON_TIME, TO(now_us), .bit = HS_TICKS_NOW},
    {"hits", HS_JSON_BATCH, TO(hits.claims), .list = &hs_hits_list, .bit = HS_TICKS_HITS},
};

static const struct {
    enum hs_route route;
    size_t first, count, required;
} bodies[] = {
    {HS_ROUTE_FRAMES_POST, FRAMES, 1, FRAMES},
    {HS_ROUTE_SHOTS_POST, SHOTS, 2, SHOTS},
    {HS_ROUTE_HITS_POST, NOW, 2, HITS},
};

void hs_ticks_decode_body(struct hs_reader *reader, const json_t *root, enum hs_route route,
                          struct hs_ticks_request *out)
{
    struct hs_json_object object = {HS_JSON_FIELDS(fields),
                                    .bits_offset = offsetof(struct hs_ticks_request, fields)};
    const struct hs_json_field *required = NULL;
    if (route == HS_ROUTE_MOVES_POST) {
        out->fields = HS_TICKS_MOVES;
        hs_moves_decode_body(reader, root, &out->moves);
        return;
    }
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        if (bodies[i].route != route)
            continue;
        object.fields = fields + bodies[i].first;
        object.count = bodies[i].count;
        required = &fields[bodies[i].required];
    }
    hs_json_read_object(reader, root, NULL, &object, out);
    struct hs_json_at at = {.key = required != NULL ? required->name : NULL};
    if (required != NULL && (out->fields & required->bit) == 0)
        hs_json_bad(reader, &at, "is required");
    for (size_t i = 0; i < out->frames.count; i++)
        out->frames.entries +=
            out->frames.frames[i].player_count + out->frames.frames[i].mover_count;
}
