/* The example game servers. In each engine's frame of reference the service accepts every honest
   claim, refuses every forged claim, and gives no hint. The example programs repeat requests that
   the service refuses for lack of resources. */
#include "tests/support/clock.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 10, RATE = 60, PLAYERS = 10, HONEST_MIN = 120 };

#define PLAY "env -u HINDSIGHT_TOKEN HINDSIGHT_URL=http://127.0.0.1:%u %s %s %d 2>&1"

static const char *const engines[] = {"unreal", "unity", "godot", "source"};
static struct hs_test_service service, limited, full;
static char game[256]; /* path of the built program */

static void setup(void)
{
    char program[sizeof game - 16];
    const char *path = getenv("HS_PROGRAM");
    ck_assert_ptr_nonnull(path);
    snprintf(program, sizeof program, "%s", path);
    snprintf(game, sizeof game, "%s/example_game", dirname(program));
}

/* Reads the numbers of a line "  honest: 330 of 330 claims accepted". */
static void read_line(const char *out, const char *kind, int *accepted, int *claims)
{
    char start[64];
    snprintf(start, sizeof start, "\n  %s: ", kind);
    const char *line = strstr(out, start);
    ck_assert_msg(line != NULL, "no line for %s: %s", kind, out);
    ck_assert_int_eq(sscanf(line + strlen(start), "%d of %d claims", accepted, claims), 2);
}

/* Checks the output of a match in which the service forgot its poses `moves` times. */
static void check_output(const char *out, int seconds, int moves)
{
    static const struct {
        const char *kind, *reason;
    } forged[] = {{"old times", "rewind_limit"},         {"no latency", "time_mismatch"},
                  {"through walls", "occluded_world"},   {"beside", "no_intersection"},
                  {"from elsewhere", "origin_mismatch"}, {"no shot", "no_matching_shot"},
                  {"used number", "duplicate"}};
    int accepted, claims;
    read_line(out, "honest", &accepted, &claims);
    ck_assert_msg(claims >= HONEST_MIN * seconds / SECONDS && accepted == claims, "%s", out);
    for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++) {
        char line[128];
        read_line(out, forged[i].kind, &accepted, &claims);
        ck_assert_msg(claims > 0 && accepted == 0, "%s", out);
        snprintf(line, sizeof line, "%s: 0 of %d claims accepted; %s: ", forged[i].kind, claims,
                 forged[i].reason);
        ck_assert_msg(strstr(out, line) != NULL, "not \"%s\": %s", line, out);
    }
    ck_assert(strstr(out, "caught") != NULL);
    ck_assert_msg(strstr(out, "\n  hints: 0\n") != NULL, "%s", out);
    const char *moved = strstr(out, "\n  the match moved: ");
    ck_assert_msg((moves == 0) == (moved == NULL), "%s", out);
    if (moves > 0)
        ck_assert_int_eq(atoi(moved + strlen("\n  the match moved: ")), moves);
}

static void play(const char *command, const char *engine, unsigned port, int seconds)
{
    int code;
    const char *out = hs_test_shell(&code, PLAY, port, command, engine, seconds);
    ck_assert_msg(code == 0, "%s %s: code %d: %s", command, engine, code, out);
    check_output(out, seconds, 0);
}

static bool has_python(void)
{
    int code;
    hs_test_shell(&code, "command -v python3");
    if (code != 0)
        puts("SKIP: python3 is not installed");
    return code == 0;
}

START_TEST(c_is_right_in_every_frame)
{
    play(game, engines[_i], service.data_port, SECONDS);
}
END_TEST

START_TEST(python_is_right_in_every_frame)
{
    if (has_python())
        play("python3 examples/game_server.py", engines[_i], service.data_port, SECONDS);
}
END_TEST

/* Both programs send more than the allowed 200 requests per second. The service answers the excess
   with 429, which the programs handle like 503. */
START_TEST(refused_requests_are_sent_again)
{
    const char *const games[] = {game, "python3 examples/game_server.py"};
    int code, before = 0;
    for (int i = 0; i < (has_python() ? 2 : 1); i++) {
        play(games[i], "unity", limited.data_port, SECONDS / 2);
        int refused = atoi(hs_test_shell(&code,
                                         "curl -s http://127.0.0.1:%u/metrics | sed -n "
                                         "'s/.*shed_total{reason=\"tenant_rate\"} //p'",
                                         limited.admin_port));
        ck_assert_int_gt(refused, before);
        before = refused;
    }
}
END_TEST

/* The service has space for one match, and answers 503 until that match ends. */
START_TEST(clients_wait_during_overload)
{
    const char *const games[] = {game, "python3 examples/game_server.py"};
    int code;
    for (int i = 0; i < (has_python() ? 2 : 1); i++) {
        const char *out = hs_test_shell(
            &code,
            "other=http://127.0.0.1:%u/v1/matches/other; "
            "curl -sSf -X PUT -H 'Content-Type: application/json' -d '{}' $other >/dev/null || "
            "exit 1; (sleep 0.4; curl -sSf -X DELETE $other) >/dev/null 2>&1 &",
            full.data_port);
        ck_assert_msg(code == 0, "%s", out);
        play(games[i], "unity", full.data_port, SECONDS / 2);
    }
}
END_TEST

static struct hs_test_kept kept;

/* The service ends in the middle of a match, and starts again at the same address without its
   poses. The programs post the frames of the last second, and play on. */
START_TEST(a_restart_is_survived)
{
    enum { POSES = SECONDS * RATE * PLAYERS };
    const char *const games[] = {game, "python3 examples/game_server.py"};
    char listen[32], command[256], out[8192];
    for (int i = 0; i < (has_python() ? 2 : 1); i++) {
        hs_kept_setup(&kept);
        hs_kept_start(&kept, NULL);
        snprintf(listen, sizeof listen, "127.0.0.1:%u", kept.service.data_port);
        snprintf(command, sizeof command, PLAY, kept.service.data_port, games[i], "unity", SECONDS);
        FILE *player = popen(command, "r");
        ck_assert_ptr_nonnull(player);
        while (hs_kept_metric(&kept, "hindsight_frames_total{result=\"stored\"}") < POSES / 2.0)
            hs_test_pause_ms(2);
        hs_kept_stop(&kept);
        hs_kept_start_with(&kept, "--listen", listen);
        out[fread(out, 1, sizeof out - 1, player)] = '\0';
        ck_assert_msg(pclose(player) == 0, "%s: %s", command, out);
        check_output(out, SECONDS, 1);
        hs_kept_stop(&kept);
        hs_kept_teardown(&kept);
    }
}
END_TEST

/* With tokens, the match that an aborted run may have left is forbidden, not unknown. */
START_TEST(tokens_are_used)
{
    const char *const games[] = {game, "python3 examples/game_server.py"};
    struct hs_test_token token = {.tenant = "game",
                                  .kid = "example",
                                  .scopes = "\"ingest\",\"verify\",\"rules\",\"evidence\""};
    char file[96];
    hs_kept_setup(&kept);
    snprintf(file, sizeof file, "%s/tokens", kept.directory);
    hs_test_tokens_write(file, &token, 1);
    hs_kept_start_with(&kept, "--token-file", file);
    for (int i = 0; i < (has_python() ? 2 : 1); i++) {
        int code;
        const char *out = hs_test_shell(
            &code, "HINDSIGHT_TOKEN=%s HINDSIGHT_URL=http://127.0.0.1:%u %s unity %d 2>&1",
            hs_test_token_text(&token), kept.service.data_port, games[i], SECONDS / 2);
        ck_assert_msg(code == 0, "%s: code %d: %s", games[i], code, out);
        check_output(out, SECONDS / 2, 0);
    }
    hs_kept_stop(&kept);
    hs_kept_teardown(&kept);
}
END_TEST

/* The first request has no match to bring back, so its 404 is an error. */
START_TEST(a_wrong_address_is_reported)
{
    int code;
    char wanted[96];
    const char *out = hs_test_shell(
        &code, "env -u HINDSIGHT_TOKEN HINDSIGHT_URL=http://127.0.0.1:%u/wrong '%s' unity 1 2>&1",
        service.data_port, game);
    snprintf(wanted, sizeof wanted, "PUT http://127.0.0.1:%u/wrong/v1/maps/example-c-unity: 404",
             service.data_port);
    ck_assert_int_eq(code, 2);
    ck_assert_msg(strstr(out, wanted) != NULL, "%s", out);
}
END_TEST

/* An address needs no scheme, as in the commands of README.md. */
START_TEST(an_address_needs_no_scheme)
{
    const char *const programs[] = {game, has_python() ? "python3 examples/game_server.py" : game};
    for (int i = 0; i < 2; i++) {
        int code;
        const char *out = hs_test_shell(
            &code, "env -u HINDSIGHT_TOKEN HINDSIGHT_URL=127.0.0.1:%u %s unity 2 2>&1",
            service.data_port, programs[i]);
        ck_assert_msg(code == 0, "code %d: %s", code, out);
    }
}
END_TEST

/* Runs the program as `make example` does, with a service that ends when the program ends. */
START_TEST(starts_a_service_of_its_own)
{
    int code;
    const char *out = hs_test_shell(
        &code, "env -u HINDSIGHT_URL sh scripts/example.sh \"$HS_PROGRAM\" '%s' 2>&1", game);
    ck_assert_msg(code == 0, "code %d: %s", code, out);
    int good = 0;
    for (const char *at = out; (at = strstr(at, "No honest claim was refused")) != NULL; at++)
        good++;
    ck_assert_int_eq(good, has_python() ? 8 : 4);
}
END_TEST

/* The C example includes no header of the project, so a copy of it compiles anywhere. */
START_TEST(copies_need_nothing_of_the_tree)
{
    int code;
    const char *out = hs_test_shell(&code, "! grep -n '#include \"' examples/game_server.c");
    ck_assert_msg(code == 0, "%s", out);
}
END_TEST

int main(void)
{
    static const char *const rate[] = {"--tenant-rate", "200", "--tenant-burst", "1", NULL};
    static const char *const one[] = {"--max-matches", "1", NULL};
    int failed = 1;
    if (hs_test_service_start(&service, NULL) && hs_test_service_start(&limited, rate) &&
        hs_test_service_start(&full, one)) {
        TCase *tests = tcase_create("example");
        tcase_set_timeout(tests, 60);
        tcase_add_unchecked_fixture(tests, setup, NULL);
        tcase_add_loop_test(tests, c_is_right_in_every_frame, 0, 4);
        tcase_add_loop_test(tests, python_is_right_in_every_frame, 0, 4);
        tcase_add_test(tests, refused_requests_are_sent_again);
        tcase_add_test(tests, clients_wait_during_overload);
        tcase_add_test(tests, a_restart_is_survived);
        tcase_add_test(tests, tokens_are_used);
        tcase_add_test(tests, a_wrong_address_is_reported);
        tcase_add_test(tests, an_address_needs_no_scheme);
        tcase_add_test(tests, starts_a_service_of_its_own);
        tcase_add_test(tests, copies_need_nothing_of_the_tree);
        Suite *suite = suite_create("example");
        suite_add_tcase(suite, tests);
        failed = hs_run_suite(suite);
    }
    bool clean = hs_test_service_stop(&full);
    clean = hs_test_service_stop(&limited) && clean;
    clean = hs_test_service_stop(&service) && clean;
    return failed == 0 && clean ? 0 : 1;
}
