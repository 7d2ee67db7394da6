/* The scalar fields of rulesets and weapons, and the small enums of the document. */
#include "validators/base/units.h"
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
    R("history", "keep", history.keep_us, SECONDS, 1.0, 0.05, 60, "poses are kept this long"),
    R("history", "max_gap", history.max_gap_us, SECONDS, 0.15, 0.001, 60,
      "longer gaps between samples are not interpolated"),
    R("history", "world_bound", history.world_bound, LENGTH, 1e7, 1, 1e12,
      "no coordinate is further from the origin"),
    R("history", "max_speed", history.max_speed, LENGTH, 20000, 1e-3, 1e9,
      "a faster move between two samples is a teleport; per second"),
    R("history", "max_forward", history.max_forward_us, SECONDS, 5, 0.1, 3600,
      "a frame further ahead of the newest is a clock jump"),
    R("rewind", "limit", rewind.limit_us, SECONDS, 0.4, 0, 60, "how far back a claim may look"),
    R("rewind", "future_slack", rewind.future_slack_us, SECONDS, 0.05, 0, 5,
      "how far ahead of now, or of the newest pose, a claim may be"),
    R("rewind", "latency_slack", rewind.latency_slack_us, SECONDS, 0.2, 0, 60,
      "of a claim's time from the one its latency explains"),
    R("rewind", "rtt_share", rewind.rtt_share, REAL, 1, 0, 2,
      "of the round trip between what the server simulated and the claim"),
    R("rewind", "max_interp", rewind.max_interp_us, SECONDS, 0.1, 0, 5,
      "no more interpolation delay is believed"),
    R("rewind", "ping_spread", rewind.ping_spread_us, SECONDS, 0.2, 0, 60,
      "round trips that differ by more are flagged as unstable"),
    R("rewind", "backstep", rewind.backstep_us, SECONDS, 0.05, 0, 60,
      "how far fire times may run back by shot number"),
    R("moves", "detection", moves.detection, BOOL, 1, 0, 1, "the compatible judge keeps its sum"),
    R("moves", "max_margin", moves.max_margin_us, SECONDS, 0.25, 0, 60,
      "ahead by more is flagged by the compatible judge"),
    R("moves", "min_margin", moves.min_margin_us, SECONDS, -0.25, -60, 0,
      "being behind by more is not remembered"),
    R("moves", "resolution_rate", moves.resolution_rate, REAL, 1, 0, 1,
      "of each move that pays back, under the prevention `resolution`"),
    R("moves", "drift_allowance", moves.drift_allowance, REAL, 0, 0, 1,
      "seconds forgiven per server second, by the compatible judge"),
    R("moves", "force_corrections", moves.force_corrections, BOOL, 0, 0, 1,
      "every move gets a correction while a discrepancy is paid back"),
    R("moves", "max_delta", moves.max_delta_us, SECONDS, 0.125, 0.001, 10,
      "simulated for one move at most"),
    R("moves", "min_delta", moves.min_delta_us, SECONDS, 1e-6, 0, 1, "shorter moves are refused"),
    R("moves", "reset_period", moves.reset_period_us, SECONDS, 240, 1, 86400,
      "after which the client's clock starts at 0 again"),
    R("moves", "position_error_squared", moves.position_error_squared, AREA, 3, 0, 1e18,
      "a larger squared distance of claimed and server position needs a correction"),
    R("moves", "client_authoritative", moves.client_authoritative, BOOL, 0, 0, 1,
      "positions of clients are taken over where movement allows them"),
    R("moves", "correction_interval", moves.correction_interval_us, SECONDS, 0, 0, 60,
      "between two corrections of a player"),
    R("moves", "epoch_interval", moves.epoch_interval_us, SECONDS, 5, 0, 3600,
      "between two new clocks of a player"),
    R("moves/forced_update", "after", moves.forced_after_us, SECONDS, 0.25, 0.01, 60,
      "a silence this long is a stall"),
    R("moves/forced_update", "for", moves.forced_for_us, SECONDS, 1, 0, 60,
      "the server moves a silent client for no longer"),
    R("moves/prediction_ping", "max", moves.prediction.max_us, SECONDS, 0.12, 0, 5,
      "no more of a ping is compensated"),
    R("moves/prediction_ping", "fudge", moves.prediction.fudge_us, SECONDS, 0.02, 0, 5,
      "of a ping that is no delay"),
    R("moves/credit", "max", moves.credit_max_us, SECONDS, 1, 0, 60,
      "server time that can be saved for later moves"),
    R("moves/ack_bound", "slack", moves.ack_slack_us, SECONDS, 0.02, 0, 60,
      "beyond the bound that acks give is a proof"),
    R("moves/ack_bound", "skew_ppm", moves.ack_skew_ppm, REAL, 500, 0, 1e5,
      "an honest clock may be off by this"),
    R("moves/lead_guard", "block", moves.lead_block_us, SECONDS, 0.5, 0.01, 55,
      "of time, in which the least delayed move counts"),
    R("moves/lead_guard", "window", moves.lead_window_us, SECONDS, 30, 0.1, 55,
      "before a block, that it is compared with; in steps of 5 s"),
    R("moves/lead_guard", "clip", moves.lead_clip_us, SECONDS, 0.03, 0, 60,
      "of one block's lead is counted at most"),
    R("moves/lead_guard", "leak", moves.lead_leak, REAL, 0.001, 0, 1,
      "seconds of lead forgiven per second"),
    R("moves/lead_guard", "noise", moves.lead_noise_us, SECONDS, 0.04, 0.0001, 60,
      "of a player's lead that doubles clip and threshold"),
    R("moves/lead_guard", "threshold", moves.lead_threshold_us, SECONDS, 0.08, 0, 60,
      "of gathered lead that is suspected"),
    R("moves/lead_guard", "threshold_without_rtt", moves.lead_threshold_without_rtt_us, SECONDS,
      0.12, 0, 60, "the same while no ack has told the round trip"),
    R("moves/lead_guard", "jump_threshold", moves.lead_jump_us, SECONDS, 0.25, 0, 60,
      "of lead gathered without a clip that is suspected"),
    R("hit", "min_trace", hit.min_trace, LENGTH, 1e-4, 0, 1e6, "shorter traces are degenerate"),
    R("hit", "sweep_extension", hit.sweep_extension, LENGTH, 10, 0, 1e6,
      "the trace goes on this far beyond its end"),
    R("hit", "claim_padding", hit.claim_padding, LENGTH, 0, 0, 1e6,
      "a miss by no more is accepted as lenient"),
    R("hit", "origin_tolerance", hit.origin_tolerance, LENGTH, 50, 0, 1e9,
      "of the trace's start from the shooter's rewound eye"),
    R("hit", "aim_tolerance_deg", hit.aim_tolerance_deg, REAL, 15, 0, 180,
      "of the shot's direction from the shooter's looks around it"),
    R("hit", "trajectory_window", hit.trajectory_window_us, SECONDS, 0.1, 0, 60,
      "two shots the same way within this are one"),
    R("hit", "require_shot", hit.require_shot, BOOL, 0, 0, 1,
      "every hit needs a shot posted before"),
    R("hit", "death_grace", hit.death_grace_us, SECONDS, 0.08, 0, 5,
      "a shot so long after the shooter's death still counts"),
    R("hit", "max_victims", hit.max_victims, COUNT, 64, 0, 64, "claimed besides the target"),
    R("hit", "friendly_fire", hit.friendly_fire, BOOL, 0, 0, 1, "team mates can be hit"),
};
const size_t hs_ruleset_scalar_count = sizeof hs_ruleset_scalars / sizeof hs_ruleset_scalars[0];

const struct hs_scalar hs_weapon_scalars[] = {
    W("damage", damage, REAL, 0, 0, 1e9, "of one hit, before zone and falloff"),
    W("range", range, LENGTH, 1e7, 0, 1e12, "the longest trace"),
    W("radius", radius, LENGTH, 0, 0, 1e6, "of the sphere swept over bodies; 0 is a ray"),
    W("world_radius", world_radius, LENGTH, 0, 0, 1e6,
      "of the sphere swept over the map and movers, at most `radius`; a projectile's default is "
      "its "
      "`radius`"),
    W("speed", speed, LENGTH, 0, 0, 1e12, "of a projectile, per second"),
    W("gravity", gravity, LENGTH, 0, 0, 1e12, "that bends a projectile's way, per second squared"),
    W("min_interval", min_interval_us, SECONDS, 0, 0, 3600, "between shots"),
    W("magazine", magazine, COUNT, 0, 0, 1e6, "rounds before a reload; 0: not counted"),
    W("reload", reload_us, SECONDS, 0, 0, 3600, "a pause this long refills the magazine"),
    W("pellets", pellets, COUNT, 1, 1, 64, "of one shot"),
    W("spread_deg", spread_deg, REAL, 0, 0, 80, "half angle of the pellets' cone"),
    W("pierce", pierce, COUNT, 0, 0, 64, "bodies a shot goes through"),
    W("max_flight", max_flight_us, SECONDS, 10, 0, 3600, "the longest flight of a projectile"),
};
const struct hs_scalar hs_blast_scalars[] = {
    W("radius", blast.radius, LENGTH, 0, 1e-6, 1e9, "of the burst"),
    W("damage", blast.damage, REAL, 0, 0, 1e9, "of the burst, before falloff"),
    W("inner_radius", blast.inner_radius, LENGTH, 0, 0, 1e9, "whole damage up to here"),
    W("min_scale", blast.min_scale, REAL, 1, 0, 1, "of the damage at the radius"),
    W("self_scale", blast.self_scale, REAL, 0, 0, 1e3, "of the damage to the shooter himself"),
    W("occlusion", blast.occlusion, BOOL, 1, 0, 1, "the world shields"),
    W("stack_with_direct", blast.stack_with_direct, BOOL, 0, 0, 1,
      "the direct victim takes both damages, not the larger"),
};
const struct hs_scalar hs_move_mode_scalars[] = {
    M("max_speed", max_speed, LENGTH, 0, 0, 1e9, "per second; 0: not judged"),
    M("max_accel", max_accel, LENGTH, 0, 0, 1e9, "per second squared; 0: not judged"),
    M("gravity", gravity, LENGTH, 0, 0, 1e9, "downwards, per second squared; 0: not judged"),
    M("credit", credit, REAL, 0.25, 0, 60, "seconds of motion that may be saved for later"),
};
const size_t hs_move_mode_scalar_count =
    sizeof hs_move_mode_scalars / sizeof hs_move_mode_scalars[0];

const size_t hs_blast_scalar_count = sizeof hs_blast_scalars / sizeof hs_blast_scalars[0];

const size_t hs_weapon_scalar_count = sizeof hs_weapon_scalars / sizeof hs_weapon_scalars[0];

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
