/* `hindsight demo`: what the service is for, shown in a minute without anything installed. */
#include "cli/command.h"

#include <errno.h>
#include <getopt.h>
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

#define MATCH_SECONDS 30.0
#define DEFAULT_SEED  7

/* Of honest claims this much must be accepted: bad networks may cost one or two. Of forged ones
   nothing, and this much of each cheat's must be refused for what they do. */
#define HONEST_SHARE 0.99
#define CAUGHT_SHARE 0.9

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* The refused claim of a kind that makes the best picture so far. */
struct sight {
    json_t *hit, *result; /* copies, owned; NULL: there is none */
    double arrival, score;
};

struct demo {
    uint64_t seed;
    const char *keep; /* file for the recording, or NULL */
    bool stay;
    struct hs_recording *recording; /* of the match */
    const struct hs_demo_match *match;
    struct hs_local_service service;
    struct hs_tally *tally;
    struct sight miss, wall;
};

/* ---- which claim to draw ---- */

static bool pose_of(const struct demo *demo, const json_t *hit, const char *field, double time,
                    struct hs_sim_pose *out)
{
    return hs_demo_pose(demo->match, json_string_value(json_object_get(hit, field)), time, out);
}

static struct hs_vec vector(const json_t *array)
{
    return (struct hs_vec){json_number_value(json_array_get(array, 0)),
                           json_number_value(json_array_get(array, 1)),
                           json_number_value(json_array_get(array, 2))};
}

/* A shot at a target who has moved since, by a shooter not too far away: the higher the better;
   0: not to be drawn. */
static double picture_score(const struct demo *demo, double now, const json_t *hit)
{
    struct hs_sim_pose then, present;
    double hit_time = json_number_value(json_object_get(hit, "hit_time"));
    if (!pose_of(demo, hit, "target", hit_time, &then) ||
        !pose_of(demo, hit, "target", now, &present) || !present.alive)
        return 0.0;
    struct hs_vec start = vector(json_object_get(hit, "start"));
    struct hs_vec way = hs_vec_sub(vector(json_object_get(hit, "end")), start);
    struct hs_vec to_target = hs_vec_sub(then.position, start);
    double away = hs_vec_length(to_target);
    if (hs_vec_dot(way, to_target) <= 0.0 || away < 4.0 || away > 14.0)
        return 0.0; /* the other way, or out of the picture */
    return 1.0 + fmin(1.0, hs_vec_distance(then.position, present.position));
}

/* A clear miss is worth drawing. */
static double miss_score(const struct demo *demo, double now, const json_t *hit,
                         const struct hs_tally_number *number)
{
    if (!number->known || strcmp(number->check, "contact") != 0 || number->measured < 0.8 ||
        number->measured > 2.0)
        return 0.0;
    double score = picture_score(demo, now, hit);
    return score > 0.0 ? score - 0.3 * fabs(number->measured - 1.3) : 0.0;
}

/* So is a wall well between the two. */
static double wall_score(const struct demo *demo, double now, const json_t *hit,
                         const struct hs_tally_number *number)
{
    double short_of = number->limit - number->measured;
    if (!number->known || strcmp(number->check, "world") != 0 || number->measured < 1.0 ||
        short_of < 1.0)
        return 0.0;
    double score = picture_score(demo, now, hit);
    return score > 0.0 ? score + 1.0 / number->limit : 0.0;
}

static void consider(struct sight *best, double score, double arrival, const json_t *hit,
                     const json_t *result)
{
    if (score <= best->score)
        return;
    json_decref(best->hit);
    json_decref(best->result);
    *best = (struct sight){.hit = json_deep_copy(hit),
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
    if (who != NULL && strcmp(who, hs_demo_label(HS_DEMO_CLAIM_FORGER)) == 0)
        consider(&demo->miss, miss_score(demo, entry->at, hit, &number), entry->at, hit, result);
    if (who != NULL && strcmp(who, hs_demo_label(HS_DEMO_WALL_FORGER)) == 0)
        consider(&demo->wall, wall_score(demo, entry->at, hit, &number), entry->at, hit, result);
}

/* ---- what is printed ---- */

static void print_opening(const struct demo *demo)
{
    printf(
        "Hindsight demo: %.0f seconds of a shooter for ten, made up from seed %llu.\n"
        "Five play honestly, over links from LAN to bad, and see each other late; five cheat.\n"
        "Every claimed hit goes over HTTP to a service started for this. It looks back at where\n"
        "the target was at the moment the shooter saw, and decides.\n\n",
        MATCH_SECONDS, (unsigned long long)demo->seed);
    fflush(stdout);
}

/* "missed by 1.37 m, limit 0": the rules are metric */
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
        print_kind(demo->tally, hs_demo_label((enum hs_demo_cheat)cheat));
    printf("\n  claim_forger claims shots that went past the body; through_time picks old and\n"
           "  future moments; radius_forger claims a radius of 0.25 m (the rifle is a ray: the "
           "rules'\n"
           "  own radius is used, and the claim is flagged); wall_forger aims well, at those "
           "behind a\n"
           "  wall; origin_forger fires from metres beside their own eye. %zu more honest shots "
           "missed\n"
           "  on the shooter's own screen and were not claimed.\n",
           hs_demo_honest_misses(demo->match));
}

static void walls_of_arena(struct hs_solid out[HS_SIM_WALLS])
{
    struct hs_world_box boxes[HS_SIM_WALLS];
    hs_sim_arena_walls(boxes);
    for (size_t i = 0; i < HS_SIM_WALLS; i++) {
        struct hs_vec half = hs_vec_scale(hs_vec_sub(boxes[i].max, boxes[i].min), 0.5);
        out[i] = (struct hs_solid){.center = hs_vec_add(boxes[i].min, half),
                                   .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                   .half_extents = half};
    }
}

static void print_picture(const struct demo *demo, const struct sight *sight, const char *heading)
{
    struct hs_sim_pose then, present;
    struct hs_body body_then, body_now;
    struct hs_solid walls[HS_SIM_WALLS];
    const json_t *hit = sight->hit;
    const struct hs_sim_arena *arena = hs_demo_skirmish(demo->match)->game.arena;
    double hit_time = json_number_value(json_object_get(hit, "hit_time"));
    if (!pose_of(demo, hit, "target", hit_time, &then) ||
        !pose_of(demo, hit, "target", sight->arrival, &present))
        return;
    hs_pose_body(arena, &then, &body_then);
    hs_pose_body(arena, &present, &body_now);
    walls_of_arena(walls);
    struct hs_tally_number number = hs_tally_deciding(sight->result);
    struct hs_picture picture = {.shooter = json_string_value(json_object_get(hit, "shooter")),
                                 .target = json_string_value(json_object_get(hit, "target")),
                                 .then = &body_then,
                                 .now = &body_now,
                                 .hit_time = hit_time,
                                 .arrival = sight->arrival,
                                 .start = vector(json_object_get(hit, "start")),
                                 .end = vector(json_object_get(hit, "end")),
                                 .radius = arena->weapons[HS_ARM_RIFLE]->radius,
                                 .measured = number.measured,
                                 .limit = number.limit,
                                 .unit = "m",
                                 .walls = walls,
                                 .wall_count = HS_SIM_WALLS};
    if (sight == &demo->wall) {
        const json_t *impact = json_object_get(sight->result, "impact");
        picture.obstacle = "a wall";
        picture.stopped = vector(json_object_get(impact, "center"));
    }
    printf("\n%s: shot %lld, %s claims to have hit %s. Verdict: %s, %s.\n", heading,
           (long long)json_integer_value(json_object_get(hit, "shot")), picture.shooter,
           picture.target, json_string_value(json_object_get(sight->result, "verdict")),
           json_string_value(json_object_get(sight->result, "reason")));
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
        /* The program as it was called, so that the hints can be typed as they stand. */
        const char *program = program_invocation_name;
        print_hint(program, " serve", "", "the service: data on 8080, admin on 9464");
        if (demo->keep == NULL)
            print_hint(program, " demo --keep ", file, "this match as a recording");
        print_hint(program, " play ", file, "the same again, against that service");
        print_hint(program, " recheck ", file, "the same again, offline");
    }
    print_hint("curl ", data, "/v1/matches/demo", "players, windows, counters");
    print_hint("curl ", data, "/v1/rulesets/metres", "the rules it was judged by");
    print_hint("curl ", data, "/v1/maps/demo-arena", "and the walls");
    print_hint("curl ", admin, "/metrics", "what operators watch");
    print_hint("README.md", "", "", "how to post frames and claims from a game");
}

/* ---- whether it went as it should ---- */

static size_t reason_count(const struct hs_tally_kind *kind, const char *a, const char *b)
{
    size_t count = 0;
    for (size_t i = 0; i < kind->reason_count; i++) {
        if (strcmp(kind->reasons[i].name, a) == 0 || strcmp(kind->reasons[i].name, b) == 0)
            count += kind->reasons[i].count;
    }
    return count;
}

/* All of a cheat's claims are refused, and nearly all for what they do. */
static bool is_caught(const struct hs_tally *tally, enum hs_demo_cheat cheat, const char *a,
                      const char *b)
{
    const struct hs_tally_kind *kind = hs_tally_kind(tally, hs_demo_label(cheat));
    return kind != NULL && kind->claims > 0 && kind->accepted == 0 &&
           (double)reason_count(kind, a, b) >= CAUGHT_SHARE * (double)kind->claims;
}

static bool is_flagged(const struct hs_tally *tally, const char *who, const char *flag)
{
    const struct hs_tally_kind *kind = hs_tally_kind(tally, who);
    for (size_t i = 0; kind != NULL && i < kind->flag_count; i++) {
        if (strcmp(kind->flags[i].name, flag) == 0)
            return kind->flags[i].count == kind->claims;
    }
    return false;
}

static bool is_as_it_should_be(const struct hs_tally *tally)
{
    const struct hs_tally_kind *honest = hs_tally_kind(tally, HS_WHO_HONEST);
    return honest != NULL && honest->claims > 0 &&
           (double)honest->accepted >= HONEST_SHARE * (double)honest->claims &&
           is_caught(tally, HS_DEMO_CLAIM_FORGER, "no_intersection", "wrong_target") &&
           is_caught(tally, HS_DEMO_THROUGH_TIME, "rewind_limit", "time_in_future") &&
           is_caught(tally, HS_DEMO_RADIUS_FORGER, "no_intersection", "wrong_target") &&
           is_flagged(tally, hs_demo_label(HS_DEMO_RADIUS_FORGER), "radius_forged") &&
           is_caught(tally, HS_DEMO_WALL_FORGER, "occluded_world", "occluded_world") &&
           is_caught(tally, HS_DEMO_ORIGIN_FORGER, "origin_mismatch", "origin_mismatch");
}

/* ---- how it runs ---- */

/* A line of a request, with what is known about its claims. */
static bool write_known(FILE *out, const char *line, const struct hs_recording_entry *entry)
{
    int whole = (int)(strrchr(line, '}') - line);
    char *who = json_dumps(entry->who, JSON_COMPACT),
         *truth = json_dumps(entry->truth, JSON_COMPACT);
    bool good = who != NULL && truth != NULL &&
                fprintf(out, "%.*s,\"who\":%s,\"truth\":%s}\n", whole, line, who, truth) > 0;
    free(who);
    free(truth);
    return good;
}

/* Copies what the service recorded. Requests are in the order of the match, which is played again
   for what is known about them. */
static bool copy_recording(const struct demo *demo, FILE *in, FILE *out)
{
    static const char request[] = "{\"match\":";
    char *line = NULL, error[HS_PLAY_ERROR_MAX];
    size_t size = 0;
    struct hs_recording *recording = hs_demo_open(demo->seed, MATCH_SECONDS);
    bool good = recording != NULL;
    while (good && getline(&line, &size, in) > 0) {
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

/* Where the service records: beside the file that is kept. */
static const char *part_name(const struct demo *demo, char part[PATH_MAX])
{
    return snprintf(part, PATH_MAX, "%s.part", demo->keep) < PATH_MAX ? part : "";
}

static bool keep_recording(const struct demo *demo, char error[HS_PLAY_ERROR_MAX])
{
    char part[PATH_MAX];
    FILE *in = fopen(part_name(demo, part), "re"), *out = fopen(demo->keep, "we");
    bool good = in != NULL && out != NULL && copy_recording(demo, in, out);
    int why = errno;
    if (in != NULL)
        fclose(in);
    if (out != NULL && fclose(out) != 0)
        good = false;
    unlink(part);
    if (!good)
        snprintf(error, HS_PLAY_ERROR_MAX, "cannot write %.200s: %s", demo->keep, strerror(why));
    return good;
}

static bool start_service(struct demo *demo, char error[HS_PLAY_ERROR_MAX])
{
    char part[PATH_MAX];
    if (demo->keep == NULL)
        return hs_local_service_start(&demo->service, NULL, error);
    unlink(part_name(demo, part)); /* a recording would be continued */
    if (hs_local_service_start(&demo->service, part, error))
        return true;
    snprintf(error, HS_PLAY_ERROR_MAX, "cannot write %.200s", part);
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
    bool good = playback.client != NULL && hs_playback_run(&playback, error);
    hs_client_close(playback.client);
    return good;
}

static void stay(const struct demo *demo)
{
    sigset_t signals;
    int caught;
    printf("\nThe service stays up until Ctrl-C: %s, admin %s\n", demo->service.data,
           demo->service.admin);
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
    demo->match = hs_demo_match(demo->recording);
    if (!start_service(demo, error) || !play_match(demo, error))
        return false;
    print_table(demo);
    if (demo->miss.hit != NULL)
        print_picture(demo, &demo->miss, "One impossible hit");
    if (demo->wall.hit != NULL)
        print_picture(demo, &demo->wall, "Another");
    print_where_to_look(demo);
    bool good = is_as_it_should_be(demo->tally);
    if (!good)
        snprintf(error, HS_PLAY_ERROR_MAX,
                 "too few honest claims were accepted, or not every forged one was refused");
    if (demo->stay)
        stay(demo);
    return good;
}

static void print_help(void)
{
    puts("usage: hindsight demo [options]\n"
         "\n"
         "Makes up a match with honest players and cheats, judges it with a service started for\n"
         "the purpose on free loopback ports, and shows what came of it.\n"
         "\n"
         "  --seed N      another match (default 7); the same seed gives the same match\n"
         "  --keep FILE   write the match as a recording for `hindsight play` and `recheck`\n"
         "  --stay        leave the service up until Ctrl-C, to look around\n"
         "  --help        this text\n"
         "\n"
         "Exit codes: 0 at least 99 % of the honest claims accepted and every forged one refused,\n"
         "1 not so, 2 wrong usage.");
}

static int wrong_usage(const char *what)
{
    fprintf(stderr, "hindsight demo: %s\nTry: hindsight demo --help\n", what);
    return EXIT_USAGE;
}

/* 0 to go on, else an exit code + 1. */
static int read_options(int argc, char **argv, struct demo *demo)
{
    static const struct option list[] = {{"seed", required_argument, NULL, 's'},
                                         {"keep", required_argument, NULL, 'k'},
                                         {"stay", no_argument, NULL, 't'},
                                         {"help", no_argument, NULL, 'h'},
                                         {NULL, 0, NULL, 0}};
    int option;
    char *end;
    optind = 0; /* starts anew */
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", list, NULL)) != -1) {
        switch (option) {
        case 's':
            errno = 0;
            demo->seed = strtoull(optarg, &end, 10);
            if (errno != 0 || end == optarg || *end != '\0' || *optarg == '-')
                return wrong_usage("--seed must be a whole number, 0 or more") + 1;
            break;
        case 'k':
            demo->keep = optarg;
            break;
        case 't':
            demo->stay = true;
            break;
        case 'h':
            print_help();
            return EXIT_FINE + 1;
        default:
            return wrong_usage("unknown option, or one without its value") + 1;
        }
    }
    return optind == argc ? 0 : wrong_usage("takes no arguments but options") + 1;
}

int hs_demo_main(int argc, char **argv)
{
    struct demo demo = {.seed = DEFAULT_SEED, .service = {.out = -1}};
    char error[HS_PLAY_ERROR_MAX] = "out of memory", ignored[HS_PLAY_ERROR_MAX];
    int code = read_options(argc, argv, &demo);
    if (code != 0)
        return code - 1;
    bool good = run(&demo, error);
    if (!hs_local_service_stop(&demo.service) && good) {
        snprintf(error, sizeof(error), "the service did not end cleanly");
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
    if (good)
        return EXIT_FINE;
    fflush(stdout);
    fprintf(stderr, "hindsight demo: %s\n", error);
    return EXIT_FAILED;
}
