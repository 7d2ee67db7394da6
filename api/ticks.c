#include "api/ticks.h"

#include "api/json/direct.h"

#define TO(member) .offset = offsetof(struct hs_ticks_request, member)

/* The members of all request bodies. A row of `bodies` selects `count` of these members, from index
   `first` on. For example, POST shots has `shots` and `now`, and POST hits has `now` and `hits`. */
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
    {HS_ROUTE_MOVES_POST, MOVES, 1, MOVES},
    {HS_ROUTE_SHOTS_POST, SHOTS, 2, SHOTS},
    {HS_ROUTE_HITS_POST, NOW, 2, HITS},
};

/* Returns the table of members in the body of a route. Sets *required to the member that the body
   must contain, or to NULL if all members are optional. */
static struct hs_json_object table_of(enum hs_route route, const struct hs_json_field **required)
{
    struct hs_json_object table = {HS_JSON_FIELDS(fields),
                                   .bits_offset = offsetof(struct hs_ticks_request, fields)};
    *required = NULL;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        if (bodies[i].route != route)
            continue;
        table.fields = fields + bodies[i].first;
        table.count = bodies[i].count;
        *required = &fields[bodies[i].required];
    }
    return table;
}

static void count_entries(struct hs_frames_request *frames)
{
    for (size_t i = 0; i < frames->count; i++)
        frames->entries += frames->frames[i].player_count + frames->frames[i].mover_count;
}

bool hs_ticks_read_directly(struct hs_reader *reader, struct hs_str body, enum hs_route route,
                            struct hs_ticks_request *out)
{
    const struct hs_json_field *required;
    struct hs_json_object table = table_of(route, &required);
    if (route == HS_ROUTE_MOVES_POST &&
        hs_json_read_table_directly(reader, body, &hs_moves_list, &out->moves.moves)) {
        out->fields = HS_TICKS_MOVES;
        return true;
    }
    if (!hs_json_read_directly(reader, body, &table, out) ||
        (required != NULL && (out->fields & required->bit) == 0)) {
        *out = (struct hs_ticks_request){0};
        return false;
    }
    count_entries(&out->frames);
    return true;
}

void hs_ticks_decode_body(struct hs_reader *reader, const json_t *root, enum hs_route route,
                          struct hs_ticks_request *out)
{
    const struct hs_json_field *required;
    struct hs_json_object table = table_of(route, &required);
    if (route == HS_ROUTE_MOVES_POST) {
        out->fields = HS_TICKS_MOVES;
        hs_moves_decode_body(reader, root, &out->moves);
        return;
    }
    hs_json_read_object(reader, root, NULL, &table, out);
    struct hs_json_at at = {.key = required != NULL ? required->name : NULL};
    if (required != NULL && (out->fields & required->bit) == 0)
        hs_json_bad(reader, &at, "is required");
    count_entries(&out->frames);
}
