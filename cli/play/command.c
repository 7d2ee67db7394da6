/* `hindsight play`: sends a recording, a CSV pair or a scenario file to a running service. */
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/json/buffer.h"
#include "cli/play/import/match.h"
#include "cli/play/lines.h"
#include "cli/play/playback.h"
#include "cli/play/scenario/suite.h"

#define DEFAULT_URL "http://127.0.0.1:8080"

/* The maximum size of a map document. This maximum equals the maximum length of a line (lines.c),
   because a map may be one line. */
enum { MAP_MAX_BYTES = 512 << 20 };

struct play_options {
    const char *recording, *url;
    const char *map; /* path of a map document, or NULL */
    double grow;
    bool json;
    struct hs_playback playback;
};

static const char help[] =
    "usage: hindsight play RECORDING [options]\n"
    "\n"
    "Plays a recording against a running service and prints the verdicts on its claims.\n"
    "RECORDING is a recording (docs/recording.md; `serve --record`), a scenario file\n"
    "(docs/scenarios.md), or one file of a CSV pair NAME.poses.csv and NAME.shots.csv;\n"
    "plain or gzip.\n"
    "\n"
    "  --url URL      the service (default " DEFAULT_URL ")\n"
    "  --speed X      1: at the speed of the recording, 2: twice as fast, ...\n"
    "                 0: as fast as answers arrive (default)\n"
    "  --match NAME   play into the match with this name (default: the recording's)\n"
    "  --replace      first end an open match with that name\n"
    "  --map FILE     first upload this map document (plain or gzip), and open the match\n"
    "                 with it; the maps in the recording are not used\n"
    "  --cheat KIND   forge the claims before they are sent; see below\n"
    "  --grow N       CSV pairs: widen the body by N units on every side\n"
    "  --json         print the table as one JSON object\n"
    "  --help         this text\n"
    "\n"
    "kinds of --cheat:\n"
#define X(id, name, text) "    " name ": " text "\n"
    HS_CHEATS(X)
#undef X
        "\n"
        "Exit codes: 0 fine, 1 if the recording cannot be read, if the service does not answer\n"
        "or refuses a request, or if an expectation in the recording failed, 2 usage error.\n"
        "If the service requires a token, set HINDSIGHT_TOKEN to the token.\n";

static const struct hs_command command = {"play", help, "one RECORDING"};

static bool read_options(int argc, char **argv, struct play_options *options, int *code)
{
    struct hs_playback *playback = &options->playback;
    int cheat = HS_CHEAT_NONE;
    const struct hs_argument list[] = {
        {"url", hs_argument_text, &options->url, 0, 0, NULL},
        {"speed", hs_argument_real, &playback->speed, 0, 1e9, NULL},
        {"match", hs_argument_name, &playback->match, 0, 0, NULL},
        {.name = "replace", .target = &playback->replace},
        {"map", hs_argument_text, &options->map, 0, 0, NULL},
        {"cheat", hs_argument_word, &cheat, 1, HS_CHEAT_COUNT - 1, hs_cheat_names},
        {"grow", hs_argument_real, &options->grow, -1e9, 1e9, NULL},
        {.name = "json", .target = &options->json},
        {.name = NULL}};
    if (!hs_command_read(&command, list, argc, argv, &options->recording, code))
        return false;
    *code = HS_EXIT_FINE;
    playback->cheat = (enum hs_cheat)cheat;
    if (options->grow != 0.0 && !hs_csv_match_is_name(options->recording))
        *code = hs_command_wrong(&command, "--grow works only with CSV pairs");
    bool changed = playback->match != NULL || playback->replace || playback->speed > 0.0 ||
                   playback->cheat != HS_CHEAT_NONE || options->map != NULL;
    if (changed && hs_play_scenarios_is_name(options->recording))
        *code = hs_command_wrong(&command, "--match, --replace, --speed, --map and --cheat are "
                                           "not available for scenarios");
    return *code == HS_EXIT_FINE;
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

/* Reads a text file, plain or gzip, into memory. */
static bool read_whole(const char *path, struct hs_buffer *out, char error[HS_PLAY_ERROR_MAX])
{
    struct hs_lines *lines = hs_lines_open(path);
    const char *line, *why = NULL;
    if (lines == NULL) {
        snprintf(error, HS_PLAY_ERROR_MAX, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    while (why == NULL && (line = hs_lines_next(lines)) != NULL) {
        hs_buffer_puts(out, line);
        hs_buffer_append(out, "\n", 1);
        why = out->failed ? "out of memory" : out->len > MAP_MAX_BYTES ? "it is too large" : NULL;
    }
    if (why == NULL)
        why = lines->error == NULL && out->len == 0 ? "it is empty" : lines->error;
    if (why != NULL)
        snprintf(error, HS_PLAY_ERROR_MAX, "cannot read %s: %s", path, why);
    hs_lines_close(lines);
    return why == NULL;
}

static bool run(struct play_options *options, struct hs_buffer *map, char error[HS_PLAY_ERROR_MAX])
{
    struct hs_playback *playback = &options->playback;
    bool scenarios = hs_play_scenarios_is_name(options->recording);
    if (!scenarios)
        playback->recording = hs_csv_match_is_name(options->recording)
                                  ? hs_csv_match_open(options->recording, options->grow, error)
                                  : hs_recording_open(options->recording, error);
    if (!scenarios && playback->recording == NULL)
        return false;
    if (options->map != NULL && !read_whole(options->map, map, error))
        return false;
    playback->map = (struct hs_str){map->data, map->len};
    playback->client = hs_client_open(options->url);
    playback->tally = hs_tally_create();
    if (playback->client == NULL || playback->tally == NULL)
        return false;
    bool good = scenarios ? hs_play_scenarios(options->recording, playback->client, playback->tally,
                                              playback->complaints, error)
                          : hs_playback_run(playback, error);
    size_t failed = playback->tally->failed;
    if (good || playback->tally->total.claims > 0)
        print_result(options);
    if (good && failed > 0)
        snprintf(error, HS_PLAY_ERROR_MAX, "%zu expectations failed", failed);
    return good && failed == 0;
}

static int play(struct play_options *options)
{
    struct hs_playback *playback = &options->playback;
    char error[HS_PLAY_ERROR_MAX] = "out of memory";
    struct hs_buffer map = {0};
    bool good = run(options, &map, error);
    hs_tally_destroy(playback->tally);
    hs_client_close(playback->client);
    hs_recording_close(playback->recording);
    hs_buffer_free(&map);
    if (good)
        return HS_EXIT_FINE;
    fflush(stdout);
    fprintf(stderr, "hindsight play: %s\n", error);
    return HS_EXIT_FAILED;
}

int hs_play_main(int argc, char **argv)
{
    struct play_options options = {
        .url = DEFAULT_URL,
        .playback = {.show_progress = isatty(STDERR_FILENO) == 1, .complaints = stderr}};
    int code;
    return read_options(argc, argv, &options, &code) ? play(&options) : code;
}
