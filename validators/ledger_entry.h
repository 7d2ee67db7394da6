/* One entry of a player's ledger (ledger.h): a number that was used, and what it was answered. */
#ifndef HS_LEDGER_ENTRY_H
#define HS_LEDGER_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linkage.h"
#include "vec.h"

HS_PUBLIC_BEGIN

/* What makes two items the same: a hash of everything decoded from them. */
struct hs_digest {
    uint64_t word[2];
};

/* What a check found of a posted shot, for the hits of that shot. */
struct hs_remembered_check {
    uint8_t check, outcome, reason, unit; /* the enums of hit.h */
    double measured, limit;
};

enum { HS_MAX_REMEMBERED = 6, HS_MAX_PELLETS = 64 };

/* A shot that was posted before its hits. */
struct hs_posted_shot {
    uint16_t weapon; /* ruleset index */
    struct hs_remembered_check checks[HS_MAX_REMEMBERED];
    uint16_t check_count;
    bool has_seed;
    uint64_t seed;
    bool has_direction;
    struct hs_vec direction;   /* unit */
    uint16_t direction_count;  /* expected directions of the pellets; 0: none given */
    struct hs_vec *directions; /* owned, unit */
};

/* One used number. */
struct hs_ledger_entry {
    uint64_t number;
    struct hs_digest digest;
    int64_t fire_time_us;
    uint64_t noted; /* set by hs_ledger_note: which note of these numbers this was */
    bool accepted;
    uint32_t payment;            /* as counted by hs_match_payments; 0: none, or restored */
    struct hs_vec start, end;    /* of the trace, where accepted */
    struct hs_posted_shot *shot; /* owned; of a posted shot, NULL of a hit */
    char *answer;                /* owned; as it was sent, `answer_size` bytes; NULL: given up */
    size_t answer_size;
};

HS_PUBLIC_END

#endif
