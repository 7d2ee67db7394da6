/*
 * alice at the origin shoots at bob, 20 m away, in the built-in ruleset in metres, in a process
 * that ends and begins again. Whatever fails, fails the test.
 */
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

/* The process ends and another one reads what it saved. */
void hs_duel_begin_anew(void);

/* Every entry is stored. */
void hs_duel_post_frame(const struct hs_frame *frame);

/* A frame of both; `alice` and `bob` say more of them, NULL nothing. */
void hs_duel_post(int ms, const struct hs_player_frame *alice, const struct hs_player_frame *bob);

/* Frames that say nothing but places, a tick apart. */
void hs_duel_play(int from_ms, int to_ms);

/* alice's claim to have hit bob's head now, at that time: the reason. Nothing is paid unless it is
   accepted. Without a number and a weapon: the next number, the rifle. */
enum hs_reason hs_duel_hit_with(int ms, struct hs_str weapon, uint64_t shot);
enum hs_reason hs_duel_hit(int ms);

/* Her shot, posted now and fired at that time; or both at once, with the rifle. */
enum hs_reason hs_duel_shoot_at(int now_ms, int ms, struct hs_str weapon, uint64_t shot);
enum hs_reason hs_duel_shoot(int ms, uint64_t shot);

/* Of alice. */
double hs_duel_suspicion(void);

#endif
