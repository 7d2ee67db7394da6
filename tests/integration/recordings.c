#include "tests/integration/recordings.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/clock.h"
#include "tests/support/http/exposition.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

static char folder[64];

int hs_recordings_run(Suite *suite)
{
    strcpy(folder, "/tmp/hs-recheck-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    int failed = hs_run_suite(suite);
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command) == 0 && failed == 0 ? 0 : 1;
}

const char *hs_recordings_folder(void)
{
    return folder;
}

const char *hs_recordings_file(const char *name)
{
    enum { NAMES = 32 };
    static char paths[NAMES][128];
    char path[128];
    size_t i = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    while (i < NAMES - 1 && paths[i][0] != '\0' && strcmp(paths[i], path) != 0)
        i++;
    ck_assert_uint_lt(i, NAMES - 1);
    memcpy(paths[i], path, sizeof path);
    return paths[i];
}

json_int_t hs_recheck_number(const struct hs_recheck *result, const char *key)
{
    ck_assert_msg(result->report != NULL, "no report: %s%s", result->program.out,
                  result->program.err);
    json_t *value = json_object_get(result->report, key);
    ck_assert_msg(json_is_integer(value), "no %s in %s", key, result->program.out);
    return json_integer_value(value);
}

void hs_record_start(struct hs_test_service *service, const char *path)
{
    const char *extra[] = {"--record", path, "--default-ruleset", "metres", "--threads", "4", NULL};
    ck_assert(hs_test_service_start(service, extra));
}

void hs_record_wait(struct hs_test_service *service)
{
    while (hs_metric(service, "hindsight_record_queue_bytes") > 0)
        hs_test_pause_ms(1);
}

void hs_record_traffic(const char *path, struct hs_traffic *sum)
{
    struct hs_test_service service;
    hs_record_start(&service, path);
    hs_traffic_play(service.data_port, hs_test_seed(7), sum);
    ck_assert_msg(sum->fault[0] == '\0', "%s", sum->fault);
    ck_assert(hs_metric(&service, "hindsight_record_dropped_total") == 0);
    ck_assert(hs_metric(&service, "hindsight_record_requests_total") >
              HS_TRAFFIC_CLIENTS * HS_TRAFFIC_TICKS);
    ck_assert(hs_test_service_stop(&service));
}

void hs_record_little(const char *path, const char *match, bool kill_it)
{
    struct hs_test_service service;
    struct hs_traffic sent;
    hs_record_start(&service, path);
    hs_traffic_play_little(service.data_port, match, &sent);
    ck_assert_msg(sent.fault[0] == '\0', "%s", sent.fault);
    if (kill_it) {
        hs_record_wait(&service);
        kill(service.pid, SIGKILL);
    }
    ck_assert(hs_test_service_stop(&service) != kill_it);
}

const char *hs_record_copy(const char *from, const char *to, const char *find, const char *put)
{
    char *text = NULL;
    size_t room = 0;
    const char *path = hs_recordings_file(to);
    FILE *in = fopen(from, "r"), *out = fopen(path, "w");
    ck_assert(in != NULL && out != NULL);
    for (ssize_t got; (got = getline(&text, &room, in)) > 0;) {
        char *at = find != NULL ? strstr(text, find) : NULL;
        if (at != NULL) {
            fprintf(out, "%.*s%s%s", (int)(at - text), text, put, at + strlen(find));
            find = NULL;
        } else {
            fwrite(text, 1, (size_t)got, out);
        }
    }
    free(text);
    fclose(in);
    fclose(out);
    return path;
}
