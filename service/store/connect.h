/* Opens a connection to a Redis server that accepts writes. */
#ifndef HS_SERVICE_STORE_CONNECT_H
#define HS_SERVICE_STORE_CONNECT_H

#include <hiredis/hiredis.h>
#include <stdint.h>

struct hs_secret;

/* Connects to `address` (HOST:PORT, terminated by a comma or the end of the string). Authenticates
   unless `secret` is NULL. Fails if the server's role is not primary. Gives up at `until_us`
   (hs_clock_us). Only the lookup of the host name may take longer. Returns NULL with the reason in
   `detail` on failure. The socket is non-blocking. */
redisContext *hs_store_connect(const char *address, const struct hs_secret *secret,
                               int64_t until_us, char detail[256]);

#endif
