#include "validators/match/connection.h"

#include "validators/match/player_moves.h"

/* The number of newest round trips that hs_connection_read uses. */
enum { ROUND_TRIPS = 4 };

#define QUARTER_US INT64_C(15000000)

/* A client answers a ping at its next frame, so round trips differ by up to this time even on a
   steady connection. */
#define FRAME_US INT64_C(20000)

/* Round trips that differ by less than this were not measured: the game posts a setting or an
   average. */
#define MEASURED_US INT64_C(1000)

/* The assumed length of a stall is STALL_FACTOR * (spread of the round trips - FRAME_US). The
   factor was chosen on simulated networks (tests/property/test_honest_times.c). Half the factor
   rejects too many claims on WIFI. Twice the factor is too lenient on CABLE. */
enum { STALL_FACTOR = 12 };

/*
 * STEADY_CREDIT_US is the credit on a steady connection. On other connections, the credit is larger
 * by CREDIT_FACTOR * (spread of the round trips - FRAME_US). The values were chosen with simulated
 * players who walk at the speed limit from their first move on. With a steady round trip of 40 ms,
 * a speed cheater gains less than 2 % in the first ten seconds.
 */
#define STEADY_CREDIT_US INT64_C(40000)
enum { CREDIT_FACTOR = 4 };

void hs_connection_read(const struct hs_player *player, int64_t now_us, struct hs_connection *out)
{
    *out = (struct hs_connection){.wish_us = -1};
    if (player == NULL)
        return;
    const struct hs_history *history = player->history;
    int64_t newest = hs_history_find(history, now_us), largest = 0;
    if (newest >= 0)
        out->wish_us =
            hs_history_state(history, hs_history_at(history, (uint32_t)newest))->prediction_us;
    if (newest >= 0 && hs_history_at(history, (uint32_t)newest)->interp_us >= 0)
        out->interp_us = hs_history_at(history, (uint32_t)newest)->interp_us;
    uint32_t found = 0, posted = hs_history_round_trips(history);
    posted = posted < ROUND_TRIPS ? posted : ROUND_TRIPS;
    for (int64_t i = newest; i >= 0 && found < posted; i--) {
        const struct hs_sample *sample = hs_history_at(history, (uint32_t)i);
        if (!sample->rtt_posted)
            continue;
        if (found == 0 || sample->rtt_us < out->rtt_us)
            out->rtt_us = sample->rtt_us;
        if (sample->rtt_us > largest)
            largest = sample->rtt_us;
        found++;
    }
    if (found == 0 && newest >= 0 && hs_history_at(history, (uint32_t)newest)->rtt_us >= 0) {
        const struct hs_sample *sample = hs_history_at(history, (uint32_t)newest);
        out->rtt_us = largest = sample->rtt_us;
        out->is_stale = (hs_history_state(history, sample)->stale & HS_STALE_CONNECTION) != 0;
        found = 1;
    }
    out->is_known = found > 0;
    out->spread_us = largest - out->rtt_us;
}

void hs_connection_learn(struct hs_player *player, int32_t rtt_us, int64_t time_us)
{
    struct hs_round_trips *trips = &player->round_trips;
    int64_t age = time_us - trips->from_us;
    if (trips->counts[0] == 0 || age >= QUARTER_US) {
        trips->counts[1] = age < 2 * QUARTER_US ? trips->counts[0] : 0;
        trips->counts[0] = 0;
        trips->low_us[1] = trips->low_us[0];
        trips->high_us[1] = trips->high_us[0];
        trips->low_us[0] = trips->high_us[0] = rtt_us;
        trips->from_us = time_us;
    }
    if (trips->counts[0] < HS_ROUND_TRIPS_ENOUGH)
        trips->counts[0]++;
    if (rtt_us < trips->low_us[0])
        trips->low_us[0] = rtt_us;
    if (rtt_us > trips->high_us[0])
        trips->high_us[0] = rtt_us;
}

static int64_t spread_of(const struct hs_round_trips *trips)
{
    int32_t low = trips->low_us[0], high = trips->high_us[0];
    if (trips->counts[0] == 0)
        return 0;
    if (trips->counts[1] > 0 && trips->low_us[1] < low)
        low = trips->low_us[1];
    if (trips->counts[1] > 0 && trips->high_us[1] > high)
        high = trips->high_us[1];
    return (int64_t)high - low;
}

/* Estimates the longest delay of a packet from the posted round trips. Round trips usually differ
   little, but a stall is several times longer than these differences. */
static int64_t noise_of_frames(const struct hs_round_trips *trips)
{
    int64_t beyond = spread_of(trips) - FRAME_US;
    return beyond > 0 ? STALL_FACTOR * beyond : 0;
}

int64_t hs_connection_noise(const struct hs_player *player)
{
    if (player == NULL)
        return 0;
    int64_t of_frames = noise_of_frames(&player->round_trips), of_moves = 0;
    if (player->moves != NULL && player->moves->checks.timing.has_begun)
        of_moves = hs_clock_guard_noise(&player->moves->checks.timing.guard);
    return of_moves > of_frames ? of_moves : of_frames;
}

static bool is_measured(const struct hs_round_trips *trips, int64_t now_us)
{
    return trips->counts[0] > 0 && trips->counts[0] + trips->counts[1] >= HS_ROUND_TRIPS_ENOUGH &&
           now_us - trips->from_us < 2 * QUARTER_US && spread_of(trips) >= MEASURED_US;
}

int64_t hs_connection_move_credit(const struct hs_player *player, int64_t now_us)
{
    if (player == NULL || !is_measured(&player->round_trips, now_us))
        return -1;
    int64_t beyond_us = spread_of(&player->round_trips) - FRAME_US;
    return STEADY_CREDIT_US + (beyond_us > 0 ? CREDIT_FACTOR * beyond_us : 0);
}

bool hs_connection_is_quiet(const struct hs_player *player, int64_t now_us)
{
    return player != NULL && is_measured(&player->round_trips, now_us) &&
           hs_connection_noise(player) == 0;
}

bool hs_connection_predicts(const struct hs_connection *connection,
                            const struct hs_prediction_rules *rules)
{
    return connection->is_known || rules->zero_without_rtt;
}

static int64_t most_ping(const struct hs_connection *connection,
                         const struct hs_prediction_rules *rules)
{
    bool asks = connection->wish_us >= 0 && connection->wish_us < rules->max_us;
    return asks ? connection->wish_us : rules->max_us;
}

int64_t hs_connection_prediction(const struct hs_connection *connection,
                                 const struct hs_prediction_rules *rules)
{
    int64_t ping = connection->rtt_us - rules->fudge_us, most = most_ping(connection, rules);
    ping = ping < most ? ping : most;
    return ping > 0 ? ping / 2 : 0;
}

int64_t hs_connection_excess(const struct hs_connection *connection,
                             const struct hs_prediction_rules *rules)
{
    int64_t beyond = connection->rtt_us - rules->fudge_us - most_ping(connection, rules);
    return beyond > 0 ? beyond : 0;
}
