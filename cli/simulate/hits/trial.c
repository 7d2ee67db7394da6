#include "cli/simulate/hits/simulation.h"

#include <stdlib.h>

#include "cli/simulate/skirmish.h"
#include "validators/base/units.h"
#include "validators/hints.h"
#include "validators/match.h"

struct trial {
    uint64_t number;
    struct hs_skirmish *skirmish;
    struct hs_match *match;
    struct hs_score *score;
    struct hs_hit_result result;
};

/* The rates of different game servers. Their frames and snapshots per second are: 60 and 60, 60 and
   30, 30 and 30, 20 and 20. */
static const struct {
    size_t frame_every, snapshot_every;
} rates[] = {{1, 1}, {1, 2}, {2, 1}, {3, 1}};
enum { RATES = sizeof rates / sizeof rates[0] };

/* Sets up a trial. The number of the trial also decides what the game server posts, and how
   often. */
static bool set_up(struct trial *trial, const struct hs_simulation *simulation,
                   const struct hs_sim_arena *arena)
{
    uint64_t rate = trial->number % RATES, turn = trial->number / RATES;
    uint64_t seed = hs_seed_of(simulation->seed, trial->number);
    const struct hs_skirmish_setup setup = {
        .arena = arena,
        .seed = seed,
        .link = simulation->link,
        .first_link = (unsigned)(seed % HS_LINKS),
        .arm = -1,
        .seconds = simulation->seconds,
        .stamp_error = simulation->stamp_error,
        .frame_every = rates[rate].frame_every,
        .snapshot_every = rates[rate].snapshot_every,
        .posts_shots = turn % 2 == 1,
        .posts_ammo = turn % 3 == 1,
        .ends_at_impact = turn % 5 < 2,
    };
    const struct hs_match_limits limits = {.players = HS_CROWD, .samples = 256};
    trial->skirmish = hs_skirmish_create(&setup);
    trial->match = hs_match_create(arena->ruleset, &limits);
    if (trial->skirmish == NULL || trial->match == NULL)
        return false;
    hs_match_set_world(trial->match, arena->world);
    return true;
}

static void add_example(struct trial *trial, const struct hs_mail *mail, enum hs_forgery forgery)
{
    const struct hs_hit_result *result = &trial->result;
    double now = trial->skirmish->now;
    struct hs_example example = {.is_shot = mail->is_shot,
                                 .link = trial->skirmish->clients[mail->from].link.kind,
                                 .arm = mail->arm,
                                 .forgery = forgery,
                                 .reason = result->reason,
                                 .margin = result->has_margin ? result->margin : 0,
                                 .age = now - hs_seconds(mail->hit.hit_time_us),
                                 .fire_age = now - hs_seconds(mail->hit.fire_time_us),
                                 .match = trial->number};
    for (int i = 0; i < result->check_count; i++) {
        if (result->checks[i].reason == result->reason) {
            example.measured = result->checks[i].measured;
            example.limit = result->checks[i].limit;
        }
    }
    hs_score_example(trial->score, &example);
}

static void count_honest(struct trial *trial, const struct hs_mail *mail, struct hs_count *count)
{
    const struct hs_hit_result *result = &trial->result;
    if (hs_skirmish_is_in_vain(trial->skirmish, mail)) {
        count->in_vain++;
        return;
    }
    count->reasons[result->reason]++;
    if (result->verdict != HS_VERDICT_ACCEPTED)
        add_example(trial, mail, HS_FORGERIES);
    else if (result->would_reject_count > 0)
        count->would_reject++;
}

static bool verify_shot(struct trial *trial, const struct hs_mail *mail)
{
    int64_t forward_us;
    const struct hs_skirmish *skirmish = trial->skirmish;
    hs_shot_verify(trial->match, &mail->shot, skirmish->now_us, &trial->result, &forward_us);
    count_honest(trial, mail, &trial->score->shots[skirmish->clients[mail->from].link.kind]);
    return hs_shot_record(trial->match, &mail->shot, &trial->result, HS_STR("{}"));
}

/* Returns the reason for which the claimed target was refused, or the reason of the verdict. The
   service may accept a claim and refuse its target, for example if a rocket exploded at a wall. */
static enum hs_reason forged_reason(const struct hs_hit_claim *claim,
                                    const struct hs_hit_result *result)
{
    for (uint16_t i = 0; i < result->refused_count; i++)
        if (result->verdict == HS_VERDICT_ACCEPTED &&
            hs_str_equal(hs_name_str(&result->refused[i].player), claim->target))
            return result->refused[i].reason;
    return result->reason;
}

static void verify_forged(struct trial *trial, const struct hs_mail *mail, enum hs_forgery kind)
{
    struct hs_hit_claim claim = hs_mail_claim(mail);
    hs_hit_verify(trial->match, &claim, trial->skirmish->now_us, &trial->result);
    enum hs_reason reason = forged_reason(&claim, &trial->result);
    trial->score->forged[kind].reasons[reason]++;
    if (hs_reason_verdict(reason) != HS_VERDICT_REJECTED)
        add_example(trial, mail, kind);
}

static void forge_all(struct trial *trial, const struct hs_mail *mail, bool is_booked)
{
    hs_skirmish_expect(trial->skirmish, mail->from);
    for (int kind = 0; kind < HS_FORGERIES; kind++) {
        struct hs_mail forged = *mail;
        if ((kind == HS_FORGERY_NUMBER) == is_booked &&
            hs_forge(&trial->skirmish->forger, (enum hs_forgery)kind, &forged))
            verify_forged(trial, &forged, (enum hs_forgery)kind);
    }
}

/* Verifies a hit claim. If the claim is accepted, also verifies forgeries of this claim. Most
   forgeries have the same shot number as the honest claim, so they are verified before the honest
   claim is recorded. */
static bool verify_hit(struct trial *trial, const struct hs_mail *mail)
{
    struct hs_hit_claim claim = hs_mail_claim(mail);
    int64_t now_us = trial->skirmish->now_us;
    enum hs_link_kind link = trial->skirmish->clients[mail->from].link.kind;
    hs_hit_verify(trial->match, &claim, now_us, &trial->result);
    count_honest(trial, mail, &trial->score->honest[link][mail->arm]);
    bool accepted = trial->result.verdict == HS_VERDICT_ACCEPTED;
    if (accepted) {
        forge_all(trial, mail, false);
        hs_hit_verify(trial->match, &claim, now_us, &trial->result);
    }
    if (!hs_hit_record(trial->match, &claim, &trial->result, HS_STR("{}")))
        return false;
    if (accepted)
        forge_all(trial, mail, true);
    return true;
}

/* Picks a random player. If this player must not fire now (dead, or with an empty or reloading
   weapon), forges a shot by this player. */
static void shoot_forbidden(struct trial *trial)
{
    struct hs_skirmish *skirmish = trial->skirmish;
    unsigned who = hs_dice_pick(&skirmish->forger.dice, HS_CROWD);
    struct hs_mail forged;
    double grace = hs_seconds(skirmish->game.arena->ruleset->hit.death_grace_us);
    bool dead = hs_crowd_dead_for(skirmish->crowd, who, skirmish->now) > grace + 0.1;
    bool empty = skirmish->empty_since[who] > 0 &&
                 skirmish->now > skirmish->empty_since[who] + 0.15 && !dead;
    if ((!dead && !empty) || !hs_skirmish_expect(skirmish, who))
        return;
    if (hs_forge_shot(&skirmish->forger, who, &forged))
        verify_forged(trial, &forged, dead ? HS_FORGERY_DEAD : HS_FORGERY_EMPTY);
}

static bool verify_tick(struct trial *trial)
{
    struct hs_skirmish *skirmish = trial->skirmish;
    enum hs_frame_result results[HS_CROWD];
    struct hs_mail mail;
    unsigned flags = 0;
    bool good = skirmish->frame == NULL ||
                hs_match_post_frame(trial->match, skirmish->frame, results, &flags);
    while (good && hs_skirmish_take(skirmish, &mail))
        good = mail.is_shot ? verify_shot(trial, &mail) : verify_hit(trial, &mail);
    if (good && hs_skirmish_is_warm(skirmish))
        shoot_forbidden(trial);
    return good;
}

bool hs_trial_run(const struct hs_simulation *simulation, const struct hs_sim_arena *arena,
                  uint64_t number, struct hs_score *score)
{
    struct trial *trial = calloc(1, sizeof *trial);
    if (trial == NULL)
        return false;
    trial->number = number;
    trial->score = score;
    bool good = set_up(trial, simulation, arena);
    while (good && hs_skirmish_begin(trial->skirmish)) {
        good = verify_tick(trial);
        hs_skirmish_end(trial->skirmish);
    }
    good = good && !trial->skirmish->failed;
    if (good)
        score->hints |= hs_match_hint_codes(trial->match);
    hs_match_destroy(trial->match);
    hs_skirmish_destroy(trial->skirmish);
    free(trial);
    return good;
}
