/* An excerpt (snapshot.h) is a saved match with poses, whose state is not stale. Internal to
   validators/. */
#ifndef HS_SNAPSHOT_EXCERPT_H
#define HS_SNAPSHOT_EXCERPT_H

#include "validators/snapshot.h"
#include "validators/snapshot/load.h"

/* The first value in the bytes of an excerpt. Increase HS_EXCERPT_CODING when a change of the code
   changes these bytes. */
#define HS_EXCERPT_CODING  UINT64_C(2)
#define HS_EXCERPT_VERSION (UINT64_C(0x80000000) + (HS_EXCERPT_CODING << 16) + HS_SAVED_VERSION)

/* The data that a verdict depends on. */
struct hs_excerpt {
    struct hs_str shooter;
    uint64_t shot;
    /* One shot that the shooter posted; if possible, a shot with the weapon of the result. NULL if
       the shooter posted no shot. The rules about unposted hits depend on whether the shooter posts
       shots. */
    const struct hs_ledger_entry *posted;
    /* The shooter's hits with the smallest and the largest offset, among the hits that
       hs_ledger_offset_jump can compare with the claim. NULL if no hit has an offset. */
    const struct hs_ledger_entry *low_offset, *high_offset;
    const struct hs_hit_claim *claim; /* the claim, which can name players other than the shooter;
                                         NULL if the excerpt is of a posted shot */
    double near;               /* length; larger than the distance between two ends that count as
                                  the same */
    int64_t from_us, until_us; /* the range of times whose poses the verdict uses */
    struct hs_vec low, high;   /* bounds of all places that the verdict depends on */
};

void hs_excerpt_save(const struct hs_match *match, const struct hs_excerpt *excerpt,
                     struct hs_bytes *out);

/* Return whether the excerpt has this player, mover or used shot number (a pointer into the
   ledger). */
bool hs_excerpt_has_player(const struct hs_excerpt *excerpt, const struct hs_match *match,
                           const struct hs_player *player);
bool hs_excerpt_has_mover(const struct hs_excerpt *excerpt, const struct hs_match *match,
                          const struct hs_mover *mover);
bool hs_excerpt_has_number(const struct hs_excerpt *excerpt,
                           const struct hs_ledger_numbers *numbers,
                           const struct hs_ledger_entry *entry);
bool hs_excerpt_is_shooter(const struct hs_excerpt *excerpt, const struct hs_player *player);

/* The `get` function of each pair reads the bytes that the `put` function writes. These bytes
   follow the bytes of the match, mover or player. */
void hs_excerpt_put_match(const struct hs_match *match, struct hs_bytes *out);
void hs_excerpt_get_match(struct hs_loading *l);

void hs_excerpt_put_mover(const struct hs_excerpt *excerpt, const struct hs_mover *mover,
                          struct hs_bytes *out);
void hs_excerpt_get_mover(struct hs_loading *l, struct hs_mover *mover);

void hs_excerpt_put_player(const struct hs_excerpt *excerpt, const struct hs_match *match,
                           const struct hs_player *player, struct hs_bytes *out);
void hs_excerpt_get_player(struct hs_loading *l, struct hs_player *player);

/* hs_excerpt_put_history writes the samples around the times of the excerpt; if `match` is NULL,
   the samples of a mover. hs_excerpt_get_history reads them into an empty history. */
void hs_excerpt_put_history(const struct hs_excerpt *excerpt, const struct hs_match *match,
                            const struct hs_history *history, bool is_shooter,
                            struct hs_bytes *out);
void hs_excerpt_get_history(struct hs_loading *l, struct hs_history *history, bool of_mover);

#endif
