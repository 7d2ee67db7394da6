/* Draws the scene of a verdict in the terminal. */
#ifndef HS_SHOW_DRAWING_H
#define HS_SHOW_DRAWING_H

#include <stdio.h>

#include "service/evidence/scene.h"

/* Draws the scene (cli/play/picture.h), or prints why the scene cannot be drawn. Returns false if
   memory runs out. */
bool hs_show_draw(const struct hs_verdict_scene *scene, FILE *out);

#endif
