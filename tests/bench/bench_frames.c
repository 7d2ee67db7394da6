/*
 * The cost of storing a frame, in nanoseconds per player entry, without posted bones.
 *
 *   frame_entry_64_ns         64 players, all in each frame
 *   frame_entry_4096_ns       4096 players, all in each frame
 *   frame_entry_one_4096_ns   4096 players, each in a separate frame
 *
 * The histories are full, so every new sample replaces an old one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/bench.h"
#include "validators/match.h"

enum { MOST_PLAYERS = 4096, KEEP_FRAMES = 32, STEP_US = 16000 };

struct posting {
    struct hs_match *match;
    size_t players, a_frame; /* number of entries in each frame */
    size_t at;               /* the next player */
    int64_t time_us;
    struct hs_player_frame entries[MOST_PLAYERS];
    char names[MOST_PLAYERS][16];
};

static void need(bool there)
{
    if (there)
        return;
    fprintf(stderr, "a frame was not stored\n");
    exit(1);
}

/* Posts entries in frames of `a_frame` entries. After each round of all players the time
   advances. */
static void post(void *context, size_t count)
{
    static enum hs_frame_result results[MOST_PLAYERS];
    struct posting *p = context;
    for (size_t done = 0; done < count; done += p->a_frame) {
        unsigned flags = 0;
        for (size_t i = 0; i < p->a_frame; i++)
            p->entries[p->at + i].position.x = (double)p->time_us * 1e-6;
        const struct hs_frame frame = {
            .time_us = p->time_us, .players = &p->entries[p->at], .player_count = p->a_frame};
        need(hs_match_post_frame(p->match, &frame, results, &flags) &&
             results[0] == HS_FRAME_STORED);
        p->at = (p->at + p->a_frame) % p->players;
        p->time_us += p->at == 0 ? STEP_US : 0;
    }
}

static void bench(const char *name, size_t players, size_t a_frame)
{
    static struct posting posting;
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[0]);
    need(ruleset != NULL);
    ruleset->history.keep_us = KEEP_FRAMES * STEP_US;
    const struct hs_match_limits limits = {.players = MOST_PLAYERS, .samples = 4 * KEEP_FRAMES};
    posting = (struct posting){
        .match = hs_match_create(ruleset, &limits), .players = players, .a_frame = a_frame};
    need(posting.match != NULL);
    for (size_t i = 0; i < players; i++) {
        int length = snprintf(posting.names[i], sizeof posting.names[i], "player%zu", i);
        posting.entries[i].player = (struct hs_str){posting.names[i], (size_t)length};
    }
    post(&posting, 2 * KEEP_FRAMES * players);
    hs_bench_print(name, hs_bench_ns(post, &posting), "ns", NULL, 0);
    hs_match_destroy(posting.match);
    hs_ruleset_destroy(ruleset);
}

int main(void)
{
    bench("frame_entry_64_ns", 64, 64);
    bench("frame_entry_4096_ns", MOST_PLAYERS, MOST_PLAYERS);
    bench("frame_entry_one_4096_ns", MOST_PLAYERS, 1);
    return 0;
}
