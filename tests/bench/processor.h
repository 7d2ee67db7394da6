/*
 * Processors of a measurement: which program runs on which one, how much of it a program used, and
 * how long the program waited for it. If a program waited, its figures are about the machine.
 */
#ifndef HS_TESTS_PROCESSOR_H
#define HS_TESTS_PROCESSOR_H

#include <stdbool.h>
#include <sys/types.h>

/* Returns the number of processors that this program may use. */
int hs_processor_count(void);

/* Moves this thread, and everything that it starts from now on, to processor i modulo their
   number. */
void hs_processor_move_to(int i);

/*
 * Brakes are programs that use processor i without a pause. Any other program on this processor
 * gets 1 / (count + 1) of its time, until hs_processor_brakes_end or the end of the thread that
 * started the brakes. Brakes make a service slow enough for a load that has too little processor
 * time. Returns false if no brake runs.
 */
enum { HS_PROCESSOR_BRAKES = 3 };
bool hs_processor_brakes_start(int i, pid_t brakes[HS_PROCESSOR_BRAKES]);
void hs_processor_brakes_end(pid_t brakes[HS_PROCESSOR_BRAKES]);

/* Returns the processor time of all threads of a program so far in seconds, or 0 if the program is
   gone. */
double hs_processor_time(pid_t pid);

/* Returns the sum of seconds in which threads of the program were ready to run but others ran
   instead. Returns 0 if the kernel does not count this. */
double hs_processor_waited(pid_t pid);

#endif
