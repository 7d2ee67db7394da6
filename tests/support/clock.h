/* Time as tests measure it and let it pass. */
#ifndef HS_TESTS_CLOCK_H
#define HS_TESTS_CLOCK_H

/* Seconds since some moment; never set back. */
double hs_test_seconds(void);

/* A signal may end it early. */
void hs_test_pause_ms(long ms);

#endif
