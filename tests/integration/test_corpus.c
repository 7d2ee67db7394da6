/*
 * Replays the committed inputs of the fuzzers, each in a check of its own: what was found once
 * stays found, under every compiler and sanitizer. Input number N of a target is the Nth file of
 * tests/fuzz/corpus/TARGET in the order of `ls` in the C locale, from 0.
 */
#include <check.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/files.h"
#include "tests/support/fuzz_targets.h"
#include "tests/support/run_suite.h"

/* Fewer files than this and the corpus got lost. */
enum { FEWEST_FILES = 20 };

static glob_t files[HS_FUZZ_TARGETS];

/* The bytes in a block of exactly their size, so that reading past the end is seen. */
static uint8_t *read_bytes(const char *path, size_t *size)
{
    char *text = hs_test_read_file(path, size);
    uint8_t *bytes = malloc(*size > 0 ? *size : 1);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, text, *size);
    free(text);
    return bytes;
}

static void replay(size_t target, int i)
{
    const char *path = files[target].gl_pathv[i];
    size_t size;
    uint8_t *bytes = read_bytes(path, &size);
    const char *fault = hs_fuzz_targets[target].run(bytes, size);
    free(bytes);
    ck_assert_msg(fault == NULL, "%s: %s", path, fault);
}

START_TEST(test_frames)
{
    replay(0, _i);
}
END_TEST

START_TEST(test_hits)
{
    replay(1, _i);
}
END_TEST

START_TEST(test_ticks)
{
    replay(2, _i);
}
END_TEST

START_TEST(test_rulesets)
{
    replay(3, _i);
}
END_TEST

START_TEST(test_headers)
{
    replay(4, _i);
}
END_TEST

START_TEST(test_pointer)
{
    replay(5, _i);
}
END_TEST

START_TEST(test_maps)
{
    replay(6, _i);
}
END_TEST

START_TEST(test_moves)
{
    replay(7, _i);
}
END_TEST

START_TEST(test_tokens)
{
    replay(8, _i);
}
END_TEST

START_TEST(test_snapshot)
{
    replay(9, _i);
}
END_TEST

START_TEST(test_shots)
{
    replay(10, _i);
}
END_TEST

START_TEST(test_corpus_is_there)
{
    ck_assert_msg(files[_i].gl_pathc >= FEWEST_FILES, "%s: only %zu inputs",
                  hs_fuzz_targets[_i].name, files[_i].gl_pathc);
}
END_TEST

/* Nothing at all, and bytes that are no text, go through every target. */
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
    Suite *suite = suite_create("corpus");
    TCase *replays = tcase_create("replay");
    tcase_set_timeout(replays, 60);
    tcase_add_loop_test(replays, test_corpus_is_there, 0, HS_FUZZ_TARGETS);
    tcase_add_loop_test(replays, test_no_text, 0, HS_FUZZ_TARGETS);
    tcase_add_loop_test(replays, test_frames, 0, (int)files[0].gl_pathc);
    tcase_add_loop_test(replays, test_hits, 0, (int)files[1].gl_pathc);
    tcase_add_loop_test(replays, test_ticks, 0, (int)files[2].gl_pathc);
    tcase_add_loop_test(replays, test_rulesets, 0, (int)files[3].gl_pathc);
    tcase_add_loop_test(replays, test_headers, 0, (int)files[4].gl_pathc);
    tcase_add_loop_test(replays, test_pointer, 0, (int)files[5].gl_pathc);
    tcase_add_loop_test(replays, test_maps, 0, (int)files[6].gl_pathc);
    tcase_add_loop_test(replays, test_moves, 0, (int)files[7].gl_pathc);
    tcase_add_loop_test(replays, test_tokens, 0, (int)files[8].gl_pathc);
    tcase_add_loop_test(replays, test_snapshot, 0, (int)files[9].gl_pathc);
    tcase_add_loop_test(replays, test_shots, 0, (int)files[10].gl_pathc);
    suite_add_tcase(suite, replays);
    int failed = hs_run_suite(suite);
    for (size_t i = 0; i < HS_FUZZ_TARGETS; i++)
        globfree(&files[i]);
    return failed == 0 ? 0 : 1;
}
