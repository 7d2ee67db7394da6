/* The library as users get it: installed, and linked by a C++ program as an archive and as a shared
   library. */
#include "tests/support/program.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* If the archive is built with sanitizers, only programs of the same compiler can be linked with
   it. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#endif

static char root[64];
static char environment[512]; /* environment variables for pkg-config */

#define CXX "g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror"

/* Runs a command, which must succeed, and returns its output. */
#define SHELL(...) shell_out(hs_test_shell(&shell_code, __VA_ARGS__))
static int shell_code;
static const char *shell_out(const char *out)
{
    ck_assert_msg(shell_code == 0, "code %d: %s", shell_code, out);
    return out;
}

static void setup(void)
{
    strcpy(root, "/tmp/hindsight_library_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    SHELL(": ${HS_PROGRAM:?}; unset MAKEFLAGS MAKELEVEL; make -s install-library DESTDIR=%s "
          "PREFIX=/usr "
          "VARIANT=$(basename $(dirname $HS_PROGRAM)) 2>&1",
          root);
    snprintf(environment, sizeof environment,
             "export PKG_CONFIG_PATH=%s/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=%s "
             "LD_LIBRARY_PATH=%s/usr/lib;",
             root, root, root);
}

static void teardown(void)
{
    SHELL("rm -r %s", root);
}

/* Compiles each header alone, and all headers inside an extern "C". */
START_TEST(headers_are_cxx)
{
    SHELL("cd %s/usr/include && for header in hindsight/*.h; do "
          "echo \"#include <$header>\" | " CXX " -I. -fsyntax-only -x c++ - 2>&1 || exit 1; done",
          root);
    SHELL("cd %s/usr/include && { echo 'extern \"C\" {'; "
          "printf '#include <%%s>\\n' hindsight/*.h; echo '}'; } | " CXX
          " -I. -fsyntax-only -x c++ - 2>&1",
          root);
}
END_TEST

/* The example program prints the output in docs/library.md, linked with the archive and with the
   shared library. */
START_TEST(example_runs)
{
    static const char *const packages[] = {"hindsight", "hindsight-static"};
    const char *package = packages[_i];
    SHELL("%s " CXX " examples/library.cpp $(pkg-config --cflags --libs %s) -o %s/example 2>&1",
          environment, package, root);
    ck_assert_str_eq(SHELL("%s %s/example", environment, root),
                     "accepted ok, damage 31.94\n"
                     "rejected no_intersection, damage 0.00, missed by 0.273\n");
    const char *needed = SHELL("readelf -d %s/example | grep NEEDED", root);
    const char *name = strstr(needed, "libhindsight.so.");
    ck_assert(_i == 0 ? name != NULL : name == NULL);
    /* The soname has two numbers: MAJOR.MINOR. */
    ck_assert(name == NULL || strspn(name + strlen("libhindsight.so."), "0123456789.") == 3);
}
END_TEST

/* A plugin links the archive, needs no other library, and exports no symbol of the archive. */
START_TEST(archive_links_into_plugins)
{
    SHELL("%s " CXX " -shared -fPIC -Wl,-z,text,-z,defs,--exclude-libs,ALL examples/library.cpp "
          "$(pkg-config --cflags --libs hindsight-static) -o %s/plugin.so 2>&1",
          environment, root);
    ck_assert_str_eq(SHELL("nm -D --defined-only %s/plugin.so | grep -c ' hs_' || true", root),
                     "0\n");
}
END_TEST

/* The shared library exports exactly the symbols that the installed headers declare, and needs only
   the C library. */
START_TEST(exports_are_the_headers)
{
    SHELL("cd %s/usr && cat include/hindsight/*.h | cc -E -P -Iinclude/hindsight -x c - | "
          "sed -E 's/; *(const char|extern) /;\\n\\1 /g' | "
          "grep -vE '^(static|typedef|struct [a-z_]*;)' | "
          "sed -nE 's/^[a-z_].*\\b(hs_[a-z0-9_]+)(\\(|\\[[A-Z0-9_]*\\];|;).*/\\1/p' | "
          "grep -E . | LC_ALL=C sort -u >declared; "
          "nm -D --defined-only lib/libhindsight.so | sed -nE 's/.* [TRDB] "
          "([a-z].*)@@HINDSIGHT.*/\\1/p' | "
          "LC_ALL=C sort -u >exported; diff declared exported 2>&1",
          root);
    ck_assert_int_gt(atoi(SHELL("wc -l <%s/usr/exported", root)), 100);
    ck_assert_str_eq(SHELL("readelf -d %s/usr/lib/libhindsight.so | grep NEEDED | "
                           "grep -cvE 'lib(c|m)\\.so' || true",
                           root),
                     "0\n");
}
END_TEST

int main(void)
{
#ifdef HAS_SANITIZER
    puts("SKIP: the library is linked into other programs without sanitizers only");
    return EXIT_SUCCESS;
#endif
    TCase *tests = tcase_create("library");
    tcase_set_timeout(tests, 120);
    tcase_add_unchecked_fixture(tests, setup, teardown);
    tcase_add_test(tests, headers_are_cxx);
    tcase_add_loop_test(tests, example_runs, 0, 2);
    tcase_add_test(tests, archive_links_into_plugins);
    tcase_add_test(tests, exports_are_the_headers);
    Suite *suite = suite_create("library");
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
