#include "tests/support/play/game_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/http/client.h"

/* Placeholders of equal width for numbers that change. */
#define TIME_HERE  "100000.000000"
#define SHOT_HERE  "100000000000"
#define TICK_US    16667
#define FIRST_US   INT64_C(100000000000)
#define FIRST_SHOT INT64_C(100000000000)
#define HEIGHT     160.0

/* Returns the height of a bone in centimetres. The head is the last bone. */
static double height_of(const struct hs_game_load *game, unsigned bone)
{
    return HEIGHT * (bone + 1.0) / game->bones;
}

static void put_players(const struct hs_game_load *game, FILE *out)
{
    for (unsigned i = 0; i < game->players; i++) {
        fprintf(out,
                "%s{\"player\":\"p%u\",\"position\":[%.3f,%.3f,0],\"aim\":[0.9906,0.137,0],"
                "\"weapon\":\"rifle\"",
                i == 0 ? "" : ",", i, 300.125 * i, i == 0 ? 0 : 41.5 * i);
        for (unsigned b = 0; b < game->bones; b++)
            fprintf(out, "%s[%.3f,%.3f,%.3f,0,0,0,1]%s", b == 0 ? ",\"bones\":[" : ",", 300.125 * i,
                    i == 0 ? 0 : 41.5 * i, height_of(game, b), b + 1 == game->bones ? "]" : "");
        fputc('}', out);
    }
}

bool hs_game_load_init(struct hs_game_load *game)
{
    static const char claim[] =
        "\"hits\":[{\"shot\":" SHOT_HERE ",\"shooter\":\"p0\",\"weapon\":\"rifle\","
        "\"hit_time\":" TIME_HERE ",\"start\":[0,0,160],\"end\":[300.125,41.5,160],"
        "\"target\":\"p1\",\"claimed_bone\":\"head\",\"claimed_damage\":40}]}";
    FILE *out = open_memstream(&game->body, &game->size);
    if (out == NULL)
        return false;
    fprintf(out, "{\"now\":" TIME_HERE ",");
    if (game->players > 0) {
        fprintf(out, "\"frames\":[{\"time\":" TIME_HERE ",\"players\":[");
        put_players(game, out);
        fprintf(out, "]}],");
    }
    fprintf(out, "%s", claim);
    if (fclose(out) != 0)
        return false;
    game->time_count = 0;
    for (const char *at = game->body; (at = strstr(at, TIME_HERE)) != NULL; at++)
        game->times[game->time_count++] = (size_t)(at - game->body);
    game->shot = (size_t)(strstr(game->body, SHOT_HERE ",") - game->body);
    return true;
}

/* ---- the matches ---- */

/* Makes a rig with one sphere per bone, one above the other. */
static json_t *rig_of(const struct hs_game_load *game)
{
    json_t *bones = json_array(), *hitboxes = json_array(), *rest = json_array();
    for (unsigned b = 0; b < game->bones; b++) {
        bool is_head = b + 1 == game->bones;
        json_t *name = is_head ? json_string("head") : json_sprintf("bone_%u", b);
        json_array_append(bones, name);
        json_array_append_new(hitboxes, json_pack("{s:o,s:s,s:s,s:f}", "bone", name, "zone",
                                                  is_head ? "head" : "torso", "shape", "sphere",
                                                  "radius", 12.0));
        json_array_append_new(
            rest, json_pack("[f,f,f,i,i,i,i]", 0.0, 0.0, height_of(game, b), 0, 0, 0, 1));
    }
    return json_pack("{s:o,s:o,s:{s:{s:[f,f,f],s:o}}}", "bones", bones, "hitboxes", hitboxes,
                     "stances", "stand", "eye", 0.0, 0.0, HEIGHT, "bones", rest);
}

bool hs_game_load_open(const struct hs_game_load *game, unsigned port)
{
    char ruleset[32], path[64];
    if (game->bones == 0)
        return true;
    snprintf(ruleset, sizeof ruleset, "bones-%u", game->bones);
    snprintf(path, sizeof path, "/v1/rulesets/%s", ruleset);
    struct hs_test_http *http = hs_test_http_open(port);
    bool fine = hs_test_http_put(http, path,
                                 json_pack("{s:s,s:s,s:{s:o},s:{s:f,s:f}}", "name", ruleset,
                                           "default_rig", "column", "rigs", "column", rig_of(game),
                                           "zones", "head", 2.0, "torso", 1.0));
    for (unsigned i = 0; fine && i < game->matches; i++) {
        snprintf(path, sizeof path, "/v1/matches/load-%u-%u", game->bones, i);
        fine = hs_test_http_put(http, path, json_pack("{s:s}", "ruleset", ruleset));
    }
    hs_test_http_close(http);
    return fine;
}

void hs_game_load_free(struct hs_game_load *game)
{
    free(game->body);
    game->body = NULL;
}

size_t hs_game_load_fill(void *context, uint64_t number, char out[HS_OPEN_LOAD_REQUEST_MAX])
{
    const struct hs_game_load *game = context;
    char digits[32];
    uint64_t tick = number / game->matches, when = game->ticks > 0 ? game->ticks : tick;
    int head = snprintf(out, 512,
                        "POST /v1/matches/load-%u-%u/%s HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                        "Content-Type: application/json\r\nContent-Length: %zu\r\n%s\r\n",
                        game->bones, (unsigned)(number % game->matches),
                        game->players > 0 ? "ticks" : "hits", game->size, game->headers);
    char *body = out + head;
    memcpy(body, game->body, game->size);
    int64_t time_us = FIRST_US + (int64_t)when * TICK_US;
    snprintf(digits, sizeof digits, "%lld.%06lld", (long long)(time_us / 1000000),
             (long long)(time_us % 1000000));
    for (size_t i = 0; i < game->time_count; i++)
        memcpy(body + game->times[i], digits, sizeof TIME_HERE - 1);
    snprintf(digits, sizeof digits, "%lld", (long long)(FIRST_SHOT + (int64_t)tick));
    memcpy(body + game->shot, digits, sizeof SHOT_HERE - 1);
    return (size_t)head + game->size;
}
