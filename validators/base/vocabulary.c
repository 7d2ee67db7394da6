#include "validators/vocabulary.h"

#define NAME_ROW_2(id, name)       name,
#define NAME_ROW_3(id, name, a)    name,
#define NAME_ROW_4(id, name, a, b) name,

static const char *const verdict_names[] = {HS_VERDICTS(NAME_ROW_2)};
static const char *const mode_names[] = {HS_MODES(NAME_ROW_2)};
#define X(id, name, mode, stage) #name,
static const char *const check_names[] = {HS_CHECKS(X)};
#undef X
static const char *const reason_names[] = {HS_REASONS(NAME_ROW_4)};
static const char *const flag_names[] = {HS_FLAGS(NAME_ROW_2)};
static const char *const hint_names[] = {HS_HINTS(NAME_ROW_2)};
static const char *const unit_names[] = {HS_UNITS(NAME_ROW_2)};
static const char *const move_check_names[] = {HS_MOVE_CHECKS(NAME_ROW_3)};
static const char *const move_reason_names[] = {HS_MOVE_REASONS(NAME_ROW_3)};
static const char *const frame_result_names[] = {HS_FRAME_RESULTS(NAME_ROW_2)};

#define X(id, name, verdict, check) HS_VERDICT_##verdict,
static const enum hs_verdict reason_verdicts[] = {HS_REASONS(X)};
#undef X
#define X(id, name, verdict, check) HS_CHECK_##check,
static const enum hs_check reason_checks[] = {HS_REASONS(X)};
#undef X
#define X(id, name, mode, stage) HS_MODE_##mode,
static const enum hs_mode check_modes[] = {HS_CHECKS(X)};
#undef X
#define X(id, name, mode) HS_MODE_##mode,
static const enum hs_mode move_check_modes[] = {HS_MOVE_CHECKS(X)};
#undef X
#define X(id, name, verdict) HS_VERDICT_##verdict,
static const enum hs_verdict move_reason_verdicts[] = {HS_MOVE_REASONS(X)};
#undef X

const char *hs_verdict_name(enum hs_verdict verdict)
{
    return verdict_names[verdict];
}

const char *hs_mode_name(enum hs_mode mode)
{
    return mode_names[mode];
}

const char *hs_check_name(enum hs_check check)
{
    return check_names[check];
}

const char *hs_reason_name(enum hs_reason reason)
{
    return reason_names[reason];
}

const char *hs_flag_name(enum hs_flag flag)
{
    return flag_names[flag];
}

const char *hs_hint_name(enum hs_hint_code code)
{
    return hint_names[code];
}

const char *hs_unit_name(enum hs_unit unit)
{
    return unit_names[unit];
}

const char *hs_frame_result_name(enum hs_frame_result result)
{
    return frame_result_names[result];
}

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

const char *hs_move_check_name(enum hs_move_check check)
{
    return move_check_names[check];
}

const char *hs_move_reason_name(enum hs_move_reason reason)
{
    return move_reason_names[reason];
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

/* The index of a name in a list, or -1. */
static int find_name(const char *const *names, int count, struct hs_str name)
{
    for (int i = 0; i < count; i++)
        if (hs_str_equal((struct hs_str){names[i], strlen(names[i])}, name))
            return i;
    return -1;
}

bool hs_mode_parse(struct hs_str name, enum hs_mode *out)
{
    int i = find_name(mode_names, HS_MODE_COUNT, name);
    if (i >= 0)
        *out = (enum hs_mode)i;
    return i >= 0;
}

bool hs_check_parse(struct hs_str name, enum hs_check *out)
{
    int i = find_name(check_names, HS_CHECK_COUNT, name);
    if (i >= 0)
        *out = (enum hs_check)i;
    return i >= 0;
}

bool hs_move_check_parse(struct hs_str name, enum hs_move_check *out)
{
    int i = find_name(move_check_names, HS_MOVE_CHECK_COUNT, name);
    if (i >= 0)
        *out = (enum hs_move_check)i;
    return i >= 0;
}
