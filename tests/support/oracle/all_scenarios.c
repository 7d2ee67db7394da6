#include "tests/support/oracle/all_scenarios.h"

#include <glob.h>
#include <stdio.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static bool load_file(struct hs_all_scenarios *all, const char *path)
{
    char error[HS_SCENARIO_ERROR_MAX] = "there are too many files";
    struct hs_scenarios *file = NULL;
    if (all->file_count < LENGTH(all->files))
        file = hs_scenarios_load(path, error);
    if (file == NULL) {
        fprintf(stderr, "%s: %s\n", path, error);
        return false;
    }
    all->files[all->file_count++] = file;
    for (size_t i = 0; i < hs_scenarios_count(file); i++) {
        if (all->count == LENGTH(all->items)) {
            fprintf(stderr, "%s: there are too many scenarios\n", path);
            return false;
        }
        all->items[all->count++] = (struct hs_one_scenario){file, i};
    }
    return true;
}

bool hs_all_scenarios_load(struct hs_all_scenarios *all)
{
    glob_t found;
    *all = (struct hs_all_scenarios){0};
    if (glob("tests/scenarios/*.json", 0, NULL, &found) != 0) {
        fprintf(stderr, "no tests/scenarios here\n");
        return false;
    }
    bool fine = true;
    for (size_t i = 0; fine && i < found.gl_pathc; i++)
        fine = load_file(all, found.gl_pathv[i]);
    globfree(&found);
    return fine && all->count > 0;
}

void hs_all_scenarios_free(struct hs_all_scenarios *all)
{
    for (size_t i = 0; i < all->file_count; i++)
        hs_scenarios_destroy(all->files[i]);
}
