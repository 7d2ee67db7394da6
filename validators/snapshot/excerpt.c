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

/* Posted round trips of the shooter before `now` (match/connection.c uses four). */
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
    /* Without any mover, the check of the world would not run. */
    return mover == match->movers.all || !are_apart(low, high, excerpt->low, excerpt->high);
}

bool hs_excerpt_has_number(const struct hs_excerpt *excerpt,
                           const struct hs_ledger_numbers *numbers,
                           const struct hs_ledger_entry *entry)
{
    bool is_posted = excerpt->posted != NULL && entry->number == excerpt->posted->number;
    return entry->number == excerpt->shot || is_posted || entry == excerpt->low_offset ||
           entry == excerpt->high_offset ||
           (numbers->has_accepted && entry->number == numbers->last_accepted);
}

/* ---- samples ---- */

struct range {
    uint32_t from, posed_from, until; /* [from, until); samples before posed_from have no bones */
};

/* Whether the player was dead, or protected, before a sample: a refusal says since when. */
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
    unsigned char *to = hs_bytes_reserve(out, count * sizeof(uint32_t));
    for (size_t i = 0; to != NULL && i < count; i++) {
        uint32_t word;
        memcpy(&word, &from[i], sizeof word);
        hs_bytes_store(to + i * sizeof word, word, sizeof word);
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

static void get_pose(struct hs_loading *l, struct hs_posted_pose *pose)
{
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
}

/*
 * A sample begins with these bits. A part whose bit is not set equals that of the sample before, or
 * is zero in the first one. Most players of an excerpt stand or walk, so it is about a third as
 * large as with all parts, and the store compresses it in a third of the time.
 */
enum {
    PART_X = 1,
    PART_Y = 2,
    PART_Z = 4,
    PART_TIME = 8, /* eight bytes; not set: four bytes, the time since the sample before */
    PART_ROTATION = 16,
    PART_AIM = 32,
    PART_RTT = 64,
    PART_INTERP = 128,
    PART_EVENT = 256,
    PART_STATE = 512,
    PART_POSE = 1024,    /* not set: the sample has no pose, or IS_SAME_POSE is set */
    IS_SAME_POSE = 2048, /* the pose equals that of the newest sample before that has one */
    IS_RTT_POSTED = 4096,
    ALL_PARTS = 8191,
    RARE_PARTS = PART_TIME | PART_ROTATION | PART_AIM | PART_RTT | PART_INTERP | PART_EVENT
};

static unsigned differs(const void *a, const void *b, size_t size, unsigned part)
{
    return memcmp(a, b, size) != 0 ? part : 0;
}

/* Returns the parts that differ from the sample before. Zero and minus zero differ. */
static unsigned changed_parts(const struct hs_sample *is, const struct hs_sample *was)
{
    uint64_t after_us = (uint64_t)is->time_us - (uint64_t)was->time_us;
    unsigned parts = differs(&is->position.x, &was->position.x, sizeof(double), PART_X) |
                     differs(&is->position.y, &was->position.y, sizeof(double), PART_Y) |
                     differs(&is->position.z, &was->position.z, sizeof(double), PART_Z);
    if (memcmp(is->rotation, was->rotation, sizeof is->rotation) != 0)
        parts |= PART_ROTATION;
    if (memcmp(is->aim, was->aim, sizeof is->aim) != 0)
        parts |= PART_AIM;
    if (is->rtt_us != was->rtt_us)
        parts |= PART_RTT;
    if (is->interp_us != was->interp_us)
        parts |= PART_INTERP;
    if (is->event != was->event)
        parts |= PART_EVENT;
    if (after_us > UINT32_MAX)
        parts |= PART_TIME;
    return is->rtt_posted ? parts | IS_RTT_POSTED : parts;
}

static bool is_same_pose(const struct hs_posted_pose *a, const struct hs_posted_pose *b)
{
    size_t bones = sizeof(float) * a->bone_count * a->stride;
    return memcmp(&a->reach, &b->reach, sizeof a->reach) == 0 && a->has_eye == b->has_eye &&
           a->stride == b->stride && a->bone_count == b->bone_count &&
           memcmp(a->eye, b->eye, sizeof a->eye) == 0 &&
           memcmp(a->present, b->present, sizeof a->present) == 0 &&
           memcmp(a->bones, b->bones, bones) == 0;
}

/* Writes a coordinate if its bit is set. Returns the end of the bytes. */
static unsigned char *put_coordinate(double value, unsigned is_set, unsigned char *to)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    hs_bytes_store(to, word, sizeof word);
    return to + (is_set != 0 ? sizeof word : 0);
}

static void put_rare_parts(const struct hs_sample *is, unsigned parts, struct hs_bytes *out)
{
    if (parts & PART_ROTATION)
        put_floats(is->rotation, 4, out);
    if (parts & PART_AIM)
        put_floats(is->aim, 3, out);
    if (parts & PART_RTT)
        hs_bytes_put(out, (uint32_t)is->rtt_us, 4);
    if (parts & PART_INTERP)
        hs_bytes_put(out, (uint32_t)is->interp_us, 4);
    if (parts & PART_EVENT)
        hs_bytes_put(out, is->event, 1);
}

static void put_sample(const struct hs_sample *is, const struct hs_sample *was, unsigned parts,
                       struct hs_bytes *out)
{
    enum { MAX_SIZE = 2 + 8 + 3 * 8 };
    unsigned char *begin = hs_bytes_reserve(out, MAX_SIZE), *to = begin;
    if (to == NULL)
        return;
    bool is_far = parts & PART_TIME;
    hs_bytes_store(to, parts, 2);
    hs_bytes_store(to + 2, (uint64_t)is->time_us - (is_far ? 0 : (uint64_t)was->time_us), 8);
    to += is_far ? 10 : 6;
    to = put_coordinate(is->position.x, parts & PART_X, to);
    to = put_coordinate(is->position.y, parts & PART_Y, to);
    to = put_coordinate(is->position.z, parts & PART_Z, to);
    out->len -= MAX_SIZE - (size_t)(to - begin);
    if (parts & RARE_PARTS)
        put_rare_parts(is, parts, out);
}

static double get_coordinate(struct hs_loading *l)
{
    double value = hs_bytes_get_real(&l->reader);
    l->is_damaged = l->is_damaged || !isfinite(value);
    return value;
}

/* Changes a sample to the next one. */
static void get_sample(struct hs_loading *l, unsigned parts, struct hs_sample *sample)
{
    if (parts & PART_TIME)
        sample->time_us = hs_loading_time(l);
    else
        sample->time_us += (int64_t)hs_bytes_get(&l->reader, 4);
    if (parts & PART_X)
        sample->position.x = get_coordinate(l);
    if (parts & PART_Y)
        sample->position.y = get_coordinate(l);
    if (parts & PART_Z)
        sample->position.z = get_coordinate(l);
    if (parts & PART_ROTATION)
        get_floats(l, sample->rotation, 4);
    if (parts & PART_AIM)
        get_floats(l, sample->aim, 3);
    if (parts & PART_RTT)
        sample->rtt_us = hs_loading_delay(l);
    if (parts & PART_INTERP)
        sample->interp_us = hs_loading_delay(l);
    if (parts & PART_EVENT)
        sample->event = (uint8_t)hs_bytes_get_max(&l->reader, 1, HS_EVENT_LAUNCH);
    sample->rtt_posted = (parts & IS_RTT_POSTED) != 0;
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

static void put_state(const struct hs_match *match, const struct hs_history *history,
                      const struct hs_sample *sample, struct hs_bytes *out)
{
    if (match != NULL) {
        put_player_state(match, hs_history_state(history, sample), out);
        return;
    }
    const struct hs_mover_state *state = hs_history_mover_state(history, sample);
    hs_saved_put(out, HS_SAVED_MOVER_STATE, state);
    hs_bytes_put(out, state->is_stale, 1);
}

/* `match` NULL: of a mover. */
static void put_history(const struct hs_excerpt *excerpt, const struct hs_match *match,
                        const struct hs_history *history, bool is_shooter, struct hs_bytes *out)
{
    static const struct hs_sample nothing;
    struct range range = range_of(excerpt, history, match == NULL, is_shooter);
    const struct hs_sample *was = &nothing;
    const struct hs_posted_pose *last_pose = NULL;
    const struct hs_sample *is = NULL;
    uint32_t run = 0; /* samples from `is` on that follow each other in memory */
    hs_bytes_put(out, range.until - range.from, 4);
    for (uint32_t i = range.from; i < range.until; i++, run--, is++) {
        if (run == 0)
            is = hs_history_run(history, i, &run);
        const struct hs_posted_pose *pose =
            i >= range.posed_from && is->posted_pose != HS_NO_POSTED_POSE
                ? hs_history_posted_pose(history, is)
                : NULL;
        unsigned parts = changed_parts(is, was);
        if (i == range.from || was->state != is->state)
            parts |= PART_STATE;
        if (pose != NULL)
            parts |= last_pose != NULL && is_same_pose(pose, last_pose) ? IS_SAME_POSE : PART_POSE;
        put_sample(is, was, parts, out);
        if (parts & PART_POSE)
            put_pose(pose, out);
        if (parts & PART_STATE)
            put_state(match, history, is, out);
        last_pose = pose != NULL ? pose : last_pose;
        was = is;
    }
}

/* Reads the samples of a player or of a mover into an empty history. */
static void get_history(struct hs_loading *l, struct hs_history *history, bool of_mover)
{
    struct hs_state player = {0};
    struct hs_mover_state mover = {0};
    union hs_posted_pose_space space;
    struct hs_sample sample = {.posted_pose = HS_NO_POSTED_POSE};
    unsigned seen = 0;
    uint64_t count = hs_bytes_get_max(&l->reader, 4, l->match->limits.samples);
    for (uint64_t i = 0; i < count && hs_loading_is_fine(l); i++) {
        unsigned parts = (unsigned)hs_bytes_get_max(&l->reader, 2, ALL_PARTS);
        get_sample(l, parts, &sample);
        if (parts & PART_POSE)
            get_pose(l, &space.posted_pose);
        if ((parts & PART_STATE) && of_mover) {
            hs_loading_get(l, HS_SAVED_MOVER_STATE, &mover);
            mover.is_stale = hs_loading_flag(l);
        } else if (parts & PART_STATE) {
            get_player_state(l, &player);
        }
        seen |= parts;
        bool is_known = (seen & PART_STATE) && ((seen & PART_POSE) || !(parts & IS_SAME_POSE));
        l->is_damaged = l->is_damaged || !is_known;
        if (!hs_loading_is_fine(l))
            return;
        const void *state = of_mover ? (const void *)&mover : &player;
        bool has_pose = parts & (PART_POSE | IS_SAME_POSE);
        enum hs_insert_result result =
            hs_history_insert(history, &l->match->ruleset->history, &sample, state,
                              has_pose ? &space.posted_pose : NULL);
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

/* ---- of a claim, of a posted shot ---- */

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

/* Adds every place where a player's body was. Their eye and their contacts are within. */
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

/* The distance from the ends of a trace within which everything lies: the sphere, the blast, and
   the sag of a flight (g T^2 / 8 for a flight of T seconds). */
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
