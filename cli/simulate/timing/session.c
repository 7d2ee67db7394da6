#include "cli/simulate/timing/session.h"

#include <math.h>

#define FRAME         (1.0 / 60)
#define LONGEST_FRAME 0.4   /* seconds; the max advance of a game's clock in one frame */
#define CRYSTAL       50e-6 /* standard deviation of the rates of honest clocks; the mean is 1 */

/* Seconds of honest play before a cheat starts. */
#define HONEST_MIN 60.0
#define HONEST_MAX 90.0

const char *const hs_timing_input_names[HS_TIMING_INPUTS] = {"acks", "no acks"};
const char *const hs_timing_detector_names[HS_DETECTORS] = {
    "timing_discrepancy", "fast_clock_proven", "fast_clock_suspected", "default"};

/* ---- the player's client and server; times are seconds ---- */

/* The ticks of a game server. */
struct server {
    double first, period;
    struct hs_timing_spell hitch; /* while a hitch lasts, the server pauses; the missed ticks run
                                     when the hitch ends */
};

struct client {
    double begun;
    double now;   /* true time of the frame */
    double clock; /* the client's clock, which sets the timestamps of moves; never reset */
    double rate;  /* the clock's rate */
    struct hs_timing_spell hitch, tab;
    struct hs_timing_line up, down;
    /* two copies of the same server: `at` in server_tick must not decrease, but a send time may be
       earlier than the last receive time */
    struct server receiver, sender;
    double snapshot_sent, snapshot_arrives; /* when the next snapshot is sent; when it arrives */
    double ack;         /* send time of the newest snapshot that the client has; -1: none */
    double cheats_from; /* when the cheating starts; HUGE_VAL: never */
    enum hs_timing_cheat cheat;
    struct hs_dice dice;
};

/* A move that the server received. */
struct sent {
    double made;
    double stamp;  /* timestamp on the client's clock */
    double ack;    /* send time of the newest snapshot that the client had; negative: none */
    double server; /* time of the tick in which the server received the move */
};

/* Returns when the first tick at or after `at` runs. `at` must not decrease from call to call. */
static double server_tick(struct server *server, double at)
{
    double tick = server->first + ceil((at - server->first) / server->period) * server->period;
    return hs_timing_spell_on(&server->hitch, tick) ? server->hitch.to : tick;
}

static struct hs_timing_spell start_spell(double at, struct hs_timing_disturbance kind,
                                          struct hs_dice *dice)
{
    return hs_timing_spell_start(at, kind, (struct hs_dice){hs_dice_next(dice)});
}

static void start_client(struct client *client, enum hs_timing_profile profile, uint64_t seed)
{
    static const struct hs_timing_disturbance hitch = {60, 0.050, 0.300, 0}, tab = {300, 1, 5, 0},
                                              server_hitch = {120, 0.1, 0.5, 0};
    struct hs_dice dice = {seed};
    double start = hs_dice_between(&dice, 100, 200);
    *client = (struct client){.now = start, .ack = -1, .cheats_from = HUGE_VAL};
    client->clock = hs_dice_between(&dice, 1, 200);
    client->rate = 1 + CRYSTAL * hs_timing_normal(&dice);
    client->hitch = start_spell(start, hitch, &dice);
    client->tab = start_spell(start, tab, &dice);
    client->sender.first = start - hs_dice_between(&dice, 0, 0.05);
    client->sender.period = 1 / hs_dice_between(&dice, 20, 64);
    client->sender.hitch = start_spell(start, server_hitch, &dice);
    client->receiver = client->sender;
    hs_timing_lines_start(profile, &dice, start, &client->up, &client->down);
    client->begun = client->snapshot_sent = client->snapshot_arrives = start;
    client->dice = dice;
}

/* Advances to the client's next frame, and returns the length of this frame. */
static double next_frame(struct client *client)
{
    double frame = FRAME;
    if (hs_timing_spell_on(&client->tab, client->now + frame))
        frame = client->tab.to - client->now;
    else if (hs_timing_spell_on(&client->hitch, client->now + frame))
        frame = client->hitch.to - client->now;
    client->now += frame;
    return frame;
}

/* Reads the snapshots that have arrived. If `freezes_ack` is false, acknowledges the newest of
   these snapshots. */
static void see_snapshots(struct client *client, bool freezes_ack)
{
    while (client->snapshot_arrives <= client->now) {
        if (!freezes_ack && client->snapshot_sent > client->begun)
            client->ack = client->snapshot_sent;
        do
            client->snapshot_sent =
                server_tick(&client->sender, client->snapshot_sent + client->sender.period / 2);
        while (
            !hs_timing_line_send(&client->down, client->snapshot_sent, &client->snapshot_arrives));
    }
}

/* Plays the client's next frame. Returns false if no move from this frame reaches the server. */
static bool play_frame(struct client *client, struct sent *out)
{
    double frame = next_frame(client), arrives;
    struct hs_timing_trick trick = {.rate = 1};
    if (client->now >= client->cheats_from)
        trick = hs_timing_cheat_at(client->cheat, client->now - client->cheats_from, frame);
    see_snapshots(client, trick.freezes_ack);
    if (trick.is_paused)
        return false;
    client->clock += fmin(frame, LONGEST_FRAME) * client->rate * trick.rate + trick.jump;
    if (!hs_timing_line_send(&client->up, client->now + trick.held, &arrives))
        return false;
    *out = (struct sent){client->now, client->clock, client->ack,
                         server_tick(&client->receiver, arrives)};
    return true;
}

/* ---- checks ---- */

static int64_t to_us(double seconds)
{
    return (int64_t)floor(seconds * 1e6 + 0.5);
}

/* Adds the result of a move to the findings. `since`: seconds since the start of cheating;
   negative: the player is still honest. */
static void add_result(struct hs_timing_findings *findings, const struct hs_timing_result *result,
                       double since)
{
    static const unsigned bits[HS_DETECTORS] = {HS_TIMING_DISCREPANCY, HS_TIMING_FAST_PROVEN,
                                                HS_TIMING_FAST_SUSPECTED,
                                                HS_TIMING_FAST_PROVEN | HS_TIMING_FAST_SUSPECTED};
    if (result->reason != HS_MOVE_OK && result->reason != HS_MOVE_RESET)
        findings->refused++;
    findings->granted += result->delta_us * 1e-6;
    for (int i = 0; i < HS_DETECTORS; i++) {
        if ((result->flags & bits[i]) == 0)
            continue;
        if (since < 0)
            findings->flags[i]++;
        else if (findings->delay[i] < 0)
            findings->delay[i] = (float)since;
    }
}

/* Returns whether every detector has found the cheat. Without acks, HS_DETECTOR_PROVEN need not
   find the cheat, because only moves with acks can prove a fast clock. */
static bool is_found(const struct hs_timing_outcome *outcome)
{
    for (int input = 0; input < HS_TIMING_INPUTS; input++)
        for (int i = 0; i < HS_DETECTORS; i++)
            if (outcome->with[input].delay[i] < 0 &&
                (input == HS_TIMING_ACKS || i != HS_DETECTOR_PROVEN))
                return false;
    return true;
}

void hs_timing_session_play(const struct hs_timing_session *session, struct hs_timing_outcome *out)
{
    struct client client;
    struct sent sent;
    struct hs_timing state[HS_TIMING_INPUTS] = {0};
    double period = (double)session->rules->reset_period_us * 1e-6, wrapped = 0, stamp = -1;
    start_client(&client, session->profile, session->seed);
    double start = client.now, end = start + session->seconds;
    if (session->cheats) {
        client.cheat = session->cheat;
        client.cheats_from = start + hs_dice_between(&client.dice, HONEST_MIN, HONEST_MAX);
        end = client.cheats_from + HS_TIMING_SEARCH;
    }
    *out = (struct hs_timing_outcome){0};
    for (int input = 0; input < HS_TIMING_INPUTS; input++)
        for (int i = 0; i < HS_DETECTORS; i++)
            out->with[input].delay[i] = -1;
    while (client.now < end && !(session->cheats && is_found(out))) {
        if (!play_frame(&client, &sent))
            continue;
        while (sent.stamp - wrapped > period)
            wrapped += period;
        for (int input = 0; input < HS_TIMING_INPUTS; input++) {
            bool has_ack = input == HS_TIMING_ACKS && sent.ack >= 0;
            const struct hs_timing_move move = {.timestamp_us = to_us(sent.stamp - wrapped),
                                                .received_us = to_us(sent.server),
                                                .dilation = 1,
                                                .has_ack = has_ack,
                                                .ack_us = has_ack ? to_us(sent.ack) : 0};
            struct hs_timing_result result;
            hs_timing_check(&state[input], session->rules, &move, &result);
            add_result(&out->with[input], &result, sent.made - client.cheats_from);
            if (stamp >= 0)
                out->with[input].claimed += sent.stamp - stamp;
        }
        stamp = sent.stamp;
    }
    out->seconds = client.now - start;
    for (int input = 0; input < HS_TIMING_INPUTS; input++)
        out->with[input].bursts = hs_timing_bursts_per_minute(&state[input]);
}
