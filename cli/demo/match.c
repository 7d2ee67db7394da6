#include "cli/demo/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validators/base/units.h"

struct demo_match {
    struct hs_sim_arena *arena;
    struct hs_skirmish *skirmish;
    /* the players' entries in the last frame; the next frame leaves out members that have not
       changed */
    struct hs_player_frame posted[HS_CROWD];
    struct hs_vec turned[HS_CROWD]; /* direction of the shot that a cheat has forged in this tick;
                                       0: none */
    unsigned turns[HS_DEMO_CHEAT_COUNT];
    bool begun;
};

/* Indexed by enum hs_demo_cheat. */
const struct hs_demo_cheat_kind hs_demo_cheats[HS_DEMO_CHEAT_COUNT] = {
    {"claim_forger", HS_FORGERY_BESIDE, HS_FORGERY_BESIDE, "no_intersection", "wrong_target", NULL},
    {"through_time", HS_FORGERY_OLD, HS_FORGERY_FUTURE, "rewind_limit", "time_in_future", NULL},
    {"radius_forger", HS_FORGERY_RADIUS, HS_FORGERY_RADIUS, "no_intersection", "wrong_target",
     "radius_forged"},
    {"wall_forger", HS_FORGERY_WALL, HS_FORGERY_WALL, "occluded_world", "occluded_world", NULL},
    {"origin_forger", HS_FORGERY_START, HS_FORGERY_START, "origin_mismatch", "origin_mismatch",
     NULL},
};

_Static_assert(2 * (int)HS_DEMO_CHEAT_COUNT == (int)HS_CROWD, "one honest player for each cheat");

/* One team is honest, and the other team cheats. Each team has players on every kind of link. */
static bool is_honest(unsigned who)
{
    return hs_crowd_team(who) == 0;
}

const struct hs_skirmish *hs_demo_skirmish(const struct hs_recording *recording)
{
    return ((const struct demo_match *)recording->state)->skirmish;
}

size_t hs_demo_honest_misses(const struct hs_skirmish *skirmish)
{
    size_t misses = 0;
    for (unsigned who = 0; who < HS_CROWD; who++)
        if (is_honest(who))
            misses += skirmish->clients[who].shots - skirmish->clients[who].claims;
    return misses;
}

bool hs_demo_pose(const struct hs_skirmish *skirmish, const char *player, double time,
                  struct hs_sim_pose *out)
{
    for (unsigned who = 0; player != NULL && who < HS_CROWD; who++)
        if (strcmp(player, hs_crowd_name(who).ptr) == 0)
            return hs_film_pose(&skirmish->game.film, time, who, out);
    return false;
}

/* ---- as JSON ---- */

/* Rounds a length in metres to a tenth of a millimetre, which is less than every tolerance in the
   rules. */
static double short_real(double value)
{
    return round(value * 1e4) / 1e4;
}

static json_t *vec_json(struct hs_vec v)
{
    return json_pack("[f, f, f]", short_real(v.x), short_real(v.y), short_real(v.z));
}

static json_t *text_json(struct hs_str text)
{
    return json_stringn(text.ptr, text.len);
}

static void put(json_t *object, const char *key, bool wanted, json_t *value)
{
    if (wanted)
        json_object_set(object, key, value);
    json_decref(value);
}

/* Adds members to a player in a frame. After the first frame, leaves out sticky members that have
   not changed. */
static void put_changes(json_t *object, const struct hs_player_frame *before,
                        const struct hs_player_frame *now, bool first)
{
    put(object, "event", now->event != HS_EVENT_NONE,
        json_string(hs_sample_event_name(now->event)));
    put(object, "team", first, text_json(now->team));
    put(object, "interp", first, json_real(hs_seconds(now->interp_us)));
    put(object, "weapon", first || !hs_str_equal(now->weapon, before->weapon),
        text_json(now->weapon));
    put(object, "stance", first || !hs_str_equal(now->stance, before->stance),
        text_json(now->stance));
    put(object, "alive", first || now->alive != before->alive, json_boolean(now->alive));
    put(object, "life", first || now->life != before->life, json_integer(now->life));
    put(object, "protected", first || now->is_protected != before->is_protected,
        json_boolean(now->is_protected));
    put(object, "rtt", (now->fields & HS_FIELD_RTT) != 0, json_real(hs_seconds(now->rtt_us)));
}

static json_t *players_json(struct demo_match *match)
{
    const struct hs_frame *frame = match->skirmish->frame;
    json_t *players = json_array();
    for (size_t i = 0; i < frame->player_count; i++) {
        const struct hs_player_frame *now = &frame->players[i];
        const double *q = now->rotation;
        const struct hs_vec *turned = &match->turned[i];
        bool is_turned = turned->x != 0 || turned->y != 0 || turned->z != 0;
        struct hs_vec aim =
            is_turned ? *turned : (struct hs_vec){now->aim[0], now->aim[1], now->aim[2]};
        json_t *object =
            json_pack("{s:s#, s:o, s:[f, f, f, f], s:o}", "player", now->player.ptr,
                      (int)now->player.len, "position", vec_json(now->position), "rotation", 0.0,
                      0.0, round(q[2] * 1e6) / 1e6, round(q[3] * 1e6) / 1e6, "aim", vec_json(aim));
        put_changes(object, &match->posted[i], now, !match->begun);
        match->posted[i] = *now;
        json_array_append_new(players, object);
    }
    match->begun = true;
    return players;
}

static json_t *hit_json(const struct hs_hit_claim *hit)
{
    return json_pack("{s:I, s:f, s:f, s:o, s:o, s:f, s:o, s:o, s:o, s:o}", "shot",
                     (json_int_t)hit->shot, "hit_time", hs_seconds(hit->hit_time_us), "fire_time",
                     hs_seconds(hit->fire_time_us), "start", vec_json(hit->start), "end",
                     vec_json(hit->end), "radius", hit->radius, "shooter", text_json(hit->shooter),
                     "weapon", text_json(hit->weapon), "target", text_json(hit->target),
                     "claimed_bone", text_json(hit->claimed_bone));
}

/* ---- as a recording ---- */

/* Turns a cheat's claim into a forgery, and sets the cheat's posted aim in this tick to the
   direction of the forged shot. The posted aim applies only to this tick. So if the claim's
   fire time is before this tick, the function moves the fire time to the start of this tick, except
   for the cheat that forges times. Returns false if no forgery is possible. In this case, the
   caller must not send the claim. */
static bool forge(struct demo_match *match, struct hs_mail *mail)
{
    unsigned number = mail->from / 2, turn = match->turns[number]++ % 2;
    const struct hs_demo_cheat_kind *cheat = &hs_demo_cheats[number];
    hs_skirmish_expect(match->skirmish, mail->from);
    if (!hs_forge(&match->skirmish->forger, turn == 0 ? cheat->forgery : cheat->next, mail))
        return false;
    int64_t last_us = match->skirmish->now_us - 1000000 / HS_CROWD_HZ;
    if (number != HS_DEMO_THROUGH_TIME && mail->hit.fire_time_us <= last_us)
        mail->hit.fire_time_us = last_us + 1;
    struct hs_vec along = hs_vec_sub(mail->hit.end, mail->hit.start);
    match->turned[mail->from] = hs_vec_scale(along, 1 / hs_vec_length(along));
    return true;
}

/* Returns the claims that have arrived, or NULL. Drops claims that a game server would not pass on
   (hs_skirmish_is_in_vain). Adds the label and the ground truth of each remaining claim to the
   entry. */
static json_t *take_claims(struct demo_match *match, struct hs_recording_entry *entry)
{
    struct hs_mail mail;
    json_t *hits = NULL;
    memset(match->turned, 0, sizeof match->turned);
    while (hs_skirmish_take(match->skirmish, &mail)) {
        bool honest = is_honest(mail.from);
        if (hs_skirmish_is_in_vain(match->skirmish, &mail) || (!honest && !forge(match, &mail)))
            continue;
        if (entry->who == NULL) {
            entry->who = json_array();
            entry->truth = json_array();
            hits = json_array();
        }
        json_array_append_new(hits, hit_json(&mail.hit));
        json_array_append_new(
            entry->who, json_string(honest ? HS_WHO_HONEST : hs_demo_cheats[mail.from / 2].label));
        json_array_append_new(entry->truth, json_string(honest ? "hit" : "miss"));
    }
    return hits;
}

static enum hs_recording_result match_next(void *state, struct hs_recording_entry *entry,
                                           char error[HS_PLAY_ERROR_MAX])
{
    struct demo_match *match = state;
    struct hs_skirmish *skirmish = match->skirmish;
    if (!hs_skirmish_begin(skirmish) && !skirmish->failed)
        return HS_RECORDING_END;
    if (!skirmish->failed) {
        json_t *hits = take_claims(match, entry);
        entry->body = json_pack("{s:f, s:[{s:f, s:o}]}", "now", skirmish->now, "frames", "time",
                                skirmish->now, "players", players_json(match));
        put(entry->body, "hits", hits != NULL, hits);
    }
    if (entry->body == NULL) {
        snprintf(error, HS_PLAY_ERROR_MAX, "out of memory");
        return HS_RECORDING_BAD;
    }
    entry->at = skirmish->now;
    entry->route = HS_ROUTE_TICKS_POST;
    hs_skirmish_end(skirmish);
    return HS_RECORDING_ENTRY;
}

static double match_progress(void *state)
{
    const struct hs_skirmish *skirmish = ((const struct demo_match *)state)->skirmish;
    return (double)skirmish->begun / (double)skirmish->ticks;
}

static void match_destroy(void *state)
{
    struct demo_match *match = state;
    hs_skirmish_destroy(match->skirmish);
    hs_sim_arena_destroy(match->arena);
    free(match);
}

/* Returns false if memory runs out. */
static bool set_up(struct hs_recording *recording, uint64_t seed, double seconds)
{
    struct demo_match *match = recording->state;
    struct hs_recording_header *header = &recording->header;
    match->arena = hs_sim_arena_create(0.4); /* the rewind limit of the built-in rules */
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
    hs_name_set(&header->match, HS_STR("demo"));
    hs_name_set(&header->ruleset, hs_name_str(&match->arena->ruleset->name));
    hs_name_set(&header->map, HS_STR("demo-arena"));
    header->map_document = hs_sim_arena_document();
    header->unit = 1.0;
    return header->map_document != NULL;
}

struct hs_recording *hs_demo_open(uint64_t seed, double seconds)
{
    struct hs_recording *recording = calloc(1, sizeof *recording);
    struct demo_match *match = calloc(1, sizeof *match);
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
