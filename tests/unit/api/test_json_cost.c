/* The cost of a request before it is refused: memory for its size, and time for its faults. */
#include "api/ticks.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY = 1000000, ROOM = BODY + 4096 };

static struct hs_problem problem;
static struct hs_arena arena;
static struct hs_frames_request request;
static char *body;
static size_t length, allocated; /* bytes of the body; peak bytes that its parser allocates */

static void *counting_malloc(size_t size)
{
    allocated += size;
    return malloc(size);
}

static void setup(void)
{
    json_set_alloc_funcs(counting_malloc, free);
    body = malloc(ROOM);
    ck_assert_ptr_nonnull(body);
    hs_problem_init(&problem);
    length = allocated = 0;
}

static void teardown(void)
{
    hs_arena_free(&arena);
    free(body);
    json_set_alloc_funcs(malloc, free);
}

static void write_text(const char *text)
{
    size_t len = strlen(text);
    ck_assert_uint_lt(length + len, ROOM);
    memcpy(body + length, text, len + 1);
    length += len;
}

/* Writes a megabyte of frames whose players are all equal. */
static void write_frames(const char *player)
{
    write_text("{\"frames\":[");
    for (int f = 0; length < BODY - 2048; f++) {
        write_text(f == 0 ? "{\"time\":1,\"players\":[" : ",{\"time\":1,\"players\":[");
        for (int i = 0; i < 1000 && length < BODY - 2048; i++) {
            write_text(i == 0 ? "" : ",");
            write_text(player);
        }
        write_text("]}");
    }
    write_text("]}");
}

static void decode(void)
{
    struct hs_reader reader = {.problem = &problem, .arena = &arena, .max_items = 1000};
    json_t *root = hs_json_parse((struct hs_str){body, length}, &problem);
    struct hs_ticks_request tick = {0};
    if (root != NULL)
        hs_ticks_decode_body(&reader, root, HS_ROUTE_FRAMES_POST, &tick);
    request = tick.frames;
    json_decref(root);
}

START_TEST(bodies_of_empty_objects_are_refused_before_parsing)
{
    static const char *const hollow[] = {"{}", "[]", "{\"a\":1}", "[[]]", "{\"a\":{}}"};
    write_frames(hollow[_i]);
    decode();
    ck_assert_int_eq(problem.code, HS_PROBLEM_INVALID_REQUEST);
    ck_assert_uint_eq(problem.count, 1);
    ck_assert_str_eq(problem.errors[0].pointer, "");
    ck_assert_uint_eq(allocated, 0);
}
END_TEST

/* The smallest meaningful items, and the smallest that the parser accepts, take at most forty times
   their size in memory. */
START_TEST(parsed_bodies_take_memory_for_their_size)
{
    static const char *const small[] = {"{\"player\":\"a\",\"position\":[0,0,0]}",
                                        "{\"end\":[0,0,0]}",
                                        "{\"abcdefg\":1}",
                                        "[0,0,0]",
                                        "[1]",
                                        "0"};
    write_frames(small[_i]);
    decode();
    ck_assert_uint_gt(allocated, BODY);
    ck_assert_uint_lt(allocated, 40 * (size_t)BODY);
    ck_assert_int_eq(problem.code, _i == 0 ? HS_PROBLEM_NONE : HS_PROBLEM_INVALID_REQUEST);
    ck_assert_uint_eq(problem.count, _i == 0 ? 0 : HS_PROBLEM_MAX);
}
END_TEST

/* Frames of movers often have an empty list of players. If they are read without a tree, they also
   take at most forty times their size in memory. */
START_TEST(empty_lists_take_memory_for_their_size)
{
    struct hs_reader reader = {.problem = &problem, .arena = &arena, .max_items = 65536};
    struct hs_ticks_request tick = {0};
    write_text("{\"frames\":[");
    while (length < BODY - 2048)
        write_text("{\"time\":1,\"players\":[],\"movers\":[]},");
    write_text("{\"time\":1,\"players\":[],\"movers\":[]}]}");
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    ck_assert(hs_ticks_read_directly(&reader, (struct hs_str){body, length}, HS_ROUTE_FRAMES_POST,
                                     &tick));
    size_t used = mallinfo2().uordblks + mallinfo2().hblkhd - before;
    ck_assert_uint_gt(tick.frames.count, 20000);
    ck_assert(used == 0 || used > BODY); /* 0: a sanitizer replaces the C library's allocator */
    ck_assert_uint_lt(used, 40 * (size_t)BODY);
}
END_TEST

/* Rulesets whose objects are mostly empty are accepted. */
START_TEST(rulesets_may_be_mostly_empty_objects)
{
    write_text("{\"weapons\":{");
    for (int i = 0; i < 128; i++) {
        char weapon[32];
        snprintf(weapon, sizeof weapon, "%s\"%d\":{}", i == 0 ? "" : ",", i);
        write_text(weapon);
    }
    write_text("},\"x_notes\":[[],[],[],[]]}");
    json_t *root = hs_json_parse((struct hs_str){body, length}, &problem);
    ck_assert_ptr_nonnull(root);
    ck_assert_int_eq(problem.code, HS_PROBLEM_NONE);
    json_decref(root);
}
END_TEST

/* Braces within strings do not count. */
START_TEST(braces_in_strings_are_not_counted)
{
    write_text("{\"frames\":[],\"x_note\":\"");
    while (length < BODY)
        write_text("{[{[{[{[{[");
    write_text("\"}");
    decode();
    ck_assert_int_eq(problem.code, HS_PROBLEM_NONE);
}
END_TEST

START_TEST(after_the_max_number_of_errors_none_is_kept)
{
    write_text("{\"frames\":[{\"time\":1,\"players\":[");
    for (int i = 0; i < 20; i++)
        write_text("{\"player\":\"\",\"positions\":[0,0,0]},");
    write_text("{}]},{\"time\":2,\"players\":[{\"player\":\"a\",\"position\":[0,0,0]}]}]}");
    decode();
    ck_assert_uint_eq(problem.count, HS_PROBLEM_MAX);
    ck_assert_uint_eq(problem.left_out, 3 * 20 + 2 - HS_PROBLEM_MAX);
    ck_assert_uint_eq(request.count, 2);
    ck_assert_uint_eq(request.frames[0].player_count, 21);
    ck_assert_uint_eq(request.frames[1].player_count, 0);
    ck_assert_ptr_null(request.frames[1].players);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("json cost");
    TCase *tests = tcase_create("bodies");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_loop_test(tests, bodies_of_empty_objects_are_refused_before_parsing, 0, 5);
    tcase_add_test(tests, empty_lists_take_memory_for_their_size);
    tcase_add_loop_test(tests, parsed_bodies_take_memory_for_their_size, 0, 6);
    tcase_add_test(tests, rulesets_may_be_mostly_empty_objects);
    tcase_add_test(tests, braces_in_strings_are_not_counted);
    tcase_add_test(tests, after_the_max_number_of_errors_none_is_kept);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
