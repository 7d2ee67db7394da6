/* The labels of each series. */
#include "service/watch/metrics_inside.h"

#include <stdio.h>
#include <string.h>

#include "service/system/version.h"

#define NAME(id, label) label,
#define CODE(code)      #code,
#define WORDS(list, ...)                                                                           \
    static const char *const list##_names[] = {__VA_ARGS__};                                       \
    static const struct hs_vocabulary list##_words = {list##_names, sizeof list##_names /          \
                                                                        sizeof list##_names[0]};

WORDS(version, HS_VERSION)
WORDS(listener, "data", "admin")
WORDS(shed_reason, HS_SHED_REASONS(NAME))
WORDS(auth_failure, HS_AUTH_FAILURES(NAME))
WORDS(code, HS_METRICS_STATUSES(CODE) "other")
WORDS(kind, "hit", "shot")
WORDS(stage, HS_STAGES(NAME))
WORDS(file_result, "written", "failed", "not_synced")
WORDS(evidence_drop, HS_EVIDENCE_DROPS(NAME))
WORDS(webhook_drop, HS_WEBHOOK_DROPS(NAME))
WORDS(webhook_result, HS_WEBHOOK_RESULTS(NAME))
WORDS(restored, HS_RESTORED(NAME))
WORDS(restored_name, HS_RESTORED_NAMES(NAME))
WORDS(store_op, HS_STORE_OPS(NAME))
WORDS(takeover_from, HS_TAKEOVERS_FROM(NAME))
WORDS(takeover, HS_TAKEOVERS(NAME))

static const char *pattern_of(size_t route)
{
    return route == HS_METRICS_NO_ROUTE ? "other" : hs_route_pattern((enum hs_route)route);
}

static const char *method_of(size_t route)
{
    return route == HS_METRICS_NO_ROUTE ? "other"
                                        : hs_method_name(hs_route_method((enum hs_route)route));
}

static const char *timing_flag_of(size_t flag)
{
    return hs_move_check_name(hs_timing_flags[flag]);
}

size_t hs_metrics_first_route(size_t route)
{
    const char *pattern = pattern_of(route);
    size_t first = 0;
    while (strcmp(pattern_of(first), pattern) != 0)
        first++;
    return first;
}

/* ---- which series occur ---- */

static bool is_first_route(size_t series)
{
    return hs_metrics_first_route(series) == series;
}

/* Returns whether the series combines a reason with the verdict that belongs to this reason. All
   other combinations stay 0 if the service has no bug. */
static bool is_verdict(size_t series)
{
    size_t mode = series % HS_METRICS_MODES, rest = series / HS_METRICS_MODES;
    enum hs_verdict verdict = (enum hs_verdict)(rest / HS_REASON_COUNT % HS_VERDICT_COUNT);
    return hs_reason_verdict((enum hs_reason)(rest % HS_REASON_COUNT)) == verdict &&
           (mode == HS_MODE_ENFORCE || verdict != HS_VERDICT_ACCEPTED);
}

static bool is_move(size_t series)
{
    enum hs_move_reason reason = (enum hs_move_reason)(series % HS_MOVE_REASON_COUNT);
    return hs_move_reason_verdict(reason) == (enum hs_verdict)(series / HS_MOVE_REASON_COUNT);
}

/* Returns whether restored rulesets can have this label. The label `missing` cannot occur, because
   the checkpoint contains the documents of rulesets. */
static bool is_restored_ruleset(size_t series)
{
    return series != HS_RESTORED_NAME_MISSING;
}

/* Returns whether restored maps can have this label. The label `name_of_a_file` cannot occur,
   because maps never get their names from files. */
static bool is_restored_map(size_t series)
{
    return series != HS_RESTORED_NAME_IS_FILES;
}

/* Returns whether a takeover can have these labels. The source is `none` (the store did not answer)
   if and only if the result is `late` or `down`. */
static bool is_takeover(size_t series)
{
    size_t result = series % HS_TAKEOVER_COUNT;
    bool has_answer = result != HS_TAKEOVER_LATE && result != HS_TAKEOVER_DOWN;
    return has_answer == (series / HS_TAKEOVER_COUNT != HS_TAKEOVER_FROM_NONE);
}

/* ---- sets of labels ---- */

/* The index of a label's value is (series / step) % count. */
struct label {
    const char *name;
    const struct hs_vocabulary *words;   /* the possible values */
    const char *(*value)(size_t number); /* if set, used instead of `words` */
    size_t step, count;
};

enum {
    REASON = HS_METRICS_MODES,
    VERDICT = REASON * HS_REASON_COUNT,
    KIND = VERDICT * HS_VERDICT_COUNT
}; /* values of `step` in struct label */

static const struct {
    size_t series;
    bool (*occurs)(size_t series); /* which series can occur; NULL: all */
    struct label labels[4];        /* the list ends with a label without a name */
} sets[HS_METRIC_LABELS_COUNT] = {
#define SET(id, occurs, ...)                                                                       \
    [HS_METRIC_LABELS_##id] = {HS_METRIC_SERIES_##id, (occurs), {__VA_ARGS__}}
#define ONE(id, name, words) SET(id, NULL, {(name), &(words), NULL, 1, HS_METRIC_SERIES_##id})
    SET(NONE, NULL, {0}),
    ONE(VERSION, "version", version_words),
    ONE(LISTENER, "listener", listener_words),
    ONE(SHED_REASON, "reason", shed_reason_words),
    ONE(AUTH_REASON, "reason", auth_failure_words),
    SET(ROUTE, is_first_route, {"route", NULL, pattern_of, 1, HS_METRICS_ROUTES}),
    SET(REQUEST, NULL, {"route", NULL, pattern_of, HS_METRICS_CODES, HS_METRICS_ROUTES},
        {"method", NULL, method_of, HS_METRICS_CODES, HS_METRICS_ROUTES},
        {"code", &code_words, NULL, 1, HS_METRICS_CODES}),
    SET(VERDICT, is_verdict, {"kind", &kind_words, NULL, KIND, HS_VERDICT_OF_COUNT},
        {"verdict", &hs_verdict_words, NULL, VERDICT, HS_VERDICT_COUNT},
        {"reason", &hs_reason_words, NULL, REASON, HS_REASON_COUNT},
        {"mode", &hs_mode_words, NULL, 1, HS_METRICS_MODES}),
    SET(FLAG, NULL, {"kind", &kind_words, NULL, HS_FLAG_COUNT, HS_VERDICT_OF_COUNT},
        {"flag", &hs_flag_words, NULL, 1, HS_FLAG_COUNT}),
    ONE(STAGE, "stage", stage_words),
    ONE(FRAME_RESULT, "result", hs_frame_result_words),
    SET(MOVE, is_move, {"verdict", &hs_verdict_words, NULL, HS_MOVE_REASON_COUNT, HS_VERDICT_COUNT},
        {"reason", &hs_move_reason_words, NULL, 1, HS_MOVE_REASON_COUNT}),
    SET(TIMING_FLAG, NULL, {"flag", NULL, timing_flag_of, 1, HS_TIMING_FLAGS}),
    SET(MOVE_FAILURE, NULL,
        {"check", &hs_move_check_words, NULL, HS_METRICS_MODES, HS_MOVE_CHECK_COUNT},
        {"mode", &hs_mode_words, NULL, 1, HS_METRICS_MODES}),
    ONE(FILE_RESULT, "result", file_result_words),
    ONE(JOURNAL_RESULT, "result", file_result_words),
    ONE(EVIDENCE_DROP, "reason", evidence_drop_words),
    ONE(WEBHOOK_DROP, "reason", webhook_drop_words),
    ONE(WEBHOOK_RESULT, "result", webhook_result_words),
    ONE(RESTORED, "result", restored_words),
    SET(RESTORED_RULESET, is_restored_ruleset,
        {"result", &restored_name_words, NULL, 1, HS_RESTORED_NAME_COUNT}),
    SET(RESTORED_MAP, is_restored_map,
        {"result", &restored_name_words, NULL, 1, HS_RESTORED_NAME_COUNT}),
    ONE(STORE_OP, "op", store_op_words),
    SET(TAKEOVER, is_takeover,
        {"source", &takeover_from_words, NULL, HS_TAKEOVER_COUNT, HS_TAKEOVER_FROM_COUNT},
        {"result", &takeover_words, NULL, 1, HS_TAKEOVER_COUNT}),
};

size_t hs_metrics_series(enum hs_metric_labels labels)
{
    return sets[labels].series;
}

bool hs_metrics_label(enum hs_metric_labels labels, size_t series, char text[HS_METRICS_LABEL_SIZE])
{
    size_t len = 0;
    text[0] = '\0';
    for (size_t i = 0; i < 4 && sets[labels].labels[i].name != NULL; i++) {
        const struct label *label = &sets[labels].labels[i];
        size_t number = series / label->step % label->count;
        const char *value =
            label->words != NULL ? label->words->names[number] : label->value(number);
        len += (size_t)snprintf(text + len, HS_METRICS_LABEL_SIZE - len, "%s%s=\"%s\"",
                                i == 0 ? "" : ",", label->name, value);
    }
    return sets[labels].occurs == NULL || sets[labels].occurs(series);
}
