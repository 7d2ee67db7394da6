#include "tests/support/http/service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Long enough for a sanitizer or valgrind build on a busy machine; a healthy start takes
   milliseconds. */
enum { START_DEADLINE_MS = 60000, STOP_DEADLINE_MS = 60000, MAX_ARGS = 64 };

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Builds the command line. `wrap` is a writable copy of $HS_WRAP that lives as long as argv. */
static void build_arguments(const char *argv[MAX_ARGS + 1], char *wrap, const char *program,
                            const char *const *extra)
{
    static const char *const fixed[] = {"serve",       "--listen",
                                        "127.0.0.1:0", "--admin-listen",
                                        "127.0.0.1:0", "--drain-wait-seconds",
                                        "0",           "--queue-ms",
                                        "0",           "--data="};
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(wrap, " ", &rest); word != NULL && count < MAX_ARGS / 2;
         word = strtok_r(NULL, " ", &rest))
        argv[count++] = word;
    argv[count++] = program;
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        argv[count++] = fixed[i];
    for (size_t i = 0; extra != NULL && extra[i] != NULL && count < MAX_ARGS; i++)
        argv[count++] = extra[i];
    argv[count] = NULL;
}

static _Noreturn void run_child(pid_t parent, int out, int err, const char *const *argv)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(127);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        _exit(127);
    execvp(argv[0], (char *const *)(const void *)argv);
    dprintf(2, "cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static bool read_line(int fd, char *line, size_t size, long deadline)
{
    size_t len = 0;
    while (len + 1 < size) {
        long left = deadline - now_ms();
        struct pollfd poller = {.fd = fd, .events = POLLIN};
        if (left <= 0 || poll(&poller, 1, (int)left) <= 0)
            return false;
        char byte;
        ssize_t got = read(fd, &byte, 1);
        if (got <= 0)
            return false;
        if (byte == '\n') {
            line[len] = '\0';
            return true;
        }
        line[len++] = byte;
    }
    return false;
}

static bool parse_ready(struct hs_test_service *service)
{
    return sscanf(service->ready,
                  "hindsight %*s ready data=%*[a-z]://127.0.0.1:%u admin=%*[a-z]://127.0.0.1:%u",
                  &service->data_port, &service->admin_port) == 2;
}

static void print_stderr(const struct hs_test_service *service)
{
    char piece[4096];
    off_t offset = 0;
    for (ssize_t got; (got = pread(service->err, piece, sizeof(piece), offset)) > 0; offset += got)
        fwrite(piece, 1, (size_t)got, stderr);
}

bool hs_test_service_start(struct hs_test_service *service, const char *const *extra)
{
    *service = (struct hs_test_service){.out = -1, .err = -1};
    const char *program = getenv("HS_PROGRAM");
    if (program == NULL || *program == '\0') {
        fprintf(stderr, "HS_PROGRAM does not name the program under test\n");
        return false;
    }
    const char *wrapper = getenv("HS_WRAP");
    char *wrap = strdup(wrapper != NULL ? wrapper : "");
    FILE *err = tmpfile();
    int pipes[2];
    if (wrap == NULL || err == NULL || pipe2(pipes, O_CLOEXEC) != 0) {
        perror("cannot prepare the program under test");
        free(wrap);
        if (err != NULL)
            fclose(err);
        return false;
    }
    service->err = fcntl(fileno(err), F_DUPFD_CLOEXEC, 3);
    fclose(err);
    service->out = pipes[0];

    const char *argv[MAX_ARGS + 1];
    build_arguments(argv, wrap, program, extra);
    pid_t parent = getpid();
    fflush(NULL);
    service->pid = fork();
    if (service->pid == 0)
        run_child(parent, pipes[1], service->err, argv);
    close(pipes[1]);
    free(wrap);
    bool ready = service->pid > 0 &&
                 read_line(service->out, service->ready, sizeof(service->ready),
                           now_ms() + START_DEADLINE_MS) &&
                 parse_ready(service);
    if (!ready) {
        fprintf(stderr, "%s did not become ready; its first line: \"%s\"\n", program,
                service->ready);
        if (service->pid > 0)
            kill(service->pid, SIGKILL);
        hs_test_service_stop(service);
    }
    return ready;
}

/* Returns the status of waitpid. Returns -1 if the process had to be killed. */
static int wait_for_end(pid_t pid)
{
    long deadline = now_ms() + STOP_DEADLINE_MS;
    int status = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (now_ms() > deadline) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return status;
}

bool hs_test_service_stop(struct hs_test_service *service)
{
    bool clean = true;
    if (service->pid > 0) {
        kill(service->pid, SIGTERM);
        int status = wait_for_end(service->pid);
        clean = status == 0;
        if (!clean) {
            if (status == -1)
                fprintf(stderr, "the service did not end on SIGTERM and was killed\n");
            else if (WIFSIGNALED(status))
                fprintf(stderr, "the service was ended by signal %d\n", WTERMSIG(status));
            else
                fprintf(stderr, "the service ended with status %d\n", WEXITSTATUS(status));
            print_stderr(service);
        }
    }
    if (service->out >= 0)
        close(service->out);
    if (service->err >= 0)
        close(service->err);
    *service = (struct hs_test_service){.out = -1, .err = -1};
    return clean;
}
