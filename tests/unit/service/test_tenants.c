/* Ownership below HTTP: matches, rulesets and maps of several tenants. */
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"
#include "tests/support/files.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ACME HS_STR("acme")
#define ZETA HS_STR("zeta")

static const struct hs_str anybody = {0};

static struct hs_ruleset_store *rulesets;
static struct hs_map_store *maps;
static struct hs_registry *registry;

static void setup(void)
{
    char error[256];
    rulesets = hs_ruleset_store_create("metres", 12, 1 << 24, error);
    maps = hs_map_store_create(4, 1 << 20);
    registry = hs_registry_create(8, rulesets, maps);
    ck_assert(rulesets != NULL && maps != NULL && registry != NULL);
}

static void teardown(void)
{
    hs_registry_destroy(registry);
    hs_map_store_destroy(maps);
    hs_ruleset_store_destroy(rulesets);
}

static enum hs_registry_result open_match(struct hs_str tenant, struct hs_str name,
                                          struct hs_match_slot **slot)
{
    struct hs_match_opening opening = {.ruleset = hs_ruleset_store_get(rulesets, HS_STR("default")),
                                       .limits = {.players = 8, .samples = 16, .movers = 8},
                                       .tenant = tenant};
    enum hs_registry_result result = hs_registry_acquire(registry, tenant, name, &opening, slot);
    hs_ruleset_store_release(rulesets, opening.ruleset);
    return result;
}

static void count_slot(void *context, struct hs_match_slot *slot)
{
    (void)slot;
    ++*(size_t *)context;
}

static size_t count_of(struct hs_str tenant)
{
    size_t count = 0;
    hs_registry_each(registry, tenant, count_slot, &count);
    return count;
}

START_TEST(a_match_belongs_to_its_tenant)
{
    struct hs_match_slot *slot, *other = NULL;
    struct hs_name owner;
    ck_assert_int_eq(open_match(ACME, HS_STR("m"), &slot), HS_REGISTRY_CREATED);
    /* This thread holds the lock of the match, so another wait for the lock would never end. */
    ck_assert_int_eq(open_match(ZETA, HS_STR("m"), &other), HS_REGISTRY_FOREIGN);
    ck_assert_int_eq(hs_registry_acquire(registry, ZETA, HS_STR("m"), NULL, &other),
                     HS_REGISTRY_FOREIGN);
    ck_assert_int_eq(hs_registry_acquire(registry, HS_STR(""), HS_STR("m"), NULL, &other),
                     HS_REGISTRY_FOREIGN);
    ck_assert_ptr_null(other);
    ck_assert_uint_eq(count_of(ZETA), 0);
    ck_assert_uint_eq(count_of(HS_STR("")), 0);
    ck_assert(hs_registry_owner(registry, HS_STR("m"), &owner));
    ck_assert_str_eq(owner.text, "acme");
    ck_assert(!hs_registry_owner(registry, HS_STR("n"), &owner));
    hs_registry_release(registry, slot);

    ck_assert_int_eq(open_match(ACME, HS_STR("m"), &slot), HS_REGISTRY_FOUND);
    hs_registry_release(registry, slot);
    ck_assert_int_eq(hs_registry_acquire(registry, anybody, HS_STR("m"), NULL, &slot),
                     HS_REGISTRY_FOUND);
    hs_registry_release(registry, slot);
    ck_assert_int_eq(open_match(ZETA, HS_STR("n"), &slot), HS_REGISTRY_CREATED);
    hs_registry_release(registry, slot);
    ck_assert_uint_eq(count_of(ACME), 1);
    ck_assert_uint_eq(count_of(ZETA), 1);
    ck_assert_uint_eq(count_of(anybody), 2);
}
END_TEST

START_TEST(a_name_is_free_again_when_its_match_has_ended)
{
    struct hs_match_slot *slot;
    ck_assert_int_eq(open_match(ACME, HS_STR("m"), &slot), HS_REGISTRY_CREATED);
    hs_registry_remove(registry, slot);
    hs_registry_release(registry, slot);
    ck_assert_int_eq(open_match(ZETA, HS_STR("m"), &slot), HS_REGISTRY_CREATED);
    ck_assert_str_eq(slot->tenant.text, "zeta");
    hs_registry_release(registry, slot);
}
END_TEST

static enum hs_ruleset_put put_ruleset(struct hs_str owner, const char *text)
{
    struct hs_problem problem;
    char revision[HS_REVISION_MAX];
    hs_problem_init(&problem);
    struct hs_ruleset *ruleset =
        hs_ruleset_from_text((struct hs_str){text, strlen(text)}, anybody, &problem);
    ck_assert_ptr_nonnull(ruleset);
    return hs_ruleset_store_put(rulesets, owner, ruleset, revision);
}

START_TEST(a_ruleset_belongs_to_its_tenant)
{
    ck_assert_int_eq(put_ruleset(ACME, "{\"name\":\"mine\"}"), HS_RULESET_CREATED);
    ck_assert_int_eq(put_ruleset(ZETA, "{\"name\":\"mine\",\"up\":\"+y\"}"), HS_RULESET_FOREIGN);
    ck_assert_int_eq(put_ruleset(anybody, "{\"name\":\"mine\"}"), HS_RULESET_FOREIGN);
    ck_assert_int_eq(put_ruleset(ACME, "{\"name\":\"mine\"}"), HS_RULESET_REPLACED);
    /* No tenant may change an object that all may use. */
    ck_assert_int_eq(put_ruleset(ACME, "{\"name\":\"metres\"}"), HS_RULESET_FOREIGN);
    struct hs_ruleset_entry *entry = hs_ruleset_store_get(rulesets, HS_STR("mine"));
    ck_assert_str_eq(entry->owner.text, "acme");
    ck_assert_int_eq(entry->ruleset->up, HS_UP_PZ);
    hs_ruleset_store_release(rulesets, entry);
}
END_TEST

static void note_fault(void *context, const char *path, const struct hs_problem *problem)
{
    snprintf(context, 256, "%.40s: %.200s", strrchr(path, '/') + 1, problem->detail);
}

static void note_change(void *context, const char *name, const char *before, const char *after)
{
    (void)name;
    (void)before;
    (void)after;
    ++*(size_t *)context;
}

/* When the directory of rulesets is read again, a file does not take a name from a tenant. */
START_TEST(a_file_takes_no_name_from_a_tenant)
{
    char directory[] = "/tmp/hindsight_tenants_XXXXXX", path[64], fault[256] = "";
    size_t changes = 0;
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/mine.json", directory);
    hs_test_write_file(path, "{\"name\":\"mine\"}");
    /* The tenant also keeps the name if they put it after the files were read and before these are
       applied. */
    struct hs_ruleset_batch *batch = hs_ruleset_batch_read(rulesets, directory, note_fault, fault);
    ck_assert_ptr_nonnull(batch);
    ck_assert_int_eq(put_ruleset(ACME, "{\"name\":\"mine\"}"), HS_RULESET_CREATED);
    hs_ruleset_batch_put(batch, note_change, &changes);
    ck_assert_uint_eq(changes, 0);
    struct hs_ruleset_entry *entry = hs_ruleset_store_get(rulesets, HS_STR("mine"));
    ck_assert_str_eq(entry->owner.text, "acme");
    hs_ruleset_store_release(rulesets, entry);
    batch = hs_ruleset_batch_read(rulesets, directory, note_fault, fault);
    ck_assert_ptr_nonnull(batch);
    hs_ruleset_batch_put(batch, note_change, &changes);
    ck_assert_uint_eq(changes, 0);
    ck_assert_str_eq(fault, "mine.json: a tenant has uploaded a ruleset with this name");
    unlink(path);
    rmdir(directory);
}
END_TEST

/* A file cannot replace a built-in ruleset either. */
START_TEST(no_file_takes_a_reserved_name)
{
    static const char *const names[] = {"default", "metres", "centimetres", "inches",
                                        "unreal",  "unity",  "godot",       "source"};
    char directory[] = "/tmp/hindsight_tenants_XXXXXX", path[64], fault[256], expected[256];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s.json", directory, names[i]);
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        fputs("{}", file);
        fclose(file);
        ck_assert_ptr_null(hs_ruleset_batch_read(rulesets, directory, note_fault, fault));
        snprintf(expected, sizeof expected, "%s.json: `%s` is reserved: choose another name",
                 names[i], names[i]);
        ck_assert_str_eq(fault, expected);
        unlink(path);
    }
    rmdir(directory);
    ck_assert(!hs_ruleset_name_is_reserved(HS_STR("metre")));
}
END_TEST

START_TEST(a_map_belongs_to_its_tenant)
{
    static const struct hs_vec vertices[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    static const uint32_t triangles[1][3] = {{0, 1, 2}};
    const struct hs_world_mesh mesh = {
        .vertices = vertices, .vertex_count = 3, .triangles = triangles, .triangle_count = 1};
    struct hs_map_entry *mine = NULL, *other = NULL;
    struct hs_str name = HS_STR("dm1");
    ck_assert_int_eq(hs_map_store_put_kept(maps, ACME, name, &mesh, anybody, 0, &mine),
                     HS_MAP_CREATED);
    struct hs_map_usage before = hs_map_store_usage(maps);
    ck_assert_int_eq(hs_map_store_put_kept(maps, ZETA, name, &mesh, anybody, 0, &other),
                     HS_MAP_FOREIGN);
    ck_assert_int_eq(hs_map_store_put(maps, name, &mesh, &other), HS_MAP_FOREIGN);
    ck_assert_ptr_null(other);
    ck_assert(!hs_map_store_delete(maps, ZETA, name));
    ck_assert(!hs_map_store_delete(maps, anybody, name));
    struct hs_map_usage after = hs_map_store_usage(maps);
    ck_assert_uint_eq(before.maps, after.maps);
    ck_assert_uint_eq(before.bytes, after.bytes);
    ck_assert_str_eq(mine->owner.text, "acme");
    hs_map_store_release(maps, mine);
    ck_assert(hs_map_store_delete(maps, ACME, name));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tenants");
    TCase *tests = tcase_create("stores");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_match_belongs_to_its_tenant);
    tcase_add_test(tests, a_name_is_free_again_when_its_match_has_ended);
    tcase_add_test(tests, a_ruleset_belongs_to_its_tenant);
    tcase_add_test(tests, a_file_takes_no_name_from_a_tenant);
    tcase_add_test(tests, no_file_takes_a_reserved_name);
    tcase_add_test(tests, a_map_belongs_to_its_tenant);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
