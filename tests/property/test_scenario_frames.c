/*
 * Moving, turning, scaling or delaying a whole scenario changes no verdict. Every scenario of
 * tests/scenarios is verified as written, and again in random frames of reference. The words of
 * both answers must be equal. So must the numbers after conversion.
 * (tests/property/test_hit_properties.c does this with random matches, and also turns them by
 * angles that cli/play/scenario/reference.h does not support.)
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/oracle/all_scenarios.h"
#include "tests/support/oracle/offline.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#define DEFAULT_SEED  20250401
#define DEFAULT_CASES 1 /* number of frames of each kind for each scenario */

/* Tolerance in metres, because a body's places relative to its root are in single precision. SHARE
   is a share of the answer's largest length, because values near the far end of a trace are
   differences of large numbers. */
#define TOLERANCE 1e-5
#define SHARE     1e-9

static struct hs_all_scenarios scenarios;

/* ---- the answers of a scenario ---- */

struct record {
    FILE *stream; /* the stream that writes `words` */
    char *words;  /* all parts that are not numbers */
    size_t size, count, room;
    double *values; /* lengths in metres, all others unchanged */
    double *sizes;  /* for each value, the largest one of the same answer */
    double unit;
    unsigned long verdicts;
};

static void *must(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return pointer;
}

static void number(struct record *record, double value)
{
    if (record->count == record->room) {
        record->room = 2 * record->room + 64;
        record->values = must(realloc(record->values, record->room * sizeof *record->values));
        record->sizes = must(realloc(record->sizes, record->room * sizeof *record->sizes));
    }
    record->values[record->count++] = value;
}

static void length(struct record *record, double value)
{
    number(record, value / record->unit);
}

static void note_check(struct record *record, const struct hs_check_row *row)
{
    fprintf(record->stream, " %s:%s:%s:%s:%s%s", hs_check_name(row->check),
            hs_outcome_name(row->outcome), hs_reason_name(row->reason), hs_unit_name(row->unit),
            row->player.text, row->mover.text);
    if (row->unit == HS_UNIT_LENGTH || row->unit == HS_UNIT_SPEED) {
        /* For this reason the measured value is a coordinate: the only length that depends on the
           origin. */
        if (row->reason != HS_REASON_COORDINATE_OUT_OF_WORLD)
            length(record, row->measured);
        length(record, row->limit);
    } else if (row->unit != HS_UNIT_NONE) {
        number(record, row->measured);
        number(record, row->limit);
    }
}

static void note_lists(struct record *record, const struct hs_hit_result *r)
{
    for (int i = 0; i < r->damage_count; i++) {
        fprintf(record->stream, " %s/%d/%s/%u", r->damage[i].player.text, (int)r->damage[i].cause,
                r->damage[i].zone.text, r->damage[i].pellets);
        number(record, r->damage[i].amount);
        length(record, r->damage[i].distance);
    }
    for (int i = 0; i < r->pellet_count; i++) {
        fprintf(record->stream, " %d/%s", (int)r->pellets[i].outcome, r->pellets[i].player.text);
        number(record, r->pellets[i].amount);
        length(record, r->pellets[i].margin);
    }
    for (int i = 0; i < r->refused_count; i++) {
        fprintf(record->stream, " %s/%s", r->refused[i].player.text,
                hs_reason_name(r->refused[i].reason));
        if (r->refused[i].has_measure) {
            length(record, r->refused[i].measured);
            length(record, r->refused[i].limit);
        }
    }
    for (int i = 0; i < r->unclaimed_count; i++)
        fprintf(record->stream, " %s", r->unclaimed[i].text);
}

static void note_result(struct record *record, const struct hs_hit_result *r)
{
    record->verdicts++;
    fprintf(record->stream, "%s %s %x %s%s%s", hs_verdict_name(r->verdict),
            hs_reason_name(r->reason), r->flags, r->impact.player.text, r->impact.mover.text,
            r->impact.zone.text);
    number(record, r->damage_total);
    if (r->has_margin)
        length(record, r->margin);
    if (r->impact.present)
        length(record, r->impact.distance);
    if (r->rewind.present) {
        fprintf(record->stream, " %lld %d %d", (long long)r->rewind.by_us, r->rewind.clamped,
                r->rewind.held);
        number(record, r->rewind.alpha);
    }
    for (int i = 0; i < r->check_count; i++)
        note_check(record, &r->checks[i]);
    note_lists(record, r);
}

static void note_move(struct record *record, const struct hs_move_result *r)
{
    fprintf(record->stream, "%s %d", hs_move_reason_name(r->reason), (int)r->position);
    number(record, (double)r->delta_us);
    for (uint16_t i = 0; i < r->failure_count; i++) {
        const struct hs_move_failure *failure = &r->failures[i];
        bool is_seconds = failure->unit == HS_UNIT_SECONDS || failure->unit == HS_UNIT_COUNTED;
        fprintf(record->stream, " %s", hs_move_reason_name((enum hs_move_reason)failure->reason));
        (is_seconds ? number : length)(record, failure->measured);
        (is_seconds ? number : length)(record, failure->limit);
    }
}

/* Sets the sizes for the values of an answer, from `first` on. */
static void note_sizes(struct record *record, size_t first)
{
    double largest = 0;
    for (size_t i = first; i < record->count; i++)
        largest = fmax(largest, fabs(record->values[i]));
    for (size_t i = first; i < record->count; i++)
        record->sizes[i] = largest;
}

static void note_item(void *context, const struct hs_offline_item *item)
{
    struct record *record = context;
    size_t first = record->count;
    switch (item->kind) {
    case HS_OFFLINE_SAMPLE:
        fprintf(record->stream, "%s", hs_frame_result_name(item->sample));
        break;
    case HS_OFFLINE_FRAMES:
        fprintf(record->stream, "frames %x %d", item->flags, item->needs_resync);
        break;
    case HS_OFFLINE_SHOT:
    case HS_OFFLINE_HIT:
        fprintf(record->stream, "%d %lu ", (int)item->kind, item->replay_of);
        number(record, (double)item->forward_us);
        if (item->result != NULL)
            note_result(record, item->result);
        break;
    case HS_OFFLINE_MOVE:
        note_move(record, item->move);
        break;
    case HS_OFFLINE_PROBLEM:
        fprintf(record->stream, "%s %zu", hs_problem_name(item->problem->code),
                item->problem->count);
        break;
    }
    note_sizes(record, first);
    fputc('\n', record->stream);
}

static void play(const struct hs_one_scenario *one, const struct hs_reference *reference,
                 struct record *out)
{
    char error[HS_SCENARIO_ERROR_MAX];
    struct hs_scenario_plan *plan =
        hs_scenario_plan_create(one->file, one->index, reference, "frames", error);
    ck_assert_msg(plan != NULL, "%s", error);
    *out = (struct record){.unit = reference->unit};
    out->stream = must(open_memstream(&out->words, &out->size));
    struct hs_offline *offline = hs_offline_create(note_item, out);
    ck_assert(hs_offline_play(offline, plan));
    hs_offline_destroy(offline);
    hs_scenario_plan_destroy(plan);
    fclose(out->stream);
}

static void free_record(struct record *record)
{
    free(record->words);
    free(record->values);
    free(record->sizes);
}

/* ---- frames of reference ---- */

/* Finds the quaternion of a signed permutation of the axes. The largest of its four numbers follows
   from the diagonal, the others from the remaining entries. */
static void find_turn(struct hs_reference *reference)
{
    double m[3][3] = {{0}}, q[4] = {0};
    for (int i = 0; i < 3; i++)
        m[i][reference->axis[i]] = reference->sign[i];
    double parts[4] = {m[0][0] - m[1][1] - m[2][2], m[1][1] - m[0][0] - m[2][2],
                       m[2][2] - m[0][0] - m[1][1], m[0][0] + m[1][1] + m[2][2]};
    int best = 0;
    for (int i = 1; i < 4; i++)
        best = parts[i] > parts[best] ? i : best;
    q[best] = sqrt(1 + parts[best]) / 2;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        double odd = (m[k][j] - m[j][k]) / (4 * q[best]);
        if (best == 3)
            q[i] = odd;
        else if (i == best)
            q[3] = odd;
        else
            q[i] = (m[best][i] + m[i][best]) / (4 * q[best]);
    }
    memcpy(reference->turn, q, sizeof q);
}

static void turned(struct hs_random *random, struct hs_reference *reference)
{
    /* The last sign must make a rotation, not a mirror image. */
    int swaps = hs_random_index(random, 6);
    static const int axes[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1},
                                   {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    memcpy(reference->axis, axes[swaps], sizeof reference->axis);
    reference->sign[0] = hs_random_chance(random, 0.5) ? 1 : -1;
    reference->sign[1] = hs_random_chance(random, 0.5) ? 1 : -1;
    reference->sign[2] = reference->sign[0] * reference->sign[1] * (swaps < 3 ? 1 : -1);
    find_turn(reference);
}

static void scaled(struct hs_random *random, struct hs_reference *reference)
{
    static const double units[] = {0.01, 39.37, 100, 64, 1 / 0.0254};
    reference->unit = hs_random_chance(random, 0.3) ? hs_random_log_between(random, 0.02, 200)
                                                    : units[hs_random_index(random, 5)];
}

static void moved(struct hs_random *random, struct hs_reference *reference)
{
    struct hs_vec way = hs_random_direction(random);
    double far = hs_random_log_between(random, 1, 1e5) * reference->unit;
    reference->shift[0] = way.x * far;
    reference->shift[1] = way.y * far;
    reference->shift[2] = way.z * far;
}

/* The shift is in whole microseconds, because times are stored so. */
static void later(struct hs_random *random, struct hs_reference *reference)
{
    double seconds = hs_random_log_between(random, 1, 1.7e9);
    reference->time_shift = floor(seconds * 1e3) / 1e3 * (hs_random_chance(random, 0.8) ? 1 : -1);
}

static void all_at_once(struct hs_random *random, struct hs_reference *reference)
{
    scaled(random, reference);
    turned(random, reference);
    moved(random, reference);
    later(random, reference);
}

typedef void draw_reference(struct hs_random *random, struct hs_reference *reference);

static const struct {
    const char *name;
    draw_reference *draw;
} kinds[] = {{"moved", moved},
             {"turned", turned},
             {"scaled", scaled},
             {"later", later},
             {"all-at-once", all_at_once}};

#define KINDS ((int)(sizeof kinds / sizeof *kinds))

/* Prints the line in which two texts differ. */
static void fail_words(const char *row, const struct hs_reference *reference, const char *was,
                       const char *is)
{
    size_t i = 0, line = 0;
    for (; was[i] != '\0' && was[i] == is[i]; i++)
        line = was[i] == '\n' ? i + 1 : line;
    ck_abort_msg("row %s, %s, unit %g, axes %d %d %d, signs %d %d %d:\n%.*s\n%.*s", row,
                 reference->name, reference->unit, reference->axis[0], reference->axis[1],
                 reference->axis[2], reference->sign[0], reference->sign[1], reference->sign[2],
                 (int)strcspn(was + line, "\n"), was + line, (int)strcspn(is + line, "\n"),
                 is + line);
}

static void compare(const char *row, const struct hs_reference *reference,
                    const struct record *base, const struct record *got)
{
    if (strcmp(base->words, got->words) != 0)
        fail_words(row, reference, base->words, got->words);
    ck_assert_uint_eq(base->count, got->count);
    for (size_t i = 0; i < base->count; i++) {
        double want = base->values[i], off = fabs(got->values[i] - want);
        ck_assert_msg(off <= TOLERANCE + 1e-6 * fabs(want) + SHARE * base->sizes[i],
                      "row %s, %s, unit %g: %.12g, not %.12g", row, reference->name,
                      reference->unit, got->values[i], want);
    }
}

/* Rows: the kinds of frames of reference. */
START_TEST(the_same_in_any_frame)
{
    struct hs_random random = hs_random_start(hs_test_seed(DEFAULT_SEED), (uint64_t)_i);
    long cases = hs_test_count("HS_FRAME_CASES", DEFAULT_CASES);
    unsigned long verdicts = 0;
    for (size_t s = 0; s < scenarios.count; s++) {
        const struct hs_one_scenario *one = &scenarios.items[s];
        struct record base, got;
        play(one, &hs_references[0], &base);
        for (long i = 0; i < cases; i++) {
            struct hs_reference reference = hs_references[0];
            reference.name = kinds[_i].name;
            kinds[_i].draw(&random, &reference);
            play(one, &reference, &got);
            compare(hs_scenarios_info(one->file, one->index).row, &reference, &base, &got);
            verdicts += got.verdicts;
            free_record(&got);
        }
        free_record(&base);
    }
    printf("%s: %lu verdicts\n", kinds[_i].name, verdicts);
    fflush(stdout);
    ck_assert_uint_ge(verdicts, 600 * (unsigned long)cases);
}
END_TEST

int main(void)
{
    printf("scenario frames: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(DEFAULT_SEED));
    if (!hs_all_scenarios_load(&scenarios))
        return EXIT_FAILURE;
    Suite *suite = suite_create("scenario frames");
    TCase *tcase = tcase_create("scenario frames");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, the_same_in_any_frame, 0, KINDS);
    suite_add_tcase(suite, tcase);
    int failed = hs_run_suite(suite);
    hs_all_scenarios_free(&scenarios);
    return failed;
}
