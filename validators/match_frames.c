/* Posting frames: what a sample says, what it inherits, and what is refused. */
#include <stdlib.h>

#include "match.h"
#include "players.h"
#include "quat.h"
#include "suspicion.h"

static const char *const frame_flag_names[] = {
#define X(id, name) name,
    HS_FRAME_FLAGS(X)
#undef X
};

const char *hs_frame_flag_name(enum hs_frame_flag flag)
{
    return frame_flag_names[flag];
}

const char *hs_frame_result_text(enum hs_frame_result result)
{
    switch (result) {
    case HS_FRAME_STORED:
        return "stored";
    case HS_FRAME_DUPLICATE_TIME:
        return "there is a sample of this time already; the first one is kept";
    case HS_FRAME_TOO_OLD:
        return "the time is before the window of history";
    case HS_FRAME_TIME_JUMP:
        return "the time is ahead of the newest frame by more than history.max_forward";
    case HS_FRAME_BAD_ROTATION:
        return "the rotation is not a unit quaternion within 1e-3";
    case HS_FRAME_BAD_BONES:
        return "the bones do not match the rig, or one has no unit rotation or no scale";
    case HS_FRAME_UNKNOWN_RIG:
        return "the ruleset has no rig of this name";
    case HS_FRAME_UNKNOWN_STANCE:
        return "the rig has no stance of this name";
    case HS_FRAME_COORDINATE_OUT_OF_WORLD:
        return "a coordinate is beyond history.world_bound";
    case HS_FRAME_NO_HITBOXES:
        return "none of the bones given carries a hitbox, or the mover's box was never given";
    case HS_FRAME_CAPACITY:
        return "the match is at its limit of players, of movers, or of team names";
    case HS_FRAME_RESULT_COUNT:
        break;
    }
    return "";
}

/* ---- the match's clock ---- */

/*
 * Frames far from the newest are refused, but a game server whose clock really was set anew must
 * not be locked out: three refused frames in a row that follow each other closely restart the
 * history at the third. A run begins max_forward away or further: smaller steps back heal by
 * themselves.
 */
static bool jump_is_confirmed(struct hs_match *match, int64_t time_us, bool is_far)
{
    const struct hs_history_rules *rules = &match->ruleset->history;
    int64_t step = time_us - match->jump_us;
    bool agrees = match->jump_count > 0 && step > 0 && step <= rules->keep_us;
    if (!agrees && !is_far)
        return false;
    match->jump_count = agrees ? match->jump_count + 1 : 1;
    match->jump_us = time_us;
    return match->jump_count >= 3;
}

/* Poses of another clock are useless; who the player is and what he holds still stands. */
static void restart_player(struct hs_players *players, struct hs_player *player, int64_t old_us,
                           int64_t new_us)
{
    player->suspicion = hs_suspicion_at(player, old_us);
    player->suspicion_us = new_us;
    uint32_t count = hs_history_count(player->history);
    if (count > 0) {
        const struct hs_sample *newest = hs_history_at(player->history, count - 1);
        player->carried = *hs_history_state(player->history, newest);
        player->has_carried = true;
    }
    hs_history_clear(player->history);
    hs_players_note_history(players, player);
    hs_ledger_forget_times(&player->ledger);
    player->has_left_before = false;
}

/* *restarts: three frames agree on another clock; the history goes once an entry can be stored. */
static enum hs_frame_result check_time(struct hs_match *match, int64_t time_us, bool *restarts)
{
    const struct hs_history_rules *rules = &match->ruleset->history;
    if (!match->has_frames)
        return HS_FRAME_STORED;
    int64_t ahead = time_us - match->newest_us;
    if (ahead >= -rules->keep_us && ahead <= rules->max_forward_us) {
        match->jump_count = 0;
        return HS_FRAME_STORED;
    }
    enum hs_frame_result refusal = ahead > 0 ? HS_FRAME_TIME_JUMP : HS_FRAME_TOO_OLD;
    bool is_far = ahead > rules->max_forward_us || ahead <= -rules->max_forward_us;
    *restarts = jump_is_confirmed(match, time_us, is_far);
    return refusal;
}

static void restart(struct hs_match *match, int64_t time_us)
{
    for (uint32_t i = 0; i < match->players.count; i++)
        restart_player(&match->players, match->players.all[i], match->newest_us, time_us);
    hs_movers_restart(&match->movers);
    match->jump_count = 0;
    match->has_frames = false;
}

/* ---- one sample ---- */

enum { MAX_TEAMS = 1024 };

struct resolved {
    struct hs_sample sample;
    struct hs_state state;
    struct hs_extra *extra; /* room for the largest rig; NULL when nothing extra was posted */
};

static struct hs_state first_state(const struct hs_ruleset *ruleset)
{
    return (struct hs_state){.damage_scale = 1,
                             .ammo = -1,
                             .prediction_us = -1,
                             .rig = ruleset->default_rig,
                             .team = HS_NONE,
                             .weapon = HS_NONE,
                             .any_weapon = true,
                             .alive = true};
}

/* Room for teams nobody has been in for as long as history is kept: at most once in that time. */
static uint16_t free_team(struct hs_match *match)
{
    bool used[MAX_TEAMS] = {false};
    if (match->has_swept_teams && match->newest_us - match->teams_swept_us >= 0 &&
        match->newest_us - match->teams_swept_us < match->ruleset->history.keep_us)
        return HS_NONE;
    for (uint32_t p = 0; p < match->players.count; p++) {
        const struct hs_player *player = match->players.all[p];
        if (player->has_carried && player->carried.team != HS_NONE)
            used[player->carried.team] = true;
        for (uint32_t i = 0; i < hs_history_count(player->history); i++) {
            uint16_t team =
                hs_history_state(player->history, hs_history_at(player->history, i))->team;
            if (team != HS_NONE)
                used[team] = true;
        }
    }
    uint16_t kept = HS_NONE;
    for (uint16_t i = 0; i < match->team_count; i++) {
        if (used[i])
            continue;
        memset(&match->teams[i], 0, sizeof match->teams[i]);
        kept = i;
    }
    match->has_swept_teams = true;
    match->teams_swept_us = match->newest_us;
    return kept;
}

static bool intern_team(struct hs_match *match, struct hs_str name, uint16_t *out)
{
    uint16_t empty = HS_NONE;
    for (uint16_t i = 0; i < match->team_count; i++) {
        if (match->teams[i].text[0] == '\0')
            empty = i;
        if (hs_str_equal(hs_name_str(&match->teams[i]), name)) {
            *out = i;
            return true;
        }
    }
    if (empty == HS_NONE && match->team_count == MAX_TEAMS)
        empty = free_team(match);
    if (empty != HS_NONE) {
        hs_name_set(&match->teams[empty], name);
        *out = empty;
        return true;
    }
    if (match->team_count == match->team_capacity) {
        uint16_t capacity = match->team_capacity == 0 ? 4 : (uint16_t)(match->team_capacity * 2);
        struct hs_name *teams =
            capacity <= MAX_TEAMS ? realloc(match->teams, capacity * sizeof *teams) : NULL;
        if (teams == NULL)
            return false;
        match->teams = teams;
        match->team_capacity = capacity;
    }
    hs_name_set(&match->teams[match->team_count], name);
    *out = match->team_count++;
    return true;
}

static uint16_t weapon_index(const struct hs_ruleset *ruleset, struct hs_str name)
{
    uint16_t i = hs_ruleset_find_weapon(ruleset, name);
    return i == HS_NONE ? HS_WEAPON_FOREIGN : i;
}

static void resolve_weapons(const struct hs_ruleset *ruleset, const struct hs_player_frame *entry,
                            struct hs_state *state)
{
    if (entry->weapon.ptr != NULL)
        state->weapon = weapon_index(ruleset, entry->weapon);
    if (entry->fields & HS_FIELD_WEAPONS) {
        state->any_weapon = false;
        memset(state->owned, 0, sizeof state->owned);
        for (size_t i = 0; i < entry->weapon_count; i++) {
            uint16_t w = hs_ruleset_find_weapon(ruleset, entry->weapons[i]);
            if (w != HS_NONE)
                state->owned[w / 64] |= UINT64_C(1) << (w % 64);
        }
    }
    if (entry->fields & HS_FIELD_AMMO)
        state->ammo = entry->ammo;
    if (entry->fields & HS_FIELD_RELOADING)
        state->reloading = entry->reloading;
}

static enum hs_frame_result resolve_rig(const struct hs_ruleset *ruleset,
                                        const struct hs_player_frame *entry, struct hs_state *state)
{
    if (entry->rig.ptr != NULL) {
        uint16_t rig = hs_ruleset_find_rig(ruleset, entry->rig);
        if (rig == HS_NONE)
            return HS_FRAME_UNKNOWN_RIG;
        if (rig != state->rig)
            state->stance = 0;
        state->rig = rig;
    }
    if (entry->stance.ptr != NULL) {
        state->stance = hs_rig_find_stance(ruleset->rigs[state->rig], entry->stance);
        if (state->stance == HS_NONE)
            return HS_FRAME_UNKNOWN_STANCE;
    }
    return HS_FRAME_STORED;
}

static void resolve_life(const struct hs_player_frame *entry, struct hs_state *state)
{
    if (entry->event == HS_EVENT_SPAWN) {
        state->life++;
        state->alive = true;
    }
    if (entry->event == HS_EVENT_DEATH)
        state->alive = false;
    if (entry->fields & HS_FIELD_LIFE)
        state->life = entry->life;
    if (entry->fields & HS_FIELD_ALIVE)
        state->alive = entry->alive;
    if (entry->fields & HS_FIELD_PROTECTED)
        state->is_protected = entry->is_protected;
    if (entry->fields & HS_FIELD_PREDICTION)
        state->prediction_us = entry->prediction_us;
    if (entry->fields & HS_FIELD_DAMAGE_SCALE)
        state->damage_scale = entry->damage_scale;
}

static bool in_world(struct hs_vec v, double bound)
{
    return fabs(v.x) <= bound && fabs(v.y) <= bound && fabs(v.z) <= bound;
}

static bool unit_rotation(const double from[4], float out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = (float)from[i];
    return hs_quat_normalise(out);
}

static void store_offset(struct hs_vec world, struct hs_vec root, float out[3])
{
    struct hs_vec offset = hs_vec_sub(world, root);
    out[0] = (float)offset.x;
    out[1] = (float)offset.y;
    out[2] = (float)offset.z;
}

static struct hs_vec vec_of(const double v[3])
{
    return (struct hs_vec){v[0], v[1], v[2]};
}

static enum hs_frame_result resolve_bone(const struct hs_player_frame *entry, size_t i,
                                         double bound, struct hs_extra *extra)
{
    const struct hs_posted_bone *bone = &entry->bones[i];
    if (!bone->present)
        return HS_FRAME_STORED;
    float *values = extra->bones + i * extra->stride;
    struct hs_vec place = vec_of(bone->position);
    if (!in_world(place, bound))
        return HS_FRAME_COORDINATE_OUT_OF_WORLD;
    store_offset(place, entry->position, values);
    if (!unit_rotation(bone->rotation, values + 3))
        return HS_FRAME_BAD_BONES;
    if (extra->stride == HS_BONE_FLOATS_SCALED) {
        for (int k = 0; k < 3; k++) {
            double size = fabs(bone->scale[k]);
            if (!(size >= 1e-6 && size <= 1e6))
                return HS_FRAME_BAD_BONES;
            values[HS_BONE_FLOATS + k] = (float)bone->scale[k];
        }
    }
    extra->present[i / 64] |= UINT64_C(1) << (i % 64);
    return HS_FRAME_STORED;
}

/* How far the furthest hitbox reaches from the root; 0 when no hitbox has a bone. */
static double posted_reach(const struct hs_rig *rig, const struct hs_extra *extra)
{
    double furthest = 0;
    for (int i = 0; i < rig->hitbox_count; i++) {
        uint16_t bone = rig->hitboxes[i].bone;
        if (!hs_extra_has_bone(extra, bone))
            continue;
        const float *v = extra->bones + (size_t)bone * extra->stride;
        double scale = 1;
        if (extra->stride == HS_BONE_FLOATS_SCALED)
            scale = fmax(fmax(fabs((double)v[7]), fabs((double)v[8])), fabs((double)v[9]));
        double reach = hs_vec_length((struct hs_vec){(double)v[0], (double)v[1], (double)v[2]}) +
                       rig->hitbox_reach[i] * scale;
        furthest = fmax(furthest, reach);
    }
    return furthest;
}

static enum hs_frame_result resolve_bones(const struct hs_ruleset *ruleset,
                                          const struct hs_player_frame *entry,
                                          const struct hs_rig *rig, struct hs_extra *extra)
{
    if (entry->bone_count != rig->bone_count)
        return HS_FRAME_BAD_BONES;
    extra->stride = entry->fields & HS_FIELD_SCALES ? HS_BONE_FLOATS_SCALED : HS_BONE_FLOATS;
    extra->bone_count = (uint16_t)entry->bone_count;
    for (size_t i = 0; i < entry->bone_count; i++) {
        enum hs_frame_result result = resolve_bone(entry, i, ruleset->history.world_bound, extra);
        if (result != HS_FRAME_STORED)
            return result;
    }
    double reach = posted_reach(rig, extra);
    if (reach == 0)
        return HS_FRAME_NO_HITBOXES;
    /* Rounding up: the reach must never be short of a hitbox. */
    extra->reach = (float)(reach * (1 + 1e-6));
    return HS_FRAME_STORED;
}

static enum hs_frame_result resolve_pose(const struct hs_ruleset *ruleset,
                                         const struct hs_player_frame *entry, struct resolved *out)
{
    double bound = ruleset->history.world_bound;
    struct hs_sample *sample = &out->sample;
    if (!in_world(entry->position, bound))
        return HS_FRAME_COORDINATE_OUT_OF_WORLD;
    sample->position = entry->position;
    sample->rotation[3] = 1;
    if ((entry->fields & HS_FIELD_ROTATION) && !unit_rotation(entry->rotation, sample->rotation))
        return HS_FRAME_BAD_ROTATION;
    if (entry->fields & HS_FIELD_AIM) {
        double length = hs_vec_length(vec_of(entry->aim));
        for (int i = 0; i < 3; i++)
            sample->aim[i] = length > 0 ? (float)(entry->aim[i] / length) : 0;
    }
    sample->rtt_posted = (entry->fields & HS_FIELD_RTT) != 0;
    if (sample->rtt_posted)
        sample->rtt_us = entry->rtt_us;
    if (entry->fields & HS_FIELD_INTERP)
        sample->interp_us = entry->interp_us;
    sample->event = (uint8_t)entry->event;

    struct hs_extra *extra = out->extra;
    if (extra != NULL && (entry->fields & HS_FIELD_EYE) != 0) {
        if (!in_world(entry->eye, bound))
            return HS_FRAME_COORDINATE_OUT_OF_WORLD;
        extra->has_eye = true;
        struct hs_vec eye = hs_vec_sub(entry->eye, entry->position);
        extra->eye[0] = eye.x;
        extra->eye[1] = eye.y;
        extra->eye[2] = eye.z;
    }
    if (extra != NULL && (entry->fields & HS_FIELD_BONES) != 0)
        return resolve_bones(ruleset, entry, ruleset->rigs[out->state.rig], extra);
    return HS_FRAME_STORED;
}

/* What the sample inherits from its predecessor in time. */
static void inherit(const struct hs_match *match, const struct hs_player *player, int64_t time_us,
                    struct resolved *out)
{
    int64_t before = player == NULL ? -1 : hs_history_find(player->history, time_us);
    out->sample.rtt_us = out->sample.interp_us = -1;
    if (before < 0) {
        bool carries = player != NULL && player->has_carried;
        out->state = carries ? player->carried : first_state(match->ruleset);
        return;
    }
    const struct hs_sample *previous = hs_history_at(player->history, (uint32_t)before);
    out->state = *hs_history_state(player->history, previous);
    out->sample.rtt_us = previous->rtt_us;
    out->sample.interp_us = previous->interp_us;
}

/* The rest of a sample whose inheritance is known. */
static enum hs_frame_result resolve(struct hs_match *match, const struct hs_player_frame *entry,
                                    int64_t time_us, struct resolved *out)
{
    enum hs_frame_result result = resolve_rig(match->ruleset, entry, &out->state);
    if (result != HS_FRAME_STORED)
        return result;
    resolve_weapons(match->ruleset, entry, &out->state);
    resolve_life(entry, &out->state);
    out->sample.time_us = time_us;
    result = resolve_pose(match->ruleset, entry, out);
    if (result != HS_FRAME_STORED)
        return result;
    if (entry->team.ptr != NULL && !intern_team(match, entry->team, &out->state.team))
        return HS_FRAME_CAPACITY;
    return HS_FRAME_STORED;
}

/* The player's session ends: nothing of it is used again, and late frames of it stay out. */
static void leave(struct hs_match *match, struct hs_player *player, int64_t time_us)
{
    if (player == NULL || player->left)
        return;
    hs_history_clear(player->history);
    hs_players_note_history(&match->players, player);
    hs_ledger_clear(&player->ledger);
    player->has_carried = false;
    player->left = true;
    player->has_left_before = true;
    player->left_us = time_us;
    match->players.present--;
}

static void rejoin(struct hs_match *match, struct hs_player *player)
{
    player->left = false;
    memset(player->reasons, 0, sizeof player->reasons);
    player->would_reject = 0;
    player->damage_dealt = 0;
    match->players.present++;
}

/* False: out of memory. */
static bool post_entry(struct hs_match *match, const struct hs_player_frame *entry, int64_t time_us,
                       enum hs_frame_result *result, unsigned *flags)
{
    struct hs_player *player = hs_players_find(&match->players, entry->player);
    *result = HS_FRAME_TOO_OLD;
    if (player != NULL && player->has_left_before && time_us <= player->left_us)
        return true;
    if (entry->event == HS_EVENT_LEAVE) {
        *result = HS_FRAME_STORED;
        leave(match, player, time_us);
        return true;
    }
    bool has_extra = (entry->fields & (HS_FIELD_BONES | HS_FIELD_EYE)) != 0;
    union hs_extra_room room;
    memset(&room.extra, 0, sizeof room.extra);
    struct resolved resolved = {.extra = has_extra ? &room.extra : NULL};
    inherit(match, player, time_us, &resolved);
    *result = resolve(match, entry, time_us, &resolved);
    if (*result != HS_FRAME_STORED)
        return true;
    if (player == NULL) {
        enum hs_players_add added =
            hs_players_add(&match->players, entry->player, match->limits.samples, &player);
        if (added == HS_PLAYERS_FULL)
            *result = HS_FRAME_CAPACITY;
        if (added != HS_PLAYERS_ADDED)
            return added == HS_PLAYERS_FULL;
    }
    if (player->left)
        rejoin(match, player);

    enum hs_insert_result inserted =
        hs_history_insert(player->history, &match->ruleset->history, &resolved.sample,
                          &resolved.state, resolved.extra);
    hs_players_note_history(&match->players, player);
    if (inserted == HS_INSERT_NO_MEMORY)
        return false;
    if (inserted == HS_INSERT_DUPLICATE)
        *result = HS_FRAME_DUPLICATE_TIME;
    if (inserted == HS_INSERT_TOO_OLD)
        *result = HS_FRAME_TOO_OLD;
    if (inserted == HS_INSERT_STORED_FULL || inserted == HS_INSERT_TOO_OLD)
        *flags |= 1u << HS_FRAME_FLAG_HISTORY_FULL;
    int64_t at = hs_history_find(player->history, time_us);
    if (at >= 0 && hs_history_at(player->history, (uint32_t)at)->jumped)
        *flags |= 1u << HS_FRAME_FLAG_UNFLAGGED_JUMP;
    return true;
}

/* An entry of the frame can be stored on another clock, where players keep their newest state. */
static bool would_store(struct hs_match *match, const struct hs_frame *frame)
{
    for (size_t i = 0; i < frame->player_count; i++) {
        const struct hs_player_frame *entry = &frame->players[i];
        union hs_extra_room room;
        memset(&room.extra, 0, sizeof room.extra);
        struct resolved resolved = {.extra = &room.extra};
        inherit(match, hs_players_find(&match->players, entry->player), INT64_MAX, &resolved);
        if (entry->event == HS_EVENT_LEAVE ||
            resolve(match, entry, frame->time_us, &resolved) == HS_FRAME_STORED)
            return true;
    }
    return false;
}

/* Entries one after the other. False: out of memory; the rest is refused. */
static bool post_entries(struct hs_match *match, const struct hs_frame *frame,
                         enum hs_frame_result *results, unsigned *flags, bool *stored)
{
    bool fine = true;
    size_t count = frame->player_count + frame->mover_count;
    for (size_t i = 0; i < count; i++) {
        size_t m = i - frame->player_count;
        results[i] = HS_FRAME_CAPACITY;
        if (!fine)
            continue;
        if (i < frame->player_count)
            fine = post_entry(match, &frame->players[i], frame->time_us, &results[i], flags);
        else
            fine = hs_movers_post(&match->movers, match->ruleset, &match->limits, &frame->movers[m],
                                  m, frame->time_us, &results[i], flags);
        *stored = *stored || (fine && results[i] == HS_FRAME_STORED);
    }
    return fine;
}

static void advance_clock(struct hs_match *match, int64_t time_us)
{
    if (!match->has_frames) {
        if (!match->has_opening)
            match->opening_us = time_us;
        match->has_opening = true;
        match->window_start_us = match->newest_us = time_us;
        match->has_frames = true;
    }
    if (time_us < match->window_start_us)
        match->window_start_us = time_us;
    if (time_us > match->newest_us)
        match->newest_us = time_us;
}

bool hs_match_post_frame(struct hs_match *match, const struct hs_frame *frame,
                         enum hs_frame_result *results, unsigned *flags)
{
    size_t count = frame->player_count + frame->mover_count;
    if (count == 0)
        return true; /* says nothing, not even about the clock */
    bool restarts = false;
    enum hs_frame_result when = check_time(match, frame->time_us, &restarts);
    if (restarts && would_store(match, frame)) {
        restart(match, frame->time_us);
        *flags |= 1u << HS_FRAME_FLAG_HISTORY_RESTARTED;
        when = HS_FRAME_STORED;
    }
    if (when != HS_FRAME_STORED) {
        for (size_t i = 0; i < count; i++)
            results[i] = when;
        return true;
    }
    bool stored = false;
    bool fine = post_entries(match, frame, results, flags, &stored);
    if (!stored)
        return fine;
    advance_clock(match, frame->time_us);
    int64_t keep_from = match->newest_us - match->ruleset->history.keep_us;
    hs_players_prune(&match->players, keep_from);
    hs_movers_prune(&match->movers, keep_from);
    return fine;
}
