/*
 * The arena of the synthetic match: a walled field with crates, pillars, and a wall across the
 * middle that has a sliding door. Metres, z up.
 */
#ifndef HS_PLAY_ARENA_H
#define HS_PLAY_ARENA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/simulate/dice.h"
#include "validators/sweep.h"
#include "validators/world.h"

/* The door is a mover of frames; a step of this much a tick keeps its places exact in decimals. */
#define HS_ARENA_DOOR      "door"
#define HS_ARENA_DOOR_STEP (1.0 / 32)

struct hs_arena;

/* NULL: out of memory. Never changes afterwards. */
struct hs_arena *hs_arena_create(void);
void hs_arena_destroy(struct hs_arena *arena);

/* The document of the map, without the door; a new reference, NULL: out of memory. */
json_t *hs_arena_document(void);

/* What stands on the floor, the floor itself left out. */
const struct hs_world_box *hs_arena_boxes(size_t *count);

/* The door, as far open as that: 0 shut, 1 slid into the wall. */
struct hs_solid hs_arena_door(double opening);

/*
 * First contact of a swept sphere with the arena: true, and the travel until then in *distance.
 */
bool hs_arena_stops(const struct hs_arena *arena, const struct hs_sweep *sweep, double opening,
                    double *distance);

/* ---- for those who walk there ---- */

/* A place on the floor with room around it, away from the doorway. */
struct hs_vec hs_arena_somewhere(const struct hs_arena *arena, struct hs_dice *dice);

/* One can walk straight from one place on the floor to another, the door being open. */
bool hs_arena_is_walkable(const struct hs_arena *arena, struct hs_vec from, struct hs_vec to);

/* Whoever stands there makes the door open. */
bool hs_arena_opens_for(struct hs_vec position);

/*
 * Keeps somebody out of the walls: moves him to their side, and takes away the speed he had
 * towards them. True when he had to be moved.
 */
bool hs_arena_push_out(struct hs_vec *position, struct hs_vec *velocity);

#endif
