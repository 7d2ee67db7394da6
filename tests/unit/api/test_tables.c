/* Faults in tables, and in bones that are one array: where the faults are reported, and which items
   are refused because of them. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "api/ticks.h"
#include "tests/support/fuzz/body.h"
#include "tests/support/run_suite.h"

#define MOVES(columns, rows)                                                                       \
    "{\"moves\":{\"columns\":[\"player\",\"client_time\"" columns "],\"rows\":[" rows "]}}"
#define PLAYERS(columns, rows)                                                                     \
    "{\"frames\":[{\"time\":1,\"players\":[]},{\"time\":1,\"players\":{\"columns\":[\"player\","   \
    "\"position\"" columns "],\"rows\":[" rows "]}}]}"
#define HITS(columns, rows)                                                                        \
    "{\"hits\":{\"columns\":[\"shot\",\"shooter\",\"hit_time\",\"start\"" columns "],\"rows\":["   \
    "[7,\"s\",1,[0,0,1]" rows "]]}}"
#define BONES(bones) PLAYERS(",\"bones\"", "[\"a\",[0,0,0],[" bones "]]")
#define BONE         "0,0,1,0,0,0,1"

/* Bodies and their faults, in order. */
static const struct {
    const char *text;
    const char *faults[5]; /* "POINTER DETAIL" */
} bodies[] = {
    {"{\"moves\":7}", {"/moves must be an array, or an object with columns and rows"}},
    {"{\"moves\":{}}", {"/moves must be an array, or an object with columns and rows"}},
    {"{\"moves\":{\"columns\":[]}}", {"/moves/rows is required"}},
    {"{\"moves\":{\"rows\":[],\"now\":1}}",
     {"/moves/now is not a field of this request", "/moves/columns is required"}},
    {"{\"moves\":{\"columns\":[],\"rows\":[]}}",
     {"/moves/columns must be an array of 1 to 64 names"}},
    {"{\"moves\":{\"columns\":{},\"rows\":[]}}",
     {"/moves/columns must be an array of 1 to 64 names"}},
    {MOVES("", ""), {"/moves/columns must name received"}},
    {MOVES(",\"received\",\"player\",\"colour\",4", ""),
     {"/moves/columns/3 is listed twice", "/moves/columns/4 is not a field of this request",
      "/moves/columns/5 must be the name of a field"}},
    {"{\"moves\":{\"columns\":[\"player\",\"client_time\",\"received\"],\"rows\":{},\"now\":1}}",
     {"/moves/now is not a field of this request", "/moves/rows must be an array"}},
    {MOVES(",\"received\",\"x_a\",\"seq\"",
           "[\"a\",1,2,[],3],[\"a\",1,2,3],{},[\"a\",null,2,3,-1],[\"a\",1,2,3,null]"),
     {"/moves/rows/1 must be an array of 5 values, one for each column",
      "/moves/rows/2 must be an array of 5 values, one for each column",
      "/moves/rows/3/1 must not be null", "/moves/rows/3/4 must be from 0 to 9007199254740991"}},
    {MOVES(",\"received\",\"position\"", "[\"a\",1,2,[0,\"0\",0]]"),
     {"/moves/rows/0/3/1 must be a finite number"}},
    {PLAYERS(",\"event\"", "[\"a\",[0,0,0],\"launch\"]"),
     {"/frames/1/players/rows/0/velocity is required with the event launch"}},
    {PLAYERS(",\"event\",\"velocity\"",
             "[\"a\",[0,0,0],\"launch\",null],[\"b\",[0,0,0],null,[0,0,1]]"),
     {"/frames/1/players/rows/0/3 is required with the event launch",
      "/frames/1/players/rows/1/3 needs the event launch; no check uses another velocity"}},
    {HITS("", ""), {"/hits/rows/0/end is required unless pellets or velocity is present"}},
    {HITS(",\"x_a\",\"end\"", ",1,null"),
     {"/hits/rows/0/5 is required unless pellets or velocity is present"}},
    {"{\"frames\":{\"columns\":[\"players\",\"time\"],\"rows\":[[[{\"player\":\"a\"}],1],"
     "[{\"columns\":[\"player\"],\"rows\":[]},1],[{\"columns\":[\"player\",\"position\"],\"rows\":"
     "[[\"a b\",[0,0,0]]]},1]]}}",
     {"/frames/rows/0/0/0/position is required", "/frames/rows/1/0/columns must name position",
      "/frames/rows/2/0/rows/0/0 must be 1 to 64 characters of [A-Za-z0-9_.:-]"}},
    {BONES(BONE "," BONE), {NULL}},
    {BONES(BONE ",1"),
     {"/frames/1/players/rows/0/2 must have 7 numbers for each of at most 128 bones"}},
    {BONES("0,0,1,null,0,\"0\",1,0,0,1,0,0,0,1e151"),
     {"/frames/1/players/rows/0/2/3 must be a finite number",
      "/frames/1/players/rows/0/2/5 must be a finite number",
      "/frames/1/players/rows/0/2/13 must be from -1e+150 to 1e+150"}},
    {BONES("5,[" BONE "],null"),
     {"/frames/1/players/rows/0/2/0 must be null, or an array of 7 or 10 numbers"}},
};

START_TEST(every_fault_names_its_place)
{
    struct hs_fuzz_body body;
    struct hs_ticks_request tick = {0};
    const char *const *faults = bodies[_i].faults;
    size_t count = 0;
    hs_fuzz_body_open(&body, bodies[_i].text, strlen(bodies[_i].text));
    ck_assert_ptr_nonnull(body.root);
    body.reader.malformed = NULL;
    ck_assert_ptr_null(hs_fuzz_body_decode(&body, HS_ROUTE_TICKS_POST, &tick));
    for (; count < 5 && faults[count] != NULL; count++) {
        char fault[HS_POINTER_MAX + HS_DETAIL_MAX];
        ck_assert_msg(count < body.problem.count, "%s: no %s", bodies[_i].text, faults[count]);
        snprintf(fault, sizeof fault, "%s %s", body.problem.errors[count].pointer,
                 body.problem.errors[count].detail);
        ck_assert_str_eq(fault, faults[count]);
    }
    ck_assert_msg(body.problem.count == count, "%s: %s", bodies[_i].text,
                  body.problem.errors[count].pointer);
    hs_fuzz_body_close(&body);
}
END_TEST

/* The place at which a malformed item is listed when the other items are applied. */
static const struct {
    const char *text;
    enum hs_item kind;
    size_t frame, index, kept; /* kept: number of items of the kind that are applied */
    const char *who;
    int64_t number;
    const char *pointer;
} items[] = {
    {MOVES(",\"received\",\"seq\"", "[\"a\",1,2,3],[\"b\",\"1\",2,4],[\"c\",1,2,5]"), HS_ITEM_MOVE,
     0, 1, 2, "b", 4, "/moves/rows/1/1"},
    {MOVES(",\"received\"", "[\"a\",1],[\"b\",1,2]"), HS_ITEM_MOVE, 0, 0, 1, "a", -1,
     "/moves/rows/0"},
    {PLAYERS("", "[\"a\",[0,0,0]],[\"b\",[0,0]]"), HS_ITEM_PLAYER, 1, 1, 1, "b", -1,
     "/frames/1/players/rows/1/1"},
    {PLAYERS(",\"colour\"", "[\"a\",[0,0,0],1]"), HS_ITEM_FRAME, 0, 1, 0, NULL, -1,
     "/frames/1/players/columns/2"},
    {"{\"frames\":{\"columns\":[\"time\",\"players\"],\"rows\":[[1,[]],[2,{\"columns\":[\"player\","
     "\"position\"],\"rows\":[[\"a\",[0,0,0]],[\"b\",0]]}]]}}",
     HS_ITEM_PLAYER, 1, 1, 1, "b", -1, "/frames/rows/1/1/rows/1/1"},
    {HITS(",\"end\"", ",[0,0]"), HS_ITEM_HIT, 0, 0, 0, "s", 7, "/hits/rows/0/4"},
};

static size_t count_of(const struct hs_ticks_request *tick, enum hs_item kind)
{
    return kind == HS_ITEM_MOVE     ? tick->moves.count
           : kind == HS_ITEM_HIT    ? tick->hits.count
           : kind == HS_ITEM_PLAYER ? tick->frames.frames[1].player_count
                                    : tick->frames.count - 1; /* the first of the two frames has no
                                                                 fault */
}

START_TEST(a_malformed_row_is_left_out)
{
    struct hs_fuzz_body body;
    struct hs_ticks_request tick = {0};
    hs_fuzz_body_open(&body, items[_i].text, strlen(items[_i].text));
    ck_assert_ptr_null(hs_fuzz_body_decode(&body, HS_ROUTE_TICKS_POST, &tick));
    ck_assert_int_eq(body.problem.code, HS_PROBLEM_NONE);
    ck_assert_uint_eq(body.malformed.count, 1);
    const struct hs_malformed *item = hs_malformed_first(&body.malformed, items[_i].kind);
    ck_assert_ptr_nonnull(item);
    ck_assert_uint_eq(item->frame, items[_i].frame);
    ck_assert_uint_eq(item->index, items[_i].index);
    ck_assert_int_eq(item->number, items[_i].number);
    ck_assert(items[_i].who == NULL ? item->who.ptr == NULL
                                    : hs_str_equal(item->who, hs_str_of(items[_i].who)));
    ck_assert_str_eq(item->errors->pointer, items[_i].pointer);
    ck_assert_uint_eq(count_of(&tick, items[_i].kind), items[_i].kept);
    hs_fuzz_body_close(&body);
}
END_TEST

/* A request has a good frame, then more malformed players than a request may have, and a malformed
   frame. */
START_TEST(a_request_with_too_many_faults_has_no_items)
{
    enum { FRAMES = 2, PLAYERS = 200 };
    static char text[FRAMES * PLAYERS * 8 + 256];
    size_t len = (size_t)sprintf(text, "{\"frames\":[{\"time\":1,\"players\":[]}");
    for (int i = 0; i < FRAMES; i++) {
        len += (size_t)sprintf(text + len, ",{\"time\":2,\"players\":[0");
        for (int k = 1; k < PLAYERS; k++)
            len += (size_t)sprintf(text + len, ",0");
        len += (size_t)sprintf(text + len, "]}");
    }
    len += (size_t)sprintf(text + len, ",7]}");
    struct hs_fuzz_body body;
    struct hs_ticks_request tick = {0};
    hs_fuzz_body_open(&body, text, len);
    ck_assert_ptr_null(hs_fuzz_body_decode(&body, HS_ROUTE_TICKS_POST, &tick));
    ck_assert_int_eq(body.problem.code, HS_PROBLEM_INVALID_REQUEST);
    ck_assert_str_eq(body.problem.errors[0].pointer, "/frames/2/players");
    ck_assert_str_eq(body.problem.errors[1].pointer, "/frames");
    ck_assert_uint_eq(tick.frames.count, 0);
    hs_fuzz_body_close(&body);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tables");
    TCase *tests = tcase_create("faults");
    tcase_add_loop_test(tests, every_fault_names_its_place, 0, sizeof bodies / sizeof *bodies);
    tcase_add_loop_test(tests, a_malformed_row_is_left_out, 0, sizeof items / sizeof *items);
    tcase_add_test(tests, a_request_with_too_many_faults_has_no_items);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
