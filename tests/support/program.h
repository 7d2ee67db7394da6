/* Runs the program under test ($HS_PROGRAM), or a shell, to its end, as a user does. */
#ifndef HS_TESTS_PROGRAM_H
#define HS_TESTS_PROGRAM_H

struct hs_test_run {
    int code;              /* exit code; -1: ended by a signal */
    const char *out, *err; /* all it wrote; until the next run of this process */
};

/* At most 14 arguments, closed by NULL. What cannot be run fails the test. */
void hs_test_program_run(struct hs_test_run *result, const char *const *arguments);

/* Wrong usage: the program exits with 2, points to --help, and prints nothing else. */
void hs_test_program_rejects(const char *const *arguments);

#define HS_TEST_RUN(result, ...)                                                                   \
    hs_test_program_run(result, (const char *const[]){__VA_ARGS__, NULL})

/*
 * Runs a command line as `sh -c` does: what it writes to stdout, whole, until the next one of this
 * process. *code: its exit code; -1: ended by a signal. What cannot be run fails the test.
 */
const char *hs_test_shell(int *code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
