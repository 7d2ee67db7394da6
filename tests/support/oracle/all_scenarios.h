/* Loads every scenario of tests/scenarios. The working directory is the top of the tree. */
#ifndef HS_TESTS_ALL_SCENARIOS_H
#define HS_TESTS_ALL_SCENARIOS_H

#include "cli/play/scenario/file.h"

struct hs_one_scenario {
    const struct hs_scenarios *file;
    size_t index; /* index in the file */
};

struct hs_all_scenarios {
    size_t count;
    struct hs_one_scenario items[1024];
    /* private */
    size_t file_count;
    struct hs_scenarios *files[64];
};

/* Loads the scenarios. Returns false with the reason on stderr if a file is faulty, or there is no
   file. Free it in either case. */
bool hs_all_scenarios_load(struct hs_all_scenarios *all);
void hs_all_scenarios_free(struct hs_all_scenarios *all);

#endif
