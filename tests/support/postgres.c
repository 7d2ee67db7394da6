#include "tests/support/postgres.h"

#include <check.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/program.h"

#define PROGRAMS "/usr/lib/postgresql/15/bin/"

enum { TRIES = 3000, TRY_MS = 10 };

const char *hs_postgres_missing(void)
{
    if (access(PROGRAMS "initdb", X_OK) != 0 || access(PROGRAMS "postgres", X_OK) != 0)
        return "postgresql-15 is not installed";
    if (getuid() == 0 && getpwnam("postgres") == NULL)
        return "root cannot run PostgreSQL, and there is no user postgres";
    return NULL;
}

/* Makes the directory, and runs a program of PostgreSQL that fills it. */
static void make(struct hs_test_postgres *server, const char *program)
{
    int code;
    bool is_root = getuid() == 0;
    *server = (struct hs_test_postgres){.directory = "/tmp/hindsight_postgres_XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(server->directory));
    const char *output =
        hs_test_shell(&code, "cd / && %s%s%s " PROGRAMS "%s -D %s/data -U postgres -N 2>&1",
                      is_root ? "chown postgres " : "", is_root ? server->directory : "",
                      is_root ? " && runuser -u postgres --" : "", program, server->directory);
    ck_assert_msg(code == 0, "%s", output);
    hs_postgres_start(server);
}

void hs_postgres_create(struct hs_test_postgres *server)
{
    make(server, "initdb -A trust -E UTF8 --locale C");
}

/* Waits until a statement returns 1. */
static void wait_for(struct hs_test_postgres *server, const char *sql)
{
    for (int tries = 0; tries < TRIES; tries++) {
        if (strcmp(hs_postgres_sql(server, "postgres", "%s", sql), "1") == 0)
            return;
        hs_test_pause_ms(TRY_MS);
    }
    ck_abort_msg("%s", sql);
}

void hs_postgres_follow(struct hs_test_postgres *standby, struct hs_test_postgres *server)
{
    char program[128];
    snprintf(program, sizeof program, "pg_basebackup -h %s -R -X stream -c fast",
             server->directory);
    make(standby, program);
    hs_postgres_sql(server, "postgres", "ALTER SYSTEM SET synchronous_standby_names = '*'");
    hs_postgres_sql(server, "postgres", "SELECT pg_reload_conf()");
    wait_for(server, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'");
}

void hs_postgres_promote(struct hs_test_postgres *standby)
{
    ck_assert_str_eq(hs_postgres_sql(standby, "postgres", "SELECT pg_promote()"), "t");
}

void hs_postgres_remove(struct hs_test_postgres *server)
{
    int code;
    if (server->pid != 0)
        hs_postgres_stop(server);
    hs_test_shell(&code, "rm -rf '%s'", server->directory);
    server->directory[0] = '\0';
}

static _Noreturn void run(const struct hs_test_postgres *server, pid_t parent)
{
    char data[96], log[96];
    snprintf(data, sizeof data, "%s/data", server->directory);
    snprintf(log, sizeof log, "%s/log", server->directory);
    const struct passwd *user = getuid() == 0 ? getpwnam("postgres") : NULL;
    if (user != NULL &&
        (setgroups(0, NULL) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0))
        _exit(127);
    /* Set this after the change of the user, which clears it. */
    if (prctl(PR_SET_PDEATHSIG, SIGQUIT) != 0 || getppid() != parent || chdir("/") != 0 ||
        freopen(log, "a", stderr) == NULL)
        _exit(127);
    execl(PROGRAMS "postgres", "postgres", "-D", data, "-k", server->directory, "-c",
          "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB", "-c",
          "max_connections=40", (char *)NULL);
    _exit(127);
}

static PGconn *try_connect(struct hs_test_postgres *server, const char *database)
{
    char text[256];
    snprintf(text, sizeof text,
             "host=%s dbname=%s user=postgres connect_timeout=10"
             " options='-c client_min_messages=error'",
             server->directory, database);
    return PQconnectdb(text);
}

void hs_postgres_start(struct hs_test_postgres *server)
{
    pid_t parent = getpid();
    bool is_up = false;
    server->pid = fork();
    ck_assert_int_ge(server->pid, 0);
    if (server->pid == 0)
        run(server, parent);
    for (int tries = 0; tries < TRIES && !is_up; tries++) {
        PGconn *connection = try_connect(server, "postgres");
        is_up = PQstatus(connection) == CONNECTION_OK;
        PQfinish(connection);
        if (!is_up)
            hs_test_pause_ms(TRY_MS);
    }
    ck_assert(is_up);
}

void hs_postgres_stop(struct hs_test_postgres *server)
{
    hs_postgres_pause(server, false);
    ck_assert_int_eq(kill(server->pid, SIGQUIT), 0);
    ck_assert_int_eq(waitpid(server->pid, NULL, 0), server->pid);
    server->pid = 0;
}

void hs_postgres_pause(struct hs_test_postgres *server, bool is_paused)
{
    char path[64];
    int signal = is_paused ? SIGSTOP : SIGCONT, child;
    kill(server->pid, signal);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)server->pid, (int)server->pid);
    FILE *children = fopen(path, "r");
    ck_assert_ptr_nonnull(children);
    while (fscanf(children, "%d", &child) == 1)
        kill(child, signal);
    fclose(children);
}

const char *hs_postgres_sql(struct hs_test_postgres *server, const char *database,
                            const char *format, ...)
{
    static char value[4096];
    char sql[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    PGconn *connection = try_connect(server, database);
    PGresult *result = PQexec(connection, sql);
    ExecStatusType status = PQresultStatus(result);
    ck_assert_msg(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%s: %s", sql,
                  PQerrorMessage(connection));
    snprintf(value, sizeof value, "%s", PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    PQfinish(connection);
    return value;
}

void hs_postgres_write(struct hs_test_postgres *server, const char *path, const char *database,
                       const char *user)
{
    char text[160];
    snprintf(text, sizeof text, "host=%s dbname=%s user=%s\n", server->directory, database, user);
    hs_test_write_file(path, text);
}
