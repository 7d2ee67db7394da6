/* Evaluates one claim or posted shot: lookups, checks, verdict, damage. */
#include "validators/base/digest.h"
#include "validators/hit/checks.h"
#include "validators/hit/encounter.h"
#include "validators/hit/work.h"
#include "validators/match/player_moves.h"

/* ---- parts of the answer other than the verdict ---- */

static void describe_rewind(struct hs_hit_context *c)
{
    struct hs_rewind_info *info = &c->out->rewind;
    info->time_us = c->contact_us;
    info->by_us = c->now_us - c->contact_us;
    if (!c->claims_target || c->target.status != HS_REWIND_OK)
        return;
    const struct hs_bracket *bracket = &c->target.bracket;
    info->present = true;
    info->time_us = bracket->time_us;
    info->from_us = bracket->from->time_us;
    info->to_us = bracket->to->time_us;
    info->alpha = bracket->alpha;
    info->clamped = bracket->clamped;
    info->held = bracket->held;
    if (bracket->clamped)
        c->out->flags |= 1u << HS_FLAG_CLAMPED_TO_NEWEST;
}

/* Returns how many bodies one pellet of a claim can hurt by contact. */
static double pierceable(const struct hs_hit_context *c)
{
    double pierce = (double)c->weapon->pierce, victims = (double)c->claim->victim_count;
    return 1 + (c->ruleset->hit.resolve == HS_RESOLVE_TOUCHED ? pierce : fmin(pierce, victims));
}

/* Flags a claimed radius that is not the weapon's. */
static void compare_radius(struct hs_hit_context *c)
{
    const struct hs_hit_claim *claim = c->claim;
    if (c->weapon != NULL && claim->has_radius &&
        fabs(claim->radius - c->weapon->radius) > 0.01 * c->weapon->radius)
        c->out->flags |= 1u << HS_FLAG_RADIUS_FORGED;
}

/* Flags a claimed damage that is impossible with this weapon. The claimed damage may be the sum
   over all victims. A blast may also hurt players whom the claim does not name, so a claim of at
   most the computed damage is never flagged. Call this after hs_hit_damage. */
static void compare_damage(struct hs_hit_context *c)
{
    const struct hs_hit_claim *claim = c->claim;
    if (c->weapon == NULL || !claim->has_claimed_damage)
        return;
    double factor = 1, falloff = 1;
    for (int i = 0; i < c->ruleset->zone_count; i++)
        factor = fmax(factor, c->weapon->zone_factor[i]);
    for (int i = 0; i < c->weapon->falloff_count; i++)
        falloff = fmax(falloff, c->weapon->falloff[i].factor);
    double max = c->weapon->damage * factor * falloff * (double)c->weapon->pellets * pierceable(c);
    if (c->weapon->has_blast)
        max += c->weapon->blast.damage * (double)(1 + c->claim->victim_count);
    max = fmax(max * hs_damage_scale(c), c->out->damage_total);
    if (claim->claimed_damage > max * (1 + 1e-9))
        c->out->flags |= 1u << HS_FLAG_DAMAGE_FORGED;
}

/* Flags hits during a packet burst of the shooter's moves. Lag switches cause such bursts, but
   so do bad connections. */
static void compare_moves(struct hs_hit_context *c)
{
    const struct hs_player *shooter = c->shooter.player;
    if (c->is_shot || shooter == NULL || shooter->moves == NULL)
        return;
    const struct hs_timing *timing = &shooter->moves->checks.timing;
    if (hs_timing_was_in_burst(timing, c->fire_time_us) ||
        hs_timing_was_in_burst(timing, c->now_us))
        c->out->flags |= 1u << HS_FLAG_DURING_BURST;
}

/* ---- the checks ---- */

/* With hit.resolve `touched`, the first body on the path is the target, even if the claim names
   another player. */
static void resolve_target(struct hs_hit_context *c)
{
    if (c->ruleset->hit.resolve != HS_RESOLVE_TOUCHED || c->is_shot || !c->has_path ||
        c->claims_self || c->claim->pellet_count > 0)
        return;
    hs_find_touched(c, &c->path, &c->target);
    c->claims_target = c->claims_target || c->target.player != NULL;
}

static const struct {
    enum hs_reason (*run)(struct hs_hit_context *c, struct hs_check_row *row);
    enum hs_check_stage stage;
} checks[HS_CHECK_COUNT] = {
#define X(id, name, mode, stage) {hs_check_##name, HS_CHECK_STAGE_##stage},
    HS_CHECKS(X)
#undef X
};

/* The result of sweeping a claim's path, or the paths of its pellets. */
union meeting {
    struct hs_encounter encounter;
    struct hs_volley volley;
};

static void meet(struct hs_hit_context *c, union meeting *meeting)
{
    if (c->encounter != NULL || c->volley != NULL)
        return;
    if (c->claim->pellet_count > 0) {
        hs_volley_find(c, &meeting->volley);
        c->volley = &meeting->volley;
    } else {
        hs_encounter_of_claim(c, &meeting->encounter);
        c->encounter = &meeting->encounter;
    }
}

/* Sweeps the path of a projectile before the checks run, because many checks use the time of the
   contact. */
static void settle_flight(struct hs_hit_context *c, union meeting *meeting)
{
    if (c->is_shot || !c->has_path || c->path.flight_legs == 0 || c->claim->pellet_count > 0)
        return;
    meet(c, meeting);
    hs_encounter_settle(c, c->encounter);
}

/* Clears a row. Names are large, so only their first byte is cleared. */
static void begin_row(struct hs_check_row *row, enum hs_check check, enum hs_mode mode)
{
    row->check = check;
    row->outcome = HS_OUTCOME_PASS;
    row->reason = HS_REASON_OK;
    row->mode = mode;
    row->unit = HS_UNIT_NONE;
    row->measured = row->limit = 0;
    row->player.text[0] = row->mover.text[0] = '\0';
    row->of_posted_shot = row->of_whole_flight = row->of_fire_time = false;
}

/* Returns whether the check added its row. */
static bool run_check(struct hs_hit_context *c, enum hs_check check, struct hs_check_row *row)
{
    static const enum hs_outcome outcomes[HS_VERDICT_COUNT] = {HS_OUTCOME_PASS, HS_OUTCOME_FAIL,
                                                               HS_OUTCOME_UNKNOWN};
    begin_row(row, check, hs_hit_mode(c, check));
    enum hs_reason reason = checks[check].run(c, row);
    if (reason == HS_NO_ROW || row->mode == HS_MODE_OFF)
        return false;
    row->reason = reason;
    row->outcome = outcomes[hs_reason_verdict(reason)];
    c->out->check_count++;
    return true;
}

/* Runs the checks that apply, in order of precedence. If nothing names a weapon and the weapon
   check is enforced, the checks after the weapon check do not run. These later checks need the
   weapon. Without the weapon, the later checks could reject an honest claim. */
static void run_checks(struct hs_hit_context *c, union meeting *meeting)
{
    struct hs_check_row *row = c->out->checks;
    bool ends_at_weapon = c->lacks_weapon && hs_hit_mode(c, HS_CHECK_WEAPON) == HS_MODE_ENFORCE;
    int count = ends_at_weapon ? HS_CHECK_WEAPON + 1 : HS_CHECK_COUNT;
    for (int i = 0; i < count; i++) {
        enum hs_check_stage stage = checks[i].stage;
        bool needs_path = stage == HS_CHECK_STAGE_PATH;
        if (c->is_shot ? stage < HS_CHECK_STAGE_SHOT : needs_path && !c->has_path)
            continue;
        if (needs_path)
            meet(c, meeting);
        row += run_check(c, (enum hs_check)i, row);
    }
    c->encounter = NULL;
    c->volley = NULL;
}

/* ---- the verdict ---- */

/* Adds a reason to the list only once, because several checks can have the same reason, for example
   a missing pose. */
static void add_would_reject(struct hs_hit_result *out, enum hs_reason reason)
{
    for (uint16_t i = 0; i < out->would_reject_count; i++)
        if (out->would_reject[i] == reason)
            return;
    out->would_reject[out->would_reject_count++] = reason;
}

/* Sets the verdict. The first enforced check that failed decides. If no enforced check failed, the
   first enforced check with missing data decides. */
static void decide(struct hs_hit_context *c)
{
    struct hs_hit_result *out = c->out;
    out->verdict = HS_VERDICT_ACCEPTED;
    out->reason = c->is_lenient ? HS_REASON_OK_LENIENT : HS_REASON_OK;
    for (int i = 0; i < out->check_count; i++) {
        const struct hs_check_row *row = &out->checks[i];
        bool fails = row->outcome == HS_OUTCOME_FAIL;
        if (row->outcome == HS_OUTCOME_PASS)
            continue;
        if (row->mode == HS_MODE_SHADOW) {
            add_would_reject(out, row->reason);
        } else if (c->bursts && hs_reason_is_about_target(row->reason)) {
            continue;
        } else if (out->verdict == HS_VERDICT_ACCEPTED ||
                   (fails && out->verdict == HS_VERDICT_INCONCLUSIVE)) {
            out->verdict = fails ? HS_VERDICT_REJECTED : HS_VERDICT_INCONCLUSIVE;
            out->reason = row->reason;
        }
    }
    if (c->is_lenient && out->verdict == HS_VERDICT_ACCEPTED)
        out->flags |= 1u << HS_FLAG_LENIENT;
}

/* ---- the budget ---- */

/* Returns the numbers that the cost of a prepared claim depends on. */
static struct hs_hit_size size_of(const struct hs_hit_context *c)
{
    /* For a posted shot, no bodies are tested. Only the line from the eye to the start is
       tested. */
    struct hs_hit_size size = {.bodies = c->is_shot ? 0 : c->match->players.count,
                               .near = HS_WORK_NEAR_BODIES,
                               .hitboxes = hs_ruleset_hitboxes(c->ruleset),
                               .legs = c->path.flight_legs,
                               .pellets = c->claim->pellet_count,
                               .victims = c->claim->victim_count,
                               .movers = c->match->movers.count,
                               .sweeps_twice = c->ruleset->hit.resolve == HS_RESOLVE_TOUCHED,
                               .has_blast =
                                   !c->is_shot && c->weapon != NULL && c->weapon->has_blast};
    if (c->weapon != NULL && size.pellets > (uint64_t)c->weapon->pellets)
        size.pellets = (uint64_t)c->weapon->pellets;
    if (c->match->world != NULL) {
        struct hs_world_info info;
        hs_world_info(c->match->world, &info);
        size.triangles = info.triangles + info.boxes;
    }
    return size;
}

/* Prepares a claim. Returns whether its evaluation may begin: its estimated work is within the
   limit, or `is_whole` is set. */
static bool may_begin(struct hs_hit_context *c, bool is_whole)
{
    bool is_bound = c->work.limit != 0 && !is_whole;
    if (is_bound && c->work.limit < HS_WORK_CLAIM)
        return false;
    hs_hit_prepare(c);
    hs_work_spend(&c->work, (uint64_t)c->path.flight_legs * HS_WORK_FLIGHT_LEG);
    if (!is_bound)
        return true;
    struct hs_hit_size size = size_of(c);
    return hs_hit_work(&size) <= c->work.limit;
}

void hs_hit_clear(struct hs_hit_result *out)
{
    memset(out, 0, offsetof(struct hs_hit_result, checks));
    memset(&out->rewind, 0, offsetof(struct hs_rewind_info, excluded_bones));
    out->remaining_flight_us = -1;
}

/* Sets the result of a claim that exceeds its work limit. */
static void give_up(struct hs_hit_context *c)
{
    struct hs_digest digest = c->out->digest;
    hs_hit_clear(c->out);
    c->out->digest = digest;
    c->out->verdict = HS_VERDICT_INCONCLUSIVE;
    c->out->reason = HS_REASON_OVER_BUDGET;
    c->out->rewind.time_us = c->claim->hit_time_us;
    c->out->rewind.by_us = c->now_us - c->claim->hit_time_us;
    c->out->weapon = HS_NONE;
    c->out->fire_time_us = c->claim->has_fire_time ? c->claim->fire_time_us : c->claim->hit_time_us;
    c->out->work = c->work.spent;
}

/* ---- all steps ---- */

struct hs_digest hs_hit_digest(const struct hs_hit_claim *claim)
{
    struct hs_digest digest = {{1, 2}};
    hs_digest_word(&digest, claim->shot);
    hs_digest_str(&digest, claim->shooter);
    hs_digest_str(&digest, claim->weapon);
    hs_digest_str(&digest, claim->target);
    hs_digest_str(&digest, claim->claimed_bone);
    hs_digest_word(&digest, (uint64_t)claim->hit_time_us);
    hs_digest_word(&digest, claim->has_fire_time ? (uint64_t)claim->fire_time_us : UINT64_MAX);
    hs_digest_vec(&digest, claim->start);
    hs_digest_vec(&digest, claim->end);
    hs_digest_word(&digest, (uint64_t)claim->has_radius * 2 + claim->has_claimed_damage);
    hs_digest_real(&digest, claim->radius);
    hs_digest_real(&digest, claim->claimed_damage);
    hs_digest_word(&digest, (uint64_t)claim->has_no_end * 8 + (uint64_t)claim->has_velocity * 4 +
                                claim->fuse);
    hs_digest_vec(&digest, claim->velocity);
    hs_digest_word(&digest, claim->pellet_count);
    for (size_t i = 0; i < claim->pellet_count; i++) {
        hs_digest_vec(&digest, claim->pellets[i].end);
        hs_digest_str(&digest, claim->pellets[i].target);
    }
    hs_digest_word(&digest, claim->victim_count);
    for (size_t i = 0; i < claim->victim_count; i++)
        hs_digest_str(&digest, claim->victims[i]);
    return hs_digest_end(digest);
}

const struct hs_ledger_entry *hs_hit_find_earlier(struct hs_hit_context *c)
{
    const struct hs_player *shooter = hs_players_find(&c->match->players, c->claim->shooter);
    c->shooter.player = shooter;
    if (shooter == NULL)
        return NULL;
    const struct hs_ledger_entry *entry =
        hs_ledger_find(c->is_shot ? &shooter->ledger.shots : &shooter->ledger.hits, c->claim->shot);
    return entry != NULL && entry->answer != NULL ? entry : NULL;
}

void hs_hit_begin(struct hs_hit_context *c, const struct hs_match *match, int64_t now_us,
                  uint64_t limit, struct hs_hit_result *out)
{
    memset(c, 0, offsetof(struct hs_hit_context, path));
    c->match = match;
    c->ruleset = match->ruleset;
    c->now_us = now_us;
    c->work.limit = limit;
    c->out = out;
}

void hs_hit_evaluate(struct hs_hit_context *c, const struct hs_ledger_entry *earlier,
                     struct hs_digest digest, bool is_whole)
{
    struct hs_hit_result *out = c->out;
    hs_hit_clear(out);
    out->digest = digest;
    c->work.spent = out->work = HS_WORK_REPLAY;
    if (earlier != NULL && earlier->digest.word[0] == digest.word[0] &&
        earlier->digest.word[1] == digest.word[1]) {
        out->replay = earlier;
        return;
    }
    if (!may_begin(c, is_whole)) {
        give_up(c);
        return;
    }
    hs_work_spend(&c->work, HS_WORK_CLAIM + c->claim->pellet_count * HS_WORK_PELLET +
                                c->claim->victim_count * HS_WORK_VICTIM);
    union meeting meeting;
    resolve_target(c);
    settle_flight(c, &meeting);
    describe_rewind(c);
    compare_radius(c);
    compare_moves(c);
    run_checks(c, &meeting);
    if (hs_work_is_over(&c->work)) {
        give_up(c);
        return;
    }
    decide(c);
    hs_volley_describe_only(c);
    hs_hit_damage(c);
    compare_damage(c);
    out->weapon = c->weapon != NULL ? c->weapon_index : HS_NONE;
    out->now_us = c->now_us;
    out->fire_time_us = c->fire_time_us;
    out->eye_time_us = c->eye_time_us;
    out->shot_was_posted = c->posted != NULL;
    out->end = c->claim->end;
    out->is_instant = hs_hit_is_instant(c);
    out->work = c->work.spent;
}

void hs_hit_verify_within(const struct hs_match *match, const struct hs_hit_claim *claim,
                          int64_t now_us, uint64_t limit, bool is_whole, struct hs_hit_result *out)
{
    struct hs_hit_context c;
    hs_hit_begin(&c, match, now_us, limit, out);
    c.claim = claim;
    hs_hit_evaluate(&c, hs_hit_find_earlier(&c), hs_hit_digest(claim), is_whole);
}

void hs_hit_verify(const struct hs_match *match, const struct hs_hit_claim *claim, int64_t now_us,
                   struct hs_hit_result *out)
{
    hs_hit_verify_within(match, claim, now_us, 0, true, out);
}
