/*
 * Starts the program under test ($HS_PROGRAM) as a child on free loopback ports and stops it again.
 * The child ends with the process that started it, so an aborted test leaves nothing behind.
 *
 *     struct hs_test_service service;
 *     if (!hs_test_service_start(&service, NULL)) return 1;
 *     int failed = hs_run_suite(...); against service.data_port
 *     bool clean = hs_test_service_stop(&service);
 *     return failed == 0 && clean ? 0 : 1;
 *
 * Start and stop it from the same process and thread (main, not a forked Check test). Only the
 * parent can collect the exit status, and the child ends with the thread that started it.
 * Sanitizers and leak checkers in the child report through its exit status, so always check the
 * result of hs_test_service_stop. If $HS_WRAP is set, it is put in front of the program (for
 * example "valgrind -q --error-exitcode=9").
 */
#ifndef HS_TESTS_SERVICE_H
#define HS_TESTS_SERVICE_H

#include <stdbool.h>
#include <sys/types.h>

struct hs_test_service {
    pid_t pid;           /* 0: not running */
    unsigned data_port;  /* on 127.0.0.1 */
    unsigned admin_port; /* on 127.0.0.1 */
    int out;             /* read end of its stdout, after the ready line */
    int err;             /* a file with its stderr so far */
    char ready[256];     /* the ready line, without its newline */
};

/*
 * Runs
 * `hindsight serve --listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 --drain-wait-seconds 0
 * --queue-ms 0 --data=` and then `extra` (NULL, or arguments that end with NULL; later options
 * win). --queue-ms 0 is needed because under valgrind requests wait so long that they would be
 * refused. Waits for the ready line. Returns false if the line did not come in time. The reason is
 * on stderr, and nothing is left running.
 */
bool hs_test_service_start(struct hs_test_service *service, const char *const *extra);

/* Sends SIGTERM, waits, and sends SIGKILL after a deadline. Returns true if the service exited with
   status 0, or did not run. Otherwise prints its stderr. */
bool hs_test_service_stop(struct hs_test_service *service);

#endif
