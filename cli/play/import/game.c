#include "cli/play/import/game.h"

#include <math.h>
#include <string.h>

const struct hs_csv_game hs_csv_games[2] = {
    {.name = "play-quakeworld",
     .half_width = 16,
     .bottom = -24,
     .top = 32,
     .eye = 16,
     .least_rewind = 0.013,
     .ping_credit = 0.020,
     .default_distance = 600,
     .jump_speed = 2000,
     .origin_tolerance = 32},
    /* In each CS:GO tick, bullets fly before players move, and poses are recorded after the moves.
       So bullets hit the poses of the previous tick. */
    {.name = "play-csgo",
     .half_width = 16,
     .bottom = 0,
     .top = 72,
     .ducked_top = 54,
     .eye = 64,
     .ducked_eye = 46,
     .least_rewind = 1.0 / 128,
     .ping_credit = 1,
     .default_distance = 8192,
     .jump_speed = 2000,
     .origin_tolerance = 32},
};

static json_t *weapons_of(const struct hs_csv_weapon *list, size_t count)
{
    json_t *weapons = json_object();
    for (size_t i = 0; i < count; i++) {
        const struct hs_csv_weapon *weapon = &list[i];
        /* The damage in the table includes the effects of quad damage and armour. For the lightning
           gun (`lg`), use the true damage, 30. */
        double damage = strcmp(weapon->name, "lg") == 0 ? 30.0 : fmax(weapon->damage, 1.0);
        /* Direction vectors in the table are rounded to six digits, so a vector may be slightly
           longer than 1. */
        double range = ceil(weapon->range * 1.00001);
        json_object_set_new(weapons, weapon->name,
                            json_pack("{s:s, s:f, s:f, s:f, s:f}", "type", "hitscan", "damage",
                                      damage, "range", range, "radius", 0.0, "spread_deg",
                                      weapon->spread * 180.0 / M_PI));
    }
    return weapons;
}

static json_t *rig_of(const struct hs_csv_game *game, double grow)
{
    double half = game->half_width + grow;
    double height = (game->top - game->bottom) / 2.0;
    json_t *box =
        json_pack("{s:s, s:s, s:s, s:[f, f, f], s:[f, f, f], s:b}", "bone", "root", "zone", "body",
                  "shape", "box", "half_extents", half, half, height + grow, "center", 0.0, 0.0,
                  (game->top + game->bottom) / 2.0, "axis_aligned", 1);
    json_t *stances = json_pack("{s:{s:[f, f, f], s:[[i, i, i, i, i, i, i]]}}", "stand", "eye", 0.0,
                                0.0, game->eye, "bones", 0, 0, 0, 0, 0, 0, 1);
    if (game->ducked_top > 0.0) {
        /* When a player ducks, the feet stay in place, and the bone's scale shortens the body. */
        double scale = game->ducked_top / game->top;
        json_object_set_new(stances, "duck",
                            json_pack("{s:[f, f, f], s:[[i, i, i, i, i, i, i, i, i, f]]}", "eye",
                                      0.0, 0.0, game->ducked_eye, "bones", 0, 0, 0, 0, 0, 0, 1, 1,
                                      1, scale));
    }
    return json_pack("{s:[s], s:[o], s:o}", "bones", "root", "hitboxes", box, "stances", stances);
}

json_t *hs_csv_ruleset(const struct hs_csv_game *game, const struct hs_csv_weapon *weapons,
                       size_t count, double longest_rewind, double grow)
{
    json_t *ruleset =
        json_pack("{s:s, s:s, s:s}", "name", game->name, "up", "+z", "default_rig", "hull");
    json_object_set_new(ruleset, "history",
                        json_pack("{s:f, s:f, s:f, s:f}", "keep", 1.0, "max_gap", 0.15,
                                  "world_bound", 1e6, "max_speed", 2.0 * game->jump_speed));
    json_object_set_new(
        ruleset, "rewind",
        json_pack("{s:f, s:f}", "limit", fmax(0.25, longest_rewind), "future_slack", 0.05));
    json_object_set_new(ruleset, "hit",
                        json_pack("{s:f, s:f, s:f, s:f, s:b}", "min_trace", 1e-4, "sweep_extension",
                                  0.0, "claim_padding", 0.0, "origin_tolerance",
                                  game->origin_tolerance, "friendly_fire", 1));
    json_object_set_new(ruleset, "zones", json_pack("{s:i}", "body", 1));
    json_object_set_new(ruleset, "rigs", json_pack("{s:o}", "hull", rig_of(game, grow)));
    json_object_set_new(ruleset, "weapons", weapons_of(weapons, count));
    return ruleset;
}
