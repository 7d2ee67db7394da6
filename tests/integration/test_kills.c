/*
 * SIGKILL at random moments, under load, with a follower of every shot and hit: nothing that was
 * answered is lost, nothing is paid twice, no verdict id changes, no honest claim is refused.
 * HS_KILLS is how often the service is killed, HS_SEED what is played.
 */
#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/follower.h"
#include "tests/support/kill_game.h"
#include "tests/support/kill_squad.h"
#include "tests/support/kept_service.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_KILLS = 8 };

static struct hs_test_kept kept;
static char rules[96];

static void setup(void)
{
    char path[128];
    hs_kept_setup(&kept);
    snprintf(rules, sizeof rules, "%s/rules", kept.directory);
    ck_assert_int_eq(mkdir(rules, 0700), 0);
    snprintf(path, sizeof path, "%s/game.json", rules);
    hs_test_write_file(path, hs_kill_game_rules);
}

static void teardown(void)
{
    hs_kept_teardown(&kept);
}

static void start(void)
{
    const char *const more[] = {"--rules", rules, "--default-ruleset", "game", "--threads",
                                "3",       NULL};
    hs_kept_start(&kept, more);
}

static void pause_us(long us)
{
    nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

/* A start that is killed before it is done, or just after: reading back changes files, too. */
static void start_in_vain(struct hs_random *random)
{
    const char *program = getenv("HS_PROGRAM");
    ck_assert_ptr_nonnull(program);
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent || null < 0 ||
            dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
            _exit(127);
        execl(program, program, "serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
              "--data", kept.data, "--rules", rules, "--default-ruleset", "game", (char *)NULL);
        _exit(127);
    }
    pause_us(hs_random_index(random, 20000));
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

/* How long the service lives: mostly so short that no checkpoint comes, sometimes about as long as
   it takes until one is written. */
static long life_us(struct hs_random *random)
{
    int kind = hs_random_index(random, 10);
    if (kind < 6)
        return hs_random_index(random, 120000);
    if (kind < 9)
        return hs_random_index(random, 400000);
    return 950000 + hs_random_index(random, 150000);
}

static void live_and_die(struct hs_kill_game *game, struct hs_random *random)
{
    start();
    hs_kill_game_begin(game, kept.service.data_port, 1 << 30);
    pause_us(life_us(random));
    hs_kill_game_dies(game);
    hs_kept_kill(&kept);
    hs_kill_game_end(game);
}

/* A life in which nobody is killed. */
static void live(struct hs_kill_game *game, int ticks)
{
    start();
    hs_kill_game_begin(game, kept.service.data_port, ticks);
    hs_kill_game_end(game);
    hs_kept_stop(&kept);
}

static void judge_totals(const struct hs_kill_game *game, long kills, double seconds)
{
    struct hs_kill_game_totals totals;
    hs_kill_game_total(game, &totals);
    printf("%ld kills in %.1f s, %ld ticks, %ld sessions, %ld reopened matches, %ld requests "
           "without answer\n",
           kills, seconds, totals.ticks, totals.sessions, totals.openings, totals.unanswered);
    ck_assert_int_eq(hs_follow_counts_print(&totals.follow), 0);
    ck_assert_int_ge(totals.follow.paid, 20 * (kills + 1));
    ck_assert_int_ge(totals.follow.replayed, 20 * (kills + 1));
    ck_assert_int_ge(totals.sessions, 24);
    ck_assert_int_ge(totals.openings, 1);
}

/* HS_KILLS=0 is for looking at the follower itself: then nothing may ever be counted. */
static long kills_wanted(long fallback)
{
    const char *text = getenv("HS_KILLS");
    return text != NULL && strcmp(text, "0") == 0 ? 0 : hs_test_count("HS_KILLS", fallback);
}

START_TEST(nothing_answered_is_lost)
{
    enum { LAST_TICKS = 400 };
    uint64_t seed = hs_test_seed(20261003);
    long kills = kills_wanted(DEFAULT_KILLS);
    struct hs_random random = hs_random_start(seed, 1);
    struct hs_follower *follower = hs_follower_create();
    struct hs_kill_game *game = hs_kill_game_create(seed, follower);
    double began = hs_test_seconds();
    printf("seed %llu\n", (unsigned long long)seed);
    for (long i = 0; i < kills; i++) {
        if (hs_random_chance(&random, 0.25))
            start_in_vain(&random);
        live_and_die(game, &random);
    }
    live(game, LAST_TICKS);
    live(game, 1); /* after SIGTERM nothing is lost either */
    judge_totals(game, kills, hs_test_seconds() - began);
    hs_kill_game_destroy(game);
    hs_follower_destroy(follower);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("kills");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60 + 3 * (double)kills_wanted(DEFAULT_KILLS));
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, nothing_answered_is_lost);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
