/*
 * contact: does the path touch the claimed body where it was?
 * bystander: is another body in the way?
 */
#include <float.h>

#include "contact.h"
#include "hit_context.h"

/* What the path meets besides the claimed body. */
struct others {
    const struct hs_player *player; /* the first met; NULL: none */
    struct hs_contact contact;
};

static void note_ignored(struct hs_hit_result *out, const struct hs_player *player)
{
    if (out->rewind.ignored_count < HS_MAX_IGNORED)
        out->rewind.ignored[out->rewind.ignored_count++] = player->name;
}

static void meet_others(struct hs_hit_context *c, struct others *others)
{
    const struct hs_players *players = &c->match->players;
    others->player = NULL;
    for (uint32_t i = 0; i < players->count; i++) {
        const struct hs_player *player = players->all[i];
        if (player->left || player == c->shooter.player ||
            (c->claims_target && player == c->target.player))
            continue;
        struct hs_contact contact;
        hs_contact_find(&c->path, c->ruleset, player->history, false, false, &contact);
        if (!contact.has_pose)
            note_ignored(c->out, player);
        if (!contact.touched ||
            (others->player != NULL && !hs_contact_is_before(&c->path, &contact, &others->contact)))
            continue;
        others->player = player;
        others->contact = contact;
    }
}

static void describe_impact(struct hs_hit_context *c, const struct hs_player *player,
                            const struct hs_contact *contact)
{
    const struct hs_hitbox *box = &contact->rig->hitboxes[contact->hitbox];
    c->touched = player;
    c->out->impact = (struct hs_impact){.present = true,
                                        .point = contact->detail.point,
                                        .normal = contact->detail.normal,
                                        .center = contact->detail.center,
                                        .distance = contact->detail.distance,
                                        .player = player->name,
                                        .bone = contact->rig->bones[box->bone],
                                        .zone = c->ruleset->zones[box->zone].name};
}

static void note_excluded(struct hs_hit_result *out, const struct hs_contact *contact)
{
    for (uint16_t i = 0; contact->rig != NULL && i < contact->rig->bone_count; i++)
        if (contact->excluded[i / 64] >> (i % 64) & 1)
            out->rewind.excluded_bones[out->rewind.excluded_bone_count++] = contact->rig->bones[i];
}

static void note_region(struct hs_hit_context *c, const struct hs_contact *contact)
{
    const struct hs_hitbox *box = &contact->rig->hitboxes[contact->hitbox];
    struct hs_str claimed = c->claim->claimed_bone;
    if (claimed.ptr == NULL)
        return;
    bool matches = hs_str_equal(claimed, hs_name_str(&contact->rig->bones[box->bone])) ||
                   hs_str_equal(claimed, hs_name_str(&c->ruleset->zones[box->zone].name));
    if (!matches)
        c->out->flags |= 1u << HS_FLAG_REGION_MISMATCH;
}

/* The claimed body is on the path: the rest is whether somebody stands before it. */
static void report_target_touched(struct hs_hit_context *c, const struct hs_contact *target,
                                  const struct others *others)
{
    const struct hs_hitbox *box = &target->rig->hitboxes[target->hitbox];
    c->target_touched = true;
    c->zone = box->zone;
    c->damage_distance = target->detail.distance;
    struct hs_check_row *row = hs_report_pass(c, HS_CHECK_CONTACT);
    hs_report_measure(row, HS_UNIT_LENGTH, target->gap > 0 ? target->gap : 0,
                      c->ruleset->hit.claim_padding);
    hs_report_player(row, c->target.player);
    note_region(c, target);

    bool blocked =
        others->player != NULL && hs_contact_is_before(&c->path, &others->contact, target);
    if (!blocked) {
        describe_impact(c, c->target.player, target);
        hs_report_pass(c, HS_CHECK_BYSTANDER);
        return;
    }
    describe_impact(c, others->player, &others->contact);
    row = hs_report_fail(c, HS_CHECK_BYSTANDER, HS_REASON_BLOCKED_BY_PLAYER);
    hs_report_measure(row, HS_UNIT_LENGTH, others->contact.distance, target->distance);
    hs_report_player(row, others->player);
}

static void report_target_missed(struct hs_hit_context *c, const struct hs_contact *target,
                                 const struct others *others)
{
    double padding = c->ruleset->hit.claim_padding;
    bool free_line = others->player == NULL || others->contact.distance > target->gap_distance;
    c->out->has_margin = true;
    c->out->margin = target->gap;
    if (others->player != NULL)
        describe_impact(c, others->player, &others->contact);

    struct hs_check_row *row;
    if (target->gap <= padding && padding > 0 && free_line) {
        c->is_lenient = true;
        c->zone = target->rig->hitboxes[target->gap_hitbox].zone;
        c->damage_distance = target->gap_distance;
        row = hs_report_pass(c, HS_CHECK_CONTACT);
        hs_report_player(row, c->target.player);
    } else if (others->player != NULL) {
        row = hs_report_fail(c, HS_CHECK_CONTACT, HS_REASON_WRONG_TARGET);
        hs_report_player(row, others->player);
    } else {
        row = hs_report_fail(c, HS_CHECK_CONTACT, HS_REASON_NO_INTERSECTION);
        hs_report_player(row, c->target.player);
    }
    hs_report_measure(row, HS_UNIT_LENGTH, target->gap, padding);
    if (c->is_lenient)
        hs_report_pass(c, HS_CHECK_BYSTANDER);
}

void hs_check_contact(struct hs_hit_context *c)
{
    if (!c->has_path)
        return;
    struct others others;
    meet_others(c, &others);
    if (!c->claims_target) {
        if (others.player != NULL)
            describe_impact(c, others.player, &others.contact);
        if (!c->claims_self)
            hs_report_pass(c, HS_CHECK_CONTACT);
        return;
    }
    if (c->target.status != HS_REWIND_OK) {
        hs_report_unknown(
            c, HS_CHECK_CONTACT,
            hs_missing_pose_reason(c->target.status, HS_REASON_UNKNOWN_TARGET_HISTORY));
        return;
    }
    struct hs_contact target;
    hs_contact_find(&c->path, c->ruleset, c->target.player->history, true, true, &target);
    note_excluded(c->out, &target);
    if (target.touched) {
        report_target_touched(c, &target, &others);
    } else if (target.gap == DBL_MAX) {
        /* Not one hitbox of his had a place along the path: nothing was missed, nothing is paid. */
        c->target.status = HS_REWIND_LOW_CONFIDENCE;
        hs_report_unknown(c, HS_CHECK_CONTACT, HS_REASON_LOW_CONFIDENCE_GAP);
    } else {
        report_target_missed(c, &target, &others);
    }
}
