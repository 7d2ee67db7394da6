/* `hindsight demo`: shows in less than a minute what the service does. */
#include "cli/command.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/demo/match.h"
#include "cli/play/local_service.h"
#include "cli/play/picture.h"
#include "cli/play/playback.h"
#include "cli/simulate/command.h"

#define MATCH_SECONDS 30.0
#define DEFAULT_SEED  7

/* A column of the picture covers at least this many metres. */
#define MIN_SCALE 0.04

/* At least this share of the honest claims must be accepted. The share is less than 1, because a
   bad network can cause one or two wrong refusals. */
#define HONEST_SHARE 0.99

/* At least this share of a cheat's claims must be refused for an expected reason. The other claims
   may be refused for any reason. No claim may be accepted. */
#define CAUGHT_SHARE 0.9

/* The rejected claim with the highest picture score so far. */
struct candidate {
    json_t *hit, *result; /* owned copies; NULL: none */
    double arrival, score;
};

struct demo {
    uint64_t seed;
    const char *keep;    /* file for the recording, or NULL */
    const char *data;    /* directory for the evidence, or NULL */
    char part[PATH_MAX]; /* the file that the service records to: `keep` with the suffix .part */
    bool stay;
    struct hs_recording *recording;
    const struct hs_skirmish *skirmish;
    struct hs_local_service service;
    struct hs_tally *tally;
    struct candidate miss, wall;
};

/* ---- choosing the pictures ---- */

static bool pose_of(const struct demo *demo, const json_t *hit, double time,
                    struct hs_sim_pose *out)
{
    return hs_demo_pose(demo->skirmish, json_string_value(json_object_get(hit, "target")), time,
                        out);
}

static struct hs_vec vector(const json_t *array)
{
    return (struct hs_vec){json_number_value(json_array_get(array, 0)),
                           json_number_value(json_array_get(array, 1)),
                           json_number_value(json_array_get(array, 2))};
}

/* Scores a claim for a picture. Returns 0 if the target is dead at `now`, is behind the shooter, or
   is at a distance that does not fit the picture. Otherwise, the score increases with the distance
   that the target has moved since the shot, up to 1 m. */
static double picture_score(const struct demo *demo, double now, const json_t *hit)
{
    struct hs_sim_pose then, present;
    double hit_time = json_number_value(json_object_get(hit, "hit_time"));
    if (!pose_of(demo, hit, hit_time, &then) || !pose_of(demo, hit, now, &present) ||
        !present.alive)
        return 0.0;
    struct hs_vec start = vector(json_object_get(hit, "start"));
    struct hs_vec path = hs_vec_sub(vector(json_object_get(hit, "end")), start);
    struct hs_vec to_target = hs_vec_sub(then.position, start);
    double away = hs_vec_length(to_target);
    if (hs_vec_dot(path, to_target) <= 0.0 || away < 4.0 || away > 14.0)
        return 0.0;
    return 1.0 + fmin(1.0, hs_vec_distance(then.position, present.position));
}

/* Scores a miss for a picture. The shot must have missed by 0.8 to 2 m; 1.3 m is best. */
static double miss_score(double score, const struct hs_tally_number *number)
{
    if (strcmp(number->check, "contact") != 0 || number->measured < 0.8 || number->measured > 2.0)
        return 0.0;
    return score - 0.3 * fabs(number->measured - 1.3);
}

/* Scores a shot that a wall stopped. The wall must be at least 1 m away from the shooter and from
   the target. The score is higher if the target is nearer. */
static double wall_score(double score, const struct hs_tally_number *number)
{
    if (strcmp(number->check, "world") != 0 || number->measured < 1.0 ||
        number->limit - number->measured < 1.0)
        return 0.0;
    return score + 1.0 / number->limit;
}

static void consider(struct candidate *best, double score, double arrival, const json_t *hit,
                     const json_t *result)
{
    if (score <= best->score)
        return;
    json_decref(best->hit);
    json_decref(best->result);
    *best = (struct candidate){.hit = json_deep_copy(hit),
                               .result = json_deep_copy(result),
                               .arrival = arrival,
                               .score = score};
}

static void observe(void *context, const struct hs_recording_entry *entry, size_t claim,
                    const json_t *hit, const json_t *result)
{
    struct demo *demo = context;
    const char *who = json_string_value(json_array_get(entry->who, claim));
    struct hs_tally_number number = hs_tally_deciding(result);
    double score = picture_score(demo, entry->at, hit);
    if (who == NULL || !number.known || score <= 0.0)
        return;
    if (strcmp(who, hs_demo_cheats[HS_DEMO_CLAIM_FORGER].label) == 0)
        consider(&demo->miss, miss_score(score, &number), entry->at, hit, result);
    if (strcmp(who, hs_demo_cheats[HS_DEMO_WALL_FORGER].label) == 0)
        consider(&demo->wall, wall_score(score, &number), entry->at, hit, result);
}

/* ---- output ---- */

static void print_opening(const struct demo *demo)
{
    printf("Hindsight demo: %.0f seconds of a shooter with ten simulated players, from seed %llu.\n"
           "Five cheat. Five are honest: their connections range from LAN to bad, so they see\n"
           "others late. Every claimed hit goes over HTTP to a service that the demo has started.\n"
           "The service looks up where the target was at the moment that the shooter saw, and\n"
           "decides.\n\n",
           MATCH_SECONDS, (unsigned long long)demo->seed);
    fflush(stdout);
}

/* Prints, for example, "missed by 1.37 m, limit 0". The demo's ruleset measures in metres. */
static void print_number(const struct hs_tally_reason *reason)
{
    const struct hs_tally_number *number = &reason->example;
    if (!number->known)
        return;
    if (strcmp(number->check, "world") == 0) {
        printf("  e.g. a wall after %.3g m, the body after %.3g", number->measured, number->limit);
        return;
    }
    const char *before = strcmp(number->check, "contact") == 0 ? "missed by " : "";
    const char *after = strcmp(reason->name, "rewind_limit") == 0     ? " back"
                        : strcmp(reason->name, "time_in_future") == 0 ? " ahead"
                                                                      : "";
    const char *unit = strcmp(number->unit, "seconds") == 0  ? " s"
                       : strcmp(number->unit, "length") == 0 ? " m"
                                                             : "";
    printf("  e.g. %s%.3g%s%s, limit %.3g", before, number->measured, unit, after, number->limit);
}

static void print_kind(const struct hs_tally *tally, const char *who)
{
    static const struct hs_tally_kind none;
    const struct hs_tally_kind *kind = hs_tally_kind(tally, who);
    if (kind == NULL)
        kind = &none;
    size_t refused = kind->claims - kind->accepted, lines = 0;
    printf("  %-14s %6zu %9zu %8zu", who, kind->claims, kind->accepted, refused);
    for (size_t i = 0; i < kind->reason_count; i++) {
        const struct hs_tally_reason *reason = &kind->reasons[i];
        if (strcmp(reason->verdict, "accepted") == 0)
            continue;
        printf(lines++ == 0 ? "   " : "\n  %*s", 43, "");
        printf("%3zu %-15s", reason->count, reason->name);
        print_number(reason);
    }
    putchar('\n');
}

static void print_table(const struct demo *demo)
{
    printf("  %-14s %6s %9s %8s   %s\n", "who", "claims", "accepted", "refused", "why");
    print_kind(demo->tally, HS_WHO_HONEST);
    for (int cheat = 0; cheat < HS_DEMO_CHEAT_COUNT; cheat++)
        print_kind(demo->tally, hs_demo_cheats[cheat].label);
    printf(
        "\n  claim_forger claims shots that missed the body. through_time claims old and future\n"
        "  times. radius_forger claims a radius of 0.25 m: the rifle is a ray, so the service "
        "uses\n"
        "  the radius of the rules, and flags the claim. wall_forger aims well, at players "
        "behind a\n"
        "  wall. origin_forger fires from metres beside their own eye. %zu more honest shots "
        "missed\n"
        "  on the shooter's screen and were not claimed.\n",
        hs_demo_honest_misses(demo->skirmish));
}

static void walls_of_arena(struct hs_solid out[HS_SIM_WALLS])
{
    struct hs_world_box boxes[HS_SIM_WALLS];
    hs_sim_arena_walls(boxes);
    for (size_t i = 0; i < HS_SIM_WALLS; i++)
        out[i] = hs_solid_of_box(boxes[i].min, boxes[i].max);
}

static void print_picture(const struct demo *demo, const struct candidate *chosen,
                          const char *heading)
{
    struct hs_sim_pose then, present;
    struct hs_body body_then, body_now;
    struct hs_solid walls[HS_SIM_WALLS];
    const json_t *hit = chosen->hit;
    const struct hs_sim_arena *arena = demo->skirmish->game.arena;
    double hit_time = json_number_value(json_object_get(hit, "hit_time"));
    if (!pose_of(demo, hit, hit_time, &then) || !pose_of(demo, hit, chosen->arrival, &present))
        return;
    hs_pose_body(arena, &then, &body_then);
    hs_pose_body(arena, &present, &body_now);
    walls_of_arena(walls);
    struct hs_tally_number number = hs_tally_deciding(chosen->result);
    struct hs_picture picture = {.shooter = json_string_value(json_object_get(hit, "shooter")),
                                 .target = json_string_value(json_object_get(hit, "target")),
                                 .then = &body_then,
                                 .now = &body_now,
                                 .hit_time = hit_time,
                                 .arrival = chosen->arrival,
                                 .start = vector(json_object_get(hit, "start")),
                                 .end = vector(json_object_get(hit, "end")),
                                 .radius = arena->weapons[HS_ARM_RIFLE]->radius,
                                 .measured = number.measured,
                                 .limit = number.limit,
                                 .unit = "m",
                                 .min_scale = MIN_SCALE,
                                 .walls = walls,
                                 .wall_count = HS_SIM_WALLS};
    if (chosen == &demo->wall) {
        const json_t *impact = json_object_get(chosen->result, "impact");
        picture.obstacle = "a wall";
        picture.stopped = vector(json_object_get(impact, "center"));
    }
    printf("\n%s: shot %lld, %s claims to have hit %s. Verdict: %s, %s.\n", heading,
           (long long)json_integer_value(json_object_get(hit, "shot")), picture.shooter,
           picture.target, json_string_value(json_object_get(chosen->result, "verdict")),
           json_string_value(json_object_get(chosen->result, "reason")));
    hs_picture_draw(&picture, hs_picture_style_for(stdout), stdout);
}

static void print_hint(const char *command, const char *argument, const char *more,
                       const char *what)
{
    int width = printf("  %s%s%s", command, argument, more);
    printf("%*s%s\n", width < 52 ? 52 - width : 2, "", what);
}

static void print_where_to_look(const struct demo *demo)
{
    const char *data = demo->stay ? demo->service.data : "http://127.0.0.1:8080";
    const char *admin = demo->stay ? demo->service.admin : "http://127.0.0.1:9464";
    puts("\nWhere to look next");
    if (!demo->stay) {
        const char *file = demo->keep != NULL ? demo->keep : "demo.stream";
        /* Use the program name that the user typed, so that the user can copy the printed commands
           into a shell. */
        const char *program = program_invocation_name;
        print_hint(program, " serve", "", "the service: data on 8080, admin on 9464");
        if (demo->keep == NULL)
            print_hint(program, " demo --keep ", file, "records this match");
        print_hint(program, " demo --stay --data ", "evidence", "shows its verdicts in a browser");
        print_hint(program, " play ", file, "plays it against that service");
        print_hint(program, " recheck ", file, "verifies it again, offline");
    }
    print_hint("curl ", data, "/v1/matches/demo", "players, windows, counters");
    print_hint("curl ", data, "/v1/rulesets/metres", "its ruleset");
    print_hint("curl ", data, "/v1/maps/demo-arena", "its walls");
    print_hint("curl ", admin, "/metrics", "metrics for operators");
    print_hint("README.md", "", "", "how to post frames and claims from a game");
}

/* ---- the result ---- */

/* Returns whether the service caught a cheat. To catch the cheat, the service must refuse every
   claim. If `cheat->flag` is set, every claim must have this flag. A share of at least CAUGHT_SHARE
   of the claims must have an expected reason. */
static bool is_caught(const struct hs_tally *tally, const struct hs_demo_cheat_kind *cheat)
{
    const struct hs_tally_kind *kind = hs_tally_kind(tally, cheat->label);
    if (kind == NULL || kind->claims == 0 || kind->accepted > 0)
        return false;
    size_t expected = 0, flagged = cheat->flag == NULL ? kind->claims : 0;
    for (size_t i = 0; i < kind->reason_count; i++)
        if (strcmp(kind->reasons[i].name, cheat->reason) == 0 ||
            strcmp(kind->reasons[i].name, cheat->other_reason) == 0)
            expected += kind->reasons[i].count;
    for (size_t i = 0; cheat->flag != NULL && i < kind->flag_count; i++)
        if (strcmp(kind->flags[i].name, cheat->flag) == 0)
            flagged = kind->flags[i].count;
    return flagged == kind->claims && (double)expected >= CAUGHT_SHARE * (double)kind->claims;
}

static bool is_as_expected(const struct hs_tally *tally)
{
    const struct hs_tally_kind *honest = hs_tally_kind(tally, HS_WHO_HONEST);
    bool good = honest != NULL && honest->claims > 0 &&
                (double)honest->accepted >= HONEST_SHARE * (double)honest->claims;
    for (int cheat = 0; cheat < HS_DEMO_CHEAT_COUNT; cheat++)
        good = good && is_caught(tally, &hs_demo_cheats[cheat]);
    return good;
}

/* ---- the run ---- */

/* Writes a line of the recording. Adds the labels and the ground truth of the line's claims. */
static bool write_known(FILE *out, const char *line, const struct hs_recording_entry *entry)
{
    int whole = (int)(strrchr(line, '}') - line);
    char *who = json_dumps(entry->who, JSON_COMPACT);
    char *truth = json_dumps(entry->truth, JSON_COMPACT);
    bool good = who != NULL && truth != NULL &&
                fprintf(out, "%.*s,\"who\":%s,\"truth\":%s}\n", whole, line, who, truth) > 0;
    free(who);
    free(truth);
    return good;
}

/* Copies the service's recording, and adds the labels and the ground truth of the claims. The
   service does not have this data. The labels and the ground truth come from a second run of the
   match, which produces the same requests in the same order. The copy does not contain the end of
   the match (see play_match). So the match stays open when a user plays the recording to a
   service. */
static bool copy_recording(const struct demo *demo, FILE *in, FILE *out)
{
    static const char request[] = "{\"match\":",
                      ending[] = "{\"match\":\"demo\",\"request\":\"delete\"";
    char *line = NULL, error[HS_PLAY_ERROR_MAX];
    size_t size = 0;
    struct hs_recording *recording = hs_demo_open(demo->seed, MATCH_SECONDS);
    bool good = recording != NULL;
    while (good && getline(&line, &size, in) > 0) {
        if (strncmp(line, ending, sizeof(ending) - 1) == 0)
            continue;
        struct hs_recording_entry entry = {0};
        if (strncmp(line, request, sizeof(request) - 1) == 0)
            hs_recording_next(recording, &entry, error);
        good = entry.who != NULL ? write_known(out, line, &entry) : fputs(line, out) >= 0;
        hs_recording_entry_clear(&entry);
    }
    hs_recording_close(recording);
    free(line);
    return good && ferror(in) == 0;
}

static bool keep_recording(const struct demo *demo, char error[HS_PLAY_ERROR_MAX])
{
    FILE *in = fopen(demo->part, "re"), *out = fopen(demo->keep, "we");
    bool good = in != NULL && out != NULL && copy_recording(demo, in, out);
    int why = errno;
    if (in != NULL)
        fclose(in);
    if (out != NULL && fclose(out) != 0)
        good = false;
    unlink(demo->part);
    if (!good)
        snprintf(error, HS_PLAY_ERROR_MAX, "cannot write %.200s: %s", demo->keep, strerror(why));
    return good;
}

static bool start_service(struct demo *demo, char error[HS_PLAY_ERROR_MAX])
{
    if (demo->keep == NULL)
        return hs_local_service_start(&demo->service, NULL, demo->data, error);
    if (snprintf(demo->part, sizeof demo->part, "%s.part", demo->keep) >= PATH_MAX)
        demo->part[0] = '\0';
    unlink(demo->part); /* remove an old recording, because the service would append to an existing
                           file */
    if (hs_local_service_start(&demo->service, demo->part, demo->data, error))
        return true;
    snprintf(error, HS_PLAY_ERROR_MAX, "cannot write %.200s", demo->part);
    return false;
}

static bool play_match(struct demo *demo, char error[HS_PLAY_ERROR_MAX])
{
    struct hs_playback playback = {.recording = demo->recording,
                                   .client = hs_client_open(demo->service.data),
                                   .tally = demo->tally,
                                   .show_progress = isatty(STDERR_FILENO) == 1,
                                   .observe = observe,
                                   .context = demo};
    struct hs_client_response response;
    bool good = playback.client != NULL && hs_playback_run(&playback, error);
    /* Delete the match. A service that later starts with the same directory should find the stored
       verdicts, but not the finished match. */
    if (good && demo->data != NULL && !demo->stay)
        hs_client_send(playback.client, "DELETE", "/v1/matches/demo", NULL, 0, &response);
    hs_client_close(playback.client);
    return good;
}

static void stay(const struct demo *demo)
{
    sigset_t signals;
    int caught;
    printf("\nThe service stays up until Ctrl-C: %s, admin %s\n", demo->service.data,
           demo->service.admin);
    const char *id = json_string_value(json_object_get(demo->miss.result, "verdict_id"));
    if (demo->data != NULL && id != NULL)
        printf("One impossible hit, in a browser: %s/console/#/verdicts/%s\n", demo->service.admin,
               id);
    fflush(stdout);
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    sigwait(&signals, &caught);
}

static bool run(struct demo *demo, char error[HS_PLAY_ERROR_MAX])
{
    print_opening(demo);
    demo->recording = hs_demo_open(demo->seed, MATCH_SECONDS);
    demo->tally = hs_tally_create();
    if (demo->recording == NULL || demo->tally == NULL)
        return false;
    demo->skirmish = hs_demo_skirmish(demo->recording);
    if (!start_service(demo, error) || !play_match(demo, error))
        return false;
    print_table(demo);
    if (demo->miss.hit != NULL)
        print_picture(demo, &demo->miss, "One impossible hit");
    if (demo->wall.hit != NULL)
        print_picture(demo, &demo->wall, "Another");
    print_where_to_look(demo);
    bool good = is_as_expected(demo->tally);
    if (!good)
        snprintf(
            error, HS_PLAY_ERROR_MAX,
            "too few honest claims were accepted, or a forged one was not refused as expected");
    if (demo->stay)
        stay(demo);
    return good;
}

static const struct hs_command command = {
    "demo",
    "usage: hindsight demo [options]\n"
    "\n"
    "Simulates a match with honest players and cheats. Starts a service on free loopback ports,\n"
    "sends the match to it, and shows its verdicts.\n"
    "\n"
    "  --seed N      another match (default 7); the same seed gives the same match\n"
    "  --keep FILE   write the match as a recording for `hindsight play` and `recheck`\n"
    "  --data DIR    store the verdicts with their evidence in DIR, for the console\n"
    "  --stay        keep the service running until Ctrl-C\n"
    "  --help        this text\n"
    "\n"
    "Exit codes: 0 if at least 99 % of the honest claims were accepted and every forged one was\n"
    "refused, 1 if not, 2 usage error.\n",
    NULL};

int hs_demo_main(int argc, char **argv)
{
    struct demo demo = {.seed = DEFAULT_SEED, .service = {.out = -1}};
    const struct hs_argument options[] = {
        {"seed", hs_argument_whole, &demo.seed, 0, 0x1p64, NULL},
        {.name = "keep", .parse = hs_argument_text, .target = &demo.keep},
        {.name = "data", .parse = hs_argument_text, .target = &demo.data},
        {.name = "stay", .target = &demo.stay},
        {.name = NULL}};
    char error[HS_PLAY_ERROR_MAX] = "out of memory", ignored[HS_PLAY_ERROR_MAX];
    int code;
    if (!hs_command_read(&command, options, argc, argv, NULL, &code))
        return code;
    bool good = run(&demo, error);
    if (!hs_local_service_stop(&demo.service) && good) {
        snprintf(error, sizeof(error), "the service did not stop cleanly");
        good = false;
    }
    if (demo.keep != NULL && !keep_recording(&demo, good ? error : ignored))
        good = false;
    json_decref(demo.miss.hit);
    json_decref(demo.miss.result);
    json_decref(demo.wall.hit);
    json_decref(demo.wall.result);
    hs_tally_destroy(demo.tally);
    hs_recording_close(demo.recording);
    return good ? HS_EXIT_FINE : hs_simulate_failed(&command, error);
}
