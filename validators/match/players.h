/* A match and its players. Internal to validators/. */
#ifndef HS_PLAYERS_H
#define HS_PLAYERS_H

#include "validators/base/budget_inside.h"
#include "validators/base/ledger.h"
#include "validators/history/crowd.h"
#include "validators/match.h"
#include "validators/str.h"
#include "validators/world/movers.h"

/* The maximum number of announced jumps of a player that no move has shown yet. */
enum { HS_JUMPS_OPEN = 4 };

/* A hit can be paired with a posted shot for at least this time after the shot, even if the flight
   is shorter. */
#define HS_PAIRING_US INT64_C(1500000)

/* The values that a sample inherits: the state and the connection. */
struct hs_inherited {
    struct hs_state state;
    int32_t rtt_us, interp_us; /* -1: unknown */
};

/* The velocity of a player after the server launched them. */
struct hs_launch {
    int64_t time_us;
    double speed, climb; /* across `up`, and upwards (>= 0); length/s */
};

/* The suspicion of a player, for each check that failed. All values halve every ten minutes of
   match time. The stored values are the values at time_us. */
struct hs_suspicion {
    double hits[HS_CHECK_COUNT]; /* sums of failures of hit claims */
    double moves[HS_MOVE_CHECK_COUNT];
    int64_t time_us;
};

/* The counters and the suspicion of a player. They stay with the account (match/accounts.h);
   without an account they end with the session. */
struct hs_standing {
    uint64_t reasons[HS_REASON_COUNT]; /* counts of verdicts on hit claims */
    uint64_t would_reject;
    uint64_t shots_refused;
    double damage_dealt;
    struct hs_suspicion suspicion;
};

enum {
    HS_ROUND_TRIPS_ENOUGH = 8
}; /* with fewer round trips than this, no connection counts as
      quiet */

/* The extremes of a player's posted round trips, in two quarters of a minute: [0] is the current
   quarter, [1] the quarter before. */
struct hs_round_trips {
    int64_t from_us; /* start of the current quarter */
    int32_t low_us[2], high_us[2];
    uint32_t known; /* number of quarters that have a round trip: 0 .. 2 */
    uint32_t count; /* number of round trips in these quarters; the count stops at
                       HS_ROUND_TRIPS_ENOUGH */
};

/* Every frame and every move reads the members up to `account`: HS_PLAYER_NEAR bytes. */
struct hs_player {
    struct hs_name name;
    bool left; /* the player left; the name is kept, so that late frames do not add the player
                  again */
    bool has_left_before;
    bool was_moved; /* the server moved the player: a teleport or a spawn */
    bool was_launched;
    bool has_spawned;
    bool has_carried; /* after a clock reset or a restore: the first sample inherits `carried` */
    uint32_t due;     /* index in hs_players.due + 1; 0: not in that heap */
    uint32_t place;   /* index in hs_players.all */
    uint64_t hash;
    struct hs_history *history;    /* owned */
    struct hs_player_moves *moves; /* owned; NULL until the first move arrives */
    int64_t left_us;    /* samples and claims up to this time belong to a session that ended */
    int64_t ended_us;   /* moves up to this time belong to the ended session; at least left_us.
                           left_us and ended_us are valid if has_left_before */
    int64_t spawned_us; /* time of the last spawn, if no teleport followed; valid if has_spawned */
    struct hs_round_trips round_trips;
    struct hs_name account;  /* empty: no account is known */
    struct hs_ledger ledger; /* the player's shots and claims */
    /* The newest times at which the server moved the player, ascending; two can be equal. Valid if
       was_moved. */
    int64_t moved_us[HS_JUMPS_OPEN];
    struct hs_vec moved_to[HS_JUMPS_OPEN]; /* where the server put the player at these times */
    struct hs_launch launch;               /* the last launch; valid if was_launched */
    struct hs_vec spawn_place;             /* position of the last spawn; valid if has_spawned */
    /* The number of this session, and of the session before it (0: no earlier session).
       hs_players.sessions counts them. */
    uint64_t session, former_session;
    struct hs_inherited carried; /* valid if has_carried */
    struct hs_standing standing;
};

enum { HS_PLAYER_NEAR = offsetof(struct hs_player, account) };

/* A player and a time. The player's oldest sample can be dropped once the window of history begins
   at or after that time. */
struct hs_due {
    int64_t time_us;
    struct hs_player *player;
};

struct hs_account;

/* The accounts of players who left, in order of leaving. */
struct hs_accounts {
    struct hs_account *all; /* owned */
    uint32_t count, capacity;
};

struct hs_players {
    struct hs_player **all; /* in order of arrival */
    struct hs_crowd *crowd; /* bounds of the histories in `all`, four players each */
    uint32_t count, capacity, limit;
    uint32_t present; /* players who have not left */
    uint32_t next;    /* place in `all` after the player that hs_players_find_next found last */
    struct hs_player *shooter; /* the shooter of the last claim or shot; hs_players_find tries this
                                  player first; NULL: no player */
    uint64_t sessions;         /* sessions of all players so far; no number is used twice */
    /* A player who left before this time can be evicted: their claims can no longer pass. */
    int64_t evict_before_us;
    struct hs_accounts accounts;
    const struct hs_ruleset *ruleset; /* borrowed */
    struct hs_bytes *journal; /* borrowed; receives the records of journal.h; NULL: no journal */
    uint32_t *index;          /* open addressing by hash: position in `all` + 1; 0: free */
    uint32_t index_size;      /* a power of two above 2 * capacity */
    struct hs_due *due;       /* a heap with the earliest time first, for hs_players_prune */
    uint32_t due_count;
    int64_t swept_us;         /* last call of hs_players_forget_ended */
    struct hs_budget *budget; /* bytes of the players are reserved here */
};

/* A set of shooters, one bit per hash of a name. There are two sets, so that old shooters are
   forgotten: from time to time `now` becomes `before`, and a new `now` starts empty. */
struct hs_shooter_set {
    uint32_t now, before;
};

struct hs_finding {
    /* `claims`: number of claims that show the mistake. `of`: number of claims that could show it.
       When `of` reaches its maximum, both counts are halved. */
    uint16_t claims, of;
    struct hs_shooter_set voices; /* shooters whose claims show the mistake */
    double measured, expected;    /* means over the last few claims that show the mistake */
};

/* The explanation that fits most claims. When as many claims contradict this explanation as agree
   with it, a new explanation replaces it (Boyer and Moore, MJRTY: a fast majority vote algorithm,
   1981). */
struct hs_majority {
    uint8_t choice, votes;
};

/* The values that a match learns from its claims for hints (hints.h). */
struct hs_hints {
    uint32_t heard, sampled; /* number of all claims, and number of claims that the rules
                                examined */
    struct hs_shooter_set shooters;
    struct hs_vec offset; /* vector from root to `start` in most claims, in eye heights */
    uint8_t offset_votes;
    double share_below; /* share of traces that pass below the target's root */
    struct hs_majority factor, turn, late, high;
    struct hs_finding findings[HS_HINT_COUNT];
};

struct hs_match {
    const struct hs_ruleset *ruleset;
    const struct hs_world *world; /* borrowed; NULL: the map is unknown */
    struct hs_match_limits limits;
    struct hs_players players;
    struct hs_movers movers;
    struct hs_name *teams; /* the names of teams; an empty name is a free place */
    uint16_t team_count, team_capacity;
    bool has_swept_teams;
    int64_t teams_swept_us;  /* last search for teams without players; valid if has_swept_teams */
    struct hs_budget budget; /* memory of the whole match, including this struct */
    bool has_frames, has_opening;
    int64_t newest_us, opening_us;
    struct hs_match_totals totals;
    uint32_t payments;       /* number of payments since the match was opened or restored */
    int64_t window_start_us; /* time of the first frame since the history started or restarted */
    uint32_t clock;          /* number of clock resets */
    int64_t claim_window_us; /* a claim about a time longer ago than this is always refused */
    /* After a restore (snapshot.h): shots fired in [lost_from_us, lost_until_us] may have been
       lost. The end is INT64_MAX until a frame arrives. */
    bool has_lost_shots;
    int64_t lost_from_us, lost_until_us;
    bool has_lost_payments; /* hs_match_lost_payments was called, and claims about times up to
                               lost_until_us can still pass */
    /* The number of refused frames that agree on another clock, and the time of the last such
       frame. */
    uint32_t jump_count;
    int64_t jump_us;
    struct hs_hints hints;
    uint64_t saved_format; /* result of hs_saved_format(), kept because computing it takes longer
                              than saving an excerpt */
};

/* Reads the values that a new sample inherits. `before` is the index of the previous sample, or -1
   if the new sample is the first. Returns false if nothing is known about the player. */
bool hs_player_inherited(const struct hs_player *player, int64_t before, struct hs_inherited *out);

void hs_players_destroy(struct hs_players *players);

/* Returns the player of that name, present or left, or NULL if not found. */
struct hs_player *hs_players_find(const struct hs_players *players, struct hs_str name);

/* The purpose for which a player is looked up. */
enum hs_players_use { HS_PLAYERS_FOR_FRAME, HS_PLAYERS_FOR_MOVE };

/* Like hs_players_find, for lists that name the players in nearly the same order each time. The
   function first tries the player after the one that it found last: this needs no hash. If that
   player has the name, the function also tells the processor to load memory of the next players:
   the parts that are read for `use`. */
struct hs_player *hs_players_find_next(struct hs_players *players, struct hs_str name,
                                       enum hs_players_use use);

enum hs_players_add { HS_PLAYERS_ADDED, HS_PLAYERS_FULL, HS_PLAYERS_NO_MEMORY };

/*
 * Adds a new player, with all memory that is reserved for them. Call hs_players_begin_session when
 * it is certain that the player stays. If all places are taken, hs_players_add evicts the least
 * suspicious player who left before `evict_before_us`. Returns FULL also if there is no spare
 * memory.
 */
enum hs_players_add hs_players_add(struct hs_players *players, struct hs_str name,
                                   uint32_t max_samples, struct hs_player **out);

/* Removes the player who was added last. */
void hs_players_drop_last(struct hs_players *players);

/* Returns the bytes reserved for a new player, without the growth of the arrays. */
size_t hs_players_min_bytes(uint32_t max_samples);

/* Computes the bytes of a match from its parts. O(players). */
size_t hs_match_count_bytes(const struct hs_match *match);

/*
 * Shortens histories until the budget has `bytes` free, or no history can be shortened. Histories
 * without samples come first. Then the longest history is halved repeatedly, down to
 * HS_HISTORY_FIRST samples.
 */
void hs_players_free_space(struct hs_players *players, size_t bytes);

/* Gives a number to the session of a player who was just added. Writes a record to the journal. */
void hs_players_begin_session(struct hs_players *players, struct hs_player *player);

/* Ends the session of a present player, and writes a record to the journal. Frames and claims up to
   `left_us`, and moves up to `ended_us`, belong to that session. */
void hs_players_leave(struct hs_players *players, struct hs_player *player, int64_t left_us,
                      int64_t ended_us);

/* Begins the next session of a player who left, and writes a record to the journal. If the player
   has no account, all counters start at 0. */
void hs_players_rejoin(struct hs_players *players, struct hs_player *player);

/* Drops the answers of sessions that ended before a time. Such answers were kept for late retries.
   O(players). */
void hs_players_forget_ended(struct hs_players *players, int64_t before_us);

/* Returns whether a shot fired at that time belongs to a session before the present session. */
static inline bool hs_player_is_back_since(const struct hs_player *player, int64_t fire_time_us)
{
    return player->has_left_before && !player->left && fire_time_us <= player->left_us;
}

/* Resets the clock of a match: clears all state that is compared with times. `time_us` is the time
   of the next stored frame, which sets the clock. */
void hs_match_restart(struct hs_match *match, int64_t time_us);

/* Reverses the order of arrival of the players. */
void hs_players_reverse(struct hs_players *players);

/* Updates the values that are derived from a player's history. Call it after every change to a
   history, except changes by hs_players_prune. */
void hs_players_update(struct hs_players *players, struct hs_player *player);

/* Prunes all histories. O(log n) per dropped sample. */
void hs_players_prune(struct hs_players *players, int64_t before_us);

/* Finds the index of a team's name, or adds the name. Returns false if there is no place or no
   memory. */
bool hs_match_intern_team(struct hs_match *match, struct hs_str name, uint16_t *out);

/* Returns the suspicion at `time_us`, summed over all checks. If `time_us` is before the last
   change, returns the sum right after that change. */
#define HS_SUSPICION_HALF_LIFE_US INT64_C(600000000)
double hs_suspicion_sum(const struct hs_suspicion *suspicion, int64_t time_us);

/* Decays all values to a later time. */
void hs_suspicion_decay(struct hs_suspicion *suspicion, int64_t time_us);

/*
 * Returns the weight of a failure, from 0 to 1: the excess over the limit divided by the limit, but
 * at most 1. Failures without a measured value have the weight 1. A limit of 0 counts as 1; for
 * lengths, it counts as hit.origin_tolerance.
 */
double hs_suspicion_weight(const struct hs_ruleset *ruleset, enum hs_unit unit, double measured,
                           double limit);

#endif
