#include "cli/play/command.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/play/import/match.h"
#include "cli/play/playback.h"
#include "cli/play/scenario/suite.h"

#define DEFAULT_URL "http://127.0.0.1:8080"

/* Of a map document: far above what the service takes by default. */
enum { MAP_MAX_BYTES = 1 << 30, READ_BYTES = 4 << 20 };

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct play_options {
    const char *recording, *url;
    const char *map; /* file, or NULL */
    double grow;
    bool json;
    struct hs_playback playback;
};

static void print_help(FILE *out)
{
    fprintf(out,
            "usage: hindsight play RECORDING [options]\n"
            "\n"
            "Plays a recording against a running service and prints what came of its claims.\n"
            "RECORDING is a recording (docs/recording.md; `serve --record`), or one of a CSV pair\n"
            "NAME.poses.csv and NAME.shots.csv; each plain or gzip.\n"
            "\n"
            "  --url URL      the service (default " DEFAULT_URL ")\n"
            "  --speed X      1: as fast as it happened, 2: twice as fast, ...\n"
            "                 0: as fast as answers come (default)\n"
            "  --match NAME   play into a match of this name (default: the recording's)\n"
            "  --replace      end an open match of that name first\n"
            "  --map FILE     put this map document, plain or gzip, before the match and open\n"
            "                 it on that, whatever map the recording brings\n"
            "  --cheat KIND   forge the claims before they are sent; see below\n"
            "  --grow N       CSV pairs: widen the body by N units on every side\n"
            "  --json         print the table as one JSON object\n"
            "  --help         this text\n"
            "\n"
            "kinds of --cheat:\n");
    hs_cheat_list(out);
    fprintf(out, "\n"
                 "Exit codes: 0 fine, 1 the service does not answer, refuses a request, or an\n"
                 "expectation of the recording failed, 2 wrong usage.\n"
                 "A service that asks for tokens gets that of the variable HINDSIGHT_TOKEN.\n");
}

static bool parse_number(const char *text, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value))
        return false;
    *out = value;
    return true;
}

static int wrong_usage(const char *what, const char *argument)
{
    fprintf(stderr, "hindsight play: %s%s%s\nTry: hindsight play --help\n", what,
            argument != NULL ? ": " : "", argument != NULL ? argument : "");
    return EXIT_USAGE;
}

/* Takes one option. 0, or an exit code when its value is wrong. */
static int take_option(int option, struct play_options *options)
{
    struct hs_playback *playback = &options->playback;
    switch (option) {
    case 'u':
        options->url = optarg;
        return 0;
    case 's':
        if (!parse_number(optarg, &playback->speed) || playback->speed < 0.0)
            return wrong_usage("--speed must be a number, 0 or more", optarg);
        return 0;
    case 'm':
        if (!hs_name_is_valid((struct hs_str){optarg, strlen(optarg)}))
            return wrong_usage("--match must be 1 to 64 of [A-Za-z0-9_.:-]", optarg);
        playback->match = optarg;
        return 0;
    case 'r':
        playback->replace = true;
        return 0;
    case 'p':
        options->map = optarg;
        return 0;
    case 'c':
        return hs_cheat_parse(optarg, &playback->cheat) ? 0 : wrong_usage("no such cheat", optarg);
    case 'g':
        return parse_number(optarg, &options->grow)
                   ? 0
                   : wrong_usage("--grow must be a number", optarg);
    case 'j':
        options->json = true;
        return 0;
    default:
        return wrong_usage("unknown option, or one without its value", NULL);
    }
}

/* 0 to go on, else an exit code + 1, so that "fine" can be told too. */
static int read_options(int argc, char **argv, struct play_options *options)
{
    static const struct option list[] = {
        {"url", required_argument, NULL, 'u'},   {"speed", required_argument, NULL, 's'},
        {"match", required_argument, NULL, 'm'}, {"replace", no_argument, NULL, 'r'},
        {"map", required_argument, NULL, 'p'},   {"cheat", required_argument, NULL, 'c'},
        {"grow", required_argument, NULL, 'g'},  {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0}};
    int option;
    optind = 0; /* starts anew */
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", list, NULL)) != -1) {
        if (option == 'h') {
            print_help(stdout);
            return EXIT_FINE + 1;
        }
        int code = take_option(option, options);
        if (code != 0)
            return code + 1;
    }
    if (optind + 1 != argc)
        return wrong_usage("needs one RECORDING", NULL) + 1;
    options->recording = argv[optind];
    if (options->grow != 0.0 && !hs_csv_match_is_name(options->recording))
        return wrong_usage("--grow is for CSV pairs", NULL) + 1;
    bool shaped = options->playback.match != NULL || options->playback.replace ||
                  options->playback.speed > 0.0 || options->playback.cheat != HS_CHEAT_NONE ||
                  options->map != NULL;
    if (shaped && hs_play_scenarios_is_name(options->recording))
        return wrong_usage("scenarios are played as they are: no --match, --replace, --speed, "
                           "--map, --cheat",
                           NULL) +
               1;
    return 0;
}

static void print_result(const struct play_options *options)
{
    const struct hs_playback *playback = &options->playback;
    if (options->json) {
        json_t *object = hs_tally_json(playback->tally);
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        putchar('\n');
        json_decref(object);
        return;
    }
    const char *title = playback->recording != NULL ? playback->recording->header.title : "";
    fputs(title[0] != '\0' ? title : options->recording, stdout);
    printf(" against %s\n\n", hs_client_url(playback->client));
    hs_tally_print(playback->tally, stdout);
}

/* Reads a file, plain or gzip, into memory. */
static bool read_whole(const char *path, struct hs_str *out, char error[HS_PLAY_ERROR_MAX])
{
    size_t size = 0, capacity = 0;
    char *text = NULL;
    int got = 1;
    errno = ENOMEM;
    gzFile file = gzopen(path, "rb");
    while (file != NULL && got > 0 && size < MAP_MAX_BYTES) {
        if (size == capacity) {
            char *more = realloc(text, capacity + READ_BYTES);
            if (more == NULL)
                break;
            text = more;
            capacity += READ_BYTES;
        }
        got = gzread(file, text + size, (unsigned)(capacity - size));
        size += got > 0 ? (size_t)got : 0;
    }
    int code = Z_ERRNO;
    const char *why = got < 0 ? gzerror(file, &code) : "";
    if (got > 0)
        snprintf(error, HS_PLAY_ERROR_MAX, "cannot read %s: %s", path,
                 size >= MAP_MAX_BYTES ? "it is too large" : strerror(errno));
    else if (got < 0)
        snprintf(error, HS_PLAY_ERROR_MAX, "cannot read %s: %s", path,
                 code == Z_ERRNO ? strerror(errno) : why);
    bool whole = got == 0;
    if (file != NULL && gzclose(file) != Z_OK && whole) {
        snprintf(error, HS_PLAY_ERROR_MAX, "cannot read %s: it is torn", path);
        whole = false;
    }
    *out = (struct hs_str){text, size};
    return whole;
}

static bool run(struct play_options *options, char error[HS_PLAY_ERROR_MAX])
{
    struct hs_playback *playback = &options->playback;
    bool scenarios = hs_play_scenarios_is_name(options->recording);
    if (!scenarios)
        playback->recording = hs_csv_match_is_name(options->recording)
                                  ? hs_csv_match_open(options->recording, options->grow, error)
                                  : hs_recording_open(options->recording, error);
    if (!scenarios && playback->recording == NULL)
        return false;
    if (options->map != NULL && !read_whole(options->map, &playback->map, error))
        return false;
    playback->client = hs_client_open(options->url);
    playback->tally = hs_tally_create();
    if (playback->client == NULL || playback->tally == NULL)
        return false;
    bool good = scenarios ? hs_play_scenarios(options->recording, playback->client, playback->tally,
                                              playback->complaints, error)
                          : hs_playback_run(playback, error);
    size_t failed = hs_tally_expectations_failed(playback->tally);
    if (good || hs_tally_total(playback->tally)->claims > 0)
        print_result(options);
    if (good && failed > 0)
        snprintf(error, HS_PLAY_ERROR_MAX, "%zu expectations failed", failed);
    return good && failed == 0;
}

static int play(struct play_options *options)
{
    struct hs_playback *playback = &options->playback;
    char error[HS_PLAY_ERROR_MAX] = "out of memory";
    bool good = run(options, error);
    hs_tally_destroy(playback->tally);
    hs_client_close(playback->client);
    hs_recording_close(playback->recording);
    free((char *)(uintptr_t)playback->map.ptr);
    if (good)
        return EXIT_FINE;
    fflush(stdout);
    fprintf(stderr, "hindsight play: %s\n", error);
    return EXIT_FAILED;
}

int hs_play_main(int argc, char **argv)
{
    struct play_options options = {
        .url = DEFAULT_URL,
        .playback = {.show_progress = isatty(STDERR_FILENO) == 1, .complaints = stderr}};
    int code = read_options(argc, argv, &options);
    return code != 0 ? code - 1 : play(&options);
}
