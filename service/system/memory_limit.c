#include "service/system/memory_limit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

/* Returns the lower of `limit` and the number in the file `name` of a control group. Returns
   `limit` if the file contains no number. */
static double lower_limit(double limit, const char *root, const char *mount, const char *group,
                          const char *name)
{
    char path[2 * PATH_SIZE];
    char text[64] = "";
    int len = snprintf(path, sizeof path, "%s%s%s/%s", root, mount, group, name);
    FILE *file = len < (int)sizeof path ? fopen(path, "re") : NULL;
    if (file == NULL)
        return limit;
    bool fine = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    double bytes = fine ? strtod(text, NULL) : 0; /* strtod reads "max" as 0 */
    return bytes > 0 && bytes < limit ? bytes : limit;
}

/* Returns the lowest of `limit` and the limits of a control group and its parents. Truncates the
   string `group`. */
static double lowest_upwards(double limit, const char *root, const char *mount, char *group,
                             const char *name)
{
    for (;;) {
        limit = lower_limit(limit, root, mount, group, name);
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            return limit;
        *slash = '\0';
    }
}

double hs_memory_limit_below(const char *root, double memory_bytes)
{
    char line[PATH_SIZE], path[PATH_SIZE];
    double limit = memory_bytes;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return limit;
    /* Lines are NUMBER:CONTROLLERS:/PATH. For version 2 of control groups, NUMBER is 0, and
       CONTROLLERS is empty. */
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (group == NULL)
            continue;
        *group++ = '\0';
        if (strncmp(line, "0:", 2) == 0 && controllers[1] == '\0')
            limit = lowest_upwards(limit, root, "/sys/fs/cgroup", group, "memory.max");
        else if (strcmp(controllers + 1, "memory") == 0)
            limit = lowest_upwards(limit, root, "/sys/fs/cgroup/memory", group,
                                   "memory.limit_in_bytes");
    }
    fclose(file);
    return limit;
}

size_t hs_memory_part(size_t configured, size_t memory, unsigned part)
{
    if (configured != 0)
        return configured;
    return memory != 0 ? memory / part : (size_t)(hs_memory_limit_bytes() / part);
}

double hs_memory_limit_bytes(void)
{
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    return hs_memory_limit_below("", memory);
}
