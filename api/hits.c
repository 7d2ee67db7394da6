#include "api/hits.h"

/* ---- decoding ---- */

enum {
    HAS_FIRE_TIME = 1 << 0,
    HAS_RADIUS = 1 << 1,
    HAS_DAMAGE = 1 << 2,
    HAS_END = 1 << 3,
    HAS_PELLETS = 1 << 4,
    HAS_VELOCITY = 1 << 5,
};

/* A claim while it is read: the flags are bits there. */
struct reading {
    struct hs_hit_claim claim;
    int64_t shot;
    double start[3], end[3], velocity[3];
    unsigned fields;
};

#define AT(member)    offsetof(struct reading, member)
#define CLAIM(member) offsetof(struct reading, claim.member)

static struct hs_vec vec_of(const double v[3])
{
    return (struct hs_vec){v[0], v[1], v[2]};
}

/* A pellet while it is read. */
struct reading_pellet {
    double end[3];
    struct hs_str target;
};

static void decode_pellets(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, void *target)
{
    static const struct hs_json_field fields[] = {
        {.name = "end",
         .kind = HS_JSON_REALS,
         .offset = offsetof(struct reading_pellet, end),
         .count = 3,
         .required = true},
        {.name = "target",
         .kind = HS_JSON_NAME_OR_NULL,
         .offset = offsetof(struct reading_pellet, target)},
    };
    static const struct hs_json_object object = {fields, 2, 0};
    struct hs_hit_claim *claim = &((struct reading *)target)->claim;
    struct hs_pellet_claim *pellets = hs_json_read_array(reader, value, at, 1, HS_MAX_PELLETS,
                                                         sizeof *pellets, &claim->pellet_count);
    claim->pellets = pellets;
    for (size_t i = 0; pellets != NULL && i < claim->pellet_count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        struct reading_pellet pellet = {0};
        hs_json_read_object(reader, json_array_get(value, i), &here, &object, &pellet);
        pellets[i] = (struct hs_pellet_claim){vec_of(pellet.end), pellet.target};
    }
}

static void decode_victims(struct hs_reader *reader, const json_t *value,
                           const struct hs_json_at *at, void *target)
{
    struct hs_hit_claim *claim = &((struct reading *)target)->claim;
    struct hs_str *names = hs_json_read_array(reader, value, at, 0, HS_MAX_VICTIMS, sizeof *names,
                                              &claim->victim_count);
    claim->victims = names;
    for (size_t i = 0; names != NULL && i < claim->victim_count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        hs_json_read_name(reader, json_array_get(value, i), &here, &names[i]);
    }
}

static void decode_fuse(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    static const char *const names[] = {"", "contact", "timed", "proximity"};
    for (int i = 1; i < 4; i++) {
        if (json_is_string(value) && strcmp(json_string_value(value), names[i]) == 0) {
            ((struct reading *)target)->claim.fuse = (enum hs_fuse)i;
            return;
        }
    }
    hs_json_bad(reader, at, "must be contact, timed or proximity");
}

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
    {.name = "end", .kind = HS_JSON_REALS, .offset = AT(end), .count = 3, .bit = HAS_END},
    {.name = "pellets", .kind = HS_JSON_CUSTOM, .decode = decode_pellets, .bit = HAS_PELLETS},
    {.name = "additional_targets", .kind = HS_JSON_CUSTOM, .decode = decode_victims},
    {.name = "velocity",
     .kind = HS_JSON_REALS,
     .offset = AT(velocity),
     .count = 3,
     .bit = HAS_VELOCITY},
    {.name = "fuse", .kind = HS_JSON_CUSTOM, .decode = decode_fuse},
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

static void decode_claim(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    struct hs_hit_claim *out = target;
    struct reading reading = {0};
    hs_json_read_object(reader, value, at, &claim_object, &reading);
    *out = reading.claim;
    out->shot = (uint64_t)reading.shot;
    out->start = vec_of(reading.start);
    out->end = vec_of(reading.end);
    out->velocity = vec_of(reading.velocity);
    out->has_velocity = (reading.fields & HAS_VELOCITY) != 0;
    if ((reading.fields & HAS_END) == 0 && out->pellet_count > 0)
        out->end = out->pellets[0].end;
    struct hs_json_at end = {.parent = at, .key = "end"};
    if (json_is_object(value) && (reading.fields & (HAS_END | HAS_PELLETS)) == 0)
        hs_json_bad(reader, &end, "is required, or pellets");
    out->has_fire_time = (reading.fields & HAS_FIRE_TIME) != 0;
    out->has_radius = (reading.fields & HAS_RADIUS) != 0;
    out->has_claimed_damage = (reading.fields & HAS_DAMAGE) != 0;
}

void hs_hits_decode(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                    struct hs_hits_request *out)
{
    out->claims = hs_json_read_batch(reader, value, at, HS_ITEM_HIT, sizeof *out->claims,
                                     decode_claim, &out->count);
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
        hs_write_text(writer, damage->cause == HS_CAUSE_BLAST ? "blast" : "direct");
        write_name(writer, "bone", &damage->bone);
        write_name(writer, "zone", &damage->zone);
        if (damage->cause == HS_CAUSE_DIRECT) {
            hs_write_key(writer, "pellets");
            hs_write_int(writer, damage->pellets);
        }
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
    write_name(writer, "mover", &impact->mover);
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

static void encode_detail(struct hs_writer *writer, const struct hs_detail_claim *claim,
                          const struct hs_hit_result *result, const struct hs_check_row *row)
{
    char detail[HS_SENTENCE_MAX];
    hs_check_detail(claim, result, row, detail);
    hs_write_key(writer, "detail");
    hs_write_text(writer, detail);
}

static void encode_check(struct hs_writer *writer, const struct hs_detail_claim *claim,
                         const struct hs_hit_result *result, const struct hs_check_row *row)
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
    write_name(writer, "mover", &row->mover);
    hs_write_key(writer, "mode");
    hs_write_text(writer, hs_mode_name(row->mode));
    if (row->outcome != HS_OUTCOME_PASS)
        encode_detail(writer, claim, result, row);
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

static void encode_pellets(struct hs_writer *writer, const struct hs_hit_result *result)
{
    if (result->pellet_count == 0)
        return;
    hs_write_key(writer, "pellets");
    hs_write_begin(writer, '[');
    for (uint16_t i = 0; i < result->pellet_count; i++) {
        const struct hs_pellet_result *pellet = &result->pellets[i];
        hs_write_begin(writer, '{');
        hs_write_key(writer, "index");
        hs_write_int(writer, i);
        hs_write_key(writer, "outcome");
        hs_write_text(writer, hs_pellet_outcome_name(pellet->outcome));
        if (pellet->reason != HS_REASON_OK) {
            hs_write_key(writer, "reason");
            hs_write_text(writer, hs_reason_name(pellet->reason));
        }
        write_name(writer, "player", &pellet->player);
        write_name(writer, "zone", &pellet->zone);
        hs_write_key(writer, "amount");
        hs_write_exact(writer, pellet->amount);
        write_real_field(writer, "margin", pellet->margin);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

static void encode_victims(struct hs_writer *writer, const struct hs_hit_result *result)
{
    if (result->refused_count > 0) {
        hs_write_key(writer, "refused");
        hs_write_begin(writer, '[');
        for (uint16_t i = 0; i < result->refused_count; i++) {
            const struct hs_refused_victim *refused = &result->refused[i];
            hs_write_begin(writer, '{');
            write_name(writer, "player", &refused->player);
            hs_write_key(writer, "reason");
            hs_write_text(writer, hs_reason_name(refused->reason));
            if (refused->has_measure) {
                write_real_field(writer, "measured", refused->measured);
                write_real_field(writer, "limit", refused->limit);
            }
            hs_write_end(writer, '}');
        }
        hs_write_end(writer, ']');
    }
    write_names(writer, "unclaimed", result->unclaimed, result->unclaimed_count);
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

void hs_checks_encode(struct hs_writer *writer, const struct hs_detail_claim *claim,
                      const struct hs_hit_result *result, bool explain)
{
    if (explain || result->verdict != HS_VERDICT_ACCEPTED) {
        hs_write_key(writer, "checks");
        hs_write_begin(writer, '[');
        for (uint16_t i = 0; i < result->check_count; i++)
            encode_check(writer, claim, result, &result->checks[i]);
        hs_write_end(writer, ']');
    }
    encode_remarks(writer, result);
}

void hs_hit_encode(struct hs_writer *writer, const struct hs_hit_claim *claim,
                   const struct hs_hit_result *result, const struct hs_verdict_id *id, bool explain)
{
    hs_verdict_encode(writer, claim->shot, claim->shooter, result, id);
    encode_damage(writer, result);
    encode_pellets(writer, result);
    encode_victims(writer, result);
    encode_impact(writer, &result->impact);
    encode_rewind(writer, &result->rewind);
    if (result->has_margin)
        write_real_field(writer, "margin", result->margin);
    const struct hs_detail_claim about = {.shot = claim->shot,
                                          .shooter = claim->shooter,
                                          .target = claim->target,
                                          .weapon = claim->weapon};
    hs_checks_encode(writer, &about, result, explain);
}

void hs_retry_encode(struct hs_writer *writer, unsigned retry_after_ms)
{
    hs_write_key(writer, "retry_after_ms");
    hs_write_int(writer, retry_after_ms);
}

void hs_replayed_encode(struct hs_writer *writer, bool replayed)
{
    hs_write_key(writer, "replayed");
    hs_write_bool(writer, replayed);
    hs_write_end(writer, '}');
}
