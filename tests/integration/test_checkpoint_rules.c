/* Rulesets that were put survive the process, and everything still belongs to its owner. */
#include "tests/support/http/client.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct hs_test_kept kept;

static void setup(void)
{
    hs_kept_setup(&kept);
}

static void teardown(void)
{
    hs_kept_teardown(&kept);
}

static char *revision_of(const char *match)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/matches/%s", match);
    json_t *state = hs_test_http_json(kept.http, "GET", path, NULL, NULL);
    ck_assert_ptr_nonnull(state);
    char *revision = strdup(json_string_value(json_object_get(state, "revision")));
    json_decref(state);
    return revision;
}

static void write_rules(const char *text)
{
    char path[160];
    snprintf(path, sizeof path, "%s/arena.json", kept.directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    fclose(file);
}

/* ---- rulesets ---- */

/* A match of one tenant keeps a ruleset whose file is gone. Another tenant who now uses the name
   can delete their own ruleset, and does not learn the name of the match. */
START_TEST(a_match_of_another_tenant_needs_nothing)
{
    struct hs_test_token tokens[] = {
        {.tenant = "acme", .kid = "a", .scopes = "\"admin\""},
        {.tenant = "zeta", .kid = "z", .scopes = "\"admin\"", .secret_seed = 2}};
    const char *const acme[] = {tokens[0].header, NULL}, *const zeta[] = {tokens[1].header, NULL};
    char file[96], rules[160];
    snprintf(file, sizeof file, "%s/tokens", kept.directory);
    snprintf(rules, sizeof rules, "%s/arena.json", kept.directory);
    hs_test_tokens_write(file, tokens, 2);
    write_rules("{\"name\":\"arena\"}");
    hs_kept_start(&kept,
                  (const char *const[]){"--rules", kept.directory, "--token-file", file, NULL});
    kept.headers = acme;
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/m", "{\"ruleset\":\"arena\"}"), 201);
    hs_kept_stop(&kept);
    ck_assert_int_eq(unlink(rules), 0);
    hs_kept_start_with(&kept, "--token-file", file);
    kept.headers = zeta;
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/rulesets/arena", "{}"), 201);
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/rulesets/arena", NULL), 204);
    hs_kept_stop(&kept);
}
END_TEST

/* A match keeps the rules that it was opened with, even if the files have other rules now or the
   name is unknown. */
START_TEST(rules_are_pinned)
{
    write_rules("{\"name\":\"arena\",\"weapons\":{\"rifle\":{\"type\":\"hitscan\",\"damage\":7}}}");
    hs_kept_start_with(&kept, "--rules", kept.directory);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/m", "{\"ruleset\":\"arena\"}"), 201);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/n", "{\"ruleset\":\"arena\"}"), 201);
    char *revision = revision_of("m");
    hs_kept_stop(&kept);
    write_rules("{\"name\":\"arena\"}");
    for (int round = 0; round < 2; round++) {
        hs_kept_start_with(&kept, "--rules", kept.directory);
        for (int i = 0; i < 2; i++) {
            char *now = revision_of(i == 0 ? "m" : "n");
            ck_assert_str_eq(now, revision);
            free(now);
        }
        ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/m", "{\"ruleset\":\"arena\"}"),
                         200);
        hs_kept_frames(&kept, "m", 10 + 100 * round);
        hs_kept_holds(hs_kept_hit(&kept, "m", 1 + round, 11 + 100 * round),
                      "\"damage_total\":14," /* twice the weapon's damage of 7 */);
        hs_kept_end(&kept, round);
    }
    free(revision);
}
END_TEST

#define RULESETS(result) "hindsight_checkpoint_rulesets_total{result=\"" result "\"}"

/* A restored ruleset has its name and its last document, and new matches can use it. */
START_TEST(rulesets_that_were_put_are_back)
{
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/rulesets/a", "{\"name\":\"a\"}"), 201);
    ck_assert_int_eq(
        hs_kept_status(&kept, "PUT", "/v1/rulesets/b", "{\"name\":\"b\",\"up\":\"+y\"}"), 201);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/m", "{\"ruleset\":\"a\"}"), 201);
    char *pinned = revision_of("m");
    ck_assert_int_eq(
        hs_kept_status(&kept, "PUT", "/v1/rulesets/a", "{\"name\":\"a\",\"up\":\"+y\"}"), 200);
    char *a = hs_kept_get(&kept, "/v1/rulesets/a"), *b = hs_kept_get(&kept, "/v1/rulesets/b");
    for (int round = 0; round < 4; round++) {
        hs_kept_end(&kept, round);
        hs_kept_start(&kept, NULL);
        ck_assert_double_eq(hs_kept_metric(&kept, RULESETS("restored")), 2);
        hs_kept_same(&kept, "/v1/rulesets/a", a);
        hs_kept_same(&kept, "/v1/rulesets/b", b);
        char *revision = revision_of("m");
        ck_assert_str_eq(revision, pinned);
        free(revision);
        hs_kept_holds(hs_kept_get(&kept, "/v1/rulesets"), "\"name\":\"a\"");
        ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/n", "{\"ruleset\":\"a\"}"),
                         round == 0 ? 201 : 200);
        revision = revision_of("n");
        ck_assert_ptr_nonnull(strstr(a, revision));
        free(revision);
    }
    hs_kept_stop(&kept);
    free(a);
    free(b);
    free(pinned);
}
END_TEST

/* ---- canaries ---- */

enum { MATCHES = 400 };

/* Opens matches with the ruleset `a` and returns how many have a revision. Closes them again. */
static int matches_with(const char *revision, char used[MATCHES])
{
    int count = 0;
    char path[96];
    for (int i = 0; i < MATCHES; i++) {
        char *answer = NULL;
        snprintf(path, sizeof path, "/v1/matches/match-%d", i);
        ck_assert_int_eq(hs_kept_send(&kept, "PUT", path, "{\"ruleset\":\"a\"}", &answer), 201);
        used[i] = strstr(answer, revision) != NULL;
        count += used[i];
        free(answer);
        ck_assert_int_eq(hs_kept_status(&kept, "PUT", path, "{\"ruleset\":\"a\"}"), 200);
        ck_assert_int_eq(hs_kept_status(&kept, "DELETE", path, NULL), 200);
    }
    return count;
}

static void put_ruleset(const char *query, const char *document, long status, char revision[80])
{
    char path[96], *answer = NULL;
    snprintf(path, sizeof path, "/v1/rulesets/a%s", query);
    ck_assert_int_eq(hs_kept_send(&kept, "PUT", path, document, &answer), status);
    const char *at = answer != NULL ? strstr(answer, "sha256:") : NULL;
    if (at != NULL && revision != NULL)
        snprintf(revision, 80, "%.71s", at);
    free(answer);
}

static const char stable_document[] = "{\"name\":\"a\"}";
static const char canary_document[] = "{\"name\":\"a\",\"zones\":{\"head\":3}}";

/* A canary gets its share of matches, the same ones after a restart, and more when its share
   grows. */
START_TEST(a_canary_gets_its_share)
{
    char revision[80], used[MATCHES], again[MATCHES];
    hs_kept_start(&kept, NULL);
    put_ruleset("?canary_share=0.2", canary_document, 404, NULL);
    put_ruleset("", stable_document, 201, NULL);
    put_ruleset("?canary_share=0.2", canary_document, 201, revision);
    int count = matches_with(revision, used);
    ck_assert_int_ge(count, MATCHES / 8);
    ck_assert_int_le(count, MATCHES / 8 * 2 + MATCHES / 20);
    char *before = hs_kept_get(&kept, "/v1/rulesets/a");
    hs_kept_holds(strdup(before), revision);
    json_t *document = json_loads(before, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(document);
    ck_assert_double_eq(
        json_number_value(json_object_get(json_object_get(document, "canary"), "share")), 0.2);
    json_decref(document);
    for (int round = 0; round < 2; round++) {
        hs_kept_end(&kept, round);
        hs_kept_start(&kept, NULL);
        hs_kept_same(&kept, "/v1/rulesets/a", before);
        ck_assert_int_eq(matches_with(revision, again), count);
        ck_assert_mem_eq(again, used, sizeof used);
    }
    free(before);
    put_ruleset("?canary_share=0.6", canary_document, 200, NULL);
    ck_assert_int_gt(matches_with(revision, again), 2 * count);
    for (int i = 0; i < MATCHES; i++)
        ck_assert_int_ge(again[i], used[i]);
    hs_kept_stop(&kept);
}
END_TEST

/* A PUT without a share ends the canary: the same document withdraws it, its own document makes it
   the ruleset of all matches. A match keeps the revision with which it was opened. */
START_TEST(a_canary_ends)
{
    char stable[80], canary[80], used[MATCHES];
    hs_kept_start(&kept, NULL);
    put_ruleset("", stable_document, 201, stable);
    put_ruleset("?canary_share=1", canary_document, 201, canary);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/m", "{\"ruleset\":\"a\"}"), 201);
    put_ruleset("", stable_document, 200, NULL);
    hs_kept_end(&kept, 1);
    hs_kept_start(&kept, NULL);
    char *revision = revision_of("m");
    ck_assert_str_eq(revision, canary);
    free(revision);
    ck_assert_int_eq(matches_with(canary, used), 0);
    put_ruleset("?canary_share=0.001", canary_document, 201, NULL);
    put_ruleset("", canary_document, 200, NULL);
    hs_kept_end(&kept, 1);
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(matches_with(canary, used), MATCHES);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(a_share_is_a_share)
{
    static const char *const wrong[] = {"0", "1.01", "-0.1", "1.5", "x",   "0.5x",
                                        "",  "nan",  "inf",  "0x1", "%201"};
    hs_kept_start(&kept, NULL);
    put_ruleset("", stable_document, 201, NULL);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char query[32];
        snprintf(query, sizeof query, "?canary_share=%s", wrong[i]);
        put_ruleset(query, canary_document, 400, NULL);
    }
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/rulesets/unreal?canary_share=0.5",
                                    "{\"name\":\"unreal\"}"),
                     400);
    hs_kept_stop(&kept);
}
END_TEST

static void expect_refused(const char *path, long status, const char *why)
{
    char *answer = NULL;
    ck_assert_int_eq(hs_kept_send(&kept, "DELETE", path, NULL, &answer), status);
    hs_kept_holds(answer, why);
}

/* A deleted ruleset stays deleted, even if older files contain it. A ruleset that was put again
   exists. */
START_TEST(a_deleted_ruleset_does_not_come_back)
{
    static const char *const all[] = {"/v1/rulesets/old", "/v1/rulesets/young",
                                      "/v1/rulesets/again"};
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", all[0], "{}"), 201);
    hs_kept_wait(&kept); /* wait for a checkpoint with this ruleset; the others are only in the
                            journal */
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", all[1], "{}"), 201);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", all[2], "{}"), 201);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/m", "{\"ruleset\":\"old\"}"), 201);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", all[0], "{\"up\":\"+y\"}"), 200);
    expect_refused(all[0], 409, "match m uses it"); /* the match uses an older revision */
    ck_assert_int_eq(hs_kept_status(&kept, "DELETE", "/v1/matches/m", NULL), 200);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(hs_kept_status(&kept, "DELETE", all[i], NULL), 204);
    expect_refused(all[0], 404, "unknown_name");
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", all[2], "{}"), 201);
    for (int round = 0; round < 4; round++) {
        if (round == 0)
            hs_kept_kill(&kept); /* so only the journal contains the changes */
        else
            hs_kept_end(&kept, round);
        hs_kept_start(&kept, NULL);
        if (round > 0) /* if rulesets are read from a journal, replaced revisions are counted,
                          too */
            ck_assert_double_eq(hs_kept_metric(&kept, RULESETS("restored")), 1);
        for (int i = 0; i < 3; i++)
            ck_assert_int_eq(hs_kept_status(&kept, "GET", all[i], NULL), i < 2 ? 404 : 200);
    }
    hs_kept_stop(&kept);
}
END_TEST

/* Rulesets from files, built-in rulesets and the default ruleset cannot be deleted. */
START_TEST(some_rulesets_stay)
{
    write_rules("{\"name\":\"arena\"}");
    hs_kept_start_with(&kept, "--rules", kept.directory);
    expect_refused("/v1/rulesets/arena", 409, "it comes from a file in --rules");
    expect_refused("/v1/rulesets/unity", 400, "`unity` is built in");
    expect_refused("/v1/rulesets/default", 400, "`default` is built in");
    hs_kept_stop(&kept);
    const char *const options[] = {"--rules", kept.directory, "--default-ruleset", "arena", NULL};
    hs_kept_start(&kept, options);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/rulesets/arena", "{\"up\":\"+y\"}"), 200);
    expect_refused("/v1/rulesets/arena", 409, "`default` stands for it");
    hs_kept_stop(&kept);
}
END_TEST

/* A ruleset file has priority over a ruleset that was put. */
START_TEST(a_file_comes_before_what_was_put)
{
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(
        hs_kept_status(&kept, "PUT", "/v1/rulesets/arena", "{\"name\":\"arena\",\"up\":\"+y\"}"),
        201);
    char *posted = hs_kept_get(&kept, "/v1/rulesets/arena");
    hs_kept_end(&kept, 1);
    write_rules("{\"name\":\"arena\"}");
    hs_kept_start_with(&kept, "--rules", kept.directory);
    ck_assert_double_eq(hs_kept_metric(&kept, RULESETS("name_of_a_file")), 1);
    char *file = hs_kept_get(&kept, "/v1/rulesets/arena");
    ck_assert_str_ne(file, posted);
    for (int round = 0; round < 2; round++) { /* in all later starts */
        hs_kept_end(&kept, round);
        hs_kept_start_with(&kept, "--rules", kept.directory);
        ck_assert_double_eq(hs_kept_metric(&kept, RULESETS("name_of_a_file")), 0);
        hs_kept_same(&kept, "/v1/rulesets/arena", file);
    }
    hs_kept_stop(&kept);
    free(posted);
    free(file);
}
END_TEST

START_TEST(the_bound_holds_for_rulesets)
{
    static const char *const names[] = {"/v1/rulesets/a", "/v1/rulesets/b"};
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", names[0], "{\"name\":\"a\"}"), 201);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", names[1], "{\"name\":\"b\"}"), 201);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/m", "{\"ruleset\":\"b\"}"), 201);
    char *pinned = revision_of("m");
    hs_kept_stop(&kept);
    hs_kept_start_with(&kept, "--max-rulesets", "8"); /* seven rulesets are built in */
    ck_assert_double_eq(hs_kept_metric(&kept, RULESETS("restored")), 1);
    ck_assert_double_eq(hs_kept_metric(&kept, RULESETS("no_room")), 1);
    long found[2] = {hs_kept_status(&kept, "GET", names[0], NULL),
                     hs_kept_status(&kept, "GET", names[1], NULL)};
    ck_assert_int_eq(found[0] + found[1], 200 + 404);
    char *revision = revision_of("m"); /* the restored match has its own ruleset in any case */
    ck_assert_str_eq(revision, pinned);
    hs_kept_stop(&kept);
    free(revision);
    free(pinned);
}
END_TEST

/* ---- owners ---- */

enum { ACME, ZETA, TOKENS };

static const char wall[] = "{\"boxes\":[{\"min\":[240,-100,0],\"max\":[260,100,300]}]}";
static const char hit[] =
    "{\"hits\":[{\"shot\":9,\"shooter\":\"s\",\"hit_time\":15,\"start\":[0,0,160],"
    "\"end\":[500,0,160],\"target\":\"t\"}]}";

static struct hs_test_token tokens[TOKENS] = {
    [ACME] = {.tenant = "acme", .kid = "game", .scopes = "\"ingest\",\"verify\",\"rules\""},
    [ZETA] = {.tenant = "zeta", .kid = "game", .scopes = "\"ingest\",\"verify\",\"rules\""},
};

static long ask(int who, const char *method, const char *path, const char *body)
{
    const char *const headers[] = {tokens[who].header, NULL};
    kept.headers = headers;
    long status = hs_kept_status(&kept, method, path, body);
    kept.headers = NULL;
    return status;
}

/* After a kill each tenant owns the same documents as before, and no document of another tenant. */
START_TEST(everything_has_its_owner_again)
{
    static const struct {
        const char *method, *path, *body;
        long own, others;
    } asked[] = {
        {"GET", "/v1/matches/m", NULL, 200, 403},
        {"GET", "/v1/rulesets/rules", NULL, 200, 403},
        {"GET", "/v1/maps/hall", NULL, 200, 403},
        {"POST", "/v1/matches/m/hits", hit, 200, 403},
        {"PUT", "/v1/matches/m", "{\"ruleset\":\"rules\",\"map\":\"hall\"}", 200, 403},
        {"PUT", "/v1/matches/m", "{}", 200, 403},
        {"PUT", "/v1/matches/z", "{\"ruleset\":\"rules\"}", 201, 422},
        {"PUT", "/v1/matches/y", "{\"map\":\"hall\"}", 201, 422},
        {"PUT", "/v1/rulesets/rules", "{\"name\":\"rules\",\"up\":\"+y\"}", 200, 403},
        {"PUT", "/v1/maps/hall", wall, 200, 403},
        {"DELETE", "/v1/maps/hall", NULL, 204, 403},
        {"DELETE", "/v1/matches/m", NULL, 200, 403},
    };
    char path[128];
    snprintf(path, sizeof path, "%s/tokens.json", kept.directory);
    hs_test_tokens_write(path, tokens, TOKENS);
    hs_kept_start_with(&kept, "--token-file", path);
    ck_assert_int_eq(ask(ACME, "PUT", "/v1/maps/hall", wall), 201);
    ck_assert_int_eq(ask(ACME, "PUT", "/v1/rulesets/rules", "{\"name\":\"rules\",\"up\":\"+y\"}"),
                     201);
    ck_assert_int_eq(ask(ACME, "PUT", "/v1/matches/m", "{\"ruleset\":\"rules\",\"map\":\"hall\"}"),
                     201);
    for (int round = 0; round < 2; round++) {
        hs_kept_end(&kept, round + 1);
        hs_kept_start_with(&kept, "--token-file", path);
        for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
            long others = ask(ZETA, asked[i].method, asked[i].path, asked[i].body);
            ck_assert_msg(others == asked[i].others, "%s %s of another: %ld", asked[i].method,
                          asked[i].path, others);
        }
    }
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        long own = ask(ACME, asked[i].method, asked[i].path, asked[i].body);
        ck_assert_msg(own == asked[i].own, "%s %s: %ld", asked[i].method, asked[i].path, own);
    }
    hs_kept_stop(&kept);
}
END_TEST

/* A ruleset is saved before its PUT is answered, even if it replaced another ruleset. */
START_TEST(a_kill_loses_no_ruleset)
{
    static const char first[] = "{\"name\":\"mine\",\"zones\":{\"head\":3}}";
    static const char second[] = "{\"name\":\"mine\",\"zones\":{\"head\":4}}";
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/rulesets/mine", first), 201);
    hs_kept_stop(&kept);
    for (int round = 0; round < 2; round++) {
        hs_kept_start(&kept, NULL);
        const char *put = round == 0 ? second : first;
        ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/rulesets/mine", put), 200);
        char *answered = hs_kept_get(&kept, "/v1/rulesets/mine");
        hs_kept_kill(&kept);
        hs_kept_start(&kept, NULL);
        hs_kept_same(&kept, "/v1/rulesets/mine", answered);
        free(answered);
        hs_kept_stop(&kept);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("checkpoint_rules");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_kill_loses_no_ruleset);
    tcase_add_test(tests, rules_are_pinned);
    tcase_add_test(tests, a_match_of_another_tenant_needs_nothing);
    tcase_add_test(tests, a_canary_gets_its_share);
    tcase_add_test(tests, a_canary_ends);
    tcase_add_test(tests, a_share_is_a_share);
    tcase_add_test(tests, rulesets_that_were_put_are_back);
    tcase_add_test(tests, a_deleted_ruleset_does_not_come_back);
    tcase_add_test(tests, some_rulesets_stay);
    tcase_add_test(tests, a_file_comes_before_what_was_put);
    tcase_add_test(tests, the_bound_holds_for_rulesets);
    tcase_add_test(tests, everything_has_its_owner_again);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
