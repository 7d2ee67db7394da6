/*
 * Calls of the C library that fail on demand inside the program under test. `hindsight-faults` is
 * the program, linked so that its allocations, and its calls on files of the data directory, go
 * through tests/faults/faults.c. A plan for each kind of call is in a file that the test and the
 * program map; $HS_FAULTS names it. Calls inside other libraries do not fail, but for jansson's
 * allocations.
 */
#ifndef HS_TESTS_FAULTS_H
#define HS_TESTS_FAULTS_H

#include <stdatomic.h>
#include <stdbool.h>

enum hs_fault_kind {
    HS_FAULT_MEMORY, /* malloc and its like */
    HS_FAULT_WRITE,  /* write, pwrite, writev, ftruncate, posix_fallocate */
    HS_FAULT_SYNC,   /* fsync, fdatasync */
    HS_FAULT_RENAME, /* rename and renameat, linkat */
    HS_FAULT_OPEN,   /* open and openat, of files that are written to */
    HS_FAULT_KIND_COUNT
};

/* HS_FAULT_FOR_EVER calls fail until the plan is changed. */
#define HS_FAULT_FOR_EVER (1L << 60)

struct hs_fault_plan {
    atomic_long seen;   /* calls since the plan was made */
    atomic_long failed; /* of these */
    atomic_long after;  /* so many calls pass first */
    atomic_long count;  /* then so many fail; 0: none */
    atomic_int error;   /* errno of those */
    /* A write that fails writes the first half of its bytes; the one after it has the error. */
    atomic_bool is_short;
};

struct hs_faults {
    struct hs_fault_plan plans[HS_FAULT_KIND_COUNT];
    char directory[128]; /* calls on files below it can fail */
};

/*
 * Makes the program under test the one with faults ($HS_PROGRAM-faults), and the plan of its next
 * start, in which nothing fails. Faults of this end the test (Check). Unmapped at the end of the
 * process; `path` is of a file that is made.
 */
struct hs_faults *hs_faults_begin(const char *path, const char *directory);

/* From now on calls of a kind fail: `count` of them, after `after` that do not. */
void hs_faults_plan(struct hs_faults *faults, enum hs_fault_kind kind, long after, long count,
                    int error);

/* From now on nothing fails. */
void hs_faults_none(struct hs_faults *faults);

#endif
