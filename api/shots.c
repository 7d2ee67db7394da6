#include "api/shots.h"

static const struct hs_json_list direction_list = {
    .item = {.kind = HS_JSON_VEC, .check = hs_json_check_direction},
    .size = sizeof(struct hs_vec),
    .low = 1,
    .high = HS_MAX_PELLETS};

#define TO(member)  .offset = offsetof(struct hs_shot_claim, member)
#define HAS(member) .flag = offsetof(struct hs_shot_claim, has_##member)

static const struct hs_json_field shot_fields[] = {
    {"shot", HS_JSON_INT, true, TO(shot), .high = HS_JSON_INT_MAX},
    {"shooter", HS_JSON_NAME, true, TO(shooter)},
    {"weapon", HS_JSON_NAME, TO(weapon)},
    {"cancel", HS_JSON_BOOL, TO(is_cancel)},
    {"time", HS_JSON_TIME, TO(time_us), HAS(time)},
    {"origin", HS_JSON_VEC, TO(origin), HAS(origin)},
    {"direction", HS_JSON_VEC, TO(direction), HAS(direction), .check = hs_json_check_direction},
    {"seed", HS_JSON_INT, TO(seed), HAS(seed), .high = HS_JSON_INT_MAX},
    {"directions", HS_JSON_LIST, TO(directions), .list = &direction_list},
};

static struct hs_vec unit(struct hs_vec v)
{
    return hs_vec_scale(v, 1 / hs_vec_length(v));
}

static void require(struct hs_reader *reader, const struct hs_json_at *at, const char *key,
                    bool is_present)
{
    struct hs_json_at here = {.parent = at, .key = key};
    if (!is_present)
        hs_json_bad(reader, &here, "is required");
}

static void finish_shot(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    (void)value;
    struct hs_shot_claim *shot = target;
    struct hs_vec *directions = (struct hs_vec *)(uintptr_t)shot->directions;
    require(reader, at, "time", shot->has_time || shot->is_cancel);
    require(reader, at, "origin", shot->has_origin || shot->is_cancel);
    if (shot->has_direction)
        shot->direction = unit(shot->direction);
    for (size_t i = 0; i < shot->direction_count; i++)
        directions[i] = unit(directions[i]);
}

static const struct hs_json_object shot_object = {HS_JSON_FIELDS(shot_fields),
                                                  .finish = finish_shot};
const struct hs_json_list hs_shots_list = {.item = {.kind = HS_JSON_OBJECT, .object = &shot_object},
                                           .size = sizeof(struct hs_shot_claim),
                                           .batch = HS_ITEM_SHOT};

void hs_shot_encode(struct hs_writer *writer, const struct hs_shot_claim *claim,
                    const struct hs_hit_result *result, int64_t forward_time_us,
                    const struct hs_verdict_id *id, bool explain)
{
    hs_verdict_encode(writer, claim->shot, claim->shooter, result, id);
    hs_write_time_field(writer, "forward_time", forward_time_us);
    if (result->sleep_us > 0)
        hs_write_time_field(writer, "sleep_time", result->sleep_us);
    if (result->remaining_flight_us >= 0)
        hs_write_time_field(writer, "remaining_flight", result->remaining_flight_us);
    const struct hs_detail_claim about = {
        .shot = claim->shot, .shooter = claim->shooter, .weapon = claim->weapon, .is_shot = true};
    hs_checks_encode(writer, &about, result, explain);
}

bool hs_shot_is_plain(const struct hs_hit_result *result)
{
    return hs_hit_is_plain(result) && result->sleep_us <= 0 && result->remaining_flight_us < 0;
}
