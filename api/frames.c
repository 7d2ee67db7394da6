#include "api/frames.h"

#include "api/detail.h"
/* ---- decoding ---- */

static const struct {
    const char *name;
    enum hs_sample_event event;
} events[] = {{"spawn", HS_EVENT_SPAWN},
              {"teleport", HS_EVENT_TELEPORT},
              {"death", HS_EVENT_DEATH},
              {"leave", HS_EVENT_LEAVE}};

static void decode_event(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    struct hs_player_frame *entry = target;
    struct hs_str text = {json_string_value(value), json_string_length(value)};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        if (hs_str_equal(text, (struct hs_str){events[i].name, strlen(events[i].name)})) {
            entry->event = events[i].event;
            return;
        }
    }
    hs_json_bad(reader, at, "must be spawn, teleport, death or leave");
}

static bool read_vector(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        struct hs_vec *out)
{
    double v[3];
    if (!hs_json_read_reals(reader, value, at, 3, v))
        return false;
    *out = (struct hs_vec){v[0], v[1], v[2]};
    return true;
}

static void decode_position(struct hs_reader *reader, const json_t *value,
                            const struct hs_json_at *at, void *target)
{
    read_vector(reader, value, at, &((struct hs_player_frame *)target)->position);
}

static void decode_eye(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       void *target)
{
    read_vector(reader, value, at, &((struct hs_player_frame *)target)->eye);
}

static void decode_aim(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       void *target)
{
    double *aim = ((struct hs_player_frame *)target)->aim;
    if (!hs_json_read_reals(reader, value, at, 3, aim))
        return;
    double length = hs_vec_length((struct hs_vec){aim[0], aim[1], aim[2]});
    if (!(length > 1e-100 && length < 1e100))
        hs_json_bad(reader, at, "must be a direction, not 0 and not huge");
}

static void decode_velocity(struct hs_reader *reader, const json_t *value,
                            const struct hs_json_at *at, void *target)
{
    double v[3];
    (void)target; /* checked for form: no check uses it yet */
    hs_json_read_reals(reader, value, at, 3, v);
}

static void decode_bone(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        size_t floats, struct hs_posted_bone *bone)
{
    double v[10] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    if (!hs_json_read_reals(reader, value, at, floats, v))
        return;
    bone->present = true;
    memcpy(bone->position, v, sizeof bone->position);
    memcpy(bone->rotation, v + 3, sizeof bone->rotation);
    memcpy(bone->scale, v + 7, sizeof bone->scale);
}

static void decode_bones(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    struct hs_player_frame *entry = target;
    struct hs_posted_bone *bones =
        hs_json_read_array(reader, value, at, 0, HS_MAX_BONES, sizeof *bones, &entry->bone_count);
    entry->bones = bones;
    for (size_t i = 0; bones != NULL && i < entry->bone_count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        const json_t *bone = json_array_get(value, i);
        if (json_is_null(bone))
            continue;
        size_t floats = json_array_size(bone) == 10 ? 10 : 7;
        if (!json_is_array(bone) || json_array_size(bone) != floats) {
            hs_json_bad(reader, &here, "must be null, or an array of 7 or 10 numbers");
            continue;
        }
        if (floats == 10)
            entry->fields |= HS_FIELD_SCALES;
        decode_bone(reader, bone, &here, floats, &bones[i]);
    }
}

static void decode_weapons(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, void *target)
{
    struct hs_player_frame *entry = target;
    struct hs_str *names = hs_json_read_array(reader, value, at, 0, HS_MAX_WEAPONS, sizeof *names,
                                              &entry->weapon_count);
    entry->weapons = names;
    for (size_t i = 0; names != NULL && i < entry->weapon_count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        hs_json_read_name(reader, json_array_get(value, i), &here, &names[i]);
    }
}

#define AT(member) offsetof(struct hs_player_frame, member)

static const struct hs_json_field player_fields[] = {
    {.name = "player", .kind = HS_JSON_NAME, .offset = AT(player), .required = true},
    {.name = "position", .kind = HS_JSON_CUSTOM, .decode = decode_position, .required = true},
    {.name = "rotation",
     .kind = HS_JSON_REALS,
     .offset = AT(rotation),
     .count = 4,
     .bit = HS_FIELD_ROTATION},
    {.name = "bones", .kind = HS_JSON_CUSTOM, .decode = decode_bones, .bit = HS_FIELD_BONES},
    {.name = "stance", .kind = HS_JSON_NAME, .offset = AT(stance)},
    {.name = "aim", .kind = HS_JSON_CUSTOM, .decode = decode_aim, .bit = HS_FIELD_AIM},
    {.name = "eye", .kind = HS_JSON_CUSTOM, .decode = decode_eye, .bit = HS_FIELD_EYE},
    {.name = "velocity", .kind = HS_JSON_CUSTOM, .decode = decode_velocity},
    {.name = "rtt",
     .kind = HS_JSON_SHORT_SECONDS,
     .offset = AT(rtt_us),
     .high = 60,
     .bit = HS_FIELD_RTT},
    {.name = "interp",
     .kind = HS_JSON_SHORT_SECONDS,
     .offset = AT(interp_us),
     .high = 60,
     .bit = HS_FIELD_INTERP},
    {.name = "prediction_ping",
     .kind = HS_JSON_SHORT_SECONDS,
     .offset = AT(prediction_us),
     .high = 60,
     .bit = HS_FIELD_PREDICTION},
    {.name = "weapon", .kind = HS_JSON_NAME, .offset = AT(weapon)},
    {.name = "team", .kind = HS_JSON_NAME, .offset = AT(team)},
    {.name = "rig", .kind = HS_JSON_NAME, .offset = AT(rig)},
    {.name = "alive", .kind = HS_JSON_BOOL, .offset = AT(alive), .bit = HS_FIELD_ALIVE},
    {.name = "life",
     .kind = HS_JSON_INT,
     .offset = AT(life),
     .high = 9007199254740991.0,
     .bit = HS_FIELD_LIFE},
    {.name = "protected",
     .kind = HS_JSON_BOOL,
     .offset = AT(is_protected),
     .bit = HS_FIELD_PROTECTED},
    {.name = "event", .kind = HS_JSON_CUSTOM, .decode = decode_event},
    {.name = "weapons", .kind = HS_JSON_CUSTOM, .decode = decode_weapons, .bit = HS_FIELD_WEAPONS},
    {.name = "ammo", .kind = HS_JSON_INT32, .offset = AT(ammo), .high = 1e9, .bit = HS_FIELD_AMMO},
    {.name = "reloading", .kind = HS_JSON_BOOL, .offset = AT(reloading), .bit = HS_FIELD_RELOADING},
    {.name = "damage_scale",
     .kind = HS_JSON_REAL,
     .offset = AT(damage_scale),
     .high = 1e6,
     .bit = HS_FIELD_DAMAGE_SCALE},
};

static const struct hs_json_object player_object = {
    player_fields, sizeof player_fields / sizeof player_fields[0], AT(fields)};

static void decode_player(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, void *target)
{
    hs_json_read_object(reader, value, at, &player_object, target);
}

static void decode_players(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, void *target)
{
    struct hs_frame *frame = target;
    frame->players = hs_json_read_batch(reader, value, at, HS_ITEM_PLAYER, sizeof *frame->players,
                                        decode_player, &frame->player_count);
}

#undef AT

/* ---- movers ---- */

static void decode_mover_position(struct hs_reader *reader, const json_t *value,
                                  const struct hs_json_at *at, void *target)
{
    read_vector(reader, value, at, &((struct hs_mover_frame *)target)->position);
}

static void decode_mover_event(struct hs_reader *reader, const json_t *value,
                               const struct hs_json_at *at, void *target)
{
    struct hs_str text = {json_string_value(value), json_string_length(value)};
    if (hs_str_equal(text, HS_STR("teleport")))
        ((struct hs_mover_frame *)target)->teleported = true;
    else
        hs_json_bad(reader, at, "must be teleport");
}

static void decode_half_extents(struct hs_reader *reader, const json_t *value,
                                const struct hs_json_at *at, void *target)
{
    double v[3];
    if (!hs_json_read_reals(reader, value, at, 3, v))
        return;
    for (size_t i = 0; i < 3; i++) {
        struct hs_json_at element = {.parent = at, .index = i};
        if (!(v[i] > 0))
            hs_json_bad(reader, &element, "must be above 0");
    }
    ((struct hs_mover_frame *)target)->half_extents = (struct hs_vec){v[0], v[1], v[2]};
}

static void decode_center(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, void *target)
{
    read_vector(reader, value, at, &((struct hs_mover_frame *)target)->center);
}

static void decode_box(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       void *target)
{
    static const struct hs_json_field fields[] = {
        {.name = "half_extents",
         .kind = HS_JSON_CUSTOM,
         .decode = decode_half_extents,
         .required = true},
        {.name = "center", .kind = HS_JSON_CUSTOM, .decode = decode_center},
    };
    static const struct hs_json_object object = {fields, sizeof fields / sizeof fields[0], 0};
    hs_json_read_object(reader, value, at, &object, target);
}

#define AT(member) offsetof(struct hs_mover_frame, member)

static const struct hs_json_field mover_fields[] = {
    {.name = "mover", .kind = HS_JSON_NAME, .offset = AT(mover), .required = true},
    {.name = "position", .kind = HS_JSON_CUSTOM, .decode = decode_mover_position, .required = true},
    {.name = "rotation",
     .kind = HS_JSON_REALS,
     .offset = AT(rotation),
     .count = 4,
     .bit = HS_MOVER_ROTATION},
    {.name = "box", .kind = HS_JSON_CUSTOM, .decode = decode_box, .bit = HS_MOVER_BOX},
    {.name = "solid", .kind = HS_JSON_BOOL, .offset = AT(is_solid), .bit = HS_MOVER_SOLID},
    {.name = "event", .kind = HS_JSON_CUSTOM, .decode = decode_mover_event},
};

static const struct hs_json_object mover_object = {
    mover_fields, sizeof mover_fields / sizeof mover_fields[0], AT(fields)};

#undef AT

static void decode_mover(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    hs_json_read_object(reader, value, at, &mover_object, target);
}

static void decode_movers(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, void *target)
{
    struct hs_frame *frame = target;
    frame->movers = hs_json_read_batch(reader, value, at, HS_ITEM_MOVER, sizeof *frame->movers,
                                       decode_mover, &frame->mover_count);
}

/* ---- frames ---- */

static const struct hs_json_field frame_fields[] = {
    {.name = "time",
     .kind = HS_JSON_SECONDS,
     .offset = offsetof(struct hs_frame, time_us),
     .required = true,
     .low = -HS_JSON_TIME_MAX,
     .high = HS_JSON_TIME_MAX},
    {.name = "players", .kind = HS_JSON_CUSTOM, .decode = decode_players, .required = true},
    {.name = "movers", .kind = HS_JSON_CUSTOM, .decode = decode_movers},
};

static const struct hs_json_object frame_object = {frame_fields,
                                                   sizeof frame_fields / sizeof frame_fields[0], 0};

static void decode_frame(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    hs_json_read_object(reader, value, at, &frame_object, target);
}

void hs_frames_decode(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      struct hs_frames_request *out)
{
    out->frames = hs_json_read_batch(reader, value, at, HS_ITEM_FRAME, sizeof *out->frames,
                                     decode_frame, &out->count);
    out->entries = 0;
    for (size_t i = 0; i < out->count; i++)
        out->entries += out->frames[i].player_count + out->frames[i].mover_count;
}

static void decode_frames_field(struct hs_reader *reader, const json_t *value,
                                const struct hs_json_at *at, void *target)
{
    hs_frames_decode(reader, value, at, target);
}

void hs_frames_decode_body(struct hs_reader *reader, const json_t *root,
                           struct hs_frames_request *out)
{
    static const struct hs_json_field fields[] = {
        {.name = "frames", .kind = HS_JSON_CUSTOM, .decode = decode_frames_field, .required = true},
    };
    static const struct hs_json_object object = {fields, 1, 0};
    hs_json_read_object(reader, root, NULL, &object, out);
}

/* ---- encoding ---- */

/* `kind` is "player" or "mover", the member that has the name. */
static void encode_refused(struct hs_writer *writer, size_t frame, const char *kind,
                           struct hs_str name, enum hs_frame_result result)
{
    if (result == HS_FRAME_STORED)
        return;
    hs_write_begin(writer, '{');
    hs_write_key(writer, "frame");
    hs_write_int(writer, (int64_t)frame);
    hs_write_key(writer, kind);
    hs_write_str(writer, name);
    hs_write_key(writer, "reason");
    hs_write_text(writer, hs_frame_result_name(result));
    hs_write_key(writer, "detail");
    hs_write_text(writer, hs_frame_result_text(result));
    hs_write_end(writer, '}');
}

/* Writes those of `frame`, and returns the first of a later frame. */
static const struct hs_malformed *encode_malformed(struct hs_writer *writer, enum hs_item kind,
                                                   const struct hs_malformed *next, size_t frame)
{
    for (; next != NULL && next->frame == frame; next = next->next)
        hs_malformed_encode(writer, kind, next);
    return next;
}

static void encode_all_refused(struct hs_writer *writer, const struct hs_frames_request *request,
                               const struct hs_malformed_items *malformed,
                               const enum hs_frame_result *results)
{
    const struct hs_malformed *bad = hs_malformed_first(malformed, HS_ITEM_FRAME),
                              *players = hs_malformed_first(malformed, HS_ITEM_PLAYER),
                              *movers = hs_malformed_first(malformed, HS_ITEM_MOVER);
    const struct hs_frame *frame = request->frames, *end = frame + request->count;
    hs_write_begin(writer, '[');
    for (size_t f = 0; frame < end || bad != NULL; f++) {
        bool is_malformed = bad != NULL && bad->index == f;
        if (is_malformed) {
            hs_malformed_encode(writer, HS_ITEM_FRAME, bad);
            bad = bad->next;
        }
        for (size_t i = 0; !is_malformed && i < frame->player_count; i++)
            encode_refused(writer, f, "player", frame->players[i].player, *results++);
        players = encode_malformed(writer, HS_ITEM_PLAYER, players, f);
        for (size_t i = 0; !is_malformed && i < frame->mover_count; i++)
            encode_refused(writer, f, "mover", frame->movers[i].mover, *results++);
        movers = encode_malformed(writer, HS_ITEM_MOVER, movers, f);
        frame += is_malformed ? 0 : 1;
    }
    hs_write_end(writer, ']');
}

static size_t count_malformed(const struct hs_malformed_items *malformed, enum hs_item kind)
{
    size_t count = 0;
    for (const struct hs_malformed *next = hs_malformed_first(malformed, kind); next != NULL;
         next = next->next)
        count++;
    return count;
}

void hs_frames_count(const struct hs_frames_request *request,
                     const struct hs_malformed_items *malformed,
                     const enum hs_frame_result *results, struct hs_frames_counts *out)
{
    *out = (struct hs_frames_counts){0};
    out->players[HS_FRAME_MALFORMED] =
        count_malformed(malformed, HS_ITEM_FRAME) + count_malformed(malformed, HS_ITEM_PLAYER);
    out->movers[HS_FRAME_MALFORMED] = count_malformed(malformed, HS_ITEM_MOVER);
    for (size_t f = 0; f < request->count; f++) {
        for (size_t i = 0; i < request->frames[f].player_count; i++)
            out->players[*results++]++;
        for (size_t i = 0; i < request->frames[f].mover_count; i++)
            out->movers[*results++]++;
    }
}

static void encode_jump(struct hs_writer *writer, size_t frame, const char *kind,
                        struct hs_str name, const struct hs_frame_jump *jump)
{
    char detail[HS_SENTENCE_MAX];
    hs_jump_detail(name, jump, detail);
    hs_write_begin(writer, '{');
    hs_write_key(writer, "frame");
    hs_write_int(writer, (int64_t)frame);
    hs_write_key(writer, kind);
    hs_write_str(writer, name);
    hs_write_key(writer, "distance");
    hs_write_real(writer, jump->distance);
    hs_write_key(writer, "limit");
    hs_write_real(writer, jump->limit);
    hs_write_key(writer, "detail");
    hs_write_text(writer, detail);
    hs_write_end(writer, '}');
}

/* The first jumps of the request. Malformed frames count in `frame`, though they have no jumps. */
static void encode_jumps(struct hs_writer *writer, const struct hs_frames_request *request,
                         const struct hs_malformed_items *malformed, const struct hs_match *match)
{
    size_t left = HS_MAX_JUMPS, place = 0;
    const struct hs_malformed *bad = hs_malformed_first(malformed, HS_ITEM_FRAME);
    struct hs_frame_jump jump;
    hs_write_key(writer, "jumps");
    hs_write_begin(writer, '[');
    for (size_t f = 0; f < request->count && left > 0; f++, place++) {
        const struct hs_frame *frame = &request->frames[f];
        for (; bad != NULL && bad->index == place; bad = bad->next)
            place++;
        for (size_t i = 0; i < frame->player_count && left > 0; i++) {
            struct hs_str name = frame->players[i].player;
            if (!hs_match_player_jump(match, name, frame->time_us, &jump))
                continue;
            encode_jump(writer, place, "player", name, &jump);
            left--;
        }
        for (size_t i = 0; i < frame->mover_count && left > 0; i++) {
            struct hs_str name = frame->movers[i].mover;
            if (!hs_match_mover_jump(match, name, i, frame->time_us, &jump))
                continue;
            encode_jump(writer, place, "mover", name, &jump);
            left--;
        }
    }
    hs_write_end(writer, ']');
}

void hs_frames_encode(struct hs_writer *writer, const struct hs_frames_request *request,
                      const struct hs_malformed_items *malformed,
                      const enum hs_frame_result *results, unsigned flags,
                      const struct hs_match *match, bool needs_resync)
{
    struct hs_frames_counts counts;
    hs_frames_count(request, malformed, results, &counts);
    hs_write_begin(writer, '{');
    hs_write_key(writer, "stored");
    hs_write_int(writer, (int64_t)counts.players[HS_FRAME_STORED]);
    hs_write_key(writer, "refused");
    encode_all_refused(writer, request, malformed, results);
    hs_write_key(writer, "flags");
    hs_write_begin(writer, '[');
    for (int i = 0; i < HS_FRAME_FLAG_COUNT; i++)
        if (flags >> i & 1)
            hs_write_text(writer, hs_frame_flag_name((enum hs_frame_flag)i));
    hs_write_end(writer, ']');
    if (flags >> HS_FRAME_FLAG_UNFLAGGED_JUMP & 1)
        encode_jumps(writer, request, malformed, match);
    if (needs_resync) {
        hs_write_key(writer, "need");
        hs_write_text(writer, "resync");
    }
    hs_write_end(writer, '}');
}
