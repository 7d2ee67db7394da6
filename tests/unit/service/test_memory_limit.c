/* The memory limit, read from prepared control groups. */
#include "service/system/memory_limit.h"

#include "tests/support/files.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/hindsight-memory-XXXXXX";

static void setup(void)
{
    strcpy(root + strlen(root) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info;
    (void)type;
    (void)where;
    return remove(path);
}

static void teardown(void)
{
    ck_assert_int_eq(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Writes a file. `path` begins with a slash. */
static void put(const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s%s", root, path);
    for (char *slash = name + strlen(root); (slash = strchr(slash + 1, '/')) != NULL;
         *slash = '/') {
        *slash = '\0';
        mkdir(name, 0700);
    }
    hs_test_write_file(name, text);
}

START_TEST(without_groups_it_is_the_machine)
{
    ck_assert(hs_memory_limit_below(root, 1e9) == 1e9);
    put("/proc/self/cgroup", "0::/system.slice/hindsight.service\n");
    ck_assert(hs_memory_limit_below(root, 1e9) == 1e9);
    put("/sys/fs/cgroup/system.slice/hindsight.service/memory.max", "max\n");
    ck_assert(hs_memory_limit_below(root, 1e9) == 1e9);
}
END_TEST

START_TEST(version_2)
{
    put("/proc/self/cgroup", "0::/system.slice/hindsight.service\n");
    put("/sys/fs/cgroup/system.slice/hindsight.service/memory.max", "536870912\n");
    ck_assert(hs_memory_limit_below(root, 1e9) == 536870912);
    put("/sys/fs/cgroup/system.slice/memory.max", "268435456\n");
    ck_assert(hs_memory_limit_below(root, 1e9) == 268435456);
    ck_assert(hs_memory_limit_below(root, 1e8) == 1e8);
}
END_TEST

/* In a container, the group of the process is the root that the process sees. */
START_TEST(version_2_in_a_container)
{
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/memory.max", "134217728\n");
    ck_assert(hs_memory_limit_below(root, 1e9) == 134217728);
}
END_TEST

START_TEST(version_1)
{
    put("/proc/self/cgroup", "12:cpu,cpuacct:/x\n7:memory:/docker/abc\n0::/\n");
    put("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
    ck_assert(hs_memory_limit_below(root, 1e9) == 1e9);
    put("/sys/fs/cgroup/memory/docker/memory.limit_in_bytes", "104857600\n");
    ck_assert(hs_memory_limit_below(root, 1e9) == 104857600);
}
END_TEST

START_TEST(the_limit_of_this_process)
{
    ck_assert(hs_memory_limit_bytes() > 1e6);
    ck_assert_uint_eq(hs_memory_part(100, 6400, 16), 100);
    ck_assert_uint_eq(hs_memory_part(0, 6400, 16), 400);
    ck_assert_uint_eq(hs_memory_part(0, 0, 16), (size_t)(hs_memory_limit_bytes() / 16));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_limit");
    TCase *tests = tcase_create("groups");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, without_groups_it_is_the_machine);
    tcase_add_test(tests, version_2);
    tcase_add_test(tests, version_2_in_a_container);
    tcase_add_test(tests, version_1);
    tcase_add_test(tests, the_limit_of_this_process);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
