/* Maps as documents: valid ones are read, and faults are reported. */
#include "api/maps.h"

#include "api/json/cursor.h"
#include "tests/support/oracle/map_reference.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hs_problem problem;
static struct hs_arena arena;
static struct hs_map_document document;

static void teardown(void)
{
    hs_map_document_free(&document);
    hs_arena_free(&arena);
}

static bool decode(struct hs_str text)
{
    hs_problem_init(&problem);
    hs_map_document_free(&document);
    struct hs_reader reader = {.problem = &problem, .arena = &arena};
    struct hs_world_mesh counts = hs_map_measure(text);
    bool fine = hs_map_decode(&reader, text, &counts, &document);
    ck_assert(!reader.no_memory);
    ck_assert(fine == (problem.code == HS_PROBLEM_NONE));
    return fine;
}

static bool decode_text(const char *text)
{
    return decode((struct hs_str){text, strlen(text)});
}

START_TEST(valid_maps_are_read)
{
    ck_assert(decode_text("{\"x_tool\":{\"vertices\":[[1]]},\"triangles\":[[0,1,2] , [2,1,0]],\n"
                          "\"vertices\":[[1,2.5,-3e2],[0,0,0],\t[1e-3,-0.0,7]],"
                          "\"boxes\":[{\"min\":[0,0,0],\"max\":[1,2,3],\"x_\":null}]}"));
    ck_assert_uint_eq(document.vertex_count, 3);
    ck_assert_uint_eq(document.triangle_count, 2);
    ck_assert_uint_eq(document.box_count, 1);
    ck_assert_double_eq(document.vertices[0].z, -300);
    ck_assert_double_eq(document.vertices[2].x, 1e-3);
    ck_assert_uint_eq(document.triangles[1][0], 2);
    ck_assert_double_eq(document.boxes[0].max.z, 3);
    struct hs_world_mesh mesh = hs_map_mesh(&document);
    ck_assert_uint_eq(mesh.triangle_count, 2);
    ck_assert(decode_text("{}"));
    ck_assert(decode_text(" { \"vertices\" : [ ] , \"boxes\":[]} "));
}
END_TEST

static const struct {
    const char *text, *pointer, *detail;
} faults[] = {
    {"{\"vertices\":[[0,0,0],[0,\"1\",0]]}", "/vertices/1/1", "must be a finite number"},
    {"{\"vertices\":[[0,0]]}", "/vertices/0", "must be an array of 3 numbers"},
    {"{\"vertices\":[[0,0,0,0]]}", "/vertices/0", "must be an array of 3 numbers"},
    {"{\"vertices\":[7]}", "/vertices/0", "must be an array of 3 numbers"},
    {"{\"vertices\":[[0,0,0],null]}", "/vertices/1", "must be an array of 3 numbers"},
    {"{\"vertices\":[[0,2e12,0]]}", "/vertices/0/1", "must be from -1e+12 to 1e+12"},
    {"{\"vertices\":[[0,1e400,0]]}", "/vertices/0",
     "contains a number that is not finite, or not in range"},
    {"{\"vertices\":[{\"a\":1,\"a\":2}]}", "/vertices/0", "contains a field twice"},
    {"{\"vertices\":[\"\\u0000\"]}", "/vertices/0", "must not contain a NUL character"},
    {"{\"vertices\":[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]}", "/vertices/0", "nested deeper than 16"},
    {"{\"vertices\":{}}", "/vertices", "must be an array"},
    {"{\"vertices\":null}", "/vertices", "must be an array"},
    {"{\"triangles\":[[0,0,1]],\"vertices\":[[0,0,0]]}", "/triangles/0/2",
     "must be the index of one of the 1 vertices"},
    {"{\"triangles\":[[0,0,-1]],\"vertices\":[[0,0,0]]}", "/triangles/0/2",
     "must be from 0 to 4294967295"},
    {"{\"triangles\":[[0,0,4294967296]],\"vertices\":[[0,0,0]]}", "/triangles/0/2",
     "must be from 0 to 4294967295"},
    {"{\"triangles\":[[0,0,0.0]],\"vertices\":[[0,0,0]]}", "/triangles/0/2", "must be an integer"},
    {"{\"triangles\":[[0,0]],\"vertices\":[[0,0,0]]}", "/triangles/0",
     "must be an array of 3 indices of vertices"},
    {"{\"boxes\":[{\"min\":[0,0,0]}]}", "/boxes/0/max", "is required"},
    {"{\"boxes\":[{\"min\":[0,0,0],\"max\":[1,1,1],\"color\":1}]}", "/boxes/0/color",
     "is not a field of this request"},
    {"{\"boxes\":[{\"min\":[0,5,0],\"max\":[1,1,1]}]}", "/boxes/0/min/1",
     "must not be above that of max"},
    {"{\"boxes\":[{\"min\":[0,5],\"max\":[1,1,1]}]}", "/boxes/0/min",
     "must be an array of 3 numbers"},
    {"{\"vertices\":[],\"vertices\":[]}", "/vertices", "occurs twice in the same object"},
    {"{\"name\":\"dm4\"}", "/name", "is not a field of this request"},
    {"[]", "", "must be an object"},
    {"{\"vertic\\u0065s\":[[0,0,0]]}", "/vertices", "must have its name written without escapes"},
};

START_TEST(faults_in_maps_name_their_place)
{
    ck_assert(!decode_text(faults[_i].text));
    ck_assert_int_eq(problem.code, HS_PROBLEM_INVALID_REQUEST);
    ck_assert_uint_eq(problem.count, 1);
    ck_assert_str_eq(problem.errors[0].pointer, faults[_i].pointer);
    ck_assert_str_eq(problem.errors[0].detail, faults[_i].detail);
}
END_TEST

/* JSON that is no geometry, in the lists or beside them, takes twenty times its bytes in memory. So
   a map may have fewer bytes of such JSON than of geometry. */
START_TEST(bytes_without_geometry_are_limited)
{
    enum { MOST = 1 << 20 };
    static const struct {
        const char *before, *after, *pointer, *detail;
    } cases[] = {
        {"{\"x_a\":[", "0]}", "", "has more than 1048576 bytes beside its lists"},
        {"{\"x_a\":[", "0],\"vertices\":[[1,2,3]]}", "",
         "has more than 1048576 bytes beside its lists"},
        {"{\"vertices\":[[1,2,3],[", "0]]}", "/vertices/1", "is longer than 1048576 bytes"},
        {"{\"boxes\":[{\"min\":[0,0,0],\"max\":[1,1,1],\"x_a\":[", "0]}]}", "/boxes/0",
         "is longer than 1048576 bytes"},
    };
    char *text = malloc(MOST + 256);
    ck_assert_ptr_nonnull(text);
    size_t len = strlen(cases[_i].before);
    memcpy(text, cases[_i].before, len);
    for (size_t i = 0; i < MOST / 2; i++, len += 2)
        memcpy(text + len, "0,", 2);
    strcpy(text + len, cases[_i].after);
    ck_assert(!decode_text(text));
    ck_assert_int_eq(problem.code, HS_PROBLEM_INVALID_REQUEST);
    ck_assert_uint_eq(problem.count, 1);
    ck_assert_str_eq(problem.errors[0].pointer, cases[_i].pointer);
    ck_assert_str_eq(problem.errors[0].detail, cases[_i].detail);
    free(text);
}
END_TEST

static const struct {
    const char *text, *place;
} malformed[] = {
    {"", "line 1, column 1: '[' or '{' expected"},
    {"{\"vertices\":[[0,0,0],\n [0,0,0]", "line 2, column 9"},
    {"{\"vertices\":[[0,0,0]\n,]}", "line 2, column 2"},
    {"{\"vertices\":[[0,0,0] [0,0,0]]}", "line 1, column 22"},
    {"{\"vertices\":[\n[0,0,01]]}", "line 2, column "},
    {"{\"vertices\":[[0,0,0],\n[1,2,3]],\n\"x_\":nul}", "line 3, column "},
    {"{\"vertices\":[[0,0,0],[1,2,3]],\n\"triangles\":[] \"boxes\":[]}", "line 2, column 23"},
    {"{\"vertices\":[[0,0,0]]}}", "line 1, column 2"},
    {"{\"vertices\":[[0,0,+1]]}", "line 1, column "},
    {"{\"vertices\":[[0,0,1.]]}", "line 1, column "},
    {"{\"vertices\":[[0,0,.5]]}", "line 1, column "},
    {"{\"vertices\":[[0,0,NaN]]}", "line 1, column "},
    {"{\"vertices\":[[0,0,\"\xff\"]]}", "line 1, column "},
    {"\xef\xbb\xbf{\"vertices\":[]}", "the body begins with a byte order mark"},
};

START_TEST(faults_of_json_name_their_place)
{
    ck_assert(!decode_text(malformed[_i].text));
    ck_assert_int_eq(problem.code, HS_PROBLEM_MALFORMED_JSON);
    ck_assert_msg(strncmp(problem.detail, malformed[_i].place, strlen(malformed[_i].place)) == 0,
                  "%s", problem.detail);
}
END_TEST

/* A map has a hundred thousand faults. The first ones are described, the others are counted, and
   this is fast. */
START_TEST(further_faults_are_counted)
{
    enum { COUNT = 100000 };
    struct hs_buffer text = {0};
    hs_buffer_puts(&text, "{\"vertices\":[[0,0,0]],\"triangles\":[[0,0,0]");
    for (int i = 1; i < COUNT; i++)
        hs_buffer_puts(&text, i % 2 == 0 ? ",[0,0,7]" : ",[0,0,0]");
    hs_buffer_puts(&text, "]}");
    ck_assert(!decode((struct hs_str){text.data, text.len}));
    ck_assert_uint_eq(problem.count, HS_PROBLEM_MAX);
    ck_assert_uint_eq(problem.left_out, COUNT / 2 - 1 - HS_PROBLEM_MAX);
    ck_assert_str_eq(problem.errors[1].pointer, "/triangles/4/2");
    hs_buffer_free(&text);
    hs_buffer_puts(&text, "{\"vertices\":[1");
    for (int i = 1; i < COUNT; i++)
        hs_buffer_puts(&text, ",{\"a\":[]}");
    hs_buffer_puts(&text, "]}");
    ck_assert(!decode((struct hs_str){text.data, text.len}));
    ck_assert_uint_eq(problem.count, HS_PROBLEM_MAX);
    ck_assert_uint_eq(problem.left_out, COUNT - HS_PROBLEM_MAX);
    hs_buffer_free(&text);
}
END_TEST

/* Every way to write a number gives the same double as strtod. */
START_TEST(numbers_are_rounded_as_they_should)
{
    uint64_t seed = hs_test_seed(20261121);
    struct hs_random random = hs_random_start(seed, 0);
    printf("numbers: HS_SEED=%llu\n", (unsigned long long)seed);
    for (int i = 0; i < 200000; i++) {
        char number[64], text[128];
        double x = hs_random_log_between(&random, 1e-20, 1e11);
        x = hs_random_chance(&random, 0.5) ? -x : x;
        if (i % 3 == 0)
            snprintf(number, sizeof number, "%.*g", 14 + i % 4, x);
        else if (i % 3 == 1)
            snprintf(number, sizeof number, "%.*f", i % 8, x);
        else
            snprintf(number, sizeof number, "%.*e", i % 20, x);
        snprintf(text, sizeof text, "[%s,0.1,123456789012345678e-17]", number);
        struct hs_cursor cursor = {text, text + strlen(text)};
        double out[3];
        ck_assert_msg(hs_cursor_take_reals(&cursor, out), "%s", text);
        ck_assert_msg(out[0] == strtod(number, NULL), "HS_SEED=%llu: %s as %.17g",
                      (unsigned long long)seed, number, out[0]);
        ck_assert(out[1] == 0.1);
        ck_assert(out[2] == strtod("123456789012345678e-17", NULL));
        ck_assert_ptr_eq(cursor.at, cursor.end);
    }
}
END_TEST

/* ---- comparison with a tree of values ---- */

static const char *const pieces[] = {
    "[1,2,3]",
    "[0,0,0]",
    "[2,1,0]",
    "[0,0.5,-1e3]",
    "[ 1 ,\n2 , 3 ]",
    "[1,2]",
    "[1,2,3,4]",
    "[1,\"2\",3]",
    "null",
    "[1e13,0,0]",
    "[01,2,3]",
    "[1,2,3",
    "[1,2,3]]",
    "{\"min\":[0,0,0],\"max\":[1,1,1]}",
    "[-1,0,0]",
    "[0,0,9]",
    "{\"min\":[2,0,0],\"max\":[1,1,1]}",
    "[4294967296,0,0]",
    "[1.0,2,3]",
    "\"[1,2,3]\"",
    "[-0,0,1]",
};

/* Draws a document of such pieces, most of them in their correct place. */
static void draw_text(struct hs_random *random, struct hs_buffer *out)
{
    static const char *const names[] = {"vertices", "triangles", "boxes", "x_list", "list"};
    int right[] = {0, 1, 13}, count = sizeof pieces / sizeof pieces[0];
    hs_buffer_puts(out, "{");
    int members = hs_random_index(random, 5);
    for (int m = 0; m < members; m++) {
        int name = hs_random_chance(random, 0.9) ? m % 3 : hs_random_index(random, 5);
        hs_buffer_printf(out, "%s\"%s\"%s[", m > 0 ? "," : "", names[name],
                         hs_random_chance(random, 0.5) ? ":" : " :\r\n ");
        int elements = hs_random_index(random, 6);
        for (int i = 0; i < elements; i++)
            hs_buffer_printf(
                out, "%s%s", i > 0 ? "," : "",
                pieces[hs_random_chance(random, 0.93) ? right[name % 3]
                                                      : hs_random_index(random, count)]);
        hs_buffer_puts(out, "]");
    }
    hs_buffer_puts(out, "}");
    if (out->len > 0 && hs_random_chance(random, 0.1))
        out->data[hs_random_index(random, (int)out->len)] = (char)hs_random_between(random, 1, 127);
}

START_TEST(agrees_with_a_tree_of_values)
{
    uint64_t seed = hs_test_seed(20261121);
    long cases = hs_test_count("HS_MAP_CASES", 100000), taken = 0;
    struct hs_random random = hs_random_start(seed, 1);
    printf("maps: HS_SEED=%llu, %ld documents\n", (unsigned long long)seed, cases);
    for (long i = 0; i < cases; i++) {
        struct hs_buffer text = {0};
        bool accepted;
        draw_text(&random, &text);
        const char *fault =
            hs_map_compare((struct hs_str){text.data, text.len}, &accepted, &problem);
        ck_assert_msg(fault == NULL, "document %ld: %s: %.*s", i, fault, (int)text.len, text.data);
        taken += accepted;
        hs_buffer_free(&text);
    }
    ck_assert_int_gt(taken * 10, cases);
    ck_assert_int_lt(taken * 10, cases * 9);
}
END_TEST

/* The written form of a mesh is read as the same bits. */
START_TEST(a_written_mesh_is_read_as_the_same_bits)
{
    static const struct hs_vec vertices[] = {
        {-0.0, 0.0, 4e-310}, {1e12, -1e12, 0.1}, {1.0 / 3, -2.0 / 7, 123456789.123456789}};
    static const uint32_t triangles[][3] = {{0, 1, 2}, {2, 1, 0}};
    static const struct hs_world_box boxes[] = {{{-0.3, -1.1, 0.7}, {0.0, 1, 0.7}}};
    static const struct hs_world_mesh meshes[] = {{.vertices = vertices,
                                                   .vertex_count = 3,
                                                   .triangles = triangles,
                                                   .triangle_count = 2,
                                                   .boxes = boxes,
                                                   .box_count = 1},
                                                  {0}};
    for (size_t i = 0; i < 2; i++) {
        struct hs_buffer text = {0};
        struct hs_writer writer = {.buffer = &text};
        hs_map_encode_document(&writer, &meshes[i]);
        ck_assert(!text.failed);
        ck_assert(decode((struct hs_str){text.data, text.len}));
        ck_assert_uint_eq(document.vertex_count, meshes[i].vertex_count);
        ck_assert_uint_eq(document.triangle_count, meshes[i].triangle_count);
        ck_assert_uint_eq(document.box_count, meshes[i].box_count);
        if (i == 0) {
            ck_assert_mem_eq(document.vertices, vertices, sizeof vertices);
            ck_assert_mem_eq(document.triangles, triangles, sizeof triangles);
            ck_assert_mem_eq(document.boxes, boxes, sizeof boxes);
        }
        hs_buffer_free(&text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("maps");
    TCase *tests = tcase_create("maps");
    tcase_add_checked_fixture(tests, NULL, teardown);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, valid_maps_are_read);
    tcase_add_test(tests, a_written_mesh_is_read_as_the_same_bits);
    tcase_add_loop_test(tests, bytes_without_geometry_are_limited, 0, 4);
    tcase_add_loop_test(tests, faults_in_maps_name_their_place, 0,
                        (int)(sizeof faults / sizeof faults[0]));
    tcase_add_loop_test(tests, faults_of_json_name_their_place, 0,
                        (int)(sizeof malformed / sizeof malformed[0]));
    tcase_add_test(tests, further_faults_are_counted);
    tcase_add_test(tests, numbers_are_rounded_as_they_should);
    tcase_add_test(tests, agrees_with_a_tree_of_values);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
