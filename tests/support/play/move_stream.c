#include "tests/support/play/move_stream.h"

#include <math.h>
#include <string.h>

/* The interval of the server's snapshots. */
#define SNAPSHOT_US INT64_C(50000)

static const double pi = 3.14159265358979323846;

/* Returns a normal deviate (the method of Box and Muller). */
static double normal(struct hs_move_stream *play)
{
    if (play->has_spare) {
        play->has_spare = false;
        return play->spare;
    }
    double radius = sqrt(-2 * log(1 - hs_random_unit(&play->random)));
    double angle = 2 * pi * hs_random_unit(&play->random);
    play->spare = radius * sin(angle);
    play->has_spare = true;
    return radius * cos(angle);
}

void hs_move_stream_start(struct hs_move_stream *play, const struct hs_clock_options *options)
{
    *play = (struct hs_move_stream){
        .options = *options, .random = hs_random_start(options->seed, 1), .arrived_us = INT64_MIN};
    struct hs_clock_options *own = &play->options;
    own->rate_hz = own->rate_hz > 0 ? own->rate_hz : 60;
    own->clock_us = own->clock_us > 0 ? own->clock_us : 1000000;
    own->start_us = own->start_us != 0 ? own->start_us : 100000000;
    own->period_us = own->period_us == 0 ? 240000000 : own->period_us;
    own->delay_us = own->delay_us > 0 ? own->delay_us : 50000;
    play->clock_us = (double)own->clock_us;
}

/* Finds the start and end of the last repetition of the event that began by `time_us`. Returns
   false if there is no such repetition. */
static bool last_turn(const struct hs_clock_event *event, int64_t time_us, int64_t *from_us,
                      int64_t *to_us)
{
    int64_t turn = 0;
    if (event->to_us <= event->from_us || time_us < event->from_us)
        return false;
    if (event->every_us > 0)
        turn = (time_us - event->from_us) / event->every_us * event->every_us;
    *from_us = event->from_us + turn;
    *to_us = event->to_us + turn;
    return true;
}

/* Returns the event of this kind at this time, or NULL. */
static const struct hs_clock_event *during(const struct hs_move_stream *play,
                                           enum hs_clock_event_kind kind, int64_t time_us,
                                           int64_t *from_us, int64_t *to_us)
{
    for (int i = 0; i < HS_CLOCK_EVENTS; i++) {
        const struct hs_clock_event *event = &play->options.events[i];
        if (event->kind == kind && last_turn(event, time_us, from_us, to_us) && time_us < *to_us)
            return event;
    }
    return NULL;
}

static double amount(const struct hs_move_stream *play, enum hs_clock_event_kind kind,
                     int64_t time_us, double otherwise)
{
    int64_t from_us, to_us;
    const struct hs_clock_event *event = during(play, kind, time_us, &from_us, &to_us);
    return event != NULL ? event->amount : otherwise;
}

/* Returns how often a jump has happened, up to and including this time. */
static int64_t jumps(const struct hs_clock_event *event, int64_t time_us)
{
    if (time_us < event->from_us)
        return 0;
    return event->every_us > 0 ? 1 + (time_us - event->from_us) / event->every_us : 1;
}

/* Advances the client's clock from the last frame to this one. */
static void run_clock(struct hs_move_stream *play, int64_t now_us)
{
    double rate = (1 + play->options.skew_ppm * 1e-6) *
                  amount(play, HS_CLOCK_SPEED, play->now_us, 1) *
                  amount(play, HS_CLOCK_DILATION, play->now_us, 1);
    double passed = (double)(now_us - play->now_us);
    for (int i = 0; i < HS_CLOCK_EVENTS; i++) {
        const struct hs_clock_event *event = &play->options.events[i];
        int64_t from_us, to_us;
        if (event->kind == HS_CLOCK_JUMP && event->to_us > event->from_us)
            play->clock_us +=
                (double)(jumps(event, now_us) - jumps(event, play->now_us)) * event->amount * 1e6;
        if (event->kind == HS_CLOCK_PAUSE && last_turn(event, now_us, &from_us, &to_us)) {
            int64_t begin = from_us > play->now_us ? from_us : play->now_us;
            double paused = (double)((to_us < now_us ? to_us : now_us) - begin);
            if (paused > 0) {
                passed -= paused;
                play->clock_us += event->amount * 1e6 * paused / (double)(to_us - from_us);
            }
        }
    }
    play->clock_us += passed * rate;
    play->now_us = now_us;
}

/* Returns the delay of the connection's queue after this time. */
static double queue(struct hs_move_stream *play, int64_t passed_us)
{
    const struct hs_clock_options *options = &play->options;
    if (options->queue_sd_us <= 0)
        return 0;
    double keep = exp(-(double)passed_us / (double)options->queue_tau_us);
    double sd = (double)options->queue_sd_us * sqrt(1 - keep * keep);
    play->queue_us = play->queue_us * keep + sd * normal(play);
    double most = (double)options->queue_most_us;
    return fmin(fmax(most / 2 + play->queue_us, 0), most);
}

static int64_t delay_at(const struct hs_move_stream *play, int64_t time_us)
{
    return llround(amount(play, HS_CLOCK_DELAY, time_us, (double)play->options.delay_us * 1e-6) *
                   1e6);
}

/* Returns the arrival time of a packet that is sent at this time. The result is never before the
   arrival of an earlier packet. */
static int64_t arrival(struct hs_move_stream *play, int64_t sent_us, double queued_us)
{
    const struct hs_clock_options *options = &play->options;
    int64_t from_us, to_us, at = sent_us;
    if (during(play, HS_CLOCK_HOLD, sent_us, &from_us, &to_us) != NULL)
        at = to_us;
    at += delay_at(play, sent_us) + llround(queued_us);
    if (options->jitter_us > 0)
        at += llround((double)options->jitter_us * normal(play));
    if (during(play, HS_CLOCK_HITCH, at, &from_us, &to_us) != NULL)
        at = to_us;
    if (options->tick_us > 0)
        at = (at + options->tick_us - 1) / options->tick_us * options->tick_us;
    if (at < play->arrived_us)
        at = play->arrived_us;
    play->arrived_us = at;
    return at;
}

/* Returns the send time of the newest snapshot that the client has at that time. */
static int64_t newest_snapshot(const struct hs_move_stream *play, int64_t time_us)
{
    int64_t from_us, to_us;
    if (during(play, HS_CLOCK_OLD_ACKS, time_us, &from_us, &to_us) != NULL)
        time_us = from_us;
    int64_t latest = time_us - delay_at(play, time_us);
    int64_t age = (latest % SNAPSHOT_US + SNAPSHOT_US) % SNAPSHOT_US;
    return latest - age;
}

static bool is_sent(struct hs_move_stream *play, int64_t now_us)
{
    int64_t from_us, to_us;
    if (play->options.loss > 0 && hs_random_chance(&play->random, play->options.loss))
        return false;
    return during(play, HS_CLOCK_LOSS, now_us, &from_us, &to_us) == NULL;
}

static void make_move(struct hs_move_stream *play, double queued_us, struct hs_clock_item *item)
{
    const struct hs_clock_options *options = &play->options;
    int64_t clock_us = llround(play->clock_us);
    while (options->period_us > 0 && clock_us - play->wrapped_us > options->period_us)
        play->wrapped_us += options->period_us;
    *item = (struct hs_clock_item){.sent_us = play->now_us};
    item->move =
        (struct hs_move){.player = HS_STR("P"),
                         .fields = HS_MOVE_HAS_SEQ,
                         .seq = ++play->seq,
                         .timestamp_us = clock_us - play->wrapped_us,
                         .received_us = options->start_us + arrival(play, play->now_us, queued_us),
                         .dilation = amount(play, HS_CLOCK_DILATION, play->now_us, 1)};
    if (!options->without_acks) {
        item->move.fields |= HS_MOVE_HAS_ACK;
        item->move.ack_us = options->start_us + newest_snapshot(play, play->now_us);
    }
}

bool hs_move_stream_next(struct hs_move_stream *play, struct hs_clock_item *item)
{
    for (;;) {
        int64_t now_us = llround((double)play->frame * 1e6 / play->options.rate_hz);
        int64_t from_us, to_us, passed_us = now_us - play->now_us;
        if (now_us > play->options.length_us)
            return false;
        play->frame++;
        if (during(play, HS_CLOCK_PAUSE, now_us, &from_us, &to_us) != NULL && now_us > from_us)
            continue;
        double queued_us = queue(play, passed_us);
        run_clock(play, now_us);
        if (is_sent(play, now_us)) {
            make_move(play, queued_us, item);
            return true;
        }
    }
}

size_t hs_move_stream_fill(struct hs_move_stream *play, struct hs_clock_item *items, size_t most)
{
    size_t count = 0;
    while (count < most && hs_move_stream_next(play, &items[count]))
        count++;
    return count;
}
