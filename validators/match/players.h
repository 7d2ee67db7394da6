/* A match and its players. Internal to validators/. */
#ifndef HS_PLAYERS_H
#define HS_PLAYERS_H

#include "validators/base/budget_inside.h"
#include "validators/base/ledger.h"
#include "validators/history/crowd.h"
#include "validators/match.h"
#include "validators/str.h"
#include "validators/world/movers.h"

/* How many names of teams a match stores. */
enum { HS_MAX_TEAMS = 1024 };

/* How many server jumps are stored per player until moves show them. */
enum { HS_JUMPS_OPEN = 4 };

/* A hit can be paired with a posted shot for at least this time after the shot, even if the
   projectile flies for a shorter time. */
#define HS_PAIRING_US INT64_C(1500000)

/* A launch of a player by the server. */
struct hs_launch {
    int64_t time_us;
    double speed, climb; /* perpendicular to `up`, and along it (>= 0); length/s */
};

/* A player's suspicion for each check, as of time_us. It halves every ten minutes of match time. */
struct hs_suspicion {
    double hits[HS_CHECK_COUNT];
    double moves[HS_MOVE_CHECK_COUNT];
    int64_t time_us;
};

/* The counters and the suspicion of a player. They belong to the account (match/accounts.h), or
   to the session if the player has no account. */
struct hs_standing {
    uint64_t reasons[HS_REASON_COUNT]; /* number of hit claims with each reason */
    uint64_t would_reject;
    uint64_t shots_refused;
    double damage_dealt;
    struct hs_suspicion suspicion;
};

/* A connection with fewer round trips is not known to be steady. */
enum { HS_ROUND_TRIPS_ENOUGH = 8 };

/* The extremes of a player's posted round trips in the current 15 s window [0] and the window
   before it [1]. */
struct hs_round_trips {
    int64_t from_us; /* start of the current window */
    int32_t low_us[2], high_us[2];
    uint32_t known; /* number of windows with a round trip: 0 .. 2 */
    uint32_t count; /* number of round trips in these windows, up to HS_ROUND_TRIPS_ENOUGH */
};

/* Every frame and every move reads the members before `account` (HS_PLAYER_NEAR bytes). */
struct hs_player {
    struct hs_name name;
    bool left; /* the player left; the entry is kept so that late frames do not add them again */
    bool has_left_before;
    bool was_moved; /* a teleport or a spawn was posted */
    bool was_launched;
    bool has_spawned;
    uint32_t due;   /* index in hs_players.due + 1; 0: not in the heap */
    uint32_t place; /* index in hs_players.all */
    uint64_t hash;
    struct hs_history *history;    /* owned */
    struct hs_player_moves *moves; /* owned; NULL until the first move arrives */
    int64_t left_us; /* samples and claims up to this time belong to an ended session */
    /* Moves up to this time belong to an ended session; at least left_us. left_us and ended_us
       are valid if has_left_before. */
    int64_t ended_us;
    /* Time of the last spawn; valid if has_spawned, which a later teleport clears. */
    int64_t spawned_us;
    struct hs_round_trips round_trips;
    struct hs_name account;  /* empty: no account */
    struct hs_ledger ledger; /* the player's shots and claims */
    /* Times of the newest jumps by the server, ascending; the same time may be stored twice.
       Valid if was_moved. */
    int64_t moved_us[HS_JUMPS_OPEN];
    struct hs_vec moved_to[HS_JUMPS_OPEN]; /* positions after these jumps */
    struct hs_launch launch;               /* the last launch; valid if was_launched */
    struct hs_vec spawn_place;             /* position of the last spawn; valid if has_spawned */
    /* Numbers of this session and of the previous one (0: none). */
    uint64_t session, former_session;
    struct hs_standing standing;
};

enum { HS_PLAYER_NEAR = offsetof(struct hs_player, account) };

/* The player's oldest sample can be dropped when the window of history starts at or after
   time_us. */
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
    uint32_t next;    /* index after the player that hs_players_find_next found last */
    /* How often a player took a parked account or a player's account was set. If this number
       changes during a save in parts, the save starts again. The journal records of accounts
       contain this number. */
    uint64_t account_changes;
    /* The shooter of the last claim or shot, or NULL. hs_players_find tries this player first. */
    struct hs_player *shooter;
    /* Number of sessions so far; also the number of the newest session. */
    uint64_t sessions;
    /* A player who left before this time can be evicted, because no claim about their time can
       be accepted any more. */
    int64_t evict_before_us;
    struct hs_accounts accounts;
    const struct hs_ruleset *ruleset; /* borrowed */
    /* Records are appended here (journal.h); borrowed; NULL: no journal. */
    struct hs_bytes *journal;
    uint32_t *index;     /* hash table with open addressing: index in `all` + 1; 0: free */
    uint32_t index_size; /* a power of two, four times `capacity` */
    struct hs_due *due;  /* a heap with the earliest time first, for hs_players_prune */
    uint32_t due_count;
    int64_t swept_us;         /* last call of hs_players_forget_ended */
    struct hs_budget *budget; /* borrowed */
};

/* A set of shooters: the hash of each name sets one bit. From time to time `now` becomes
   `before` and a new `now` starts empty, so old shooters are forgotten. */
struct hs_shooter_set {
    uint32_t now, before;
};

struct hs_finding {
    /* `of` claims could have shown the mistake, and `claims` of them did. When `of` reaches its
       maximum, both are halved. */
    uint16_t claims, of;
    struct hs_shooter_set voices; /* shooters whose claims showed the mistake */
    double measured, expected;    /* means over the last few claims that showed the mistake */
};

/* The explanation that fits most claims. An agreeing claim adds a vote, a contradicting claim
   removes one, and at 0 votes the next explanation takes over (Boyer and Moore, MJRTY: a fast
   majority vote algorithm, 1981). */
struct hs_majority {
    uint8_t choice, votes;
};

/* Statistics about the claims, from which hints are derived (hints.h). */
struct hs_hints {
    uint32_t heard, sampled; /* number of all claims, and of the claims that the rules examined */
    struct hs_shooter_set shooters;
    struct hs_vec offset; /* `start` relative to the root in most claims, in eye heights */
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
    int64_t teams_swept_us;  /* last search for unused names; valid if has_swept_teams */
    struct hs_budget budget; /* memory of the whole match, including this struct */
    bool has_frames, has_opening;
    int64_t newest_us, opening_us;
    struct hs_match_totals totals;
    uint32_t payments;       /* payments since the match was opened or restored */
    int64_t window_start_us; /* time of the oldest frame since the history last started */
    uint32_t clock;          /* number of clock resets */
    /* Claims about times before newest_us - claim_window_us are always refused. */
    int64_t claim_window_us;
    /* After a restore (snapshot.h), accepted shots fired in [lost_from_us, lost_until_us] may be
       unknown. The end is INT64_MAX until a frame arrives. */
    bool has_lost_shots;
    int64_t lost_from_us, lost_until_us;
    /* Set by hs_match_lost_payments, until claims about times up to lost_until_us are too old to
       be accepted. */
    bool has_lost_payments;
    /* Number of refused frames that agree on another clock, and the time in the last of them. */
    uint32_t jump_count;
    int64_t jump_us;
    struct hs_hints hints;
    /* The result of hs_saved_format(), stored because computing it is slower than saving an
       excerpt. */
    uint64_t saved_format;
};

void hs_players_destroy(struct hs_players *players);

/* Returns the player with this name, present or left, or NULL. */
struct hs_player *hs_players_find(const struct hs_players *players, struct hs_str name);

/* What the found players are used for. */
enum hs_players_use { HS_PLAYERS_FOR_FRAME, HS_PLAYERS_FOR_MOVE };

/* Like hs_players_find, but fast for lists that name the players in nearly the same order each
   time. The function first tries the player after the one that it found last, without computing a
   hash. If that player has the name, it also prefetches what `use` needs of the next players. */
struct hs_player *hs_players_find_next(struct hs_players *players, struct hs_str name,
                                       enum hs_players_use use);

enum hs_players_add { HS_PLAYERS_ADDED, HS_PLAYERS_FULL, HS_PLAYERS_NO_MEMORY };

/* Adds a new player and reserves their memory. If all places are taken, evicts the least suspicious
   player who left before `evict_before_us`. After this call, call hs_players_begin_session, or
   hs_players_drop_last if the player must not stay. Returns FULL also if the budget has no spare
   memory. */
enum hs_players_add hs_players_add(struct hs_players *players, struct hs_str name,
                                   uint32_t max_samples, struct hs_player **out);

/* Removes the player who was added last. */
void hs_players_drop_last(struct hs_players *players);

/* Returns the bytes reserved for a new player. The growth of the arrays is not included. */
size_t hs_players_min_bytes(uint32_t max_samples);

/* Counts the bytes of a match. O(players). */
size_t hs_match_count_bytes(const struct hs_match *match);

/* Frees memory until the budget has `bytes` free or nothing more can be freed. First shrinks the
   histories without samples. Then halves the longest history repeatedly, down to
   HS_HISTORY_FIRST samples. */
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

/* Drops the answers of sessions that ended before `before_us`. They were kept for late retries.
   O(players). */
void hs_players_forget_ended(struct hs_players *players, int64_t before_us);

/* Returns whether a shot fired at `fire_time_us` belongs to an earlier session of a player who
   is back. */
static inline bool hs_player_is_back_since(const struct hs_player *player, int64_t fire_time_us)
{
    return player->has_left_before && !player->left && fire_time_us <= player->left_us;
}

/* Resets the clock of a match: forgets everything that depends on times. `time_us` is the time
   of the frame that sets the new clock. */
void hs_match_restart(struct hs_match *match, int64_t time_us);

/* Reverses the order of `all`. */
void hs_players_reverse(struct hs_players *players);

/* Updates what is derived from a player's history. Call it after every change to a history,
   except changes by hs_players_prune. */
void hs_players_update(struct hs_players *players, struct hs_player *player);

/* Drops the samples from before `before_us` from all histories. O(log n) per dropped sample. */
void hs_players_prune(struct hs_players *players, int64_t before_us);

/* Finds or adds a team's name, and sets *out to its index. Returns false if the list is full or
   out of memory. */
bool hs_match_intern_team(struct hs_match *match, struct hs_str name, uint16_t *out);

#define HS_SUSPICION_HALF_LIFE_US INT64_C(600000000)

/* Returns the suspicion at `time_us`, summed over all checks. A time before the last change
   counts as the time of that change. */
double hs_suspicion_sum(const struct hs_suspicion *suspicion, int64_t time_us);

/* Decays all values to `time_us`. An earlier time has no effect. */
void hs_suspicion_decay(struct hs_suspicion *suspicion, int64_t time_us);

/*
 * Returns how much a failure adds to the suspicion, from 0 to 1: the difference between the
 * measured value and the limit, divided by the limit, but at most 1. Failures without a measured
 * value add 1. If the limit is 0, the divisor is 1, or hit.origin_tolerance for lengths.
 */
double hs_suspicion_weight(const struct hs_ruleset *ruleset, enum hs_unit unit, double measured,
                           double limit);

#endif
