#include "tests/support/play/verdict_source.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "api/json/buffer.h"

static const struct {
    const char *shooter, *end, *verdict;
} claims[] = {
    [HS_SOURCE_SHORT] = {"s", "[0,0,160]", "rejected"},
    [HS_SOURCE_FAR] = {"s", "[1e12,0,160]", "rejected"},
    [HS_SOURCE_BARE] = {"u", "[500,0,160]", "inconclusive"},
    [HS_SOURCE_FINE] = {"s", "[500,0,160]", "accepted"},
};

/* Sends a request. The answer must have this status. */
static void send(struct hs_test_http *http, const char *method, const char *path,
                 const char *header, const struct hs_buffer *body, long status,
                 struct hs_test_response *answer)
{
    const char *headers[] = {header, NULL};
    ck_assert(!body->failed);
    hs_test_http_send(http, method, path, body->data, body->len, headers, answer);
    ck_assert_msg(answer->status == status, "%s: %ld %s", path, answer->status, answer->body);
}

void hs_source_open(struct hs_test_http *http, const char *match, const char *header)
{
    char path[128];
    struct hs_test_response answer;
    struct hs_buffer body = {0};
    hs_buffer_puts(&body, "{\"checks\":{\"fire_rate\":\"shadow\",\"trajectory\":\"off\"}}");
    snprintf(path, sizeof path, "/v1/rulesets/%s-rules", match);
    send(http, "PUT", path, header, &body, 201, &answer);
    hs_test_response_free(&answer);
    body.len = 0;
    hs_buffer_printf(&body, "{\"ruleset\":\"%s-rules\"}", match);
    snprintf(path, sizeof path, "/v1/matches/%s", match);
    send(http, "PUT", path, header, &body, 201, &answer);
    hs_test_response_free(&answer);
    body.len = 0;
    hs_buffer_puts(&body, "{\"frames\":[");
    for (int i = 0; i <= 20; i++)
        hs_buffer_printf(&body,
                         "%s{\"time\":%.2f,\"players\":[{\"player\":\"s\",\"position\":[0,0,0]%s},"
                         "{\"player\":\"t\",\"position\":[500,0,0]},"
                         "{\"player\":\"u\",\"position\":[0,3000,0]}]}",
                         i > 0 ? "," : "", 10 + 0.05 * i, i == 0 ? ",\"weapon\":\"rifle\"" : "");
    hs_buffer_puts(&body, "]}");
    snprintf(path, sizeof path, "/v1/matches/%s/frames", match);
    send(http, "POST", path, header, &body, 200, &answer);
    hs_test_response_free(&answer);
    hs_buffer_free(&body);
}

static void expect_verdicts(const struct hs_test_response *answer, const char *verdict, int count)
{
    json_t *root = hs_test_response_json(answer), *result;
    size_t i;
    ck_assert_uint_eq(json_array_size(json_object_get(root, "results")), (size_t)count);
    json_array_foreach(json_object_get(root, "results"), i, result)
    {
        const char *got = json_string_value(json_object_get(result, "verdict"));
        ck_assert_msg(got != NULL && strcmp(got, verdict) == 0, "not %s: %s", verdict,
                      answer->body);
    }
    json_decref(root);
}

void hs_source_post(struct hs_test_http *http, const char *match, const char *header,
                    enum hs_source_claim claim, int first, int count)
{
    char path[128];
    struct hs_test_response answer;
    struct hs_buffer body = {0};
    hs_buffer_puts(&body, "{\"now\":11,\"hits\":[");
    for (int i = 0; i < count; i++)
        hs_buffer_printf(&body,
                         "%s{\"shot\":%d,\"shooter\":\"%s\",\"hit_time\":10.9,"
                         "\"start\":[0,0,160],\"end\":%s,\"target\":\"t\"}",
                         i > 0 ? "," : "", first + i, claims[claim].shooter, claims[claim].end);
    hs_buffer_puts(&body, "]}");
    snprintf(path, sizeof path, "/v1/matches/%s/hits", match);
    send(http, "POST", path, header, &body, 200, &answer);
    expect_verdicts(&answer, claims[claim].verdict, count);
    hs_test_response_free(&answer);
    hs_buffer_free(&body);
}
