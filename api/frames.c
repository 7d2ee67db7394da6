#include "api/frames.h"

#include "api/detail.h"
#include "api/json/direct.h"

/* ---- decoding ---- */

enum { BONE_FLOATS = 7, SCALED_BONE_FLOATS = 10 };

static void put_bone(const double v[SCALED_BONE_FLOATS], struct hs_posted_bone *bone)
{
    bone->present = true;
    memcpy(bone->position, v, sizeof bone->position);
    memcpy(bone->rotation, v + 3, sizeof bone->rotation);
    memcpy(bone->scale, v + 7, sizeof bone->scale);
}

static const double no_bone[SCALED_BONE_FLOATS] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1};

static void decode_bone(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        size_t floats, struct hs_posted_bone *bone)
{
    double v[SCALED_BONE_FLOATS];
    memcpy(v, no_bone, sizeof v);
    if (hs_json_read_reals(reader, value, at, floats, v))
        put_bone(v, bone);
}

/* Returns whether the bones are one flat array of numbers, and not an array of arrays. */
static bool are_flat(const json_t *value)
{
    const json_t *element;
    size_t i;
    bool has_arrays = false;
    json_array_foreach(value, i, element) has_arrays = has_arrays || json_is_array(element);
    return json_is_number(json_array_get(value, 0)) && !has_arrays;
}

static void decode_flat_bones(struct hs_reader *reader, const json_t *value,
                              const struct hs_json_at *at, struct hs_player_frame *entry)
{
    size_t count = json_array_size(value) / BONE_FLOATS;
    if (json_array_size(value) % BONE_FLOATS != 0 || count > HS_MAX_BONES) {
        hs_json_bad(reader, at, "must have %d numbers for each of at most %d bones", BONE_FLOATS,
                    HS_MAX_BONES);
        return;
    }
    struct hs_posted_bone *bones = hs_arena_alloc(reader->arena, count, sizeof *bones);
    reader->no_memory = reader->no_memory || bones == NULL;
    for (size_t i = 0; bones != NULL && i < count * BONE_FLOATS; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        double v[SCALED_BONE_FLOATS];
        if (i % BONE_FLOATS == 0)
            memcpy(v, no_bone, sizeof v);
        hs_json_read_real(reader, json_array_get(value, i), &here, -HS_JSON_REAL_MAX,
                          HS_JSON_REAL_MAX, &v[i % BONE_FLOATS]);
        if (i % BONE_FLOATS == BONE_FLOATS - 1)
            put_bone(v, &bones[i / BONE_FLOATS]);
    }
    entry->bones = bones;
    entry->bone_count = bones != NULL ? count : 0;
}

static void decode_bones(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    struct hs_player_frame *entry = target;
    if (are_flat(value)) {
        decode_flat_bones(reader, value, at, entry);
        return;
    }
    struct hs_posted_bone *bones =
        hs_json_read_array(reader, value, at, 0, HS_MAX_BONES, sizeof *bones, &entry->bone_count);
    entry->bones = bones;
    for (size_t i = 0; bones != NULL && i < entry->bone_count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        const json_t *bone = json_array_get(value, i);
        if (json_is_null(bone))
            continue;
        size_t floats =
            json_array_size(bone) == SCALED_BONE_FLOATS ? SCALED_BONE_FLOATS : BONE_FLOATS;
        if (!json_is_array(bone) || json_array_size(bone) != floats) {
            hs_json_bad(reader, &here, "must be null, or an array of 7 or 10 numbers");
            continue;
        }
        if (floats == SCALED_BONE_FLOATS)
            entry->fields |= HS_FIELD_SCALES;
        decode_bone(reader, bone, &here, floats, &bones[i]);
    }
}

/* Reads the 7 numbers of one bone from the text. If `may_scale`, also accepts 10 numbers. */
static bool take_bone(struct hs_direct *in, struct hs_player_frame *entry, bool may_scale,
                      struct hs_posted_bone *bone)
{
    double v[SCALED_BONE_FLOATS];
    v[7] = v[8] = v[9] = 1;
    if (!hs_direct_take_numbers(in, BONE_FLOATS, v))
        return false;
    if (may_scale && hs_cursor_take(&in->cursor, ',')) {
        entry->fields |= HS_FIELD_SCALES;
        if (!hs_direct_take_numbers(in, SCALED_BONE_FLOATS - BONE_FLOATS, v + BONE_FLOATS))
            return false;
    }
    put_bone(v, bone);
    return true;
}

/* Like decode_bones, but reads directly from the text of the body. */
static bool take_bones(struct hs_direct *in, void *target)
{
    struct hs_player_frame *entry = target;
    struct hs_direct_items items = {.size = sizeof(struct hs_posted_bone), .first = in->bone_count};
    if (!hs_direct_open(in, '['))
        return false;
    bool is_flat = hs_direct_is_number(in);
    do {
        struct hs_posted_bone *bone = hs_direct_add(in, &items, HS_MAX_BONES);
        if (bone == NULL)
            return false;
        if (is_flat ? take_bone(in, entry, false, bone)
            : hs_direct_open(in, '[')
                ? take_bone(in, entry, true, bone) && hs_cursor_take(&in->cursor, ']')
                : hs_direct_take_literal(in, "null"))
            continue;
        return false;
    } while (hs_cursor_take(&in->cursor, ','));
    entry->bones = (const struct hs_posted_bone *)(const void *)items.items;
    entry->bone_count = in->bone_count = items.count;
    return hs_cursor_take(&in->cursor, ']');
}

static const struct hs_json_list weapon_list = {
    .item = {.kind = HS_JSON_NAME}, .size = sizeof(struct hs_str), .high = HS_MAX_WEAPONS};

#define TO(member) .offset = offsetof(struct hs_player_frame, member)

static const struct hs_json_field player_fields[] = {
    {"player", HS_JSON_NAME, true, TO(player)},
    {"position", HS_JSON_VEC, true, TO(position)},
    {"rotation", HS_JSON_REALS, TO(rotation), .count = 4, .bit = HS_FIELD_ROTATION},
    {"bones", HS_JSON_CUSTOM, .decode = decode_bones, .take = take_bones, .bit = HS_FIELD_BONES},
    {"stance", HS_JSON_NAME, TO(stance)},
    {"aim", HS_JSON_VEC, TO(aim), .check = hs_json_check_direction, .bit = HS_FIELD_AIM},
    {"eye", HS_JSON_VEC, TO(eye), .bit = HS_FIELD_EYE},
    {"velocity", HS_JSON_VEC, TO(velocity), .bit = HS_FIELD_VELOCITY},
    {"rtt", HS_JSON_SHORT_SECONDS, TO(rtt_us), .high = 60, .bit = HS_FIELD_RTT},
    {"interp", HS_JSON_SHORT_SECONDS, TO(interp_us), .high = 60, .bit = HS_FIELD_INTERP},
    {"prediction_ping", HS_JSON_SHORT_SECONDS, TO(prediction_us), .high = 60,
     .bit = HS_FIELD_PREDICTION},
    {"weapon", HS_JSON_NAME, TO(weapon)},
    {"team", HS_JSON_NAME, TO(team)},
    {"account", HS_JSON_NAME, TO(account)},
    {"rig", HS_JSON_NAME, TO(rig)},
    {"alive", HS_JSON_BOOL, TO(alive), .bit = HS_FIELD_ALIVE},
    {"life", HS_JSON_INT, TO(life), .high = HS_JSON_INT_MAX, .bit = HS_FIELD_LIFE},
    {"protected", HS_JSON_BOOL, TO(is_protected), .bit = HS_FIELD_PROTECTED},
    {"solid", HS_JSON_BOOL, TO(is_solid), .bit = HS_FIELD_SOLID},
    {"event", HS_JSON_ENUM, TO(event), .words = &hs_sample_event_words, .low = HS_EVENT_SPAWN},
    {"weapons", HS_JSON_LIST, TO(weapons), .list = &weapon_list, .bit = HS_FIELD_WEAPONS},
    {"ammo", HS_JSON_INT32, TO(ammo), .high = 1e9, .bit = HS_FIELD_AMMO},
    {"reloading", HS_JSON_BOOL, TO(reloading), .bit = HS_FIELD_RELOADING},
    {"damage_scale", HS_JSON_REAL, TO(damage_scale), .high = 1e6, .bit = HS_FIELD_DAMAGE_SCALE},
};
/* Requires `velocity` with the event `launch`. Without this event, refuses `velocity`, because the
   checks use only the velocity of a launch. */
static void check_velocity(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, void *target)
{
    (void)value;
    const struct hs_player_frame *entry = target;
    const struct hs_json_at here = {.parent = at, .key = "velocity"};
    bool is_launch = entry->event == HS_EVENT_LAUNCH;
    bool is_posted = (entry->fields & HS_FIELD_VELOCITY) != 0;
    if (is_launch && !is_posted)
        hs_json_bad(reader, &here, "is required with the event launch");
    else if (is_posted && !is_launch)
        hs_json_bad(reader, &here, "needs the event launch; no check uses another velocity");
}

static const struct hs_json_object player_object = {
    HS_JSON_FIELDS(player_fields), .bits_offset = offsetof(struct hs_player_frame, fields),
    .finish = check_velocity};
static const struct hs_json_list player_list = {
    .item = {.kind = HS_JSON_OBJECT, .object = &player_object},
    .size = sizeof(struct hs_player_frame),
    .batch = HS_ITEM_PLAYER};

#undef TO

/* ---- movers ---- */

static void decode_mover_event(struct hs_reader *reader, const json_t *value,
                               const struct hs_json_at *at, void *target)
{
    struct hs_str text = {json_string_value(value), json_string_length(value)};
    if (hs_str_equal(text, HS_STR("teleport")))
        ((struct hs_mover_frame *)target)->teleported = true;
    else
        hs_json_bad(reader, at, "must be teleport");
}

static bool take_mover_event(struct hs_direct *in, void *target)
{
    struct hs_str text;
    ((struct hs_mover_frame *)target)->teleported = true;
    return hs_direct_take_text(in, &text) && hs_str_equal(text, HS_STR("teleport"));
}

static void check_extents(struct hs_reader *reader, const struct hs_json_at *at, const double v[3])
{
    for (size_t i = 0; i < 3; i++) {
        struct hs_json_at element = {.parent = at, .index = i};
        if (!(v[i] > 0))
            hs_json_bad(reader, &element, "must be above 0");
    }
}

#define TO(member) .offset = offsetof(struct hs_mover_frame, member)

static const struct hs_json_field box_fields[] = {
    {"half_extents", HS_JSON_VEC, true, TO(half_extents), .check = check_extents},
    {"center", HS_JSON_VEC, TO(center)},
};
static const struct hs_json_object box_object = {HS_JSON_FIELDS(box_fields)};

static const struct hs_json_field mover_fields[] = {
    {"mover", HS_JSON_NAME, true, TO(mover)},
    {"position", HS_JSON_VEC, true, TO(position)},
    {"rotation", HS_JSON_REALS, TO(rotation), .count = 4, .bit = HS_MOVER_ROTATION},
    {"box", HS_JSON_OBJECT, .object = &box_object, .bit = HS_MOVER_BOX},
    {"solid", HS_JSON_BOOL, TO(is_solid), .bit = HS_MOVER_SOLID},
    {"event", HS_JSON_CUSTOM, .decode = decode_mover_event, .take = take_mover_event},
};
static const struct hs_json_object mover_object = {
    HS_JSON_FIELDS(mover_fields), .bits_offset = offsetof(struct hs_mover_frame, fields)};
static const struct hs_json_list mover_list = {
    .item = {.kind = HS_JSON_OBJECT, .object = &mover_object},
    .size = sizeof(struct hs_mover_frame),
    .batch = HS_ITEM_MOVER};

#undef TO

/* ---- frames ---- */

#define TO(member) .offset = offsetof(struct hs_frame, member)

static const struct hs_json_field frame_fields[] = {
    {"time", HS_JSON_TIME, true, TO(time_us)},
    {"players", HS_JSON_BATCH, true, TO(players), .list = &player_list},
    {"movers", HS_JSON_BATCH, TO(movers), .list = &mover_list},
};
static const struct hs_json_object frame_object = {HS_JSON_FIELDS(frame_fields)};
const struct hs_json_list hs_frames_list = {
    .item = {.kind = HS_JSON_OBJECT, .object = &frame_object},
    .size = sizeof(struct hs_frame),
    .batch = HS_ITEM_FRAME};

#undef TO

/* ---- encoding ---- */

/* Adds a player or a mover to the array `refused`. Does nothing if `result` is HS_FRAME_STORED.
   `kind` is the key of the name: "player" or "mover". */
static void encode_refused(struct hs_writer *writer, size_t frame, const char *kind,
                           struct hs_str name, enum hs_frame_result result)
{
    if (result == HS_FRAME_STORED)
        return;
    hs_write_begin(writer, '{');
    hs_write_int_field(writer, "frame", (int64_t)frame);
    hs_write_str_field(writer, kind, name);
    hs_write_text_field(writer, "reason", hs_frame_result_name(result));
    hs_write_text_field(writer, "detail", hs_frame_result_text(result));
    hs_write_end(writer, '}');
}

/* Writes the malformed items of one frame, beginning with `next`. Returns the first malformed item
   of a later frame. */
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

void hs_frames_count(const struct hs_frames_request *request,
                     const struct hs_malformed_items *malformed,
                     const enum hs_frame_result *results, struct hs_frames_counts *out)
{
    *out = (struct hs_frames_counts){0};
    if (malformed != NULL) {
        out->players[HS_FRAME_MALFORMED] =
            malformed->lists[HS_ITEM_FRAME].count + malformed->lists[HS_ITEM_PLAYER].count;
        out->movers[HS_FRAME_MALFORMED] = malformed->lists[HS_ITEM_MOVER].count;
    }
    for (size_t f = 0; f < request->count; f++) {
        for (size_t i = 0; i < request->frames[f].player_count; i++)
            out->players[*results++]++;
        for (size_t i = 0; i < request->frames[f].mover_count; i++)
            out->movers[*results++]++;
    }
}

/* Writes a jump. Does nothing if `is_found` is false. *left is the number of jumps that still fit
   into the answer. */
static void encode_jump(struct hs_writer *writer, size_t frame, const char *kind,
                        struct hs_str name, bool is_found, const struct hs_frame_jump *jump,
                        size_t *left)
{
    char detail[HS_SENTENCE_MAX];
    if (!is_found)
        return;
    --*left;
    hs_jump_detail(name, jump, detail);
    hs_write_begin(writer, '{');
    hs_write_int_field(writer, "frame", (int64_t)frame);
    hs_write_str_field(writer, kind, name);
    hs_write_real_field(writer, "distance", jump->distance);
    hs_write_real_field(writer, "limit", jump->limit);
    hs_write_text_field(writer, "detail", detail);
    hs_write_end(writer, '}');
}

/* Writes the first HS_MAX_JUMPS jumps. The answer identifies a frame by its index in the request.
   This index also counts malformed frames. */
static void encode_jumps(struct hs_writer *writer, const struct hs_frames_request *request,
                         const struct hs_malformed_items *malformed, const struct hs_match *match)
{
    size_t left = HS_MAX_JUMPS, place = 0;
    const struct hs_malformed *bad = hs_malformed_first(malformed, HS_ITEM_FRAME);
    struct hs_frame_jump jump;
    hs_write_begin_field(writer, "jumps", '[');
    for (size_t f = 0; f < request->count && left > 0; f++, place++) {
        const struct hs_frame *frame = &request->frames[f];
        for (; bad != NULL && bad->index == place; bad = bad->next)
            place++;
        for (size_t i = 0; i < frame->player_count && left > 0; i++) {
            struct hs_str name = frame->players[i].player;
            bool is_found = hs_match_player_jump(match, name, frame->time_us, &jump);
            encode_jump(writer, place, "player", name, is_found, &jump, &left);
        }
        for (size_t i = 0; i < frame->mover_count && left > 0; i++) {
            struct hs_str name = frame->movers[i].mover;
            bool is_found = hs_match_mover_jump(match, name, i, frame->time_us, &jump);
            encode_jump(writer, place, "mover", name, is_found, &jump, &left);
        }
    }
    hs_write_end(writer, ']');
}

void hs_frames_encode(struct hs_writer *writer, const struct hs_frames_request *request,
                      const struct hs_malformed_items *malformed,
                      const enum hs_frame_result *results, size_t stored, unsigned flags,
                      const struct hs_match *match, bool needs_resync)
{
    hs_write_begin(writer, '{');
    hs_write_int_field(writer, "stored", (int64_t)stored);
    hs_write_key(writer, "refused");
    encode_all_refused(writer, request, malformed, results);
    hs_write_words_field(writer, "flags", &hs_frame_flag_words, flags);
    if (flags >> HS_FRAME_FLAG_UNFLAGGED_JUMP & 1)
        encode_jumps(writer, request, malformed, match);
    if (needs_resync)
        hs_write_text_field(writer, "need", "resync");
    hs_write_end(writer, '}');
}
