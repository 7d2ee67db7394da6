/* Starts threads that survive a lack of memory. */
#ifndef HS_SERVICE_THREAD_H
#define HS_SERVICE_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts a thread that calls `run` with `context`, as pthread_create does. Returns after the thread
   has allocated memory once. Returns false if there is no thread.

   jemalloc 5.3 prepares its tables for a thread in the first allocation by that thread. If there is
   no memory for the tables, that allocation uses a null pointer (jemalloc issue 2289). A thread
   that has allocated once is safe: its later allocations return NULL. */
bool hs_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

#endif
