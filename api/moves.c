#include "api/moves.h"

#include "api/detail.h"
#include "validators/base/units.h"

/* ---- decoding ---- */

/* A move while it is read: integers are signed there, vectors are arrays. */
struct reading {
    struct hs_move move;
    int64_t seq, epoch;
    double position[3], velocity[3], server_position[3], server_velocity[3];
};

#define AT(member)   offsetof(struct reading, member)
#define MOVE(member) offsetof(struct reading, move.member)

static void decode_kind(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    static const char *const names[] = {"new", "pending", "old"};
    for (int i = 0; i < 3; i++) {
        if (json_is_string(value) && strcmp(json_string_value(value), names[i]) == 0) {
            ((struct reading *)target)->move.kind = (enum hs_move_kind)i;
            return;
        }
    }
    hs_json_bad(reader, at, "must be new, pending or old");
}

/*
 * The client's own number. Whatever it says is his: one that no clock shows is an item of strange
 * value, which must not refuse the batch of everybody else. It is taken as the nearest time.
 */
static void decode_client_time(struct hs_reader *reader, const json_t *value,
                               const struct hs_json_at *at, void *target)
{
    double seconds;
    if (hs_json_read_real(reader, value, at, -HUGE_VAL, HUGE_VAL, &seconds))
        ((struct reading *)target)->move.timestamp_us =
            hs_seconds_to_us(fmax(-HS_JSON_TIME_MAX, fmin(HS_JSON_TIME_MAX, seconds)));
}

static const struct hs_json_field move_fields[] = {
    {.name = "player", .kind = HS_JSON_NAME, .offset = MOVE(player), .required = true},
    {.name = "seq",
     .kind = HS_JSON_INT,
     .offset = AT(seq),
     .high = 9007199254740991.0,
     .bit = HS_MOVE_HAS_SEQ},
    {.name = "client_time", .kind = HS_JSON_CUSTOM, .decode = decode_client_time, .required = true},
    {.name = "received",
     .kind = HS_JSON_SECONDS,
     .offset = MOVE(received_us),
     .required = true,
     .low = -HS_JSON_TIME_MAX,
     .high = HS_JSON_TIME_MAX},
    {.name = "ack",
     .kind = HS_JSON_SECONDS,
     .offset = MOVE(ack_us),
     .low = -HS_JSON_TIME_MAX,
     .high = HS_JSON_TIME_MAX,
     .bit = HS_MOVE_HAS_ACK},
    {.name = "epoch", .kind = HS_JSON_INT, .offset = AT(epoch), .high = 9007199254740991.0},
    {.name = "dilation", .kind = HS_JSON_REAL, .offset = MOVE(dilation), .high = 1e3},
    {.name = "kind", .kind = HS_JSON_CUSTOM, .decode = decode_kind},
    {.name = "mode", .kind = HS_JSON_NAME, .offset = MOVE(mode)},
    {.name = "base", .kind = HS_JSON_NAME_OR_NULL, .offset = MOVE(base)},
    {.name = "position",
     .kind = HS_JSON_REALS,
     .offset = AT(position),
     .count = 3,
     .bit = HS_MOVE_HAS_POSITION},
    {.name = "velocity",
     .kind = HS_JSON_REALS,
     .offset = AT(velocity),
     .count = 3,
     .bit = HS_MOVE_HAS_VELOCITY},
    {.name = "server_position",
     .kind = HS_JSON_REALS,
     .offset = AT(server_position),
     .count = 3,
     .bit = HS_MOVE_HAS_SERVER_POSITION},
    {.name = "server_velocity",
     .kind = HS_JSON_REALS,
     .offset = AT(server_velocity),
     .count = 3,
     .bit = HS_MOVE_HAS_SERVER_VELOCITY},
    {.name = "server_mode", .kind = HS_JSON_NAME, .offset = MOVE(server_mode)},
};

static const struct hs_json_object move_object = {
    move_fields, sizeof move_fields / sizeof move_fields[0], MOVE(fields)};

static const struct reading nothing_read = {.move = {.dilation = 1}};

static struct hs_vec vec_of(const double v[3])
{
    return (struct hs_vec){v[0], v[1], v[2]};
}

static struct hs_move move_of(const struct reading *reading)
{
    struct hs_move move = reading->move;
    move.seq = (uint64_t)reading->seq;
    move.epoch = (uint64_t)reading->epoch;
    move.position = vec_of(reading->position);
    move.velocity = vec_of(reading->velocity);
    move.server_position = vec_of(reading->server_position);
    move.server_velocity = vec_of(reading->server_velocity);
    return move;
}

static void decode_move(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    struct reading reading = nothing_read;
    if (reader->columns != NULL)
        hs_json_read_row(reader, value, at, reader->columns, &reading);
    else
        hs_json_read_object(reader, value, at, &move_object, &reading);
    *(struct hs_move *)target = move_of(&reading);
}

void hs_moves_decode(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                     struct hs_moves_request *out)
{
    out->moves = hs_json_read_batch(reader, value, at, HS_ITEM_MOVE, sizeof *out->moves,
                                    decode_move, &out->count);
}

static void decode_rows(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        const struct hs_json_columns *columns, struct hs_moves_request *out)
{
    reader->columns = columns;
    hs_moves_decode(reader, value, at, out);
    reader->columns = NULL;
}

/* The members of a body; which form it has is known when all of them are. */
struct body {
    const json_t *moves, *columns, *rows;
};

static void keep_moves(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                       void *target)
{
    (void)reader, (void)at;
    ((struct body *)target)->moves = value;
}

static void keep_columns(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         void *target)
{
    (void)reader, (void)at;
    ((struct body *)target)->columns = value;
}

static void keep_rows(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                      void *target)
{
    (void)reader, (void)at;
    ((struct body *)target)->rows = value;
}

void hs_moves_decode_body(struct hs_reader *reader, const json_t *root,
                          struct hs_moves_request *out)
{
    static const struct hs_json_field fields[] = {
        {.name = "moves", .kind = HS_JSON_CUSTOM, .decode = keep_moves},
        {.name = "columns", .kind = HS_JSON_CUSTOM, .decode = keep_columns},
        {.name = "rows", .kind = HS_JSON_CUSTOM, .decode = keep_rows},
    };
    static const struct hs_json_object object = {fields, 3, 0};
    static const struct hs_json_at moves_at = {.key = "moves"}, columns_at = {.key = "columns"},
                                   rows_at = {.key = "rows"};
    struct body body = {0};
    struct hs_json_columns columns;
    hs_json_read_object(reader, root, NULL, &object, &body);
    bool compact = body.columns != NULL || body.rows != NULL;
    if (!compact && body.moves == NULL)
        hs_json_bad(reader, &moves_at, "is required");
    else if (!compact)
        hs_moves_decode(reader, body.moves, &moves_at, out);
    else if (body.moves != NULL)
        hs_json_bad(reader, &moves_at, "must not stand beside columns and rows");
    else if (body.columns == NULL)
        hs_json_bad(reader, &columns_at, "is required");
    else if (body.rows == NULL)
        hs_json_bad(reader, &rows_at, "is required");
    else if (hs_json_read_columns(reader, body.columns, &columns_at, &move_object, &columns))
        decode_rows(reader, body.rows, &rows_at, &columns, out);
}

/* ---- encoding ---- */

const enum hs_move_check hs_timing_flags[HS_TIMING_FLAGS] = {HS_MOVE_CHECK_FAST_CLOCK_PROVEN,
                                                             HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED,
                                                             HS_MOVE_CHECK_TIMING_DISCREPANCY};

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

static void write_int_field(struct hs_writer *writer, const char *key, uint64_t value)
{
    hs_write_key(writer, key);
    hs_write_int(writer, (int64_t)value);
}

static void write_text_field(struct hs_writer *writer, const char *key, const char *text)
{
    hs_write_key(writer, key);
    hs_write_text(writer, text);
}

static void write_bool_field(struct hs_writer *writer, const char *key, bool value)
{
    hs_write_key(writer, key);
    hs_write_bool(writer, value);
}

/* What both forms of `timing` begin with. */
static void write_clock(struct hs_writer *writer, int64_t discrepancy_us, int64_t lifetime_us,
                        bool is_resolving, int64_t credit_us, double speed)
{
    write_time_field(writer, "discrepancy", discrepancy_us);
    write_time_field(writer, "lifetime_discrepancy", lifetime_us);
    write_bool_field(writer, "resolving", is_resolving);
    write_time_field(writer, "credit", credit_us);
    write_real_field(writer, "speed_estimate", speed);
}

static void encode_timing(struct hs_writer *writer, const struct hs_move_result *result)
{
    hs_write_key(writer, "timing");
    hs_write_begin(writer, '{');
    write_clock(writer, result->discrepancy_us, result->lifetime_us, result->is_resolving,
                result->credit_us, result->speed);
    hs_write_key(writer, "flags");
    hs_write_begin(writer, '[');
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
    hs_write_key(writer, "checks");
    hs_write_begin(writer, '[');
    for (uint16_t i = 0; i < result->failure_count; i++) {
        const struct hs_move_failure *failure = &result->failures[i];
        hs_write_begin(writer, '{');
        enum hs_move_check check = (enum hs_move_check)failure->check;
        write_text_field(writer, "check", hs_move_check_name(check));
        write_text_field(writer, "outcome", "fail");
        write_text_field(writer, "reason", hs_move_reason_name(hs_move_check_reason(check)));
        if (failure->unit != HS_UNIT_NONE) {
            write_real_field(writer, "measured", failure->measured);
            write_real_field(writer, "limit", failure->limit);
            write_text_field(writer, "unit", hs_unit_name((enum hs_unit)failure->unit));
        }
        write_text_field(writer, "mode", hs_mode_name((enum hs_mode)failure->mode));
        char detail[HS_SENTENCE_MAX];
        hs_move_detail(failure, detail);
        write_text_field(writer, "detail", detail);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

static void encode_correction(struct hs_writer *writer, const struct hs_moves_rules *rules,
                              const struct hs_move_result *result)
{
    hs_write_key(writer, "correction");
    hs_write_begin(writer, '{');
    hs_write_key(writer, "position");
    hs_write_vec(writer, result->corrected);
    if (result->has_corrected_velocity) {
        hs_write_key(writer, "velocity");
        hs_write_vec(writer, result->corrected_velocity);
    }
    if (result->corrected_mode < rules->mode_count)
        write_text_field(writer, "mode", rules->modes[result->corrected_mode].name.text);
    write_real_field(writer, "error", result->error);
    write_real_field(writer, "limit", result->limit);
    hs_write_end(writer, '}');
}

void hs_move_encode(struct hs_writer *writer, const struct hs_moves_rules *rules,
                    const struct hs_move *move, const struct hs_move_result *result)
{
    hs_write_begin(writer, '{');
    hs_write_key(writer, "player");
    hs_write_str(writer, move->player);
    if (move->fields & HS_MOVE_HAS_SEQ)
        write_int_field(writer, "seq", move->seq);
    write_text_field(writer, "verdict", hs_verdict_name(result->verdict));
    write_text_field(writer, "reason", hs_move_reason_name(result->reason));
    write_time_field(writer, "delta_time", result->delta_us);
    write_bool_field(writer, "force_update", result->force_update);
    encode_timing(writer, result);
    encode_failures(writer, result);
    if (result->position == HS_MOVE_POSITION_ACK)
        write_bool_field(writer, "ack", true);
    else if (result->position == HS_MOVE_POSITION_CORRECTION)
        encode_correction(writer, rules, result);
    write_bool_field(writer, "replayed", result->replayed);
    hs_write_end(writer, '}');
}

/* Those never counted are left out. */
static void write_counts(struct hs_writer *writer, const struct hs_moves_info *info)
{
    hs_write_key(writer, "flags");
    hs_write_begin(writer, '{');
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        if (info->raised[i] > 0)
            write_int_field(writer, hs_move_check_name((enum hs_move_check)i), info->raised[i]);
    hs_write_end(writer, '}');
    hs_write_key(writer, "reasons");
    hs_write_begin(writer, '{');
    for (int i = 0; i < HS_MOVE_REASON_COUNT; i++)
        if (info->reasons[i] > 0)
            write_int_field(writer, hs_move_reason_name((enum hs_move_reason)i), info->reasons[i]);
    hs_write_end(writer, '}');
}

void hs_moves_info_encode(struct hs_writer *writer, const struct hs_moves_info *info)
{
    hs_write_begin(writer, '{');
    write_int_field(writer, "epoch", info->epoch);
    write_time_field(writer, "received", info->received_us);
    write_clock(writer, info->discrepancy_us, info->lifetime_us, info->is_resolving,
                info->credit_us, info->speed);
    write_int_field(writer, "lag_bursts_per_minute", info->bursts_per_minute);
    write_counts(writer, info);
    hs_write_end(writer, '}');
}
