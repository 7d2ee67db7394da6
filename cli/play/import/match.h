/*
 * Reads a match from a pair of CSV tables, NAME.poses.csv and NAME.shots.csv (plain or .gz). All
 * poses of one time become one frame. Every row of shots becomes a claim, and the game server's own
 * decision becomes the truth of this claim. The match is from CS:GO if the poses have a column
 * `duck`, and otherwise from QuakeWorld. docs/recording.md describes the columns.
 */
#ifndef HS_PLAY_CSV_MATCH_H
#define HS_PLAY_CSV_MATCH_H

#include <stdbool.h>

#include "cli/play/recording.h"

/* Returns whether a name ends in .poses.csv or .shots.csv, with or without .gz. */
bool hs_csv_match_is_name(const char *path);

/*
 * Opens the pair; `path` names either table. `grow` (length) widens the body on every side; a
 * negative value narrows the body, by less than half its width. Returns NULL with a message in
 * `error` on failure.
 */
struct hs_recording *hs_csv_match_open(const char *path, double grow,
                                       char error[HS_PLAY_ERROR_MAX]);

#endif
