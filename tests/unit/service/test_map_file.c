/* The geometry of a map in a file. The geometry is read as the same bits, and other files are
   refused. */
#include "service/checkpoint/map_file.h"

#include "service/state/maps.h"
#include "tests/support/oracle/world_cases.h"
#include "tests/support/program.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static int directory;

static void setup(void)
{
    strcpy(folder, "/tmp/hindsight_map_file_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    directory = open(folder, O_RDONLY | O_DIRECTORY);
    ck_assert_int_ge(directory, 0);
}

static void teardown(void)
{
    int code;
    hs_test_shell(&code, "rm -r '%s'", folder);
    ck_assert_int_eq(code, 0);
    close(directory);
}

#define DIGITS   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define REVISION "sha256:" DIGITS

static const char *path(void)
{
    static char text[160];
    snprintf(text, sizeof text, "%s/" DIGITS, folder);
    return text;
}

static void write_it(const struct hs_world_mesh *mesh)
{
    ck_assert_int_eq(hs_map_file_write(directory, REVISION, mesh), 0);
    ck_assert_int_ne(faccessat(directory, "map.new", F_OK, 0), 0);
}

static void assert_same(const struct hs_map_document *read, const struct hs_world_mesh *mesh)
{
    ck_assert_uint_eq(read->vertex_count, mesh->vertex_count);
    ck_assert_uint_eq(read->triangle_count, mesh->triangle_count);
    ck_assert_uint_eq(read->box_count, mesh->box_count);
    ck_assert_mem_eq(read->vertices, mesh->vertices, mesh->vertex_count * sizeof *mesh->vertices);
    ck_assert_mem_eq(read->triangles, mesh->triangles,
                     mesh->triangle_count * sizeof *mesh->triangles);
    ck_assert_mem_eq(read->boxes, mesh->boxes, mesh->box_count * sizeof *mesh->boxes);
}

/* Casts through both worlds give the same contact, to the last bit. */
static void assert_same_casts(const struct hs_world *a, const struct hs_world *b,
                              const struct hs_test_mesh *mesh)
{
    struct hs_random random = hs_random_start(11, 0);
    size_t touched = 0;
    for (int i = 0; i < 20000; i++) {
        struct hs_sweep sweep = hs_test_level_shot(mesh, &random, i % 3 == 0 ? 0 : 0.2 * (i % 3));
        struct hs_world_contact of_a, of_b;
        memset(&of_a, 0, sizeof of_a);
        memset(&of_b, 0, sizeof of_b);
        bool hit = hs_world_sweep(a, &sweep, &of_a);
        ck_assert(hit == hs_world_sweep(b, &sweep, &of_b));
        ck_assert_mem_eq(&of_a, &of_b, sizeof of_a);
        touched += hit;
    }
    ck_assert_uint_gt(touched, 5000);
    ck_assert_uint_lt(touched, 20000);
}

/* A whole level with boxes has the same revision and the same contacts after it was read. */
START_TEST(a_world_read_back_is_the_same)
{
    struct hs_test_mesh mesh = {0};
    struct hs_random random = hs_random_start(7, 0);
    hs_test_mesh_level(&mesh, &random, 40);
    hs_test_mesh_box(&mesh, (struct hs_vec){10.1, 10.2, -5}, (struct hs_vec){20.3, 20.4, 90.5});
    struct hs_map_store *store = hs_map_store_create(4, (size_t)1 << 32);
    struct hs_map_entry *put, *restored;
    ck_assert_int_eq(hs_map_store_put(store, HS_STR("level"), &mesh.mesh, &put), HS_MAP_CREATED);
    ck_assert_int_eq(hs_map_file_write(directory, put->revision, &mesh.mesh), 0);
    struct hs_map_document read;
    ck_assert_int_eq(hs_map_file_read(directory, put->revision, &read), HS_MAP_FILE_READ);
    assert_same(&read, &mesh.mesh);
    struct hs_world_mesh again = hs_map_mesh(&read);
    ck_assert_int_eq(
        hs_map_store_restore(store, HS_STR("again"), &again, (struct hs_str){0}, NULL, &restored),
        HS_MAP_CREATED);
    ck_assert_str_eq(put->revision, restored->revision);
    ck_assert_mem_eq(&put->info, &restored->info, sizeof put->info);
    assert_same_casts(put->world, restored->world, &mesh);
    hs_map_document_free(&read);
    hs_map_store_release(store, put);
    hs_map_store_release(store, restored);
    hs_map_store_destroy(store);
    hs_test_mesh_free(&mesh);
}
END_TEST

static const struct hs_vec odd_vertices[] = {
    {-0.0, 0.0, DBL_MIN / 4}, {1e12, -1e12, DBL_EPSILON}, {0.1, 1.0 / 3, -2e-308}};
static const uint32_t odd_triangles[][3] = {{0, 1, 2}, {2, 2, 2}};
static const struct hs_world_box odd_boxes[] = {{{-0.0, -1, 0.7}, {0.0, 1, 0.7}}};
static const struct hs_world_mesh odd = {.vertices = odd_vertices,
                                         .vertex_count = 3,
                                         .triangles = odd_triangles,
                                         .triangle_count = 2,
                                         .boxes = odd_boxes,
                                         .box_count = 1};

START_TEST(odd_numbers_and_nothing_at_all)
{
    struct hs_map_document read;
    static const struct hs_world_mesh nothing = {0};
    write_it(&odd);
    ck_assert_int_eq(hs_map_file_read(directory, REVISION, &read), HS_MAP_FILE_READ);
    assert_same(&read, &odd);
    hs_map_document_free(&read);
    write_it(&nothing); /* this file replaces the file of `odd` */
    ck_assert_int_eq(hs_map_file_read(directory, REVISION, &read), HS_MAP_FILE_READ);
    ck_assert_uint_eq(read.vertex_count + read.triangle_count + read.box_count, 0);
    hs_map_document_free(&read);
}
END_TEST

static void put_file(const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path(), "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Any changed bit and any other length is noticed. */
START_TEST(a_damaged_file_is_never_read)
{
    static unsigned char bytes[4096];
    struct hs_map_document read;
    write_it(&odd);
    FILE *file = fopen(path(), "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    ck_assert_uint_eq(size, 40 + 3 * 24 + 2 * 12 + 48);
    for (size_t i = 0; i < size * 8; i++) {
        bytes[i / 8] = (unsigned char)(bytes[i / 8] ^ 1 << i % 8);
        put_file(bytes, size);
        ck_assert_msg(hs_map_file_read(directory, REVISION, &read) == HS_MAP_FILE_DAMAGED,
                      "bit %zu", i);
        ck_assert_ptr_null(read.vertices);
        bytes[i / 8] = (unsigned char)(bytes[i / 8] ^ 1 << i % 8);
    }
    for (size_t len = 0; len <= size + 1; len++) {
        put_file(bytes, len);
        enum hs_map_file expected = len == size ? HS_MAP_FILE_READ : HS_MAP_FILE_DAMAGED;
        ck_assert_int_eq(hs_map_file_read(directory, REVISION, &read), expected);
        hs_map_document_free(&read);
    }
}
END_TEST

START_TEST(other_names_and_files_are_refused)
{
    static const char longer[] = REVISION "0", upper[] = "SHA256:" DIGITS;
    static const char *const wrong[] = {"",     "sha256:", "sha256:0123", "sha256:../../x",
                                        DIGITS, longer,    upper};
    struct hs_map_document read;
    char name[HS_MAP_FILE_NAME];
    ck_assert(hs_map_file_name(REVISION, name));
    ck_assert_str_eq(name, DIGITS);
    ck_assert_int_eq(hs_map_file_read(directory, REVISION, &read), HS_MAP_FILE_MISSING);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_int_eq(hs_map_file_write(directory, wrong[i], &odd), EINVAL);
        ck_assert_int_eq(hs_map_file_read(directory, wrong[i], &read), HS_MAP_FILE_MISSING);
    }
    /* A link, a directory, or a pipe: the service does not follow it, and does not wait for it. */
    ck_assert_int_eq(symlink("/dev/zero", path()), 0);
    ck_assert_int_eq(hs_map_file_read(directory, REVISION, &read), HS_MAP_FILE_DAMAGED);
    ck_assert_int_eq(unlink(path()), 0);
    ck_assert_int_eq(mkfifo(path(), 0600), 0);
    ck_assert_int_eq(hs_map_file_read(directory, REVISION, &read), HS_MAP_FILE_DAMAGED);
    ck_assert_int_eq(unlink(path()), 0);
    ck_assert_int_eq(mkdir(path(), 0700), 0);
    ck_assert_int_eq(hs_map_file_read(directory, REVISION, &read), HS_MAP_FILE_DAMAGED);
    ck_assert_int_ne(hs_map_file_write(directory, REVISION, &odd), 0);
    ck_assert_int_ne(faccessat(directory, "map.new", F_OK, 0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("map_file");
    TCase *tests = tcase_create("all");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_world_read_back_is_the_same);
    tcase_add_test(tests, odd_numbers_and_nothing_at_all);
    tcase_add_test(tests, a_damaged_file_is_never_read);
    tcase_add_test(tests, other_names_and_files_are_refused);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
