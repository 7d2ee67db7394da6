/* The scene of a verdict: all data that is needed to draw the shot. docs/evidence.md lists the
   members of its JSON. */
#ifndef HS_SERVICE_EVIDENCE_SCENE_H
#define HS_SERVICE_EVIDENCE_SCENE_H

#include "api/json/writing.h"
#include "service/evidence/geometry.h"
#include "service/evidence/recompute.h"

/* Limits on the memory and the JSON size of a scene. */
enum {
    HS_SCENE_TRIANGLES_MAX = 4096,
    HS_SCENE_BOXES_MAX = 4096,
    HS_SCENE_MOVERS_MAX = 256,
    HS_SCENE_FRAMES_MAX = 96,
    HS_SCENE_BYSTANDERS_MAX = 16
};

struct hs_placed_mover {
    const struct hs_name *name;
    struct hs_mover_pose pose; /* at hit_time */
};

/* What stopped the shot before its target. */
enum hs_scene_stop {
    HS_SCENE_STOP_NONE,
    HS_SCENE_STOP_WALL,
    HS_SCENE_STOP_MOVER,
    HS_SCENE_STOP_PLAYER
};

struct hs_verdict_scene {
    const struct hs_recomputed *of; /* borrowed */
    struct hs_hit_scene shot;
    struct hs_body then, now; /* the target's body at hit_time, and at the time when the claim
                                 arrived */
    bool has_then, has_now;   /* has_then is true only if `then` has a hitbox */
    enum hs_scene_stop stop;
    struct hs_placed_mover *movers; /* movers whose pose is known; owned, like `walls` */
    size_t mover_count;
    struct hs_world_parts walls; /* walls near the shot */
};

/* Computes the scene of the verdict `of`, which must outlive the scene. Returns false if memory
   runs out. Free the scene with hs_verdict_scene_free, even after a failure. */
bool hs_verdict_scene_find(const struct hs_recomputed *of, struct hs_verdict_scene *out);
void hs_verdict_scene_free(struct hs_verdict_scene *scene);

/* Returns the abbreviated unit of length, for example "cm". The unit is known only for built-in
   rulesets, because rulesets do not state their unit. NULL: unknown. */
const char *hs_scene_length_unit(const struct hs_ruleset *ruleset);

/* Returns the check that decided the verdict; NULL: no check decided it. */
const struct hs_check_row *hs_scene_deciding(const struct hs_hit_result *result);

/* Writes a sentence that explains to people why a check did not pass. */
void hs_scene_sentence(const struct hs_recomputed *of, const struct hs_check_row *row,
                       char out[HS_SENTENCE_MAX]);

/* Writes the members of the scene; the caller writes the braces. */
void hs_verdict_scene_encode(const struct hs_verdict_scene *scene,
                             const struct hs_evidence_parts *parts, struct hs_writer *writer);

/* Parts of hs_verdict_scene_encode. hs_scene_role returns "shooter", "target" or "bystander".
   hs_scene_charts_encode writes the members `charts` and `limits`. */
const char *hs_scene_role(const struct hs_verdict_scene *scene, const struct hs_player *player);
void hs_scene_charts_encode(const struct hs_verdict_scene *scene, struct hs_writer *writer);

#endif
