/* States of the process that its health routes report, caused for real. Each function starts a
   service, brings it into the state, sends the request, and ends it. False: it did not end
   correctly, or was not healthy before and after. The test fails if a step is impossible. */
#ifndef HS_TESTS_PROCESS_STATES_H
#define HS_TESTS_PROCESS_STATES_H

#include <stdbool.h>

#include "tests/support/http/raw.h"

/* The answer of /readyz after SIGTERM; all other requests are still served. */
bool hs_state_draining(struct hs_raw_answer *answer);

/* The answer of /readyz on the first listener while the second one starts. */
bool hs_state_starting(struct hs_raw_answer *answer);

/* The answer of /livez if a worker has been in a request for 5 s: the test stops the process in the
   middle of it. Takes that long. */
bool hs_state_stuck(struct hs_raw_answer *answer);

/* The answer if that request had a long body, which may take longer. As long. */
bool hs_state_building(struct hs_raw_answer *answer);

#endif
