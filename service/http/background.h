/*
 * Background threads: long jobs that must not delay the threads which answer requests. A lower
 * priority is not enough. When a worker and a background thread both have work, the kernel owes the
 * second one a small share of the processor and pays it in one piece that lasts until the next tick
 * of its clock, 1 to 10 ms. So a timer makes the background thread give way every 0.1 ms.
 */
#ifndef HS_SERVICE_BACKGROUND_H
#define HS_SERVICE_BACKGROUND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* Belongs to one thread; any thread may read `yields`. */
struct hs_background {
    timer_t timer;
    bool has_timer;
    atomic_uint yields; /* times the thread gave way */
};

/* A yield takes less processor time than this, in microseconds; what a thread uses beyond it is
   work. */
enum { HS_YIELD_US = 20 };

/*
 * Lowers the priority of the calling thread alone, and makes its timer. What the system refuses is
 * left out: the thread then delays others more. Uses SIGRTMIN. `background` stays where it is.
 */
void hs_background_enter(struct hs_background *background);

/* Around each job of the thread: it gives way in between, and sleeps undisturbed outside. */
void hs_background_begin(struct hs_background *background);
void hs_background_end(struct hs_background *background);

/* Destroys the timer. */
void hs_background_leave(struct hs_background *background);

#endif
