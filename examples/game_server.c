/*
 * A complete game server that lets Hindsight verify its hits. It needs only libcurl and jansson.
 *
 *     cc examples/game_server.c $(pkg-config --cflags --libs libcurl jansson) -lm -o game_server
 *     ./game_server [unreal|unity|godot|source] [SECONDS]
 *
 * It simulates a match between ten players, with network latency. Two of the players cheat. Time is
 * simulated too, so a match runs as fast as the service answers. The program prints who was caught.
 * Its exit code is 0 only if every honest claim was accepted and every forged claim was refused.
 * HINDSIGHT_URL is the address of the service (default http://127.0.0.1:8080). If the service needs
 * a token, set HINDSIGHT_TOKEN to the token.
 *
 * Copy `request`, `tick`, `post_tick`, `keep_frame` and `resync` to your game. The other functions
 * stand for parts that your game already has.
 */
#include <curl/curl.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PLAYERS = 10, WALLS = 2, RATE = 60, TRIES = 400 };

#define SPEED  7.0  /* metres per second */
#define EYE    1.6  /* metres above the feet, as in the rig of the built-in rulesets */
#define CHEST  1.2  /* metres above the feet; players aim here */
#define INTERP 0.05 /* seconds; the interpolation delay of the clients */

struct vec {
    double v[3];
};

/* ---- the game's frame of reference ---- */

/* Your game posts positions in the units and axes of its engine, and converts nothing. This program
   simulates in metres with x ahead, y left, z up. It converts its positions only because it
   imitates games on different engines. The engine's coordinate i is sign[i] * unit *
   own[axis[i]]. */
static const struct engine {
    const char *ruleset; /* a built-in ruleset of the service */
    double unit;         /* engine units per metre */
    int axis[3];
    double sign[3];
} engines[] = {
    {"unreal", 100, {0, 1, 2}, {1, -1, 1}},       /* centimetres; x ahead, y right, z up */
    {"unity", 1, {1, 2, 0}, {-1, 1, 1}},          /* metres; x right, y up, z ahead */
    {"godot", 1, {1, 2, 0}, {-1, 1, -1}},         /* metres; x right, y up, z behind */
    {"source", 1 / 0.0254, {0, 1, 2}, {1, 1, 1}}, /* inches; x ahead, y left, z up */
};

static const struct engine *engine = &engines[1];

static struct vec to_engine(struct vec own)
{
    struct vec out;
    for (int i = 0; i < 3; i++)
        out.v[i] = engine->sign[i] * engine->unit * own.v[engine->axis[i]];
    return out;
}

static json_t *position(struct vec own)
{
    struct vec p = to_engine(own);
    return json_pack("[f,f,f]", p.v[0], p.v[1], p.v[2]);
}

/* ---- HTTP ---- */

static CURL *curl; /* one handle for all requests, so the connection stays open */
static struct curl_slist *headers;
static const char *service = "http://127.0.0.1:8080";

struct text {
    char *bytes;
    size_t size;
};

static size_t receive(char *bytes, size_t one, size_t count, void *context)
{
    struct text *text = context;
    char *more = realloc(text->bytes, text->size + count);
    if (more == NULL)
        return 0;
    memcpy(more + text->size, bytes, count);
    *text = (struct text){more, text->size + count};
    return one * count;
}

static void wait_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Returns how many milliseconds to wait before the request is sent again, or -1 if the answer is
   final. */
static long retry_after_ms(CURLcode failure, long status, const json_t *answer)
{
    if (failure != CURLE_OK || status == 502 || status == 504)
        return 50; /* the service may have processed the request, but no hit counts twice */
    const char *code = json_string_value(json_object_get(answer, "code"));
    bool has_moved = code != NULL && strcmp(code, "match_moved") == 0;
    if (status != 503 && status != 429 && !has_moved)
        return -1;
    const json_t *ms = json_object_get(answer, "retry_after_ms");
    curl_off_t seconds = 0; /* a load balancer sends only the header Retry-After */
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds);
    return ms != NULL ? (long)json_integer_value(ms) : (long)seconds * 1000;
}

/* Sends a request about a map or a match. `kind` is "maps" or "matches", and `route` is the path
   after the name. Repeats the request while the service is overloaded or unreachable. Returns the
   answer, or NULL if the answer has no body, or if the service does not know the name (404, except
   for a PUT). Any other error ends the program. This function blocks: call it from a separate
   thread, never from the thread that runs your ticks. */
static json_t *request(const char *method, const char *kind, const char *name, const char *route,
                       const json_t *body)
{
    char url[512];
    char *sent = body != NULL ? json_dumps(body, JSON_COMPACT) : NULL;
    snprintf(url, sizeof url, "%s/v1/%s/%s%s", service, kind, name, route);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    if (sent != NULL)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, sent);
    else
        curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    for (int try = 0; try < TRIES; try++) {
        struct text text = {0};
        long status = 0;
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &text);
        CURLcode failure = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
        json_t *answer = json_loadb(text.bytes != NULL ? text.bytes : "", text.size, 0, NULL);
        free(text.bytes);
        long pause = retry_after_ms(failure, status, answer);
        /* With tokens, an unknown match gets 403. If the token lacks a scope, the answer also has a
           header. */
        struct curl_header *challenge;
        bool lacks_scope = curl_easy_header(curl, "WWW-Authenticate", 0, CURLH_HEADER, -1,
                                            &challenge) == CURLHE_OK;
        bool is_unknown =
            (status == 404 || (status == 403 && !lacks_scope)) && strcmp(method, "PUT") != 0;
        if (pause < 0 && status >= 300 && !is_unknown) { /* the request is wrong */
            fprintf(stderr, "%s %s: %ld\n", method, url, status);
            json_dumpf(answer, stderr,
                       JSON_INDENT(2)); /* `detail` and `errors` explain what is wrong */
            exit(2);
        }
        if (is_unknown || pause >= 0) {
            json_decref(answer);
            answer = NULL;
        }
        if (pause < 0) {
            free(sent);
            return answer;
        }
        wait_ms(pause);
    }
    fprintf(stderr, "%s %s: no answer\n", method, url);
    exit(2);
}

/* ---- the game: your game already has this part ---- */

static const struct wall {
    struct vec min, max;
} walls[WALLS] = {{{{-16, -0.25, 0}}, {{16, 0.25, 3}}}, {{{17.5, 5, 0}}, {{18.5, 13, 3}}}};

/* mallory uses the first three cheats, and trudy the others. */
enum kind {
    HONEST,
    OLD_TIME,
    NO_LATENCY,
    WALL_SHOT,
    BESIDE,
    ELSEWHERE,
    NO_SHOT,
    USED_NUMBER,
    KINDS
};

/* The first two players cheat. */
static struct player {
    const char *name;
    double rtt;       /* seconds, without jitter */
    double next_shot; /* seconds */
    int shots;
    int claims, accepted, damage;
} players[PLAYERS] = {{.name = "mallory"}, {.name = "trudy"}, {.name = "alice"}, {.name = "bob"},
                      {.name = "carol"},   {.name = "dave"},  {.name = "erin"},  {.name = "frank"},
                      {.name = "grace"},   {.name = "heidi"}};

static struct {
    int claims, accepted;
    char why[256]; /* reason and detail of the last refusal */
} tally[KINDS];

/* How often this program restored the match after the service had lost its frames, and how many
   claims the service could not decide because of the loss. */
static int resyncs, undecided;

static double dice(double low, double high)
{
    return low + (high - low) * drand48();
}

/* Returns a player's position on the server. Players run in circles, five players on each side of
   the long wall. */
static struct vec feet(int player, double time)
{
    double radius = 3.5, angle = SPEED / radius * time * (player % 2 ? 1 : -1) + player;
    int place = player / 2 - 2;
    return (struct vec){
        {place * 12 + radius * cos(angle), (player % 2 ? 9 : -9) + radius * sin(angle), 0}};
}

static struct vec raised(struct vec feet, double height)
{
    feet.v[2] += height;
    return feet;
}

/* Returns whether a wall, grown by `margin` on every side, is between two points. */
static bool wall_between(struct vec a, struct vec b, double margin)
{
    for (int i = 0; i < WALLS; i++) {
        double enter = 0, leave = 1;
        for (int k = 0; k < 3; k++) {
            double way = b.v[k] - a.v[k], width = fabs(way) > 1e-9 ? way : 1e-9;
            double to_min = (walls[i].min.v[k] - margin - a.v[k]) / width;
            double to_max = (walls[i].max.v[k] + margin - a.v[k]) / width;
            enter = fmax(enter, fmin(to_min, to_max));
            leave = fmin(leave, fmax(to_min, to_max));
        }
        if (enter <= leave)
            return true;
    }
    return false;
}

/* Returns whether a third player is within a metre of the line of fire on the shooter's screen. */
static bool body_between(int shooter, int target, struct vec a, struct vec b, double seen)
{
    double dx = b.v[0] - a.v[0], dy = b.v[1] - a.v[1];
    for (int i = 0; i < PLAYERS; i++) {
        struct vec p = feet(i, seen);
        double part = ((p.v[0] - a.v[0]) * dx + (p.v[1] - a.v[1]) * dy) / (dx * dx + dy * dy);
        part = fmin(1, fmax(0, part));
        double x = a.v[0] + part * dx - p.v[0], y = a.v[1] + part * dy - p.v[1];
        if (i != shooter && i != target && hypot(x, y) < 1)
            return true;
    }
    return false;
}

/* ---- a client: what it saw, and what it claims ---- */

struct claim {
    int shooter, target; /* target -1: the shot missed on the client's screen */
    double seen;         /* server time of the poses on the client's screen */
    struct vec from, to;
    enum kind kind;
};

static enum kind choose_kind(int shooter)
{
    if (shooter == 0)
        return (enum kind)(OLD_TIME + players[0].claims % 3);
    /* trudy's first two cheats post their shots. Once a player has posted a shot with a weapon, the
       service expects a posted shot for every hit with this weapon that the player claims. */
    return shooter == 1 ? (enum kind)(BESIDE + players[1].claims % 4) : HONEST;
}

/* Creates the claim of a client whose packet arrives at `now`. Returns false if the client has no
   target. */
static bool client_shoots(int shooter, double now, struct claim *claim)
{
    struct player *player = &players[shooter];
    int target = (shooter + 1 + (int)dice(0, PLAYERS - 1)) % PLAYERS;
    /* The client's screen showed a moment that was one round trip plus INTERP before `now`. The
       client knows the server time of the poses on its screen, and sends this time with the
       shot. */
    double rtt = fmax(0.02, player->rtt + dice(-0.02, 0.02));
    double seen = now - rtt - INTERP;
    enum kind kind = choose_kind(shooter);
    /* The shooter's moves arrive together with the shot, so the server has the shooter at this
       place now. */
    struct vec from = raised(feet(shooter, now), EYE);
    if (kind == OLD_TIME)
        seen = now - dice(0.6, 0.8);
    else if (kind == NO_LATENCY)
        seen = now + 0.04; /* the client claims that it sees players where they are now */
    else if (kind == ELSEWHERE)
        from.v[0] += 1.5; /* the client claims a start beside the shooter's eye, for example outside
                             the cover */
    struct vec to = raised(feet(target, seen), CHEST);
    *claim = (struct claim){shooter, target, seen, from, to, kind};
    if (kind == WALL_SHOT) {
        return wall_between(from, to, -0.1);
    } else if (kind == BESIDE) {
        claim->to.v[2] += dice(1, 3); /* the client claims a hit with a shot that passes over the
                                         head */
    } else if (kind == HONEST) {
        /* Honest players shoot at visible players. One shot in five misses and is not claimed. */
        claim->to.v[0] += dice(-0.15, 0.15);
        claim->to.v[2] += dice(0, 1) < 0.2 ? 1.5 : dice(-0.15, 0.15);
        if (claim->to.v[2] > 2)
            claim->target = -1;
        return !wall_between(from, to, 0.5) && !body_between(shooter, target, from, to, seen);
    }
    return true;
}

/* ---- the server's tick ---- */

/* Returns a player's entry in the frame. `rtt` is a measured value, so jitter is added to it. */
static json_t *pose(int i, double now, bool first)
{
    struct player *player = &players[i];
    json_t *entry = json_pack("{s:s,s:o,s:f}", "player", player->name, "position",
                              position(feet(i, now)), "rtt", player->rtt + dice(-0.01, 0.01));
    if (first) { /* the service remembers these values until they change */
        json_object_set_new(entry, "event", json_string("spawn"));
        json_object_set_new(entry, "weapon", json_string("rifle"));
        json_object_set_new(entry, "interp", json_real(INTERP));
    }
    return entry;
}

/* Adds the shot to the request, and also a claim if the client says that the shot hit. Two of the
   cheats post no shot: they claim a hit without a shot, or with the number of an earlier shot. */
static void add_shot(json_t *shots, json_t *hits, const struct claim *claim, double now)
{
    struct player *player = &players[claim->shooter];
    /* A shooter must not use the same shot number twice in a match. */
    int number = claim->kind == USED_NUMBER ? player->shots : ++player->shots;
    /* The shot and the claimed path must have the same direction. */
    struct vec direction = claim->to;
    for (int i = 0; i < 3; i++)
        direction.v[i] -= claim->from.v[i];
    if (claim->kind != NO_SHOT && claim->kind != USED_NUMBER)
        json_array_append_new(shots,
                              json_pack("{s:i,s:s,s:f,s:o,s:o}", "shot", number, "shooter",
                                        player->name, "time", now, "origin", position(claim->from),
                                        "direction", position(direction)));
    if (claim->target < 0)
        return;
    /* Without a fire_time, the shooter's pose at `now` counts. This is correct for this game,
       because the shooter's moves arrived together with the shot. */
    json_array_append_new(hits, json_pack("{s:i,s:s,s:s,s:f,s:o,s:o}", "shot", number, "shooter",
                                          player->name, "target", players[claim->target].name,
                                          "hit_time", claim->seen, "start", position(claim->from),
                                          "end", position(claim->to)));
}

/* Applies the verdict on a claim. `result` is NULL if the brief answer does not list the claim. The
   claim was then accepted without damage. */
static void apply(const struct claim *claim, const json_t *result)
{
    struct player *player = &players[claim->shooter];
    const char *verdict = json_string_value(json_object_get(result, "verdict"));
    bool accepted = verdict == NULL || strcmp(verdict, "accepted") == 0;
    if (verdict != NULL && strcmp(verdict, "inconclusive") == 0) {
        undecided++; /* the service lost the poses of that time */
        return;
    }
    tally[claim->kind].claims++;
    tally[claim->kind].accepted += accepted;
    player->claims++;
    player->accepted += accepted;
    const json_t *one;
    size_t i;
    /* Your game applies this damage. This program only adds up the damage. */
    json_array_foreach(json_object_get(result, "damage"), i, one) player->damage +=
        (int)json_number_value(json_object_get(one, "amount"));
    if (accepted)
        return;
    const char *detail = "";
    json_array_foreach(json_object_get(result, "checks"), i, one)
    {
        if (json_object_get(one, "detail") != NULL && *detail == '\0')
            detail = json_string_value(json_object_get(one, "detail"));
    }
    snprintf(tally[claim->kind].why, sizeof tally[claim->kind].why, "%s: %s",
             json_string_value(json_object_get(result, "reason")), detail);
}

/* Returns 0 if every claim has its verdict. If the service could not verify some claims yet
   (`over_budget`, `not_recorded`), returns how many milliseconds to wait before the tick is sent
   again. */
static long undecided_ms(const json_t *answer)
{
    const json_t *result;
    json_int_t longest = 0;
    size_t i;
    json_array_foreach(json_object_get(answer, "hits"), i, result)
    {
        json_int_t ms = json_integer_value(json_object_get(result, "retry_after_ms"));
        longest = ms > longest ? ms : longest;
    }
    return (long)longest;
}

/* ---- if another replica takes over the match, or the service restarts ---- */

static json_t *recent;        /* frames of the last second, oldest first */
static bool has_whole_second; /* the service has a whole second of frames */

/* Stores a frame, because the service may need it again. Adds the fields that are normally sent
   only once, because the service may have lost their values. */
static void keep_frame(double now, json_t *entries)
{
    json_t *entry;
    size_t i;
    json_array_foreach(entries, i, entry)
    {
        json_object_set_new(entry, "weapon", json_string("rifle"));
        json_object_set_new(entry, "interp", json_real(INTERP));
    }
    json_array_append_new(recent, json_pack("{s:f,s:O}", "time", now, "players", entries));
    if (json_array_size(recent) > RATE)
        json_array_remove(recent, 0);
}

/* Opens the match. Does nothing if the match is already open. */
static void put_match(const char *match)
{
    json_t *rules = json_pack("{s:s,s:s}", "ruleset", engine->ruleset, "map", match);
    json_decref(request("PUT", "matches", match, "", rules));
    json_decref(rules);
}

static void resync(const char *match)
{
    json_t *body = json_pack("{s:O}", "frames", recent);
    resyncs++;
    put_match(match);
    json_decref(request("POST", "matches", match, "/frames", body));
    json_decref(body);
}

/* Posts a tick, and repeats it until the service has processed all of it. Returns the answer. */
static json_t *post_tick(const char *match, const json_t *body)
{
    json_t *answer = NULL;
    for (int try = 0; try < TRIES && (answer == NULL || undecided_ms(answer) > 0); try++) {
        wait_ms(undecided_ms(answer));
        json_decref(answer);
        /* The service repeats verdicts that it has already given. */
        answer = request("POST", "matches", match, "/ticks?brief=true", body);
        if (answer == NULL) /* the service does not know the match, or does not know it any more */
            resync(match);
    }
    if (answer == NULL) {
        fprintf(stderr, "no answer to the ticks of %s\n", match);
        exit(2);
    }
    bool is_whole = json_object_get(json_object_get(answer, "frames"), "need") == NULL;
    if (has_whole_second && !is_whole) /* the service restarted, or another replica took over */
        resync(match);
    has_whole_second = is_whole;
    return answer;
}

static void tick(const char *match, double now, bool first, bool shooting)
{
    struct claim claims[PLAYERS];
    int count = 0;
    json_t *entries = json_array(), *shots = json_array(), *hits = json_array();
    for (int i = 0; i < PLAYERS; i++) {
        json_array_append_new(entries, pose(i, now, first));
        if (!shooting || now < players[i].next_shot || !client_shoots(i, now, &claims[count]))
            continue;
        /* The built-in rifle fires at most once in 0.15 s, and reloads for 2 s after 30 rounds. */
        players[i].next_shot = now + (players[i].shots % 30 == 29 ? 2.1 : dice(0.2, 0.4));
        add_shot(shots, hits, &claims[count], now);
        count += claims[count].target >= 0; /* one claim for each hit */
    }
    json_t *body = json_pack("{s:f,s:[{s:f,s:o}],s:o,s:o}", "now", now, "frames", "time", now,
                             "players", entries, "shots", shots, "hits", hits);
    json_t *answer = post_tick(match, body);
    keep_frame(now, entries);
    /* If the service refuses a pose, the game server has made a mistake: print the answer. */
    if (json_array_size(json_object_get(json_object_get(answer, "frames"), "refused")) > 0)
        json_dumpf(json_object_get(answer, "frames"), stderr, JSON_INDENT(2));
    const json_t *results = json_object_get(answer, "hits");
    size_t listed = 0;
    for (int i = 0; i < count; i++) { /* `index` is the position of the hit in the request */
        const json_t *result = json_array_get(results, listed);
        bool is_listed =
            result != NULL && json_integer_value(json_object_get(result, "index")) == i;
        apply(&claims[i], is_listed ? result : NULL);
        listed += is_listed;
    }
    json_decref(answer);
    json_decref(body);
}

/* ---- the match ---- */

/* Uploads a map with the walls, and opens a match on this map. */
static void open_match(const char *match)
{
    json_t *boxes = json_array(), *map = json_pack("{s:o}", "boxes", boxes);
    for (int i = 0; i < WALLS; i++) {
        struct vec a = to_engine(walls[i].min), b = to_engine(walls[i].max), min, max;
        for (int k = 0; k < 3; k++) { /* a mirrored axis swaps min and max */
            min.v[k] = fmin(a.v[k], b.v[k]);
            max.v[k] = fmax(a.v[k], b.v[k]);
        }
        json_array_append_new(boxes, json_pack("{s:[f,f,f],s:[f,f,f]}", "min", min.v[0], min.v[1],
                                               min.v[2], "max", max.v[0], max.v[1], max.v[2]));
    }
    json_decref(request("PUT", "maps", match, "", map));
    /* End a match that an aborted run left open. */
    json_decref(request("DELETE", "matches", match, "", NULL));
    put_match(match);
    json_decref(map);
}

/* Prints the service's hints: likely mistakes in this integration, derived from the claims. */
static void print_hints(const char *match)
{
    json_t *state = request("GET", "matches", match, "", NULL), *hint;
    const json_t *hints = json_object_get(state, "hints");
    size_t i;
    printf("  hints: %zu\n", json_array_size(hints));
    json_array_foreach(hints, i, hint)
        printf("  %s\n", json_string_value(json_object_get(hint, "detail")));
    json_decref(state);
}

static void close_match(const char *match)
{
    print_hints(match);
    json_decref(request("DELETE", "matches", match, "", NULL));
    json_decref(request("DELETE", "maps", match, "", NULL));
}

/* Prints the result. Returns whether every verdict was right. */
static bool report(void)
{
    static const char *const names[KINDS] = {"honest",        "old times",  "no latency",
                                             "through walls", "beside",     "from elsewhere",
                                             "no shot",       "used number"};
    bool good = true;
    printf("  %-8s %6s %7s %9s %7s\n", "player", "rtt ms", "claims", "accepted", "damage");
    for (int i = 0; i < PLAYERS; i++) {
        struct player *p = &players[i];
        bool caught = p->claims > 0 && p->accepted == 0;
        printf("  %-8s %6.0f %7d %9d %7d%s\n", p->name, p->rtt * 1e3, p->claims, p->accepted,
               p->damage, caught ? "  caught" : "");
    }
    for (int kind = 0; kind < KINDS; kind++) {
        int wanted = kind == HONEST ? tally[kind].claims : 0;
        printf("  %s: %d of %d claims accepted%s%s\n", names[kind], tally[kind].accepted,
               tally[kind].claims, *tally[kind].why ? "; " : "", tally[kind].why);
        good = good && tally[kind].claims > 0 && tally[kind].accepted == wanted;
    }
    if (resyncs > 0)
        printf("  the match moved: %d, undecided claims: %d\n", resyncs, undecided);
    good = good && (undecided == 0 || resyncs > 0);
    puts(good ? "No honest claim was refused. Every forged claim was refused."
              : "FAILED: a verdict is wrong.");
    return good;
}

int main(int argc, char **argv)
{
    char match[64], token[512];
    double seconds = argc > 2 ? strtod(argv[2], NULL) : 20;
    for (size_t i = 0; argc > 1 && i < sizeof engines / sizeof engines[0]; i++) {
        if (strcmp(argv[1], engines[i].ruleset) == 0)
            engine = &engines[i];
    }
    if (seconds <= 0 || (argc > 1 && strcmp(argv[1], engine->ruleset) != 0)) {
        fprintf(stderr, "usage: %s [unreal|unity|godot|source] [SECONDS]\n", argv[0]);
        return 2;
    }
    if (getenv("HINDSIGHT_URL") != NULL)
        service = getenv("HINDSIGHT_URL");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    curl = curl_easy_init();
    headers = curl_slist_append(headers, "Content-Type: application/json");
    if (getenv("HINDSIGHT_TOKEN") != NULL) {
        snprintf(token, sizeof token, "Authorization: Bearer %s", getenv("HINDSIGHT_TOKEN"));
        headers = curl_slist_append(headers, token);
    }
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 10000L);
    snprintf(match, sizeof match, "example-c-%s", engine->ruleset);
    recent = json_array();
    srand48(7);
    /* Honest players have the shortest and the longest round trip. */
    for (int i = 0; i < PLAYERS; i++)
        players[i].rtt = 0.02 + 0.22 * ((i + 5) % PLAYERS) / (PLAYERS - 1);
    printf("%s: %.0f s, ten players at %.0f m/s, in the units and axes of %s\n", argv[0], seconds,
           SPEED, engine->ruleset);
    open_match(match);
    /* Nobody shoots in the first second, while the service has too little history. */
    for (int i = 0; i < (int)((seconds + 1) * RATE); i++)
        tick(match, 100 + (double)i / RATE, i == 0, i >= RATE);
    close_match(match);
    json_decref(recent);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    curl_global_cleanup();
    return report() ? 0 : 1;
}
