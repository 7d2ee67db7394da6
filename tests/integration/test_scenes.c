/* Tests what an analyst does with stored verdicts. Every verdict has a scene, `hindsight show`
   draws it, and what-if computes stored verdicts again under other rules. */
#include "tests/integration/stored.h"
#include "tests/support/clock.h"
#include "tests/support/contract/document.h"
#include "tests/support/contract/schema.h"
#include "tests/support/files.h"
#include "tests/support/http/tokens.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hs_test_kept kept;

static void setup(void)
{
    hs_stored_setup(&kept);
}

static void teardown(void)
{
    hs_kept_teardown(&kept);
}

static const char *text_of(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

static json_t *scene_of(const char *id)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/verdicts/%s/scene", id);
    return hs_stored_get(&kept, path);
}

/* ---- scenes ---- */

/* Whether the scene shows a body with this role at this moment (`when`). */
static bool has_body(const json_t *scene, const char *role, const char *when)
{
    size_t i;
    json_t *body;
    json_array_foreach(json_object_get(scene, "bodies"), i, body)
    {
        if (strcmp(text_of(body, "role"), role) == 0 && strcmp(text_of(body, "when"), when) == 0)
            return true;
    }
    return false;
}

/* The scene of a miss must have the measured gap. The scene of a shot that a wall stopped must have
   the place. */
static void check_reason(const json_t *row, const json_t *scene)
{
    const json_t *shot = json_object_get(scene, "shot");
    const char *reason = text_of(row, "reason"), *kind = text_of(row, "kind");
    bool has_path = json_array_size(json_object_get(shot, "path")) > 0;
    if (strcmp(reason, "no_intersection") == 0 && has_path) {
        const json_t *closest = json_object_get(shot, "closest");
        double gap = json_number_value(json_object_get(closest, "distance"));
        ck_assert(has_body(scene, "target", "hit_time"));
        ck_assert_double_eq_tol(gap, json_number_value(json_object_get(row, "measured")), 2e-6);
        ck_assert(json_is_null(json_object_get(shot, "stopped")));
    }
    if (strcmp(reason, "occluded_world") == 0 && has_path && strcmp(kind, "hit") == 0 &&
        !json_is_null(json_object_get(shot, "impact")))
        ck_assert(json_is_object(json_object_get(shot, "stopped")));
}

/* The contract's schema lists every member. Checking a scene against it takes long, so only each
   SCHEMA_EVERY-th scene is checked. */
enum { SCHEMA_EVERY = 8 };

static void check_schema(const json_t *document, const json_t *scene)
{
    struct hs_schema_fault fault;
    bool is_move = strcmp(text_of(scene, "kind"), "move") == 0;
    const json_t *schema = hs_contract_schema(document, is_move ? "MoveScene" : "Scene");
    bool fits = hs_schema_fits(document, schema, scene, &fault);
    ck_assert_msg(fits, "%s: %s", fault.pointer, fault.text);
}

START_TEST(every_verdict_has_a_scene)
{
    size_t i, rejected = 0;
    json_t *row, *document = hs_contract_load();
    hs_kept_start_with(&kept, "--default-ruleset", "metres");
    hs_stored_play_all(&kept);
    json_t *all = hs_stored_list(&kept, "limit=1000");
    json_array_foreach(all, i, row)
    {
        bool is_move = strcmp(text_of(row, "kind"), "move") == 0;
        bool is_accepted = strcmp(text_of(row, "verdict"), "accepted") == 0;
        rejected += is_move || is_accepted ? 0 : 1;
        if (!hs_stored_is_checked(i))
            continue;
        json_t *scene = scene_of(text_of(row, "verdict_id"));
        ck_assert(json_equal(json_object_get(scene, "verdict"), row));
        if (is_move) {
            check_schema(document, scene);
            json_decref(scene);
            continue;
        }
        ck_assert_msg(json_is_true(json_object_get(scene, "identical")), "%s",
                      text_of(row, "verdict_id"));
        const json_t *answer = json_object_get(scene, "answer");
        ck_assert_str_eq(text_of(answer, "reason"), text_of(row, "reason"));
        ck_assert_int_eq(json_is_null(json_object_get(scene, "sentence")), is_accepted);
        ck_assert_str_eq(text_of(json_object_get(scene, "shooter"), "player"),
                         text_of(row, "player"));
        check_reason(row, scene);
        if (i % SCHEMA_EVERY == 0)
            check_schema(document, scene);
        json_decref(scene);
    }
    ck_assert_uint_gt(rejected, 750);
    json_decref(document);
    json_decref(all);
    hs_kept_stop(&kept);
}
END_TEST

/* Opens a match on a map with `count` posts around the shot and a wall in its way. Writes the id of
   a claim that the wall stops. */
static void post_in_match(const char *match, int count, char id[HS_STORED_ID])
{
    char path[96];
    static const char claim[] =
        "{\"now\":11.05,\"hits\":[{\"shot\":1,\"shooter\":\"s\",\"hit_time\":11,"
        "\"start\":[0,0,160],\"end\":[500,0,160],\"target\":\"t\"}]}";
    size_t size = 128 + (size_t)count * 64, len;
    char *map = malloc(size);
    ck_assert_ptr_nonnull(map);
    len = (size_t)snprintf(map, size, "{\"boxes\":[{\"min\":[240,-90,0],\"max\":[260,90,400]}");
    for (int i = 0; i < count; i++)
        len += (size_t)snprintf(map + len, size - len, ",{\"min\":[%d,%d,0],\"max\":[%d,%d,1]}",
                                i % 400, 20 + i / 400, i % 400 + 1, 21 + i / 400);
    snprintf(map + len, size - len, "]}");
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/maps/posts", map) / 100, 2);
    free(map);
    snprintf(path, sizeof path, "/v1/matches/%s", match);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", path, "{\"map\":\"posts\"}"), 201);
    hs_stored_frames(&kept, match, 10);
    snprintf(path, sizeof path, "/v1/matches/%s/hits", match);
    hs_kept_holds(hs_kept_post(&kept, path, claim), "occluded_world");
    hs_stored_wait(&kept);
    snprintf(path, sizeof path, "match=%s", match);
    json_t *list = hs_stored_list(&kept, path);
    snprintf(id, HS_STORED_ID, "%s", text_of(json_array_get(list, 0), "verdict_id"));
    json_decref(list);
}

static void post_behind_wall(int count, char id[HS_STORED_ID])
{
    post_in_match("m", count, id);
}

START_TEST(walls_are_bounded)
{
    enum { POSTS = 20000, MOST = 4096 };
    char id[HS_STORED_ID];
    hs_kept_start(&kept, NULL);
    post_behind_wall(POSTS, id);
    json_t *scene = scene_of(id);
    const json_t *walls = json_object_get(scene, "walls");
    size_t boxes = json_array_size(json_object_get(walls, "boxes")) / 6;
    ck_assert_uint_eq(boxes, MOST);
    ck_assert_int_gt(json_integer_value(json_object_get(walls, "left_out")), 0);
    const json_t *stopped = json_object_get(json_object_get(scene, "shot"), "stopped");
    ck_assert_str_eq(text_of(stopped, "by"), "wall");
    ck_assert_double_eq_tol(json_number_value(json_object_get(stopped, "distance")), 240, 1e-3);
    ck_assert_str_eq(text_of(json_object_get(scene, "map"), "name"), "posts");
    json_decref(scene);
    hs_kept_stop(&kept);
}
END_TEST

/* A large map takes seconds to build. So a scene uses the map of the service if that has the same
   revision. Here the scene has no other map, because the store has lost its copy. */
START_TEST(a_scene_uses_the_map_of_the_service)
{
    char id[HS_STORED_ID], path[96];
    sqlite3 *db;
    hs_kept_start(&kept, NULL);
    post_behind_wall(10, id);
    ck_assert_int_eq(sqlite3_open(hs_stored_file(&kept), &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "DELETE FROM documents WHERE kind = 'map'", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    json_t *scene = scene_of(id);
    ck_assert_str_eq(text_of(json_object_get(scene, "map"), "name"), "posts");
    json_decref(scene);
    snprintf(path, sizeof path, "/v1/verdicts/%s/scene", id);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/maps/posts", "{\"boxes\":[]}"), 200);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", path, NULL), 404); /* another map */
    hs_kept_stop(&kept);
}
END_TEST

/* ---- show ---- */

static const char *url(void)
{
    static char text[64];
    snprintf(text, sizeof text, "http://127.0.0.1:%u", kept.service.data_port);
    return text;
}

static void shows(const char *what, const char *const *parts, size_t count)
{
    struct hs_test_run run;
    HS_TEST_RUN(&run, "show", what, "--server", url());
    ck_assert_msg(run.code == 0, "%s%s", run.out, run.err);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(strstr(run.out, parts[i]) != NULL, "no %s in\n%s", parts[i], run.out);
}

#define SHOWS(what, ...)                                                                           \
    shows(what, (const char *const[]){__VA_ARGS__},                                                \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

START_TEST(show_draws_a_verdict)
{
    char id[HS_STORED_ID], path[96], file[128];
    hs_kept_start(&kept, NULL);
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_BESIDE, id);
    hs_stored_wait(&kept);
    SHOWS(id, "they claim to have hit t.", "Verdict: rejected, no_intersection.", "missed by",
          "contact       fail", "the path misses t by", "the same answer, byte for byte",
          "range         pass");
    snprintf(path, sizeof path, "/v1/verdicts/%s", id);
    char *stream = hs_kept_get(&kept, path);
    snprintf(file, sizeof file, "%s/verdict", kept.directory);
    hs_test_write_file(file, stream);
    free(stream);
    SHOWS(file, "missed by", "contact       fail");
    post_behind_wall(0, id);
    SHOWS(id, "stopped by a wall", "seen from above", "world         fail");
    hs_stored_post(&kept, "one", "s", 2, HS_STORED_TOO_OLD, id);
    hs_stored_wait(&kept);
    SHOWS(id, "rejected, rewind_limit", "rewind        fail");
    hs_kept_stop(&kept);
}
END_TEST

/* `show` also draws a game whose y axis points up. */
START_TEST(show_turns_the_world)
{
    static const char frames[] =
        "{\"frames\":[{\"time\":1,\"players\":[{\"player\":\"s\",\"position\":[0,0,0],"
        "\"weapon\":\"rifle\"},{\"player\":\"t\",\"position\":[5,0,0]}]},"
        "{\"time\":1.05,\"players\":[{\"player\":\"s\",\"position\":[0,0,0]},"
        "{\"player\":\"t\",\"position\":[5,0,0]}]}]}";
    static const char claim[] =
        "{\"now\":1.05,\"hits\":[{\"shot\":1,\"shooter\":\"s\",\"hit_time\":1,"
        "\"start\":[0,1.6,0],\"end\":[5,%s],\"target\":\"t\"}]}";
    static const struct {
        const char *end, *seen;
    } cases[] = {{"1.6,2", "seen from above"}, {"4,0", "seen from the side"}};
    hs_kept_start(&kept, NULL);
    for (size_t i = 0; i < 2; i++) {
        char body[256], path[64];
        snprintf(path, sizeof path, "/v1/matches/u%zu", i);
        ck_assert_int_eq(hs_kept_status(&kept, "PUT", path, "{\"ruleset\":\"unity\"}"), 201);
        snprintf(path, sizeof path, "/v1/matches/u%zu/frames", i);
        free(hs_kept_post(&kept, path, frames));
        snprintf(path, sizeof path, "/v1/matches/u%zu/hits", i);
        snprintf(body, sizeof body, claim, cases[i].end);
        hs_kept_holds(hs_kept_post(&kept, path, body), "no_intersection");
        hs_stored_wait(&kept);
        json_t *list = hs_stored_list(&kept, "limit=1");
        SHOWS(text_of(json_array_get(list, 0), "verdict_id"), cases[i].seen, " m (limit 0.00)");
        json_decref(list);
    }
    hs_kept_stop(&kept);
}
END_TEST

/* Replaces `from` and the rest of the string after it by `to`, in a downloaded verdict. */
static void damage(const char *stream, const char *from, const char *to)
{
    struct hs_test_run run;
    char file[128];
    const char *at = strstr(stream, from), *end = at + strlen(from);
    ck_assert_msg(at != NULL, "%s", from);
    size_t size = strlen(stream) + strlen(to) + 1;
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    snprintf(text, size, "%.*s%s%s", (int)(at - stream), stream, to, end + strcspn(end, "\"\n"));
    snprintf(file, sizeof file, "%s/damaged", kept.directory);
    hs_test_write_file(file, text);
    HS_TEST_RUN(&run, "show", file);
    ck_assert_msg(run.code == 1 && strstr(run.err, "it is damaged") != NULL, "%s: %d %s", from,
                  run.code, run.err);
    free(text);
}

START_TEST(show_refuses_a_damaged_verdict)
{
    char id[HS_STORED_ID], path[96];
    hs_kept_start(&kept, NULL);
    post_behind_wall(0, id);
    hs_stored_wait(&kept);
    snprintf(path, sizeof path, "/v1/verdicts/%s", id);
    char *stream = hs_kept_get(&kept, path);
    damage(stream, "\"map_revision\":\"", "\"map_revision\":\"");
    damage(strstr(stream, "\"open\""), "\"ruleset\":\"", "\"ruleset\":\"");
    damage(stream, "\"document\":{\"boxes", "\"document\":{\"spheres");
    free(stream);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(show_refuses_what_it_cannot_read)
{
    static const char unknown[] = "0123456789abcdef0123456789abcdef";
    struct hs_test_run run;
    char file[128];
    hs_test_program_rejects((const char *const[]){"show", NULL});
    hs_test_program_rejects((const char *const[]){"show", "a", "b", NULL});
    snprintf(file, sizeof file, "%s/other", kept.directory);
    hs_test_write_file(file, "{}\n");
    HS_TEST_RUN(&run, "show", file);
    ck_assert_int_eq(run.code, 1);
    ck_assert_ptr_nonnull(strstr(run.err, "is not the evidence of one hit or shot"));
    HS_TEST_RUN(&run, "show", "01234567");
    ck_assert_int_eq(run.code, 1);
    ck_assert_str_eq(run.err,
                     "hindsight show: 01234567 is not a verdict id, which has 32 hexadecimal "
                     "digits, and cannot be read as a file: No such file or directory\n");
    hs_kept_start(&kept, NULL);
    HS_TEST_RUN(&run, "show", unknown, "--server", url());
    ck_assert_int_eq(run.code, 1);
    ck_assert_ptr_nonnull(strstr(run.err, "404"));
    hs_kept_stop(&kept);
}
END_TEST

/* ---- what-if ---- */

/* The document of the default ruleset with one number changed, for free(). */
static char *changed_rules(const char *section, const char *member, double value)
{
    json_t *root = hs_stored_get(&kept, "/v1/rulesets/centimetres");
    json_t *rules = json_object_get(root, "ruleset");
    json_object_set_new(json_object_get(rules, section), member, json_real(value));
    json_object_set_new(rules, "name", json_string("loose"));
    char *text = json_dumps(rules, JSON_COMPACT);
    json_decref(root);
    ck_assert_ptr_nonnull(text);
    return text;
}

static json_t *what_if(const char *query, const char *rules)
{
    char path[128];
    snprintf(path, sizeof path, "/v1/what-if%s", query);
    char *answer = hs_kept_post(&kept, path, rules);
    json_t *root = json_loads(answer, 0, NULL);
    ck_assert_msg(root != NULL, "%s", answer);
    free(answer);
    return root;
}

static json_int_t count_of(const json_t *answer, const char *member)
{
    return json_integer_value(json_object_get(answer, member));
}

/* Posts one claim of each kind, each in its own match, and writes the ids of their verdicts. */
static void post_kinds(char ids[HS_STORED_CLAIMS][HS_STORED_ID])
{
    for (int i = 0; i < HS_STORED_CLAIMS; i++) {
        char match[16];
        snprintf(match, sizeof match, "m%d", i);
        hs_stored_frames(&kept, match, 10);
        hs_stored_post(&kept, match, "s", 1, (enum hs_stored_claim)i, ids[i]);
    }
    hs_stored_wait(&kept);
}

START_TEST(what_if_counts_what_changes)
{
    char ids[HS_STORED_CLAIMS][HS_STORED_ID], file[128], path[96];
    struct hs_test_run run;
    hs_kept_start_with(&kept, "--evidence-sample", "1");
    post_kinds(ids);
    char *rules = changed_rules("hit", "claim_padding", 180);
    json_t *answer = what_if("", rules);
    ck_assert_str_eq(text_of(answer, "ruleset"), "loose");
    ck_assert_int_eq(count_of(answer, "computed"), HS_STORED_CLAIMS);
    ck_assert_int_eq(count_of(answer, "changed"), 1);
    ck_assert_int_eq(count_of(answer, "unchanged"), HS_STORED_CLAIMS - 1);
    ck_assert_int_eq(count_of(answer, "incomparable"), 0);
    ck_assert_ptr_null(json_object_get(answer, "next"));
    const json_t *change = json_array_get(json_object_get(answer, "changes"), 0);
    ck_assert_str_eq(text_of(change, "verdict_id"), ids[HS_STORED_BESIDE]);
    ck_assert_str_eq(text_of(json_object_get(change, "before"), "reason"), "no_intersection");
    ck_assert_str_eq(text_of(json_object_get(change, "after"), "verdict"), "accepted");
    json_decref(answer);
    /* `recheck` gives the same result for the downloaded verdict. */
    snprintf(path, sizeof path, "/v1/verdicts/%s", ids[HS_STORED_BESIDE]);
    char *stream = hs_kept_get(&kept, path);
    snprintf(file, sizeof file, "%s/verdict", kept.directory);
    hs_test_write_file(file, stream);
    snprintf(path, sizeof path, "%s/loose.json", kept.directory);
    hs_test_write_file(path, rules);
    HS_TEST_RUN(&run, "recheck", file, "--rules", path);
    ck_assert_msg(strstr(run.out, "rejected no_intersection -> accepted ok_lenient") != NULL,
                  "%s%s", run.out, run.err);
    free(stream);
    free(rules);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(what_if_takes_filters_and_pages)
{
    char ids[HS_STORED_CLAIMS][HS_STORED_ID], query[96] = "?limit=1";
    hs_kept_start_with(&kept, "--evidence-sample", "0");
    post_kinds(ids); /* the store leaves out the verdict on the fair claim */
    char *rules = changed_rules("rewind", "limit", 0.5);
    json_int_t computed = 0;
    for (int page = 0; query[0] != '\0'; page++) {
        ck_assert_int_lt(page, HS_STORED_CLAIMS + 1);
        json_t *answer = what_if(query, rules);
        computed += count_of(answer, "computed");
        json_int_t next = count_of(answer, "next");
        query[0] = '\0';
        if (next > 0)
            snprintf(query, sizeof query, "?limit=1&cursor=%lld", (long long)next);
        json_decref(answer);
    }
    ck_assert_int_eq(computed, HS_STORED_CLAIMS - 1);
    json_t *answer = what_if("?reason=rewind_limit&ruleset=centimetres", rules);
    ck_assert_int_eq(count_of(answer, "computed"), 1);
    json_decref(answer);
    free(rules);
    json_t *root = hs_stored_get(&kept, "/v1/rulesets/metres"); /* change the rigs */
    char *metres = json_dumps(json_object_get(root, "ruleset"), JSON_COMPACT);
    answer = what_if("", metres);
    ck_assert_int_eq(count_of(answer, "computed"), 0);
    ck_assert_int_eq(count_of(answer, "incomparable"), HS_STORED_CLAIMS - 1);
    json_decref(answer);
    json_decref(root);
    free(metres);
    ck_assert_int_eq(hs_kept_status(&kept, "POST", "/v1/what-if", "{\"rigs\":7}"), 400);
    ck_assert_int_eq(hs_kept_status(&kept, "POST", "/v1/what-if?limit=5001", "{}"), 400);
    hs_kept_stop(&kept);
}
END_TEST

/* A what-if request on a connection of its own. */
struct asking {
    pthread_t thread;
    unsigned port;
    const char *rules;
    struct hs_test_response response;
};

static void *ask(void *context)
{
    struct asking *asking = context;
    struct hs_test_http *http = hs_test_http_open(asking->port);
    hs_test_http_send(http, "POST", "/v1/what-if", asking->rules, strlen(asking->rules), NULL,
                      &asking->response);
    hs_test_http_close(http);
    return NULL;
}

/* Stops the service some time after a what-if has begun to build a map. Returns the answer. */
static json_t *stop_during_what_if(const char *rules, double seconds)
{
    struct asking asking = {.port = kept.service.data_port, .rules = rules};
    double before = hs_kept_metric(&kept, "hindsight_map_bytes");
    ck_assert_int_eq(pthread_create(&asking.thread, NULL, ask, &asking), 0);
    for (int tries = 0; tries < 5000 && hs_kept_metric(&kept, "hindsight_map_bytes") <= before;
         tries++)
        hs_test_pause_ms(1);
    hs_test_pause_ms((int)(1000 * seconds));
    hs_kept_stop(&kept);
    pthread_join(asking.thread, NULL);
    json_t *answer = hs_test_response_json(&asking.response);
    ck_assert_msg(asking.response.status == 200 && answer != NULL, "%ld %s %s",
                  asking.response.status, asking.response.body, asking.response.error);
    hs_test_response_free(&asking.response);
    return answer;
}

/* If the service ends during a what-if, the answer has what was computed until then, and a cursor
   for the rest. Each verdict here needs a map of its own, whose build takes a while, because the
   map of the service has another revision. Rows: the service ends during the first of these builds;
   during a later one. */
START_TEST(what_if_ends_with_the_service)
{
    enum { MAPS = 4, POSTS = 24000 };
    static const double shares[] = {0, 0.5};
    char id[HS_STORED_ID], path[96], query[64];
    hs_kept_start(&kept, NULL);
    for (int i = 0; i < MAPS; i++) {
        snprintf(path, sizeof path, "m%d", i);
        post_in_match(path, POSTS + i, id);
        snprintf(path, sizeof path, "/v1/verdicts/%s", id);
        for (int tries = 0; tries < 3000 && hs_kept_status(&kept, "GET", path, NULL) != 200;
             tries++)
            hs_test_pause_ms(10); /* until the map is saved */
    }
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/maps/posts", "{\"boxes\":[]}"), 200);
    char *rules = changed_rules("hit", "claim_padding", 1);
    double began = hs_test_seconds();
    json_t *answer = what_if("", rules);
    double whole = hs_test_seconds() - began;
    ck_assert_int_eq(count_of(answer, "computed"), MAPS);
    ck_assert_ptr_null(json_object_get(answer, "next"));
    json_decref(answer);
    answer = stop_during_what_if(rules, shares[_i] * whole);
    json_int_t computed = count_of(answer, "computed");
    printf("%lld of %d verdicts in %.2f of %.2f s\n", (long long)computed, MAPS, shares[_i] * whole,
           whole);
    ck_assert_int_lt(computed, MAPS);
    snprintf(query, sizeof query, "?cursor=%lld", (long long)count_of(answer, "next"));
    json_decref(answer);
    hs_kept_start(&kept, NULL);
    answer = what_if(query, rules);
    ck_assert_int_eq(computed + count_of(answer, "computed"), MAPS);
    ck_assert_ptr_null(json_object_get(answer, "next"));
    json_decref(answer);
    free(rules);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- who may see scenes ---- */

START_TEST(tenants_see_their_own)
{
    char path[64], id[HS_STORED_ID];
    const char *(*headers)[2] = hs_stored_start_tenants(&kept);
    kept.headers = headers[HS_STORED_ACME];
    hs_stored_frames(&kept, "one", 10);
    hs_stored_post(&kept, "one", "s", 1, HS_STORED_AWAY, id);
    hs_stored_wait(&kept);
    char *rules = changed_rules("hit", "claim_padding", 1);
    snprintf(path, sizeof path, "/v1/verdicts/%s/scene", id);
    for (int i = 0; i < 2; i++) {
        kept.headers = headers[i];
        json_t *answer = what_if("", rules);
        ck_assert_int_eq(count_of(answer, "computed"), i == 0 ? 1 : 0);
        ck_assert_int_eq(hs_kept_status(&kept, "GET", path, NULL), i == 0 ? 200 : 403);
        json_decref(answer);
    }
    kept.headers = headers[HS_STORED_GAME];
    ck_assert_int_eq(hs_kept_status(&kept, "GET", path, NULL), 403);
    ck_assert_int_eq(hs_kept_status(&kept, "POST", "/v1/what-if", rules), 403);
    kept.headers = NULL;
    free(rules);
    hs_kept_stop(&kept);
}
END_TEST

START_TEST(without_a_store_there_is_nothing)
{
    static const char path[] = "/v1/verdicts/0123456789abcdef0123456789abcdef/scene";
    hs_kept_start(&kept, NULL);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", path, NULL), 404);
    hs_kept_stop(&kept);
    hs_kept_start_with(&kept, "--evidence", "off");
    ck_assert_int_eq(hs_kept_status(&kept, "GET", path, NULL), 404);
    ck_assert_int_eq(hs_kept_status(&kept, "POST", "/v1/what-if", "{}"), 404);
    hs_kept_stop(&kept);
}
END_TEST

static void add_tests(TCase *tests)
{
    tcase_add_test(tests, every_verdict_has_a_scene);
    tcase_add_test(tests, what_if_counts_what_changes);
    tcase_add_test(tests, what_if_takes_filters_and_pages);
    tcase_add_test(tests, tenants_see_their_own);
}

int main(void)
{
    Suite *suite = suite_create("scenes");
    TCase *tests = tcase_create("all");
    hs_stored_add_cases(suite, HS_STORED_BOTH, setup, teardown, add_tests);
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, walls_are_bounded);
    tcase_add_test(tests, a_scene_uses_the_map_of_the_service);
    tcase_add_test(tests, show_draws_a_verdict);
    tcase_add_test(tests, show_turns_the_world);
    tcase_add_test(tests, show_refuses_what_it_cannot_read);
    tcase_add_test(tests, show_refuses_a_damaged_verdict);
    tcase_add_loop_test(tests, what_if_ends_with_the_service, 0, 2);
    tcase_add_test(tests, without_a_store_there_is_nothing);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
