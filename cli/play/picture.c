#include "cli/play/picture.h"

#include "validators/base/glm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 70, ROWS = 20 };

/* A character cell is about twice as high as it is wide. */
#define CELL_ASPECT 2.0

enum glyph { BLANK, WALL, THEN, NOW, SHOT, SHOT_END, BEYOND, MARK, GAP, SHOOTER, GLYPHS };

static const struct {
    const char *ascii, *unicode, *colour;
} glyphs[GLYPHS] = {
    [BLANK] = {" ", " ", ""},          [WALL] = {"%", "▒", "\033[34m"},
    [THEN] = {"#", "█", "\033[32m"},   [NOW] = {":", "░", "\033[90m"},
    [SHOT] = {"-", "─", "\033[31m"},   [SHOT_END] = {">", "►", "\033[31m"},
    [BEYOND] = {".", "·", "\033[90m"}, [MARK] = {"X", "●", "\033[1;31m"},
    [GAP] = {"|", "┊", "\033[33m"},    [SHOOTER] = {"S", "S", "\033[1;31m"},
};

/* An orthographic camera. The camera is turned so that the shot goes from left to right. */
struct view {
    bool from_above;
    struct hs_vec origin; /* world point; the matrices map offsets from this point */
    double scale;         /* length in the world that one column covers */
    mat4 to_cells, from_cells;
};

struct canvas {
    struct hs_picture_style style;
    unsigned char cells[ROWS][COLUMNS]; /* enum glyph */
    char text[ROWS][COLUMNS];           /* letters drawn over the glyphs; 0: no letter */
};

struct hs_picture_style hs_picture_style_for(FILE *out)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = "", *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    for (size_t i = 0; i < 3 && (locale == NULL || *locale == '\0'); i++)
        locale = getenv(names[i]);
    if (locale == NULL)
        locale = "";
    return (struct hs_picture_style){
        .unicode = strcasestr(locale, "utf-8") != NULL || strcasestr(locale, "utf8") != NULL,
        .colour = isatty(fileno(out)) == 1 && (no_color == NULL || *no_color == '\0') &&
                  terminal != NULL && strcmp(terminal, "dumb") != 0};
}

/* Returns the closest approach of the shot to the body. */
static struct hs_sweep_contact nearest_approach(const struct hs_picture *picture)
{
    struct hs_sweep_contact best = {.gap = HUGE_VAL};
    if (picture->closest != NULL)
        return *picture->closest;
    struct hs_vec path = hs_vec_sub(picture->end, picture->start);
    double length = hs_vec_length(path);
    struct hs_sweep sweep = {picture->start, hs_vec_scale(path, 1.0 / length), length,
                             picture->radius};
    for (uint16_t i = 0; i < picture->then->count; i++) {
        struct hs_sweep_contact contact;
        hs_sweep_solid(&sweep, &picture->then->solids[i], &contact);
        if (contact.gap < best.gap)
            best = contact;
    }
    return best;
}

struct bounds {
    double low[2], high[2];
};

static void include(struct bounds *bounds, mat4 camera, struct hs_vec offset, double around)
{
    vec3 at;
    hs_vec_to_floats(offset, at);
    glm_mat4_mulv3(camera, at, 1, at);
    for (size_t i = 0; i < 2; i++) {
        bounds->low[i] = fmin(bounds->low[i], (double)at[i] - around);
        bounds->high[i] = fmax(bounds->high[i], (double)at[i] + around);
    }
}

static void include_body(struct bounds *bounds, mat4 camera, struct hs_vec origin,
                         const struct hs_body *body)
{
    for (uint16_t i = 0; i < body->count; i++) {
        const struct hs_solid *solid = &body->solids[i];
        struct hs_vec center = hs_vec_sub(solid->center, origin);
        double reach = solid->half_extents.z;
        double width = solid->radius + fmax(solid->half_extents.x, solid->half_extents.y);
        include(bounds, camera, hs_vec_add_scaled(center, solid->axes[2], reach), width);
        include(bounds, camera, hs_vec_add_scaled(center, solid->axes[2], -reach), width);
    }
}

static double scale_for(const struct bounds *bounds, double min_scale)
{
    double wide = (bounds->high[0] - bounds->low[0]) / (COLUMNS - 16);
    double high = (bounds->high[1] - bounds->low[1]) / (CELL_ASPECT * (ROWS - 4));
    return fmax(min_scale, fmax(wide, high));
}

/* Returns the lower edge of a window that is `cells` cells wide and centred on `middle`. Shifts the
   window by at most half a cell, so that the coordinate 0 is in the middle of a cell. As a result,
   a line along an axis stays in one row. */
static double low_edge(double middle, int cells, double cell)
{
    double low = middle - cells * cell / 2;
    double at_zero = -low / cell;
    return low + (at_zero - floor(at_zero) - 0.5) * cell;
}

static void set_matrices(struct view *view, mat4 camera, const struct bounds *bounds)
{
    double column = view->scale, row = CELL_ASPECT * view->scale;
    double left = low_edge((bounds->low[0] + bounds->high[0]) / 2, COLUMNS, column);
    double bottom = low_edge((bounds->low[1] + bounds->high[1]) / 2, ROWS, row);
    float depth = (float)(1e4 * view->scale);
    mat4 window;
    /* Rows are counted from the top, so bottom and top are swapped. */
    glm_ortho((float)left, (float)(left + COLUMNS * column), (float)(bottom + ROWS * row),
              (float)bottom, -depth, depth, window);
    glm_mat4_mul(window, camera, view->to_cells);
    glm_mat4_inv(view->to_cells, view->from_cells);
}

/* Chooses the direction and the scale of the view. `mark`: the point where the shot stopped, or its
   point of closest approach. `miss`: the vector from the body to the shot at the closest
   approach. */
static struct view choose_view(const struct hs_picture *picture, struct hs_vec mark,
                               struct hs_vec miss)
{
    struct hs_vec path = hs_vec_sub(picture->end, picture->start);
    double level = hypot(path.x, path.y);
    struct hs_vec right =
        level > 0.0 ? (struct hs_vec){path.x / level, path.y / level, 0} : (struct hs_vec){1, 0, 0};
    struct view view = {
        .from_above = picture->obstacle != NULL || hypot(miss.x, miss.y) >= fabs(miss.z),
        .origin = mark,
    };
    vec3 eye = {0, 0, 0}, down = {0, 0, -1}, sky = {0, 0, 1}, left;
    mat4 camera;
    hs_vec_to_floats((struct hs_vec){-right.y, right.x, 0}, left);
    glm_lookat(eye, view.from_above ? down : left, view.from_above ? left : sky, camera);

    struct bounds bounds = {{0, 0}, {0, 0}}; /* these bounds contain the mark, which is at 0 */
    include_body(&bounds, camera, mark, picture->then);
    if (picture->now != NULL)
        include_body(&bounds, camera, mark, picture->now);
    struct bounds wider = bounds;
    include(&wider, camera, hs_vec_sub(picture->start, mark), 0.0);
    view.scale = scale_for(&bounds, picture->min_scale);
    /* To show the shooter, each column must cover a greater length of the world. Show the shooter
       if the scale of the picture with the shooter is at most 1.5 times the scale without the
       shooter. */
    if (scale_for(&wider, picture->min_scale) <= 1.5 * view.scale) {
        bounds = wider;
        view.scale = scale_for(&bounds, picture->min_scale);
    }
    set_matrices(&view, camera, &bounds);
    return view;
}

/* Computes the cell of a point. The cell may be outside the picture. */
static void cell_of(const struct view *view, struct hs_vec point, int *row, int *column)
{
    struct view copy = *view; /* cglm does not accept const matrices */
    vec3 at;
    hs_vec_to_floats(hs_vec_sub(point, view->origin), at);
    glm_project(at, copy.to_cells, (vec4){0, 0, COLUMNS, ROWS}, at);
    *row = (int)floorf(at[1]);
    *column = (int)floorf(at[0]);
}

/* Returns the ray through the middle of a cell, from the near plane to the far plane. */
static struct hs_sweep sight_of(const struct view *view, int row, int column)
{
    struct view copy = *view;
    float x = (float)column + 0.5F, y = (float)row + 0.5F;
    vec3 near, far;
    glm_unprojecti((vec3){x, y, 0}, copy.from_cells, (vec4){0, 0, COLUMNS, ROWS}, near);
    glm_unprojecti((vec3){x, y, 1}, copy.from_cells, (vec4){0, 0, COLUMNS, ROWS}, far);
    struct hs_vec start = hs_vec_add(view->origin, hs_vec_from_floats(near));
    struct hs_vec along = hs_vec_sub(hs_vec_from_floats(far), hs_vec_from_floats(near));
    double length = hs_vec_length(along);
    return (struct hs_sweep){start, hs_vec_scale(along, 1.0 / length), length, 0.0};
}

static bool inside(int row, int column)
{
    return row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
}

static void put(struct canvas *canvas, const struct view *view, struct hs_vec point,
                enum glyph glyph)
{
    int row, column;
    cell_of(view, point, &row, &column);
    bool behind = glyph == GAP || glyph == BEYOND; /* the body at hit_time hides these glyphs */
    if (inside(row, column) && !(behind && canvas->cells[row][column] == THEN))
        canvas->cells[row][column] = (unsigned char)glyph;
}

/* Fills every cell in which the line of sight meets a solid. If no line of sight meets a solid,
   because the solids are small, fills the cell at the centre of the first solid. */
static void draw_solids(struct canvas *canvas, const struct view *view,
                        const struct hs_solid *solids, size_t count, enum glyph glyph)
{
    bool is_seen = false;
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++) {
            struct hs_sweep sight = sight_of(view, row, column);
            double distance;
            for (size_t i = 0; i < count; i++) {
                if (!hs_sweep_touches(&sight, &solids[i], &distance))
                    continue;
                canvas->cells[row][column] = (unsigned char)glyph;
                is_seen = true;
            }
        }
    }
    if (!is_seen && count > 0)
        put(canvas, view, solids[0].center, glyph);
}

/* Fills every cell in which a wall is visible from above. If `slice` is set, only walls within
   `slice` above or below the height `level` are visible. */
static void draw_walls(struct canvas *canvas, const struct view *view,
                       const struct hs_picture *picture, double level)
{
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++) {
            struct hs_sweep sight = sight_of(view, row, column);
            double distance;
            bool is_wall = false;
            if (picture->slice > 0) {
                sight.start.z = level + picture->slice;
                sight.length = 2 * picture->slice;
            }
            for (size_t i = 0; i < picture->wall_count && !is_wall; i++)
                is_wall = hs_sweep_touches(&sight, &picture->walls[i], &distance);
            sight.radius = view->scale / 2; /* without a radius, a ray from above would miss a
                                               vertical triangle */
            for (size_t i = 0; i < picture->triangle_count && !is_wall; i++)
                is_wall = hs_triangle_touches(&sight, &picture->triangles[i], &distance);
            if (is_wall)
                canvas->cells[row][column] = WALL;
        }
    }
}

static void draw_line(struct canvas *canvas, const struct view *view, struct hs_vec from,
                      struct hs_vec to, enum glyph glyph)
{
    double length = hs_vec_distance(from, to);
    int steps = (int)fmin(20000.0, ceil(length / (0.3 * view->scale)));
    for (int i = 0; i <= steps; i++)
        put(canvas, view, hs_vec_lerp(from, to, steps > 0 ? (double)i / steps : 0.0), glyph);
}

static void draw_shot(struct canvas *canvas, const struct view *view,
                      const struct hs_picture *picture)
{
    if (picture->path == NULL) {
        draw_line(canvas, view, picture->start, picture->end, SHOT);
        return;
    }
    for (size_t i = 1; i < picture->path_count; i++)
        draw_line(canvas, view, picture->path[i - 1], picture->path[i], SHOT);
}

/* Draws an arrowhead into the last visible cell of the shot. */
static void draw_head(struct canvas *canvas)
{
    for (int column = COLUMNS - 1; column >= 0; column--)
        for (int row = 0; row < ROWS; row++)
            if (canvas->cells[row][column] == SHOT) {
                canvas->cells[row][column] = SHOT_END;
                return;
            }
}

/* Writes text to the right of a cell. If the space on the right is too narrow, writes the text to
   the left of the cell. */
static void write_beside(struct canvas *canvas, int row, int column, const char *text)
{
    int length = (int)strlen(text);
    int at = column + 2 + length < COLUMNS ? column + 2 : column - 1 - length;
    if (!inside(row, at) || !inside(row, at + length))
        return;
    memcpy(&canvas->text[row][at], text, (size_t)length);
}

static const char *text_of(const struct canvas *canvas, enum glyph glyph)
{
    return canvas->style.unicode ? glyphs[glyph].unicode : glyphs[glyph].ascii;
}

static void print_row(const struct canvas *canvas, int row, FILE *out)
{
    const char *wall = canvas->style.unicode ? "│" : "|";
    const char *current = "";
    fprintf(out, "  %s", wall);
    for (int column = 0; column < COLUMNS; column++) {
        char letter = canvas->text[row][column];
        unsigned char glyph = canvas->cells[row][column];
        const char *colour = letter != '\0' ? "\033[33m" : glyphs[glyph].colour;
        if (canvas->style.colour && strcmp(colour, current) != 0)
            fprintf(out, "\033[0m%s", colour);
        current = colour;
        if (letter != '\0')
            fputc(letter, out);
        else
            fputs(text_of(canvas, (enum glyph)glyph), out);
    }
    fprintf(out, "%s%s\n", canvas->style.colour ? "\033[0m" : "", wall);
}

static void print_edge(const struct canvas *canvas, bool top, const char *title, FILE *out)
{
    static const char *const corners[3][2] = {{"└", "┘"}, {"┌", "┐"}, {"+", "+"}};
    const char *const *corner = corners[canvas->style.unicode ? top : 2];
    const char *line = canvas->style.unicode ? "─" : "-";
    fprintf(out, "  %s%s%s", corner[0], line, title);
    for (size_t i = strlen(title) + 1; i < COLUMNS; i++)
        fputs(line, out);
    fprintf(out, "%s\n", corner[1]);
}

static void print_legend(const struct hs_picture *picture, const struct canvas *canvas, FILE *out)
{
    static const enum glyph samples[] = {THEN, NOW, SHOT, WALL};
    char lines[4][128];
    size_t count = picture->obstacle != NULL ? 4 : 3;
    double late = 1e3 * (picture->arrival - picture->hit_time);
    snprintf(lines[0], sizeof(lines[0]), "%.20s at %.3f s, the time of the claim of %.20s",
             picture->target, picture->hit_time, picture->shooter);
    snprintf(lines[1], sizeof(lines[1]), "%.20s at %.3f s, %.0f ms later, when the claim arrived",
             picture->target, picture->arrival, late);
    snprintf(lines[2], sizeof(lines[2]), "the shot of %.20s, who stood %.1f %s away",
             picture->shooter, hs_vec_distance(picture->start, picture->then->solids[0].center),
             picture->unit);
    snprintf(lines[3], sizeof(lines[3]), "the walls at %.3f s", picture->hit_time);
    for (size_t i = 0; i < count; i++) {
        if (samples[i] == NOW && picture->now == NULL)
            continue;
        const char *mark = text_of(canvas, samples[i]);
        const char *colour = canvas->style.colour ? glyphs[samples[i]].colour : "";
        const char *plain = canvas->style.colour ? "\033[0m" : "";
        fprintf(out, "    %s%s%s%s%s  %s\n", colour, mark, mark, mark, plain, lines[i]);
    }
}

static void draw_miss(struct canvas *canvas, const struct view *view,
                      const struct hs_picture *picture, const struct hs_sweep_contact *nearest)
{
    char text[80];
    draw_shot(canvas, view, picture);
    draw_head(canvas);
    if (picture->is_hit) {
        put(canvas, view, nearest->center, MARK);
        return;
    }
    draw_line(canvas, view, nearest->point, nearest->center, GAP);
    put(canvas, view, nearest->center, MARK);
    struct hs_vec between = hs_vec_lerp(nearest->point, nearest->center, 0.5);
    snprintf(text, sizeof(text), " missed by %.2f %s (limit %.2f) ", picture->measured,
             picture->unit, picture->limit);
    int row, column;
    cell_of(view, between, &row, &column);
    write_beside(canvas, row, column, text);
}

static void draw_stop(struct canvas *canvas, const struct view *view,
                      const struct hs_picture *picture)
{
    char text[80];
    int row, column;
    cell_of(view, picture->stopped, &row, &column);
    draw_line(canvas, view, picture->stopped, picture->end, BEYOND);
    draw_line(canvas, view, picture->start, picture->stopped, SHOT);
    put(canvas, view, picture->stopped, MARK);
    snprintf(text, sizeof(text), " stopped by %s, %.2f %s before the body ", picture->obstacle,
             picture->limit - picture->measured, picture->unit);
    write_beside(canvas, row > 1 ? row - 2 : row + 2, column, text);
}

void hs_picture_draw(const struct hs_picture *picture, struct hs_picture_style style, FILE *out)
{
    struct hs_sweep_contact nearest = nearest_approach(picture);
    struct hs_vec mark = picture->obstacle != NULL ? picture->stopped : nearest.center;
    struct view view = choose_view(picture, mark, hs_vec_sub(nearest.center, nearest.point));
    struct canvas canvas = {.style = style};
    char text[80];
    if (view.from_above)
        draw_walls(&canvas, &view, picture, mark.z);
    if (picture->now != NULL)
        draw_solids(&canvas, &view, picture->now->solids, picture->now->count, NOW);
    draw_solids(&canvas, &view, picture->then->solids, picture->then->count, THEN);
    if (picture->obstacle != NULL)
        draw_stop(&canvas, &view, picture);
    else
        draw_miss(&canvas, &view, picture, &nearest);
    put(&canvas, &view, picture->start, SHOOTER);

    snprintf(text, sizeof(text), " seen from %s, a column is %.2g %s ",
             view.from_above ? "above" : "the side", view.scale, picture->unit);
    print_edge(&canvas, true, text, out);
    for (int row = 0; row < ROWS; row++)
        print_row(&canvas, row, out);
    print_edge(&canvas, false, "", out);
    print_legend(picture, &canvas, out);
}
