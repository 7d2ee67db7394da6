#include "tests/support/fuzz/stage.h"

#include <stdio.h>
#include <stdlib.h>

const struct hs_match_limits hs_fuzz_limits = {.players = 16, .samples = 32, .movers = 8};

enum { STAGE_PLAYERS = 9, STEP_US = 50000, END_US = 1000000 };

static void place(struct hs_player_frame *entry, struct hs_str name, double x, double y)
{
    *entry = (struct hs_player_frame){.player = name, .position = {x, y, 0}};
}

/* Poses player K with the bones of the built-in rig, root and head. */
static void pose_bones(struct hs_player_frame *entry, struct hs_posted_bone bones[2], double turn)
{
    for (int i = 0; i < 2; i++)
        bones[i] = (struct hs_posted_bone){
            .present = true,
            .position = {entry->position.x + 0.1 * i, entry->position.y, 1.6 * i},
            .rotation = {0, 0, sin(turn), cos(turn)},
            .scale = {1, 1, 1}};
    entry->bones = bones;
    entry->bone_count = 2;
    entry->fields |= HS_FIELD_BONES;
}

static size_t fill_frame(int64_t time_us, struct hs_player_frame *players,
                         struct hs_posted_bone bones[2])
{
    size_t n = 0;
    double t = (double)time_us / 1e6;
    place(&players[n++], HS_STR("S"), 0, 0);
    players[0].weapon = HS_STR("rifle");
    players[0].team = HS_STR("red");
    place(&players[n++], HS_STR("T"), 20, 4 * t);
    place(&players[n++], HS_STR("B"), 10, 1.75);
    place(&players[n++], HS_STR("D"), 10, -5);
    if (time_us == 900000)
        players[n - 1].event = HS_EVENT_DEATH;
    place(&players[n++], HS_STR("J"), 20, time_us < 900000 ? -10 : -30);
    if (time_us == 900000)
        players[n - 1].event = HS_EVENT_TELEPORT;
    place(&players[n++], HS_STR("R"), 15, time_us < 800000 ? 10 : 12);
    if (time_us == 800000)
        players[n - 1].event = HS_EVENT_SPAWN;
    if (time_us <= 600000 || time_us >= 900000)
        place(&players[n++], HS_STR("G"), 5, 5 + t);
    if (time_us <= 700000) {
        place(&players[n++], HS_STR("L"), -5, 0);
        if (time_us == 700000)
            players[n - 1].event = HS_EVENT_LEAVE;
    }
    place(&players[n], HS_STR("K"), 8, -2);
    pose_bones(&players[n++], bones, t);
    return n;
}

bool hs_fuzz_stage_play(struct hs_match *match)
{
    for (int64_t time_us = 0; time_us <= END_US; time_us += STEP_US) {
        struct hs_player_frame players[STAGE_PLAYERS];
        struct hs_posted_bone bones[2];
        enum hs_frame_result results[STAGE_PLAYERS];
        unsigned flags = 0;
        struct hs_frame frame = {.time_us = time_us,
                                 .players = players,
                                 .player_count = fill_frame(time_us, players, bones)};
        if (!hs_match_post_frame(match, &frame, results, &flags))
            return false;
    }
    return true;
}

static void need(bool there)
{
    if (there)
        return;
    fprintf(stderr, "cannot set the stage: out of memory\n");
    exit(1);
}

const struct hs_ruleset *hs_fuzz_ruleset(void)
{
    static struct hs_ruleset *ruleset;
    if (ruleset == NULL) {
        ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
        need(ruleset != NULL);
    }
    return ruleset;
}

const struct hs_match *hs_fuzz_stage(void)
{
    static struct hs_match *stage;
    if (stage == NULL) {
        stage = hs_match_create(hs_fuzz_ruleset(), &hs_fuzz_limits);
        need(stage != NULL && hs_fuzz_stage_play(stage));
    }
    return stage;
}
