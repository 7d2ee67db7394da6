/* Reads the metrics of the process from the kernel. */
#include "service/system/memory_limit.h"
#include "service/watch/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

struct memory {
    int64_t virtual, resident;
};

static struct memory memory_used(void)
{
    struct memory bytes = {0};
    char line[128] = "", *end = line;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL)
        return bytes;
    bool fine = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    if (fine) {
        int64_t page = sysconf(_SC_PAGESIZE);
        bytes.virtual = strtoll(line, &end, 10) * page;
        bytes.resident = strtoll(end, NULL, 10) * page;
    }
    return bytes;
}

/* Returns the number of entries in a directory, or 0 if the directory cannot be read. */
static int64_t entries(const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return 0;
    int64_t count = 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static int64_t microseconds(struct timeval time)
{
    return time.tv_sec * (int64_t)1000000 + time.tv_usec;
}

void hs_metrics_read_process(struct hs_metrics *metrics)
{
    struct memory memory = memory_used();
    struct rusage usage = {0};
    struct rlimit files = {0};
    /* the number includes the descriptor that reads the directory */
    int64_t open = entries("/proc/self/fd");
    getrusage(RUSAGE_SELF, &usage);
    getrlimit(RLIMIT_NOFILE, &files);
    hs_metrics_set(metrics, HS_METRIC_CPU_TIME, 0,
                   microseconds(usage.ru_utime) + microseconds(usage.ru_stime));
    hs_metrics_set(metrics, HS_METRIC_RESIDENT_BYTES, 0, memory.resident);
    hs_metrics_set(metrics, HS_METRIC_VIRTUAL_BYTES, 0, memory.virtual);
    hs_metrics_set(metrics, HS_METRIC_MEMORY_LIMIT, 0, (int64_t)hs_memory_limit_bytes());
    hs_metrics_set(metrics, HS_METRIC_OPEN_FDS, 0, open > 0 ? open - 1 : 0);
    hs_metrics_set(metrics, HS_METRIC_THREADS, 0, entries("/proc/self/task"));
    hs_metrics_set(metrics, HS_METRIC_MAX_FDS, 0,
                   files.rlim_cur < INT64_MAX ? (int64_t)files.rlim_cur : INT64_MAX);
}
