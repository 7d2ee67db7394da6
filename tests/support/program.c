#include "tests/support/program.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS = 14 };

/* The whole file, terminated, in memory that `text` had before or has now; closes the file. */
static const char *slurp(FILE *file, char **text)
{
    long size = ftell(file);
    ck_assert_int_ge(size, 0);
    rewind(file);
    *text = realloc(*text, (size_t)size + 1);
    ck_assert_ptr_nonnull(*text);
    (*text)[fread(*text, 1, (size_t)size, file)] = '\0';
    fclose(file);
    return *text;
}

void hs_test_program_run(struct hs_test_run *result, const char *const *arguments)
{
    static char *out_text, *err_text;
    const char *argv[ARGUMENTS + 2] = {getenv("HS_PROGRAM")};
    FILE *out = tmpfile(), *err = tmpfile();
    ck_assert(argv[0] != NULL && out != NULL && err != NULL);
    for (size_t i = 0; arguments[i] != NULL; i++) {
        ck_assert_uint_lt(i, ARGUMENTS);
        argv[i + 1] = arguments[i];
    }
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        dup2(fileno(out), 1);
        dup2(fileno(err), 2);
        execv(argv[0], (char *const *)(const void *)argv);
        _exit(127);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    result->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    fseek(out, 0, SEEK_END);
    fseek(err, 0, SEEK_END);
    result->out = slurp(out, &out_text);
    result->err = slurp(err, &err_text);
}
