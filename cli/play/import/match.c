#include "cli/play/import/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/play/import/csv.h"
#include "cli/play/import/game.h"

enum {
    MAX_SLOTS = 256,
    FRAMES_A_REQUEST = 16, /* max frames in a request: a quarter of a second at 64 Hz */
    PATH_BYTES = 1024
};

/* A movement of at most this many inches between two poses is never a teleport. */
#define LEAST_JUMP 32.0

/* The last pose of a player. */
struct slot {
    bool known, alive;
    double time, position[3];
};

enum { POSE_TIME, POSE_SLOT, POSE_ALIVE, POSE_X, POSE_DUCK = POSE_X + 3, POSE_TEAM };
enum { POSE_YAW = POSE_TEAM + 1, POSE_PITCH, POSE_COLUMNS };

static const char *const pose_columns[POSE_COLUMNS] = {"t_ms", "slot", "alive", "x",   "y",
                                                       "z",    "duck", "team",  "yaw", "pitch"};

enum { SHOT_TIME, SHOT_SHOOTER, SHOT_PING, SHOT_WEAPON, SHOT_VICTIM, SHOT_HIT, SHOT_DAMAGE };
enum { SHOT_ORIGIN = SHOT_DAMAGE + 1, SHOT_DIRECTION = SHOT_ORIGIN + 3 };
enum { SHOT_MAX_DIST = SHOT_DIRECTION + 3, SHOT_INACCURACY, SHOT_SPREAD, SHOT_COLUMNS };

/* Indexed like hs_csv_games. Only the names of the direction columns differ between the games. */
static const char *const shot_columns[2][SHOT_COLUMNS] = {
    {"t_ms", "shooter", "ping_ms", "weapon", "victim", "server_hit", "damage", "ox", "oy", "oz",
     "dx", "dy", "dz", "max_dist", "inaccuracy", "spread"},
    {"t_ms", "shooter", "ping_ms", "weapon", "victim", "server_hit", "damage", "ox", "oy", "oz",
     "bullet_dx", "bullet_dy", "bullet_dz", "max_dist", "inaccuracy", "spread"},
};

struct table {
    struct hs_csv *csv;
    int columns[SHOT_COLUMNS]; /* index of each column in the file; -1: absent */
    bool waiting;              /* a row has been read but not yet used */
    double time;               /* time of the waiting row, seconds */
    char *error;               /* buffer of HS_PLAY_ERROR_MAX bytes, owned by the caller */
};

struct csv_match {
    const struct hs_csv_game *game;
    struct table poses, shots;
    double last_time; /* time of the newest frame, seconds */
    long long shot_number;
    struct slot slots[MAX_SLOTS];
    struct hs_csv_weapon weapons[HS_CSV_WEAPONS];
    size_t weapon_count;
    double longest_rewind; /* seconds */
};

/* Returns how many bytes of a path come before the suffix .poses.csv or .shots.csv, which may be
   followed by .gz. Returns -1 if the path has another suffix. Sets *zipped to whether the path ends
   in .gz. */
static int stem_of(const char *path, bool *zipped)
{
    size_t length = strlen(path), part = strlen(".poses.csv");
    *zipped = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    length -= *zipped ? 3 : 0;
    if (length < part || (strncmp(path + length - part, ".poses.csv", part) != 0 &&
                          strncmp(path + length - part, ".shots.csv", part) != 0))
        return -1;
    return (int)(length - part);
}

bool hs_csv_match_is_name(const char *path)
{
    bool zipped;
    return stem_of(path, &zipped) >= 0;
}

/* Opens one table of the pair. Each table may be compressed (.gz) or plain, independently of the
   other table. */
static bool open_table(struct table *table, const char *path, const char *part)
{
    bool zipped;
    char name[PATH_BYTES];
    int stem = stem_of(path, &zipped);
    for (int other = 0; other < 2; other++) {
        int length = snprintf(name, sizeof(name), "%.*s%s%s", stem, path, part,
                              zipped != (other == 1) ? ".gz" : "");
        if (length < PATH_BYTES && access(name, R_OK) == 0) {
            hs_csv_close(table->csv);
            table->csv = hs_csv_open(name, table->error);
            return table->csv != NULL;
        }
    }
    snprintf(table->error, HS_PLAY_ERROR_MAX, "cannot read the required file %.*s%s[.gz]", stem,
             path, part);
    return false;
}

/* Finds the columns by name. Columns with index `optional` or higher may be absent. */
static bool find_columns(struct table *table, const char *const *names, int count, int optional)
{
    for (int i = 0; i < count; i++) {
        table->columns[i] = hs_csv_column(table->csv, names[i]);
        if (table->columns[i] < 0 && i < optional) {
            snprintf(table->error, HS_PLAY_ERROR_MAX, "the table of %s has no column %s",
                     names == pose_columns ? "poses" : "shots", names[i]);
            return false;
        }
    }
    return true;
}

/* Returns a number from the waiting row, or `otherwise` if the table lacks the column or the cell
   is not a number. If the cell is not a number, hs_csv_fault reports it. */
static double number(const struct table *table, int column, double otherwise)
{
    if (table->columns[column] >= 0)
        hs_csv_number(table->csv, table->columns[column], &otherwise);
    return otherwise;
}

/* Reads the next row, and its time from the first column. Fails if the time is before the previous
   row's time. */
static bool advance(struct table *table)
{
    enum hs_recording_result result = hs_csv_next(table->csv, table->error);
    table->waiting = result == HS_RECORDING_ENTRY;
    if (!table->waiting)
        return result == HS_RECORDING_END;
    double before = table->time;
    table->time = number(table, 0, 0.0) / 1000.0;
    if (hs_csv_fault(table->csv, table->error))
        return false;
    return table->time >= before || hs_csv_fail(table->csv, table->error, "t_ms decreases");
}

static double rewind_of(const struct hs_csv_game *game, double ping_ms)
{
    return fmax(game->least_rewind, ping_ms / 1000.0 - game->ping_credit);
}

/* Returns the weapon with this name. Adds the weapon if it is missing. Returns NULL with a message
   in `error` on failure. */
static struct hs_csv_weapon *find_weapon(struct csv_match *match, const char *name)
{
    size_t i = 0;
    while (i < match->weapon_count && strcmp(match->weapons[i].name, name) != 0)
        i++;
    if (i == HS_CSV_WEAPONS)
        hs_csv_fail(match->shots.csv, match->shots.error, "more than %d weapons", HS_CSV_WEAPONS);
    else if (!hs_name_is_valid(hs_str_of(name)))
        hs_csv_fail(match->shots.csv, match->shots.error, "\"%.64s\" is not a valid weapon name",
                    name);
    else {
        struct hs_csv_weapon *weapon = &match->weapons[i];
        snprintf(weapon->name, sizeof(weapon->name), "%s", name);
        match->weapon_count += i == match->weapon_count;
        return weapon;
    }
    return NULL;
}

/* Reads the whole shot table, because the ruleset needs the weapons, ranges and pings in this
   table. */
static bool survey_shots(struct csv_match *match)
{
    struct table *shots = &match->shots;
    while (advance(shots)) {
        if (!shots->waiting)
            return true;
        double distance = number(shots, SHOT_MAX_DIST, match->game->default_distance);
        double damage = number(shots, SHOT_DAMAGE, 0.0), ping = number(shots, SHOT_PING, 0.0);
        double off = number(shots, SHOT_INACCURACY, 0.0) + number(shots, SHOT_SPREAD, 0.0);
        if (hs_csv_fault(shots->csv, shots->error))
            return false;
        struct hs_csv_weapon *weapon =
            find_weapon(match, hs_csv_text(shots->csv, shots->columns[SHOT_WEAPON]));
        if (weapon == NULL)
            return false;
        weapon->damage = fmax(weapon->damage, damage);
        weapon->range = fmax(weapon->range, distance);
        weapon->spread = fmax(weapon->spread, off);
        match->longest_rewind = fmax(match->longest_rewind, rewind_of(match->game, ping));
    }
    return false;
}

/* Reads a player's slot, a small whole number. The player is named "p" followed by the slot. */
static bool read_slot(const struct table *table, int column, long *slot, char name[16])
{
    double value = number(table, column, 0.0);
    if (hs_csv_fault(table->csv, table->error))
        return false;
    if (value < 0 || value >= MAX_SLOTS || value != floor(value))
        return hs_csv_fail(table->csv, table->error, "a slot must be a whole number below %d",
                           MAX_SLOTS);
    *slot = (long)value;
    snprintf(name, 16, "p%ld", *slot);
    return true;
}

static json_t *vector(const double v[3])
{
    return json_pack("[f, f, f]", v[0], v[1], v[2]);
}

/* Adds the player's aim. Angles in the table are in degrees; in both games a negative pitch points
   up. */
static void add_aim(const struct table *poses, json_t *player)
{
    double yaw = number(poses, POSE_YAW, 0.0) * M_PI / 180.0;
    double pitch = number(poses, POSE_PITCH, 0.0) * M_PI / 180.0;
    const double aim[3] = {cos(pitch) * cos(yaw), cos(pitch) * sin(yaw), -sin(pitch)};
    if (poses->columns[POSE_YAW] >= 0 && poses->columns[POSE_PITCH] >= 0)
        json_object_set_new(player, "aim", vector(aim));
}

/* Converts the waiting pose to a player in a frame. Returns NULL with a message in `error` on
   failure. */
static json_t *pose_to_player(struct csv_match *match)
{
    const struct table *poses = &match->poses;
    double position[3];
    char name[16];
    long index;
    if (!read_slot(poses, POSE_SLOT, &index, name))
        return NULL;
    for (int i = 0; i < 3; i++)
        position[i] = number(poses, POSE_X + i, 0.0);
    double alive = number(poses, POSE_ALIVE, 0.0), duck = number(poses, POSE_DUCK, 0.0);
    json_t *player = json_pack("{s:s, s:o}", "player", name, "position", vector(position));
    add_aim(poses, player);
    if (hs_csv_fault(poses->csv, poses->error)) {
        json_decref(player);
        return NULL;
    }
    struct slot *slot = &match->slots[index];
    bool is_alive = alive != 0.0;
    double moved = 0.0;
    for (size_t i = 0; i < 3; i++)
        moved += (position[i] - slot->position[i]) * (position[i] - slot->position[i]);
    moved = sqrt(moved);
    bool jumped =
        moved > LEAST_JUMP && moved > match->game->jump_speed * (poses->time - slot->time);
    if (slot->known && is_alive && !slot->alive)
        json_object_set_new(player, "event", json_string("spawn"));
    else if (slot->known && jumped)
        json_object_set_new(player, "event", json_string("teleport"));
    if (!slot->known || is_alive != slot->alive)
        json_object_set_new(player, "alive", json_boolean(is_alive));
    if (poses->columns[POSE_DUCK] >= 0)
        json_object_set_new(player, "stance", json_string(duck >= 0.5 ? "duck" : "stand"));
    if (poses->columns[POSE_TEAM] >= 0 && !slot->known) {
        char team[HS_NAME_MAX];
        snprintf(team, sizeof(team), "team%.32s",
                 hs_csv_text(poses->csv, poses->columns[POSE_TEAM]));
        json_object_set_new(player, "team", json_string(team));
    }
    *slot = (struct slot){.known = true, .alive = is_alive, .time = poses->time};
    memcpy(slot->position, position, sizeof(position));
    return player;
}

/* Appends one frame to `frames`: the waiting pose, and the following poses with the same time. */
static bool take_frame(struct csv_match *match, json_t *frames)
{
    double time = match->poses.time;
    json_t *players = json_array();
    bool good = true;
    while (good && match->poses.waiting && match->poses.time == time) {
        json_t *player = pose_to_player(match);
        good =
            player != NULL && json_array_append_new(players, player) == 0 && advance(&match->poses);
    }
    match->last_time = time;
    json_array_append_new(frames, json_pack("{s:f, s:o}", "time", time, "players", players));
    return good;
}

/* Appends the waiting shot to `hits` as a claim, and the server's own decision to `truth`. */
static bool take_shot(struct csv_match *match, json_t *hits, json_t *truth)
{
    struct table *shots = &match->shots;
    double start[3], end[3], time = shots->time;
    char shooter[16], victim[16];
    long index;
    if (!read_slot(shots, SHOT_SHOOTER, &index, shooter) ||
        !read_slot(shots, SHOT_VICTIM, &index, victim))
        return false;
    double distance = number(shots, SHOT_MAX_DIST, match->game->default_distance);
    for (int i = 0; i < 3; i++) {
        start[i] = number(shots, SHOT_ORIGIN + i, 0.0);
        end[i] = start[i] + number(shots, SHOT_DIRECTION + i, 0.0) * distance;
    }
    double ping = number(shots, SHOT_PING, 0.0), hit = number(shots, SHOT_HIT, 0.0);
    if (hs_csv_fault(shots->csv, shots->error))
        return false;
    json_array_append_new(
        hits, json_pack("{s:I, s:s, s:s, s:f, s:f, s:o, s:o, s:s}", "shot",
                        (json_int_t)match->shot_number++, "shooter", shooter, "weapon",
                        hs_csv_text(shots->csv, shots->columns[SHOT_WEAPON]), "hit_time",
                        time - rewind_of(match->game, ping), "fire_time", time, "start",
                        vector(start), "end", vector(end), "target", victim));
    json_array_append_new(truth, json_string(hit != 0.0 ? "hit" : "miss"));
    return advance(shots);
}

/* Returns whether the next row to send is a pose. Poses are sent before shots with the same
   time. */
static bool pose_is_next(const struct csv_match *match)
{
    return match->poses.waiting &&
           (!match->shots.waiting || match->poses.time <= match->shots.time);
}

static enum hs_recording_result match_next(void *state, struct hs_recording_entry *entry,
                                           char error[HS_PLAY_ERROR_MAX])
{
    struct csv_match *match = state;
    match->poses.error = match->shots.error = error;
    if (!match->poses.waiting && !match->shots.waiting)
        return HS_RECORDING_END;
    json_t *frames = json_array();
    entry->body = json_pack("{s:o}", "frames", frames);
    entry->route = HS_ROUTE_FRAMES_POST;
    while (pose_is_next(match) && json_array_size(frames) < FRAMES_A_REQUEST) {
        if (!take_frame(match, frames))
            return HS_RECORDING_BAD;
    }
    entry->at = match->last_time;
    if (!match->shots.waiting || pose_is_next(match))
        return HS_RECORDING_ENTRY;

    double now = match->shots.time;
    json_t *hits = json_array();
    entry->at = now;
    entry->truth = json_array();
    entry->route = HS_ROUTE_TICKS_POST;
    json_object_set_new(entry->body, "now", json_real(now));
    json_object_set_new(entry->body, "hits", hits);
    while (match->shots.waiting && match->shots.time == now) {
        if (!take_shot(match, hits, entry->truth))
            return HS_RECORDING_BAD;
    }
    return HS_RECORDING_ENTRY;
}

static double match_progress(void *state)
{
    const struct csv_match *match = state;
    return hs_csv_progress(match->poses.csv);
}

static void match_destroy(void *state)
{
    struct csv_match *match = state;
    hs_csv_close(match->poses.csv);
    hs_csv_close(match->shots.csv);
    free(match);
}

/* Names the match after the file, up to the first dot of the file name. Replaces invalid characters
   by `_`. */
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

static bool open_pair(struct csv_match *match, const char *path, double grow)
{
    struct table *poses = &match->poses, *shots = &match->shots;
    if (!open_table(poses, path, ".poses.csv") || !open_table(shots, path, ".shots.csv") ||
        !find_columns(poses, pose_columns, POSE_COLUMNS, POSE_DUCK))
        return false;
    int game = poses->columns[POSE_DUCK] >= 0;
    match->game = &hs_csv_games[game];
    match->shot_number = 1;
    if (!find_columns(shots, shot_columns[game], SHOT_COLUMNS, SHOT_MAX_DIST) ||
        !survey_shots(match))
        return false;
    if (grow <= -match->game->half_width) {
        snprintf(shots->error, HS_PLAY_ERROR_MAX, "--grow %g leaves no body", grow);
        return false;
    }
    shots->time = poses->time = -HUGE_VAL;
    return open_table(shots, path, ".shots.csv") && advance(shots) && advance(poses);
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
    struct hs_recording_header *header = &recording->header;
    *recording = (struct hs_recording){
        .state = match, .next = match_next, .progress = match_progress, .destroy = match_destroy};
    match->poses.error = match->shots.error = error;
    if (!open_pair(match, path, grow)) {
        hs_recording_close(recording);
        return NULL;
    }
    name_match(path, header);
    snprintf(header->title, sizeof(header->title), "%s", header->match.text);
    hs_name_set(&header->ruleset, hs_str_of(match->game->name));
    header->unit = 1.0 / 0.0254;
    header->ruleset_document = hs_csv_ruleset(match->game, match->weapons, match->weapon_count,
                                              match->longest_rewind, grow);
    return recording;
}
