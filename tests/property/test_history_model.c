/* History and rewind, compared with a simple model: a list that is sorted by insertion and searched
   from end to end. Every answer of the model follows from the definitions. Model and history get
   the same random streams of samples, with late or repeated samples, gaps, teleports, new lives and
   unannounced jumps. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/play/stage.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/hit/contact.h"

#define DEFAULT_SEED       20250303
#define DEFAULT_OPERATIONS 200000
#define STREAMS            20
#define MOST               200

/* ---- the model ---- */

struct entry {
    int64_t time_us;
    struct hs_vec position;
    int64_t life;
    uint16_t stance;
    enum hs_sample_event event;
    double eye; /* 0: not posted */
};

struct model {
    struct entry entries[MOST + 1];
    int count, limit;
};

static enum hs_insert_result model_insert(struct model *m, const struct entry *entry)
{
    for (int i = 0; i < m->count; i++)
        if (m->entries[i].time_us == entry->time_us)
            return HS_INSERT_DUPLICATE;
    if (m->count == m->limit && entry->time_us < m->entries[0].time_us)
        return HS_INSERT_TOO_OLD;
    int at = m->count++;
    while (at > 0 && m->entries[at - 1].time_us > entry->time_us) {
        m->entries[at] = m->entries[at - 1];
        at--;
    }
    m->entries[at] = *entry;
    if (m->count <= m->limit)
        return HS_INSERT_STORED;
    m->count--;
    memmove(m->entries, m->entries + 1, (size_t)m->count * sizeof m->entries[0]);
    return HS_INSERT_STORED_FULL;
}

static void model_prune(struct model *m, int64_t before_us)
{
    int keep = 0;
    for (int i = 0; i < m->count; i++)
        if (m->entries[i].time_us <= before_us)
            keep = i;
    m->count -= keep;
    memmove(m->entries, m->entries + keep, (size_t)m->count * sizeof m->entries[0]);
}

static int model_find(const struct model *m, int64_t time_us)
{
    int found = -1;
    for (int i = 0; i < m->count; i++)
        if (m->entries[i].time_us <= time_us)
            found = i;
    return found;
}

static bool model_is_break(const struct model *m, int to, double max_speed)
{
    const struct entry *a = &m->entries[to - 1], *b = &m->entries[to];
    if (b->event == HS_EVENT_TELEPORT || b->event == HS_EVENT_SPAWN || a->life != b->life)
        return true;
    double dx = b->position.x - a->position.x, dy = b->position.y - a->position.y,
           dz = b->position.z - a->position.z;
    double seconds = (double)(b->time_us - a->time_us) * 1e-6;
    return sqrt(dx * dx + dy * dy + dz * dz) / seconds > max_speed;
}

struct answer {
    enum hs_rewind_status status;
    bool exact; /* the pose of a single sample, without interpolation */
    bool clamped, held;
    int from, to;
    double share;
    struct hs_vec position;
};

static void model_rewind(const struct model *m, const struct hs_ruleset *rules, int64_t time_us,
                         struct answer *out)
{
    memset(out, 0, sizeof *out);
    int i = model_find(m, time_us);
    if (m->count == 0 || i < 0) {
        out->status = m->count == 0 ? HS_REWIND_NO_HISTORY : HS_REWIND_TOO_SHORT;
        return;
    }
    const struct entry *a = &m->entries[i];
    out->exact = true;
    out->position = a->position;
    out->from = out->to = i;
    if (a->time_us == time_us)
        return;
    if (i == m->count - 1) {
        out->clamped = true;
        if (time_us - a->time_us > rules->rewind.future_slack_us)
            out->status = HS_REWIND_AFTER_NEWEST;
        return;
    }
    const struct entry *b = &m->entries[i + 1];
    out->to = i + 1;
    if (b->time_us - a->time_us > rules->history.max_gap_us) {
        out->status = HS_REWIND_LOW_CONFIDENCE;
    } else if (model_is_break(m, i + 1, rules->history.max_speed)) {
        out->held = true;
    } else {
        double s = (double)(time_us - a->time_us) / (double)(b->time_us - a->time_us);
        out->exact = false;
        out->share = s;
        out->position = (struct hs_vec){a->position.x * (1 - s) + b->position.x * s,
                                        a->position.y * (1 - s) + b->position.y * s,
                                        a->position.z * (1 - s) + b->position.z * s};
    }
}

/* Returns the height of the eye above the root: the posted one, otherwise 1.6 standing and 1.1
   crouched. */
static double own_eye(const struct entry *entry)
{
    return entry->eye > 0 ? entry->eye : entry->stance == 0 ? 1.6 : 1.1;
}

/* Returns the eye between two samples. If at least one of them has a posted eye, the result is
   interpolated between the eyes of both. If none has, the eye of the older stance counts. */
static double model_eye(const struct model *m, const struct answer *answer)
{
    const struct entry *a = &m->entries[answer->from], *b = &m->entries[answer->to];
    if (answer->exact || (a->eye == 0 && b->eye == 0))
        return own_eye(a);
    return own_eye(a) * (1 - answer->share) + own_eye(b) * answer->share;
}

/* ---- model and history together ---- */

struct run {
    struct hs_random random;
    struct hs_ruleset *rules;
    struct hs_history *history;
    struct model model;
    int64_t now_us;
    struct hs_vec walker;
    int64_t life;
    bool is_steady; /* no gap is too long to interpolate */
    long inserted, asked, interpolated, held, outside, far;
};

static void draw_entry(struct run *run, struct entry *entry)
{
    struct hs_random *r = &run->random;
    static const int64_t steps[] = {1, 8000, 16667, 33000, 100000, 150000, 150001, 400000};
    bool is_late = hs_random_chance(r, 0.25);
    int64_t step = steps[hs_random_index(r, run->is_steady ? 6 : 8)];
    if (!is_late)
        run->now_us += step;
    entry->time_us = is_late ? run->now_us - (int64_t)(hs_random_unit(r) * 1.2e6) : run->now_us;
    if (hs_random_chance(r, 0.05) && run->model.count > 0) /* exactly the time of a sample */
        entry->time_us = run->model.entries[hs_random_index(r, run->model.count)].time_us;
    double speed = hs_random_chance(r, 0.02) ? 1000 : hs_random_between(r, 0, 30);
    run->walker =
        hs_vec_add_scaled(run->walker, hs_random_direction(r), speed * (double)step / 1e6);
    entry->position = run->walker;
    entry->event = HS_EVENT_NONE;
    if (hs_random_chance(r, 0.06))
        entry->event = (enum hs_sample_event)(1 + hs_random_index(r, 3));
    if (entry->event == HS_EVENT_SPAWN || hs_random_chance(r, 0.005))
        run->life++;
    if (entry->event == HS_EVENT_TELEPORT)
        entry->position.x += hs_random_between(r, -100, 100);
    entry->life = run->life;
    entry->stance = (uint16_t)hs_random_index(r, 2);
    entry->eye = hs_random_chance(r, 0.4) ? hs_random_between(r, 0.5, 2) : 0;
}

static void insert_both(struct run *run)
{
    struct entry entry;
    draw_entry(run, &entry);
    struct hs_sample sample = {.time_us = entry.time_us,
                               .position = entry.position,
                               .rotation = {0, 0, 0, 1},
                               .event = (uint8_t)entry.event};
    struct hs_state state = {
        .damage_scale = 1, .alive = true, .life = entry.life, .stance = entry.stance};
    union hs_posted_pose_space room;
    memset(&room.posted_pose, 0, sizeof room.posted_pose);
    room.posted_pose.has_eye = true;
    room.posted_pose.eye[2] = entry.eye;
    enum hs_insert_result got = hs_history_insert(run->history, &run->rules->history, &sample,
                                                  &state, entry.eye > 0 ? &room.posted_pose : NULL);
    ck_assert_int_eq(got, model_insert(&run->model, &entry));
    ck_assert_uint_eq(hs_history_count(run->history), (uint32_t)run->model.count);
    run->inserted++;
}

static bool is_near(double got, double want)
{
    return fabs(got - want) <= 1e-9 * fmax(1, fabs(want));
}

static void compare_pose(struct run *run, const struct answer *want,
                         const struct hs_bracket *bracket)
{
    struct hs_vec got = hs_rewind_position(bracket);
    if (want->exact)
        ck_assert_mem_eq(&got, &want->position, sizeof got); /* bit for bit */
    else
        ck_assert(is_near(got.x, want->position.x) && is_near(got.y, want->position.y) &&
                  is_near(got.z, want->position.z));
    const struct entry *from = &run->model.entries[want->from];
    ck_assert_int_eq(bracket->from->time_us, from->time_us);
    ck_assert_int_eq(bracket->to->time_us, run->model.entries[want->to].time_us);
    ck_assert_int_eq(bracket->clamped, want->clamped);
    ck_assert_int_eq(bracket->held, want->held);
    ck_assert(is_near(bracket->alpha, want->share));
    const struct hs_state *state = hs_rewind_state(run->history, bracket);
    ck_assert(state->life == from->life && state->stance == from->stance);
    double eye = hs_rewind_eye(run->history, run->rules, bracket).z - got.z;
    ck_assert(fabs(eye - model_eye(&run->model, want)) < 1e-9 * fmax(1, fabs(got.z)) + 1e-7);
    run->interpolated += !want->exact;
    run->held += want->held;
}

/* The span must contain every sample, also those that were removed. */
static void check_span(const struct run *run)
{
    const struct model *m = &run->model;
    const struct hs_history_span *span = hs_history_span(run->history);
    ck_assert((span == NULL) == (m->count == 0));
    if (span == NULL)
        return;
    ck_assert_int_eq(span->oldest_us, m->entries[0].time_us);
    ck_assert_int_eq(span->newest_us, m->entries[m->count - 1].time_us);
    for (int i = 0; i < m->count; i++) {
        struct hs_vec p = m->entries[i].position;
        ck_assert(p.x >= span->low.x && p.y >= span->low.y && p.z >= span->low.z);
        ck_assert(p.x <= span->high.x && p.y <= span->high.y && p.z <= span->high.z);
        ck_assert(i == 0 ||
                  m->entries[i].time_us - m->entries[i - 1].time_us <= span->longest_gap_us);
    }
}

/* A player whom a path passes by must have a pose, and must be no nearer than the radii of the
   sphere and the body. */
static void pass_by(struct run *run, int64_t time_us)
{
    struct hs_random *r = &run->random;
    const struct model *m = &run->model;
    struct hs_vec near =
        m->count > 0 ? m->entries[hs_random_index(r, m->count)].position : (struct hs_vec){0, 0, 0};
    struct hs_vec side = hs_random_direction(r), along = hs_random_direction(r);
    struct hs_sweep sweep = {.direction = along,
                             .length = hs_random_chance(r, 0.1) ? 0 : hs_random_between(r, 0, 60),
                             .radius = hs_random_between(r, 0, 0.5)};
    double beside = hs_random_between(r, 0, 12);
    sweep.start = hs_vec_add_scaled(hs_vec_add_scaled(near, side, beside), along,
                                    -hs_random_between(r, 0, 60));
    struct hs_passing passing;
    struct hs_crowd crowd = {.from_us = {0}};
    hs_passing_of(&sweep, time_us, &passing);
    for (uint32_t i = 0; i < 4; i++)
        hs_crowd_put(&crowd, i, run->history, run->rules);
    if (hs_crowd_near(&crowd, 4, &passing) != 0)
        return;
    run->far++;
    struct hs_bracket bracket;
    ck_assert_int_eq(hs_rewind_find(run->history, run->rules, time_us, &bracket), HS_REWIND_OK);
    struct hs_body body;
    hs_rewind_body(run->history, run->rules, &bracket, &body);
    for (uint16_t i = 0; i < body.count; i++) {
        double distance;
        ck_assert(!hs_sweep_touches(&sweep, &body.solids[i], &distance));
    }
}

static void ask_both(struct run *run)
{
    struct hs_random *r = &run->random;
    int64_t time_us = run->now_us + 100000 - (int64_t)(hs_random_unit(r) * 2e6);
    int exact = run->model.count > 0 ? hs_random_index(r, run->model.count * 3) : INT32_MAX;
    if (exact < run->model.count) /* at a sample, or one microsecond beside it */
        time_us = run->model.entries[exact].time_us + hs_random_index(r, 3) - 1;
    struct answer want;
    struct hs_bracket bracket;
    model_rewind(&run->model, run->rules, time_us, &want);
    ck_assert_int_eq(hs_rewind_find(run->history, run->rules, time_us, &bracket), want.status);
    ck_assert_int_eq(hs_history_find(run->history, time_us), model_find(&run->model, time_us));
    run->asked++;
    run->outside += want.status != HS_REWIND_OK;
    if (want.status == HS_REWIND_OK)
        compare_pose(run, &want, &bracket);
    pass_by(run, time_us);
}

static void prune_both(struct run *run)
{
    int64_t before = run->now_us - (int64_t)(hs_random_unit(&run->random) * 1.5e6);
    hs_history_prune(run->history, before);
    model_prune(&run->model, before);
    ck_assert_uint_eq(hs_history_count(run->history), (uint32_t)run->model.count);
}

static void leave_both(struct run *run)
{
    hs_history_clear(run->history);
    run->model.count = 0;
}

START_TEST(the_model_agrees)
{
    uint64_t seed = hs_test_seed(DEFAULT_SEED);
    long operations = hs_test_count("HS_HISTORY_OPERATIONS", DEFAULT_OPERATIONS) / STREAMS;
    static struct run run;
    memset(&run, 0, sizeof run);
    run.random = hs_random_start(seed, (uint64_t)_i);
    run.rules = hs_stage_ruleset();
    /* Some streams use the smallest ring buffers, some use times as wall clocks have them now, and
       some are far from the origin. */
    run.model.limit = _i < 3 ? _i + 2 : 2 + hs_random_index(&run.random, MOST - 1);
    run.now_us = _i % 2 == 0 ? 0 : INT64_C(1700000000000000);
    run.walker.y = _i % 3 == 0 ? 1e6 : 0;
    run.is_steady = _i >= 10;
    run.history =
        hs_history_create(&(struct hs_history_limits){.samples = (uint32_t)run.model.limit});
    for (long i = 0; i < operations; i++) {
        int what = hs_random_index(&run.random, 1000);
        if (what < 450)
            insert_both(&run);
        else if (what < 980)
            ask_both(&run);
        else if (what < 998)
            prune_both(&run);
        else
            leave_both(&run);
        if (i % 16 == 0)
            check_span(&run);
    }
    printf("stream %d (ring %d): %ld inserted, %ld asked: %ld between samples, %ld held, "
           "%ld without a pose, %ld passed by\n",
           _i, run.model.limit, run.inserted, run.asked, run.interpolated, run.held, run.outside,
           run.far);
    /* The streams must contain every case. */
    ck_assert(operations < 5000 || run.model.limit < 10 ||
              (run.interpolated > 100 && run.held > 20 && run.outside > 20));
    ck_assert(operations < 5000 || !run.is_steady || run.far > 100);
    hs_history_destroy(run.history);
    hs_ruleset_destroy(run.rules);
}
END_TEST

int main(void)
{
    printf("history model: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(DEFAULT_SEED));
    Suite *suite = suite_create("history model");
    TCase *tcase = tcase_create("history model");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, the_model_agrees, 0, STREAMS);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
