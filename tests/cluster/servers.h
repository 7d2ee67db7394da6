/* Private redis-server and PostgreSQL processes on 127.0.0.1, each with its files in a directory of
   the test. A server ends with the thread that started it. */
#ifndef HS_TESTS_SERVERS_H
#define HS_TESTS_SERVERS_H

#include <stdbool.h>
#include <sys/types.h>

struct hs_server {
    pid_t pid;     /* 0: not running */
    unsigned port; /* on 127.0.0.1 */
    char log[96];  /* file with its output */
};

/* Return why the servers cannot run here, or NULL. */
const char *hs_redis_missing(void);
const char *hs_postgres_missing(void);

/* Returns a port on 127.0.0.1 that was free a moment ago. */
unsigned hs_free_port(void);

/* Starts Redis without files, on server->port, or on a free port if that is 0. Waits until it
   answers. Returns false if it does not; its log is then on stderr. */
bool hs_redis_start(struct hs_server *server, const char *directory);

/* Sends one command, whose words are separated by blanks. Returns the first line of the answer,
   valid until the next call, or NULL if there is no answer within two seconds. */
const char *hs_redis_ask(unsigned port, const char *command);

/* Returns the number in the line `name:NUMBER` of INFO, or -1. */
double hs_redis_info(unsigned port, const char *name);

/* Makes a database cluster in directory/postgres, with the user and database "hindsight", without
   passwords. Returns false on failure, with the reason on stderr. */
bool hs_postgres_create(const char *directory);

/* Starts PostgreSQL there, like hs_redis_start. */
bool hs_postgres_start(struct hs_server *server, const char *directory);

/* Returns the first value of a query as a number, or -1 if there is no answer. */
double hs_postgres_ask(unsigned port, const char *query);

/* Ends a server with a signal and waits for its end. A stopped server is continued first. */
void hs_server_stop(struct hs_server *server, int signal);

/* Sends SIGSTOP or SIGCONT to the server and its children. */
void hs_server_hang(const struct hs_server *server, bool hangs);

#endif
