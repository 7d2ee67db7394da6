#include "validators/vocabulary.h"

/* Keeps the name of a row, whatever else its list says. */
#define NAME(id, ...)    FIRST(__VA_ARGS__, )
#define FIRST(name, ...) name,

static const char *const verdict_names[] = {HS_VERDICTS(NAME)};
static const char *const mode_names[] = {HS_MODES(NAME)};
#define X(id, name, mode, stage) #name,
static const char *const check_names[] = {HS_CHECKS(X)};
#undef X
static const char *const reason_names[] = {HS_REASONS(NAME)};
static const char *const flag_names[] = {HS_FLAGS(NAME)};
static const char *const hint_code_names[] = {HS_HINTS(NAME)};
static const char *const unit_names[] = {HS_UNITS(NAME)};
static const char *const outcome_names[HS_OUTCOME_COUNT] = {"pass", "fail", "unknown"};
static const char *const pellet_outcome_names[HS_PELLET_OUTCOME_COUNT] = {
    "hit", "miss", "occluded", "blocked", "refused", "unknown"};
static const char *const cause_names[HS_CAUSE_COUNT] = {"direct", "blast"};
static const char *const fuse_names[HS_FUSE_COUNT] = {"any", "contact", "timed", "proximity"};
static const char *const move_check_names[] = {HS_MOVE_CHECKS(NAME)};
static const char *const move_reason_names[] = {HS_MOVE_REASONS(NAME)};
static const char *const move_kind_names[HS_MOVE_KIND_COUNT] = {"new", "pending", "old"};
static const char *const frame_result_names[] = {HS_FRAME_RESULTS(NAME)};
static const char *const frame_flag_names[] = {HS_FRAME_FLAGS(NAME)};
static const char *const sample_event_names[HS_SAMPLE_EVENT_COUNT] = {"none", "spawn", "teleport",
                                                                      "death", "leave"};
static const char *const weapon_type_names[HS_WEAPON_TYPE_COUNT] = {"hitscan", "projectile",
                                                                    "melee"};
static const char *const unclaimed_names[HS_UNCLAIMED_COUNT] = {"report", "damage"};
static const char *const shape_names[HS_SHAPE_COUNT] = {"sphere", "capsule", "box"};
static const char *const prevention_names[HS_PREVENTION_COUNT] = {"credit", "resolution"};
static const char *const rewind_source_names[HS_REWIND_SOURCE_COUNT] = {"claim", "prediction_ping"};
static const char *const up_names[HS_UP_COUNT] = {"+x", "-x", "+y", "-y", "+z", "-z"};

#define X(list)                                                                                    \
    const struct hs_vocabulary hs_##list##_words = {list##_names,                                  \
                                                    sizeof list##_names / sizeof list##_names[0]}; \
    const char *hs_##list##_name(enum hs_##list member)                                            \
    {                                                                                              \
        return list##_names[member];                                                               \
    }
HS_VOCABULARIES(X)
#undef X

int hs_vocabulary_find(const struct hs_vocabulary *vocabulary, struct hs_str name)
{
    for (int i = 0; i < vocabulary->count; i++)
        if (hs_str_equal(hs_str_of(vocabulary->names[i]), name))
            return i;
    return -1;
}

#define X(id, name, verdict, ...) HS_VERDICT_##verdict,
static const enum hs_verdict reason_verdicts[] = {HS_REASONS(X)};
#undef X
#define X(id, name, verdict, check, ...) HS_CHECK_##check,
static const enum hs_check reason_checks[] = {HS_REASONS(X)};
#undef X
#define X(id, name, mode, stage) HS_MODE_##mode,
static const enum hs_mode check_modes[] = {HS_CHECKS(X)};
#undef X
#define X(id, name, mode, stage) HS_CHECK_STAGE_##stage,
static const enum hs_check_stage check_stages[] = {HS_CHECKS(X)};
#undef X
#define X(id, name, mode) HS_MODE_##mode,
static const enum hs_mode move_check_modes[] = {HS_MOVE_CHECKS(X)};
#undef X
#define X(id, name, verdict) HS_VERDICT_##verdict,
static const enum hs_verdict move_reason_verdicts[] = {HS_MOVE_REASONS(X)};
#undef X

bool hs_reason_is_retryable(enum hs_reason reason)
{
    return reason == HS_REASON_NOT_RECORDED || reason == HS_REASON_OVER_BUDGET;
}

enum hs_verdict hs_reason_verdict(enum hs_reason reason)
{
    return reason_verdicts[reason];
}

enum hs_check hs_reason_check(enum hs_reason reason)
{
    return reason_checks[reason];
}

enum hs_mode hs_check_default_mode(enum hs_check check)
{
    return check_modes[check];
}

enum hs_check_stage hs_check_stage(enum hs_check check)
{
    return check_stages[check];
}

enum hs_verdict hs_move_reason_verdict(enum hs_move_reason reason)
{
    return move_reason_verdicts[reason];
}

enum hs_mode hs_move_check_default_mode(enum hs_move_check check)
{
    return move_check_modes[check];
}

enum hs_move_reason hs_move_check_reason(enum hs_move_check check)
{
    static const enum hs_move_reason reasons[HS_MOVE_CHECK_COUNT] = {
        [HS_MOVE_CHECK_FAST_CLOCK_PROVEN] = HS_MOVE_FAST_CLOCK_PROVEN,
        [HS_MOVE_CHECK_FAST_CLOCK_SUSPECTED] = HS_MOVE_FAST_CLOCK_SUSPECTED,
        [HS_MOVE_CHECK_TIMING_DISCREPANCY] = HS_MOVE_TIMING_DISCREPANCY,
        [HS_MOVE_CHECK_TELEPORT] = HS_MOVE_UNANNOUNCED_TELEPORT,
        [HS_MOVE_CHECK_SPEED] = HS_MOVE_TOO_FAST,
        [HS_MOVE_CHECK_ACCELERATION] = HS_MOVE_TOO_MUCH_ACCELERATION,
        [HS_MOVE_CHECK_GRAVITY] = HS_MOVE_GRAVITY_VIOLATION,
    };
    return reasons[check];
}
