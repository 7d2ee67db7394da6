/* `hindsight play` and `hindsight demo` as a user runs them: arguments, output, exit codes. */
#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

static struct hs_test_service service;
static char url[64], folder[64];

static const char *file_named(const char *name)
{
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
    return path[turn];
}

#define HEAD(match)                                                                                \
    "{\"format\":\"hindsight-stream\",\"version\":2}\n{\"open\":\"" match                          \
    "\",\"ruleset\":\"metres\"}\n"

static const char *write_text(const char *name, const char *text)
{
    const char *path = file_named(name);
    hs_test_write_file(path, text);
    return path;
}

/* ann stands still, and ben walks past her at 6 m/s, 20 m away. Every 150 ms, which is the rate of
   her rifle, ann hits ben at the place where ben was 100 ms before. */
static const char *write_ticks(const char *name, const char *match, int last)
{
    const char *path = file_named(name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file,
            "{\"format\":\"hindsight-stream\",\"version\":2}\n"
            "{\"open\":\"%s\",\"ruleset\":\"metres\"}\n",
            match);
    for (int i = 0; i <= last; i++) {
        double now = i * 0.05;
        fprintf(file,
                "{\"match\":\"%s\",\"request\":\"ticks\",\"body\":{\"now\":%g,\"frames\":"
                "[{\"time\":%g,\"players\":[{\"player\":\"ann\",\"position\":[0,0,0],\"weapon\":"
                "\"rifle\"},"
                "{\"player\":\"ben\",\"position\":[20,%g,0]}]}]",
                match, now, now, 6.0 * now);
        if (i > 0 && i % 3 == 0)
            fprintf(file,
                    ",\"hits\":[{\"shot\":%d,\"shooter\":\"ann\",\"hit_time\":%g,\"fire_time\":%g,"
                    "\"start\":[0,0,1.6],\"end\":[20,%g,1.1],\"target\":\"ben\"}]},"
                    "\"who\":\"honest\",\"truth\":\"hit\"}\n",
                    i, now - 0.1, now, 6.0 * (now - 0.1));
        else
            fputs("}}\n", file);
    }
    fclose(file);
    return path;
}

static const char *write_honest(const char *name, const char *match)
{
    return write_ticks(name, match, 20);
}

enum { CLAIMS = 6 };

/* Returns a number of the JSON report. `group` has names of nested objects, as in "a/b", or is
   NULL. A missing number counts as 0. */
static json_int_t count_of(const struct hs_test_run *result, const char *group, const char *key)
{
    json_t *object = json_loads(result->out, 0, NULL);
    ck_assert_msg(object != NULL, "not JSON: %s%s", result->out, result->err);
    json_t *from = object;
    for (const char *at = group; at != NULL && *at != '\0'; at += strspn(at, "/")) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "/"), at);
        from = json_object_get(from, name);
        at += strcspn(at, "/");
    }
    json_int_t count = json_integer_value(json_object_get(from, key));
    json_decref(object);
    return count;
}

START_TEST(plays_and_counts)
{
    struct hs_test_run result;
    const char *path = write_honest("honest.jsonl", "counts");
    HS_TEST_RUN(&result, "play", path, "--url", url);
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    ck_assert_str_eq(result.err, "");
    ck_assert_ptr_nonnull(strstr(result.out, "hits confirmed"));
    ck_assert_ptr_nonnull(strstr(result.out, "100.00 % of 6"));
    ck_assert_ptr_nonnull(strstr(result.out, "p50 "));

    /* The match is still open. The program uses an open match only with the option --replace. */
    HS_TEST_RUN(&result, "play", path, "--url", url);
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "--replace"));
    HS_TEST_RUN(&result, "play", path, "--url", url, "--replace", "--json");
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert_int_eq(count_of(&result, NULL, "claims"), CLAIMS);
    ck_assert_int_eq(count_of(&result, NULL, "accepted"), CLAIMS);
    ck_assert_int_eq(count_of(&result, "poses", "stored"), 42);
    HS_TEST_RUN(&result, "play", path, "--url", url, "--match", "counts-2");
    ck_assert_msg(result.code == 0, "%s", result.err);
}
END_TEST

static const struct {
    const char *kind, *reason, *flag;
    json_int_t rejected;
    /* Limits for refused and for flagged honest claims of the demo, in percent. Forged claims may
       be right by chance: an aimbot may hit a player who stands still, and some cheats hit the bone
       that pays best. */
    double demo_rejected, demo_flagged;
} cheats[] = {
    {"shift-origin", "origin_mismatch", NULL, CLAIMS, 100, 0},
    {"shift-time", "rewind_limit", NULL, CLAIMS, 100, 0},
    {"future-time", "time_in_future", NULL, CLAIMS, 100, 0},
    {"aim-ahead", "no_intersection", NULL, CLAIMS, 20, 0},
    {"reverse-aim", "no_intersection", NULL, CLAIMS, 100, 0},
    {"grow-radius", "no_intersection", "radius_forged", CLAIMS, 100, 100},
    {"forge-damage", "ok", "damage_forged", 0, 0, 100},
    {"wrong-bone", "ok", "region_mismatch", 0, 0, 50},
};

START_TEST(cheats_are_refused)
{
    struct hs_test_run result;
    char name[64];
    snprintf(name, sizeof(name), "cheat-%s", cheats[_i].kind);
    const char *path = write_honest(name, name);
    HS_TEST_RUN(&result, "play", path, "--url", url, "--json", "--cheat", cheats[_i].kind);
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert_int_eq(count_of(&result, NULL, "rejected"), cheats[_i].rejected);
    ck_assert_int_eq(count_of(&result, "reasons", cheats[_i].reason), CLAIMS);
    if (cheats[_i].flag != NULL)
        ck_assert_int_eq(count_of(&result, "flags", cheats[_i].flag), CLAIMS);
    ck_assert_int_eq(count_of(&result, "truth", "hits"), 0);
}
END_TEST

/* Returns the recording of a demo. The first call makes it. */
static const char *demo_recording(void)
{
    struct hs_test_run result;
    const char *path = file_named("cheated-demo.jsonl");
    if (access(path, F_OK) == 0)
        return path;
    HS_TEST_RUN(&result, "demo", "--seed", "1", "--keep", path);
    ck_assert_msg(result.code == 0, "%s", result.err);
    return path;
}

/* The demo has claims at many distances, by players who stand, walk or run, at such players. */
START_TEST(cheats_in_the_demo_are_refused)
{
    struct hs_test_run result;
    char match[64];
    const char *path = demo_recording();
    snprintf(match, sizeof match, "demo-%s", cheats[_i].kind);
    HS_TEST_RUN(&result, "play", path, "--url", url, "--match", match, "--json", "--cheat",
                cheats[_i].kind);
    ck_assert_msg(result.code == 0, "%s", result.err);
    double claims = (double)count_of(&result, "kinds/honest", "claims");
    double rejected = (double)count_of(&result, "kinds/honest", "rejected");
    double flagged = cheats[_i].flag == NULL
                         ? 0
                         : (double)count_of(&result, "kinds/honest/flags", cheats[_i].flag);
    ck_assert_double_ge(claims, 100);
    ck_assert_msg(rejected >= claims * cheats[_i].demo_rejected / 100, "%s: %g of %g are refused",
                  cheats[_i].kind, rejected, claims);
    ck_assert_msg(flagged >= claims * cheats[_i].demo_flagged / 100, "%s: %g of %g are flagged",
                  cheats[_i].kind, flagged, claims);
    /* The row expects no refusals: this cheat does not change the shot. */
    if (cheats[_i].rejected == 0)
        ck_assert(rejected == 0 && count_of(&result, "kinds/honest", "accepted") == (int)claims);
}
END_TEST

#define ONE_FRAME                                                                                  \
    "\"request\":\"frames\",\"body\":{\"frames\":[{\"time\":0,\"players\":[{\"player\":\"ann\","   \
    "\"position\":[0,0,0]}]}]}"

START_TEST(expectations_decide_over_the_exit_code)
{
    struct hs_test_run result;
    const char *path = write_text(
        "good.jsonl",
        HEAD("good") "{\"match\":\"good\"," ONE_FRAME ",\"expect\":{\"body\":{\"stored\":1}}}\n"
                     "{\"match\":\"good\",\"request\":\"frames\",\"body\":{},"
                     "\"expect\":{\"status\":400,\"code\":\"invalid_request\"}}\n");
    HS_TEST_RUN(&result, "play", path, "--url", url);
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    path = write_text("wrong.jsonl", HEAD("wrong") "{\"match\":\"wrong\"," ONE_FRAME
                                                   ",\"expect\":{\"body\":{\"stored\":2}}}\n");
    HS_TEST_RUN(&result, "play", path, "--url", url);
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "line 3: expectation failed"));
    ck_assert_ptr_nonnull(strstr(result.err, "1 expectations failed"));
}
END_TEST

/* Returns the number of lines of a table, and checks that the output contains each line. The
   address of the service and the latencies differ from run to run. */
static int lines_in(char *table, const char *output)
{
    int count = 0;
    for (char *line = strtok(table, "\n"); line != NULL; line = strtok(NULL, "\n"), count++) {
        const char *varying[] = {" against ", "  p50 "};
        for (int i = 0; i < 2; i++)
            if (strstr(line, varying[i]) != NULL)
                *strstr(line, varying[i]) = '\0';
        ck_assert_msg(strstr(output, line) != NULL, "no \"%s\" in %s", line, output);
    }
    return count;
}

/* Plays the first ```json block of the page. The output is the table of the page. */
START_TEST(the_documented_example_plays)
{
    struct hs_test_run result;
    char *text = hs_test_read_file("docs/recording.md", NULL);
    char *table = strstr(text, "## The table\n\n```\n");
    ck_assert_ptr_nonnull(table);
    table += strlen("## The table\n\n```\n");
    *strstr(table, "```") = '\0';
    char *begin = strstr(text, "```json\n");
    ck_assert_ptr_nonnull(begin);
    begin += strlen("```json\n");
    char *end = strstr(begin, "```");
    ck_assert_ptr_nonnull(end);
    *end = '\0';
    HS_TEST_RUN(&result, "play", write_text("example.jsonl", begin), "--url", url);
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    char *output = strdup(result.out);
    ck_assert_int_eq(lines_in(table, result.out), lines_in(output, result.out));
    free(output);
    free(text);
    ck_assert_ptr_nonnull(strstr(result.out, "1  100.00 % of 1"));
    ck_assert_ptr_nonnull(strstr(result.out, "1  0 failed"));
}
END_TEST

/* A wall between both players is put as the map, with the name of the match. Without the wall the
   players see each other. */
START_TEST(a_map_can_be_brought)
{
    struct hs_test_run result;
    char path[128], map[128];
    snprintf(path, sizeof(path), "%s", write_honest("walls.jsonl", "walls"));
    snprintf(map, sizeof(map), "%s",
             write_text("wall.json", "{\"boxes\":[{\"min\":[9.9,-50,0],\"max\":[10,50,5]}]}"));
    HS_TEST_RUN(&result, "play", path, "--url", url, "--json", "--map", map);
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert_int_eq(count_of(&result, "reasons", "occluded_world"), CLAIMS);
    HS_TEST_RUN(&result, "play", path, "--url", url, "--json", "--match", "no-walls");
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert_int_eq(count_of(&result, NULL, "accepted"), CLAIMS);
    /* The match is still open with the old wall. */
    write_text("wall.json", "{\"boxes\":[]}");
    HS_TEST_RUN(&result, "play", path, "--url", url, "--map", map);
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "--replace"));
    write_text("wall.json", "{\"boxes\":[{}]}");
    HS_TEST_RUN(&result, "play", path, "--url", url, "--map", map);
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "refused PUT /v1/maps/walls"));
    ck_assert_ptr_nonnull(strstr(result.err, "/boxes/0/min"));
    HS_TEST_RUN(&result, "play", path, "--url", url, "--map", file_named("none.json"));
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "none.json"));
}
END_TEST

START_TEST(recordings_bring_their_map)
{
    struct hs_test_run result;
    static const char shot[] =
        "\"request\":\"ticks\",\"body\":{\"now\":0,\"frames\":[{\"time\":0,\"players\":["
        "{\"player\":\"ann\",\"position\":[0,0,0],\"weapon\":\"rifle\"},"
        "{\"player\":\"ben\",\"position\":[20,0,0]}]}],\"hits\":[{\"shot\":1,\"shooter\":\"ann\","
        "\"hit_time\":0,\"start\":[0,0,1.6],\"end\":[20,0,1.1],\"target\":\"ben\"}]}}\n";
    static const char document[] =
        "{\"map\":\"brought\",\"revision\":\"1\",\"document\":{\"boxes\":[{\"min\":[9.9,-50,0],"
        "\"max\":[10,50,5]}]}}\n";
    for (int i = 0; i < 3; i++) {
        char text[2048];
        snprintf(text, sizeof(text),
                 "{\"format\":\"hindsight-stream\",\"version\":2}\n%s{\"open\":\"brought-%d\","
                 "\"ruleset\":\"metres\",\"map\":\"%sbrought\",\"map_revision\":\"1\"}\n"
                 "{\"match\":\"brought-%d\",%s",
                 i == 0 ? document : "", i, i == 2 ? "never-" : "", i, shot);
        HS_TEST_RUN(&result, "play", write_text("brought.jsonl", text), "--url", url, "--json");
        ck_assert_msg(result.code == (i < 2 ? 0 : 1), "%s", result.err);
        if (i < 2)
            ck_assert_int_eq(count_of(&result, "reasons", "occluded_world"), 1);
        else
            ck_assert_ptr_nonnull(strstr(result.err, "refused PUT /v1/matches/brought-2: 422"));
    }
}
END_TEST

START_TEST(refusals_end_the_run_and_say_where)
{
    struct hs_test_run result;
    const char *path =
        write_text("refused.jsonl", HEAD("refused") "{\"match\":\"refused\",\"request\":\"frames\","
                                                    "\"body\":{\"frames\":[{\"time\":\"noon\","
                                                    "\"players\":[]}]}}\n");
    HS_TEST_RUN(&result, "play", path, "--url", url);
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "line 3: the service refused POST"));
    ck_assert_ptr_nonnull(strstr(result.err, "/frames/0/time"));
    /* The service accepted this request, because its bad fields made only one item malformed. */
    path = write_text("asked.jsonl", HEAD("asked") "{\"match\":\"asked\",\"request\":\"frames\","
                                                   "\"body\":{\"frames\":[{\"time\":\"noon\","
                                                   "\"players\":[]}]},\"answer\":{},\"expect\":"
                                                   "{\"body\":{\"refused\":[{\"frame\":0,"
                                                   "\"reason\":\"malformed\"}]}}}\n");
    HS_TEST_RUN(&result, "play", path, "--url", url);
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    path = write_text("rules.jsonl", HEAD("rules") "{\"ruleset\":\"play-test\",\"revision\":\"1\","
                                                   "\"document\":{\"name\":\"play-test\","
                                                   "\"gravity\":1}}\n");
    HS_TEST_RUN(&result, "play", path, "--url", url);
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "refused PUT /v1/rulesets/play-test"));
    ck_assert_ptr_nonnull(strstr(result.err, "/gravity"));
}
END_TEST

#define TICK(match, stated)                                                                        \
    "{\"match\":\"" match "\",\"request\":\"ticks\",\"body\":{\"now\":" stated                     \
    ",\"frames\":[{\"time\":" stated                                                               \
    ",\"players\":[{\"player\":\"ann\",\"position\":[0,0,0]}]}]}}\n"

/* A recording of a service over a day, with parallel matches, a match that is opened twice, a gap,
   and a restart. */
START_TEST(recordings_hold_many_matches)
{
    struct hs_test_run result;
    static const char opened[] = "{\"open\":\"day-1\",\"ruleset\":\"metres\"}\n";
    char text[4096];
    snprintf(text, sizeof text, "%s{\"open\":\"day-2\",\"ruleset\":\"inches\"}\n%s%s%s%s%s%s%s%s",
             HEAD("day-1"), TICK("day-1", "1"), TICK("day-2", "1"), "{\"gap\":\"day-1\"}\n",
             TICK("day-1", "2"), opened, TICK("day-1", "1"),
             "{\"match\":\"day-2\",\"request\":\"delete\"}\n", opened);
    const char *path = write_text("day.jsonl", text);
    HS_TEST_RUN(&result, "play", path, "--url", url, "--json");
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert_int_eq(count_of(&result, "poses", "stored"), 3);
    ck_assert_int_eq(count_of(&result, "requests", "count"), 4);
    ck_assert_ptr_nonnull(strstr(result.err, "1 requests were not sent"));
    HS_TEST_RUN(&result, "play", path, "--url", url, "--match", "one");
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "several matches"));
}
END_TEST

static const char *const foreign[] = {"hello\n", "{\"format\":\"hindsight-recording\"}\n",
                                      "{\"name\":\"a scenario\",\"steps\":[]}\n", "\x7f\x45LF\1",
                                      ""};

/* The program prints one sentence, without a table of zeros. */
START_TEST(foreign_files_are_one_error)
{
    static const char *const commands[] = {"play", "recheck"};
    struct hs_test_run result;
    const char *path = write_text("foreign.jsonl", foreign[_i]);
    for (size_t i = 0; i < 2; i++) {
        HS_TEST_RUN(&result, commands[i], path);
        ck_assert_int_eq(result.code, 1);
        ck_assert_str_eq(result.out, "");
        ck_assert_msg(strstr(result.err, foreign[_i][0] != '\0'
                                             ? "is not the first line of a recording"
                                             : "is empty") != NULL,
                      "%s", result.err);
        ck_assert_ptr_eq(strchr(result.err, '\n') + 1, result.err + strlen(result.err));
    }
}
END_TEST

START_TEST(a_silent_service_is_reported)
{
    struct hs_test_run result;
    /* Nobody listens at port 1 of the loopback address. */
    HS_TEST_RUN(&result, "play", write_honest("silent.jsonl", "silent"), "--url",
                "http://127.0.0.1:1");
    ck_assert_int_eq(result.code, 1);
    ck_assert_ptr_nonnull(strstr(result.err, "no answer from http://127.0.0.1:1"));
    ck_assert_ptr_nonnull(strstr(result.err, "hindsight serve"));
}
END_TEST

/* During a match the service loses it: then either the next request is 404, or somebody has opened
   the match again. In both cases the frames of the last second are posted again. Rows 2 and 3: with
   tokens, where the lost match is forbidden instead of unknown. */
START_TEST(a_lost_match_is_brought_back)
{
    enum { LAST = 80 };
    static const struct {
        const char *loss;
        int undecided_max; /* claims of the tick that finds out that the poses are lost */
    } cases[] = {{"-X DELETE", 0},
                 {"-X DELETE $match; ask -X PUT -H Content-Type:application/json -d "
                  "'{\"ruleset\":\"metres\"}'",
                  1}};
    struct hs_test_token token = {.tenant = "game", .kid = "play", .scopes = "\"admin\""};
    struct hs_test_service closed;
    struct hs_test_run result;
    char name[16], address[64], tokens[128];
    const char *const arguments[] = {"--auto-open=false", _i / 2 == 0 ? NULL : "--token-file",
                                     tokens, NULL};
    const int undecided_max = cases[_i % 2].undecided_max;
    int code;
    snprintf(tokens, sizeof tokens, "%s/tokens", folder);
    hs_test_tokens_write(tokens, &token, 1);
    if (_i / 2 != 0)
        setenv("HINDSIGHT_TOKEN", hs_test_token_text(&token), 1);
    ck_assert(hs_test_service_start(&closed, arguments));
    snprintf(name, sizeof(name), "lost-%d", _i);
    snprintf(address, sizeof(address), "http://127.0.0.1:%u", closed.data_port);
    hs_test_shell(&code,
                  "match=%s/v1/matches/%s; ask() { curl -s -H '%s' \"$@\"; }; "
                  "(sleep 1; ask %s $match) >/dev/null 2>&1 &",
                  address, name, token.header, cases[_i % 2].loss);
    HS_TEST_RUN(&result, "play", write_ticks("lost.jsonl", name, LAST), "--url", address, "--speed",
                "2", "--json");
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    ck_assert_int_eq(count_of(&result, NULL, "claims"), LAST / 3);
    ck_assert_int_ge(count_of(&result, NULL, "accepted"), LAST / 3 - undecided_max);
    ck_assert_int_eq(count_of(&result, NULL, "rejected"), 0);
    ck_assert(hs_metric(&closed, "hindsight_frames_total{result=\"stored\"}") > 2 * (LAST + 1));
    ck_assert(hs_test_service_stop(&closed));
    unsetenv("HINDSIGHT_TOKEN");
}
END_TEST

START_TEST(speed_keeps_the_pace)
{
    struct hs_test_run result;
    const char *path = write_honest("pace.jsonl", "pace"); /* lasts one second */
    double begun = hs_test_seconds();
    HS_TEST_RUN(&result, "play", path, "--url", url, "--speed", "2");
    double took = hs_test_seconds() - begun;
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert_double_ge(took, 0.5);
}
END_TEST

static const char *const wrong[][6] = {
    {"play", NULL},
    {"play", "a.jsonl", "b.jsonl", NULL},
    {"play", "a.jsonl", "--speed", "fast", NULL},
    {"play", "a.jsonl", "--cheat", "politely", NULL},
    {"play", "a.jsonl", "--match", "a b", NULL},
    {"play", "a.jsonl", "--grow", "1", NULL},
    {"play", "a.json", "--replace", NULL},
    {"play", "a.json", "--map", "b.json", NULL},
    {"play", "a.jsonl", "--url", NULL},
    {"demo", "--seed", "-1", NULL},
    {"demo", "match", NULL},
};

START_TEST(wrong_usage_is_2)
{
    hs_test_program_rejects(wrong[_i]);
}
END_TEST

START_TEST(help_lists_the_cheats)
{
    struct hs_test_run result;
    HS_TEST_RUN(&result, "play", "--help");
    ck_assert_int_eq(result.code, 0);
    for (size_t i = 0; i < sizeof(cheats) / sizeof(cheats[0]); i++)
        ck_assert_ptr_nonnull(strstr(result.out, cheats[i].kind));
    HS_TEST_RUN(&result, "demo", "--help");
    ck_assert_int_eq(result.code, 0);
    ck_assert_ptr_nonnull(strstr(result.out, "--keep"));
}
END_TEST

START_TEST(demo_shows_what_it_promises)
{
    struct hs_test_run result;
    const char *path = file_named("demo.jsonl");
    char seed[16];
    snprintf(seed, sizeof(seed), "%d", _i + 1);
    HS_TEST_RUN(&result, "demo", "--seed", seed, "--keep", path);
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    ck_assert_str_eq(result.err, "");
    static const char *const promised[] = {
        "honest",         "claim_forger",    "through_time",  "radius_forger",      "rewind_limit",
        "time_in_future", "no_intersection", "missed by",     "One impossible hit", "wall_forger",
        "occluded_world", "stopped by",      "origin_forger", "origin_mismatch"};
    for (size_t i = 0; i < sizeof(promised) / sizeof(promised[0]); i++)
        ck_assert_msg(strstr(result.out, promised[i]) != NULL, "no \"%s\" in: %s", promised[i],
                      result.out);
    /* The recording gives the same results with recheck and with another service. */
    HS_TEST_RUN(&result, "recheck", path, "--json");
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    ck_assert_int_gt(count_of(&result, NULL, "identical"), 400);
    ck_assert_int_eq(count_of(&result, NULL, "requests_unanswered"), 0);
    char match[32];
    snprintf(match, sizeof(match), "demo-%d", _i);
    HS_TEST_RUN(&result, "play", path, "--url", url, "--match", match, "--json");
    ck_assert_msg(result.code == 0, "%s", result.err);
    json_int_t hits = count_of(&result, "truth", "hits");
    ck_assert_int_gt(hits, 50);
    ck_assert_int_ge(100 * count_of(&result, "truth", "hits_confirmed"), 99 * hits);
    ck_assert_int_eq(count_of(&result, "truth", "misses_accepted"), 0);
}
END_TEST

/* With --data, the demo ends its match, but the recording does not. So the commands that the demo
   prints work: first `play` the recording, then GET the match. */
START_TEST(a_recording_of_the_demo_leaves_its_match_open)
{
    struct hs_test_run result;
    const char *path = file_named("kept.stream");
    HS_TEST_RUN(&result, "demo", "--keep", path, "--data", file_named("kept-data"));
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    HS_TEST_RUN(&result, "recheck", path);
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    HS_TEST_RUN(&result, "play", path, "--url", url, "--match", "kept");
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert_int_eq(hs_test_http_status(service.data_port, "GET", "/v1/matches/kept", NULL), 200);
}
END_TEST

/* Returns the number of accepted claims of honest players. A forgery may turn a cheat's shot into a
   hit, so cheats do not count. */
static json_int_t accepted_of_honest(const struct hs_test_run *result)
{
    json_t *object = json_loads(result->out, 0, NULL);
    ck_assert_msg(object != NULL, "not JSON: %s", result->out);
    const json_t *honest = json_object_get(json_object_get(object, "kinds"), "honest");
    ck_assert_int_gt(json_integer_value(json_object_get(honest, "claims")), 50);
    json_int_t accepted = json_integer_value(json_object_get(honest, "accepted"));
    json_decref(object);
    return accepted;
}

/* The shots of a match end behind the body that they hit. With a larger radius they must miss. */
START_TEST(no_grown_shot_of_a_match_touches)
{
    struct hs_test_run result;
    const char *path = file_named("demo.jsonl");
    char hint[512];
    HS_TEST_RUN(&result, "demo", "--keep", path);
    ck_assert_msg(result.code == 0, "%s%s", result.out, result.err);
    snprintf(hint, sizeof hint, "\n  %s play %s ", getenv("HS_PROGRAM"), path);
    ck_assert_msg(strstr(result.out, hint) != NULL, "no hint%s in %s", hint, result.out);
    HS_TEST_RUN(&result, "play", path, "--url", url, "--match", "as-it-was", "--json");
    ck_assert_int_gt(accepted_of_honest(&result), 50);
    HS_TEST_RUN(&result, "play", path, "--url", url, "--match", "grown", "--json", "--cheat",
                "grow-radius");
    ck_assert_msg(result.code == 0, "%s", result.err);
    ck_assert_int_eq(accepted_of_honest(&result), 0);
}
END_TEST

static Suite *create_suite(void)
{
    Suite *suite = suite_create("play");
    TCase *tests = tcase_create("play");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, plays_and_counts);
    tcase_add_loop_test(tests, cheats_are_refused, 0, sizeof(cheats) / sizeof(cheats[0]));
    tcase_add_loop_test(tests, cheats_in_the_demo_are_refused, 0,
                        sizeof(cheats) / sizeof(cheats[0]));
    tcase_add_test(tests, expectations_decide_over_the_exit_code);
    tcase_add_test(tests, the_documented_example_plays);
    tcase_add_test(tests, a_map_can_be_brought);
    tcase_add_test(tests, recordings_bring_their_map);
    tcase_add_test(tests, refusals_end_the_run_and_say_where);
    tcase_add_test(tests, recordings_hold_many_matches);
    tcase_add_loop_test(tests, foreign_files_are_one_error, 0,
                        sizeof(foreign) / sizeof(foreign[0]));
    tcase_add_test(tests, a_silent_service_is_reported);
    tcase_add_loop_test(tests, a_lost_match_is_brought_back, 0, 4);
    tcase_add_test(tests, speed_keeps_the_pace);
    tcase_add_loop_test(tests, wrong_usage_is_2, 0, sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_test(tests, help_lists_the_cheats);
    tcase_add_loop_test(tests, demo_shows_what_it_promises, 0, 3);
    tcase_add_test(tests, a_recording_of_the_demo_leaves_its_match_open);
    tcase_add_test(tests, no_grown_shot_of_a_match_touches);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    strcpy(folder, "/tmp/hs-play-XXXXXX");
    if (!hs_test_service_start(&service, NULL) || mkdtemp(folder) == NULL)
        return 1;
    snprintf(url, sizeof(url), "http://127.0.0.1:%u", service.data_port);
    int failed = hs_run_suite(create_suite());
    bool clean = hs_test_service_stop(&service);
    char command[80];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    bool removed = system(command) == 0;
    return failed == 0 && clean && removed ? 0 : 1;
}
