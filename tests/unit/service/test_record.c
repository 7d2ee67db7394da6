/* The recording of requests: the lines of its stream, and gaps. */
#include "service/record/recorder.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"
#include "service/watch/metrics.h"
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/run_suite.h"
#include "tests/unit/service/recording_file.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hs_metrics *metrics;
static struct hs_ruleset_store *rulesets;
static struct hs_map_store *maps;
static struct hs_registry *registry;

static void set_up(void)
{
    char error[256];
    hs_recording_set_up();
    metrics = hs_metrics_create();
    rulesets = hs_ruleset_store_create("metres", 16, 1 << 24, error);
    maps = hs_map_store_create(4, 1 << 20);
    registry = hs_registry_create(16, rulesets, maps);
    ck_assert(metrics != NULL && rulesets != NULL && maps != NULL && registry != NULL);
}

static void tear_down(void)
{
    hs_registry_destroy(registry);
    hs_map_store_destroy(maps);
    hs_ruleset_store_destroy(rulesets);
    hs_metrics_destroy(metrics);
    hs_recording_tear_down();
}

/* Records a request of a match; opens the match if necessary. */
static void request_on(struct hs_record *record, const char *match, struct hs_map_entry *map,
                       enum hs_route route, const char *body, const char *answer)
{
    struct hs_match_slot *slot = NULL;
    struct hs_match_opening opening = {.ruleset = hs_ruleset_store_get(rulesets, HS_STR("default")),
                                       .map = map,
                                       .limits = {.players = 10, .samples = 20, .movers = 5}};
    hs_registry_acquire(registry, (struct hs_str){0}, (struct hs_str){match, strlen(match)},
                        &opening, &slot);
    ck_assert_ptr_nonnull(slot);
    struct hs_recorded_request recorded = {.route = route,
                                           .explain = route == HS_ROUTE_HITS_POST,
                                           .brief = route == HS_ROUTE_HITS_POST,
                                           .body = {body, strlen(body)},
                                           .answer = {answer, answer != NULL ? strlen(answer) : 0}};
    hs_record_request(record, slot, &recorded);
    if (route == HS_ROUTE_MATCH_DELETE)
        hs_registry_remove(registry, slot);
    hs_registry_release(registry, slot);
    hs_ruleset_store_release(rulesets, opening.ruleset);
}

static void request(struct hs_record *record, const char *match, enum hs_route route,
                    const char *body, const char *answer)
{
    request_on(record, match, NULL, route, body, answer);
}

static struct hs_record *open_record(size_t max_bytes)
{
    char error[256] = "";
    struct hs_record *record = hs_record_open(hs_recording_path, max_bytes, metrics, maps, error);
    ck_assert_msg(record != NULL, "%s", error);
    return record;
}

static size_t metric(const char *name)
{
    struct hs_buffer out = {0};
    char line[64];
    hs_metrics_write(metrics, &out);
    hs_buffer_append(&out, "", 1);
    snprintf(line, sizeof line, "\n%s ", name);
    const char *found = strstr(out.data, line);
    ck_assert_ptr_nonnull(found);
    size_t value = strtoul(found + strlen(line), NULL, 10);
    hs_buffer_free(&out);
    return value;
}

/* Writes the first member of each line with its value: "format=hindsight-stream open=m ...". */
static void summarise(char *text, char *summary, size_t size)
{
    summary[0] = '\0';
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_msg(object != NULL, "not JSON: %s", line);
        void *first = json_object_iter(object);
        size_t len = strlen(summary);
        snprintf(summary + len, size - len, "%s%s=%s", len > 0 ? " " : "",
                 json_object_iter_key(first), json_string_value(json_object_iter_value(first)));
        json_decref(object);
    }
}

START_TEST(a_stream_has_every_request_in_order)
{
    struct hs_record *record = open_record(1 << 20);
    request(record, "a", HS_ROUTE_FRAMES_POST, "{\"frames\":\r\n[]}\n", "{\"stored\":0}");
    request(record, "b", HS_ROUTE_HITS_POST, "{\"hits\":[]}", "{\"results\":[]}");
    request(record, "a", HS_ROUTE_MATCH_DELETE, "", "{\"match\":\"a\"}");
    request(record, "a", HS_ROUTE_TICKS_POST, "{}", "{}");
    hs_record_close(record, registry);
    ck_assert_uint_eq(metric("hindsight_record_requests_total"), 4);
    ck_assert_uint_eq(metric("hindsight_record_dropped_total"), 0);
    char *text = hs_test_read_file(hs_recording_path, NULL), summary[512];
    ck_assert_ptr_nonnull(strstr(text, "\"body\":{\"frames\":  []} ,\"answer\":{\"stored\":0}}\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\"request\":\"hits\",\"explain\":true,\"brief\":true,\"body\""));
    ck_assert_ptr_nonnull(strstr(text, "\"request\":\"delete\",\"answer\":{\"match\":\"a\"}}\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\"max_players\":10,\"max_samples\":20,\"max_movers\":5}\n"));
    summarise(text, summary, sizeof summary);
    ck_assert_str_eq(summary, "format=hindsight-stream ruleset=metres open=a match=a open=b match=b"
                              " match=a open=a match=a");
    free(text);
}
END_TEST

START_TEST(an_answer_that_failed_ends_the_match)
{
    struct hs_record *record = open_record(1 << 20);
    request(record, "a", HS_ROUTE_FRAMES_POST, "{}", "{}");
    request(record, "a", HS_ROUTE_FRAMES_POST, "{}", NULL);
    request(record, "a", HS_ROUTE_FRAMES_POST, "{}", "{}");
    request(record, "b", HS_ROUTE_FRAMES_POST, "{}", "{}");
    hs_record_close(record, registry);
    ck_assert_uint_eq(metric("hindsight_record_requests_total"), 2);
    ck_assert_uint_eq(metric("hindsight_record_dropped_total"), 2);
    char *text = hs_test_read_file(hs_recording_path, NULL), summary[512];
    summarise(text, summary, sizeof summary);
    ck_assert_str_eq(summary, "format=hindsight-stream ruleset=metres open=a match=a gap=a open=b "
                              "match=b");
    free(text);
}
END_TEST

/* Restores a match as a start of the service does: it is loaded from `size` bytes, and then records
   of the journal are applied. `ends`: these records end the match. */
static void restore(struct hs_record *record, const char *match, size_t size, bool ends)
{
    unsigned char *state = calloc(1, size);
    struct hs_match_slot *slot = NULL;
    struct hs_match_opening opening = {.ruleset = hs_ruleset_store_get(rulesets, HS_STR("default")),
                                       .number = 7,
                                       .limits = {.players = 10, .samples = 20, .movers = 5}};
    ck_assert_ptr_nonnull(state);
    hs_registry_acquire(registry, (struct hs_str){0}, (struct hs_str){match, strlen(match)},
                        &opening, &slot);
    ck_assert_ptr_nonnull(slot);
    hs_record_restored(record, slot, state, size, ends);
    hs_record_replayed(record, slot, "rec", 3);
    if (ends) {
        hs_record_replayed(record, slot, NULL, 0);
        hs_registry_remove(registry, slot);
    }
    hs_registry_release(registry, slot);
    hs_ruleset_store_release(rulesets, opening.ruleset);
    free(state);
}

/* The recording of a restored match begins with its saved state. If the state does not fit into the
   queue, the stream has a gap with a reason instead. After the match was opened again, it is
   recorded again. */
START_TEST(restored_matches_are_in_the_stream)
{
    char summary[512];
    struct hs_record *record = open_record(65536);
    restore(record, "a", 3, false);
    restore(record, "b", 3, true);
    restore(record, "large", 65536, false);
    hs_record_restored(NULL, NULL, NULL, 0, false);
    hs_record_replayed(NULL, NULL, NULL, 0);
    request(record, "a", HS_ROUTE_TICKS_POST, "{}", "{}");
    request(record, "large", HS_ROUTE_MATCH_DELETE, "{}", "{}");
    request(record, "large", HS_ROUTE_TICKS_POST, "{}", "{}");
    hs_record_close(record, registry);
    ck_assert_uint_eq(metric("hindsight_record_requests_total"), 2);
    ck_assert_uint_eq(metric("hindsight_record_dropped_total"), 1);
    char *text = hs_test_read_file(hs_recording_path, NULL);
    ck_assert_ptr_nonnull(strstr(text, "{\"open\":\"a\",\"opening\":7,\"ruleset\":\"sha256:"));
    ck_assert_ptr_nonnull(
        strstr(text, "\"max_movers\":5,\"state\":\"AAAA\"}\n{\"journal\":\"a\","));
    ck_assert_ptr_nonnull(strstr(text, "\"records\":\"cmVj\"}\n"));
    ck_assert_ptr_nonnull(strstr(text, "\"moves_lost\":true,\"state\":\"AAAA\"}\n"));
    ck_assert_ptr_nonnull(strstr(text, "{\"journal\":\"b\",\"ended\":true}\n"));
    ck_assert_ptr_nonnull(strstr(text,
                                 "{\"gap\":\"large\",\"reason\":\"its saved state does not fit"
                                 " into --record-queue-bytes\"}\n"));
    summarise(text, summary, sizeof summary);
    ck_assert_str_eq(summary, "format=hindsight-stream ruleset=metres open=a journal=a open=b "
                              "journal=b journal=b gap=large match=a open=large match=large");
    free(text);
}
END_TEST

START_TEST(a_match_that_did_not_fit_ends_with_a_mark)
{
    struct hs_stalled_pipe drained;
    hs_stalled_pipe_open(&drained);
    struct hs_record *record = open_record(100000);
    char body[2048], summary[65536] = "";
    size_t requests = 0;
    snprintf(body, sizeof body, "{\"x_\":\"%01500d\"}", 0);
    while (metric("hindsight_record_dropped_total") == 0) {
        request(record, "full", HS_ROUTE_TICKS_POST, body, "{}");
        ck_assert_uint_lt(++requests, 1000);
    }
    ck_assert_uint_gt(hs_record_queue_bytes(record), 0);
    /* From here on the disk works again. */
    hs_stalled_pipe_resume(&drained);
    while (hs_record_queue_bytes(record) > 0)
        hs_test_pause_ms(1);
    request(record, "full", HS_ROUTE_TICKS_POST, body, "{}");
    request(record, "other", HS_ROUTE_TICKS_POST, body, "{}");
    request(record, "full", HS_ROUTE_MATCH_DELETE, "", "{}");
    request(record, "full", HS_ROUTE_TICKS_POST, body, "{}");
    hs_record_close(record, registry);
    hs_stalled_pipe_join(&drained);
    ck_assert_uint_eq(metric("hindsight_record_dropped_total"), 3);
    ck_assert_uint_eq(metric("hindsight_record_requests_total"), requests - 1 + 2);
    summarise(drained.text.data, summary, sizeof summary);
    const char *end = strstr(summary, "gap=full");
    ck_assert_ptr_nonnull(end);
    ck_assert_str_eq(end, "gap=full open=other match=other open=full match=full");
    hs_stalled_pipe_close(&drained);
}
END_TEST

START_TEST(a_match_that_never_fits_again_is_marked_at_the_end)
{
    struct hs_stalled_pipe drained;
    hs_stalled_pipe_open(&drained);
    struct hs_record *record = open_record(100000);
    char body[2048], summary[65536] = "";
    snprintf(body, sizeof body, "{\"x_\":\"%01500d\"}", 0);
    while (metric("hindsight_record_dropped_total") == 0)
        request(record, "full", HS_ROUTE_TICKS_POST, body, "{}");
    /* Short lines that mark a gap still fit when requests do not fit any more. Later, even such
       lines do not fit. */
    for (int i = 0; i < 100; i++) {
        char match[16];
        snprintf(match, sizeof match, "m%d", i);
        request(record, match, HS_ROUTE_TICKS_POST, body, "{}");
        request(record, match, HS_ROUTE_MATCH_DELETE, "", "{}");
    }
    request(record, "last", HS_ROUTE_TICKS_POST, body, "{}");
    hs_stalled_pipe_resume(&drained);
    hs_record_close(record, registry);
    hs_stalled_pipe_join(&drained);
    summarise(drained.text.data, summary, sizeof summary);
    ck_assert_ptr_nonnull(strstr(summary, "gap=full"));
    ck_assert_ptr_null(strstr(summary, "gap=m99"));
    ck_assert_str_eq(summary + strlen(summary) - 8, "gap=last");
    hs_stalled_pipe_close(&drained);
}
END_TEST

/* A match uses a map, and the map is replaced. Both maps are recorded, each before its match. */
START_TEST(maps_are_in_the_stream_once)
{
    static const char document[] = "{\"boxes\":[\n{\"min\":[0,0,0],\"max\":[1,1,1]}]}";
    static const char other[] = "{\"boxes\":[{\"min\":[0,0,0],\"max\":[2,2,2]}]}";
    struct hs_world_box box = {{0, 0, 0}, {1, 1, 1}};
    struct hs_world_mesh mesh = {.boxes = &box, .box_count = 1};
    struct hs_map_entry *first, *second;
    ck_assert_int_eq(
        hs_map_store_put_kept(maps, HS_STR(""), HS_STR("dm1"), &mesh, HS_STR(document), 0, &first),
        HS_MAP_CREATED);
    size_t bytes = hs_map_store_usage(maps).bytes;
    ck_assert_uint_eq(bytes, first->info.bytes + sizeof document - 1);
    struct hs_record *record = open_record(1 << 20);
    request_on(record, "a", first, HS_ROUTE_TICKS_POST, "{}", "{}");
    request_on(record, "b", first, HS_ROUTE_TICKS_POST, "{}", "{}");
    box.max = (struct hs_vec){2, 2, 2};
    ck_assert_int_eq(
        hs_map_store_put_kept(maps, HS_STR(""), HS_STR("dm1"), &mesh, HS_STR(other), 0, &second),
        HS_MAP_REPLACED);
    request_on(record, "c", second, HS_ROUTE_TICKS_POST, "{}", "{}");
    ck_assert_str_ne(first->revision, second->revision);
    hs_map_store_release(maps, first);
    hs_map_store_release(maps, second);
    hs_record_close(record, registry);
    char *text = hs_test_read_file(hs_recording_path, NULL), summary[512];
    ck_assert_ptr_nonnull(strstr(text, "\"document\":{\"boxes\":[ {\"min\":[0,0,0]"));
    ck_assert_ptr_nonnull(strstr(text, "\"map\":\"dm1\",\"map_revision\":\"sha256:"));
    summarise(text, summary, sizeof summary);
    ck_assert_str_eq(summary, "format=hindsight-stream ruleset=metres map=dm1 open=a match=a open=b"
                              " match=b map=dm1 open=c match=c");
    free(text);
    /* From here on, the first map is only held by its matches. */
    record = open_record(1 << 20);
    request(record, "a", HS_ROUTE_MATCH_DELETE, "", "{}");
    request(record, "b", HS_ROUTE_MATCH_DELETE, "", "{}");
    hs_record_close(record, registry);
    ck_assert_uint_lt(hs_map_store_usage(maps).bytes, bytes + sizeof other);
}
END_TEST

/* A map without its document cannot be recorded. So verdicts that use it cannot be recorded
   either. */
START_TEST(a_map_without_its_document_is_a_gap)
{
    struct hs_world_mesh mesh = {0};
    struct hs_map_entry *entry;
    ck_assert_int_eq(hs_map_store_put(maps, HS_STR("dm1"), &mesh, &entry), HS_MAP_CREATED);
    struct hs_record *record = open_record(1 << 20);
    request_on(record, "a", entry, HS_ROUTE_TICKS_POST, "{}", "{}");
    hs_map_store_release(maps, entry);
    hs_record_close(record, registry);
    char *text = hs_test_read_file(hs_recording_path, NULL), summary[512];
    summarise(text, summary, sizeof summary);
    ck_assert_str_eq(summary, "format=hindsight-stream ruleset=metres gap=a");
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("record");
    TCase *stream = tcase_create("stream");
    tcase_add_checked_fixture(stream, set_up, tear_down);
    tcase_add_test(stream, a_stream_has_every_request_in_order);
    tcase_add_test(stream, an_answer_that_failed_ends_the_match);
    tcase_add_test(stream, restored_matches_are_in_the_stream);
    tcase_add_test(stream, a_match_that_did_not_fit_ends_with_a_mark);
    tcase_add_test(stream, a_match_that_never_fits_again_is_marked_at_the_end);
    tcase_add_test(stream, maps_are_in_the_stream_once);
    tcase_add_test(stream, a_map_without_its_document_is_a_gap);
    suite_add_tcase(suite, stream);
    return hs_run_suite(suite);
}
