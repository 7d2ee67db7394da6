/* Selects the parts of a match that one verdict depends on, and saves them as an excerpt. */
#include "validators/snapshot/excerpt.h"

#include <string.h>

#include "validators/base/units.h"
#include "validators/history/rewind.h"
#include "validators/hit.h"
#include "validators/hit/booking.h"
#include "validators/match/players.h"
#include "validators/shot.h"

/* ---- the selection of players, movers and numbers ---- */

static bool are_apart(struct hs_vec low, struct hs_vec high, struct hs_vec other_low,
                      struct hs_vec other_high)
{
    return low.x > other_high.x || low.y > other_high.y || low.z > other_high.z ||
           high.x < other_low.x || high.y < other_low.y || high.z < other_low.z;
}

static struct hs_vec grown(struct hs_vec v, double by)
{
    return (struct hs_vec){v.x + by, v.y + by, v.z + by};
}

static bool is_named(const struct hs_excerpt *excerpt, const struct hs_player *player)
{
    struct hs_str name = hs_name_str(&player->name);
    const struct hs_hit_claim *claim = excerpt->claim;
    if (hs_str_equal(name, excerpt->shooter))
        return true;
    if (claim == NULL)
        return false;
    bool named = hs_str_equal(name, claim->target);
    for (size_t i = 0; i < claim->victim_count; i++)
        named = named || hs_str_equal(name, claim->victims[i]);
    for (size_t i = 0; i < claim->pellet_count; i++)
        named = named || hs_str_equal(name, claim->pellets[i].target);
    return named;
}

/* Returns whether the player was certainly never near the path. Returns false if the player's
   history contains a gap or does not cover all times of the claim. */
static bool is_far(const struct hs_excerpt *excerpt, const struct hs_match *match,
                   const struct hs_player *player)
{
    const struct hs_ruleset *ruleset = match->ruleset;
    const struct hs_history_span *span = hs_history_span(player->history);
    if (span == NULL || span->oldest_us > excerpt->from_us ||
        excerpt->until_us - span->newest_us > ruleset->rewind.future_slack_us ||
        span->longest_gap_us > ruleset->history.max_gap_us)
        return false;
    double reach = hs_larger(span->posted_reach, ruleset->reach) * (1 + 4 * HS_TOUCH_SLACK);
    return are_apart(grown(span->low, -reach), grown(span->high, reach), excerpt->low,
                     excerpt->high);
}

bool hs_excerpt_is_shooter(const struct hs_excerpt *excerpt, const struct hs_player *player)
{
    return hs_str_equal(hs_name_str(&player->name), excerpt->shooter);
}

bool hs_excerpt_has_player(const struct hs_excerpt *excerpt, const struct hs_match *match,
                           const struct hs_player *player)
{
    bool is_bystander = excerpt->claim != NULL && !player->left &&
                        hs_history_count(player->history) > 0 && !is_far(excerpt, match, player);
    return is_bystander || is_named(excerpt, player);
}

bool hs_excerpt_has_mover(const struct hs_excerpt *excerpt, const struct hs_match *match,
                          const struct hs_mover *mover)
{
    struct hs_vec low, high;
    hs_mover_surroundings(mover, &low, &high);
    /* Keep the first mover even if it is far away, because the check `world` is skipped in a match
       that has neither a map nor a mover. */
    return mover == match->movers.all || !are_apart(low, high, excerpt->low, excerpt->high);
}

/* If two ends are further apart than this share of the trace's length, the two ends belong to
   different traces. The share is ten times the share in hs_ledger_is_same_trace. */
#define NEAR_SHARE 1e-5

/* Returns whether two places are further apart than `distance` along at least one axis. */
static bool are_far(struct hs_vec a, struct hs_vec b, double distance)
{
    return fabs(a.x - b.x) > distance || fabs(a.y - b.y) > distance || fabs(a.z - b.z) > distance;
}

/* Returns whether the check `trajectory` may compare the claim with this entry. If the claim has no
   end, or if the excerpt is for a posted shot, returns true for every entry near the times of the
   excerpt. */
static bool may_be_same_trace(const struct hs_excerpt *excerpt, const struct hs_ledger_entry *entry)
{
    const struct hs_hit_claim *claim = excerpt->claim;
    /* are_far is a fast test that excludes most entries. hs_hit_repeats_trace is the exact test. */
    if (claim != NULL && !claim->has_no_end)
        return entry->accepted &&
               (claim->pellet_count > 0 || !are_far(entry->end, claim->end, excerpt->near)) &&
               hs_hit_repeats_trace(claim, entry);
    return entry->hit_time_us - excerpt->until_us <= HS_OFFSET_WINDOW_US &&
           excerpt->from_us - entry->hit_time_us <= HS_OFFSET_WINDOW_US;
}

bool hs_excerpt_has_number(const struct hs_excerpt *excerpt,
                           const struct hs_ledger_numbers *numbers,
                           const struct hs_ledger_entry *entry)
{
    bool is_posted = excerpt->posted != NULL && entry->number == excerpt->posted->number;
    return entry->number == excerpt->shot || is_posted || entry == excerpt->low_offset ||
           entry == excerpt->high_offset ||
           (numbers->has_accepted && entry->number == numbers->last_accepted) ||
           may_be_same_trace(excerpt, entry);
}

/* ---- parts of a match ---- */

static void put_vec(struct hs_vec v, struct hs_bytes *out)
{
    hs_bytes_put_real(out, v.x);
    hs_bytes_put_real(out, v.y);
    hs_bytes_put_real(out, v.z);
}

static struct hs_vec get_vec(struct hs_loading *l)
{
    struct hs_vec v;
    v.x = hs_bytes_get_real(&l->reader);
    v.y = hs_bytes_get_real(&l->reader);
    v.z = hs_bytes_get_real(&l->reader);
    l->is_damaged = l->is_damaged || !hs_vec_is_finite(v);
    return v;
}

void hs_excerpt_put_match(const struct hs_match *match, struct hs_bytes *out)
{
    hs_bytes_put(out, match->has_frames, 1);
    hs_bytes_put(out, (uint64_t)match->window_start_us, 8);
    hs_bytes_put(out, match->has_lost_shots, 1);
    hs_bytes_put(out, match->has_lost_payments, 1);
    hs_bytes_put(out, (uint64_t)match->lost_from_us, 8);
    hs_bytes_put(out, (uint64_t)match->lost_until_us, 8);
    hs_bytes_put(out, (uint64_t)match->players.evict_before_us, 8);
}

void hs_excerpt_get_match(struct hs_loading *l)
{
    struct hs_match *match = l->match;
    match->has_frames = hs_loading_flag(l);
    match->window_start_us = (int64_t)hs_bytes_get(&l->reader, 8);
    match->has_lost_shots = hs_loading_flag(l);
    match->has_lost_payments = hs_loading_flag(l);
    match->lost_from_us = (int64_t)hs_bytes_get(&l->reader, 8);
    match->lost_until_us = (int64_t)hs_bytes_get(&l->reader, 8);
    match->players.evict_before_us = (int64_t)hs_bytes_get(&l->reader, 8);
}

void hs_excerpt_put_mover(struct hs_excerpt *excerpt, const struct hs_mover *mover,
                          struct hs_bytes *out)
{
    hs_excerpt_put_history(excerpt, NULL, mover->history, false, out);
}

void hs_excerpt_get_mover(struct hs_loading *l, struct hs_mover *mover)
{
    hs_excerpt_get_history(l, mover->history, true);
}

static void put_lacks(const struct hs_ledger_numbers *numbers, struct hs_bytes *out)
{
    hs_bytes_put(out, numbers->lacks_some, 1);
    if (!numbers->lacks_some)
        return;
    hs_bytes_put(out, (uint64_t)numbers->lacked_from_us, 8);
    hs_bytes_put(out, (uint64_t)numbers->lacked_until_us, 8);
}

static void get_lacks(struct hs_loading *l, struct hs_ledger_numbers *numbers)
{
    numbers->lacks_some = hs_loading_flag(l);
    if (!numbers->lacks_some)
        return;
    numbers->lacked_from_us = (int64_t)hs_bytes_get(&l->reader, 8);
    numbers->lacked_until_us = (int64_t)hs_bytes_get(&l->reader, 8);
}

void hs_excerpt_put_player(struct hs_excerpt *excerpt, const struct hs_match *match,
                           const struct hs_player *player, struct hs_bytes *out)
{
    hs_bytes_put(out, player->has_spawned, 1);
    if (player->has_spawned) {
        hs_bytes_put(out, (uint64_t)player->spawned_us, 8);
        put_vec(player->spawn_place, out);
    }
    put_lacks(&player->ledger.hits, out);
    put_lacks(&player->ledger.shots, out);
    hs_excerpt_put_history(excerpt, match, player->history, hs_excerpt_is_shooter(excerpt, player),
                           out);
}

void hs_excerpt_get_player(struct hs_loading *l, struct hs_player *player)
{
    player->has_spawned = hs_loading_flag(l);
    if (player->has_spawned) {
        player->spawned_us = (int64_t)hs_bytes_get(&l->reader, 8);
        player->spawn_place = get_vec(l);
    }
    get_lacks(l, &player->ledger.hits);
    get_lacks(l, &player->ledger.shots);
    hs_excerpt_get_history(l, player->history, false);
    hs_players_update(&l->match->players, player);
}

/* ---- the excerpt of a claim or of a posted shot ---- */

static void widen(struct hs_excerpt *excerpt, struct hs_vec point)
{
    excerpt->low = hs_vec_min(excerpt->low, point);
    excerpt->high = hs_vec_max(excerpt->high, point);
}

static void extend(struct hs_excerpt *excerpt, int64_t time_us)
{
    excerpt->from_us = time_us < excerpt->from_us ? time_us : excerpt->from_us;
    excerpt->until_us = time_us > excerpt->until_us ? time_us : excerpt->until_us;
}

/* Extends the bounds to all places where the player's body was. The bounds then also contain the
   player's eye and all contacts with the body. */
static void widen_by_player(struct hs_excerpt *excerpt, const struct hs_match *match,
                            struct hs_str name)
{
    const struct hs_player *player =
        name.ptr != NULL ? hs_players_find(&match->players, name) : NULL;
    const struct hs_history_span *span = player != NULL ? hs_history_span(player->history) : NULL;
    if (span == NULL)
        return;
    double reach = 2 * hs_larger(span->posted_reach, match->ruleset->reach);
    widen(excerpt, grown(span->low, -reach));
    widen(excerpt, grown(span->high, reach));
}

/* Returns the distance by which the bounds of a trace are extended. The distance covers the radius
   of the sphere, the radius of the blast, and the sag of the trajectory, which is g T^2 / 8 for a
   flight of T seconds. */
static double slack_of(const struct hs_match *match, const struct hs_hit_result *result)
{
    const struct hs_ruleset *ruleset = match->ruleset;
    double slack = ruleset->hit.sweep_extension + ruleset->hit.claim_padding +
                   ruleset->hit.origin_tolerance + ruleset->reach;
    if (result->weapon == HS_NONE)
        return slack;
    const struct hs_weapon *weapon = ruleset->weapons[result->weapon];
    double seconds = hs_seconds(weapon->max_flight_us);
    slack += weapon->radius + weapon->gravity * seconds * seconds / 8;
    return slack + (weapon->has_blast ? weapon->blast.radius : 0);
}

static const struct hs_ledger_entry *find_posted(const struct hs_ledger_numbers *shots,
                                                 uint16_t weapon)
{
    for (uint32_t i = 0; i < shots->count; i++)
        if (shots->entries[i].shot != NULL && shots->entries[i].shot->weapon == weapon)
            return &shots->entries[i];
    return shots->count > 0 ? &shots->entries[0] : NULL;
}

static void find_offsets(struct hs_excerpt *excerpt, const struct hs_ledger_numbers *hits,
                         int64_t hit_time_us)
{
    for (uint32_t i = 0; i < hits->count; i++) {
        const struct hs_ledger_entry *entry = &hits->entries[i];
        if (!hs_ledger_is_compared(entry, hit_time_us))
            continue;
        if (excerpt->low_offset == NULL || entry->offset_us < excerpt->low_offset->offset_us)
            excerpt->low_offset = entry;
        if (excerpt->high_offset == NULL || entry->offset_us > excerpt->high_offset->offset_us)
            excerpt->high_offset = entry;
    }
}

static struct hs_excerpt begin(const struct hs_match *match, struct hs_str shooter, uint64_t shot,
                               struct hs_vec start, const struct hs_hit_result *result)
{
    struct hs_excerpt excerpt = {.shooter = shooter, .shot = shot, .low = start, .high = start};
    excerpt.from_us = excerpt.until_us = result->fire_time_us;
    extend(&excerpt, result->eye_time_us);
    extend(&excerpt, result->now_us);
    widen_by_player(&excerpt, match, shooter);
    const struct hs_player *player = hs_players_find(&match->players, shooter);
    if (player != NULL)
        excerpt.posted = find_posted(&player->ledger.shots, result->weapon);
    return excerpt;
}

static void finish(const struct hs_match *match, struct hs_excerpt *excerpt,
                   const struct hs_hit_result *result, struct hs_bytes *out)
{
    double slack = slack_of(match, result);
    slack += 1e-9 * (hs_vec_largest(excerpt->low) + hs_vec_largest(excerpt->high));
    excerpt->low = grown(excerpt->low, -slack);
    excerpt->high = grown(excerpt->high, slack);
    hs_excerpt_save(match, excerpt, out);
}

void hs_hit_save_excerpt(const struct hs_match *match, const struct hs_hit_claim *claim,
                         const struct hs_hit_result *result, struct hs_bytes *out)
{
    struct hs_excerpt excerpt = begin(match, claim->shooter, claim->shot, claim->start, result);
    const struct hs_player *player = hs_players_find(&match->players, claim->shooter);
    excerpt.claim = claim;
    if (player != NULL)
        find_offsets(&excerpt, &player->ledger.hits, claim->hit_time_us);
    extend(&excerpt, claim->hit_time_us);
    extend(&excerpt, result->rewind.time_us);
    if (claim->has_fire_time)
        extend(&excerpt, claim->fire_time_us);
    if (!claim->has_no_end) {
        widen(&excerpt, claim->end);
        excerpt.near = NEAR_SHARE * hs_vec_distance(claim->start, claim->end);
    }
    widen(&excerpt, result->end);
    widen_by_player(&excerpt, match, claim->target);
    for (size_t i = 0; i < claim->pellet_count; i++)
        widen(&excerpt, claim->pellets[i].end);
    finish(match, &excerpt, result, out);
}

void hs_shot_save_excerpt(const struct hs_match *match, const struct hs_shot_claim *claim,
                          const struct hs_hit_result *result, struct hs_bytes *out)
{
    struct hs_excerpt excerpt = begin(match, claim->shooter, claim->shot, claim->origin, result);
    extend(&excerpt, claim->time_us);
    finish(match, &excerpt, result, out);
}
