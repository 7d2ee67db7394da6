/* The labels of each series. */
#include "service/watch/metrics_inside.h"

#include <stdio.h>
#include <string.h>

#include "service/system/version.h"

const int hs_metrics_codes[HS_METRICS_CODES] = {
#define X(code) code,
    HS_METRICS_STATUSES(X)
#undef X
};

static const char *pattern_of(size_t route)
{
    return route == HS_METRICS_NO_ROUTE ? "other" : hs_route_pattern((enum hs_route)route);
}

static const char *method_of(size_t route)
{
    return route == HS_METRICS_NO_ROUTE ? "other"
                                        : hs_method_name(hs_route_method((enum hs_route)route));
}

size_t hs_metrics_first_route(size_t route)
{
    const char *pattern = pattern_of(route);
    size_t first = 0;
    while (strcmp(pattern_of(first), pattern) != 0)
        first++;
    return first;
}

size_t hs_metrics_verdict_series(size_t kind, size_t verdict, size_t reason, size_t mode)
{
    return ((kind * HS_VERDICT_COUNT + verdict) * HS_REASON_COUNT + reason) * HS_METRICS_MODES +
           mode;
}

/* Writes the labels of a series of one set. */
typedef bool put_label(size_t series, char *text);

#define PUT(...) snprintf(text, HS_METRICS_LABEL_SIZE, __VA_ARGS__)

static bool put_NONE(size_t series, char *text)
{
    (void)series;
    text[0] = '\0';
    return true;
}

static bool put_VERSION(size_t series, char *text)
{
    (void)series;
    PUT("version=\"" HS_VERSION "\"");
    return true;
}

static bool put_LISTENER(size_t series, char *text)
{
    PUT("listener=\"%s\"", series == 0 ? "data" : "admin");
    return true;
}

static bool put_SHED_REASON(size_t series, char *text)
{
    static const char *const reasons[] = {
#define X(id, label) label,
        HS_SHED_REASONS(X)
#undef X
    };
    PUT("reason=\"%s\"", reasons[series]);
    return true;
}

static bool put_AUTH_REASON(size_t series, char *text)
{
    PUT("reason=\"%s\"", hs_auth_failure_name((enum hs_auth_failure)series));
    return true;
}

static bool put_ROUTE(size_t series, char *text)
{
    PUT("route=\"%s\"", pattern_of(series));
    return hs_metrics_first_route(series) == series;
}

static bool put_REQUEST(size_t series, char *text)
{
    size_t route = series / HS_METRICS_CODES, i = series % HS_METRICS_CODES;
    char code[16] = "other";
    if (i < HS_METRICS_CODES - 1)
        snprintf(code, sizeof code, "%d", hs_metrics_codes[i]);
    PUT("route=\"%s\",method=\"%s\",code=\"%s\"", pattern_of(route), method_of(route), code);
    return true;
}

static const char *const kinds[HS_JUDGED_COUNT] = {"hit", "shot"};

/* Every reason belongs to one verdict. Another pair is a mistake, and must be seen. */
static bool put_VERDICT(size_t series, char *text)
{
    enum hs_mode mode = (enum hs_mode)(series % HS_METRICS_MODES);
    size_t rest = series / HS_METRICS_MODES;
    enum hs_reason reason = (enum hs_reason)(rest % HS_REASON_COUNT);
    rest /= HS_REASON_COUNT;
    enum hs_verdict verdict = (enum hs_verdict)(rest % HS_VERDICT_COUNT);
    PUT("kind=\"%s\",verdict=\"%s\",reason=\"%s\",mode=\"%s\"", kinds[rest / HS_VERDICT_COUNT],
        hs_verdict_name(verdict), hs_reason_name(reason), hs_mode_name(mode));
    return hs_reason_verdict(reason) == verdict &&
           (mode == HS_MODE_ENFORCE || verdict != HS_VERDICT_ACCEPTED);
}

static bool put_FLAG(size_t series, char *text)
{
    PUT("kind=\"%s\",flag=\"%s\"", kinds[series / HS_FLAG_COUNT],
        hs_flag_name((enum hs_flag)(series % HS_FLAG_COUNT)));
    return true;
}

static bool put_STAGE(size_t series, char *text)
{
    static const char *const stages[] = {
#define X(id, label) label,
        HS_STAGES(X)
#undef X
    };
    PUT("stage=\"%s\"", stages[series]);
    return true;
}

static bool put_FRAME_RESULT(size_t series, char *text)
{
    PUT("result=\"%s\"", hs_frame_result_name((enum hs_frame_result)series));
    return true;
}

static bool put_MOVE(size_t series, char *text)
{
    enum hs_verdict verdict = (enum hs_verdict)(series / HS_MOVE_REASON_COUNT);
    enum hs_move_reason reason = (enum hs_move_reason)(series % HS_MOVE_REASON_COUNT);
    PUT("verdict=\"%s\",reason=\"%s\"", hs_verdict_name(verdict), hs_move_reason_name(reason));
    return hs_move_reason_verdict(reason) == verdict;
}

static bool put_TIMING_FLAG(size_t series, char *text)
{
    PUT("flag=\"%s\"", hs_move_check_name(hs_timing_flags[series]));
    return true;
}

static bool put_MOVE_FAILURE(size_t series, char *text)
{
    PUT("check=\"%s\",mode=\"%s\"",
        hs_move_check_name((enum hs_move_check)(series / HS_METRICS_MODES)),
        hs_mode_name((enum hs_mode)(series % HS_METRICS_MODES)));
    return true;
}

static bool put_JOURNAL_RESULT(size_t series, char *text)
{
    static const char *const results[] = {"written", "failed", "not_synced"};
    PUT("result=\"%s\"", results[series]);
    return true;
}

static bool put_FILE_RESULT(size_t series, char *text)
{
    return put_JOURNAL_RESULT(series, text);
}

static bool put_RESTORED(size_t series, char *text)
{
    static const char *const results[] = {
#define X(id, label) label,
        HS_RESTORED(X)
#undef X
    };
    PUT("result=\"%s\"", results[series]);
    return true;
}

static void put_restored_name(size_t series, char *text)
{
    static const char *const results[] = {
#define X(id, label) label,
        HS_RESTORED_NAMES(X)
#undef X
    };
    PUT("result=\"%s\"", results[series]);
}

/* Rulesets have no files of their own that could be missing. */
static bool put_RESTORED_RULESET(size_t series, char *text)
{
    put_restored_name(series, text);
    return series != HS_RESTORED_NAME_MISSING;
}

/* No file outside the data directory names a map. */
static bool put_RESTORED_MAP(size_t series, char *text)
{
    put_restored_name(series, text);
    return series != HS_RESTORED_NAME_IS_FILES;
}

static const struct {
    size_t count;
    put_label *put;
} sets[HS_METRIC_LABELS_COUNT] = {
#define X(id, count) {HS_METRIC_SERIES_##id, put_##id},
    HS_METRIC_LABELS(X)
#undef X
};

size_t hs_metrics_series(enum hs_metric_labels labels)
{
    return sets[labels].count;
}

bool hs_metrics_label(enum hs_metric_labels labels, size_t series, char text[HS_METRICS_LABEL_SIZE])
{
    return sets[labels].put(series, text);
}
