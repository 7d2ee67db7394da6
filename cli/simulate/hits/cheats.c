#include "cli/simulate/hits/cheats.h"

#include <math.h>

#define RATE "x legal, 10 s"

/* clang-format off */
const struct hs_cheat hs_cheats[HS_CHEATS] = {
    /* name, kind, amount, arm, posts, bound, limit, extent, is_judged */
    {"backtrack", HS_CHEAT_TIMES, 0, HS_ARM_RIFLE, true, HS_CHEAT_GAIN, 0.15, "s older", true},
    {"backtrack_unposted", HS_CHEAT_TIMES, 1, HS_ARM_RIFLE, false, HS_CHEAT_GAIN, 0.15, "s older", true},
    {"fire_time_cover", HS_CHEAT_COVER, 0.4, HS_ARM_RIFLE, false, HS_CHEAT_GAIN, 0.15, "s earlier", true},
    {"fire_time_death", HS_CHEAT_DEATH, 0.4, HS_ARM_RIFLE, false, HS_CHEAT_GAIN, 0.01, "s earlier", false},
    {"packets_held_50ms", HS_CHEAT_HOLD, 0.05, HS_ARM_RIFLE, false, HS_CHEAT_UNBOUND, 0, "s held", false},
    {"packets_held_100ms", HS_CHEAT_HOLD, 0.1, HS_ARM_RIFLE, false, HS_CHEAT_UNBOUND, 0, "s held", false},
    {"packets_held_150ms", HS_CHEAT_HOLD, 0.15, HS_ARM_RIFLE, false, HS_CHEAT_GAIN, -0.9, "s held", true},
    {"unposted_arrows", HS_CHEAT_LAUNCHES, 0, HS_ARM_BOW, false, HS_CHEAT_EXTENT, 0, "hits", true},
    {"unposted_rockets", HS_CHEAT_LAUNCHES, 0, HS_ARM_ROCKET, false, HS_CHEAT_EXTENT, 0, "hits", true},
    {"unposted_pellets", HS_CHEAT_PELLETS, 180, HS_ARM_SHOTGUN, false, HS_CHEAT_EXTENT, 0, "hits", true},
    {"steered_pellets_4", HS_CHEAT_PELLETS, 4, HS_ARM_SHOTGUN, true, HS_CHEAT_UNBOUND, 0, "degrees", false},
    {"steered_pellets_35", HS_CHEAT_PELLETS, 35, HS_ARM_SHOTGUN, true, HS_CHEAT_EXTENT, 4.5, "degrees", true},
    {"chosen_seeds", HS_CHEAT_SEEDS, 256, HS_ARM_SHOTGUN, true, HS_CHEAT_UNBOUND, 0, "", false},
    {"beside_0.4", HS_CHEAT_BESIDE, 0.4, HS_ARM_RIFLE, true, HS_CHEAT_UNBOUND, 0, "degrees", false},
    {"beside_1", HS_CHEAT_BESIDE, 1, HS_ARM_RIFLE, true, HS_CHEAT_EXTENT, 0.5, "degrees", true},
    {"beside_3", HS_CHEAT_BESIDE, 3, HS_ARM_RIFLE, true, HS_CHEAT_EXTENT, 0.5, "degrees", true},
    {"beside_14", HS_CHEAT_BESIDE, 14, HS_ARM_RIFLE, true, HS_CHEAT_EXTENT, 0.5, "degrees", true},
    {"rate_1.1x", HS_CHEAT_VOLLEY, 1, HS_ARM_RIFLE, false, HS_CHEAT_EXTENT, 1.02, RATE, true},
    {"rate_greedy", HS_CHEAT_VOLLEY, 2, HS_ARM_RIFLE, false, HS_CHEAT_EXTENT, 1.02, RATE, true},
    {"rate_after_silence", HS_CHEAT_VOLLEY, 3, HS_ARM_RIFLE, false, HS_CHEAT_EXTENT, 1.02, RATE, true},
    {"four_in_one_tick", HS_CHEAT_VOLLEY, 4, HS_ARM_RIFLE, false, HS_CHEAT_EXTENT, 1, "shots a tick", true},
    {"rate_other_names", HS_CHEAT_VOLLEY, 5, HS_ARM_RIFLE, false, HS_CHEAT_EXTENT, 1.02, RATE, true},
    {"number_repeated", HS_CHEAT_NUMBERS, 0, HS_ARM_RIFLE, false, HS_CHEAT_EXTENT, 0, "hits", true},
    {"number_later", HS_CHEAT_NUMBERS, 8, HS_ARM_RIFLE, false, HS_CHEAT_EXTENT, 0, "hits", true},
    {"number_wrapped", HS_CHEAT_NUMBERS, 24, HS_ARM_RIFLE, false, HS_CHEAT_EXTENT, 0, "hits", true},
    {"lean_0.05", HS_CHEAT_LEAN, 0.05, HS_ARM_RIFLE, false, HS_CHEAT_GAIN, 0, "m", true},
    {"lean_0.14", HS_CHEAT_LEAN, 0.14, HS_ARM_RIFLE, false, HS_CHEAT_GAIN, 0, "m", true},
    {"lean_0.25", HS_CHEAT_LEAN, 0.25, HS_ARM_RIFLE, false, HS_CHEAT_GAIN, 0, "m", true},
    {"lean_0.4", HS_CHEAT_LEAN, 0.4, HS_ARM_RIFLE, false, HS_CHEAT_EXTENT, 0.25, "m", true},
    {"move_without_mode", HS_CHEAT_MOVE, 0, HS_ARMS, false, HS_CHEAT_GAIN, 0.02, "", true},
    {"move_through_wall", HS_CHEAT_MOVE, 1, HS_ARMS, false, HS_CHEAT_EXTENT, 0, "m of wall", true},
    {"move_hover", HS_CHEAT_MOVE, 2, HS_ARMS, false, HS_CHEAT_EXTENT, 0.3, "s in the air", true},
    {"move_base_hop", HS_CHEAT_MOVE, 3, HS_ARMS, false, HS_CHEAT_GAIN, 0.02, "", true},
    {"move_held", HS_CHEAT_MOVE, 4, HS_ARMS, false, HS_CHEAT_UNBOUND, 0, "s at once", false},
    {"move_clock_1.005x", HS_CHEAT_MOVE, 5, HS_ARMS, false, HS_CHEAT_GAIN, 0.02, "", true},
    {"move_clock_1.02x", HS_CHEAT_MOVE, 6, HS_ARMS, false, HS_CHEAT_GAIN, 0.02, "", true},
    {"move_clock_1.1x", HS_CHEAT_MOVE, 7, HS_ARMS, false, HS_CHEAT_GAIN, 0.02, "", true},
    {"move_new_1.02x", HS_CHEAT_MOVE, 8, HS_ARMS, false, HS_CHEAT_GAIN, 0.02, "", true},
    {"move_new_1.05x", HS_CHEAT_MOVE, 9, HS_ARMS, false, HS_CHEAT_GAIN, 0.02, "", true},
    {"move_new_both_1.02x", HS_CHEAT_MOVE, 10, HS_ARMS, false, HS_CHEAT_GAIN, 0.02, "", true},
    {"move_no_ack_1.02x", HS_CHEAT_MOVE, 11, HS_ARMS, false, HS_CHEAT_GAIN, 0.02, "", true},
    {"move_no_ack_1.3x", HS_CHEAT_MOVE, 12, HS_ARMS, false, HS_CHEAT_GAIN, 0.02, "", true},
};
/* clang-format on */

/* ---- pairs ---- */

void hs_paired_add(struct hs_paired *sum, double twin, double cheat)
{
    sum->runs++;
    sum->twin += twin;
    sum->cheat += cheat;
    sum->twin2 += twin * twin;
    sum->cheat2 += cheat * cheat;
    sum->twin_cheat += twin * cheat;
}

static void add_pairs(struct hs_paired *sum, const struct hs_paired *more)
{
    sum->runs += more->runs;
    sum->twin += more->twin;
    sum->cheat += more->cheat;
    sum->twin2 += more->twin2;
    sum->cheat2 += more->cheat2;
    sum->twin_cheat += more->twin_cheat;
}

bool hs_paired_gain(const struct hs_paired *sum, double *gain, double *low, double *high)
{
    const double z = 1.959963984540054;
    *gain = *low = *high = 0;
    if (sum->twin <= 0)
        return false;
    double ratio = sum->cheat / sum->twin;
    double squares = sum->cheat2 - 2 * ratio * sum->twin_cheat + ratio * ratio * sum->twin2;
    double degrees = fmax(1, sum->runs - 1);
    double error = z * sqrt(fmax(0, squares) * sum->runs / degrees) / sum->twin;
    *gain = ratio - 1;
    *low = *gain - error;
    *high = *gain + error;
    return true;
}

/* ---- counts ---- */

static void add_all(uint64_t *sum, const uint64_t *more, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum[i] += more[i];
}

void hs_cheat_add(struct hs_cheat_count *sum, const struct hs_cheat_count *more)
{
    sum->claims += more->claims;
    add_pairs(&sum->hits, &more->hits);
    add_pairs(&sum->damage, &more->damage);
    sum->extent = fmax(sum->extent, more->extent);
    add_all(sum->reasons, more->reasons, HS_REASON_COUNT);
    add_all(sum->shadow, more->shadow, HS_REASON_COUNT);
    add_all(sum->flags, more->flags, HS_FLAG_COUNT);
    add_all(sum->move_reasons, more->move_reasons, HS_MOVE_REASON_COUNT);
    add_all(sum->raised, more->raised, HS_MOVE_CHECK_COUNT);
}

bool hs_cheat_is_within(const struct hs_cheat *cheat, const struct hs_cheat_count *count)
{
    const double rounding = 1e-6;
    double gain, low, high;
    if (cheat->bound == HS_CHEAT_EXTENT)
        return count->extent <= cheat->limit + rounding;
    return cheat->bound == HS_CHEAT_UNBOUND || !hs_paired_gain(&count->hits, &gain, &low, &high) ||
           low <= cheat->limit + rounding;
}

void hs_cheat_count_accepted(struct hs_cheat_count *count, const struct hs_hit_result *result)
{
    for (int i = 0; i < HS_FLAG_COUNT; i++)
        count->flags[i] += (result->flags & 1u << i) != 0;
    for (int i = 0; i < result->would_reject_count; i++)
        count->shadow[result->would_reject[i]]++;
}
