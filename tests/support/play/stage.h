/*
 * A small match for tests of the library: the fixture of the acceptance scenarios in metres, with
 * functions to post poses, make claims, and read answers. If a call fails that cannot fail in a
 * correct test (memory), the program ends.
 *
 * One rig "body" (bones root, head): a head sphere of 0.15 on the head bone, zone "head" x 2, and
 * a torso capsule of 0.30, caps at 0.9 and 1.3, on the root, zone "torso" x 1. Stances "stand"
 * (head and eye at 1.6) and "crouch" (head and eye at 1.1, same torso). Weapons: "rifle" hitscan,
 * damage 20, range 100, radius 0.05; "knife" melee, damage 40, range 1.5, radius 0.30; "bow"
 * projectile, damage 50, speed 40, radius 0.05, max_flight 4 s, no posted shots required. Rules:
 * the defaults in metres.
 */
#ifndef HS_TESTS_STAGE_H
#define HS_TESTS_STAGE_H

#include <stdint.h>

#include "validators/hit.h"
#include "validators/match.h"
#include "validators/ruleset.h"

enum { HS_STAGE_HEAD, HS_STAGE_TORSO };                /* zones, and hitboxes of the rig */
enum { HS_STAGE_RIFLE, HS_STAGE_KNIFE, HS_STAGE_BOW }; /* weapons */

/* Milliseconds as the library's time. */
#define HS_MS(ms) (INT64_C(1000) * (ms))

struct hs_str hs_stage_str(const char *text); /* NULL gives an absent text */

struct hs_ruleset *hs_stage_ruleset(void);
/* Creates a match with space for 64 players of 256 samples. */
struct hs_match *hs_stage_match(const struct hs_ruleset *ruleset);

/* Returns the shortest entry, with a player and a position. */
struct hs_player_frame hs_stage_entry(const char *player, double x, double y, double z);

/* Returns an entry at the origin with an event. */
struct hs_player_frame hs_stage_event(const char *player, enum hs_sample_event event);

/* Posts one entry at a time of the match. Returns its result. `flags` may be NULL. */
enum hs_frame_result hs_stage_post(struct hs_match *match, int64_t time_us,
                                   const struct hs_player_frame *entry, unsigned *flags);
/* Posts only a position; the program ends unless it is stored. */
void hs_stage_place(struct hs_match *match, int64_t time_us, const char *player, double x, double y,
                    double z);

/* Posts the scenarios' history: every 50 ms from 0 to 1000 ms, S at the origin (eye at 0,0,1.6),
   and T at x = 20, moving along y at 4 m/s. Both hold a rifle. */
void hs_stage_play(struct hs_match *match);

/* Returns a claim: S claims a hit on T with the rifle, from the eye of S to an end point. */
struct hs_hit_claim hs_stage_claim(int64_t hit_time_us, double x, double y, double z);

/* Like hs_stage_claim, with a fire time equal to the hit time. So the shooter's pose at that time
   counts. */
struct hs_hit_claim hs_stage_claim_fired(int64_t time_us, double x, double y, double z);

/* Verifies a claim. The caller owns the result: free(). */
struct hs_hit_result *hs_stage_verify(const struct hs_match *match,
                                      const struct hs_hit_claim *claim, int64_t now_us);

/* Verifies a claim. The result is valid until the next call. */
struct hs_hit_result *hs_stage_judge(const struct hs_match *match, const struct hs_hit_claim *claim,
                                     int64_t now_us);

/* Returns the row of a check, or NULL if the check did not run. */
const struct hs_check_row *hs_stage_row(const struct hs_hit_result *result, enum hs_check check);

#endif
