/* Counts the answers of the hint rules (hints_rules.c). A mistake becomes a hint if enough claims
   show it, and if these claims come from more than half of the shooters. */
#include "validators/hit/hints.h"

#include <stdio.h>
#include <stdlib.h>

#include "validators/base/units.h"
#include "validators/hints.h"
#include "validators/history/rewind.h"

enum {
    /* Number of claims before the first hint. With fewer claims, a few cheaters could cause a
       hint. */
    FIRST_CLAIMS = 100,
    MIN_RELEVANT = 30, /* minimum number of claims that could show the mistake */
    /* At this number of relevant claims, the counts are halved, so that a hint disappears soon
       after the mistake is corrected. */
    MAX_RELEVANT = 128,
    /* Up to this number, every claim is sampled. Later, one claim in 16 is sampled to save time. */
    ALL_OF_FIRST = 256,
    SAMPLED_BITS = 4,
    /* Work units (work.h) for testing paths of a claim; a rig with 20 hitboxes needs 3000 for
       all shifts. */
    WORK_MAX = 4000
};

static unsigned bits(uint32_t set)
{
    unsigned count = 0;
    for (; set != 0; set &= set - 1)
        count++;
    return count;
}

static void add_shooter(struct hs_shooter_set *set, const struct hs_player *shooter)
{
    set->now |= 1u << (shooter->hash >> 7 & 31);
}

static void age_shooters(struct hs_shooter_set *set)
{
    set->before = set->now;
    set->now = 0;
}

/* ---- learning ---- */

/* Selects one claim in 16 at irregular intervals (Knuth's multiplicative hash). With regular
   intervals, some shooters who fire in turn might never be selected. */
static bool is_sampled(uint32_t heard)
{
    return heard <= ALL_OF_FIRST || heard * UINT32_C(2654435769) >> (32 - SAMPLED_BITS) == 0;
}

static void find_pose(struct hs_claim_facts *f)
{
    const struct hs_ruleset *ruleset = f->match->ruleset;
    const struct hs_history *history = f->shooter->history;
    uint32_t count = hs_history_count(history);
    struct hs_bracket bracket;
    if (count == 0)
        return;
    const struct hs_sample *newest = hs_history_at(history, count - 1);
    /* If the claim uses another clock, the shooter has no pose at the claim's time. In this case,
       use the newest pose. */
    f->has_pose =
        hs_rewind_find(history, ruleset, f->result->eye_time_us, &bracket) == HS_REWIND_OK;
    if (!f->has_pose && hs_rewind_find(history, ruleset, newest->time_us, &bracket) != HS_REWIND_OK)
        return;
    const struct hs_state *state = hs_rewind_state(history, &bracket);
    f->newest = newest;
    f->root = hs_rewind_position(&bracket);
    f->eye = hs_rewind_eye(history, ruleset, &bracket);
    const struct hs_stance *stance = &ruleset->rigs[state->rig]->stances[state->stance];
    f->eye_height = hs_vec_length(stance->eye);
    if (!(f->eye_height > 0))
        f->eye_height = stance->reach;
    f->off = hs_vec_distance(f->claim->start, f->eye);
    f->tolerance = ruleset->hit.origin_tolerance;
    if (!bracket.held)
        f->tolerance += hs_vec_distance(bracket.from->position, bracket.to->position);
}

static void add_claim(struct hs_finding *finding, const struct hs_claim_facts *f, bool is_shown)
{
    finding->of++;
    if (is_shown) {
        double weight = finding->claims == 0 ? 1 : 0.125;
        finding->measured += weight * (f->measured - finding->measured);
        finding->expected += weight * (f->expected - finding->expected);
        finding->claims++;
        add_shooter(&finding->voices, f->shooter);
    }
    if (finding->of < MAX_RELEVANT)
        return;
    finding->of /= 2;
    finding->claims /= 2;
    age_shooters(&finding->voices);
}

void hs_hints_learn(struct hs_match *match, const struct hs_player *shooter,
                    const struct hs_hit_claim *claim, const struct hs_hit_result *result)
{
    struct hs_hints *hints = &match->hints;
    if (!match->has_frames || !hs_vec_is_within(claim->start, HS_WORLD_COORDINATE_MAX) ||
        !is_sampled(++hints->heard))
        return;
    int64_t time_us = claim->hit_time_us;
    if (claim->has_fire_time &&
        llabs(claim->fire_time_us - match->newest_us) > llabs(time_us - match->newest_us))
        time_us = claim->fire_time_us;
    struct hs_claim_facts f = {
        .match = match,
        .hints = hints,
        .claim = claim,
        .result = result,
        .shooter = shooter,
        .work = {.limit = WORK_MAX},
        .frames_jump = match->jump_count > 0,
        .time = hs_seconds(time_us),
        .now = hs_seconds(result->now_us),
        .frames = hs_seconds(match->jump_count > 0 ? match->jump_us : match->newest_us)};
    find_pose(&f);
    hs_hints_learn_offset(&f);
    add_shooter(&hints->shooters, shooter);
    if (++hints->sampled % MAX_RELEVANT == 0)
        age_shooters(&hints->shooters);
    for (int i = 0; i < HS_HINT_COUNT; i++) {
        if (hs_hint_rules[i].needs_sample && f.newest == NULL)
            continue;
        enum hs_says says = hs_hint_rules[i].says(&f);
        f.is_explained = f.is_explained || says == HS_SAYS_YES;
        if (says != HS_SAYS_NOTHING)
            add_claim(&hints->findings[i], &f, says == HS_SAYS_YES);
    }
}

/* ---- reporting ---- */

static bool is_hint(const struct hs_hints *hints, int code)
{
    const struct hs_finding *finding = &hints->findings[code];
    return hints->sampled >= FIRST_CLAIMS && finding->of >= MIN_RELEVANT &&
           (double)finding->claims > hs_hint_rules[code].share * (double)finding->of &&
           2 * bits(finding->voices.now | finding->voices.before) >
               bits(hints->shooters.now | hints->shooters.before);
}

unsigned hs_match_hint_codes(const struct hs_match *match)
{
    unsigned codes = 0;
    for (int i = 0; i < HS_HINT_COUNT; i++)
        codes |= is_hint(&match->hints, i) ? 1u << i : 0;
    return codes;
}

/* Returns the unit with the factor nearest to `factor`, by ratio. */
static int nearest_unit(double factor)
{
    int nearest = 0;
    for (int i = 1; i < HS_HINT_UNITS; i++)
        if (fabs(log(factor / hs_hint_units[i].factor)) <
            fabs(log(factor / hs_hint_units[nearest].factor)))
            nearest = i;
    return nearest;
}

static int write_number(char *out, size_t size, double value)
{
    int decimals = fabs(value) >= 100 ? 0 : fabs(value) >= 1 ? 2 : 3;
    return snprintf(out, size, "%.*f", decimals, value);
}

static void write_detail(struct hs_hint *hint)
{
    int unit = nearest_unit(hint->expected / hint->measured);
    size_t len = 0;
    for (const char *at = hs_hint_rules[hint->code].sentence; *at != '\0'; at++) {
        char *out = hint->detail + len;
        size_t size = sizeof hint->detail - len;
        if (*at != '%')
            len += (size_t)snprintf(out, size, "%c", *at);
        else if (*++at == 'm' || *at == 'e')
            len += (size_t)write_number(out, size, *at == 'm' ? hint->measured : hint->expected);
        else
            len += (size_t)snprintf(out, size, "%s",
                                    *at == 'p' ? hs_hint_units[unit].posted
                                               : hs_hint_units[unit].assumed);
        if (len >= sizeof hint->detail)
            return; /* does not happen: every sentence is shorter than the buffer */
    }
}

size_t hs_match_hints(const struct hs_match *match, struct hs_hint out[HS_HINTS_MAX])
{
    size_t count = 0;
    for (int i = 0; i < HS_HINT_COUNT && count < HS_HINTS_MAX; i++) {
        const struct hs_finding *finding = &match->hints.findings[i];
        if (!is_hint(&match->hints, i))
            continue;
        out[count] = (struct hs_hint){.code = (enum hs_hint_code)i,
                                      .claims = finding->claims,
                                      .of = finding->of,
                                      .unit = hs_hint_rules[i].unit,
                                      .measured = finding->measured,
                                      .expected = finding->expected};
        write_detail(&out[count++]);
    }
    return count;
}
