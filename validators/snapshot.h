/*
 * A snapshot contains the state of a match without its poses. A snapshot consists of bytes, from
 * which the match can be restored.
 *
 * A cheater could gain if some state were lost. So a snapshot contains the move timing with its
 * credit, the movement, the suspicion, the used shot numbers with their answers, and the cadences.
 * A snapshot also contains the counters, the damage, and the sticky state of players and movers,
 * such as life, team and weapon. The ids of verdicts depend on the match's opening time, so this
 * time is saved too.
 *
 * After a restore, all poses are known again after one window of history. Until then, hits are
 * inconclusive, and hs_match_info reports that the match needs a resync.
 *
 * Events between save and restore are unknown. So saved state never causes a rejection until a
 * frame confirms it (enum hs_stale): a check that would fail because of saved state has an unknown
 * outcome. A hit is also inconclusive if its posted shot may have been lost. The first jump of a
 * player after the restore is ignored.
 *
 * The bytes are little-endian and the same on every machine. The bytes refer to parts of the
 * ruleset by index, so restore a match with the same revision of the ruleset. The bytes contain a
 * version, the names in the vocabularies, and a hash of the layout. Bytes with another layout are
 * refused. If only the layout of the move checks differs, the move checks start again with the
 * saved credit.
 *
 * A snapshot has no checksum: add a checksum where you store the snapshot. The reader never reads
 * outside the given bytes, and rejects values that the library cannot handle.
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

/* The progress of a save. Start with all zeros. */
struct hs_save_cursor {
    bool has_begun;
    uint32_t restarts; /* number of times that the save started again */
    uint32_t players;  /* number of players that are not saved yet; valid if has_begun */
    /* The numbers of clock resets and of account changes when the save began; valid if has_begun.
     */
    uint32_t clock;
    uint64_t account_changes;
    size_t start; /* the size of `out` when the save began; valid if has_begun */
};

/*
 * Appends the next part of a snapshot: at least one player, and more players while the part is
 * smaller than `part_bytes`. Returns true if more parts follow. The match may be used and changed
 * between two parts, so other callers wait at most until the current part is saved. The state of
 * one player is always in one part. Players who join between two parts are not saved.
 *
 * `out` must keep all parts until the last one is appended. The function removes the earlier parts
 * from `out` and starts again if one of three things has happened since the save began: the match's
 * clock was reset, a player took a parked account, or a player's account was set. After a few
 * restarts, the function saves the whole match in one part.
 */
bool hs_match_save_part(const struct hs_match *match, struct hs_save_cursor *cursor,
                        size_t part_bytes, struct hs_bytes *out);

/* Appends a whole snapshot. Neither this function nor hs_match_save_part is thread-safe on one
   match. */
void hs_match_save(const struct hs_match *match, struct hs_bytes *out);

enum hs_match_load {
    HS_MATCH_LOADED,
    HS_MATCH_LOADED_PARTLY, /* the move checks start again, because their layout differs */
    HS_MATCH_OTHER_VERSION, /* another version, layout or vocabulary */
    HS_MATCH_DAMAGED,       /* bytes are missing, left over, or have impossible values */
    HS_MATCH_LOAD_NO_MEMORY
};

/*
 * Restores a match without its map. `ruleset` must be the revision that the saved match used; it is
 * borrowed as in hs_match_create. All saved players are restored, even if `limits` allows fewer.
 * After HS_MATCH_LOADED or HS_MATCH_LOADED_PARTLY the caller owns *out; otherwise *out is NULL.
 */
enum hs_match_load hs_match_load(const struct hs_ruleset *ruleset,
                                 const struct hs_match_limits *limits, const void *bytes,
                                 size_t size, struct hs_match **out);

/*
 * Appends an excerpt: the part of a match that a verdict depends on, with poses. hs_match_load
 * restores a match from an excerpt. For the same claim or posted shot, the restored match gives a
 * verdict that is bit-identical to the original verdict. No frames can be posted to the restored
 * match.
 *
 * An excerpt contains the players whom the claim names, and the players and movers near the path.
 * An excerpt contains the samples of these players and movers around the times of the claim, and 16
 * more samples before and after. An excerpt also contains the shooter's used shot numbers that are
 * compared with the claim. An excerpt contains no answers, no counters and no suspicion.
 *
 * `result` must come from hs_hit_verify or hs_shot_verify, and the match must not have changed
 * since that call. hs_match_load returns HS_MATCH_OTHER_VERSION if the program that loads the
 * excerpt has other vocabularies or another layout.
 */
void hs_hit_save_excerpt(const struct hs_match *match, const struct hs_hit_claim *claim,
                         const struct hs_hit_result *result, struct hs_bytes *out);
void hs_shot_save_excerpt(const struct hs_match *match, const struct hs_shot_claim *claim,
                          const struct hs_hit_result *result, struct hs_bytes *out);

/*
 * hs_match_is_excerpt returns whether the bytes are an excerpt that this program can load.
 *
 * hs_excerpt_fits returns whether an excerpt can also be loaded with another ruleset. The other
 * ruleset must have the same rigs and the same `up`, and its list of weapons must begin with the
 * same weapons in the same order. Verdicts then follow the other ruleset. But the excerpt still
 * contains only the players who were near the path under the saved rules.
 */
bool hs_match_is_excerpt(const void *bytes, size_t size);
bool hs_excerpt_fits(const struct hs_ruleset *saved_with, const struct hs_ruleset *other);

/*
 * Call this after a restore if moves may have been checked since the save, for example because the
 * process was killed. It is then unknown how much time each player has used since their last saved
 * move, so this time is not granted again. Otherwise players would gain credit from a crash.
 */
void hs_match_lost_moves(struct hs_match *match);

/*
 * Call this if another process may have accepted shots in this match, and the numbers of these
 * shots are lost. Shots are then inconclusive (`number_forgotten`), so that no shot is accepted
 * twice. Shots that are fired more than one window of history (history.keep) after the next frame
 * are evaluated as usual.
 */
void hs_match_lost_payments(struct hs_match *match);

HS_PUBLIC_END

#endif
