/*
 * A PostgreSQL server of a test: in a directory of its own below /tmp, with a Unix socket there and
 * no network address. The server ends with the process that started it. Root runs it as the user
 * postgres, because the server refuses root. Faults end the test (Check).
 */
#ifndef HS_TESTS_POSTGRES_H
#define HS_TESTS_POSTGRES_H

#include <stdbool.h>
#include <sys/types.h>

struct hs_test_postgres {
    char directory[64]; /* has the socket, and the data in `data` */
    pid_t pid;          /* 0: not running */
};

/* Why no server can run here. NULL: one can. */
const char *hs_postgres_missing(void);

/* Makes the directory with an empty cluster, and starts the server. */
void hs_postgres_create(struct hs_test_postgres *server);
/* Stops the server if it runs, and removes the directory. */
void hs_postgres_remove(struct hs_test_postgres *server);

/* Starts the server again, and waits until it answers. */
void hs_postgres_start(struct hs_test_postgres *server);
/* Stops the server at once, without a checkpoint, and waits for its end. */
void hs_postgres_stop(struct hs_test_postgres *server);
/* Copies a running server to a new directory, and starts the copy as a synchronous standby: from
   then on the server acknowledges a commit when the standby has it. */
void hs_postgres_follow(struct hs_test_postgres *standby, struct hs_test_postgres *server);
/* Makes a standby accept writes. */
void hs_postgres_promote(struct hs_test_postgres *standby);
/* Sends SIGSTOP or SIGCONT to the server and to its processes. */
void hs_postgres_pause(struct hs_test_postgres *server, bool is_paused);

/* Runs statements in a database as the owner of the cluster. Returns the first value
   of the last result, or "", valid until the next call. */
const char *hs_postgres_sql(struct hs_test_postgres *server, const char *database,
                            const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Writes a file with the connection string of a database. */
void hs_postgres_write(struct hs_test_postgres *server, const char *path, const char *database,
                       const char *user);

#endif
