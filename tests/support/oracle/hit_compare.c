#include "tests/support/oracle/hit_compare.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

static bool same_name(const struct hs_name *a, const struct hs_name *b)
{
    return strcmp(a->text, b->text) == 0;
}

static bool same_row(const struct hs_check_row *a, const struct hs_check_row *b)
{
    return a->check == b->check && a->outcome == b->outcome && a->reason == b->reason &&
           a->mode == b->mode && a->unit == b->unit && same_name(&a->player, &b->player) &&
           same_name(&a->mover, &b->mover);
}

static bool same_head(const struct hs_hit_result *a, const struct hs_hit_result *b)
{
    return a->verdict == b->verdict && a->reason == b->reason && a->flags == b->flags &&
           a->damage_count == b->damage_count && a->check_count == b->check_count &&
           a->would_reject_count == b->would_reject_count && a->pellet_count == b->pellet_count &&
           a->refused_count == b->refused_count && a->unclaimed_count == b->unclaimed_count &&
           a->has_margin == b->has_margin && a->impact.present == b->impact.present &&
           same_name(&a->impact.player, &b->impact.player) &&
           same_name(&a->impact.mover, &b->impact.mover) &&
           same_name(&a->impact.bone, &b->impact.bone) &&
           same_name(&a->impact.zone, &b->impact.zone);
}

static bool same_rewind(const struct hs_rewind_info *a, const struct hs_rewind_info *b)
{
    return a->present == b->present && a->clamped == b->clamped && a->held == b->held &&
           a->alpha == b->alpha && a->by_us == b->by_us &&
           a->excluded_bone_count == b->excluded_bone_count && a->ignored_count == b->ignored_count;
}

static bool has_name(const struct hs_name *names, int count, const struct hs_name *name)
{
    for (int i = 0; i < count; i++)
        if (same_name(&names[i], name))
            return true;
    return false;
}

static const struct hs_damage *find_damage(const struct hs_hit_result *r,
                                           const struct hs_damage *like)
{
    for (int i = 0; i < r->damage_count; i++)
        if (same_name(&r->damage[i].player, &like->player) && r->damage[i].cause == like->cause &&
            same_name(&r->damage[i].zone, &like->zone) &&
            same_name(&r->damage[i].bone, &like->bone))
            return &r->damage[i];
    return NULL;
}

bool hs_same_words(const struct hs_hit_result *a, const struct hs_hit_result *b)
{
    bool same = same_head(a, b) && same_rewind(&a->rewind, &b->rewind);
    for (int i = 0; same && i < a->check_count; i++)
        same = same_row(&a->checks[i], &b->checks[i]);
    for (int i = 0; same && i < a->damage_count; i++)
        same = find_damage(b, &a->damage[i]) != NULL &&
               find_damage(b, &a->damage[i])->pellets == a->damage[i].pellets;
    for (int i = 0; same && i < a->pellet_count; i++)
        same = a->pellets[i].outcome == b->pellets[i].outcome &&
               a->pellets[i].reason == b->pellets[i].reason &&
               same_name(&a->pellets[i].player, &b->pellets[i].player) &&
               same_name(&a->pellets[i].zone, &b->pellets[i].zone);
    for (int i = 0; same && i < a->refused_count; i++)
        same = a->refused[i].reason == b->refused[i].reason &&
               a->refused[i].has_measure == b->refused[i].has_measure &&
               same_name(&a->refused[i].player, &b->refused[i].player);
    for (int i = 0; same && i < a->unclaimed_count; i++)
        same = has_name(b->unclaimed, b->unclaimed_count, &a->unclaimed[i]);
    return same;
}

static void add_number(struct hs_numbers *n, double value, bool is_damage)
{
    n->is_damage[n->count] = is_damage;
    n->value[n->count++] = value;
}

void hs_collect_numbers(const struct hs_hit_result *r, double scale, struct hs_numbers *out)
{
    out->count = 0;
    if (r->has_margin)
        add_number(out, r->margin / scale, false);
    if (r->impact.present)
        add_number(out, r->impact.distance / scale, false);
    for (int i = 0; i < r->check_count; i++)
        if (r->checks[i].unit == HS_UNIT_LENGTH || r->checks[i].unit == HS_UNIT_SPEED) {
            add_number(out, r->checks[i].measured / scale, false);
            add_number(out, r->checks[i].limit / scale, false);
        }
    for (int i = 0; i < r->pellet_count; i++) {
        add_number(out, r->pellets[i].margin / scale, false);
        add_number(out, r->pellets[i].amount, true);
    }
    for (int i = 0; i < r->refused_count; i++)
        if (r->refused[i].has_measure)
            add_number(out, r->refused[i].measured / scale, false);
    add_number(out, r->damage_total, true);
    for (int i = 0; i < r->damage_count && out->count + 2 <= 512; i++) {
        add_number(out, r->damage[i].distance / scale, false);
        add_number(out, r->damage[i].amount, true);
    }
}

bool hs_same_bits(const struct hs_hit_result *a, const struct hs_hit_result *b)
{
    struct hs_numbers x, y;
    hs_collect_numbers(a, 1, &x);
    hs_collect_numbers(b, 1, &y);
    return x.count == y.count &&
           memcmp(x.value, y.value, sizeof x.value[0] * (size_t)x.count) == 0 &&
           memcmp(&a->impact.point, &b->impact.point, sizeof a->impact.point) == 0 &&
           memcmp(&a->impact.center, &b->impact.center, sizeof a->impact.center) == 0 &&
           memcmp(&a->impact.normal, &b->impact.normal, sizeof a->impact.normal) == 0;
}

void hs_tally_count(struct hs_tally *tally, const struct hs_hit_result *r)
{
    tally->cases++;
    tally->verdicts[r->verdict]++;
    tally->reasons[r->reason]++;
}

void hs_tally_expect_variety(const char *name, const struct hs_tally *tally)
{
    int reasons = 0;
    for (int i = 0; i < HS_REASON_COUNT; i++)
        reasons += tally->reasons[i] > 0;
    printf(
        "%s: %ld cases, %ld accepted, %ld rejected, %ld inconclusive, %d reasons, %ld left out\n",
        name, tally->cases, tally->verdicts[0], tally->verdicts[1], tally->verdicts[2], reasons,
        tally->unstable);
    if (tally->cases < 1000)
        return;
    ck_assert_int_ge(tally->verdicts[HS_VERDICT_ACCEPTED], tally->cases / 10);
    ck_assert_int_ge(tally->verdicts[HS_VERDICT_REJECTED], tally->cases / 8);
    ck_assert_int_ge(reasons, 12);
    ck_assert_int_le(tally->unstable, tally->cases / 50);
}
