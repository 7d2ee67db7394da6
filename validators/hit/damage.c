/* Computes the damage: the weapon's damage x zone x falloff x the shooter's scale. All factors
   come from the ruleset and the frames. */
#include "validators/hit/context.h"

double hs_falloff(const struct hs_weapon *weapon, double distance)
{
    const struct hs_falloff_point *points = weapon->falloff;
    uint16_t count = weapon->falloff_count;
    if (count == 0)
        return 1;
    if (distance <= points[0].distance)
        return points[0].factor;
    for (uint16_t i = 1; i < count; i++) {
        if (distance > points[i].distance)
            continue;
        double span = points[i].distance - points[i - 1].distance;
        double share = (distance - points[i - 1].distance) / span;
        return points[i - 1].factor + (points[i].factor - points[i - 1].factor) * share;
    }
    return points[count - 1].factor;
}

/* Returns the claimed zone. `claimed_bone` names a zone or a bone. The zone of a bone is the zone
   of its first hitbox. */
static uint16_t claimed_zone(const struct hs_hit_context *c, const struct hs_rig *rig)
{
    struct hs_str claimed = c->claim->claimed_bone;
    if (claimed.ptr == NULL)
        return HS_NONE;
    uint16_t zone = hs_ruleset_find_zone(c->ruleset, claimed);
    uint16_t bone = hs_rig_find_bone(rig, claimed);
    for (uint16_t i = 0; zone == HS_NONE && bone != HS_NONE && i < rig->hitbox_count; i++)
        if (rig->hitboxes[i].bone == bone)
            zone = rig->hitboxes[i].zone;
    return zone;
}

/* If the claim misses its target, but the contact check is not enforced, adds the damage for the
   claimed bone. */
static void land_as_claimed(struct hs_hit_context *c)
{
    bool observed = hs_hit_mode(c, HS_CHECK_CONTACT) != HS_MODE_ENFORCE && !c->bursts;
    if (!observed || !c->claims_target || c->target.status != HS_REWIND_OK ||
        c->claim->pellet_count > 0)
        return;
    for (uint16_t i = 0; i < c->landed_count; i++)
        if (c->landed[i].player == c->target.player && c->landed[i].cause == HS_CAUSE_DIRECT)
            return;
    uint16_t rig = hs_rewind_state(c->target.player->history, &c->target.bracket)->rig;
    hs_land(c, &(struct hs_landed){.player = c->target.player,
                                   .cause = HS_CAUSE_DIRECT,
                                   .zone = claimed_zone(c, c->ruleset->rigs[rig]),
                                   .distance = c->trace_length,
                                   .pellets = 1});
}

static double amount_of(const struct hs_hit_context *c, const struct hs_landed *landed,
                        double scale)
{
    if (landed->cause == HS_CAUSE_BLAST)
        return c->weapon->blast.damage * landed->share * scale;
    double zone = landed->zone == HS_NONE ? 1 : c->weapon->zone_factor[landed->zone];
    return c->weapon->damage * zone * hs_falloff(c->weapon, landed->distance) *
           (double)landed->pellets * scale;
}

/* Adds damage to the entry for the same player, cause and zone. If there is no such entry, adds an
   entry. */
static void pay(struct hs_hit_context *c, const struct hs_landed *landed, double amount)
{
    static const struct hs_name none;
    struct hs_hit_result *out = c->out;
    const struct hs_name *zone =
        landed->zone == HS_NONE ? &none : &c->ruleset->zones[landed->zone].name;
    out->damage_total += amount;
    for (uint16_t i = 0; i < out->damage_count; i++) {
        struct hs_damage *damage = &out->damage[i];
        if (damage->cause == landed->cause &&
            hs_str_equal(hs_name_str(&damage->player), hs_name_str(&landed->player->name)) &&
            hs_str_equal(hs_name_str(&damage->zone), hs_name_str(zone))) {
            damage->amount += amount;
            damage->pellets = (uint16_t)(damage->pellets + landed->pellets);
            return;
        }
    }
    if (out->damage_count == HS_MAX_DAMAGE)
        return;
    out->damage[out->damage_count++] =
        (struct hs_damage){.player = landed->player->name,
                           .amount = amount,
                           .cause = landed->cause,
                           .pellets = landed->pellets,
                           .bone = landed->bone != NULL ? *landed->bone : none,
                           .zone = *zone,
                           .distance = landed->distance};
}

/* Returns whether damage `i` does not count, because the other cause (direct hit or blast) damages
   the same body more. For a claim with pellets, the sum over all pellets is compared. Both causes
   count only if the weapon has `stack_with_direct` and the claim lists the body as a victim of the
   blast. */
static bool is_surpassed(const struct hs_hit_context *c, uint16_t i, double scale)
{
    const struct hs_landed *landed = &c->landed[i];
    double amounts[HS_CAUSE_COUNT] = {0};
    bool has_rival = false;
    if (!c->weapon->has_blast ||
        (c->weapon->blast.stack_with_direct && hs_hit_lists(c, hs_name_str(&landed->player->name))))
        return false;
    for (uint16_t k = 0; k < c->landed_count; k++) {
        const struct hs_landed *other = &c->landed[k];
        if (other->player != landed->player)
            continue;
        amounts[other->cause] += amount_of(c, other, scale);
        has_rival = has_rival || other->cause != landed->cause;
    }
    bool is_direct_larger = amounts[HS_CAUSE_DIRECT] >= amounts[HS_CAUSE_BLAST];
    return has_rival && is_direct_larger == (landed->cause == HS_CAUSE_BLAST);
}

double hs_damage_scale(const struct hs_hit_context *c)
{
    if (c->shooter.status == HS_REWIND_OK)
        return hs_rewind_state(c->shooter.player->history, &c->shooter.bracket)->damage_scale;
    /* The history no longer contains the shooter's pose, but the posted shot may contain the
       scale. */
    bool was_known = c->posted != NULL && c->posted->shot->knows_shooter;
    return was_known ? c->posted->shot->damage_scale : 1;
}

/* Returns whether the shooter's pose is known or not needed. The pose is not needed if the shot was
   posted, or if all checks that use the pose are off. */
static bool is_shooter_clear(const struct hs_hit_context *c)
{
    return c->shooter.status == HS_REWIND_OK || c->posted != NULL ||
           (hs_hit_mode(c, HS_CHECK_WEAPON) == HS_MODE_OFF &&
            hs_hit_mode(c, HS_CHECK_LIFE) == HS_MODE_OFF &&
            hs_hit_mode(c, HS_CHECK_ORIGIN) == HS_MODE_OFF &&
            hs_hit_mode(c, HS_CHECK_AIM) == HS_MODE_OFF);
}

void hs_hit_damage(struct hs_hit_context *c)
{
    if (c->out->verdict != HS_VERDICT_ACCEPTED || c->weapon == NULL || !is_shooter_clear(c))
        return;
    land_as_claimed(c);
    double scale = hs_damage_scale(c);
    for (uint16_t i = 0; i < c->landed_count; i++) {
        const struct hs_landed *landed = &c->landed[i];
        if (is_surpassed(c, i, scale))
            continue;
        /* The victim was alive at the time of the hit but is dead now. Flag the claim and add no
           damage, because the victim cannot die twice. */
        if (!hs_newest_state(landed->player->history)->alive)
            c->out->flags |= 1u << HS_FLAG_TARGET_DEAD_NOW;
        else
            pay(c, landed, amount_of(c, landed, scale));
    }
}
