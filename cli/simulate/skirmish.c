#include "cli/simulate/skirmish.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validators/base/units.h"

#define WARM_UP    1.5 /* seconds before the first shots */
#define PING_EVERY 0.5 /* seconds between two measured round trips */

static bool set_up(struct hs_skirmish *skirmish, const struct hs_skirmish_setup *setup)
{
    struct hs_game *game = &skirmish->game;
    skirmish->dice.state = setup->seed;
    skirmish->ticks = (size_t)(fmax(2, setup->seconds) * HS_CROWD_HZ);
    skirmish->crowd = hs_crowd_create(skirmish->ticks, setup->arm, &skirmish->dice);
    *game = (struct hs_game){.setup = *setup, .arena = setup->arena, .crowd = skirmish->crowd};
    game->film.frames = calloc(skirmish->ticks, sizeof *game->film.frames);
    skirmish->arrivals = calloc(skirmish->ticks * HS_CROWD, sizeof *skirmish->arrivals);
    if (skirmish->crowd == NULL || game->film.frames == NULL || skirmish->arrivals == NULL)
        return false;
    skirmish->forger =
        (struct hs_forger){.game = game, .dice.state = hs_dice_next(&skirmish->dice)};
    for (size_t i = 0; i < skirmish->ticks * HS_CROWD; i++)
        skirmish->arrivals[i] = HUGE_VAL;
    for (unsigned who = 0; who < HS_CROWD; who++) {
        unsigned mixed = (setup->first_link + who / 2) % HS_LINKS;
        unsigned link = setup->link >= 0 ? (unsigned)setup->link : mixed;
        hs_client_start(&skirmish->clients[who], game, who, (enum hs_link_kind)link,
                        hs_dice_next(&skirmish->dice), &skirmish->arrivals[who * skirmish->ticks]);
    }
    return true;
}

struct hs_skirmish *hs_skirmish_create(const struct hs_skirmish_setup *setup)
{
    struct hs_skirmish *skirmish = calloc(1, sizeof *skirmish);
    if (skirmish == NULL || set_up(skirmish, setup))
        return skirmish;
    hs_skirmish_destroy(skirmish);
    return NULL;
}

void hs_skirmish_destroy(struct hs_skirmish *skirmish)
{
    if (skirmish == NULL)
        return;
    free(skirmish->box.mails);
    free(skirmish->arrivals);
    free(skirmish->game.film.frames);
    hs_crowd_destroy(skirmish->crowd);
    free(skirmish);
}

/* ---- frames ---- */

/* Measures a player's round trip at fixed intervals, at different ticks for different players.
   Skips the measurement during an outage. */
static void post_ping(struct hs_skirmish *skirmish, unsigned who, struct hs_player_frame *entry)
{
    struct hs_client *client = &skirmish->clients[who];
    size_t step = skirmish->game.setup.frame_every, every = (size_t)(PING_EVERY * HS_CROWD_HZ);
    every -= every % step;
    bool loses;
    if (skirmish->tick % every != who * step % every ||
        hs_link_outage(&client->link, skirmish->now, &loses) > 0)
        return;
    entry->fields |= HS_FIELD_RTT;
    entry->rtt_us = (int32_t)hs_seconds_to_us(hs_link_ping(&client->link, &client->dice));
    skirmish->pings_us[who][skirmish->ping_count[who]++ % HS_SKIRMISH_PINGS] = entry->rtt_us;
}

static enum hs_sample_event event_of(const struct hs_sim_pose *before,
                                     const struct hs_sim_pose *now)
{
    if (now->life != before->life)
        return HS_EVENT_SPAWN;
    if (now->jumps != before->jumps)
        return HS_EVENT_TELEPORT;
    return before->alive && !now->alive ? HS_EVENT_DEATH : HS_EVENT_NONE;
}

static void post_ammo(struct hs_skirmish *skirmish, unsigned who, const struct hs_doing *doing,
                      struct hs_player_frame *entry)
{
    entry->fields |= HS_FIELD_AMMO | HS_FIELD_RELOADING;
    entry->ammo = doing->rounds >= 0 ? doing->rounds : 1; /* a knife has no rounds, so post 1 */
    entry->reloading = doing->reloading;
    if (entry->ammo > 0 && !entry->reloading)
        skirmish->empty_since[who] = 0;
    else if (skirmish->empty_since[who] == 0)
        skirmish->empty_since[who] = skirmish->now;
}

static void fill_entry(struct hs_skirmish *skirmish, unsigned who, struct hs_sim_pose *pose,
                       struct hs_player_frame *entry)
{
    const struct hs_client *client = &skirmish->clients[who];
    const struct hs_doing *doing = hs_client_doing(client, skirmish->now);
    struct hs_vec aim = doing != NULL ? doing->aim : (struct hs_vec){1, 0, 0};
    *pose = *hs_crowd_at(skirmish->crowd, who, skirmish->tick);
    pose->yaw = atan2(aim.y, aim.x);
    *entry = (struct hs_player_frame){
        .player = hs_crowd_name(who),
        .fields = HS_FIELD_ROTATION | HS_FIELD_AIM | HS_FIELD_ALIVE | HS_FIELD_LIFE |
                  HS_FIELD_PROTECTED | HS_FIELD_INTERP,
        .position = pose->position,
        .rotation = {0, 0, sin(pose->yaw / 2), cos(pose->yaw / 2)},
        .aim = {aim.x, aim.y, aim.z},
        .stance = pose->crouched ? HS_STR("crouch") : HS_STR("stand"),
        .team = hs_crowd_team(who) == 0 ? HS_STR("red") : HS_STR("blue"),
        .weapon = hs_name_str(&skirmish->game.arena->weapons[pose->arm]->name),
        .event = event_of(&skirmish->posted[who], pose),
        .alive = pose->alive,
        .is_protected = pose->is_protected,
        .life = (int64_t)pose->life,
        .interp_us = (int32_t)hs_seconds_to_us(client->interp),
    };
    post_ping(skirmish, who, entry);
    if (skirmish->game.setup.posts_ammo && doing != NULL)
        post_ammo(skirmish, who, doing, entry);
}

static void write_frame(struct hs_skirmish *skirmish)
{
    struct hs_film *film = &skirmish->game.film;
    struct hs_film_frame *frame = &film->frames[film->count];
    frame->time = skirmish->now;
    for (unsigned who = 0; who < HS_CROWD; who++)
        fill_entry(skirmish, who, &frame->people[who], &skirmish->players[who]);
    memcpy(skirmish->posted, frame->people, sizeof skirmish->posted);
    skirmish->written = (struct hs_frame){
        .time_us = skirmish->now_us, .players = skirmish->players, .player_count = HS_CROWD};
    skirmish->frame = &skirmish->written;
    if (film->count++ % skirmish->game.setup.snapshot_every == 0)
        for (unsigned who = 0; who < HS_CROWD; who++)
            hs_client_send_snapshot(&skirmish->clients[who], &skirmish->game, film->count - 1);
}

/* ---- ticks ---- */

bool hs_skirmish_begin(struct hs_skirmish *skirmish)
{
    if (skirmish->begun == skirmish->ticks || skirmish->failed)
        return false;
    skirmish->tick = skirmish->begun++;
    skirmish->now = hs_crowd_time(skirmish->tick);
    skirmish->now_us = hs_crowd_time_us(skirmish->tick);
    skirmish->frame = NULL;
    if (skirmish->tick % skirmish->game.setup.frame_every == 0)
        write_frame(skirmish);
    return true;
}

bool hs_skirmish_take(struct hs_skirmish *skirmish, struct hs_mail *out)
{
    struct hs_mailbox *box = &skirmish->box;
    struct hs_mail *next = NULL;
    for (size_t i = 0; i < box->count; i++) {
        struct hs_mail *mail = &box->mails[i];
        if (mail->arrival > skirmish->now)
            continue;
        if (next == NULL || mail->arrival < next->arrival ||
            (mail->arrival == next->arrival && mail->order < next->order))
            next = mail;
    }
    if (next == NULL)
        return false;
    *out = *next;
    *next = box->mails[--box->count];
    return true;
}

bool hs_skirmish_is_warm(const struct hs_skirmish *skirmish)
{
    return skirmish->now >= hs_crowd_time(0) + WARM_UP;
}

void hs_skirmish_end(struct hs_skirmish *skirmish)
{
    if (!hs_skirmish_is_warm(skirmish))
        return;
    for (unsigned who = 0; who < HS_CROWD; who++) {
        struct hs_client *client = &skirmish->clients[who];
        hs_client_frame(client, &skirmish->game, skirmish->now + client->phase, &skirmish->box);
    }
    skirmish->failed = skirmish->box.failed;
}

/* ---- claims ---- */

bool hs_skirmish_expect(struct hs_skirmish *skirmish, unsigned who)
{
    unsigned count = skirmish->ping_count[who];
    count = count < HS_SKIRMISH_PINGS ? count : HS_SKIRMISH_PINGS;
    int32_t min = INT32_MAX, max = 0;
    for (unsigned i = 0; i < count; i++) {
        int32_t ping = skirmish->pings_us[who][i];
        min = ping < min ? ping : min;
        max = ping > max ? ping : max;
    }
    double newest = skirmish->now - skirmish->clients[who].interp;
    skirmish->forger.now = skirmish->now;
    skirmish->forger.expected[0] = newest - hs_seconds(max);
    skirmish->forger.expected[1] = newest - hs_seconds(min);
    return count > 0;
}

bool hs_skirmish_is_in_vain(const struct hs_skirmish *skirmish, const struct hs_mail *mail)
{
    double fired = hs_seconds(mail->hit.fire_time_us);
    return hs_crowd_dead_for(skirmish->crowd, mail->from, fired) >
           hs_seconds(skirmish->game.arena->ruleset->hit.death_grace_us);
}
