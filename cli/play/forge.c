#include "cli/play/forge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validators/vec.h"

/* Poses kept of a player: more than any rewind looks back at. */
enum { TRACK_LENGTH = 256 };

struct hs_forge {
    enum hs_cheat cheat;
    double rewind_limit, future_slack, origin_tolerance; /* seconds, seconds, length */
    double reach;                    /* length: no hitbox point is further from its rig's origin */
    double widest;                   /* length: the largest radius of a weapon */
    char best_bone[HS_NAME_MAX + 1]; /* of the hitbox in the zone that pays best; may be empty */
    double newest;                   /* time of the newest frame */
    json_t *tracks;                  /* player -> [[time, x, y, z], ..], the newest last */
};

static const char *const names[HS_CHEAT_COUNT] = {"",
#define X(id, name, text) name,
                                                  HS_CHEATS(X)
#undef X
};

static const char *const texts[HS_CHEAT_COUNT] = {"",
#define X(id, name, text) text,
                                                  HS_CHEATS(X)
#undef X
};

bool hs_cheat_parse(const char *name, enum hs_cheat *out)
{
    for (int i = 1; i < HS_CHEAT_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            *out = (enum hs_cheat)i;
            return true;
        }
    }
    return false;
}

void hs_cheat_list(FILE *out)
{
    for (int i = 1; i < HS_CHEAT_COUNT; i++)
        fprintf(out, "    %-14s %s\n", names[i], texts[i]);
}

static bool read_vector(const json_t *array, struct hs_vec *out)
{
    if (json_array_size(array) < 3)
        return false;
    *out = (struct hs_vec){json_number_value(json_array_get(array, 0)),
                           json_number_value(json_array_get(array, 1)),
                           json_number_value(json_array_get(array, 2))};
    return true;
}

static json_t *write_vector(struct hs_vec v)
{
    return json_pack("[f, f, f]", v.x, v.y, v.z);
}

/* A generous size of a body: how far its hitboxes reach from the bones they hang on. */
static double reach_of(const json_t *hitbox)
{
    struct hs_vec center = {0}, half = {0};
    read_vector(json_object_get(hitbox, "center"), &center);
    read_vector(json_object_get(hitbox, "half_extents"), &half);
    return hs_vec_length(center) + hs_vec_length(half) +
           json_number_value(json_object_get(hitbox, "radius")) +
           json_number_value(json_object_get(hitbox, "half_length"));
}

static void survey_ruleset(struct hs_forge *forge, const json_t *ruleset)
{
    json_t *rewind = json_object_get(ruleset, "rewind");
    json_t *zones = json_object_get(ruleset, "zones");
    const char *name;
    json_t *rig, *weapon, *hitbox;
    size_t i;
    double best = -1.0;
    forge->rewind_limit = json_number_value(json_object_get(rewind, "limit"));
    forge->future_slack = json_number_value(json_object_get(rewind, "future_slack"));
    forge->origin_tolerance =
        json_number_value(json_object_get(json_object_get(ruleset, "hit"), "origin_tolerance"));
    json_object_foreach(json_object_get(ruleset, "weapons"), name, weapon)
    {
        forge->widest = fmax(forge->widest, json_number_value(json_object_get(weapon, "radius")));
    }
    json_object_foreach(json_object_get(ruleset, "rigs"), name, rig)
    {
        json_array_foreach(json_object_get(rig, "hitboxes"), i, hitbox)
        {
            const char *zone = json_string_value(json_object_get(hitbox, "zone"));
            const char *bone = json_string_value(json_object_get(hitbox, "bone"));
            double factor = json_number_value(json_object_get(zones, zone != NULL ? zone : ""));
            forge->reach = fmax(forge->reach, reach_of(hitbox));
            if (factor > best && bone != NULL) {
                best = factor;
                snprintf(forge->best_bone, sizeof(forge->best_bone), "%s", bone);
            }
        }
    }
}

struct hs_forge *hs_forge_create(enum hs_cheat cheat, const json_t *ruleset)
{
    struct hs_forge *forge = calloc(1, sizeof(*forge));
    if (forge == NULL || (forge->tracks = json_object()) == NULL) {
        free(forge);
        return NULL;
    }
    forge->cheat = cheat;
    forge->newest = -HUGE_VAL;
    survey_ruleset(forge, ruleset);
    return forge;
}

void hs_forge_destroy(struct hs_forge *forge)
{
    if (forge == NULL)
        return;
    json_decref(forge->tracks);
    free(forge);
}

/* [time, x, y, z] */
static void read_place(const json_t *place, struct hs_vec *out)
{
    *out = (struct hs_vec){json_number_value(json_array_get(place, 1)),
                           json_number_value(json_array_get(place, 2)),
                           json_number_value(json_array_get(place, 3))};
}

static void note_pose(struct hs_forge *forge, double time, const json_t *player)
{
    const char *name = json_string_value(json_object_get(player, "player"));
    struct hs_vec position;
    if (name == NULL || !read_vector(json_object_get(player, "position"), &position))
        return;
    json_t *track = json_object_get(forge->tracks, name);
    if (track == NULL) {
        track = json_array();
        json_object_set_new(forge->tracks, name, track);
    }
    if (json_array_size(track) == TRACK_LENGTH)
        json_array_remove(track, 0);
    json_array_append_new(track,
                          json_pack("[f, f, f, f]", time, position.x, position.y, position.z));
}

static void note_frames(struct hs_forge *forge, const json_t *body)
{
    size_t i, k;
    json_t *frame, *player;
    json_array_foreach(json_object_get(body, "frames"), i, frame)
    {
        double time = json_number_value(json_object_get(frame, "time"));
        if (time < forge->newest)
            continue;
        forge->newest = time;
        json_array_foreach(json_object_get(frame, "players"), k, player)
        {
            note_pose(forge, time, player);
        }
    }
}

/* How far a player has moved from a time until now. False: not known. */
static bool moved_since(const struct hs_forge *forge, const char *name, double time,
                        struct hs_vec *then, struct hs_vec *moved)
{
    json_t *track = json_object_get(forge->tracks, name);
    struct hs_vec now;
    size_t i = json_array_size(track);
    if (i == 0)
        return false;
    read_place(json_array_get(track, i - 1), &now);
    do {
        i--;
        read_place(json_array_get(track, i), then);
    } while (i > 0 && json_number_value(json_array_get(json_array_get(track, i), 0)) > time);
    *moved = hs_vec_sub(now, *then);
    return true;
}

/* A direction across `along`; any will do, but always the same. */
static struct hs_vec across(struct hs_vec along)
{
    struct hs_vec helper = fabs(along.z) < 0.9 * hs_vec_length(along) ? (struct hs_vec){0, 0, 1}
                                                                      : (struct hs_vec){1, 0, 0};
    struct hs_vec side = hs_vec_cross(along, helper);
    double length = hs_vec_length(side);
    return length > 0.0 ? hs_vec_scale(side, 1.0 / length) : (struct hs_vec){1, 0, 0};
}

/* Aims at the same spot of the target's body, where the target is by now. */
static void aim_ahead(const struct hs_forge *forge, const json_t *hit, struct hs_vec start,
                      struct hs_vec *end)
{
    const char *name = json_string_value(json_object_get(hit, "target"));
    double time = json_number_value(json_object_get(hit, "hit_time"));
    struct hs_vec then, moved;
    if (name == NULL || !moved_since(forge, name, time, &then, &moved))
        return;
    double away = hs_vec_distance(start, then);
    if (away > 0.0)
        *end = hs_vec_add_scaled(*end, moved, hs_vec_distance(start, *end) / away);
}

/* Turns the path so far aside that it passes the target's body at this distance; where the target
   is not known, that is where the path ends. */
static void aim_beside(const struct hs_forge *forge, const json_t *hit, struct hs_vec start,
                       double distance, struct hs_vec *end)
{
    const char *name = json_string_value(json_object_get(hit, "target"));
    double time = json_number_value(json_object_get(hit, "hit_time"));
    double length = hs_vec_distance(start, *end), away = length;
    struct hs_vec then, moved;
    if (name != NULL && moved_since(forge, name, time, &then, &moved))
        away = hs_vec_distance(start, then);
    if (away > 0.0)
        *end = hs_vec_add_scaled(*end, across(hs_vec_sub(*end, start)), distance * length / away);
}

static void forge_path(const struct hs_forge *forge, json_t *hit)
{
    struct hs_vec start, end;
    if (!read_vector(json_object_get(hit, "start"), &start) ||
        !read_vector(json_object_get(hit, "end"), &end))
        return;
    struct hs_vec path = hs_vec_sub(end, start);
    double radius = 5.0 * (forge->widest > 0.0 ? forge->widest : forge->reach);
    switch (forge->cheat) {
    case HS_CHEAT_SHIFT_ORIGIN:
        /* Several tolerances off, and off the body as well. */
        start = hs_vec_add_scaled(start, across(path), 3.0 * forge->origin_tolerance);
        break;
    case HS_CHEAT_AIM_AHEAD:
        aim_ahead(forge, hit, start, &end);
        break;
    case HS_CHEAT_REVERSE_AIM:
        end = hs_vec_sub(start, path);
        break;
    case HS_CHEAT_GROW_RADIUS:
        json_object_set_new(hit, "radius", json_real(radius));
        aim_beside(forge, hit, start, forge->reach + 0.8 * radius, &end);
        break;
    default:
        return;
    }
    /* As long as it was: the range has no part in this. */
    struct hs_vec forged = hs_vec_sub(end, start);
    double length = hs_vec_length(forged);
    if (length > 0.0)
        end = hs_vec_add_scaled(start, forged, hs_vec_length(path) / length);
    json_object_set_new(hit, "start", write_vector(start));
    json_object_set_new(hit, "end", write_vector(end));
}

void hs_forge_entry(struct hs_forge *forge, struct hs_recording_entry *entry)
{
    size_t i;
    json_t *hit;
    note_frames(forge, entry->body);
    json_t *stated = json_object_get(entry->body, "now");
    double now = json_is_number(stated) ? json_number_value(stated) : forge->newest;
    json_array_foreach(hs_recording_claims(entry), i, hit)
    {
        switch (forge->cheat) {
        case HS_CHEAT_SHIFT_TIME:
            json_object_set_new(hit, "hit_time", json_real(now - forge->rewind_limit - 0.1));
            break;
        case HS_CHEAT_FUTURE_TIME:
            json_object_set_new(hit, "hit_time", json_real(now + forge->future_slack + 0.1));
            break;
        case HS_CHEAT_FORGE_DAMAGE:
            json_object_set_new(hit, "claimed_damage", json_real(999.0));
            break;
        case HS_CHEAT_WRONG_BONE:
            if (forge->best_bone[0] != '\0')
                json_object_set_new(hit, "claimed_bone", json_string(forge->best_bone));
            break;
        default:
            forge_path(forge, hit);
            break;
        }
    }
}
