/* Tests reviews of stored verdicts, the precision of reasons, reports about players, and the
   deletion of players. A reviewed verdict stays when the file of its day is removed. */
#include "tests/integration/stored.h"
#include "tests/support/http/tokens.h"
#include "tests/support/run_suite.h"

#include <check.h>
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

static json_t *review(const char *id, const char *body)
{
    char path[96], *answer;
    snprintf(path, sizeof path, "/v1/verdicts/%s/reviews", id);
    long status = hs_kept_send(&kept, "POST", path, body, &answer);
    ck_assert_msg(status == 201, "%s: %ld %s", body, status, answer);
    json_t *root = json_loads(answer, 0, NULL);
    free(answer);
    return root;
}

static long review_status(const char *id, const char *body)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/verdicts/%s/reviews", id);
    return hs_kept_status(&kept, "POST", path, body);
}

static json_t *reviews_of(const char *id)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/verdicts/%s/reviews", id);
    return hs_stored_get(&kept, path);
}

static const char *text_of(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

static json_int_t number_of(const json_t *object, const char *member)
{
    return json_integer_value(json_object_get(object, member));
}

/* Returns the entry of an array whose member `member` has this text. */
static const json_t *entry_of(const json_t *array, const char *member, const char *text)
{
    size_t i;
    json_t *entry;
    json_array_foreach(array, i, entry) if (strcmp(text_of(entry, member), text) == 0) return entry;
    return NULL;
}

/* ---- reviews ---- */

START_TEST(reviewed_verdicts_stay)
{
    char ids[2][HS_STORED_ID], path[96];
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, ids[0]);
    hs_stored_post(&kept, "one", "s", 2, HS_STORED_AWAY, ids[1]);
    hs_stored_wait(&kept);
    json_t *made =
        review(ids[0], "{\"label\":\"lag\",\"note\":\"100 ms of jitter\",\"by\":\"ann\"}");
    ck_assert_str_eq(text_of(made, "label"), "lag");
    json_decref(made);
    json_decref(review(ids[0], "{\"label\":\"cheat\"}"));
    json_t *root = reviews_of(ids[0]);
    const json_t *list = json_object_get(root, "reviews");
    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_str_eq(text_of(json_array_get(list, 0), "note"), "100 ms of jitter");
    ck_assert_str_eq(text_of(json_array_get(list, 0), "by"), "ann");
    ck_assert_str_eq(text_of(json_array_get(list, 1), "label"), "cheat");
    ck_assert_ptr_null(json_object_get(json_array_get(list, 1), "by"));
    json_decref(root);
    root = reviews_of(ids[1]);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "reviews")), 0);
    json_decref(root);
    hs_kept_stop(&kept);
    hs_stored_forget(&kept);
    hs_kept_start(&kept, NULL);
    json_t *kept_ones = hs_stored_list(&kept, "reviewed&player=s");
    ck_assert_uint_eq(json_array_size(kept_ones), 1);
    ck_assert_str_eq(text_of(json_array_get(kept_ones, 0), "verdict_id"), ids[0]);
    hs_stored_recheck(&kept, kept_ones);
    json_decref(kept_ones);
    root = reviews_of(ids[0]);
    ck_assert_uint_eq(json_array_size(json_object_get(root, "reviews")), 2);
    json_decref(root);
    snprintf(path, sizeof path, "/v1/verdicts/%s", ids[1]);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", path, NULL), 404);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(wrong_reviews_are_refused)
{
    static const char *const wrong[] = {"{}",
                                        "{\"label\":\"guilty\"}",
                                        "{\"label\":1}",
                                        "{\"label\":\"cheat\",\"note\":5}",
                                        "{\"label\":\"cheat\",\"who\":\"me\"}",
                                        "[]",
                                        "x"};
    char id[HS_STORED_ID], *body = malloc(2100);
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ck_assert_msg(review_status(id, wrong[i]) == 400, "%s", wrong[i]);
    int len = snprintf(body, 2100, "{\"label\":\"bug\",\"note\":\"%*s\"}", 2001, "x");
    ck_assert_int_lt(len, 2100);
    ck_assert_int_eq(review_status(id, body), 400);
    free(body);
    ck_assert_int_eq(review_status("0123456789abcdef", "{\"label\":\"bug\"}"), 404);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(review_status(id, "{\"label\":\"bug\"}"), 201);
    ck_assert_int_eq(review_status(id, "{\"label\":\"bug\"}"), 400);
    hs_kept_stop(&kept);
}
END_TEST

/* Only the newest review of a verdict counts, and `unsure` counts neither for nor against a reason.
 */
START_TEST(precision_counts_the_newest_reviews)
{
    static const char *const labels[] = {"cheat", "cheat", "legit", "unsure"};
    char ids[5][HS_STORED_ID], body[64];
    hs_kept_start(&kept, NULL);
    json_t *root = hs_stored_get(&kept, "/v1/precision");
    ck_assert_uint_eq(json_array_size(json_object_get(root, "reasons")), 0);
    json_decref(root);
    hs_stored_frames(&kept, "one", 10);
    for (int i = 0; i < 4; i++)
        hs_stored_post(&kept, "one", "s", i + 1, HS_STORED_AWAY, ids[i]);
    hs_stored_post(&kept, "one", "s", 5, HS_STORED_BESIDE, ids[4]);
    hs_stored_wait(&kept);
    json_decref(review(ids[1], "{\"label\":\"bug\"}")); /* the next review of this verdict replaces
                                                           this review */
    for (int i = 0; i < 4; i++) {
        snprintf(body, sizeof body, "{\"label\":\"%s\"}", labels[i]);
        json_decref(review(ids[i], body));
    }
    json_decref(review(ids[4], "{\"label\":\"unsure\"}"));
    root = hs_stored_get(&kept, "/v1/precision");
    const json_t *reasons = json_object_get(root, "reasons");
    ck_assert_uint_eq(json_array_size(reasons), 2);
    const json_t *away = entry_of(reasons, "reason", hs_stored_reason(HS_STORED_AWAY));
    ck_assert_int_eq(number_of(away, "cheat"), 2);
    ck_assert_int_eq(number_of(away, "legit"), 1);
    ck_assert_int_eq(number_of(away, "bug"), 0);
    ck_assert_int_eq(number_of(away, "unsure"), 1);
    ck_assert_double_eq_tol(json_number_value(json_object_get(away, "cheat_share")), 2.0 / 3, 1e-6);
    const json_t *beside = entry_of(reasons, "reason", hs_stored_reason(HS_STORED_BESIDE));
    ck_assert_ptr_null(json_object_get(beside, "cheat_share"));
    json_decref(root);
    hs_kept_stop(&kept);
}
END_TEST

/* The token says who reviews. Tenants can review, count and delete only their own verdicts. */
START_TEST(tenants_review_their_own)
{
    static struct hs_test_token tokens[] = {
        {.tenant = "acme", .kid = "ann", .scopes = "\"admin\""},
        {.tenant = "zeta", .kid = "zoe", .scopes = "\"admin\""},
        {.tenant = "acme", .kid = "bob", .scopes = "\"evidence\",\"verify\",\"ingest\",\"rules\""},
    };
    char file[96], id[HS_STORED_ID], other[HS_STORED_ID];
    const char *headers[3][2] = {{tokens[0].header}, {tokens[1].header}, {tokens[2].header}};
    snprintf(file, sizeof file, "%s/tokens", kept.directory);
    hs_test_tokens_write(file, tokens, 3);
    hs_kept_start_with(&kept, "--token-file", file);
    kept.headers = headers[1];
    hs_stored_frames(&kept, "theirs", 10);
    hs_stored_post(&kept, "theirs", "s", 1, HS_STORED_AWAY, other);
    kept.headers = headers[0];
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    kept.headers = headers[2];
    json_t *made = review(id, "{\"label\":\"cheat\",\"by\":\"somebody else\"}");
    ck_assert_str_eq(text_of(made, "by"), "bob");
    json_decref(made);
    ck_assert_int_eq(review_status(other, "{\"label\":\"cheat\"}"), 403);
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/players/s", NULL), 403);
    kept.headers = headers[1];
    json_t *root = hs_stored_get(&kept, "/v1/precision");
    ck_assert_uint_eq(json_array_size(json_object_get(root, "reasons")), 0);
    json_decref(root);
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/players/s", NULL), 200);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/players/s", NULL), 403);
    kept.headers = headers[0];
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/players/s", NULL), 200);
    root = hs_stored_get(&kept, "/v1/precision");
    ck_assert_uint_eq(json_array_size(json_object_get(root, "reasons")), 1);
    json_decref(root);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- players ---- */

START_TEST(reports_compare_a_player)
{
    char id[HS_STORED_ID];
    static const char *const names[] = {"s", "account-s"};
    hs_kept_start_with(&kept, "--evidence-sample", "1");
    hs_stored_frames(&kept, "one", 10);
    hs_stored_frames(&kept, "two", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_BESIDE, id);
    hs_stored_post(&kept, "one", "s", 2, HS_STORED_BESIDE, id);
    hs_stored_post(&kept, "one", "s", 3, HS_STORED_FAIR, id);
    hs_stored_post(&kept, "two", "s", 1, HS_STORED_AWAY, id);
    hs_stored_post(&kept, "one", "t", 1, HS_STORED_FAIR, id);
    hs_stored_wait(&kept);
    for (size_t i = 0; i < 2; i++) {
        char path[96];
        snprintf(path, sizeof path, "/v1/players/%s", names[i]);
        json_t *root = hs_stored_get(&kept, path);
        ck_assert_int_eq(number_of(root, "matches"), 2);
        ck_assert_int_eq(number_of(json_object_get(root, "verdicts"), "accepted"), 1);
        ck_assert_int_eq(number_of(json_object_get(root, "verdicts"), "rejected"), 3);
        ck_assert_int_eq(number_of(json_object_get(root, "reasons"), "origin_mismatch"), 1);
        const json_t *origin = entry_of(json_object_get(root, "checks"), "check", "origin");
        ck_assert_int_eq(number_of(origin, "claims"), 4);
        ck_assert_double_eq(json_number_value(json_object_get(origin, "p50")), 0);
        ck_assert_double_gt(json_number_value(json_object_get(origin, "p95")), 1);
        const json_t *others = json_object_get(origin, "others");
        ck_assert_int_eq(number_of(others, "claims"), 1);
        ck_assert_double_eq(json_number_value(json_object_get(others, "p95")), 0);
        const json_t *rewind = entry_of(json_object_get(root, "measures"), "measure", "rewind");
        ck_assert_double_eq_tol(json_number_value(json_object_get(rewind, "p50")), 0.05, 1e-9);
        json_decref(root);
    }
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/players/nobody", NULL), 404);
    hs_kept_stop(&kept);
}
END_TEST

/* Adds a wall across the path between `s` and `t`, 10 thick. */
static void put_wall(const char *match, double x)
{
    char path[96], wall[128], body[512];
    snprintf(wall, sizeof wall, "\"position\":[%g,0,160],\"box\":{\"half_extents\":[5,200,200]}",
             x);
    snprintf(path, sizeof path, "/v1/matches/%s/frames", match);
    snprintf(body, sizeof body,
             "{\"frames\":[{\"time\":10.95,\"players\":[],\"movers\":[{\"mover\":\"wall\",%s}]},"
             "{\"time\":11,\"players\":[],\"movers\":[{\"mover\":\"wall\",%s}]}]}",
             wall, wall);
    free(hs_kept_post(&kept, path, body));
}

static double part_of(const json_t *report, const char *check, const char *member)
{
    return json_number_value(
        json_object_get(entry_of(json_object_get(report, "checks"), "check", check), member));
}

/* A wall must be beyond the body, so the limit of `world` is a minimum: the nearer the wall, the
   larger the share of this limit that the claim used. */
START_TEST(reports_invert_the_share_of_a_minimum)
{
    char id[HS_STORED_ID];
    hs_kept_start_with(&kept, "--evidence-sample", "1");
    hs_stored_frames(&kept, "before", 10);
    put_wall("before", 100);
    hs_kept_holds(hs_kept_hit(&kept, "before", 1, 11), "occluded_world");
    hs_stored_frames(&kept, "behind", 10);
    put_wall("behind", -7);
    hs_stored_post(&kept, "behind", "t", 1, HS_STORED_FAIR, id);
    hs_stored_wait(&kept);
    json_t *root = hs_stored_get(&kept, "/v1/players/s");
    ck_assert_double_gt(part_of(root, "world", "p50"), 4); /* of 470 only 95 */
    ck_assert_double_lt(part_of(root, "shape", "p50"), 1e-3);
    json_decref(root);
    root = hs_stored_get(&kept, "/v1/players/t");
    ck_assert_double_gt(part_of(root, "world", "p50"), 0.8);
    ck_assert_double_lt(part_of(root, "world", "p50"), 1);
    json_decref(root);
    hs_kept_stop(&kept);
}
END_TEST

/* Whether any file of the store has these bytes, or any row of the database. */
static bool is_on_disk(const char *text)
{
    char command[256];
    if (hs_stored_server() != NULL &&
        atoi(hs_postgres_sql(
            hs_stored_server(), hs_stored_database(),
            "SELECT (SELECT count(*) FROM hindsight.verdicts v WHERE v::text LIKE '%%%s%%') +"
            " (SELECT count(*) FROM hindsight_cases.verdicts v WHERE v::text LIKE '%%%s%%') +"
            " (SELECT count(*) FROM hindsight_cases.reviews r WHERE r::text LIKE '%%%s%%')",
            text, text, text)) > 0)
        return true;
    snprintf(command, sizeof command, "cat %s/*.db %s/*.db-wal 2>/dev/null | grep -qaF '%s'",
             kept.data, kept.data, text);
    return system(command) == 0;
}

/* Row: by player, by account. */
START_TEST(deleted_players_leave_nothing)
{
    static const char *const paths[] = {"/v1/players/s", "/v1/players/account-s"};
    char id[HS_STORED_ID], struck[HS_STORED_ID], *answer;
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    for (int i = 0; i < 3; i++)
        hs_stored_post(&kept, "one", "s", 1 + i, HS_STORED_AWAY, id);
    hs_stored_post(&kept, "one", "t", 1, HS_STORED_AWAY, struck);
    hs_stored_frames(&kept, "two", 10);
    hs_stored_wait(&kept);
    json_decref(review(id, "{\"label\":\"cheat\",\"note\":\"remember-me\"}"));
    ck_assert(is_on_disk("account-s"));
    ck_assert(is_on_disk("remember-me"));
    ck_assert_int_eq(hs_kept_send(&kept, "DELETE", paths[_i], NULL, &answer), 200);
    ck_assert_str_eq(answer, "{\"deleted\":5}"); /* four verdicts; the reviewed one has two rows */
    free(answer);
    json_t *list = hs_stored_list(&kept, "");
    ck_assert_uint_eq(json_array_size(list), 0);
    json_decref(list);
    list = hs_stored_list(&kept, "reviewed");
    ck_assert_uint_eq(json_array_size(list), 0);
    json_decref(list);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", paths[_i], NULL), 404);
    ck_assert(!is_on_disk("account-s"));
    ck_assert(!is_on_disk("remember-me"));
    /* The writer has also forgotten the code of the name. */
    hs_stored_post(&kept, "one", "s", 10, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    list = hs_stored_list(&kept, "player=s&account=account-s");
    ck_assert_uint_eq(json_array_size(list), 1);
    hs_stored_recheck(&kept, list);
    json_decref(list);
    hs_kept_stop(&kept);
}
END_TEST

/* The audit has reviews and deletions. A deletion has only the hash of the name. */
START_TEST(the_audit_has_reviews_and_deletions)
{
    static const char sql[] = "SELECT action || ' ' || coalesce(author, '-') || ' ' ||"
                              " substr(subject, 1, 8) || ' ' || verdicts FROM audit"
                              " ORDER BY number";
    char id[HS_STORED_ID], lines[1024] = "", wanted[256];
    sqlite3 *db;
    sqlite3_stmt *find;
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    json_decref(review(id, "{\"label\":\"cheat\",\"by\":\"ann\"}"));
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/players/s", NULL), 200);
    hs_kept_stop(&kept);
    if (hs_stored_server() != NULL) {
        snprintf(wanted, sizeof wanted,
                 "review ann %.8s 1,begin to delete player - 043a7187 0,"
                 "delete player - 043a7187 2",
                 id);
        const char *rows = hs_postgres_sql(hs_stored_server(), hs_stored_database(),
                                           "SET search_path = hindsight_cases;"
                                           "SELECT string_agg(line, ',') FROM (%s) s(line)",
                                           sql);
        ck_assert_str_eq(rows, wanted);
        return;
    }
    ck_assert_int_eq(sqlite3_open(hs_kept_path(&kept, "cases.db"), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &find, NULL), SQLITE_OK);
    while (sqlite3_step(find) == SQLITE_ROW) {
        size_t len = strlen(lines);
        snprintf(lines + len, sizeof lines - len, "%s\n", sqlite3_column_text(find, 0));
    }
    sqlite3_finalize(find);
    sqlite3_close(db);
    snprintf(wanted, sizeof wanted, "review ann %.8s 1\ndelete player - 043a7187 2\n", id);
    ck_assert_str_eq(lines, wanted);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, reviewed_verdicts_stay);
    tcase_add_test(tests, wrong_reviews_are_refused);
    tcase_add_test(tests, precision_counts_the_newest_reviews);
    tcase_add_test(tests, tenants_review_their_own);
    tcase_add_test(tests, reports_compare_a_player);
    tcase_add_test(tests, reports_invert_the_share_of_a_minimum);
    tcase_add_loop_test(tests, deleted_players_leave_nothing, 0, 2);
    tcase_add_test(tests, the_audit_has_reviews_and_deletions);
}

int main(void)
{
    Suite *suite = suite_create("evidence_reviews");
    hs_stored_add_cases(suite, HS_STORED_BOTH, setup, teardown, add_tests);
    return hs_run_suite(suite);
}
