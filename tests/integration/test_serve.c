/* The command line of the program: exit codes, help, check-config, the log. */
#include "service/system/version.h"
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char directory[64];

static void make_directory(void)
{
    strcpy(directory, "/tmp/hindsight_serve_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

static const char *path_of(const char *name)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* Runs the program through a shell. Returns its output. The code is 124 if the program did not end
   in time. */
static const char *run(const char *arguments, int *code)
{
    return hs_test_shell(code, "timeout 60 \"$HS_PROGRAM\" %s", arguments);
}

static const struct {
    const char *arguments;
    int code;
    const char *says;
} lines[] = {
    {"--help", 0, "usage: hindsight COMMAND"},
    {"--version", 0, "hindsight " HS_VERSION "\n"},
    {"serve --help", 0, "usage: hindsight serve"},
    {"check-config --help", 0, "usage: hindsight check-config"},
    {"play --help", 0, "play"},
    {"demo --help", 0, "demo"},
    {"2>&1", 2, "usage: hindsight COMMAND"},
    {"bogus 2>&1", 2, "there is no command bogus"},
    {"serve --bogus 2>&1", 2, "there is no option --bogus"},
    {"serve --listen 0.0.0.0:0 2>&1", 2, "both no-auth and insecure"},
    {"serve --listen 0.0.0.0:0 --no-auth 2>&1", 2, "both no-auth and insecure"},
    {"serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --data= --rules /nonexistent 2>&1", 2,
     "/nonexistent"},
    {"serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --data= --default-ruleset none 2>&1", 2,
     "the default ruleset does not exist"},
    {"serve --data= --listen 192.0.2.1:1 --no-auth --insecure 2>&1", 1,
     "cannot listen on 192.0.2.1:1"},
    {"check-config 2>&1", 2, "usage: hindsight check-config"},
    {"check-config a --config b 2>&1", 2, "usage: hindsight check-config"},
    {"check-config a --help", 0, "usage: hindsight check-config"},
    {"check-config /dev/null b", 1, "unexpected argument b"},
    {"list-options 2>&1", 2, "usage: hindsight list-options"},
    {"list-options html 2>&1", 2, "usage: hindsight list-options"},
    {"list-options man", 0, ".TP\n\\fB\\-\\-listen\\fR"},
    {"check-config /nonexistent", 1, "/nonexistent: cannot be read"},
};

START_TEST(exit_codes)
{
    int code;
    const char *output = run(lines[_i].arguments, &code);
    ck_assert_msg(code == lines[_i].code, "%s: code %d: %s", lines[_i].arguments, code, output);
    ck_assert_msg(strstr(output, lines[_i].says) != NULL, "%s says: %s", lines[_i].arguments,
                  output);
}
END_TEST

START_TEST(check_config_lists_every_problem)
{
    char arguments[512], text[512];
    make_directory();
    hs_test_write_file(path_of("arena.json"), "{\"name\":\"arena\"}");
    snprintf(text, sizeof text, "{\"rules\":\"%s\",\"default_ruleset\":\"arena\"}", directory);
    hs_test_write_file(path_of("good.conf"), text);
    snprintf(arguments, sizeof arguments, "check-config %s", path_of("good.conf"));
    int code;
    const char *output = run(arguments, &code);
    ck_assert_int_eq(code, 0);
    ck_assert_str_eq(output + strlen(output) - 4, "\nok\n");

    hs_test_write_file(path_of("other.json"), "{\"name\":\"other\",\"histroy\":{}}");
    snprintf(text, sizeof text, "{\"rules\":\"%s\",\"threads\":0.5,\"treads\":1}", directory);
    hs_test_write_file(path_of("bad.conf"), text);
    snprintf(arguments, sizeof arguments, "check-config %s", path_of("bad.conf"));
    output = run(arguments, &code);
    ck_assert_int_eq(code, 1);
    ck_assert_ptr_nonnull(strstr(output, "bad.conf: /threads: must be a whole number\n"));
    ck_assert_ptr_nonnull(strstr(output, "bad.conf: /treads: is not an option\n"));
    ck_assert_ptr_nonnull(strstr(output, "other.json: /histroy: "));
    remove_directory();
}
END_TEST

/*
 * check-config prints every value with its source, and a warning for an argument that only looks
 * like an option.
 */
START_TEST(check_config_prints_what_is_in_effect)
{
    char arguments[512];
    make_directory();
    hs_test_write_file(path_of("a.conf"), "{\"max_matches\":5,\"max_players\":5,\"max_batch\":5}");
    snprintf(arguments, sizeof arguments, "check-config %s --max-batch=7", path_of("a.conf"));
    setenv("HINDSIGHT_MAX_PLAYERS", "6", 1);
    setenv("HINDSIGHT_MAX_PLAYER", "hidden-value", 1);
    int code;
    const char *output = run(arguments, &code);
    ck_assert_int_eq(code, 0);
    static const char *const rows[][3] = {{"max_matches ", " 5 ", " file\n"},
                                          {"max_players ", " 6 ", " environment\n"},
                                          {"max_batch ", " 7 ", " command line\n"},
                                          {"max_samples ", " 1024 ", " default\n"},
                                          {"log_level ", " \"info\" ", " default\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *line = strstr(output, rows[i][0]);
        ck_assert_msg(line != NULL, "no %sin %s", rows[i][0], output);
        const char *value = strstr(line, rows[i][1]), *source = strstr(line, rows[i][2]);
        ck_assert(value != NULL && source != NULL && value < source);
        ck_assert_ptr_eq(strchr(line, '\n') + 1, source + strlen(rows[i][2]));
    }
    ck_assert_ptr_nonnull(strstr(output, "ignored: HINDSIGHT_MAX_PLAYER is not an option\nok\n"));
    ck_assert_ptr_null(strstr(output, "hidden-value"));
    setenv("HINDSIGHT_MAX_PLAYERS", "none", 1);
    output = run(arguments, &code);
    ck_assert_int_eq(code, 1);
    ck_assert_ptr_nonnull(strstr(output, "HINDSIGHT_MAX_PLAYERS must be a whole number"));
    unsetenv("HINDSIGHT_MAX_PLAYERS");
    unsetenv("HINDSIGHT_MAX_PLAYER");
    remove_directory();
}
END_TEST

START_TEST(check_config_checks_a_ruleset)
{
    char arguments[512];
    make_directory();
    hs_test_write_file(path_of("arena.json"), "{\"name\":\"arena\"}");
    snprintf(arguments, sizeof arguments, "check-config %s", path_of("arena.json"));
    int code;
    const char *output = run(arguments, &code);
    ck_assert_int_eq(code, 0);
    ck_assert_str_eq(output, "ruleset arena\nok\n");
    hs_test_write_file(path_of("arena.json"), "{\"name\":\"arena\",\"histroy\":{},\"up\":1}");
    output = run(arguments, &code);
    ck_assert_int_eq(code, 1);
    ck_assert_ptr_nonnull(strstr(output, "arena.json: /histroy: "));
    ck_assert_ptr_nonnull(strstr(output, "arena.json: /up: "));
    hs_test_write_file(path_of("arena.json"), "{\"name\":\"metres\"}");
    output = run(arguments, &code);
    ck_assert_int_eq(code, 1);
    ck_assert_ptr_nonnull(strstr(output, "arena.json: /name: `metres` is reserved"));
    /* Without `name`, the ruleset has the name of the file, as in the directory of `--rules`. */
    hs_test_write_file(path_of("arena.json"), "{\"hit\":{\"lean_share\":0.5}}");
    output = run(arguments, &code);
    ck_assert_int_eq(code, 0);
    ck_assert_str_eq(output, "ruleset arena\nok\n");
    hs_test_write_file(path_of("arena.json"), "{\"hit\":{\"lean_share\":2}}");
    output = run(arguments, &code);
    ck_assert_int_eq(code, 1);
    ck_assert_str_eq(strrchr(output, '/'), "/lean_share: must be from 0 to 1\n");
    ck_assert_ptr_nonnull(strstr(output, "arena.json: /hit/lean_share: "));
    remove_directory();
}
END_TEST

/* Warnings are lines on standard error, for one ruleset and for each ruleset of a directory. The
   output is still "ok", and the exit code is 0. A built-in ruleset with another name has no
   warnings. */
START_TEST(check_config_warns_of_rulesets)
{
    static const char warning[] =
        "odd.json: warning: /weapons/gun/range: 100 is 0.571 times the body of the rig `humanoid`";
    char arguments[512], text[512];
    make_directory();
    hs_test_write_file(
        path_of("odd.json"),
        "{\"name\":\"odd\",\"weapons\":{\"gun\":{\"type\":\"hitscan\",\"range\":100}}}");
    int code;
    snprintf(arguments, sizeof arguments, "check-config %s 2>&1 >/dev/null", path_of("odd.json"));
    const char *output = run(arguments, &code);
    ck_assert_int_eq(code, 0);
    ck_assert_ptr_nonnull(strstr(output, warning));
    ck_assert_ptr_nonnull(strstr(output, "odd.json: warning: /weapons/gun/min_interval: is 0, so"));
    snprintf(arguments, sizeof arguments, "check-config %s", path_of("odd.json"));
    ck_assert_str_eq(run(arguments, &code), "ruleset odd\nok\n");
    ck_assert_int_eq(code, 0);

    snprintf(text, sizeof text, "{\"rules\":\"%s\"}", directory);
    hs_test_write_file(path_of("all.conf"), text);
    hs_test_write_file(path_of("plain.json"), "{\"name\":\"plain\"}");
    snprintf(arguments, sizeof arguments, "check-config %s 2>&1 >/dev/null", path_of("all.conf"));
    output = run(arguments, &code);
    ck_assert_int_eq(code, 0);
    ck_assert_ptr_nonnull(strstr(output, warning));
    ck_assert_ptr_null(strstr(output, "plain.json"));
    remove_directory();
}
END_TEST

/* The man page describes every command. The shipped configuration is valid once the rulesets that
   it names are installed. */
START_TEST(shipped_files_are_right)
{
    char *page = hs_test_read_file("deploy/hindsight.1", NULL), line[160];
    int code;
    const char *output = run("--help", &code);
    ck_assert_int_eq(code, 0);
    int commands = 0;
    for (const char *at = output; (at = strstr(at, "\n  ")) != NULL; at++) {
        char name[64] = "", spelled[128] = "";
        if (at[3] < 'a' || at[3] > 'z')
            continue;
        ck_assert_int_eq(sscanf(at + 3, "%60s", name), 1);
        for (size_t i = 0, len = 0; name[i] != '\0'; i++) {
            if (name[i] == '-')
                spelled[len++] = '\\';
            spelled[len++] = name[i];
        }
        snprintf(line, sizeof line, ".TP\n.B %s\n", spelled);
        ck_assert_msg(strstr(page, line) != NULL, "the man page has no %s", name);
        commands++;
    }
    ck_assert_int_ge(commands, 6);
    output = run("check-config deploy/hindsight.json --rules=", &code);
    ck_assert_int_eq(code, 0);
    ck_assert_ptr_nonnull(strstr(output, "\nok\n"));
    free(page);
}
END_TEST

START_TEST(address_in_use_fails)
{
    struct hs_test_service first;
    char arguments[256];
    ck_assert(hs_test_service_start(&first, NULL));
    snprintf(arguments, sizeof arguments, "serve --data= --listen 127.0.0.1:%u 2>&1",
             first.data_port);
    int code;
    const char *output = run(arguments, &code);
    ck_assert_int_eq(code, 1);
    ck_assert_ptr_nonnull(strstr(output, "Address already in use"));
    ck_assert(hs_test_service_stop(&first));
}
END_TEST

/* Every line on stderr is an object with time, level and message. Lines about requests have the id
   of the request. */
START_TEST(log_lines_are_json)
{
    static const char *const arguments[] = {"--log-level", "debug", NULL};
    static const char *const headers[] = {
        "X-Request-Id: find-me",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", NULL};
    struct hs_test_service service;
    struct hs_test_response response;
    ck_assert(hs_test_service_start(&service, arguments));
    struct hs_test_http *http = hs_test_http_open(service.data_port);
    hs_test_http_send(http, "GET", "/v1/matches/no-such", NULL, 0, headers, &response);
    ck_assert_int_eq(response.status, 404);
    hs_test_response_free(&response);
    hs_test_http_close(http);
    int err = dup(service.err);
    ck_assert(hs_test_service_stop(&service));

    FILE *file = fdopen(err, "r");
    ck_assert_ptr_nonnull(file);
    rewind(file);
    char line[4096];
    int lines_read = 0, found = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        json_t *root = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_msg(root != NULL, "not JSON: %s", line);
        ck_assert(json_is_string(json_object_get(root, "ts")));
        ck_assert(json_is_string(json_object_get(root, "level")));
        ck_assert(json_is_string(json_object_get(root, "msg")));
        const char *id = json_string_value(json_object_get(root, "request_id"));
        if (id != NULL && strcmp(id, "find-me") == 0) {
            found++;
            ck_assert_int_eq(json_integer_value(json_object_get(root, "status")), 404);
            ck_assert_str_eq(json_string_value(json_object_get(root, "match")), "no-such");
            ck_assert_str_eq(json_string_value(json_object_get(root, "route")),
                             "/v1/matches/{match}");
            ck_assert_str_eq(json_string_value(json_object_get(root, "trace_id")),
                             "0af7651916cd43dd8448eb211c80319c");
        }
        json_decref(root);
        lines_read++;
    }
    fclose(file);
    ck_assert_int_ge(lines_read, 3);
    ck_assert_int_eq(found, 1);
}
END_TEST

/* The service starts even without standard streams, and does not write its log to one of its
   sockets. There is no ready line then, so the test waits until the process has two sockets. */
START_TEST(starts_with_closed_streams)
{
    static const char script[] =
        "\"$HS_PROGRAM\" serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 "
        "--drain-wait-seconds 0 --data= <&- >&- 2>&- & pid=$!; i=0; "
        "until [ $(ls -l /proc/$pid/fd | grep -c socket:) -ge 2 ] || [ $i -ge 500 ]; do "
        "i=$((i + 1)); sleep 0.02; done; "
        "for fd in 0 1 2; do readlink /proc/$pid/fd/$fd; done; "
        "kill $pid; wait $pid; echo code $?";
    int code;
    const char *output = hs_test_shell(&code, "%s", script);
    ck_assert_int_eq(code, 0);
    ck_assert_str_eq(output, "/dev/null\n/dev/null\n/dev/null\ncode 0\n");
}
END_TEST

/* Ctrl-C at a terminal ends the service at once, even if it would normally wait for a balancer. The
   test makes a terminal and gives it to the service. */
START_TEST(ctrl_c_at_a_terminal_ends_at_once)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    const char *name = ptsname(terminal);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        int fd = open(name, O_RDWR); /* the controlling terminal of the new session */
        if (fd < 0 || dup2(fd, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(127);
        const char *program = getenv("HS_PROGRAM");
        execl(program, program, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
              "--drain-wait-seconds", "600", "--data=", (char *)NULL);
        _exit(127);
    }
    char text[4096] = "";
    size_t length = 0;
    while (strstr(text, " ready data=") == NULL) {
        ssize_t got = read(terminal, text + length, sizeof text - 1 - length);
        ck_assert_msg(got > 0, "%s", text);
        length += (size_t)got;
        text[length] = '\0';
    }
    double begun = hs_test_seconds();
    ck_assert_int_eq(write(terminal, "\x03", 1), 1);
    while (read(terminal, text, sizeof text) > 0)
        ; /* until the service has closed the terminal */
    int status = -1;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    double took = hs_test_seconds() - begun;
    close(terminal);
    ck_assert_int_eq(status, 0);
    ck_assert_msg(took < 60, "ended after %f s", took);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("serve");
    TCase *tests = tcase_create("command line");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, exit_codes, 0, (int)(sizeof lines / sizeof lines[0]));
    tcase_add_test(tests, check_config_lists_every_problem);
    tcase_add_test(tests, check_config_prints_what_is_in_effect);
    tcase_add_test(tests, check_config_checks_a_ruleset);
    tcase_add_test(tests, check_config_warns_of_rulesets);
    tcase_add_test(tests, shipped_files_are_right);
    tcase_add_test(tests, address_in_use_fails);
    tcase_add_test(tests, log_lines_are_json);
    tcase_add_test(tests, starts_with_closed_streams);
    tcase_add_test(tests, ctrl_c_at_a_terminal_ends_at_once);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
