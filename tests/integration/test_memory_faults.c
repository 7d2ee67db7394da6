/* Memory runs out. First each allocation of a request fails once, in turn. Then all allocations
   from some point on fail. Then the address space is limited. Afterwards the test sends the same
   items again with enough memory. Every honest item is paid once, with the damage of one payment,
   and a replay repeats it. */
#include "tests/support/clock.h"
#include "tests/support/faults.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/play/gallery.h"
#include "tests/support/play/kill_squad.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

static struct hs_test_kept kept;
static struct hs_follower *follower;

static void setup(void)
{
    hs_kept_setup(&kept);
    hs_kept_write_rules(&kept, "gallery", hs_gallery_rules);
    follower = hs_follower_create();
}

static void teardown(void)
{
    hs_follower_destroy(follower);
    hs_kept_teardown(&kept);
}

static void start(void)
{
    const char *const more[] = {
        "--rules", kept.rules, "--default-ruleset", "gallery", "--checkpoint-seconds",
        "3600",    NULL};
    hs_kept_start(&kept, more);
}

/* ---- each allocation in turn ---- */

/* The items of the tick. The test first sends the `early` items, while no allocation fails. One
   shooter posts shots, and the claims of these shots are in the same request. Another shooter posts
   no shots, but so many claims that tables must grow. */
enum { EARLY = 1, SHOTS = 3, CLAIMS = 9, ITEMS = SHOTS + SHOTS + CLAIMS };

static void make_items(struct hs_followed *items, uint64_t key)
{
    for (int i = 0; i < ITEMS; i++) {
        bool is_shot = i < SHOTS, is_paired = i < 2 * SHOTS;
        double height = 1.5 + 0.01 * (i < SHOTS ? i : i - SHOTS);
        items[i] = (struct hs_followed){.key = key << 8 | (uint64_t)i, .is_honest = true};
        if (is_shot)
            items[i].text = hs_kill_print("{\"shot\":%d,\"shooter\":\"s0\",\"weapon\":\"gun\","
                                          "\"time\":10.1,\"origin\":[0,-18,1.6]}",
                                          i + 1);
        else
            items[i].text = hs_kill_print(
                "{\"shot\":%d,\"shooter\":\"%s\",\"hit_time\":10.1,\"start\":[0,%g,1.6],"
                "\"end\":[20,%g,%.6f],\"target\":\"target\"}",
                is_paired ? i - SHOTS + 1 : i, is_paired ? "s0" : "s1", is_paired ? -18 : -16.5,
                is_paired ? 18 : 16.5, height);
    }
}

static char *join(const struct hs_followed *items, int from, int to)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    for (int i = from; i < to; i++)
        fprintf(out, "%s%s", i > from ? "," : "", items[i].text);
    fclose(out);
    return text;
}

static bool is_tree; /* the body contains an escape, so it needs a tree of values */

/* Writes a frame with a new player, a move, and the items. If `early`, the items are only the first
   shot, the first claim of a posted shot and the first other claim. */
static char *make_tick(const struct hs_followed *items, bool early)
{
    int shots = early ? EARLY : SHOTS, claims = early ? EARLY : CLAIMS;
    char *shot_list = join(items, 0, shots), *paired = join(items, SHOTS, SHOTS + shots);
    char *others = join(items, 2 * SHOTS, 2 * SHOTS + claims);
    char *body =
        hs_kill_print("{%s\"now\":10.1,\"frames\":[{\"time\":%g,\"players\":[{\"player\":\"%s\","
                      "\"position\":[50,0,0]}]}],\"moves\":[{\"player\":\"s%d\",\"seq\":1,"
                      "\"client_time\":5,\"received\":10.1}],\"shots\":[%s],\"hits\":[%s,%s]}",
                      is_tree ? "\"x\\u005fnote\":1," : "", early ? 10.11 : 10.12,
                      early ? "early" : "late", early ? 1 : 2, shot_list, paired, others);
    free(shot_list);
    free(paired);
    free(others);
    return body;
}

/* Sends a tick and records the answers to its items. Returns the status. */
static long send_tick(struct hs_gallery *gallery, struct hs_followed *items, bool early)
{
    char path[64], *body = make_tick(items, early);
    struct hs_test_response response;
    snprintf(path, sizeof path, "/v1/matches/%s/ticks", gallery->match);
    hs_test_http_send(kept.http, "POST", path, body, strlen(body), NULL, &response);
    free(body);
    json_t *answer = hs_test_response_json(&response);
    int shots = early ? EARLY : SHOTS, claims = early ? EARLY : CLAIMS;
    const json_t *shot_list = json_object_get(answer, "shots"),
                 *hits = json_object_get(answer, "hits");
    long status = response.status;
    if (status == 200) {
        ck_assert_uint_eq(json_array_size(shot_list), (size_t)shots);
        ck_assert_uint_eq(json_array_size(hits), (size_t)(shots + claims));
        for (int i = 0; i < shots; i++)
            hs_gallery_take(gallery, &items[i], json_array_get(shot_list, (size_t)i));
        for (int i = 0; i < shots + claims; i++)
            hs_gallery_take(gallery, &items[i < shots ? SHOTS + i : 2 * SHOTS + i - shots],
                            json_array_get(hits, (size_t)i));
    } else if (status == 503 && json_object_get(answer, "retry_after_ms") != NULL) {
        gallery->unavailable++;
    } else if (status == 0) {
        gallery->unanswered++;
    } else {
        hs_follower_fault(follower, &gallery->counts.unexpected, "%ld %.300s", status,
                          response.body);
    }
    json_decref(answer);
    hs_test_response_free(&response);
    return status;
}

static double damage_of(const char *match, const char *player)
{
    char path[96];
    snprintf(path, sizeof path, "/v1/matches/%s/players/%s", match, player);
    json_t *answer = hs_test_http_json(kept.http, "GET", path, NULL, NULL);
    double damage = json_number_value(json_object_get(answer, "damage_dealt"));
    json_decref(answer);
    return damage;
}

/* Sends two ticks of one match, and then the second one again. In the second tick the first `nth`
   allocations succeed, and the next `count` fail. Returns whether none failed, because the tick
   makes no more allocations. */
static bool fail_at(struct hs_gallery *gallery, struct hs_faults *faults, long nth, long count,
                    struct hs_followed *items)
{
    ck_assert_int_eq(hs_gallery_post_frames(gallery, kept.http), 200);
    ck_assert_int_eq(send_tick(gallery, items, true), 200);
    hs_faults_plan(faults, HS_FAULT_MEMORY, nth, count, ENOMEM);
    send_tick(gallery, items, false);
    hs_faults_none(faults);
    long failed = atomic_load(&faults->plans[HS_FAULT_MEMORY].failed);
    for (int again = 0; again < 2; again++) {
        long status = send_tick(gallery, items, false);
        ck_assert_msg(status == 200, "after allocation %ld failed: %ld", nth, status);
    }
    for (int i = 0; i < ITEMS; i++)
        if (!items[i].is_paid)
            hs_follower_fault(follower, &gallery->counts.refused,
                              "allocation %ld failed, and this item was never paid: %s", nth,
                              items[i].text);
    double damage = damage_of(gallery->match, "s0") + damage_of(gallery->match, "s1");
    if (damage != 20 * (SHOTS + CLAIMS))
        hs_follower_fault(follower, &gallery->counts.paid_twice,
                          "allocation %ld failed: damage %g is recorded, %d was paid", nth, damage,
                          20 * (SHOTS + CLAIMS));
    return failed == 0;
}

static const struct {
    long count;
    const char *text;
} failing[] = {{1, "each allocation once"},
               {12, "each allocation and the eleven after it"},
               {HS_FAULT_FOR_EVER, "all allocations from each on"}};

enum { FAILING = sizeof failing / sizeof *failing };

/* Rows: how many allocations fail, for bodies that are read directly and for bodies that need a
   tree. */
START_TEST(allocations_fail_in_turn)
{
    const char *text = failing[_i % FAILING].text;
    is_tree = _i >= FAILING;
    /* A few matches stay until the end, and are checked after a kill. */
    enum { LIMIT = 5000, KEPT_EACH = 16 };
    static struct hs_followed items[LIMIT / KEPT_EACH + 1][ITEMS];
    char plan[128], match[32];
    long nth = 0, kept_count = 0;
    snprintf(plan, sizeof plan, "%s/faults", kept.directory);
    struct hs_faults *faults = hs_faults_begin(plan, kept.data);
    struct hs_gallery *gallery = hs_gallery_create(match, follower, 1);
    start();
    for (bool is_done = false; !is_done && nth < LIMIT; nth++) {
        struct hs_followed *own = items[kept_count];
        snprintf(match, sizeof match, "m%ld", nth);
        make_items(own, (uint64_t)nth);
        is_done = fail_at(gallery, faults, nth, failing[_i % FAILING].count, own);
        if (nth % KEPT_EACH == 0) {
            kept_count++;
            continue;
        }
        for (int i = 0; i < ITEMS; i++)
            free(own[i].text);
        snprintf(plan, sizeof plan, "/v1/matches/%s", match);
        ck_assert_int_eq(hs_kept_status(&kept, "DELETE", plan, NULL), 200);
    }
    printf("%s%s: %ld allocations\n", text, is_tree ? ", with a tree" : "", nth - 1);
    ck_assert_int_gt(nth, is_tree ? 200 : 20);
    ck_assert_int_lt(nth, LIMIT);
    hs_gallery_judge(gallery, text);
    ck_assert_int_gt(gallery->unavailable + gallery->not_recorded + gallery->unanswered,
                     is_tree ? 10 : 5);

    hs_kept_kill(&kept);
    start();
    for (long m = 0; m < kept_count; m++) {
        snprintf(match, sizeof match, "m%ld", m * KEPT_EACH);
        ck_assert_int_eq(hs_gallery_post_frames(gallery, kept.http), 200);
        ck_assert_int_eq(send_tick(gallery, items[m], false), 200);
        for (int i = 0; i < ITEMS; i++)
            free(items[m][i].text);
    }
    hs_gallery_judge(gallery, "after a kill");
    hs_kept_stop(&kept); /* this fails if a sanitizer in the service found a fault */
    hs_gallery_destroy(gallery);
}
END_TEST

/* ---- a bounded address space ---- */

#ifndef SANITIZED

static void bound_memory(rlim_t bytes)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    ck_assert_int_eq(prlimit(kept.service.pid, RLIMIT_AS, &limit, NULL), 0);
}

static rlim_t memory_in_use(void)
{
    char path[64];
    long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)kept.service.pid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%ld", &pages), 1);
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void send_all(struct hs_gallery *gallery, int claims)
{
    for (int i = 0; i < claims; i++)
        hs_gallery_claim(gallery, kept.http, i);
}

/* Adds players until the service has no memory for more: the allocator keeps free memory for
   itself. */
static void use_up_memory(void)
{
    enum { PLAYERS = 32, FAILURES = 4, MOST = 1000 };
    char body[PLAYERS * 64], *end = body + sprintf(body, "{\"frames\":[{\"time\":1,\"players\":[");
    for (int i = 0; i < PLAYERS; i++)
        end += sprintf(end, "%s{\"player\":\"p%d\",\"position\":[%d,0,0]}", i > 0 ? "," : "", i, i);
    sprintf(end, "]}]}");
    for (int m = 0, failures = 0; failures < FAILURES; m++) {
        char path[64];
        ck_assert_int_lt(m, MOST);
        snprintf(path, sizeof path, "/v1/matches/full%d/frames", m);
        failures += hs_kept_status(&kept, "POST", path, body) != 200;
    }
}

START_TEST(address_space_is_bounded)
{
    enum { CLAIMS_SENT = 400 };
    struct hs_gallery *gallery = hs_gallery_create("m", follower, 1);
    start();
    ck_assert_int_eq(hs_gallery_post_frames(gallery, kept.http), 200);
    bound_memory(memory_in_use());
    use_up_memory();
    for (int times = 0; times < 3; times++) {
        send_all(gallery, CLAIMS_SENT);
        hs_test_pause_ms(500); /* the threads that run each second have no memory either */
    }
    hs_gallery_judge(gallery, "a bounded address space");
    ck_assert_int_gt(gallery->not_recorded + gallery->unavailable + gallery->unanswered, 0);
    bound_memory(RLIM_INFINITY);
    hs_test_pause_ms(1100);
    ck_assert_int_eq(hs_gallery_post_frames(gallery, kept.http), 200);
    send_all(gallery, CLAIMS_SENT);
    for (int i = 0; i < CLAIMS_SENT; i++)
        ck_assert_msg(hs_gallery_is_paid(gallery, i), "claim %d was never paid", i);
    hs_gallery_judge(gallery, "with memory again");
    ck_assert_double_eq(gallery->damage, 20 * CLAIMS_SENT);
    hs_kept_kill(&kept);
    start();
    ck_assert_int_eq(hs_gallery_post_frames(gallery, kept.http), 200);
    send_all(gallery, CLAIMS_SENT);
    hs_gallery_judge(gallery, "after a kill");
    hs_kept_stop(&kept);
    hs_gallery_destroy(gallery);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("memory_faults");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, allocations_fail_in_turn, 0, 2 * FAILING);
#ifndef SANITIZED
    tcase_add_test(tests, address_space_is_bounded);
#endif
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
