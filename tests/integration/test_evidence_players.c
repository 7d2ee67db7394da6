/* What the store keeps about players: what was known of them at each verdict, the moves that were
   refused, and the summaries of matches that ended. */
#include "tests/integration/stored.h"
#include "tests/support/files.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static json_int_t whole_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static json_t *scene_of(const char *id)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/verdicts/%s/scene", id);
    return hs_stored_get(&kept, path);
}

static json_t *summaries(const char *query)
{
    char path[128];
    snprintf(path, sizeof path, "/v1/summaries?%s", query);
    json_t *root = hs_stored_get(&kept, path);
    json_t *list = json_incref(json_object_get(root, "summaries"));
    json_decref(root);
    ck_assert(json_is_array(list));
    return list;
}

/* Posts `count` moves of `s`, whose clock is twice as fast as the acknowledged snapshots allow.
   With `as_table` the body is a table. Returns how many were rejected. */
static size_t post_fast_moves(const char *match, int count, bool as_table)
{
    char path[96], *body = malloc(128 + 128 * (size_t)count);
    size_t len, rejected = 0, i;
    json_t *result;
    ck_assert_ptr_nonnull(body);
    len = (size_t)sprintf(
        body, as_table ? "{\"columns\":[\"player\",\"seq\",\"client_time\",\"received\",\"ack\"],"
                         "\"rows\":["
                       : "{\"moves\":[");
    for (int k = 1; k <= count; k++)
        len += (size_t)sprintf(body + len,
                               as_table ? "%s[\"s\",%d,%.4f,%.4f,%.4f]"
                                        : "%s{\"player\":\"s\",\"seq\":%d,\"client_time\":%.4f,"
                                          "\"received\":%.4f,\"ack\":%.4f,\"x_note\":7}",
                               k > 1 ? "," : "", k, 10 + k / 30.0, 10 + k / 60.0, 9.95 + k / 60.0);
    memcpy(body + len, "]}", sizeof "]}");
    snprintf(path, sizeof path, "/v1/matches/%s/moves", match);
    char *answer = hs_kept_post(&kept, path, body);
    json_t *root = json_loads(answer, 0, NULL);
    json_array_foreach(json_object_get(root, "results"), i, result) rejected +=
        strcmp(text_of(result, "verdict"), "rejected") == 0;
    json_decref(root);
    free(answer);
    free(body);
    return rejected;
}

static void end_match(const char *match)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/matches/%s", match);
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", path, NULL), 200);
    hs_stored_wait(&kept);
}

/* ---- context ---- */

/* A verdict knows its player at that moment, and later the whole match. */
START_TEST(verdicts_know_their_player)
{
    char first[HS_STORED_ID], second[HS_STORED_ID], path[64];
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, first);
    post_fast_moves("one", 120, false);
    hs_stored_post(&kept, "one", "s", 2, HS_STORED_AWAY, second);
    hs_stored_wait(&kept);
    for (int ends = 0; ends < 2; ends++) {
        json_t *scenes[2] = {scene_of(first), scene_of(second)};
        for (int i = 0; i < 2; i++) {
            const json_t *context = json_object_get(scenes[i], "context");
            const json_t *player = json_object_get(context, "player");
            const json_t *reasons = json_object_get(player, "reasons");
            const json_t *timing = json_object_get(player, "timing");
            ck_assert_str_eq(text_of(player, "player"), "s");
            ck_assert_int_eq(whole_of(reasons, "origin_mismatch"), i + 1);
            ck_assert_int_eq(whole_of(json_object_get(context, "claims"), "all"), i + 1);
            ck_assert_int_eq(whole_of(json_object_get(timing, "flags"), "fast_clock_proven") > 0,
                             i == 1);
            const json_t *match = json_object_get(scenes[i], "match");
            ck_assert_uint_eq(json_array_size(json_object_get(match, "players")), 2);
            ck_assert_int_eq(json_object_get(match, "ended") != NULL, ends);
            json_decref(scenes[i]);
        }
        if (ends == 0)
            end_match("one");
    }
    /* The verdicts do not belong to a later match with the same name. */
    hs_stored_frames(&kept, "one", 10);
    json_t *scene = scene_of(first);
    ck_assert_ptr_nonnull(json_object_get(json_object_get(scene, "match"), "ended"));
    json_decref(scene);
    snprintf(path, sizeof path, "/v1/verdicts/%s", first);
    char *stream = hs_kept_get(&kept, path);
    ck_assert_ptr_nonnull(strstr(stream, ",\"context\":{\"opening\":"));
    free(stream);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- moves ---- */

/* Row: a list, a table. The first moves of each reason are stored, and then a sample. */
START_TEST(refused_moves_are_stored)
{
    enum { MOVES = 400, FIRST = 8, EACH = 64 };
    char path[96], file[96];
    struct hs_test_run run;
    hs_kept_start_with(&kept, "--evidence-mask", "/x_note");
    hs_stored_frames(&kept, "one", 10);
    size_t rejected = post_fast_moves("one", MOVES, _i == 1);
    ck_assert_uint_gt(rejected, 2 * (size_t)EACH);
    hs_stored_wait(&kept);
    json_t *list = hs_stored_list(&kept, "kind=move&verdict=rejected&limit=1000");
    size_t stored = json_array_size(list), wanted = FIRST + rejected / EACH;
    ck_assert_msg(stored == wanted, "%zu of %zu moves are stored, not %zu", stored, rejected,
                  wanted);
    const json_t *row = json_array_get(list, 0);
    ck_assert_str_eq(text_of(row, "player"), "s");
    ck_assert_str_eq(text_of(row, "account"), "account-s");
    ck_assert_str_eq(text_of(row, "reason"), "fast_clock_proven");
    ck_assert_str_eq(text_of(row, "unit"), "seconds");
    ck_assert_double_gt(json_number_value(json_object_get(row, "measured")),
                        json_number_value(json_object_get(row, "limit")));
    json_t *scene = scene_of(text_of(row, "verdict_id"));
    const json_t *request = json_object_get(scene, "request");
    ck_assert_str_eq(text_of(scene, "kind"), "move");
    ck_assert_int_eq(whole_of(request, "seq"), whole_of(json_object_get(scene, "answer"), "seq"));
    ck_assert_str_eq(text_of(request, "x_note"), _i == 0 ? "masked" : "");
    ck_assert_str_eq(text_of(json_object_get(scene, "answer"), "reason"), "fast_clock_proven");
    json_decref(scene);
    /* `recheck` says that it does not compute a move again; nothing differs. */
    snprintf(path, sizeof path, "/v1/verdicts/%s", text_of(row, "verdict_id"));
    char *stream = hs_kept_get(&kept, path);
    snprintf(file, sizeof file, "%s/move", kept.directory);
    hs_test_write_file(file, stream);
    free(stream);
    HS_TEST_RUN(&run, "recheck", file);
    ck_assert_msg(run.code == 0 && strstr(run.out, "a stored move is not computed again") != NULL,
                  "%s%s", run.out, run.err);
    json_decref(list);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(moves_of_one_packet_are_all_stored)
{
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_kept_holds(hs_kept_post(&kept, "/v1/matches/one/moves",
                               "{\"columns\":[\"player\",\"received\",\"client_time\"],\"rows\":["
                               "[\"s\",11,5],[\"s\",11,4.1],[\"s\",11,4.2],[\"s\",11,4.3]]}"),
                  "\"stale\"");
    hs_stored_wait(&kept);
    json_t *list = hs_stored_list(&kept, "kind=move&reason=stale");
    ck_assert_uint_eq(json_array_size(list), 3);
    json_decref(list);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- summaries ---- */

/* A match that ends leaves a row for itself and for each player; players who leave have theirs. */
START_TEST(matches_leave_summaries)
{
    char id[HS_STORED_ID];
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    free(hs_kept_post(&kept, "/v1/matches/one/frames",
                      "{\"frames\":[{\"time\":11.1,\"players\":[{\"player\":\"s\",\"position\":"
                      "[0,0,0],\"event\":\"leave\"}]}]}"));
    hs_stored_wait(&kept);
    json_t *list = summaries("kind=player");
    ck_assert_uint_eq(json_array_size(list), 1);
    ck_assert_str_eq(text_of(json_array_get(list, 0), "account"), "account-s");
    json_decref(list);
    end_match("one");
    list = summaries("match=one");
    ck_assert_uint_eq(json_array_size(list), 3); /* the match, t, s */
    const json_t *match = json_object_get(json_array_get(list, 0), "summary");
    ck_assert_str_eq(text_of(json_array_get(list, 0), "kind"), "match");
    ck_assert_int_eq(whole_of(json_object_get(match, "reasons"), "origin_mismatch"), 1);
    ck_assert(json_is_array(json_object_get(match, "hints")));
    json_decref(list);
    list = hs_stored_list(&kept, ""); /* summaries are no verdicts */
    ck_assert_uint_eq(json_array_size(list), 1);
    json_decref(list);
    json_t *report = hs_stored_get(&kept, "/v1/players/account-s");
    const json_t *session = json_array_get(json_object_get(report, "sessions"), 0);
    ck_assert_str_eq(text_of(session, "match"), "one");
    ck_assert_double_gt(
        json_number_value(json_object_get(json_object_get(session, "summary"), "suspicion")), 0);
    ck_assert_str_eq(text_of(report, "ruleset"), "centimetres");
    json_decref(report);
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/players/account-s", NULL), 200);
    list = summaries("kind=player");
    ck_assert_uint_eq(json_array_size(list), 1); /* t */
    json_decref(list);
    hs_kept_stop(&kept);
}
END_TEST

/* Posts frames of a target that runs to and fro, and claims whose `hit_time` is 0.3 s too late. */
static void play_with_wrong_times(void)
{
    enum { CLAIMS = 110 };
    static const char frame[] =
        "{\"time\":%.2f,\"players\":[{\"player\":\"s\",\"position\":[0,0,0],\"weapon\":\"rifle\"},"
        "{\"player\":\"t\",\"position\":[500,%.2f,0]}]}";
    static const char claim[] =
        "{\"now\":%.2f,\"hits\":[{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":%.2f,"
        "\"start\":[0,0,160],\"end\":[500,%.2f,%.2f],\"target\":\"t\"}]}";
    char body[1024];
    for (int i = 0; i < 2 * CLAIMS; i++) {
        double now = 10 + 0.05 * i;
        size_t len = (size_t)snprintf(body, sizeof body, "{\"frames\":[");
        len += (size_t)snprintf(body + len, sizeof body - len, frame, now, 300 * sin(1.5 * now));
        snprintf(body + len, sizeof body - len, "]}");
        free(hs_kept_post(&kept, "/v1/matches/one/frames", body));
        if (i < 10 || i % 2 == 0)
            continue;
        snprintf(body, sizeof body, claim, now, i, now - 0.05, 300 * sin(1.5 * (now - 0.35)),
                 120 + 0.1 * i);
        free(hs_kept_post(&kept, "/v1/matches/one/hits", body));
    }
}

/* The report of a player has the hints of their matches, with the number. */
START_TEST(reports_have_the_hints_of_matches)
{
    hs_kept_start(&kept, NULL);
    play_with_wrong_times();
    end_match("one");
    json_t *report = hs_stored_get(&kept, "/v1/players/s");
    const json_t *session = json_array_get(json_object_get(report, "sessions"), 0), *hint = NULL;
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(session, "hints"), i, one)
    {
        if (strcmp(text_of(one, "code"), "hit_time") == 0)
            hint = one;
    }
    ck_assert_ptr_nonnull(hint);
    ck_assert_str_eq(text_of(hint, "unit"), "seconds");
    ck_assert_double_eq_tol(json_number_value(json_object_get(hint, "measured")), -0.3, 0.05);
    json_decref(report);
    hs_kept_stop(&kept);
}
END_TEST

/* A player is compared with others under the same ruleset only. */
START_TEST(reports_compare_one_ruleset)
{
    char id[HS_STORED_ID];
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "t", 1, HS_STORED_AWAY, id);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/two", "{\"ruleset\":\"unreal\"}"),
                     201);
    hs_stored_frames(&kept, "two", 10);
    hs_stored_post(&kept, "two", "t", 1, HS_STORED_AWAY, id);
    hs_stored_post(&kept, "two", "t", 2, HS_STORED_AWAY, id);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    json_t *report = hs_stored_get(&kept, "/v1/players/s");
    const json_t *check = json_array_get(json_object_get(report, "checks"), 0);
    ck_assert_str_eq(text_of(report, "ruleset"), "centimetres");
    ck_assert_int_eq(whole_of(json_object_get(check, "others"), "claims"), 1);
    json_decref(report);
    report = hs_stored_get(&kept, "/v1/players/t"); /* their newest ruleset */
    check = json_array_get(json_object_get(report, "checks"), 0);
    ck_assert_str_eq(text_of(report, "ruleset"), "unreal");
    ck_assert_int_eq(whole_of(check, "claims"), 2);
    ck_assert_int_eq(whole_of(json_object_get(check, "others"), "claims"), 0);
    json_decref(report);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(tenants_see_their_own)
{
    const char *(*headers)[2] = hs_stored_start_tenants(&kept);
    kept.headers = headers[HS_STORED_ACME];
    hs_stored_frames(&kept, "one", 10);
    end_match("one");
    for (int i = 0; i < 2; i++) {
        kept.headers = headers[i];
        json_t *list = summaries("");
        ck_assert_uint_eq(json_array_size(list), i == HS_STORED_ACME ? 3 : 0);
        json_decref(list);
    }
    kept.headers = headers[HS_STORED_GAME];
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/summaries", NULL), 403);
    kept.headers = NULL;
    hs_kept_stop(&kept);
}
END_TEST

static bool is_logged(const char *text)
{
    char log[16384] = "";
    ck_assert_int_gt(pread(kept.service.err, log, sizeof log - 1, 0), 0);
    return strstr(log, text) != NULL;
}

/* The search for the match of a verdict ends at the rows of an earlier opening. */
START_TEST(reopened_matches_are_found)
{
    char id[HS_STORED_ID];
    hs_kept_start(&kept, NULL);
    for (int i = 0; i < 2; i++) {
        hs_stored_frames(&kept, "one", 10);
        hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
        end_match("one");
    }
    json_t *scene = scene_of(id);
    ck_assert_ptr_nonnull(json_object_get(json_object_get(scene, "match"), "ended"));
    json_decref(scene);
    ck_assert(!is_logged("cannot be read"));
    hs_kept_stop(&kept);
}
END_TEST

/* ---- damage ---- */

/* A list of summaries leaves out a row whose body is damaged. */
START_TEST(damaged_rows_are_left_out)
{
    bool is_postgres = hs_stored_server() != NULL;
    char id[HS_STORED_ID];
    sqlite3 *db;
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    end_match("one");
    hs_kept_stop(&kept);
    if (is_postgres) {
        hs_postgres_sql(hs_stored_server(), hs_stored_database(),
                        "UPDATE hindsight.bodies SET body = decode('c0ffee', 'hex')"
                        " WHERE at = (SELECT max(at) FROM hindsight.bodies)");
    } else {
        ck_assert_int_eq(sqlite3_open(hs_stored_file(&kept), &db), SQLITE_OK);
        ck_assert_int_eq(sqlite3_exec(db,
                                      "UPDATE bodies SET body = x'c0ffee'"
                                      " WHERE at = (SELECT max(at) FROM bodies)",
                                      NULL, NULL, NULL),
                         SQLITE_OK);
        sqlite3_close(db);
    }
    hs_kept_start(&kept, NULL);
    json_t *list = summaries("");
    ck_assert_uint_eq(json_array_size(list), 2); /* the players, not the match */
    json_decref(list);
    ck_assert(is_logged("a stored verdict is damaged"));
    hs_kept_stop(&kept);
}
END_TEST

/* A damaged file of today, or a damaged spool, is moved aside, and the next verdict begins a new
 * one. */
START_TEST(damaged_files_are_moved_aside)
{
    bool has_spool = hs_stored_server() != NULL;
    char id[HS_STORED_ID], path[256];
    int code;
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    hs_kept_stop(&kept);
    snprintf(path, sizeof path, "%s",
             has_spool ? hs_kept_path(&kept, "spool.db") : hs_stored_file(&kept));
    hs_test_write_file(path, "This is no database, but a text that is longer than its header. "
                             "This is no database, but a text that is longer than its header.");
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "two", 10);
    hs_stored_post(&kept, "two", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    json_t *list = hs_stored_list(&kept, "");
    ck_assert_uint_eq(json_array_size(list), has_spool ? 2 : 1); /* the first verdict had left the
                                                                    spool before the damage */
    json_decref(list);
    hs_test_shell(&code, "ls '%s'/*.db.damaged-*", kept.data);
    ck_assert_int_eq(code, 0);
    ck_assert_double_ge(hs_kept_metric(&kept, "hindsight_evidence_failures_total"), 1);
    hs_kept_stop(&kept);
}
END_TEST

/* Returns the number of verdicts of a list. */
static size_t count_of(const char *query)
{
    json_t *list = hs_stored_list(&kept, query);
    size_t count = json_array_size(list);
    json_decref(list);
    return count;
}

/* The answers leave out the damaged file of an older day. Rows: the file is no database, its tables
   are damaged. */
START_TEST(damaged_files_of_older_days_are_left_out)
{
    static const char failures[] = "hindsight_evidence_failures_total";
    char id[HS_STORED_ID], later[HS_STORED_ID], path[64], old[256];
    int code;
    if (hs_stored_server() != NULL)
        return;
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    hs_kept_stop(&kept);
    snprintf(old, sizeof old, "%s", hs_kept_path(&kept, "evidence-2026-01-31.db"));
    hs_test_shell(&code, "mv '%s' '%s' && dd if=/dev/urandom of='%s' bs=4096 %s conv=notrunc 2>&1",
                  hs_stored_file(&kept), old, old, _i == 0 ? "count=1" : "seek=2 count=30");
    ck_assert_int_eq(code, 0);
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "two", 10);
    hs_stored_post(&kept, "two", "s", 1, HS_STORED_AWAY, later);
    hs_stored_wait(&kept);
    ck_assert_double_eq(hs_kept_metric(&kept, failures), 0);
    ck_assert_uint_eq(count_of(""), 1);
    ck_assert_double_eq(hs_kept_metric(&kept, failures), 1);
    ck_assert_uint_eq(count_of("player=s"), 1);
    json_decref(summaries(""));
    json_decref(hs_stored_get(&kept, "/v1/players/s"));
    ck_assert_double_ge(hs_kept_metric(&kept, failures), 4);
    snprintf(path, sizeof path, "/v1/verdicts/%s", id);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", path, NULL), 404);
    snprintf(path, sizeof path, "/v1/verdicts/%s", later);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", path, NULL), 200);
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/players/s", NULL), 503);
    hs_kept_stop(&kept);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, verdicts_know_their_player);
    tcase_add_loop_test(tests, refused_moves_are_stored, 0, 2);
    tcase_add_test(tests, moves_of_one_packet_are_all_stored);
    tcase_add_test(tests, matches_leave_summaries);
    tcase_add_test(tests, reports_compare_one_ruleset);
    tcase_add_test(tests, reports_have_the_hints_of_matches);
    tcase_add_test(tests, tenants_see_their_own);
    tcase_add_test(tests, reopened_matches_are_found);
    tcase_add_test(tests, damaged_rows_are_left_out);
    tcase_add_test(tests, damaged_files_are_moved_aside);
    tcase_add_loop_test(tests, damaged_files_of_older_days_are_left_out, 0, 2);
}

int main(void)
{
    Suite *suite = suite_create("evidence_players");
    hs_stored_add_cases(suite, HS_STORED_BOTH, setup, teardown, add_tests);
    return hs_run_suite(suite);
}
