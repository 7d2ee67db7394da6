/* `hindsight show`: draws a stored verdict and lists its checks. */
#include "cli/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/play/client.h"
#include "cli/play/lines.h"
#include "cli/show/drawing.h"

#define DEFAULT_URL "http://127.0.0.1:8080"

/* The columns of the check table. */
#define ROW "  %-13s %-8s %12s %12s  %-10s %s\n"

struct show_options {
    const char *verdict, *server;
};

static const char help[] =
    "usage: hindsight show VERDICT_ID|FILE [options]\n"
    "\n"
    "Draws a stored verdict: the target at the claimed time and at the arrival of the claim, the\n"
    "shot, and the distance of a miss or the obstacle that stopped the shot. Then lists every\n"
    "check with its measured value and its limit. FILE is an answer of\n"
    "GET /v1/verdicts/{verdict}, plain or gzip. The verdict is computed again in this process.\n"
    "\n"
    "  --server URL  the service that stores the verdict (default " DEFAULT_URL ");\n"
    "                set HINDSIGHT_TOKEN to the token, if the service needs one\n"
    "  --help        this text\n"
    "\n"
    "Exit codes: 0 shown, 1 the verdict cannot be read or computed again, or the new result\n"
    "differs from the stored one, 2 usage error.\n";

static const struct hs_command command = {"show", help, "one VERDICT_ID or FILE"};

/* ---- the evidence ---- */

static bool is_id(const char *text)
{
    return strlen(text) == sizeof(struct hs_verdict_id) - 1 &&
           strspn(text, "0123456789abcdef") == strlen(text);
}

static bool fetch(const struct show_options *options, struct hs_buffer *out)
{
    struct hs_client_response response;
    struct hs_client *client = hs_client_open(options->server);
    char path[64];
    bool fine = false;
    snprintf(path, sizeof path, "/v1/verdicts/%s", options->verdict);
    if (client == NULL)
        fputs("hindsight show: out of memory\n", stderr);
    else if (!hs_client_send(client, "GET", path, NULL, 0, &response))
        fprintf(stderr, "hindsight show: %s: %s\n", options->server, hs_client_error(client));
    else if (response.status != 200)
        fprintf(stderr, "hindsight show: %s answers %ld: %.300s\n", options->server,
                response.status, response.body);
    else
        fine = true;
    if (fine)
        hs_buffer_append(out, response.body, response.size);
    hs_client_close(client);
    return fine && !out->failed;
}

static bool read_file(const char *path, struct hs_buffer *out)
{
    struct hs_lines *lines = hs_lines_open(path);
    const char *line, *error = NULL;
    if (lines == NULL) {
        fprintf(stderr,
                "hindsight show: %s is not a verdict id, which has 32 hexadecimal digits, "
                "and cannot be read as a file: %s\n",
                path, strerror(errno));
        return false;
    }
    while ((line = hs_lines_next(lines)) != NULL && !out->failed) {
        hs_buffer_puts(out, line);
        hs_buffer_puts(out, "\n");
    }
    error = out->failed ? "out of memory" : lines->error;
    if (error != NULL)
        fprintf(stderr, "hindsight show: %s: %s\n", path, error);
    hs_lines_close(lines);
    return error == NULL;
}

/* ---- output ---- */

static void print_claim(const struct hs_recomputed *of)
{
    const struct hs_hit_result *result = &of->result;
    const char *weapon =
        result->weapon != HS_NONE ? of->ruleset->weapons[result->weapon]->name.text : "no weapon";
    if (of->hit != NULL)
        printf("Shot %llu by %.*s with %s: they claim to have hit %.*s.\n",
               (unsigned long long)of->hit->shot, (int)of->hit->shooter.len, of->hit->shooter.ptr,
               weapon, of->hit->target.ptr != NULL ? (int)of->hit->target.len : 6,
               of->hit->target.ptr != NULL ? of->hit->target.ptr : "nobody");
    else
        printf("Shot %llu by %.*s with %s.\n", (unsigned long long)of->shot->shot,
               (int)of->shot->shooter.len, of->shot->shooter.ptr, weapon);
    printf("Verdict: %s, %s.", hs_verdict_name(result->verdict), hs_reason_name(result->reason));
    const struct hs_check_row *deciding = hs_scene_deciding(result);
    if (deciding != NULL) {
        char sentence[HS_SENTENCE_MAX];
        hs_scene_sentence(of, deciding, sentence);
        printf(" In words: %s.", sentence);
    }
    putchar('\n');
}

static void print_check(const struct hs_recomputed *of, const struct hs_check_row *row)
{
    char measured[32] = "", limit[32] = "", note[96] = "", sentence[HS_SENTENCE_MAX];
    const char *unit = row->unit != HS_UNIT_NONE ? hs_unit_name(row->unit) : "";
    bool is_shadow = row->mode == HS_MODE_SHADOW;
    if (row->unit != HS_UNIT_NONE) {
        snprintf(measured, sizeof measured, "%.6g", row->measured);
        snprintf(limit, sizeof limit, "%.6g", row->limit);
    }
    if (row->outcome != HS_OUTCOME_PASS)
        snprintf(note, sizeof note, "%s%s", hs_reason_name(row->reason),
                 is_shadow ? ", in shadow mode" : "");
    else if (is_shadow)
        snprintf(note, sizeof note, "in shadow mode");
    printf(ROW, hs_check_name(row->check), hs_outcome_name(row->outcome), measured, limit, unit,
           note);
    if (row->outcome == HS_OUTCOME_PASS)
        return;
    hs_scene_sentence(of, row, sentence);
    printf("  %13s %s\n", "", sentence);
}

static void print_checks(const struct hs_recomputed *of)
{
    puts("");
    printf(ROW, "check", "outcome", "measured", "limit", "unit", "reason");
    for (uint16_t i = 0; i < of->result.check_count; i++)
        print_check(of, &of->result.checks[i]);
}

static void print_origin(const struct hs_recomputed *of, const struct hs_evidence_parts *parts)
{
    printf("\nRuleset %.*s, %.*s\n", (int)parts->ruleset.len, parts->ruleset.ptr,
           (int)parts->revision.len, parts->revision.ptr);
    if (of->is_identical)
        puts("Computed again just now: the same answer, byte for byte.");
    else
        puts("Computed again just now, the answer DIFFERS from the stored one. The numbers above "
             "are the new ones.");
}

static bool print_all(const struct hs_recomputed *of, const struct hs_evidence_parts *parts)
{
    struct hs_verdict_scene scene;
    bool fine = hs_verdict_scene_find(of, &scene);
    if (fine) {
        print_claim(of);
        fine = hs_show_draw(&scene, stdout);
    }
    if (fine) {
        print_checks(of);
        print_origin(of, parts);
    }
    hs_verdict_scene_free(&scene);
    if (!fine)
        fputs("hindsight show: out of memory\n", stderr);
    return fine;
}

static int show(struct hs_str text)
{
    static const char *const faults[] = {
        [HS_RECOMPUTE_UNFIT] = "its rules do not fit",
        [HS_RECOMPUTE_FOREIGN] = "it was stored by another version of the program",
        [HS_RECOMPUTE_DAMAGED] = "it is damaged",
        [HS_RECOMPUTE_NO_MEMORY] = "out of memory",
        [HS_RECOMPUTE_STOPPED] = "it was stopped",
    };
    struct hs_evidence_parts parts;
    unsigned char *state = NULL;
    struct hs_recomputed of = {0};
    struct hs_recompute *recompute = hs_recompute_create(NULL);
    enum hs_recompute_status status = HS_RECOMPUTE_NO_MEMORY;
    if (recompute != NULL)
        status = hs_evidence_parts_read(text, &parts, &state)
                     ? hs_recompute_run(recompute, &parts, NULL, &of)
                     : HS_RECOMPUTE_DAMAGED;
    bool is_fine = status == HS_RECOMPUTE_DONE && print_all(&of, &parts) && of.is_identical;
    if (status == HS_RECOMPUTE_DAMAGED)
        fputs("hindsight show: this is not the evidence of one hit or shot, or it is damaged\n",
              stderr);
    else if (status != HS_RECOMPUTE_DONE)
        fprintf(stderr, "hindsight show: the verdict cannot be computed again: %s\n",
                faults[status]);
    hs_recomputed_free(&of);
    hs_recompute_destroy(recompute);
    free(state);
    return is_fine ? HS_EXIT_FINE : HS_EXIT_FAILED;
}

int hs_show_main(int argc, char **argv)
{
    struct show_options options = {.server = DEFAULT_URL};
    const struct hs_argument list[] = {{"server", hs_argument_text, &options.server, 0, 0, NULL},
                                       {.name = NULL}};
    struct hs_buffer text = {0};
    int code;
    if (!hs_command_read(&command, list, argc, argv, &options.verdict, &code))
        return code;
    bool is_stored = is_id(options.verdict) && access(options.verdict, F_OK) != 0;
    bool fine = is_stored ? fetch(&options, &text) : read_file(options.verdict, &text);
    code = fine ? show((struct hs_str){text.data, text.len}) : HS_EXIT_FAILED;
    hs_buffer_free(&text);
    return code;
}
