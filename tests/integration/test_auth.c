/* Tokens over HTTP: who is admitted, scopes, overlapping keys, and open routes. No secret is ever
   logged. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/http/routes.h"
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/http/client.h"
#include "tests/support/http/service.h"
#include "tests/support/http/tokens.h"
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

static char directory[] = "/tmp/hindsight_auth_XXXXXX";
static char token_file[128];

static struct hs_test_service service;
static struct hs_test_http *data, *admin;
static struct hs_test_response answer;

enum { ALL, FORMER, COMING, ONE_EACH, TOKENS = ONE_EACH + HS_SCOPE_COUNT };

static char scope_names[HS_SCOPE_COUNT][32];

static struct hs_test_token tokens[TOKENS] = {
    [ALL] = {.tenant = "acme", .kid = "all", .scopes = "\"ingest\",\"verify\",\"rules\""},
    [FORMER] = {.tenant = "acme",
                .kid = "former",
                .scopes = "\"admin\"",
                .validity = ",\"not_after\":\"2020-01-01T00:00:00Z\""},
    [COMING] = {.tenant = "acme",
                .kid = "coming",
                .scopes = "\"admin\"",
                .validity = ",\"not_before\":\"2999-01-01T00:00:00Z\""},
};

/* Makes one token for each scope. Each has only that scope. */
static void name_tokens(void)
{
    for (unsigned i = 0; i < HS_SCOPE_COUNT; i++) {
        const char *name = hs_scope_name((enum hs_scope)i);
        snprintf(scope_names[i], sizeof scope_names[i], "\"%s\"", name);
        tokens[ONE_EACH + i] =
            (struct hs_test_token){.tenant = "acme", .kid = name, .scopes = scope_names[i]};
    }
}

static void setup(void)
{
    const char *const arguments[] = {"--token-file", token_file, "--log-level", "debug", NULL};
    hs_test_tokens_write(token_file, tokens, TOKENS);
    ck_assert(hs_test_service_start(&service, arguments));
    data = hs_test_http_open(service.data_port);
    admin = hs_test_http_open(service.admin_port);
}

static void teardown(void)
{
    hs_test_response_free(&answer);
    hs_test_http_close(data);
    hs_test_http_close(admin);
    ck_assert(hs_test_service_stop(&service));
}

static long get(struct hs_test_http *http, const char *path, const char *header)
{
    const char *headers[] = {header, NULL};
    hs_test_response_free(&answer);
    hs_test_http_send(http, "GET", path, NULL, 0, headers, &answer);
    return answer.status;
}

static bool metrics_say(const char *line)
{
    ck_assert_int_eq(get(admin, "/metrics", NULL), 200);
    return strstr(answer.body, line) != NULL;
}

/* ---- admission ---- */

static const struct {
    const char *before; /* text before the token in the header; NULL: no header */
    int token;          /* index of the token; -1: no token */
    const char *after;
    long status;
    const char *reason;    /* value of the label `reason` in the metric of refusals */
    const char *challenge; /* the end of WWW-Authenticate */
} callers[] = {
    {"Authorization: Bearer ", ALL, "", 200, NULL, NULL},
    {"authorization: bEARER   ", ALL, "  ", 200, NULL, NULL},
    {NULL, -1, "", 401, "missing", "Bearer realm=\"hindsight\""},
    {"Authorization: Basic YWNtZTphbGw=", -1, "", 401, "malformed", "error=\"invalid_token\""},
    {"Authorization: Bearer", -1, "", 401, "malformed", "error=\"invalid_token\""},
    {"Authorization: Bearer x", -1, "", 401, "malformed", "error=\"invalid_token\""},
    {"Authorization: ", ALL, "", 401, "malformed", "error=\"invalid_token\""},
    {"Authorization: Bearer ", ALL, ", Bearer x", 401, "malformed", "error=\"invalid_token\""},
    {"Authorization: Bearer ", ALL, "0", 401, "unknown", "error=\"invalid_token\""},
    {"Authorization: Bearer hs_nobody_all_testing-only.nobody.all.1", -1, "", 401, "unknown",
     "error=\"invalid_token\""},
    {"Authorization: Bearer ", FORMER, "", 401, "expired", "error=\"invalid_token\""},
    {"Authorization: Bearer ", COMING, "", 401, "expired", "error=\"invalid_token\""},
    {"Authorization: Bearer ", ONE_EACH + HS_SCOPE_INDEX_RULES, "", 403, "scope",
     "error=\"insufficient_scope\", scope=\"ingest verify evidence\""},
};

START_TEST(callers_are_admitted_by_their_token)
{
    char header[512], metric[128], challenge[256] = "";
    long status = callers[_i].status;
    if (callers[_i].before != NULL)
        snprintf(header, sizeof header, "%s%s%s", callers[_i].before,
                 callers[_i].token >= 0 ? hs_test_token_text(&tokens[callers[_i].token]) : "",
                 callers[_i].after);
    ck_assert_int_eq(get(data, "/v1/matches", callers[_i].before != NULL ? header : NULL), status);
    if (status == 200)
        return;
    ck_assert(hs_test_response_header(&answer, "WWW-Authenticate", challenge, sizeof challenge));
    size_t len = strlen(challenge), tail = strlen(callers[_i].challenge);
    ck_assert_msg(len >= tail && strcmp(challenge + len - tail, callers[_i].challenge) == 0, "%s",
                  challenge);
    ck_assert_ptr_nonnull(strstr(answer.body, status == 401 ? "\"code\":\"unauthorized\""
                                                            : "\"code\":\"forbidden\""));
    snprintf(metric, sizeof metric, "\nhindsight_auth_failures_total{reason=\"%s\"} 1\n",
             callers[_i].reason);
    ck_assert_msg(metrics_say(metric), "no line %s", metric);
    ck_assert(metrics_say("method=\"GET\",code=\"401\"} "));
}
END_TEST

/* A client gets the same answer for every bad token. Only the operator learns what is wrong with
   the token. */
START_TEST(invalid_tokens_get_the_same_answer)
{
    char first[4096] = "";
    size_t compared = 0;
    for (size_t i = 0; i < sizeof callers / sizeof callers[0]; i++) {
        char header[512];
        if (callers[i].status != 401 || callers[i].before == NULL)
            continue;
        snprintf(header, sizeof header, "%s%s%s", callers[i].before,
                 callers[i].token >= 0 ? hs_test_token_text(&tokens[callers[i].token]) : "",
                 callers[i].after);
        const char *headers[] = {header, "X-Request-Id: same", NULL};
        hs_test_response_free(&answer);
        hs_test_http_send(data, "GET", "/v1/matches", NULL, 0, headers, &answer);
        if (compared++ == 0)
            snprintf(first, sizeof first, "%s", answer.body);
        ck_assert_str_eq(first, answer.body);
    }
    ck_assert_uint_ge(compared, 8);
}
END_TEST

START_TEST(two_tokens_are_ambiguous)
{
    const char *headers[] = {tokens[ALL].header, tokens[FORMER].header, NULL};
    hs_test_http_send(data, "GET", "/v1/matches", NULL, 0, headers, &answer);
    ck_assert_int_eq(answer.status, 400);
    ck_assert_ptr_nonnull(strstr(answer.body, "Authorization occurs more than once"));
}
END_TEST

static const struct {
    const char *method, *pattern;
    enum hs_listener listeners;
} routes[] = {
#define X(id, method, pattern, listeners, ...) {#method, pattern, HS_LISTENER_##listeners},
    HS_ROUTES(X)
#undef X
};

/* Sends a request to each route with a token of each single scope. A request must be refused for
   its scope if the route does not allow that scope, and only then. */
START_TEST(scopes_open_what_they_should)
{
    bool takes_body = routes[_i].method[0] == 'P';
    /* This request has a bad filter, because a stream would not end. */
    const char *path = _i == HS_ROUTE_EVENTS ? "/v1/events?verdict=none" : routes[_i].pattern;
    struct hs_test_http *http = routes[_i].listeners == HS_LISTENER_ADMIN ? admin : data;
    for (unsigned i = 0; i < HS_SCOPE_COUNT; i++) {
        const char *headers[] = {tokens[ONE_EACH + i].header, NULL};
        hs_test_response_free(&answer);
        hs_test_http_send(http, routes[_i].method, path, takes_body ? "{" : NULL, takes_body,
                          headers, &answer);
        bool refused =
            answer.status == 403 && strstr(answer.body, "The token lacks a scope") != NULL;
        ck_assert_msg(refused != hs_route_allows((enum hs_route)_i, 1u << i),
                      "%s %s with %s: %ld %s", routes[_i].method, routes[_i].pattern,
                      scope_names[i], answer.status, answer.body);
    }
    hs_test_response_free(&answer);
    hs_test_http_send(http, routes[_i].method, path, takes_body ? "{" : NULL, takes_body, NULL,
                      &answer);
    ck_assert_int_eq(answer.status != 401, hs_route_is_open((enum hs_route)_i));
}
END_TEST

/* ---- successive keys ---- */

static void reload(const char *result)
{
    char line[128];
    snprintf(line, sizeof line, "\nhindsight_config_last_reload_successful %s\n", result);
    kill(service.pid, SIGHUP);
    for (int tries = 0; tries < 1000; tries++) {
        if (metrics_say(line))
            return;
        hs_test_pause_ms(10);
    }
    ck_abort_msg("no line %s", line);
}

/* Waits until requests with this header get `status`, because then the reload has happened. */
static void await(const char *header, long status)
{
    for (int tries = 0; tries < 1000 && get(data, "/v1/matches", header) != status; tries++)
        hs_test_pause_ms(10);
    ck_assert_int_eq(answer.status, status);
}

START_TEST(keys_are_exchanged_without_a_gap)
{
    struct hs_test_token keys[] = {
        {.tenant = "acme", .kid = "old", .scopes = "\"ingest\""},
        {.tenant = "acme", .kid = "new", .scopes = "\"ingest\"", .secret_seed = 1},
    };
    hs_test_tokens_write(token_file, keys, 2); /* both keys are valid */
    kill(service.pid, SIGHUP);
    await(keys[1].header, 200);
    ck_assert_int_eq(get(data, "/v1/matches", keys[0].header), 200);
    ck_assert_int_eq(get(data, "/v1/matches", tokens[ALL].header), 401);

    hs_test_tokens_write(token_file, keys + 1, 1); /* the old key is removed */
    kill(service.pid, SIGHUP);
    await(keys[0].header, 401);
    ck_assert_int_eq(get(data, "/v1/matches", keys[1].header), 200);

    /* A broken, missing or empty file does not change the tokens, and the log says so. */
    hs_test_write_file(token_file, "{\"tokens\":[]}");
    reload("0");
    ck_assert_int_eq(get(data, "/v1/matches", keys[1].header), 200);
    hs_test_tokens_write(token_file, keys, 1);
    reload("1");
    ck_assert_int_eq(unlink(token_file), 0);
    reload("0");
    ck_assert_int_eq(get(data, "/v1/matches", keys[0].header), 200);
    ck_assert_int_eq(get(data, "/v1/matches", keys[1].header), 401);
    hs_test_tokens_write(token_file, tokens, TOKENS);
    reload("1");
}
END_TEST

/* ---- no secret is ever logged ---- */

/* Returns the whole content of a file, terminated. The caller frees it. */
static char *read_all(int fd)
{
    char *text = NULL, piece[4096];
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    off_t at = 0;
    for (ssize_t got; (got = pread(fd, piece, sizeof piece, at)) > 0; at += got)
        fwrite(piece, 1, (size_t)got, out);
    fclose(out);
    return text;
}

START_TEST(no_secret_is_logged)
{
    static const char *const paths[] = {"/v1/matches", "/v1/matches/m", "/nowhere",
                                        "/v1/matches/not%20a%20name", "/metrics"};
    size_t sent = 0;
    for (size_t i = 0; i < sizeof callers / sizeof callers[0]; i++) {
        char header[512];
        snprintf(header, sizeof header, "%s%s%s",
                 callers[i].before != NULL ? callers[i].before : "Authorization: ",
                 callers[i].token >= 0 ? hs_test_token_text(&tokens[callers[i].token]) : "",
                 callers[i].after);
        for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++)
            sent += get(k % 2 == 0 ? data : admin, paths[k], header) > 0;
    }
    ck_assert_uint_ge(sent, 60);
    /* if a secret follows broken JSON in the file, the logged message of the parser does not quote
       it */
    FILE *file = fopen(token_file, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "{\"tokens\":[{\"tenant\":\"acme\",\"secret\":\"%s\",\"sha256\":\"%s\"}]}",
            hs_test_token_secret(&tokens[ALL]), hs_test_token_secret(&tokens[ALL]));
    fclose(file);
    reload("0");
    hs_test_tokens_write(token_file, tokens, TOKENS);
    reload("1");
    hs_test_write_file(token_file, "{\"tokens\":[{\"tenant\":\"acme\",\"secret\": testing-only");
    reload("0");
    char *log = read_all(service.err);
    ck_assert_ptr_nonnull(strstr(log, "\"route\":\"/v1/matches\",\"status\":401"));
    ck_assert_ptr_nonnull(strstr(log, "\"tenant\":\"acme\""));
    ck_assert_ptr_nonnull(strstr(log, "configuration fault"));
    ck_assert_ptr_null(strstr(log, "testing-only"));
    ck_assert_ptr_null(strstr(log, "hs_acme"));
    ck_assert_ptr_null(strstr(log, "YWNtZ"));
    ck_assert_ptr_null(strstr(log, " near "));
    free(log);
    ck_assert(!metrics_say("testing-only"));
    hs_test_tokens_write(token_file, tokens, TOKENS);
}
END_TEST

/* ---- the command line ---- */

START_TEST(a_new_token_is_admitted)
{
    char token[256], entry[512], header[512];
    int code;
    const char *output = hs_test_shell(&code, "\"$HS_PROGRAM\" token new --tenant fresh.co "
                                              "--scopes verify,ingest --days 2");
    ck_assert_int_eq(code, 0);
    ck_assert_int_eq(sscanf(output, "%255s %511s", token, entry), 2);
    ck_assert_int_eq(strncmp(token, "hs_fresh.co_", 12), 0);
    ck_assert_uint_eq(strlen(strrchr(token, '_') + 1), 2 * HS_SECRET_BYTES);
    ck_assert_ptr_null(strstr(entry, strrchr(token, '_') + 1));
    ck_assert_ptr_nonnull(strstr(entry, "\"scopes\":[\"ingest\",\"verify\"]"));
    ck_assert_ptr_nonnull(strstr(entry, "\"not_after\":\""));
    char first[256];
    memcpy(first, token, sizeof first);
    output = hs_test_shell(&code, "\"$HS_PROGRAM\" token new --tenant fresh.co --scopes verify");
    ck_assert_ptr_null(strstr(output, strrchr(first, '_') + 1));

    FILE *file = fopen(token_file, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "{\"tokens\":[%s]}", entry);
    fclose(file);
    snprintf(header, sizeof header, "Authorization: Bearer %s", token);
    kill(service.pid, SIGHUP);
    await(header, 200);
    hs_test_tokens_write(token_file, tokens, TOKENS);
}
END_TEST

/* `hindsight play` needs a token, too. The program reads the token from an environment variable. */
START_TEST(recordings_are_played_with_a_token)
{
    char command[1024];
    int code;
    snprintf(command, sizeof command,
             "timeout 60 \"$HS_PROGRAM\" play tests/scenarios/cadence.json --json "
             "--url http://127.0.0.1:%u 2>&1",
             service.data_port);
    unsetenv("HINDSIGHT_TOKEN");
    hs_test_shell(&code, "%s", command);
    ck_assert_int_eq(code, 1);
    setenv("HINDSIGHT_TOKEN", hs_test_token_text(&tokens[ALL]), 1);
    const char *output = hs_test_shell(&code, "%s", command);
    ck_assert_msg(code == 0, "%s", output);
    ck_assert_ptr_null(strstr(output, "testing-only"));
}
END_TEST

static const struct {
    const char *command;
    int code;
    const char *says;
} commands[] = {
    {"token --help", 0, "usage: hindsight token new"},
    {"token 2>&1", 2, "usage: hindsight token new"},
    {"token new 2>&1", 2, "--tenant takes"},
    {"token -new 2>&1", 2, "there is no such option: -n"},
    {"token new --tenant a 2>&1", 2, "--scopes is needed"},
    {"token new --tenant a --scopes x 2>&1", 2, "--scopes takes"},
    {"token new --tenant a --scopes ingest, 2>&1", 2, "--scopes takes"},
    {"token new --tenant a_b --scopes ingest 2>&1", 2, "--tenant takes"},
    {"token new --tenant a --scopes ingest --kid k_1 2>&1", 2, "--kid takes"},
    {"token new --tenant a --scopes ingest --days 0 2>&1", 2, "--days takes"},
    {"token new --tenant a --scopes ingest --days 2>&1", 2, "needs a value"},
    {"token new --tenant a --scopes ingest --secret x 2>&1", 2, "no such option"},
    {"token new --tenant a --scopes ingest --kid 2026-q1", 0, "hs_a_2026-q1_"},
    {"token new --tenant a --scopes ingest 2>&1 >/dev/full", 1, "No space left"},
    {"list-options man 2>&1 >/dev/full", 1, "the output cannot be written"},
    {"simulate hits --help 2>&1 >/dev/full", 1, "the output cannot be written"},
    {"serve --listen 127.0.0.1:0 --token-file /nonexistent 2>&1", 2, "configuration fault"},
    {"serve --listen 0.0.0.0:0 --admin-listen 127.0.0.1:0 --token-file /nonexistent 2>&1", 2,
     "cannot be read: No such file"},
    {"serve --listen 127.0.0.1:0 --token-file x --no-auth 2>&1", 2, "cannot be combined with"},
};

START_TEST(command_lines)
{
    char command[512];
    int code;
    snprintf(command, sizeof command, "timeout 60 \"$HS_PROGRAM\" %s", commands[_i].command);
    const char *output = hs_test_shell(&code, "%s", command);
    ck_assert_msg(code == commands[_i].code, "%s: code %d: %s", command, code, output);
    ck_assert_msg(strstr(output, commands[_i].says) != NULL, "%s says %s", command, output);
}
END_TEST

START_TEST(check_config_reads_the_token_file)
{
    char path[256], command[512];
    int code;
    snprintf(path, sizeof path, "%s/service.json", directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "{\"listen\":\"0.0.0.0:8080\",\"token_file\":\"%s\"}", token_file);
    fclose(file);
    snprintf(command, sizeof command, "\"$HS_PROGRAM\" check-config %s", path);
    hs_test_tokens_write(token_file, tokens, TOKENS);
    ck_assert_ptr_nonnull(strstr(hs_test_shell(&code, "%s", command), "\nok\n"));
    ck_assert_int_eq(code, 0);
    hs_test_write_file(token_file, "{\"tokens\":[{\"tenant\":\"a\"}]}");
    const char *output = hs_test_shell(&code, "%s", command);
    ck_assert_int_eq(code, 1);
    ck_assert_ptr_nonnull(strstr(output, "tokens.json: /tokens/0/sha256: is required\n"));
    /* Opening a FIFO would block at a start and at each SIGHUP. */
    hs_test_shell(&code, "rm %s && mkfifo %s %s/x.json", token_file, token_file, directory);
    ck_assert_int_eq(code, 0);
    output = hs_test_shell(&code, "timeout 20 %s --rules %s", command, directory);
    ck_assert_int_eq(code, 1);
    ck_assert_ptr_nonnull(
        strstr(output, "tokens.json: cannot be read: it is not a regular file\n"));
    ck_assert_ptr_nonnull(strstr(output, "x.json: cannot be read: it is not a regular file\n"));
    hs_test_shell(&code, "rm %s %s/x.json", token_file, directory);
}
END_TEST

int main(void)
{
    char command[128];
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(token_file, sizeof token_file, "%s/tokens.json", directory);
    name_tokens();
    Suite *suite = suite_create("auth");
    TCase *served = tcase_create("served"), *lines = tcase_create("command line");
    tcase_set_timeout(served, 120);
    tcase_add_checked_fixture(served, setup, teardown);
    tcase_add_loop_test(served, callers_are_admitted_by_their_token, 0,
                        (int)(sizeof callers / sizeof callers[0]));
    tcase_add_test(served, invalid_tokens_get_the_same_answer);
    tcase_add_test(served, two_tokens_are_ambiguous);
    tcase_add_loop_test(served, scopes_open_what_they_should, 0, HS_ROUTE_COUNT);
    tcase_add_test(served, keys_are_exchanged_without_a_gap);
    tcase_add_test(served, no_secret_is_logged);
    tcase_add_test(served, a_new_token_is_admitted);
    tcase_add_test(served, recordings_are_played_with_a_token);
    suite_add_tcase(suite, served);
    tcase_set_timeout(lines, 120);
    tcase_add_loop_test(lines, command_lines, 0, (int)(sizeof commands / sizeof commands[0]));
    tcase_add_test(lines, check_config_reads_the_token_file);
    suite_add_tcase(suite, lines);
    int failed = hs_run_suite(suite);
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    return system(command) == 0 && failed == 0 ? 0 : 1;
}
