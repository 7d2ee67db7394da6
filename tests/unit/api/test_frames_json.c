/* Movers in frames: documents become structs, faults name their places, and refusals become
   JSON. */
#include "api/ticks.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <string.h>

static struct hs_problem problem;
static struct hs_arena arena;
static json_t *root;
static struct hs_frames_request request;

static void read_text(const char *text)
{
    struct hs_reader reader = {.problem = &problem, .arena = &arena, .max_items = 3};
    hs_problem_init(&problem);
    struct hs_ticks_request tick = {0};
    root = hs_json_parse((struct hs_str){text, strlen(text)}, &problem);
    ck_assert_ptr_nonnull(root);
    hs_ticks_decode_body(&reader, root, HS_ROUTE_FRAMES_POST, &tick);
    request = tick.frames;
}

static void teardown(void)
{
    json_decref(root);
    root = NULL;
    hs_arena_free(&arena);
}

#define FRAME(movers) "{\"frames\":[{\"time\":1,\"players\":[],\"movers\":" movers "}]}"

static void assert_vector(struct hs_vec v, double x, double y, double z)
{
    ck_assert(v.x == x && v.y == y && v.z == z);
}

START_TEST(every_member_is_read_into_its_field)
{
    read_text(FRAME("[{\"mover\":\"lift_1\",\"position\":[1,2,3],\"rotation\":[0,0.6,0,0.8],"
                    "\"box\":{\"half_extents\":[4,5,6.5],\"center\":[7,-8,9]},\"solid\":true,"
                    "\"event\":\"teleport\",\"x_note\":1}]"));
    ck_assert_int_eq(problem.code, HS_PROBLEM_NONE);
    ck_assert_uint_eq(request.count, 1);
    ck_assert_uint_eq(request.entries, 1);
    ck_assert_uint_eq(request.frames[0].player_count, 0);
    ck_assert_uint_eq(request.frames[0].mover_count, 1);
    const struct hs_mover_frame *mover = request.frames[0].movers;
    ck_assert(hs_str_equal(mover->mover, HS_STR("lift_1")));
    ck_assert_uint_eq(mover->fields, HS_MOVER_ROTATION | HS_MOVER_BOX | HS_MOVER_SOLID);
    assert_vector(mover->position, 1, 2, 3);
    ck_assert(mover->rotation[0] == 0 && mover->rotation[1] == 0.6 && mover->rotation[3] == 0.8);
    assert_vector(mover->half_extents, 4, 5, 6.5);
    assert_vector(mover->center, 7, -8, 9);
    ck_assert(mover->is_solid);
    ck_assert(mover->teleported);
}
END_TEST

START_TEST(absent_members_set_no_bit)
{
    read_text(FRAME("[{\"mover\":\"a\",\"position\":[1,2,3]},"
                    "{\"mover\":\"b\",\"position\":[0,0,0],\"solid\":false,"
                    "\"box\":{\"half_extents\":[1,1,1]}}]"));
    ck_assert_int_eq(problem.code, HS_PROBLEM_NONE);
    const struct hs_mover_frame *movers = request.frames[0].movers;
    ck_assert_uint_eq(movers[0].fields, 0);
    ck_assert(!movers[0].teleported);
    ck_assert_uint_eq(movers[1].fields, HS_MOVER_BOX | HS_MOVER_SOLID);
    assert_vector(movers[1].center, 0, 0, 0);
    ck_assert(!movers[1].is_solid);
}
END_TEST

START_TEST(a_frame_needs_no_movers)
{
    read_text("{\"frames\":[{\"time\":1,\"players\":[{\"player\":\"a\",\"position\":[0,0,0]}]}]}");
    ck_assert_int_eq(problem.code, HS_PROBLEM_NONE);
    ck_assert_uint_eq(request.frames[0].mover_count, 0);
    ck_assert_uint_eq(request.entries, 1);
}
END_TEST

#define MOVER(members) FRAME("[{\"mover\":\"a\",\"position\":[0,0,0]," members "}]")
#define AT             "/frames/0/movers/0"

static const struct {
    const char *text, *pointer, *detail;
} bad[] = {
    {FRAME("{}"), "/frames/0/movers", "must be an array, or an object with columns and rows"},
    {FRAME("[{},{},{},{}]"), "/frames/0/movers", "must have from 0 to 3 elements"},
    {FRAME("[7]"), AT, "must be an object"},
    {FRAME("[{\"position\":[0,0,0]}]"), AT "/mover", "is required"},
    {FRAME("[{\"mover\":\"a\"}]"), AT "/position", "is required"},
    {FRAME("[{\"mover\":\"a b\",\"position\":[0,0,0]}]"), AT "/mover",
     "must be 1 to 64 characters of [A-Za-z0-9_.:-]"},
    {FRAME("[{\"mover\":\"a\",\"position\":[0,0]}]"), AT "/position",
     "must be an array of 3 numbers"},
    {FRAME("[{\"mover\":\"a\",\"position\":[0,0,\"0\"]}]"), AT "/position/2",
     "must be a finite number"},
    {MOVER("\"rotation\":[0,0,1]"), AT "/rotation", "must be an array of 4 numbers"},
    {MOVER("\"solid\":1"), AT "/solid", "must be true or false"},
    {MOVER("\"event\":\"spawn\""), AT "/event", "must be teleport"},
    {MOVER("\"event\":null"), AT "/event", "must be teleport"},
    {MOVER("\"player\":\"a\""), AT "/player", "is not a field of this request"},
    {MOVER("\"box\":[1,1,1]"), AT "/box", "must be an object"},
    {MOVER("\"box\":{}"), AT "/box/half_extents", "is required"},
    {MOVER("\"box\":{\"half_extents\":[1,1]}"), AT "/box/half_extents",
     "must be an array of 3 numbers"},
    {MOVER("\"box\":{\"half_extents\":[1,0,1]}"), AT "/box/half_extents/1", "must be above 0"},
    {MOVER("\"box\":{\"half_extents\":[1,1,-1e-9]}"), AT "/box/half_extents/2", "must be above 0"},
    {MOVER("\"box\":{\"half_extents\":[1,1,1],\"center\":[0,0]}"), AT "/box/center",
     "must be an array of 3 numbers"},
    {MOVER("\"box\":{\"half_extents\":[1,1,1],\"size\":1}"), AT "/box/size",
     "is not a field of this request"},
};

START_TEST(faults_have_their_places)
{
    read_text(bad[_i].text);
    ck_assert_int_eq(problem.code, HS_PROBLEM_INVALID_REQUEST);
    ck_assert_uint_eq(problem.count, 1);
    ck_assert_str_eq(problem.errors[0].pointer, bad[_i].pointer);
    ck_assert_str_eq(problem.errors[0].detail, bad[_i].detail);
}
END_TEST

START_TEST(a_frame_without_players_is_refused)
{
    read_text("{\"frames\":[{\"time\":1,\"movers\":[]}]}");
    ck_assert_int_eq(problem.code, HS_PROBLEM_INVALID_REQUEST);
    ck_assert_str_eq(problem.errors[0].pointer, "/frames/0/players");
}
END_TEST

/* Two frames: players a and b with mover m, then player c with movers n and o. */
static const char mixed[] =
    "{\"frames\":[{\"time\":1,\"movers\":[{\"mover\":\"m\",\"position\":[0,0,0]}],\"players\":["
    "{\"player\":\"a\",\"position\":[0,0,0]},{\"player\":\"b\",\"position\":[0,0,0]}]},"
    "{\"time\":2,\"players\":[{\"player\":\"c\",\"position\":[0,0,0]}],\"movers\":["
    "{\"mover\":\"n\",\"position\":[0,0,0]},{\"mover\":\"o\",\"position\":[0,0,0]}]}]}";

START_TEST(results_are_of_players_then_movers)
{
    const enum hs_frame_result results[] = {HS_FRAME_STORED,       HS_FRAME_TOO_OLD,
                                            HS_FRAME_BAD_ROTATION, HS_FRAME_STORED,
                                            HS_FRAME_STORED,       HS_FRAME_CAPACITY};
    read_text(mixed);
    ck_assert_uint_eq(request.entries, 6);
    struct hs_frames_counts counts;
    hs_frames_count(&request, NULL, results, &counts);
    ck_assert_uint_eq(counts.players[HS_FRAME_STORED], 2);
    ck_assert_uint_eq(counts.players[HS_FRAME_TOO_OLD], 1);
    ck_assert_uint_eq(counts.players[HS_FRAME_CAPACITY], 0);
    ck_assert_uint_eq(counts.movers[HS_FRAME_STORED], 1);
    ck_assert_uint_eq(counts.movers[HS_FRAME_BAD_ROTATION], 1);
    ck_assert_uint_eq(counts.movers[HS_FRAME_CAPACITY], 1);

    struct hs_buffer out = {0};
    struct hs_writer writer = {.buffer = &out};
    hs_frames_encode(&writer, &request, NULL, results, 2, 0, NULL, false);
    json_t *answer = json_loadb(out.data, out.len, 0, NULL);
    hs_buffer_free(&out);
    ck_assert_int_eq(json_integer_value(json_object_get(answer, "stored")), 2);
    static const struct {
        const char *kind, *name, *reason;
        int frame;
    } expected[] = {{"player", "b", "too_old", 0},
                    {"mover", "m", "bad_rotation", 0},
                    {"mover", "o", "capacity", 1}};
    const json_t *refused = json_object_get(answer, "refused");
    ck_assert_uint_eq(json_array_size(refused), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *refusal = json_array_get(refused, i);
        ck_assert_uint_eq(json_object_size(refusal), 4);
        ck_assert_str_eq(json_string_value(json_object_get(refusal, expected[i].kind)),
                         expected[i].name);
        ck_assert_str_eq(json_string_value(json_object_get(refusal, "reason")), expected[i].reason);
        ck_assert_int_eq(json_integer_value(json_object_get(refusal, "frame")), expected[i].frame);
    }
    json_decref(answer);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frames json");
    TCase *tcase = tcase_create("movers");
    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, every_member_is_read_into_its_field);
    tcase_add_test(tcase, absent_members_set_no_bit);
    tcase_add_test(tcase, a_frame_needs_no_movers);
    tcase_add_loop_test(tcase, faults_have_their_places, 0, sizeof bad / sizeof bad[0]);
    tcase_add_test(tcase, a_frame_without_players_is_refused);
    tcase_add_test(tcase, results_are_of_players_then_movers);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
