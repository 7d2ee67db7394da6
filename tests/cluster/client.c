/* The client of the game: it repeats requests and brings matches back as docs/balancer.md asks. */
#include "tests/cluster/game_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/clock.h"
#include "tests/support/need.h"

/* MOVES: how often a match can move while one request is sent. */
enum { PATIENCE_SECONDS = 30, MOVES = 10 };

const char *hs_cluster_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static void keep_latency(const struct hs_cluster_game *game, struct latencies *latencies,
                         double sent, double answered)
{
    if (latencies->count == latencies->space) {
        latencies->space = 2 * latencies->space + 256;
        latencies->all = need(realloc(latencies->all, latencies->space * sizeof *latencies->all));
    }
    latencies->all[latencies->count++] = (struct latency){
        (int)(1e3 * (sent - game->began)) / HS_CLUSTER_WINDOW_MS, 1e6 * (answered - sent)};
}

bool hs_cluster_open_match(struct hs_test_http *http, const struct match *match)
{
    static const char body[] = "{\"ruleset\":\"game\"}";
    char path[80];
    struct hs_test_response response;
    snprintf(path, sizeof path, "/v1/matches/%s", match->name);
    hs_test_http_send(http, "PUT", path, body, sizeof body - 1, NULL, &response);
    long status = response.status;
    hs_test_response_free(&response);
    return status == 200 || status == 201;
}

void hs_cluster_resync(struct worker *worker, struct hs_test_http *http, const struct match *match)
{
    int last = match->tick, first = last < HS_KILL_SECOND ? 0 : last - HS_KILL_SECOND + 1;
    char path[80], *body = NULL;
    size_t size;
    struct hs_test_response response;
    FILE *out = need(open_memstream(&body, &size));
    fputs("{\"frames\":[", out);
    for (int tick = first; tick <= last; tick++)
        fprintf(out, "%s%s", tick > first ? "," : "", match->squad.frames[tick % HS_KILL_SECOND]);
    fputs("]}", out);
    fclose(out);
    snprintf(path, sizeof path, "/v1/matches/%s/frames", match->name);
    hs_test_http_send(http, "POST", path, need(body), size, NULL, &response);
    /* The match has moved once more: 409 match_moved. */
    for (int tries = 0; response.status == 409 && tries < MOVES; tries++) {
        worker->counts.moved++;
        hs_test_response_free(&response);
        hs_test_http_send(http, "POST", path, body, size, NULL, &response);
    }
    if (response.status != 200 && !atomic_load(&worker->game->breaks))
        hs_follower_fault(worker->game->follower, &worker->counts.failed, "%s: %ld %.300s%s", path,
                          response.status, response.body, response.error);
    hs_test_response_free(&response);
    free(body);
}

/* Returns whether a failed request can be sent again, after the pause that its answer requests. */
static bool recover(struct worker *worker, struct hs_test_http *http, const struct match *match,
                    const char *path, const struct hs_test_response *response)
{
    struct hs_cluster_game *game = worker->game;
    json_t *problem = hs_test_response_json(response);
    const char *code = hs_cluster_text(problem, "code");
    long wait_ms = (long)json_integer_value(json_object_get(problem, "retry_after_ms"));
    bool is_moved = response->status == 409 && strcmp(code, "match_moved") == 0;
    bool is_unknown = response->status == 404 && strcmp(code, "unknown_match") == 0;
    bool is_broken = response->status == 0 || (response->status >= 502 && response->status <= 504);
    json_decref(problem);
    worker->counts.moved += is_moved;
    worker->counts.unknown += is_unknown;
    worker->counts.repeated += is_broken;
    if (!is_moved && !is_unknown && !is_broken) {
        hs_follower_fault(game->follower, &worker->counts.follow.unexpected, "%s: %ld %.300s", path,
                          response->status, response->body);
        return false;
    }
    if (is_broken && !atomic_load(&game->breaks))
        hs_follower_fault(game->follower, &worker->counts.failed, "%s: %ld %.300s%s", path,
                          response->status, response->body, response->error);
    if (is_unknown && hs_cluster_open_match(http, match))
        hs_cluster_resync(worker, http, match);
    hs_test_pause_ms(wait_ms > 0 ? wait_ms : is_broken ? 50 : 0);
    return true;
}

json_t *hs_cluster_post(struct worker *worker, struct hs_test_http *http, const struct match *match,
                        const char *route, const char *body, bool repeats)
{
    char path[96];
    double began = hs_test_seconds(), sent;
    json_t *answer = NULL;
    int phase = atomic_load(&worker->game->phase);
    bool is_timed = strcmp(route, "ticks") == 0 && http != worker->other;
    snprintf(path, sizeof path, "/v1/matches/%s/%s", match->name, route);
    for (int tries = 0; answer == NULL; tries++) {
        struct hs_test_response response;
        sent = hs_test_seconds();
        hs_test_http_send(http, "POST", path, body, strlen(body), NULL, &response);
        if (response.status == 200)
            answer = hs_test_response_json(&response);
        if (answer != NULL && tries == 0 && is_timed)
            keep_latency(worker->game, &worker->latencies[phase][http == worker->reference], sent,
                         hs_test_seconds());
        bool again = answer == NULL && recover(worker, http, match, path, &response) && repeats;
        hs_test_response_free(&response);
        if (answer == NULL && (!again || hs_test_seconds() - began > PATIENCE_SECONDS)) {
            if (repeats)
                hs_follower_fault(worker->game->follower, &worker->counts.follow.unexpected,
                                  "%s: no answer in %.1f s", path, hs_test_seconds() - began);
            break;
        }
    }
    return answer;
}
