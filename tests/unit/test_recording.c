/* The JSON Lines reader and writer: what is taken, what is refused and with which line. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/play/recording.h"
#include "tests/support/run_suite.h"

#define HEAD                                                                                       \
    "{\"format\":\"hindsight-recording\",\"version\":1,\"match\":\"m\",\"ruleset\":\"metres\"}\n"

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

START_TEST(reads_every_field)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    write_text("{\"format\":\"hindsight-recording\",\"version\":1,\"title\":\"a title\","
               "\"match\":\"m-1\",\"unit\":100,\"ruleset\":{\"name\":\"rules\",\"up\":\"+z\"},"
               "\"x_note\":1}\n\n"
               "{\"at\":1.5,\"post\":\"hits\",\"body\":{\"hits\":[{},{}]},\"who\":\"honest\","
               "\"truth\":[\"hit\",null],\"expect\":{\"status\":200}}\r\n"
               "{\"at\":1.5,\"method\":\"DELETE\",\"path\":\"/v1/matches/{match}\"}");
    struct hs_recording *recording = hs_recording_open(path, error);
    ck_assert_msg(recording != NULL, "%s", error);
    ck_assert_str_eq(recording->header.title, "a title");
    ck_assert_str_eq(recording->header.match.text, "m-1");
    ck_assert_str_eq(recording->header.ruleset.text, "rules");
    ck_assert_double_eq(recording->header.unit, 100.0);
    ck_assert_ptr_nonnull(json_object_get(recording->header.ruleset_document, "up"));
    ck_assert_str_eq(recording->header.map.text, ""); /* brings none, and names none */
    ck_assert_ptr_null(recording->header.map_document);

    struct hs_recording_entry entry;
    char full[HS_PLAY_PATH_MAX];
    ck_assert_int_eq(hs_recording_next(recording, &entry, error), HS_RECORDING_ENTRY);
    ck_assert_uint_eq(entry.line, 3);
    ck_assert_double_eq(entry.at, 1.5);
    ck_assert_str_eq(entry.method, "POST");
    ck_assert(hs_recording_path(&entry, "other", full));
    ck_assert_str_eq(full, "/v1/matches/other/hits");
    ck_assert_uint_eq(json_array_size(hs_recording_claims(&entry)), 2);
    ck_assert_str_eq(json_string_value(json_array_get(entry.who, 1)), "honest");
    ck_assert(json_is_null(json_array_get(entry.truth, 1)));
    ck_assert_ptr_nonnull(entry.expect);
    hs_recording_entry_clear(&entry);

    ck_assert_int_eq(hs_recording_next(recording, &entry, error), HS_RECORDING_ENTRY);
    ck_assert_str_eq(entry.method, "DELETE");
    ck_assert(hs_recording_path(&entry, "other", full));
    ck_assert_str_eq(full, "/v1/matches/other");
    ck_assert_ptr_null(entry.body);
    hs_recording_entry_clear(&entry);
    ck_assert_int_eq(hs_recording_next(recording, &entry, error), HS_RECORDING_END);
    hs_recording_close(recording);
    remove_text();
}
END_TEST

START_TEST(gzip_reads_like_plain)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    write_text("");
    gzFile file = gzopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    gzputs(file, HEAD "{\"at\":0,\"post\":\"frames\",\"body\":{\"frames\":[]}}\n");
    gzclose(file);
    struct hs_recording *recording = hs_recording_open(path, error);
    ck_assert_msg(recording != NULL, "%s", error);
    struct hs_recording_entry entry;
    ck_assert_int_eq(hs_recording_next(recording, &entry, error), HS_RECORDING_ENTRY);
    hs_recording_entry_clear(&entry);
    ck_assert_int_eq(hs_recording_next(recording, &entry, error), HS_RECORDING_END);
    hs_recording_close(recording);
    remove_text();
}
END_TEST

START_TEST(torn_gzip_is_an_error_not_an_end)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    write_text("");
    gzFile file = gzopen(path, "wb");
    gzputs(file, HEAD);
    for (int i = 0; i < 5000; i++)
        gzprintf(file, "{\"at\":%d,\"method\":\"GET\",\"path\":\"/v1/%d\"}\n", i,
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

/* A file, and what its error must mention. */
static const struct {
    const char *text, *mentions;
} faults[] = {
    {"", "empty"},
    {"[1]\n", "line 1: must be a JSON object"},
    {"{\"format\":\"something\"}\n", "not a recording"},
    {"{\"format\":\"hindsight-recording\",\"version\":2}\n", "\"version\" must be 1"},
    {"{\"format\":\"hindsight-recording\",\"version\":1,\"match\":\"a b\",\"ruleset\":\"r\"}\n",
     "\"match\" must be a name"},
    {"{\"format\":\"hindsight-recording\",\"version\":1,\"match\":\"m\"}\n",
     "\"ruleset\" must be a name"},
    {"{\"format\":\"hindsight-recording\",\"version\":1,\"match\":\"m\",\"ruleset\":{}}\n",
     "\"ruleset/name\""},
    {"{\"format\":\"hindsight-recording\",\"version\":1,\"match\":\"m\",\"ruleset\":\"r\","
     "\"unit\":0}\n",
     "\"unit\""},
    {"{\"format\":\"hindsight-recording\",\"version\":1,\"match\":\"m\",\"ruleset\":\"r\","
     "\"mach\":1}\n",
     "unknown field \"mach\""},
    {"{\"format\":\"hindsight-recording\",\"version\":1,\"match\":\"m\",\"ruleset\":\"r\","
     "\"map\":{\"boxes\":[]}}\n",
     "\"map/name\" must be a name"},
    {"{\"format\":\"hindsight-recording\",\"version\":1,\"match\":\"m\",\"ruleset\":\"r\","
     "\"map\":7}\n",
     "\"map\" must be a name"},
    {HEAD "{\"at\":1,\n", "line 2: "},
    {HEAD "{\"post\":\"hits\"}\n", "\"at\" must be a number"},
    {HEAD "{\"at\":1,\"at\":2,\"post\":\"hits\"}\n", "line 2: duplicate"},
    {HEAD "{\"at\":1,\"post\":\"moves\"}\n", "\"post\" must be"},
    {HEAD "{\"at\":1,\"post\":\"hits\",\"path\":\"/x\"}\n", "excludes"},
    {HEAD "{\"at\":1,\"method\":\"GET\",\"path\":\"x\"}\n", "starts with /"},
    {HEAD "{\"at\":1,\"method\":\"PATCH\",\"path\":\"/x\"}\n", "\"method\" must be"},
    {HEAD "\n{\"at\":1,\"post\":\"hits\"}\n{\"at\":0.5,\"post\":\"hits\"}\n",
     "line 4: \"at\" runs back"},
    {HEAD "{\"at\":1,\"post\":\"hits\",\"expext\":{}}\n", "unknown field \"expext\""},
    {HEAD "{\"at\":1,\"post\":\"hits\",\"expect\":[]}\n", "\"expect\" must be an object"},
    {HEAD "{\"at\":1,\"post\":\"hits\",\"truth\":\"hit\"}\n", "without a claim"},
    {HEAD "{\"at\":1,\"post\":\"hits\",\"body\":{\"hits\":[{}]},\"truth\":[]}\n", "0 items for 1"},
    {HEAD "{\"at\":1,\"post\":\"hits\",\"body\":{\"hits\":[{}]},\"truth\":\"no\"}\n",
     "\"truth\" must be"},
    {HEAD "{\"at\":1,\"post\":\"hits\",\"body\":{\"hits\":[{}]},\"who\":[7]}\n", "\"who\" must be"},
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

START_TEST(what_is_written_reads_the_same)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    struct hs_recording_header header = {.title = "t", .unit = 2.5};
    hs_name_set(&header.match, HS_STR("m"));
    hs_name_set(&header.ruleset, HS_STR("r"));
    header.ruleset_document = json_pack("{s:s}", "name", "r");
    hs_name_set(&header.map, HS_STR("dm4"));
    header.map_document = _i == 0 ? json_pack("{s:[]}", "boxes") : NULL;
    struct hs_recording_entry first = {.at = 0.015625, .method = "POST"}, second = {.at = 3.0};
    strcpy(first.path, "/v1/matches/{match}/ticks");
    first.body = json_pack("{s:[{}], s:f}", "hits", "now", 1.0 / 3.0);
    first.who = json_pack("[s]", "honest");
    first.truth = json_pack("[s]", "miss");
    /* Only three routes have a short form; this one must keep its long one. */
    strcpy(second.method, "POST");
    strcpy(second.path, "/v1/matches/{match}/moves");
    second.expect = json_pack("{s:i}", "status", 404);

    write_text("");
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert(hs_recording_write_header(file, &header));
    ck_assert(hs_recording_write_entry(file, &first));
    ck_assert(hs_recording_write_entry(file, &second));
    fclose(file);

    struct hs_recording *recording = hs_recording_open(path, error);
    ck_assert_msg(recording != NULL, "%s", error);
    ck_assert_double_eq(recording->header.unit, 2.5);
    ck_assert(json_equal(recording->header.ruleset_document, header.ruleset_document));
    ck_assert_str_eq(recording->header.map.text, "dm4");
    ck_assert(header.map_document == recording->header.map_document ||
              json_equal(recording->header.map_document, header.map_document));
    const struct hs_recording_entry *written[] = {&first, &second};
    for (size_t i = 0; i < 2; i++) {
        struct hs_recording_entry entry;
        ck_assert_int_eq(hs_recording_next(recording, &entry, error), HS_RECORDING_ENTRY);
        ck_assert_double_eq(entry.at, written[i]->at);
        ck_assert_str_eq(entry.method, written[i]->method);
        ck_assert_str_eq(entry.path, written[i]->path);
        ck_assert_int_eq(entry.truth != NULL, written[i]->truth != NULL);
        ck_assert_int_eq(entry.expect != NULL, written[i]->expect != NULL);
        if (entry.body != NULL)
            ck_assert_double_eq_tol(json_number_value(json_object_get(entry.body, "now")),
                                    1.0 / 3.0, 1e-14);
        hs_recording_entry_clear(&entry);
    }
    hs_recording_close(recording);
    json_decref(header.ruleset_document);
    json_decref(header.map_document);
    hs_recording_entry_clear(&first);
    hs_recording_entry_clear(&second);
    remove_text();
}
END_TEST

START_TEST(missing_file_says_so)
{
    char error[HS_PLAY_ERROR_MAX] = "";
    ck_assert_ptr_null(hs_recording_open("/nowhere/at/all.jsonl", error));
    ck_assert_ptr_nonnull(strstr(error, "No such file"));
    hs_recording_close(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recording");
    TCase *tests = tcase_create("recording");
    tcase_add_checked_fixture(tests, NULL, remove_text);
    tcase_add_test(tests, reads_every_field);
    tcase_add_test(tests, gzip_reads_like_plain);
    tcase_add_test(tests, torn_gzip_is_an_error_not_an_end);
    tcase_add_loop_test(tests, faults_name_their_line, 0, sizeof(faults) / sizeof(faults[0]));
    tcase_add_loop_test(tests, what_is_written_reads_the_same, 0, 2);
    tcase_add_test(tests, missing_file_says_so);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
