#include "api/ticks.h"

#define TO(member) .offset = offsetof(struct hs_ticks_request, member)

void hs_ticks_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_ticks_request *out)
{
    static const struct hs_json_field fields[] = {
        {"now", HS_JSON_TIME, TO(hits.now_us), .bit = HS_TICKS_NOW},
        {"frames", HS_JSON_BATCH, TO(frames.frames), .list = &hs_frames_list,
         .bit = HS_TICKS_FRAMES},
        {"moves", HS_JSON_BATCH, TO(moves.moves), .list = &hs_moves_list, .bit = HS_TICKS_MOVES},
        {"shots", HS_JSON_BATCH, TO(shots.shots), .list = &hs_shots_list, .bit = HS_TICKS_SHOTS},
        {"hits", HS_JSON_BATCH, TO(hits.claims), .list = &hs_hits_list, .bit = HS_TICKS_HITS},
    };
    static const struct hs_json_object object = {
        HS_JSON_FIELDS(fields), .bits_offset = offsetof(struct hs_ticks_request, fields)};
    hs_json_read_object(reader, root, NULL, &object, out);
    hs_frames_count_entries(&out->frames);
    if (out->fields & HS_TICKS_NOW) {
        out->hits.fields |= HS_HITS_NOW;
        out->shots.fields |= HS_SHOTS_NOW;
        out->shots.now_us = out->hits.now_us;
    }
}
