/*
 * Processors of a measurement: who runs where, how much of a processor a program used, and how long
 * it waited for one. A figure of a program that waited is one of the machine.
 */
#ifndef HS_TESTS_PROCESSOR_H
#define HS_TESTS_PROCESSOR_H

#include <stdbool.h>
#include <sys/types.h>

/* Those that this program may use. */
int hs_processor_count(void);

/* Processor i, modulo their number, for this thread and what it starts from now on. */
void hs_processor_move_to(int i);

/*
 * Programs that use processor i without a pause, until hs_processor_brakes_end or the end of the
 * thread that started them: what else runs there gets 1 / (count + 1) of it. Makes a service slow
 * enough for a load that has too little processor itself. False: none runs.
 */
enum { HS_PROCESSOR_BRAKES = 3 };
bool hs_processor_brakes_start(int i, pid_t brakes[HS_PROCESSOR_BRAKES]);
void hs_processor_brakes_end(pid_t brakes[HS_PROCESSOR_BRAKES]);

/* The processor time of all threads of a program so far, in seconds; 0 if it is gone. */
double hs_processor_time(pid_t pid);

/* Seconds for which its threads were ready to run and did not, because others ran there: the sum
   over its threads so far. 0 on a kernel that does not count it. */
double hs_processor_waited(pid_t pid);

#endif
