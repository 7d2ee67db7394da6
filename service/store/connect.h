/* Opens a connection to a Redis server that accepts writes. */
#ifndef HS_SERVICE_STORE_CONNECT_H
#define HS_SERVICE_STORE_CONNECT_H

#include <hiredis/hiredis.h>
#include <stdint.h>

struct hs_secret;

/* Connects to `address`: HOST:PORT, which ends at a comma or at the end of the text. Authenticates
   if `secret` is not NULL, and asks the server for its role. The call gives up at `until_us`
   (monotonic); only the lookup of the host name may take longer. Returns NULL with the reason in
   `detail` on failure. The socket does not block. */
redisContext *hs_store_connect(const char *address, const struct hs_secret *secret,
                               int64_t until_us, char detail[256]);

#endif
