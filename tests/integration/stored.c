#include "tests/integration/stored.h"

#include "tests/support/clock.h"
#include "tests/support/http/tokens.h"
#include "tests/support/program.h"

#include <check.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- stores ---- */

static struct hs_test_postgres server;
static char database[32], connection_file[96];

static void start_server(void)
{
    hs_postgres_create(&server);
}

static void stop_server(void)
{
    hs_postgres_remove(&server);
}

void hs_stored_add_cases(Suite *suite, enum hs_stored_in stores, SFun setup, SFun teardown,
                         void (*add)(TCase *tests))
{
    const char *missing = hs_postgres_missing();
    if (missing != NULL)
        printf("SKIP: PostgreSQL: %s\n", missing);
    for (int i = stores == HS_STORED_BOTH ? 0 : 1; i < (missing == NULL ? 2 : 1); i++) {
        TCase *tests = tcase_create(i == 0 ? "sqlite" : "postgres");
        tcase_set_timeout(tests, 120);
        if (i == 1)
            tcase_add_unchecked_fixture(tests, start_server, stop_server);
        tcase_add_checked_fixture(tests, setup, teardown);
        add(tests);
        suite_add_tcase(suite, tests);
    }
}

struct hs_test_postgres *hs_stored_server(void)
{
    return server.directory[0] != '\0' ? &server : NULL;
}

const char *hs_stored_database(void)
{
    return database;
}

void hs_stored_setup(struct hs_test_kept *kept)
{
    static int tests;
    hs_kept_setup(kept);
    if (hs_stored_server() == NULL)
        return;
    snprintf(database, sizeof database, "test_%d_%d", (int)getpid(), ++tests);
    hs_postgres_sql(&server, "postgres", "CREATE DATABASE %s", database);
    snprintf(connection_file, sizeof connection_file, "%s/connection", kept->directory);
    hs_postgres_write(&server, connection_file, database, "postgres");
    kept->store[0] = "--evidence-backend";
    kept->store[1] = "postgres";
    kept->store[2] = "--evidence-connection-file";
    kept->store[3] = connection_file;
}

void hs_stored_forget(struct hs_test_kept *kept)
{
    if (hs_stored_server() != NULL)
        hs_postgres_sql(&server, database, "DROP SCHEMA hindsight CASCADE");
    else
        ck_assert_int_eq(unlink(hs_stored_file(kept)), 0);
}

/* ---- claims ---- */

static const struct {
    double y, end_y, back;
    const char *verdict, *reason;
} claims[HS_STORED_CLAIMS] = {
    [HS_STORED_FAIR] = {0, 0, 0, "accepted", "ok"},
    [HS_STORED_AWAY] = {300, 0, 0, "rejected", "origin_mismatch"},
    [HS_STORED_BESIDE] = {0, 200, 0, "rejected", "no_intersection"},
    [HS_STORED_TOO_OLD] = {0, 0, 0.9, "rejected", "rewind_limit"},
};

const char *hs_stored_reason(enum hs_stored_claim claim)
{
    return claims[claim].reason;
}

const char *(*hs_stored_start_tenants(struct hs_test_kept *kept))[2]
{
    static struct hs_test_token tokens[HS_STORED_CALLERS] = {
        [HS_STORED_ACME] = {.tenant = "acme", .kid = "all", .scopes = "\"admin\""},
        [HS_STORED_ZETA] = {.tenant = "zeta", .kid = "all", .scopes = "\"admin\""},
        [HS_STORED_GAME] = {.tenant = "acme",
                            .kid = "game",
                            .scopes = "\"ingest\",\"verify\",\"rules\""},
    };
    static const char *headers[HS_STORED_CALLERS][2];
    char file[96];
    snprintf(file, sizeof file, "%s/tokens", kept->directory);
    hs_test_tokens_write(file, tokens, HS_STORED_CALLERS);
    hs_kept_start_with(kept, "--token-file", file);
    for (int i = 0; i < HS_STORED_CALLERS; i++)
        headers[i][0] = tokens[i].header;
    return headers;
}

void hs_stored_frames(struct hs_test_kept *kept, const char *match, double from)
{
    char path[96], body[8192];
    size_t len = (size_t)snprintf(body, sizeof body, "{\"frames\":[");
    for (int i = 0; i <= 20; i++)
        len += (size_t)snprintf(
            body + len, sizeof body - len,
            "%s{\"time\":%.2f,\"players\":[{\"player\":\"s\",\"position\":[0,0,0]%s},"
            "{\"player\":\"t\",\"position\":[500,0,0]%s}]}",
            i > 0 ? "," : "", from + 0.05 * i,
            i == 0 ? ",\"weapon\":\"rifle\",\"account\":\"account-s\"" : "",
            i == 0 ? ",\"weapon\":\"rifle\",\"account\":\"account-t\"" : "");
    snprintf(body + len, sizeof body - len, "]}");
    snprintf(path, sizeof path, "/v1/matches/%s/frames", match);
    free(hs_kept_post(kept, path, body));
}

void hs_stored_post(struct hs_test_kept *kept, const char *match, const char *shooter, int shot,
                    enum hs_stored_claim claim, char id[HS_STORED_ID])
{
    char path[96], body[512];
    bool is_s = strcmp(shooter, "s") == 0;
    snprintf(path, sizeof path, "/v1/matches/%s/hits", match);
    snprintf(body, sizeof body,
             "{\"now\":11.05,\"hits\":[{\"shot\":%d,\"shooter\":\"%s\",\"hit_time\":%.2f,"
             "\"start\":[%d,%g,160],\"end\":[%d,%g,%g],\"target\":\"%s\"}]}",
             shot, shooter, 11 - claims[claim].back, is_s ? 0 : 500, claims[claim].y,
             is_s ? 500 : 0, claims[claim].end_y, 160 + 0.05 * (shot % 100), is_s ? "t" : "s");
    char *answer = hs_kept_post(kept, path, body);
    json_t *root = json_loads(answer, 0, NULL);
    const json_t *result = json_array_get(json_object_get(root, "results"), 0);
    const char *reason = json_string_value(json_object_get(result, "reason"));
    ck_assert_msg(reason != NULL && strcmp(reason, claims[claim].reason) == 0, "%s", answer);
    snprintf(id, HS_STORED_ID, "%s", json_string_value(json_object_get(result, "verdict_id")));
    json_decref(root);
    free(answer);
}

bool hs_stored_is_checked(size_t i)
{
    enum { EVERY = 8 };
    return hs_stored_server() == NULL || i % EVERY == 0;
}

void hs_stored_wait(struct hs_test_kept *kept)
{
    static const char queue[] = "hindsight_evidence_queue_length";
    for (int tries = 0; tries < 1000 && hs_kept_metric(kept, queue) > 0; tries++)
        hs_test_pause_ms(10);
    ck_assert_double_eq(hs_kept_metric(kept, queue), 0);
}

json_t *hs_stored_get(struct hs_test_kept *kept, const char *path)
{
    char *answer = hs_kept_get(kept, path);
    json_t *root = json_loads(answer, 0, NULL);
    ck_assert_msg(root != NULL, "%s: %s", path, answer);
    free(answer);
    return root;
}

json_t *hs_stored_list(struct hs_test_kept *kept, const char *query)
{
    char path[256];
    json_t *verdicts = json_array();
    json_int_t next = 0;
    do {
        int length = snprintf(path, sizeof path, "/v1/verdicts?%s", query);
        if (next > 0)
            snprintf(path + length, sizeof path - (size_t)length, "&cursor=%lld", (long long)next);
        json_t *root = hs_stored_get(kept, path);
        ck_assert(json_is_array(json_object_get(root, "verdicts")));
        json_array_extend(verdicts, json_object_get(root, "verdicts"));
        next = json_integer_value(json_object_get(root, "next"));
        json_decref(root);
    } while (next > 0);
    return verdicts;
}

void hs_stored_recheck(struct hs_test_kept *kept, const json_t *verdicts)
{
    char path[128];
    size_t i;
    json_t *verdict;
    struct hs_test_run run;
    snprintf(path, sizeof path, "%s/evidence.stream", kept->directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    json_array_foreach(verdicts, i, verdict)
    {
        char where[96];
        snprintf(where, sizeof where, "/v1/verdicts/%s",
                 json_string_value(json_object_get(verdict, "verdict_id")));
        char *stream = hs_kept_get(kept, where);
        fputs(stream, file);
        free(stream);
    }
    ck_assert_int_eq(fclose(file), 0);
    HS_TEST_RUN(&run, "recheck", path, "--json");
    ck_assert_msg(run.code == 0, "%s%s", run.out, run.err);
    json_t *report = json_loads(run.out, 0, NULL);
    json_int_t count = 0; /* moves are not computed again */
    json_array_foreach(verdicts, i, verdict) count +=
        strcmp(json_string_value(json_object_get(verdict, "kind")), "move") != 0;
    ck_assert_int_eq(json_integer_value(json_object_get(report, "claims")), count);
    ck_assert_int_eq(json_integer_value(json_object_get(report, "identical")), count);
    ck_assert_int_eq(json_integer_value(json_object_get(report, "answers_changed")), 0);
    json_decref(report);
}

const char *hs_stored_file(struct hs_test_kept *kept)
{
    static char path[256];
    char pattern[256];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/evidence-*.db", kept->data);
    ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
    ck_assert_uint_eq(found.gl_pathc, 1);
    snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
    globfree(&found);
    return path;
}

void hs_stored_play_all(struct hs_test_kept *kept)
{
    char recording[96], url[64];
    struct hs_test_run run;
    glob_t files;
    snprintf(recording, sizeof recording, "%s/demo.stream", kept->directory);
    HS_TEST_RUN(&run, "demo", "--keep", recording);
    ck_assert_int_eq(run.code, 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%u", kept->service.data_port);
    HS_TEST_RUN(&run, "play", recording, "--url", url);
    ck_assert_int_eq(run.code, 0);
    ck_assert_int_eq(glob("tests/scenarios/*.json", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        HS_TEST_RUN(&run, "play", files.gl_pathv[i], "--url", url);
        ck_assert_msg(run.code == 0, "%s: %s%s", files.gl_pathv[i], run.out, run.err);
    }
    globfree(&files);
    hs_stored_wait(kept);
}
