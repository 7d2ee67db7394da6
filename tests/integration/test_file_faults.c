/* The disk is full or broken: calls on files of the data directory fail with ENOSPC or EIO once,
   for some time, or until the service is killed. After SIGKILL the service knows every payment that
   it answered, and pays nothing twice. When the disk works again, every honest claim is paid. */
#include "tests/support/clock.h"
#include "tests/support/faults.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/play/gallery.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hs_test_kept kept;
static struct hs_follower *follower;
static struct hs_faults *faults;
static struct hs_gallery *gallery;
static int next_claim;

static void setup(void)
{
    char path[128];
    hs_kept_setup(&kept);
    hs_kept_write_rules(&kept, "gallery", hs_gallery_rules);
    snprintf(path, sizeof path, "%s/faults", kept.directory);
    faults = hs_faults_begin(path, kept.data);
    follower = hs_follower_create();
    gallery = hs_gallery_create("m", follower, 1);
    next_claim = 0;
}

static void teardown(void)
{
    hs_gallery_destroy(gallery);
    hs_follower_destroy(follower);
    hs_kept_teardown(&kept);
}

/* `sync` is the value of --journal-sync, or NULL for the default. */
static void start(const char *sync)
{
    const char *const more[] = {"--rules",
                                kept.rules,
                                "--default-ruleset",
                                "gallery",
                                sync != NULL ? "--journal-sync" : NULL,
                                sync,
                                NULL};
    hs_kept_start(&kept, more);
    ck_assert_int_eq(hs_gallery_post_frames(gallery, kept.http), 200);
}

/* Sends new claims, and some of them twice. */
static void send_new(int count)
{
    for (int i = 0; i < count; i++) {
        ck_assert_int_lt(next_claim, HS_GALLERY_CLAIMS);
        hs_gallery_claim(gallery, kept.http, next_claim);
        if (i % 2 == 0)
            hs_gallery_claim(gallery, kept.http, next_claim);
        next_claim++;
    }
}

/* Sends all claims again until each is paid or the time is over. */
static void send_again(double seconds)
{
    double until = hs_test_seconds() + seconds;
    bool is_done = false;
    while (!is_done) {
        is_done = true;
        for (int i = 0; i < next_claim; i++)
            is_done = hs_gallery_claim(gallery, kept.http, i) == HS_GALLERY_PAID && is_done;
        is_done = is_done || hs_test_seconds() > until;
        hs_test_pause_ms(is_done ? 0 : 50);
    }
}

/* Ends all faults. From now on no call may fail, and every claim is paid once. */
static void recover(const char *what)
{
    hs_faults_none(faults);
    send_again(3);
    for (int i = 0; i < next_claim; i++)
        ck_assert_msg(hs_gallery_is_paid(gallery, i), "%s: claim %d was never paid", what, i);
    hs_gallery_judge(gallery, what);
    ck_assert_double_eq(gallery->damage, 20 * next_claim);
}

/* Kills the service, then starts it with a working disk. */
static void kill_and_recover(const char *what)
{
    hs_kept_kill(&kept);
    hs_faults_none(faults);
    start(NULL);
    recover(what);
}

static const int errors[] = {ENOSPC, EIO};
enum { ERRORS = 2 };

static const char *const kind_names[HS_FAULT_KIND_COUNT] = {"", "write", "sync", "rename", "open"};

static void plan(enum hs_fault_kind kind, long after, long count, int error, bool is_short)
{
    atomic_store(&faults->plans[kind].is_short, is_short);
    hs_faults_plan(faults, kind, after, count, error);
}

/* ---- faults that happen once ---- */

/*
 * Each of the first calls that claims cause fails once, for each kind of call. A kill follows. In
 * odd rows, a write writes only its first half, and writing the rest fails. In every other turn the
 * next call fails, too.
 */
START_TEST(calls_fail_once)
{
    enum { TURNS = 4, CLAIMS = 3 };
    bool is_short = _i % 2 != 0;
    start(NULL);
    for (int kind = HS_FAULT_WRITE; kind < HS_FAULT_KIND_COUNT; kind++)
        for (int turn = 0; turn < TURNS; turn++) {
            plan((enum hs_fault_kind)kind, turn, is_short ? 2 + turn % 2 : 1, errors[_i / 2],
                 is_short);
            send_new(CLAIMS);
            hs_faults_none(faults);
        }
    recover("each call once");
    kill_and_recover("each call once, then a kill");
    hs_kept_stop(&kept);
}
END_TEST

/* ---- faults for some time ---- */

/* All calls fail while a checkpoint is due. Claims go on during that time and after it. */
START_TEST(the_disk_fails_for_a_while)
{
    start(NULL);
    send_new(5);
    for (int kind = HS_FAULT_WRITE; kind < HS_FAULT_KIND_COUNT; kind++)
        plan((enum hs_fault_kind)kind, 0, HS_FAULT_FOR_EVER, errors[_i], _i != 0);
    double until = hs_test_seconds() + 1.3;
    while (hs_test_seconds() < until) {
        send_new(1);
        hs_test_pause_ms(20);
    }
    ck_assert_int_gt(atomic_load(&faults->plans[HS_FAULT_WRITE].failed) +
                         atomic_load(&faults->plans[HS_FAULT_OPEN].failed),
                     0);
    recover("a disk that failed for a while");
    send_new(5);
    hs_kept_wait(&kept); /* checkpoints are written again */
    send_new(5);
    kill_and_recover("a disk that failed for a while, then a kill");
    hs_kept_stop(&kept);
}
END_TEST

/* ---- faults until the end ---- */

/* Calls of one kind fail until the service is killed. The row decides the kind, the error, and
   whether writes are cut short. */
START_TEST(disk_fails_until_the_end)
{
    char what[96];
    enum hs_fault_kind kind = (enum hs_fault_kind)(HS_FAULT_WRITE + _i / 4);
    snprintf(what, sizeof what, "%s fails with %s%s until a kill", kind_names[kind],
             errors[_i / 2 % 2] == EIO ? "EIO" : "ENOSPC", _i % 2 != 0 ? ", short" : "");
    start(NULL);
    send_new(3);
    plan(kind, 0, HS_FAULT_FOR_EVER, errors[_i / 2 % 2], _i % 2 != 0);
    send_new(6);
    if (_i % 4 == 0)
        hs_test_pause_ms(1100); /* wait until a checkpoint was written, or its write failed */
    send_new(6);
    kill_and_recover(what);
    hs_kept_stop(&kept);
}
END_TEST

/* Only calls that write have rows with short writes. */
static bool has_row(int row)
{
    return row / 4 == 0 || row % 2 == 0;
}

/* ---- ends of matches and sessions ---- */

/* Posts a frame in which a shooter leaves or comes back. Returns the status. */
static long post_shooter(double time, const char *event)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"frames\":[{\"time\":%.2f,\"players\":[{\"player\":\"s0\","
             "\"position\":[0,-18,0],\"weapon\":\"gun\"%s},"
             "{\"player\":\"target\",\"position\":[10,0,0]}]}]}",
             time, event);
    return hs_kept_status(&kept, "POST", "/v1/matches/m/frames", body);
}

/* Sends the first claim of the shooter's second session. Returns the verdict. */
static const char *claim_of_session(double time, char **answer)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"now\":%.2f,\"hits\":[{\"shot\":1,\"shooter\":\"s0\",\"hit_time\":%.2f,"
             "\"start\":[0,-18,1.6],\"end\":[20,18,1.6],\"target\":\"target\"}]}",
             time, time);
    long status = hs_kept_send(&kept, "POST", "/v1/matches/m/hits", body, answer);
    return status != 200                                         ? "none"
           : strstr(*answer, "\"verdict\":\"accepted\"") != NULL ? "accepted"
                                                                 : "other";
}

/* The end of a match or session is refused if it cannot be saved. An end that got 200 is known
   after a kill. The row decides the error. */
START_TEST(endings_are_written_or_refused)
{
    char *answer;
    start(NULL);
    send_new(HS_GALLERY_SHOOTERS);
    ck_assert_int_eq(hs_kept_status(&kept, "PUT", "/v1/matches/ended", "{}"), 201);
    plan(HS_FAULT_WRITE, 0, HS_FAULT_FOR_EVER, errors[_i], false);
    long ended = hs_kept_status(&kept, "DELETE", "/v1/matches/ended", NULL);
    long opened = hs_kept_status(&kept, "PUT", "/v1/matches/opened", "{}");
    long left = post_shooter(10.15, ",\"event\":\"leave\"");
    ck_assert_msg((ended == 200 || ended == 503) && (opened == 201 || opened == 503) &&
                      (left == 200 || left == 503),
                  "%ld %ld %ld", ended, opened, left);
    if (left == 503) { /* the answer was 503, which asks for a retry */
        hs_faults_none(faults);
        for (int i = 0; i < 60 && left == 503; i++) {
            hs_test_pause_ms(50);
            left = post_shooter(10.15, ",\"event\":\"leave\"");
        }
        ck_assert_int_eq(left, 200);
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(post_shooter(10.2 + 0.05 * i, ""), 200);
    hs_kept_kill(&kept);
    hs_faults_none(faults);
    start(NULL);
    ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/matches/ended", NULL),
                     ended == 200 ? 404 : 200);
    if (opened == 201)
        ck_assert_int_eq(hs_kept_status(&kept, "GET", "/v1/matches/opened", NULL), 200);
    /* The frames that are sent again do not contain the leave. If the service has lost the leave,
       the first claim of the second session gets `duplicate`. */
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(post_shooter(10.2 + 0.05 * i, ""), 200);
    const char *verdict = claim_of_session(10.35, &answer);
    ck_assert_msg(strcmp(verdict, "accepted") == 0, "%s: %s", verdict, answer);
    free(answer);
    hs_kept_stop(&kept);
}
END_TEST

/* ---- syncs ---- */

static const char *const syncs[] = {"off", "interval", "always"};

/* After SIGKILL every payment is known, in every sync mode. */
START_TEST(payments_survive_a_kill_in_every_sync_mode)
{
    start(syncs[_i]);
    send_new(40);
    kill_and_recover(syncs[_i]);
    hs_kept_stop(&kept);
}
END_TEST

/* With `always`, a payment that cannot be synced is not answered as paid. */
START_TEST(nothing_is_paid_that_cannot_be_synced)
{
    start("always");
    send_new(3);
    plan(HS_FAULT_SYNC, 0, HS_FAULT_FOR_EVER, errors[_i], false);
    for (int i = 0; i < 10; i++) {
        long failed = atomic_load(&faults->plans[HS_FAULT_SYNC].failed);
        hs_gallery_claim(gallery, kept.http, next_claim);
        ck_assert_msg(!hs_gallery_is_paid(gallery, next_claim),
                      "paid although %ld syncs failed, %ld before",
                      (long)atomic_load(&faults->plans[HS_FAULT_SYNC].failed), failed);
        next_claim++;
    }
    recover("always");
    kill_and_recover("always, then a kill");
    hs_kept_stop(&kept);
}
END_TEST

/* While payments cannot be written or synced, the service still repeats answered payments and
   accepts frames. Rows: write or sync fails, each with each error. */
START_TEST(settled_payments_are_repeated)
{
    enum { PAID = 30 };
    enum hs_fault_kind kind = _i / ERRORS == 0 ? HS_FAULT_WRITE : HS_FAULT_SYNC;
    start("always");
    send_new(PAID);
    for (int i = 0; i < PAID; i++)
        ck_assert(hs_gallery_is_paid(gallery, i));
    plan(kind, 0, HS_FAULT_FOR_EVER, errors[_i % ERRORS], false);
    send_new(1); /* the service notices the fault */
    ck_assert(!hs_gallery_is_paid(gallery, PAID));
    for (int i = 0; i < PAID; i++)
        ck_assert_int_eq(hs_gallery_claim(gallery, kept.http, i), HS_GALLERY_PAID);
    ck_assert_int_eq(hs_gallery_claim(gallery, kept.http, PAID), HS_GALLERY_NOT_RECORDED);
    ck_assert_int_eq(hs_gallery_post_frames(gallery, kept.http), 200);
    recover("settled payments");
    kill_and_recover("settled payments, then a kill");
    hs_kept_stop(&kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("file_faults");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, calls_fail_once, 0, 2 * ERRORS);
    tcase_add_loop_test(tests, the_disk_fails_for_a_while, 0, ERRORS);
    for (int row = 0; row < 4 * (HS_FAULT_KIND_COUNT - HS_FAULT_WRITE); row++)
        if (has_row(row))
            tcase_add_loop_test(tests, disk_fails_until_the_end, row, row + 1);
    tcase_add_loop_test(tests, endings_are_written_or_refused, 0, ERRORS);
    tcase_add_loop_test(tests, payments_survive_a_kill_in_every_sync_mode, 0,
                        sizeof syncs / sizeof syncs[0]);
    tcase_add_loop_test(tests, nothing_is_paid_that_cannot_be_synced, 0, ERRORS);
    tcase_add_loop_test(tests, settled_payments_are_repeated, 0, 2 * ERRORS);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
