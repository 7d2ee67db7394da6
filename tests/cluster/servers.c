#include "tests/cluster/servers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/clock.h"
#include "tests/support/http/raw.h"

enum { START_TRIES = 3000, TRY_MS = 10, STOP_SECONDS = 20 };

#define POSTGRES_BIN "/usr/lib/postgresql/15/bin/"

const char *hs_redis_missing(void)
{
    return access("/usr/bin/redis-server", X_OK) == 0 ? NULL : "redis-server is not installed";
}

const char *hs_postgres_missing(void)
{
    if (access(POSTGRES_BIN "postgres", X_OK) != 0 || access("/usr/bin/psql", X_OK) != 0)
        return "PostgreSQL 15 is not installed";
    return geteuid() != 0 || getpwnam("postgres") != NULL
               ? NULL
               : "PostgreSQL does not run as root, and there is no user postgres";
}

unsigned hs_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool fine = fd >= 0 && bind(fd, (const struct sockaddr *)&address, size) == 0 &&
                getsockname(fd, (struct sockaddr *)&address, &size) == 0;
    if (fd >= 0)
        close(fd);
    return fine ? ntohs(address.sin_port) : 0;
}

/* ---- processes ---- */

/* Becomes the user postgres, because PostgreSQL refuses to run as root. */
static bool leave_root(void)
{
    const struct passwd *user = getpwnam("postgres");
    return geteuid() != 0 || (user != NULL && setgroups(0, NULL) == 0 &&
                              setgid(user->pw_gid) == 0 && setuid(user->pw_uid) == 0);
}

static pid_t run(const char *log, bool as_user, const char *const *argv)
{
    pid_t parent = getpid();
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    /* A change of the user clears the signal of the parent's death, so that comes afterwards. */
    if (out < 0 || null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
        (as_user && !leave_root()) || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(127);
    execv(argv[0], (char *const *)(const void *)argv);
    _exit(127);
}

static void print_log(const char *log)
{
    char line[512];
    FILE *file = fopen(log, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        fputs(line, stderr);
    if (file != NULL)
        fclose(file);
}

/* Sends a signal to a server and its children. Each child of PostgreSQL has its own group. */
static void signal_all(const struct hs_server *server, int signal)
{
    char path[64];
    long child;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", server->pid, server->pid);
    FILE *children = fopen(path, "r");
    kill(server->pid, signal);
    while (children != NULL && fscanf(children, "%ld", &child) == 1)
        kill((pid_t)child, signal);
    if (children != NULL)
        fclose(children);
}

void hs_server_hang(const struct hs_server *server, bool hangs)
{
    if (server->pid > 0)
        signal_all(server, hangs ? SIGSTOP : SIGCONT);
}

void hs_server_stop(struct hs_server *server, int signal)
{
    if (server->pid <= 0)
        return;
    if (signal == SIGKILL)
        signal_all(server, SIGKILL);
    kill(server->pid, signal);
    hs_server_hang(server, false);
    double until = hs_test_seconds() + STOP_SECONDS;
    while (waitpid(server->pid, NULL, WNOHANG) == 0) {
        if (hs_test_seconds() > until)
            signal_all(server, SIGKILL);
        hs_test_pause_ms(TRY_MS);
    }
    server->pid = 0;
}

/* Waits until `ready` returns true. */
static bool wait_for(struct hs_server *server, bool (*ready)(unsigned port))
{
    for (int i = 0; i < START_TRIES && waitpid(server->pid, NULL, WNOHANG) == 0; i++) {
        if (ready(server->port))
            return true;
        hs_test_pause_ms(TRY_MS);
    }
    fprintf(stderr, "a server did not start:\n");
    print_log(server->log);
    hs_server_stop(server, SIGKILL);
    return false;
}

/* ---- Redis ---- */

const char *hs_redis_ask(unsigned port, const char *command)
{
    static char answer[16384];
    char line[256];
    int fd = hs_raw_connect(port);
    if (fd < 0)
        return NULL;
    struct timeval patience = {.tv_sec = 2};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    int size = snprintf(line, sizeof line, "%s\r\n", command);
    size_t len = 0;
    if (hs_raw_send(fd, line, (size_t)size))
        for (ssize_t got; len + 1 < sizeof answer && (len < 2 || answer[len - 1] != '\n') &&
                          (got = read(fd, answer + len, sizeof answer - 1 - len)) > 0;)
            len += (size_t)got;
    close(fd);
    answer[len] = '\0';
    return len > 0 ? answer : NULL;
}

double hs_redis_info(unsigned port, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "\n%s:", name);
    const char *answer = hs_redis_ask(port, "INFO"), *at = NULL;
    if (answer != NULL)
        at = strstr(answer, key);
    return at != NULL ? atof(at + strlen(key)) : -1;
}

static bool is_redis_up(unsigned port)
{
    const char *answer = hs_redis_ask(port, "PING");
    return answer != NULL && strncmp(answer, "+PONG", 5) == 0;
}

bool hs_redis_start(struct hs_server *server, const char *directory)
{
    char port[16];
    server->port = server->port != 0 ? server->port : hs_free_port();
    snprintf(server->log, sizeof server->log, "%s/redis-%u.log", directory, server->port);
    snprintf(port, sizeof port, "%u", server->port);
    const char *const argv[] = {"/usr/bin/redis-server",
                                "--port",
                                port,
                                "--bind",
                                "127.0.0.1",
                                "--save",
                                "",
                                "--appendonly",
                                "no",
                                "--dir",
                                directory,
                                "--repl-diskless-sync-delay",
                                "0",
                                NULL};
    server->pid = run(server->log, false, argv);
    return server->pid > 0 && wait_for(server, is_redis_up);
}

/* ---- PostgreSQL ---- */

bool hs_postgres_create(const char *directory)
{
    char data[96], log[96];
    snprintf(data, sizeof data, "%s/postgres", directory);
    snprintf(log, sizeof log, "%s/initdb.log", directory);
    const struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : NULL;
    if (mkdir(data, 0700) != 0 || (user != NULL && chown(data, user->pw_uid, user->pw_gid) != 0) ||
        (user != NULL && chmod(directory, 0711) != 0)) {
        perror("no directory for PostgreSQL");
        return false;
    }
    const char *const argv[] = {
        POSTGRES_BIN "initdb", "-D", data,   "-U",       "hindsight", "-A", "trust", "--no-sync",
        "--no-instructions",   "-E", "UTF8", "--locale", "C",         NULL};
    int status = -1;
    pid_t pid = run(log, true, argv);
    if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
        return true;
    print_log(log);
    return false;
}

double hs_postgres_ask(unsigned port, const char *query)
{
    char command[512], answer[64] = "";
    snprintf(command, sizeof command,
             "PGCONNECT_TIMEOUT=2 timeout 10 psql -h 127.0.0.1 -p %u -U hindsight -d postgres -w "
             "-qtAc \"%s\" 2>/dev/null",
             port, query);
    FILE *out = popen(command, "r");
    bool fine = out != NULL && fgets(answer, sizeof answer, out) != NULL;
    if (out != NULL)
        fine = pclose(out) == 0 && fine;
    return fine ? atof(answer) : -1;
}

static bool is_postgres_up(unsigned port)
{
    return hs_postgres_ask(port, "SELECT 1") > 0;
}

bool hs_postgres_start(struct hs_server *server, const char *directory)
{
    char port[16], data[96];
    server->port = server->port != 0 ? server->port : hs_free_port();
    snprintf(server->log, sizeof server->log, "%s/postgres.log", directory);
    snprintf(port, sizeof port, "%u", server->port);
    snprintf(data, sizeof data, "%s/postgres", directory);
    /* Only the process is killed here, never the machine, so nothing needs to be synced. */
    const char *const argv[] = {POSTGRES_BIN "postgres",
                                "-D",
                                data,
                                "-p",
                                port,
                                "-h",
                                "127.0.0.1",
                                "-k",
                                "",
                                "-c",
                                "fsync=off",
                                "-c",
                                "max_connections=40",
                                NULL};
    server->pid = run(server->log, true, argv);
    return server->pid > 0 && wait_for(server, is_postgres_up);
}
