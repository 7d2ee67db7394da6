/*
 * Dependencies have one direction: cli -> service -> api -> validators, and inside validators/ and
 * service/ from each room to earlier ones. This test reads the #include lines of the tree in the
 * current directory; make runs it at the top of the tree.
 *
 * Quoted includes are paths from the top of the tree. Public headers, at the root of validators/,
 * are installed in one folder. Public headers include each other by their bare names, and include
 * nothing else.
 */
#include <check.h>
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/run_suite.h"

/* Each place may include itself and the places before it in this list. */
static const char *const places[] = {
    "validators/base",
    "validators/geometry",
    "validators/rules",
    "validators/history",
    "validators/clock",
    "validators/world",
    "validators/match",
    "validators/hit",
    "validators/moves",
    "validators/snapshot",
    "api",
    "service/system",
    "service/watch",
    "service/database",
    "service/options",
    "service/store",
    "service/state",
    "service/record",
    "service/checkpoint",
    "service/sharing",
    "service/evidence",
    "service/delivery",
    "service/access",
    "service/reload",
    "service/http",
    "service/endpoints",
    "service",
    "cli",
};
enum { PLACES = sizeof places / sizeof *places, API = 10, NOWHERE = -1 };

/* The files at the root of service/ that rooms may include. Each counts as a file of a room. */
static const struct {
    const char *path, *room;
} shared_files[] = {
    {"service/service.h", "service/watch/"},
    {"service/housekeeping.", "service/reload/"},
};

/* The room that a public header belongs to. */
static const struct {
    const char *room, *headers;
} public_headers[] = {
    {"base", " budget bytes ledger_entry limits linkage str vec vocabulary work "},
    {"geometry", " spread sweep "},
    {"rules", " moves_rules rig ruleset "},
    {"history", " frame state "},
    {"clock", " move "},
    {"world", " world "},
    {"match", " match "},
    {"hit", " hints hit shot "},
    {"moves", " moves "},
    {"snapshot", " hindsight journal snapshot "},
};

/* All headers of C11's library, except <signal.h>, <threads.h>, <time.h> and <locale.h>. These are
   omitted because a verdict is a pure function. */
static const char c_library[] =
    " assert.h ctype.h float.h inttypes.h iso646.h limits.h math.h stdalign.h stdarg.h stdatomic.h"
    " stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h tgmath.h ";

/* The only file that includes cglm; its comment says which parts of it give the same bits on every
   machine. */
static const char cglm_user[] = "validators/base/glm.h";

/* The only file that includes the intrinsics of AVX. The intrinsics of SSE come with cglm. */
static const char avx_user[] = "validators/base/lanes.h";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Returns whether a list has a word. A list has a space before and after each word. */
static bool lists(const char *list, const char *word, size_t len)
{
    char spaced[128];
    snprintf(spaced, sizeof spaced, " %.*s ", (int)len, word);
    return strstr(list, spaced) != NULL;
}

static bool is_public(const char *path)
{
    return begins(path, "validators/") && strchr(path + strlen("validators/"), '/') == NULL;
}

/* Returns the place of a file from its path. NOWHERE: it belongs to no place. */
static int place_of(const char *path)
{
    char room[64] = "";
    if (is_public(path)) {
        const char *name = path + strlen("validators/");
        for (size_t i = 0; i < sizeof public_headers / sizeof *public_headers; i++)
            if (lists(public_headers[i].headers, name, strcspn(name, ".")))
                snprintf(room, sizeof room, "validators/%s/", public_headers[i].room);
        path = room;
    }
    for (size_t i = 0; i < sizeof shared_files / sizeof *shared_files; i++)
        if (begins(path, shared_files[i].path))
            path = shared_files[i].room;
    for (int i = 0; i < PLACES; i++)
        if (begins(path, places[i]) && path[strlen(places[i])] == '/')
            return i;
    return NOWHERE;
}

/* Reads the file name of an #include line, with its opening delimiter first ("<math.h", "\"vec.h").
   Returns false if the line is no #include. An include of a macro gives "?". */
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

/* Returns the reason why the file at `path` must not include `include`. Returns NULL if it may. */
static const char *objection(const char *path, const char *include)
{
    const char *name = include + 1;
    char full[512];
    if (include[0] == '?')
        return "is a macro, so it cannot be checked";
    if (strstr(name, "..") != NULL || name[0] == '/')
        return "leaves its folder";
    if (begins(name, "tests/"))
        return "is a file of the tests";
    if (include[0] == '<') {
        for (int i = 0; i < PLACES; i++)
            if (begins(name, places[i]))
                return "is a header of the project, so write it in quotes";
        if (begins(name, "cglm/"))
            return strcmp(path, cglm_user) == 0 ? NULL
                                                : "may only be included by validators/base/glm.h";
        if (strcmp(name, "immintrin.h") == 0)
            return strcmp(path, avx_user) == 0 ? NULL
                                               : "may only be included by validators/base/lanes.h";
        bool is_c = lists(c_library, name, strlen(name));
        return place_of(path) >= API || is_c ? NULL : "is not a header of the C library";
    }
    bool is_bare = strchr(name, '/') == NULL;
    if (is_bare != is_public(path))
        return is_bare ? "is not a path from the top of the tree"
                       : "is not a public header, which would be installed in the same folder";
    snprintf(full, sizeof full, "%s%.400s", is_bare ? "validators/" : "", name);
    int place = place_of(full);
    return place == NOWHERE         ? "is in no known folder"
           : place > place_of(path) ? "belongs to a later folder in the order of dependencies"
                                    : NULL;
}

struct tally {
    int files, includes, faults;
    char first[512]; /* the first fault */
};

static void fault(struct tally *tally, const char *path, const char *include, const char *why)
{
    printf("%s: %s %s\n", path, include, why);
    if (tally->faults++ == 0)
        snprintf(tally->first, sizeof tally->first, "%.300s: %.100s %.80s", path, include, why);
}

static void read_file(struct tally *tally, const char *path)
{
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "cannot read %s", path);
    char line[1024], include[512];
    tally->files++;
    if (place_of(path) == NOWHERE)
        fault(tally, path, "", "is in no known folder");
    while (fgets(line, sizeof line, file) != NULL) {
        if (!read_include(line, include, sizeof include))
            continue;
        tally->includes++;
        const char *why = objection(path, include);
        if (why != NULL)
            fault(tally, path, include, why);
    }
    fclose(file);
}

static bool is_source(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0);
}

static void read_folder(struct tally *tally, const char *folder)
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
            read_folder(tally, path);
        else if (is_source(entry->d_name))
            read_file(tally, path);
    }
    closedir(directory);
}

static const char *const folders[] = {"validators", "api", "service", "cli"};

START_TEST(dependencies_point_one_way)
{
    struct tally tally = {0};
    ck_assert_str_eq(places[API], "api");
    read_folder(&tally, folders[_i]);
    printf("%s: %d files, %d includes\n", folders[_i], tally.files, tally.includes);
    ck_assert_msg(tally.files >= 10, "only %d files in %s", tally.files, folders[_i]);
    ck_assert_msg(tally.includes >= tally.files, "only %d includes", tally.includes);
    ck_assert_msg(tally.faults == 0, "%d, the first: %s", tally.faults, tally.first);
}
END_TEST

/* The rules are tested themselves: they accept the includes that they should accept, and no
   others. */
static const struct {
    const char *path, *line;
    bool allowed;
} lines[] = {
    {"validators/hit.h", "#include \"match.h\"", true},
    {"validators/match.h", "#include \"hit.h\"", false},
    {"validators/match.h", "#include \"unheard_of.h\"", false},
    {"validators/match.h", "#include \"validators/frame.h\"", false},
    {"validators/hit/contact.c", "#include <math.h>", true},
    {"validators/base/glm.h", "#include <cglm/vec3.h>", true},
    {"validators/base/glm.h", "#include <emmintrin.h>", false},
    {"validators/base/lanes.h", "#include <cglm/vec3.h>", false},
    {"validators/base/lanes.h", "#include <emmintrin.h>", false},
    {"validators/base/lanes.h", "#include <immintrin.h>", true},
    {"validators/world/cast.c", "#include <immintrin.h>", false},
    {"validators/hit/contact.c", "#include <cglm/vec3.h>", false},
    {"api/hits.c", "#include <cglm/vec3.h>", false},
    {"validators/hit/contact.c", "#include <jansson.h>", false},
    {"validators/hit/contact.c", "#include <pthread.h>", false},
    {"validators/hit/contact.c", "#include <time.h>", false},
    {"validators/hit/contact.c", "#include <sys/types.h>", false},
    {"validators/hit/contact.c", "#include <validators/hit.h>", false},
    {"validators/hit/contact.c", "#include \"api/json/buffer.h\"", false},
    {"validators/hit/contact.c", "#include \"validators/vec.h\"", true},
    {"validators/hit/contact.c", "#include \"vec.h\"", false},
    {"validators/hit/contact.c", "#include \"contact.h\"", false},
    {"validators/hit/checks/aim.c", "#include \"validators/hit/context.h\"", true},
    {"validators/hit/checks/aim.c", "#include \"validators/snapshot.h\"", false},
    {"validators/geometry/path.c", "#include \"validators/geometry/path.h\"", true},
    {"validators/geometry/path.c", "#include \"validators/world/tree.h\"", false},
    {"validators/world/movers.c", "#include \"validators/match.h\"", false},
    {"validators/hit/contact.c", "#include \"../api/buffer.h\"", false},
    {"validators/hit/contact.c", "  #  include <unistd.h> // late", false},
    {"validators/hit/contact.c", "#include HEADER", false},
    {"validators/hit/contact.c", "#include \"tests/support/play/stage.h\"", false},
    {"api/hits.c", "#include \"api/json/buffer.h\"", true},
    {"api/hits.c", "#include \"hits.h\"", false},
    {"api/hits.c", "#include \"validators/vec.h\"", true},
    {"api/hits.c", "#include <jansson.h>", true},
    {"api/hits.c", "#include \"service/http/server.h\"", false},
    {"api/hits.c", "#include <service/http/server.h>", false},
    {"api/hits.c", "#include \"../service/http/server.h\"", false},
    {"api/hits.c", "\t#\tinclude \"tests/support/play/stage.h\"", false},
    {"service/serve.c", "#include \"api/json/buffer.h\"", true},
    {"service/serve.c", "#include <microhttpd.h>", true},
    {"service/serve.c", "#include \"cli/command.h\"", false},
    {"service/serve.c", "#include \"tests/support/http/client.h\"", false},
    {"service/watch/metrics.h", "#include \"service/watch/labels.h\"", true},
    {"service/watch/metrics.h", "#include \"service/access/tokens.h\"", false},
    {"service/options/values.c", "#include \"service/checkpoint/journal.h\"", false},
    {"service/checkpoint/save.c", "#include \"service/service.h\"", true},
    {"service/http/reply.c", "#include \"service/endpoints/table.h\"", false},
    {"service/http/reply.c", "#include \"service/serve.h\"", false},
    {"cli/main.c", "#include \"service/serve.h\"", true},
    {"cli/main.c", "#include \"../tests/support/http/client.h\"", false},
};

#define LINES ((int)(sizeof lines / sizeof *lines))

START_TEST(the_rules_refuse_wrong_includes)
{
    char include[512];
    ck_assert(read_include(lines[_i].line, include, sizeof include));
    ck_assert_msg((objection(lines[_i].path, include) == NULL) == lines[_i].allowed, "%s: %s",
                  lines[_i].path, lines[_i].line);
}
END_TEST

START_TEST(lines_that_are_no_includes_are_ignored)
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
    tcase_add_loop_test(tcase, dependencies_point_one_way, 0,
                        (int)(sizeof folders / sizeof *folders));
    tcase_add_loop_test(tcase, the_rules_refuse_wrong_includes, 0, LINES);
    tcase_add_test(tcase, lines_that_are_no_includes_are_ignored);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
