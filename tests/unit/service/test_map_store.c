/* Maps by name: they are replaced as a whole, stay while they are in use, and are limited in number
   and memory. */
#include "service/state/maps.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct hs_map_store *store;

enum { LIMIT = 700000 };

static void setup(void)
{
    store = hs_map_store_create(3, LIMIT);
    ck_assert_ptr_nonnull(store);
}

static void teardown(void)
{
    hs_map_store_destroy(store);
}

static struct hs_str str(const char *text)
{
    return (struct hs_str){text, strlen(text)};
}

/* Puts a map with `copies` boxes of this width. */
static enum hs_map_put put(const char *name, double width, size_t copies,
                           struct hs_map_entry **entry)
{
    struct hs_world_box *boxes = calloc(copies, sizeof *boxes);
    ck_assert_ptr_nonnull(boxes);
    for (size_t i = 0; i < copies; i++)
        boxes[i] = (struct hs_world_box){{0, 0, 0}, {width, 1, 1}};
    struct hs_world_mesh mesh = {.boxes = boxes, .box_count = copies};
    *entry = NULL;
    enum hs_map_put result = hs_map_store_put(store, str(name), &mesh, entry);
    free(boxes);
    return result;
}

static void put_and_drop(const char *name, double width, enum hs_map_put expected)
{
    struct hs_map_entry *entry;
    ck_assert_int_eq(put(name, width, 1, &entry), expected);
    hs_map_store_release(store, entry);
}

/* Returns the width of the map's box, measured with a ray. */
static double width_of(const struct hs_map_entry *entry)
{
    struct hs_world_contact contact;
    struct hs_sweep ray = {.start = {100, 0.5, 0.5}, .direction = {-1, 0, 0}, .length = 100};
    ck_assert(hs_world_sweep(entry->world, &ray, &contact));
    return 100 - contact.distance;
}

START_TEST(who_holds_a_map_keeps_it)
{
    put_and_drop("dm4", 5, HS_MAP_CREATED);
    struct hs_map_entry *old = hs_map_store_get(store, str("dm4"));
    ck_assert_ptr_nonnull(old);
    put_and_drop("dm4", 7, HS_MAP_REPLACED);
    struct hs_map_entry *new = hs_map_store_get(store, str("dm4"));
    ck_assert_ptr_ne(old, new);
    ck_assert_double_eq_tol(width_of(old), 5, 1e-9);
    ck_assert_double_eq_tol(width_of(new), 7, 1e-9);
    ck_assert(hs_map_store_delete(store, str(""), str("dm4")));
    ck_assert_ptr_null(hs_map_store_get(store, str("dm4")));
    hs_map_store_retain(store, new);
    hs_map_store_release(store, new);
    ck_assert_double_eq_tol(width_of(new), 7, 1e-9);
    ck_assert_uint_eq(hs_map_store_usage(store).maps, 0);
    ck_assert_uint_eq(hs_map_store_usage(store).bytes, old->info.bytes + new->info.bytes);
    hs_map_store_release(store, old);
    hs_map_store_release(store, new);
    hs_map_store_release(store, NULL);
    ck_assert_uint_eq(hs_map_store_usage(store).bytes, 0);
}
END_TEST

START_TEST(a_revision_depends_only_on_the_geometry)
{
    char first[HS_REVISION_MAX];
    struct hs_map_entry *entry;
    put("a", 5, 1, &entry);
    memcpy(first, entry->revision, sizeof first);
    ck_assert(strncmp(first, "sha256:", 7) == 0 && strlen(first) == 7 + 64);
    ck_assert_str_eq(entry->name.text, "a");
    hs_map_store_release(store, entry);
    put("b", 5, 1, &entry);
    ck_assert_str_eq(entry->revision, first);
    hs_map_store_release(store, entry);
    put("b", 6, 1, &entry);
    ck_assert_str_ne(entry->revision, first);
    hs_map_store_release(store, entry);
}
END_TEST

START_TEST(the_number_of_maps_is_limited)
{
    put_and_drop("a", 1, HS_MAP_CREATED);
    put_and_drop("b", 1, HS_MAP_CREATED);
    put_and_drop("c", 1, HS_MAP_CREATED);
    put_and_drop("d", 1, HS_MAP_FULL);
    put_and_drop("b", 2, HS_MAP_REPLACED);
    ck_assert(hs_map_store_delete(store, str(""), str("a")));
    ck_assert(!hs_map_store_delete(store, str(""), str("a")));
    put_and_drop("d", 4, HS_MAP_CREATED);
    struct hs_map_entry *entry = hs_map_store_get(store, str("b"));
    ck_assert_double_eq_tol(width_of(entry), 2, 1e-9);
    hs_map_store_release(store, entry);
    entry = hs_map_store_get(store, str("d"));
    ck_assert_double_eq_tol(width_of(entry), 4, 1e-9);
    hs_map_store_release(store, entry);
}
END_TEST

/* The bytes of a map count while it is under construction, too. */
START_TEST(the_memory_of_maps_is_limited)
{
    struct hs_map_entry *large, *other;
    ck_assert_int_eq(put("large", 1, 1700, &large), HS_MAP_CREATED);
    ck_assert_uint_gt(large->info.bytes, LIMIT / 8);
    ck_assert_uint_eq(hs_map_store_usage(store).bytes, large->info.bytes);
    ck_assert_int_eq(put("other", 1, 1700, &other), HS_MAP_CREATED);
    hs_map_store_release(store, other);
    ck_assert_int_eq(put("third", 1, 1700, &other), HS_MAP_TOO_BIG);
    ck_assert_ptr_null(other);
    ck_assert_uint_eq(hs_map_store_usage(store).bytes, 2 * large->info.bytes);
    hs_map_store_release(store, large);
    ck_assert(hs_map_store_delete(store, str(""), str("large")));
    ck_assert_int_eq(put("third", 1, 1700, &other), HS_MAP_CREATED);
    hs_map_store_release(store, other);
}
END_TEST

/* A tenant may use as much as remains free. Bytes that were reserved before a put become the bytes
   of the map. */
START_TEST(tenants_share_the_memory)
{
    const struct hs_world_box box = {{0, 0, 0}, {1, 1, 1}};
    struct hs_world_mesh mesh = {.boxes = &box, .box_count = 1};
    struct hs_share *share = hs_map_store_share(store);
    struct hs_map_entry *entry;
    size_t bytes = hs_map_store_put_bytes(store, &mesh, 0);
    ck_assert(hs_share_reserve(share, str("acme"), LIMIT / 2));
    ck_assert_int_eq(
        hs_map_store_put_kept(store, str("acme"), str("a"), &mesh, (struct hs_str){0}, 0, &entry),
        HS_MAP_TOO_BIG);
    ck_assert_int_eq(
        hs_map_store_put_kept(store, str("zeta"), str("a"), &mesh, (struct hs_str){0}, 0, &entry),
        HS_MAP_CREATED);
    hs_map_store_release(store, entry);
    hs_share_release(share, str("acme"), LIMIT / 2);
    ck_assert(hs_share_reserve(share, str("acme"), bytes));
    ck_assert_int_eq(hs_map_store_put_kept(store, str("acme"), str("b"), &mesh, (struct hs_str){0},
                                           bytes, &entry),
                     HS_MAP_CREATED);
    ck_assert_uint_eq(hs_share_used(share), 2 * entry->info.bytes);
    hs_map_store_release(store, entry);
    ck_assert(hs_map_store_delete(store, str("acme"), str("b")));
    ck_assert(hs_map_store_delete(store, str("zeta"), str("a")));
    ck_assert_uint_eq(hs_share_used(share), 0);
}
END_TEST

static void *replace_often(void *argument)
{
    double width = *(const double *)argument;
    for (int i = 0; i < 200; i++) {
        struct hs_map_entry *entry;
        put("shared", width, 1, &entry);
        hs_map_store_release(store, entry);
        if (i % 50 == 0)
            hs_map_store_delete(store, str(""), str("shared"));
    }
    return NULL;
}

START_TEST(threads_see_whole_maps)
{
    pthread_t threads[2];
    double widths[2] = {5, 9};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, replace_often, &widths[i]), 0);
    for (int i = 0; i < 2000; i++) {
        struct hs_map_entry *entry = hs_map_store_get(store, str("shared"));
        if (entry == NULL)
            continue;
        double width = width_of(entry);
        ck_assert(fabs(width - 5) < 1e-9 || fabs(width - 9) < 1e-9);
        hs_map_store_release(store, entry);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    hs_map_store_delete(store, str(""), str("shared"));
    ck_assert_uint_eq(hs_map_store_usage(store).bytes, 0);
}
END_TEST

/* The bytes of a mesh count until its last user releases it. */
START_TEST(meshes_are_kept_until_they_are_forgotten)
{
    struct hs_map_entry *first, *second;
    size_t count;
    hs_map_store_keep_meshes(store);
    ck_assert_int_eq(put("dm4", 5, 10, &first), HS_MAP_CREATED);
    size_t mesh = 10 * sizeof(struct hs_world_box);
    ck_assert_uint_eq(first->mesh.box_count, 10);
    ck_assert_double_eq(first->mesh.boxes[9].max.x, 5);
    ck_assert_uint_eq(hs_map_store_usage(store).bytes, first->info.bytes + mesh);
    hs_map_store_forget_mesh(store, first);
    ck_assert_ptr_null(first->mesh.boxes);
    ck_assert_uint_eq(hs_map_store_usage(store).bytes, first->info.bytes);
    ck_assert_int_eq(put("dm5", 5, 10, &second), HS_MAP_CREATED);
    ck_assert(hs_map_store_delete(store, str(""), str("dm5")));
    struct hs_map_entry **all = hs_map_store_all(store, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_ptr_eq(all[0], first);
    hs_map_store_release(store, all[0]);
    free(all);
    hs_map_store_release(store, first);
    hs_map_store_release(store, second); /* the mesh of `second` is freed together with `second` */
    ck_assert_uint_eq(hs_map_store_usage(store).bytes, first->info.bytes);
}
END_TEST

static enum hs_map_put restore(const char *name, size_t copies, struct hs_map_entry **entry)
{
    struct hs_world_box *boxes = calloc(copies, sizeof *boxes);
    ck_assert_ptr_nonnull(boxes);
    struct hs_world_mesh mesh = {.boxes = boxes, .box_count = copies};
    *entry = NULL;
    enum hs_map_put result =
        hs_map_store_restore(store, str(name), &mesh, (struct hs_str){0}, NULL, entry);
    free(boxes);
    return result;
}

/* A map is restored in two steps. Its bytes count from the first step on, its name from the
   second. */
START_TEST(a_map_is_restored_in_two_steps)
{
    struct hs_map_entry *entries[4], *other;
    static const char *const names[] = {"a", "b", "c", "d"};
    ck_assert_int_eq(restore("big", 100000, &other), HS_MAP_TOO_BIG);
    ck_assert_ptr_null(other);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq(restore(names[i], 2, &entries[i]), HS_MAP_CREATED);
        ck_assert_ptr_null(hs_map_store_get(store, str(names[i])));
    }
    ck_assert_uint_eq(hs_map_store_usage(store).bytes, 4 * entries[0]->info.bytes);
    for (size_t i = 0; i < 4; i++)
        ck_assert_int_eq(hs_map_store_restore_name(store, str("acme"), entries[i]),
                         i < 3 ? HS_MAP_CREATED : HS_MAP_FULL);
    ck_assert_int_eq(restore("a", 1, &other), HS_MAP_CREATED);
    ck_assert_int_eq(hs_map_store_restore_name(store, str("zeta"), other), HS_MAP_FOREIGN);
    hs_map_store_release(store, other);
    for (size_t i = 0; i < 4; i++)
        hs_map_store_release(store, entries[i]);
    ck_assert_uint_eq(hs_map_store_usage(store).maps, 3);
    ck_assert(!hs_map_store_delete(store, str("zeta"), str("a")));
    ck_assert(hs_map_store_delete(store, str("acme"), str("a")));
    ck_assert(hs_map_store_delete(store, str("acme"), str("b")));
    ck_assert(hs_map_store_delete(store, str("acme"), str("c")));
    ck_assert_uint_eq(hs_map_store_usage(store).bytes, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("map store");
    TCase *tests = tcase_create("store");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, who_holds_a_map_keeps_it);
    tcase_add_test(tests, a_revision_depends_only_on_the_geometry);
    tcase_add_test(tests, the_number_of_maps_is_limited);
    tcase_add_test(tests, the_memory_of_maps_is_limited);
    tcase_add_test(tests, tenants_share_the_memory);
    tcase_add_test(tests, threads_see_whole_maps);
    tcase_add_test(tests, meshes_are_kept_until_they_are_forgotten);
    tcase_add_test(tests, a_map_is_restored_in_two_steps);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
