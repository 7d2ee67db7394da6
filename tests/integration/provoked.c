#include "tests/integration/provoked.h"

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/http/routes.h"
#include "tests/support/clock.h"

/* Sizes in bytes: of a body that does not fit while other bodies arrive, and of a body that never
   fits. */
enum { SECOND_BODY = 4096, BEYOND_BODY = 9000 };

static const char *padding(size_t size)
{
    static char text[BEYOND_BODY + 1];
    memset(text, ' ', size);
    memcpy(text, "{}", 2);
    text[size] = '\0';
    return text;
}

static void provoke_bad_request(size_t route, struct hs_refusal_message *message)
{
    if (hs_refusal_takes_body(route))
        message->body = "{\"nonsense\":";
    else if (route == HS_ROUTE_VERDICT_LIST || route == HS_ROUTE_SUMMARY_LIST)
        snprintf(message->path, sizeof message->path, "%s?limit=x", hs_refusal_pattern(route));
    else if (strchr(hs_refusal_pattern(route), '{') != NULL)
        hs_refusal_path(route, "not%20a%20name", message->path);
    else
        snprintf(message->path, sizeof message->path, "%s?verdict=nonsense",
                 hs_refusal_pattern(route));
}

/* Makes a request that gets 403. The token of the request has no scope for the route. If the route
   allows both tokens, the path has a name that nobody put. */
static void provoke_forbidden(size_t route, const struct hs_test_token tokens[2],
                              struct hs_refusal_message *message)
{
    static char headers[512];
    bool allowed = hs_route_allows((enum hs_route)route, HS_SCOPE_INGEST);
    const char *header = tokens[allowed ? 1 : 0].header;
    if (hs_route_allows((enum hs_route)route, HS_SCOPE_INGEST) &&
        hs_route_allows((enum hs_route)route, HS_SCOPE_RULES))
        hs_refusal_path(route, "never-put", message->path);
    snprintf(headers, sizeof headers, "%s%s\r\n", message->headers, header);
    message->headers = headers;
}

bool hs_provoke(size_t route, int status, const struct hs_test_token tokens[2],
                struct hs_refusal_message *message)
{
    switch (status) {
    case 400:
        provoke_bad_request(route, message);
        return true;
    case 401:
        return true;
    case 403:
        provoke_forbidden(route, tokens, message);
        return true;
    case 404:
        hs_refusal_path(route, "never-opened", message->path);
        if (route == HS_ROUTE_RULESET_PUT) /* only a canary needs an existing name */
            strcat(message->path, "?canary_share=0.5");
        /* the routes of verdicts get 404, because this service stores no verdicts */
        return strchr(hs_refusal_pattern(route), '{') != NULL || route == HS_ROUTE_VERDICT_LIST ||
               route == HS_ROUTE_SUMMARY_LIST || route == HS_ROUTE_PRECISION ||
               route == HS_ROUTE_WHAT_IF;
    case 409:
        if (hs_refusal_takes_body(route))
            message->body = "{\"ruleset\":\"inches\"}";
        return true;
    case 411:
        message->unsized = true;
        return true;
    case 413:
        message->claimed_length = BEYOND_BODY;
        message->body = "";
        return true;
    case 415:
        message->headers = "Content-Type: text/plain\r\n";
        return true;
    case 422:
        message->body = "{\"ruleset\":\"nosuch\"}";
        return true;
    case 429:
        return true;
    case 503:
        if (hs_refusal_takes_body(route))
            message->body = padding(SECOND_BODY);
        else
            message->headers = "X-Deadline-Ms: 0\r\n";
        return strncmp(hs_refusal_pattern(route), "/v1/", 4) == 0;
    default:
        return false;
    }
}

const struct hs_raw_answer *hs_provoke_crowded(unsigned port, size_t route,
                                               const struct hs_refusal_message *message)
{
    enum { CROWD = 24 };
    struct hs_refusal_message other = {.method = "PUT",
                                       .headers = JSON_TYPE "Content-Length: 8192\r\n",
                                       .body = padding(SECOND_BODY),
                                       .size = SECOND_BODY,
                                       .unsized = true};
    int crowd[CROWD];
    size_t count = route == HS_ROUTE_MAP_PUT ? CROWD : 1;
    hs_refusal_path(route == HS_ROUTE_MAP_PUT ? route : HS_ROUTE_MATCH_PUT, "crowd", other.path);
    const struct hs_raw_answer *raw = NULL;
    static struct hs_raw_answer refused;
    /*
     * Repeats until the other bodies arrive in time, and the bodies of the previous attempt are
     * released.
     */
    for (int tries = 0; tries < 50 && (raw == NULL || raw->status != 503); tries++) {
        for (size_t i = 0; i < count; i++)
            crowd[i] = hs_refusal_send(port, &other);
        hs_test_pause_ms(10);
        raw = hs_refusal_receive(hs_refusal_send(port, message));
        for (size_t i = 0; i < count; i++)
            close(crowd[i]);
    }
    refused = *raw;
    for (int tries = 0; tries < 500 && raw->status == 503; tries++) {
        hs_test_pause_ms(10);
        raw = hs_refusal_receive(hs_refusal_send(port, message));
    }
    ck_assert_int_ne(raw->status, 503);
    return &refused;
}

const struct hs_raw_answer *hs_provoke_often(unsigned port,
                                             const struct hs_refusal_message *message)
{
    const struct hs_raw_answer *raw = NULL;
    for (int tries = 0; tries < 50 && (raw == NULL || raw->status != 429); tries++)
        raw = hs_refusal_receive(hs_refusal_send(port, message));
    return raw;
}
