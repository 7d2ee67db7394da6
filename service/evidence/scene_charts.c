/* The charts of a scene: the speed, the connection and the shots of a player around the time of the
   verdict. */
#include <stdlib.h>

#include "service/evidence/scene.h"
#include "validators/base/units.h"
#include "validators/match/player_moves.h"

static void write_point(struct hs_writer *writer, int64_t time_us, double value)
{
    hs_write_begin(writer, '[');
    hs_write_time(writer, time_us);
    hs_write_real(writer, value);
    hs_write_end(writer, ']');
}

/* Writes the speed between samples. Skips announced jumps, which have no speed. */
static void write_speed(struct hs_writer *writer, const struct hs_history *history)
{
    hs_write_begin_field(writer, "speed", '[');
    for (uint32_t i = 1; i < hs_history_count(history); i++) {
        const struct hs_sample *from = hs_history_at(history, i - 1);
        const struct hs_sample *to = hs_history_at(history, i);
        if (to->event == HS_EVENT_NONE || to->event == HS_EVENT_LAUNCH)
            write_point(writer, to->time_us,
                        hs_vec_distance(from->position, to->position) /
                            hs_seconds(to->time_us - from->time_us));
    }
    hs_write_end(writer, ']');
}

static void write_rtt(struct hs_writer *writer, const struct hs_history *history)
{
    hs_write_begin_field(writer, "rtt", '[');
    for (uint32_t i = 0; i < hs_history_count(history); i++) {
        const struct hs_sample *sample = hs_history_at(history, i);
        if (sample->rtt_posted)
            write_point(writer, sample->time_us, hs_seconds(sample->rtt_us));
    }
    hs_write_end(writer, ']');
}

static void write_interp(struct hs_writer *writer, const struct hs_history *history)
{
    int32_t last_us = -1;
    hs_write_begin_field(writer, "interp", '[');
    for (uint32_t i = 0; i < hs_history_count(history); i++) {
        const struct hs_sample *sample = hs_history_at(history, i);
        if (sample->interp_us >= 0 && sample->interp_us != last_us)
            write_point(writer, sample->time_us, hs_seconds(sample->interp_us));
        last_us = sample->interp_us;
    }
    hs_write_end(writer, ']');
}

struct event {
    int64_t time_us, value_us;
};

static int compare_events(const void *a, const void *b)
{
    int64_t x = ((const struct event *)a)->time_us, y = ((const struct event *)b)->time_us;
    return (x > y) - (x < y);
}

/* Lists the offsets of the shooter's claims: hit_time minus the time that is computed from rtt and
   interp. */
static size_t list_offsets(const struct hs_verdict_scene *scene, struct event *out)
{
    const struct hs_ledger_numbers *hits = &scene->shot.shooter->ledger.hits;
    size_t count = 0;
    for (uint32_t i = 0; i < hits->count; i++)
        if (hits->entries[i].has_offset)
            out[count++] = (struct event){hits->entries[i].hit_time_us, hits->entries[i].offset_us};
    if (scene->of->result.has_offset)
        out[count++] = (struct event){scene->shot.hit_time_us, scene->of->result.offset_us};
    qsort(out, count, sizeof *out, compare_events);
    return count;
}

/* Lists the intervals between shots, or between claims if the shooter posts no shots. */
static size_t list_cadence(const struct hs_verdict_scene *scene, struct event *out)
{
    const struct hs_ledger *ledger = &scene->shot.shooter->ledger;
    const struct hs_ledger_numbers *shots =
        ledger->shots.count > 0 ? &ledger->shots : &ledger->hits;
    size_t count = 0, kept = 0;
    for (uint32_t i = 0; i < shots->count; i++)
        out[count++].time_us = shots->entries[i].fire_time_us;
    out[count++].time_us = scene->of->result.fire_time_us;
    qsort(out, count, sizeof *out, compare_events);
    for (size_t i = 1; i < count; i++) {
        struct event event = {out[i].time_us, out[i].time_us - out[i - 1].time_us};
        if (event.value_us > 0)
            out[++kept] = event;
    }
    memmove(out, out + 1, kept * sizeof *out);
    return kept;
}

static void write_events(struct hs_writer *writer, const char *key, const struct event *events,
                         size_t count)
{
    hs_write_begin_field(writer, key, '[');
    for (size_t i = 0; i < count; i++)
        write_point(writer, events[i].time_us, hs_seconds(events[i].value_us));
    hs_write_end(writer, ']');
}

static void write_shooter_charts(const struct hs_verdict_scene *scene, struct hs_writer *writer)
{
    const struct hs_ledger *ledger = &scene->shot.shooter->ledger;
    struct event *events =
        calloc((size_t)ledger->hits.count + ledger->shots.count + 2, sizeof *events);
    if (events == NULL) {
        hs_buffer_fail(writer->buffer);
        return;
    }
    write_events(writer, "offset", events, list_offsets(scene, events));
    write_events(writer, "cadence", events, list_cadence(scene, events));
    free(events);
}

static void write_charts_of(const struct hs_verdict_scene *scene, struct hs_writer *writer,
                            const struct hs_player *player)
{
    if (player == NULL)
        return;
    hs_write_begin(writer, '{');
    hs_write_text_field(writer, "player", player->name.text);
    hs_write_text_field(writer, "role", hs_scene_role(scene, player));
    write_speed(writer, player->history);
    write_rtt(writer, player->history);
    write_interp(writer, player->history);
    if (player == scene->shot.shooter)
        write_shooter_charts(scene, writer);
    if (player->moves != NULL && player->moves->checks.timing.has_credit) {
        const struct hs_timing *timing = &player->moves->checks.timing;
        hs_write_begin_field(writer, "credit", '[');
        write_point(writer, timing->heard_us, timing->credit_us * 1e-6);
        hs_write_end(writer, ']');
    }
    hs_write_end(writer, '}');
}

/* Writes the limits that the charts show. Omits a limit that the ruleset does not set. */
static void write_limits(const struct hs_verdict_scene *scene, struct hs_writer *writer)
{
    const struct hs_ruleset *ruleset = scene->of->ruleset;
    const struct hs_weapon *weapon =
        scene->of->result.weapon != HS_NONE ? ruleset->weapons[scene->of->result.weapon] : NULL;
    double speed = 0;
    for (uint16_t i = 0; i < ruleset->moves.mode_count; i++)
        speed = hs_larger(speed, ruleset->moves.modes[i].max_speed);
    hs_write_begin_field(writer, "limits", '{');
    if (speed > 0)
        hs_write_real_field(writer, "speed", speed);
    hs_write_begin_field(writer, "offset", '[');
    hs_write_time(writer, -ruleset->rewind.older_slack_us);
    hs_write_time(writer, ruleset->rewind.newer_slack_us);
    hs_write_end(writer, ']');
    if (weapon != NULL && weapon->min_interval_us > 0)
        hs_write_time_field(writer, "cadence", weapon->min_interval_us);
    hs_write_end(writer, '}');
}

void hs_scene_charts_encode(const struct hs_verdict_scene *scene, struct hs_writer *writer)
{
    const struct hs_hit_scene *shot = &scene->shot;
    hs_write_begin_field(writer, "charts", '[');
    write_charts_of(scene, writer, shot->shooter);
    if (shot->target != shot->shooter)
        write_charts_of(scene, writer, shot->target);
    hs_write_end(writer, ']');
    write_limits(scene, writer);
}
