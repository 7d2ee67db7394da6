/* The steps of a reload: everything is checked before anything changes. */
#include "service/reload/sources.h"

#include "tests/support/run_suite.h"

#include <check.h>
#include <string.h>

static char events[256]; /* the calls of the steps, in order */
static char faults[256];
static struct hs_reload reload;
static struct hs_options options;

struct thing {
    const char *name;
    bool broken, empty;
};

static void note(const char *what, const char *name)
{
    strcat(events, what);
    strcat(events, name);
    strcat(events, " ");
}

static void *prepare(void *context, const struct hs_options *given, struct hs_reload *report)
{
    struct thing *thing = context;
    ck_assert_ptr_eq(given, &options);
    note("?", thing->name);
    if (thing->broken)
        hs_reload_fault_text(report, thing->name, "is %s", "broken");
    return thing->broken || thing->empty ? NULL : thing;
}

static void commit(void *context, void *prepared, struct hs_reload *report)
{
    struct thing *thing = context;
    ck_assert_ptr_eq(prepared, thing);
    note("+", thing->name);
    hs_reload_changed(report, "%s is new", thing->name);
}

static void discard(void *context, void *prepared)
{
    struct thing *thing = context;
    ck_assert_ptr_eq(prepared, thing);
    note("-", thing->name);
}

static void note_fault(void *context, const char *source, const struct hs_problem *problem)
{
    ck_assert_ptr_eq(context, events);
    strcat(faults, source);
    strcat(faults, " ");
    strcat(faults, problem->count > 0 ? problem->errors[0].pointer : problem->detail);
    strcat(faults, ";");
}

static struct thing things[3];
static struct hs_reload_step steps[3];

static void setup(void)
{
    static const char *const names[] = {"a", "b", "c"};
    events[0] = faults[0] = '\0';
    reload = (struct hs_reload){.fault = note_fault, .context = events};
    for (size_t i = 0; i < 3; i++) {
        things[i] = (struct thing){.name = names[i]};
        steps[i] = (struct hs_reload_step){&things[i], prepare, commit, discard};
    }
}

static void teardown(void)
{
    hs_reload_free(&reload);
}

START_TEST(steps_without_faults_are_applied_in_order)
{
    things[1].empty = true;
    ck_assert(hs_reload_run(steps, 3, &options, &reload));
    ck_assert_str_eq(events, "?a ?b ?c +a +c ");
    ck_assert_uint_eq(reload.changes, 2);
    ck_assert_uint_eq(reload.changed.len, strlen("a is new; c is new"));
    ck_assert_int_eq(memcmp(reload.changed.data, "a is new; c is new", reload.changed.len), 0);
}
END_TEST

START_TEST(one_fault_discards_the_others)
{
    things[0].broken = things[1].broken = true;
    ck_assert(!hs_reload_run(steps, 3, &options, &reload));
    ck_assert_str_eq(events, "?a ?b ?c -c ");
    ck_assert_str_eq(faults, "a is broken;b is broken;");
    ck_assert_uint_eq(reload.faults, 2);
    ck_assert_uint_eq(reload.changes, 0);
}
END_TEST

START_TEST(a_fault_before_the_run_discards_everything)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    hs_problem_add(&problem, "/x", "is bad");
    hs_reload_fault(&reload, "file", &problem);
    ck_assert(!hs_reload_run(steps, 3, &options, &reload));
    ck_assert_str_eq(events, "?a ?b ?c -a -b -c ");
    ck_assert_str_eq(faults, "file /x;");
}
END_TEST

/* All changes are in one line of the log. The length of this line is limited, and all changes are
   counted. */
START_TEST(changes_without_end_are_counted)
{
    for (int i = 0; i < 10000; i++)
        hs_reload_changed(&reload, "change %d", i);
    ck_assert_uint_eq(reload.changes, 10000);
    ck_assert_uint_gt(reload.changed.len, 3000);
    ck_assert_uint_le(reload.changed.len, 4096);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reload steps");
    TCase *tests = tcase_create("steps");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, steps_without_faults_are_applied_in_order);
    tcase_add_test(tests, one_fault_discards_the_others);
    tcase_add_test(tests, a_fault_before_the_run_discards_everything);
    tcase_add_test(tests, changes_without_end_are_counted);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
