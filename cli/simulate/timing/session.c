#include "cli/simulate/timing/session.h"

#include <math.h>

/* Cheats begin when the judge has known them for a while. */
#define HONEST_LEAST 60.0
#define HONEST_MOST  90.0

const char *hs_timing_told_name(enum hs_timing_told told)
{
    static const char *const names[] = {"acks", "no acks"};
    return names[told];
}

const char *hs_timing_detector_name(enum hs_timing_detector detector)
{
    static const char *const names[] = {"timing_discrepancy", "fast_clock_proven",
                                        "fast_clock_suspected", "default"};
    return names[detector];
}

static int64_t to_us(double seconds)
{
    return (int64_t)floor(seconds * 1e6 + 0.5);
}

static bool raised(unsigned flags, enum hs_timing_detector detector)
{
    static const unsigned bits[HS_DETECTORS] = {HS_TIMING_DISCREPANCY, HS_TIMING_FAST_PROVEN,
                                                HS_TIMING_FAST_SUSPECTED,
                                                HS_TIMING_FAST_PROVEN | HS_TIMING_FAST_SUSPECTED};
    return (flags & bits[detector]) != 0;
}

/* `since` the first trick; negative before it. */
static void note(struct hs_timing_findings *findings, const struct hs_timing_result *result,
                 double since)
{
    if (result->reason != HS_MOVE_OK && result->reason != HS_MOVE_RESET)
        findings->refused++;
    findings->granted += result->delta_us * 1e-6;
    for (int i = 0; i < HS_DETECTORS; i++) {
        if (!raised(result->flags, (enum hs_timing_detector)i))
            continue;
        if (since < 0)
            findings->flags[i]++;
        else if (findings->delay[i] < 0)
            findings->delay[i] = (float)since;
    }
}

static struct hs_timing_move move_of(const struct hs_timing_sent *sent, double wrapped,
                                     enum hs_timing_told told)
{
    struct hs_timing_move move = {.timestamp_us = to_us(sent->stamp - wrapped),
                                  .received_us = to_us(sent->server),
                                  .dilation = 1};
    if (told == HS_TIMING_ACKS && sent->ack >= 0) {
        move.ack_us = to_us(sent->ack);
        move.has_ack = true;
    }
    return move;
}

/* By everything that can find it: without acks nothing is proven. */
static bool is_found(const struct hs_timing_outcome *outcome)
{
    for (int told = 0; told < HS_TIMING_TELLINGS; told++)
        for (int i = 0; i < HS_DETECTORS; i++)
            if (outcome->told[told].delay[i] < 0 &&
                (told == HS_TIMING_ACKS || i != HS_DETECTOR_PROVEN))
                return false;
    return true;
}

void hs_timing_session_play(const struct hs_timing_session *session, struct hs_timing_outcome *out)
{
    struct hs_timing_client client;
    struct hs_timing_sent sent;
    struct hs_timing state[HS_TIMING_TELLINGS] = {0};
    double period = (double)session->rules->reset_period_us * 1e-6, wrapped = 0, stamp = -1;
    hs_timing_client_start(&client, session->profile, session->seed);
    double start = client.now, from = HUGE_VAL, end = start + session->seconds;
    if (session->cheats) {
        from = start + hs_dice_between(&client.dice, HONEST_LEAST, HONEST_MOST);
        end = from + HS_TIMING_HUNT;
        hs_timing_client_corrupt(&client, session->cheat, from);
    }
    *out = (struct hs_timing_outcome){0};
    for (int told = 0; told < HS_TIMING_TELLINGS; told++)
        for (int i = 0; i < HS_DETECTORS; i++)
            out->told[told].delay[i] = -1;
    while (client.now < end && !(session->cheats && is_found(out))) {
        if (!hs_timing_client_frame(&client, &sent))
            continue;
        while (sent.stamp - wrapped > period)
            wrapped += period;
        for (int told = 0; told < HS_TIMING_TELLINGS; told++) {
            struct hs_timing_move move = move_of(&sent, wrapped, (enum hs_timing_told)told);
            struct hs_timing_result result;
            hs_timing_check(&state[told], session->rules, &move, &result);
            note(&out->told[told], &result, sent.made - from);
            if (stamp >= 0)
                out->told[told].claimed += sent.stamp - stamp;
        }
        stamp = sent.stamp;
    }
    out->seconds = client.now - start;
    for (int told = 0; told < HS_TIMING_TELLINGS; told++) {
        out->told[told].bursts = hs_timing_bursts_per_minute(&state[told]);
        out->told[told].speed = state[told].guard.speed;
    }
}
