/* alice at the origin shoots at bob, 20 m away, under the built-in ruleset in metres. The test can
   end the process and start another one. Any failure fails the test. */
#ifndef HS_TESTS_DUEL_H
#define HS_TESTS_DUEL_H

#include <stdint.h>

#include "validators/hit.h"
#include "validators/match.h"

enum { HS_DUEL_MS = 1000, HS_DUEL_TICK_MS = 50 };

struct hs_duel {
    struct hs_ruleset *ruleset;
    struct hs_match *match;
    uint64_t last_shot;
};
extern struct hs_duel hs_duel;

/* A checked fixture. */
void hs_duel_set_up(void);
void hs_duel_tear_down(void);

/* Acts as if the process ended: saves the match, and restores it in a new one. */
void hs_duel_begin_anew(void);

/* Posts a frame. Every entry must be stored. */
void hs_duel_post_frame(const struct hs_frame *frame);

/* Posts a frame of both players; `alice` and `bob` have further fields to post; NULL: none. */
void hs_duel_post(int ms, const struct hs_player_frame *alice, const struct hs_player_frame *bob);

/* Posts frames that contain only places, one tick apart. */
void hs_duel_play(int from_ms, int to_ms);

/* Claims a hit of alice on bob's head at that time, and returns the reason. Nothing may be paid
   unless the claim is accepted. hs_duel_hit uses the next number and the rifle. */
enum hs_reason hs_duel_hit_with(int ms, struct hs_str weapon, uint64_t shot);
enum hs_reason hs_duel_hit(int ms);

/* Posts alice's shot, fired at that time. hs_duel_shoot posts the shot and the hit, with the
   rifle. */
enum hs_reason hs_duel_shoot_at(int now_ms, int ms, struct hs_str weapon, uint64_t shot);
enum hs_reason hs_duel_shoot(int ms, uint64_t shot);

/* Returns alice's suspicion. */
double hs_duel_suspicion(void);

#endif
