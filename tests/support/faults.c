#include "tests/support/faults.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct hs_faults *hs_faults_begin(const char *path, const char *directory)
{
    static char program[512];
    const char *plain =
        getenv("HS_PROGRAM"); /* if tests do not fork, the previous test may have changed it */
    ck_assert_ptr_nonnull(plain);
    bool is_plain = strstr(plain, "-faults") == NULL;
    snprintf(program, sizeof program, "%s%s", plain, is_plain ? "-faults" : "");
    ck_assert_msg(access(program, X_OK) == 0, "there is no %s", program);
    ck_assert_int_eq(setenv("HS_PROGRAM", program, 1), 0);
    ck_assert_int_eq(setenv("HS_FAULTS", path, 1), 0);

    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, sizeof(struct hs_faults)), 0);
    void *mapped =
        mmap(NULL, sizeof(struct hs_faults), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ck_assert(mapped != MAP_FAILED);
    close(file);
    struct hs_faults *faults = mapped;
    snprintf(faults->directory, sizeof faults->directory, "%s", directory);
    return faults;
}

void hs_faults_plan(struct hs_faults *faults, enum hs_fault_kind kind, long after, long count,
                    int error)
{
    struct hs_fault_plan *plan = &faults->plans[kind];
    atomic_store(&plan->count, 0);
    atomic_store(&plan->seen, 0);
    atomic_store(&plan->failed, 0);
    atomic_store(&plan->after, after);
    atomic_store(&plan->error, error);
    atomic_store(&plan->count, count);
}

void hs_faults_none(struct hs_faults *faults)
{
    for (int kind = 0; kind < HS_FAULT_KIND_COUNT; kind++)
        atomic_store(&faults->plans[kind].count, 0);
}
