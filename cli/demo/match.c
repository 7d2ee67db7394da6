#include "cli/demo/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MATCH_NAME "demo"
#define MAP_NAME   "demo-arena"

struct hs_demo_match {
    struct hs_sim_arena *arena;
    struct hs_skirmish *skirmish;
    struct hs_player_frame told[HS_CROWD]; /* in the last frame: the service remembers it */
    unsigned turns[HS_DEMO_CHEAT_COUNT];
    bool begun;
};

static const struct {
    const char *label;
    enum hs_forgery forgeries[2];
} cheats[HS_DEMO_CHEAT_COUNT] = {
#define X(id, label, first, second) {label, {first, second}},
    HS_DEMO_CHEATS(X)
#undef X
};

_Static_assert(2 * (int)HS_DEMO_CHEAT_COUNT == (int)HS_CROWD, "one honest player for each cheat");

const char *hs_demo_label(enum hs_demo_cheat cheat)
{
    return cheats[cheat].label;
}

/* One team plays honestly, the other cheats: both have every kind of link. */
static bool is_honest(unsigned who)
{
    return hs_crowd_team(who) == 0;
}

const struct hs_skirmish *hs_demo_skirmish(const struct hs_demo_match *match)
{
    return match->skirmish;
}

size_t hs_demo_honest_misses(const struct hs_demo_match *match)
{
    size_t misses = 0;
    for (unsigned who = 0; who < HS_CROWD; who++)
        if (is_honest(who))
            misses += match->skirmish->clients[who].shots - match->skirmish->clients[who].claims;
    return misses;
}

bool hs_demo_pose(const struct hs_demo_match *match, const char *player, double time,
                  struct hs_sim_pose *out)
{
    const struct hs_film *film = &match->skirmish->game.film;
    struct hs_moment moment;
    for (unsigned who = 0; player != NULL && who < HS_CROWD; who++) {
        if (strcmp(player, hs_crowd_name(who)) != 0 || !hs_film_find(film, time, &moment))
            continue;
        hs_film_pose(film, &moment, who, out);
        return true;
    }
    return false;
}

/* ---- as JSON ---- */

/* Four digits: a tenth of a millimetre is below every tolerance of the rules. */
static double short_real(double value)
{
    return round(value * 1e4) / 1e4;
}

static json_t *vec_json(struct hs_vec v)
{
    return json_pack("[f, f, f]", short_real(v.x), short_real(v.y), short_real(v.z));
}

static void tell(json_t *object, const char *key, struct hs_str text)
{
    json_object_set_new(object, key, json_stringn(text.ptr, text.len));
}

/* What the service remembers is told when it changes. */
static void tell_changes(json_t *object, const struct hs_player_frame *before,
                         const struct hs_player_frame *now, bool first)
{
    static const char *const events[] = {
        [HS_EVENT_SPAWN] = "spawn", [HS_EVENT_TELEPORT] = "teleport", [HS_EVENT_DEATH] = "death"};
    if (now->event != HS_EVENT_NONE)
        json_object_set_new(object, "event", json_string(events[now->event]));
    if (first)
        tell(object, "team", now->team);
    if (first)
        json_object_set_new(object, "interp", json_real((double)now->interp_us / 1e6));
    if (first || !hs_str_equal(now->weapon, before->weapon))
        tell(object, "weapon", now->weapon);
    if (first || !hs_str_equal(now->stance, before->stance))
        tell(object, "stance", now->stance);
    if (first || now->alive != before->alive)
        json_object_set_new(object, "alive", json_boolean(now->alive));
    if (first || now->life != before->life)
        json_object_set_new(object, "life", json_integer((json_int_t)now->life));
    if (first || now->is_protected != before->is_protected)
        json_object_set_new(object, "protected", json_boolean(now->is_protected));
    if ((now->fields & HS_FIELD_RTT) != 0)
        json_object_set_new(object, "rtt", json_real((double)now->rtt_us / 1e6));
}

static json_t *players_json(struct hs_demo_match *match)
{
    const struct hs_frame *frame = match->skirmish->frame;
    json_t *players = json_array();
    for (size_t i = 0; i < frame->player_count; i++) {
        const struct hs_player_frame *now = &frame->players[i];
        const double *q = now->rotation, *aim = now->aim;
        json_t *object = json_pack(
            "{s:s#, s:o, s:[f, f, f, f], s:o}", "player", now->player.ptr, (int)now->player.len,
            "position", vec_json(now->position), "rotation", 0.0, 0.0, round(q[2] * 1e6) / 1e6,
            round(q[3] * 1e6) / 1e6, "aim", vec_json((struct hs_vec){aim[0], aim[1], aim[2]}));
        tell_changes(object, &match->told[i], now, !match->begun);
        match->told[i] = *now;
        json_array_append_new(players, object);
    }
    match->begun = true;
    return players;
}

static json_t *hit_json(const struct hs_hit_claim *hit)
{
    json_t *object =
        json_pack("{s:I, s:f, s:f, s:o, s:o, s:f}", "shot", (json_int_t)hit->shot, "hit_time",
                  (double)hit->hit_time_us / 1e6, "fire_time", (double)hit->fire_time_us / 1e6,
                  "start", vec_json(hit->start), "end", vec_json(hit->end), "radius", hit->radius);
    tell(object, "shooter", hit->shooter);
    tell(object, "weapon", hit->weapon);
    tell(object, "target", hit->target);
    tell(object, "claimed_bone", hit->claimed_bone);
    return object;
}

/* ---- as a recording ---- */

/* What comes of a claim on its way through the hands of a cheat. False: nothing. */
static bool forge(struct hs_demo_match *match, struct hs_mail *mail)
{
    enum hs_demo_cheat cheat = (enum hs_demo_cheat)(mail->from / 2);
    enum hs_forgery forgery = cheats[cheat].forgeries[match->turns[cheat]++ % 2];
    const struct hs_mail honest = *mail;
    hs_skirmish_expect(match->skirmish, mail->from);
    return hs_forge_honest(&match->skirmish->forger, forgery, &honest, mail);
}

/* Claims of those who were dead by then go no further than the game server. */
static void take_claims(struct hs_demo_match *match, struct hs_recording_entry *entry)
{
    struct hs_mail mail;
    json_t *hits = json_array();
    entry->who = json_array();
    entry->truth = json_array();
    while (hs_skirmish_take(match->skirmish, &mail)) {
        bool honest = is_honest(mail.from);
        if (hs_skirmish_is_in_vain(match->skirmish, &mail) || (!honest && !forge(match, &mail)))
            continue;
        json_array_append_new(hits, hit_json(&mail.hit));
        json_array_append_new(entry->who,
                              json_string(honest ? HS_WHO_HONEST : cheats[mail.from / 2].label));
        json_array_append_new(entry->truth, json_string(honest ? "hit" : "miss"));
    }
    if (json_array_size(hits) > 0) {
        json_object_set_new(entry->body, "hits", hits);
        return;
    }
    json_decref(hits);
    json_decref(entry->who);
    json_decref(entry->truth);
    entry->who = entry->truth = NULL;
}

static enum hs_recording_result match_next(void *state, struct hs_recording_entry *entry,
                                           char error[HS_PLAY_ERROR_MAX])
{
    struct hs_demo_match *match = state;
    struct hs_skirmish *skirmish = match->skirmish;
    if (!hs_skirmish_begin(skirmish) && !skirmish->failed)
        return HS_RECORDING_END;
    if (!skirmish->failed)
        entry->body = json_pack("{s:f, s:[{s:f, s:o}]}", "now", skirmish->now, "frames", "time",
                                skirmish->now, "players", players_json(match));
    if (entry->body == NULL) {
        snprintf(error, HS_PLAY_ERROR_MAX, "out of memory");
        return HS_RECORDING_BAD;
    }
    entry->at = skirmish->now;
    entry->route = HS_ROUTE_TICKS_POST;
    take_claims(match, entry);
    hs_skirmish_end(skirmish);
    return HS_RECORDING_ENTRY;
}

static double match_progress(void *state)
{
    const struct hs_skirmish *skirmish = ((const struct hs_demo_match *)state)->skirmish;
    return (double)skirmish->begun / (double)skirmish->ticks;
}

static void match_destroy(void *state)
{
    struct hs_demo_match *match = state;
    hs_skirmish_destroy(match->skirmish);
    hs_sim_arena_destroy(match->arena);
    free(match);
}

const struct hs_demo_match *hs_demo_match(const struct hs_recording *recording)
{
    return recording->state;
}

/* False: out of memory. */
static bool set_up(struct hs_recording *recording, uint64_t seed, double seconds)
{
    struct hs_demo_match *match = recording->state;
    struct hs_recording_header *header = &recording->header;
    match->arena = hs_sim_arena_create(0.4); /* as the built-in rules have it */
    const struct hs_skirmish_setup setup = {
        .arena = match->arena,
        .seed = seed,
        .link = -1,
        .arm = HS_ARM_RIFLE,
        .seconds = seconds,
        .frame_every = 1,
        .snapshot_every = 1,
    };
    if (match->arena == NULL || (match->skirmish = hs_skirmish_create(&setup)) == NULL)
        return false;
    strcpy(header->title, "a skirmish");
    hs_name_set(&header->match, HS_STR(MATCH_NAME));
    hs_name_set(&header->ruleset, hs_name_str(&match->arena->ruleset->name));
    hs_name_set(&header->map, HS_STR(MAP_NAME));
    header->map_document = hs_sim_arena_document();
    header->unit = 1.0;
    return header->map_document != NULL;
}

struct hs_recording *hs_demo_open(uint64_t seed, double seconds)
{
    struct hs_recording *recording = calloc(1, sizeof *recording);
    struct hs_demo_match *match = calloc(1, sizeof *match);
    if (recording == NULL || match == NULL) {
        free(recording);
        free(match);
        return NULL;
    }
    recording->state = match;
    recording->next = match_next;
    recording->progress = match_progress;
    recording->destroy = match_destroy;
    if (set_up(recording, seed, seconds))
        return recording;
    hs_recording_close(recording);
    return NULL;
}
