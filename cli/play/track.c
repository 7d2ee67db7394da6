#include "cli/play/track.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/play/words.h"
#include "validators/base/units.h"

enum { MAX_TRACK_FRAMES = 100000 };

/* The JSON keys of one kind of item: players or movers. `name` is the key of the item's name. In
   frames, tracks and fixtures, `list` is the key of the list of these items. */
struct kind {
    const char *name, *list;
};

static const struct kind player_kind = {"player", "players"}, mover_kind = {"mover", "movers"};

struct track {
    long long from_us, to_us, every_us;
    const json_t *fixture; /* players and movers that the track may name; NULL: no fixture */
    json_t *frames;        /* sorted by time */
    json_t *items; /* the players and movers of the track, in the track's order; missing fields come
                      from the fixture */
    char *error;
};

static bool fail(struct track *track, const char *text, const char *name)
{
    snprintf(track->error, HS_TRACK_ERROR_MAX, "track: %s%s%s", text, name != NULL ? ": " : "",
             name != NULL ? name : "");
    return false;
}

/* Returns the member `key` in microseconds, or `otherwise` if the member is missing. */
static long long time_or(const json_t *object, const char *key, long long otherwise)
{
    const json_t *value = json_object_get(object, key);
    return value != NULL ? llround(json_number_value(value) * 1e6) : otherwise;
}

/* The fields that describe the motion of an item. These fields do not appear in frames. */
static const char *const motion_fields[] = {"velocity", "at", "from", "to", NULL};

/* The fields that are not sticky. Every sample must contain these fields. */
static const char *const not_inherited[] = {"rotation", "aim", "eye", "bones", NULL};

static json_t *position_at(const json_t *item, long long time_us)
{
    const json_t *position = json_object_get(item, "position");
    const json_t *velocity = json_object_get(item, "velocity");
    double elapsed = (double)(time_us - time_or(item, "at", 0)) / 1e6;
    json_t *out = json_array();
    for (size_t i = 0; i < 3; i++) {
        double speed = json_number_value(json_array_get(velocity, i));
        double start = json_number_value(json_array_get(position, i));
        /* Round to nanometres, so that a failing request shows 20 + 4 * 0.85 as 23.4. */
        json_array_append_new(out, json_real(round((start + speed * elapsed) * 1e9) / 1e9));
    }
    return out;
}

/* Returns the frame at `time_us` (borrowed). Creates the frame if it is missing. */
static json_t *frame_at(struct track *track, long long time_us)
{
    size_t i = json_array_size(track->frames);
    while (i > 0) {
        json_t *frame = json_array_get(track->frames, i - 1);
        long long time = time_or(frame, "time", 0);
        if (time == time_us)
            return frame;
        if (time < time_us)
            break;
        i--;
    }
    json_t *frame = json_pack("{s:f,s:[]}", "time", hs_seconds(time_us), "players");
    json_array_insert_new(track->frames, i, frame);
    return frame;
}

static json_t *sample_of(const struct kind *kind, const json_t *item, long long time_us, bool first)
{
    json_t *sample = json_object();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)item, key, value)
    {
        if (!hs_is_one_of(key, motion_fields) &&
            (first || hs_is_one_of(key, not_inherited) || strcmp(key, kind->name) == 0))
            json_object_set(sample, key, value);
    }
    json_object_set_new(sample, "position", position_at(item, time_us));
    return sample;
}

/* Returns all fields of a player or mover (new reference). `given` is a name in the fixture, or an
   object with fields that replace the fields in the fixture. */
static json_t *resolve(struct track *track, const struct kind *kind, const json_t *given)
{
    const char *name =
        json_string_value(json_is_string(given) ? given : json_object_get(given, kind->name));
    if (name == NULL) {
        fail(track, "an item has no name in", kind->list);
        return NULL;
    }
    const json_t *known = json_object_get(json_object_get(track->fixture, kind->list), name);
    if (known == NULL && json_is_string(given)) {
        fail(track, "the fixture does not know", name);
        return NULL;
    }
    json_t *item = known != NULL ? json_deep_copy(known) : json_object();
    json_object_set_new(item, kind->name, json_string(name));
    if (json_is_object(given))
        json_object_update(item, (json_t *)(uintptr_t)given);
    if (json_array_size(json_object_get(item, "position")) != 3) {
        fail(track, "no position for", name);
        json_decref(item);
        return NULL;
    }
    return item;
}

/* Returns the list of players or movers in a frame (borrowed). Creates the list if it is
   missing. */
static json_t *list_in(json_t *frame, const struct kind *kind)
{
    if (json_object_get(frame, kind->list) == NULL)
        json_object_set_new(frame, kind->list, json_array());
    return json_object_get(frame, kind->list);
}

static bool add_item(struct track *track, const struct kind *kind, const json_t *given)
{
    json_t *item = resolve(track, kind, given);
    if (item == NULL)
        return false;
    json_array_append_new(track->items, item);
    long long from = time_or(item, "from", track->from_us);
    long long to = time_or(item, "to", track->to_us);
    bool first = true;
    for (long long time = track->from_us; time <= track->to_us; time += track->every_us) {
        if (time < from || time > to)
            continue;
        json_array_append_new(list_in(frame_at(track, time), kind),
                              sample_of(kind, item, time, first));
        first = false;
    }
    return true;
}

static bool is_named(const json_t *item, const struct kind *kind, const char *name)
{
    const char *text = json_string_value(json_object_get(item, kind->name));
    return text != NULL && strcmp(text, name) == 0;
}

/* Returns the item that describes how the player or mover `name` moves at `time_us`. A track may
   contain several items with this name. The item that applies is the last of these items with a
   `from` at or before `time_us`. If all items begin later, the first item applies. */
static const json_t *motion_of(const struct track *track, const struct kind *kind, const char *name,
                               long long time_us)
{
    const json_t *best = NULL;
    for (size_t i = 0; i < json_array_size(track->items); i++) {
        const json_t *item = json_array_get(track->items, i);
        if (!is_named(item, kind, name))
            continue;
        if (best == NULL || time_or(item, "from", track->from_us) <= time_us)
            best = item;
    }
    return best;
}

static size_t find_sample(const json_t *list, const struct kind *kind, const char *name)
{
    size_t i = 0;
    while (i < json_array_size(list) && !is_named(json_array_get(list, i), kind, name))
        i++;
    return i;
}

static bool apply_change(struct track *track, const json_t *change)
{
    const struct kind *kind =
        json_object_get(change, mover_kind.name) != NULL ? &mover_kind : &player_kind;
    const char *name = json_string_value(json_object_get(change, kind->name));
    if (name == NULL || !json_is_number(json_object_get(change, "time")))
        return fail(track, "a change needs a time and a player or a mover", NULL);
    long long time = time_or(change, "time", 0);
    json_t *list = list_in(frame_at(track, time), kind);
    size_t at = find_sample(list, kind, name);
    if (json_is_true(json_object_get(change, "skip")))
        return at < json_array_size(list) ? json_array_remove(list, at) == 0
                                          : fail(track, "no sample to skip", name);
    if (at == json_array_size(list)) {
        const json_t *motion = motion_of(track, kind, name, time);
        if (motion == NULL)
            return fail(track, "a change names an unknown player or mover", name);
        json_array_append_new(list, sample_of(kind, motion, time, false));
    }
    json_t *sample = json_array_get(list, at);
    json_object_update(sample, (json_t *)(uintptr_t)change);
    json_object_del(sample, "time");
    return true;
}

static void drop_empty_frames(json_t *frames)
{
    for (size_t i = json_array_size(frames); i-- > 0;) {
        const json_t *frame = json_array_get(frames, i);
        if (json_array_size(json_object_get(frame, player_kind.list)) == 0 &&
            json_array_size(json_object_get(frame, mover_kind.list)) == 0)
            json_array_remove(frames, i);
    }
}

static bool check_fields(struct track *track, const json_t *given)
{
    static const char *const known[] = {"from",   "to",      "every", "players",
                                        "movers", "changes", NULL};
    const char *unknown = hs_unknown_member(given, known);
    if (unknown != NULL)
        return fail(track, "unknown field", unknown);
    track->from_us = time_or(given, "from", 0);
    track->to_us = time_or(given, "to", track->from_us);
    track->every_us = time_or(given, "every", 1000000);
    if (track->every_us <= 0 || track->to_us < track->from_us ||
        (track->to_us - track->from_us) / track->every_us > MAX_TRACK_FRAMES)
        return fail(track, "from, to and every do not describe a valid range of frames", NULL);
    return true;
}

static bool add_items(struct track *track, const struct kind *kind, const json_t *given)
{
    const json_t *list = json_object_get(given, kind->list);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!add_item(track, kind, json_array_get(list, i)))
            return false;
    return true;
}

static bool fill(struct track *track, const json_t *given)
{
    if (!check_fields(track, given) || !add_items(track, &player_kind, given) ||
        !add_items(track, &mover_kind, given))
        return false;
    const json_t *changes = json_object_get(given, "changes");
    for (size_t i = 0; i < json_array_size(changes); i++)
        if (!apply_change(track, json_array_get(changes, i)))
            return false;
    drop_empty_frames(track->frames);
    return json_array_size(track->frames) > 0 || fail(track, "it has no frames", NULL);
}

json_t *hs_track_expand(const json_t *given, const json_t *fixture, char error[HS_TRACK_ERROR_MAX])
{
    struct track track = {
        .fixture = fixture, .frames = json_array(), .items = json_array(), .error = error};
    bool filled = fill(&track, given);
    json_decref(track.items);
    if (!filled) {
        json_decref(track.frames);
        return NULL;
    }
    return json_pack("{s:o}", "frames", track.frames);
}
