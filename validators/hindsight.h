/* Includes the whole library: rulesets, matches, claims, shots, moves, worlds, hints, snapshots. */
#ifndef HS_HINDSIGHT_H
#define HS_HINDSIGHT_H

#include "hints.h"
#include "hit.h"
#include "journal.h"
#include "match.h"
#include "moves.h"
#include "ruleset.h"
#include "shot.h"
#include "snapshot.h"
#include "world.h"

#endif
