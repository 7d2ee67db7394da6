#include "tests/integration/traffic.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/http/client.h"
#include "tests/support/random.h"

struct client {
    int id, from, until; /* number of the client; the first tick of this part, and the tick after
                            its last */
    unsigned port;
    struct hs_random random;
    struct hs_test_http *http;
    char match[32], shooter[16];
    char last[4096], last_path[128]; /* a body with claims that is sent again */
    size_t claims, replayed;         /* claims that were verified, and claims that were replayed */
    char fault[512];
};

/* Returns the number of items that a brief answer omits. */
static size_t plain_items(const char *answer)
{
    const char *at = strstr(answer, ",\"accepted\":");
    size_t sum = 0;
    for (; at != NULL && *at != '}' && *at != '['; at++)
        if (*at == ':' && at[1] != '{')
            sum += strtoul(at + 1, NULL, 10);
    return sum;
}

static void send_body(struct client *client, const char *method, const char *path, const char *body,
                      bool again)
{
    struct hs_test_response response;
    hs_test_http_send(client->http, method, path, body, body != NULL ? strlen(body) : 0, NULL,
                      &response);
    if (response.status != 200 && response.status != 201)
        snprintf(client->fault, sizeof client->fault, "%s %s: %ld %.200s%.100s", method, path,
                 response.status, response.body, response.error);
    for (const char *at = response.body; (at = strstr(at, "\"replayed\":")) != NULL; at++)
        if (strncmp(at, "\"replayed\":true", 15) == 0)
            client->replayed++;
        else
            client->claims++;
    client->claims += strstr(path, "?brief") != NULL ? plain_items(response.body) : 0;
    hs_test_response_free(&response);
    if (!again && strstr(body != NULL ? body : "", "\"shot\"") != NULL) {
        snprintf(client->last, sizeof client->last, "%s", body);
        snprintf(client->last_path, sizeof client->last_path, "%s", path);
    }
}

/* Returns the place of the target of client `id` at a time. */
static double target_y(int id, double time)
{
    return 3.0 * (time - 100.0) + 4.0 * id;
}

static int write_frame(const struct client *client, double time, char *out, size_t size)
{
    return snprintf(
        out, size,
        "{\"time\":%.4f,\r\n \"players\":[{\"player\":\"%s\",\"position\":[0,%d,0],"
        "\"weapon\":\"rifle\",\"rtt\":0.05,\"interp\":0.05,\"aim\":[%d,%.4f,-0.4]},\n"
        "{\"player\":\"t%d\",\"position\":[%d,%.4f,0]}],\"movers\":[{\"mover\":\"door-%d\","
        "\"position\":[8,%.4f,0],\"box\":{\"half_extents\":[0.1,1,3]}}]}",
        time, client->shooter, 4 * client->id, 15 + client->id,
        target_y(client->id, time) - 4 * client->id, client->id, 15 + client->id,
        target_y(client->id, time), client->id, 4 * client->id + 2 + fmod(40 * time, 16));
}

/* Writes a claim. Most claims are close to a limit, inside or outside. */
static int write_hit(struct client *client, int shot, double now, char *out, size_t size)
{
    struct hs_random *random = &client->random;
    bool is_likely = hs_random_chance(random, 0.8); /* the latency explains 0.1 s */
    double hit_time = now - hs_random_between(random, is_likely ? 0.09 : 0, is_likely ? 0.11 : 0.6);
    double off = hs_random_between(random, 0.0, 0.4), miss = hs_random_between(random, -0.6, 0.6);
    return snprintf(out, size,
                    "{\"shot\":%d,\"shooter\":\"%s\",\"hit_time\":%.4f,\"fire_time\":%.4f,"
                    "\"start\":[%.4f,%d,1.6],\"end\":[%d,%.4f,1.2],\"target\":\"t%d\"}",
                    shot, client->shooter, hit_time, hit_time + 0.1, off, 4 * client->id,
                    15 + client->id, target_y(client->id, hit_time) + miss, client->id);
}

static int write_shot(struct client *client, int shot, double now, char *out, size_t size)
{
    return snprintf(out, size,
                    "{\"shot\":%d,\"shooter\":\"%s\",\"time\":%.4f,\"origin\":[%.4f,%d,1.6],"
                    "\"direction\":[1,0,0]}",
                    shot, client->shooter, now - hs_random_between(&client->random, 0.0, 0.3),
                    hs_random_between(&client->random, 0.0, 0.8), 4 * client->id);
}

static void path_of(const struct client *client, const char *route, char path[128])
{
    snprintf(path, 128, "/v1/matches/%s/%s%s", client->match, route,
             client->id % 4 == 2   ? "?brief=true"
             : client->id % 2 == 0 ? "?explain=true"
                                   : "");
}

/* Writes a move. The clock of every other client is a fifth too fast, and its acks show this. */
static int write_move(const struct client *client, int seq, double time, char *out, size_t size)
{
    double speed = client->id % 2 == 0 ? 1.0 : 1.2;
    return snprintf(out, size,
                    "{\"player\":\"%s\",\"seq\":%d,\"client_time\":%.4f,\"received\":%.4f,"
                    "\"ack\":%.4f,\"epoch\":1,\"mode\":\"walking\",\"position\":[0,%d,0],"
                    "\"server_position\":[0,%.2f,0]}",
                    client->shooter, seq, 5.0 + (time - 100.0) * speed, time, time - 0.1,
                    4 * client->id, 4 * client->id + (seq % 3 == 0 ? 0.5 : 0.0));
}

/* Sends frames in one request, then moves and claims in other requests. */
static void send_apart(struct client *client, double time, int shot)
{
    char path[128], body[2048], items[1024];
    path_of(client, "frames", path);
    write_frame(client, time, items, sizeof items);
    snprintf(body, sizeof body, "{\"frames\":[%s]}", items);
    send_body(client, "POST", path, body, false);
    path_of(client, "moves", path);
    write_move(client, shot, time, items, sizeof items);
    snprintf(body, sizeof body, "{\"moves\":[%s]}", items);
    send_body(client, "POST", path, body, false);
    path_of(client, "hits", path);
    write_hit(client, shot, time, items, sizeof items);
    snprintf(body, sizeof body, "{\"now\":%.4f,\"hits\":[%s]}", time, items);
    send_body(client, "POST", path, body, false);
    if (client->id % 3 != 0) /* two of three clients post no shots, so their hits need none */
        return;
    path_of(client, "shots", path);
    write_shot(client, shot + 1, time, items, sizeof items);
    snprintf(body, sizeof body, "{\"now\":%.4f,\"shots\":[%s]}", time, items);
    send_body(client, "POST", path, body, false);
}

static void send_tick(struct client *client, double time, int shot)
{
    char path[128], body[4096], frame[1024], move[512], first[512], second[512];
    path_of(client, "ticks", path);
    write_frame(client, time, frame, sizeof frame);
    write_hit(client, shot, time, first, sizeof first);
    write_hit(client, shot + 1, time, second, sizeof second);
    write_move(client, shot, time, move, sizeof move);
    snprintf(body, sizeof body, "{\"now\":%.4f,\"frames\":[%s],\"moves\":[%s],\"hits\":[%s,%s]}\n",
             time, frame, move, first, second);
    send_body(client, "POST", path, body, false);
}

/* Ends the match, puts a changed ruleset, and opens the match again. */
static void change_sides(struct client *client)
{
    char path[128], path_of_map[128], body[512];
    snprintf(path, sizeof path, "/v1/rulesets/house-%d", client->id);
    snprintf(
        body, sizeof body,
        "{\"up\":\"+z\",\"rigs\":{\"humanoid\":{\"bones\":[\"root\"],\"hitboxes\":[{\"bone\":"
        "\"root\",\"zone\":\"torso\",\"shape\":\"sphere\",\"radius\":0.5,\"center\":[0,0,1.2]}]"
        ",\"stances\":{\"stand\":{\"eye\":[0,0,1.6],\"bones\":[[0,0,0,0,0,0,1]]}}}},"
        "\"hit\":{\"origin_tolerance\":0.3},\"weapons\":{\"rifle\":{\"type\":\"hitscan\","
        "\"damage\":%d,\"range\":100,\"radius\":0.05}}}",
        20 + client->id);
    send_body(client, "PUT", path, body, false);
    snprintf(path, sizeof path, "/v1/matches/%s", client->match);
    send_body(client, "DELETE", path, NULL, false);
    snprintf(path_of_map, sizeof path_of_map, "/v1/maps/wall-%d", client->id);
    snprintf(body, sizeof body, "{\"boxes\":[\n{\"min\":[10,%d,0],\"max\":[10.2,%d,3]}]}",
             4 * client->id + 3, 4 * client->id + 6);
    send_body(client, "PUT", path_of_map, body, false);
    snprintf(body, sizeof body, "{\"ruleset\":\"house-%d\",\"map\":\"wall-%d\"}", client->id,
             client->id);
    send_body(client, "PUT", path, body, false);
    /* Puts another map with the same name; the match keeps its map. */
    send_body(client, "PUT", path_of_map, "{}", false);
}

static void *play(void *context)
{
    struct client *client = context;
    client->http = hs_test_http_open(client->port);
    for (int k = client->from; k < client->until && client->fault[0] == '\0'; k++) {
        double time = 100.0 + 0.05 * k;
        if (k == HS_TRAFFIC_TICKS / 2 && client->id < HS_TRAFFIC_OWN)
            change_sides(client);
        if (hs_random_chance(&client->random, 0.5))
            send_tick(client, time, 10 * k);
        else
            send_apart(client, time, 10 * k);
        if (hs_random_chance(&client->random, 0.2) && client->last_path[0] != '\0')
            send_body(client, "POST", client->last_path, client->last, true);
    }
    hs_test_http_close(client->http);
    return NULL;
}

static void begin(struct client *client, int id, uint64_t seed)
{
    *client = (struct client){.id = id, .random = hs_random_start(seed, (uint64_t)id)};
    snprintf(client->shooter, sizeof client->shooter, "s%d", id);
    if (id < HS_TRAFFIC_OWN)
        snprintf(client->match, sizeof client->match, "own-%d", id);
    else
        strcpy(client->match, "shared");
}

void hs_traffic_play_part(unsigned port, uint64_t seed, int from, int until, struct hs_traffic *out)
{
    static struct client clients[HS_TRAFFIC_CLIENTS];
    pthread_t threads[HS_TRAFFIC_CLIENTS];
    bool plays[HS_TRAFFIC_CLIENTS];
    *out = (struct hs_traffic){0};
    for (int i = 0; i < HS_TRAFFIC_CLIENTS; i++) {
        if (from == 0)
            begin(&clients[i], i, seed);
        clients[i].port = port;
        clients[i].from = from;
        clients[i].until = until;
        plays[i] = pthread_create(&threads[i], NULL, play, &clients[i]) == 0;
        if (!plays[i])
            strcpy(clients[i].fault, "no thread");
    }
    for (int i = 0; i < HS_TRAFFIC_CLIENTS; i++) {
        if (plays[i])
            pthread_join(threads[i], NULL);
        if (clients[i].fault[0] != '\0')
            memcpy(out->fault, clients[i].fault, sizeof out->fault);
        out->claims += clients[i].claims;
        out->replayed += clients[i].replayed;
    }
}

void hs_traffic_play(unsigned port, uint64_t seed, struct hs_traffic *out)
{
    hs_traffic_play_part(port, seed, 0, HS_TRAFFIC_TICKS, out);
}

void hs_traffic_play_little(unsigned port, const char *match, struct hs_traffic *out)
{
    struct client client = {.random = hs_random_start(1, 1), .http = hs_test_http_open(port)};
    snprintf(client.match, sizeof client.match, "%s", match);
    strcpy(client.shooter, "s0");
    for (int k = 0; k < 30; k++)
        send_apart(&client, 100.0 + 0.05 * k, 10 * k);
    hs_test_http_close(client.http);
    *out = (struct hs_traffic){.claims = client.claims, .replayed = client.replayed};
    memcpy(out->fault, client.fault, sizeof out->fault);
}
