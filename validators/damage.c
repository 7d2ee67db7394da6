/* Damage: weapon x zone x falloff x the shooter's scale, from the ruleset and the frames alone. */
#include "hit_context.h"

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

/* The zone a claimed bone belongs to: a zone by that name, or the first hitbox on that bone. */
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

/* With contact only observed, a missed claim is paid as it was made. */
static bool pay_as_claimed(struct hs_hit_context *c)
{
    if (hs_hit_mode(c, HS_CHECK_CONTACT) == HS_MODE_ENFORCE)
        return false;
    uint16_t rig = hs_rewind_state(c->target.player->history, &c->target.bracket)->rig;
    c->zone = claimed_zone(c, c->ruleset->rigs[rig]);
    c->damage_distance = c->trace_length;
    return true;
}

void hs_hit_damage(struct hs_hit_context *c)
{
    struct hs_hit_result *out = c->out;
    bool pays =
        out->verdict == HS_VERDICT_ACCEPTED && c->claims_target && c->weapon != NULL &&
        c->target.status == HS_REWIND_OK &&
        (c->shooter.status == HS_REWIND_OK || c->launch_forgotten || c->shooter_not_needed) &&
        (out->flags & 1u << HS_FLAG_TARGET_DEAD_NOW) == 0;
    if (!pays || (!c->target_touched && !c->is_lenient && !pay_as_claimed(c)))
        return;
    double scale = 1;
    if (c->shooter.status == HS_REWIND_OK)
        scale = hs_rewind_state(c->shooter.player->history, &c->shooter.bracket)->damage_scale;
    double zone = c->zone == HS_NONE ? 1 : c->weapon->zone_factor[c->zone];
    struct hs_damage *damage = &out->damage[out->damage_count++];
    *damage = (struct hs_damage){
        .player = c->target.player->name,
        .amount = c->weapon->damage * zone * hs_falloff(c->weapon, c->damage_distance) * scale,
        .distance = c->damage_distance,
    };
    if (c->zone != HS_NONE)
        damage->zone = c->ruleset->zones[c->zone].name;
    if (out->impact.present && c->touched == c->target.player)
        damage->bone = out->impact.bone;
    out->damage_total = damage->amount;
}
