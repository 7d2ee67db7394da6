/* Bodies that the direct reader accepts, and bodies that it leaves to the parser. The results are
   compared with those of the parser, which makes a tree of values. The fuzz corpus has more bodies
   (tests/support/fuzz/body.c). */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/direct.h"
#include "api/ticks.h"
#include "tests/support/fuzz/body.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#define PLAYER          "{\"player\":\"a\",\"position\":[1,2.5,-3e-2]"
#define FRAMES(members) "{\"frames\":[{\"time\":1.25,\"players\":[" PLAYER members "}]}]}"
#define MOVES(members)                                                                             \
    "{\"moves\":[{\"player\":\"a\",\"client_time\":1.5,\"received\":2" members "}]}"
#define SHOTS(members)                                                                             \
    "{\"shots\":[{\"shot\":7,\"shooter\":\"a\",\"time\":1,\"origin\":[0,0,1]" members "}]}"
#define HITS(members)                                                                              \
    "{\"hits\":[{\"shot\":7,\"shooter\":\"a\",\"hit_time\":1,\"start\":[0,0,1]" members "}]}"

#define TABLE(columns, rows)                                                                       \
    "{\"columns\":[\"player\",\"client_time\"," columns "],\"rows\":[" rows "]}"
#define PLAYERS(columns, rows)                                                                     \
    "{\"frames\":[{\"time\":1,\"players\":{\"columns\":[\"player\",\"position\"" columns           \
    "],\"rows\":[" rows "]}}]}"
#define LONG "a_name_of_more_than_twenty_four_characters"

static const struct {
    enum hs_route route;
    bool is_direct;
    const char *text;
} rows[] = {
    {HS_ROUTE_FRAMES_POST, true, FRAMES("")},
    {HS_ROUTE_FRAMES_POST, true, FRAMES(",\"rotation\":[0,0,0,1],\"aim\":[1,0,0],\"eye\":[0,0,1]")},
    {HS_ROUTE_FRAMES_POST, true, FRAMES(",\"bones\":[[1,2,3,0,0,0,1],null,[1,2,3,0,0,0,1,1,1,2]]")},
    {HS_ROUTE_FRAMES_POST, true,
     FRAMES(
         ",\"stance\":\"stand\",\"rtt\":0.04,\"interp\":0.05,\"weapon\":\"rifle\",\"team\":\"t\","
         "\"alive\":true,\"life\":3,\"protected\":false,\"event\":\"spawn\",\"ammo\":30,"
         "\"weapons\":[\"rifle\",\"bow\"],\"damage_scale\":1.5")},
    {HS_ROUTE_FRAMES_POST, true, FRAMES(",\"event\":\"launch\",\"velocity\":[0,0,9]")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"velocity\":[0,0,9]")},
    {HS_ROUTE_FRAMES_POST, true,
     "{\"frames\":[{\"time\":1,\"players\":[],\"movers\":[{\"mover\":\"m\",\"position\":[0,0,0],"
     "\"box\":{\"half_extents\":[1,1,1]},\"event\":\"teleport\"}]}]}"},
    {HS_ROUTE_FRAMES_POST, true, " {\n\t\"frames\" : [ ] } \r\n"},
    {HS_ROUTE_MOVES_POST, true,
     MOVES(",\"seq\":9,\"kind\":\"old\",\"mode\":\"walking\",\"base\":null")},
    /* Tables. */
    {HS_ROUTE_MOVES_POST, true, TABLE("\"received\"", "[\"a\",1.5,2],[\"b\",-0,3]")},
    {HS_ROUTE_MOVES_POST, true, TABLE("\"received\",\"seq\"", "[\"a\",1,2,null],[\"b\",1,3,7]")},
    {HS_ROUTE_MOVES_POST, true, TABLE("\"x_a\",\"received\",\"x_b\"", "[\"a\",1,{},2,[null]]")},
    {HS_ROUTE_MOVES_POST, true, "{\"moves\":" TABLE("\"received\"", "") "}"},
    {HS_ROUTE_MOVES_POST, false, TABLE("\"seq\"", "")},
    {HS_ROUTE_MOVES_POST, false, TABLE("\"received\",\"player\"", "")},
    {HS_ROUTE_MOVES_POST, false, TABLE("\"received\",\"x_a\",\"x_a\"", "")},
    {HS_ROUTE_MOVES_POST, false, TABLE("\"received\",\"colour\"", "")},
    {HS_ROUTE_MOVES_POST, false, TABLE("\"received\",4", "")},
    {HS_ROUTE_MOVES_POST, false, TABLE("\"received\"", "[\"a\",1]")},
    {HS_ROUTE_MOVES_POST, false, TABLE("\"received\"", "[\"a\",1,2,3]")},
    {HS_ROUTE_MOVES_POST, false, TABLE("\"received\"", "[\"a\",1,null]")},
    {HS_ROUTE_MOVES_POST, false, TABLE("\"received\"", "{}")},
    {HS_ROUTE_MOVES_POST, false, TABLE("\"received\"", "") "x"},
    {HS_ROUTE_MOVES_POST, false, "[]"},
    {HS_ROUTE_TICKS_POST, false, TABLE("\"received\"", "")},
    {HS_ROUTE_TICKS_POST, true, "{\"moves\":" TABLE("\"received\"", "[\"a\",1,2]") "}"},
    {HS_ROUTE_TICKS_POST, true,
     "{\"moves\" : " TABLE(" \"received\" ", " [ \"a\" , 1 , 2 ] ") " }"},
    {HS_ROUTE_FRAMES_POST, true, PLAYERS("", "[\"a\",[1,2,3]],[\"b\",[4,5,6]]")},
    {HS_ROUTE_FRAMES_POST, true,
     PLAYERS(",\"rotation\",\"bones\",\"weapons\",\"alive\"",
             "[\"a\",[1,2,3],[0,0,0,1],[1,2,3,0,0,0,1,4,5,6,0,0,0,1],[\"bow\"],true],"
             "[\"b\",[1,2,3],null,[[1,2,3,0,0,0,1]],null,null]")},
    {HS_ROUTE_FRAMES_POST, true,
     PLAYERS(",\"event\",\"velocity\"", "[\"a\",[0,0,1],\"launch\",[0,0,1]]")},
    {HS_ROUTE_FRAMES_POST, false, PLAYERS(",\"event\"", "[\"a\",[0,0,1],\"launch\"]")},
    {HS_ROUTE_FRAMES_POST, true,
     "{\"frames\":{\"columns\":[\"players\",\"time\"],\"rows\":[[[],1],[[" PLAYER "}],2]]}}"},
    {HS_ROUTE_FRAMES_POST, false, "{\"frames\":{\"rows\":[],\"columns\":[\"players\",\"time\"]}}"},
    {HS_ROUTE_HITS_POST, true,
     "{\"hits\":{\"columns\":[\"shot\",\"shooter\",\"hit_time\",\"start\",\"end\"],"
     "\"rows\":[[1,\"a\",1,[0,0,0],[1,0,0]]]}}"},
    {HS_ROUTE_HITS_POST, false,
     "{\"hits\":{\"columns\":[\"shot\",\"shooter\",\"hit_time\",\"start\",\"end\"],"
     "\"rows\":[[1,\"a\",1,[0,0,0],null]]}}"},
    /* Bones in one array. */
    {HS_ROUTE_FRAMES_POST, true, FRAMES(",\"bones\":[1,2,3,0,0,0,1]")},
    {HS_ROUTE_FRAMES_POST, true, FRAMES(",\"bones\":[1,2,3,0,0,0,1,1,2,3,0,0,0,-1e-3]")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"bones\":[1,2,3,0,0,0,1,1]")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"bones\":[1,2,3,0,0,0,1,null]")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"bones\":[null,1,2,3,0,0,0,1]")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"bones\":[[1,2,3,0,0,0,1],1,2,3,0,0,0,1]")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"bones\":[1,2,3,0,0,0,1e151]")},
    {HS_ROUTE_SHOTS_POST, true, SHOTS(",\"direction\":[3,0,4],\"seed\":12")},
    {HS_ROUTE_SHOTS_POST, true, SHOTS(",\"directions\":[[3,0,4],[1,0,0]]")},
    {HS_ROUTE_SHOTS_POST, false, SHOTS(",\"direction\":[0,0,0]")},
    {HS_ROUTE_HITS_POST, true, HITS(",\"end\":[9,0,1],\"target\":\"b\"")},
    {HS_ROUTE_HITS_POST, true, HITS(",\"velocity\":[9,0,1],\"fuse\":\"contact\"")},
    {HS_ROUTE_HITS_POST, true,
     HITS(",\"pellets\":[{\"end\":[9,0,1]},{\"end\":[8,0,1],\"target\":null}]")},
    {HS_ROUTE_HITS_POST, false, HITS("")},
    {HS_ROUTE_HITS_POST, false, "{\"now\":1}"},
    {HS_ROUTE_TICKS_POST, true, "{}"},
    {HS_ROUTE_TICKS_POST, true, "{\"now\":1,\"shots\":[],\"hits\":[]}"},
    /* Ignored members. */
    {HS_ROUTE_FRAMES_POST, true, FRAMES(",\"x_note\":1")},
    {HS_ROUTE_FRAMES_POST, true,
     "{\"x_\":-1.5e3,"
     "\"frames\":[],\"x_" LONG "\":\"" LONG "\"}"},
    {HS_ROUTE_FRAMES_POST, true,
     FRAMES(",\"x_a\":{\"a\":[true,false,null,{},[],\"a b\"],\"b\":{\"a\":[0]}},\"alive\":true")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"x_a\":1,\"x_a\":1")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"x_a\":{\"b\":1,\"b\":1}")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"x_a\":1e999")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"x_a\":[1,]")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"x_a\":01")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"x_a\":nul")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"x_a\"")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"y_a\":1")},
    /* Correct, but unusual. */
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"x_a\":[[[[[]]]]]")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"x_a\":\"\xc3\xa9\"")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"weapon\":\"ri\\u0066le\"")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"bones\":[]")},
    /* Wrong. */
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"weapon\":\"a\",\"weapon\":\"a\"")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"alive\":1")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"life\":1.5")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"life\":01")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"life\":99999999999999999999")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"damage_scale\":1e999")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"damage_scale\":9999999999999999999")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"weapon\":\"a b\"")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"eye\":[0,0]")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"eye\":[0,0,1,]")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES(",\"nobody\":1")},
    {HS_ROUTE_FRAMES_POST, false, FRAMES("") "x"},
    {HS_ROUTE_FRAMES_POST, false, "\xef\xbb\xbf" FRAMES("")},
    {HS_ROUTE_FRAMES_POST, false, "{\"frames\":[{\"time\":1,\"players\":[" PLAYER "}]}]"},
    {HS_ROUTE_FRAMES_POST, false, "{\"frames\":[{\"players\":[]}]}"},
    {HS_ROUTE_FRAMES_POST, false, "{}"},
    {HS_ROUTE_FRAMES_POST, false, ""},
};

enum { ROWS = sizeof rows / sizeof *rows };

START_TEST(a_body_is_read_or_left_to_the_parser)
{
    struct hs_fuzz_body body;
    struct hs_ticks_request tree = {0}, direct = {0};
    const char *text = rows[_i].text;
    hs_fuzz_body_open(&body, text, strlen(text));
    const char *fault = hs_fuzz_body_decode(&body, rows[_i].route, &tree);
    ck_assert_msg(fault == NULL, "%s: %s", text, fault);
    bool is_direct = hs_ticks_read_directly(&body.reader, body.text, rows[_i].route, &direct);
    ck_assert_msg(is_direct == rows[_i].is_direct, "%s: %d", text, is_direct);
    ck_assert(is_direct || direct.fields == 0);
    hs_fuzz_body_close(&body);
}
END_TEST

/* If a text is cut anywhere, the direct reader leaves it to the parser. Each cut text has its own
   memory, so that sanitizers notice reads past its end. */
static const struct {
    enum hs_route route;
    const char *text;
} whole[] = {
    {HS_ROUTE_HITS_POST,
     HITS(",\"pellets\":[{\"end\":[9,0,1]},{\"end\":[8,0,1.5e1],\"target\":null}]")},
    {HS_ROUTE_TICKS_POST,
     "{\"x_a\":[1,{\"b\":null}],\"moves\":" TABLE("\"received\"", "[\"a\",1.25,12345678.9]") "}"},
    {HS_ROUTE_FRAMES_POST,
     PLAYERS(",\"bones\"", "[\"a\",[1.123456789012345678,2,3],[-1.5,2,3,0,0,0.0123,1]]")},
};

START_TEST(a_cut_body_is_left_to_the_parser)
{
    const char *text = whole[_i].text;
    struct hs_fuzz_body body;
    struct hs_ticks_request direct = {0};
    hs_fuzz_body_open(&body, text, strlen(text));
    ck_assert(hs_ticks_read_directly(&body.reader, body.text, whole[_i].route, &direct));
    for (size_t size = 0; size < strlen(text); size++) {
        char *copy = malloc(size + 1);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy + 1, text, size);
        const struct hs_str cut = {copy + 1, size};
        direct = (struct hs_ticks_request){0};
        ck_assert(!hs_ticks_read_directly(&body.reader, cut, whole[_i].route, &direct));
        free(copy);
    }
    hs_fuzz_body_close(&body);
}
END_TEST

/* More players than the first capacity of a list, and more than a request may have. */
START_TEST(lists_grow_up_to_the_limit)
{
    enum { MOST = 256 };
    static char text[MOST * 64 + 128];
    for (size_t count = 0; count <= MOST + 1; count += count < 40 ? 1 : 31) {
        struct hs_fuzz_body body;
        struct hs_ticks_request tree = {0}, direct = {0};
        size_t len = (size_t)sprintf(text, "{\"frames\":[{\"time\":1,\"players\":[");
        for (size_t i = 0; i < count; i++)
            len += (size_t)sprintf(text + len, "%s{\"player\":\"p%zu\",\"position\":[%zu,0,0]}",
                                   i > 0 ? "," : "", i, i);
        len += (size_t)sprintf(text + len, "]}]}");
        hs_fuzz_body_open(&body, text, len);
        ck_assert_ptr_null(hs_fuzz_body_decode(&body, HS_ROUTE_TICKS_POST, &tree));
        ck_assert(hs_ticks_read_directly(&body.reader, body.text, HS_ROUTE_TICKS_POST, &direct) ==
                  (count <= MOST));
        ck_assert_uint_eq(direct.frames.entries, count <= MOST ? count : 0);
        hs_fuzz_body_close(&body);
    }
}
END_TEST

/* Draws a number. The text after the number may be empty, or begin with something that a reader
   must not take for a part of the number. */
static void random_number(struct hs_random *random, char text[128])
{
    double value = hs_random_log_between(random, 1e-12, 1e12);
    if (hs_random_chance(random, 0.1))
        value = hs_random_log_between(random, 1e-307, 1e307);
    value = hs_random_chance(random, 0.5) ? -value : value;
    int digits = hs_random_index(random, 18);
    if (hs_random_chance(random, 0.3))
        snprintf(text, 64, "%.*e", digits, value);
    else if (fabs(value) < 1e30 && hs_random_chance(random, 0.5))
        snprintf(text, 64, "%.*f", digits, value);
    else
        snprintf(text, 64, "%.*g", digits, value);
    if (hs_random_chance(random, 0.7))
        memset(text + strlen(text) + 1, hs_random_chance(random, 0.5) ? '7' : 'e', 40);
}

START_TEST(numbers_round_as_strtod_does)
{
    long cases = hs_test_count("HS_PROPERTY_CASES", 200000), read = 0;
    struct hs_random random = hs_random_start(hs_test_seed(14), 0);
    for (long i = 0; i < cases; i++) {
        char text[128] = "";
        double number;
        random_number(&random, text);
        size_t len = strlen(text), more = strlen(text + len + 1);
        struct hs_cursor cursor = {text, text + len + more};
        double expected = strtod(text, NULL);
        text[len] = more > 0 ? ',' : '\0';
        if (!hs_cursor_take_numbers(&cursor, 1, &number))
            continue; /* the reader refuses integers of more than 18 digits */
        read++;
        ck_assert_msg(number == expected, "%s", text);
        ck_assert_ptr_eq(cursor.at, text + len);
    }
    ck_assert_int_gt(read, cases * 9 / 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("direct");
    TCase *tests = tcase_create("bodies");
    tcase_add_loop_test(tests, a_body_is_read_or_left_to_the_parser, 0, ROWS);
    tcase_add_loop_test(tests, a_cut_body_is_left_to_the_parser, 0, sizeof whole / sizeof *whole);
    tcase_add_test(tests, lists_grow_up_to_the_limit);
    tcase_add_test(tests, numbers_round_as_strtod_does);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
