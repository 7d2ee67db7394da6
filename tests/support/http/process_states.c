#include "tests/support/http/process_states.h"

#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/clock.h"
#include "tests/support/http/service.h"

static int get(unsigned port, const char *path, struct hs_raw_answer *answer)
{
    char request[128];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    return hs_raw_ask(port, request, answer);
}

/* Sends requests until the status of the answer is not `status`, for 10 s or more. */
static int get_other(unsigned port, const char *path, int status, struct hs_raw_answer *answer)
{
    for (int tries = 0; tries < 1000 && get(port, path, answer) == status; tries++)
        hs_test_pause_ms(10);
    return answer->status;
}

/* ---- a process that drains ---- */

bool hs_state_draining(struct hs_raw_answer *answer)
{
    static const char *const slowly[] = {"--drain-wait-seconds", "30", NULL};
    static struct hs_raw_answer other;
    struct hs_test_service leaving;
    ck_assert(hs_test_service_start(&leaving, slowly));
    bool fine = get(leaving.data_port, "/readyz", answer) == 200;
    ck_assert_int_eq(kill(leaving.pid, SIGTERM), 0);
    get_other(leaving.data_port, "/readyz", 200, answer);
    fine = get(leaving.data_port, "/v1/matches", &other) == 200 && fine;
    return hs_test_service_stop(&leaving) && fine;
}

/* ---- a process that starts ---- */

struct early {
    unsigned port;
    struct hs_raw_answer answer;
};

/* Requests readiness as soon as a listener exists. */
static void *ask_early(void *context)
{
    static const char request[] = "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n";
    struct early *early = context;
    int fd = -1;
    for (int tries = 0; tries < 60000 && fd < 0; tries++) {
        fd = hs_raw_connect(early->port);
        if (fd < 0)
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    early->answer.status = 0;
    if (fd >= 0 && hs_raw_send(fd, request, sizeof request - 1))
        hs_raw_read(fd, false, &early->answer);
    if (fd >= 0)
        close(fd);
    return NULL;
}

bool hs_state_starting(struct hs_raw_answer *answer)
{
    static struct early early;
    bool fine = true;
    answer->status = 0;
    /* The second listener has many threads, so its start takes a few milliseconds. Whether the
       request arrives in these milliseconds is chance, so try often. */
    for (int tries = 0; tries < 200 && fine && answer->status != 503; tries++) {
        struct hs_test_service starting;
        pthread_t thread;
        char address[32];
        int reserved = hs_raw_reserve(&early.port);
        ck_assert_int_ge(reserved, 0);
        snprintf(address, sizeof address, "127.0.0.1:%u", early.port);
        const char *const many[] = {"--listen", address, "--admin-threads", "64", NULL};
        ck_assert_int_eq(pthread_create(&thread, NULL, ask_early, &early), 0);
        ck_assert(hs_test_service_start(&starting, many));
        pthread_join(thread, NULL);
        *answer = early.answer;
        fine = answer->status == 200 || answer->status == 503;
        fine = get(early.port, "/readyz", &early.answer) == 200 && fine;
        fine = hs_test_service_stop(&starting) && fine;
        close(reserved);
    }
    return fine;
}

/* ---- a process that is stuck ---- */

/* Returns a map whose build takes some time. Spaces between its numbers make it large. */
static char *large_map(int triangles, size_t *size)
{
    enum { ROW = 631, WIDTH = 75 };
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    ck_assert_ptr_nonnull(out);
    fputs("{\"vertices\":[", out);
    for (int i = 0; i < triangles + 2; i++)
        fprintf(out, "%s[%*d,%d,%d]", i == 0 ? "" : ",", WIDTH, i % ROW, i / ROW, i % 101);
    fputs("],\"triangles\":[", out);
    for (int i = 0; i < triangles; i++)
        fprintf(out, "%s[%*d,%d,%d]", i == 0 ? "" : ",", WIDTH, i, i + 1, i + 2);
    fputs("]}", out);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

/* A request counts as stuck after 5 s, and 1 s more for each 4 MiB of its body. */
enum { BUSY_MS = 5300, STUCK_MS = 7500, ANSWER_DEADLINE_MS = 120000 };

/* Returns the connection. */
static int send_request(const struct hs_test_service *service, const char *line, const char *body,
                        size_t size)
{
    char head[160];
    int len = snprintf(head, sizeof head,
                       "%s HTTP/1.1\r\nHost: x\r\n"
                       "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                       line, size);
    int fd = hs_raw_connect(service->data_port);
    ck_assert_int_ge(fd, 0);
    ck_assert(hs_raw_send(fd, head, (size_t)len) && hs_raw_send(fd, body, size));
    return fd;
}

/* Returns the status of the answer. Under sanitizers and on a busy machine the answer takes longer
   than hs_raw_read() waits. */
static int receive_status(int fd)
{
    static struct hs_raw_answer answer;
    poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, ANSWER_DEADLINE_MS);
    hs_raw_read(fd, false, &answer);
    close(fd);
    return answer.status;
}

/* Sends a request, and shortly after that stops the process (SIGSTOP) for some time. When the
   process runs again, reads the answer and returns its status. Sets `amid` if there was no answer
   before the stop. */
static int stop_amid(const struct hs_test_service *service, const char *line, const char *body,
                     size_t size, long moment_ms, long stop_ms, struct hs_raw_answer *answer,
                     bool *amid)
{
    int stopped = 0;
    int fd = send_request(service, line, body, size);
    hs_test_pause_ms(moment_ms);
    kill(service->pid, SIGSTOP);
    ck_assert_int_eq(waitpid(service->pid, &stopped, WUNTRACED), service->pid);
    *amid = poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0) == 0;
    hs_test_pause_ms(stop_ms);
    kill(service->pid, SIGCONT);
    for (int i = 0; i < 20 && get(service->admin_port, "/livez", answer) == 200; i++)
        hs_test_pause_ms(5);
    return receive_status(fd);
}

/* Returns frames that keep their worker busy for a third of a second. A member with an escape needs
   a tree of values, and the tree has VALUES numbers. */
static char *long_frames(size_t *size)
{
    enum { VALUES = 1500000 };
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    ck_assert_ptr_nonnull(out);
    fputs("{\"x\\u005fnote\":[", out);
    for (int i = 0; i < VALUES; i++)
        fputs("0,", out);
    fputs("0],\"frames\":[{\"time\":1,\"players\":[]}]}", out);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

bool hs_state_stuck(struct hs_raw_answer *answer)
{
    static const char *const one[] = {"--threads", "1", "--body-bytes", "8388608", NULL};
    static const char frames[] = "POST /v1/matches/m/frames";
    static struct hs_raw_answer later;
    struct hs_test_service stuck;
    size_t size = 0;
    char *body = long_frames(&size);
    ck_assert(hs_test_service_start(&stuck, one));
    bool fine = get(stuck.admin_port, "/livez", answer) == 200;
    /* Tries again, at other times, if the stop came before the body arrived, or after it was
       read. */
    for (int tries = 0; tries < 15 && fine && answer->status == 200; tries++) {
        bool amid;
        double begun = hs_test_seconds();
        fine = receive_status(send_request(&stuck, frames, body, size)) == 200;
        double whole_ms = 1000 * (hs_test_seconds() - begun);
        long moment_ms = (long)(whole_ms * (0.5 + 0.1 * (tries % 5 - 2)));
        fine = stop_amid(&stuck, frames, body, size, moment_ms, STUCK_MS, answer, &amid) == 200 &&
               fine;
    }
    free(body);
    fine = get_other(stuck.admin_port, "/livez", 503, &later) == 200 && fine;
    return hs_test_service_stop(&stuck) && fine;
}

bool hs_state_building(struct hs_raw_answer *answer)
{
    /* Under sanitizers and on a busy machine, the body arrives slowly. */
    static const char *const one[] = {"--threads", "1", "--request-seconds", "60", "--idle-seconds",
                                      "60",        NULL};
    static const char line[] = "PUT /v1/maps/large";
    struct hs_test_service building;
    size_t size = 0;
    bool amid = false, fine = true, late = false;
    char *map = large_map(200000, &size);
    ck_assert_uint_ge(size, 32 << 20);
    ck_assert(hs_test_service_start(&building, one));
    for (int tries = 0; tries < 10 && fine && (!amid || late); tries++) {
        int fd = send_request(&building, line, map, size);
        double begun = hs_test_seconds();
        int first = receive_status(fd);
        double whole_ms = 1000 * (hs_test_seconds() - begun);
        long moment_ms = (long)(whole_ms * (0.5 + 0.1 * (tries % 5 - 2)));
        begun = hs_test_seconds();
        int second = stop_amid(&building, line, map, size, moment_ms, BUSY_MS, answer, &amid);
        fine = first / 100 == 2 && second == 200;
        /* If the machine is so busy that the request counts as stuck, the result proves nothing. */
        late = answer->status == 503 &&
               hs_test_seconds() - begun > 5 + (double)size / (double)(4 << 20);
    }
    free(map);
    ck_assert_msg(fine && amid && !late, "fine %d, amid %d, late %d", fine, amid, late);
    return hs_test_service_stop(&building);
}
