/* Brings a real process into the states that its health routes report. Each function starts a
   service, brings it into the state, sends the request, and ends the service. Returns false if it
   did not end correctly, or was not healthy before and after. The test fails if a step is
   impossible. */
#ifndef HS_TESTS_PROCESS_STATES_H
#define HS_TESTS_PROCESS_STATES_H

#include <stdbool.h>

#include "tests/support/http/raw.h"

/* Gets the answer of /readyz after SIGTERM, while all other requests are still served. */
bool hs_state_draining(struct hs_raw_answer *answer);

/* Gets the answer of /readyz on the first listener while the second one starts. */
bool hs_state_starting(struct hs_raw_answer *answer);

/* Gets the answer of /livez when a worker has been in a request for 5 s. To cause this, the
   function stops the process in the middle of the request. The function takes more than 5 s. */
bool hs_state_stuck(struct hs_raw_answer *answer);

/* Gets the answer of /livez during a request with a long body, which may take longer before it
   counts as stuck. This function takes as long as hs_state_stuck. */
bool hs_state_building(struct hs_raw_answer *answer);

#endif
