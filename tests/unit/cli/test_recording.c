/* Recordings as `play` reads them. Some are accepted; others are refused with the number of the
   line. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/play/recording.h"
#include "tests/support/run_suite.h"

#define HEAD  "{\"format\":\"hindsight-stream\",\"version\":2}\n"
#define OPEN  "{\"open\":\"m\",\"ruleset\":\"metres\"}\n"
#define START HEAD OPEN

static char path[64];

static void write_text(const char *text)
{
    strcpy(path, "/tmp/hs-recording-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void remove_text(void)
{
    if (path[0] != '\0')
        unlink(path);
    path[0] = '\0';
}

static struct hs_recording *open_text(const char *text)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    write_text(text);
    struct hs_recording *recording = hs_recording_open(path, error);
    ck_assert_msg(recording != NULL, "%s", error);
    return recording;
}

static void expect_next(struct hs_recording *recording, struct hs_recording_entry *entry,
                        enum hs_entry_kind kind, const char *name)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    ck_assert_msg(hs_recording_next(recording, entry, error) == HS_RECORDING_ENTRY, "%s", error);
    ck_assert_int_eq(entry->kind, kind);
    ck_assert_str_eq(entry->name.text, name);
}

static void expect_end(struct hs_recording *recording)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    struct hs_recording_entry entry;
    ck_assert_int_eq(hs_recording_next(recording, &entry, error), HS_RECORDING_END);
    hs_recording_close(recording);
    remove_text();
}

START_TEST(a_request_has_its_labels_truth_and_expectation)
{
    struct hs_recording_entry entry;
    struct hs_recording *recording =
        open_text("{\"format\":\"hindsight-stream\",\"version\":2,\"title\":\"a \\\"title\\\"\","
                  "\"unit\":100,\"note\":1}\n" OPEN
                  "{\"match\":\"m\",\"request\":\"hits\",\"explain\":true,\"body\":{\"now\":1.5,"
                  "\"hits\":[{},{}]},\"who\":\"honest\",\"truth\":[\"hit\",null],\"expect\":"
                  "{\"status\":200}}\n"
                  "{\"match\":\"m\",\"request\":\"frames\",\"body\":{\"frames\":[{\"time\":1},"
                  "{\"time\":2}]},\"answer\":{}}\n"
                  "{\"match\":\"m\",\"request\":\"delete\",\"answer\":{}}");
    ck_assert_str_eq(recording->header.title, "a \"title\"");
    ck_assert_double_eq(recording->header.unit, 100.0);
    ck_assert_str_eq(recording->header.match.text, ""); /* only importers set this */
    expect_next(recording, &entry, HS_ENTRY_OPEN, "m");
    ck_assert_str_eq(entry.ruleset.text, "metres");
    ck_assert_str_eq(entry.map.text, "");
    expect_next(recording, &entry, HS_ENTRY_REQUEST, "m");
    ck_assert(entry.line == 3 && entry.at == 1.5 && entry.explain && !entry.answered);
    ck_assert_int_eq(entry.route, HS_ROUTE_HITS_POST);
    ck_assert_uint_eq(json_array_size(hs_recording_claims(&entry)), 2);
    ck_assert_str_eq(json_string_value(json_array_get(entry.who, 1)), "honest");
    ck_assert(json_is_null(json_array_get(entry.truth, 1)));
    ck_assert_ptr_nonnull(entry.expect);
    hs_recording_entry_clear(&entry);
    expect_next(recording, &entry, HS_ENTRY_REQUEST, "m");
    ck_assert(entry.at == 2 && !entry.explain && entry.answered);
    ck_assert_ptr_null(hs_recording_claims(&entry));
    hs_recording_entry_clear(&entry);
    expect_next(recording, &entry, HS_ENTRY_REQUEST, "m");
    ck_assert_int_eq(entry.route, HS_ROUTE_MATCH_DELETE);
    ck_assert(entry.body == NULL && !isfinite(entry.at));
    expect_end(recording);
}
END_TEST

/* Tables are read as lists. A table with a bad row stays a table. */
START_TEST(tables_have_claims_and_a_time)
{
    struct hs_recording_entry entry;
    struct hs_recording *recording = open_text(
        "{\"format\":\"hindsight-stream\",\"version\":2}\n" OPEN
        "{\"match\":\"m\",\"request\":\"ticks\",\"body\":{\"frames\":{\"columns\":[\"time\","
        "\"players\"],"
        "\"rows\":[[2.5,{\"columns\":[\"player\",\"aim\"],\"rows\":[[\"a\",null]]}]]},\"hits\":"
        "{\"columns\":[\"shot\"],\"rows\":[[7],[8]]}},\"who\":\"honest\"}\n"
        "{\"match\":\"m\",\"request\":\"hits\",\"body\":{\"hits\":{\"columns\":[\"shot\"],\"rows\":"
        "[[7],[]]}}}");
    expect_next(recording, &entry, HS_ENTRY_OPEN, "m");
    expect_next(recording, &entry, HS_ENTRY_REQUEST, "m");
    ck_assert(entry.at == 2.5);
    ck_assert_uint_eq(json_array_size(hs_recording_claims(&entry)), 2);
    ck_assert_uint_eq(json_array_size(entry.who), 2);
    json_t *player = json_pack("{s:s}", "player", "a");
    const json_t *frame = json_array_get(json_object_get(entry.body, "frames"), 0);
    ck_assert(json_equal(json_array_get(json_object_get(frame, "players"), 0), player));
    json_decref(player);
    hs_recording_entry_clear(&entry);
    expect_next(recording, &entry, HS_ENTRY_REQUEST, "m");
    ck_assert(json_is_object(json_object_get(entry.body, "hits")));
    expect_end(recording);
    hs_recording_entry_clear(&entry);
}
END_TEST

/* A stream as a service writes it: first the documents, then openings that name a document by its
   revision. */
START_TEST(a_match_opens_with_the_ruleset_and_map_before_it)
{
    struct hs_recording_entry entry;
    struct hs_recording *recording = open_text(
        HEAD "{\"ruleset\":\"mine\",\"revision\":\"r1\",\"document\":{\"name\":\"mine\"}}\n"
             "{\"map\":\"dm4\",\"revision\":\"g1\",\"document\":{\"boxes\":[]}}\n"
             "{\"open\":\"m\",\"opening\":7,\"ruleset\":\"r1\",\"map\":\"dm4\",\"map_revision\":"
             "\"g1\",\"max_players\":1,\"max_samples\":8,\"max_movers\":1}\n"
             "{\"gap\":\"m\"}\n" HEAD);
    expect_next(recording, &entry, HS_ENTRY_RULESET, "mine");
    ck_assert_str_eq(entry.revision, "r1");
    ck_assert_ptr_nonnull(json_object_get(entry.document, "name"));
    hs_recording_entry_clear(&entry);
    expect_next(recording, &entry, HS_ENTRY_MAP, "dm4");
    ck_assert_ptr_nonnull(json_object_get(entry.document, "boxes"));
    hs_recording_entry_clear(&entry);
    expect_next(recording, &entry, HS_ENTRY_OPEN, "m");
    ck_assert_str_eq(entry.ruleset.text, "mine");
    ck_assert_str_eq(entry.map.text, "dm4");
    expect_next(recording, &entry, HS_ENTRY_GAP, "m");
    expect_next(recording, &entry, HS_ENTRY_RESTART, "");
    expect_end(recording);
}
END_TEST

START_TEST(gzip_reads_like_plain)
{
    struct hs_recording_entry entry;
    char error[HS_PLAY_ERROR_MAX] = "";
    write_text("");
    gzFile file = gzopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    gzputs(file, START);
    gzclose(file);
    struct hs_recording *recording = hs_recording_open(path, error);
    ck_assert_msg(recording != NULL, "%s", error);
    expect_next(recording, &entry, HS_ENTRY_OPEN, "m");
    expect_end(recording);
}
END_TEST

START_TEST(torn_gzip_is_an_error_not_an_end)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    write_text("");
    gzFile file = gzopen(path, "wb");
    gzputs(file, START);
    for (int i = 0; i < 5000; i++)
        gzprintf(file, "{\"match\":\"m\",\"request\":\"frames\",\"body\":{\"x\":%d}}\n",
                 i * 7919 % 104729);
    gzclose(file);
    ck_assert_int_eq(truncate(path, 8000), 0);
    struct hs_recording *recording = hs_recording_open(path, error);
    ck_assert_msg(recording != NULL, "%s", error);
    struct hs_recording_entry entry;
    enum hs_recording_result result;
    while ((result = hs_recording_next(recording, &entry, error)) == HS_RECORDING_ENTRY)
        hs_recording_entry_clear(&entry);
    ck_assert_int_eq(result, HS_RECORDING_BAD);
    hs_recording_close(recording);
    remove_text();
}
END_TEST

#define ASK(rest) START "{\"match\":\"m\",\"request\":\"hits\"," rest "}\n" OPEN

/* A file, and texts that its error must contain. */
static const struct {
    const char *text, *mentions;
} faults[] = {
    {"", "is empty"},
    {"[1]\n", "line 1: is not the first line of a recording"},
    {"hello\nyou\n", "line 1: is not the first line of a recording"},
    {"{\"format\":\"something\"}\n", "line 1: is not the first line of a recording"},
    {"{\"name\":\"a scenario\"}\n", "line 1: is not the first line of a recording"},
    {OPEN, "line 1: is not the first line of a recording"},
    {"{\"format\":\"hindsight-stream\",\"version\":1}\n", "line 1: another version"},
    {"{\"format\":\"hindsight-stream\",\"version\":2,\"unit\":0}\n", "line 1: \"unit\""},
    {HEAD "{\"open\":\"m\",\"ruleset\":\"a b\"}\n", "line 2: the recording has no such ruleset"},
    {START "{\"match\":\"m\",\"request\":\"dance\"}\n" OPEN, "line 3: is not a line"},
    {START "\n" OPEN, "line 3: is not a line"},
    {ASK("\"body\":{\"a\":1,\"a\":2}"), "line 3: duplicate"},
    {ASK("\"expect\":[]"), "line 3: \"expect\" must be an object"},
    {ASK("\"truth\":\"hit\""), "line 3: \"truth\" must be"},
    {ASK("\"body\":{\"hits\":[{}]},\"truth\":[]"), "\"truth\" must be"},
    {ASK("\"body\":{\"hits\":[{}]},\"truth\":\"no\""), "\"truth\" must be"},
    {ASK("\"body\":{\"hits\":[{}]},\"who\":[7]"), "\"who\" must be"},
};

START_TEST(faults_name_their_line)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    write_text(faults[_i].text);
    struct hs_recording *recording = hs_recording_open(path, error);
    enum hs_recording_result result = HS_RECORDING_BAD;
    struct hs_recording_entry entry;
    while (recording != NULL &&
           (result = hs_recording_next(recording, &entry, error)) == HS_RECORDING_ENTRY)
        hs_recording_entry_clear(&entry);
    hs_recording_close(recording);
    remove_text();
    ck_assert_int_eq(result, HS_RECORDING_BAD);
    ck_assert_msg(strstr(error, faults[_i].mentions) != NULL, "\"%s\" does not mention \"%s\"",
                  error, faults[_i].mentions);
}
END_TEST

START_TEST(a_missing_file_is_reported)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    ck_assert_ptr_null(hs_recording_open("/nowhere/at/all.stream", error));
    ck_assert_ptr_nonnull(strstr(error, "No such file"));
    hs_recording_close(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recording");
    TCase *tests = tcase_create("recording");
    tcase_add_checked_fixture(tests, NULL, remove_text);
    tcase_add_test(tests, a_request_has_its_labels_truth_and_expectation);
    tcase_add_test(tests, tables_have_claims_and_a_time);
    tcase_add_test(tests, a_match_opens_with_the_ruleset_and_map_before_it);
    tcase_add_test(tests, gzip_reads_like_plain);
    tcase_add_test(tests, torn_gzip_is_an_error_not_an_end);
    tcase_add_loop_test(tests, faults_name_their_line, 0, sizeof(faults) / sizeof(faults[0]));
    tcase_add_test(tests, a_missing_file_is_reported);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
