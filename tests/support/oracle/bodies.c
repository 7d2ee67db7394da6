#include "tests/support/oracle/bodies.h"

#include <check.h>
#include <string.h>

#include "validators/base/glm.h"
#include "validators/geometry/quat.h"

struct hs_vec hs_body_draw_offset(struct hs_random *random, double unit)
{
    return hs_vec_scale(hs_random_direction(random), unit * hs_random_between(random, 0, 1));
}

void hs_body_draw_rotation(struct hs_random *random, float out[4])
{
    double norm;
    do {
        for (int i = 0; i < 4; i++)
            out[i] = (float)hs_random_between(random, -1, 1);
        norm = (double)(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3]);
    } while (norm < 0.01);
    for (int i = 0; i < 4; i++)
        out[i] /= (float)sqrt(norm);
    ck_assert(hs_quat_normalise(out));
}

static void draw_rig(struct hs_random *random, double unit, struct hs_rig *rig)
{
    struct hs_stance *stance = &rig->stances[rig->stance_count++];
    rig->bone_count =
        (uint16_t)(1 + hs_random_index(random, hs_random_chance(random, 0.1) ? 128 : 20));
    rig->hitbox_count = (uint16_t)(1 + hs_random_index(random, 20));
    hs_name_set(&stance->name, HS_STR("stand"));
    for (uint16_t i = 0; i < rig->bone_count; i++) {
        struct hs_rest_bone *bone = &stance->bones[i];
        *bone = (struct hs_rest_bone){.position = hs_body_draw_offset(random, unit),
                                      .scale = {1, 1, 1}};
        hs_body_draw_rotation(random, bone->rotation);
        for (int a = 0; a < 3 && hs_random_chance(random, 0.05); a++)
            bone->scale[a] = (float)hs_random_between(random, 0.3, 3);
    }
    for (uint16_t i = 0; i < rig->hitbox_count; i++) {
        struct hs_hitbox *box = &rig->hitboxes[i];
        box->bone = (uint16_t)hs_random_index(random, rig->bone_count);
        box->shape = (enum hs_shape)hs_random_index(random, HS_SHAPE_COUNT);
        box->radius = unit * hs_random_between(random, 0.01, 0.3);
        box->half_length = unit * hs_random_between(random, 0.01, 0.5);
        box->half_extents = (struct hs_vec){unit * hs_random_between(random, 0.01, 0.3),
                                            unit * hs_random_between(random, 0.01, 0.3),
                                            unit * hs_random_between(random, 0.01, 0.3)};
        box->center = hs_vec_scale(hs_body_draw_offset(random, unit), 0.3);
        box->axis_aligned = hs_random_chance(random, 0.3);
        hs_body_draw_rotation(random, box->rotation);
    }
}

struct hs_ruleset *hs_body_draw_ruleset(struct hs_random *random, double unit)
{
    struct hs_ruleset *ruleset = hs_ruleset_create(1);
    ck_assert_ptr_nonnull(ruleset);
    uint16_t rig = hs_ruleset_add_rig(ruleset, HS_STR("body"));
    ck_assert_int_ne(rig, HS_NONE);
    draw_rig(random, unit, ruleset->rigs[rig]);
    hs_ruleset_finish(ruleset);
    return ruleset;
}

void hs_body_draw_pose(struct hs_random *random, const struct hs_rig *rig, double unit,
                       struct hs_posted_pose *out)
{
    bool is_plain = hs_random_chance(random, 0.5);
    memset(out, 0, sizeof *out);
    out->bone_count = rig->bone_count;
    out->stride =
        is_plain || hs_random_chance(random, 0.5) ? HS_BONE_FLOATS : HS_BONE_FLOATS_SCALED;
    for (unsigned i = 0; i < rig->bone_count; i++) {
        float *values = out->bones + (size_t)i * out->stride;
        hs_vec_to_floats(hs_body_draw_offset(random, unit), values);
        hs_body_draw_rotation(random, values + 3);
        for (int k = HS_BONE_FLOATS; k < out->stride; k++)
            values[k] = (float)(hs_random_between(random, 0.3, 3) *
                                (hs_random_chance(random, 0.1) ? -1 : 1));
        if (is_plain || !hs_random_chance(random, 0.1))
            out->present[i / 64] |= UINT64_C(1) << (i % 64);
    }
}
