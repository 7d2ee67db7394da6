/* A TCP relay on 127.0.0.1 that can delay answers and change its target. Services reach a store
   through this relay, so a test can slow the store down or replace it. Each connection has two
   threads. */
#ifndef HS_TESTS_RELAY_H
#define HS_TESTS_RELAY_H

struct hs_relay;

/* Listens on a free port. Connects each client to `target`: a port on 127.0.0.1, or the path of a
   Unix socket. Returns NULL on failure. */
struct hs_relay *hs_relay_start(const char *target);
void hs_relay_stop(struct hs_relay *relay);

unsigned hs_relay_port(const struct hs_relay *relay);

/* Sets the delay of each further piece of an answer. Thread-safe. */
void hs_relay_delay(struct hs_relay *relay, int ms);

/* Cuts all connections. New ones go to this target. Thread-safe. */
void hs_relay_point(struct hs_relay *relay, const char *target);

#endif
