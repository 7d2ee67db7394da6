#include "tests/support/play/walk.h"

#include <check.h>
#include <math.h>

struct hs_walk hs_walk;

void hs_walk_begin(void)
{
    static const struct hs_move_mode modes[MODES] = {
        [WALKING] = {.max_speed = 6, .max_accel = 20, .credit = 0.25},
        [FALLING] = {.max_speed = 40, .gravity = 9.8, .credit = 0.25},
        [FLYING] = {.max_speed = 6, .credit = 0.25},
        [FREE] = {.credit = 0.25},
        [SPRINTING] = {.max_speed = 12, .max_accel = 20, .credit = 1},
        [STRICT] = {.max_speed = 6, .max_accel = 20, .credit = 0.02},
        [GLIDING] = {.max_speed = 40, .gravity = 1, .credit = 0.25},
    };
    hs_walk.rules = (struct hs_moves_rules){.mode_count = MODES, .credit_max_us = 1000000};
    for (int i = 0; i < MODES; i++)
        hs_walk.rules.modes[i] = modes[i];
    hs_walk.body = (struct hs_movement){0};
    hs_walk.step = (struct hs_movement_step){.up = {0, 0, 1},
                                             .delta_us = DT_US,
                                             .dilation = 1,
                                             .jump_speed = 200,
                                             .received_us = 1000000,
                                             .rtt_us = 100000,
                                             .mode = WALKING};
    for (int i = 0; i < 4; i++)
        hs_walk.failures[i] = 0;
    hs_movement_check(&hs_walk.body, &hs_walk.rules, &hs_walk.step, &hs_walk.result);
}

static void note(int which, const struct hs_movement_finding *finding)
{
    if (!finding->failed)
        return;
    hs_walk.failures[which]++;
    hs_walk.found[which] = *finding;
    ck_assert(isfinite(finding->measured) && isfinite(finding->limit));
    ck_assert_double_gt(finding->measured, finding->limit);
}

void hs_walk_judge(void)
{
    hs_movement_check(&hs_walk.body, &hs_walk.rules, &hs_walk.step, &hs_walk.result);
    note(0, &hs_walk.result.teleport);
    note(1, &hs_walk.result.speed);
    note(2, &hs_walk.result.acceleration);
    note(3, &hs_walk.result.gravity);
}

void hs_walk_by(double dx, double dz)
{
    hs_walk.step.received_us += DT_US;
    hs_walk.step.position.x += dx;
    hs_walk.step.position.z += dz;
    hs_walk_judge();
}

double hs_walk_for(double vx, double vz, double seconds)
{
    int moves = (int)lround(seconds * HZ), before = hs_walk.failures[0] + hs_walk.failures[1];
    for (int i = 0; i < moves; i++) {
        hs_walk_by(vx * DT, vz * DT);
        if (hs_walk.failures[0] + hs_walk.failures[1] + hs_walk.failures[2] + hs_walk.failures[3] >
            before)
            return (i + 1) * DT;
    }
    return moves * DT;
}

void hs_walk_expect(int teleports, int speeds, int accelerations, int gravities)
{
    ck_assert_int_eq(hs_walk.failures[0], teleports);
    ck_assert_int_eq(hs_walk.failures[1], speeds);
    ck_assert_int_eq(hs_walk.failures[2], accelerations);
    ck_assert_int_eq(hs_walk.failures[3], gravities);
}
