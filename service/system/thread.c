#include "service/system/thread.h"

#include <semaphore.h>
#include <stdlib.h>

struct start {
    void *(*run)(void *);
    void *context;
    sem_t is_ready;
};

static void *begin(void *argument)
{
    struct start *start = argument;
    void *(*run)(void *) = start->run;
    void *context = start->context;
    /* `volatile` prevents the compiler from removing this unused allocation. */
    void *volatile first = malloc(1);
    free(first);
    sem_post(&start->is_ready); /* hs_thread_start may now destroy `start` */
    return run(context);
}

bool hs_thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
    struct start start = {.run = run, .context = context};
    sem_init(&start.is_ready, 0, 0);
    bool is_running = pthread_create(thread, NULL, begin, &start) == 0;
    while (is_running && sem_wait(&start.is_ready) != 0)
        ; /* a signal interrupted the wait */
    sem_destroy(&start.is_ready);
    return is_running;
}
