#include "cli/recheck/report.h"

#include <inttypes.h>

#include "api/json/writing.h"
#include "service/system/version.h"

struct count {
    /* the key in JSON, and the label in the text report; label NULL: only in JSON */
    const char *key, *label;
    size_t number;
    const char *remark; /* printed after the number in the text report */
    bool shows_zero;    /* the text report contains this row even if the number is 0 */
};

static void print_count(void *out, const struct count *count)
{
    if (count->label != NULL && (count->number > 0 || count->shows_zero))
        fprintf(out, "  %-22s %9zu%s%s\n", count->label, count->number,
                count->remark[0] != '\0' ? "  " : "", count->remark);
}

static void put_count(void *writer, const struct count *count)
{
    hs_write_int_field(writer, count->key, (int64_t)count->number);
}

static void each_count(const struct hs_recheck_report *report,
                       void (*use)(void *context, const struct count *count), void *context)
{
    const struct hs_differences *d = &report->differences;
    const struct hs_replay_summary *replay = &report->replay;
    char restored[64] = "", claims[64], first[96];
    if (replay->restored > 0)
        snprintf(restored, sizeof restored, "%zu of them restored after a restart",
                 replay->restored);
    snprintf(claims, sizeof claims, "%zu hits, %zu shots", d->hits, d->shots);
    snprintf(first, sizeof first, "%s; the first in line %zu",
             d->other_rules ? "other poses stored or refused" : "outside their results",
             d->answers_line);
    const struct count counts[] = {
        {"matches", "matches", replay->opened, restored, true},
        {"matches_restored", NULL, replay->restored, "", false},
        {"matches_left_out", NULL, replay->left_out, "", false},
        {"requests", "requests", d->requests, "", true},
        {"requests_left_out", NULL, report->requests_left_out, "", false},
        {"requests_unanswered", "not compared", report->unanswered,
         "requests without an answer in the file", false},
        {"claims", "claims", d->hits + d->shots, claims, true},
        {"hits", NULL, d->hits, "", false},
        {"shots", NULL, d->shots, "", false},
        {"moves", "moves", d->moves, "", false},
        {"replayed", "replayed", d->replayed, "sent again, counted once", false},
        {d->other_rules ? "unchanged" : "identical", d->other_rules ? "unchanged" : "identical",
         d->same, "", true},
        {"flipped", "another verdict", d->flipped, "or reason", true},
        {"damage_changed", "another damage", d->damaged, d->moves > 0 ? "or delta_time" : "", true},
        {"otherwise_changed", "other differences", d->otherwise, "in results", false},
        {"replayed_changed", "changed replays", d->replayed_otherwise, "", false},
        {"answers_changed", "other answers", d->answers_otherwise, first, false},
        {"interrupted", NULL, report->interrupted, "", false},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        use(context, &counts[i]);
}

/* Prints a table of reasons. `what` is the heading of the first column. */
static void print_reasons(const char *what, const struct hs_reason_count *reasons, size_t size,
                          FILE *out)
{
    fprintf(out, "\n  %-14s %-24s %9s %9s %9s\n", what, "reason", "before", "after", "change");
    for (size_t i = 0; i < size; i++) {
        const struct hs_reason_count *count = &reasons[i];
        if (count->before == 0 && count->after == 0)
            continue;
        fprintf(out, "  %-14s %-24s %9zu %9zu", count->verdict.text, count->reason.text,
                count->before, count->after);
        if (count->after != count->before)
            fprintf(out, " %+9lld", (long long)count->after - (long long)count->before);
        fputc('\n', out);
    }
}

static void print_measures(const struct hs_changed_side *before,
                           const struct hs_changed_side *after, FILE *out)
{
    bool was = before->check.text[0] != '\0', is = after->check.text[0] != '\0';
    bool same = was && is && strcmp(before->check.text, after->check.text) == 0;
    if (was)
        fprintf(out, "  %s %.6g, limit %.6g", before->check.text, before->measured, before->limit);
    if (same && before->measured == after->measured)
        fprintf(out, " -> %.6g", after->limit);
    else if (is)
        fprintf(out, "%s %s %.6g, limit %.6g", was ? " ->" : " ", after->check.text,
                after->measured, after->limit);
}

static void print_changed(const struct hs_differences *differences, FILE *out)
{
    if (differences->changed_count + differences->changed_left_out == 0)
        return;
    fputs("\n  what changes\n", out);
    for (size_t i = 0; i < differences->changed_count; i++) {
        const struct hs_changed_claim *claim = &differences->changed[i];
        fprintf(out, "  %s  %s  %s %" PRIu64 "  %s %s", claim->match.text, claim->shooter.text,
                claim->kind.text, claim->shot, claim->before.verdict.text,
                claim->before.reason.text);
        if (claim->flips)
            fprintf(out, " -> %s %s", claim->after.verdict.text, claim->after.reason.text);
        else
            fprintf(out, ", with other numbers (line %zu)", claim->line);
        if (claim->flips)
            print_measures(&claim->before, &claim->after, out);
        fputc('\n', out);
    }
    if (differences->changed_left_out > 0)
        fprintf(out, "  and %zu more; --limit shows them\n", differences->changed_left_out);
}

static void print_left_out(const struct hs_recheck_report *report, FILE *out)
{
    if (report->replay.left_out > 0)
        fprintf(out, "\n  %zu matches with other rulesets, %zu requests: left out\n",
                report->replay.left_out, report->requests_left_out);
    size_t shown = report->gap_count < HS_GAPS_MAX ? report->gap_count : HS_GAPS_MAX;
    if (shown > 0)
        fputs("\n  gaps: these matches are not compared until they are opened again\n", out);
    for (size_t i = 0; i < shown; i++) {
        const struct hs_gap *gap = &report->gaps[i];
        fprintf(out, "  %s  from line %zu on: %s\n", gap->match.text, gap->line,
                gap->reason[0] != '\0' ? gap->reason : "requests are missing");
    }
    if (report->gap_count > shown)
        fprintf(out, "  and %zu more\n", report->gap_count - shown);
    if (report->interrupted > 0)
        fprintf(out, "\n  %zu lines end in the middle: the service was interrupted there\n",
                report->interrupted);
}

void hs_recheck_print(const struct hs_recheck_report *report, FILE *out)
{
    const struct hs_differences *differences = &report->differences;
    fputs(report->file, out);
    if (report->program[0] != '\0')
        fprintf(out, ", recorded by hindsight %s", report->program);
    if (report->program[0] != '\0' && strcmp(report->program, HS_VERSION) != 0)
        fputs(" and computed again by " HS_VERSION, out);
    if (differences->other_rules)
        fprintf(out, "\nwith the rules of %s (%s, %.19s..)", report->rules,
                report->replay.rules_name, report->replay.revision);
    fputs("\n\n", out);
    each_count(report, print_count, out);
    if (differences->hits + differences->shots > 0)
        print_reasons("verdict", differences->reasons, HS_DIFFERENCES_REASONS, out);
    if (differences->moves > 0)
        print_reasons("moves", differences->move_reasons, HS_DIFFERENCES_MOVE_REASONS, out);
    print_changed(differences, out);
    print_left_out(report, out);
}

/* ---- JSON ---- */

static void put_number(struct hs_writer *writer, const char *key, uint64_t number)
{
    hs_write_int_field(writer, key, (int64_t)number);
}

static void put_reasons(struct hs_writer *writer, const char *key,
                        const struct hs_reason_count *reasons, size_t size)
{
    hs_write_begin_field(writer, key, '[');
    for (size_t i = 0; i < size; i++) {
        const struct hs_reason_count *count = &reasons[i];
        if (count->before == 0 && count->after == 0)
            continue;
        hs_write_begin(writer, '{');
        hs_write_text_field(writer, "verdict", count->verdict.text);
        hs_write_text_field(writer, "reason", count->reason.text);
        put_number(writer, "before", count->before);
        put_number(writer, "after", count->after);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

static void put_side(struct hs_writer *writer, const char *key, const struct hs_changed_side *side)
{
    hs_write_begin_field(writer, key, '{');
    hs_write_text_field(writer, "verdict", side->verdict.text);
    hs_write_text_field(writer, "reason", side->reason.text);
    if (side->check.text[0] != '\0') {
        hs_write_text_field(writer, "check", side->check.text);
        hs_write_real_field(writer, "measured", side->measured);
        hs_write_real_field(writer, "limit", side->limit);
    }
    hs_write_end(writer, '}');
}

static void put_changed(struct hs_writer *writer, const struct hs_differences *differences)
{
    hs_write_begin_field(writer, "changed", '[');
    for (size_t i = 0; i < differences->changed_count; i++) {
        const struct hs_changed_claim *claim = &differences->changed[i];
        hs_write_begin(writer, '{');
        put_number(writer, "line", claim->line);
        hs_write_text_field(writer, "match", claim->match.text);
        hs_write_text_field(writer, "kind", claim->kind.text);
        hs_write_text_field(writer, "shooter", claim->shooter.text);
        put_number(writer, "shot", claim->shot);
        put_side(writer, "before", &claim->before);
        put_side(writer, "after", &claim->after);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
    put_number(writer, "changed_left_out", differences->changed_left_out);
}

static void put_gaps(struct hs_writer *writer, const struct hs_recheck_report *report)
{
    size_t shown = report->gap_count < HS_GAPS_MAX ? report->gap_count : HS_GAPS_MAX;
    hs_write_begin_field(writer, "gaps", '[');
    for (size_t i = 0; i < shown; i++) {
        hs_write_begin(writer, '{');
        hs_write_text_field(writer, "match", report->gaps[i].match.text);
        put_number(writer, "line", report->gaps[i].line);
        if (report->gaps[i].reason[0] != '\0')
            hs_write_text_field(writer, "reason", report->gaps[i].reason);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
    put_number(writer, "gaps_left_out", report->gap_count - shown);
}

bool hs_recheck_print_json(const struct hs_recheck_report *report, FILE *out)
{
    struct hs_buffer text = {0};
    struct hs_writer writer = {.buffer = &text};
    hs_write_begin(&writer, '{');
    hs_write_text_field(&writer, "file", report->file);
    hs_write_text_field(&writer, "recorded_by", report->program);
    hs_write_text_field(&writer, "program", HS_VERSION);
    hs_write_key(&writer, "rules");
    if (report->differences.other_rules) {
        hs_write_begin(&writer, '{');
        hs_write_text_field(&writer, "file", report->rules);
        hs_write_text_field(&writer, "name", report->replay.rules_name);
        hs_write_text_field(&writer, "revision", report->replay.revision);
        hs_write_end(&writer, '}');
    } else {
        hs_write_null(&writer);
    }
    each_count(report, put_count, &writer);
    put_reasons(&writer, "reasons", report->differences.reasons, HS_DIFFERENCES_REASONS);
    put_reasons(&writer, "move_reasons", report->differences.move_reasons,
                HS_DIFFERENCES_MOVE_REASONS);
    put_changed(&writer, &report->differences);
    put_gaps(&writer, report);
    hs_write_end(&writer, '}');
    hs_buffer_append(&text, "\n", 1);
    bool fine = !text.failed && fwrite(text.data, 1, text.len, out) == text.len;
    hs_buffer_free(&text);
    return fine;
}
