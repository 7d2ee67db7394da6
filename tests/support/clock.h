/* The clock of tests, and pauses. */
#ifndef HS_TESTS_CLOCK_H
#define HS_TESTS_CLOCK_H

/* Seconds since some moment; the clock never goes back. */
double hs_test_seconds(void);

/* A signal may end the pause early. */
void hs_test_pause_ms(long ms);

#endif
