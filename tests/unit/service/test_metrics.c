/* The exposition: every series exists from the start, each count goes to the right series, and
   histograms are consistent. */
#include "service/system/version.h"
#include "service/watch/metrics.h"

#include "api/http/problem.h"
#include "tests/support/files.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hs_metrics *metrics;

static const struct {
    enum hs_metric metric;
    size_t series;
    int64_t value;
} readings[] = {
    {HS_METRIC_MATCHES, 0, 2},
    {HS_METRIC_PLAYERS, 0, 30},
    {HS_METRIC_MOVERS, 0, 7},
    {HS_METRIC_HISTORY_BYTES, 0, 4096},
    {HS_METRIC_MAPS, 0, 3},
    {HS_METRIC_MAP_BYTES, 0, 65536},
    {HS_METRIC_MATCHES_LIMIT, 0, 4096},
    {HS_METRIC_MAP_BYTES_LIMIT, 0, 1 << 20},
    {HS_METRIC_WORKERS_STUCK, 0, 2},
    {HS_METRIC_WORKERS_STUCK, 1, 1},
    {HS_METRIC_DRAINING, 0, 1},
    {HS_METRIC_LOG_LINES_DROPPED, 0, 11},
    {HS_METRIC_CHECKPOINT_LAG, 0, 1500000},
    {HS_METRIC_RECORD_QUEUE_BYTES_LIMIT, 0, 1 << 16},
};
static char *text;

static void setup(void)
{
    metrics = hs_metrics_create();
    ck_assert_ptr_nonnull(metrics);
}

static void teardown(void)
{
    hs_metrics_destroy(metrics);
    free(text);
    text = NULL;
}

static void expose(void)
{
    struct hs_buffer out = {0};
    free(text);
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++)
        hs_metrics_set(metrics, readings[i].metric, readings[i].series, readings[i].value);
    hs_metrics_read_process(metrics);
    hs_metrics_write(metrics, &out);
    hs_buffer_append(&out, "", 1);
    ck_assert(!out.failed);
    text = out.data;
}

/* Returns the value of a series. The test fails unless the series exists exactly once. */
static double series(const char *name)
{
    double value = -1;
    int times = 0;
    size_t len = strlen(name);
    for (const char *line = text; line != NULL && *line != '\0';
         line = strchr(line, '\n') == NULL ? NULL : strchr(line, '\n') + 1) {
        if (strncmp(line, name, len) == 0 && line[len] == ' ') {
            value = strtod(line + len, NULL);
            times++;
        }
    }
    ck_assert_msg(times == 1, "%s is there %d times", name, times);
    return value;
}

/* Each metric has its TYPE and HELP once, before its samples. No value is empty, and no sample
   occurs twice. */
START_TEST(exposition_is_well_formed)
{
    expose();
    char seen[HS_METRIC_COUNT][128];
    size_t families = 0;
    char family[128] = "";
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strncmp(line, "# HELP ", 7) == 0) {
            ck_assert_int_eq(sscanf(line, "# HELP %127s", family), 1);
            for (size_t i = 0; i < families; i++)
                ck_assert_str_ne(seen[i], family);
            ck_assert_uint_lt(families, HS_METRIC_COUNT);
            strcpy(seen[families++], family);
        } else if (strncmp(line, "# TYPE ", 7) == 0) {
            ck_assert_int_eq(strncmp(line + 7, family, strlen(family)), 0);
        } else {
            ck_assert_int_eq(strncmp(line, family, strlen(family)), 0);
            const char *value = strrchr(line, ' ');
            char *end = NULL;
            ck_assert_ptr_nonnull(value);
            ck_assert(strtod(value + 1, &end) >= 0);
            ck_assert(end != value + 1 && *end == '\0');
        }
    }
    ck_assert_uint_ge(families, 18);
}
END_TEST

START_TEST(every_series_exists_at_zero)
{
    expose();
    for (int route = 0; route < HS_ROUTE_COUNT; route++) {
        char name[256];
        const char *pattern = hs_route_pattern((enum hs_route)route);
        snprintf(name, sizeof name,
                 "hindsight_http_requests_total{route=\"%s\",method=\"%s\",code=\"200\"}", pattern,
                 hs_method_name(hs_route_method((enum hs_route)route)));
        ck_assert(series(name) == 0);
        snprintf(name, sizeof name, "hindsight_http_request_duration_seconds_count{route=\"%s\"}",
                 pattern);
        ck_assert(series(name) == 0);
    }
    for (int reason = 0; reason < HS_REASON_COUNT; reason++) {
        enum hs_verdict verdict = hs_reason_verdict((enum hs_reason)reason);
        for (int mode = HS_MODE_ENFORCE; mode <= HS_MODE_SHADOW; mode++) {
            char name[256];
            snprintf(name, sizeof name,
                     "hindsight_verdicts_total{kind=\"hit\",verdict=\"%s\",reason=\"%s\","
                     "mode=\"%s\"}",
                     hs_verdict_name(verdict), hs_reason_name((enum hs_reason)reason),
                     hs_mode_name((enum hs_mode)mode));
            if (mode == HS_MODE_ENFORCE || verdict != HS_VERDICT_ACCEPTED)
                ck_assert(series(name) == 0);
        }
    }
    for (int result = 0; result < HS_FRAME_RESULT_COUNT; result++) {
        char name[256];
        snprintf(name, sizeof name, "hindsight_frames_total{result=\"%s\"}",
                 hs_frame_result_name((enum hs_frame_result)result));
        ck_assert(series(name) == 0);
        snprintf(name, sizeof name, "hindsight_mover_frames_total{result=\"%s\"}",
                 hs_frame_result_name((enum hs_frame_result)result));
        ck_assert(series(name) == 0);
    }
    ck_assert(series("hindsight_requests_shed_total{reason=\"body_memory\"}") == 0);
    ck_assert(series("hindsight_requests_shed_total{reason=\"capacity\"}") == 0);
    ck_assert(series("hindsight_build_info{version=\"" HS_VERSION "\"}") == 1);
    ck_assert(series("hindsight_config_last_reload_successful") == 1);
}
END_TEST

/* Counts the series of a metric: the lines that begin with a text. */
static int series_of(const char *beginning)
{
    int count = 0;
    for (const char *line = text; line != NULL && *line != '\0';
         line = strchr(line, '\n') == NULL ? NULL : strchr(line, '\n') + 1)
        count += strncmp(line, beginning, strlen(beginning)) == 0;
    return count;
}

/* Labels have exactly the values of the closed lists: each value has its series, and there are no
   series of other values. */
START_TEST(labels_are_the_closed_lists)
{
    static const char *const kinds[] = {"hit", "shot"};
    int accepting = 0;
    expose();
    for (int reason = 0; reason < HS_REASON_COUNT; reason++)
        accepting += hs_reason_verdict((enum hs_reason)reason) == HS_VERDICT_ACCEPTED;
    for (int kind = 0; kind < HS_VERDICT_OF_COUNT; kind++) {
        char name[256];
        for (int reason = 0; reason < HS_REASON_COUNT; reason++) {
            snprintf(name, sizeof name,
                     "hindsight_verdicts_total{kind=\"%s\",verdict=\"%s\",reason=\"%s\","
                     "mode=\"enforce\"}",
                     kinds[kind], hs_verdict_name(hs_reason_verdict((enum hs_reason)reason)),
                     hs_reason_name((enum hs_reason)reason));
            ck_assert(series(name) == 0);
        }
        for (int flag = 0; flag < HS_FLAG_COUNT; flag++) {
            snprintf(name, sizeof name, "hindsight_verdict_flags_total{kind=\"%s\",flag=\"%s\"}",
                     kinds[kind], hs_flag_name((enum hs_flag)flag));
            ck_assert(series(name) == 0);
        }
    }
    ck_assert_int_eq(series_of("hindsight_verdicts_total{"),
                     HS_VERDICT_OF_COUNT * (2 * HS_REASON_COUNT - accepting));
    ck_assert_int_eq(series_of("hindsight_verdict_flags_total{"),
                     HS_VERDICT_OF_COUNT * HS_FLAG_COUNT);
    for (int reason = 0; reason < HS_MOVE_REASON_COUNT; reason++) {
        char name[256];
        enum hs_verdict verdict = hs_move_reason_verdict((enum hs_move_reason)reason);
        snprintf(name, sizeof name, "hindsight_moves_total{verdict=\"%s\",reason=\"%s\"}",
                 hs_verdict_name(verdict), hs_move_reason_name((enum hs_move_reason)reason));
        ck_assert(series(name) == 0);
    }
    ck_assert_int_eq(series_of("hindsight_moves_total{"), HS_MOVE_REASON_COUNT);
    ck_assert_int_eq(series_of("hindsight_timing_flags_total{"), 3);
    ck_assert_int_eq(series_of("hindsight_move_failures_total{"), 2 * HS_MOVE_CHECK_COUNT);
    ck_assert_int_eq(series_of("hindsight_frames_total{"), HS_FRAME_RESULT_COUNT);
    ck_assert_int_eq(series_of("hindsight_mover_frames_total{"), HS_FRAME_RESULT_COUNT);
}
END_TEST

START_TEST(counts_go_where_they_belong)
{
    hs_metrics_http(metrics, HS_ROUTE_HITS_POST, 200, 0.0001);
    hs_metrics_http(metrics, HS_ROUTE_HITS_POST, 200, 0.0002);
    hs_metrics_http(metrics, HS_ROUTE_HITS_POST, 400, 2.0);
    hs_metrics_http(metrics, HS_METRICS_NO_ROUTE, 404, 0.001);
    hs_metrics_http(metrics, HS_METRICS_NO_ROUTE, 418, 0.001);
    hs_metrics_verdict(metrics, HS_VERDICT_OF_HIT, HS_VERDICT_REJECTED, HS_REASON_NO_INTERSECTION,
                       HS_MODE_ENFORCE);
    hs_metrics_verdict(metrics, HS_VERDICT_OF_HIT, HS_VERDICT_REJECTED, HS_REASON_NO_INTERSECTION,
                       HS_MODE_SHADOW);
    hs_metrics_verdict(metrics, HS_VERDICT_OF_HIT, HS_VERDICT_REJECTED, HS_REASON_NO_INTERSECTION,
                       HS_MODE_SHADOW);
    hs_metrics_verdict(metrics, HS_VERDICT_OF_HIT, HS_VERDICT_REJECTED, HS_REASON_NO_INTERSECTION,
                       HS_MODE_OFF);
    hs_metrics_flags(metrics, HS_VERDICT_OF_SHOT,
                     1u << HS_FLAG_DURING_BURST | 1u << HS_FLAG_LENIENT);
    hs_metrics_flags(metrics, HS_VERDICT_OF_SHOT, 1u << HS_FLAG_DURING_BURST);
    hs_metrics_add(metrics, HS_METRIC_FRAMES, HS_FRAME_STORED, 64);
    hs_metrics_add(metrics, HS_METRIC_MOVER_FRAMES, HS_FRAME_STORED, 5);
    hs_metrics_add(metrics, HS_METRIC_MOVER_FRAMES, HS_FRAME_CAPACITY, 2);
    hs_metrics_move(metrics, HS_VERDICT_ACCEPTED, HS_MOVE_OK, 1u << HS_MOVE_CHECK_SPEED);
    hs_metrics_move(metrics, HS_VERDICT_REJECTED, HS_MOVE_FAST_CLOCK_PROVEN,
                    1u << HS_MOVE_CHECK_FAST_CLOCK_PROVEN | 1u << HS_MOVE_CHECK_SPEED);
    hs_metrics_move_failure(metrics, HS_MOVE_CHECK_SPEED, HS_MODE_SHADOW);
    hs_metrics_move_failure(metrics, HS_MOVE_CHECK_SPEED, HS_MODE_SHADOW);
    hs_metrics_move_failure(metrics, HS_MOVE_CHECK_SPEED, HS_MODE_OFF);
    hs_metrics_add(metrics, HS_METRIC_SHED, HS_SHED_CAPACITY, 1);
    hs_metrics_add(metrics, HS_METRIC_INFLIGHT, 0, 1);
    hs_metrics_add(metrics, HS_METRIC_INFLIGHT, 0, 1);
    hs_metrics_add(metrics, HS_METRIC_INFLIGHT, 0, -1);
    hs_metrics_reload(metrics, false);
    hs_metrics_add(metrics, HS_METRIC_CONNECTIONS, 0, 1);
    hs_metrics_add(metrics, HS_METRIC_CONNECTIONS, 0, 1);
    hs_metrics_add(metrics, HS_METRIC_CONNECTIONS, 0, -1);
    hs_metrics_set(metrics, HS_METRIC_CONNECTIONS_LIMIT, 0, 4096);
    hs_metrics_set(metrics, HS_METRIC_CONNECTIONS_LIMIT, 1, 256);
    expose();
#define HITS  "hindsight_http_requests_total{route=\"/v1/matches/{match}/hits\",method=\"POST\","
#define OTHER "hindsight_http_requests_total{route=\"other\",method=\"other\","
#define MISS                                                                                       \
    "hindsight_verdicts_total{kind=\"hit\",verdict=\"rejected\",reason=\"no_intersection\","
    ck_assert(series(HITS "code=\"200\"}") == 2);
    ck_assert(series(HITS "code=\"400\"}") == 1);
    ck_assert(series(HITS "code=\"404\"}") == 0);
    ck_assert(series(OTHER "code=\"404\"}") == 1);
    ck_assert(series(OTHER "code=\"other\"}") == 1);
    ck_assert(series(MISS "mode=\"enforce\"}") == 1);
    ck_assert(series(MISS "mode=\"shadow\"}") == 2);
    ck_assert(series("hindsight_verdict_flags_total{kind=\"shot\",flag=\"during_burst\"}") == 2);
    ck_assert(series("hindsight_verdict_flags_total{kind=\"shot\",flag=\"lenient\"}") == 1);
    ck_assert(series("hindsight_verdict_flags_total{kind=\"hit\",flag=\"during_burst\"}") == 0);
    ck_assert(series("hindsight_frames_total{result=\"stored\"}") == 64);
    ck_assert(series("hindsight_frames_total{result=\"capacity\"}") == 0);
    ck_assert(series("hindsight_mover_frames_total{result=\"stored\"}") == 5);
    ck_assert(series("hindsight_mover_frames_total{result=\"capacity\"}") == 2);
#define MOVES "hindsight_moves_total{verdict="
    ck_assert(series(MOVES "\"accepted\",reason=\"ok\"}") == 1);
    ck_assert(series(MOVES "\"rejected\",reason=\"fast_clock_proven\"}") == 1);
    ck_assert(series("hindsight_timing_flags_total{flag=\"fast_clock_proven\"}") == 1);
    ck_assert(series("hindsight_timing_flags_total{flag=\"timing_discrepancy\"}") == 0);
    ck_assert(series("hindsight_move_failures_total{check=\"speed\",mode=\"shadow\"}") == 2);
    ck_assert(series("hindsight_move_failures_total{check=\"speed\",mode=\"enforce\"}") == 0);
    ck_assert(series("hindsight_requests_shed_total{reason=\"capacity\"}") == 1);
    ck_assert(series("hindsight_http_inflight_requests") == 1);
    ck_assert(series("hindsight_config_last_reload_successful") == 0);
    ck_assert(series("hindsight_matches_active") == 2);
    ck_assert(series("hindsight_players_active") == 30);
    ck_assert(series("hindsight_movers_active") == 7);
    ck_assert(series("hindsight_history_bytes") == 4096);
    ck_assert(series("hindsight_maps") == 3);
    ck_assert(series("hindsight_map_bytes") == 65536);
    ck_assert(series("hindsight_matches_limit") == 4096);
    ck_assert(series("hindsight_map_bytes_limit") == 1u << 20);
    ck_assert(series("hindsight_record_queue_bytes_limit") == 1u << 16);
    ck_assert(series("hindsight_workers_stuck{listener=\"data\"}") == 2);
    ck_assert(series("hindsight_workers_stuck{listener=\"admin\"}") == 1);
    ck_assert(series("hindsight_draining") == 1);
    ck_assert(series("hindsight_checkpoint_lag_seconds") == 1.5);
    ck_assert(series("hindsight_log_lines_dropped_total") == 11);
    ck_assert(series("hindsight_http_connections{listener=\"data\"}") == 1);
    ck_assert(series("hindsight_http_connections{listener=\"admin\"}") == 0);
    ck_assert(series("hindsight_http_connections_limit{listener=\"data\"}") == 4096);
    ck_assert(series("hindsight_http_connections_limit{listener=\"admin\"}") == 256);
    ck_assert(series("process_resident_memory_bytes") > 100000);
    ck_assert(series("process_virtual_memory_bytes") > series("process_resident_memory_bytes"));
    ck_assert(series("hindsight_memory_limit_bytes") > series("process_resident_memory_bytes"));
    ck_assert(series("process_threads") >= 1);
    ck_assert(series("process_cpu_seconds_total") >= 0);
    ck_assert(series("process_open_fds") >= 3);
    ck_assert(series("process_start_time_seconds") > 1.6e9);
}
END_TEST

/* The status of every problem has its own series. */
START_TEST(codes_cover_the_problems)
{
    for (int i = HS_PROBLEM_NONE; i < HS_PROBLEM_COUNT; i++)
        hs_metrics_http(metrics, HS_ROUTE_LIVEZ, hs_problem_status((enum hs_problem_code)i), 0);
    hs_metrics_http(metrics, HS_ROUTE_LIVEZ, 201, 0);
    expose();
    ck_assert(series("hindsight_http_requests_total{route=\"/livez\",method=\"GET\","
                     "code=\"other\"}") == 0);
    ck_assert(series("hindsight_http_requests_total{route=\"/livez\",method=\"GET\","
                     "code=\"201\"}") == 1);
}
END_TEST

/* Two methods of one path share a histogram, because its label is the path. */
START_TEST(durations_are_by_path)
{
    hs_metrics_http(metrics, HS_ROUTE_MATCH_PUT, 201, 0.00005);
    hs_metrics_http(metrics, HS_ROUTE_MATCH_GET, 200, 0.00006);
    hs_metrics_http(metrics, HS_ROUTE_MATCH_DELETE, 200, 3);
    expose();
#define DURATION "hindsight_http_request_duration_seconds"
#define MATCH    "route=\"/v1/matches/{match}\""
    ck_assert(series(DURATION "_bucket{" MATCH ",le=\"5e-05\"}") == 1);
    ck_assert(series(DURATION "_bucket{" MATCH ",le=\"0.0001\"}") == 2);
    ck_assert(series(DURATION "_bucket{" MATCH ",le=\"1\"}") == 2);
    ck_assert(series(DURATION "_bucket{" MATCH ",le=\"+Inf\"}") == 3);
    ck_assert(series(DURATION "_count{" MATCH "}") == 3);
    ck_assert_double_eq_tol(series(DURATION "_sum{" MATCH "}"), 3.00011, 1e-9);
}
END_TEST

START_TEST(histograms_take_any_number)
{
    hs_metrics_observe(metrics, HS_METRIC_STAGE, HS_STAGE_JUDGE, 0);
    hs_metrics_observe(metrics, HS_METRIC_STAGE, HS_STAGE_JUDGE, -1);
    hs_metrics_observe(metrics, HS_METRIC_STAGE, HS_STAGE_JUDGE, 1e-6);
    hs_metrics_observe(metrics, HS_METRIC_STAGE, HS_STAGE_JUDGE, 1.1e-6);
    hs_metrics_observe(metrics, HS_METRIC_STAGE, HS_STAGE_JUDGE, 1000);
    hs_metrics_observe(metrics, HS_METRIC_REWIND_AGE, 0, -0.01);
    hs_metrics_observe(metrics, HS_METRIC_REWIND_AGE, 0, 0.25);
    hs_metrics_observe(metrics, HS_METRIC_REWIND_AGE, 0, 2.5);
    expose();
#define STAGE "hindsight_verify_duration_seconds"
    ck_assert(series(STAGE "_bucket{stage=\"judge\",le=\"1e-06\"}") == 3);
    ck_assert(series(STAGE "_bucket{stage=\"judge\",le=\"2e-06\"}") == 4);
    ck_assert(series(STAGE "_count{stage=\"judge\"}") == 5);
    ck_assert_double_eq_tol(series(STAGE "_sum{stage=\"judge\"}"), 1000.0000021, 1e-8);
    ck_assert(series(STAGE "_count{stage=\"decode\"}") == 0);
    ck_assert(series(STAGE "_count{stage=\"lock\"}") == 0);
    ck_assert(series(STAGE "_count{stage=\"encode\"}") == 0);
    ck_assert(series("hindsight_rewind_age_seconds_bucket{le=\"0.01\"}") == 1);
    ck_assert(series("hindsight_rewind_age_seconds_bucket{le=\"0.2\"}") == 1);
    ck_assert(series("hindsight_rewind_age_seconds_bucket{le=\"0.25\"}") == 2);
    ck_assert(series("hindsight_rewind_age_seconds_bucket{le=\"2\"}") == 2);
    ck_assert(series("hindsight_rewind_age_seconds_bucket{le=\"+Inf\"}") == 3);
}
END_TEST

enum { THREADS = 4, ROUNDS = 20000 };

/* Adds to counters. Every second thread has its own cells. */
static void *hammer(void *context)
{
    static atomic_uint threads;
    if (atomic_fetch_add(&threads, 1) % 2 != 0)
        hs_metrics_enter(context);
    for (int i = 0; i < ROUNDS; i++) {
        hs_metrics_http(context, HS_ROUTE_LIVEZ, 200, 1e-3);
        hs_metrics_add(context, HS_METRIC_INFLIGHT, 0, i % 2 == 0 ? 1 : -1);
    }
    hs_metrics_leave();
    return NULL;
}

START_TEST(nothing_is_lost_between_threads)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer, metrics), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    expose();
    ck_assert(
        series("hindsight_http_requests_total{route=\"/livez\",method=\"GET\",code=\"200\"}") ==
        THREADS * ROUNDS);
    ck_assert(series("hindsight_http_inflight_requests") == 0);
    ck_assert_double_eq_tol(series(DURATION "_sum{route=\"/livez\"}"), THREADS * ROUNDS * 1e-3,
                            1e-6);
}
END_TEST

/* ---- the page for operators ---- */

#define PAGE "docs/observability.md"

/* Writes the names of the labels of a metric's first sample, except `le`, which every histogram
   has. */
static void put_label_names(FILE *out, const char *sample)
{
    const char *end = sample + strcspn(sample, "\n"), *comma = " ";
    for (const char *at = sample; (at = memchr(at, '"', (size_t)(end - at))) != NULL;) {
        const char *name = at - 1;
        while (name[-1] != '{' && name[-1] != ',')
            name--;
        int len = (int)(at - 1 - name);
        if (strncmp(name, "le=", 3) != 0)
            fprintf(out, "%s`%.*s`", comma, len, name);
        comma = ", ";
        at += strcspn(at + 1, "\"") + 2; /* skip the value */
    }
}

/* Makes the table of metrics from the exposition. The caller frees it. */
static char *make_table(void)
{
    char *table = NULL, name[128], type[16];
    size_t size;
    FILE *out = open_memstream(&table, &size);
    fputs("| metric | type | labels | meaning |\n|---|---|---|---|\n", out);
    for (const char *line = text; (line = strstr(line, "# HELP ")) != NULL; line++) {
        int help = 0;
        ck_assert_int_eq(sscanf(line, "# HELP %127s %n", name, &help), 1);
        const char *next = strstr(line, "\n# TYPE ");
        ck_assert_ptr_nonnull(next);
        ck_assert_int_eq(sscanf(next, "\n# TYPE %*s %15s", type), 1);
        fprintf(out, "| `%s` | %s |", name, type);
        put_label_names(out, strchr(next + 1, '\n') + 1);
        fprintf(out, " | %.*s |\n", (int)(next - line) - help, line + help);
    }
    fclose(out);
    return table;
}

/* The table of the page must equal the exposition. If HS_WRITE_PAGES is set, the test writes the
   page instead (make docs). */
START_TEST(the_page_has_every_metric)
{
    char *page = hs_test_read_file(PAGE, NULL);
    expose();
    char *table = make_table();
    char *begin = strstr(page, "<!-- metrics: begin -->\n"),
         *end = strstr(page, "<!-- metrics: end");
    ck_assert(begin != NULL && end != NULL);
    begin = strchr(begin, '\n') + 1;
    bool same = strlen(table) == (size_t)(end - begin) && strncmp(begin, table, strlen(table)) == 0;
    if (!same && getenv("HS_WRITE_PAGES") != NULL) {
        FILE *file = fopen(PAGE, "w");
        ck_assert_ptr_nonnull(file);
        fprintf(file, "%.*s%s%s", (int)(begin - page), page, table, end);
        fclose(file);
        same = true;
    }
    ck_assert_msg(same, PAGE " is not up to date: make docs");
    free(table);
    free(page);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("metrics");
    TCase *tests = tcase_create("exposition");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, exposition_is_well_formed);
    tcase_add_test(tests, every_series_exists_at_zero);
    tcase_add_test(tests, labels_are_the_closed_lists);
    tcase_add_test(tests, counts_go_where_they_belong);
    tcase_add_test(tests, codes_cover_the_problems);
    tcase_add_test(tests, durations_are_by_path);
    tcase_add_test(tests, histograms_take_any_number);
    tcase_add_test(tests, nothing_is_lost_between_threads);
    tcase_add_test(tests, the_page_has_every_metric);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
