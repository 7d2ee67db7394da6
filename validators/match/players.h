/* A match and its players. Internal to validators/. */
#ifndef HS_PLAYERS_H
#define HS_PLAYERS_H

#include "validators/base/budget_inside.h"
#include "validators/base/ledger.h"
#include "validators/history/crowd.h"
#include "validators/match.h"
#include "validators/str.h"
#include "validators/world/movers.h"

/* The max number of jumps of a player that the server announced and that no move has shown yet. */
enum { HS_JUMPS_OPEN = 4 };

/* A posted shot can be paired with its hits for this long at least, however short its flight. */
#define HS_PAIRING_US INT64_C(1500000)

/* What a sample inherits: the state and the connection. */
struct hs_inherited {
    struct hs_state state;
    int32_t rtt_us, interp_us; /* -1: unknown */
};

/* A launch of a player by the server: their velocity after it. */
struct hs_launch {
    int64_t time_us;
    double speed, climb; /* across `up`, and upwards (>= 0); length/s */
};

/* How suspicious a player is, by the check that failed. All values halve every ten minutes of match
   time; these are the values at time_us. */
struct hs_suspicion {
    double hits[HS_CHECK_COUNT]; /* claims of hits */
    double moves[HS_MOVE_CHECK_COUNT];
    int64_t time_us;
};

/* The counters and the suspicion of a player. They stay with the account (match/accounts.h);
   without an account they end with the session. */
struct hs_standing {
    uint64_t reasons[HS_REASON_COUNT]; /* of claims of hits */
    uint64_t would_reject;
    uint64_t shots_refused;
    double damage_dealt;
    struct hs_suspicion suspicion;
};

enum { HS_ROUND_TRIPS_ENOUGH = 8 }; /* the count from which a connection can be quiet */

/* The extremes of a player's posted round trips: of this quarter of a minute, and of the one
 * before.
 */
struct hs_round_trips {
    int64_t from_us; /* start of this quarter */
    int32_t low_us[2], high_us[2];
    uint32_t known; /* quarters with a round trip: 0 .. 2 */
    uint32_t count; /* round trips of these quarters; stops at HS_ROUND_TRIPS_ENOUGH */
};

struct hs_player {
    struct hs_name name;
    struct hs_name account; /* empty: none is known */
    uint64_t hash;
    struct hs_history *history;    /* owned */
    uint32_t due;                  /* index in hs_players.due + 1; 0: none */
    uint32_t place;                /* index in hs_players.all */
    struct hs_ledger ledger;       /* of the player's shots and claims */
    struct hs_player_moves *moves; /* owned; NULL until the first move arrives */
    struct hs_round_trips round_trips;
    bool was_moved; /* the server moved the player: a teleport or a spawn */
    /* The newest times at which the server moved the player, ascending, perhaps repeated; with
       was_moved. */
    int64_t moved_us[HS_JUMPS_OPEN];
    struct hs_vec moved_to[HS_JUMPS_OPEN]; /* where the server put them then */
    bool was_launched;
    struct hs_launch launch; /* the last launch; set with was_launched */
    /* The last spawn, until a teleport moves the player elsewhere. With has_spawned. */
    bool has_spawned;
    int64_t spawned_us;
    struct hs_vec spawn_place;
    bool left;        /* the name is kept, so that late frames do not add the player again */
    int64_t left_us;  /* samples and claims up to here belong to a session that ended */
    int64_t ended_us; /* moves up to here too; not before left_us. Both with has_left_before */
    bool has_left_before;
    /* Number of this session and of the one before it (0: none) in hs_players.sessions. */
    uint64_t session, former_session;
    bool has_carried; /* after a clock reset or a restore: the first sample inherits `carried` */
    struct hs_inherited carried;
    struct hs_standing standing;
};

/* A player whose oldest sample can go when the window begins at or after this time. */
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
    uint32_t present;  /* players who have not left */
    uint32_t next;     /* place in `all` after the player that hs_players_find_next found last */
    uint64_t sessions; /* sessions of all players so far; no number is used twice */
    /* A player who left before this time can be evicted: none of their claims can pass any more. */
    int64_t evict_before_us;
    struct hs_accounts accounts;
    const struct hs_ruleset *ruleset; /* borrowed */
    struct hs_bytes *journal; /* borrowed; gets the records of journal.h; NULL: no journal */
    uint32_t *index;          /* open addressing by hash: position in `all` + 1; 0: free */
    uint32_t index_size;      /* a power of two above 2 * capacity */
    struct hs_due *due;       /* a heap with the earliest first, for hs_players_prune */
    uint32_t due_count;
    int64_t swept_us;         /* last call of hs_players_forget_ended */
    struct hs_budget *budget; /* their bytes are reserved here */
};

/* A set of shooters, one bit per hash of a name. Two generations, so that old ones are forgotten.
 */
struct hs_shooter_set {
    uint32_t now, before;
};

struct hs_finding {
    /* Claims that show the mistake, and claims that could; both are halved if `of` is full. */
    uint16_t claims, of;
    struct hs_shooter_set voices; /* shooters whose claims show it */
    double measured, expected;    /* means over the last few claims that show it */
};

/* The explanation that most claims share. It is replaced when as many claims contradict it as
   agreed with it (Boyer and Moore, MJRTY: a fast majority vote algorithm, 1981). */
struct hs_majority {
    uint8_t choice, votes;
};

/* What a match remembers about its claims for hints (hints.h). */
struct hs_hints {
    uint32_t heard, sampled; /* all claims, and those that the rules examined */
    struct hs_shooter_set shooters;
    struct hs_vec offset; /* majority: from the root to `start`, in eye heights */
    uint8_t offset_votes;
    double share_below; /* share of traces that pass the target below its root */
    struct hs_majority factor, turn;
    struct hs_finding findings[HS_HINT_COUNT];
};

struct hs_match {
    const struct hs_ruleset *ruleset;
    const struct hs_world *world; /* borrowed; NULL: the map is unknown */
    struct hs_match_limits limits;
    struct hs_players players;
    struct hs_movers movers;
    struct hs_name *teams; /* interned; an empty name is a free place */
    uint16_t team_count, team_capacity;
    bool has_swept_teams;
    int64_t teams_swept_us;  /* last search for teams without players; with has_swept_teams */
    struct hs_budget budget; /* of the whole match, including this struct */
    bool has_frames, has_opening;
    int64_t newest_us, opening_us;
    struct hs_match_totals totals;
    uint32_t payments;       /* booked since the match was opened or restored */
    int64_t window_start_us; /* first frame since the history (re)started */
    uint32_t clock;          /* number of clock resets */
    int64_t claim_window_us; /* a claim about a time longer ago than this cannot pass */
    /* After a restore (snapshot.h): shots fired in [lost_from_us, lost_until_us] may have been
       lost. The end is known once a frame arrives. */
    bool has_lost_shots;
    int64_t lost_from_us, lost_until_us;
    /* Refused frames that agree on another clock, and the time of the last one. */
    uint32_t jump_count;
    int64_t jump_us;
    struct hs_hints hints;
};

/* What a new sample inherits from the one before it in time: the sample with this index, or with -1
   what a first sample inherits. False: nothing is known about the player. */
bool hs_player_inherited(const struct hs_player *player, int64_t before, struct hs_inherited *out);

void hs_players_destroy(struct hs_players *players);

/* The player of that name, present or left; NULL: none. */
struct hs_player *hs_players_find(const struct hs_players *players, struct hs_str name);

/* The same for lists that name the players in nearly the same order each time. It first tries the
   player after the one that it found last, which needs no hash. */
struct hs_player *hs_players_find_next(struct hs_players *players, struct hs_str name);

enum hs_players_add { HS_PLAYERS_ADDED, HS_PLAYERS_FULL, HS_PLAYERS_NO_MEMORY };

/*
 * Adds a new player, with all memory that is reserved for them. Call hs_players_begin_session once
 * you keep them. When all places are taken, it evicts the least suspicious player who left before
 * `evict_before_us`. FULL also when there is no spare memory.
 */
enum hs_players_add hs_players_add(struct hs_players *players, struct hs_str name,
                                   uint32_t max_samples, struct hs_player **out);

/* Removes the player who was added last. */
void hs_players_drop_last(struct hs_players *players);

/* The bytes reserved for a new player, without growth of the arrays. */
size_t hs_players_min_bytes(uint32_t max_samples);

/* Counts the bytes of a match from its parts. O(players). */
size_t hs_match_count_bytes(const struct hs_match *match);

/*
 * Shortens histories until the budget has `bytes` free, or until nothing can be shortened. Empty
 * histories come first. Then the longest history is halved, down to HS_HISTORY_FIRST samples.
 */
void hs_players_free_space(struct hs_players *players, size_t bytes);

/* Numbers the session of a player who was just added, and journals it. */
void hs_players_begin_session(struct hs_players *players, struct hs_player *player);

/* Ends the session of a player who is present, and journals it. Frames and claims up to `left_us`,
   and moves up to `ended_us`, belong to that session. */
void hs_players_leave(struct hs_players *players, struct hs_player *player, int64_t left_us,
                      int64_t ended_us);

/* Begins the next session of a player who left, and journals it. Without an account all counters
   start at 0. */
void hs_players_rejoin(struct hs_players *players, struct hs_player *player);

/* Drops the answers kept for late requests of sessions that ended before a time. O(players). */
void hs_players_forget_ended(struct hs_players *players, int64_t before_us);

/* Whether a shot fired at that time belongs to an earlier session than the current one. */
static inline bool hs_player_is_back_since(const struct hs_player *player, int64_t fire_time_us)
{
    return player->has_left_before && !player->left && fire_time_us <= player->left_us;
}

/* Resets the clock of a match: it forgets all state that is compared with times. `time_us` is the
   time of the next stored frame, which sets the clock. */
void hs_match_restart(struct hs_match *match, int64_t time_us);

/* Reverses the order of arrival. */
void hs_players_reverse(struct hs_players *players);

/* Updates what the match derives from a player's history. Call it after every change to a history,
   except those of hs_players_prune. */
void hs_players_update(struct hs_players *players, struct hs_player *player);

/* Prunes all histories; O(log n) per dropped sample. */
void hs_players_prune(struct hs_players *players, int64_t before_us);

/* Finds the index of a team's name, or adds the name. False: no place or no memory. */
bool hs_match_intern_team(struct hs_match *match, struct hs_str name, uint16_t *out);

/* Returns the suspicion at `time_us`, summed over all checks. If `time_us` is before the last
   change, returns the sum right after that change. */
#define HS_SUSPICION_HALF_LIFE_US INT64_C(600000000)
double hs_suspicion_sum(const struct hs_suspicion *suspicion, int64_t time_us);

/* Brings all values to a later time. */
void hs_suspicion_decay(struct hs_suspicion *suspicion, int64_t time_us);

/*
 * The weight of a failure, from 0 to 1. It is 1 if the excess over the limit is as large as the
 * limit itself or larger, and for failures that measure nothing. A limit of 0 counts as 1, or for
 * lengths as hit.origin_tolerance.
 */
double hs_suspicion_weight(const struct hs_ruleset *ruleset, enum hs_unit unit, double measured,
                           double limit);

#endif
