/* The most expensive matches and claims, to measure the max cost of verifying and to test its
   limits. Lengths in metres. The program ends if out of memory. */
#ifndef HS_TESTS_HOSTILE_H
#define HS_TESTS_HOSTILE_H

#include "validators/hit.h"
#include "validators/match.h"
#include "validators/ruleset.h"
#include "validators/world.h"

/* The reasons why verifying is expensive. HS_HOSTILE(id, name) */
#define HS_HOSTILE_KINDS(X)                                                                        \
    X(PELLETS, "64 pellets through a crowd")                                                       \
    X(PASSERS, "64 pellets past a crowd")                                                          \
    X(FLIGHT, "a flight of 512 legs through a crowd that moves")                                   \
    X(BLAST, "a blast in a crowd with 64 victims")                                                 \
    X(TRIANGLES, "a shot through triangles that overlap")                                          \
    X(BOXES, "a shot through boxes that overlap")                                                  \
    X(MOVERS, "a flight past movers with long histories")                                          \
    X(SPREAD, "64 pellets that take each other's directions")                                      \
    X(CHEAP, "a shot at a lone player")

enum hs_hostile_kind {
#define X(id, name) HS_HOSTILE_##id,
    HS_HOSTILE_KINDS(X)
#undef X
        HS_HOSTILE_COUNT
};

struct hs_hostile {
    const char *name;
    struct hs_ruleset *ruleset;
    struct hs_world *world; /* NULL: none */
    struct hs_match *match;
    struct hs_hit_claim claim; /* the number of its shot is 1 */
    int64_t now_us;
    struct hs_pellet_claim pellets[HS_MAX_PELLETS];
    struct hs_str victims[HS_MAX_VICTIMS];
    char names[1024][16]; /* names of players */
};

/* Makes a match and its claim. hs_hostile_free frees what a struct contains, and must be called
   before it is made again. */
void hs_hostile_make(enum hs_hostile_kind kind, struct hs_hostile *out);
void hs_hostile_free(struct hs_hostile *hostile);

#endif
