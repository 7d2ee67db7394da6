/* Ids of verdicts: they are the same in every process, and differ if anything differs. */
#include "service/state/verdict_ids.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <string.h>

static struct hs_verdict_ids ids_of(const char *tenant, const char *match, uint64_t opening,
                                    const char *revision)
{
    struct hs_name owner = {{0}}, name = {{0}};
    struct hs_verdict_ids ids;
    hs_name_set(&owner, hs_str_of(tenant));
    hs_name_set(&name, hs_str_of(match));
    hs_verdict_ids_begin(&ids, &owner, &name, opening, revision);
    return ids;
}

static struct hs_verdict_id id_of(const struct hs_verdict_ids *ids, enum hs_verdict_about about,
                                  uint64_t session, uint64_t number, const char *shooter)
{
    struct hs_verdict_id id;
    hs_verdict_ids_make(ids, about, session, number, hs_str_of(shooter), &id);
    return id;
}

/* The expected ids are from another implementation: sha256sum makes the key, and
   `openssl mac -cipher AES-128-CBC -macopt hexkey:KEY CMAC` the id. */
START_TEST(ids_are_the_same_in_every_process)
{
    struct hs_verdict_ids ids = ids_of("studio", "arena-7", 1790000000000000, "sha256:ab");
    ck_assert_str_eq(id_of(&ids, HS_ABOUT_HIT, 3, 17, "alice").text,
                     "af3d732c20d7330afadda493c0218990");
    ids = ids_of("", "arena-7", 1790000000000000, "sha256:ab");
    ck_assert_str_eq(id_of(&ids, HS_ABOUT_HIT, 3, 17, "alice").text,
                     "ba54128723ddc95181ad3455621ff3d2");
}
END_TEST

START_TEST(every_part_changes_the_id)
{
    struct hs_verdict_ids all[] = {
        ids_of("t", "m", 1, "sha256:a"), ids_of("u", "m", 1, "sha256:a"),
        ids_of("", "m", 1, "sha256:a"),  ids_of("t", "n", 1, "sha256:a"),
        ids_of("t", "m", 2, "sha256:a"), ids_of("t", "m", 1, "sha256:b"),
    };
    static const struct {
        enum hs_verdict_about about;
        uint64_t session, number;
        const char *shooter;
    } items[] = {{HS_ABOUT_HIT, 1, 2, "a"},          {HS_ABOUT_SHOT, 1, 2, "a"},
                 {HS_ABOUT_CANCEL, 1, 2, "a"},       {HS_ABOUT_HIT, 2, 1, "a"},
                 {HS_ABOUT_HIT, 1, UINT64_MAX, "a"}, {HS_ABOUT_HIT, 1, 2, "b"},
                 {HS_ABOUT_HIT, 1, 2, "a0"}};
    enum { KEYS = sizeof all / sizeof all[0], ITEMS = sizeof items / sizeof items[0] };
    enum { IDS = KEYS * ITEMS };
    struct hs_verdict_id made[IDS];
    for (size_t i = 0; i < IDS; i++) {
        made[i] = id_of(&all[i / ITEMS], items[i % ITEMS].about, items[i % ITEMS].session,
                        items[i % ITEMS].number, items[i % ITEMS].shooter);
        ck_assert_uint_eq(strlen(made[i].text), 32);
        for (size_t j = 0; j < i; j++)
            ck_assert_msg(strcmp(made[i].text, made[j].text) != 0, "%zu and %zu", i, j);
    }
}
END_TEST

START_TEST(the_longest_names_fit)
{
    char name[HS_NAME_MAX + 1] = {0}, revision[] = "sha256:"
                                                   "0000000000000000000000000000000000000000000000"
                                                   "000000000000000000";
    memset(name, 'x', HS_NAME_MAX);
    struct hs_verdict_ids ids = ids_of(name, name, UINT64_MAX, revision);
    struct hs_verdict_id full = id_of(&ids, HS_ABOUT_SHOT, UINT64_MAX, UINT64_MAX, name);
    revision[sizeof revision - 2] = '1';
    ids = ids_of(name, name, UINT64_MAX, revision);
    struct hs_verdict_id other = id_of(&ids, HS_ABOUT_SHOT, UINT64_MAX, UINT64_MAX, name);
    ck_assert_str_ne(full.text, other.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("verdict_ids");
    TCase *tests = tcase_create("verdict_ids");
    tcase_add_test(tests, ids_are_the_same_in_every_process);
    tcase_add_test(tests, every_part_changes_the_id);
    tcase_add_test(tests, the_longest_names_fit);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
