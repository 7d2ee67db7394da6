/* GET /v1/events: a stream of verdicts as they happen, what it filters, and how it resumes and
   ends. */
#include <check.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/delivery/events.h"
#include "tests/integration/stream_reader.h"
#include "tests/support/clock.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/play/verdict_source.h"
#include "tests/support/run_suite.h"

static struct hs_test_kept kept;

static void start(const char *const *more)
{
    hs_kept_setup(&kept);
    hs_kept_start(&kept, more);
}

static void stop(void)
{
    hs_kept_stop(&kept);
    hs_kept_teardown(&kept);
}

/* Most tests need no evidence store. With many verdicts, the store would take most of the time. */
static const char *const without_store[] = {"--evidence", "off", NULL};

static void setup(void)
{
    start(without_store);
    hs_source_open(kept.http, "m", NULL);
}

static void open_stream(struct hs_stream_reader *stream, const char *query)
{
    hs_stream_open(stream, kept.service.admin_port, query, 0, NULL, 0);
    hs_stream_expect_start(stream);
}

static void post(enum hs_source_claim claim, int first, int count)
{
    hs_source_post(kept.http, "m", NULL, claim, first, count);
}

static void restart(const char *const *more)
{
    hs_kept_stop(&kept);
    hs_kept_start(&kept, more);
}

/* Waits until the process has ended after its signal. A second signal would end it before it has
   finished. */
static void await_end(void)
{
    siginfo_t info;
    ck_assert_int_eq(waitid(P_PID, (id_t)kept.service.pid, &info, WEXITED | WNOWAIT), 0);
}

/* Posts many rejected claims. */
static void post_many(int first, int thousands)
{
    for (int i = 0; i < thousands; i++)
        post(HS_SOURCE_SHORT, first + 1000 * i, 1000);
}

static bool metric_becomes(const char *name, double value)
{
    for (int tries = 0; tries < 2000; tries++) {
        if (hs_kept_metric(&kept, name) == value)
            return true;
        hs_test_pause_ms(10);
    }
    return false;
}

/* ---- what a stream has ---- */

/* Waits until the store has `count` verdicts, and returns them, the newest first. */
static json_t *stored(size_t count)
{
    for (int tries = 0; tries < 1000; tries++) {
        char *answer;
        hs_kept_send(&kept, "GET", "/v1/verdicts", NULL, &answer);
        json_t *root = json_loads(answer, 0, NULL);
        json_t *list = json_incref(json_object_get(root, "verdicts"));
        json_decref(root);
        free(answer);
        if (json_array_size(list) == count)
            return list;
        json_decref(list);
        hs_test_pause_ms(10);
    }
    ck_abort_msg("the store does not have %zu verdicts", count);
}

START_TEST(verdicts_come_in_order_and_as_they_are_stored)
{
    enum { COUNT = 6 };
    struct hs_stream_reader stream;
    struct hs_stream_block blocks[COUNT];
    restart(NULL);
    open_stream(&stream, "?verdict=rejected,inconclusive");
    ck_assert_ptr_nonnull(strstr(stream.head, "\r\nContent-Type: text/event-stream\r\n"));
    ck_assert_ptr_nonnull(strstr(stream.head, "\r\nCache-Control: no-store\r\n"));
    ck_assert_ptr_nonnull(strstr(stream.head, "\r\nX-Request-Id: "));
    post(HS_SOURCE_SHORT, 1, 3);
    post(HS_SOURCE_FAR, 4, 2);
    post(HS_SOURCE_BARE, 1, 1);
    for (int i = 0; i < COUNT; i++) {
        hs_stream_expect(&stream, "verdict", &blocks[i]);
        if (i > 0)
            ck_assert_uint_eq(blocks[i].id, blocks[i - 1].id + 1);
    }
    json_t *list = stored(COUNT);
    for (int i = 0; i < COUNT; i++) {
        const json_t *row = json_array_get(list, (size_t)(COUNT - 1 - i));
        ck_assert_msg(json_equal(row, blocks[i].data), "%s differs from %s", json_dumps(row, 0),
                      json_dumps(blocks[i].data, 0));
        json_decref(blocks[i].data);
    }
    json_decref(list);
    hs_stream_close(&stream);
}
END_TEST

START_TEST(a_retry_is_no_second_event)
{
    struct hs_stream_reader stream;
    open_stream(&stream, "");
    post(HS_SOURCE_SHORT, 1, 1);
    post(HS_SOURCE_SHORT, 1, 1);
    post(HS_SOURCE_FAR, 2, 1);
    unsigned long long first = hs_stream_expect_reason(&stream, "degenerate_trace");
    ck_assert_uint_eq(hs_stream_expect_reason(&stream, "coordinate_out_of_world"), first + 1);
    hs_stream_close(&stream);
}
END_TEST

/* The reasons of the verdicts that pass a filter. The claims are, in order: a short trace, a far
   one, one without a weapon, and two fine ones. A check in shadow mode would reject the second fine
   one. The last claim is a short trace in another match. */
static const struct {
    const char *query, *reasons[6];
} filters[] = {
    {"", {"degenerate_trace", "coordinate_out_of_world", "degenerate_trace"}},
    {"?verdict=rejected", {"degenerate_trace", "coordinate_out_of_world", "degenerate_trace"}},
    {"?verdict=inconclusive", {"no_weapon"}},
    {"?verdict=shadow_rejected", {"ok"}},
    {"?verdict=inconclusive%2Cshadow_rejected%2crejected",
     {"degenerate_trace", "coordinate_out_of_world", "no_weapon", "ok", "degenerate_trace"}},
    {"?reason=coordinate_out_of_world", {"coordinate_out_of_world"}},
    {"?reason=fire_rate&verdict=shadow_rejected,rejected", {"ok"}},
    {"?match=other", {"degenerate_trace"}},
    {"?match=m&reason=degenerate_trace", {"degenerate_trace"}},
};

START_TEST(filters_pass_what_they_name)
{
    struct hs_stream_reader stream, all;
    hs_source_open(kept.http, "other", NULL);
    open_stream(&stream, filters[_i].query);
    open_stream(&all, "?verdict=inconclusive,shadow_rejected,rejected");
    post(HS_SOURCE_SHORT, 1, 1);
    post(HS_SOURCE_FAR, 2, 1);
    post(HS_SOURCE_BARE, 1, 1);
    post(HS_SOURCE_FINE, 3, 2);
    hs_source_post(kept.http, "other", NULL, HS_SOURCE_SHORT, 1, 1);
    for (size_t i = 0; filters[_i].reasons[i] != NULL; i++) {
        struct hs_stream_block block;
        hs_stream_expect(&stream, "verdict", &block);
        ck_assert_str_eq(json_string_value(json_object_get(block.data, "reason")),
                         filters[_i].reasons[i]);
        const json_t *shadows = json_object_get(block.data, "would_reject");
        ck_assert_int_eq(strcmp(filters[_i].reasons[i], "ok") == 0, shadows != NULL);
        if (shadows != NULL)
            ck_assert_str_eq(json_string_value(json_array_get(shadows, 0)), "fire_rate");
        json_decref(block.data);
    }
    /* This verdict was added last, so the stream has nothing after it. */
    hs_stream_expect_reason(&all, "degenerate_trace");
    hs_stream_close(&all);
    kill(kept.service.pid, SIGTERM);
    struct hs_stream_block block;
    ck_assert(!hs_stream_read(&stream, &block));
    ck_assert(stream.has_ended);
    hs_stream_close(&stream);
    await_end();
}
END_TEST

static const char *const bad[] = {
    "?verdict=accepted", "?verdict=",    "?verdict=rejected,",
    "?reason=none",      "?match=a%20b", "?match=",
};

START_TEST(bad_filters_are_refused)
{
    struct hs_stream_reader stream;
    hs_stream_open(&stream, kept.service.admin_port, bad[_i], 0, NULL, 0);
    ck_assert_int_eq(stream.status, 400);
    hs_stream_close(&stream);
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_event_streams"), 0);
}
END_TEST

static const char *const bad_ids[] = {"Last-Event-ID: x", "Last-Event-ID: -1", "Last-Event-ID: 1x",
                                      "Last-Event-ID: 99999999999999999999"};

START_TEST(bad_ids_are_refused)
{
    struct hs_stream_reader stream;
    hs_stream_open(&stream, kept.service.admin_port, "", 0, bad_ids[_i], 0);
    ck_assert_int_eq(stream.status, 400);
    hs_stream_close(&stream);
}
END_TEST

START_TEST(only_the_admin_listener_has_streams)
{
    ck_assert_int_eq(hs_test_http_status(kept.service.data_port, "GET", "/v1/events", NULL), 404);
    ck_assert_int_eq(hs_test_http_status(kept.service.admin_port, "HEAD", "/v1/events", NULL), 200);
    ck_assert(metric_becomes("hindsight_event_streams", 0));
}
END_TEST

/* ---- resuming ---- */

START_TEST(a_stream_resumes_after_the_last_event)
{
    struct hs_stream_reader stream;
    unsigned long long ids[5];
    open_stream(&stream, "");
    post(HS_SOURCE_SHORT, 1, 3);
    for (int i = 0; i < 3; i++)
        ids[i] = hs_stream_expect_reason(&stream, "degenerate_trace");
    hs_stream_close(&stream);
    post(HS_SOURCE_FAR, 4, 1);
    hs_stream_open(&stream, kept.service.admin_port, "", ids[1], NULL, 0);
    ck_assert_uint_eq(hs_stream_expect_reason(&stream, "degenerate_trace"), ids[2]);
    ids[3] = hs_stream_expect_reason(&stream, "coordinate_out_of_world");
    ck_assert_uint_eq(ids[3], ids[2] + 1);
    post(HS_SOURCE_FAR, 5, 1);
    ck_assert_uint_eq(hs_stream_expect_reason(&stream, "coordinate_out_of_world"), ids[3] + 1);
    hs_stream_close(&stream);
}
END_TEST

START_TEST(a_gap_has_the_number_of_missed_verdicts)
{
    struct hs_stream_reader stream;
    struct hs_stream_block block;
    hs_stream_open(&stream, kept.service.admin_port, "?reason=coordinate_out_of_world", 0, NULL, 0);
    unsigned long long start_id = hs_stream_expect_start(&stream);
    hs_stream_close(&stream);
    post(HS_SOURCE_FAR, 1, 10); /* the ring loses these, and a part of the others */
    post_many(11, 5);
    post(HS_SOURCE_FAR, 5011, 1);
    hs_stream_open(&stream, kept.service.admin_port, "?reason=coordinate_out_of_world", start_id,
                   NULL, 0);
    hs_stream_expect(&stream, "gap", &block);
    unsigned long long missed = 5011 - HS_EVENTS_KEPT;
    ck_assert_int_eq(json_integer_value(json_object_get(block.data, "missed")), (long long)missed);
    ck_assert_uint_eq(block.id, start_id + missed);
    json_decref(block.data);
    ck_assert_uint_eq(hs_stream_expect_reason(&stream, "coordinate_out_of_world"), start_id + 5011);
    hs_stream_close(&stream);
    /* A stream that resumes after the id of a gap gets no second gap. */
    hs_stream_open(&stream, kept.service.admin_port, "?reason=coordinate_out_of_world", block.id,
                   NULL, 0);
    hs_stream_expect_reason(&stream, "coordinate_out_of_world");
    hs_stream_close(&stream);
}
END_TEST

START_TEST(after_a_restart_the_gap_is_unknown)
{
    struct hs_stream_reader stream;
    struct hs_stream_block block;
    open_stream(&stream, "");
    post(HS_SOURCE_SHORT, 1, 1);
    unsigned long long id = hs_stream_expect_reason(&stream, "degenerate_trace");
    hs_stream_close(&stream);
    restart(without_store);
    hs_stream_open(&stream, kept.service.admin_port, "", id, NULL, 0);
    hs_stream_expect(&stream, "gap", &block);
    ck_assert(json_is_null(json_object_get(block.data, "missed")));
    ck_assert_uint_gt(block.id, id);
    json_decref(block.data);
    post(HS_SOURCE_FAR, 2, 1);
    ck_assert_uint_eq(hs_stream_expect_reason(&stream, "coordinate_out_of_world"), block.id + 1);
    hs_stream_close(&stream);
}
END_TEST

/* ---- many streams, slow streams, silent streams ---- */

START_TEST(a_slow_reader_is_dropped)
{
    struct hs_stream_reader slow, fast;
    hs_stream_open(&slow, kept.service.admin_port, "", 0, NULL, 4096);
    open_stream(&fast, "?reason=coordinate_out_of_world");
    for (int i = 0; i < 60; i++) {
        post_many(1 + 1000 * i, 1);
        if (hs_kept_metric(&kept, "hindsight_event_streams_dropped_total") > 0)
            break;
    }
    ck_assert(metric_becomes("hindsight_event_streams_dropped_total", 1));
    ck_assert(metric_becomes("hindsight_event_streams", 1));
    hs_stream_close(&slow);
    post(HS_SOURCE_FAR, 100000, 1);
    hs_stream_expect_reason(&fast, "coordinate_out_of_world");
    hs_stream_close(&fast);
}
END_TEST

START_TEST(streams_are_bounded)
{
    struct hs_stream_reader streams[HS_EVENTS_STREAMS], more;
    for (int i = 0; i < HS_EVENTS_STREAMS; i++)
        open_stream(&streams[i], "");
    ck_assert_double_eq(hs_kept_metric(&kept, "hindsight_event_streams"), HS_EVENTS_STREAMS);
    hs_stream_open(&more, kept.service.admin_port, "", 0, NULL, 0);
    ck_assert_int_eq(more.status, 503);
    ck_assert_ptr_nonnull(strstr(more.head, "\r\nRetry-After: "));
    hs_stream_close(&more);
    post(HS_SOURCE_SHORT, 1, 1);
    for (int i = 0; i < HS_EVENTS_STREAMS; i++)
        hs_stream_expect_reason(&streams[i], "degenerate_trace");
    for (int i = 0; i < HS_EVENTS_STREAMS; i++)
        hs_stream_close(&streams[i]);
    /* The service notices the end of silent streams soon, not at their next heartbeat. */
    double before = hs_test_seconds();
    ck_assert(metric_becomes("hindsight_event_streams", 0));
    ck_assert_double_lt(hs_test_seconds() - before, 10);
    open_stream(&more, "");
    hs_stream_close(&more);
}
END_TEST

START_TEST(silent_streams_stay_open)
{
    static const char *const impatient[] = {"--idle-seconds", "1", NULL};
    struct hs_stream_reader stream;
    struct hs_stream_block block;
    restart(impatient);
    hs_stream_open(&stream, kept.service.admin_port, "", 0, NULL, 0);
    unsigned long long id = hs_stream_expect_start(&stream);
    double before = hs_test_seconds();
    ck_assert(hs_stream_read(&stream, &block));
    ck_assert_str_eq(block.comment, ": heartbeat");
    ck_assert_uint_eq(block.id, id);
    ck_assert_double_gt(hs_test_seconds() - before, 14);
    hs_stream_close(&stream);
}
END_TEST

/* ---- the end ---- */

START_TEST(a_drain_ends_streams_cleanly)
{
    static const char *const slowly[] = {"--drain-wait-seconds", "2", NULL};
    struct hs_stream_reader stream;
    struct hs_stream_block block;
    restart(slowly);
    open_stream(&stream, "");
    kill(kept.service.pid, SIGTERM);
    while (hs_test_http_status(kept.service.admin_port, "GET", "/readyz", NULL) != 404)
        hs_test_pause_ms(5);
    post(HS_SOURCE_SHORT, 1, 2); /* the service still serves */
    hs_stream_expect_reason(&stream, "degenerate_trace");
    hs_stream_expect_reason(&stream, "degenerate_trace");
    ck_assert(!hs_stream_read(&stream, &block));
    ck_assert(stream.has_ended && !stream.is_cut);
    hs_stream_close(&stream);
    await_end();
}
END_TEST

/* A client that reads nothing does not delay the end of the service. */
START_TEST(a_stuck_stream_does_not_delay_the_end)
{
    struct hs_stream_reader slow;
    hs_stream_open(&slow, kept.service.admin_port, "", 0, NULL, 4096);
    post_many(1, 4); /* fewer than the ring has, but more than a small socket buffer takes */
    double before = hs_test_seconds();
    hs_kept_stop(&kept);
    ck_assert_double_lt(hs_test_seconds() - before, 8);
    hs_stream_close(&slow);
    hs_kept_start(&kept, NULL);
}
END_TEST

/* ---- tenants ---- */

START_TEST(tenants_see_their_own_verdicts)
{
    static struct hs_test_token tokens[] = {
        {.tenant = "acme", .kid = "a", .scopes = "\"admin\""},
        {.tenant = "zeta", .kid = "a", .scopes = "\"admin\""},
        {.tenant = "zeta", .kid = "b", .scopes = "\"ingest\",\"verify\""},
    };
    struct hs_stream_reader acme, zeta, refused;
    char path[128];
    hs_kept_setup(&kept);
    snprintf(path, sizeof path, "%s/tokens.json", kept.directory);
    hs_test_tokens_write(path, tokens, 3);
    hs_kept_start_with(&kept, "--token-file", path);
    hs_source_open(kept.http, "acme-m", tokens[0].header);
    hs_source_open(kept.http, "zeta-m", tokens[1].header);
    hs_stream_open(&refused, kept.service.admin_port, "", 0, NULL, 0);
    ck_assert_int_eq(refused.status, 401);
    hs_stream_close(&refused);
    hs_stream_open(&refused, kept.service.admin_port, "", 0, tokens[2].header, 0);
    ck_assert_int_eq(refused.status, 403);
    hs_stream_close(&refused);
    hs_stream_open(&acme, kept.service.admin_port, "", 0, tokens[0].header, 0);
    unsigned long long acme_id = hs_stream_expect_start(&acme);
    hs_stream_open(&zeta, kept.service.admin_port, "", 0, tokens[1].header, 0);
    unsigned long long zeta_id = hs_stream_expect_start(&zeta);
    hs_source_post(kept.http, "acme-m", tokens[0].header, HS_SOURCE_SHORT, 1, 5);
    hs_source_post(kept.http, "zeta-m", tokens[1].header, HS_SOURCE_FAR, 1, 1);
    hs_source_post(kept.http, "acme-m", tokens[0].header, HS_SOURCE_FAR, 6, 1);
    /* The numbers of events also reveal nothing about other tenants. */
    ck_assert_uint_eq(hs_stream_expect_reason(&zeta, "coordinate_out_of_world"), zeta_id + 1);
    for (unsigned i = 1; i <= 5; i++)
        ck_assert_uint_eq(hs_stream_expect_reason(&acme, "degenerate_trace"), acme_id + i);
    ck_assert_uint_eq(hs_stream_expect_reason(&acme, "coordinate_out_of_world"), acme_id + 6);
    hs_stream_close(&acme);
    hs_stream_close(&zeta);
    stop();
}
END_TEST

static struct hs_subscription *subscribe(struct hs_events *events, int tenant, uint64_t after)
{
    static const struct hs_event_filter all = {.kinds = UINT_MAX, .reason = HS_REASON_COUNT};
    char name[16];
    snprintf(name, sizeof name, "t%d", tenant);
    struct hs_subscription *stream = hs_events_subscribe(events, hs_str_of(name), &all, after);
    ck_assert_msg(stream != NULL, "%s", name);
    return stream;
}

/* Streams one after another, of more tenants than can have a ring, while one stream stays open. The
   tenant whose stream ended first loses its ring, and gets a gap later. */
START_TEST(any_number_of_tenants_has_streams)
{
    struct hs_events *events = hs_events_create();
    struct hs_subscription_next next;
    ck_assert_ptr_nonnull(events);
    struct hs_subscription *open = subscribe(events, 0, 0);
    ck_assert_int_eq(hs_subscription_next(open, &next), HS_SUBSCRIPTION_NONE);
    uint64_t last = next.number;
    for (int i = 1; i < HS_EVENTS_RINGS + 10; i++)
        hs_events_unsubscribe(subscribe(events, i, 0));
    ck_assert_int_eq(hs_subscription_next(open, &next), HS_SUBSCRIPTION_NONE);
    ck_assert_uint_eq(next.number, last);
    ck_assert(hs_events_want(events, HS_STR("t0")));
    ck_assert(!hs_events_want(events, HS_STR("t10")));
    ck_assert(hs_events_want(events, HS_STR("t11")));
    struct hs_subscription *again = subscribe(events, 10, last);
    ck_assert_int_eq(hs_subscription_next(again, &next), HS_SUBSCRIPTION_GAP);
    ck_assert(!next.is_counted);
    ck_assert_uint_gt(next.number, last);
    ck_assert_int_eq(hs_subscription_next(again, &next), HS_SUBSCRIPTION_NONE);
    hs_events_unsubscribe(again);
    hs_events_unsubscribe(open);
    hs_events_destroy(events);
}
END_TEST

/* A stream may stay open for days, so its token is checked again and again. */
START_TEST(a_stream_ends_with_its_token)
{
    static struct hs_test_token tokens[] = {
        {.tenant = "acme", .kid = "a", .scopes = "\"admin\""},
        {.tenant = "acme", .kid = "b", .scopes = "\"admin\""},
    };
    struct hs_stream_reader stays, ends;
    struct hs_stream_block block;
    char path[128];
    hs_kept_setup(&kept);
    snprintf(path, sizeof path, "%s/tokens.json", kept.directory);
    hs_test_tokens_write(path, tokens, 2);
    hs_kept_start_with(&kept, "--token-file", path);
    hs_source_open(kept.http, "m", tokens[0].header);
    hs_stream_open(&stays, kept.service.admin_port, "", 0, tokens[0].header, 0);
    hs_stream_expect_start(&stays);
    hs_stream_open(&ends, kept.service.admin_port, "", 0, tokens[1].header, 0);
    hs_stream_expect_start(&ends);
    hs_test_tokens_write(path, tokens, 1);
    kill(kept.service.pid, SIGHUP);
    ck_assert(!hs_stream_read(&ends, &block));
    ck_assert(ends.has_ended && !ends.is_cut);
    hs_source_post(kept.http, "m", tokens[0].header, HS_SOURCE_SHORT, 1, 1);
    hs_stream_expect_reason(&stays, "degenerate_trace");
    hs_stream_close(&ends);
    hs_stream_close(&stays);
    stop();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("events");
    TCase *open = tcase_create("streams");
    tcase_add_checked_fixture(open, setup, stop);
    tcase_set_timeout(open, 120);
    tcase_add_test(open, verdicts_come_in_order_and_as_they_are_stored);
    tcase_add_test(open, a_retry_is_no_second_event);
    tcase_add_loop_test(open, filters_pass_what_they_name, 0,
                        (int)(sizeof filters / sizeof filters[0]));
    tcase_add_loop_test(open, bad_filters_are_refused, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_loop_test(open, bad_ids_are_refused, 0, (int)(sizeof bad_ids / sizeof bad_ids[0]));
    tcase_add_test(open, only_the_admin_listener_has_streams);
    tcase_add_test(open, a_stream_resumes_after_the_last_event);
    tcase_add_test(open, a_gap_has_the_number_of_missed_verdicts);
    tcase_add_test(open, after_a_restart_the_gap_is_unknown);
    tcase_add_test(open, a_slow_reader_is_dropped);
    tcase_add_test(open, streams_are_bounded);
    tcase_add_test(open, silent_streams_stay_open);
    tcase_add_test(open, a_drain_ends_streams_cleanly);
    tcase_add_test(open, a_stuck_stream_does_not_delay_the_end);
    suite_add_tcase(suite, open);
    TCase *guarded = tcase_create("tenants");
    tcase_set_timeout(guarded, 120);
    tcase_add_test(guarded, tenants_see_their_own_verdicts);
    tcase_add_test(guarded, any_number_of_tenants_has_streams);
    tcase_add_test(guarded, a_stream_ends_with_its_token);
    suite_add_tcase(suite, guarded);
    return hs_run_suite(suite);
}
