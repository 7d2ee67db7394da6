/*
 * Makes calls of the C library fail on demand inside the program under test. In the program
 * `hindsight-faults`, allocations and calls on files of the data directory go through
 * tests/faults/faults.c. The test and the program map the same file, which has a plan for each kind
 * of call, and shifts the wall clock. $HS_FAULTS names the file. Calls inside other libraries do
 * not fail, except the allocations of jansson.
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
    HS_FAULT_OPEN,   /* open and openat, for writing */
    HS_FAULT_KIND_COUNT
};

/* With this count, calls fail until the plan is changed. */
#define HS_FAULT_FOR_EVER (1L << 60)

struct hs_fault_plan {
    atomic_long seen;   /* calls since the plan was made */
    atomic_long failed; /* calls that failed */
    atomic_long after;  /* number of calls that succeed first */
    atomic_long count;  /* number of calls that fail after these; 0: no call fails */
    atomic_int error;   /* errno of the failing calls */
    /* A write that should fail writes the first half of its bytes and succeeds. The next write
       fails. */
    atomic_bool is_short;
};

struct hs_faults {
    struct hs_fault_plan plans[HS_FAULT_KIND_COUNT];
    char directory[128];        /* calls on files below it can fail */
    atomic_llong wall_shift_us; /* how far the wall clock of the program is ahead */
};

/* Selects the program with faults ($HS_PROGRAM-faults), and makes a plan for its next start in
   which nothing fails. Creates the file `path`. If this is impossible, the test ends. The plan is
   unmapped at the end of the process. */
struct hs_faults *hs_faults_begin(const char *path, const char *directory);

/* Makes calls of a kind fail from now on: `after` calls succeed, and then `count` calls fail. */
void hs_faults_plan(struct hs_faults *faults, enum hs_fault_kind kind, long after, long count,
                    int error);

/* Makes no call fail from now on. */
void hs_faults_none(struct hs_faults *faults);

#endif
