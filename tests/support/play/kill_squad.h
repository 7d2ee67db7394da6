/*
 * Makes the posts of one writer of the kill game (kill_game.h): four shooters and their target,
 * tick after tick. One shooter has a rifle. One has a rifle and posts shots a tick before their
 * hits. One has a shotgun, and one a bow. They leave and rejoin, and number their shots from 1 in
 * each session. Everything depends only on the random numbers. Metres, seconds. Not thread-safe.
 */
#ifndef HS_TESTS_KILL_SQUAD_H
#define HS_TESTS_KILL_SQUAD_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/support/play/follower.h"
#include "tests/support/random.h"

enum { HS_KILL_SHOOTERS = 4, HS_KILL_SECOND = 20 /* ticks in a second */ };

/* The ruleset of the squad. */
extern const char hs_kill_game_rules[];

enum hs_kill_style { HS_KILL_RIFLE, HS_KILL_PAIRED, HS_KILL_SHOTGUN, HS_KILL_BOW };

/* One item, with the tick in which it is first sent. */
struct hs_kill_item {
    struct hs_followed followed;
    bool is_shot;
    int tick, number;
};

struct hs_kill_session {
    struct hs_kill_item *items; /* in the order of their creation */
    size_t count, capacity;
};

struct hs_kill_shooter {
    char name[16];
    enum hs_kill_style style;
    double y;
    bool is_present;
    int since, until; /* ticks: start and end of the session or absence */
    int session;      /* unique in the run, for keys */
    int next_number;  /* shots count from 1 in each session */
    int fired_tick;   /* tick of a posted shot whose hit was not claimed yet; -1: none */
    struct hs_kill_session now, before;
};

struct hs_kill_squad {
    int number; /* index in its match; place and names depend on it */
    int place;  /* unique in the run, for keys */
    long sessions;
    struct hs_kill_shooter shooters[HS_KILL_SHOOTERS];
    char *frames[HS_KILL_SECOND]; /* entries of `frames` of the newest ticks, by tick */
};

void hs_kill_squad_init(struct hs_kill_squad *squad, int place, int number);
void hs_kill_squad_free(struct hs_kill_squad *squad);

/* Resets the squad: nobody is present, and the next tick is the first of a match. */
void hs_kill_squad_restart(struct hs_kill_squad *squad);

/* Returns the time of a tick, the same in all matches: the time of its frame, and its `now`. */
double hs_kill_time(int tick);

/* Makes a tick: keeps its frame and items, and returns the body to post, which the caller frees.
   The test program ends when memory is out. */
char *hs_kill_squad_tick(struct hs_kill_squad *squad, int tick, struct hs_random *random);

/* Prints to a new string, which the caller frees. */
char *hs_kill_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
