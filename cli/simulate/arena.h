/*
 * The arena for simulated matches: a walled field with walls for cover, the ruleset, and the
 * players' weapons. Units are metres and seconds; z is up. An arena does not change after its
 * creation, so threads can share it.
 */
#ifndef HS_SIMULATE_ARENA_H
#define HS_SIMULATE_ARENA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "validators/history/rewind.h"
#include "validators/ruleset.h"
#include "validators/world.h"

enum hs_arm { HS_ARM_RIFLE, HS_ARM_SHOTGUN, HS_ARM_BOW, HS_ARM_ROCKET, HS_ARM_KNIFE, HS_ARMS };

extern const char *const hs_arm_names[HS_ARMS]; /* names of the weapons in the ruleset */

struct hs_sim_arena {
    struct hs_ruleset *ruleset; /* `metres` (built in), with other rewind.limit and history.keep */
    struct hs_world *world;
    const struct hs_rig *rig;
    const struct hs_weapon *weapons[HS_ARMS];
};

/* Creates the arena. `rewind_limit`: seconds. A limit of 0.25 s is too short for the simulated
   networks. With a round trip of 200 ms and an interpolation delay of 100 ms, a shot is 0.3 s old
   when it arrives. If a packet was lost, the shot is older. Returns NULL if memory runs out. */
struct hs_sim_arena *hs_sim_arena_create(double rewind_limit);
void hs_sim_arena_destroy(struct hs_sim_arena *arena);

/* Returns the arena as a map document (new reference), or NULL if memory runs out. */
json_t *hs_sim_arena_document(void);

/* The walls inside the field and around it. */
enum { HS_SIM_WALLS = 16 };

void hs_sim_arena_walls(struct hs_world_box out[HS_SIM_WALLS]);

/* Returns whether a player can stand at `place`: inside the field, and at least `width` away from
   every wall. */
bool hs_sim_arena_is_free(struct hs_vec place, double width);

/* Moves `place` horizontally out of the walls and into the field, to a distance of `width` from the
   walls. Returns `place` unchanged if a player can stand there. */
struct hs_vec hs_sim_arena_push_out(struct hs_vec place, double width);

#endif
