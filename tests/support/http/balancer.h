/* The real HAProxy or nginx with the shipped configuration (deploy/haproxy, deploy/nginx), in front
   of services that the test starts. Only the address and the server lines of the configuration are
   replaced. The balancer ends with the thread that started it. */
#ifndef HS_TESTS_BALANCER_H
#define HS_TESTS_BALANCER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define HS_BALANCER_CONFIGURATION "deploy/haproxy/hindsight.cfg"
#define HS_NGINX_CONFIGURATION    "deploy/nginx/hindsight.conf"

/* Return the path of HAProxy or nginx, or NULL if it is not installed. */
const char *hs_balancer_program(void);
const char *hs_nginx_program(void);

struct hs_balancer_server {
    unsigned id, port; /* `id` of the server line (HAProxy); port on 127.0.0.1 */
};

struct hs_balancer {
    pid_t pid;     /* 0: not running */
    unsigned port; /* on 127.0.0.1 */
    int listener;  /* the socket at which it accepts connections, kept for hs_balancer_reload */
    unsigned control_port; /* of HAProxy's commands, on 127.0.0.1 */
    int control;           /* their socket */
    int log;               /* a file with its output so far */
    const struct hs_balancer_kind *kind;
};

/* Start HAProxy or nginx and wait until it answers. Return false if it does not answer. The reason
   is on stderr, and nothing is left running. */
bool hs_balancer_start(struct hs_balancer *balancer, const struct hs_balancer_server *servers,
                       size_t count);
bool hs_nginx_start(struct hs_balancer *balancer, const struct hs_balancer_server *servers,
                    size_t count);

/* Replaces the servers, as `systemctl reload haproxy` does: a new process takes over the port, and
   the old one ends when its connections have. Returns false if the new one does not answer; then
   none is running. */
bool hs_balancer_reload(struct hs_balancer *balancer, const struct hs_balancer_server *servers,
                        size_t count);

/* Returns the servers to which HAProxy sends requests now, as bits by `id`. 0 if it does not
   answer. */
unsigned hs_balancer_used(const struct hs_balancer *balancer);

/* Sends SIGTERM, and SIGKILL after a deadline. */
void hs_balancer_stop(struct hs_balancer *balancer);

#endif
