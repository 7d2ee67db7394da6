/* Tests the evidence store as a game and an analyst see it. Verdicts are listed, filtered and
   paged. Each can be downloaded as a stream, and `hindsight recheck` computes the same bytes from
   it again. */
#include "tests/integration/stored.h"
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/http/raw.h"
#include "tests/support/http/tokens.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <glob.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static struct hs_test_kept kept;

static void setup(void)
{
    hs_stored_setup(&kept);
}

static void teardown(void)
{
    hs_kept_teardown(&kept);
}

/* ---- lists ---- */

static size_t count_of(const char *query)
{
    json_t *list = hs_stored_list(&kept, query);
    size_t count = json_array_size(list);
    json_decref(list);
    return count;
}

static const char *text_of(const json_t *verdict, const char *member)
{
    return json_string_value(json_object_get(verdict, member));
}

/* Posts six claims that are rejected. In match `one`, `s` makes three and `t` two; in match `two`,
   `s` makes one. */
static void post_some(char ids[6][HS_STORED_ID])
{
    static const struct {
        const char *match, *shooter;
        enum hs_stored_claim claim;
    } posts[6] = {{"one", "s", HS_STORED_AWAY},    {"one", "s", HS_STORED_BESIDE},
                  {"one", "s", HS_STORED_TOO_OLD}, {"one", "t", HS_STORED_AWAY},
                  {"one", "t", HS_STORED_BESIDE},  {"two", "s", HS_STORED_AWAY}};
    hs_stored_frames(&kept, "one", 10);
    hs_stored_frames(&kept, "two", 10);
    for (int i = 0; i < 6; i++)
        hs_stored_post(&kept, posts[i].match, posts[i].shooter, i + 1, posts[i].claim, ids[i]);
    hs_stored_wait(&kept);
}

START_TEST(lists_have_filters)
{
    char ids[6][HS_STORED_ID], query[128];
    hs_kept_start(&kept, NULL);
    post_some(ids);
    json_t *all = hs_stored_list(&kept, "");
    ck_assert_uint_eq(json_array_size(all), 6);
    for (size_t i = 0; i < 6; i++) /* the newest first */
        ck_assert_str_eq(text_of(json_array_get(all, i), "verdict_id"), ids[5 - i]);
    const json_t *newest = json_array_get(all, 0), *oldest = json_array_get(all, 5);
    ck_assert_str_eq(text_of(newest, "match"), "two");
    ck_assert_str_eq(text_of(newest, "player"), "s");
    ck_assert_str_eq(text_of(newest, "target"), "t");
    ck_assert_str_eq(text_of(newest, "weapon"), "rifle");
    ck_assert_str_eq(text_of(newest, "kind"), "hit");
    ck_assert_str_eq(text_of(newest, "unit"), "length");
    ck_assert_double_gt(json_number_value(json_object_get(newest, "measured")),
                        json_number_value(json_object_get(newest, "limit")));
    ck_assert_uint_eq(count_of("player=s"), 4);
    ck_assert_uint_eq(count_of("player=t&match=one"), 2);
    ck_assert_uint_eq(count_of("target=s"), 2);
    ck_assert_uint_eq(count_of("match=two&verdict=rejected"), 1);
    ck_assert_uint_eq(count_of("verdict=accepted"), 0);
    ck_assert_uint_eq(count_of("reason=no_intersection"), 2);
    ck_assert_uint_eq(count_of("weapon=rifle&kind=hit"), 6);
    ck_assert_uint_eq(count_of("player=nobody"), 0);
    double first = json_number_value(json_object_get(oldest, "at"));
    double last = json_number_value(json_object_get(newest, "at"));
    ck_assert_double_gt(last, first);
    snprintf(query, sizeof query, "until=%.6f", last);
    ck_assert_uint_eq(count_of(query), 5);
    snprintf(query, sizeof query, "since=%.6f", last);
    ck_assert_uint_eq(count_of(query), 1);
    json_decref(all);
    hs_kept_stop(&kept);
}
END_TEST

/* Claims with the same shot number are different claims: each has its own id and is stored. The
   same claim, sent again, has the same id and is stored once. */
START_TEST(claims_with_one_number_are_all_stored)
{
    char first[HS_STORED_ID];
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, first);
    for (int i = 0; i < 4; i++) {
        char body[256];
        snprintf(body, sizeof body,
                 "{\"now\":11.05,\"hits\":[{\"shot\":1,\"shooter\":\"s\",\"hit_time\":11,"
                 "\"start\":[0,0,160],\"end\":[500,0,%d],\"target\":\"t\"}]}",
                 130 + i / 2);
        hs_kept_holds(hs_kept_post(&kept, "/v1/matches/one/hits", body), "\"duplicate\"");
    }
    hs_stored_wait(&kept);
    json_t *all = hs_stored_list(&kept, "");
    ck_assert_uint_eq(json_array_size(all), 3);
    ck_assert_str_eq(text_of(json_array_get(all, 2), "verdict_id"), first);
    ck_assert_uint_eq(count_of("reason=duplicate"), 2);
    hs_stored_recheck(&kept, all);
    json_decref(all);
    hs_kept_stop(&kept);
}
END_TEST

/* Every verdict is on one page, even if verdicts are added in the meantime. */
START_TEST(pages_follow_a_cursor)
{
    char ids[6][HS_STORED_ID], path[128] = "/v1/verdicts?limit=2", id[HS_STORED_ID];
    hs_kept_start(&kept, NULL);
    post_some(ids);
    for (int page = 0; page < 3; page++) {
        json_t *root = hs_stored_get(&kept, path);
        const json_t *list = json_object_get(root, "verdicts");
        ck_assert_uint_eq(json_array_size(list), 2);
        for (size_t i = 0; i < 2; i++)
            ck_assert_str_eq(text_of(json_array_get(list, i), "verdict_id"),
                             ids[5 - 2 * page - (int)i]);
        snprintf(path, sizeof path, "/v1/verdicts?limit=2&cursor=%lld",
                 (long long)json_integer_value(json_object_get(root, "next")));
        json_decref(root);
        hs_stored_post(&kept, "one", "s", 50 + page, HS_STORED_AWAY, id);
        hs_stored_wait(&kept);
    }
    json_int_t next;
    do { /* on a busy machine, an empty page may not be the last one */
        json_t *root = hs_stored_get(&kept, path);
        ck_assert_uint_eq(json_array_size(json_object_get(root, "verdicts")), 0);
        next = json_integer_value(json_object_get(root, "next"));
        snprintf(path, sizeof path, "/v1/verdicts?limit=2&cursor=%lld", (long long)next);
        json_decref(root);
    } while (next > 0);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
    static const char *const wrong[] = {"limit=0",    "limit=1001",
                                        "limit=x",    "since=yesterday",
                                        "until=-1",   "cursor=0",
                                        "format=xml", "since=1e12",
                                        "limit=5.5",  "cursor=1x",
                                        "until=0x10", "since=%20+1",
                                        "limit=%201", "cursor=9223372036854775808",
                                        "kind=claim", "verdict=reject"};
    hs_kept_start(&kept, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char path[96];
        snprintf(path, sizeof path, "/v1/verdicts?%s", wrong[i]);
        ck_assert_msg(hs_kept_status(&kept, "GET", path, NULL) == 400, "%s", wrong[i]);
    }
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/summaries?kind=hit", NULL), 400);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/summaries?kind=match", NULL), 200);
    ck_assert_int_eq(hs_kept_status(&kept, "POST", "/v1/what-if?kind=move", "{}"), 400);
    ck_assert_int_eq(hs_kept_status(&kept, "POST", "/v1/what-if?kind=shot", "{}"), 200);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(exports_have_the_same_rows)
{
    char ids[6][HS_STORED_ID];
    hs_kept_start(&kept, NULL);
    post_some(ids);
    json_t *list = hs_stored_list(&kept, "player=s");
    char *lines = hs_kept_get(&kept, "/v1/verdicts?format=ndjson&player=s"), *at = lines;
    for (size_t i = 0; i < 4; i++) {
        char *end = strchr(at, '\n');
        ck_assert_ptr_nonnull(end);
        json_t *row = json_loadb(at, (size_t)(end - at), 0, NULL);
        ck_assert(json_equal(row, json_array_get(list, i)));
        json_decref(row);
        at = end + 1;
    }
    ck_assert_str_eq(at, "");
    json_decref(list);
    free(lines);
    char *table = hs_kept_get(&kept, "/v1/verdicts?format=csv&match=two");
    ck_assert_ptr_nonnull(
        strstr(table, "\"two\",\"s\",\"account-s\",\"t\",\"rifle\",\"hit\",\"rejected\","));
    ck_assert_int_eq(strncmp(table, "at,now,verdict_id,tenant,match,player,", 38), 0);
    ck_assert_ptr_eq(strchr(strchr(table, '\n') + 1, '\n') + 1, table + strlen(table));
    free(table);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- single verdicts ---- */

/* Each export has a file on the disk until its client has read the export. So slow clients could
   fill the disk.
 */
START_TEST(exports_are_bounded)
{
    enum { EXPORTS = 4 };
    static const char copies[] =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        " INSERT INTO bodies SELECT at + i, id || i, now, measured, \"limit\", unit, revision, map,"
        " map_revision, sizes, body FROM bodies, n;"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
        " INSERT INTO verdicts SELECT at + i, tenant, match, player, account, target, weapon, kind,"
        " verdict, reason, ruleset FROM verdicts, n";
    static const char request[] = "GET /v1/verdicts?format=ndjson HTTP/1.1\r\nHost: x\r\n\r\n";
    char id[HS_STORED_ID], byte;
    int readers[EXPORTS];
    sqlite3 *db;
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "m", 10);
    hs_stored_post(&kept, "m", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    ck_assert_int_eq(sqlite3_open(hs_stored_file(&kept), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, copies, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    for (int i = 0; i < EXPORTS; i++) { /* they read one byte */
        readers[i] = hs_raw_connect(kept.service.data_port);
        ck_assert(hs_raw_send(readers[i], request, sizeof request - 1));
        ck_assert_int_eq(recv(readers[i], &byte, 1, 0), 1);
    }
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/verdicts?format=csv", NULL), 503);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/verdicts", NULL), 200);
    for (int i = 0; i < EXPORTS; i++)
        close(readers[i]);
    long status = 503;
    for (int tries = 0; tries < 500 && status != 200; tries++) {
        hs_test_pause_ms(10);
        status = hs_kept_status(&kept, "GET", "/v1/verdicts?format=csv&match=none", NULL);
    }
    ck_assert_int_eq(status, 200);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(downloads_recheck)
{
    char ids[6][HS_STORED_ID];
    hs_kept_start(&kept, NULL);
    post_some(ids);
    json_t *all = hs_stored_list(&kept, "");
    hs_stored_recheck(&kept, all);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/verdicts/0123456789abcdef", NULL), 404);
    hs_kept_kill(&kept);
    hs_kept_start(&kept, NULL);
    hs_stored_recheck(&kept, all);
    json_decref(all);
    hs_kept_stop(&kept);
}
END_TEST

/* Claims in other forms: in a table, in a tick, with escapes and line breaks, several at once. */
START_TEST(unusual_forms_recheck)
{
    static const char *const bodies[][2] = {
        {"hits",
         "{\"now\":11.05,\"hits\":{\"columns\":[\"shot\",\"shooter\",\"hit_time\",\"start\","
         "\"end\",\"target\",\"radius\"],\"rows\":[[1,\"s\",11,[0,300,160],[500,0,160],\"t\","
         "null],[2,\"s\",11,[0,301.1,160],[500,0,160],\"t\",null]]}}"},
        {"hits",
         "{\"now\":11.05,\n\"h\\u0069ts\":[{\"shot\":3,\"shooter\":\"\\u0073\",\"hit_time\":11,\n"
         "\"start\":[0,300,160],\"end\":[500,0,160],\"target\":\"t\"}]}"},
        {"ticks", "{\"now\":11.05,\"shots\":[{\"shot\":90,\"shooter\":\"t\",\"time\":11,\"origin\":"
                  "[900,0,160],\"direction\":[-1,0,0]}],\"hits\":[{\"shot\":4,\"shooter\":\"s\","
                  "\"hit_time\":11,\"start\":[0,300,160],\"end\":[500,0,160],\"target\":\"t\"},"
                  "{\"bad\":1},{\"shot\":5,\"shooter\":\"s\",\"hit_time\":11,\"start\":[0,350,160],"
                  "\"end\":[500,0,160],\"target\":\"t\"}]}"},
    };
    char path[64];
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        snprintf(path, sizeof path, "/v1/matches/one/%s", bodies[i][0]);
        free(hs_kept_post(&kept, path, bodies[i][1]));
    }
    hs_stored_wait(&kept);
    json_t *all = hs_stored_list(&kept, "");
    ck_assert_uint_eq(json_array_size(all), 6);
    hs_stored_recheck(&kept, all);
    json_decref(all);
    hs_kept_stop(&kept);
}
END_TEST

/* Masked values are not stored, and the verdict is the same without them. */
START_TEST(masked_members_are_not_stored)
{
    static const char body[] =
        "{\"now\":11.05,\"hits\":[{\"shot\":1,\"shooter\":\"s\",\"hit_time\":11,\"x_client\":"
        "{\"address\":\"192.0.2.7\",\"build\":\"b77\"},\"x_list\":[1,\"secret\"],"
        "\"start\":[0,300,160],\"end\":[500,0,160],\"target\":\"t\"}]}";
    hs_kept_start_with(&kept, "--evidence-mask", "/x_client/address,/x_list/1,/x_missing/a");
    hs_stored_frames(&kept, "one", 10);
    free(hs_kept_post(&kept, "/v1/matches/one/hits", body));
    hs_stored_wait(&kept);
    json_t *all = hs_stored_list(&kept, "");
    char path[96];
    snprintf(path, sizeof path, "/v1/verdicts/%s", text_of(json_array_get(all, 0), "verdict_id"));
    char *stream = hs_kept_get(&kept, path);
    ck_assert_ptr_null(strstr(stream, "192.0.2.7"));
    ck_assert_ptr_null(strstr(stream, "secret"));
    ck_assert_ptr_nonnull(
        strstr(stream, "\"x_client\":{\"address\":\"masked\",\"build\":\"b77\"}"));
    ck_assert_ptr_nonnull(strstr(stream, "\"x_list\":[1,\"masked\"]"));
    free(stream);
    hs_stored_recheck(&kept, all);
    json_decref(all);
    hs_kept_stop(&kept);
}
END_TEST

/* `recheck` computes the same answer for each stored verdict of the demo's match and of all
   scenarios. */
START_TEST(demo_and_scenarios_recheck)
{
    enum { LEAST = 800 };
    hs_kept_start_with(&kept, "--default-ruleset", "metres");
    hs_stored_play_all(&kept);
    json_t *all = hs_stored_list(&kept, "limit=1000");
    ck_assert_uint_ge(json_array_size(all), LEAST);
    ck_assert_uint_lt(json_array_size(all), 1000);
    for (size_t i = json_array_size(all); i-- > 0;)
        if (!hs_stored_is_checked(i))
            json_array_remove(all, i);
    hs_stored_recheck(&kept, all);
    json_decref(all);
    hs_kept_stop(&kept);
}
END_TEST

/* Waits until the map of a verdict is saved, and sent to the database. No other verdict follows
   that could bring it there. */
static void wait_for_map(const json_t *list)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/verdicts/%s",
             json_string_value(json_object_get(json_array_get(list, 0), "verdict_id")));
    for (int tries = 0; tries < 1000 && hs_kept_status(&kept, "GET", path, NULL) == 503; tries++)
        hs_test_pause_ms(10);
}

/* A map is also in the file of a day that began after the map was put. */
START_TEST(maps_reach_the_files_of_later_days)
{
    static const char wall[] = "{\"boxes\":[{\"min\":[240,-90,0],\"max\":[260,90,400]}]}";
    static const char claim[] =
        "{\"now\":11.05,\"hits\":[{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":11,"
        "\"start\":[0,0,160],\"end\":[500,0,160],\"target\":\"t\"}]}";
    char body[256];
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/maps/wall", wall), 201);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/m", "{\"map\":\"wall\"}"), 201);
    for (int day = 0; day < 2; day++) {
        hs_stored_frames(&kept, "m", 10);
        snprintf(body, sizeof body, claim, day + 1);
        hs_kept_holds(hs_kept_post(&kept, "/v1/matches/m/hits", body), "occluded_world");
        hs_stored_wait(&kept);
        json_t *list = hs_stored_list(&kept, "reason=occluded_world");
        ck_assert_uint_eq(json_array_size(list), 1);
        wait_for_map(list);
        hs_stored_recheck(&kept, list);
        json_decref(list);
        hs_kept_wait(&kept); /* the geometry of the map is saved */
        hs_kept_stop(&kept);
        hs_stored_forget(&kept);
        hs_kept_start(&kept, NULL);
    }
    hs_kept_stop(&kept);
}
END_TEST

/* ---- files ---- */

START_TEST(files_are_private)
{
    char id[HS_STORED_ID];
    glob_t files;
    struct stat status;
    mode_t before = umask(0);
    hs_kept_start(&kept, NULL);
    umask(before);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    ck_assert_int_eq(stat(kept.data, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0700);
    ck_assert_int_eq(glob(hs_kept_path(&kept, "evidence-*"), 0, NULL, &files), 0);
    ck_assert_uint_ge(files.gl_pathc, 2); /* the file of a day, and SQLite's log of it */
    for (size_t i = 0; i < files.gl_pathc; i++) {
        ck_assert_int_eq(stat(files.gl_pathv[i], &status), 0);
        ck_assert_msg((status.st_mode & 0777) == 0600, "%s", files.gl_pathv[i]);
    }
    globfree(&files);
    hs_kept_stop(&kept);
}
END_TEST

static void set_version(const char *path, int version)
{
    char sql[64];
    sqlite3 *db;
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d", version);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static bool is_logged(const char *text)
{
    char line[4096];
    bool found = false;
    FILE *log = fdopen(dup(kept.service.err), "r");
    ck_assert_ptr_nonnull(log);
    rewind(log);
    while (!found && fgets(line, sizeof line, log) != NULL)
        found = strstr(line, text) != NULL;
    fclose(log);
    return found;
}

/* If a file has another version, claims are answered, lists are not, and the log has both versions.
 */
START_TEST(other_versions_are_reported)
{
    char id[HS_STORED_ID];
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_kept_stop(&kept);
    set_version(hs_stored_file(&kept), 99);
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 20);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/verdicts", NULL), 503);
    ck_assert(is_logged("has tables of version 99, and this program reads version 2"));
    hs_stored_frames(&kept, "two", 10);
    hs_stored_post(&kept, "two", "s", 1, HS_STORED_AWAY, id);
    for (int tries = 0; tries < 200 && !is_logged("this program writes version 2"); tries++)
        hs_test_pause_ms(10);
    ck_assert(is_logged("has tables of version 99, and this program writes version 2"));
    set_version(hs_stored_file(&kept), 2);
    hs_stored_wait(&kept); /* the service stores verdicts again without a restart */
    ck_assert_uint_eq(count_of(""), 2);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(without_a_store_there_are_no_verdicts)
{
    hs_kept_start_with(&kept, "--evidence", "off");
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/verdicts", NULL), 404);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/verdicts/0123", NULL), 404);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- tenants ---- */

START_TEST(tenants_see_their_own)
{
    char path[64], id[HS_STORED_ID];
    const char *(*headers)[2] = hs_stored_start_tenants(&kept);
    kept.headers = headers[HS_STORED_ACME];
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    snprintf(path, sizeof path, "/v1/verdicts/%s", id);
    ck_assert_uint_eq(count_of(""), 1);
    ck_assert_uint_eq(count_of("tenant=zeta"),
                      1); /* `tenant` is no filter: the list has only the caller's verdicts */
    ck_assert_int_eq(hs_kept_status(&kept, "GET", path, NULL), 200);
    kept.headers = headers[HS_STORED_ZETA];
    ck_assert_uint_eq(count_of(""), 0);
    ck_assert_uint_eq(count_of("tenant=acme"), 0);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", path, NULL), 403);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/verdicts/0123", NULL), 403);
    kept.headers = headers[HS_STORED_GAME];
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/verdicts", NULL), 403);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", path, NULL), 403);
    kept.headers = NULL;
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/verdicts", NULL), 401);
    hs_kept_stop(&kept);
}
END_TEST

/* Tests of the files of SQLite. */
static void add_file_tests(Suite *suite)
{
    TCase *tests = tcase_create("files");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, exports_are_bounded);
    tcase_add_test(tests, files_are_private);
    tcase_add_test(tests, other_versions_are_reported);
    tcase_add_test(tests, without_a_store_there_are_no_verdicts);
    suite_add_tcase(suite, tests);
}

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, lists_have_filters);
    tcase_add_test(tests, claims_with_one_number_are_all_stored);
    tcase_add_test(tests, pages_follow_a_cursor);
    tcase_add_test(tests, wrong_arguments_are_refused);
    tcase_add_test(tests, exports_have_the_same_rows);
    tcase_add_test(tests, downloads_recheck);
    tcase_add_test(tests, unusual_forms_recheck);
    tcase_add_test(tests, masked_members_are_not_stored);
    tcase_add_test(tests, demo_and_scenarios_recheck);
    tcase_add_test(tests, maps_reach_the_files_of_later_days);
    tcase_add_test(tests, tenants_see_their_own);
}

int main(void)
{
    Suite *suite = suite_create("evidence");
    hs_stored_add_cases(suite, HS_STORED_BOTH, setup, teardown, add_tests);
    add_file_tests(suite);
    return hs_run_suite(suite);
}
