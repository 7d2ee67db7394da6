#include "tests/support/fuzz/checks.h"

#include <stdlib.h>
#include <string.h>

#include "validators/match/players.h"

/* ---- documents ---- */

static bool has_null(const json_t *value)
{
    size_t i;
    const char *key;
    json_t *member;
    if (json_is_null(value))
        return true;
    json_array_foreach((json_t *)(uintptr_t)value, i, member) if (has_null(member)) return true;
    json_object_foreach((json_t *)(uintptr_t)value, key, member) if (has_null(member)) return true;
    return false;
}

const char *hs_check_document(const struct hs_buffer *buffer)
{
    HS_MUST(!buffer->failed && buffer->len > 0, "nothing was written");
    json_t *document = json_loadb(buffer->data, buffer->len, JSON_REJECT_DUPLICATES, NULL);
    HS_MUST(document != NULL, "the written text is not JSON");
    bool null = has_null(document);
    json_decref(document);
    HS_MUST(!null, "a null was written, for a number that is not finite");
    return NULL;
}

/* ---- pointers ---- */

/* Decodes one member name of a pointer, with its ~0 and ~1. Returns false if it is too long or
   invalid. */
static bool unescape(const char *from, size_t len, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < len; i++, used++) {
        if (used + 1 >= size)
            return false;
        out[used] = from[i];
        if (from[i] != '~')
            continue;
        if (++i == len || (from[i] != '0' && from[i] != '1'))
            return false;
        out[used] = from[i] == '0' ? '~' : '/';
    }
    out[used] = '\0';
    return true;
}

const json_t *hs_resolve_pointer(const json_t *root, const char *pointer, bool beyond)
{
    const json_t *value = root;
    while (value != NULL && *pointer == '/') {
        char name[HS_POINTER_MAX];
        size_t len = strcspn(++pointer, "/");
        if (!unescape(pointer, len, name, sizeof name))
            return NULL;
        pointer += len;
        char *end = name;
        unsigned long index = json_is_array(value) ? strtoul(name, &end, 10) : 0;
        if (json_is_object(value))
            value = json_object_get(value, name);
        else if (end == name || *end != '\0')
            return NULL;
        else if (!beyond || *pointer != '\0' || index != json_array_size(value))
            value = json_array_get(value, index);
    }
    return *pointer == '\0' ? value : NULL;
}

static bool is_pointer(const char *pointer)
{
    char name[HS_POINTER_MAX];
    while (*pointer == '/') {
        size_t len = strcspn(++pointer, "/");
        if (!unescape(pointer, len, name, sizeof name))
            return false;
        pointer += len;
    }
    return *pointer == '\0';
}

static const char *check_error(const char *pointer, const char *detail, const json_t *root)
{
    HS_MUST(detail[0] != '\0', "a bad field without a reason");
    /* Very long pointers are cut. */
    if (strlen(pointer) > HS_POINTER_MAX - 24)
        return NULL;
    HS_MUST(is_pointer(pointer), "not a JSON pointer");
    if (root == NULL)
        return NULL;
    char parent[HS_POINTER_MAX];
    /* the detail may continue with other values that are valid */
    static const char required[] = "is required";
    bool missing = strncmp(detail, required, sizeof required - 1) == 0;
    memcpy(parent, pointer, strlen(pointer) + 1);
    if (missing)
        *strrchr(parent, '/') = '\0';
    HS_MUST(hs_resolve_pointer(root, parent, false) != NULL, "a pointer that leads nowhere");
    /* null: an empty cell of a row */
    const json_t *there = hs_resolve_pointer(root, pointer, false);
    HS_MUST(!missing || there == NULL || json_is_null(there),
            "a field that is reported missing exists");
    return NULL;
}

const char *hs_check_problem(const struct hs_problem *problem, const json_t *root)
{
    HS_MUST(hs_problem_status(problem->code) == 400, "the answer to a bad body is not 400");
    HS_MUST(problem->code != HS_PROBLEM_INVALID_REQUEST || problem->count > 0,
            "invalid_request without a bad field");
    HS_MUST(problem->code != HS_PROBLEM_MALFORMED_JSON || problem->detail[0] != '\0',
            "malformed_json without a detail");
    for (size_t i = 0; i < problem->count; i++)
        HS_MUST_HOLD(check_error(problem->errors[i].pointer, problem->errors[i].detail, root));
    struct hs_buffer buffer = {0};
    hs_problem_encode(problem, "fuzz", &buffer);
    const char *fault = hs_check_document(&buffer);
    hs_buffer_free(&buffer);
    return fault;
}

/* ---- results ---- */

static const char *check_rows(const struct hs_hit_result *result)
{
    const struct hs_check_row *failed = NULL, *missing = NULL;
    uint64_t shadows = 0, listed = 0; /* sets of reasons, as bits */
    _Static_assert(HS_REASON_COUNT <= 64, "a reason is a bit");
    HS_MUST(result->check_count <= HS_CHECK_COUNT, "more rows than there are checks");
    for (int i = 0; i < result->check_count; i++) {
        const struct hs_check_row *row = &result->checks[i];
        HS_MUST(i == 0 || result->checks[i - 1].check < row->check, "checks out of order");
        HS_MUST(row->mode != HS_MODE_OFF, "a check that is off was reported");
        HS_MUST(isfinite(row->measured) && isfinite(row->limit), "a measure is not finite");
        HS_MUST((row->outcome == HS_OUTCOME_PASS) ==
                    (hs_reason_verdict(row->reason) == HS_VERDICT_ACCEPTED),
                "outcome and reason of a check disagree");
        if (row->outcome == HS_OUTCOME_PASS)
            continue;
        HS_MUST((row->outcome == HS_OUTCOME_FAIL) ==
                    (hs_reason_verdict(row->reason) == HS_VERDICT_REJECTED),
                "a failure and its reason disagree");
        HS_MUST(row->outcome != HS_OUTCOME_FAIL || hs_reason_check(row->reason) == row->check,
                "a check failed with the reason of another check");
        if (row->mode == HS_MODE_SHADOW)
            shadows |= UINT64_C(1) << row->reason;
        if (row->mode == HS_MODE_ENFORCE && row->outcome == HS_OUTCOME_FAIL && failed == NULL)
            failed = row;
        if (row->mode == HS_MODE_ENFORCE && row->outcome == HS_OUTCOME_UNKNOWN && missing == NULL)
            missing = row;
    }
    const struct hs_check_row *decides = failed != NULL ? failed : missing;
    HS_MUST((decides == NULL) == (result->verdict == HS_VERDICT_ACCEPTED),
            "the verdict accepted and the checks disagree");
    HS_MUST(decides == NULL || decides->reason == result->reason, "another check decided");
    for (int i = 0; i < result->would_reject_count; i++) {
        uint64_t reason = UINT64_C(1) << result->would_reject[i];
        HS_MUST((listed & reason) == 0, "would_reject lists a reason twice");
        listed |= reason;
    }
    HS_MUST(shadows == listed, "would_reject does not list the failed checks in shadow");
    return NULL;
}

static const char *check_damage(const struct hs_hit_result *result)
{
    double total = 0;
    HS_MUST(result->damage_count <= HS_MAX_DAMAGE, "more damage entries than fit");
    HS_MUST(result->verdict == HS_VERDICT_ACCEPTED || result->damage_count == 0,
            "damage without acceptance");
    for (int i = 0; i < result->damage_count; i++) {
        const struct hs_damage *damage = &result->damage[i];
        HS_MUST(isfinite(damage->amount) && damage->amount >= 0, "damage below 0 or not finite");
        HS_MUST(isfinite(damage->distance) && damage->distance >= 0, "damage without a distance");
        HS_MUST(damage->player.text[0] != '\0', "damage to nobody");
        total += damage->amount;
    }
    HS_MUST(total == result->damage_total, "damage_total is not the sum of the damage");
    return NULL;
}

static const char *check_impact(const struct hs_impact *impact)
{
    if (!impact->present)
        return NULL;
    HS_MUST(hs_vec_is_finite(impact->point) && hs_vec_is_finite(impact->center),
            "an impact that is not finite");
    HS_MUST(fabs(hs_vec_length(impact->normal) - 1) < 1e-6, "a normal that is not a direction");
    HS_MUST(isfinite(impact->distance) && impact->distance >= 0, "an impact before the start");
    bool on_body = impact->player.text[0] != '\0';
    HS_MUST(on_body == (impact->zone.text[0] != '\0'),
            "an impact with a player and no zone, or the reverse");
    HS_MUST(!on_body || impact->mover.text[0] == '\0', "an impact on a body and a mover");
    return NULL;
}

static const char *check_rewind(const struct hs_rewind_info *rewind)
{
    HS_MUST(rewind->excluded_bone_count <= HS_MAX_BONES && rewind->ignored_count <= HS_MAX_IGNORED,
            "longer lists than fit");
    if (!rewind->present)
        return NULL;
    HS_MUST(rewind->alpha >= 0 && rewind->alpha < 1, "alpha out of range");
    HS_MUST(rewind->from_us <= rewind->time_us && rewind->from_us <= rewind->to_us,
            "the bracket is not around the time");
    HS_MUST(rewind->time_us <= rewind->to_us, "the bracket ends before the time");
    HS_MUST(!rewind->clamped || rewind->from_us == rewind->time_us,
            "clamped, but not to the time of the newest sample");
    return NULL;
}

const char *hs_check_hit_result(const struct hs_hit_result *result)
{
    HS_MUST(result->reason < HS_REASON_COUNT && result->verdict < HS_VERDICT_COUNT,
            "not in the vocabulary");
    HS_MUST(hs_reason_verdict(result->reason) == result->verdict, "verdict and reason disagree");
    HS_MUST(result->flags >> HS_FLAG_COUNT == 0, "flags that do not exist");
    HS_MUST(!result->has_margin || isfinite(result->margin), "a margin that is not finite");
    HS_MUST_HOLD(check_rows(result));
    HS_MUST_HOLD(check_damage(result));
    HS_MUST_HOLD(check_impact(&result->impact));
    return check_rewind(&result->rewind);
}

/* ---- histories ---- */

static const char *check_history(const struct hs_history *history, const struct hs_ruleset *ruleset)
{
    for (uint32_t i = 0; i < hs_history_count(history); i++) {
        const struct hs_sample *sample = hs_history_at(history, i);
        const struct hs_state *state = hs_history_state(history, sample);
        HS_MUST(i == 0 || hs_history_at(history, i - 1)->time_us < sample->time_us,
                "samples out of order");
        HS_MUST(hs_history_find(history, sample->time_us) == (int64_t)i, "a sample not found");
        HS_MUST(hs_vec_is_finite(sample->position), "a position that is not finite");
        HS_MUST(state->rig < ruleset->rig_count &&
                    state->stance < ruleset->rigs[state->rig]->stance_count,
                "a rig or stance that does not exist");
        for (int k = 0; k < 4; k++)
            HS_MUST(fabsf(sample->rotation[k]) <= 1.0001f,
                    "a rotation that is not a unit quaternion");
    }
    return NULL;
}

const char *hs_check_match(const struct hs_match *match, const struct hs_match_limits *limits)
{
    struct hs_match_info info;
    hs_match_info(match, &info);
    HS_MUST(info.players <= limits->players, "more players than the limit");
    HS_MUST(match->players.count <= limits->players, "more players kept than the limit");
    HS_MUST(info.history_bytes == hs_match_count_bytes(match),
            "the bytes in use differ from the counted bytes");
    for (uint32_t i = 0; i < match->players.count; i++) {
        const struct hs_history *history = match->players.all[i]->history;
        HS_MUST(hs_history_count(history) <= limits->samples, "more samples than the limit");
        HS_MUST_HOLD(check_history(history, match->ruleset));
    }
    return NULL;
}
