#include "tests/support/http/balancer.h"

#include <fcntl.h>
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

/* What differs between the balancers. */
struct hs_balancer_kind {
    const char *name, *places[3], *configuration;
    const char *bind, *server; /* beginnings of the lines that the test replaces */
};

static const struct hs_balancer_kind haproxy = {
    "HAProxy",
    {"/usr/sbin/haproxy", "/usr/local/sbin/haproxy", "/usr/bin/haproxy"},
    HS_BALANCER_CONFIGURATION,
    "    bind ",
    "    server "};
static const struct hs_balancer_kind nginx = {
    "nginx",
    {"/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"},
    HS_NGINX_CONFIGURATION,
    "        listen ",
    "        server "};

static const char *find_program(const struct hs_balancer_kind *kind)
{
    for (size_t i = 0; i < sizeof kind->places / sizeof kind->places[0]; i++)
        if (access(kind->places[i], X_OK) == 0)
            return kind->places[i];
    return NULL;
}

const char *hs_balancer_program(void)
{
    return find_program(&haproxy);
}

const char *hs_nginx_program(void)
{
    return find_program(&nginx);
}

static void write_servers(FILE *to, const struct hs_balancer_kind *kind,
                          const struct hs_balancer_server *servers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (kind == &haproxy)
            fprintf(to, "    server hindsight%u 127.0.0.1:%u id %u\n", servers[i].id,
                    servers[i].port, servers[i].id);
        else
            fprintf(to, "        server 127.0.0.1:%u max_fails=1 fail_timeout=1s;\n",
                    servers[i].port);
}

/* Writes the shipped file with another address, and with other servers where its first one is. */
static bool write_configuration(FILE *to, const struct hs_balancer *balancer,
                                const struct hs_balancer_server *servers, size_t count)
{
    const struct hs_balancer_kind *kind = balancer->kind;
    FILE *from = fopen(kind->configuration, "r");
    char line[4096];
    unsigned binds = 0, replaced = 0;
    if (from == NULL)
        return false;
    while (fgets(line, sizeof line, from) != NULL) {
        if (strncmp(line, kind->bind, strlen(kind->bind)) == 0) {
            if (kind == &haproxy)
                fprintf(to, "    bind fd@%d\n", balancer->listener);
            else
                fprintf(to, "        listen 127.0.0.1:%u;\n", balancer->port);
            binds++;
        } else if (strncmp(line, kind->server, strlen(kind->server)) == 0 &&
                   strchr(line, '{') == NULL) {
            if (replaced++ == 0)
                write_servers(to, kind, servers, count);
        } else if (strncmp(line, "    access_log ", 15) == 0) {
            fputs("    access_log /dev/stdout hindsight;\n", to);
        } else {
            fputs(line, to);
        }
    }
    if (kind == &haproxy)
        fprintf(to, "global\n    stats socket fd@%d level user\n", balancer->control);
    fclose(from);
    return binds == 1 && replaced > 0 && fflush(to) == 0;
}

/* HAProxy reads the configuration from the inherited file, which may be removed before. */
static _Noreturn void run_child(pid_t parent, const char *configuration, int file,
                                const struct hs_balancer *balancer)
{
    const struct hs_balancer_kind *kind = balancer->kind;
    char inherited[32], settings[256];
    /* SIGTERM, so that nginx ends its workers too. */
    if (prctl(PR_SET_PDEATHSIG, kind == &haproxy ? SIGKILL : SIGTERM) != 0 || getppid() != parent ||
        dup2(balancer->log, 1) < 0 || dup2(balancer->log, 2) < 0 ||
        fcntl(balancer->listener, F_SETFD, 0) != 0 || fcntl(balancer->control, F_SETFD, 0) != 0 ||
        fcntl(file, F_SETFD, 0) != 0)
        _exit(127);
    const char *program = find_program(kind);
    if (kind == &haproxy) {
        snprintf(inherited, sizeof inherited, "/dev/fd/%d", file);
        execl(program, program, "-db", "-f", inherited, (char *)NULL);
    } else {
        /* nginx finds the socket in this variable, as after an upgrade of its program. */
        snprintf(inherited, sizeof inherited, "%d;", balancer->listener);
        setenv("NGINX", inherited, 1);
        snprintf(settings, sizeof settings, "daemon off; pid %s.pid;", configuration);
        execl(program, program, "-c", configuration, "-e", "stderr", "-g", settings, (char *)NULL);
    }
    _exit(127);
}

static void print_log(const struct hs_balancer *balancer)
{
    char piece[4096];
    off_t offset = 0;
    for (ssize_t got; (got = pread(balancer->log, piece, sizeof piece, offset)) > 0; offset += got)
        fwrite(piece, 1, (size_t)got, stderr);
}

/* Returns whether the balancer answers within the time limit. */
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

/* Runs the balancer with these servers, and waits until it answers. */
static bool run(struct hs_balancer *balancer, const struct hs_balancer_server *servers,
                size_t count)
{
    char name[] = "/tmp/hindsight-balancer-XXXXXX";
    const struct hs_balancer_kind *kind = balancer->kind;
    int file = mkostemp(name, O_CLOEXEC);
    FILE *to = file < 0 ? NULL : fdopen(file, "w");
    bool fine = to != NULL && write_configuration(to, balancer, servers, count);
    if (fine) {
        pid_t parent = getpid();
        fflush(NULL);
        balancer->pid = fork();
        if (balancer->pid == 0)
            run_child(parent, name, file, balancer);
        fine = balancer->pid > 0 && wait_until_up(balancer);
    }
    if (to != NULL)
        fclose(to);
    if (file >= 0)
        unlink(name); /* the balancer has read the file */
    if (!fine) {
        fprintf(stderr, "%s did not start with %s\n", kind->name, kind->configuration);
        print_log(balancer);
        hs_balancer_stop(balancer);
    }
    return fine;
}

static bool start(struct hs_balancer *balancer, const struct hs_balancer_kind *kind,
                  const struct hs_balancer_server *servers, size_t count)
{
    *balancer = (struct hs_balancer){.control = -1, .log = -1, .kind = kind};
    FILE *log = tmpfile();
    balancer->listener = hs_raw_reserve(&balancer->port); /* the balancer inherits both */
    balancer->control = hs_raw_reserve(&balancer->control_port);
    if (log != NULL) {
        balancer->log = fcntl(fileno(log), F_DUPFD_CLOEXEC, 3);
        fclose(log);
    }
    /* nginx expects that an inherited socket does not block. Two workers may try to accept the same
       connection. With a blocking socket, the second one would wait in accept, and the requests of
       its connections would wait too. */
    if (balancer->listener >= 0 && balancer->log >= 0 &&
        fcntl(balancer->listener, F_SETFL, O_NONBLOCK) == 0 &&
        listen(balancer->listener, 1024) == 0 && balancer->control >= 0 &&
        fcntl(balancer->control, F_SETFL, O_NONBLOCK) == 0 && listen(balancer->control, 8) == 0)
        return run(balancer, servers, count);
    perror("cannot open the socket or the log of the balancer");
    hs_balancer_stop(balancer);
    return false;
}

bool hs_balancer_start(struct hs_balancer *balancer, const struct hs_balancer_server *servers,
                       size_t count)
{
    return start(balancer, &haproxy, servers, count);
}

bool hs_nginx_start(struct hs_balancer *balancer, const struct hs_balancer_server *servers,
                    size_t count)
{
    return start(balancer, &nginx, servers, count);
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

/* Reads whether a line of `show stat` is a server that is used, and its id. */
static bool is_used(char *line, unsigned *id)
{
    enum { STATUS = 17 }; /* fields before it */
    char *field = line;
    if (sscanf(line, "replicas,hindsight%u,", id) != 1)
        return false;
    for (int i = 0; i < STATUS && field != NULL; i++) {
        field = strchr(field, ',');
        field = field != NULL ? field + 1 : NULL;
    }
    return field != NULL && strncmp(field, "UP", 2) == 0;
}

unsigned hs_balancer_used(const struct hs_balancer *balancer)
{
    static const char command[] = "show stat\n";
    char text[65536];
    size_t size = 0;
    unsigned used = 0, id;
    int fd = hs_raw_connect(balancer->control_port);
    bool fine = fd >= 0 && hs_raw_send(fd, command, sizeof command - 1);
    for (ssize_t got = 1; fine && got > 0 && size < sizeof text - 1;) {
        got = read(fd, text + size, sizeof text - 1 - size);
        size += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    text[size] = '\0';
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
        if (is_used(line, &id))
            used |= 1u << id;
    return used;
}

void hs_balancer_stop(struct hs_balancer *balancer)
{
    if (balancer->pid > 0)
        end(balancer->pid, SIGTERM);
    if (balancer->listener >= 0)
        close(balancer->listener);
    if (balancer->control >= 0)
        close(balancer->control);
    if (balancer->log >= 0)
        close(balancer->log);
    *balancer = (struct hs_balancer){.listener = -1, .control = -1, .log = -1};
}
