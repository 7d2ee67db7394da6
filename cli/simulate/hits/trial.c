#include "cli/simulate/hits/trial.h"

#include <stdlib.h>

#include "cli/simulate/skirmish.h"
#include "validators/hints.h"
#include "validators/match.h"

struct trial {
    const struct hs_trial *setup;
    struct hs_skirmish *skirmish;
    struct hs_match *match;
    struct hs_score *score;
    struct hs_hit_result result;
};

/* How often the server posts frames and sends snapshots: 60 a second and both, 60 and 30, 30 and
   both, 20 and both. */
static const struct {
    size_t frame_every, snapshot_every;
} paces[] = {{1, 1}, {1, 2}, {2, 1}, {3, 1}};
enum { PACES = sizeof paces / sizeof paces[0] };

static bool set_up(struct trial *trial)
{
    const struct hs_trial *setup = trial->setup;
    uint64_t pace = setup->number % PACES, turn = setup->number / PACES;
    const struct hs_skirmish_setup skirmish = {
        .arena = setup->arena,
        .seed = hs_seed_of(setup->seed, setup->number),
        .link = setup->link,
        .arm = -1,
        .seconds = setup->seconds,
        .stamp_error = setup->stamp_error,
        .frame_every = paces[pace].frame_every,
        .snapshot_every = paces[pace].snapshot_every,
        .posts_shots = turn % 2 == 1,
        .tells_ammo = turn % 3 == 1,
        .ends_at_impact = turn % 5 < 2,
    };
    trial->skirmish = hs_skirmish_create(&skirmish);
    trial->match = hs_match_create(setup->arena->ruleset,
                                   &(struct hs_match_limits){.players = HS_CROWD, .samples = 256});
    if (trial->skirmish == NULL || trial->match == NULL)
        return false;
    hs_match_set_world(trial->match, setup->arena->world);
    return true;
}

static void note_example(struct trial *trial, const struct hs_mail *mail, bool is_forged,
                         enum hs_forgery forgery)
{
    const struct hs_hit_result *result = &trial->result;
    double now = trial->skirmish->now;
    struct hs_example example = {.is_forged = is_forged,
                                 .is_shot = mail->is_shot,
                                 .link = trial->skirmish->clients[mail->from].link.kind,
                                 .arm = mail->arm,
                                 .forgery = forgery,
                                 .reason = result->reason,
                                 .margin = result->has_margin ? result->margin : 0,
                                 .age = now - (double)mail->hit.hit_time_us / 1e6,
                                 .fire_age = now - (double)mail->hit.fire_time_us / 1e6,
                                 .match = trial->setup->number};
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
        note_example(trial, mail, false, HS_FORGERIES);
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

static void verify_forged(struct trial *trial, const struct hs_mail *mail, enum hs_forgery kind)
{
    struct hs_hit_claim claim = hs_mail_hit(mail);
    hs_hit_verify(trial->match, &claim, trial->skirmish->now_us, &trial->result);
    trial->score->forged[kind].reasons[trial->result.reason]++;
    if (trial->result.verdict != HS_VERDICT_REJECTED)
        note_example(trial, mail, true, kind);
}

static void forge_all(struct trial *trial, const struct hs_mail *mail, bool after)
{
    struct hs_mail forged;
    hs_skirmish_expect(trial->skirmish, mail->from);
    for (int kind = 0; kind < HS_FORGERIES; kind++)
        if ((kind == HS_FORGERY_NUMBER) == after &&
            hs_forge_honest(&trial->skirmish->forger, (enum hs_forgery)kind, mail, &forged))
            verify_forged(trial, &forged, (enum hs_forgery)kind);
}

/* Forgeries are verified before the claim they are made of is booked: all of them are new then. */
static bool verify_hit(struct trial *trial, const struct hs_mail *mail)
{
    struct hs_hit_claim claim = hs_mail_hit(mail);
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

/* Now and then somebody who may not tries to shoot: a dead one, or one with an empty weapon. */
static void shoot_unlawfully(struct trial *trial)
{
    struct hs_skirmish *skirmish = trial->skirmish;
    unsigned who = hs_dice_pick(&skirmish->forger.dice, HS_CROWD);
    struct hs_mail forged;
    double grace = (double)skirmish->game.arena->ruleset->hit.death_grace_us / 1e6;
    bool dead = hs_crowd_dead_for(skirmish->crowd, who, skirmish->now) > grace + 0.1;
    bool empty = skirmish->empty_since[who] > 0 &&
                 skirmish->now > skirmish->empty_since[who] + 0.15 && !dead;
    if (skirmish->game.posts_shots || (!dead && !empty) || !hs_skirmish_expect(skirmish, who))
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
        shoot_unlawfully(trial);
    return good;
}

bool hs_trial_run(const struct hs_trial *setup, struct hs_score *score)
{
    struct trial *trial = calloc(1, sizeof *trial);
    if (trial == NULL)
        return false;
    trial->setup = setup;
    trial->score = score;
    bool good = set_up(trial);
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
