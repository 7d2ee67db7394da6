#include "validators/hit/checks.h"

#include "validators/hit/volley.h"

static void (*const checks[HS_CHECK_COUNT])(struct hs_hit_context *c) = {
#define X(id, name, mode, stage) hs_check_##name,
    HS_CHECKS(X)
#undef X
};

/* What the path of a claim meets, or each of its pellets. */
struct meeting {
    union {
        struct hs_encounter encounter;
        struct hs_volley volley;
    };
};

static void meet(struct hs_hit_context *c, struct meeting *meeting)
{
    if (c->claim->pellet_count > 0) {
        hs_volley_find(c, &meeting->volley);
        c->volley = &meeting->volley;
    } else {
        hs_encounter_of_claim(c, &meeting->encounter);
        c->encounter = &meeting->encounter;
    }
}

/*
 * Nothing names a weapon, and the weapon check decides: no later check runs. What is instant and
 * what flies, how far and how thick, is not known, so that each of them could refuse an honest
 * claim.
 */
static bool stops_without_weapon(const struct hs_hit_context *c)
{
    return c->lacks_weapon && hs_hit_mode(c, HS_CHECK_WEAPON) == HS_MODE_ENFORCE;
}

void hs_checks_run(struct hs_hit_context *c)
{
    struct meeting meeting;
    for (int i = 0; i < HS_CHECK_COUNT; i++) {
        enum hs_check_stage stage = hs_check_stage((enum hs_check)i);
        bool needs_path = stage == HS_CHECK_STAGE_PATH;
        if (c->is_shot ? stage < HS_CHECK_STAGE_SHOT : needs_path && !c->has_path)
            continue;
        if (needs_path && c->encounter == NULL && c->volley == NULL)
            meet(c, &meeting);
        checks[i](c);
        if (i == HS_CHECK_WEAPON && stops_without_weapon(c))
            break;
    }
    c->encounter = NULL;
    c->volley = NULL;
}
