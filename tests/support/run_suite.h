/* The end of every test program. */
#ifndef HS_TESTS_RUN_SUITE_H
#define HS_TESTS_RUN_SUITE_H

#include <check.h>

/* Runs the suite, which it takes ownership of, and prints the results. Returns the exit code: 0 if
   all passed, otherwise 1. Output from before the call is printed before the output of the tests,
   and only once, whether or not the tests fork. */
int hs_run_suite(Suite *suite);

/* Runs the suite without a fork for each test. This is for suites of so many small tests that forks
   take most of the time. Timeouts of test cases have no effect. With CK_FORK=yes it forks for each
   test. Then the output names a test that crashes. */
int hs_run_suite_in_one_process(Suite *suite);

#endif
