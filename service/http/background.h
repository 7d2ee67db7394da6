/*
 * Background threads run long jobs that must not delay the threads that answer requests. A low
 * priority is not enough. The kernel still lets the background thread run now and then, for 1 to 10
 * ms each time (until the next tick of its clock). So a timer makes the thread yield every 0.1 ms.
 */
#ifndef HS_SERVICE_BACKGROUND_H
#define HS_SERVICE_BACKGROUND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* One background thread. Any thread may read `yields`. */
struct hs_background {
    timer_t timer;
    bool has_timer;
    atomic_bool works;  /* a job is running; read by the signal handler */
    atomic_uint yields; /* how often the thread has yielded */
};

/* A yield takes less processor time than HS_YIELD_US. If a thread used more processor time than
   HS_YIELD_US * the number of its yields, the thread also did some work. */
enum { HS_YIELD_US = 20 };

/* Lowers the priority of the calling thread and creates its timer, which uses SIGRTMIN. If the
   system refuses the priority or the timer, the thread still works, but other threads have to wait
   longer for it. `background` must stay at the same address until hs_background_leave. */
void hs_background_enter(struct hs_background *background);

/* These functions are called before and after each job. The timer runs only during a job, so the
   timer never interrupts the thread's sleep. */
void hs_background_begin(struct hs_background *background);
void hs_background_end(struct hs_background *background);

/* Destroys the timer. */
void hs_background_leave(struct hs_background *background);

#endif
