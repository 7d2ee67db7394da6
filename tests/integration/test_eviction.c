/* A match whose places for players are all taken. A player who left keeps a place as long as a
   claim of the ended session could still be accepted. So nobody is paid twice by leaving, and
   nobody loses suspicion. After that time a new player gets the place. */
#include "tests/support/files.h"
#include "tests/support/http/kept_service.h"
#include "tests/support/play/kill_squad.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The time when the shooter leaves, and the longest time that a claim may need: arrows fly up to 4
   s (kill_squad.h), and claims may be 0.25 s late. The history window is 2 s. */
static const double left_at = 100.15, longest = 4.25, history = 2;

static struct hs_test_kept kept;
static char rules[96];

static void start(void)
{
    const char *const more[] = {"--rules", rules, "--default-ruleset", "game", "--max-players",
                                "4",       NULL};
    hs_kept_start(&kept, more);
}

static void setup(void)
{
    char path[128];
    hs_kept_setup(&kept);
    snprintf(rules, sizeof rules, "%s/rules", kept.directory);
    ck_assert_int_eq(mkdir(rules, 0700), 0);
    snprintf(path, sizeof path, "%s/game.json", rules);
    hs_test_write_file(path, hs_kill_game_rules);
    start();
}

static void teardown(void)
{
    hs_kept_stop(&kept);
    hs_kept_teardown(&kept);
}

static char *post(const char *match, const char *route, const char *body)
{
    char path[64];
    snprintf(path, sizeof path, "/v1/matches/%s/%s", match, route);
    return hs_kept_post(&kept, path, body);
}

/* Posts a frame of one player. Returns whether it was stored. If not, the match must be full, or
   the frame old or repeated. */
static bool post_player(const char *match, double time, const char *player, const char *more)
{
    char body[256];
    int x = strcmp(player, "target") == 0 ? 10 : 0;
    int y = x == 10 || strcmp(player, "s") == 0 ? 0 : 50 + player[0];
    snprintf(body, sizeof body,
             "{\"frames\":[{\"time\":%.2f,\"players\":[{\"player\":\"%s\",\"position\":[%d,%d,0],"
             "\"weapon\":\"rifle\"%s}]}]}",
             time, player, x, y, more);
    char *answer = post(match, "frames", body);
    bool is_stored = strstr(answer, "\"stored\":1") != NULL;
    ck_assert_msg(is_stored || strstr(answer, "\"capacity\"") != NULL ||
                      strstr(answer, "\"too_old\"") != NULL ||
                      strstr(answer, "\"duplicate_time\"") != NULL,
                  "%s", answer);
    free(answer);
    return is_stored;
}

/* Sends a claim with this end. If `y` is 0, it hits. */
static char *claim(const char *match, int shot, double y, double now)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"now\":%.2f,\"hits\":[{\"shot\":%d,\"shooter\":\"s\",\"hit_time\":100.1,"
             "\"start\":[0,0,1.6],\"end\":[20,%g,1.6],\"target\":\"target\"}]}",
             now, shot, y);
    return post(match, "hits", body);
}

static void expect_unpaid(const char *match, double now)
{
    char *answer = claim(match, 1, 0, now);
    bool is_paid = strstr(answer, "\"verdict\":\"accepted\"") != NULL &&
                   strstr(answer, "\"replayed\":false") != NULL;
    ck_assert_msg(!is_paid, "paid twice: %s", answer);
    free(answer);
}

static char *move(const char *match, int number, double time)
{
    char body[256];
    snprintf(body, sizeof body,
             "{\"moves\":[{\"player\":\"s\",\"seq\":%d,\"client_time\":%.3f,\"received\":%.3f}]}",
             number, time, 100.1 + 0.001 * number);
    return post(match, "moves", body);
}

/* `s` is paid, becomes suspicious, uses up all credit, and leaves. Two other players take the free
   places. */
static void play_and_leave(const char *match)
{
    for (int i = 0; i < 3; i++) {
        ck_assert(post_player(match, 100 + 0.05 * i, "target", ""));
        ck_assert(post_player(match, 100 + 0.05 * i, "s", ""));
    }
    hs_kept_holds(claim(match, 1, 0, 100.1), "\"verdict\":\"accepted\"");
    hs_kept_holds(claim(match, 2, 30, 100.1), "\"verdict\":\"rejected\"");
    for (int i = 1; i < 30; i++)
        free(move(match, i, 5 + 0.5 * i));
    ck_assert(post_player(match, left_at, "target", ""));
    ck_assert(post_player(match, left_at, "s", ",\"event\":\"leave\""));
    ck_assert(post_player(match, 100.2, "a", ""));
    ck_assert(post_player(match, 100.2, "b", ""));
}

/* `s` comes back, and the earlier frames are sent again. */
static void rejoin(const char *match)
{
    post_player(match, 100.25, "a", ",\"event\":\"leave\"");
    ck_assert(post_player(match, 100.3, "s", ""));
    ck_assert(post_player(match, 100.3, "target", ""));
    for (int i = 0; i < 3; i++)
        post_player(match, 100 + 0.05 * i, "s", "");
}

/* The state of `s` is the same whether or not another player wanted the place. */
START_TEST(leaving_gains_nothing)
{
    char *known[2], *moved[2];
    static const char *const matches[] = {"quiet", "full"};
    for (int m = 0; m < 2; m++) {
        char path[64];
        play_and_leave(matches[m]);
        if (m == 1)
            post_player("full", 100.25, "c", "");
        rejoin(matches[m]);
        snprintf(path, sizeof path, "/v1/matches/%s/players/s", matches[m]);
        known[m] = hs_kept_get(&kept, path);
        moved[m] = move(matches[m], 31, 25);
        expect_unpaid(matches[m], 100.3);
    }
    ck_assert_msg(strstr(known[0], "\"suspicion\":0,") == NULL, "%s", known[0]);
    ck_assert_str_eq(known[1], known[0]);
    ck_assert_str_eq(moved[1], moved[0]);
    for (int m = 0; m < 2; m++) {
        free(known[m]);
        free(moved[m]);
    }
}
END_TEST

/* Row 0: no kill. Row 1: a SIGKILL just after the frame with the leave. */
START_TEST(a_player_is_kept_while_a_claim_could_pass)
{
    double time = 100.2;
    play_and_leave("m");
    if (_i == 1) {
        hs_kept_kill(&kept);
        start();
        for (const char *const *name = (const char *const[]){"target", "a", "b", NULL};
             *name != NULL; name++)
            ck_assert(post_player("m", time, *name, ""));
    }
    while (!post_player("m", time, "c", "")) {
        time += 0.25;
        ck_assert_double_lt(time, left_at + longest + history + 1);
        ck_assert(post_player("m", time, "target", ""));
        if (time > left_at + longest)
            continue;
        ck_assert(post_player("m", time, "a", ""));
        ck_assert(post_player("m", time, "b", ""));
    }
    printf("a newcomer had the place after %.2f s\n", time - left_at);
    ck_assert_double_ge(time, left_at + longest);
    /* The next new player gets no place, because all others are present and keep theirs. */
    ck_assert(!post_player("m", time, "d", ""));
    /* No claim of the old session is accepted any more, whatever frames are sent again. */
    ck_assert(post_player("m", time + 0.05, "a", ",\"event\":\"leave\""));
    for (int i = 0; i < 400 && !post_player("m", time + 0.1, "s", ""); i++) {
        time += 0.25;
        ck_assert(post_player("m", time, "target", ""));
    }
    for (int i = 0; i < 3; i++)
        post_player("m", 100 + 0.05 * i, "s", "");
    expect_unpaid("m", 100.1);
}
END_TEST

/* The same after SIGKILL: the ended session and its payments are still known. */
START_TEST(leaving_before_a_kill_gains_nothing)
{
    play_and_leave("m");
    hs_kept_kill(&kept);
    start();
    for (const char *const *name = (const char *const[]){"target", "a", "b", "c", NULL};
         *name != NULL; name++) {
        bool is_stored = post_player("m", 100.2, *name, "");
        ck_assert_msg(is_stored == (strcmp(*name, "c") != 0), "%s: %d", *name, is_stored);
    }
    rejoin("m");
    expect_unpaid("m", 100.3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("eviction");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, leaving_gains_nothing);
    tcase_add_loop_test(tests, a_player_is_kept_while_a_claim_could_pass, 0, 2);
    tcase_add_test(tests, leaving_before_a_kill_gains_nothing);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
