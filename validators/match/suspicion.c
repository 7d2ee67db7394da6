#include "validators/match/suspicion.h"

double hs_suspicion_at(const struct hs_player *player, int64_t time_us)
{
    int64_t age = time_us - player->suspicion_us;
    if (age <= 0 || player->suspicion == 0)
        return player->suspicion;
    return player->suspicion * exp2(-(double)age / (double)HS_SUSPICION_HALF_LIFE_US);
}

static bool is_latency(enum hs_reason reason, bool unstable_latency)
{
    return hs_reason_check(reason) == HS_CHECK_REWIND ||
           (unstable_latency && hs_reason_check(reason) == HS_CHECK_LATENCY);
}

void hs_suspicion_add(struct hs_player *player, enum hs_reason reason, bool unstable_latency,
                      int64_t time_us)
{
    if (!is_latency(reason, unstable_latency))
        hs_suspicion_add_one(player, time_us);
}

void hs_suspicion_add_one(struct hs_player *player, int64_t time_us)
{
    player->suspicion = hs_suspicion_at(player, time_us) + 1;
    player->suspicion_us =
        time_us; /* the match's newest: goes back only when its clock is set anew */
}
