#include "cli/simulate/skirmish.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validators/base/units.h"

#define WARM_UP    1.5 /* seconds before anybody is let to shoot: history, links */
#define PING_EVERY 0.5 /* seconds between two measured round trips */

static void set_up_game(struct hs_skirmish *skirmish)
{
    const struct hs_skirmish_setup *setup = &skirmish->setup;
    skirmish->game.arena = setup->arena;
    skirmish->game.crowd = skirmish->crowd;
    skirmish->game.stamp_error = setup->stamp_error;
    skirmish->game.snapshot_gap =
        (double)(setup->frame_every * setup->snapshot_every) / HS_CROWD_HZ;
    skirmish->game.posts_shots = setup->posts_shots;
    skirmish->game.tells_ammo = setup->tells_ammo;
    skirmish->game.ends_at_impact = setup->ends_at_impact;
    skirmish->forger =
        (struct hs_forger){.game = &skirmish->game, .dice.state = hs_dice_next(&skirmish->dice)};
}

static bool set_up(struct hs_skirmish *skirmish)
{
    const struct hs_skirmish_setup *setup = &skirmish->setup;
    skirmish->dice.state = setup->seed;
    skirmish->ticks = (size_t)(fmax(2, setup->seconds) * HS_CROWD_HZ);
    skirmish->crowd = hs_crowd_create(skirmish->ticks, setup->arm, &skirmish->dice);
    skirmish->game.film.frames = calloc(skirmish->ticks, sizeof *skirmish->game.film.frames);
    skirmish->arrivals = calloc(skirmish->ticks * HS_CROWD, sizeof *skirmish->arrivals);
    if (skirmish->crowd == NULL || skirmish->game.film.frames == NULL || skirmish->arrivals == NULL)
        return false;
    set_up_game(skirmish);
    for (size_t i = 0; i < skirmish->ticks * HS_CROWD; i++)
        skirmish->arrivals[i] = HUGE_VAL;
    for (unsigned who = 0; who < HS_CROWD; who++)
        hs_client_start(&skirmish->clients[who], &skirmish->game, who,
                        setup->link >= 0 ? (enum hs_link_kind)setup->link
                                         : (enum hs_link_kind)(who / 2 % HS_LINKS),
                        hs_dice_next(&skirmish->dice), &skirmish->arrivals[who * skirmish->ticks]);
    return true;
}

struct hs_skirmish *hs_skirmish_create(const struct hs_skirmish_setup *setup)
{
    struct hs_skirmish *skirmish = calloc(1, sizeof *skirmish);
    if (skirmish == NULL)
        return NULL;
    skirmish->setup = *setup;
    if (set_up(skirmish))
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

/* Round trips are measured now and then, each player at their own times. */
static bool measure_ping(struct hs_skirmish *skirmish, unsigned who)
{
    size_t every = (size_t)(PING_EVERY * HS_CROWD_HZ);
    every -= every % skirmish->setup.frame_every;
    if (skirmish->tick % every != who * skirmish->setup.frame_every % every)
        return false;
    struct hs_client *client = &skirmish->clients[who];
    double ping = hs_link_ping(&client->link, &client->dice);
    unsigned place = skirmish->ping_count[who]++ % HS_SKIRMISH_PINGS;
    skirmish->pings_us[who][place] = (int32_t)hs_seconds_to_us(ping);
    return true;
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

static void tell_ammo(struct hs_skirmish *skirmish, unsigned who, const struct hs_doing *doing,
                      struct hs_player_frame *entry)
{
    bool counts = doing->rounds >= 0;
    entry->fields |= HS_FIELD_AMMO | HS_FIELD_RELOADING;
    entry->ammo = counts ? doing->rounds : 1;
    entry->reloading = doing->reloading;
    if (entry->ammo > 0 && !entry->reloading)
        skirmish->empty_since[who] = 0;
    else if (skirmish->empty_since[who] == 0)
        skirmish->empty_since[who] = skirmish->now;
}

static void fill_entry(struct hs_skirmish *skirmish, unsigned who, struct hs_sim_pose *pose,
                       struct hs_player_frame *entry)
{
    static const struct hs_str stances[2] = {{"stand", 5}, {"crouch", 6}};
    static const struct hs_str teams[2] = {{"red", 3}, {"blue", 4}};
    const struct hs_person *person = hs_crowd_at(skirmish->crowd, who, skirmish->tick);
    const struct hs_client *client = &skirmish->clients[who];
    const struct hs_doing *doing = hs_client_doing(client, skirmish->now);
    struct hs_vec look = doing != NULL ? doing->look : (struct hs_vec){1, 0, 0};
    const char *name = hs_crowd_name(who);
    *pose = (struct hs_sim_pose){.position = person->position,
                                 .yaw = atan2(look.y, look.x),
                                 .jumps = person->jumps,
                                 .life = person->life,
                                 .crouched = person->crouched,
                                 .alive = person->alive,
                                 .is_protected = person->is_protected};
    *entry = (struct hs_player_frame){
        .player = {name, strlen(name)},
        .fields = HS_FIELD_ROTATION | HS_FIELD_AIM | HS_FIELD_ALIVE | HS_FIELD_LIFE |
                  HS_FIELD_PROTECTED | HS_FIELD_INTERP,
        .position = person->position,
        .rotation = {0, 0, sin(pose->yaw / 2), cos(pose->yaw / 2)},
        .aim = {look.x, look.y, look.z},
        .stance = stances[person->crouched ? 1 : 0],
        .team = teams[hs_crowd_team(who)],
        .weapon = hs_name_str(&skirmish->game.arena->weapons[person->arm]->name),
        .event = event_of(&skirmish->posted[who], pose),
        .alive = person->alive,
        .is_protected = person->is_protected,
        .life = (int64_t)person->life,
        .interp_us = (int32_t)hs_seconds_to_us(client->interp),
    };
    if (measure_ping(skirmish, who)) {
        entry->fields |= HS_FIELD_RTT;
        entry->rtt_us =
            skirmish->pings_us[who][(skirmish->ping_count[who] - 1) % HS_SKIRMISH_PINGS];
    }
    if (skirmish->game.tells_ammo && doing != NULL)
        tell_ammo(skirmish, who, doing, entry);
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
    if (film->count++ % skirmish->setup.snapshot_every == 0)
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
    if (skirmish->tick % skirmish->setup.frame_every == 0)
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

/* ---- what is known of claims ---- */

bool hs_skirmish_expect(struct hs_skirmish *skirmish, unsigned who)
{
    unsigned count = skirmish->ping_count[who];
    count = count < HS_SKIRMISH_PINGS ? count : HS_SKIRMISH_PINGS;
    int32_t least = INT32_MAX, most = 0;
    for (unsigned i = 0; i < count; i++) {
        int32_t ping = skirmish->pings_us[who][i];
        least = ping < least ? ping : least;
        most = ping > most ? ping : most;
    }
    double newest = skirmish->now - skirmish->clients[who].interp;
    skirmish->forger.now = skirmish->now;
    skirmish->forger.expected[0] = newest - (double)most / 1e6;
    skirmish->forger.expected[1] = newest - (double)least / 1e6;
    return count > 0;
}

bool hs_skirmish_is_in_vain(const struct hs_skirmish *skirmish, const struct hs_mail *mail)
{
    double grace = (double)skirmish->game.arena->ruleset->hit.death_grace_us / 1e6;
    return hs_crowd_dead_for(skirmish->crowd, mail->from, (double)mail->hit.fire_time_us / 1e6) >
           grace;
}
