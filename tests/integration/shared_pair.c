#include "tests/integration/shared_pair.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/clock.h"

struct hs_test_redis hs_pair_redis;
struct hs_test_kept hs_pair[HS_PAIR_COUNT];

static struct hs_test_kept *const a = &hs_pair[0], *const b = &hs_pair[1];

void hs_pair_setup(void)
{
    static const char *const options[] = {"--state-redis", hs_pair_redis.address, "--state-take-ms",
                                          "3000",          "--state-payment-ms",  "3000"};
    ck_assert(hs_test_redis_start(&hs_pair_redis, 0, NULL));
    for (size_t i = 0; i < HS_PAIR_COUNT; i++) {
        hs_kept_setup(&hs_pair[i]);
        memcpy(hs_pair[i].store, options, sizeof options);
    }
    hs_kept_start(a, NULL);
    hs_kept_start(b, NULL);
}

void hs_pair_teardown(void)
{
    for (size_t i = 0; i < HS_PAIR_COUNT; i++)
        hs_kept_teardown(&hs_pair[i]);
    hs_test_redis_stop(&hs_pair_redis);
}

void hs_pair_wait(struct hs_test_kept *replica, const char *series, double value)
{
    for (int i = 0; i < HS_PAIR_PATIENCE_MS / 10; i++) {
        if (hs_kept_metric(replica, series) == value)
            return;
        hs_test_pause_ms(10);
    }
    ck_abort_msg("%s is %g", series, hs_kept_metric(replica, series));
}

bool hs_pair_has(const char *key)
{
    return strcmp(hs_test_redis_ask(&hs_pair_redis, "EXISTS %s", key), "1") == 0;
}

void hs_pair_wait_for_state(void)
{
    for (int i = 0; i < HS_PAIR_PATIENCE_MS / 10 && !hs_pair_has(HS_PAIR_STATE); i++)
        hs_test_pause_ms(10);
    ck_assert(hs_pair_has(HS_PAIR_STATE));
}

bool hs_pair_holds(struct hs_test_kept *replica, int shot, double time, const char *what)
{
    char *answer = hs_kept_hit(replica, "m", shot, time);
    bool found = strstr(answer, what) != NULL;
    free(answer);
    return found;
}

void hs_pair_pay(struct hs_test_kept *replica, int shot, double time)
{
    ck_assert(hs_pair_holds(replica, shot, time, HS_PAIR_ACCEPTED));
    for (int i = 0;
         i < HS_PAIR_PATIENCE_MS / 10 && hs_pair_holds(replica, shot, time, HS_PAIR_UNDURABLE); i++)
        hs_test_pause_ms(10);
    ck_assert(!hs_pair_holds(replica, shot, time, HS_PAIR_UNDURABLE));
}

long hs_pair_send_claim(struct hs_test_kept *replica, int shot, double time, char **answer)
{
    char body[512];
    snprintf(body, sizeof body,
             "{\"now\":%.2f,\"hits\":[{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":%.2f,"
             "\"start\":[0,0,160],\"end\":[500,0,160],\"target\":\"t\"}]}",
             time + 0.05, shot, time);
    return hs_kept_send(replica, "POST", "/v1/matches/m/hits", body, answer);
}

long hs_pair_claim(struct hs_test_kept *replica, int shot, double time, char code[64])
{
    char *answer;
    long status = hs_pair_send_claim(replica, shot, time, &answer);
    json_t *json = json_loads(answer, 0, NULL);
    const char *found = json_string_value(json_object_get(json, "code"));
    snprintf(code, 64, "%s", found != NULL ? found : "");
    json_decref(json);
    free(answer);
    return status;
}
