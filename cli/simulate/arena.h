/*
 * Where simulated matches are played: a walled field with walls to hide behind, the rules, and the
 * weapons people carry. Metres, seconds, z up. Read-only once made: shared by all threads.
 */
#ifndef HS_SIMULATE_ARENA_H
#define HS_SIMULATE_ARENA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "validators/history/rewind.h"
#include "validators/ruleset.h"
#include "validators/world.h"

/* X(id, name in the ruleset) */
#define HS_ARM_LIST(X)                                                                             \
    X(RIFLE, "rifle")                                                                              \
    X(SHOTGUN, "shotgun")                                                                          \
    X(BOW, "bow")                                                                                  \
    X(ROCKET, "rocket")                                                                            \
    X(KNIFE, "knife")

enum hs_arm {
#define X(id, name) HS_ARM_##id,
    HS_ARM_LIST(X)
#undef X
        HS_ARMS
};

const char *hs_arm_name(enum hs_arm arm);

struct hs_sim_arena {
    struct hs_ruleset *ruleset; /* the built-in metres but for the rewind limit */
    struct hs_world *world;
    const struct hs_rig *rig;
    const struct hs_weapon *weapons[HS_ARMS];
};

/*
 * `rewind_limit`: seconds. A shot of somebody 200 ms away who sees the others 100 ms late is
 * 0.3 s old when it arrives, later when it was lost once: a game for such players looks back
 * further than the built-in quarter of a second. NULL: out of memory.
 */
struct hs_sim_arena *hs_sim_arena_create(double rewind_limit);
void hs_sim_arena_destroy(struct hs_sim_arena *arena);

/* The geometry of its world as the document of a map; a new reference, NULL: out of memory. */
json_t *hs_sim_arena_document(void);

/* The walls inside the field and around it; `out` has room for HS_SIM_WALLS. */
enum { HS_SIM_WALLS = 16 };

void hs_sim_arena_walls(struct hs_world_box out[HS_SIM_WALLS]);

/* A place on the floor that is free of walls for somebody of that width, inside the field. */
bool hs_sim_arena_is_free(struct hs_vec place, double width);

/* The nearest free place for somebody who stands there; height is left alone. */
struct hs_vec hs_sim_arena_push_out(struct hs_vec place, double width);

/* Hitboxes of somebody upright; no bone and no hitbox of the rig is turned. `yaw`: radians around
   +z. `stance`: index in the rig. */
void hs_sim_arena_body(const struct hs_sim_arena *arena, struct hs_vec position, double yaw,
                       unsigned stance, struct hs_body *out);

#endif
