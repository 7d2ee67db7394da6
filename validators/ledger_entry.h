/* One entry in a player's ledger (base/ledger.h): a used shot number, and the answer to the claim
   or shot with this number. */
#ifndef HS_LEDGER_ENTRY_H
#define HS_LEDGER_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linkage.h"
#include "vec.h"
#include "vocabulary.h"

HS_PUBLIC_BEGIN

/* A hash of a whole claim or posted shot. Equal hashes mean that the same item was sent again. */
struct hs_digest {
    uint64_t word[2];
};

/* The result of one check of a posted shot. The result also counts for the hits of the shot. */
struct hs_remembered_check {
    uint8_t check, outcome, reason, unit; /* enum hs_check, hs_outcome, hs_reason, hs_unit */
    double measured, limit;
};

enum {
/* One row for each check of stage KEPT (vocabulary.h), and one row for an unknown `latency` check.
   NOLINTNEXTLINE(bugprone-macro-parentheses): the rows are added up. */
#define X(id, name, mode, stage) (HS_CHECK_STAGE_##stage == HS_CHECK_STAGE_KEPT ? 1 : 0) +
    HS_MAX_REMEMBERED = HS_CHECKS(X) 1,
#undef X
    HS_MAX_PELLETS = 64
};

/* A shot that was posted before its hits. */
struct hs_posted_shot {
    uint16_t weapon; /* ruleset index */
    struct hs_remembered_check checks[HS_MAX_REMEMBERED];
    uint16_t check_count;
    bool has_seed;
    uint64_t seed;
    bool has_direction;
    struct hs_vec direction;   /* unit vector */
    uint16_t direction_count;  /* 0: no pellet directions were posted */
    struct hs_vec *directions; /* expected directions of the pellets; owned; unit vectors */
    /* The shooter's state when the shot was posted. The state is kept here because the shooter's
       poses may leave the history before the hit. The hash is hs_str_hash of the team's name,
       because a team's index may be reused. */
    bool knows_shooter, has_team;
    uint64_t team_hash;
    double damage_scale;
};

struct hs_ledger_entry {
    uint64_t number;
    struct hs_digest digest;
    int64_t fire_time_us;
    uint64_t noted; /* position in the order of recording: later entries have larger values; set by
                       hs_ledger_record */
    bool accepted;
    bool is_cancelled; /* a posted shot that was withdrawn; `accepted` stays true */
    bool is_instant;   /* a hit with an instant weapon: hit_time_us is valid */
    bool has_offset;
    uint32_t payment; /* number of the payment (hs_match_payments); 0: no payment, or a payment
                         before a restore */
    int64_t hit_time_us;
    int64_t offset_us;           /* hit_time minus the time expected from rtt and interp; valid if
                                    has_offset */
    struct hs_vec start, end;    /* ends of the trace; set if accepted */
    struct hs_posted_shot *shot; /* owned; set for a posted shot, NULL for a hit */
    char *answer;                /* the reply that was sent; owned; NULL: dropped to save memory */
    size_t answer_size;
};

HS_PUBLIC_END

#endif
