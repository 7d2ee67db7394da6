#include "cli/simulate/timing/client.h"

#include <math.h>

#define FRAME (1.0 / 60)

/* A frame that took longer counts for no more in a game. */
#define LONGEST_FRAME 0.4

/* Deviation of the speed of honest clocks. */
#define CRYSTAL 50e-6

double hs_timing_server_tick(struct hs_timing_server *server, double at)
{
    double tick = server->first + ceil((at - server->first) / server->period) * server->period;
    return hs_timing_spell_on(&server->hitch, tick) ? server->hitch.to : tick;
}

void hs_timing_client_start(struct hs_timing_client *client, enum hs_timing_profile profile,
                            uint64_t seed)
{
    struct hs_dice dice = {seed};
    double start = hs_dice_between(&dice, 100, 200);
    *client = (struct hs_timing_client){.now = start, .ack = -1};
    client->clock = hs_dice_between(&dice, 1, 200);
    client->rate = 1 + CRYSTAL * hs_timing_normal(&dice);
    client->hitch =
        hs_timing_spell_start(start, 60, 0.050, 0.300, 0, (struct hs_dice){hs_dice_next(&dice)});
    client->tab = hs_timing_spell_start(start, 300, 1, 5, 0, (struct hs_dice){hs_dice_next(&dice)});
    struct hs_timing_server server = {.first = start - hs_dice_between(&dice, 0, 0.05)};
    server.period = 1 / hs_dice_between(&dice, 20, 64);
    server.hitch =
        hs_timing_spell_start(start, 120, 0.1, 0.5, 0, (struct hs_dice){hs_dice_next(&dice)});
    client->receiver = client->sender = server;
    hs_timing_lines_start(profile, &dice, start, &client->up, &client->down);
    client->begun = client->snapshot_sent = client->snapshot_arrives = start;
    client->dice = dice;
}

void hs_timing_client_corrupt(struct hs_timing_client *client, enum hs_timing_cheat cheat,
                              double from)
{
    client->cheats = true;
    client->cheat = cheat;
    client->cheats_from = from;
}

/* The game runs on to its next frame. */
static double next_frame(struct hs_timing_client *client)
{
    double frame = FRAME;
    if (hs_timing_spell_on(&client->tab, client->now + frame))
        frame = client->tab.to - client->now;
    else if (hs_timing_spell_on(&client->hitch, client->now + frame))
        frame = client->hitch.to - client->now;
    client->now += frame;
    return frame;
}

/* Snapshots that arrived before this frame. */
static void see_snapshots(struct hs_timing_client *client, bool freezes_ack)
{
    while (client->snapshot_arrives <= client->now) {
        if (!freezes_ack && client->snapshot_sent > client->begun)
            client->ack = client->snapshot_sent;
        do
            client->snapshot_sent = hs_timing_server_tick(
                &client->sender, client->snapshot_sent + client->sender.period / 2);
        while (
            !hs_timing_line_send(&client->down, client->snapshot_sent, &client->snapshot_arrives));
    }
}

bool hs_timing_client_frame(struct hs_timing_client *client, struct hs_timing_sent *out)
{
    double frame = next_frame(client), arrives;
    struct hs_timing_trick trick = {.rate = 1};
    if (client->cheats && client->now >= client->cheats_from)
        trick = hs_timing_cheat_at(client->cheat, client->now - client->cheats_from, frame);
    see_snapshots(client, trick.freezes_ack);
    if (trick.is_paused)
        return false;
    client->clock += fmin(frame, LONGEST_FRAME) * client->rate * trick.rate + trick.jump;
    if (!hs_timing_line_send(&client->up, client->now + trick.held, &arrives))
        return false;
    out->made = client->now;
    out->stamp = client->clock;
    out->ack = client->ack;
    out->server = hs_timing_server_tick(&client->receiver, arrives);
    return true;
}
