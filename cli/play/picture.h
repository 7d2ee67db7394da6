/*
 * Draws a claim in the terminal: the shot, and the target's hitboxes at the claimed time and at the
 * time the claim arrived. The picture shows by how much the shot missed, or what stopped the shot.
 */
#ifndef HS_PLAY_PICTURE_H
#define HS_PLAY_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "validators/geometry/triangle.h"
#include "validators/history/rewind.h"

struct hs_picture {
    const char *shooter, *target;
    const struct hs_body *then, *now; /* the target's body at `hit_time` and at `arrival`; `now` may
                                         be NULL */
    double hit_time, arrival;         /* seconds */
    struct hs_vec start, end;         /* where the shot starts and ends */
    /* the points of a curved shot, beginning with `start`; NULL: the shot is straight */
    const struct hs_vec *path;
    size_t path_count;
    const struct hs_sweep_contact *closest; /* closest approach of the shot to `then`; NULL:
                                               hs_picture_draw computes it */
    double radius;                          /* the shot's radius in the rules; length */
    /* If `obstacle` is NULL: the distance by which the shot missed, and the largest allowed
       distance. If `obstacle` is not NULL: the distances along the shot to the obstacle and to the
       body. */
    double measured, limit;
    const char *unit; /* unit of length, abbreviated: "m" */
    double min_scale; /* a column covers at least this length, so that a body does not fill the
                         picture */
    const struct hs_solid *walls; /* walls, as they were at hit_time */
    size_t wall_count;
    const struct hs_triangle *triangles; /* walls that consist of triangles */
    size_t triangle_count;
    double slice; /* max vertical distance of a drawn wall from the closest approach (or `stopped`);
                     0: all walls are drawn */
    const char *obstacle;  /* what stopped the shot, for example "a wall"; NULL: nothing */
    struct hs_vec stopped; /* the point where the shot stopped */
    bool is_hit;           /* the shot touches the body; ignored if there is an obstacle */
};

struct hs_picture_style {
    bool unicode; /* false: plain ASCII */
    bool colour;  /* ANSI colours */
};

/* Chooses a style for `out`: colours only for a terminal. Also reads the environment variables
   LC_ALL, LC_CTYPE, LANG, NO_COLOR and TERM. */
struct hs_picture_style hs_picture_style_for(FILE *out);

/* Draws the scene from above, or from the side if the miss is mainly vertical. Walls are drawn only
   in the view from above. The shot always goes from left to right. z is up. */
void hs_picture_draw(const struct hs_picture *picture, struct hs_picture_style style, FILE *out);

#endif
