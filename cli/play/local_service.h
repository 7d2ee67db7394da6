/*
 * Starts a private service: runs this program's `serve` in a child process, on free loopback ports.
 * If the parent dies, the child stops too.
 */
#ifndef HS_PLAY_LOCAL_SERVICE_H
#define HS_PLAY_LOCAL_SERVICE_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/play/recording.h"

struct hs_local_service {
    pid_t pid;     /* 0: not running */
    int out;       /* pipe from the service's standard output */
    char data[64]; /* "http://127.0.0.1:PORT" */
    char admin[64];
};

/* Starts the service and waits until it is ready. `record`: the file for `serve --record`, or NULL.
   `data`: the directory for `serve --data`; NULL: the service stores nothing. Returns false with a
   message in `error` if the service does not start. */
bool hs_local_service_start(struct hs_local_service *service, const char *record, const char *data,
                            char error[HS_PLAY_ERROR_MAX]);

/* Stops the service: sends SIGTERM, waits, and after 30 s sends SIGKILL. Returns true if the
   service exited with code 0, or was not running. */
bool hs_local_service_stop(struct hs_local_service *service);

#endif
