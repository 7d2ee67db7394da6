/*
 * A match: the players of one game session, their histories, and the ruleset they are judged by.
 * The library's front door: post frames, verify claims.
 *
 * Not thread-safe: the caller serialises calls on one match; different matches are independent.
 * Only what creates, posts, judges moves and books claims allocates, within the match's limits.
 */
#ifndef HS_MATCH_H
#define HS_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"
#include "limits.h"
#include "linkage.h"
#include "ruleset.h"
#include "vec.h"
#include "vocabulary.h"
#include "world.h"

HS_PUBLIC_BEGIN

struct hs_match;

/*
 * The ruleset is borrowed and must outlive the match. NULL: out of memory, or the limits have no
 * room for it.
 *
 * Neither bound of bytes is ever passed. When one is near, players and movers nobody knows are
 * refused (HS_FRAME_CAPACITY, HS_MOVE_CAPACITY), and a history that would have to grow drops its
 * oldest samples instead, as at its limit. What claims and moves of the players there leave behind
 * has a twentieth of each bound, and a part set aside for each player, to itself; then histories
 * are cut for it, then the oldest answers kept for retries are given up. The numbers that were used
 * are kept to the last, so that nothing is paid twice.
 */
struct hs_match *hs_match_create(const struct hs_ruleset *ruleset,
                                 const struct hs_match_limits *limits);
void hs_match_destroy(struct hs_match *match);

/* The map the match is played on, before anything is judged. Borrowed; must outlive the match.
   NULL, as at first: the map is not known, and nothing static blocks a shot. */
void hs_match_set_world(struct hs_match *match, const struct hs_world *world);

/* Whether memory was refused to the match since this was last asked. */
bool hs_match_was_refused(struct hs_match *match);

/* Bytes in use are below nine tenths of both bounds. */
bool hs_match_has_room(const struct hs_match *match);

/* The bytes of a match that was just created. */
size_t hs_match_least_bytes(void);

/* ---- frames ---- */

/*
 * Stores one frame. `results` has player_count entries, then mover_count for the movers. A refused
 * entry changes nothing but the count of frames that agree on another clock. Returns false only
 * when memory is out (entries before that are stored); *flags gets a bit per enum hs_frame_flag.
 */
bool hs_match_post_frame(struct hs_match *match, const struct hs_frame *frame,
                         enum hs_frame_result *results, unsigned *flags);

/* How a sample was reached that was flagged UNFLAGGED_JUMP. */
struct hs_frame_jump {
    double distance, limit; /* length; the limit is what history.max_speed allows in that time */
    int64_t elapsed_us;     /* since the sample before it */
};

/* Whether the player, or mover, has a sample of exactly this time that counts as a jump nobody
   announced. Reads only. `at`: the mover's index in its frame, where it is looked for first. */
bool hs_match_player_jump(const struct hs_match *match, struct hs_str player, int64_t time_us,
                          struct hs_frame_jump *out);
bool hs_match_mover_jump(const struct hs_match *match, struct hs_str mover, size_t at,
                         int64_t time_us, struct hs_frame_jump *out);

/* A sentence about a refusal. */
const char *hs_frame_result_text(enum hs_frame_result result);

/* ---- state ---- */

/* The match's clock; cheap to ask for. */
struct hs_match_times {
    int64_t newest_us;  /* time of the newest frame */
    int64_t opening_us; /* time of the first frame ever stored */
    bool has_frames;
    bool needs_resync; /* less than one window of history: clients should post theirs again */
};

void hs_match_times(const struct hs_match *match, struct hs_match_times *out);

/* The whole match. O(1). */
struct hs_match_info {
    int64_t newest_us, opening_us; /* as in hs_match_times, like the next two */
    bool has_frames, needs_resync;
    uint32_t players; /* present */
    uint32_t movers;
    size_t history_bytes; /* all that is taken for it, and set aside for its players */
};

void hs_match_info(const struct hs_match *match, struct hs_match_info *out);

/* Sums over every claim judged, those of players who left included. */
struct hs_match_totals {
    uint64_t reasons[HS_REASON_COUNT];
    double damage;
};

void hs_match_totals(const struct hs_match *match, struct hs_match_totals *out);

/* Payments since the match was opened or restored. When its journal (journal.h) is written, all
   entries whose `payment` is at most this number are in a file. */
uint32_t hs_match_payments(const struct hs_match *match);

/* What is known of one player; `name` points into the match. */
struct hs_player_info {
    struct hs_str name;
    uint32_t samples;
    int64_t oldest_us, newest_us; /* with samples > 0 */
    int64_t life;
    bool alive;
    struct hs_vec position;
    struct hs_str team;                /* ptr NULL: none */
    uint64_t reasons[HS_REASON_COUNT]; /* verdicts of claims made by this player */
    uint64_t would_reject;             /* claims accepted only because a check is in shadow */
    double damage_dealt;
    double suspicion; /* decaying sum of rejections, at the match's newest time */
};

/*
 * The number of the session that a shot fired at that time belongs to. Sessions of all players of a
 * match are counted from 1; a player begins a new one by joining or coming back. 0: nobody has that
 * name.
 */
uint64_t hs_match_session(const struct hs_match *match, struct hs_str name, int64_t fire_time_us);

/* False: no such player present. */
bool hs_match_find_player(const struct hs_match *match, struct hs_str name,
                          struct hs_player_info *out);

/* Player i of those present, in order of arrival; false past the last. */
bool hs_match_player(const struct hs_match *match, uint32_t i, struct hs_player_info *out);

/* The next player present, from a cursor that begins at 0; false past the last. For walking all. */
bool hs_match_next_player(const struct hs_match *match, uint32_t *cursor,
                          struct hs_player_info *out);

const struct hs_ruleset *hs_match_ruleset(const struct hs_match *match);

HS_PUBLIC_END

#endif
