/*
 * States of the whole process that its health routes tell, made for real. Each starts a service,
 * brings it into the state, asks, and ends it; false when it did not end well or was not as healthy
 * as it should be before and after. What cannot be done fails the test.
 */
#ifndef HS_TESTS_PROCESS_STATES_H
#define HS_TESTS_PROCESS_STATES_H

#include <stdbool.h>

#include "tests/support/http/raw.h"

/* What /readyz says from SIGTERM on; everything else is still answered. */
bool hs_state_draining(struct hs_raw_answer *answer);

/* What /readyz says on the first listener while the other is still being started. */
bool hs_state_starting(struct hs_raw_answer *answer);

/* What /livez says when a worker has not come back from a request for 5 s: the process was stopped
   in the middle of it. Takes that long. */
bool hs_state_stuck(struct hs_raw_answer *answer);

/* What it says when that was a request with a long body, which may take longer. As long. */
bool hs_state_building(struct hs_raw_answer *answer);

#endif
