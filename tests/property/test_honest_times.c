/*
 * Honest clients on the six networks of `simulate timing`. The check `latency` refuses at most 0.5
 * % of their claims. A client adjusts its clock to the times in snapshots, draws what happened two
 * snapshots ago, and claims the time that it drew. Twice a second the server posts a round trip,
 * which a client answers with its next frame. Bodies stand still, so that only times matter. The
 * two runs of the test are without moves and with moves.
 *
 * The test prints how many claims exceed the slack on each network. HS_LINK_SESSIONS is the number
 * of sessions per network. A session is ten minutes of play.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "cli/simulate/hits/score.h"
#include "cli/simulate/timing/profiles.h"
#include "tests/support/play/stage.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/moves.h"

#define DEFAULT_SEED 20260611
#define SESSION      600.0 /* seconds */
#define WARM_UP      3.0
#define FRAME        (1.0 / 60)
#define PING_EVERY   0.5
#define RESEND       0.05 /* seconds until a lost claim is sent again */
#define FOLLOWS      0.1  /* share of its error that a snapshot corrects in the client's clock */

static uint64_t seed;
static struct hs_ruleset *rules;

/* The results of the claims on one network. */
struct sums {
    long claims;
    /* claims older than older_slack; newer than newer_slack; one of both, but accepted because of
       the slack for noise */
    long older, newer, noisy;
    long reasons[HS_REASON_COUNT];
};

struct play {
    struct hs_match *match;
    struct hs_timing_line up, down;
    struct hs_dice dice;
    double start, period;  /* the times of the server's ticks */
    double now;            /* time of the client's frame */
    double sent, arrives;  /* the times of the next snapshot */
    double newest;         /* server time of the newest snapshot that the client has; 0: none */
    double clock, drawn;   /* offset of the client's clock from the server's; the time that the
                              client draws */
    double posted, pinged; /* last tick that posted a frame; last tick that posted a round trip */
    double round_trip;     /* measured with the newest move */
    double next_claim;
    /* a snapshot arrived since the last packet, so the next packet gives a round trip */
    bool echoes;
    bool sends_moves;
    uint64_t shots;
};

static int64_t to_us(double seconds)
{
    return (int64_t)floor(seconds * 1e6 + 0.5);
}

static double tick_after(const struct play *play, double at)
{
    return play->start + ceil((at - play->start) / play->period) * play->period;
}

static double interp_of(const struct play *play)
{
    return fmin(2 * play->period, 0.1);
}

static void post_frames(struct play *play, double until)
{
    for (; play->posted + play->period <= until + 1e-9;) {
        play->posted += play->period;
        struct hs_player_frame players[2] = {hs_stage_entry("S", 0, 0, 0),
                                             hs_stage_entry("T", 20, 0, 0)};
        players[0].fields |= HS_FIELD_INTERP;
        players[0].interp_us = (int32_t)to_us(interp_of(play));
        if (play->round_trip > 0 && play->posted >= play->pinged + PING_EVERY) {
            players[0].fields |= HS_FIELD_RTT;
            players[0].rtt_us = (int32_t)to_us(play->round_trip);
            play->pinged = play->posted;
        }
        const struct hs_frame frame = {
            .time_us = to_us(play->posted), .players = players, .player_count = 2};
        enum hs_frame_result results[2];
        unsigned flags = 0;
        ck_assert(hs_match_post_frame(play->match, &frame, results, &flags));
    }
}

/* Reads the snapshots that arrived before this frame. */
static void see_snapshots(struct play *play)
{
    while (play->arrives <= play->now) {
        double error = play->sent - play->arrives - play->clock;
        bool is_far = play->newest == 0 || fabs(error) > 0.25;
        play->clock += is_far ? error : FOLLOWS * error;
        play->newest = play->sent;
        play->echoes = true;
        do
            play->sent += play->period;
        while (!hs_timing_line_send(&play->down, play->sent, &play->arrives));
    }
    double wanted = fmin(play->now + play->clock - interp_of(play), play->newest);
    play->drawn = fmax(play->drawn, wanted);
}

static void verify(struct play *play, double hit_time, double now, struct sums *sums)
{
    struct hs_hit_claim claim =
        hs_stage_claim(to_us(hit_time), 20, 1e-3 * (double)(play->shots % 97), 1.6);
    claim.shot = ++play->shots;
    struct hs_hit_result *result = hs_stage_judge(play->match, &claim, to_us(now));
    if (!result->has_offset)
        return;
    sums->claims++;
    sums->reasons[result->reason]++;
    sums->older += -result->offset_us > rules->rewind.older_slack_us;
    sums->newer += result->offset_us > rules->rewind.newer_slack_us;
    sums->noisy += (-result->offset_us > rules->rewind.older_slack_us ||
                    result->offset_us > rules->rewind.newer_slack_us) &&
                   hs_stage_row(result, HS_CHECK_LATENCY)->outcome == HS_OUTCOME_PASS;
    ck_assert(hs_hit_record(play->match, &claim, result, HS_STR("{}")));
}

static void check_move(struct play *play, double received)
{
    if (play->newest == 0 || !play->sends_moves)
        return;
    const struct hs_move move = {.player = HS_STR("S"),
                                 .fields = HS_MOVE_HAS_ACK,
                                 .timestamp_us = to_us(play->now - play->start + 1),
                                 .received_us = to_us(received),
                                 .ack_us = to_us(play->newest),
                                 .dilation = 1};
    struct hs_move_result result;
    ck_assert(hs_match_check_move(play->match, &move, &result));
}

static void play_frame(struct play *play, struct sums *sums)
{
    double arrives;
    play->now += FRAME;
    see_snapshots(play);
    bool fires = play->now >= play->next_claim;
    bool is_lost = !hs_timing_line_send(&play->up, play->now, &arrives);
    if (!is_lost) {
        double received = tick_after(play, arrives);
        post_frames(play, received);
        if (play->echoes)
            play->round_trip = arrives - play->newest;
        play->echoes = false;
        check_move(play, received);
    }
    if (!fires)
        return;
    play->next_claim = play->now + hs_dice_between(&play->dice, 0.15, 0.6);
    double hit_time = play->drawn;
    for (; is_lost; is_lost = !hs_timing_line_send(&play->up, play->now, &arrives)) {
        play->now += RESEND;
        see_snapshots(play);
    }
    double now = tick_after(play, arrives);
    post_frames(play, now);
    verify(play, hit_time, now, sums);
}

static void play_session(enum hs_timing_profile profile, int number, bool sends_moves,
                         struct sums *sums)
{
    struct play play = {.match = hs_stage_match(rules), .sends_moves = sends_moves};
    play.dice.state = seed + (uint64_t)(number * HS_TIMING_PROFILES) + profile;
    hs_dice_next(&play.dice);
    play.start = play.now = play.sent = play.arrives = hs_dice_between(&play.dice, 100, 200);
    play.period = 1 / hs_dice_between(&play.dice, 20, 64);
    play.posted = play.start - play.period;
    play.next_claim = play.start + WARM_UP;
    hs_timing_lines_start(profile, &play.dice, play.start, &play.up, &play.down);
    while (play.now < play.start + SESSION)
        play_frame(&play, sums);
    hs_match_destroy(play.match);
}

static double percent(long part, long all)
{
    return 100 * (double)part / (double)all;
}

static void print(enum hs_timing_profile profile, const struct sums *sums, long refused)
{
    printf(
        "%-6s %6ld claims, %6.3f %% older than the slack, %6.3f %% pass by noise, %6.3f %% newer, "
        "%6.3f %% refused for their time, %6.3f %% rewind_limit\n",
        hs_timing_profile_names[profile], sums->claims, percent(sums->older, sums->claims),
        percent(sums->noisy, sums->claims), percent(sums->newer, sums->claims),
        percent(refused, sums->claims),
        percent(sums->reasons[HS_REASON_REWIND_LIMIT], sums->claims));
}

/*
 * Fails if more than 0.5 % of the claims are refused. The lower bound of the 95 % interval counts.
 */
START_TEST(honest_clients_pass)
{
    long sessions = hs_test_count("HS_LINK_SESSIONS", 10);
    rules = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    ck_assert_ptr_nonnull(rules);
    uint16_t rifle = hs_ruleset_find_weapon(rules, HS_STR("rifle"));
    rules->weapons[rifle]->magazine = rules->weapons[rifle]->min_interval_us = 0;
    printf("%s moves, seed %llu\n", _i == 0 ? "without" : "with", (unsigned long long)seed);
    for (int profile = 0; profile < HS_TIMING_PROFILES; profile++) {
        struct sums sums = {0};
        for (int i = 0; i < (int)sessions; i++)
            play_session((enum hs_timing_profile)profile, i, _i == 1, &sums);
        long refused = sums.reasons[HS_REASON_TIME_MISMATCH] +
                       sums.reasons[HS_REASON_TIME_BACKWARDS] +
                       sums.reasons[HS_REASON_LATENCY_JUMP];
        print((enum hs_timing_profile)profile, &sums, refused);
        ck_assert_int_gt(sums.claims, 1000 * sessions);
        ck_assert_double_le(hs_wilson_low((uint64_t)refused, (uint64_t)sums.claims), 0.005);
    }
    hs_ruleset_destroy(rules);
}
END_TEST

static Suite *suite(void)
{
    Suite *suite = suite_create("honest times");
    TCase *tcase = tcase_create("all");
    seed = hs_test_seed(DEFAULT_SEED);
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, honest_clients_pass, 0, 2);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return hs_run_suite(suite());
}
