#include "api/matches.h"

#include "api/moves.h"
#include "validators/hints.h"

void hs_match_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_match_request *out)
{
    static const struct hs_json_field fields[] = {
        {"ruleset", HS_JSON_NAME, .offset = offsetof(struct hs_match_request, ruleset)},
        {"map", HS_JSON_NAME_OR_NULL, .offset = offsetof(struct hs_match_request, map)},
    };
    static const struct hs_json_object object = {HS_JSON_FIELDS(fields)};
    hs_json_read_object(reader, root, NULL, &object, out);
}

/* Writes a member with a text, or with null if the text is empty. */
static void write_optional(struct hs_writer *writer, const char *key, struct hs_str text)
{
    hs_write_key(writer, key);
    if (text.len > 0)
        hs_write_str(writer, text);
    else
        hs_write_null(writer);
}

static void write_head(struct hs_writer *writer, const struct hs_match_head *head,
                       const struct hs_match *match)
{
    struct hs_match_info info;
    hs_match_info(match, &info);
    hs_write_str_field(writer, "match", head->name);
    hs_write_str_field(writer, "ruleset", head->ruleset);
    hs_write_text_field(writer, "revision", head->revision);
    write_optional(writer, "map", head->map);
    write_optional(writer, "map_revision",
                   hs_str_of(head->map.len > 0 ? head->map_revision : NULL));
    hs_write_key(writer, "newest_time");
    if (info.has_frames)
        hs_write_time(writer, info.newest_us);
    else
        hs_write_null(writer);
    hs_write_int_field(writer, "player_count", info.players);
    hs_write_int_field(writer, "mover_count", info.movers);
    hs_write_int_field(writer, "history_bytes", (int64_t)info.history_bytes);
}

void hs_match_encode(struct hs_writer *writer, const struct hs_match_head *head,
                     const struct hs_match *match)
{
    hs_write_begin(writer, '{');
    write_head(writer, head, match);
    hs_write_end(writer, '}');
}

/* Writes the number of claims with each verdict, and the number of claims with each reason that
   occurred. */
static void write_verdicts(struct hs_writer *writer, const uint64_t reasons[HS_REASON_COUNT])
{
    uint64_t verdicts[HS_VERDICT_COUNT] = {0};
    for (int i = 0; i < HS_REASON_COUNT; i++)
        verdicts[hs_reason_verdict((enum hs_reason)i)] += reasons[i];
    hs_write_begin_field(writer, "verdicts", '{');
    for (int i = 0; i < HS_VERDICT_COUNT; i++)
        hs_write_int_field(writer, hs_verdict_name((enum hs_verdict)i), (int64_t)verdicts[i]);
    hs_write_end(writer, '}');
    hs_write_counts_field(writer, "reasons", &hs_reason_words, reasons);
}

static void write_sums(struct hs_writer *writer, const struct hs_vocabulary *words,
                       const double *sums)
{
    for (int i = 0; i < words->count; i++)
        if (sums[i] > 0)
            hs_write_real_field(writer, words->names[i], sums[i]);
}

static void write_suspicion(struct hs_writer *writer, const struct hs_player_info *player)
{
    hs_write_begin_field(writer, "suspicion_by", '{');
    write_sums(writer, &hs_check_words, player->suspicion_hits);
    write_sums(writer, &hs_move_check_words, player->suspicion_moves);
    hs_write_end(writer, '}');
}

static void write_connection(struct hs_writer *writer,
                             const struct hs_player_connection *connection)
{
    hs_write_begin_field(writer, "connection", '{');
    if (connection->is_known) {
        hs_write_time_field(writer, "rtt", connection->rtt_us);
        hs_write_time_field(writer, "spread", connection->spread_us);
    }
    hs_write_time_field(writer, "noise", connection->noise_us);
    hs_write_bool_field(writer, "quiet", connection->is_quiet);
    hs_write_end(writer, '}');
}

void hs_player_encode(struct hs_writer *writer, const struct hs_match *match,
                      const struct hs_player_info *player)
{
    struct hs_moves_info moves = {0};
    hs_match_moves_info(match, player->name, &moves);
    hs_write_begin(writer, '{');
    hs_write_str_field(writer, "player", player->name);
    if (player->account.ptr != NULL)
        hs_write_str_field(writer, "account", player->account);
    if (player->team.ptr != NULL)
        hs_write_str_field(writer, "team", player->team);
    hs_write_bool_field(writer, "alive", player->alive);
    hs_write_int_field(writer, "life", player->life);
    hs_write_int_field(writer, "samples", player->samples);
    if (player->samples > 0) {
        hs_write_begin_field(writer, "window", '[');
        hs_write_time(writer, player->oldest_us);
        hs_write_time(writer, player->newest_us);
        hs_write_end(writer, ']');
        hs_write_vec_field(writer, "position", player->position);
    }
    write_verdicts(writer, player->reasons);
    hs_write_int_field(writer, "would_reject", (int64_t)player->would_reject);
    hs_write_exact_field(writer, "damage_dealt", player->damage_dealt);
    hs_write_real_field(writer, "suspicion", player->suspicion);
    write_suspicion(writer, player);
    write_connection(writer, &player->connection);
    if (moves.present) {
        hs_write_key(writer, "timing");
        hs_moves_info_encode(writer, &moves);
    }
    hs_write_end(writer, '}');
}

void hs_match_encode_hints(struct hs_writer *writer, const struct hs_match *match)
{
    struct hs_hint hints[HS_HINTS_MAX];
    size_t count = hs_match_hints(match, hints);
    hs_write_begin_field(writer, "hints", '[');
    for (size_t i = 0; i < count; i++) {
        const struct hs_hint *hint = &hints[i];
        hs_write_begin(writer, '{');
        hs_write_text_field(writer, "code", hs_hint_code_name(hint->code));
        hs_write_text_field(writer, "detail", hint->detail);
        hs_write_int_field(writer, "claims", hint->claims);
        hs_write_int_field(writer, "of", hint->of);
        if (hint->unit != HS_UNIT_NONE) {
            hs_write_real_field(writer, "measured", hint->measured);
            hs_write_real_field(writer, "expected", hint->expected);
            hs_write_text_field(writer, "unit", hs_unit_name(hint->unit));
        }
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

void hs_match_encode_state(struct hs_writer *writer, const struct hs_match_head *head,
                           const struct hs_match *match)
{
    struct hs_player_info player;
    hs_write_begin(writer, '{');
    write_head(writer, head, match);
    hs_match_encode_hints(writer, match);
    hs_write_begin_field(writer, "players", '[');
    for (uint32_t cursor = 0; hs_match_next_player(match, &cursor, &player);)
        hs_player_encode(writer, match, &player);
    hs_write_end(writer, ']');
    hs_write_end(writer, '}');
}

static void write_summary(struct hs_writer *writer, const struct hs_match_head *head,
                          const struct hs_match *match)
{
    struct hs_match_totals totals;
    hs_match_totals(match, &totals);
    write_head(writer, head, match);
    write_verdicts(writer, totals.reasons);
    hs_write_exact_field(writer, "damage", totals.damage);
}

void hs_match_encode_summary(struct hs_writer *writer, const struct hs_match_head *head,
                             const struct hs_match *match)
{
    hs_write_begin(writer, '{');
    write_summary(writer, head, match);
    hs_write_end(writer, '}');
}

void hs_match_encode_end(struct hs_writer *writer, const struct hs_match_head *head,
                         const struct hs_match *match)
{
    hs_write_begin(writer, '{');
    write_summary(writer, head, match);
    hs_match_encode_hints(writer, match);
    hs_write_end(writer, '}');
}
