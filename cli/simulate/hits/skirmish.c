#include "cli/simulate/hits/skirmish.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/simulate/forgery.h"
#include "validators/base/units.h"
#include "validators/hints.h"

#define WARM_UP    1.5 /* seconds before anybody is let to shoot: history, links */
#define PING_EVERY 0.5 /* seconds between two measured round trips */

enum { PINGS = 4 }; /* remembered of each, as the latency rule does */

struct server {
    const struct hs_skirmish *skirmish;
    struct hs_game game;
    struct hs_crowd *crowd;
    struct hs_match *match;
    struct hs_score *score;
    size_t ticks, frame_every, snapshot_every; /* ticks a frame; frames a snapshot */
    struct hs_client clients[HS_CROWD];
    double *arrivals;
    struct hs_mailbox box;
    struct hs_dice dice;
    struct hs_forger forger;
    int32_t pings_us[HS_CROWD][PINGS];
    unsigned ping_count[HS_CROWD];
    struct hs_sim_pose posted[HS_CROWD]; /* in the last frame */
    double empty_since[HS_CROWD];        /* seconds; 0: he has rounds */
    double now;
    int64_t now_us;
    struct hs_hit_result result;
};

/* How often the server posts frames and sends snapshots: 60 a second and both, 60 and 30, 30 and
   both, 20 and both. */
static const struct {
    size_t frame_every, snapshot_every;
} paces[] = {{1, 1}, {1, 2}, {2, 1}, {3, 1}};
enum { PACES = sizeof paces / sizeof paces[0] };

static void set_up_game(struct server *server)
{
    uint64_t number = server->skirmish->number;
    size_t pace = number % PACES;
    server->frame_every = paces[pace].frame_every;
    server->snapshot_every = paces[pace].snapshot_every;
    server->game = (struct hs_game){
        .arena = server->skirmish->arena,
        .crowd = server->crowd,
        .stamp_error = server->skirmish->stamp_error,
        .snapshot_gap = (double)(server->frame_every * server->snapshot_every) / HS_CROWD_HZ,
        .posts_shots = number / PACES % 2 == 1,
        .tells_ammo = number / PACES % 3 == 1,
        .ends_at_impact = number / PACES % 5 < 2,
    };
    server->forger =
        (struct hs_forger){.game = &server->game, .dice.state = hs_dice_next(&server->dice)};
}

static bool set_up(struct server *server)
{
    const struct hs_skirmish *skirmish = server->skirmish;
    server->dice.state = hs_seed_of(skirmish->seed, skirmish->number);
    server->ticks = (size_t)(fmax(2, skirmish->seconds) * HS_CROWD_HZ);
    server->crowd = hs_crowd_create(server->ticks, &server->dice);
    server->match = hs_match_create(skirmish->arena->ruleset,
                                    &(struct hs_match_limits){.players = HS_CROWD, .samples = 256});
    set_up_game(server);
    server->game.film.frames = calloc(server->ticks, sizeof *server->game.film.frames);
    server->arrivals = calloc(server->ticks * HS_CROWD, sizeof *server->arrivals);
    if (server->crowd == NULL || server->match == NULL || server->game.film.frames == NULL ||
        server->arrivals == NULL)
        return false;
    hs_match_set_world(server->match, skirmish->arena->world);
    for (size_t i = 0; i < server->ticks * HS_CROWD; i++)
        server->arrivals[i] = HUGE_VAL;
    for (unsigned who = 0; who < HS_CROWD; who++)
        hs_client_start(&server->clients[who], &server->game, who,
                        skirmish->link >= 0 ? (enum hs_link_kind)skirmish->link
                                            : (enum hs_link_kind)(who / 2 % HS_LINKS),
                        hs_dice_next(&server->dice), &server->arrivals[who * server->ticks]);
    return true;
}

static void tear_down(struct server *server)
{
    free(server->box.mails);
    free(server->arrivals);
    free(server->game.film.frames);
    hs_match_destroy(server->match);
    hs_crowd_destroy(server->crowd);
}

/* ---- frames ---- */

/* Round trips are measured now and then, each player at his own times. */
static bool measure_ping(struct server *server, unsigned who, size_t tick)
{
    size_t every = (size_t)(PING_EVERY * HS_CROWD_HZ);
    every -= every % server->frame_every;
    if (tick % every != who * server->frame_every % every)
        return false;
    double ping = hs_link_ping(&server->clients[who].link, &server->clients[who].dice);
    server->pings_us[who][server->ping_count[who]++ % PINGS] = (int32_t)hs_seconds_to_us(ping);
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

static void tell_ammo(struct server *server, unsigned who, const struct hs_doing *doing,
                      struct hs_player_frame *entry)
{
    bool counts = doing->rounds >= 0;
    entry->fields |= HS_FIELD_AMMO | HS_FIELD_RELOADING;
    entry->ammo = counts ? doing->rounds : 1;
    entry->reloading = doing->reloading;
    if (entry->ammo > 0 && !entry->reloading)
        server->empty_since[who] = 0;
    else if (server->empty_since[who] == 0)
        server->empty_since[who] = server->now;
}

static void fill_entry(struct server *server, unsigned who, size_t tick, struct hs_sim_pose *pose,
                       struct hs_player_frame *entry)
{
    static const struct hs_str stances[2] = {{"stand", 5}, {"crouch", 6}};
    static const struct hs_str teams[2] = {{"red", 3}, {"blue", 4}};
    const struct hs_person *person = hs_crowd_at(server->crowd, who, tick);
    const struct hs_doing *doing = hs_client_doing(&server->clients[who], server->now);
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
        .weapon = hs_name_str(&server->game.arena->weapons[person->arm]->name),
        .event = event_of(&server->posted[who], pose),
        .alive = person->alive,
        .is_protected = person->is_protected,
        .life = (int64_t)person->life,
        .interp_us = (int32_t)hs_seconds_to_us(server->clients[who].interp),
    };
    if (measure_ping(server, who, tick)) {
        entry->fields |= HS_FIELD_RTT;
        entry->rtt_us = server->pings_us[who][(server->ping_count[who] - 1) % PINGS];
    }
    if (server->game.tells_ammo && doing != NULL)
        tell_ammo(server, who, doing, entry);
}

static bool post_frame(struct server *server, size_t tick)
{
    struct hs_player_frame entries[HS_CROWD];
    enum hs_frame_result results[HS_CROWD];
    unsigned flags = 0;
    struct hs_film *film = &server->game.film;
    struct hs_film_frame *frame = &film->frames[film->count];
    frame->time = server->now;
    for (unsigned who = 0; who < HS_CROWD; who++)
        fill_entry(server, who, tick, &frame->people[who], &entries[who]);
    memcpy(server->posted, frame->people, sizeof server->posted);
    film->count++;
    const struct hs_frame posted = {
        .time_us = server->now_us, .players = entries, .player_count = HS_CROWD};
    if (!hs_match_post_frame(server->match, &posted, results, &flags))
        return false;
    if ((film->count - 1) % server->snapshot_every == 0)
        for (unsigned who = 0; who < HS_CROWD; who++)
            hs_client_send_snapshot(&server->clients[who], &server->game, film->count - 1);
    return true;
}

/* ---- judging ---- */

/* Fired by somebody who had been dead for longer than the rules forgive, and did not know. */
static bool is_in_vain(const struct server *server, const struct hs_mail *mail)
{
    double grace = hs_seconds(server->game.arena->ruleset->hit.death_grace_us);
    return hs_crowd_dead_for(server->crowd, mail->from, hs_seconds(mail->hit.fire_time_us)) > grace;
}

static void note_example(struct server *server, const struct hs_mail *mail, bool is_forged,
                         enum hs_forgery forgery)
{
    const struct hs_hit_result *result = &server->result;
    struct hs_example example = {.is_forged = is_forged,
                                 .is_shot = mail->is_shot,
                                 .link = server->clients[mail->from].link.kind,
                                 .arm = mail->arm,
                                 .forgery = forgery,
                                 .reason = result->reason,
                                 .margin = result->has_margin ? result->margin : 0,
                                 .age = server->now - hs_seconds(mail->hit.hit_time_us),
                                 .fire_age = server->now - hs_seconds(mail->hit.fire_time_us),
                                 .match = server->skirmish->number};
    for (int i = 0; i < result->check_count; i++) {
        if (result->checks[i].reason == result->reason) {
            example.measured = result->checks[i].measured;
            example.limit = result->checks[i].limit;
        }
    }
    hs_score_example(server->score, &example);
}

static void count_honest(struct server *server, const struct hs_mail *mail, struct hs_count *count)
{
    const struct hs_hit_result *result = &server->result;
    if (is_in_vain(server, mail)) {
        count->in_vain++;
        return;
    }
    count->reasons[result->reason]++;
    if (result->verdict != HS_VERDICT_ACCEPTED)
        note_example(server, mail, false, HS_FORGERIES);
    else if (result->would_reject_count > 0)
        count->would_reject++;
}

static bool judge_shot(struct server *server, const struct hs_mail *mail)
{
    int64_t forward_us;
    hs_shot_verify(server->match, &mail->shot, server->now_us, &server->result, &forward_us);
    count_honest(server, mail, &server->score->shots[server->clients[mail->from].link.kind]);
    return hs_shot_note(server->match, &mail->shot, &server->result, HS_STR("{}"));
}

static void judge_forged(struct server *server, const struct hs_mail *mail, enum hs_forgery kind)
{
    struct hs_hit_claim claim = hs_mail_hit(mail);
    hs_hit_verify(server->match, &claim, server->now_us, &server->result);
    server->score->forged[kind].reasons[server->result.reason]++;
    if (server->result.verdict != HS_VERDICT_REJECTED)
        note_example(server, mail, true, kind);
}

/* What the shooter can have seen, by the round trips that were posted of him. */
static void expect_time(struct server *server, unsigned who)
{
    unsigned count = server->ping_count[who] < PINGS ? server->ping_count[who] : PINGS;
    int32_t least = INT32_MAX, most = 0;
    for (unsigned i = 0; i < count; i++) {
        least = server->pings_us[who][i] < least ? server->pings_us[who][i] : least;
        most = server->pings_us[who][i] > most ? server->pings_us[who][i] : most;
    }
    double newest = server->now - server->clients[who].interp;
    server->forger.now = server->now;
    server->forger.expected[0] = newest - hs_seconds(most);
    server->forger.expected[1] = newest - hs_seconds(least);
}

static void forge_all(struct server *server, const struct hs_mail *mail, bool after)
{
    struct hs_mail forged;
    expect_time(server, mail->from);
    for (int kind = 0; kind < HS_FORGERIES; kind++)
        if ((kind == HS_FORGERY_NUMBER) == after &&
            hs_forge_honest(&server->forger, (enum hs_forgery)kind, mail, &forged))
            judge_forged(server, &forged, (enum hs_forgery)kind);
}

/* Forgeries are judged before the claim they are made of is booked: all of them are new then. */
static bool judge_hit(struct server *server, const struct hs_mail *mail)
{
    struct hs_hit_claim claim = hs_mail_hit(mail);
    enum hs_link_kind link = server->clients[mail->from].link.kind;
    hs_hit_verify(server->match, &claim, server->now_us, &server->result);
    count_honest(server, mail, &server->score->honest[link][mail->arm]);
    bool accepted = server->result.verdict == HS_VERDICT_ACCEPTED;
    if (accepted) {
        forge_all(server, mail, false);
        hs_hit_verify(server->match, &claim, server->now_us, &server->result);
    }
    if (!hs_hit_note(server->match, &claim, &server->result, HS_STR("{}")))
        return false;
    if (accepted)
        forge_all(server, mail, true);
    return true;
}

/* The next thing that has arrived, in order of arrival; NULL: nothing more. */
static struct hs_mail *next_arrived(struct server *server)
{
    struct hs_mail *next = NULL;
    for (size_t i = 0; i < server->box.count; i++) {
        struct hs_mail *mail = &server->box.mails[i];
        if (mail->arrival > server->now)
            continue;
        if (next == NULL || mail->arrival < next->arrival ||
            (mail->arrival == next->arrival && mail->order < next->order))
            next = mail;
    }
    return next;
}

static bool deliver(struct server *server)
{
    struct hs_mail *next;
    while ((next = next_arrived(server)) != NULL) {
        struct hs_mail mail = *next;
        *next = server->box.mails[--server->box.count];
        if (!(mail.is_shot ? judge_shot(server, &mail) : judge_hit(server, &mail)))
            return false;
    }
    return true;
}

/* Now and then somebody who may not tries to shoot: a dead one, or one with an empty weapon. */
static void shoot_unlawfully(struct server *server)
{
    unsigned who = hs_dice_pick(&server->forger.dice, HS_CROWD);
    struct hs_mail forged;
    double grace = hs_seconds(server->game.arena->ruleset->hit.death_grace_us);
    bool dead = hs_crowd_dead_for(server->crowd, who, server->now) > grace + 0.1;
    bool empty =
        server->empty_since[who] > 0 && server->now > server->empty_since[who] + 0.15 && !dead;
    if (server->game.posts_shots || (!dead && !empty) || server->ping_count[who] == 0)
        return;
    expect_time(server, who);
    if (hs_forge_shot(&server->forger, who, &forged))
        judge_forged(server, &forged, dead ? HS_FORGERY_DEAD : HS_FORGERY_EMPTY);
}

static bool step(struct server *server, size_t tick)
{
    server->now = hs_crowd_time(tick);
    server->now_us = hs_crowd_time_us(tick);
    if (tick % server->frame_every == 0 && !post_frame(server, tick))
        return false;
    if (!deliver(server))
        return false;
    if (server->now < hs_crowd_time(0) + WARM_UP)
        return true;
    shoot_unlawfully(server);
    for (unsigned who = 0; who < HS_CROWD; who++) {
        struct hs_client *client = &server->clients[who];
        hs_client_frame(client, &server->game, server->now + client->phase, &server->box);
    }
    return !server->box.failed;
}

bool hs_skirmish_play(const struct hs_skirmish *skirmish, struct hs_score *score)
{
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL)
        return false;
    server->skirmish = skirmish;
    server->score = score;
    bool good = set_up(server);
    for (size_t tick = 0; good && tick < server->ticks; tick++)
        good = step(server, tick);
    if (good)
        score->hints |= hs_match_hint_codes(server->match);
    tear_down(server);
    free(server);
    return good;
}
