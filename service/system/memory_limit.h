/* Finds out how much memory this process may use before the kernel kills the process. */
#ifndef HS_SERVICE_MEMORY_LIMIT_H
#define HS_SERVICE_MEMORY_LIMIT_H

#include <stddef.h>

/* Returns the lowest of these values, in bytes: the machine's memory, the limit of this process's
   control group, and the limits of all parent groups. The limit of a group is in the file
   memory.max (version 2 of control groups) or memory.limit_in_bytes (version 1). */
double hs_memory_limit_bytes(void);

/* Like hs_memory_limit_bytes, but for tests. Looks for /proc/self/cgroup and /sys/fs/cgroup below
   `root`, and uses `memory_bytes` instead of the machine's memory. */
double hs_memory_limit_below(const char *root, double memory_bytes);

/* Returns `configured` if it is not 0, otherwise `memory` / `part`. If both are 0, returns
   hs_memory_limit_bytes() / `part`. Sizes are in bytes. */
size_t hs_memory_part(size_t configured, size_t memory, unsigned part);

/* Values of `part`: one half for histories, one quarter for maps, 1/16 for rulesets. */
enum { HS_HISTORY_PART = 2, HS_MAP_PART = 4, HS_RULESET_PART = 16 };

#endif
