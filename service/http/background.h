/*
 * Background threads run long jobs that must not delay the threads that answer requests. A lower
 * priority is not enough: the kernel still gives the background thread a small share of the
 * processor. Each time the thread runs, it runs until the next tick of the kernel's clock, 1 to 10
 * ms. So a timer makes the background thread yield every 0.1 ms.
 */
#ifndef HS_SERVICE_BACKGROUND_H
#define HS_SERVICE_BACKGROUND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* The state of one background thread. Any thread may read `yields`. */
struct hs_background {
    timer_t timer;
    bool has_timer;
    atomic_bool works; /* true between hs_background_begin and hs_background_end; the signal handler
                          reads it */
    atomic_uint yields; /* how often the thread yielded */
};

/* A yield takes less processor time than HS_YIELD_US microseconds. A thread that used more for each
   of its yields also did some work. */
enum { HS_YIELD_US = 20 };

/* Lowers the priority of the calling thread only, and creates the thread's timer. If the system
   refuses a step, the thread still works, but delays other threads more. Uses SIGRTMIN.
   `background` must stay at the same address. */
void hs_background_enter(struct hs_background *background);

/* Call hs_background_begin before each job of the thread, and hs_background_end after it. The timer
   runs only between these calls, so it does not interrupt sleeps. */
void hs_background_begin(struct hs_background *background);
void hs_background_end(struct hs_background *background);

/* Destroys the timer. */
void hs_background_leave(struct hs_background *background);

#endif
