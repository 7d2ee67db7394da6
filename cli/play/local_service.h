/*
 * Starts a private service: this program as `serve` in a child process, on free loopback ports. The
 * child ends with its parent.
 */
#ifndef HS_PLAY_LOCAL_SERVICE_H
#define HS_PLAY_LOCAL_SERVICE_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/play/recording.h"

struct hs_local_service {
    pid_t pid;     /* 0: not running */
    int out;       /* read end of its stdout */
    char data[64]; /* "http://127.0.0.1:PORT" */
    char admin[64];
};

/* Starts the service and waits until it is ready. `record`: the file of `serve --record`, or NULL.
   `data`: the directory of `serve --data`; NULL: the service keeps nothing. Returns false with a
   message in `error` if the service does not start. */
bool hs_local_service_start(struct hs_local_service *service, const char *record, const char *data,
                            char error[HS_PLAY_ERROR_MAX]);

/* Sends SIGTERM and waits until the service has ended. Returns false if it did not end cleanly. May
   be called twice. */
bool hs_local_service_stop(struct hs_local_service *service);

#endif
