/*
 * What of a match outlives the process that held it, as bytes, and the match again from them.
 *
 * Kept is what a cheater would gain by losing: the timing of moves and its credit, movement,
 * suspicion, used numbers and the answers given to them, cadences; counters, damage, the match's
 * opening (its verdicts keep their names), who is who: life, team, weapon, what a mover is. Poses
 * are not kept. They heal within one window of history; until then hits are inconclusive, and
 * hs_match_times says that the match needs them again.
 *
 * What happened after the match was saved nobody heard. What was said before that refuses nobody
 * until it is said again (enum hs_unsure): the check that would refuse is unknown. What allows a
 * claim counts on. A hit whose shot may be lost is unknown as well, and the first jump excused.
 *
 * The bytes are little-endian, the same on every machine, and refer to the ruleset by places in it:
 * they are read with the same revision of it only. They carry a version, the names of the
 * vocabularies they use, and a tag of the layout of what they hold. Bytes of another layout are
 * refused; where only the judges of moves differ, these begin anew, with the credit they had.
 *
 * They have no checksum: who stores them adds one. Reading never leaves what it was given and
 * accepts nothing that the rest of the library could stumble over, whatever the bytes are.
 */
#ifndef HS_SNAPSHOT_H
#define HS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "linkage.h"
#include "match.h"

HS_PUBLIC_BEGIN

/* How far a match was saved; zero at first. */
struct hs_save_cursor {
    uint32_t players; /* still to come; with has_begun */
    bool has_begun;
};

/*
 * Appends the next part of a match: at least one player, and no further one beyond `part_bytes`.
 * True: there is more. The match may be used and changed between two parts, so that nobody waits
 * for longer than a part takes; what one player is remembered by is never torn. Players who come
 * meanwhile are left out.
 */
bool hs_match_save_part(const struct hs_match *match, struct hs_save_cursor *cursor,
                        size_t part_bytes, struct hs_bytes *out);

/* All of it at once. Not thread-safe on one match, like hs_match_save_part. */
void hs_match_save(const struct hs_match *match, struct hs_bytes *out);

enum hs_match_load {
    HS_MATCH_LOADED,
    HS_MATCH_LOADED_ANEW,   /* but the judges of moves begin anew: theirs is another layout */
    HS_MATCH_OTHER_VERSION, /* of bytes, of their layout, or of a vocabulary */
    HS_MATCH_DAMAGED,       /* too short, too long, or with values that were never saved */
    HS_MATCH_LOAD_NO_MEMORY
};

/*
 * The match whose bytes these are. `ruleset` is the revision it was saved with, borrowed as by
 * hs_match_create; its map is not set. A match with more players than `limits` has room for them.
 * With LOADED and LOADED_ANEW *out is the caller's, else NULL.
 */
enum hs_match_load hs_match_load(const struct hs_ruleset *ruleset,
                                 const struct hs_match_limits *limits, const void *bytes,
                                 size_t size, struct hs_match **out);

/*
 * Moves may have been judged after the match was saved, as when its process was killed. How much
 * of the time since a player's last known move was granted to them is not known: none of it is
 * granted again, or who kills the service refills his credit.
 */
void hs_match_lost_moves(struct hs_match *match);

HS_PUBLIC_END

#endif
