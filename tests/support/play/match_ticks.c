#include "tests/support/play/match_ticks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/http/client.h"
#include "tests/support/random.h"

/* SEEN_AGO is in ticks: 0.1 s. Each player fires every FIRES_EVERY ticks, but not before tick
   WAITS. */
enum { SEEN_AGO = 6, FIRES_EVERY = 240, WAITS = 66, ROW = 8 };

#define FIRST_S     1000.0
#define SPACING     4.0 /* metres */
#define CIRCLE      1.0
#define SPEED       3.0 /* metres a second */
#define EYE         1.6
#define BODY_HEIGHT 1.0 /* height at which shots are aimed */
#define BONE_STEP   0.1 /* distance between bones of the column */
#define RTT         0.05
#define INTERP      0.05

/* ---- places ---- */

static double time_of(unsigned tick)
{
    /* Rounded to microseconds, as it is printed. */
    return FIRST_S + floor((double)tick * 1e6 / HS_MATCH_TICKS_HZ) * 1e-6;
}

static double angle_of(unsigned player, int tick)
{
    return 0.7 * player + SPEED / CIRCLE * (double)tick / HS_MATCH_TICKS_HZ;
}

static struct hs_vec place_of(unsigned player, int tick)
{
    double angle = angle_of(player, tick);
    return (struct hs_vec){SPACING * (player % ROW) + CIRCLE * cos(angle),
                           SPACING * (player / ROW) + CIRCLE * sin(angle), 0};
}

/* Returns the other player of a pair. The last player of an odd number watches the previous one. */
static unsigned neighbour_of(const struct hs_match_ticks *match, unsigned player)
{
    unsigned other = player ^ 1;
    return other < match->players ? other : player - 1;
}

/* Returns the place at which the player sees their neighbour's body. */
static struct hs_vec seen_by(const struct hs_match_ticks *match, unsigned player, int tick)
{
    struct hs_vec seen = place_of(neighbour_of(match, player), tick - SEEN_AGO);
    seen.z += BODY_HEIGHT;
    return seen;
}

static struct hs_vec eye_of(unsigned player, int tick)
{
    struct hs_vec eye = place_of(player, tick);
    eye.z += EYE;
    return eye;
}

static bool fires(const struct hs_match_ticks *match, unsigned player, unsigned tick)
{
    return !match->is_silent && !match->is_peaceful && match->players > 1 && tick >= WAITS &&
           (tick + player * 61) % FIRES_EVERY == 0;
}

/* ---- bodies ---- */

static void put_vec(FILE *out, const char *before, struct hs_vec v)
{
    fprintf(out, "%s[%.3f,%.3f,%.3f]", before, v.x, v.y, v.z);
}

/* Writes the bones. In the compact form they are one list of numbers. */
static void put_bones(const struct hs_match_ticks *match, FILE *out, struct hs_vec at, double half)
{
    for (unsigned b = 0; b < match->bones; b++)
        fprintf(out, "%s%s%.3f,%.3f,%.3f,0,0,%.4f,%.4f%s", b > 0 ? "," : "",
                match->is_compact ? "" : "[", at.x, at.y, at.z + BONE_STEP * (b + 1), sin(half),
                cos(half), match->is_compact ? "" : "]");
}

/* Returns the text before a value: a comma and its key in an object, only a comma in a row. */
static const char *key(const struct hs_match_ticks *match, const char *name)
{
    static _Thread_local char text[32];
    if (match->is_compact)
        return ",";
    snprintf(text, sizeof text, ",\"%s\":", name);
    return text;
}

static void put_player(const struct hs_match_ticks *match, FILE *out, unsigned player,
                       unsigned tick, double rtt)
{
    bool objects = !match->is_compact;
    struct hs_vec at = place_of(player, (int)tick), eye = eye_of(player, (int)tick);
    struct hs_vec aim = hs_vec_sub(seen_by(match, player, (int)tick), eye);
    aim = hs_vec_scale(aim, 1 / sqrt(hs_vec_dot(aim, aim)));
    double half = atan2(aim.y, aim.x) / 2;
    fprintf(out, "%s%s\"player%u\"", player > 0 ? "," : "", objects ? "{\"player\":" : "[", player);
    put_vec(out, key(match, "position"), at);
    fprintf(out, "%s[0,0,%.4f,%.4f]", key(match, "rotation"), sin(half), cos(half));
    fprintf(out, "%s[%.4f,%.4f,%.4f]", key(match, "aim"), aim.x, aim.y, aim.z);
    fprintf(out, "%s%.4f", key(match, "rtt"), rtt);
    if (match->bones > 0) {
        fprintf(out, "%s[", key(match, "bones"));
        put_bones(match, out, at, half);
        fputc(']', out);
    }
    /* Post these once, because the service keeps them until another value is posted. */
    if (tick == 0 && objects)
        fprintf(out, ",\"weapon\":\"rifle\",\"interp\":%.2f", INTERP);
    else if (tick == 0)
        fprintf(out, ",\"rifle\",%.2f", INTERP);
    fputc(objects ? '}' : ']', out);
}

static void put_frame(const struct hs_match_ticks *match, FILE *out, unsigned tick,
                      struct hs_random *dice)
{
    fprintf(out, "\"frames\":[{\"time\":%.6f,\"players\":", time_of(tick));
    if (match->is_compact)
        fprintf(out,
                "{\"columns\":[\"player\",\"position\",\"rotation\",\"aim\",\"rtt\"%s%s],\"rows\":",
                match->bones > 0 ? ",\"bones\"" : "", tick == 0 ? ",\"weapon\",\"interp\"" : "");
    fputc('[', out);
    for (unsigned i = 0; i < match->players; i++)
        put_player(match, out, i, tick, RTT + hs_random_between(dice, -0.002, 0.002));
    fputs(match->is_compact ? "]}}]" : "]}]", out);
}

/* Writes the move of a client. The move arrived at some time since the last tick. */
static void put_move(const struct hs_match_ticks *match, FILE *out, unsigned player, unsigned tick,
                     double late)
{
    bool objects = !match->is_compact;
    fprintf(out, "%s%s\"player%u\"", player > 0 ? "," : "", objects ? "{\"player\":" : "[", player);
    fprintf(out, "%s%u", key(match, "seq"), tick + 1);
    fprintf(out, "%s%.6f", key(match, "client_time"), time_of(tick) - FIRST_S + 1 + 0.01 * player);
    fprintf(out, "%s%.6f", key(match, "received"), time_of(tick) - late);
    fprintf(out, "%s%.6f", key(match, "ack"), time_of(tick) - late - RTT);
    fprintf(out, "%s\"walking\"", key(match, "mode"));
    put_vec(out, key(match, "position"), place_of(player, (int)tick));
    fputc(objects ? '}' : ']', out);
}

static void put_moves(const struct hs_match_ticks *match, FILE *out, unsigned tick,
                      struct hs_random *dice)
{
    fputs(match->is_compact
              ? ",\"moves\":{\"columns\":[\"player\",\"seq\",\"client_time\",\"received\","
                "\"ack\",\"mode\",\"position\"],\"rows\":["
              : ",\"moves\":[",
          out);
    for (unsigned i = 0; i < match->players; i++)
        put_move(match, out, i, tick, hs_random_between(dice, 0, 0.012));
    fputs(match->is_compact ? "]}" : "]", out);
}

static void put_shot(const struct hs_match_ticks *match, FILE *out, unsigned player, unsigned tick)
{
    struct hs_vec eye = eye_of(player, (int)tick), seen = seen_by(match, player, (int)tick);
    fprintf(out, "{\"shot\":%u,\"shooter\":\"player%u\",\"weapon\":\"rifle\",\"time\":%.6f", tick,
            player, time_of(tick));
    put_vec(out, ",\"origin\":", eye);
    put_vec(out, ",\"direction\":", hs_vec_sub(seen, eye));
    fputc('}', out);
}

static void put_claim(const struct hs_match_ticks *match, FILE *out, unsigned player, unsigned tick)
{
    fprintf(out, "{\"shot\":%u,\"shooter\":\"player%u\",\"weapon\":\"rifle\",\"hit_time\":%.6f",
            tick, player, time_of(tick - SEEN_AGO));
    put_vec(out, ",\"start\":", eye_of(player, (int)tick));
    put_vec(out, ",\"end\":", seen_by(match, player, (int)tick));
    fprintf(out, ",\"target\":\"player%u\"}", neighbour_of(match, player));
}

/* Writes the items of everybody who fires in this tick. Returns their number. */
static unsigned put_items(const struct hs_match_ticks *match, FILE *out, unsigned tick,
                          const char *name,
                          void (*put)(const struct hs_match_ticks *, FILE *, unsigned, unsigned))
{
    unsigned count = 0;
    for (unsigned i = 0; i < match->players; i++) {
        if (!fires(match, i, tick))
            continue;
        if (count++ == 0)
            fprintf(out, ",\"%s\":[", name);
        else
            fputc(',', out);
        put(match, out, i, tick);
    }
    fputs(count > 0 ? "]" : "", out);
    return count;
}

bool hs_match_ticks_make(struct hs_match_ticks *match)
{
    struct hs_random dice = hs_random_start(14, match->players);
    match->bodies = calloc(match->ticks, sizeof *match->bodies);
    match->sizes = calloc(match->ticks, sizeof *match->sizes);
    match->claims = calloc(match->ticks, sizeof *match->claims);
    if (match->bodies == NULL || match->sizes == NULL || match->claims == NULL)
        return false;
    for (unsigned tick = 0; tick < match->ticks; tick++) {
        FILE *out = open_memstream(&match->bodies[tick], &match->sizes[tick]);
        if (out == NULL)
            return false;
        fprintf(out, "{\"now\":%.6f,", time_of(tick));
        put_frame(match, out, tick, &dice);
        if (!match->is_silent)
            put_moves(match, out, tick, &dice);
        put_items(match, out, tick, "shots", put_shot);
        match->claims[tick] = put_items(match, out, tick, "hits", put_claim);
        fputc('}', out);
        if (fclose(out) != 0)
            return false;
    }
    return true;
}

void hs_match_ticks_free(struct hs_match_ticks *match)
{
    for (unsigned tick = 0; match->bodies != NULL && tick < match->ticks; tick++)
        free(match->bodies[tick]);
    free(match->bodies);
    free(match->sizes);
    free(match->claims);
    match->bodies = NULL;
    match->sizes = NULL;
    match->claims = NULL;
}

/* ---- the matches ---- */

/* Makes a rig with one capsule per bone, one above the other. The last bone is the head. */
static json_t *rig_of(unsigned count)
{
    json_t *bones = json_array(), *hitboxes = json_array(), *rest = json_array();
    for (unsigned b = 0; b < count; b++) {
        bool is_head = b + 1 == count;
        json_t *name = is_head ? json_string("head") : json_sprintf("bone_%u", b);
        json_array_append(bones, name);
        json_array_append_new(hitboxes, json_pack("{s:o,s:s,s:s,s:f,s:f}", "bone", name, "zone",
                                                  is_head ? "head" : "torso", "shape", "capsule",
                                                  "radius", 0.12, "half_length", 0.04));
        json_array_append_new(
            rest, json_pack("[f,f,f,i,i,i,i]", 0.0, 0.0, BONE_STEP * (b + 1), 0, 0, 0, 1));
    }
    return json_pack("{s:o,s:o,s:{s:{s:[f,f,f],s:o}}}", "bones", bones, "hitboxes", hitboxes,
                     "stances", "stand", "eye", 0.0, 0.0, EYE, "bones", rest);
}

/* Puts the built-in ruleset in metres with another rig. */
static bool put_rules(struct hs_test_http *http, unsigned bones)
{
    long status = 0;
    json_t *answer = hs_test_http_json(http, "GET", "/v1/rulesets/metres", NULL, &status);
    json_t *rules = json_incref(json_object_get(answer, "ruleset"));
    json_t *rigs = json_object();
    json_object_set_new(rigs, "column", rig_of(bones));
    json_object_set_new(rules, "name", json_string("column"));
    json_object_set_new(rules, "default_rig", json_string("column"));
    json_object_set_new(rules, "rigs", rigs);
    json_decref(answer);
    return status == 200 && hs_test_http_put(http, "/v1/rulesets/column", rules);
}

bool hs_match_ticks_open(const struct hs_match_ticks *match, unsigned port, const char *prefix,
                         unsigned count)
{
    struct hs_test_http *http = hs_test_http_open(port);
    bool fine = match->bones == 0 || put_rules(http, match->bones);
    for (unsigned i = 0; fine && i < count; i++) {
        char path[64];
        snprintf(path, sizeof path, "/v1/matches/%s%u", prefix, i);
        fine = hs_test_http_put(
            http, path, json_pack("{s:s}", "ruleset", match->bones > 0 ? "column" : "metres"));
    }
    hs_test_http_close(http);
    return fine;
}
