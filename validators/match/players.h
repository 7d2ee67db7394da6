/* The players of a match by name. Internal to validators/. */
#ifndef HS_PLAYERS_H
#define HS_PLAYERS_H

#include "validators/base/account_inside.h"
#include "validators/base/ledger.h"
#include "validators/history/ring.h"
#include "validators/match.h"
#include "validators/match/hints.h"
#include "validators/str.h"
#include "validators/world/movers.h"

/* Jumps of a player's that the server announced and no move has shown yet, at most. */
enum { HS_JUMPS_OPEN = 4 };

struct hs_player {
    struct hs_name name;
    uint64_t hash;
    struct hs_history *history;    /* owned */
    uint32_t due;                  /* place in hs_players.due + 1, 0 none */
    struct hs_ledger ledger;       /* of his shots and claims */
    struct hs_player_moves *moves; /* owned; NULL until one came */
    bool was_moved;                /* by the server: a teleport, a spawn */
    /* The newest of those, ascending; a time may stand there more than once. With was_moved. */
    int64_t moved_us[HS_JUMPS_OPEN];
    bool left;        /* gone; the name is kept so that late frames stay out */
    int64_t left_us;  /* samples and claims up to here belong to a session that ended */
    int64_t ended_us; /* and so do moves up to here, no earlier; both with has_left_before */
    bool has_left_before;
    /* Number of this session and of the one before it (0: none) in hs_players.sessions. */
    uint64_t session, former_session;
    bool has_carried; /* the clock was set anew: the next first sample inherits what follows */
    struct hs_state carried;
    int32_t carried_rtt_us, carried_interp_us; /* -1: not known */
    uint64_t reasons[HS_REASON_COUNT];
    uint64_t would_reject;
    uint64_t shots_refused;
    double damage_dealt;
    double suspicion; /* at suspicion_us */
    int64_t suspicion_us;
};

/* A player whose oldest sample can go when the window begins at or after this time. */
struct hs_due {
    int64_t time_us;
    struct hs_player *player;
};

struct hs_players {
    struct hs_player **all; /* in order of arrival */
    uint32_t count, capacity, limit;
    uint32_t present;  /* not left */
    uint64_t sessions; /* begun so far, of all players; numbers are never used twice */
    /* A player who left before this time can be evicted: none of their claims can pass any more. */
    int64_t evict_before_us;
    struct hs_bytes *journal; /* borrowed; records of journal.h go there; NULL: nowhere */
    uint32_t *index;          /* open addressing by hash: position in `all` + 1, 0 free */
    uint32_t index_size;      /* a power of two above 2 * capacity */
    struct hs_due *due;       /* a heap, the earliest first: pruning visits no player in vain */
    uint32_t due_count;
    int64_t swept_us;           /* when what sessions that ended left behind was last looked for */
    struct hs_account *account; /* what they take is taken from it */
};

struct hs_match {
    const struct hs_ruleset *ruleset;
    const struct hs_world *world; /* borrowed; NULL: the map is not known */
    struct hs_match_limits limits;
    struct hs_players players;
    struct hs_movers movers;
    struct hs_name *teams; /* interned */
    uint16_t team_count, team_capacity;
    bool has_swept_teams;
    int64_t teams_swept_us;    /* when names of teams that are no more were last looked for */
    struct hs_account account; /* of all there is of the match, itself included */
    bool has_frames, has_opening;
    int64_t newest_us, opening_us;
    struct hs_match_totals totals;
    uint32_t payments;       /* booked since the match was opened or restored */
    int64_t window_start_us; /* first frame since the history (re)started */
    uint32_t clock;          /* number of clock resets */
    int64_t claim_window_us; /* a claim about an earlier time than this before now cannot pass */
    /* After a restore (snapshot.h): shots fired in [lost_from_us, lost_until_us] may have been
       lost. The end is known once a frame arrives. */
    bool has_lost_shots;
    int64_t lost_from_us, lost_until_us;
    /* Frames refused because the clock jumped: how many agree, and the last one's time. */
    uint32_t jump_count;
    int64_t jump_us;
    struct hs_hints hints;
};

/*
 * What a first sample inherits now, on another clock or in another process: what his newest sample
 * says of it, or else what that would have inherited. False: nothing was ever said of him.
 */
struct hs_inherited {
    const struct hs_state *state; /* valid as a pointer into his history is */
    int32_t rtt_us, interp_us;
};
bool hs_player_inherited(const struct hs_player *player, struct hs_inherited *out);

void hs_players_destroy(struct hs_players *players);

/* The player of that name, present or left; NULL: none. */
struct hs_player *hs_players_find(const struct hs_players *players, struct hs_str name);

enum hs_players_add { HS_PLAYERS_ADDED, HS_PLAYERS_FULL, HS_PLAYERS_NO_MEMORY };

/*
 * Adds a new player, with all memory that is reserved for them. Call hs_players_begin_session once
 * you keep them. When all places are taken, it evicts the least suspicious player who left before
 * `evict_before_us`. FULL also when there is no spare memory.
 */
enum hs_players_add hs_players_add(struct hs_players *players, struct hs_str name,
                                   uint32_t max_samples, struct hs_player **out);

/* Takes out the player who was added last. */
void hs_players_drop_last(struct hs_players *players);

/* What a player takes of the account when he is added, at least. */
size_t hs_players_least_bytes(uint32_t max_samples);

/* What a match takes, counted anew: hs_match_info's history_bytes. O(players). */
size_t hs_match_count_bytes(const struct hs_match *match);

/*
 * Makes room in the account for what must be remembered: histories without a sample give theirs,
 * then the longest half of it, down to room for HS_HISTORY_FIRST samples. Until there is so
 * much, or nothing more to give.
 */
void hs_players_make_room(struct hs_players *players, size_t bytes);

/* Numbers the session of a player who was just added, and journals it. */
void hs_players_begin_session(struct hs_players *players, struct hs_player *player);

/* Ends the session of a player who is present: frames and claims up to `left_us`, and moves up to
   `ended_us`, belong to it from now on. Journals it. */
void hs_players_leave(struct hs_players *players, struct hs_player *player, int64_t left_us,
                      int64_t ended_us);

/* Begins the next session of a player who left, with nothing counted yet. Journals it. */
void hs_players_rejoin(struct hs_players *players, struct hs_player *player);

/* Drops what is kept for stragglers of sessions that ended before a time. O(players). */
void hs_players_forget_ended(struct hs_players *players, int64_t before_us);

/* A claim fired at that time is of a session that ended, and the player is back. */
static inline bool hs_player_is_back_since(const struct hs_player *player, int64_t fire_time_us)
{
    return player->has_left_before && !player->left && fire_time_us <= player->left_us;
}

/*
 * Resets the clock of a match: it forgets all state that is compared with times. Defined in
 * match_frames.c. `time_us`: time of the next stored frame, which sets the clock.
 */
void hs_match_restart(struct hs_match *match, int64_t time_us);

/* In the opposite order of arrival, as players were added. */
void hs_players_reverse(struct hs_players *players);

/* To be told of every change to a player's history but those of hs_players_prune. */
void hs_players_note_history(struct hs_players *players, struct hs_player *player);

/* hs_history_prune of everybody; O(log n) for each sample that goes. */
void hs_players_prune(struct hs_players *players, int64_t before_us);

#endif
