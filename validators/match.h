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

#include "linkage.h"
#include "ruleset.h"
#include "vec.h"
#include "vocabulary.h"
#include "world.h"

HS_PUBLIC_BEGIN

struct hs_match;
struct hs_account;

struct hs_match_limits {
    uint32_t players; /* in a match */
    uint32_t samples; /* of history, per player and mover; 2 .. 16384 */
    uint32_t movers;  /* in a match */
    size_t bytes;     /* of all there is of a match; 0: no bound */
    /* What many matches take together is taken from it (account.h); NULL: from nowhere. Borrowed;
       must outlive them. */
    struct hs_account *shared;
};

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

/* A bone as posted: world place, rotation, scale. */
struct hs_posted_bone {
    bool present;
    double position[3];
    double rotation[4];
    double scale[3];
};

/* A set of optional members of struct hs_player_frame. */
enum hs_frame_field {
    HS_FIELD_ROTATION = 1 << 0,
    HS_FIELD_AIM = 1 << 1,
    HS_FIELD_EYE = 1 << 2,
    HS_FIELD_BONES = 1 << 3,
    HS_FIELD_SCALES = 1 << 4, /* bones carry scale */
    HS_FIELD_ALIVE = 1 << 5,
    HS_FIELD_LIFE = 1 << 6,
    HS_FIELD_PROTECTED = 1 << 7,
    HS_FIELD_RTT = 1 << 8,
    HS_FIELD_INTERP = 1 << 9,
    HS_FIELD_AMMO = 1 << 10,
    HS_FIELD_RELOADING = 1 << 11,
    HS_FIELD_DAMAGE_SCALE = 1 << 12,
    HS_FIELD_WEAPONS = 1 << 13,
    HS_FIELD_PREDICTION = 1 << 14,
};

/* One player of a frame as posted. Names absent: ptr NULL. Numbers are finite. */
struct hs_player_frame {
    struct hs_str player;
    unsigned fields; /* enum hs_frame_field */
    struct hs_vec position;
    double rotation[4];
    double aim[3];     /* a direction, any length above 0 */
    struct hs_vec eye; /* world */
    const struct hs_posted_bone *bones;
    size_t bone_count;
    struct hs_str rig, stance, team, weapon;
    const struct hs_str *weapons;
    size_t weapon_count;
    enum hs_sample_event event;
    bool alive, is_protected, reloading;
    int64_t life;
    int32_t ammo;
    int32_t rtt_us, interp_us;
    int32_t prediction_us; /* prediction ping asked for */
    double damage_scale;
};

/* A set of optional members of struct hs_mover_frame. */
enum hs_mover_field {
    HS_MOVER_ROTATION = 1 << 0,
    HS_MOVER_BOX = 1 << 1,
    HS_MOVER_SOLID = 1 << 2,
};

/* One mover of a frame as posted: a part of the world that moves. Numbers are finite. */
struct hs_mover_frame {
    struct hs_str mover;
    unsigned fields;        /* enum hs_mover_field */
    struct hs_vec position; /* world, length */
    double rotation[4];
    struct hs_vec half_extents; /* of its box, length, each >= 0 */
    struct hs_vec center;       /* of its box, in its own frame */
    bool is_solid;
    bool teleported; /* arrived in this sample by a jump */
};

struct hs_frame {
    int64_t time_us;
    const struct hs_player_frame *players;
    size_t player_count;
    const struct hs_mover_frame *movers;
    size_t mover_count;
};

/* Remarks on a stored sample, a set. */
#define HS_FRAME_FLAGS(X)                                                                          \
    X(UNFLAGGED_JUMP, "unflagged_jump")       /* moved faster than history.max_speed */            \
    X(HISTORY_FULL, "history_full")           /* a sample inside the window had to go */           \
    X(HISTORY_RESTARTED, "history_restarted") /* three frames agreed on a new clock */

enum hs_frame_flag {
#define X(id, name) HS_FRAME_FLAG_##id,
    HS_FRAME_FLAGS(X)
#undef X
        HS_FRAME_FLAG_COUNT
};
const char *hs_frame_flag_name(enum hs_frame_flag flag);

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
