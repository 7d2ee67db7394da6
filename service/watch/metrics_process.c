/* The metrics about the process, read from the kernel when they are asked for. */
#include "service/system/memory_limit.h"
#include "service/watch/metrics.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* Memory of the process in bytes. */
struct memory {
    double virtual, resident;
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
        double page = (double)sysconf(_SC_PAGESIZE);
        bytes.virtual = (double)strtoul(line, &end, 10) * page;
        bytes.resident = (double)strtoul(end, NULL, 10) * page;
    }
    return bytes;
}

/* Entries of a directory of the kernel's; 0 when it cannot be read. */
static double entries(const char *path)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return 0;
    unsigned count = 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

void hs_metrics_write_process(double start_time, struct hs_buffer *out)
{
    struct memory memory = memory_used();
    struct rusage usage = {0};
    struct rlimit files = {0};
    double open = entries("/proc/self/fd"); /* the one that reads them is among them */
    getrusage(RUSAGE_SELF, &usage);
    getrlimit(RLIMIT_NOFILE, &files);
    hs_metrics_head(out, "process_cpu_seconds_total", "counter", "User and system time used.");
    hs_buffer_printf(out, "process_cpu_seconds_total %.6f\n",
                     seconds(usage.ru_utime) + seconds(usage.ru_stime));
    hs_metrics_head(out, "process_start_time_seconds", "gauge",
                    "Start of the process since the epoch.");
    hs_buffer_printf(out, "process_start_time_seconds %.3f\n", start_time);
    hs_metrics_gauge(out, "process_resident_memory_bytes", "Resident memory.", memory.resident);
    hs_metrics_gauge(out, "process_virtual_memory_bytes", "Virtual memory.", memory.virtual);
    hs_metrics_gauge(out, "hindsight_memory_limit_bytes",
                     "The least of the memory of the machine and the limits of the control groups.",
                     hs_memory_limit_bytes());
    hs_metrics_gauge(out, "process_open_fds", "Open file descriptors.", open > 0 ? open - 1 : 0);
    hs_metrics_gauge(out, "process_threads", "Threads.", entries("/proc/self/task"));
    hs_metrics_gauge(out, "process_max_fds", "Limit of open file descriptors.",
                     (double)files.rlim_cur);
}
