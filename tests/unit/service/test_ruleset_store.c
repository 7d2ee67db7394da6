/* The memory of rulesets is limited, tenants share it, and equal parts are stored once. The last
   tests are about omitted fields of documents. */
#include "service/state/rulesets.h"
#include "tests/support/files.h"
#include "tests/support/run_suite.h"
#include "validators/rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A ruleset with one rig and no weapons takes about 160 KB. */
enum { LIMIT = 4 << 20, RIG = sizeof(struct hs_rig) };

static struct hs_ruleset_store *store;
static size_t builtin; /* bytes of the built-in rulesets */

static void setup(void)
{
    char error[256];
    store = hs_ruleset_store_create("metres", 64, LIMIT, error);
    ck_assert_ptr_nonnull(store);
    builtin = hs_share_used(hs_ruleset_store_share(store));
    ck_assert_uint_gt(builtin, 3 * (size_t)RIG);
}

static void teardown(void)
{
    hs_ruleset_store_destroy(store);
}

static struct hs_str str(const char *text)
{
    return (struct hs_str){text, strlen(text)};
}

static size_t more(void)
{
    return hs_share_used(hs_ruleset_store_share(store)) - builtin;
}

#define RIG_TEXT(x)                                                                                \
    "{\"bones\":[\"root\"],\"hitboxes\":[{\"bone\":\"root\",\"zone\":\"body\",\"shape\":"          \
    "\"sphere\",\"radius\":" x                                                                     \
    "}],\"stances\":{\"stand\":{\"eye\":[0,0,1],\"bones\":[[0,0,1,0,0,0,1]]}}}"

/* Puts a ruleset with one rig, whose sphere has this radius. A different `number` makes a different
   document. */
static enum hs_ruleset_put put(const char *owner, const char *name, int radius, int number)
{
    struct hs_problem problem;
    char text[1024], revision[HS_REVISION_MAX];
    hs_problem_init(&problem);
    snprintf(text, sizeof text,
             "{\"name\":\"%s\",\"zones\":{\"body\":1},\"weapons\":{},\"rigs\":{\"r\":" RIG_TEXT(
                 "%d") "},\"default_rig\":\"r\",\"hit\":{\"max_victims\":%d}}",
             name, radius, number);
    struct hs_ruleset *ruleset = hs_ruleset_from_text(str(text), (struct hs_str){0}, &problem);
    ck_assert_msg(ruleset != NULL, "%s: %s %s", text, problem.errors[0].pointer,
                  problem.count > 0 ? problem.errors[0].detail : problem.detail);
    return hs_ruleset_store_put(store, str(owner), ruleset, revision);
}

START_TEST(equal_rigs_are_stored_once)
{
    ck_assert_int_eq(put("acme", "a", 1, 1), HS_RULESET_CREATED);
    size_t one = more();
    ck_assert_uint_gt(one, RIG);
    ck_assert_int_eq(put("acme", "b", 1, 2), HS_RULESET_CREATED);
    ck_assert_uint_lt(more() - one, RIG / 2);
    struct hs_ruleset_entry *a = hs_ruleset_store_get(store, HS_STR("a"));
    struct hs_ruleset_entry *b = hs_ruleset_store_get(store, HS_STR("b"));
    ck_assert_ptr_eq(a->ruleset->rigs[0], b->ruleset->rigs[0]);
    ck_assert_int_ne(a->ruleset->hit.max_victims, b->ruleset->hit.max_victims);
    /* A rig stays when the ruleset that brought it is replaced. */
    hs_ruleset_store_release(store, a);
    ck_assert_int_eq(put("acme", "a", 2, 1), HS_RULESET_REPLACED);
    ck_assert_double_eq(b->ruleset->rigs[0]->hitboxes[0].radius, 1);
    ck_assert_int_eq(put("acme", "b", 2, 2), HS_RULESET_REPLACED);
    ck_assert_double_eq(b->ruleset->rigs[0]->hitboxes[0].radius, 1);
    hs_ruleset_store_release(store, b);
    ck_assert_uint_lt(more(), one + RIG / 2);
    /* If another tenant has the same rig, that tenant is charged for it too. */
    size_t two = more();
    ck_assert_int_eq(put("zeta", "z", 2, 1), HS_RULESET_CREATED);
    ck_assert_uint_gt(more() - two, RIG);
}
END_TEST

/* The rigs of all rulesets have the same name, and each differs from the first in one place. */
START_TEST(rigs_that_differ_anywhere_are_stored_apart)
{
    static const struct {
        const char *bone, *shape, *stances;
    } rigs[] = {
#define SPHERE "\"sphere\",\"radius\":1"
#define STAND  "\"stand\":{\"eye\":[0,0,1],\"bones\":[[0,0,1,0,0,0,1]]}"
        {"root", SPHERE, STAND},
        {"rood", SPHERE, STAND},
        {"root", SPHERE ",\"center\":[0,0,0.5]", STAND},
        {"root", SPHERE, "\"stand\":{\"eye\":[0,0,2],\"bones\":[[0,0,1,0,0,0,1]]}"},
        {"root", SPHERE, "\"stand\":{\"eye\":[0,0,1],\"bones\":[[0,0,2,0,0,0,1]]}"},
        {"root", SPHERE, STAND ",\"sit\":{\"eye\":[0,0,1],\"bones\":[[0,0,1,0,0,0,1]]}"},
    };
    enum { COUNT = sizeof rigs / sizeof rigs[0] };
    const struct hs_rig *stored[COUNT];
    for (int i = 0; i < COUNT; i++) {
        struct hs_problem problem;
        char text[1024], name[8], revision[HS_REVISION_MAX];
        hs_problem_init(&problem);
        snprintf(name, sizeof name, "r%d", i);
        snprintf(
            text, sizeof text,
            "{\"name\":\"%s\",\"zones\":{\"body\":1},\"weapons\":{},\"rigs\":{\"r\":{"
            "\"bones\":[\"%s\"],\"hitboxes\":[{\"bone\":\"%s\",\"zone\":\"body\",\"shape\":%s}],"
            "\"stances\":{%s}}},\"default_rig\":\"r\"}",
            name, rigs[i].bone, rigs[i].bone, rigs[i].shape, rigs[i].stances);
        struct hs_ruleset *ruleset = hs_ruleset_from_text(str(text), (struct hs_str){0}, &problem);
        ck_assert_msg(ruleset != NULL, "%s: %s", text, problem.errors[0].detail);
        ck_assert_int_eq(hs_ruleset_store_put(store, str("acme"), ruleset, revision),
                         HS_RULESET_CREATED);
        struct hs_ruleset_entry *entry = hs_ruleset_store_get(store, str(name));
        stored[i] = entry->ruleset->rigs[0];
        hs_ruleset_store_release(store, entry);
        for (int k = 0; k < i; k++)
            ck_assert_ptr_ne(stored[k], stored[i]);
    }
}
END_TEST

/*
 * Putting the same document again gives the same revision and costs nothing, even while the old
 * entry is in use.
 */
START_TEST(an_equal_ruleset_keeps_the_entry)
{
    ck_assert_int_eq(put("acme", "a", 1, 1), HS_RULESET_CREATED);
    size_t one = more();
    struct hs_ruleset_entry *held = hs_ruleset_store_get(store, HS_STR("a"));
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(put("acme", "a", 1, 1), HS_RULESET_REPLACED);
    ck_assert_uint_eq(more(), one);
    struct hs_ruleset_entry *again = hs_ruleset_store_get(store, HS_STR("a"));
    ck_assert_ptr_eq(again, held);
    hs_ruleset_store_release(store, again);
    hs_ruleset_store_release(store, held);
}
END_TEST

/* Rulesets that only matches use count, too. One tenant fills half of the free space, and another
   tenant still has space. */
START_TEST(bytes_are_bounded)
{
    enum { MANY = 64 };
    struct hs_ruleset_entry *held[MANY];
    int count = 0;
    while (count < MANY && put("acme", "a", 10 + count, 1) != HS_RULESET_TOO_BIG)
        held[count++] = hs_ruleset_store_get(store, HS_STR("a"));
    ck_assert_int_gt(count, 4);
    ck_assert_int_lt(count, MANY);
    ck_assert_uint_le(more(), (LIMIT - builtin) / 2);
    ck_assert_uint_gt(more(), (LIMIT - builtin) / 4);
    ck_assert_int_eq(put("acme", "b", 1, 1), HS_RULESET_TOO_BIG);
    ck_assert_int_eq(put("zeta", "z", 1, 1), HS_RULESET_CREATED);
    struct hs_ruleset_entry *newest = hs_ruleset_store_get(store, HS_STR("a"));
    ck_assert_ptr_eq(newest, held[count - 1]); /* the refused ruleset replaced nothing */
    hs_ruleset_store_release(store, newest);
    for (int i = 0; i < count; i++)
        hs_ruleset_store_release(store, held[i]);
    ck_assert_uint_lt(more(), 3 * (size_t)RIG);
    ck_assert_int_eq(put("acme", "b", 1, 1), HS_RULESET_CREATED);
}
END_TEST

/* A canary that does not fit into the share of its owner is charged to nobody. It still belongs to
   the owner of its name, so other tenants never get it. */
START_TEST(a_restored_canary_has_the_owner_of_its_name)
{
    struct hs_ruleset_entry *held[64];
    struct hs_problem problem;
    int count = 0;
    ck_assert_int_eq(put("acme", "c", 1, 1), HS_RULESET_CREATED);
    while (count < 64 && put("acme", "a", 10 + count, 1) != HS_RULESET_TOO_BIG)
        held[count++] = hs_ruleset_store_get(store, HS_STR("a"));
    hs_problem_init(&problem);
    struct hs_ruleset_entry *canary = hs_ruleset_store_adopt(
        store, HS_STR("acme"),
        HS_STR("{\"name\":\"c\",\"zones\":{\"body\":1},\"weapons\":{},\"rigs\":{\"r\":" RIG_TEXT(
            "9") "},\"default_rig\":\"r\"}"),
        &problem);
    ck_assert_ptr_nonnull(canary);
    ck_assert_str_eq(canary->payer.text, "");
    hs_ruleset_store_restore_canary(store, HS_STR("acme"), canary, 1);
    struct hs_ruleset_entry *found =
        hs_ruleset_store_get_for_match(store, HS_STR("c"), HS_STR("m"));
    ck_assert_ptr_eq(found, canary);
    ck_assert_str_eq(found->owner.text, "acme");
    hs_ruleset_store_release(store, found);
    hs_ruleset_store_release(store, canary);
    for (int i = 0; i < count; i++)
        hs_ruleset_store_release(store, held[i]);
}
END_TEST

/* Returns a document with two rigs. */
static const char *two_rigs(int first, int second)
{
    static char text[2048];
    snprintf(text, sizeof text,
             "{\"name\":\"two\",\"zones\":{\"body\":1},\"weapons\":{},\"rigs\":{\"r\":" RIG_TEXT(
                 "%d") ",\"s\":" RIG_TEXT("%d") "},\"default_rig\":\"r\"}",
             first, second);
    return text;
}

/* Restores a ruleset with two rigs for a tenant who has `left` bytes left. */
static void adopt_two_rigs(int first, int second, size_t left)
{
    struct hs_share *share = hs_ruleset_store_share(store);
    struct hs_problem problem;
    size_t taken = hs_share_left(share, HS_STR("acme")) - left;
    hs_problem_init(&problem);
    ck_assert(hs_share_reserve(share, HS_STR("acme"), taken));
    size_t before = more();
    struct hs_ruleset_entry *entry =
        hs_ruleset_store_adopt(store, HS_STR("acme"), hs_str_of(two_rigs(first, second)), &problem);
    ck_assert_msg(entry != NULL, "%zu bytes left: %s", left, problem.detail);
    ck_assert_uint_eq(entry->ruleset->rig_count, 2);
    ck_assert_double_eq(entry->ruleset->rigs[0]->hitboxes[0].radius, first);
    ck_assert_double_eq(entry->ruleset->rigs[1]->hitboxes[0].radius, second);
    ck_assert_uint_gt(more() - before, 0);
    hs_ruleset_store_release(store, entry);
    ck_assert_uint_eq(more(), before);
    hs_share_release(share, HS_STR("acme"), taken);
}

/* An owner may have bytes left for some rigs of a restored ruleset, but not for all of them. */
START_TEST(a_restored_ruleset_is_whole_however_few_bytes_are_left)
{
    enum { STEP = RIG / 8, MOST = 3 * RIG };
    ck_assert_int_eq(put("acme", "a", 1, 1), HS_RULESET_CREATED);
    size_t kept = more();
    for (size_t left = 0; left <= MOST; left += STEP) {
        adopt_two_rigs(1, 2, left); /* the first rig is stored already */
        adopt_two_rigs(2, 1, left);
        adopt_two_rigs(2, 3, left);
        adopt_two_rigs(2, 2, left);
        ck_assert_uint_eq(more(), kept);
    }
    struct hs_ruleset_entry *a = hs_ruleset_store_get(store, HS_STR("a"));
    ck_assert_double_eq(a->ruleset->rigs[0]->hitboxes[0].radius, 1);
    hs_ruleset_store_release(store, a);
}
END_TEST

static void ignore_fault(void *context, const char *path, const struct hs_problem *problem)
{
    (void)path;
    snprintf(context, 256, "%s", problem->detail);
}

/* Files that do not fit are refused together, and nothing is charged for them. */
START_TEST(files_are_bounded_too)
{
    char directory[] = "/tmp/hindsight_rulesets_XXXXXX", path[96], why[256] = "";
    ck_assert_ptr_nonnull(mkdtemp(directory));
    for (int i = 0; i < 40; i++) {
        char text[1024];
        snprintf(path, sizeof path, "%s/f%d.json", directory, i);
        snprintf(text, sizeof text,
                 "{\"name\":\"f%d\",\"zones\":{\"body\":1},\"rigs\":{\"r\":" RIG_TEXT(
                     "%d") "},\"default_rig\":\"r\"}",
                 i, i + 1);
        hs_test_write_file(path, text);
    }
    ck_assert_ptr_null(hs_ruleset_batch_read(store, directory, ignore_fault, why));
    ck_assert_ptr_nonnull(strstr(why, "ruleset-bytes"));
    ck_assert_uint_eq(more(), 0);
    for (int i = 0; i < 40; i++) {
        snprintf(path, sizeof path, "%s/f%d.json", directory, i);
        unlink(path);
    }
    rmdir(directory);
}
END_TEST

static void ignore_change(void *context, const char *name, const char *before, const char *after)
{
    (void)context;
    (void)name;
    (void)before;
    (void)after;
}

static enum hs_ruleset_delete delete_ruleset(const char *name)
{
    return hs_ruleset_store_delete(store, (struct hs_str){0}, str(name), NULL, NULL);
}

/* The store is full, and a file replaces a ruleset. If this ruleset is deleted before the file is
   stored, its space stays reserved for the file. Row: the file is stored, discarded. */
START_TEST(files_keep_the_space_of_deleted_names)
{
    char directory[] = "/tmp/hindsight_rulesets_XXXXXX", path[96], error[256];
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/x.json", directory);
    hs_test_write_file(path, "{\"name\":\"x\"}");
    hs_ruleset_store_destroy(store);
    store = hs_ruleset_store_create("metres", HS_BUILTIN_RULESETS + 2, LIMIT, error);
    ck_assert_ptr_nonnull(store);
    ck_assert_int_eq(put("", "a", 1, 1), HS_RULESET_CREATED);
    ck_assert_int_eq(put("", "x", 1, 1), HS_RULESET_CREATED);
    struct hs_ruleset_batch *batch = hs_ruleset_batch_read(store, directory, ignore_fault, error);
    ck_assert_ptr_nonnull(batch);
    ck_assert_int_eq(delete_ruleset("x"), HS_RULESET_DELETED);
    ck_assert_int_eq(put("", "y", 1, 1), HS_RULESET_FULL);
    ck_assert_int_eq(delete_ruleset("a"), HS_RULESET_DELETED); /* no file has this name */
    ck_assert_int_eq(put("", "y", 1, 1), HS_RULESET_CREATED);
    if (_i == 0)
        hs_ruleset_batch_put(batch, ignore_change, NULL);
    else
        hs_ruleset_batch_discard(batch);
    ck_assert_int_eq(delete_ruleset("x"), _i == 0 ? HS_RULESET_IS_FILES : HS_RULESET_UNKNOWN);
    ck_assert_int_eq(put("", "z", 1, 1), _i == 0 ? HS_RULESET_FULL : HS_RULESET_CREATED);
    ck_assert_int_eq(delete_ruleset("y"), HS_RULESET_DELETED); /* no batch waits any more */
    ck_assert_int_eq(put("", "a", 1, 1), HS_RULESET_CREATED);
    ck_assert_uint_eq(hs_ruleset_store_count(store), HS_BUILTIN_RULESETS + 2);
    unlink(path);
    rmdir(directory);
}
END_TEST

/* The default of a field depends on the fields that the document sets. */
START_TEST(rewind_limit_defaults_to_no_more_than_what_is_kept)
{
    static const struct {
        const char *document;
        int64_t limit_us; /* -1: the document is refused */
    } documents[] = {
        {"{\"name\":\"a\"}", 400000},
        {"{\"name\":\"a\",\"history\":{\"keep\":0.25}}", 250000},
        {"{\"name\":\"a\",\"rewind\":{\"max_interp\":0},\"history\":{\"keep\":0.25}}", 250000},
        {"{\"name\":\"a\",\"history\":{\"keep\":0.5}}", 400000},
        {"{\"name\":\"a\",\"rewind\":{\"limit\":0.2},\"history\":{\"keep\":0.25}}", 200000},
        {"{\"name\":\"a\",\"rewind\":{\"limit\":0.4},\"history\":{\"keep\":0.25}}", -1},
    };
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        struct hs_problem problem;
        hs_problem_init(&problem);
        struct hs_ruleset *ruleset =
            hs_ruleset_from_text(str(documents[i].document), (struct hs_str){NULL, 0}, &problem);
        if (documents[i].limit_us < 0) {
            ck_assert_ptr_null(ruleset);
            ck_assert_str_eq(problem.errors[0].pointer, "/rewind/limit");
            continue;
        }
        ck_assert_msg(ruleset != NULL, "%s: %s", documents[i].document, problem.errors[0].detail);
        ck_assert_int_eq(ruleset->rewind.limit_us, documents[i].limit_us);
        hs_ruleset_destroy(ruleset);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ruleset store");
    TCase *tests = tcase_create("bytes");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, equal_rigs_are_stored_once);
    tcase_add_test(tests, rigs_that_differ_anywhere_are_stored_apart);
    tcase_add_test(tests, an_equal_ruleset_keeps_the_entry);
    tcase_add_test(tests, bytes_are_bounded);
    tcase_add_test(tests, a_restored_canary_has_the_owner_of_its_name);
    tcase_add_test(tests, a_restored_ruleset_is_whole_however_few_bytes_are_left);
    tcase_add_test(tests, files_are_bounded_too);
    tcase_add_loop_test(tests, files_keep_the_space_of_deleted_names, 0, 2);
    suite_add_tcase(suite, tests);
    TCase *documents = tcase_create("documents");
    tcase_add_test(documents, rewind_limit_defaults_to_no_more_than_what_is_kept);
    suite_add_tcase(suite, documents);
    return hs_run_suite(suite);
}
