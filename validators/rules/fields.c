/* The scalar fields of rulesets, weapons and movement modes. */
#include "validators/base/units.h"
#include "validators/ruleset.h"

#define ROW(section, key, owner, member, kind, initial, low, high)                                 \
    {                                                                                              \
        section, key, offsetof(struct owner, member), HS_SCALAR_##kind, initial, low, high         \
    }

/* Macros for the rows in ruleset.h. */
#define HISTORY(kind, member, key, ...)                                                            \
    ROW("history", key, hs_ruleset, history.member, kind, __VA_ARGS__),
#define REWIND(kind, member, key, ...)                                                             \
    ROW("rewind", key, hs_ruleset, rewind.member, kind, __VA_ARGS__),
#define HIT(kind, member, key, ...)    ROW("hit", key, hs_ruleset, hit.member, kind, __VA_ARGS__),
#define WEAPON(kind, member, key, ...) ROW(NULL, key, hs_weapon, member, kind, __VA_ARGS__),
#define BLAST(kind, member, key, ...)  ROW(NULL, key, hs_weapon, blast.member, kind, __VA_ARGS__),

#define R(section, key, member, ...) ROW(section, key, hs_ruleset, member, __VA_ARGS__)
#define M(key, member, ...)          ROW(NULL, key, hs_move_mode, member, __VA_ARGS__)

const struct hs_scalar hs_ruleset_scalars[] = {
    HS_HISTORY_FIELDS(HISTORY) HS_REWIND_FIELDS(REWIND)
        R("moves", "detection", moves.detection, BOOL, 1, 0, 1),
    R("moves", "max_margin", moves.max_margin_us, SECONDS, 0.25, 0, 60),
    R("moves", "min_margin", moves.min_margin_us, SECONDS, -0.25, -60, 0),
    R("moves", "resolution_rate", moves.resolution_rate, REAL, 1, 0, 1),
    R("moves", "drift_allowance", moves.drift_allowance, REAL, 0, 0, 1),
    R("moves", "force_corrections", moves.force_corrections, BOOL, 0, 0, 1),
    R("moves", "max_delta", moves.max_delta_us, SECONDS, 0.125, 0.001, 10),
    R("moves", "min_delta", moves.min_delta_us, SECONDS, 1e-6, 0, 1),
    R("moves", "reset_period", moves.reset_period_us, SECONDS, 240, 1, 86400),
    R("moves", "position_error_squared", moves.position_error_squared, AREA, 3, 0, 1e18),
    R("moves", "ack_interval", moves.ack_interval_us, SECONDS, 0, 0, 60),
    R("moves", "correction_interval", moves.correction_interval_us, SECONDS, 0, 0, 60),
    R("moves", "epoch_interval", moves.epoch_interval_us, SECONDS, 5, 0, 3600),
    R("moves/client_authoritative", "max_error", moves.client_max_error, LENGTH, 0, 0, 1e9),
    R("moves/large_correction", "error", moves.large_error, LENGTH, 0, 0, 1e9),
    R("moves/large_correction", "interval", moves.large_interval_us, SECONDS, 0, 0, 60),
    R("moves/forced_update", "after", moves.forced_after_us, SECONDS, 0.25, 0.01, 60),
    R("moves/forced_update", "for", moves.forced_for_us, SECONDS, 1, 0, 60),
    R("moves/prediction_ping", "max", moves.prediction.max_us, SECONDS, 0.12, 0, 5),
    R("moves/prediction_ping", "fudge", moves.prediction.fudge_us, SECONDS, 0.02, 0, 5),
    R("moves/prediction_ping", "dilation", moves.prediction.dilation, REAL, 1, 0.001, 1000),
    R("moves/prediction_ping", "zero_without_rtt", moves.prediction.zero_without_rtt, BOOL, 0, 0,
      1),
    R("moves/credit", "max", moves.credit_max_us, SECONDS, 0.35, 0, 60),
    R("moves/ack_bound", "slack", moves.ack_slack_us, SECONDS, 0.02, 0, 60),
    R("moves/ack_bound", "skew_ppm", moves.ack_skew_ppm, REAL, 500, 0, 1e5),
    R("moves/lead_guard", "block", moves.lead_block_us, SECONDS, 0.5, 0.01, 55),
    R("moves/lead_guard", "window", moves.lead_window_us, SECONDS, 30, 0.1, 55),
    R("moves/lead_guard", "clip", moves.lead_clip_us, SECONDS, 0.03, 0, 60),
    R("moves/lead_guard", "leak", moves.lead_leak, REAL, 0.001, 0, 1),
    R("moves/lead_guard", "noise", moves.lead_noise_us, SECONDS, 0.04, 0.0001, 60),
    R("moves/lead_guard", "threshold", moves.lead_threshold_us, SECONDS, 0.08, 0, 60),
    R("moves/lead_guard", "threshold_without_rtt", moves.lead_threshold_without_rtt_us, SECONDS,
      0.12, 0, 60),
    R("moves/lead_guard", "jump_threshold", moves.lead_jump_us, SECONDS, 0.25, 0, 60),
    HS_HIT_FIELDS(HIT)};
const size_t hs_ruleset_scalar_count = sizeof hs_ruleset_scalars / sizeof hs_ruleset_scalars[0];

const struct hs_scalar hs_weapon_scalars[] = {HS_WEAPON_FIELDS(WEAPON)};
const struct hs_scalar hs_blast_scalars[] = {HS_BLAST_FIELDS(BLAST)};
const struct hs_scalar hs_move_mode_scalars[] = {
    M("max_speed", max_speed, LENGTH, 0, 0, 1e9),
    M("max_fall_speed", max_fall_speed, LENGTH, 0, 0, 1e9),
    M("max_accel", max_accel, LENGTH, 0, 0, 1e9),
    M("gravity", gravity, LENGTH, 0, 0, 1e9),
    M("air_jumps", air_jumps, COUNT, 0, 0, 100),
    M("credit", credit, REAL, 0.25, 0, 60),
    M("body_radius", body_radius, LENGTH, 0, 0, 1e9),
    M("step", step, LENGTH, 0, 0, 1e9),
};
const size_t hs_move_mode_scalar_count =
    sizeof hs_move_mode_scalars / sizeof hs_move_mode_scalars[0];

const size_t hs_blast_scalar_count = sizeof hs_blast_scalars / sizeof hs_blast_scalars[0];

const size_t hs_weapon_scalar_count = sizeof hs_weapon_scalars / sizeof hs_weapon_scalars[0];

double hs_scalar_get(const struct hs_scalar *scalar, const void *base)
{
    const char *at = (const char *)base + scalar->offset;
    switch (scalar->kind) {
    case HS_SCALAR_SECONDS:
        return (double)*(const int64_t *)(const void *)at / 1e6;
    case HS_SCALAR_COUNT:
        return (double)*(const int64_t *)(const void *)at;
    case HS_SCALAR_BOOL:
        return *(const bool *)(const void *)at ? 1 : 0;
    case HS_SCALAR_REAL:
    case HS_SCALAR_LENGTH:
    case HS_SCALAR_AREA:
        break;
    }
    return *(const double *)(const void *)at;
}

void hs_scalar_set(const struct hs_scalar *scalar, void *base, double value)
{
    char *at = (char *)base + scalar->offset;
    switch (scalar->kind) {
    case HS_SCALAR_SECONDS:
        *(int64_t *)(void *)at = hs_seconds_to_us(value);
        return;
    case HS_SCALAR_COUNT:
        *(int64_t *)(void *)at = (int64_t)value;
        return;
    case HS_SCALAR_BOOL:
        *(bool *)(void *)at = value != 0;
        return;
    case HS_SCALAR_REAL:
    case HS_SCALAR_LENGTH:
    case HS_SCALAR_AREA:
        break;
    }
    *(double *)(void *)at = value;
}
