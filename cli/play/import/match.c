#include "cli/play/import/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/play/import/csv.h"
#include "cli/play/import/game.h"

enum {
    MAX_SLOTS = 256,
    FRAMES_A_REQUEST = 16, /* a quarter of a second of a 64 Hz game */
    PATH_BYTES = 1024
};

/* A move between two poses that is shorter than this is never taken for a jump. */
#define LEAST_JUMP 32.0

struct slot {
    bool known, alive;
    double time, position[3];
};

struct pose_columns {
    int time, slot, position[3], alive, duck, team;
};

struct shot_columns {
    int time, shooter, origin[3], direction[3], max_dist, ping, weapon, victim, hit, damage;
};

struct csv_match {
    const struct hs_csv_game *game;
    struct hs_csv *poses, *shots;
    struct pose_columns pose;
    struct shot_columns shot;
    bool have_pose, have_shot;   /* a row is waiting */
    double pose_time, shot_time; /* of the waiting rows, seconds */
    double last_time;            /* of the newest frame */
    long long shot_number;
    struct slot slots[MAX_SLOTS];
    struct hs_csv_weapon weapons[HS_CSV_WEAPONS];
    size_t weapon_count;
    double longest_rewind; /* seconds */
};

static const char *find_part(const char *path, const char *part)
{
    const char *found = NULL;
    for (const char *at = strstr(path, part); at != NULL; at = strstr(at + 1, part))
        found = at;
    if (found == NULL)
        return NULL;
    const char *rest = found + strlen(part);
    return *rest == '\0' || strcmp(rest, ".gz") == 0 ? found : NULL;
}

bool hs_csv_match_is_name(const char *path)
{
    return find_part(path, ".poses.csv") != NULL || find_part(path, ".shots.csv") != NULL;
}

/* The pair's other table, with .gz or without, whichever is there. */
static struct hs_csv *open_table(const char *path, const char *part, char error[HS_PLAY_ERROR_MAX])
{
    const char *at = find_part(path, ".poses.csv");
    if (at == NULL)
        at = find_part(path, ".shots.csv");
    char name[PATH_BYTES];
    int stem = (int)(at - path);
    bool zipped = at[strlen(".poses.csv")] != '\0';
    for (int other = 0; other < 2; other++) {
        if (snprintf(name, sizeof(name), "%.*s%s%s", stem, path, part,
                     zipped != (other == 1) ? ".gz" : "") >= (int)sizeof(name))
            break;
        if (access(name, R_OK) == 0)
            return hs_csv_open(name, error);
    }
    snprintf(error, HS_PLAY_ERROR_MAX, "%.*s%s[.gz] is needed and cannot be read", stem, path,
             part);
    return NULL;
}

static int need(const struct hs_csv *csv, const char *name, const char *table,
                char error[HS_PLAY_ERROR_MAX], bool *good)
{
    int column = hs_csv_column(csv, name);
    if (column < 0) {
        if (*good)
            snprintf(error, HS_PLAY_ERROR_MAX, "the table of %s has no column %s", table, name);
        *good = false;
    }
    return column;
}

static bool find_pose_columns(struct csv_match *match, char error[HS_PLAY_ERROR_MAX])
{
    static const char *const axes[] = {"x", "y", "z"};
    bool good = true;
    struct pose_columns *pose = &match->pose;
    pose->time = need(match->poses, "t_ms", "poses", error, &good);
    pose->slot = need(match->poses, "slot", "poses", error, &good);
    pose->alive = need(match->poses, "alive", "poses", error, &good);
    for (size_t i = 0; i < 3; i++)
        pose->position[i] = need(match->poses, axes[i], "poses", error, &good);
    pose->duck = hs_csv_column(match->poses, "duck");
    pose->team = hs_csv_column(match->poses, "team");
    match->game = &hs_csv_games[pose->duck >= 0];
    return good;
}

static bool find_shot_columns(struct csv_match *match, char error[HS_PLAY_ERROR_MAX])
{
    static const char axes[] = "xyz";
    bool good = true;
    struct hs_csv *csv = match->shots;
    struct shot_columns *shot = &match->shot;
    shot->time = need(csv, "t_ms", "shots", error, &good);
    shot->shooter = need(csv, "shooter", "shots", error, &good);
    shot->ping = need(csv, "ping_ms", "shots", error, &good);
    shot->weapon = need(csv, "weapon", "shots", error, &good);
    shot->victim = need(csv, "victim", "shots", error, &good);
    shot->hit = need(csv, "server_hit", "shots", error, &good);
    shot->damage = need(csv, "damage", "shots", error, &good);
    for (size_t i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof(name), "o%c", axes[i]);
        shot->origin[i] = need(csv, name, "shots", error, &good);
        snprintf(name, sizeof(name), "%s%c", match->game->direction, axes[i]);
        shot->direction[i] = need(csv, name, "shots", error, &good);
    }
    shot->max_dist = hs_csv_column(csv, "max_dist");
    return good;
}

/* Reads the next row and its time; a time that runs back is a fault of the table. */
static bool advance(struct hs_csv *csv, int column, bool *have, double *time,
                    char error[HS_PLAY_ERROR_MAX])
{
    double before = *time, ms = 0.0;
    enum hs_recording_result result = hs_csv_next(csv, error);
    *have = result == HS_RECORDING_ENTRY;
    if (result == HS_RECORDING_BAD)
        return false;
    if (!*have)
        return true;
    hs_csv_number(csv, column, &ms);
    if (hs_csv_fault(csv, error))
        return false;
    *time = ms / 1000.0;
    if (*time < before) {
        return hs_csv_fail(csv, error, "t_ms runs back");
    }
    return true;
}

static double rewind_of(const struct hs_csv_game *game, double ping_ms)
{
    return fmax(game->least_rewind, ping_ms / 1000.0 - game->ping_credit);
}

/* What the ruleset must cover: weapons, ranges and pings of the whole table. */
static bool survey_shots(struct csv_match *match, char error[HS_PLAY_ERROR_MAX])
{
    for (;;) {
        if (!advance(match->shots, match->shot.time, &match->have_shot, &match->shot_time, error))
            return false;
        if (!match->have_shot)
            return true;
        double distance = match->game->default_distance, damage = 0.0, ping = 0.0;
        if (match->shot.max_dist >= 0)
            hs_csv_number(match->shots, match->shot.max_dist, &distance);
        hs_csv_number(match->shots, match->shot.damage, &damage);
        hs_csv_number(match->shots, match->shot.ping, &ping);
        if (hs_csv_fault(match->shots, error))
            return false;
        const char *name = hs_csv_text(match->shots, match->shot.weapon);
        size_t i = 0;
        while (i < match->weapon_count && strcmp(match->weapons[i].name, name) != 0)
            i++;
        struct hs_str text = {name, strlen(name)};
        if (!hs_name_is_valid(text))
            return hs_csv_fail(match->shots, error, "\"%.64s\" is no name for a weapon", name);
        if (i == HS_CSV_WEAPONS)
            return hs_csv_fail(match->shots, error, "more than %d weapons", HS_CSV_WEAPONS);
        struct hs_csv_weapon *weapon = &match->weapons[i];
        if (i == match->weapon_count) {
            snprintf(weapon->name, sizeof(weapon->name), "%s", name);
            match->weapon_count++;
        }
        weapon->damage = fmax(weapon->damage, damage);
        weapon->range = fmax(weapon->range, distance);
        match->longest_rewind = fmax(match->longest_rewind, rewind_of(match->game, ping));
    }
}

/* Slots are small whole numbers; anything else is a fault of the row. */
static bool read_slot(struct hs_csv *csv, int column, long *out, char error[HS_PLAY_ERROR_MAX])
{
    double value = 0.0;
    hs_csv_number(csv, column, &value);
    if (hs_csv_fault(csv, error))
        return false;
    if (value < 0 || value >= MAX_SLOTS || value != floor(value)) {
        return hs_csv_fail(csv, error, "a slot must be a whole number below %d", MAX_SLOTS);
    }
    *out = (long)value;
    return true;
}

static json_t *vector(const double v[3])
{
    return json_pack("[f, f, f]", v[0], v[1], v[2]);
}

/* The waiting row of poses as a player of a frame. NULL with a sentence in `error`. */
static json_t *pose_to_player(struct csv_match *match, char error[HS_PLAY_ERROR_MAX])
{
    double position[3] = {0}, alive = 0.0, duck = 0.0;
    long number = 0;
    struct hs_csv *csv = match->poses;
    if (!read_slot(csv, match->pose.slot, &number, error))
        return NULL;
    for (size_t i = 0; i < 3; i++)
        hs_csv_number(csv, match->pose.position[i], &position[i]);
    hs_csv_number(csv, match->pose.alive, &alive);
    if (match->pose.duck >= 0)
        hs_csv_number(csv, match->pose.duck, &duck);
    if (hs_csv_fault(csv, error))
        return NULL;

    struct slot *slot = &match->slots[number];
    char name[16];
    snprintf(name, sizeof(name), "p%ld", number);
    json_t *player = json_pack("{s:s, s:o}", "player", name, "position", vector(position));
    bool is_alive = alive != 0.0;
    double moved = 0.0;
    for (size_t i = 0; i < 3; i++)
        moved += (position[i] - slot->position[i]) * (position[i] - slot->position[i]);
    moved = sqrt(moved);
    bool jumped =
        moved > LEAST_JUMP && moved > match->game->jump_speed * (match->pose_time - slot->time);
    if (slot->known && is_alive && !slot->alive)
        json_object_set_new(player, "event", json_string("spawn"));
    else if (slot->known && jumped)
        json_object_set_new(player, "event", json_string("teleport"));
    if (!slot->known || is_alive != slot->alive)
        json_object_set_new(player, "alive", json_boolean(is_alive));
    if (match->pose.duck >= 0)
        json_object_set_new(player, "stance", json_string(duck >= 0.5 ? "duck" : "stand"));
    if (match->pose.team >= 0 && !slot->known) {
        char team[HS_NAME_MAX];
        snprintf(team, sizeof(team), "team%.32s", hs_csv_text(csv, match->pose.team));
        json_object_set_new(player, "team", json_string(team));
    }
    *slot = (struct slot){.known = true, .alive = is_alive, .time = match->pose_time};
    memcpy(slot->position, position, sizeof(position));
    return player;
}

/* All waiting poses of one time as one frame, put at the end of `frames`. */
static bool take_frame(struct csv_match *match, json_t *frames, char error[HS_PLAY_ERROR_MAX])
{
    double time = match->pose_time;
    json_t *players = json_array();
    bool good = true;
    while (good && match->have_pose && match->pose_time == time) {
        json_t *player = pose_to_player(match, error);
        good = player != NULL && json_array_append_new(players, player) == 0 &&
               advance(match->poses, match->pose.time, &match->have_pose, &match->pose_time, error);
    }
    match->last_time = time;
    json_array_append_new(frames, json_pack("{s:f, s:o}", "time", time, "players", players));
    return good;
}

/* The waiting row of shots as a claim; its truth goes to `truth`. */
static bool take_shot(struct csv_match *match, json_t *hits, json_t *truth,
                      char error[HS_PLAY_ERROR_MAX])
{
    const struct shot_columns *shot = &match->shot;
    struct hs_csv *csv = match->shots;
    double start[3] = {0}, end[3] = {0}, distance = match->game->default_distance, ping = 0.0,
           hit = 0.0;
    double time = match->shot_time;
    char shooter[16], victim[16];
    long number = 0;
    if (!read_slot(csv, shot->shooter, &number, error))
        return false;
    snprintf(shooter, sizeof(shooter), "p%ld", number);
    if (!read_slot(csv, shot->victim, &number, error))
        return false;
    snprintf(victim, sizeof(victim), "p%ld", number);
    if (shot->max_dist >= 0)
        hs_csv_number(csv, shot->max_dist, &distance);
    for (size_t i = 0; i < 3; i++) {
        start[i] = end[i] = 0.0;
        hs_csv_number(csv, shot->origin[i], &start[i]);
        hs_csv_number(csv, shot->direction[i], &end[i]);
        end[i] = start[i] + end[i] * distance;
    }
    hs_csv_number(csv, shot->ping, &ping);
    hs_csv_number(csv, shot->hit, &hit);
    if (hs_csv_fault(csv, error))
        return false;
    json_array_append_new(hits,
                          json_pack("{s:I, s:s, s:s, s:f, s:f, s:o, s:o, s:s}", "shot",
                                    (json_int_t)match->shot_number++, "shooter", shooter, "weapon",
                                    hs_csv_text(csv, shot->weapon), "hit_time",
                                    time - rewind_of(match->game, ping), "fire_time", time, "start",
                                    vector(start), "end", vector(end), "target", victim));
    json_array_append_new(truth, json_string(hit != 0.0 ? "hit" : "miss"));
    return advance(csv, shot->time, &match->have_shot, &match->shot_time, error);
}

static enum hs_recording_result match_next(void *state, struct hs_recording_entry *entry,
                                           char error[HS_PLAY_ERROR_MAX])
{
    struct csv_match *match = state;
    if (!match->have_pose && !match->have_shot)
        return HS_RECORDING_END;
    json_t *frames = json_array();
    entry->body = json_pack("{s:o}", "frames", frames);
    entry->route = HS_ROUTE_FRAMES_POST;
    while (match->have_pose && json_array_size(frames) < FRAMES_A_REQUEST &&
           (!match->have_shot || match->pose_time <= match->shot_time)) {
        if (!take_frame(match, frames, error))
            return HS_RECORDING_BAD;
    }
    entry->at = match->last_time;
    if (!match->have_shot || (match->have_pose && match->pose_time <= match->shot_time))
        return HS_RECORDING_ENTRY;

    double now = match->shot_time;
    json_t *hits = json_array();
    entry->at = now;
    entry->truth = json_array();
    entry->route = HS_ROUTE_TICKS_POST;
    json_object_set_new(entry->body, "now", json_real(now));
    json_object_set_new(entry->body, "hits", hits);
    while (match->have_shot && match->shot_time == now) {
        if (!take_shot(match, hits, entry->truth, error))
            return HS_RECORDING_BAD;
    }
    return HS_RECORDING_ENTRY;
}

static double match_progress(void *state)
{
    const struct csv_match *match = state;
    return hs_csv_progress(match->poses);
}

static void match_destroy(void *state)
{
    struct csv_match *match = state;
    hs_csv_close(match->poses);
    hs_csv_close(match->shots);
    free(match);
}

/* The name of the file without its folder and ending; what no name can have becomes `_`. */
static void name_match(const char *path, struct hs_recording_header *header)
{
    const char *base = strrchr(path, '/');
    base = base != NULL ? base + 1 : path;
    size_t length = strcspn(base, ".");
    struct hs_str stem = {base, length < HS_NAME_MAX ? length : HS_NAME_MAX};
    hs_name_set(&header->match, length > 0 ? stem : HS_STR("match"));
    for (char *at = header->match.text; *at != '\0'; at++) {
        if (!hs_name_is_valid((struct hs_str){at, 1}))
            *at = '_';
    }
}

struct hs_recording *hs_csv_match_open(const char *path, double grow, char error[HS_PLAY_ERROR_MAX])
{
    struct hs_recording *recording = calloc(1, sizeof(*recording));
    struct csv_match *match = calloc(1, sizeof(*match));
    if (recording == NULL || match == NULL) {
        snprintf(error, HS_PLAY_ERROR_MAX, "out of memory");
        free(recording);
        free(match);
        return NULL;
    }
    recording->state = match;
    recording->next = match_next;
    recording->progress = match_progress;
    recording->destroy = match_destroy;
    bool good = (match->poses = open_table(path, ".poses.csv", error)) != NULL &&
                (match->shots = open_table(path, ".shots.csv", error)) != NULL &&
                find_pose_columns(match, error) && find_shot_columns(match, error) &&
                survey_shots(match, error);
    if (good && grow <= -match->game->half_width) {
        snprintf(error, HS_PLAY_ERROR_MAX, "a body grown by %g is none", grow);
        good = false;
    }
    if (good) {
        hs_csv_close(match->shots);
        match->shots = open_table(path, ".shots.csv", error);
        match->shot_time = match->pose_time = -HUGE_VAL;
        match->shot_number = 1;
        good =
            match->shots != NULL &&
            advance(match->shots, match->shot.time, &match->have_shot, &match->shot_time, error) &&
            advance(match->poses, match->pose.time, &match->have_pose, &match->pose_time, error);
    }
    if (!good) {
        hs_recording_close(recording);
        return NULL;
    }
    struct hs_recording_header *header = &recording->header;
    name_match(path, header);
    snprintf(header->title, sizeof(header->title), "%s", header->match.text);
    hs_name_set(&header->ruleset, (struct hs_str){match->game->name, strlen(match->game->name)});
    header->unit = 1.0 / 0.0254;
    header->ruleset_document = hs_csv_ruleset(match->game, match->weapons, match->weapon_count,
                                              match->longest_rewind, grow);
    return recording;
}
