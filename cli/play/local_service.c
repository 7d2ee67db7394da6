#include "cli/play/local_service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "service/system/clock.h"

enum { START_SECONDS = 30, STOP_SECONDS = 30, LINE_BYTES = 256 };

extern char **environ;

/* Clears the environment variables HINDSIGHT_*. These variables configure the user's own service,
   and must not configure the private service. */
static void forget_configuration(void)
{
    for (size_t i = 0; environ[i] != NULL;) {
        char name[128];
        size_t length = strcspn(environ[i], "=");
        if (strncmp(environ[i], "HINDSIGHT_", strlen("HINDSIGHT_")) == 0 && length < sizeof(name)) {
            snprintf(name, sizeof(name), "%.*s", (int)length, environ[i]);
            unsetenv(name); /* unsetenv moves the next variable to index i */
        } else {
            i++;
        }
    }
}

static _Noreturn void run_child(pid_t parent, int out, const char *record, const char *data)
{
    const char *const arguments[] = {"hindsight",
                                     "serve",
                                     "--listen=127.0.0.1:0",
                                     "--admin-listen=127.0.0.1:0",
                                     "--drain-wait-seconds=0",
                                     "--queue-ms=0",
                                     "--log-level=error",
                                     "--data",
                                     data != NULL ? data : "",
                                     record != NULL ? "--record" : NULL,
                                     record,
                                     NULL};
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent || dup2(out, 1) < 0)
        _exit(127);
    forget_configuration();
    execv("/proc/self/exe", (char *const *)(const void *)arguments);
    _exit(127);
}

/* Reads the first line that the service prints. Returns false if the service exits first, or prints
   no line within START_SECONDS. */
static bool read_line(int fd, char line[LINE_BYTES])
{
    size_t length = 0;
    int64_t deadline = hs_clock_us() + START_SECONDS * INT64_C(1000000);
    while (length + 1 < LINE_BYTES) {
        struct pollfd poller = {.fd = fd, .events = POLLIN};
        int64_t left = deadline - hs_clock_us();
        int ready = left > 0 ? poll(&poller, 1, (int)(left / 1000) + 1) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || read(fd, line + length, 1) != 1)
            return false;
        if (line[length] == '\n') {
            line[length] = '\0';
            return true;
        }
        length++;
    }
    return false;
}

bool hs_local_service_start(struct hs_local_service *service, const char *record, const char *data,
                            char error[HS_PLAY_ERROR_MAX])
{
    char line[LINE_BYTES] = "";
    int ends[2];
    *service = (struct hs_local_service){.out = -1};
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(error, HS_PLAY_ERROR_MAX, "cannot make a pipe: %s", strerror(errno));
        return false;
    }
    pid_t parent = getpid();
    fflush(NULL);
    service->pid = fork();
    if (service->pid == 0)
        run_child(parent, ends[1], record, data);
    close(ends[1]);
    service->out = ends[0];
    bool good = service->pid > 0 && read_line(service->out, line) &&
                sscanf(line, "hindsight %*s ready data=%63s admin=%63s", service->data,
                       service->admin) == 2;
    if (!good) {
        snprintf(error, HS_PLAY_ERROR_MAX, "the private service did not start");
        if (service->pid < 0)
            service->pid = 0;
        hs_local_service_stop(service);
    }
    return good;
}

bool hs_local_service_stop(struct hs_local_service *service)
{
    bool clean = true;
    if (service->pid > 0) {
        int status = 0;
        pid_t ended;
        int64_t deadline = hs_clock_us() + STOP_SECONDS * INT64_C(1000000);
        kill(service->pid, SIGTERM);
        while ((ended = waitpid(service->pid, &status, WNOHANG)) == 0 ||
               (ended < 0 && errno == EINTR)) {
            if (hs_clock_us() > deadline)
                kill(service->pid, SIGKILL);
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        }
        clean = ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    if (service->out >= 0)
        close(service->out);
    *service = (struct hs_local_service){.out = -1};
    return clean;
}
