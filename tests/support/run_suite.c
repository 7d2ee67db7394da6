#include "tests/support/run_suite.h"

#include <stdio.h>

int hs_run_suite(Suite *suite)
{
    fflush(NULL);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
