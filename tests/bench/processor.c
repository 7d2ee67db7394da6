#include "tests/bench/processor.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const cpu_set_t *allowed(void)
{
    static cpu_set_t all;
    if (CPU_COUNT(&all) == 0 && sched_getaffinity(0, sizeof all, &all) != 0)
        CPU_SET(0, &all);
    return &all;
}

int hs_processor_count(void)
{
    return CPU_COUNT(allowed());
}

void hs_processor_move_to(int i)
{
    cpu_set_t one;
    int wanted = i % hs_processor_count();
    size_t at = 0;
    while (!CPU_ISSET(at, allowed()) || wanted-- > 0)
        at++;
    CPU_ZERO(&one);
    CPU_SET(at, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        perror("sched_setaffinity");
}

static _Noreturn void spin(int i, pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(127);
    hs_processor_move_to(i);
    for (volatile unsigned turns = 0;; turns++) {
    }
}

bool hs_processor_brakes_start(int i, pid_t brakes[HS_PROCESSOR_BRAKES])
{
    pid_t parent = getpid();
    bool fine = true;
    fflush(NULL);
    for (int b = 0; b < HS_PROCESSOR_BRAKES; b++) {
        brakes[b] = fine ? fork() : -1;
        if (brakes[b] == 0)
            spin(i, parent);
        fine = brakes[b] > 0;
    }
    if (!fine)
        hs_processor_brakes_end(brakes);
    return fine;
}

void hs_processor_brakes_end(pid_t brakes[HS_PROCESSOR_BRAKES])
{
    for (int b = 0; b < HS_PROCESSOR_BRAKES; b++) {
        if (brakes[b] > 0 && kill(brakes[b], SIGKILL) == 0)
            waitpid(brakes[b], NULL, 0);
        brakes[b] = 0;
    }
}

double hs_processor_time(pid_t pid)
{
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return 0;
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

double hs_processor_waited(pid_t pid)
{
    char path[300];
    double sum_s = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = opendir(path);
    for (struct dirent *thread; threads != NULL && (thread = readdir(threads)) != NULL;) {
        unsigned long long waited_ns = 0;
        snprintf(path, sizeof path, "/proc/%d/task/%s/schedstat", (int)pid, thread->d_name);
        FILE *file = thread->d_name[0] == '.' ? NULL : fopen(path, "re");
        if (file != NULL && fscanf(file, "%*u %llu", &waited_ns) == 1)
            sum_s += (double)waited_ns * 1e-9;
        if (file != NULL)
            fclose(file);
    }
    if (threads != NULL)
        closedir(threads);
    return sum_s;
}
