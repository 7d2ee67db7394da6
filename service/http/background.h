/*
 * Background threads: long jobs that must not delay the threads which answer requests. A lower
 * priority is not enough: the kernel still gives the background thread a small share of the
 * processor, in pieces that last until the next tick of its clock, 1 to 10 ms. So a timer makes the
 * background thread yield every 0.1 ms.
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
    atomic_bool works;  /* between _begin and _end; the signal handler reads it */
    atomic_uint yields; /* times the thread yielded */
};

/* Microseconds of processor time; a yield takes less. Time that a thread uses beyond this is
   work. */
enum { HS_YIELD_US = 20 };

/* Lowers the priority of the calling thread alone, and makes its timer. If the system refuses a
   step, the thread still works, but delays other threads more. Uses SIGRTMIN. `background` must not
   move. */
void hs_background_enter(struct hs_background *background);

/* Call the first before each job of the thread, and the second after it. The timer runs only
   between these calls, so it does not disturb sleeps. */
void hs_background_begin(struct hs_background *background);
void hs_background_end(struct hs_background *background);

/* Destroys the timer. */
void hs_background_leave(struct hs_background *background);

#endif
