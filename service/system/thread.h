/* Starts threads that survive when memory runs out. */
#ifndef HS_SERVICE_THREAD_H
#define HS_SERVICE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that calls `run` with `context`, as pthread_create does. If the thread could not
   be created, returns false. Otherwise waits until the thread has allocated memory once, and
   returns true.

   jemalloc 5.3 prepares its tables for a thread in the first allocation by that thread. If there is
   no memory for the tables, that allocation dereferences a null pointer (jemalloc issue 2289).
   Later allocations of the thread are safe, because they return NULL if memory runs out. */
bool hs_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

#endif
