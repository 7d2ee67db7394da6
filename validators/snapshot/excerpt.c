/* Excerpts of a match: what one verdict depends on. */
#include "validators/snapshot/excerpt.h"

#include <string.h>

#include "validators/base/units.h"
#include "validators/history/rewind.h"
#include "validators/hit.h"
#include "validators/match/players.h"
#include "validators/shot.h"

/* Samples before and after the times of a claim. They show a person how the players moved. */
enum { MARGIN = 16 };

/* The posted round trips of the shooter before `now` that are kept. match/connection.c uses four.
 */
enum { ROUND_TRIPS = 4 };

/* ---- what belongs to an excerpt ---- */

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

/* Whether the player had a pose at all times of the claim, and was never near the path. */
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
    /* The first mover is always kept: without any mover, the check of the world would not run. */
    return mover == match->movers.all || !are_apart(low, high, excerpt->low, excerpt->high);
}

bool hs_excerpt_has_number(const struct hs_excerpt *excerpt,
                           const struct hs_ledger_numbers *numbers,
                           const struct hs_ledger_entry *entry)
{
    int64_t apart_us = entry->hit_time_us - excerpt->until_us;
    bool is_posted = excerpt->posted != NULL && entry->number == excerpt->posted->number;
    return entry->number == excerpt->shot || is_posted ||
           (numbers->has_accepted && entry->number == numbers->last_accepted) ||
           (apart_us <= HS_OFFSET_WINDOW_US &&
            excerpt->from_us - entry->hit_time_us <= HS_OFFSET_WINDOW_US);
}

/* ---- samples ---- */

struct range {
    uint32_t from, posed_from, until; /* [from, until); samples before posed_from have no bones */
};

/* Whether the player is dead or protected in a sample. Such samples are kept back to the first one,
   because a refusal says since when. */
static bool is_out(const struct hs_history *history, uint32_t i)
{
    const struct hs_state *state = hs_history_state(history, hs_history_at(history, i));
    return !state->alive || state->is_protected;
}

/* The samples around the times of the excerpt. */
static struct range range_of(const struct hs_excerpt *excerpt, const struct hs_history *history,
                             bool of_mover, bool is_shooter)
{
    int64_t count = hs_history_count(history);
    int64_t from = hs_history_find(history, excerpt->from_us) - MARGIN;
    int64_t until = hs_history_find(history, excerpt->until_us) + 2 + MARGIN;
    struct range range = {.until = (uint32_t)(until > count || is_shooter ? count : until)};
    range.from = range.posed_from = (uint32_t)(from > 0 ? from : 0);
    while (!of_mover && range.from > 0 && is_out(history, range.from))
        range.from--;
    int found = 0;
    for (int64_t i = count - 1; is_shooter && i >= 0 && found < ROUND_TRIPS; i--) {
        const struct hs_sample *sample = hs_history_at(history, (uint32_t)i);
        found += sample->rtt_posted && sample->time_us <= excerpt->until_us ? 1 : 0;
        if (i < range.from)
            range.from = (uint32_t)i;
    }
    return range;
}

static void put_floats(const float *from, size_t count, struct hs_bytes *out)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, &from[i], sizeof word);
        hs_bytes_put(out, word, sizeof word);
    }
}

static void get_floats(struct hs_loading *l, float *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word = (uint32_t)hs_bytes_get(&l->reader, sizeof word);
        memcpy(&to[i], &word, sizeof word);
        l->is_damaged = l->is_damaged || !isfinite(to[i]);
    }
}

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

static size_t present_words(const struct hs_posted_pose *pose)
{
    return ((size_t)pose->bone_count + 63) / 64;
}

static void put_pose(const struct hs_posted_pose *pose, struct hs_bytes *out)
{
    hs_bytes_put(out, pose != NULL, 1);
    if (pose == NULL)
        return;
    put_floats(&pose->reach, 1, out);
    hs_bytes_put(out, pose->has_eye, 1);
    hs_bytes_put(out, pose->stride, 1);
    hs_bytes_put(out, pose->bone_count, 2);
    for (int i = 0; i < 3; i++)
        hs_bytes_put_real(out, pose->eye[i]);
    for (size_t i = 0; i < present_words(pose); i++)
        hs_bytes_put(out, pose->present[i], 8);
    for (uint16_t b = 0; b < pose->bone_count; b++)
        if (hs_posted_pose_has_bone(pose, b))
            put_floats(&pose->bones[(size_t)b * pose->stride], pose->stride, out);
}

/* Reads a posted pose into `space` and returns it. NULL: none was saved, or it is damaged. */
static const struct hs_posted_pose *get_pose(struct hs_loading *l,
                                             union hs_posted_pose_space *space)
{
    struct hs_posted_pose *pose = &space->posted_pose;
    if (!hs_loading_flag(l))
        return NULL;
    *pose = (struct hs_posted_pose){0};
    get_floats(l, &pose->reach, 1);
    pose->has_eye = hs_loading_flag(l);
    pose->stride = (uint8_t)hs_bytes_get_max(&l->reader, 1, HS_BONE_FLOATS_SCALED);
    pose->bone_count = (uint16_t)hs_bytes_get_max(&l->reader, 2, HS_MAX_BONES);
    for (int i = 0; i < 3; i++) {
        pose->eye[i] = hs_bytes_get_real(&l->reader);
        l->is_damaged = l->is_damaged || !isfinite(pose->eye[i]);
    }
    for (size_t i = 0; i < present_words(pose); i++)
        pose->present[i] = hs_bytes_get(&l->reader, 8);
    l->is_damaged = l->is_damaged || (pose->bone_count > 0 && pose->stride < HS_BONE_FLOATS) ||
                    !(pose->reach >= 0);
    memset(pose->bones, 0, sizeof(float) * pose->bone_count * pose->stride);
    for (uint16_t b = 0; b < pose->bone_count; b++)
        if (hs_posted_pose_has_bone(pose, b))
            get_floats(l, &pose->bones[(size_t)b * pose->stride], pose->stride);
    return pose;
}

static void put_sample(const struct hs_history *history, const struct hs_sample *sample,
                       bool has_pose, struct hs_bytes *out)
{
    hs_bytes_put(out, (uint64_t)sample->time_us, 8);
    put_vec(sample->position, out);
    put_floats(sample->rotation, 4, out);
    put_floats(sample->aim, 3, out);
    hs_bytes_put(out, (uint32_t)sample->rtt_us, 4);
    hs_bytes_put(out, (uint32_t)sample->interp_us, 4);
    hs_bytes_put(out, sample->event, 1);
    hs_bytes_put(out, sample->rtt_posted, 1);
    put_pose(has_pose ? hs_history_posted_pose(history, sample) : NULL, out);
}

static struct hs_sample get_sample(struct hs_loading *l)
{
    struct hs_sample sample = {.time_us = hs_loading_time(l), .posted_pose = HS_NO_POSTED_POSE};
    sample.position = get_vec(l);
    get_floats(l, sample.rotation, 4);
    get_floats(l, sample.aim, 3);
    sample.rtt_us = hs_loading_delay(l);
    sample.interp_us = hs_loading_delay(l);
    sample.event = (uint8_t)hs_bytes_get_max(&l->reader, 1, HS_EVENT_LAUNCH);
    sample.rtt_posted = hs_loading_flag(l);
    return sample;
}

/* ---- states ---- */

static void put_player_state(const struct hs_match *match, const struct hs_state *state,
                             struct hs_bytes *out)
{
    hs_saved_put(out, HS_SAVED_STATE, state);
    hs_bytes_put(out, state->tells_stance, 1);
    hs_bytes_put(out, state->stale, 1);
    hs_bytes_put_name(out, state->team == HS_NONE ? "" : match->teams[state->team].text);
}

static void get_player_state(struct hs_loading *l, struct hs_state *state)
{
    hs_loading_get(l, HS_SAVED_STATE, state);
    state->tells_stance = hs_loading_flag(l);
    state->stale = (uint8_t)hs_bytes_get_max(&l->reader, 1, HS_STALE_ALL);
    struct hs_str team = hs_loading_name(l, true);
    state->team = HS_NONE;
    if (hs_loading_is_fine(l) &&
        (!hs_loading_is_state(l, state) ||
         (team.len > 0 && !hs_match_intern_team(l->match, team, &state->team))))
        l->is_damaged = true;
}

/* Writes the samples of a player, or of a mover if `match` is NULL. */
static void put_history(const struct hs_excerpt *excerpt, const struct hs_match *match,
                        const struct hs_history *history, bool is_shooter, struct hs_bytes *out)
{
    struct range range = range_of(excerpt, history, match == NULL, is_shooter);
    const struct hs_sample *before = NULL;
    hs_bytes_put(out, range.until - range.from, 4);
    for (uint32_t i = range.from; i < range.until; i++) {
        const struct hs_sample *sample = hs_history_at(history, i);
        bool is_same = before != NULL && before->state == sample->state;
        put_sample(history, sample, i >= range.posed_from, out);
        hs_bytes_put(out, is_same, 1);
        if (!is_same && match != NULL) {
            put_player_state(match, hs_history_state(history, sample), out);
        } else if (!is_same) {
            const struct hs_mover_state *state = hs_history_mover_state(history, sample);
            hs_saved_put(out, HS_SAVED_MOVER_STATE, state);
            hs_bytes_put(out, state->is_stale, 1);
        }
        before = sample;
    }
}

/* Reads the samples of a player or of a mover into an empty history. */
static void get_history(struct hs_loading *l, struct hs_history *history, bool of_mover)
{
    struct hs_state player = {0};
    struct hs_mover_state mover = {0};
    union hs_posted_pose_space space;
    uint64_t count = hs_bytes_get_max(&l->reader, 4, l->match->limits.samples);
    for (uint64_t i = 0; i < count && hs_loading_is_fine(l); i++) {
        struct hs_sample sample = get_sample(l);
        const struct hs_posted_pose *pose = get_pose(l, &space);
        bool is_same = hs_loading_flag(l);
        if (!is_same && of_mover) {
            hs_loading_get(l, HS_SAVED_MOVER_STATE, &mover);
            mover.is_stale = hs_loading_flag(l);
        } else if (!is_same) {
            get_player_state(l, &player);
        }
        if (!hs_loading_is_fine(l))
            return;
        const void *state = of_mover ? (const void *)&mover : &player;
        enum hs_insert_result result =
            hs_history_insert(history, &l->match->ruleset->history, &sample, state, pose);
        l->is_damaged = result != HS_INSERT_STORED;
    }
}

/* ---- parts of a match ---- */

void hs_excerpt_put_match(const struct hs_match *match, struct hs_bytes *out)
{
    hs_bytes_put(out, match->has_frames, 1);
    hs_bytes_put(out, (uint64_t)match->window_start_us, 8);
    hs_bytes_put(out, match->has_lost_shots, 1);
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
    match->lost_from_us = (int64_t)hs_bytes_get(&l->reader, 8);
    match->lost_until_us = (int64_t)hs_bytes_get(&l->reader, 8);
    match->players.evict_before_us = (int64_t)hs_bytes_get(&l->reader, 8);
}

void hs_excerpt_put_mover(const struct hs_excerpt *excerpt, const struct hs_mover *mover,
                          struct hs_bytes *out)
{
    put_history(excerpt, NULL, mover->history, false, out);
}

void hs_excerpt_get_mover(struct hs_loading *l, struct hs_mover *mover)
{
    get_history(l, mover->history, true);
}

static void put_lacks(const struct hs_ledger_numbers *numbers, struct hs_bytes *out)
{
    hs_bytes_put(out, numbers->lacks_some, 1);
    hs_bytes_put(out, (uint64_t)numbers->lacked_from_us, 8);
    hs_bytes_put(out, (uint64_t)numbers->lacked_until_us, 8);
}

static void get_lacks(struct hs_loading *l, struct hs_ledger_numbers *numbers)
{
    numbers->lacks_some = hs_loading_flag(l);
    numbers->lacked_from_us = (int64_t)hs_bytes_get(&l->reader, 8);
    numbers->lacked_until_us = (int64_t)hs_bytes_get(&l->reader, 8);
}

void hs_excerpt_put_player(const struct hs_excerpt *excerpt, const struct hs_match *match,
                           const struct hs_player *player, struct hs_bytes *out)
{
    hs_bytes_put(out, player->has_spawned, 1);
    hs_bytes_put(out, (uint64_t)player->spawned_us, 8);
    put_vec(player->spawn_place, out);
    put_lacks(&player->ledger.hits, out);
    put_lacks(&player->ledger.shots, out);
    put_history(excerpt, match, player->history, hs_excerpt_is_shooter(excerpt, player), out);
}

void hs_excerpt_get_player(struct hs_loading *l, struct hs_player *player)
{
    player->has_spawned = hs_loading_flag(l);
    player->spawned_us = (int64_t)hs_bytes_get(&l->reader, 8);
    player->spawn_place = get_vec(l);
    get_lacks(l, &player->ledger.hits);
    get_lacks(l, &player->ledger.shots);
    get_history(l, player->history, false);
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

/* Adds every place where a player's body was. These bounds also contain their eye and contacts. */
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

/* The bounds of a trace grow by this. It covers the sphere, the blast, and the sag of a flight (g
   T^2 / 8 for a flight of T seconds). */
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
    excerpt.claim = claim;
    extend(&excerpt, claim->hit_time_us);
    extend(&excerpt, result->rewind.time_us);
    if (claim->has_fire_time)
        extend(&excerpt, claim->fire_time_us);
    if (!claim->has_no_end)
        widen(&excerpt, claim->end);
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
