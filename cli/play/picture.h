/*
 * Draws a claim in the terminal: the shot, and the target's hitboxes at the claimed time and at
 * arrival. The picture shows by how much the shot missed, or what stopped it.
 */
#ifndef HS_PLAY_PICTURE_H
#define HS_PLAY_PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "validators/history/rewind.h"

struct hs_picture {
    const char *shooter, *target;
    const struct hs_body *then, *now; /* the target's body at hit_time and at arrival */
    double hit_time, arrival;         /* seconds */
    struct hs_vec start, end;         /* ends of the shot; length */
    double radius;                    /* radius of the shot, from the rules; length */
    double measured, limit;           /* from the verdict; length */
    const char *unit;                 /* the unit of length, abbreviated, for example "m" */
    const struct hs_solid *walls;     /* the walls at hit_time */
    size_t wall_count;
    const char *obstacle;  /* what stopped the shot, for example "a wall"; NULL: it missed */
    struct hs_vec stopped; /* the point where it stopped */
};

struct hs_picture_style {
    bool unicode; /* else plain ASCII */
    bool colour;  /* ANSI colours */
};

/* Returns the style for the terminal behind `out`, by the environment (LC_ALL, LC_CTYPE, LANG,
   NO_COLOR, TERM). */
struct hs_picture_style hs_picture_style_for(FILE *out);

/* Draws from above, or from the side if the miss is mainly vertical; walls are drawn from above
   only. The shot always goes from left to right. z is up. */
void hs_picture_draw(const struct hs_picture *picture, struct hs_picture_style style, FILE *out);

#endif
