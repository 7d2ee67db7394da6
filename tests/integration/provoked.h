/* Requests that cause the documented errors of a route. The service limits each body to 8192 bytes,
   and all arriving bodies together to the same number. */
#ifndef HS_TESTS_PROVOKED_H
#define HS_TESTS_PROVOKED_H

#include "tests/integration/refusals.h"
#include "tests/support/http/tokens.h"

#define JSON_TYPE "Content-Type: application/json\r\n"

/* Makes a message that gets this status. The first token has the scope `ingest`, the second
   `rules`; a route that allows both gets its 403 for an unknown name. Returns false if one message
   is not enough. */
bool hs_provoke(size_t route, int status, const struct hs_test_token tokens[2],
                struct hs_refusal_message *message);

/* Sends the message while other bodies arrive and leave no space for its body. Maps have a separate
   share, which takes more bodies to fill. Returns when the service has released the other
   bodies. */
const struct hs_raw_answer *hs_provoke_crowded(unsigned port, size_t route,
                                               const struct hs_refusal_message *message);

/* Sends the message repeatedly to a service that admits one request per second, until it is
   refused. */
const struct hs_raw_answer *hs_provoke_often(unsigned port,
                                             const struct hs_refusal_message *message);

#endif
