#include "tests/support/oracle/sweep_cases.h"

static const struct hs_vec world_axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* Draws an extent or radius, usually that of people and their limbs, sometimes that of a house,
   sometimes 0. */
static double draw_size(struct hs_random *random, double metre)
{
    if (hs_random_chance(random, 0.07))
        return 0;
    return metre * hs_random_log_between(random, 0.02, 3.0);
}

/* Draws any rotation. The rotation is often the identity or a quarter turn, because these make
   faces exactly parallel to paths. */
static void draw_axes(struct hs_random *random, struct hs_vec axes[3])
{
    double choice = hs_random_unit(random);
    if (choice > 0.25) {
        hs_random_axes(random, axes);
        return;
    }
    int turn = choice < 0.15 ? 0 : hs_random_index(random, 3);
    for (int i = 0; i < 3; i++)
        axes[i] = world_axes[(i + turn) % 3];
}

static void draw_shape(struct hs_random *random, enum hs_reference_kind kind, double metre,
                       struct hs_reference_shape *shape)
{
    *shape = (struct hs_reference_shape){.kind = kind};
    double away = hs_random_chance(random, 0.2) ? 1e6 * metre : 100 * metre;
    shape->center = (struct hs_vec){hs_random_between(random, -away, away),
                                    hs_random_between(random, -away, away),
                                    hs_random_between(random, -away, away)};
    draw_axes(random, shape->axes);
    switch (kind) {
    case HS_REFERENCE_SPHERE:
        shape->radius = draw_size(random, metre);
        break;
    case HS_REFERENCE_CAPSULE:
        shape->radius = draw_size(random, metre);
        shape->half_segment = hs_vec_scale(shape->axes[2], draw_size(random, metre));
        break;
    case HS_REFERENCE_BOX:
    case HS_REFERENCE_ALIGNED_BOX:
        for (int i = 0; i < 3; i++)
            shape->half[i] = draw_size(random, metre);
        if (hs_random_chance(random, 0.1))
            shape->radius = metre * hs_random_log_between(random, 0.01, 0.5);
        break;
    }
    if (kind == HS_REFERENCE_ALIGNED_BOX) {
        for (int i = 0; i < 3; i++)
            shape->axes[i] = world_axes[i];
    }
}

struct hs_solid hs_sweep_case_solid(const struct hs_reference_shape *shape)
{
    struct hs_solid solid = {.center = shape->center,
                             .axes = {shape->axes[0], shape->axes[1], shape->axes[2]},
                             .radius = shape->radius,
                             .axis_aligned = shape->kind == HS_REFERENCE_ALIGNED_BOX};
    if (shape->kind == HS_REFERENCE_CAPSULE)
        solid.half_extents.z = hs_vec_length(shape->half_segment);
    else
        solid.half_extents = (struct hs_vec){shape->half[0], shape->half[1], shape->half[2]};
    return solid;
}

static double draw_length(struct hs_random *random, double metre)
{
    double choice = hs_random_unit(random);
    if (choice < 0.02)
        return 0;
    if (choice < 0.08)
        return metre * hs_random_log_between(random, 1e-4, 1e-2);
    if (choice < 0.14)
        return metre * hs_random_log_between(random, 200, 1e4);
    return metre * hs_random_log_between(random, 0.01, 200);
}

/* Draws by how much a path misses or cuts the surface that it would just touch. The amount is
   usually tiny, and often exactly 0. */
static double draw_graze(struct hs_random *random, double metre)
{
    if (hs_random_chance(random, 0.1))
        return 0;
    double offset = metre * hs_random_log_between(random, 1e-5, 1.0);
    return hs_random_chance(random, 0.5) ? -offset : offset;
}

static double local_extent(const struct hs_reference_shape *shape, int axis)
{
    double core = shape->half[axis];
    if (shape->kind == HS_REFERENCE_CAPSULE && axis == 2)
        core = hs_vec_length(shape->half_segment);
    return core + shape->radius;
}

/* Draws a point in the box around the shape, after that box was scaled by `factor` and then
   extended by `margin`. */
static struct hs_vec draw_point(struct hs_random *random, const struct hs_reference_shape *shape,
                                double factor, double margin)
{
    struct hs_vec at = shape->center;
    for (int i = 0; i < 3; i++) {
        double reach = local_extent(shape, i) * factor + margin;
        at = hs_vec_add_scaled(at, shape->axes[i], hs_random_between(random, -reach, reach));
    }
    return at;
}

static struct hs_vec perpendicular(struct hs_random *random, struct hs_vec direction)
{
    for (;;) {
        struct hs_vec side = hs_vec_cross(direction, hs_random_direction(random));
        double length = hs_vec_length(side);
        if (length > 0.1)
            return hs_vec_scale(side, 1.0 / length);
    }
}

/* Places the start so that the path reaches `through` at this fraction of its length. */
static void aim_through(struct hs_sweep *sweep, struct hs_vec through, double fraction)
{
    sweep->start = hs_vec_add_scaled(through, sweep->direction, -fraction * sweep->length);
}

/* Draws a path anywhere near the shape. */
static void path_random(struct hs_random *random, struct hs_sweep_case *c)
{
    c->path = "random";
    c->sweep.direction = hs_random_direction(random);
    aim_through(&c->sweep, draw_point(random, &c->shape, 1.1, c->sweep.radius),
                hs_random_between(random, -0.2, 1.2));
}

/*
 * Draws a path that just touches or just misses the shape: perpendicular to a random `normal`, at
 * the point of the shape that is farthest along it.
 */
static void path_grazing(struct hs_random *random, struct hs_sweep_case *c)
{
    c->path = "grazing";
    c->sweep.direction = hs_random_direction(random);
    struct hs_vec normal = perpendicular(random, c->sweep.direction);
    double above = c->sweep.radius + draw_graze(random, c->metre);
    struct hs_vec top = hs_reference_support(&c->shape, normal);
    aim_through(&c->sweep, hs_vec_add_scaled(top, normal, above),
                hs_random_between(random, -0.1, 1.1));
}

/* Draws a path that ends at the surface, or starts there and leaves. */
static void path_to_surface(struct hs_random *random, struct hs_sweep_case *c)
{
    c->path = "to surface";
    struct hs_vec normal = hs_random_direction(random);
    double above = c->sweep.radius + draw_graze(random, c->metre);
    struct hs_vec top = hs_reference_support(&c->shape, normal);
    c->sweep.direction = hs_random_direction(random);
    bool leaves = hs_vec_dot(c->sweep.direction, normal) > 0;
    aim_through(&c->sweep, hs_vec_add_scaled(top, normal, above), leaves ? 0.0 : 1.0);
}

/* Draws a path along an axis or parallel to a face, often exactly in the plane of the face. */
static void path_parallel(struct hs_random *random, struct hs_sweep_case *c)
{
    c->path = "parallel";
    int along = hs_random_index(random, 3), across = (along + 1 + hs_random_index(random, 2)) % 3;
    struct hs_vec direction = c->shape.axes[along];
    if (hs_random_chance(random, 0.4)) {
        double angle = hs_random_between(random, 0, 6.283185307179586);
        direction = hs_vec_add_scaled(hs_vec_scale(direction, cos(angle)), c->shape.axes[across],
                                      sin(angle));
        direction = hs_vec_scale(direction, 1.0 / hs_vec_length(direction));
    }
    c->sweep.direction = hs_vec_scale(direction, hs_random_chance(random, 0.5) ? -1.0 : 1.0);
    struct hs_vec at = draw_point(random, &c->shape, 1.2, c->sweep.radius);
    if (hs_random_chance(random, 0.4)) {
        int flat = 3 - along - across;
        struct hs_vec normal = c->shape.axes[flat];
        double height = local_extent(&c->shape, flat) + c->sweep.radius;
        if (hs_random_chance(random, 0.7))
            height += draw_graze(random, c->metre);
        double now = hs_vec_dot(hs_vec_sub(at, c->shape.center), normal);
        at = hs_vec_add_scaled(at, normal, height - now);
    }
    aim_through(&c->sweep, at, hs_random_between(random, -0.2, 1.2));
}

static void path_inside(struct hs_random *random, struct hs_sweep_case *c)
{
    c->path = "starts inside";
    c->sweep.direction = hs_random_direction(random);
    aim_through(&c->sweep, draw_point(random, &c->shape, 0.7, 0.5 * c->sweep.radius), 0);
}

static void path_behind(struct hs_random *random, struct hs_sweep_case *c)
{
    c->path = "behind";
    c->sweep.direction = hs_random_direction(random);
    struct hs_vec top = hs_reference_support(&c->shape, c->sweep.direction);
    double past = c->sweep.radius + c->metre * hs_random_log_between(random, 1e-3, 10);
    aim_through(&c->sweep, hs_vec_add_scaled(top, c->sweep.direction, past), 0);
}

/* Draws a path through the centre, or exactly through a corner, the end of an edge, or a cap. */
static void path_head_on(struct hs_random *random, struct hs_sweep_case *c)
{
    c->path = "head on";
    c->sweep.direction = hs_random_direction(random);
    struct hs_vec at = c->shape.center;
    for (int i = 0; i < 3; i++) {
        double reach = local_extent(&c->shape, i) - c->shape.radius;
        at = hs_vec_add_scaled(at, c->shape.axes[i], reach * (hs_random_index(random, 3) - 1));
    }
    aim_through(&c->sweep, at, hs_random_between(random, 0.3, 1.3));
}

void hs_sweep_case_draw(struct hs_random *random, enum hs_reference_kind kind,
                        struct hs_sweep_case *out)
{
    static const struct {
        double up_to;
        void (*draw)(struct hs_random *, struct hs_sweep_case *);
    } paths[] = {{0.30, path_random},   {0.48, path_grazing}, {0.56, path_to_surface},
                 {0.76, path_parallel}, {0.84, path_inside},  {0.88, path_behind},
                 {1.00, path_head_on}};
    *out = (struct hs_sweep_case){.metre = hs_random_chance(random, 0.4) ? 100 : 1};
    draw_shape(random, kind, out->metre, &out->shape);
    out->solid = hs_sweep_case_solid(&out->shape);
    out->sweep.length = draw_length(random, out->metre);
    if (!hs_random_chance(random, 0.35))
        out->sweep.radius = out->metre * hs_random_log_between(random, 0.005, 1.0);
    double choice = hs_random_unit(random);
    int i = 0;
    while (choice >= paths[i].up_to)
        i++;
    paths[i].draw(random, out);
}

static void print_vec(FILE *file, const char *name, struct hs_vec v)
{
    fprintf(file, "    .%s = {%.17g, %.17g, %.17g},\n", name, v.x, v.y, v.z);
}

void hs_sweep_case_print(FILE *file, const struct hs_sweep_case *c)
{
    const struct hs_solid *s = &c->solid;
    fprintf(file, "/* %s, path %s, metre %g */\nstruct hs_solid solid = {\n",
            hs_reference_kind_name(c->shape.kind), c->path, c->metre);
    print_vec(file, "center", s->center);
    fprintf(file, "    .axes = {");
    for (int i = 0; i < 3; i++)
        fprintf(file, "{%.17g, %.17g, %.17g}%s", s->axes[i].x, s->axes[i].y, s->axes[i].z,
                i < 2 ? ", " : "},\n");
    print_vec(file, "half_extents", s->half_extents);
    fprintf(file, "    .radius = %.17g,\n    .axis_aligned = %s};\nstruct hs_sweep sweep = {\n",
            s->radius, s->axis_aligned ? "true" : "false");
    print_vec(file, "start", c->sweep.start);
    print_vec(file, "direction", c->sweep.direction);
    fprintf(file, "    .length = %.17g,\n    .radius = %.17g};\n", c->sweep.length,
            c->sweep.radius);
    fflush(file);
}
