#include "cli/play/forge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validators/vec.h"

/* The number of stored poses for each player. Every rewind needs fewer poses. */
enum { TRACK_LENGTH = 256 };

struct hs_forge {
    enum hs_cheat cheat;
    double rewind_limit, future_slack, origin_tolerance; /* seconds, seconds, length */
    double reach;  /* largest distance from a bone to a point of its hitbox; length */
    double widest; /* the largest weapon radius; length */
    /* The bone that a forged claim names. The hitbox of this bone is in the zone with the highest
       damage factor. Empty: the ruleset has no hitboxes. */
    char best_bone[HS_NAME_MAX + 1];
    double newest;  /* time of the newest frame */
    json_t *tracks; /* player -> [[time, x, y, z], ..], oldest first */
};

const char *const hs_cheat_names[HS_CHEAT_COUNT] = {"",
#define X(id, name, text) name,
                                                    HS_CHEATS(X)
#undef X
};

/* Reads three numbers from an array, beginning with the element `first`. */
static bool read_vector(const json_t *array, size_t first, struct hs_vec *out)
{
    if (json_array_size(array) < first + 3)
        return false;
    *out = (struct hs_vec){json_number_value(json_array_get(array, first)),
                           json_number_value(json_array_get(array, first + 1)),
                           json_number_value(json_array_get(array, first + 2))};
    return true;
}

static json_t *write_vector(struct hs_vec v)
{
    return json_pack("[f, f, f]", v.x, v.y, v.z);
}

/* Returns an upper bound for the distance from a bone to any point of its hitbox. */
static double reach_of(const json_t *hitbox)
{
    struct hs_vec center = {0}, half = {0};
    read_vector(json_object_get(hitbox, "center"), 0, &center);
    read_vector(json_object_get(hitbox, "half_extents"), 0, &half);
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

static void record_pose(struct hs_forge *forge, double time, const json_t *player)
{
    const char *name = json_string_value(json_object_get(player, "player"));
    struct hs_vec position;
    if (name == NULL || !read_vector(json_object_get(player, "position"), 0, &position))
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

static void record_frames(struct hs_forge *forge, const json_t *body)
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
            record_pose(forge, time, player);
        }
    }
}

/* Finds the position that a player had at `time`, and the displacement from this position to the
   newest position. Returns false if the player has no recorded pose. */
static bool moved_since(const struct hs_forge *forge, const char *name, double time,
                        struct hs_vec *then, struct hs_vec *moved)
{
    json_t *track = json_object_get(forge->tracks, name);
    struct hs_vec now;
    size_t i = json_array_size(track);
    if (i == 0 || !read_vector(json_array_get(track, i - 1), 1, &now))
        return false;
    do {
        i--;
        if (!read_vector(json_array_get(track, i), 1, then))
            return false;
    } while (i > 0 && json_number_value(json_array_get(json_array_get(track, i), 0)) > time);
    *moved = hs_vec_sub(now, *then);
    return true;
}

/* Returns a unit vector orthogonal to `along`. For the same input, always returns the same
   vector. */
static struct hs_vec across(struct hs_vec along)
{
    struct hs_vec helper = fabs(along.z) < 0.9 * hs_vec_length(along) ? (struct hs_vec){0, 0, 1}
                                                                      : (struct hs_vec){1, 0, 0};
    struct hs_vec side = hs_vec_cross(along, helper);
    double length = hs_vec_length(side);
    return length > 0.0 ? hs_vec_scale(side, 1.0 / length) : (struct hs_vec){1, 0, 0};
}

static void forge_path(const struct hs_forge *forge, json_t *hit)
{
    struct hs_vec start, end, then, moved;
    if (!read_vector(json_object_get(hit, "start"), 0, &start) ||
        !read_vector(json_object_get(hit, "end"), 0, &end))
        return;
    struct hs_vec path = hs_vec_sub(end, start);
    double length = hs_vec_length(path);
    double radius = 5.0 * (forge->widest > 0.0 ? forge->widest : forge->reach);
    const char *target = json_string_value(json_object_get(hit, "target"));
    double time = json_number_value(json_object_get(hit, "hit_time"));
    bool known = target != NULL && moved_since(forge, target, time, &then, &moved);
    double away = known ? hs_vec_distance(start, then) : length; /* distance from the shooter to the
                                                                    target */
    switch (forge->cheat) {
    case HS_CHEAT_SHIFT_ORIGIN:
        /* Move the start far beyond the origin tolerance, and out of the shooter's body. */
        start = hs_vec_add_scaled(start, across(path), 3.0 * forge->origin_tolerance);
        break;
    case HS_CHEAT_AIM_AHEAD:
        /* Aim at the same point of the body, but at the body's newest position. */
        if (known && away > 0.0)
            end = hs_vec_add_scaled(end, moved, length / away);
        break;
    case HS_CHEAT_REVERSE_AIM:
        end = hs_vec_sub(start, path);
        break;
    case HS_CHEAT_GROW_RADIUS:
        /* The path passes the target at a distance of the body's reach plus 80 % of the forged
           radius. At this distance, only a shot with the forged radius touches the body. */
        json_object_set_new(hit, "radius", json_real(radius));
        if (away > 0.0)
            end =
                hs_vec_add_scaled(end, across(path), (forge->reach + 0.8 * radius) * length / away);
        break;
    default:
        return;
    }
    /* Keep the length of the path, so that the range is never the reason for a rejection. */
    struct hs_vec forged = hs_vec_sub(end, start);
    double forged_length = hs_vec_length(forged);
    if (forged_length > 0.0)
        end = hs_vec_add_scaled(start, forged, length / forged_length);
    json_object_set_new(hit, "start", write_vector(start));
    json_object_set_new(hit, "end", write_vector(end));
}

void hs_forge_entry(struct hs_forge *forge, struct hs_recording_entry *entry)
{
    size_t i;
    json_t *hit;
    record_frames(forge, entry->body);
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
