/*
 * Dependencies point one way: service -> api -> validators. This reads the #include lines of the
 * tree in the current directory, which is its top when run by make.
 *
 * validators/ may include its own headers, cglm and the C library; api/ its own, validators' and
 * libraries'; service/ anything but tests. Nothing outside tests/ includes tests/.
 */
#include <check.h>
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/run_suite.h"

enum layer { VALIDATORS, API, SERVICE, LAYERS };

static const char *const folders[LAYERS] = {"validators", "api", "service"};

/* All of C11, annex by annex; <signal.h>, <threads.h>, <time.h> and <locale.h> are left out on
   purpose: a verdict is a pure function. */
static const char *const c_library[] = {
    "assert.h", "ctype.h",    "float.h",  "inttypes.h",    "iso646.h",  "limits.h",
    "math.h",   "stdalign.h", "stdarg.h", "stdatomic.h",   "stdbool.h", "stddef.h",
    "stdint.h", "stdio.h",    "stdlib.h", "stdnoreturn.h", "string.h",  "tgmath.h",
};

/* Of the compiler: the four floats at a time that every x86-64 has; validators/base/lanes.h, which
   does without them elsewhere. */
static const char intrinsics[] = "emmintrin.h";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_c_library(const char *name)
{
    if (strcmp(name, intrinsics) == 0)
        return true;
    for (size_t i = 0; i < sizeof c_library / sizeof *c_library; i++)
        if (strcmp(name, c_library[i]) == 0)
            return true;
    return false;
}

/*
 * What an #include line names, with its opening delimiter first ("<math.h", "\"vec.h"); false when
 * the line is none. A computed include (a macro) gives "?".
 */
static bool read_include(const char *line, char *out, size_t size)
{
    while (isspace((unsigned char)*line))
        line++;
    if (*line++ != '#')
        return false;
    while (isspace((unsigned char)*line))
        line++;
    if (!begins(line, "include"))
        return false;
    line += strlen("include");
    while (isspace((unsigned char)*line))
        line++;
    char close = *line == '<' ? '>' : '"';
    const char *end = *line == '<' || *line == '"' ? strchr(line + 1, close) : NULL;
    if (end == NULL)
        snprintf(out, size, "?");
    else
        snprintf(out, size, "%.*s", (int)(end - line), line);
    return true;
}

/* Why a file of a layer may not include this; NULL: it may. */
static const char *objection(enum layer layer, const char *include)
{
    const char *name = include + 1;
    bool quoted = include[0] == '"';
    if (include[0] == '?')
        return "is computed, and cannot be checked";
    if (strstr(name, "..") != NULL || name[0] == '/')
        return "leaves its folder";
    if (begins(name, "tests/"))
        return "is a test's";
    if (layer == SERVICE)
        return NULL;
    if (begins(name, "service/"))
        return "is the service's";
    if (layer == API)
        return NULL;
    if (quoted)
        return strchr(name, '/') == NULL ? NULL : "is not a header of validators/";
    return is_c_library(name) || begins(name, "cglm/") ? NULL : "is neither cglm nor the C library";
}

struct tally {
    int files, includes, faults;
    char first[512]; /* fault */
};

static void fault(struct tally *tally, const char *path, const char *include, const char *why)
{
    printf("%s: %s %s\n", path, include, why);
    if (tally->faults++ == 0)
        snprintf(tally->first, sizeof tally->first, "%.300s: %.100s %.80s", path, include, why);
}

/* Quoted names without a folder must exist beside the file that includes them. */
static bool is_beside(const char *path, const char *name)
{
    char beside[1100];
    const char *slash = strrchr(path, '/');
    struct stat stat_buffer;
    snprintf(beside, sizeof beside, "%.*s/%s", (int)(slash - path), path, name);
    return stat(beside, &stat_buffer) == 0;
}

static void read_file(struct tally *tally, enum layer layer, const char *path)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    char line[1024], include[512];
    tally->files++;
    while (fgets(line, sizeof line, file) != NULL) {
        if (!read_include(line, include, sizeof include))
            continue;
        tally->includes++;
        const char *why = objection(layer, include);
        if (why != NULL)
            fault(tally, path, include, why);
        else if (layer == VALIDATORS && include[0] == '"' && !is_beside(path, include + 1))
            fault(tally, path, include, "is not in validators/");
    }
    fclose(file);
}

static bool is_source(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0);
}

static void read_folder(struct tally *tally, enum layer layer, const char *folder)
{
    DIR *directory = opendir(folder);
    ck_assert_msg(directory != NULL, "no %s here: run from the top of the tree", folder);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        char path[512];
        struct stat what;
        if (entry->d_name[0] == '.')
            continue;
        int length = snprintf(path, sizeof path, "%.200s/%.255s", folder, entry->d_name);
        ck_assert_int_lt(length, (int)sizeof path);
        ck_assert_int_eq(stat(path, &what), 0);
        if (S_ISDIR(what.st_mode))
            read_folder(tally, layer, path);
        else if (is_source(entry->d_name))
            read_file(tally, layer, path);
    }
    closedir(directory);
}

START_TEST(dependencies_point_one_way)
{
    struct tally tally = {0};
    read_folder(&tally, (enum layer)_i, folders[_i]);
    printf("%s: %d files, %d includes\n", folders[_i], tally.files, tally.includes);
    ck_assert_msg(tally.files >= 10, "only %d files in %s", tally.files, folders[_i]);
    ck_assert_msg(tally.includes >= tally.files, "only %d includes", tally.includes);
    ck_assert_msg(tally.faults == 0, "%d, the first: %s", tally.faults, tally.first);
}
END_TEST

/* The net has the holes it should have, and no others. */
static const struct {
    enum layer layer;
    const char *line;
    bool allowed;
} lines[] = {
    {VALIDATORS, "#include \"vec.h\"", true},
    {VALIDATORS, "#include <math.h>", true},
    {VALIDATORS, "#include <cglm/vec3.h>", true},
    {VALIDATORS, "#include <jansson.h>", false},
    {VALIDATORS, "#include <pthread.h>", false},
    {VALIDATORS, "#include <time.h>", false},
    {VALIDATORS, "#include <sys/types.h>", false},
    {VALIDATORS, "#include \"api/json/buffer.h\"", false},
    {VALIDATORS, "#include \"validators/vec.h\"", false},
    {VALIDATORS, "#include \"../api/buffer.h\"", false},
    {VALIDATORS, "  #  include <unistd.h> // late", false},
    {VALIDATORS, "#include HEADER", false},
    {VALIDATORS, "#include \"tests/support/stage.h\"", false},
    {API, "#include \"api/json/buffer.h\"", true},
    {API, "#include \"buffer.h\"", true},
    {API, "#include \"validators/vec.h\"", true},
    {API, "#include <jansson.h>", true},
    {API, "#include \"service/http/server.h\"", false},
    {API, "#include <service/http/server.h>", false},
    {API, "#include \"../service/http/http.h\"", false},
    {API, "\t#\tinclude \"tests/support/stage.h\"", false},
    {SERVICE, "#include \"api/json/buffer.h\"", true},
    {SERVICE, "#include <microhttpd.h>", true},
    {SERVICE, "#include \"tests/support/http.h\"", false},
    {SERVICE, "#include \"../tests/support/http.h\"", false},
};

#define LINES ((int)(sizeof lines / sizeof *lines))

START_TEST(the_check_can_fail)
{
    char include[512];
    ck_assert(read_include(lines[_i].line, include, sizeof include));
    ck_assert_msg((objection(lines[_i].layer, include) == NULL) == lines[_i].allowed, "%s",
                  lines[_i].line);
}
END_TEST

START_TEST(other_lines_are_no_includes)
{
    char include[512];
    ck_assert(!read_include("include \"api/json/buffer.h\"", include, sizeof include));
    ck_assert(!read_include("#define include", include, sizeof include));
    ck_assert(!read_include("", include, sizeof include));
    ck_assert(!read_include("/* #include <x.h> */", include, sizeof include));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layers");
    TCase *tcase = tcase_create("layers");
    tcase_add_loop_test(tcase, dependencies_point_one_way, 0, LAYERS);
    tcase_add_loop_test(tcase, the_check_can_fail, 0, LINES);
    tcase_add_test(tcase, other_lines_are_no_includes);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
