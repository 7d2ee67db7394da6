/*
 * The people of a simulated match, as the game server moves them: they run, stop, strafe, crouch,
 * jump, go through portals, die and come back, between the walls of the arena. Written in
 * advance from dice; what they shoot at is no part of it. Whoever holds a knife runs after
 * somebody.
 */
#ifndef HS_SIMULATE_CROWD_H
#define HS_SIMULATE_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/simulate/arena.h"
#include "cli/simulate/dice.h"

enum { HS_CROWD = 10, HS_CROWD_HZ = 60 };

struct hs_person {
    struct hs_vec position; /* of the feet */
    uint32_t jumps;         /* portals gone through and lives begun so far */
    uint32_t life;          /* begun so far */
    uint8_t arm;            /* enum hs_arm: in his hands */
    uint8_t event;          /* enum hs_sample_event of this tick */
    bool crouched, alive;
    bool is_protected; /* has just come to life */
};

struct hs_crowd;

/* Everybody in all ticks. `arm`: enum hs_arm in all hands; -1: everybody changes weapons. NULL: out
   of memory. */
struct hs_crowd *hs_crowd_create(size_t ticks, int arm, struct hs_dice *dice);
void hs_crowd_destroy(struct hs_crowd *crowd);

/* Seconds on the clock of the match, which is the server's. */
double hs_crowd_time(size_t tick);
int64_t hs_crowd_time_us(size_t tick);

/* The last tick at or before a time; the first and the last stand for what lies beyond them. */
size_t hs_crowd_tick(const struct hs_crowd *crowd, double time);

const struct hs_person *hs_crowd_at(const struct hs_crowd *crowd, unsigned who, size_t tick);

/* Where somebody's feet are between two ticks, on a straight line; before a jump the old place. */
struct hs_vec hs_crowd_place(const struct hs_crowd *crowd, unsigned who, double time);

/* Seconds for which somebody has been dead at a time; 0: he lives. */
double hs_crowd_dead_for(const struct hs_crowd *crowd, unsigned who, double time);

const char *hs_crowd_name(unsigned who);
unsigned hs_crowd_team(unsigned who); /* 0 or 1 */

#endif
