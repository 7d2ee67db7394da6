#include "api/ticks.h"

static void decode_frames(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, void *target)
{
    hs_frames_decode(reader, value, at, &((struct hs_ticks_request *)target)->frames);
}

static void decode_moves(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    hs_moves_decode(reader, value, at, &((struct hs_ticks_request *)target)->moves);
}

static void decode_shots(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    hs_shots_decode(reader, value, at, &((struct hs_ticks_request *)target)->shots);
}

static void decode_hits(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    hs_hits_decode(reader, value, at, &((struct hs_ticks_request *)target)->hits);
}

void hs_ticks_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_ticks_request *out)
{
    static const struct hs_json_field fields[] = {
        {.name = "now",
         .kind = HS_JSON_SECONDS,
         .offset = offsetof(struct hs_ticks_request, hits.now_us),
         .low = -HS_JSON_TIME_MAX,
         .high = HS_JSON_TIME_MAX,
         .bit = HS_TICKS_NOW},
        {.name = "frames", .kind = HS_JSON_CUSTOM, .decode = decode_frames, .bit = HS_TICKS_FRAMES},
        {.name = "moves", .kind = HS_JSON_CUSTOM, .decode = decode_moves, .bit = HS_TICKS_MOVES},
        {.name = "shots", .kind = HS_JSON_CUSTOM, .decode = decode_shots, .bit = HS_TICKS_SHOTS},
        {.name = "hits", .kind = HS_JSON_CUSTOM, .decode = decode_hits, .bit = HS_TICKS_HITS},
    };
    static const struct hs_json_object object = {fields, sizeof fields / sizeof fields[0],
                                                 offsetof(struct hs_ticks_request, fields)};
    hs_json_read_object(reader, root, NULL, &object, out);
    if (out->fields & HS_TICKS_NOW) {
        out->hits.fields |= HS_HITS_NOW;
        out->shots.fields |= HS_SHOTS_NOW;
        out->shots.now_us = out->hits.now_us;
    }
}
