/* The clock of tests, and pauses. */
#ifndef HS_TESTS_CLOCK_H
#define HS_TESTS_CLOCK_H

/* Returns the seconds since some moment. The clock never goes back. */
double hs_test_seconds(void);

/* Pauses. A signal may end the pause early. */
void hs_test_pause_ms(long ms);

#endif
