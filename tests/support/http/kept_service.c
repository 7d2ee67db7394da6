#include "tests/support/http/kept_service.h"

#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/http/exposition.h"
#include "tests/support/program.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void hs_kept_setup(struct hs_test_kept *kept)
{
    *kept = (struct hs_test_kept){.directory = "/tmp/hindsight_kept_XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(kept->directory));
    snprintf(kept->data, sizeof kept->data, "%s/deep/data", kept->directory);
    snprintf(kept->rules, sizeof kept->rules, "%s/rules", kept->directory);
}

void hs_kept_teardown(struct hs_test_kept *kept)
{
    int code;
    if (kept->service.pid != 0)
        hs_kept_stop(kept);
    hs_test_shell(&code, "rm -r '%s'", kept->directory);
    ck_assert_int_eq(code, 0);
}

void hs_kept_write_rules(struct hs_test_kept *kept, const char *name, const char *text)
{
    char path[160];
    ck_assert(mkdir(kept->rules, 0700) == 0 || errno == EEXIST);
    snprintf(path, sizeof path, "%s/%s.json", kept->rules, name);
    hs_test_write_file(path, text);
}

void hs_kept_start(struct hs_test_kept *kept, const char *const *more)
{
    enum { MOST = 20 };
    const char *arguments[MOST] = {"--data", kept->data, "--checkpoint-seconds", "1"};
    size_t count = 4;
    for (const char *const *store = kept->store; *store != NULL; store++)
        arguments[count++] = *store;
    for (; more != NULL && *more != NULL; more++) {
        ck_assert_uint_lt(count, MOST - 1);
        arguments[count++] = *more;
    }
    ck_assert(hs_test_service_start(&kept->service, arguments));
    kept->http = hs_test_http_open(kept->service.admin_port);
}

void hs_kept_start_with(struct hs_test_kept *kept, const char *option, const char *value)
{
    hs_kept_start(kept, (const char *const[]){option, value, NULL});
}

void hs_kept_stop(struct hs_test_kept *kept)
{
    hs_test_http_close(kept->http);
    ck_assert(hs_test_service_stop(&kept->service));
}

void hs_kept_kill(struct hs_test_kept *kept)
{
    hs_test_http_close(kept->http);
    ck_assert_int_eq(kill(kept->service.pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(kept->service.pid, NULL, 0), kept->service.pid);
    kept->service.pid = 0;
    ck_assert(hs_test_service_stop(&kept->service));
}

void hs_kept_end(struct hs_test_kept *kept, int round)
{
    if (round % 2 == 0) {
        hs_kept_stop(kept);
        return;
    }
    hs_kept_wait(kept);
    hs_kept_kill(kept);
}

const char *hs_kept_path(const struct hs_test_kept *kept, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", kept->data, name);
    return path;
}

long hs_kept_send(struct hs_test_kept *kept, const char *method, const char *path, const char *body,
                  char **answer)
{
    struct hs_test_response response;
    hs_test_http_send(kept->http, method, path, body, body != NULL ? strlen(body) : 0,
                      kept->headers, &response);
    long status = response.status;
    *answer = strdup(response.body);
    ck_assert_ptr_nonnull(*answer);
    hs_test_response_free(&response);
    return status;
}

long hs_kept_status(struct hs_test_kept *kept, const char *method, const char *path,
                    const char *body)
{
    char *answer;
    long status = hs_kept_send(kept, method, path, body, &answer);
    free(answer);
    return status;
}

char *hs_kept_post(struct hs_test_kept *kept, const char *path, const char *body)
{
    char *answer;
    long status = hs_kept_send(kept, "POST", path, body, &answer);
    ck_assert_msg(status == 200, "%s: %ld %s", path, status, answer);
    return answer;
}

char *hs_kept_get(struct hs_test_kept *kept, const char *path)
{
    char *answer;
    long status = hs_kept_send(kept, "GET", path, NULL, &answer);
    ck_assert_msg(status == 200, "%s: %ld %s", path, status, answer);
    return answer;
}

void hs_kept_same(struct hs_test_kept *kept, const char *path, const char *wanted)
{
    char *now = hs_kept_get(kept, path);
    ck_assert_str_eq(now, wanted);
    free(now);
}

void hs_kept_holds(char *answer, const char *what)
{
    ck_assert_msg(strstr(answer, what) != NULL, "no %s in %s", what, answer);
    free(answer);
}

double hs_kept_metric(struct hs_test_kept *kept, const char *series)
{
    return hs_metric(&kept->service, series);
}

void hs_kept_wait(struct hs_test_kept *kept)
{
    double before = hs_kept_metric(kept, HS_KEPT_WRITTEN);
    for (int tries = 0; tries < 2000 && hs_kept_metric(kept, HS_KEPT_WRITTEN) < before + 2; tries++)
        hs_test_pause_ms(10);
    ck_assert_double_ge(hs_kept_metric(kept, HS_KEPT_WRITTEN), before + 2);
    ck_assert_double_lt(hs_kept_metric(kept, "hindsight_checkpoint_lag_seconds"), 5);
}

void hs_kept_frames(struct hs_test_kept *kept, const char *match, double from)
{
    char path[96], body[512];
    snprintf(path, sizeof path, "/v1/matches/%s/frames", match);
    for (int i = 0; i <= 20; i++) {
        snprintf(
            body, sizeof body,
            "{\"frames\":[{\"time\":%.2f,\"players\":[{\"player\":\"s\",\"position\":[0,0,0]%s},"
            "{\"player\":\"t\",\"position\":[500,0,0]}]}]}",
            from + 0.05 * i, i == 0 ? ",\"weapon\":\"rifle\",\"team\":\"red\"" : "");
        free(hs_kept_post(kept, path, body));
    }
}

char *hs_kept_hit(struct hs_test_kept *kept, const char *match, int shot, double time)
{
    char path[96], body[512];
    snprintf(path, sizeof path, "/v1/matches/%s/hits", match);
    snprintf(body, sizeof body,
             "{\"now\":%.2f,\"hits\":[{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":%.2f,"
             "\"start\":[0,0,160],\"end\":[500,0,160],\"target\":\"t\"}]}",
             time + 0.05, shot, time);
    return hs_kept_post(kept, path, body);
}

char *hs_kept_fast_moves(struct hs_test_kept *kept)
{
    char body[4096] = "{\"moves\":[";
    size_t len = strlen(body);
    for (int i = 1; i <= 30; i++)
        len += (size_t)snprintf(body + len, sizeof body - len,
                                "%s{\"player\":\"s\",\"seq\":%d,\"client_time\":%.2f,"
                                "\"received\":%.2f}",
                                i > 1 ? "," : "", i, 5 + 0.5 * i, 11 + 0.02 * i);
    snprintf(body + len, sizeof body - len, "]}");
    return hs_kept_post(kept, "/v1/matches/m/moves", body);
}

char *hs_kept_late_move(struct hs_test_kept *kept)
{
    return hs_kept_post(kept, "/v1/matches/m/moves",
                        "{\"moves\":[{\"player\":\"s\",\"seq\":31,\"client_time\":20.3,"
                        "\"received\":14}]}");
}

void hs_kept_mark_replayed(char *answer)
{
    static const char was[] = "\"replayed\":false", is[] = "\"replayed\":true";
    for (char *at; (at = strstr(answer, was)) != NULL;) {
        memcpy(at, is, sizeof is - 1);
        memmove(at + sizeof is - 1, at + sizeof was - 1, strlen(at + sizeof was - 1) + 1);
    }
}
