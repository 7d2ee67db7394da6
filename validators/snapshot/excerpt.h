/* Writes and reads excerpts (snapshot.h). An excerpt contains the part of a match that one verdict
   depends on. Unlike a snapshot, an excerpt contains poses. Reading an excerpt does not make the
   states of its samples stale. Internal to validators/. */
#ifndef HS_SNAPSHOT_EXCERPT_H
#define HS_SNAPSHOT_EXCERPT_H

#include "validators/snapshot.h"
#include "validators/snapshot/load.h"

/* HS_EXCERPT_VERSION is the first four bytes of an excerpt. Increase HS_EXCERPT_CODING when a
   change to the code changes the bytes of excerpts. */
#define HS_EXCERPT_CODING  UINT64_C(4)
#define HS_EXCERPT_VERSION (UINT64_C(0x80000000) + (HS_EXCERPT_CODING << 16) + HS_SAVED_VERSION)

/* Describes the data that one verdict depends on. */
struct hs_excerpt {
    struct hs_str shooter;
    uint64_t shot;
    /* A posted shot of the shooter, if possible with the weapon of the verdict; NULL if the shooter
       posted no shot. The excerpt contains this shot, because the rules about unposted hits depend
       on whether the shooter posts shots. */
    const struct hs_ledger_entry *posted;
    /* The hits with the smallest and the largest offset among all hits that hs_ledger_offset_jump
       compares with the claim; NULL if hs_ledger_offset_jump compares no hit. */
    const struct hs_ledger_entry *low_offset, *high_offset;
    const struct hs_hit_claim *claim; /* NULL if the excerpt is for a posted shot */
    /* If a hit's end is further than `near` from the claim's end along any axis, the hit has
       another trace. */
    double near;
    int64_t from_us, until_us; /* the verdict depends on poses from this range of times */
    struct hs_vec low, high;   /* bounds of all places that matter for the verdict */
    struct hs_excerpt_last last;
};

void hs_excerpt_save(const struct hs_match *match, struct hs_excerpt *excerpt,
                     struct hs_bytes *out);

/* These functions return whether the excerpt must contain this player, this mover or this used shot
   number. `entry` points into `numbers`. */
bool hs_excerpt_has_player(const struct hs_excerpt *excerpt, const struct hs_match *match,
                           const struct hs_player *player);
bool hs_excerpt_has_mover(const struct hs_excerpt *excerpt, const struct hs_match *match,
                          const struct hs_mover *mover);
bool hs_excerpt_has_number(const struct hs_excerpt *excerpt,
                           const struct hs_ledger_numbers *numbers,
                           const struct hs_ledger_entry *entry);
bool hs_excerpt_is_shooter(const struct hs_excerpt *excerpt, const struct hs_player *player);

/* Each `get` function reads the bytes that the `put` function with the same name wrote. In an
   excerpt, these bytes follow the bytes that a snapshot also contains for the match, the mover or
   the player. */
void hs_excerpt_put_match(const struct hs_match *match, struct hs_bytes *out);
void hs_excerpt_get_match(struct hs_loading *l);

void hs_excerpt_put_mover(struct hs_excerpt *excerpt, const struct hs_mover *mover,
                          struct hs_bytes *out);
void hs_excerpt_get_mover(struct hs_loading *l, struct hs_mover *mover);

void hs_excerpt_put_player(struct hs_excerpt *excerpt, const struct hs_match *match,
                           const struct hs_player *player, struct hs_bytes *out);
void hs_excerpt_get_player(struct hs_loading *l, struct hs_player *player);

/* The function copies `state`, so the caller may free `state` after the call. */
void hs_excerpt_put_state(struct hs_excerpt *excerpt, const struct hs_match *match,
                          const struct hs_state *state, struct hs_bytes *out);
void hs_excerpt_get_state(struct hs_loading *l, struct hs_state *state);

/* hs_excerpt_put_history writes the samples from from_us to until_us, and some samples around them.
   `match` is NULL for the history of a mover. hs_excerpt_get_history reads the samples into an
   empty history. */
void hs_excerpt_put_history(struct hs_excerpt *excerpt, const struct hs_match *match,
                            const struct hs_history *history, bool is_shooter,
                            struct hs_bytes *out);
void hs_excerpt_get_history(struct hs_loading *l, struct hs_history *history, bool of_mover);

#endif
