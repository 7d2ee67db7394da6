#include "api/shots.h"

enum { HAS_DIRECTION = 1 << 0, HAS_SEED = 1 << 1 };

/* A shot while it is read: the flags are bits there. */
struct reading {
    struct hs_shot_claim claim;
    int64_t shot, seed;
    double origin[3];
    unsigned fields;
};

static bool read_direction(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, struct hs_vec *out)
{
    double v[3];
    if (!hs_json_read_reals(reader, value, at, 3, v))
        return false;
    *out = (struct hs_vec){v[0], v[1], v[2]};
    double length = hs_vec_length(*out);
    if (!(length > 1e-100 && length < 1e100)) {
        hs_json_bad(reader, at, "must be a direction, not 0 and not huge");
        return false;
    }
    *out = hs_vec_scale(*out, 1 / length);
    return true;
}

static void decode_direction(struct hs_reader *reader, const json_t *value,
                             const struct hs_json_at *at, void *target)
{
    read_direction(reader, value, at, &((struct reading *)target)->claim.direction);
}

static void decode_directions(struct hs_reader *reader, const json_t *value,
                              const struct hs_json_at *at, void *target)
{
    struct hs_shot_claim *claim = &((struct reading *)target)->claim;
    struct hs_vec *directions = hs_json_read_array(reader, value, at, 1, HS_MAX_PELLETS,
                                                   sizeof *directions, &claim->direction_count);
    claim->directions = directions;
    for (size_t i = 0; directions != NULL && i < claim->direction_count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        read_direction(reader, json_array_get(value, i), &here, &directions[i]);
    }
}

#define AT(member)    offsetof(struct reading, member)
#define CLAIM(member) offsetof(struct reading, claim.member)

static const struct hs_json_field shot_fields[] = {
    {.name = "shot",
     .kind = HS_JSON_INT,
     .offset = AT(shot),
     .required = true,
     .high = 9007199254740991.0},
    {.name = "shooter", .kind = HS_JSON_NAME, .offset = CLAIM(shooter), .required = true},
    {.name = "weapon", .kind = HS_JSON_NAME, .offset = CLAIM(weapon)},
    {.name = "time",
     .kind = HS_JSON_SECONDS,
     .offset = CLAIM(time_us),
     .required = true,
     .low = -HS_JSON_TIME_MAX,
     .high = HS_JSON_TIME_MAX},
    {.name = "origin", .kind = HS_JSON_REALS, .offset = AT(origin), .count = 3, .required = true},
    {.name = "direction", .kind = HS_JSON_CUSTOM, .decode = decode_direction, .bit = HAS_DIRECTION},
    {.name = "seed",
     .kind = HS_JSON_INT,
     .offset = AT(seed),
     .high = 9007199254740991.0,
     .bit = HAS_SEED},
    {.name = "directions", .kind = HS_JSON_CUSTOM, .decode = decode_directions},
};

static const struct hs_json_object shot_object = {
    shot_fields, sizeof shot_fields / sizeof shot_fields[0], AT(fields)};

static void decode_shot(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    struct hs_shot_claim *shot = target;
    struct reading reading = {0};
    hs_json_read_object(reader, value, at, &shot_object, &reading);
    *shot = reading.claim;
    shot->shot = (uint64_t)reading.shot;
    shot->seed = (uint64_t)reading.seed;
    shot->origin = (struct hs_vec){reading.origin[0], reading.origin[1], reading.origin[2]};
    shot->has_direction = (reading.fields & HAS_DIRECTION) != 0;
    shot->has_seed = (reading.fields & HAS_SEED) != 0;
}

void hs_shots_decode(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                     struct hs_shots_request *out)
{
    out->shots = hs_json_read_batch(reader, value, at, HS_ITEM_SHOT, sizeof *out->shots,
                                    decode_shot, &out->count);
}

static void decode_shots_field(struct hs_reader *reader, const json_t *value,
                               const struct hs_json_at *at, void *target)
{
    hs_shots_decode(reader, value, at, target);
}

void hs_shots_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_shots_request *out)
{
    static const struct hs_json_field fields[] = {
        {.name = "now",
         .kind = HS_JSON_SECONDS,
         .offset = offsetof(struct hs_shots_request, now_us),
         .low = -HS_JSON_TIME_MAX,
         .high = HS_JSON_TIME_MAX,
         .bit = HS_SHOTS_NOW},
        {.name = "shots", .kind = HS_JSON_CUSTOM, .decode = decode_shots_field, .required = true},
    };
    static const struct hs_json_object object = {fields, 2,
                                                 offsetof(struct hs_shots_request, fields)};
    hs_json_read_object(reader, root, NULL, &object, out);
}

void hs_shot_encode(struct hs_writer *writer, const struct hs_shot_claim *claim,
                    const struct hs_hit_result *result, int64_t forward_time_us,
                    const struct hs_verdict_id *id, bool explain)
{
    hs_verdict_encode(writer, claim->shot, claim->shooter, result, id);
    hs_write_key(writer, "forward_time");
    hs_write_time(writer, forward_time_us);
    const struct hs_detail_claim about = {
        .shot = claim->shot, .shooter = claim->shooter, .weapon = claim->weapon, .is_shot = true};
    hs_checks_encode(writer, &about, result, explain);
}
