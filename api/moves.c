#include "api/moves.h"

#include "api/hits.h"
#include "api/json/batch.h"

/* ---- decoding ---- */

#define TO(member) .offset = offsetof(struct hs_move, member)

static const struct hs_json_list flag_list = {
    .item = {.kind = HS_JSON_ENUM, .words = &hs_move_flag_words},
    .size = sizeof(enum hs_move_flag),
    .high = HS_MOVE_FLAG_COUNT};

/* A client can send any client_time, and one request contains the moves of many players. A
   client_time that is out of range must not make the request fail. So client_time is a
   NEAREST_TIME. */
static const struct hs_json_field move_fields[] = {
    {"player", HS_JSON_NAME, true, TO(player)},
    {"seq", HS_JSON_INT, TO(seq), .high = HS_JSON_INT_MAX, .bit = HS_MOVE_HAS_SEQ},
    {"client_time", HS_JSON_NEAREST_TIME, true, TO(timestamp_us)},
    {"received", HS_JSON_TIME, true, TO(received_us)},
    {"ack", HS_JSON_TIME, TO(ack_us), .bit = HS_MOVE_HAS_ACK},
    {"epoch", HS_JSON_INT, TO(epoch), .high = HS_JSON_INT_MAX},
    {"dilation", HS_JSON_REAL, TO(dilation), .high = 1e3},
    {"kind", HS_JSON_ENUM, TO(kind), .words = &hs_move_kind_words},
    {"mode", HS_JSON_NAME, TO(mode)},
    {"base", HS_JSON_NAME_OR_NULL, TO(base)},
    {"position", HS_JSON_VEC, TO(position), .bit = HS_MOVE_HAS_POSITION},
    {"velocity", HS_JSON_VEC, TO(velocity), .bit = HS_MOVE_HAS_VELOCITY},
    {"flags", HS_JSON_LIST, TO(flags), .list = &flag_list, .bit = HS_MOVE_HAS_FLAGS},
    {"server_position", HS_JSON_VEC, TO(server_position), .bit = HS_MOVE_HAS_SERVER_POSITION},
    {"server_velocity", HS_JSON_VEC, TO(server_velocity), .bit = HS_MOVE_HAS_SERVER_VELOCITY},
    {"server_mode", HS_JSON_NAME, TO(server_mode)},
    {"server_base", HS_JSON_NAME_OR_NULL, TO(server_base)},
    {"server_rotation", HS_JSON_REALS, TO(server_rotation), .count = 4,
     .bit = HS_MOVE_HAS_SERVER_ROTATION},
};
static const struct hs_json_object move_object = {HS_JSON_FIELDS(move_fields),
                                                  .bits_offset = offsetof(struct hs_move, fields)};
static const struct hs_move nothing_read = {.dilation = 1};
const struct hs_json_list hs_moves_list = {.item = {.kind = HS_JSON_OBJECT, .object = &move_object},
                                           .size = sizeof(struct hs_move),
                                           .batch = HS_ITEM_MOVE,
                                           .initial = &nothing_read};

#undef TO

/* The members of a body in one of its two forms. */
struct body {
    const json_t *moves;
    struct hs_json_table table;
};

void hs_moves_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_moves_request *out)
{
    static const struct hs_json_field fields[] = {
        {"moves", HS_JSON_ANY, .offset = offsetof(struct body, moves)},
        {"columns", HS_JSON_ANY, .offset = offsetof(struct body, table.columns)},
        {"rows", HS_JSON_ANY, .offset = offsetof(struct body, table.rows)},
    };
    static const struct hs_json_object object = {HS_JSON_FIELDS(fields)};
    static const struct hs_json_at moves_at = {.key = "moves"}, columns_at = {.key = "columns"},
                                   rows_at = {.key = "rows"};
    struct body body = {0};
    hs_json_read_object(reader, root, NULL, &object, &body);
    bool is_table = body.table.columns != NULL || body.table.rows != NULL;
    if (!is_table && body.moves == NULL) {
        hs_json_bad(reader, &moves_at, "is required");
    } else if (!is_table) {
        out->moves = hs_json_read_batch(reader, body.moves, &moves_at, &hs_moves_list, &out->count);
    } else if (body.moves != NULL) {
        hs_json_bad(reader, &moves_at, "cannot be combined with columns and rows");
    } else if (body.table.columns == NULL) {
        hs_json_bad(reader, &columns_at, "is required");
    } else if (body.table.rows == NULL) {
        hs_json_bad(reader, &rows_at, "is required");
    } else {
        out->moves = hs_json_read_table(reader, &body.table, NULL, &hs_moves_list, &out->count);
    }
}

/* ---- encoding ---- */

const enum hs_move_check hs_timing_flags[HS_TIMING_FLAGS] = {HS_MOVE_CHECK_FAST_CLOCK_PROVEN,
                                                             HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED,
                                                             HS_MOVE_CHECK_TIMING_DISCREPANCY};

/* Writes the members that `timing` has both in the answer to a move and in the state of a
   player. */
static void write_clock(struct hs_writer *writer, int64_t age_us, int64_t discrepancy_us,
                        int64_t lifetime_us, bool is_resolving, int64_t credit_us, double speed)
{
    hs_write_time_field(writer, "lifetime", age_us);
    hs_write_time_field(writer, "discrepancy", discrepancy_us);
    hs_write_time_field(writer, "lifetime_discrepancy", lifetime_us);
    hs_write_bool_field(writer, "resolving", is_resolving);
    hs_write_time_field(writer, "credit", credit_us);
    hs_write_real_field(writer, "speed_estimate", speed);
}

static void encode_timing(struct hs_writer *writer, const struct hs_move_result *result)
{
    hs_write_begin_field(writer, "timing", '{');
    write_clock(writer, result->age_us, result->discrepancy_us, result->lifetime_us,
                result->is_resolving, result->credit_us, result->speed);
    hs_write_time_field(writer, "error", result->error_us);
    hs_write_begin_field(writer, "flags", '[');
    for (int i = 0; i < HS_TIMING_FLAGS; i++)
        if (result->raised >> hs_timing_flags[i] & 1)
            hs_write_text(writer, hs_move_check_name(hs_timing_flags[i]));
    hs_write_end(writer, ']');
    hs_write_end(writer, '}');
}

static void encode_failures(struct hs_writer *writer, const struct hs_move_result *result)
{
    if (result->failure_count == 0)
        return;
    hs_write_begin_field(writer, "checks", '[');
    for (uint16_t i = 0; i < result->failure_count; i++) {
        const struct hs_move_failure *failure = &result->failures[i];
        hs_write_begin(writer, '{');
        enum hs_move_check check = (enum hs_move_check)failure->check;
        hs_write_text_field(writer, "check", hs_move_check_name(check));
        hs_write_text_field(writer, "outcome", "fail");
        hs_write_text_field(writer, "reason",
                            hs_move_reason_name((enum hs_move_reason)failure->reason));
        hs_measure_encode(writer, failure->measured, failure->limit, (enum hs_unit)failure->unit);
        hs_write_text_field(writer, "mode", hs_mode_name((enum hs_mode)failure->mode));
        char detail[HS_SENTENCE_MAX];
        hs_move_detail(failure, detail);
        hs_write_text_field(writer, "detail", detail);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

static void encode_correction(struct hs_writer *writer, const struct hs_moves_rules *rules,
                              const struct hs_move *move, const struct hs_move_result *result)
{
    struct hs_str base = move->server_base.ptr != NULL ? move->server_base : move->base;
    hs_write_begin_field(writer, "correction", '{');
    hs_write_vec_field(writer, "position", result->corrected);
    if (result->has_corrected_velocity)
        hs_write_vec_field(writer, "velocity", result->corrected_velocity);
    if (result->corrected_mode < rules->mode_count)
        hs_write_text_field(writer, "mode", rules->modes[result->corrected_mode].name.text);
    if (base.ptr != NULL)
        hs_write_str_field(writer, "base", base);
    if (move->fields & HS_MOVE_HAS_SERVER_ROTATION) {
        hs_write_begin_field(writer, "rotation", '[');
        for (int i = 0; i < 4; i++)
            hs_write_real(writer, move->server_rotation[i]);
        hs_write_end(writer, ']');
    }
    hs_write_real_field(writer, "error", result->error);
    hs_write_real_field(writer, "limit", result->limit);
    hs_write_end(writer, '}');
}

void hs_move_encode(struct hs_writer *writer, const struct hs_moves_rules *rules,
                    const struct hs_move *move, const struct hs_move_result *result)
{
    hs_write_begin(writer, '{');
    hs_write_plain_field(writer, "player", move->player);
    if (move->fields & HS_MOVE_HAS_SEQ)
        hs_write_int_field(writer, "seq", (int64_t)move->seq);
    hs_write_word_field(writer, "verdict", hs_verdict_name(result->verdict));
    hs_write_word_field(writer, "reason", hs_move_reason_name(result->reason));
    hs_write_time_field(writer, "delta_time", result->delta_us);
    hs_write_bool_field(writer, "force_update", result->force_update);
    if (result->forced_us > 0)
        hs_write_time_field(writer, "forced_time", result->forced_us);
    if (result->late_us > 0)
        hs_write_time_field(writer, "late_by", result->late_us);
    encode_timing(writer, result);
    encode_failures(writer, result);
    if (result->position == HS_MOVE_POSITION_ACK)
        hs_write_bool_field(writer, "ack", true);
    else if (result->position == HS_MOVE_POSITION_CORRECTION)
        encode_correction(writer, rules, move, result);
    hs_write_bool_field(writer, "replayed", result->replayed);
    hs_write_end(writer, '}');
}

bool hs_move_is_plain(const struct hs_move_result *result)
{
    return result->reason == HS_MOVE_OK && result->is_whole && result->failure_count == 0 &&
           !result->force_update && !result->is_resolving && !result->replayed &&
           result->position != HS_MOVE_POSITION_CORRECTION;
}

void hs_moves_info_encode(struct hs_writer *writer, const struct hs_moves_info *info)
{
    hs_write_begin(writer, '{');
    hs_write_int_field(writer, "epoch", (int64_t)info->epoch);
    hs_write_time_field(writer, "received", info->received_us);
    write_clock(writer, info->age_us, info->discrepancy_us, info->lifetime_us, info->is_resolving,
                info->credit_us, info->speed);
    hs_write_real_field(writer, "speed_error", info->speed_error);
    hs_write_int_field(writer, "lag_bursts_per_minute", info->bursts_per_minute);
    hs_write_counts_field(writer, "flags", &hs_move_check_words, info->raised);
    hs_write_counts_field(writer, "reasons", &hs_move_reason_words, info->reasons);
    hs_write_end(writer, '}');
}
