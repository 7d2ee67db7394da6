#include "tests/support/program.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS = 14 };

/* Returns the whole file, terminated, in the memory of `text` or in new memory. Closes the file. */
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

void hs_test_program_rejects(const char *const *arguments)
{
    struct hs_test_run result;
    hs_test_program_run(&result, arguments);
    ck_assert_int_eq(result.code, 2);
    ck_assert_ptr_nonnull(strstr(result.err, "--help"));
    ck_assert_str_eq(result.out, "");
}

const char *hs_test_shell(int *code, const char *format, ...)
{
    static char *output;
    size_t size = 0, len = 0, got = 0;
    char *command = NULL;
    va_list args;
    va_start(args, format);
    ck_assert_int_gt(vasprintf(&command, format, args), 0);
    va_end(args);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    do {
        len += got;
        if (len + 1 >= size)
            output = realloc(output, size = size == 0 || output == NULL ? 4096 : 2 * size);
        ck_assert_ptr_nonnull(output);
        got = fread(output + len, 1, size - len - 1, pipe);
    } while (got > 0);
    output[len] = '\0';
    int status = pclose(pipe);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    free(command);
    return output;
}
