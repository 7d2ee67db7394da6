#include "api/hits.h"

/* ---- decoding ---- */

#define TO(member) .offset = offsetof(struct hs_pellet_claim, member)

static const struct hs_json_field pellet_fields[] = {
    {"end", HS_JSON_VEC, true, TO(end)},
    {"target", HS_JSON_NAME_OR_NULL, TO(target)},
};
static const struct hs_json_object pellet_object = {HS_JSON_FIELDS(pellet_fields)};
static const struct hs_json_list pellet_list = {
    .item = {.kind = HS_JSON_OBJECT, .object = &pellet_object},
    .size = sizeof(struct hs_pellet_claim),
    .low = 1,
    .high = HS_MAX_PELLETS};

#undef TO

static const struct hs_json_list victim_list = {
    .item = {.kind = HS_JSON_NAME}, .size = sizeof(struct hs_str), .high = HS_MAX_VICTIMS};

#define TO(member)  .offset = offsetof(struct hs_hit_claim, member)
#define HAS(member) .flag = offsetof(struct hs_hit_claim, has_##member)

static const struct hs_json_field claim_fields[] = {
    {"shot", HS_JSON_INT, true, TO(shot), .high = HS_JSON_INT_MAX},
    {"shooter", HS_JSON_NAME, true, TO(shooter)},
    {"weapon", HS_JSON_NAME, TO(weapon)},
    {"hit_time", HS_JSON_TIME, true, TO(hit_time_us)},
    {"fire_time", HS_JSON_TIME, TO(fire_time_us), HAS(fire_time)},
    {"start", HS_JSON_VEC, true, TO(start)},
    {"end", HS_JSON_VEC, TO(end), HAS(end)},
    {"pellets", HS_JSON_LIST, TO(pellets), HAS(pellets), .list = &pellet_list},
    {"additional_targets", HS_JSON_LIST, TO(victims), .list = &victim_list},
    {"velocity", HS_JSON_VEC, TO(velocity), HAS(velocity)},
    {"fuse", HS_JSON_ENUM, TO(fuse), .words = &hs_fuse_words, .low = HS_FUSE_CONTACT},
    {"target", HS_JSON_NAME_OR_NULL, TO(target)},
    {"radius", HS_JSON_REAL, TO(radius), HAS(radius), HS_JSON_ANY_REAL},
    {"claimed_bone", HS_JSON_NAME, TO(claimed_bone)},
    {"claimed_damage", HS_JSON_REAL, TO(claimed_damage), HAS(claimed_damage), HS_JSON_ANY_REAL},
};

static void finish_claim(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    (void)value;
    struct hs_hit_claim *claim = target;
    struct hs_json_at end = {.parent = at, .key = "end"};
    if (claim->has_end)
        return;
    claim->has_no_end = claim->has_velocity && claim->pellet_count == 0;
    if (claim->pellet_count > 0)
        claim->end = claim->pellets[0].end;
    else if (!claim->has_pellets && !claim->has_velocity)
        hs_json_bad(reader, &end, "is required unless pellets or velocity is present");
}

static const struct hs_json_object claim_object = {HS_JSON_FIELDS(claim_fields),
                                                   .finish = finish_claim};
const struct hs_json_list hs_hits_list = {.item = {.kind = HS_JSON_OBJECT, .object = &claim_object},
                                          .size = sizeof(struct hs_hit_claim),
                                          .batch = HS_ITEM_HIT};

/* ---- encoding ---- */

/* The function is inline, so that the length of the key is a compile-time constant in
   hs_write_key. */
static inline __attribute__((always_inline)) void
write_name(struct hs_writer *writer, const char *key, const struct hs_name *name)
{
    if (name->text[0] != '\0')
        hs_write_word_field(writer, key, name->text);
}

static void write_names(struct hs_writer *writer, const char *key, const struct hs_name *names,
                        uint16_t count)
{
    if (count == 0)
        return;
    hs_write_begin_field(writer, key, '[');
    for (uint16_t i = 0; i < count; i++)
        hs_write_word(writer, names[i].text);
    hs_write_end(writer, ']');
}

/* If there is only one victim, the damage to this victim equals the total damage. In this case, the
   number is converted to text only once. */
static void encode_damage(struct hs_writer *writer, const struct hs_hit_result *result)
{
    hs_write_key(writer, "damage_total");
    size_t place = writer->buffer->len;
    hs_write_exact(writer, result->damage_total);
    size_t end = writer->buffer->len;
    hs_write_begin_field(writer, "damage", '[');
    for (uint16_t i = 0; i < result->damage_count; i++) {
        const struct hs_damage *damage = &result->damage[i];
        hs_write_begin(writer, '{');
        write_name(writer, "player", &damage->player);
        hs_write_key(writer, "amount");
        if (damage->amount > 0 && damage->amount == result->damage_total)
            hs_write_again(writer, place, end);
        else
            hs_write_exact(writer, damage->amount);
        hs_write_word_field(writer, "cause", hs_cause_name(damage->cause));
        write_name(writer, "bone", &damage->bone);
        write_name(writer, "zone", &damage->zone);
        if (damage->cause == HS_CAUSE_DIRECT)
            hs_write_int_field(writer, "pellets", damage->pellets);
        hs_write_real_field(writer, "distance", damage->distance);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

void hs_impact_encode(struct hs_writer *writer, const struct hs_impact *impact)
{
    if (!impact->present)
        return;
    hs_write_begin_field(writer, "impact", '{');
    hs_write_vec_field(writer, "point", impact->point);
    hs_write_vec_field(writer, "normal", impact->normal);
    hs_write_vec_field(writer, "center", impact->center);
    hs_write_real_field(writer, "distance", impact->distance);
    write_name(writer, "player", &impact->player);
    write_name(writer, "bone", &impact->bone);
    write_name(writer, "zone", &impact->zone);
    write_name(writer, "mover", &impact->mover);
    hs_write_end(writer, '}');
}

static void encode_rewind(struct hs_writer *writer, const struct hs_rewind_info *rewind)
{
    hs_write_begin_field(writer, "rewind", '{');
    hs_write_time_field(writer, "time", rewind->time_us);
    hs_write_time_field(writer, "by", rewind->by_us);
    if (rewind->present) {
        hs_write_time_field(writer, "from", rewind->from_us);
        hs_write_time_field(writer, "to", rewind->to_us);
        hs_write_real_field(writer, "alpha", rewind->alpha);
        hs_write_bool_field(writer, "clamped", rewind->clamped);
        hs_write_bool_field(writer, "held", rewind->held);
    }
    write_names(writer, "excluded_bones", rewind->excluded_bones, rewind->excluded_bone_count);
    write_names(writer, "ignored_players", rewind->ignored, rewind->ignored_count);
    hs_write_end(writer, '}');
}

void hs_measure_encode(struct hs_writer *writer, double measured, double limit, enum hs_unit unit)
{
    if (unit == HS_UNIT_NONE)
        return;
    hs_write_real_field(writer, "measured", measured);
    hs_write_real_field(writer, "limit", limit);
    hs_write_word_field(writer, "unit", hs_unit_name(unit));
}

static void encode_check(struct hs_writer *writer, const struct hs_detail_claim *claim,
                         const struct hs_hit_result *result, const struct hs_check_row *row)
{
    char detail[HS_SENTENCE_MAX];
    hs_write_begin(writer, '{');
    hs_write_word_field(writer, "check", hs_check_name(row->check));
    hs_write_word_field(writer, "outcome", hs_outcome_name(row->outcome));
    if (row->outcome != HS_OUTCOME_PASS)
        hs_write_word_field(writer, "reason", hs_reason_name(row->reason));
    hs_measure_encode(writer, row->measured, row->limit, row->unit);
    write_name(writer, "player", &row->player);
    write_name(writer, "mover", &row->mover);
    hs_write_word_field(writer, "mode", hs_mode_name(row->mode));
    if (row->outcome != HS_OUTCOME_PASS) {
        hs_check_detail(claim, result, row, detail);
        hs_write_text_field(writer, "detail", detail);
    }
    hs_write_end(writer, '}');
}

static void encode_pellets(struct hs_writer *writer, const struct hs_hit_result *result)
{
    if (result->pellet_count == 0)
        return;
    hs_write_begin_field(writer, "pellets", '[');
    for (uint16_t i = 0; i < result->pellet_count; i++) {
        const struct hs_pellet_result *pellet = &result->pellets[i];
        hs_write_begin(writer, '{');
        hs_write_int_field(writer, "index", i);
        hs_write_word_field(writer, "outcome", hs_pellet_outcome_name(pellet->outcome));
        if (pellet->reason != HS_REASON_OK)
            hs_write_word_field(writer, "reason", hs_reason_name(pellet->reason));
        write_name(writer, "player", &pellet->player);
        write_name(writer, "zone", &pellet->zone);
        hs_write_exact_field(writer, "amount", pellet->amount);
        hs_write_real_field(writer, "margin", pellet->margin);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

static void encode_victims(struct hs_writer *writer, const struct hs_hit_result *result)
{
    if (result->refused_count > 0) {
        hs_write_begin_field(writer, "refused", '[');
        for (uint16_t i = 0; i < result->refused_count; i++) {
            const struct hs_refused_victim *refused = &result->refused[i];
            hs_write_begin(writer, '{');
            write_name(writer, "player", &refused->player);
            hs_write_word_field(writer, "reason", hs_reason_name(refused->reason));
            if (refused->has_measure) {
                hs_write_real_field(writer, "measured", refused->measured);
                hs_write_real_field(writer, "limit", refused->limit);
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
    hs_write_int_field(writer, "shot", (int64_t)shot);
    hs_write_plain_field(writer, "shooter", shooter);
    hs_write_word_field(writer, "verdict_id", id->text);
    hs_write_word_field(writer, "verdict", hs_verdict_name(result->verdict));
    hs_write_word_field(writer, "reason", hs_reason_name(result->reason));
}

void hs_would_reject_encode(struct hs_writer *writer, const struct hs_hit_result *result)
{
    hs_write_begin_field(writer, "would_reject", '[');
    for (uint16_t i = 0; i < result->would_reject_count; i++)
        hs_write_word(writer, hs_reason_name(result->would_reject[i]));
    hs_write_end(writer, ']');
}

void hs_checks_encode(struct hs_writer *writer, const struct hs_detail_claim *claim,
                      const struct hs_hit_result *result, bool explain)
{
    if (explain || result->verdict != HS_VERDICT_ACCEPTED) {
        hs_write_begin_field(writer, "checks", '[');
        for (uint16_t i = 0; i < result->check_count; i++)
            encode_check(writer, claim, result, &result->checks[i]);
        hs_write_end(writer, ']');
    }
    hs_write_words_field(writer, "flags", &hs_flag_words, result->flags);
    hs_would_reject_encode(writer, result);
}

bool hs_hit_is_plain(const struct hs_hit_result *result)
{
    return result->replay == NULL && result->reason == HS_REASON_OK && result->flags == 0 &&
           result->would_reject_count == 0 && result->damage_count == 0 &&
           result->refused_count == 0 && result->unclaimed_count == 0;
}

void hs_hit_encode(struct hs_writer *writer, const struct hs_hit_claim *claim,
                   const struct hs_hit_result *result, const struct hs_verdict_id *id, bool explain)
{
    hs_verdict_encode(writer, claim->shot, claim->shooter, result, id);
    encode_damage(writer, result);
    encode_pellets(writer, result);
    encode_victims(writer, result);
    hs_impact_encode(writer, &result->impact);
    encode_rewind(writer, &result->rewind);
    if (result->has_margin)
        hs_write_real_field(writer, "margin", result->margin);
    const struct hs_detail_claim about = {.shot = claim->shot,
                                          .shooter = claim->shooter,
                                          .target = claim->target,
                                          .weapon = claim->weapon};
    hs_checks_encode(writer, &about, result, explain);
}

void hs_replayed_encode(struct hs_writer *writer, bool replayed)
{
    hs_write_bool_field(writer, "replayed", replayed);
    hs_write_end(writer, '}');
}
