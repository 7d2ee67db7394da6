#include "cli/recheck/command.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/recheck/replay.h"
#include "cli/recheck/report.h"
#include "service/state/rulesets.h"
#include "service/system/version.h"
#include "service/watch/log.h"

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum { DEFAULT_LIMIT = 50 };

struct recheck_options {
    const char *file, *rules, *only; /* NULL: not given */
    size_t limit;
    bool json;
};

static void print_help(FILE *out)
{
    fprintf(out,
            "usage: hindsight recheck FILE [options]\n"
            "\n"
            "Computes the verdicts of a recorded request stream again, in this process, and\n"
            "compares them with those that were given. FILE is a recording, as `hindsight serve\n"
            "--record` and `hindsight demo --keep` write it (docs/recording.md); plain or gzip.\n"
            "\n"
            "Without --rules every answer must be the same, byte for byte.\n"
            "\n"
            "  --rules FILE    judge by this ruleset instead: prints how many claims had each\n"
            "                  reason before and after, and the claims whose verdict or reason\n"
            "                  is another one\n"
            "  --ruleset NAME  with --rules: only matches that were opened with this ruleset\n"
            "                  (default: all)\n"
            "  --limit N       how many changed claims to print (default %d)\n"
            "  --json          print everything as one JSON object\n"
            "  --help          this text\n"
            "\n"
            "Exit codes: 0 fine, 1 an answer is another one under the same rules, or the file is\n"
            "broken, 2 wrong usage.\n",
            DEFAULT_LIMIT);
}

static int wrong_usage(const char *what, const char *argument)
{
    fprintf(stderr, "hindsight recheck: %s%s%s\nTry: hindsight recheck --help\n", what,
            argument != NULL ? ": " : "", argument != NULL ? argument : "");
    return EXIT_USAGE;
}

static bool parse_limit(const char *text, size_t *limit)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *limit = value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

/* Takes one option. 0, or an exit code when its value is wrong. */
static int take_option(int option, struct recheck_options *options)
{
    switch (option) {
    case 'r':
        options->rules = optarg;
        return 0;
    case 'n':
        options->only = optarg;
        return hs_name_is_valid((struct hs_str){optarg, strlen(optarg)})
                   ? 0
                   : wrong_usage("--ruleset must be 1 to 64 of [A-Za-z0-9_.:-]", optarg);
    case 'l':
        return parse_limit(optarg, &options->limit)
                   ? 0
                   : wrong_usage("--limit must be a whole number", optarg);
    case 'j':
        options->json = true;
        return 0;
    default:
        return wrong_usage("unknown option, or one without its value", NULL);
    }
}

/* 0 to go on, else an exit code + 1, so that "fine" can be told too. */
static int read_options(int argc, char **argv, struct recheck_options *options)
{
    static const struct option list[] = {
        {"rules", required_argument, NULL, 'r'}, {"ruleset", required_argument, NULL, 'n'},
        {"limit", required_argument, NULL, 'l'}, {"json", no_argument, NULL, 'j'},
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
        return wrong_usage("needs one FILE", NULL) + 1;
    options->file = argv[optind];
    if (options->only != NULL && options->rules == NULL)
        return wrong_usage("--ruleset needs --rules", NULL) + 1;
    return 0;
}

/* ---- the rules ---- */

/* A file of `serve --rules DIR` need not repeat its name inside. */
static struct hs_str name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t len = strlen(name);
    if (len > 5 && strcmp(name + len - 5, ".json") == 0)
        len -= 5;
    return (struct hs_str){name, len};
}

/* NULL, and said why. */
static struct hs_ruleset *load_rules(const char *path)
{
    struct hs_problem problem, second;
    hs_problem_init(&problem);
    hs_problem_init(&second);
    struct hs_ruleset *ruleset = hs_ruleset_from_file(path, (struct hs_str){0}, &problem);
    bool nameless = problem.count == 1 && strcmp(problem.errors[0].pointer, "/name") == 0 &&
                    hs_name_is_valid(name_of_file(path));
    if (ruleset == NULL && nameless)
        ruleset = hs_ruleset_from_file(path, name_of_file(path), &second);
    if (ruleset != NULL)
        return ruleset;
    fprintf(stderr, "hindsight recheck: %s: %s\n", path,
            problem.count > 0 ? "is not a ruleset" : problem.detail);
    for (size_t i = 0; i < problem.count; i++)
        fprintf(stderr, "  %s: %s\n", problem.errors[i].pointer, problem.errors[i].detail);
    return NULL;
}

/* ---- the stream ---- */

static void note_gap(struct hs_recheck_report *report, const struct hs_stream_line *line,
                     size_t number, struct hs_str reason)
{
    if (report->gap_count < HS_GAPS_MAX) {
        struct hs_gap *gap = &report->gaps[report->gap_count];
        gap->line = number;
        hs_name_set(&gap->match, line->name);
        snprintf(gap->reason, sizeof gap->reason, "%.*s", (int)reason.len,
                 reason.ptr != NULL ? reason.ptr : "");
    }
    report->gap_count++;
}

/* Computes everything again. False: the stream ends early, and the reader's error says why. */
static bool recheck_stream(struct hs_stream_reader *reader, struct hs_replay *replay,
                           struct hs_recheck_report *report)
{
    struct hs_stream_line line;
    struct hs_buffer answer = {0};
    char error[HS_STREAM_ERROR_MAX] = "";
    while (error[0] == '\0' && hs_stream_reader_next(reader, &line)) {
        if (line.kind == HS_STREAM_HEADER)
            snprintf(report->program, sizeof report->program, "%.*s", (int)line.program.len,
                     line.program.ptr != NULL ? line.program.ptr : "");
        enum hs_replay_result result = hs_replay_line(replay, &line, &answer, error);
        struct hs_compared compared = {line.name, line.route, reader->number};
        if (line.kind == HS_STREAM_GAP || result == HS_REPLAY_REOPENED)
            note_gap(report, &line, reader->number, line.reason);
        if (result == HS_REPLAY_UNKNOWN)
            note_gap(report, &line, reader->number, (struct hs_str){answer.data, answer.len});
        if (result == HS_REPLAY_LEFT_OUT)
            report->requests_left_out++;
        else if (result == HS_REPLAY_ANSWERED && line.answer.ptr == NULL)
            report->unanswered++;
        else if (result == HS_REPLAY_ANSWERED &&
                 !hs_differences_add(&report->differences, &compared, line.answer,
                                     (struct hs_str){answer.data, answer.len}))
            snprintf(error, sizeof error, "the answer is not one to this request");
    }
    hs_buffer_free(&answer);
    if (error[0] != '\0')
        snprintf(reader->error, sizeof reader->error, "line %zu: %.200s", reader->number, error);
    else if (reader->number == 0 && reader->error[0] == '\0')
        snprintf(reader->error, sizeof reader->error, "is empty");
    return reader->error[0] == '\0';
}

static bool print_report(const struct recheck_options *options,
                         const struct hs_recheck_report *report)
{
    if (!options->json)
        hs_recheck_print(report, stdout);
    else if (!hs_recheck_print_json(report, stdout))
        return false;
    return fflush(stdout) == 0;
}

static int conclude(const struct recheck_options *options, const struct hs_recheck_report *report,
                    const struct hs_stream_reader *reader)
{
    bool printed = !reader->is_recording || print_report(options, report);
    if (reader->error[0] != '\0') {
        fprintf(stderr, "hindsight recheck: %s: %s\n", options->file, reader->error);
        return EXIT_FAILED;
    }
    if (!printed) {
        fputs("hindsight recheck: cannot print the report\n", stderr);
        return EXIT_FAILED;
    }
    if (report->differences.other_rules || report->differences.first_line == 0)
        return EXIT_FINE;
    fprintf(
        stderr,
        "hindsight recheck: %s: answers differ under the same rules, the first in line %zu: %s\n",
        options->file, report->differences.first_line,
        strcmp(report->program, HS_VERSION) != 0
            ? "it was recorded by another version of the program"
            : "the verdicts of this program are not reproducible");
    return EXIT_FAILED;
}

static int recheck(const struct recheck_options *options, struct hs_ruleset *ruleset)
{
    struct hs_recheck_report report = {.file = options->file, .rules = options->rules};
    struct hs_stream_reader reader;
    struct hs_replay_rules rules = {.ruleset = ruleset};
    if (options->only != NULL)
        rules.only = (struct hs_str){options->only, strlen(options->only)};
    struct hs_replay *replay = hs_replay_create(&rules);
    if (replay == NULL) {
        fputs("hindsight recheck: out of memory, or no ruleset may have this name\n", stderr);
        return EXIT_FAILED;
    }
    hs_differences_init(&report.differences, options->rules != NULL, options->limit);
    report.rules_name = hs_replay_rules_name(replay);
    report.revision = hs_replay_revision(replay);
    if (hs_stream_reader_open(&reader, options->file))
        recheck_stream(&reader, replay, &report);
    report.interrupted = reader.interrupted;
    report.matches = hs_replay_counts(replay).opened;
    report.matches_restored = hs_replay_counts(replay).restored;
    report.matches_left_out = hs_replay_counts(replay).left_out;
    int code = conclude(options, &report, &reader);
    hs_stream_reader_close(&reader);
    hs_differences_free(&report.differences);
    hs_replay_destroy(replay);
    return code;
}

int hs_recheck_main(int argc, char **argv)
{
    struct recheck_options options = {.limit = DEFAULT_LIMIT};
    struct hs_ruleset *ruleset = NULL;
    int code = read_options(argc, argv, &options);
    if (code != 0)
        return code - 1;
    if (options.rules != NULL && (ruleset = load_rules(options.rules)) == NULL)
        return EXIT_FAILED;
    hs_log_set_level(HS_LOG_ERROR); /* the service that recorded the requests has warned already */
    return recheck(&options, ruleset);
}
