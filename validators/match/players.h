/* A match and its players. Internal to validators/. */
#ifndef HS_PLAYERS_H
#define HS_PLAYERS_H

#include "validators/base/budget_inside.h"
#include "validators/base/ledger.h"
#include "validators/history/crowd.h"
#include "validators/match.h"
#include "validators/str.h"
#include "validators/world/movers.h"

/* The max number of team names that a match stores. */
enum { HS_MAX_TEAMS = 1024 };

/* The max number of jumps by the server that are stored per player. A stored jump can excuse a move
   that fails a check. */
enum { HS_JUMPS_OPEN = 4 };

/* Within this time after a posted shot, a hit can always be paired with the shot, even if the
   projectile cannot fly that long. */
#define HS_PAIRING_US INT64_C(1500000)

/* A launch: the server throws a player, for example from a jump pad. */
struct hs_launch {
    int64_t time_us;
    /* `speed` is perpendicular to `up`, and `climb` is along `up` (>= 0); length/s. */
    double speed, climb;
};

/* A player's suspicion for each check, as of time_us. Each value halves every ten minutes of match
   time. */
struct hs_suspicion {
    double hits[HS_CHECK_COUNT];
    double moves[HS_MOVE_CHECK_COUNT];
    int64_t time_us;
};

/* The counters and the suspicion of a player. The counters and the suspicion belong to the player's
   account (match/accounts.h), or to the session of a player without an account. */
struct hs_standing {
    uint64_t reasons[HS_REASON_COUNT]; /* number of hit claims with each reason */
    uint64_t would_reject;
    uint64_t shots_refused;
    double damage_dealt;
    struct hs_suspicion suspicion;
};

/* A connection counts as steady only if at least this many round trips are known. */
enum { HS_ROUND_TRIPS_ENOUGH = 8 };

/* The smallest and the largest of a player's posted round trips. Index 0 is the current window of
   15 s, and index 1 is the window before it. */
struct hs_round_trips {
    int64_t from_us; /* start of the current window */
    int32_t low_us[2], high_us[2];
    /* Number of round trips in each window, at most HS_ROUND_TRIPS_ENOUGH. If counts[0] is 0, both
       windows are unknown. */
    uint32_t counts[2];
};

/* Each frame and each move reads all members before `account` (HS_PLAYER_NEAR bytes). */
struct hs_player {
    struct hs_name name;
    /* The player left. The struct is kept, so that a late frame does not add the player again. */
    bool left;
    bool has_left_before;
    bool was_moved; /* a teleport or a spawn was posted in this session */
    bool was_launched;
    bool has_spawned;
    uint32_t due;   /* index in hs_players.due + 1; 0: not in the heap */
    uint32_t place; /* index in hs_players.all */
    uint64_t hash;
    struct hs_history *history;    /* owned */
    struct hs_player_moves *moves; /* owned; NULL until the first move arrives */
    /* Frames and claims up to this time belong to an ended session; valid if has_left_before. */
    int64_t left_us;
    /* Moves up to this time belong to an ended session; at least left_us; valid if has_left_before.
     */
    int64_t ended_us;
    /* Time of the last spawn; valid if has_spawned. A later teleport clears has_spawned. */
    int64_t spawned_us;
    struct hs_round_trips round_trips;
    struct hs_name account;  /* empty: no account */
    struct hs_ledger ledger; /* the player's shots and claims */
    /* Times of the newest jumps by the server, in ascending order; valid if was_moved. A time may
       be stored twice. */
    int64_t moved_us[HS_JUMPS_OPEN];
    struct hs_vec moved_to[HS_JUMPS_OPEN]; /* positions after the jumps in moved_us */
    struct hs_launch launch;               /* the last launch; valid if was_launched */
    struct hs_vec spawn_place;             /* position of the last spawn; valid if has_spawned */
    /* Numbers of the current session and of the session before it; 0: no such session. */
    uint64_t session, former_session;
    struct hs_standing standing;
};

enum { HS_PLAYER_NEAR = offsetof(struct hs_player, account) };

/* An entry of the heap hs_players.due. The player's oldest sample can be dropped when the window
   starts at or after time_us. */
struct hs_due {
    int64_t time_us;
    struct hs_player *player;
};

struct hs_account;

/* Parked accounts, in the order in which the players left. */
struct hs_accounts {
    struct hs_account *all; /* owned */
    uint32_t count, capacity;
};

struct hs_players {
    struct hs_player **all; /* in the order in which they joined */
    /* Bounds of the histories, four players per element, in the order of `all`. */
    struct hs_crowd *crowd;
    uint32_t count, capacity, limit;
    uint32_t present; /* number of players who have not left */
    /* Index in `all` of the player after the last player that hs_players_find_next found. */
    uint32_t next;
    /* The number of account changes: how often a player took a parked account, plus how often a
       player's account was set. If this number changes while the match is saved in parts, the save
       starts again. The journal's records of account changes contain this number. */
    uint64_t account_changes;
    /* The shooter of the last claim or shot, or NULL. hs_players_find tries this player first. */
    struct hs_player *shooter;
    /* Number of sessions that have begun so far; also the number of the newest session. */
    uint64_t sessions;
    /* A player who left before this time can be evicted, because claims about earlier times are too
       old to be accepted. */
    int64_t evict_before_us;
    struct hs_accounts accounts;
    const struct hs_ruleset *ruleset; /* borrowed */
    /* Journal records are appended to this buffer (journal.h); borrowed; NULL: no journal. */
    struct hs_bytes *journal;
    /* Hash table with open addressing. An entry is an index in `all` + 1, or 0 if it is free. */
    uint32_t *index;
    uint32_t index_size; /* a power of two, four times `capacity` */
    struct hs_due *due;  /* a heap with the earliest time first, for hs_players_prune */
    uint32_t due_count;
    int64_t swept_us;         /* match time of the last call of hs_players_forget_ended */
    struct hs_budget *budget; /* borrowed */
};

/* An approximate set of shooters. The hash of each shooter's name sets one bit. From time to time,
   `before` gets the value of `now`, and `now` is cleared. So old shooters are forgotten. */
struct hs_shooter_set {
    uint32_t now, before;
};

struct hs_finding {
    /* Each finding is about one mistake (hints.h). `of` is the number of claims that could show the
       mistake, and `claims` is the number of claims that showed the mistake. When `of` reaches its
       maximum, both numbers are halved. */
    uint16_t claims, of;
    struct hs_shooter_set voices; /* the shooters of the claims that showed the mistake */
    double measured, expected;    /* running means over the claims that showed the mistake */
};

/* The explanation that fits most claims. A claim that fits `choice` adds a vote, and any other
   claim removes a vote. At 0 votes, the explanation of the next claim becomes `choice` (Boyer and
   Moore, MJRTY: a fast majority vote algorithm, 1981). */
struct hs_majority {
    uint8_t choice, votes;
};

/* Statistics about the claims, from which hints are derived (hints.h). */
struct hs_hints {
    /* Number of all claims, and number of the claims that the hint rules examined. */
    uint32_t heard, sampled;
    struct hs_shooter_set shooters;
    /* Where `start` is in most claims, relative to the shooter's root; in eye heights. */
    struct hs_vec offset;
    uint8_t offset_votes;
    double share_below; /* share of the traces that pass below the target's root */
    struct hs_majority factor, turn, late, high;
    struct hs_finding findings[HS_HINT_COUNT];
};

struct hs_match {
    const struct hs_ruleset *ruleset;
    const struct hs_world *world; /* borrowed; NULL: no map is set */
    struct hs_match_limits limits;
    struct hs_players players;
    struct hs_movers movers;
    struct hs_name *teams; /* team names; an empty name is a free slot */
    uint16_t team_count, team_capacity;
    bool has_swept_teams;
    int64_t teams_swept_us; /* time of the last search for unused names; valid if has_swept_teams */
    struct hs_budget budget; /* memory of the whole match, including this struct */
    bool has_frames, has_opening;
    int64_t newest_us, opening_us;
    struct hs_match_totals totals;
    uint32_t payments; /* number of payments since the match was opened or restored */
    /* Time of the oldest frame since the match was created or restored, or its clock was reset. */
    int64_t window_start_us;
    uint32_t clock; /* number of clock resets */
    /* Claims about times before newest_us - claim_window_us are never accepted. */
    int64_t claim_window_us;
    /* has_lost_shots: the match was restored (snapshot.h), and accepted shots that were fired in
       [lost_from_us, lost_until_us] may be lost. lost_until_us is INT64_MAX until a frame arrives.
     */
    bool has_lost_shots;
    int64_t lost_from_us, lost_until_us;
    /* hs_match_lost_payments sets this member. This member stays set until claims about times up to
       lost_until_us are too old to be accepted. */
    bool has_lost_payments;
    /* Number of consecutive refused frames whose times agree on another clock, and the time of the
       last of these frames. */
    uint32_t jump_count;
    int64_t jump_us;
    struct hs_hints hints;
    /* The result of hs_saved_format(). It is stored, because computing it takes longer than saving
       an excerpt. */
    uint64_t saved_format;
};

void hs_players_destroy(struct hs_players *players);

/* Returns the player with this name, present or left, or NULL. */
struct hs_player *hs_players_find(const struct hs_players *players, struct hs_str name);

/* What the caller does with the found players: it stores a frame, or it checks a move. */
enum hs_players_use { HS_PLAYERS_FOR_FRAME, HS_PLAYERS_FOR_MOVE };

/* Like hs_players_find, but faster if the caller asks for the players in nearly the same order each
   time. The function first compares the name with the player after the last found player, without
   computing a hash. If the name matches, the function also prefetches the part of the next players'
   data that `use` needs. */
struct hs_player *hs_players_find_next(struct hs_players *players, struct hs_str name,
                                       enum hs_players_use use);

enum hs_players_add { HS_PLAYERS_ADDED, HS_PLAYERS_FULL, HS_PLAYERS_NO_MEMORY };

/* Adds a new player and reserves their memory. If the limit of players is reached, evicts the least
   suspicious player who left before `evict_before_us`. After this call, call
   hs_players_begin_session. If the player must not stay in the match, call hs_players_drop_last
   instead. Returns FULL if no player can be evicted, or if the budget has no spare memory. */
enum hs_players_add hs_players_add(struct hs_players *players, struct hs_str name,
                                   uint32_t max_samples, struct hs_player **out);

/* Removes the player who was added last. */
void hs_players_drop_last(struct hs_players *players);

/* Returns the number of bytes that a new player needs, not counting the growth of the arrays. */
size_t hs_players_min_bytes(uint32_t max_samples);

/* Counts the bytes of a match. O(players). */
size_t hs_match_count_bytes(const struct hs_match *match);

/* Frees memory until the budget has `bytes` free or nothing more can be freed. First shrinks the
   histories without samples. Then repeatedly halves the capacity of the longest history, but not
   below HS_HISTORY_FIRST samples. */
void hs_players_free_space(struct hs_players *players, size_t bytes);

/* Starts the first session of an added player, and writes a journal record. */
void hs_players_begin_session(struct hs_players *players, struct hs_player *player);

/* Ends the session of a present player, and writes a journal record. Frames and claims up to
   `left_us`, and moves up to `ended_us`, belong to the ended session. */
void hs_players_leave(struct hs_players *players, struct hs_player *player, int64_t left_us,
                      int64_t ended_us);

/* Starts the next session of a player who left, and writes a journal record. If the player has
   no account, all counters start at 0. */
void hs_players_rejoin(struct hs_players *players, struct hs_player *player);

/* Drops the stored answers of players who left before `before_us`. After a player leaves, the
   answers are needed only for late retries. O(players). */
void hs_players_forget_ended(struct hs_players *players, int64_t before_us);

/* Returns whether the player has left and rejoined since a shot at `fire_time_us`. The shot then
   belongs to an earlier session. */
static inline bool hs_player_is_back_since(const struct hs_player *player, int64_t fire_time_us)
{
    return player->has_left_before && !player->left && fire_time_us <= player->left_us;
}

/* Resets the clock of a match, and forgets all state that depends on times. `time_us` is the time
   of the frame that sets the new clock. */
void hs_match_restart(struct hs_match *match, int64_t time_us);

/* Reverses the order of `all`. */
void hs_players_reverse(struct hs_players *players);

/* Updates the player's bounds in `crowd` and the player's entry in `due`, which are derived from
   the history. Call this function after every change to a history, except changes by
   hs_players_prune. */
void hs_players_update(struct hs_players *players, struct hs_player *player);

/* Drops the samples that are older than `before_us` from all histories. O(log n) per dropped
   sample. */
void hs_players_prune(struct hs_players *players, int64_t before_us);

/* Finds or adds a team's name, and sets *out to its index. Returns false if the list is full or
   out of memory. */
bool hs_match_intern_team(struct hs_match *match, struct hs_str name, uint16_t *out);

#define HS_SUSPICION_HALF_LIFE_US INT64_C(600000000)

/* Returns the suspicion at `time_us`, summed over all checks. A time before suspicion->time_us
   counts as suspicion->time_us. */
double hs_suspicion_sum(const struct hs_suspicion *suspicion, int64_t time_us);

/* Decays all values to `time_us`. A time before suspicion->time_us has no effect. */
void hs_suspicion_decay(struct hs_suspicion *suspicion, int64_t time_us);

/*
 * Returns how much a failure adds to the suspicion, from 0 to 1. This is the difference between the
 * measured value and the limit, divided by the limit, but at most 1. Failures without a measured
 * value add 1. If the limit is 0, the divisor is hit.origin_tolerance for lengths, and 1 for other
 * units.
 */
double hs_suspicion_weight(const struct hs_ruleset *ruleset, enum hs_unit unit, double measured,
                           double limit);

#endif
