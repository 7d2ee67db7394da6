/*
 * A match: the players of one game session, their histories, and the ruleset. This header is the
 * main interface of the library: post frames, verify claims.
 *
 * Not thread-safe: the caller serialises calls on one match. Different matches are independent.
 * Memory is allocated only by calls that create a match, post frames, check moves or record claims,
 * and only within the limits of the match.
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
 * Memory never exceeds the limit of the match, nor the limit of the shared budget. Near a limit,
 * the match refuses new players and movers (HS_FRAME_CAPACITY, HS_MOVE_CAPACITY). A history drops
 * its oldest samples instead of growing.
 *
 * A twentieth of each limit, and a part for each player, is reserved for the records of claims and
 * moves. If these bytes are not enough, histories are shortened first. Then the oldest answers kept
 * for retries are dropped. Used shot numbers are kept longest, so that no shot is paid twice.
 */
struct hs_match *hs_match_create(const struct hs_ruleset *ruleset,
                                 const struct hs_match_limits *limits);
void hs_match_destroy(struct hs_match *match);

/* Sets the map of the match; call it before any claim is verified. The map is borrowed and must
   outlive the match. With NULL, the default, the map is unknown, and nothing static blocks a
   shot. */
void hs_match_set_world(struct hs_match *match, const struct hs_world *world);

/* Returns whether a reservation of memory failed since the last call of this function. */
bool hs_match_was_refused(struct hs_match *match);

/* Returns whether the bytes in use are below nine tenths of the limit, both for the match and for
   the shared budget. */
bool hs_match_has_space(const struct hs_match *match);

/* Returns the bytes of a new, empty match. */
size_t hs_match_min_bytes(void);

/* ---- frames ---- */

/*
 * Stores one frame. `results` has player_count entries, then mover_count entries for the movers. A
 * refused entry is not stored, but may help to confirm a clock reset. Sets bit `1 << flag` in
 * *flags for each enum hs_frame_flag that applies. Returns false if out of memory: the entries
 * before that point are stored.
 */
bool hs_match_post_frame(struct hs_match *match, const struct hs_frame *frame,
                         enum hs_frame_result *results, unsigned *flags);

/* The jump of a sample that was flagged UNFLAGGED_JUMP. */
struct hs_frame_jump {
    double distance, limit; /* length; `limit` is the distance that history.max_speed allows in
                               elapsed_us */
    int64_t elapsed_us;     /* since the previous sample */
};

/* Returns true and writes the jump to *out if the player or mover has a sample at exactly this time
   that was flagged as a jump. Reads only. `at` is a search hint: the mover's index in its frame. */
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
    uint32_t players;  /* number of present players */
    uint32_t movers;
    uint32_t accounts;    /* accounts of players who left */
    size_t history_bytes; /* bytes of the match, including the bytes reserved for its players */
};

void hs_match_info(const struct hs_match *match, struct hs_match_info *out);

/* Sums over all evaluated claims, including claims of players who left. */
struct hs_match_totals {
    uint64_t reasons[HS_REASON_COUNT];
    double damage;
};

void hs_match_totals(const struct hs_match *match, struct hs_match_totals *out);

/* Returns the number of payments since the match was opened or restored. Once the owner has written
   the whole journal (journal.h) to a file, all entries whose `payment` is at most this number are
   saved. */
uint32_t hs_match_payments(const struct hs_match *match);

/* A player's connection, as frames and moves describe it. */
struct hs_player_connection {
    bool is_known; /* frames posted a round trip; otherwise only noise_us is valid */
    bool is_quiet; /* enough round trips were measured in the last 15 to 30 s, and they have no
                      noise */
    int64_t rtt_us, spread_us; /* the smallest of the last round trips, and the largest one minus
                                  the smallest */
    int64_t noise_us;          /* the delay that a packet can have beyond the smallest round trip;
                                  0: unknown */
};

/* State of one player. `name` points into the match. */
struct hs_player_info {
    struct hs_str name;
    struct hs_str account; /* ptr NULL: no account is known */
    uint32_t samples;
    int64_t oldest_us, newest_us; /* valid if samples > 0 */
    int64_t life;
    bool alive;
    struct hs_vec position;
    struct hs_str team;                /* ptr NULL: no team */
    uint64_t reasons[HS_REASON_COUNT]; /* verdicts on claims of this player */
    uint64_t would_reject;             /* number of claims that were accepted only because a check
                                          is in shadow mode */
    double damage_dealt;
    /* Sums of failures, for all checks and for each check. Each failure is weighted by how far it
       is beyond its limit. The sums decay with time; these are their values at newest_us of the
       match. */
    double suspicion;
    double suspicion_hits[HS_CHECK_COUNT], suspicion_moves[HS_MOVE_CHECK_COUNT];
    struct hs_player_connection connection; /* at newest_us of the match */
};

/*
 * Returns the number of the player's session to which a shot fired at that time belongs, or 0 if
 * there is no such player. The sessions of all players of the match are numbered together, from 1.
 * A player starts a new session when they join or come back.
 */
uint64_t hs_match_session(const struct hs_match *match, struct hs_str name, int64_t fire_time_us);

/* Writes the state of a player to *out. Returns false if no such player is present. */
bool hs_match_find_player(const struct hs_match *match, struct hs_str name,
                          struct hs_player_info *out);

/* Iterates over the players present, in order of arrival. Start with *cursor = 0. Returns false
   after the last player. */
bool hs_match_next_player(const struct hs_match *match, uint32_t *cursor,
                          struct hs_player_info *out);

const struct hs_ruleset *hs_match_ruleset(const struct hs_match *match);

HS_PUBLIC_END

#endif
