/* Replays the committed inputs of the fuzzers, each in a separate check, so that old faults stay
   fixed with every compiler and sanitizer. A failure names the file. */
#include <check.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/files.h"
#include "tests/support/fuzz/targets.h"
#include "tests/support/run_suite.h"

/* Fewer files mean that a part of the corpus was lost. */
static const struct {
    const char *target;
    size_t files;
} fewest[HS_FUZZ_TARGETS] = {
    {"frames", 275}, {"hits", 165},     {"ticks", 395}, {"rulesets", 228},
    {"headers", 88}, {"pointer", 43},   {"maps", 179},  {"moves", 165},
    {"tokens", 107}, {"snapshot", 183}, {"shots", 110},
};

static glob_t files[HS_FUZZ_TARGETS];

/*
 * Copies the bytes to a block of exactly their size, so that sanitizers detect reads past the end.
 */
static uint8_t *read_bytes(const char *path, size_t *size)
{
    char *text = hs_test_read_file(path, size);
    uint8_t *bytes = malloc(*size > 0 ? *size : 1);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, text, *size);
    free(text);
    return bytes;
}

static void replay(size_t target, size_t i)
{
    const char *path = files[target].gl_pathv[i];
    size_t size;
    uint8_t *bytes = read_bytes(path, &size);
    const char *fault = hs_fuzz_targets[target].run(bytes, size);
    free(bytes);
    ck_assert_msg(fault == NULL, "%s: %s", path, fault);
}

START_TEST(test_one_input)
{
    size_t target = 0, i = (size_t)_i;
    while (i >= files[target].gl_pathc)
        i -= files[target++].gl_pathc;
    replay(target, i);
}
END_TEST

START_TEST(test_corpus_is_there)
{
    const char *name = hs_fuzz_targets[_i].name;
    size_t row = 0;
    while (row < HS_FUZZ_TARGETS && strcmp(fewest[row].target, name) != 0)
        row++;
    ck_assert_msg(row < HS_FUZZ_TARGETS, "how many inputs has %s?", name);
    ck_assert_msg(files[_i].gl_pathc >= fewest[row].files, "%s: only %zu inputs", name,
                  files[_i].gl_pathc);
}
END_TEST

/* Gives every target an empty input and bytes that are not text. */
START_TEST(test_no_text)
{
    uint8_t bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(255 - i);
    for (size_t size = 0; size <= sizeof bytes; size++) {
        const char *fault = hs_fuzz_targets[_i].run(bytes, size);
        ck_assert_msg(fault == NULL, "%s, %zu bytes: %s", hs_fuzz_targets[_i].name, size, fault);
    }
}
END_TEST

static bool find_files(void)
{
    for (size_t i = 0; i < HS_FUZZ_TARGETS; i++) {
        char pattern[128];
        snprintf(pattern, sizeof pattern, "tests/fuzz/corpus/%s/*", hs_fuzz_targets[i].name);
        int found = glob(pattern, 0, NULL, &files[i]);
        if (found != 0 && found != GLOB_NOMATCH)
            return false;
    }
    return true;
}

int main(void)
{
    if (!find_files())
        return 1;
    size_t count = 0;
    for (size_t i = 0; i < HS_FUZZ_TARGETS; i++)
        count += files[i].gl_pathc;
    Suite *suite = suite_create("corpus");
    TCase *replays = tcase_create("replay");
    tcase_set_timeout(replays, 60);
    tcase_add_loop_test(replays, test_corpus_is_there, 0, HS_FUZZ_TARGETS);
    tcase_add_loop_test(replays, test_no_text, 0, HS_FUZZ_TARGETS);
    tcase_add_loop_test(replays, test_one_input, 0, (int)count);
    suite_add_tcase(suite, replays);
    int failed = hs_run_suite(suite);
    for (size_t i = 0; i < HS_FUZZ_TARGETS; i++)
        globfree(&files[i]);
    return failed == 0 ? 0 : 1;
}
