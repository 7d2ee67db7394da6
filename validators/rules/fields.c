/* The scalar fields of rulesets and weapons, and the small enums of the document. */
#include "validators/ruleset.h"

#define R(section, key, member, kind, initial, low, high, text)                                    \
    {                                                                                              \
        section, key, offsetof(struct hs_ruleset, member), HS_SCALAR_##kind, initial, low, high,   \
            text                                                                                   \
    }
#define W(key, member, kind, initial, low, high, text)                                             \
    {                                                                                              \
        NULL, key, offsetof(struct hs_weapon, member), HS_SCALAR_##kind, initial, low, high, text  \
    }

#define M(key, member, kind, initial, low, high, text)                                             \
    {                                                                                              \
        NULL, key, offsetof(struct hs_move_mode, member), HS_SCALAR_##kind, initial, low, high,    \
            text                                                                                   \
    }

const struct hs_scalar hs_ruleset_scalars[] = {
    R("history", "keep", history.keep_us, SECONDS, 1.0, 0.05, 60,
      "Seconds of poses that are kept, usually 1. A shorter history makes late claims "
      "inconclusive; a longer one needs more memory."),
    R("history", "max_gap", history.max_gap_us, SECONDS, 0.15, 0.001, 60,
      "Seconds. Longer gaps between samples are not interpolated. If it is too small, one late "
      "frame makes claims inconclusive; if it is too large, poses are guessed across lost frames."),
    R("history", "world_bound", history.world_bound, LENGTH, 1e7, 1, 1e12,
      "Length. Coordinates further from the origin are refused. It only has to be larger than the "
      "game's world."),
    R("history", "max_speed", history.max_speed, LENGTH, 20000, 1e-3, 1e9,
      "Length per second. A faster movement between two samples counts as a teleport, and nothing "
      "is interpolated across it. Set it above the fastest movement of the game."),
    R("history", "max_forward", history.max_forward_us, SECONDS, 5, 0.1, 3600,
      "Seconds. A frame that is further ahead of the newest one is refused (`time_jump`), until "
      "three consecutive frames agree on a new clock."),
    R("rewind", "limit", rewind.limit_us, SECONDS, 0.4, 0, 60,
      "Seconds that a claim may look back from `now`, usually 0.4. The default is `history.keep` "
      "if that is shorter. A small limit refuses honest players with slow connections; a large one "
      "lets victims be hit behind cover."),
    R("rewind", "future_slack", rewind.future_slack_us, SECONDS, 0.05, 0, 5,
      "Seconds. The time of a claim may be ahead of `now`, or of the newest pose, by this much. "
      "Usually 0.05, a few frames."),
    R("rewind", "latency_slack", rewind.latency_slack_us, SECONDS, 0.2, 0, 60,
      "Seconds by which `hit_time` may differ from `now` - `rtt_share` x round trip - "
      "interpolation delay, if frames report `rtt`. A small value refuses players with varying "
      "latency; a large one lets clients choose an older moment."),
    R("rewind", "rtt_share", rewind.rtt_share, REAL, 1, 0, 2,
      "Share of the round trip that lies between the server's simulation and the arrival of the "
      "claim. It is 1 if clients claim what they were shown."),
    R("rewind", "max_interp", rewind.max_interp_us, SECONDS, 0.1, 0, 5,
      "Seconds of interpolation delay that the service accepts from `interp`. A small value "
      "refuses clients with large buffers; a large one lets clients look further back."),
    R("rewind", "ping_spread", rewind.ping_spread_us, SECONDS, 0.2, 0, 60,
      "Seconds. If the last round trips of the shooter differ by more, the claim gets the flag "
      "`unstable_latency`."),
    R("rewind", "backstep", rewind.backstep_us, SECONDS, 0.05, 0, 60,
      "Seconds by which a shot may be fired earlier than a shot with a lower number. If it is too "
      "small, small errors of a client's clock refuse honest claims."),
    R("moves", "detection", moves.detection, BOOL, 1, 0, 1,
      "Whether the check `timing_discrepancy` adds up how far clients are ahead. If it is false, "
      "the check raises nothing."),
    R("moves", "max_margin", moves.max_margin_us, SECONDS, 0.25, 0, 60,
      "Seconds. A client that is ahead by more raises `timing_discrepancy`. A smaller value raises "
      "it more often on bad connections."),
    R("moves", "min_margin", moves.min_margin_us, SECONDS, -0.25, -60, 0,
      "Seconds, 0 or below. `timing_discrepancy` does not remember that a client is behind by more "
      "than this."),
    R("moves", "resolution_rate", moves.resolution_rate, REAL, 1, 0, 1,
      "Share of each move that pays back a discrepancy, with the prevention `resolution`."),
    R("moves", "drift_allowance", moves.drift_allowance, REAL, 0, 0, 1,
      "Seconds per second of server time that `timing_discrepancy` forgives. A larger value lets a "
      "slightly fast clock pass."),
    R("moves", "force_corrections", moves.force_corrections, BOOL, 0, 0, 1,
      "Whether every move gets a correction while a discrepancy is paid back."),
    R("moves", "max_delta", moves.max_delta_us, SECONDS, 0.125, 0.001, 10,
      "Seconds. No move is simulated for longer than this times its `dilation`. If it is too "
      "small, clients with a low frame rate become slower."),
    R("moves", "min_delta", moves.min_delta_us, SECONDS, 1e-6, 0, 1,
      "Seconds. Shorter moves are refused (`too_small`)."),
    R("moves", "reset_period", moves.reset_period_us, SECONDS, 240, 1, 86400,
      "Seconds after which the client's clock starts at 0 again, 240 in Unreal. Use the value of "
      "your engine."),
    R("moves", "position_error_squared", moves.position_error_squared, AREA, 3, 0, 1e18,
      "Length squared. A move gets a correction if the squared distance between the client's and "
      "the server's position is larger. If it is too small, rounding causes corrections."),
    R("moves", "client_authoritative", moves.client_authoritative, BOOL, 0, 0, 1,
      "Whether the server takes over the client's position, if the checks accept the move."),
    R("moves", "correction_interval", moves.correction_interval_us, SECONDS, 0, 0, 60,
      "Seconds between two corrections of a player."),
    R("moves", "epoch_interval", moves.epoch_interval_us, SECONDS, 5, 0, 3600,
      "Seconds between two new clocks (`epoch`) of a player. If it is too small, a client can "
      "escape the clock checks with new epochs."),
    R("moves/forced_update", "after", moves.forced_after_us, SECONDS, 0.25, 0.01, 60,
      "Seconds of silence that count as a stall. The server may then move the client by itself."),
    R("moves/forced_update", "for", moves.forced_for_us, SECONDS, 1, 0, 60,
      "Seconds for which a game server moves a silent client by itself. The service does not use "
      "this value."),
    R("moves/prediction_ping", "max", moves.prediction.max_us, SECONDS, 0.12, 0, 5,
      "Seconds of ping that are compensated at most, whatever the player wishes."),
    R("moves/prediction_ping", "fudge", moves.prediction.fudge_us, SECONDS, 0.02, 0, 5,
      "Seconds of a ping that are not network delay."),
    R("moves/credit", "max", moves.credit_max_us, SECONDS, 1, 0, 60,
      "Seconds of server time that a client can save for later moves. A small value makes play "
      "after a stall rough; a large one lets a lag switch win more."),
    R("moves/ack_bound", "slack", moves.ack_slack_us, SECONDS, 0.02, 0, 60,
      "Seconds. A client that is ahead of the bound from its acks by more is proven fast. A "
      "smaller value proves sooner, but tolerates less inexact times of the server."),
    R("moves/ack_bound", "skew_ppm", moves.ack_skew_ppm, REAL, 500, 0, 1e5,
      "Millionths by which an honest clock may be fast or slow."),
    R("moves/lead_guard", "block", moves.lead_block_us, SECONDS, 0.5, 0.01, 55,
      "Seconds of one block. Only the least delayed move of each block counts."),
    R("moves/lead_guard", "window", moves.lead_window_us, SECONDS, 30, 0.1, 55,
      "Seconds before a block with which the block is compared, in steps of 5 and at least "
      "`block`. A shorter window raises false flags on bad connections."),
    R("moves/lead_guard", "clip", moves.lead_clip_us, SECONDS, 0.03, 0, 60,
      "Seconds of lead that one block can add. Keep it at 3/8 of `threshold`."),
    R("moves/lead_guard", "leak", moves.lead_leak, REAL, 0.001, 0, 1,
      "Seconds of lead that are forgiven per second. Clocks that gain less are never suspected."),
    R("moves/lead_guard", "noise", moves.lead_noise_us, SECONDS, 0.04, 0.0001, 60,
      "Seconds. A player whose lead varies by this gets double `clip` and double thresholds."),
    R("moves/lead_guard", "threshold", moves.lead_threshold_us, SECONDS, 0.08, 0, 60,
      "Seconds of accumulated lead that raise `fast_clock_suspected`. A smaller value finds slow "
      "cheats sooner, but raises false flags on bad connections."),
    R("moves/lead_guard", "threshold_without_rtt", moves.lead_threshold_without_rtt_us, SECONDS,
      0.12, 0, 60,
      "Seconds. The threshold as long as no ack is known. Keep it at 1.5 times `threshold`."),
    R("moves/lead_guard", "jump_threshold", moves.lead_jump_us, SECONDS, 0.25, 0, 60,
      "Seconds of lead, accumulated without `clip`, that raise `fast_clock_suspected`."),
    R("hit", "min_trace", hit.min_trace, LENGTH, 1e-4, 0, 1e6,
      "Length. Shorter traces are refused (`degenerate_trace`)."),
    R("hit", "sweep_extension", hit.sweep_extension, LENGTH, 10, 0, 1e6,
      "Length. The trace continues beyond its end by this distance, usually 0.1 m. If it is too "
      "small, a trace that ends at the surface misses; if it is too large, it hits bodies behind "
      "that point."),
    R("hit", "claim_padding", hit.claim_padding, LENGTH, 0, 0, 1e6,
      "Length. A miss by this or less is accepted with the flag `lenient`. Usually 0, because a "
      "larger value accepts shots that miss."),
    R("hit", "origin_tolerance", hit.origin_tolerance, LENGTH, 50, 0, 1e9,
      "Length. Allowed distance between the trace's start and the shooter's rewound eye, usually "
      "0.5 m. A small value refuses honest moving shooters; a large one allows shots from "
      "elsewhere."),
    R("hit", "aim_tolerance_deg", hit.aim_tolerance_deg, REAL, 15, 0, 180,
      "Degrees. Allowed angle between the shot's direction and the shooter's aim around it. A "
      "small value refuses fast turns; a large one allows shots beside the aim."),
    R("hit", "trajectory_window", hit.trajectory_window_us, SECONDS, 0.1, 0, 60,
      "Seconds. Two claims with the same start and end within this time are one shot "
      "(`duplicate_trajectory`). Half of the weapon's `min_interval` counts instead if it is "
      "shorter."),
    R("hit", "require_shot", hit.require_shot, BOOL, 0, 0, 1,
      "Whether every hit needs a shot that was posted before. If it is false, only players who "
      "post shots need one."),
    R("hit", "death_grace", hit.death_grace_us, SECONDS, 0.08, 0, 5,
      "Seconds after the shooter's death in which a shot still counts. If it is too small, shots "
      "are refused whose clients could not know of the death yet."),
    R("hit", "max_victims", hit.max_victims, COUNT, 64, 0, 64,
      "Number of `additional_targets` that a claim may have."),
    R("hit", "friendly_fire", hit.friendly_fire, BOOL, 0, 0, 1, "Whether team mates can be hit."),
};
const size_t hs_ruleset_scalar_count = sizeof hs_ruleset_scalars / sizeof hs_ruleset_scalars[0];

const struct hs_scalar hs_weapon_scalars[] = {
    W("damage", damage, REAL, 0, 0, 1e9, "Damage of one hit, before zone and falloff."),
    W("range", range, LENGTH, 1e7, 0, 1e12, "Length. Longer traces are refused (`out_of_range`)."),
    W("radius", radius, LENGTH, 0, 0, 1e6,
      "Length. Radius of the sphere that is swept over bodies; 0 is a ray. If it is smaller than "
      "in the game, honest hits miss."),
    W("world_radius", world_radius, LENGTH, 0, 0, 1e6,
      "Length. Radius of the sphere that is swept over the map and movers, at most `radius`; 0 is "
      "a ray. The default is `radius` for a projectile and 0 for other weapons."),
    W("speed", speed, LENGTH, 0, 0, 1e12, "Length per second. Speed of a projectile."),
    W("gravity", gravity, LENGTH, 0, 0, 1e12,
      "Length per second squared. It bends a projectile's path down, against `up`; 0 is a straight "
      "path."),
    W("min_interval", min_interval_us, SECONDS, 0, 0, 3600,
      "Seconds between two shots; 0 is not checked. A value above the game's own refuses honest "
      "shots."),
    W("magazine", magazine, COUNT, 0, 0, 1e6,
      "Rounds before a reload, counted from accepted shots if frames do not report `ammo`; 0 is "
      "not counted."),
    W("reload", reload_us, SECONDS, 0, 0, 3600,
      "Seconds. A pause this long refills the magazine. A value above the game's own refuses "
      "honest shots."),
    W("pellets", pellets, COUNT, 1, 1, 64, "Number of pellets of one shot."),
    W("spread_deg", spread_deg, REAL, 0, 0, 80,
      "Degrees. Half the angle of the pellets' cone; see docs/spread.md."),
    W("pierce", pierce, COUNT, 0, 0, 64, "Number of bodies that a shot goes through."),
    W("max_flight", max_flight_us, SECONDS, 10, 0, 3600,
      "Seconds. A longer flight of a projectile is refused (`flight_time`)."),
};
const struct hs_scalar hs_blast_scalars[] = {
    W("radius", blast.radius, LENGTH, 0, 1e-6, 1e9,
      "Length. A body is in the blast if its nearest hitbox is within this distance of the "
      "centre."),
    W("damage", blast.damage, REAL, 0, 0, 1e9, "Damage of the blast, before falloff."),
    W("inner_radius", blast.inner_radius, LENGTH, 0, 0, 1e9,
      "Length. The whole damage counts up to this distance. The default is `radius`, or 0 if "
      "`min_scale` is given."),
    W("min_scale", blast.min_scale, REAL, 1, 0, 1, "Share of the damage that remains at `radius`."),
    W("self_scale", blast.self_scale, REAL, 0, 0, 1e3,
      "Factor for the damage to the shooter; 0 spares them."),
    W("occlusion", blast.occlusion, BOOL, 1, 0, 1,
      "Whether the world shields victims. A victim is shielded if none of the body's centre, top "
      "and bottom is visible from the blast."),
    W("stack_with_direct", blast.stack_with_direct, BOOL, 0, 0, 1,
      "Whether the direct victim takes both damages. If it is false, only the larger counts."),
};
const struct hs_scalar hs_move_mode_scalars[] = {
    M("max_speed", max_speed, LENGTH, 0, 0, 1e9,
      "Length per second; 0 is not checked. Set it above the game's own limit, or honest moves "
      "fail `speed`."),
    M("max_accel", max_accel, LENGTH, 0, 0, 1e9,
      "Length per second squared; 0 is not checked. Set it above the game's own limit, or honest "
      "moves fail `acceleration`."),
    M("gravity", gravity, LENGTH, 0, 0, 1e9,
      "Length per second squared, downwards; 0 is not checked. A value above the game's own makes "
      "honest jumps fail `gravity`."),
    M("credit", credit, REAL, 0.25, 0, 60,
      "Seconds of movement that can be saved for later. If it is too small, honest moves on "
      "irregular connections fail."),
};
const size_t hs_move_mode_scalar_count =
    sizeof hs_move_mode_scalars / sizeof hs_move_mode_scalars[0];

const size_t hs_blast_scalar_count = sizeof hs_blast_scalars / sizeof hs_blast_scalars[0];

const size_t hs_weapon_scalar_count = sizeof hs_weapon_scalars / sizeof hs_weapon_scalars[0];

int64_t hs_seconds_to_us(double seconds)
{
    /* Ties to even by hand: the result must not depend on the rounding mode of the caller. */
    double scaled = seconds * 1e6;
    double floor_value = floor(scaled);
    double rest = scaled - floor_value;
    int64_t whole = (int64_t)floor_value;
    if (rest > 0.5 || (rest == 0.5 && whole % 2 != 0))
        whole++;
    return whole;
}

double hs_scalar_get(const struct hs_scalar *scalar, const void *base)
{
    const char *at = (const char *)base + scalar->offset;
    switch (scalar->kind) {
    case HS_SCALAR_SECONDS:
        return (double)*(const int64_t *)(const void *)at / 1e6;
    case HS_SCALAR_COUNT:
        return (double)*(const int64_t *)(const void *)at;
    case HS_SCALAR_BOOL:
        return *(const bool *)(const void *)at ? 1 : 0;
    case HS_SCALAR_REAL:
    case HS_SCALAR_LENGTH:
    case HS_SCALAR_AREA:
        break;
    }
    return *(const double *)(const void *)at;
}

void hs_scalar_set(const struct hs_scalar *scalar, void *base, double value)
{
    char *at = (char *)base + scalar->offset;
    switch (scalar->kind) {
    case HS_SCALAR_SECONDS:
        *(int64_t *)(void *)at = hs_seconds_to_us(value);
        return;
    case HS_SCALAR_COUNT:
        *(int64_t *)(void *)at = (int64_t)value;
        return;
    case HS_SCALAR_BOOL:
        *(bool *)(void *)at = value != 0;
        return;
    case HS_SCALAR_REAL:
    case HS_SCALAR_LENGTH:
    case HS_SCALAR_AREA:
        break;
    }
    *(double *)(void *)at = value;
}

static const char *const weapon_types[] = {"hitscan", "projectile", "melee"};
static const char *const shapes[] = {"sphere", "capsule", "box"};
static const char *const rewind_sources[] = {"claim", "prediction_ping"};
static const char *const preventions[] = {"credit", "resolution"};
static const char *const ups[] = {"+x", "-x", "+y", "-y", "+z", "-z"};

static int find(const char *const *names, int count, struct hs_str name)
{
    for (int i = 0; i < count; i++)
        if (hs_str_equal((struct hs_str){names[i], strlen(names[i])}, name))
            return i;
    return -1;
}

const char *hs_weapon_type_name(enum hs_weapon_type type)
{
    return weapon_types[type];
}

bool hs_weapon_type_parse(struct hs_str name, enum hs_weapon_type *out)
{
    int i = find(weapon_types, 3, name);
    if (i >= 0)
        *out = (enum hs_weapon_type)i;
    return i >= 0;
}

const char *hs_shape_name(enum hs_shape shape)
{
    return shapes[shape];
}

bool hs_shape_parse(struct hs_str name, enum hs_shape *out)
{
    int i = find(shapes, 3, name);
    if (i >= 0)
        *out = (enum hs_shape)i;
    return i >= 0;
}

const char *hs_prevention_name(enum hs_prevention prevention)
{
    return preventions[prevention];
}

bool hs_prevention_parse(struct hs_str name, enum hs_prevention *out)
{
    int i = find(preventions, 2, name);
    if (i >= 0)
        *out = (enum hs_prevention)i;
    return i >= 0;
}

const char *hs_rewind_source_name(enum hs_rewind_source source)
{
    return rewind_sources[source];
}

bool hs_rewind_source_parse(struct hs_str name, enum hs_rewind_source *out)
{
    int i = find(rewind_sources, 2, name);
    if (i >= 0)
        *out = (enum hs_rewind_source)i;
    return i >= 0;
}

const char *hs_up_name(enum hs_up up)
{
    return ups[up];
}

bool hs_up_parse(struct hs_str name, enum hs_up *out)
{
    int i = find(ups, 6, name);
    if (i >= 0)
        *out = (enum hs_up)i;
    return i >= 0;
}

struct hs_vec hs_up_direction(enum hs_up up)
{
    double sign = up % 2 == 0 ? 1 : -1;
    return (struct hs_vec){up <= HS_UP_NX ? sign : 0, up == HS_UP_PY || up == HS_UP_NY ? sign : 0,
                           up >= HS_UP_PZ ? sign : 0};
}
