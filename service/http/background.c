#include "service/http/background.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* NICE: with this niceness, the thread gets about a tenth of a worker's time on a shared processor.
   With a higher niceness, a busy machine would never finish building a map. With a lower niceness,
   requests would wait for the thread. */
enum { NICE = 10, GIVE_WAY_NS = 100000 };

static void set_timer(struct hs_background *background, long ns)
{
    const struct itimerspec times = {.it_value.tv_nsec = ns};
    if (background->has_timer)
        (void)timer_settime(background->timer, 0, &times, NULL);
}

/* Handles the timer's signal. Starts the timer again only after the yield. With a periodic timer,
   the thread would never get to work if handling one signal took longer than GIVE_WAY_NS, for
   example under a tracer. */
static void give_way(int signal, siginfo_t *info, void *context)
{
    struct hs_background *background = info->si_value.sival_ptr;
    (void)signal;
    (void)context;
    atomic_fetch_add(&background->yields, 1);
    sched_yield();
    if (atomic_load(&background->works))
        set_timer(background, GIVE_WAY_NS);
}

/* Calls sched_setattr(2), which has no function in the C library. A thread that yields loses the
   rest of its time slice. Therefore the slice is set to the time between two yields, so that the
   thread loses none of its share of the processor. Linux before 6.12 ignores the slice. */
static bool set_priority(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } wanted = {.size = sizeof wanted, .policy = SCHED_OTHER, .nice = NICE, .runtime = GIVE_WAY_NS};
    return syscall(SYS_sched_setattr, 0, &wanted, 0) == 0;
}

static bool make_timer(struct hs_background *background)
{
    struct sigaction action = {.sa_sigaction = give_way, .sa_flags = SA_RESTART | SA_SIGINFO};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGRTMIN,
                             .sigev_value.sival_ptr = background};
    event._sigev_un._tid = gettid(); /* this member has no public name before glibc 2.38 */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGRTMIN);
    return sigaction(SIGRTMIN, &action, NULL) == 0 &&
           pthread_sigmask(SIG_UNBLOCK, &signals, NULL) == 0 &&
           timer_create(CLOCK_MONOTONIC, &event, &background->timer) == 0;
}

void hs_background_enter(struct hs_background *background)
{
    if (!set_priority())
        (void)setpriority(PRIO_PROCESS, 0,
                          NICE); /* on Linux, this affects only the calling thread */
    background->has_timer = make_timer(background);
}

void hs_background_begin(struct hs_background *background)
{
    atomic_store(&background->works, true);
    set_timer(background, GIVE_WAY_NS);
}

void hs_background_end(struct hs_background *background)
{
    atomic_store(&background->works, false);
    set_timer(background, 0);
}

void hs_background_leave(struct hs_background *background)
{
    if (background->has_timer)
        timer_delete(background->timer);
    background->has_timer = false;
}
