#include "tests/support/run_suite.h"

#include <stdio.h>
#include <stdlib.h>

/* The tests are linked with --wrap=_mark_point. Check records the place of each successful
   assertion in a file, so that it can name the last one after a crash. So a loop of millions of
   assertions spends most of its time writing. This file records only the first assertions of a
   test. */
enum { RECORDED_MARKS = 10000 };

/* The linker option --wrap requires these names. */
void __wrap__mark_point(const char *file, int line);
void __real__mark_point(const char *file, int line);

void __wrap__mark_point(const char *file, int line)
{
    static _Atomic int recorded; /* atomic, because several threads make assertions */
    if (recorded >= RECORDED_MARKS)
        return;
    recorded++;
    __real__mark_point(file, line);
}

int hs_run_suite(Suite *suite)
{
    fflush(NULL);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}

int hs_run_suite_in_one_process(Suite *suite)
{
    setenv("CK_FORK", "no", 0);
    return hs_run_suite(suite);
}
