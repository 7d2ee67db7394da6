/*
 * A match: the players in one running game, their histories, and the ruleset. Frames are posted to
 * a match, and claims are verified against it (hit.h).
 *
 * Not thread-safe: the caller must serialise calls on one match. Different matches are independent.
 * Only calls that create a match, post frames, check moves or record claims allocate memory.
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
 * Creates a match. The ruleset is borrowed and must outlive the match. Returns NULL if out of
 * memory, or if the limits are too small.
 *
 * Memory never exceeds the limit of the match or of the shared budget. Near a limit, the match
 * refuses new players and movers (HS_FRAME_CAPACITY, HS_MOVE_CAPACITY), and a full history drops
 * its oldest samples instead of growing.
 *
 * 5 % of each limit, and some bytes for each player, are reserved for the records of claims and
 * moves. If these bytes are not enough to record a claim, the match first drops the shooter's
 * oldest answers, except the last 16. Then the match shortens histories, and then it drops newer
 * answers. Used shot numbers are dropped last, so that no shot is accepted twice.
 */
struct hs_match *hs_match_create(const struct hs_ruleset *ruleset,
                                 const struct hs_match_limits *limits);
void hs_match_destroy(struct hs_match *match);

/* Sets the map. Call this before the first claim is verified. The map is borrowed and must outlive
   the match. NULL, the default, means that the map is unknown: only players and movers can then
   block a shot. */
void hs_match_set_world(struct hs_match *match, const struct hs_world *world);

/* Returns whether a memory reservation has failed since the last call of this function. */
bool hs_match_was_refused(struct hs_match *match);

/* Returns whether less than 90 % of the match's limit and less than 90 % of the shared budget's
   limit are used. */
bool hs_match_has_space(const struct hs_match *match);

/* Returns the size of an empty match in bytes. */
size_t hs_match_min_bytes(void);

/* ---- frames ---- */

/*
 * Stores one frame. Writes one result for each player to `results`, then one for each mover. A
 * frame that is refused because of its time may still help to confirm a clock reset. Sets the bit
 * `1 << flag` in *flags for each enum hs_frame_flag that applies. Returns false if memory runs out.
 * In this case, the entries before the failure are stored.
 */
bool hs_match_post_frame(struct hs_match *match, const struct hs_frame *frame,
                         enum hs_frame_result *results, unsigned *flags);

/* The jump that caused the flag HS_FRAME_FLAG_UNFLAGGED_JUMP. */
struct hs_frame_jump {
    double distance, limit; /* length; `limit` is the distance that history.max_speed allows in
                               elapsed_us */
    int64_t elapsed_us;     /* since the previous sample */
};

/* Returns whether the player or mover has a sample at exactly `time_us` that was flagged as a jump.
   If so, writes the jump to *out. `at`, the mover's index in the frame, makes the search faster. */
bool hs_match_player_jump(const struct hs_match *match, struct hs_str player, int64_t time_us,
                          struct hs_frame_jump *out);
bool hs_match_mover_jump(const struct hs_match *match, struct hs_str mover, size_t at,
                         int64_t time_us, struct hs_frame_jump *out);

/* Returns a sentence that explains why a frame entry was refused. */
const char *hs_frame_result_text(enum hs_frame_result result);

/* ---- state ---- */

/* Summary of the match. O(1). */
struct hs_match_info {
    int64_t newest_us;  /* time of the newest frame */
    int64_t opening_us; /* time of the first frame ever stored */
    bool has_frames;
    bool needs_resync; /* the match has less than one window of history, so game servers should post
                          older frames again */
    uint32_t players;  /* number of players who have not left */
    uint32_t movers;
    uint32_t accounts;    /* number of accounts that are kept for players who left */
    size_t history_bytes; /* bytes of the match, including the bytes reserved for its players */
};

void hs_match_info(const struct hs_match *match, struct hs_match_info *out);

/* Sums over all evaluated claims, including the claims of players who left. */
struct hs_match_totals {
    uint64_t reasons[HS_REASON_COUNT];
    double damage;
};

void hs_match_totals(const struct hs_match *match, struct hs_match_totals *out);

/* Returns the number of payments since the match was opened or restored. After the owner has saved
   the whole journal (journal.h), every ledger entry whose `payment` is at most this number is
   saved. */
uint32_t hs_match_payments(const struct hs_match *match);

/* A player's connection, as frames and moves describe it. */
struct hs_player_connection {
    bool is_known; /* frames posted a round trip; otherwise only noise_us is valid */
    bool is_quiet; /* there were enough round trips in the last 15 to 30 s, and the connection has
                      no noise */
    int64_t rtt_us, spread_us; /* the smallest of the last round trips, and the largest minus the
                                  smallest */
    int64_t noise_us;          /* estimate of how far a packet's delay can exceed the smallest
                                  delay; 0: no noise, or unknown */
};

/* The state of one player. The strings point into the match. */
struct hs_player_info {
    struct hs_str name;
    struct hs_str account; /* ptr NULL: no account is known */
    uint32_t samples;
    int64_t oldest_us, newest_us; /* valid if samples > 0 */
    int64_t life;
    bool alive;
    struct hs_vec position;
    struct hs_str team;                /* ptr NULL: no team */
    uint64_t reasons[HS_REASON_COUNT]; /* number of this player's claims with each reason */
    uint64_t would_reject;             /* number of claims that were accepted only because a check
                                          is in shadow mode */
    double damage_dealt;
    /* Weighted counts of failed checks: `suspicion` counts all checks, the arrays count each check
       separately. A failure further beyond its limit weighs more. The counts decay with time; the
       members below contain the values at newest_us of the match. */
    double suspicion;
    double suspicion_hits[HS_CHECK_COUNT], suspicion_moves[HS_MOVE_CHECK_COUNT];
    struct hs_player_connection connection; /* at newest_us of the match */
};

/*
 * Returns the number of the session in which the player fired at `fire_time_us`, or 0 if there is
 * no such player. A session begins when a player joins or comes back. Sessions are numbered from 1,
 * in one sequence for all players in the match.
 */
uint64_t hs_match_session(const struct hs_match *match, struct hs_str name, int64_t fire_time_us);

/* Writes the state of a player to *out. Returns false if the player left or never joined. */
bool hs_match_find_player(const struct hs_match *match, struct hs_str name,
                          struct hs_player_info *out);

/* Iterates over the players who have not left. Start with *cursor = 0. Returns false after the last
   player. */
bool hs_match_next_player(const struct hs_match *match, uint32_t *cursor,
                          struct hs_player_info *out);

const struct hs_ruleset *hs_match_ruleset(const struct hs_match *match);

HS_PUBLIC_END

#endif
