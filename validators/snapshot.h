/*
 * Saves the lasting part of a match as bytes, and restores a match from them.
 *
 * A cheater could gain from the loss of some state. So the bytes contain the move timing with its
 * credit, the movement, the suspicion, the used shot numbers with their answers, and the cadences.
 * They also contain the counters, the damage, and the sticky state of players and movers, such as
 * life, team and weapon. The opening time of the match is saved because the ids of verdicts depend
 * on it.
 *
 * Poses are not saved. After a restore, poses are complete again after one window of history. Until
 * then hits are inconclusive, and hs_match_info reports that the match needs a resync.
 *
 * Events between save and restore are unknown. So saved state never causes a rejection until a
 * frame confirms it (enum hs_stale): the outcome of a check that would reject is unknown. Saved
 * state that allows a claim still counts. The outcome of a hit is also unknown if its posted shot
 * may have been lost. The first jump of a player is excused.
 *
 * The bytes are little-endian and the same on every machine. They refer to parts of the ruleset by
 * index, so read them with the same revision of the ruleset. The bytes contain a version, the names
 * of their vocabularies, and a tag of their layout. Bytes of another layout are refused. If only
 * the layout of the move checks differs, the move checks start again with the saved credit.
 *
 * The bytes have no checksum: add one where you store them. The reader never reads outside the
 * given bytes, and accepts only values that the library can handle.
 */
#ifndef HS_SNAPSHOT_H
#define HS_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bytes.h"
#include "hit.h"
#include "linkage.h"
#include "match.h"
#include "shot.h"

HS_PUBLIC_BEGIN

/* Progress of a save; zero at first. */
struct hs_save_cursor {
    uint32_t players; /* number of players still to be saved; valid if has_begun */
    bool has_begun;
};

/*
 * Appends the next part of a match: at least one player, and more while the part is smaller than
 * `part_bytes`. Returns true if more parts follow. The match may be used and changed between two
 * parts, so no caller waits longer than one part takes. The state of one player is always in one
 * part. Players who join between two parts are left out.
 */
bool hs_match_save_part(const struct hs_match *match, struct hs_save_cursor *cursor,
                        size_t part_bytes, struct hs_bytes *out);

/* Appends all parts at once. This function and hs_match_save_part are not thread-safe on one
   match. */
void hs_match_save(const struct hs_match *match, struct hs_bytes *out);

enum hs_match_load {
    HS_MATCH_LOADED,
    HS_MATCH_LOADED_PARTLY, /* the move checks start again, because their layout differs */
    HS_MATCH_OTHER_VERSION, /* the bytes, their layout or a vocabulary have another version */
    HS_MATCH_DAMAGED,       /* the bytes are too few, too many, or have values that no save
                               writes */
    HS_MATCH_LOAD_NO_MEMORY
};

/*
 * Restores a match. `ruleset` must be the revision with which the match was saved; it is borrowed
 * as in hs_match_create. The map is not set. All saved players are restored, even if they are more
 * than `limits` allows. With LOADED and LOADED_PARTLY the caller owns *out, otherwise *out is NULL.
 */
enum hs_match_load hs_match_load(const struct hs_ruleset *ruleset,
                                 const struct hs_match_limits *limits, const void *bytes,
                                 size_t size, struct hs_match **out);

/*
 * Appends an excerpt: the part of a match that a verdict depends on, with the poses. From an
 * excerpt, hs_match_load restores a match that gives a bit-identical verdict on the same claim or
 * posted shot. An excerpt has the players that the claim names, and the players and movers near the
 * path. It has their samples around the times of the claim, 16 more samples before these, and 16
 * after them. It has the shooter's used shot numbers with which the claim is compared, without
 * their answers. It has no counts and no suspicion. No more frames can be posted to the restored
 * match. An excerpt has only a hash of the vocabularies and of the layout. If the program has other
 * vocabularies or another layout, hs_match_load returns HS_MATCH_OTHER_VERSION. `result` is the
 * result of hs_hit_verify or hs_shot_verify. Between that call and this one, the match must not
 * change.
 */
void hs_hit_save_excerpt(const struct hs_match *match, const struct hs_hit_claim *claim,
                         const struct hs_hit_result *result, struct hs_bytes *out);
void hs_shot_save_excerpt(const struct hs_match *match, const struct hs_shot_claim *claim,
                          const struct hs_hit_result *result, struct hs_bytes *out);

/*
 * Returns whether the saved bytes are an excerpt that this version of the program can read.
 * hs_match_load can also read an excerpt with another ruleset (hs_excerpt_fits). The other ruleset
 * must have the same rigs and the same `up`. Its list of weapons must begin with the same weapons
 * in the same order. The match then gives the verdict of the other ruleset, with one limit: players
 * who were never near the path under the old rules are missing.
 */
bool hs_match_is_excerpt(const void *bytes, size_t size);
bool hs_excerpt_fits(const struct hs_ruleset *saved_with, const struct hs_ruleset *other);

/*
 * Call this if moves may have been checked after the save, for example when the process was killed.
 * The time granted to a player since their last saved move is then unknown, so it is not granted
 * again. Otherwise a player would gain credit whenever the process is killed.
 */
void hs_match_lost_moves(struct hs_match *match);

/*
 * Call this if another process may have accepted shots of this match, and their numbers are lost.
 * Shots that were fired up to one window of history (history.keep) after the next frame are then
 * `number_forgotten`, so that none of them is paid twice.
 */
void hs_match_lost_payments(struct hs_match *match);

HS_PUBLIC_END

#endif
