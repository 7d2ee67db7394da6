#include "cli/demo/arena.h"

#include <math.h>
#include <stdlib.h>

#define HALF_FIELD 18.0 /* metres from the middle to each side, as far as people like to go */

/* How far people keep from walls: less when they are pushed than when they choose their way. The
   widest body of the rules reaches 0.3 m. */
#define BODY_ROOM 0.45
#define WAY_ROOM  0.6
#define WAY_ABOVE 0.7 /* height at which ways are tried: above the floor, below every top */

#define DOOR_HALF_WIDTH 1.0
#define DOOR_HALF_THICK 0.1
#define DOOR_HEIGHT     2.5
#define DOOR_OPENS_AT   4.0 /* metres: at a run the door is open before one is there */
#define DOOR_ROOM       1.2 /* metres around the doorway where nobody comes to life */

/* The floor is the first. */
static const struct hs_world_box boxes[] = {
    {{-20.5, -20.5, -0.5}, {20.5, 20.5, 0}}, /* floor */
    {{-20.5, 20, 0}, {20.5, 20.5, 5}},       /* around it */
    {{-20.5, -20.5, 0}, {20.5, -20, 5}},     /**/
    {{20, -20, 0}, {20.5, 20, 5}},           /**/
    {{-20.5, -20, 0}, {-20, 20, 5}},         /**/
    {{-12, -0.2, 0}, {-1, 0.2, 3}},          /* across the middle, left and right of the door */
    {{1, -0.2, 0}, {12, 0.2, 3}},            /**/
    {{-1, -0.2, DOOR_HEIGHT}, {1, 0.2, 3}},  /* over the door */
    {{-9, 7, 0}, {-7, 9, 1.2}},              /* crates, to shoot over */
    {{8, -8, 0}, {11, -6.5, 1.2}},           /**/
    {{-14, -5, 0}, {-12.5, -3.5, 1.2}},      /**/
    {{5.6, 8.6, 0}, {6.4, 9.4, 4}},          /* pillars */
    {{12.6, 3.6, 0}, {13.4, 4.4, 4}},        /**/
    {{-4.4, -13.4, 0}, {-3.6, -12.6, 4}},    /**/
    {{-2.4, 14.6, 0}, {-1.6, 15.4, 4}},      /**/
};
enum { BOXES = sizeof(boxes) / sizeof(boxes[0]) };

struct hs_arena {
    struct hs_world *world;
};

struct hs_arena *hs_arena_create(void)
{
    const struct hs_world_mesh mesh = {.boxes = boxes, .box_count = BOXES};
    struct hs_arena *arena = calloc(1, sizeof(*arena));
    if (arena == NULL || (arena->world = hs_world_create(&mesh, NULL, NULL)) == NULL) {
        free(arena);
        return NULL;
    }
    return arena;
}

void hs_arena_destroy(struct hs_arena *arena)
{
    if (arena == NULL)
        return;
    hs_world_destroy(arena->world);
    free(arena);
}

json_t *hs_arena_document(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < BOXES; i++) {
        const struct hs_vec *min = &boxes[i].min, *max = &boxes[i].max;
        json_array_append_new(list, json_pack("{s:[f, f, f], s:[f, f, f]}", "min", min->x, min->y,
                                              min->z, "max", max->x, max->y, max->z));
    }
    return json_pack("{s:o}", "boxes", list);
}

const struct hs_world_box *hs_arena_boxes(size_t *count)
{
    *count = BOXES - 1;
    return boxes + 1;
}

struct hs_solid hs_arena_door(double opening)
{
    return (struct hs_solid){
        .center = {2.0 * DOOR_HALF_WIDTH * opening, 0, DOOR_HEIGHT / 2},
        .axes = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
        .half_extents = {DOOR_HALF_WIDTH, DOOR_HALF_THICK, DOOR_HEIGHT / 2},
    };
}

bool hs_arena_stops(const struct hs_arena *arena, const struct hs_sweep *sweep, double opening,
                    double *distance)
{
    struct hs_world_contact contact;
    struct hs_solid door = hs_arena_door(opening);
    double to_wall = HUGE_VAL, to_door = HUGE_VAL;
    if (hs_world_sweep(arena->world, sweep, &contact))
        to_wall = contact.distance;
    hs_sweep_touches(sweep, &door, &to_door);
    *distance = fmin(to_wall, to_door);
    return *distance < HUGE_VAL;
}

/* ---- for those who walk there ---- */

bool hs_arena_is_walkable(const struct hs_arena *arena, struct hs_vec from, struct hs_vec to)
{
    from.z = to.z = WAY_ABOVE;
    struct hs_vec way = hs_vec_sub(to, from);
    double length = hs_vec_length(way);
    struct hs_sweep sweep = {from, {1, 0, 0}, length, WAY_ROOM};
    if (length > 0.0)
        sweep.direction = hs_vec_scale(way, 1.0 / length);
    return !hs_world_sweep(arena->world, &sweep, NULL);
}

struct hs_vec hs_arena_somewhere(const struct hs_arena *arena, struct hs_dice *dice)
{
    const struct hs_solid door = hs_arena_door(0.0);
    struct hs_vec place = {0, 0, 0};
    do {
        place.x = hs_dice_between(dice, -HALF_FIELD, HALF_FIELD);
        place.y = hs_dice_between(dice, -HALF_FIELD, HALF_FIELD);
    } while (!hs_arena_is_walkable(arena, place, place) ||
             hs_solid_distance(&door, place) < DOOR_ROOM);
    return place;
}

bool hs_arena_opens_for(struct hs_vec position)
{
    return hypot(position.x, position.y) < DOOR_OPENS_AT;
}

/* Out of one box, seen from above, to the side that is nearest. */
static bool push_out_of(const struct hs_world_box *box, struct hs_vec *position,
                        struct hs_vec *velocity)
{
    const double out[4] = {
        position->x - (box->min.x - BODY_ROOM), (box->max.x + BODY_ROOM) - position->x,
        position->y - (box->min.y - BODY_ROOM), (box->max.y + BODY_ROOM) - position->y};
    size_t least = 0;
    for (size_t i = 0; i < 4; i++) {
        if (out[i] <= 0.0)
            return false;
        if (out[i] < out[least])
            least = i;
    }
    double *place = least < 2 ? &position->x : &position->y;
    double *speed = least < 2 ? &velocity->x : &velocity->y;
    bool down = least % 2 == 0;
    *place += down ? -out[least] : out[least];
    *speed = down ? fmin(*speed, 0.0) : fmax(*speed, 0.0);
    return true;
}

bool hs_arena_push_out(struct hs_vec *position, struct hs_vec *velocity)
{
    bool pushed = false;
    for (size_t i = 1; i < BOXES; i++) {
        if (boxes[i].min.z < DOOR_HEIGHT && push_out_of(&boxes[i], position, velocity))
            pushed = true;
    }
    return pushed;
}
