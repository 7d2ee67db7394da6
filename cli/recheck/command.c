/* `hindsight recheck`: computes the verdicts in a recording again, offline. */
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

#include "cli/recheck/replay.h"
#include "cli/recheck/report.h"
#include "service/state/rulesets.h"
#include "service/system/version.h"
#include "service/watch/log.h"

struct recheck_options {
    const char *file, *rules, *only; /* `rules` and `only` (--ruleset) may be NULL */
    uint64_t limit;
    bool json;
};

static const char help[] =
    "usage: hindsight recheck FILE [options]\n"
    "\n"
    "Computes the verdicts in a recording again, in this process, and compares them with\n"
    "the recorded ones. FILE is a recording, as `hindsight serve --record` and\n"
    "`hindsight demo --keep` write it (docs/recording.md); plain or gzip.\n"
    "\n"
    "Without --rules every answer must be the same, byte for byte.\n"
    "\n"
    "  --rules FILE    verify under this ruleset instead: prints the number of claims with\n"
    "                  each reason before and after, and the claims whose verdict or reason\n"
    "                  changes\n"
    "  --ruleset NAME  with --rules: only matches that were opened with this ruleset\n"
    "                  (default: all)\n"
    "  --limit N       print at most N changed claims (default 50)\n"
    "  --json          print everything as one JSON object\n"
    "  --help          this text\n"
    "\n"
    "Exit codes: 0 fine, 1 an answer differs under the same rules, or the file is broken,\n"
    "2 usage error.\n";

static const struct hs_command command = {"recheck", help, "one FILE"};

/* ---- the rules ---- */

/* Loads a ruleset from a file. Prints the reason and returns NULL on failure. */
static struct hs_ruleset *load_rules(const char *path)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    struct hs_ruleset *ruleset = hs_ruleset_from_file(path, (struct hs_str){0}, &problem);
    if (ruleset != NULL)
        return ruleset;
    fprintf(stderr, "hindsight recheck: %s: %s\n", path,
            problem.count > 0 ? "is not a ruleset" : problem.detail);
    for (size_t i = 0; i < problem.count; i++)
        fprintf(stderr, "  %s: %s\n", problem.errors[i].pointer, problem.errors[i].detail);
    return NULL;
}

/* ---- the stream ---- */

static void record_gap(struct hs_recheck_report *report, const struct hs_stream_line *line,
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

/* Replays all lines of a stream, and compares the answers. If the replay must stop before the end
   of the stream, sets the reader's error. */
static void recheck_stream(struct hs_stream_reader *reader, struct hs_replay *replay,
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
            record_gap(report, &line, reader->number, line.reason);
        if (result == HS_REPLAY_UNKNOWN)
            record_gap(report, &line, reader->number, (struct hs_str){answer.data, answer.len});
        if (result == HS_REPLAY_LEFT_OUT)
            report->requests_left_out++;
        else if (result == HS_REPLAY_ANSWERED && line.answer.ptr == NULL)
            report->unanswered++;
        else if (result == HS_REPLAY_ANSWERED &&
                 !hs_differences_add(&report->differences, &compared, line.answer,
                                     (struct hs_str){answer.data, answer.len}))
            snprintf(error, sizeof error, "the answer does not belong to this request");
    }
    hs_buffer_free(&answer);
    if (error[0] != '\0')
        snprintf(reader->error, sizeof reader->error, "line %zu: %.200s", reader->number, error);
    else if (reader->number == 0 && reader->error[0] == '\0')
        snprintf(reader->error, sizeof reader->error, "is empty");
}

static int conclude(const struct hs_recheck_report *report, bool json,
                    const struct hs_stream_reader *reader)
{
    bool printed = true;
    if (reader->is_recording && json)
        printed = hs_recheck_print_json(report, stdout);
    else if (reader->is_recording)
        hs_recheck_print(report, stdout);
    printed = fflush(stdout) == 0 && printed;
    bool same = report->differences.other_rules || report->differences.first_line == 0;
    if (reader->error[0] != '\0')
        fprintf(stderr, "hindsight recheck: %s: %s\n", report->file, reader->error);
    else if (!printed)
        fputs("hindsight recheck: cannot print the report\n", stderr);
    else if (!same)
        fprintf(stderr,
                "hindsight recheck: %s: answers differ under the same rules, first in line %zu: "
                "%s\n",
                report->file, report->differences.first_line,
                strcmp(report->program, HS_VERSION) != 0
                    ? "it was recorded by another version of the program"
                    : "the verdicts of this program are not reproducible");
    return reader->error[0] == '\0' && printed && same ? HS_EXIT_FINE : HS_EXIT_FAILED;
}

static int recheck(const struct recheck_options *options, struct hs_ruleset *ruleset)
{
    struct hs_recheck_report report = {.file = options->file, .rules = options->rules};
    struct hs_stream_reader reader;
    struct hs_replay *replay = hs_replay_create(ruleset, hs_str_of(options->only));
    if (replay == NULL) {
        fputs("hindsight recheck: out of memory, or the name of the ruleset is reserved\n", stderr);
        return HS_EXIT_FAILED;
    }
    hs_differences_init(&report.differences, options->rules != NULL, options->limit);
    if (hs_stream_reader_open(&reader, options->file))
        recheck_stream(&reader, replay, &report);
    report.interrupted = reader.interrupted;
    report.replay = hs_replay_summary(replay);
    int code = conclude(&report, options->json, &reader);
    hs_stream_reader_close(&reader);
    hs_differences_free(&report.differences);
    hs_replay_destroy(replay);
    return code;
}

int hs_recheck_main(int argc, char **argv)
{
    struct recheck_options options = {.limit = 50};
    const struct hs_argument list[] = {{"rules", hs_argument_text, &options.rules, 0, 0, NULL},
                                       {"ruleset", hs_argument_name, &options.only, 0, 0, NULL},
                                       {"limit", hs_argument_whole, &options.limit, 0, 1e9, NULL},
                                       {.name = "json", .target = &options.json},
                                       {.name = NULL}};
    struct hs_ruleset *ruleset = NULL;
    int code;
    if (!hs_command_read(&command, list, argc, argv, &options.file, &code))
        return code;
    if (options.only != NULL && options.rules == NULL)
        return hs_command_wrong(&command, "--ruleset needs --rules");
    if (options.rules != NULL && (ruleset = load_rules(options.rules)) == NULL)
        return HS_EXIT_FAILED;
    /* log no warnings, because the service that recorded the requests has already logged them */
    hs_log_set_level(HS_LOG_ERROR);
    return recheck(&options, ruleset);
}
