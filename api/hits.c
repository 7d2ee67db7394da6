#include "api/hits.h"

/* ---- decoding ---- */

enum {
    HAS_FIRE_TIME = 1 << 0,
    HAS_RADIUS = 1 << 1,
    HAS_DAMAGE = 1 << 2,
};

/* A claim while it is read: the flags are bits there. */
struct reading {
    struct hs_hit_claim claim;
    int64_t shot;
    double start[3], end[3];
    unsigned fields;
};

#define AT(member)    offsetof(struct reading, member)
#define CLAIM(member) offsetof(struct reading, claim.member)

static const struct hs_json_field claim_fields[] = {
    {.name = "shot",
     .kind = HS_JSON_INT,
     .offset = AT(shot),
     .required = true,
     .high = 9007199254740991.0},
    {.name = "shooter", .kind = HS_JSON_NAME, .offset = CLAIM(shooter), .required = true},
    {.name = "weapon", .kind = HS_JSON_NAME, .offset = CLAIM(weapon)},
    {.name = "hit_time",
     .kind = HS_JSON_SECONDS,
     .offset = CLAIM(hit_time_us),
     .required = true,
     .low = -HS_JSON_TIME_MAX,
     .high = HS_JSON_TIME_MAX},
    {.name = "fire_time",
     .kind = HS_JSON_SECONDS,
     .offset = CLAIM(fire_time_us),
     .low = -HS_JSON_TIME_MAX,
     .high = HS_JSON_TIME_MAX,
     .bit = HAS_FIRE_TIME},
    {.name = "start", .kind = HS_JSON_REALS, .offset = AT(start), .count = 3, .required = true},
    {.name = "end", .kind = HS_JSON_REALS, .offset = AT(end), .count = 3, .required = true},
    {.name = "target", .kind = HS_JSON_NAME_OR_NULL, .offset = CLAIM(target)},
    {.name = "radius",
     .kind = HS_JSON_REAL,
     .offset = CLAIM(radius),
     .low = -HS_JSON_REAL_MAX,
     .high = HS_JSON_REAL_MAX,
     .bit = HAS_RADIUS},
    {.name = "claimed_bone", .kind = HS_JSON_NAME, .offset = CLAIM(claimed_bone)},
    {.name = "claimed_damage",
     .kind = HS_JSON_REAL,
     .offset = CLAIM(claimed_damage),
     .low = -HS_JSON_REAL_MAX,
     .high = HS_JSON_REAL_MAX,
     .bit = HAS_DAMAGE},
};

static const struct hs_json_object claim_object = {
    claim_fields, sizeof claim_fields / sizeof claim_fields[0], AT(fields)};

static struct hs_vec vec_of(const double v[3])
{
    return (struct hs_vec){v[0], v[1], v[2]};
}

static void decode_claim(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         struct hs_hit_claim *out)
{
    struct reading reading = {0};
    hs_json_read_object(reader, value, at, &claim_object, &reading);
    *out = reading.claim;
    out->shot = (uint64_t)reading.shot;
    out->start = vec_of(reading.start);
    out->end = vec_of(reading.end);
    out->has_fire_time = (reading.fields & HAS_FIRE_TIME) != 0;
    out->has_radius = (reading.fields & HAS_RADIUS) != 0;
    out->has_claimed_damage = (reading.fields & HAS_DAMAGE) != 0;
}

void hs_hits_decode(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                    struct hs_hits_request *out)
{
    struct hs_hit_claim *claims =
        hs_json_read_array(reader, value, at, 0, reader->max_items, sizeof *claims, &out->count);
    out->claims = claims;
    for (size_t i = 0; claims != NULL && i < out->count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        decode_claim(reader, json_array_get(value, i), &here, &claims[i]);
    }
}

static void decode_hits_field(struct hs_reader *reader, const json_t *value,
                              const struct hs_json_at *at, void *target)
{
    hs_hits_decode(reader, value, at, target);
}

void hs_hits_decode_body(struct hs_reader *reader, const json_t *root, struct hs_hits_request *out)
{
    static const struct hs_json_field fields[] = {
        {.name = "now",
         .kind = HS_JSON_SECONDS,
         .offset = offsetof(struct hs_hits_request, now_us),
         .low = -HS_JSON_TIME_MAX,
         .high = HS_JSON_TIME_MAX,
         .bit = HS_HITS_NOW},
        {.name = "hits", .kind = HS_JSON_CUSTOM, .decode = decode_hits_field, .required = true},
    };
    static const struct hs_json_object object = {fields, 2,
                                                 offsetof(struct hs_hits_request, fields)};
    hs_json_read_object(reader, root, NULL, &object, out);
}

/* ---- encoding ---- */

static void write_name(struct hs_writer *writer, const char *key, const struct hs_name *name)
{
    if (name->text[0] == '\0')
        return;
    hs_write_key(writer, key);
    hs_write_text(writer, name->text);
}

static void write_names(struct hs_writer *writer, const char *key, const struct hs_name *names,
                        uint16_t count)
{
    if (count == 0)
        return;
    hs_write_key(writer, key);
    hs_write_begin(writer, '[');
    for (uint16_t i = 0; i < count; i++)
        hs_write_text(writer, names[i].text);
    hs_write_end(writer, ']');
}

static void write_real_field(struct hs_writer *writer, const char *key, double value)
{
    hs_write_key(writer, key);
    hs_write_real(writer, value);
}

static void write_time_field(struct hs_writer *writer, const char *key, int64_t us)
{
    hs_write_key(writer, key);
    hs_write_time(writer, us);
}

static void write_vec_field(struct hs_writer *writer, const char *key, struct hs_vec v)
{
    hs_write_key(writer, key);
    hs_write_vec(writer, v);
}

static void encode_damage(struct hs_writer *writer, const struct hs_hit_result *result)
{
    hs_write_key(writer, "damage_total");
    hs_write_exact(writer, result->damage_total);
    hs_write_key(writer, "damage");
    hs_write_begin(writer, '[');
    for (uint16_t i = 0; i < result->damage_count; i++) {
        const struct hs_damage *damage = &result->damage[i];
        hs_write_begin(writer, '{');
        write_name(writer, "player", &damage->player);
        hs_write_key(writer, "amount");
        hs_write_exact(writer, damage->amount);
        hs_write_key(writer, "cause");
        hs_write_text(writer, "direct");
        write_name(writer, "bone", &damage->bone);
        write_name(writer, "zone", &damage->zone);
        write_real_field(writer, "distance", damage->distance);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

static void encode_impact(struct hs_writer *writer, const struct hs_impact *impact)
{
    if (!impact->present)
        return;
    hs_write_key(writer, "impact");
    hs_write_begin(writer, '{');
    write_vec_field(writer, "point", impact->point);
    write_vec_field(writer, "normal", impact->normal);
    write_vec_field(writer, "center", impact->center);
    write_real_field(writer, "distance", impact->distance);
    write_name(writer, "player", &impact->player);
    write_name(writer, "bone", &impact->bone);
    write_name(writer, "zone", &impact->zone);
    hs_write_end(writer, '}');
}

static void encode_rewind(struct hs_writer *writer, const struct hs_rewind_info *rewind)
{
    hs_write_key(writer, "rewind");
    hs_write_begin(writer, '{');
    write_time_field(writer, "time", rewind->time_us);
    write_time_field(writer, "by", rewind->by_us);
    if (rewind->present) {
        write_time_field(writer, "from", rewind->from_us);
        write_time_field(writer, "to", rewind->to_us);
        write_real_field(writer, "alpha", rewind->alpha);
        hs_write_key(writer, "clamped");
        hs_write_bool(writer, rewind->clamped);
        hs_write_key(writer, "held");
        hs_write_bool(writer, rewind->held);
    }
    write_names(writer, "excluded_bones", rewind->excluded_bones, rewind->excluded_bone_count);
    write_names(writer, "ignored_players", rewind->ignored, rewind->ignored_count);
    hs_write_end(writer, '}');
}

static void encode_check(struct hs_writer *writer, const struct hs_check_row *row)
{
    hs_write_begin(writer, '{');
    hs_write_key(writer, "check");
    hs_write_text(writer, hs_check_name(row->check));
    hs_write_key(writer, "outcome");
    hs_write_text(writer, hs_outcome_name(row->outcome));
    if (row->outcome != HS_OUTCOME_PASS) {
        hs_write_key(writer, "reason");
        hs_write_text(writer, hs_reason_name(row->reason));
    }
    if (row->unit != HS_UNIT_NONE) {
        write_real_field(writer, "measured", row->measured);
        write_real_field(writer, "limit", row->limit);
        hs_write_key(writer, "unit");
        hs_write_text(writer, hs_unit_name(row->unit));
    }
    write_name(writer, "player", &row->player);
    hs_write_key(writer, "mode");
    hs_write_text(writer, hs_mode_name(row->mode));
    hs_write_end(writer, '}');
}

static void encode_remarks(struct hs_writer *writer, const struct hs_hit_result *result)
{
    hs_write_key(writer, "flags");
    hs_write_begin(writer, '[');
    for (int i = 0; i < HS_FLAG_COUNT; i++)
        if (result->flags >> i & 1)
            hs_write_text(writer, hs_flag_name((enum hs_flag)i));
    hs_write_end(writer, ']');
    hs_write_key(writer, "would_reject");
    hs_write_begin(writer, '[');
    for (uint16_t i = 0; i < result->would_reject_count; i++)
        hs_write_text(writer, hs_reason_name(result->would_reject[i]));
    hs_write_end(writer, ']');
}

void hs_verdict_encode(struct hs_writer *writer, uint64_t shot, struct hs_str shooter,
                       const struct hs_hit_result *result, const struct hs_verdict_id *id)
{
    hs_write_begin(writer, '{');
    hs_write_key(writer, "shot");
    hs_write_int(writer, (int64_t)shot);
    hs_write_key(writer, "shooter");
    hs_write_str(writer, shooter);
    hs_write_key(writer, "verdict_id");
    hs_write_text(writer, id->text);
    hs_write_key(writer, "verdict");
    hs_write_text(writer, hs_verdict_name(result->verdict));
    hs_write_key(writer, "reason");
    hs_write_text(writer, hs_reason_name(result->reason));
}

void hs_checks_encode(struct hs_writer *writer, const struct hs_hit_result *result, bool explain)
{
    if (explain || result->verdict != HS_VERDICT_ACCEPTED) {
        hs_write_key(writer, "checks");
        hs_write_begin(writer, '[');
        for (uint16_t i = 0; i < result->check_count; i++)
            encode_check(writer, &result->checks[i]);
        hs_write_end(writer, ']');
    }
    encode_remarks(writer, result);
}

void hs_hit_encode(struct hs_writer *writer, const struct hs_hit_claim *claim,
                   const struct hs_hit_result *result, const struct hs_verdict_id *id, bool explain)
{
    hs_verdict_encode(writer, claim->shot, claim->shooter, result, id);
    encode_damage(writer, result);
    encode_impact(writer, &result->impact);
    encode_rewind(writer, &result->rewind);
    if (result->has_margin)
        write_real_field(writer, "margin", result->margin);
    hs_checks_encode(writer, result, explain);
}

void hs_replayed_encode(struct hs_writer *writer, bool replayed)
{
    hs_write_key(writer, "replayed");
    hs_write_bool(writer, replayed);
    hs_write_end(writer, '}');
}
