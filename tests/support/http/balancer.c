#include "tests/support/http/balancer.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/clock.h"
#include "tests/support/http/raw.h"

enum { START_TRIES = 1000, STOP_TRIES = 1000, TRY_MS = 10 };

const char *hs_balancer_program(void)
{
    static const char *const places[] = {"/usr/sbin/haproxy", "/usr/local/sbin/haproxy",
                                         "/usr/bin/haproxy"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

/* Opens a listening socket that HAProxy inherits, so that the test need not guess a free port. */
static int open_listener(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, size) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        perror("cannot open a socket for HAProxy");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

/* Writes the shipped file with another `bind`, and with servers for its backends. */
static bool write_configuration(FILE *to, int listener, const struct hs_balancer_server *servers,
                                size_t count)
{
    FILE *from = fopen(HS_BALANCER_CONFIGURATION, "r");
    char line[4096];
    unsigned binds = 0, replaced = 0;
    if (from == NULL)
        return false;
    while (fgets(line, sizeof line, from) != NULL) {
        if (strncmp(line, "    bind ", 9) == 0) {
            fprintf(to, "    bind fd@%d\n", listener);
            binds++;
        } else if (strncmp(line, "    server ", 11) == 0) {
            replaced++;
        } else {
            fputs(line, to);
        }
    }
    fclose(from);
    for (size_t i = 0; i < count; i++)
        fprintf(to, "    server hindsight%u 127.0.0.1:%u id %u\n", servers[i].id, servers[i].port,
                servers[i].id);
    return binds == 1 && replaced > 0 && fflush(to) == 0;
}

static _Noreturn void run_child(pid_t parent, int configuration, const struct hs_balancer *balancer)
{
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", configuration);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
        dup2(balancer->log, 1) < 0 || dup2(balancer->log, 2) < 0 ||
        fcntl(balancer->listener, F_SETFD, 0) != 0 || fcntl(configuration, F_SETFD, 0) != 0)
        _exit(127);
    const char *program = hs_balancer_program();
    execl(program, program, "-db", "-f", path, (char *)NULL);
    _exit(127);
}

static void print_log(const struct hs_balancer *balancer)
{
    char piece[4096];
    off_t offset = 0;
    for (ssize_t got; (got = pread(balancer->log, piece, sizeof piece, offset)) > 0; offset += got)
        fwrite(piece, 1, (size_t)got, stderr);
}

/* Returns whether HAProxy answers within the time limit. */
static bool wait_until_up(const struct hs_balancer *balancer)
{
    static const char request[] = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    for (int i = 0; i < START_TRIES; i++) {
        struct hs_raw_answer answer = {0};
        if (waitpid(balancer->pid, NULL, WNOHANG) != 0)
            return false;
        int fd = hs_raw_connect(balancer->port);
        if (fd >= 0 && hs_raw_send(fd, request, sizeof request - 1))
            hs_raw_read(fd, false, &answer);
        if (fd >= 0)
            close(fd);
        if (answer.status != 0)
            return true;
        hs_test_pause_ms(TRY_MS);
    }
    return false;
}

/* Runs HAProxy with these servers, and waits until it answers. */
static bool run(struct hs_balancer *balancer, const struct hs_balancer_server *servers,
                size_t count)
{
    FILE *to = tmpfile();
    bool fine = to != NULL && write_configuration(to, balancer->listener, servers, count);
    if (fine) {
        pid_t parent = getpid();
        fflush(NULL);
        balancer->pid = fork();
        if (balancer->pid == 0)
            run_child(parent, fileno(to), balancer);
        fine = balancer->pid > 0 && wait_until_up(balancer);
    }
    if (to != NULL)
        fclose(to);
    if (!fine) {
        fprintf(stderr, "HAProxy did not start with %s\n", HS_BALANCER_CONFIGURATION);
        print_log(balancer);
        hs_balancer_stop(balancer);
    }
    return fine;
}

bool hs_balancer_start(struct hs_balancer *balancer, const struct hs_balancer_server *servers,
                       size_t count)
{
    *balancer = (struct hs_balancer){.log = -1};
    FILE *log = tmpfile();
    balancer->listener = open_listener(&balancer->port);
    if (log != NULL) {
        balancer->log = fcntl(fileno(log), F_DUPFD_CLOEXEC, 3);
        fclose(log);
    }
    if (balancer->listener >= 0 && balancer->log >= 0)
        return run(balancer, servers, count);
    hs_balancer_stop(balancer);
    return false;
}

static void end(pid_t pid, int signal)
{
    kill(pid, signal);
    for (int tries = 0; waitpid(pid, NULL, WNOHANG) == 0;)
        if (++tries == STOP_TRIES)
            kill(pid, SIGKILL);
        else
            hs_test_pause_ms(TRY_MS);
}

bool hs_balancer_reload(struct hs_balancer *balancer, const struct hs_balancer_server *servers,
                        size_t count)
{
    pid_t old = balancer->pid;
    bool fine = run(balancer, servers, count);
    end(old, SIGUSR1); /* stops when its connections have ended */
    if (fine && wait_until_up(balancer))
        return true;
    print_log(balancer);
    hs_balancer_stop(balancer);
    return false;
}

void hs_balancer_stop(struct hs_balancer *balancer)
{
    if (balancer->pid > 0)
        end(balancer->pid, SIGTERM);
    if (balancer->listener >= 0)
        close(balancer->listener);
    if (balancer->log >= 0)
        close(balancer->log);
    *balancer = (struct hs_balancer){.listener = -1, .log = -1};
}
