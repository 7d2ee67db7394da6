/* Runs the program under test ($HS_PROGRAM), or a shell, until it ends. */
#ifndef HS_TESTS_PROGRAM_H
#define HS_TESTS_PROGRAM_H

struct hs_test_run {
    int code;              /* exit code; -1: ended by a signal */
    const char *out, *err; /* the whole output of the program; valid until the next run of this
                              process */
};

/* Runs the program with at most 14 arguments, which end with NULL. The test fails if the program
   cannot be run. */
void hs_test_program_run(struct hs_test_run *result, const char *const *arguments);

/* Expects a usage error: the program exits with 2, points to --help, and prints nothing else. */
void hs_test_program_rejects(const char *const *arguments);

#define HS_TEST_RUN(result, ...)                                                                   \
    hs_test_program_run(result, (const char *const[]){__VA_ARGS__, NULL})

/* Runs a command line like `sh -c` and returns its stdout, valid until the next call in this
   process. *code: its exit code; -1: ended by a signal. The test fails if it cannot be run. */
const char *hs_test_shell(int *code, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
