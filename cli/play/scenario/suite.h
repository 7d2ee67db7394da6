/* Plays a scenario file (file.h) against a running service. */
#ifndef HS_PLAY_PLAY_SCENARIOS_H
#define HS_PLAY_PLAY_SCENARIOS_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/play/client.h"
#include "cli/play/recording.h"
#include "cli/play/tally.h"

/* Returns whether a name ends in .json. */
bool hs_play_scenarios_is_name(const char *path);

/*
 * Plays every scenario in the file, in metres with z up, as the scenarios are written. Each
 * scenario gets a new match. Each scenario counts as one expectation in the tally. Prints failed
 * scenarios to `complaints`. Skips scenarios that need special options of the service, and prints a
 * message for each. Returns false with a message in `error` if the file is malformed or the service
 * does not answer.
 */
bool hs_play_scenarios(const char *path, struct hs_client *client, struct hs_tally *tally,
                       FILE *complaints, char error[HS_PLAY_ERROR_MAX]);

#endif
