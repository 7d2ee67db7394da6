#include "tests/bench/greedy.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/http/raw.h"

/* Bodies of 1 MiB that arrive for 120 s, at the min rate. */
enum { HELD_PIECE = 2400, HELD_PIECE_NS = 250000000 };
/* A larger body is sent at the rate of 1 Gbit/s. Over loopback it would arrive at once, and then
   the kernel would do the sender's work at the cost of the service. */
enum { SENT_PIECE = 32768, SENT_PIECE_NS = 250000 };

static int send_header(const struct hs_greedy *greedy, int fd, const char *method, const char *path,
                       size_t length)
{
    char header[512];
    int size = snprintf(header, sizeof header,
                        "%s %s HTTP/1.1\r\nHost: x\r\n%s\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        method, path, greedy->authorization, length);
    return fd >= 0 && hs_raw_send(fd, header, (size_t)size) ? fd : -1;
}

static int ask(const struct hs_greedy *greedy, const char *method, const char *path,
               const char *body)
{
    static _Thread_local struct hs_raw_answer answer;
    int fd = send_header(greedy, hs_raw_connect(greedy->port), method, path, strlen(body));
    if (fd < 0)
        return 0;
    for (size_t at = 0, size = strlen(body); at < size; at += SENT_PIECE) {
        hs_raw_send(fd, body + at, size - at < SENT_PIECE ? size - at : SENT_PIECE);
        if (size > SENT_PIECE)
            nanosleep(&(struct timespec){.tv_nsec = SENT_PIECE_NS}, NULL);
    }
    hs_raw_read(fd, false, &answer);
    close(fd);
    return answer.status;
}

/* The clients of the greedy tenant use only processor time that the load leaves. In reality they
   run on other machines, so they must not delay the load here. */
static void keep_behind(void)
{
    const struct sched_param none = {0};
    if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
        perror("sched_setscheduler");
}

static void *keep_pace(void *context)
{
    struct hs_greedy *greedy = context;
    char spaces[HELD_PIECE];
    keep_behind();
    memset(spaces, ' ', sizeof spaces);
    while (!atomic_load(&greedy->ends)) {
        for (int i = 0; i < HS_GREEDY_BODIES && !atomic_load(&greedy->ends); i++) {
            hs_raw_send(greedy->held[i], spaces, sizeof spaces);
            nanosleep(&(struct timespec){.tv_nsec = HELD_PIECE_NS / HS_GREEDY_BODIES}, NULL);
        }
    }
    return NULL;
}

static void *put_maps(void *context)
{
    struct hs_greedy *greedy = context;
    char *body = NULL;
    size_t size = 0;
    keep_behind();
    FILE *out = open_memstream(&body, &size);
    fputs("{\"vertices\":[", out);
    for (int i = 0; i < 100002; i++)
        fprintf(out, "%s[%d,%d,%d]", i == 0 ? "" : ",", i % 317, i / 317, i % 101);
    fputs("],\"triangles\":[", out);
    for (int i = 0; i < 100000; i++)
        fprintf(out, "%s[%d,%d,%d]", i == 0 ? "" : ",", i, i + 1, i + 2);
    fputs("]}", out);
    fclose(out);
    while (!atomic_load(&greedy->ends))
        greedy->built += ask(greedy, "PUT", "/v1/maps/greedy", body) / 100 == 2;
    free(body);
    return NULL;
}

static void *put_rulesets(void *context)
{
    struct hs_greedy *greedy = context;
    char body[128];
    keep_behind();
    for (int i = 0; !atomic_load(&greedy->ends); i++) {
        snprintf(body, sizeof body, "{\"hit\":{\"min_trace\":%d}}", 1 + i % 50);
        greedy->built += ask(greedy, "PUT", "/v1/rulesets/greedy", body) / 100 == 2;
    }
    return NULL;
}

bool hs_greedy_hold_all(struct hs_greedy *greedy)
{
    bool fine = true;
    for (int i = 0; i < HS_GREEDY_BODIES; i++) {
        greedy->held[i] = send_header(greedy, hs_raw_connect(greedy->port), "POST",
                                      "/v1/matches/greedy/frames", 1 << 20);
        fine = fine && greedy->held[i] >= 0;
    }
    for (int i = 0; i < HS_GREEDY_IDLE; i++) {
        greedy->idle[i] =
            send_header(greedy, hs_raw_connect(greedy->port), "GET", "/v1/maps/none", 0);
        fine = fine && greedy->idle[i] >= 0;
    }
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    return pthread_create(&greedy->bodies, NULL, keep_pace, greedy) == 0 &&
           pthread_create(&greedy->maps, NULL, put_maps, greedy) == 0 &&
           pthread_create(&greedy->rulesets, NULL, put_rulesets, greedy) == 0 && fine;
}

void hs_greedy_let_go(struct hs_greedy *greedy)
{
    atomic_store(&greedy->ends, true);
    pthread_join(greedy->bodies, NULL);
    pthread_join(greedy->maps, NULL);
    pthread_join(greedy->rulesets, NULL);
    for (int i = 0; i < HS_GREEDY_BODIES; i++)
        close(greedy->held[i]);
    for (int i = 0; i < HS_GREEDY_IDLE; i++)
        close(greedy->idle[i]);
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
}
