#include "validators/vocabulary.h"

/* The second column of a list contains the names. */
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
static const char *const motion_names[HS_MOTION_COUNT] = {"ballistic", "server"};
static const char *const resolve_names[HS_RESOLVE_COUNT] = {"claimed", "touched"};
static const char *const move_check_names[] = {HS_MOVE_CHECKS(NAME)};
static const char *const move_reason_names[] = {HS_MOVE_REASONS(NAME)};
static const char *const move_kind_names[HS_MOVE_KIND_COUNT] = {"new", "pending", "old"};
static const char *const move_flag_names[HS_MOVE_FLAG_COUNT] = {"crouched", "jumped"};
static const char *const frame_result_names[] = {HS_FRAME_RESULTS(NAME)};
static const char *const frame_flag_names[] = {HS_FRAME_FLAGS(NAME)};
static const char *const sample_event_names[HS_SAMPLE_EVENT_COUNT] = {"none",  "spawn", "teleport",
                                                                      "death", "leave", "launch"};
static const char *const weapon_type_names[HS_WEAPON_TYPE_COUNT] = {"hitscan", "projectile",
                                                                    "melee"};
static const char *const unclaimed_names[HS_UNCLAIMED_COUNT] = {"report", "damage"};
static const char *const shape_names[HS_SHAPE_COUNT] = {"sphere", "capsule", "box"};
static const char *const prevention_names[HS_PREVENTION_COUNT] = {"credit", "resolution"};
static const char *const same_time_names[HS_SAME_TIME_COUNT] = {"first", "last"};
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

/* Defines a function that returns a member's value in one column of a list. */
#define COLUMN(result, function, type, member, LIST, X)                                            \
    result function(type member)                                                                   \
    {                                                                                              \
        static const result column[] = {LIST(X)};                                                  \
        return column[member];                                                                     \
    }
#define VERDICT(id, name, verdict, ...)      HS_VERDICT_##verdict,
#define CHECK(id, name, verdict, check, ...) HS_CHECK_##check,
#define MODE(id, name, mode, ...)            HS_MODE_##mode,
#define STAGE(id, name, mode, stage)         HS_CHECK_STAGE_##stage,
#define MOVE_REASON(id, name, mode, reason)  HS_MOVE_##reason,
#define MOVE_VERDICT(id, name, verdict)      HS_VERDICT_##verdict,

COLUMN(enum hs_verdict, hs_reason_verdict, enum hs_reason, reason, HS_REASONS, VERDICT)
COLUMN(enum hs_check, hs_reason_check, enum hs_reason, reason, HS_REASONS, CHECK)
COLUMN(enum hs_mode, hs_check_default_mode, enum hs_check, check, HS_CHECKS, MODE)
COLUMN(enum hs_check_stage, hs_check_stage, enum hs_check, check, HS_CHECKS, STAGE)
COLUMN(enum hs_verdict, hs_move_reason_verdict, enum hs_move_reason, reason, HS_MOVE_REASONS,
       MOVE_VERDICT)
COLUMN(enum hs_mode, hs_move_check_default_mode, enum hs_move_check, check, HS_MOVE_CHECKS, MODE)
COLUMN(enum hs_move_reason, hs_move_check_reason, enum hs_move_check, check, HS_MOVE_CHECKS,
       MOVE_REASON)

bool hs_reason_is_retryable(enum hs_reason reason)
{
    return reason == HS_REASON_NOT_RECORDED || reason == HS_REASON_OVER_BUDGET;
}
