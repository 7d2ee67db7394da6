/*
 * A claim drawn in the terminal: the target's hitboxes where they were at the claimed moment and
 * where they are now, the shot, and by how much it missed or what stopped it.
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
    struct hs_vec start, end;         /* of the shot; length */
    double radius;                    /* of the shot, as the rules have it; length */
    double measured, limit;           /* as the verdict says; length */
    const char *unit;                 /* of length, in a letter or two: "m" */
    const struct hs_solid *walls;     /* as they stood then; may be none */
    size_t wall_count;
    const char *obstacle;  /* what stopped the shot, "a wall"; NULL: nothing, it missed */
    struct hs_vec stopped; /* where it did */
};

struct hs_picture_style {
    bool unicode; /* else plain ASCII */
    bool colour;  /* ANSI colours */
};

/* What the terminal behind `out` can take, by the environment (LC_ALL, LC_CTYPE, LANG, NO_COLOR).
 */
struct hs_picture_style hs_picture_style_for(FILE *out);

/*
 * Draws from above, or from the side where the miss is more one of height; walls are drawn from
 * above only. The shot always goes from left to right. z is up.
 */
void hs_picture_draw(const struct hs_picture *picture, struct hs_picture_style style, FILE *out);

#endif
