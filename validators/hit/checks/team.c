/* team: do the rules allow the shooter to hurt the target? */
#include "validators/hit/checks.h"

static uint16_t team_of(const struct hs_view *view)
{
    if (view->status != HS_REWIND_OK)
        return HS_NONE;
    return hs_rewind_state(view->player->history, &view->bracket)->team;
}

/* If the shooter's pose is no longer in the history, the team in the posted shot is used. */
bool hs_are_team_mates(const struct hs_hit_context *c, const struct hs_view *view)
{
    uint16_t team = team_of(view);
    if (team == HS_NONE)
        return false;
    if (c->shooter.status == HS_REWIND_OK)
        return team == team_of(&c->shooter);
    const struct hs_posted_shot *shot = c->posted != NULL ? c->posted->shot : NULL;
    return shot != NULL && shot->has_team &&
           shot->team_hash == hs_str_hash(hs_name_str(&c->match->teams[team]));
}

enum hs_reason hs_check_team(struct hs_hit_context *c, struct hs_check_row *row)
{
    if (hs_hit_aims_at_others(c))
        return HS_REASON_OK;
    if (c->claims_self)
        return HS_REASON_SELF_HIT;
    if (!c->claims_target || c->ruleset->hit.friendly_fire || !hs_are_team_mates(c, &c->target))
        return HS_REASON_OK;
    hs_report_player(row, c->target.player);
    return HS_REASON_FRIENDLY_FIRE;
}
