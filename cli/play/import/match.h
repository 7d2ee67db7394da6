/*
 * Reads a match from a pair of CSV tables, NAME.poses.csv and NAME.shots.csv (plain or .gz). Poses
 * with the same time become one frame. Each row in the shot table becomes a claim, and the game
 * server's own decision becomes the ground truth of this claim. If the pose table has a column
 * `duck`, the match is from CS:GO, otherwise from QuakeWorld. docs/recording.md describes the
 * columns.
 */
#ifndef HS_PLAY_CSV_MATCH_H
#define HS_PLAY_CSV_MATCH_H

#include <stdbool.h>

#include "cli/play/recording.h"

/* Returns whether a name ends in .poses.csv or .shots.csv, with or without .gz. */
bool hs_csv_match_is_name(const char *path);

/*
 * Opens the pair; `path` names either table. `grow` (length) enlarges the body on every side. A
 * negative value shrinks the body, and must leave some width. Returns NULL with a message in
 * `error` on failure.
 */
struct hs_recording *hs_csv_match_open(const char *path, double grow,
                                       char error[HS_PLAY_ERROR_MAX]);

#endif
