#include "validators/match/sample.h"

#include "validators/base/glm.h"
#include "validators/geometry/quat.h"
#include "validators/history/body_box.h"

static struct hs_state first_state(const struct hs_ruleset *ruleset)
{
    struct hs_state state = {
/* `first` cannot be in parentheses here, because it may be an initializer in braces. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define SAID(type, member, first, saved, stale, field)    .member = first,
#define OWN(type, member, dimension, first, saved, stale) .member = first,
        /* NOLINTEND(bugprone-macro-parentheses) */
        HS_STATE_FIELDS(SAID, OWN)
#undef SAID
#undef OWN
    };
    state.rig = ruleset->default_rig;
    return state;
}

/* Clears the stale marks in `what`, because a frame posted these parts of the state. */
static void confirm(struct hs_state *state, enum hs_stale what)
{
    state->stale = (uint8_t)(state->stale & ~(unsigned)what);
}

static enum hs_frame_result resolve_weapons(const struct hs_ruleset *ruleset,
                                            const struct hs_player_frame *entry,
                                            struct hs_state *state)
{
    if (entry->weapon.ptr != NULL) {
        uint16_t before = state->weapon;
        state->weapon = hs_ruleset_find_weapon(ruleset, entry->weapon);
        if (state->weapon == HS_NONE)
            return HS_FRAME_UNKNOWN_WEAPON;
        confirm(state, HS_STALE_WEAPON);
        if (before != HS_NONE && before != state->weapon) {
            /* The known ammunition and reload belong to the previous weapon. */
            state->ammo = -1;
            state->reloading = false;
            confirm(state, HS_STALE_AMMO);
            confirm(state, HS_STALE_RELOADING);
        }
    }
    if (entry->fields & HS_FIELD_WEAPONS) {
        confirm(state, HS_STALE_OWNED);
        state->any_weapon = false;
        memset(state->owned, 0, sizeof state->owned);
        for (size_t i = 0; i < entry->weapon_count; i++) {
            uint16_t w = hs_ruleset_find_weapon(ruleset, entry->weapons[i]);
            if (w != HS_NONE)
                state->owned[w / 64] |= UINT64_C(1) << (w % 64);
        }
    }
    return HS_FRAME_STORED;
}

static enum hs_frame_result resolve_rig(const struct hs_ruleset *ruleset,
                                        const struct hs_player_frame *entry, struct hs_state *state)
{
    if (entry->rig.ptr != NULL) {
        uint16_t rig = hs_ruleset_find_rig(ruleset, entry->rig);
        if (rig == HS_NONE)
            return HS_FRAME_UNKNOWN_RIG;
        if (rig != state->rig) {
            state->stance = 0;
            state->tells_stance = false;
        }
        state->rig = rig;
    }
    if (entry->stance.ptr != NULL) {
        state->stance = hs_rig_find_stance(ruleset->rigs[state->rig], entry->stance);
        if (state->stance == HS_NONE)
            return HS_FRAME_UNKNOWN_STANCE;
        state->tells_stance = true;
    }
    return HS_FRAME_STORED;
}

/* Returns whether the entry is a spawn and the history already contains a spawn with the same time.
   Such an entry does not start a new life. */
static bool repeats_spawn(const struct hs_player *player, const struct hs_player_frame *entry,
                          int64_t time_us)
{
    if (player == NULL || entry->event != HS_EVENT_SPAWN)
        return false;
    int64_t i = hs_history_find(player->history, time_us);
    const struct hs_sample *sample = i >= 0 ? hs_history_at(player->history, (uint32_t)i) : NULL;
    return sample != NULL && sample->time_us == time_us && sample->event == HS_EVENT_SPAWN;
}

static void resolve_life(const struct hs_player_frame *entry, bool is_new_life,
                         struct hs_state *state)
{
    bool is_stale = (state->stale & HS_STALE_LIFE) != 0;
    bool is_posted = entry->event == HS_EVENT_SPAWN || entry->event == HS_EVENT_DEATH ||
                     (entry->fields & HS_FIELD_ALIVE) != 0;
    if (is_stale && (entry->fields & HS_FIELD_LIFE) && entry->life != state->life) {
        state->alive = true; /* the player spawned between save and restore */
        is_posted = true;
    }
    if (is_posted)
        confirm(state, HS_STALE_LIFE);
    if (entry->event == HS_EVENT_SPAWN) {
        /* The number may wrap, because lives are compared only for equality. */
        if (is_new_life)
            state->life = state->life < INT64_MAX ? state->life + 1 : INT64_MIN;
        state->alive = true;
    }
    if (entry->event == HS_EVENT_DEATH)
        state->alive = false;
    if (entry->fields & HS_FIELD_LIFE)
        state->life = entry->life;
    if (entry->fields & HS_FIELD_ALIVE)
        state->alive = entry->alive;
}

static void resolve_plain(const struct hs_player_frame *entry, struct hs_state *state)
{
#define SAID(type, member, first, saved, stale, field)                                             \
    if (entry->fields & HS_FIELD_##field) {                                                        \
        state->member = entry->member;                                                             \
        confirm(state, HS_STALE_##stale);                                                          \
    }
#define OWN(type, member, dimension, first, saved, stale)
    HS_STATE_FIELDS(SAID, OWN)
#undef SAID
#undef OWN
    if (entry->fields & HS_FIELD_SOLID)
        state->tells_solid = true;
}

static bool unit_rotation(const double from[4], float out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = (float)from[i];
    return hs_quat_normalise(out);
}

static struct hs_vec vec_of(const double v[3])
{
    return (struct hs_vec){v[0], v[1], v[2]};
}

static enum hs_frame_result resolve_bone(const struct hs_player_frame *entry, size_t i,
                                         double bound, struct hs_posted_pose *posted_pose)
{
    const struct hs_posted_bone *bone = &entry->bones[i];
    if (!bone->present)
        return HS_FRAME_STORED;
    float *values = posted_pose->bones + i * posted_pose->stride;
    struct hs_vec place = vec_of(bone->position);
    if (!hs_vec_is_within(place, bound))
        return HS_FRAME_COORDINATE_OUT_OF_WORLD;
    hs_vec_to_floats(hs_vec_sub(place, entry->position), values);
    if (!unit_rotation(bone->rotation, values + 3))
        return HS_FRAME_BAD_BONES;
    if (posted_pose->stride == HS_BONE_FLOATS_SCALED) {
        for (int k = 0; k < 3; k++) {
            double size = fabs(bone->scale[k]);
            if (!(size >= 1e-6 && size <= 1e6))
                return HS_FRAME_BAD_BONES;
            values[HS_BONE_FLOATS + k] = (float)bone->scale[k];
        }
    }
    posted_pose->present[i / 64] |= UINT64_C(1) << (i % 64);
    return HS_FRAME_STORED;
}

static enum hs_frame_result resolve_bones(const struct hs_ruleset *ruleset,
                                          const struct hs_player_frame *entry,
                                          const struct hs_rig *rig,
                                          struct hs_posted_pose *posted_pose)
{
    if (entry->bone_count != rig->bone_count)
        return HS_FRAME_BAD_BONES;
    posted_pose->stride = entry->fields & HS_FIELD_SCALES ? HS_BONE_FLOATS_SCALED : HS_BONE_FLOATS;
    posted_pose->bone_count = (uint16_t)entry->bone_count;
    for (size_t i = 0; i < entry->bone_count; i++) {
        enum hs_frame_result result =
            resolve_bone(entry, i, ruleset->history.world_bound, posted_pose);
        if (result != HS_FRAME_STORED)
            return result;
    }
    double reach = hs_posted_pose_bound(posted_pose, rig);
    if (reach == 0)
        return HS_FRAME_NO_HITBOXES;
    /* Round up to float, so that every point of a hitbox is within `reach`. */
    posted_pose->reach = (float)(reach * (1 + 1e-6));
    return HS_FRAME_STORED;
}

static enum hs_frame_result resolve_pose(const struct hs_ruleset *ruleset,
                                         const struct hs_player_frame *entry,
                                         struct hs_posted_sample *out)
{
    double bound = ruleset->history.world_bound;
    struct hs_sample *sample = &out->sample;
    if (!hs_vec_is_within(entry->position, bound))
        return HS_FRAME_COORDINATE_OUT_OF_WORLD;
    sample->position = entry->position;
    sample->rotation[3] = 1;
    if ((entry->fields & HS_FIELD_ROTATION) && !unit_rotation(entry->rotation, sample->rotation))
        return HS_FRAME_BAD_ROTATION;
    if (entry->fields & HS_FIELD_AIM) {
        struct hs_vec aim = vec_of(entry->aim);
        double length = hs_vec_length(aim);
        if (length > 0)
            hs_vec_to_floats((struct hs_vec){aim.x / length, aim.y / length, aim.z / length},
                             sample->aim);
    }
    sample->rtt_posted = (entry->fields & HS_FIELD_RTT) != 0;
    if (sample->rtt_posted) {
        sample->rtt_us = entry->rtt_us;
        confirm(&out->inherited.state, HS_STALE_CONNECTION);
    }
    if (entry->fields & HS_FIELD_INTERP)
        sample->interp_us = entry->interp_us;
    sample->event = (uint8_t)entry->event;

    struct hs_posted_pose *posted_pose = out->posted_pose;
    if (entry->fields & HS_FIELD_EYE) {
        if (!hs_vec_is_within(entry->eye, bound))
            return HS_FRAME_COORDINATE_OUT_OF_WORLD;
        posted_pose->has_eye = true;
        struct hs_vec eye = hs_vec_sub(entry->eye, entry->position);
        posted_pose->eye[0] = eye.x;
        posted_pose->eye[1] = eye.y;
        posted_pose->eye[2] = eye.z;
    }
    if (entry->fields & HS_FIELD_BONES)
        return resolve_bones(ruleset, entry, ruleset->rigs[out->inherited.state.rig], posted_pose);
    return HS_FRAME_STORED;
}

static void inherit(const struct hs_match *match, const struct hs_player *player, int64_t time_us,
                    struct hs_posted_sample *out)
{
    struct hs_inherited *from = &out->inherited;
    if (player == NULL ||
        !hs_history_inherited(player->history, hs_history_find(player->history, time_us), from))
        *from = (struct hs_inherited){first_state(match->ruleset), -1, -1};
    out->sample.rtt_us = from->rtt_us;
    out->sample.interp_us = from->interp_us;
}

enum hs_frame_result hs_sample_resolve(struct hs_match *match, const struct hs_player *player,
                                       const struct hs_player_frame *entry, int64_t time_us,
                                       union hs_posted_pose_space *space,
                                       struct hs_posted_sample *out)
{
    out->sample = (struct hs_sample){.time_us = time_us};
    memset(&space->posted_pose, 0, sizeof space->posted_pose);
    bool has_posted_pose = (entry->fields & (HS_FIELD_BONES | HS_FIELD_EYE)) != 0;
    out->posted_pose = has_posted_pose ? &space->posted_pose : NULL;
    inherit(match, player, time_us, out);
    enum hs_frame_result result = resolve_rig(match->ruleset, entry, &out->inherited.state);
    if (result != HS_FRAME_STORED)
        return result;
    result = resolve_weapons(match->ruleset, entry, &out->inherited.state);
    if (result != HS_FRAME_STORED)
        return result;
    resolve_life(entry, !repeats_spawn(player, entry, time_us), &out->inherited.state);
    resolve_plain(entry, &out->inherited.state);
    result = resolve_pose(match->ruleset, entry, out);
    if (result != HS_FRAME_STORED)
        return result;
    if (entry->team.ptr != NULL &&
        !hs_match_intern_team(match, entry->team, &out->inherited.state.team))
        return HS_FRAME_CAPACITY;
    return HS_FRAME_STORED;
}
